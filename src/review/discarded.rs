//! Work of entries that someone discarded outside nebula. Where a changeset met a path as it was before an earlier one, and
//! the one before it had left something else, what lies between had come to nothing there, until someone else brings it back.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use super::chains::is_as_before;
use crate::archive::restore::state_sha;
use crate::archive::{Id, ModeChanges};
use crate::execute::Stores;
use crate::memory::{self, StatesAround};
use crate::restore_plan;

/// The archive and the files as they are.
pub type Looked<'a> = (Stores<'a>, &'a ModeChanges<'a>);

/// The paths at which changesets had come to nothing.
#[derive(Debug, Default)]
pub struct DiscardedPaths {
    of: HashMap<String, HashSet<String>>,
    /// The ones whose work is there again, each with the paths and with when the next change met it; none: none did.
    back: HashMap<String, HashMap<String, Option<i64>>>,
    /// The changes of each path, oldest first.
    courses: HashMap<String, Vec<StatesAround>>,
    /// The digests of files as they are, as far as they were looked at; none: it cannot be read.
    now: RefCell<HashMap<String, Option<Vec<u8>>>>,
}

impl DiscardedPaths {
    /// Finds those of a changeset and of all after it.
    ///
    /// # Errors
    /// When memory cannot be read.
    pub fn since(first: Id, stores: Stores<'_>) -> Result<Self, memory::Error> {
        let mut found = DiscardedPaths::default();
        for state in stores.memory.states_since(&stores.project(), &first.to_string())? {
            if !state.path.ends_with('/') {
                found.courses.entry(state.path.clone()).or_default().push(state);
            }
        }
        for (path, course) in found.courses.iter().filter(|(_, course)| course.len() > 1) {
            let (gone, met_at) = look(course, stores);
            for (id, met) in came_back(path, (course, &gone, met_at), stores) {
                let met = met.map(|met| met.at());
                found.back.entry(id.to_string()).or_default().insert(path.clone(), met);
            }
            for changeset in gone {
                found.of.entry(changeset.into()).or_default().insert(path.clone());
            }
        }
        Ok(found)
    }

    /// Returns whether a changeset came to nothing at a path by what someone else did there.
    pub fn is_over(&self, changeset: &str, path: &str, looked: Looked<'_>) -> bool {
        self.holds(changeset, path) || self.is_reset(changeset, path, looked)
    }

    /// Returns whether a changeset had come to nothing at a path, and is not back there.
    fn holds(&self, changeset: &str, path: &str) -> bool {
        let is_back = self.back.get(changeset).is_some_and(|paths| paths.contains_key(path));
        !is_back && self.of.get(changeset).is_some_and(|paths| paths.contains(path))
    }

    /// Returns whether someone else brought a path, which others changed beside nebula, back to what it was before a change of
    /// nebula's that is older than this one.
    fn is_reset(&self, entry: &str, path: &str, looked: Looked<'_>) -> bool {
        let course = self.courses.get(path).map(Vec::as_slice).unwrap_or_default();
        let Ok(at) = course.binary_search_by(|state| state.changeset.as_str().cmp(entry)) else { return false };
        // Without others all that lies between is nebula's, and is known by the states of its changes.
        if !course[..=at].windows(2).any(|pair| pair[0].after != pair[1].before) {
            return false;
        }
        let read = || {
            let read = looked.0.workspace.read_to_restore(path).ok()?;
            Some(state_sha(&read.state).map_or(Vec::new(), |sha| sha.to_vec()))
        };
        let now = self.now.borrow_mut().entry(path.to_string()).or_insert_with(read).clone();
        let is_now = |state: &Option<Vec<u8>>| now.is_some() && *state == now;
        let is_left = [at, course.len() - 1].iter().any(|at| course[*at].after.is_none() || is_now(&course[*at].after));
        let mut before = course[..at].iter().filter(|earlier| is_now(&earlier.before));
        !is_left && before.any(|earlier| Id::parse(&earlier.changeset).is_some_and(|id| is_as_before(path, id, looked)))
    }

    /// Returns those of some entries, each with its paths, that came to nothing by what someone else did to their paths, which are as they were
    /// before them now.
    pub fn gone(&self, entries: &[(Id, Vec<&str>)], looked: Looked<'_>) -> Vec<Id> {
        // The first entry of each path that is so: those after it are gone there, too.
        let mut first: HashMap<&str, Id> = HashMap::new();
        for (entry, path) in entries.iter().flat_map(|(id, paths)| paths.iter().map(|path| (*id, *path))) {
            if !first.contains_key(path) && self.is_changed_since(entry, path) && is_as_before(path, entry, looked) {
                first.insert(path, entry);
            }
        }
        let is_gone = |(id, paths): &&(Id, Vec<&str>)| {
            let name = id.to_string();
            let is_gone = |path: &str| first.get(path).is_some_and(|first| first <= id);
            paths.iter().all(|path| is_gone(path) || self.holds(&name, path))
        };
        entries.iter().filter(is_gone).map(|(id, _)| *id).collect()
    }

    /// Returns whether what nebula left last at a path is another state than the one that a changeset met.
    fn is_changed_since(&self, changeset: Id, path: &str) -> bool {
        let (name, Some(course)) = (changeset.to_string(), self.courses.get(path)) else { return false };
        let at = course.binary_search_by(|state| state.changeset.as_str().cmp(&name));
        let met = at.ok().and_then(|at| course[at].before.as_ref());
        let left = course.last().and_then(|last| last.after.as_ref());
        met.zip(left).is_some_and(|(met, left)| met != left)
    }

    /// Returns whether what was discarded of an entry by a time came back without nebula: as it was last left by then, or beside
    /// what others or nebula did since. Where nebula changed the path since, what that met says it.
    pub fn came_back(&self, (entry, paths): (&str, &[&str]), at: i64, stores: Stores<'_>) -> bool {
        let back = self.back.get(entry);
        paths.iter().any(|path| {
            if back.and_then(|back| back.get(*path)).is_some_and(|met| met.is_none_or(|met| met > at)) {
                return true;
            }
            let Some(course) = self.courses.get(*path) else { return false };
            let next = course.partition_point(|state| Id::parse(&state.changeset).is_some_and(|id| id.at() <= at));
            let Some(last) = next.checked_sub(1).map(|last| &course[last]) else { return false };
            let Some(left) = last.after.as_ref().filter(|after| last.before.as_ref() != Some(after)) else {
                return false;
            };
            if let Some(met) = course.get(next) {
                return met.before.as_ref() == Some(left);
            }
            let now = stores.workspace.read_to_restore(path).ok().map(|read| state_sha(&read.state));
            now.is_some_and(|now| now.as_ref().map_or(&[][..], |sha| &sha[..]) == left)
                || Id::parse(entry).is_some_and(|id| restore_plan::stands(path, id, stores))
        })
    }
}

/// Returns the changesets of a path (oldest first) that had come to nothing there, and the place of the first that met it so.
fn look<'c>(course: &'c [StatesAround], stores: Stores<'_>) -> (HashSet<&'c str>, usize) {
    let (mut found, mut first_met) = (HashSet::new(), course.len());
    for (at, met) in course.iter().enumerate().skip(1) {
        let last = &course[at - 1];
        let (Some(left), Some(before)) = (&last.after, &met.before) else { continue };
        // Of a change of the mode alone the bytes say nothing.
        let is_of_mode = left == before && last.before == last.after;
        if left == before && !(is_of_mode && has_same_mode(last, met, stores)) {
            continue;
        }
        let is_back =
            |earlier: &StatesAround| earlier.before.as_ref() == Some(before) && has_same_mode(earlier, met, stores);
        let Some(first) = course[..at].iter().position(is_back) else { continue };
        found.extend(course[first..at].iter().map(|gone| gone.changeset.as_str()));
        first_met = first_met.min(at);
    }
    (found, first_met)
}

/// Returns those of the changesets that had come to nothing at a path which someone else brought back since, each with the version
/// that the next change made old. `met_at`: the place of the first that met it without them.
fn came_back(
    path: &str,
    (course, gone, met_at): (&[StatesAround], &HashSet<&str>, usize),
    stores: Stores<'_>,
) -> Vec<(Id, Option<Id>)> {
    let Some(since) = course.get(met_at..).filter(|since| !since.is_empty()) else { return Vec::new() };
    let is_changed = |pair: &[StatesAround]| pair[0].after.as_ref() != pair[1].before.as_ref();
    let is_changed_now = || {
        let left = since.last().and_then(|last| last.after.as_deref());
        let now = stores.workspace.read_to_restore(path).ok().map(|read| state_sha(&read.state));
        now.is_some_and(|now| Some(now.as_ref().map_or(&[][..], |sha| &sha[..])) != left)
    };
    if !since.windows(2).any(is_changed) && !is_changed_now() {
        return Vec::new();
    }
    let gone: Vec<Id> = gone.iter().filter_map(|id| Id::parse(id)).collect();
    restore_plan::came_back(path, &gone, stores)
}

/// Returns whether two changesets met a path with the same permission bits.
fn has_same_mode(one: &StatesAround, other: &StatesAround, stores: Stores<'_>) -> bool {
    let mode = |state: &StatesAround| {
        let version = stores.archive.version_in(&state.path, Id::parse(&state.changeset)?).ok()??;
        Some(stores.archive.show(&version).ok()?.mode())
    };
    mode(one).is_some_and(|one| mode(other) == Some(one))
}

//! Work of entries that someone discarded outside nebula. Where a changeset met a path as it was before an earlier one, and
//! the one before it had left something else, what lies between had come to nothing there, whatever became of the path since.

use std::collections::{HashMap, HashSet};

use super::chains::is_as_before;
use crate::archive::restore::state_sha;
use crate::archive::{Id, ModeChanges};
use crate::execute::Stores;
use crate::memory::{self, StatesAround};

/// The archive and the files as they are.
pub type Looked<'a> = (Stores<'a>, &'a ModeChanges<'a>);

/// The paths at which changesets had come to nothing.
#[derive(Debug, Default)]
pub struct DiscardedPaths {
    of: HashMap<String, HashSet<String>>,
    /// The changes of each path, oldest first.
    courses: HashMap<String, Vec<StatesAround>>,
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
        for course in found.courses.values().filter(|course| course.len() > 1) {
            look(course, stores, &mut found.of);
        }
        Ok(found)
    }

    /// Returns whether a changeset had come to nothing at a path.
    pub fn holds(&self, changeset: &str, path: &str) -> bool {
        self.of.get(changeset).is_some_and(|paths| paths.contains(path))
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

    /// Returns whether what was discarded of an entry by a time came back without nebula: as it was last left by then. Where
    /// nebula changed the path since, what that met says it.
    pub fn came_back(&self, paths: &[&str], at: i64, stores: Stores<'_>) -> bool {
        paths.iter().any(|path| {
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
        })
    }
}

/// Takes in the changes of a path, oldest first.
fn look(course: &[StatesAround], stores: Stores<'_>, found: &mut HashMap<String, HashSet<String>>) {
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
        for gone in &course[first..at] {
            found.entry(gone.changeset.clone()).or_default().insert(gone.path.clone());
        }
    }
}

/// Returns whether two changesets met a path with the same permission bits.
fn has_same_mode(one: &StatesAround, other: &StatesAround, stores: Stores<'_>) -> bool {
    let mode = |state: &StatesAround| {
        let version = stores.archive.version_in(&state.path, Id::parse(&state.changeset)?).ok()??;
        Some(stores.archive.show(&version).ok()?.mode())
    };
    mode(one).is_some_and(|one| mode(other) == Some(one))
}

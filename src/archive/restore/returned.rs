//! Changes that someone else took out of a file and brought back after nebula had changed it anew, as with `git stash` or
//! another branch. Their work is in the file again, and is undone like that of any other.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::goal::state_sha;
use super::known::{LastWritten, LastWrittenLookup};
use crate::archive::{Archive, Id, Sha, Version};
use crate::proposal::{Merger, State, is_in_any_repository, merge};
use crate::workspace::Workspace;

/// A change of a file that came back.
#[derive(Clone)]
pub(super) struct ReturnedChange {
    /// The place of the version that it made old.
    pub change: usize,
    /// The file without it, where it came back.
    pub without: State,
    /// The file with it.
    pub with: State,
}

/// The changes of a file that came back.
#[derive(Default)]
pub(super) struct ReturnedChanges {
    /// The ones that a change of someone else brought back at once, oldest first, by the place of nebula's change before that.
    pub at: BTreeMap<usize, Vec<ReturnedChange>>,
    /// The ones that are there still, each with the place where it came back.
    there: BTreeMap<usize, usize>,
}

/// A file with the states that nebula's changes met, as far as they are known: the last one is the present.
struct MetStates<'a> {
    path: &'a str,
    versions: &'a [Version],
    hashes: Vec<Option<Option<Sha>>>,
    now: (&'a State, Option<&'a LastWritten>),
    written: &'a dyn LastWrittenLookup,
}

impl MetStates<'_> {
    /// Returns the first place at which the state of a place was met before.
    fn first_like(&self, place: usize) -> Option<usize> {
        let met = self.hashes[place].filter(|_| place > 0)?;
        self.hashes[..place].iter().position(|one| *one == Some(met))
    }

    /// Returns whether someone else changed the file right after one of nebula's changes.
    fn is_changed_after(&self, at: usize) -> bool {
        match self.versions.get(at + 1) {
            None => self.now.1.is_some(),
            Some(_) => {
                let left = self.written.left(self.path, self.versions[at].id);
                left.zip(self.hashes[at + 1]).is_some_and(|(left, met)| left != met)
            }
        }
    }
}

impl Archive {
    /// Returns those of some changesets whose work at a path someone else took out and brought back since, each with the version
    /// that the next change made old; none: there is no next one.
    pub fn came_back(
        &self,
        (workspace, path): (&Workspace, &str),
        changesets: &[Id],
        written: &dyn LastWrittenLookup,
    ) -> Vec<(Id, Option<Id>)> {
        let (Ok(versions), Ok(read)) = (self.versions(path), workspace.read_to_restore(path)) else {
            return Vec::new();
        };
        let last = written.written(path);
        let foreign = last.as_ref().filter(|_| !self.is_ours(path, &read.state, last.as_ref()));
        let there = self.returned(path, &versions, (&read.state, foreign), written).there;
        let back = |id: &Id| {
            let change = versions.partition_point(|version| version.id < *id).checked_sub(1)?;
            Some((*id, versions.get(there.get(&change)? + 1).map(|next| next.id)))
        };
        changesets.iter().filter_map(back).collect()
    }

    /// Returns whether the change of a changeset stands in a file: to take it out of there changes the file and meets no
    /// conflict. One whose bytes are not known does not.
    pub fn stands(
        &self,
        (workspace, path): (&Workspace, &str),
        changeset: Id,
        written: &dyn LastWrittenLookup,
    ) -> bool {
        let (Ok(versions), Ok(read)) = (self.versions(path), workspace.read_to_restore(path)) else { return false };
        let Some(at) = versions.partition_point(|version| version.id < changeset).checked_sub(1) else { return false };
        let last = written.written(path);
        let foreign = last.as_ref().filter(|_| !self.is_ours(path, &read.state, last.as_ref()));
        let now = (&read.state, foreign);
        let met = MetStates { path, versions: &versions, hashes: Vec::new(), now, written };
        let (Ok(without), Some(with)) = (self.show(&versions[at]), self.left(at, &met)) else { return false };
        let merge = |base: &Arc<[u8]>| merge::three_way(path, base, &without, &read.state, &Merger::default());
        let taken_out = with.bytes().and_then(merge);
        taken_out.is_some_and(|merged| merged.conflicts.is_empty() && merged.after.bytes() != read.state.bytes())
    }

    /// Returns the changes of a file that came back. `foreign`: what nebula wrote last, where someone else changed it since.
    pub(super) fn returned(
        &self,
        path: &str,
        versions: &[Version],
        now: (&State, Option<&LastWritten>),
        written: &dyn LastWrittenLookup,
    ) -> ReturnedChanges {
        let (mut found, mut gone) = (ReturnedChanges::default(), BTreeSet::new());
        if versions.len() < 2 || path.ends_with('/') || is_in_any_repository(path) {
            return found;
        }
        let hash = |version: &Version| match version.absent {
            true => Some(None),
            false => written.archived(path, version.id).map(Some),
        };
        let hashes = versions.iter().map(hash).chain([Some(state_sha(now.0))]).collect();
        let met = MetStates { path, versions, hashes, now, written };
        // Nothing can be back that no later change met without it.
        if !(1..versions.len()).any(|place| met.first_like(place).is_some()) {
            return found;
        }
        for at in 0..versions.len() {
            let back = met.first_like(at + 1).unwrap_or(at + 1);
            if gone.is_empty() && back > at || !met.is_changed_after(at) {
                continue;
            }
            let apart: Vec<usize> = gone.range(..back).copied().collect();
            let brought = if apart.is_empty() { Vec::new() } else { self.brought_back(&apart, at, &met) };
            for change in brought.iter().map(|one| one.change) {
                gone.remove(&change);
                found.there.insert(change, at);
            }
            if !brought.is_empty() {
                found.at.insert(at, brought);
            }
            gone.extend(back..=at);
            found.there.retain(|change, _| !gone.contains(change));
        }
        found
    }

    /// Returns those of the changes that are gone which someone else brought back right after one of nebula's.
    fn brought_back(&self, gone: &[usize], at: usize, met: &MetStates<'_>) -> Vec<ReturnedChange> {
        let next = met.versions.get(at + 1).map(|next| self.show(next).ok());
        let (Some(after), Some(mut left)) = (next.unwrap_or_else(|| Some(met.now.0.clone())), self.left(at, met))
        else {
            return Vec::new();
        };
        let mut all = Vec::new();
        for run in self.runs(gone, met) {
            let back = (1..=run.len()).rev().find_map(|n| self.is_back(&run[..n], (&left, &after), met.path));
            if let Some(last) = back.iter().flatten().last() {
                left = last.with.clone();
            }
            all.extend(back.into_iter().flatten());
        }
        all
    }

    /// Returns changes, each of which met what the one before it had left, as they are in a state and not in the one before it;
    /// none: they are not.
    fn is_back(
        &self,
        run: &[ReturnedChange],
        (left, after): (&State, &State),
        path: &str,
    ) -> Option<Vec<ReturnedChange>> {
        let (before, done) = (&run.first()?.without, &run.last()?.with);
        if state_sha(done) == state_sha(after) {
            return Some(run.to_vec());
        }
        let merged = |base: &State, to: &State, state: &State| {
            // No program is started where entries are only listed.
            let merged = merge::three_way(path, base.bytes()?, to, state, &Merger::default())?;
            merged.conflicts.is_empty().then_some(merged.after)
        };
        let is_without = |state: &State| Some(merged(done, before, state)?.bytes() == state.bytes());
        if !is_without(left)? || is_without(after)? {
            return None;
        }
        let mut base = left.clone();
        let again = run.iter().map(|one| {
            let with = merged(&one.without, &one.with, &base)?;
            let without = std::mem::replace(&mut base, with.clone());
            Some(ReturnedChange { change: one.change, without, with })
        });
        again.collect()
    }

    /// Returns the changes of these places by what they did, each run of them from one state to the next.
    fn runs(&self, places: &[usize], met: &MetStates<'_>) -> Vec<Vec<ReturnedChange>> {
        let mut runs: Vec<Vec<ReturnedChange>> = Vec::new();
        for change in places.iter().copied() {
            let (Ok(without), Some(with)) = (self.show(&met.versions[change]), self.left(change, met)) else {
                continue;
            };
            let one = ReturnedChange { change, without, with };
            let follows = |run: &&mut Vec<ReturnedChange>| {
                run.last().is_some_and(|last| last.change + 1 == change && !met.is_changed_after(last.change))
            };
            match runs.last_mut().filter(follows) {
                Some(run) => run.push(one),
                None => runs.push(vec![one]),
            }
        }
        runs
    }

    /// Returns the state that one of nebula's changes left; none: it is not known.
    fn left(&self, at: usize, met: &MetStates<'_>) -> Option<State> {
        let version = &met.versions[at];
        let Some(next) = met.versions.get(at + 1) else {
            let Some(last) = met.now.1 else { return Some(met.now.0.clone()) };
            let is_gone = last.bytes.is_none() && last.states.first() == Some(&None);
            return last.bytes.clone().map(State::file).or_else(|| is_gone.then_some(State::Absent));
        };
        let next = self.show(next).ok()?;
        match met.written.left_instead(met.path, version.id, &next) {
            None => Some(next),
            Some(Some(bytes)) => Some(State::file(bytes)),
            Some(None) => (met.written.left(met.path, version.id) == Some(None)).then_some(State::Absent),
        }
    }
}

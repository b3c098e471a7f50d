//! The states that a file passed through, and what is undone among them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::goal::state_sha;
use super::known::{LastWritten, LastWrittenLookup};
use super::returned::ReturnedChange;
use crate::archive::{Archive, Id, Sha, Version};
use crate::proposal::State;

/// A state that a file passed through.
pub(super) enum PassedState<'v> {
    /// A changeset met it.
    Met(&'v Version),
    /// A changeset left it and someone else changed the file then, or a change came back there; none: its bytes are not kept.
    Left(Option<State>),
    /// The present one.
    Now,
}

/// The states that a file passed through, oldest first: each change leads from one to the next.
#[derive(Default)]
pub(super) struct FileCourse<'v> {
    pub states: Vec<PassedState<'v>>,
    /// Their hashes; none: not known.
    pub hashes: Vec<Option<Option<Sha>>>,
    /// The changes that are undone, each by the place of the state that it met.
    pub own: BTreeSet<usize>,
}

impl<'v> FileCourse<'v> {
    fn pass(&mut self, state: PassedState<'v>, hash: Option<Option<Sha>>) {
        self.states.push(state);
        self.hashes.push(hash);
    }

    fn left(&mut self, bytes: Option<Arc<[u8]>>, mode: Option<u32>) {
        let state = bytes.map(|bytes| State::file(bytes).with_mode(mode));
        let hash = state.as_ref().map(state_sha);
        self.pass(PassedState::Left(state), hash);
    }

    /// Passes through what came back of changes with one of someone else; `own`: the changes that are undone.
    fn come_back(&mut self, back: Option<Vec<ReturnedChange>>, own: &BTreeSet<usize>) {
        for ReturnedChange { change, without, with } in back.unwrap_or_default() {
            let hashes = [&without, &with].map(|state| Some(state_sha(state)));
            let [of_without, of_with] = hashes;
            self.pass(PassedState::Left(Some(without)), of_without);
            if own.contains(&change) {
                self.own.insert(self.states.len() - 1);
            }
            self.pass(PassedState::Left(Some(with)), of_with);
        }
    }
}

/// Changes of a file that are undone, with none of another one between them: the places of the state that the first one met
/// and of the one that the last one left.
pub(super) struct UndoneSpan {
    pub before: usize,
    pub after: usize,
}

/// Returns the places of the versions that some changesets made old.
pub(super) fn made_old(own: &[Id], versions: &[Version]) -> BTreeSet<usize> {
    own.iter().filter_map(|id| versions.iter().rposition(|version| version.id < *id)).collect()
}

/// Returns whether another changeset changed a file after any of these (ascending). A folder holds nothing to be merged.
pub(super) fn has_later(path: &str, own: &[Id], versions: &[Version]) -> bool {
    let made_old = made_old(own, versions);
    let since = made_old.first().map_or(0, |first| versions.len() - first);
    !path.ends_with('/') && since > made_old.len()
}

/// Returns the changes of a file from the first of `own` on, without those of others that took each other back.
fn effective(own: &BTreeSet<usize>, end: usize, is_same: impl Fn(usize, usize) -> bool) -> Vec<usize> {
    let mut kept = Vec::new();
    let (start, mut at) = (own.first().copied().unwrap_or(end), end);
    while at > start {
        let above = own.range(..at).next_back().map_or(start, |last| last + 1);
        match (above..at).find(|before| is_same(*before, at)) {
            Some(before) => at = before,
            None => {
                at -= 1;
                kept.push(at);
            }
        }
    }
    kept.reverse();
    kept
}

/// Returns what some changes did to a file, oldest first. `own`: the places of the states that they met; `reached`: the
/// hashes of all states. What another change took back already counts no more.
pub(super) fn undone_spans(own: &BTreeSet<usize>, reached: &[Option<Option<Sha>>]) -> Vec<UndoneSpan> {
    let is_same = |one: usize, other: usize| reached[one].is_some() && reached[one] == reached[other];
    let present = reached.len() - 1;
    let mut kept: Vec<usize> = Vec::new();
    for at in effective(own, present, is_same) {
        kept.push(at);
        let same = |before: &usize| is_same(*before, at + 1);
        if let Some(back) = kept.iter().rposition(same).filter(|_| !own.contains(&at)) {
            kept.truncate(back);
        }
    }
    let mut spans: Vec<UndoneSpan> = Vec::new();
    for (n, at) in kept.iter().enumerate().filter(|(_, at)| own.contains(at)) {
        let after = kept.get(n + 1).copied().unwrap_or(present);
        match spans.last_mut().filter(|_| n > 0 && own.contains(&kept[n - 1])) {
            Some(span) => span.after = after,
            None => spans.push(UndoneSpan { before: *at, after }),
        }
    }
    spans
}

impl Archive {
    /// Returns the states that a file passed through. `own`: the places of the versions that the changes which are undone made
    /// old. What someone else did between one of them and the next changeset is a change of its own. `back`: what came back, by
    /// the place of nebula's change before that.
    pub(super) fn course<'v>(
        &self,
        (path, own): (&str, BTreeSet<usize>),
        versions: &'v [Version],
        (now, foreign): (&State, Option<&LastWritten>),
        (written, mut back): (&dyn LastWrittenLookup, BTreeMap<usize, Vec<ReturnedChange>>),
    ) -> FileCourse<'v> {
        let mut course = FileCourse::default();
        for (at, version) in versions.iter().enumerate() {
            let met = self.show(version).ok();
            let before = at.checked_sub(1);
            if let (Some(last), Some(met)) = (before.filter(|last| own.contains(last)), &met)
                && let Some(bytes) = written.left_instead(path, versions[last].id, met)
            {
                course.left(bytes, met.mode());
            }
            course.come_back(before.and_then(|before| back.remove(&before)), &own);
            if own.contains(&at) {
                course.own.insert(course.states.len());
            }
            course.pass(PassedState::Met(version), met.as_ref().map(state_sha));
        }
        let is_last = own.last().is_some_and(|last| last + 1 == versions.len());
        if let Some(foreign) = foreign.filter(|_| is_last) {
            course.left(foreign.bytes.clone(), None);
        }
        course.come_back(versions.len().checked_sub(1).and_then(|last| back.remove(&last)), &own);
        course.pass(PassedState::Now, Some(state_sha(now)));
        course
    }
}

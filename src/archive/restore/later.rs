//! Files that changed after what a restore takes back: by someone else, or by later changesets of nebula. What is taken back
//! is then no old state but a way back, which is merged into the present one.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::goal::{Choices, Goal, is_damaged, state_sha};
use super::known::{LastWritten, LastWrittenLookup};
use crate::archive::mode::ModeChanges;
use crate::archive::{Archive, Id, Sha, Version};
use crate::git::index;
use crate::proposal::merge::{self, Merged};
use crate::proposal::{
    Counts, FileChange, ForeignChoice, MergeRung, Merger, RestoreStatus, State, count_changed, is_in_repository,
};

/// Changesets of a file that are undone, with none of another one between them.
struct UndoneSpan {
    /// The state that the first one met.
    before: Version,
    /// The version that the last one made old.
    last: Id,
    /// The state that the changeset after it met; none: there is no later one.
    after: Option<Version>,
}

/// Returns whether another changeset changed a file after any of these (ascending). A folder holds nothing to be merged.
pub(super) fn has_later(path: &str, own: &[Id], versions: &[Version]) -> bool {
    let at = |id: &Id| versions.iter().rposition(|version| version.id < *id);
    let since = own.first().and_then(at).map_or(0, |first| versions.len() - first);
    let made_old: BTreeSet<usize> = own.iter().filter_map(at).collect();
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

/// Returns what some changesets did to a file, oldest first. `own`: the versions that they made old; `reached`: the state
/// before each version, and the present one. What another changeset took back already counts no more.
fn undone_spans(own: &BTreeSet<usize>, versions: &[Version], reached: &[Option<Option<Sha>>]) -> Vec<UndoneSpan> {
    let is_same = |one: usize, other: usize| reached[one].is_some() && reached[one] == reached[other];
    let mut kept: Vec<usize> = Vec::new();
    for at in effective(own, versions.len(), is_same) {
        kept.push(at);
        let same = |before: &usize| is_same(*before, at + 1);
        if let Some(back) = kept.iter().rposition(same).filter(|_| !own.contains(&at)) {
            kept.truncate(back);
        }
    }
    let mut spans: Vec<UndoneSpan> = Vec::new();
    for (n, at) in kept.iter().enumerate().filter(|(_, at)| own.contains(at)) {
        let (last, after) = (versions[*at].id, kept.get(n + 1).map(|next| versions[*next].clone()));
        match spans.last_mut().filter(|_| n > 0 && own.contains(&kept[n - 1])) {
            Some(span) => (span.last, span.after) = (last, after),
            None => spans.push(UndoneSpan { before: versions[*at].clone(), last, after }),
        }
    }
    spans
}

/// The present state of a file without what is taken back.
pub(super) struct Joined {
    pub after: State,
    rung: Option<MergeRung>,
    merged: Option<Merged>,
}

impl Joined {
    fn as_it_is(after: State) -> Self {
        Joined { after, rung: None, merged: None }
    }

    /// Merges the way from what was written to an older state into a later one; none: one of them is no text.
    pub fn of_text(path: &str, (wrote, old): (&[u8], &State), now: &State, merger: &Merger) -> Option<Self> {
        let merged = merge::three_way(path, wrote, old, now, merger)?;
        Some(Joined { after: merged.after.clone(), rung: Some(merged.rung), merged: Some(merged) })
    }

    /// Merges the way from one state to an older one into a later state; none: it cannot be told.
    fn of(path: &str, (wrote, old): (&State, &State), now: &State, merger: &Merger) -> Option<Self> {
        let is_same = |one: &State, other: &State| {
            let indexes = one.bytes().zip(other.bytes()).filter(|_| is_in_repository(path));
            state_sha(one) == state_sha(other) || indexes.is_some_and(|(one, other)| index::same_entries(one, other))
        };
        if is_same(now, wrote) {
            return Some(Joined::as_it_is(old.clone()));
        }
        if is_same(now, old) || is_same(wrote, old) {
            return Some(Joined::as_it_is(now.clone()));
        }
        // What git keeps is no text to be merged.
        let wrote = wrote.bytes().filter(|_| !is_in_repository(path))?;
        Joined::of_text(path, (wrote, old), now, merger)
    }

    /// Gives the state a mode. A merged text has none where it is that of the file as it is.
    pub fn with_mode(mut self, mode: Option<u32>, now: &State) -> Self {
        let mode = mode.filter(|_| !self.is_merged() || mode != now.mode());
        self.after = self.after.with_mode(mode);
        if let Some(merged) = &mut self.merged {
            merged.after = self.after.clone();
        }
        self
    }

    /// Returns whether a file is so already.
    pub fn is_there(&self, now: &State) -> bool {
        self.after == *now || self.is_merged() && self.after.mode().is_none() && self.after.is_same_but_for_mode(now)
    }

    /// Returns whether other changes of the same text stay in it.
    pub fn is_merged(&self) -> bool {
        self.merged.is_some()
    }

    fn conflicts(&self) -> usize {
        self.merged.as_ref().map_or(0, |merged| merged.conflicts.len())
    }

    fn change(self, path: &str, now: State) -> FileChange {
        match self.merged {
            Some(merged) => FileChange::merged(path, now, merged, "undo"),
            None => FileChange::new(path, now, self.after, "undo", &[]),
        }
    }
}

impl Archive {
    /// Returns a file as it is now without what is undone of it; none: that cannot be told. `foreign`: what nebula wrote
    /// last, where someone else changed it since.
    pub(super) fn without(
        &self,
        goal: &Goal,
        now: &State,
        foreign: Option<&LastWritten>,
        (written, modes): (&dyn LastWrittenLookup, &ModeChanges<'_>),
    ) -> Option<Joined> {
        let (path, versions) = (&goal.path, self.versions(&goal.path).ok()?);
        let own = goal.own.iter().filter_map(|id| versions.iter().rposition(|version| version.id < *id)).collect();
        let states = versions.iter().map(|version| self.show(version).ok().map(|state| state_sha(&state)));
        let reached: Vec<_> = states.chain([Some(state_sha(now))]).collect();
        let spans = undone_spans(&own, &versions, &reached);
        let mut joined = Joined::as_it_is(now.clone());
        for span in spans.iter().rev() {
            // A conflict can only be shown in the text that is the last.
            if joined.conflicts() > 0 {
                return None;
            }
            let before = self.state_before(path, &span.before, written)?;
            let left = match (&span.after, foreign) {
                (Some(next), _) => self.left_by(path, span.last, next, written)?,
                (None, Some(foreign)) => State::file(Arc::clone(foreign.bytes.as_ref()?)),
                (None, None) => joined.after.clone(),
            };
            let mode = joined.after.mode();
            let own_mode =
                |version: &Version, state: &State| modes.with_mode(path, version.id, state.clone(), now).mode();
            let is_set =
                span.after.as_ref().is_none_or(|next| own_mode(next, &left) != own_mode(&span.before, &before));
            let mode = if is_set { own_mode(&span.before, &before) } else { mode };
            joined = Joined::of(path, (&left, &before), &joined.after, self.merger())?.with_mode(mode, now);
        }
        Some(joined)
    }

    fn state_before(&self, path: &str, version: &Version, written: &dyn LastWrittenLookup) -> Option<State> {
        self.show(version).ok().filter(|state| !is_damaged(state, written.archived(path, version.id)))
    }

    /// Returns the state that a changeset left at a path: what the next one met, or what is remembered where someone else
    /// changed it between them.
    fn left_by(&self, path: &str, version: Id, next: &Version, written: &dyn LastWrittenLookup) -> Option<State> {
        let met = self.state_before(path, next, written)?;
        match written.left_instead(path, version, &met) {
            None => Some(met),
            Some(bytes) => bytes.map(|bytes| State::file(bytes).with_mode(met.mode())),
        }
    }
}

/// A file that changed after what is taken back.
pub(super) struct Changed<'a> {
    pub path: &'a str,
    pub last: Option<LastWritten>,
    /// The time of its last change, in unix milliseconds.
    pub at: Option<i64>,
    /// Later changesets changed it, and no one else.
    pub is_later: bool,
}

/// Returns the preview of such a file, and what is written by the choice for it.
pub(super) fn changed_since(
    Changed { path, last, at, is_later }: Changed<'_>,
    joined: Option<Joined>,
    (now, old): (State, State),
    choices: &Choices,
) -> (RestoreStatus, Option<FileChange>) {
    let wrote = last.as_ref().and_then(|last| last.bytes.clone()).filter(|_| !is_later);
    let counts = wrote.map_or_else(Counts::default, |bytes| count_changed(&State::File { bytes, mode: None }, &now));
    if is_later && is_in_repository(path) && choices.of(path, false) != Some(ForeignChoice::RestoreVersion) {
        // It comes back as a whole or not at all, and nothing in it can be merged.
        return (RestoreStatus::Refused(format!("{path} was changed again later")), None);
    }
    let (conflicts, rung) = (joined.as_ref().map(Joined::conflicts), joined.as_ref().and_then(|joined| joined.rung));
    let folders = last.map(|last| last.folders).unwrap_or_default();
    let merged = joined.map(|joined| joined.change(path, now.clone()));
    // The repository is kept or taken as a whole.
    let changes = merged.as_ref().is_some_and(|change| !change.hunks.is_empty()) && !is_in_repository(path);
    let is_clean = conflicts == Some(0) && changes;
    let choice = Choices { merge_clean: choices.merge_clean || is_later, ..choices.clone() }.of(path, is_clean);
    let change = match (choice, merged) {
        (Some(ForeignChoice::RestoreVersion), _) => Some(FileChange::new(path, now, old, "undo", &[])),
        (Some(ForeignChoice::Merge), merged) => merged,
        _ => None,
    };
    // A merge may result in the present text.
    let change = change.filter(|change| !change.hunks.is_empty());
    let change = change.map(|change| FileChange { folders, restores: true, foreign: !is_later, ..change });
    (RestoreStatus::Foreign { at, counts, choice, conflicts, rung, is_later }, change)
}

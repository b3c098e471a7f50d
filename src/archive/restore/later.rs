//! Files that changed after what a restore takes back: by someone else, or by later changesets of nebula. What is taken back
//! is then no old state but a way back, which is merged into the present one.

use std::collections::BTreeSet;

use super::course::{FileCourse, PassedState, UndoneSpan, made_old, undone_spans};
use super::goal::{Choices, Goal, is_damaged, state_sha};
use super::known::{LastWritten, LastWrittenLookup};
use crate::archive::mode::ModeChanges;
use crate::archive::{Archive, Id, Version};
use crate::git::index;
use crate::proposal::merge::{self, Merged};
use crate::proposal::{
    Counts, FileChange, ForeignChoice, MergeRung, Merger, RestorePreview, RestoreStatus, State, count_changed,
    is_in_any_repository, is_in_repository,
};

/// The reason why older changes of a file stay where the later ones are undone.
const IN_PART: &str = "someone else changed it in between: only what came after that is undone";
/// The reason why the permission bits of a file stay where its bytes are restored.
const MODE_STAYS: &str = "someone else set its mode since: that stays";
/// The reason why lines of a file stay where others are restored.
const LINES_STAY: &str = "the same lines were changed outside nebula: those stay";
/// The reason why lines of a file stay for later changes where others are restored.
pub(super) const LATER_STAY: &str = "the same lines were changed again later: those stay";

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
            let indexes = one.bytes().zip(other.bytes()).filter(|_| is_in_any_repository(path));
            state_sha(one) == state_sha(other) || indexes.is_some_and(|(one, other)| index::same_entries(one, other))
        };
        if is_same(now, wrote) {
            return Some(Joined::as_it_is(old.clone()));
        }
        if is_same(now, old) || is_same(wrote, old) {
            return Some(Joined::as_it_is(now.clone()));
        }
        // What git keeps is no text to be merged.
        let wrote = wrote.bytes().filter(|_| !is_in_any_repository(path))?;
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

    pub fn conflicts(&self) -> usize {
        self.merged.as_ref().map_or(0, |merged| merged.conflicts.len())
    }

    pub fn change(self, path: &str, now: State) -> FileChange {
        match self.merged {
            Some(merged) => FileChange::merged(path, now, merged, "undo"),
            None => FileChange::new(path, now, self.after, "undo", &[]),
        }
    }
}

/// A file without what is undone of it.
pub(super) struct Without {
    /// The present state without it, or without the last of it alone.
    pub joined: Joined,
    /// The change before that, which cannot be undone; none: there is none.
    pub stuck: Option<StuckChange>,
}

/// A change of a file that cannot be taken out of what was made of the file since.
pub(super) struct StuckChange {
    /// The state that it left; none: it is not known.
    pub left: Option<State>,
    /// Someone else changed the file right after it.
    pub is_foreign: bool,
}

impl Archive {
    /// Returns whether someone else changed a file between two of these changesets (ascending) that follow each other. A
    /// folder holds nothing that could be lost.
    pub(super) fn has_between(
        &self,
        path: &str,
        own: &[Id],
        versions: &[Version],
        written: &dyn LastWrittenLookup,
    ) -> bool {
        if own.len() < 2 || path.ends_with('/') {
            return false;
        }
        let made_old = made_old(own, versions);
        let mut follow = made_old.iter().filter(|at| made_old.contains(&(*at + 1)));
        follow.any(|at| {
            let met = self.show(&versions[at + 1]).ok();
            met.is_some_and(|met| written.left_instead(path, versions[*at].id, &met).is_some())
        })
    }

    /// Returns a file as it is now without what is undone of it; none: two changes of the same lines meet within it. `foreign`:
    /// what nebula wrote last, where someone else changed it since.
    pub(super) fn without(
        &self,
        goal: &Goal,
        now: &State,
        foreign: Option<&LastWritten>,
        (written, modes): (&dyn LastWrittenLookup, &ModeChanges<'_>),
    ) -> Option<Without> {
        let versions = self.versions(&goal.path).ok()?;
        let own = made_old(&goal.own, &versions);
        let back = self.returned(&goal.path, &versions, (now, foreign), written).at;
        let course = self.course((&goal.path, own), &versions, (now, foreign), (written, back));
        if undone_spans(&course.own, &course.hashes).is_empty()
            && let Some(left) = self.made_again(goal, &versions, now)
        {
            let stuck = Some(StuckChange { left: Some(left), is_foreign: true });
            return Some(Without { joined: Joined::as_it_is(now.clone()), stuck });
        }
        let mode = |joined: &State, span: &UndoneSpan, states: (&State, &State)| {
            self.mode_without((goal, &course), span, states, (joined, now, modes))
        };
        self.walk_back((&goal.path, &course), (now, now), written, mode)
    }

    /// Returns what the first change of a file that is undone left, where that made it, and it went and came back since with
    /// what someone else had changed.
    fn made_again(&self, goal: &Goal, versions: &[Version], now: &State) -> Option<State> {
        let first = *made_old(&goal.own, versions).first()?;
        let next = versions.get(first + 1).filter(|_| versions[first].absent && now.bytes().is_some())?;
        let left = self.show(next).ok()?;
        (state_sha(&left) != state_sha(now) && is_like(&left, now)).then_some(left)
    }

    /// Takes the changes of a course that are undone out of a state, the newest first. `mode`: the mode that a file has without
    /// one of them.
    fn walk_back(
        &self,
        (path, course): (&str, &FileCourse<'_>),
        (start, now): (&State, &State),
        written: &dyn LastWrittenLookup,
        mode: impl Fn(&State, &UndoneSpan, (&State, &State)) -> Option<u32>,
    ) -> Option<Without> {
        let mut joined = Joined::as_it_is(start.clone());
        for span in undone_spans(&course.own, &course.hashes).iter().rev() {
            // A conflict can only be shown in the text that is the last.
            if joined.conflicts() > 0 {
                return None;
            }
            let state_at = |place: usize| match &course.states[place] {
                PassedState::Met(version) => self.state_before(path, version, written),
                PassedState::Left(state) => state.clone(),
                PassedState::Now => Some(now.clone()),
            };
            let (before, left) = (state_at(span.before)?, state_at(span.after));
            let next = left.as_ref().and_then(|left| {
                let mode = mode(&joined.after, span, (&before, left));
                Some(Joined::of(path, (left, &before), &joined.after, self.merger())?.with_mode(mode, now))
            });
            let Some(next) = next else {
                let is_foreign = matches!(course.states[span.after], PassedState::Left(_));
                return Some(Without { joined, stuck: Some(StuckChange { left, is_foreign }) });
            };
            joined = next;
        }
        Some(Without { joined, stuck: None })
    }

    /// Returns the oldest changeset that is not undone and changed a file after the first one that is; none: none did, or
    /// nothing of it is in the text any more, which is the file without what is undone.
    pub(super) fn later_change(
        &self,
        goal: &Goal,
        (now, text): (&State, &State),
        foreign: Option<&LastWritten>,
        written: &dyn LastWrittenLookup,
    ) -> Option<Id> {
        let versions = self.versions(&goal.path).ok()?;
        let own = made_old(&goal.own, &versions);
        let first = *own.first()?;
        let later: BTreeSet<usize> = (first + 1..versions.len()).filter(|at| !own.contains(at)).collect();
        let back = self.returned(&goal.path, &versions, (now, foreign), written).at;
        let is_in_text = |places: BTreeSet<usize>| {
            let around = (written, back.clone());
            let course = self.course((&goal.path, places), &versions, (now, foreign), around);
            let mode = |joined: &State, _: &UndoneSpan, _: (&State, &State)| joined.mode();
            let Some(found) = self.walk_back((&goal.path, &course), (text, now), written, mode) else { return true };
            match found.stuck {
                // It had removed the file, which is back.
                Some(StuckChange { left: Some(State::Absent), .. }) => text.is_absent(),
                Some(_) => true,
                None => found.joined.conflicts() > 0 || state_sha(&found.joined.after) != state_sha(text),
            }
        };
        if later.is_empty() || !is_in_text(later.clone()) {
            return None;
        }
        let id = |at: usize| self.changeset_after(&goal.path, at, &versions).unwrap_or(versions[at].id);
        let removes = |at: usize| versions.get(at + 1).map_or(now.is_absent(), |next| next.absent);
        let is_met_as_left = |at: &usize| {
            let met = self.show(&versions[at + 1]).ok();
            met.is_some_and(|met| written.left_instead(&goal.path, versions[*at].id, &met).is_none())
        };
        // What only nebula had changed until it was removed comes back with the old path.
        let is_removed =
            |at: usize, id| removes(at) && self.makes_nothing(id) && (first..at).all(|at| is_met_as_left(&at));
        let counts = |(at, id): &(usize, Id)| !written.is_undo(*id) && !is_removed(*at, *id);
        let still = later.into_iter().filter(|at| is_in_text(BTreeSet::from([*at]))).map(|at| (at, id(at)));
        still.filter(counts).map(|(_, id)| id).next()
    }

    /// Returns whether a changeset made no file: what it removed was not moved.
    fn makes_nothing(&self, id: Id) -> bool {
        let is_made = |path: &String| {
            !path.ends_with('/') && self.version_in(path, id).ok().flatten().is_none_or(|version| version.absent)
        };
        self.paths(id).is_ok_and(|paths| !paths.iter().any(is_made))
    }

    /// Returns the changeset that made a version of a file old.
    fn changeset_after(&self, path: &str, at: usize, versions: &[Version]) -> Option<Id> {
        self.changeset_among(&self.list().ok()?, path, at, versions)
    }

    /// Returns the one among these changesets (newest first) that made a version of a file old.
    pub(super) fn changeset_among(&self, ids: &[Id], path: &str, at: usize, versions: &[Version]) -> Option<Id> {
        let (made, next) = (versions[at].id, versions.get(at + 1).map(|next| next.id));
        let since = &ids[..ids.partition_point(|id| *id > made)];
        let mut until_next = since.iter().rev().take_while(|id| next.is_none_or(|next| **id < next));
        until_next.find(|id| self.paths(**id).is_ok_and(|paths| paths.iter().any(|one| one == path))).copied()
    }

    /// Returns the mode of a file without what is undone of it: the one that was met where that is what was changed, else
    /// that of the file as it is. One that was there before, and is again, was brought back since.
    fn mode_without(
        &self,
        (goal, course): (&Goal, &FileCourse<'_>),
        span: &UndoneSpan,
        (before, left): (&State, &State),
        (joined, now, modes): (&State, &State, &ModeChanges<'_>),
    ) -> Option<u32> {
        let version_at = |place: usize| match course.states.get(place) {
            Some(PassedState::Met(version)) => Some(*version),
            _ => None,
        };
        let own_mode =
            |version: &Version, state: &State| modes.with_mode(&goal.path, version.id, state.clone(), now).mode();
        let Some(met) = version_at(span.before) else { return joined.mode().or(before.mode()) };
        let mode_before = own_mode(met, before);
        let (Some(today), true) = (joined.mode(), left.mode().is_some() && mode_before.is_some()) else {
            return mode_before;
        };
        // What the last of them left has the mode that the next one met.
        let last = course.own.range(span.before..span.after).next_back().copied().unwrap_or(span.before);
        let next = version_at(last + 1).or_else(|| version_at(last + 2));
        let is_own = |id: Id| goal.own.contains(&id) && next.is_none_or(|next| id < next.id);
        let was_no_file = |place| {
            version_at(place).is_some_and(|version| version.absent || version.folder || version.file.is_symlink())
        };
        let is_changed = (span.before + 1..=last).any(was_no_file) || modes.is_set_by(&goal.path, met.id, is_own);
        let mode_left = match next {
            Some(next) => self.show(next).ok().and_then(|state| own_mode(next, &state)),
            None => Some(today),
        };
        let is_others = || modes.set_by_others(&goal.path, met.id, now) == Some(today);
        if !is_changed || mode_left == mode_before || is_others() {
            return Some(today);
        }
        let had_before = |place| version_at(place).and_then(|version| self.show(version).ok()?.mode()) == Some(today);
        let is_back = mode_left != Some(today) && (0..=span.before).any(had_before);
        if is_back { Some(today) } else { mode_before }
    }

    fn state_before(&self, path: &str, version: &Version, written: &dyn LastWrittenLookup) -> Option<State> {
        self.show(version).ok().filter(|state| !is_damaged(state, written.archived(path, version.id)))
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
    let is_changed = merged.as_ref().is_some_and(|change| !change.hunks.is_empty());
    let is_clean = conflicts == Some(0) && is_changed && !is_in_repository(path);
    let choice = Choices { merge_clean: choices.merge_clean || is_later, ..choices.clone() }.of(path, is_clean);
    let is_mixed = conflicts.is_some_and(|conflicts| conflicts > 0) && !is_in_repository(path);
    let in_part = choices.by_hunk && choices.merge_clean && is_mixed;
    if choice == Some(ForeignChoice::Keep)
        && let Some(part) = merged.as_ref().filter(|_| in_part).and_then(FileChange::without_conflicts)
    {
        let change = FileChange { folders, restores: true, foreign: !is_later, ..part };
        let why = if is_later { LATER_STAY } else { LINES_STAY };
        return (RestoreStatus::Refused(why.into()), Some(change));
    }
    let change = match (choice, merged) {
        (Some(ForeignChoice::RestoreVersion), _) => Some(FileChange::new(path, now, old, "undo", &[])),
        (Some(ForeignChoice::Merge), merged) => merged,
        _ => None,
    };
    // A merge may result in the present text.
    let change = change.filter(|change| !change.hunks.is_empty());
    let is_left = is_changed || conflicts != Some(0) || is_in_repository(path);
    let is_merging = choice == Some(ForeignChoice::Merge) || choices.merge_clean;
    if !is_left && is_merging && choice != Some(ForeignChoice::RestoreVersion) {
        // Nothing of it is left in what the others made of the file.
        return (RestoreStatus::Equal, None);
    }
    let change = change.map(|change| FileChange { folders, restores: true, foreign: !is_later, ..change });
    (RestoreStatus::Foreign { at, counts, choice, conflicts, rung, is_later }, change)
}

/// Returns the preview of a file of which the last changes alone can be undone, as someone else changed it before them, and what
/// is written.
pub(super) fn restored_in_part(known: Changed<'_>, joined: Joined, now: State) -> (RestoreStatus, Option<FileChange>) {
    let folders = known.last.map(|last| last.folders).unwrap_or_default();
    let change = joined.change(known.path, now);
    let change = FileChange { folders, restores: true, foreign: !known.is_later, ..change };
    (RestoreStatus::Refused(IN_PART.into()), Some(change))
}

/// Returns the preview of a file whose mode someone else set since, and what is written: its bytes alone, where they differ.
pub(super) fn without_mode(
    known: Changed<'_>,
    (now, old, today): (State, State, u32),
    choices: &Choices,
) -> (RestoreStatus, Option<FileChange>) {
    let bytes_alone = old.clone().with_mode(Some(today));
    if bytes_alone == now {
        return changed_since(known, None, (now, old), choices);
    }
    let (_, change) = restored_in_part(known, Joined::as_it_is(bytes_alone), now);
    (RestoreStatus::Refused(MODE_STAYS.into()), change)
}

/// Returns whether a part of what was done to a file is undone alone: the rest stays.
pub fn is_in_part(preview: &RestorePreview) -> bool {
    matches!(&preview.status, RestoreStatus::Refused(why) if [IN_PART, MODE_STAYS, LINES_STAY, LATER_STAY].contains(&&**why))
}

/// Returns whether at least half of the lines of a text are in another one.
pub(super) fn is_like(old: &State, now: &State) -> bool {
    let lines = old.text().map_or(0, |text| text.lines().count());
    lines > 0 && now.text().is_some() && count_changed(old, now).removed * 2 <= lines
}

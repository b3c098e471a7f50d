//! Moves that are undone, of which both ends are decided together: what someone else changed at the new path goes back to the
//! old one, and where that cannot be, or where nebula changed the file there again, both ends stay. One end alone is never
//! undone: everything in the file would be there twice, or not at all.

use std::collections::{HashMap, HashSet};

use super::goal::{Choices, Goal, state_sha};
use super::known::LastWrittenLookup;
use super::later::{Without, is_in_part, is_like};
use crate::archive::mode::ModeChanges;
use crate::archive::{Archive, Id};
use crate::proposal::merge::{self, Merged};
use crate::proposal::{
    Counts, FileChange, ForeignChoice, RestoreFate, RestorePreview, RestoreStatus, State, count_changed,
    is_in_any_repository,
};
use crate::workspace::Workspace;

/// The most files that are looked at for one that is only alike.
const LIKENED: usize = 500;

/// A restore that is prepared: its previews, and what is written.
type Prepared<'p> = (&'p mut [RestorePreview], &'p mut Vec<FileChange>);

/// The new path of a move that is undone.
struct NewEnd {
    /// The state there.
    now: State,
    /// The time of its last change, in unix milliseconds.
    at: Option<i64>,
    /// The state that the move left there, as far as it is known: it tells the move.
    moved: State,
    /// The state that someone else changed; none: it is not known.
    left: Option<State>,
    /// The file there without what is undone of it, but for the move.
    text: State,
    /// Someone else changed the file there.
    is_changed: bool,
    /// The changeset that is not undone and changed the file there since.
    later: Option<Id>,
}

impl Archive {
    /// Carries what someone else changed at the new path of a move that is undone back to the old one, and leaves both ends
    /// where that meets a conflict, where the new one is kept, or where a later changeset changed it.
    pub(super) fn join_ends(
        &self,
        goals: &[Goal],
        (workspace, written): (&Workspace, &dyn LastWrittenLookup),
        (choices, modes): (&Choices, &ModeChanges<'_>),
        (previews, files): Prepared<'_>,
    ) {
        let mut refused = Vec::new();
        for (at, goal) in goals.iter().enumerate() {
            let status = &previews[at].status;
            let is_alone = goal.own.is_empty() && !matches!(status, RestoreStatus::Foreign { .. });
            let is_forced = choices.of(&goal.path, false) == Some(ForeignChoice::RestoreVersion);
            if is_alone || is_forced || matches!(status, RestoreStatus::NotArchived(_)) || !is_new_file(goal) {
                continue;
            }
            let Some(end) = self.new_end(goal, (workspace, written), modes) else { continue };
            let replaced = |path: &str| {
                goals.iter().any(|one| one.path == path && is_old_file(one) && self.went(one, workspace, written))
            };
            let Some(from) = coming(&goal.path, &end.moved, files, replaced).cloned() else { continue };
            if let Some(later) = end.later {
                files.retain(|file| file.path != from.path && file.path != goal.path);
                let why = format!("it was moved to {}, which {later} changed since: undo that first", goal.path);
                if previews[at].status != RestoreStatus::Equal {
                    previews[at].status = RestoreStatus::Refused(moved_from(&from.path));
                }
                refused.push((from.path, why));
            } else if end.is_changed {
                let folders = written.written(&goal.path).map(|last| last.folders).unwrap_or_default();
                refused.extend(self.carry((end, from, folders), (at, choices), (previews, files)));
            }
        }
        refuse(&refused, (previews, files));
    }

    /// Carries what someone else changed at the new path of a move, whose preview is at a place, back to the old one. Returns
    /// the old path and the reason where both stay.
    fn carry(
        &self,
        (end, from, folders): (NewEnd, FileChange, Vec<String>),
        (at, choices): (usize, &Choices),
        (previews, files): Prepared<'_>,
    ) -> Option<(String, String)> {
        let path = previews[at].path.clone();
        if end.now.is_absent() {
            files.retain(|file| file.path != from.path);
            let why = format!("someone else changed it at {path} in between: undo what came after that first");
            return Some((from.path, why));
        }
        let merged = end
            .left
            .as_ref()
            .and_then(State::bytes)
            .and_then(|left| merge::three_way(&from.path, left, &from.after, &end.text, self.merger()));
        let (conflicts, rung) = (merged.as_ref().map(|one| one.conflicts.len()), merged.as_ref().map(|one| one.rung));
        let (is_clean, is_part) = (conflicts == Some(0), is_in_part(&previews[at]));
        let is_kept = choices.each.get(&path) == Some(&ForeignChoice::Keep);
        let choice = match is_part && is_clean && !is_kept {
            true => Some(ForeignChoice::Merge),
            false => choices.of(&path, is_clean),
        };
        let merged = merged.filter(|_| choice == Some(ForeignChoice::Merge));
        // Where the move itself cannot be undone, what came after someone else's change still is.
        let is_part = is_part && merged.is_none() && !is_kept;
        files.retain(|file| file.path != from.path && (is_part || file.path != path));
        if !is_part {
            let counts = end.left.as_ref().map_or_else(Counts::default, |left| count_changed(left, &end.text));
            previews[at].status =
                RestoreStatus::Foreign { at: end.at, counts, choice, conflicts, rung, is_later: false };
        }
        let Some(merged) = merged else {
            return Some((from.path, format!("it stays at {path}, which was changed since")));
        };
        let old = from.path.clone();
        let ends = ends((&path, end.now), from, merged, folders);
        if let Some(preview) = previews.iter_mut().find(|preview| preview.path == old) {
            let fate = RestoreFate::of(&ends[1].before, &ends[1].after);
            preview.status = RestoreStatus::Restore(fate, ends[1].counts);
        }
        files.extend(ends);
        None
    }

    /// Returns a file as the new path of a move, which someone else or a later changeset may have changed; none: it cannot be read.
    fn new_end(
        &self,
        goal: &Goal,
        (workspace, written): (&Workspace, &dyn LastWrittenLookup),
        modes: &ModeChanges<'_>,
    ) -> Option<NewEnd> {
        let read = workspace.read_to_restore(&goal.path).ok()?;
        let (now, at, last) = (read.state, read.stamp.map(|stamp| stamp.modified()), written.written(&goal.path));
        let moved = self.moved_here(goal, written);
        if goal.own.is_empty() {
            // Someone else changed it last, and nothing of nebula's followed that is not undone, too.
            let left = last.and_then(|last| last.bytes).map(State::file);
            let moved = moved.or_else(|| left.clone()).unwrap_or_else(|| now.clone());
            return Some(NewEnd { text: now.clone(), now, at, moved, left, is_changed: true, later: None });
        }
        let foreign = last.as_ref().filter(|_| !self.is_ours(&goal.path, &now, last.as_ref()));
        let (text, stuck) = match self.without(goal, &now, foreign, (written, modes)) {
            Some(Without { joined, stuck }) => (joined.after, stuck.map(|stuck| stuck.left)),
            None => (now.clone(), Some(None)),
        };
        let later = self.later_change(goal, (&now, &text), foreign, written);
        let (left, is_changed) = (stuck.clone().flatten(), stuck.is_some());
        let moved = moved.or_else(|| left.clone()).or_else(|| foreign?.bytes.clone().map(State::file));
        Some(NewEnd { moved: moved.unwrap_or_else(|| now.clone()), now, at, left, text, is_changed, later })
    }

    /// Returns the state that the first change of a file that is undone left, by the next one that met it; none: no other did.
    fn moved_here(&self, goal: &Goal, written: &dyn LastWrittenLookup) -> Option<State> {
        let (version, versions) = (goal.version.as_ref().ok()?, self.versions(&goal.path).ok()?);
        let met = self.show(versions.iter().find(|next| next.id > version.id)?).ok()?;
        let left = written.left_instead(&goal.path, version.id, &met).flatten();
        Some(left.map_or(met, State::file))
    }

    /// Leaves the new paths of moves whose old ones cannot be given back out of a restore that is prepared.
    pub(super) fn leave_new_ends(
        &self,
        goals: &[Goal],
        (workspace, written): (&Workspace, &dyn LastWrittenLookup),
        (previews, files): Prepared<'_>,
    ) {
        let staying: Vec<(&str, State)> = {
            let stays = left_paths(previews, files);
            let stays = goals.iter().filter(|goal| stays.contains(goal.path.as_str()) && is_old_file(goal));
            let gone = stays.filter(|goal| self.went(goal, workspace, written));
            gone.filter_map(|goal| Some((goal.path.as_str(), self.show(goal.version.as_ref().ok()?).ok()?))).collect()
        };
        if staying.is_empty() {
            return;
        }
        let goes: HashSet<&str> =
            files.iter().filter(|file| file.after.is_absent()).map(|file| file.path.as_str()).collect();
        let back: HashSet<_> =
            files.iter().filter(|file| file.before.is_absent()).map(|file| state_sha(&file.after)).collect();
        let old: Vec<(&str, &State)> = staying.iter().map(|(path, state)| (*path, state)).collect();
        let mut stay = Vec::new();
        for goal in goals.iter().filter(|goal| is_new_file(goal) && goes.contains(goal.path.as_str())) {
            let now = || Some(workspace.read_to_restore(&goal.path).ok()?.state);
            let Some(moved) = self.moved_here(goal, written).or_else(now) else { continue };
            // What comes back as it is here is the old one of this path.
            if back.contains(&state_sha(&moved)) {
                continue;
            }
            if let Some(old) = alike(&goal.path, &moved, &old) {
                stay.push((goal.path.clone(), moved_from(old)));
            }
        }
        refuse(&stay, (previews, files));
    }

    /// Leaves the files out of a restore that is prepared which hold what was at a path that stays, as where files changed
    /// places: nowhere else it would be.
    pub(super) fn leave_last_copies(&self, goals: &[Goal], (previews, files): Prepared<'_>) {
        let state = |goal: &Goal| self.show(goal.version.as_ref().ok()?).ok().map(|state| state_sha(&state));
        loop {
            let staying: HashMap<_, &str> = {
                let left = left_paths(previews, files);
                let left = goals.iter().filter(|goal| left.contains(goal.path.as_str()) && is_old_file(goal));
                left.filter_map(|goal| Some((state(goal)?, goal.path.as_str()))).collect()
            };
            if staying.is_empty() {
                return;
            }
            let back: HashSet<_> = files.iter().map(|file| state_sha(&file.after)).collect();
            let is_replaced = |file: &&FileChange| {
                !file.after.is_absent() && file.before.bytes().is_some_and(|bytes| !bytes.is_empty())
            };
            let stay = files.iter().filter(is_replaced).filter_map(|file| {
                let now = state_sha(&file.before);
                let old = staying.get(&now).filter(|_| !back.contains(&now))?;
                Some((file.path.clone(), moved_from(old)))
            });
            let stay: Vec<(String, String)> = stay.collect();
            if stay.is_empty() {
                return;
            }
            refuse(&stay, (&mut *previews, &mut *files));
        }
    }

    /// Returns whether what is undone of a file is that it went, as with a move: whatever came to its place since.
    fn went(&self, goal: &Goal, workspace: &Workspace, written: &dyn LastWrittenLookup) -> bool {
        let Ok(version) = &goal.version else { return false };
        let mut since = self.versions(&goal.path).unwrap_or_default();
        since.retain(|other| other.id > version.id);
        let was_left = |next| written.left_instead(&goal.path, version.id, &self.show(next).ok()?);
        workspace.read_to_restore(&goal.path).is_ok_and(|read| read.state.is_absent())
            || since.iter().any(|version| version.absent)
            || since.first().and_then(was_left).is_some_and(|left| left.is_none())
            || written.written(&goal.path).is_some_and(|last| last.states.contains(&None))
    }
}

/// Returns whether a file was made by what is undone.
fn is_new_file(goal: &Goal) -> bool {
    let is_made = goal.version.as_ref().is_ok_and(|version| version.absent);
    is_made && !goal.path.ends_with('/') && !is_in_any_repository(&goal.path)
}

/// Returns whether a file was there before what is undone.
fn is_old_file(goal: &Goal) -> bool {
    let was_there = goal.version.as_ref().is_ok_and(|version| !version.absent && !version.folder);
    was_there && !goal.path.ends_with('/') && !is_in_any_repository(&goal.path)
}

/// Returns the paths of a restore that stay as they are.
fn left_paths<'p>(previews: &'p [RestorePreview], files: &[FileChange]) -> HashSet<&'p str> {
    use RestoreStatus::{Foreign, NotArchived, Refused};
    let comes: HashSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let is_left = |one: &&RestorePreview| matches!(one.status, Foreign { .. } | Refused(_) | NotArchived(_));
    let left = previews.iter().filter(is_left).map(|one| one.path.as_str());
    left.filter(|path| !comes.contains(path)).collect()
}

/// Returns why the new path of a move stays.
pub(super) fn moved_from(old: &str) -> String {
    format!("it was moved here from {old}, which stays")
}

/// Leaves paths out of a restore, each with why, and the folders that would come back for them alone.
fn refuse(stay: &[(String, String)], (previews, files): Prepared<'_>) {
    if stay.is_empty() {
        return;
    }
    files.retain(|file| stay.iter().all(|(path, _)| *path != file.path));
    let comes = |file: &&FileChange| file.path.ends_with('/') && file.before.is_absent() && !file.after.is_absent();
    let mut folders: Vec<String> = files.iter().filter(comes).map(|file| file.path.clone()).collect();
    folders.sort_unstable_by(|one, other| other.cmp(one));
    let mut left: Vec<(String, String)> = Vec::new();
    for folder in folders {
        let is_empty = || {
            let is_inner = |file: &&FileChange| file.path.starts_with(&folder) && file.path != folder;
            files.iter().filter(is_inner).all(|file| file.after.is_absent())
        };
        if let Some((_, why)) = stay.iter().find(|(path, _)| path.starts_with(&folder)).filter(|_| is_empty()) {
            left.push((folder.clone(), why.clone()));
            files.retain(|file| file.path != folder);
        }
    }
    for (path, why) in stay.iter().chain(&left) {
        if let Some(preview) = previews.iter_mut().find(|preview| preview.path == *path) {
            preview.status = RestoreStatus::Refused(why.clone());
        }
    }
}

/// Returns the change that brings back the old path of a move, if a file is the new one. `replaced`: something else came to a
/// path since a file went from there.
fn coming<'f>(
    path: &str,
    moved: &State,
    files: &'f [FileChange],
    replaced: impl Fn(&str) -> bool,
) -> Option<&'f FileChange> {
    let comes = |file: &&FileChange| {
        let is_file = file.after.bytes().is_some() || matches!(file.after, State::Large(_) | State::Link { .. });
        is_file && file.moved.is_none() && file.path != path
    };
    let (made, others): (Vec<&FileChange>, Vec<&FileChange>) =
        files.iter().filter(comes).partition(|file| file.before.is_absent());
    let found = |all: &[&'f FileChange]| {
        let states: Vec<(&str, &State)> = all.iter().map(|file| (file.path.as_str(), &file.after)).collect();
        let old = alike(path, moved, &states)?;
        all.iter().find(|file| file.path == old).copied()
    };
    found(&made).or_else(|| found(&others).filter(|file| replaced(&file.path)))
}

/// Returns the path of the one among these files that a state is the same as, or at least half of its lines; of several the
/// one of the same name.
fn alike<'f>(path: &str, moved: &State, all: &[(&'f str, &State)]) -> Option<&'f str> {
    let sha = state_sha(moved).filter(|_| moved.bytes().is_none_or(|bytes| !bytes.is_empty()))?;
    let the_one = |is_alike: &dyn Fn(&State) -> bool| -> Option<&'f str> {
        let found: Vec<&'f str> = all.iter().filter(|(_, state)| is_alike(state)).map(|(path, _)| *path).collect();
        let [one] = found.as_slice() else {
            let mut named = found.iter().filter(|old| name(old) == name(path));
            return named.next().copied().filter(|_| named.next().is_none());
        };
        Some(one)
    };
    let is_same = |old: &State| match (old.bytes(), moved.bytes()) {
        (Some(old), Some(moved)) => old == moved,
        (None, None) => state_sha(old) == Some(sha),
        _ => false,
    };
    the_one(&is_same).or_else(|| if all.len() <= LIKENED { the_one(&|old| is_like(old, moved)) } else { None })
}

fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns both ends of a move back, which are decided together where nothing is at the old one.
fn ends((to, now): (&str, State), from: FileChange, merged: Merged, folders: Vec<String>) -> [FileChange; 2] {
    let rung = merged.rung;
    let after = merged.after.with_mode(from.after.mode());
    let [gone, back] = match from.before.is_absent() {
        true => FileChange::moved(to, &from.path, now, after, "undo", &merged.conflicts),
        false => [
            FileChange::new(to, now, State::Absent, "undo", &[]),
            FileChange::new(from.path, from.before, after, "undo", &merged.conflicts),
        ],
    };
    let of_undo = |change, folders| FileChange { restores: true, foreign: true, folders, merged: Some(rung), ..change };
    [of_undo(gone, folders), of_undo(back, from.folders)]
}

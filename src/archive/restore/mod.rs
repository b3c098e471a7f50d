//! Undo, redo and restores: from archived states to a proposal, with a preview of each file. Writes nothing.
//!
//! What nebula last wrote to a path is handed in ([`LastWrittenLookup`]): today's bytes that are not that are someone
//! else's, though the file had them before, and are left out of the proposal until something was chosen for them.

mod course;
mod goal;
mod in_the_way;
mod known;
mod later;
mod moves;
mod returned;
mod targets;
mod waiting;

use std::collections::BTreeSet;

use self::goal::{Between, Goal};
pub use self::goal::{Choices, is_damaged, state_sha};
pub use self::in_the_way::{NOT_EMPTY, blocked, lies_in, not_emptied};
pub use self::known::{LastWritten, LastWrittenLookup, NothingKnown};
pub use self::later::is_in_part;
use self::later::{Changed, Joined, Without, changed_since, restored_in_part, without_mode};
use super::mode::ModeChanges;
use super::unit::{made, repository, whole};
use super::{Archive, Error, Id, StoreOps, Version};
use crate::git::index;
use crate::proposal::{
    FileChange, ForeignChoice, Proposal, ProposalId, RestoreFate, RestorePreview, RestoreStatus, State,
    is_in_any_repository, is_in_repository,
};
use crate::workspace::{PathError, Workspace};

/// The extent of a restore. Paths are normalised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RestoreTarget {
    /// `undo [COUNT] [FILE…]`: this many versions back; without files those of the newest changeset. A redo is this,
    /// once, without files.
    Undo {
        /// The number of versions, from 1.
        count: usize,
        /// Normalised paths.
        files: Vec<String>,
    },
    /// The effect of these changesets, file by file: the state before the oldest of them or, of a file that another one changed
    /// later, the present state without theirs.
    Changesets(Vec<Id>),
    /// The states just before this changeset, over all that came after it.
    Since(Id),
    /// One file to one version.
    Version {
        /// Normalised path.
        path: String,
        /// The version.
        version: Id,
    },
}

/// A restore as it would be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restoration {
    /// The proposal; without files when nothing would be written.
    pub proposal: Proposal,
    /// A preview of each file, those that stay among them.
    pub previews: Vec<RestorePreview>,
    /// The changeset that is undone, where it is one.
    pub changeset: Option<Id>,
    /// Damage that was passed over.
    pub warnings: Vec<String>,
    /// The ops of Strand stores that the changesets issued, those of the newest changeset first: they are taken back in
    /// their stores.
    pub ops: Vec<StoreOps>,
}

/// The reason why nothing can be restored. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// No changeset yet.
    #[error("the archive is empty: there is nothing to undo")]
    Empty,
    /// No file was changed after any changeset.
    #[error("no file was changed after what the archive holds: there is nothing to undo")]
    NothingChanged,
    /// No changeset can be read; why of the newest.
    #[error("no changeset can be read: {0}")]
    Unreadable(String),
    /// The file has no versions.
    #[error("{path} has no archived version: `nebula history` lists what has")]
    NoVersions {
        /// The path.
        path: String,
    },
    /// It has fewer versions that a change followed: the others are listed and passed over.
    #[error(
        "{path} has {have} archived version{} to go back to, not {count}: `nebula history {path}` lists them, and those that no change followed",
        plural(*have)
    )]
    TooFar {
        /// The path.
        path: String,
        /// The number it has.
        have: usize,
        /// The number that was asked for.
        count: usize,
    },
    /// Ops of a store are taken back once.
    #[error("the newest changeset changed the Strand store {0}: `nebula undo` without COUNT undoes that")]
    OpsOnce(String),
    /// Ops of a store cannot be taken back; its words.
    #[error("{0}; nothing was changed")]
    Store(String),
    /// Ops of a store cannot be taken back, and so neither are the files changed with them; its words.
    #[error("{0}; nothing was changed, the files with it neither: `nebula undo FILE` undoes one alone")]
    StoreWithFiles(String),
    /// COUNT is 0.
    #[error("COUNT must be 1 or more")]
    Zero,
    /// The archive cannot be read.
    #[error(transparent)]
    Archive(#[from] Error),
}

fn plural(n: usize) -> &'static str {
    if n == 1 { "" } else { "s" }
}

impl Archive {
    /// Returns what a restore would do. `title` names the proposal: `undo of …`.
    ///
    /// # Errors
    /// When the request asks for more than the archive holds, or it cannot be read.
    pub fn restore(
        &self,
        workspace: &Workspace,
        request: &RestoreTarget,
        written: &dyn LastWrittenLookup,
        choices: &Choices,
        id: ProposalId,
        title: &str,
    ) -> Result<Restoration, RestoreError> {
        let mut warnings = Vec::new();
        let merge_clean = choices.merge_clean && !matches!(request, RestoreTarget::Version { .. });
        let choices = &Choices { merge_clean, ..choices.clone() };
        let leaves = choices.others != Some(ForeignChoice::RestoreVersion);
        // The changesets that are taken back, wholly or in part.
        let mut undone = Vec::new();
        let (changeset, goals) = match request {
            RestoreTarget::Undo { count: 0, .. } => return Err(RestoreError::Zero),
            RestoreTarget::Undo { count, files } if files.is_empty() => {
                let (newest, paths) = self.newest(((workspace, written), *count), &mut warnings)?;
                undone.push(newest);
                (Some(newest), self.goals_of_newest((newest, paths), *count, ((workspace, written), leaves))?)
            }
            RestoreTarget::Undo { count, files } => {
                let goals = self.goals_of_files(files, *count, (workspace, written))?;
                undone = self.changesets_of(&goals, &mut warnings)?;
                (None, goals)
            }
            RestoreTarget::Changesets(ids) => {
                undone.clone_from(ids);
                (None, self.goals_before(ids, (written, leaves), &mut warnings)?)
            }
            RestoreTarget::Since(first) => {
                undone = self.list()?.into_iter().filter(|id| id >= first).collect();
                (None, self.goals_before(&undone, (written, false), &mut warnings)?)
            }
            RestoreTarget::Version { path, version } => {
                let found = self.find_version(Some(path), &version.to_string())?;
                let goals = vec![Goal::new(path.clone(), Ok(found))];
                undone = self.changesets_of(&goals, &mut warnings)?;
                (None, goals)
            }
        };
        let (ops, left) = self.ops_to_revert(request, &undone, written, choices)?;
        let (mut files, mut previews) = (Vec::new(), Vec::new());
        let (modes, folders) = (ModeChanges::new(self), folders_of(&goals));
        for goal in &goals {
            let (status, change) = self.preview(workspace, goal, &folders, (written, &modes), choices);
            previews.push(RestorePreview { path: goal.path.clone(), status });
            files.extend(change);
        }
        let looked = (workspace, written);
        let objects = self.decide_together(&goals, looked, (choices, &modes), (&mut previews, &mut files));
        workspace.note_other_names(&mut files);
        repository::all_or_none(workspace, &mut previews, &mut files);
        repository::as_one(workspace, &mut previews, &files);
        whole::as_one(&mut previews);
        previews.extend(left.into_iter().chain(self.previews_of_not_undone(&undone, &objects)));
        Ok(Restoration { proposal: Proposal { id, title: title.into(), files }, previews, changeset, warnings, ops })
    }

    /// Leaves what cannot be undone out of a restore that is prepared, with what goes together with it. Returns the folders
    /// of the objects of repositories that go.
    fn decide_together(
        &self,
        goals: &[Goal],
        (workspace, written): (&Workspace, &dyn LastWrittenLookup),
        (choices, modes): (&Choices, &ModeChanges<'_>),
        (previews, files): (&mut Vec<RestorePreview>, &mut Vec<FileChange>),
    ) -> BTreeSet<String> {
        self.join_ends(goals, (workspace, written), (choices, modes), (previews, files));
        self.leave_waiting(goals, choices, (previews, files));
        let objects = made::whole_or_none(workspace, previews, files);
        in_the_way::leave_out(workspace, previews, files);
        self.leave_new_ends(goals, (workspace, written), (&mut *previews, &mut *files));
        self.leave_last_copies(goals, (previews, files));
        objects
    }

    /// Returns the changesets that changed these files since the versions that are restored.
    fn changesets_of(&self, goals: &[Goal], warnings: &mut Vec<String>) -> Result<Vec<Id>, Error> {
        let oldest = goals.iter().filter_map(|goal| goal.version.as_ref().ok()).map(|version| version.id).min();
        let Some(oldest) = oldest else { return Ok(Vec::new()) };
        let mut holds = |id: &Id| {
            let paths = self.paths(*id).unwrap_or_else(|error| {
                warnings.push(error.to_string());
                Vec::new()
            });
            goals.iter().any(|goal| {
                let since = goal.version.as_ref().is_ok_and(|version| version.id < *id);
                since && paths.contains(&goal.path)
            })
        };
        Ok(self.list()?.into_iter().filter(|id| *id > oldest).filter(|id| holds(id)).collect())
    }

    fn preview(
        &self,
        workspace: &Workspace,
        goal: &Goal,
        folders: &BTreeSet<String>,
        (written, modes): (&dyn LastWrittenLookup, &ModeChanges<'_>),
        choices: &Choices,
    ) -> (RestoreStatus, Option<FileChange>) {
        let path = &goal.path;
        let not_archived = |why: String| (RestoreStatus::NotArchived(why), None);
        match workspace.resolve_archived(path) {
            Ok(real) if real == *path => {}
            // A file or a link in the way is removed by the same restore, or it is left out for it.
            Ok(_) | Err(PathError::BelowAFile { .. } | PathError::Outside { .. }) if lies_in(path, folders) => {}
            Ok(real) => return not_archived(format!("a folder of it is a link now, to {real}")),
            Err(error) => return not_archived(error.to_string()),
        }
        let version = match &goal.version {
            Ok(version) => version,
            Err(why) => match self.excluded_by(path) {
                Some(glob) => return not_archived(format!("archiveExclude: {glob}")),
                None => return not_archived(why.clone()),
            },
        };
        let old = match self.show(version) {
            Ok(_) if goal.is_made => State::Absent,
            Ok(state) if is_damaged(&state, written.archived(path, version.id)) => {
                return not_archived("its version is damaged".into());
            }
            Ok(state) => state,
            Err(error) => return not_archived(error.to_string()),
        };
        let now = match workspace.read_to_restore(path) {
            Ok(read) => read,
            Err(error) => return not_archived(error.to_string()),
        };
        let old = modes.with_mode(path, version.id, old, &now.state);
        let is_known = || written.knows_version(path, version.id, &old);
        if self.needs_nothing(goal, &now.state) || now.state == old && !(goal.between == Between::Stays && is_known()) {
            return (RestoreStatus::Equal, None);
        }
        let is_known = is_known();
        // Nothing is merged into what no one remembers.
        let last = written.written(path).filter(|_| is_known);
        let is_ours = is_known && self.is_ours(path, &now.state, last.as_ref());
        let known = Changed { path, last, at: now.stamp.map(|s| s.modified()), is_later: is_ours };
        if is_known && !goal.own.is_empty() {
            return self.preview_without(goal, known, (now.state, old), (written, modes), choices);
        }
        if is_ours {
            let (today, at) = (modes.set_by_others(path, version.id, &now.state), known.at);
            let restored = restored_but_for_mode(known, (now.state, old, today), choices);
            return if goal.between == Between::Goes { over_others(path, restored, at, choices) } else { restored };
        }
        let wrote = known.last.as_ref().and_then(|l| l.bytes.clone());
        let joined = wrote.and_then(|wrote| Joined::of_text(path, (&wrote, &old), &now.state, self.merger()));
        // It is another mode only where a changeset set it since.
        let joined = joined.map(|joined| joined.with_mode(old.mode(), &now.state));
        changed_since(known, joined, (now.state, old), choices)
    }

    /// Returns whether nothing is left to undo of a folder that a later changeset met: it is gone, for it comes back with the
    /// restore of what removed it, as that met it; or it has a mode that it had before what is undone.
    fn needs_nothing(&self, goal: &Goal, now: &State) -> bool {
        let (Some(left), Ok(version)) = (goal.met_later, &goal.version) else { return false };
        let State::Folder { mode: today } = now else { return now.is_absent() };
        if goal.is_made {
            return false;
        }
        let had = |version: &Version| self.show(version).is_ok_and(|state| state == *now);
        let versions = self.versions(&goal.path).unwrap_or_default();
        left != *today && versions.iter().any(|other| other.id <= version.id && other.folder && had(other))
    }

    /// Returns the preview of a file that another changeset changed between or later: without what is undone.
    fn preview_without(
        &self,
        goal: &Goal,
        mut known: Changed<'_>,
        (now, old): (State, State),
        (written, modes): (&dyn LastWrittenLookup, &ModeChanges<'_>),
        choices: &Choices,
    ) -> (RestoreStatus, Option<FileChange>) {
        let is_ours = known.is_later;
        let foreign = known.last.as_ref().filter(|_| !is_ours);
        let joined = match self.without(goal, &now, foreign, (written, modes)) {
            Some(Without { joined, stuck: None }) => Some(joined),
            Some(Without { joined, stuck: Some(stuck) }) if stuck.is_foreign => {
                let is_forced = choices.of(&goal.path, false) == Some(ForeignChoice::RestoreVersion);
                // Of the repository no part comes back.
                let is_whole = is_forced || is_in_repository(&goal.path);
                if !is_whole && joined.conflicts() == 0 && !joined.is_there(&now) {
                    return restored_in_part(known, joined, now);
                }
                known.is_later = self.later_change(goal, (&now, &now), foreign, written).is_some();
                None
            }
            _ => None,
        };
        match joined {
            Some(joined) if joined.is_there(&now) => (RestoreStatus::Equal, None),
            // What came later left nothing in the file.
            Some(joined) if is_ours && !joined.is_merged() => restored(known.path, now, joined.after, known.last),
            joined => {
                // An undo in part has left what others changed, and made no change of its own.
                if is_ours && joined.as_ref().is_some_and(|joined| joined.conflicts() > 0) {
                    known.is_later = self.later_change(goal, (&now, &now), None, written).is_some();
                }
                changed_since(known, joined, (now, old), choices)
            }
        }
    }

    /// Returns whether a state is what nebula wrote last: by an undo or a redo, too. Where no one remembers what that was, and
    /// of what git keeps, which is taken or left as a whole, it is any state that is archived.
    pub fn is_ours(&self, path: &str, now: &State, last: Option<&LastWritten>) -> bool {
        let sha = state_sha(now);
        if path.ends_with('/') {
            // A folder has no bytes that someone else could have written.
            return true;
        }
        if let Some(last) = last.filter(|_| !is_in_any_repository(path)) {
            return last.states.contains(&sha);
        }
        // `git status` rewrites the index when it refreshes the times of files in it: its entries are compared.
        let is_index = is_in_any_repository(path) && now.bytes().is_some_and(|bytes| bytes.starts_with(b"DIRC"));
        let is_refreshed = |then: &[u8]| is_index && now.bytes().is_some_and(|now| index::same_entries(now, then));
        let same = |v: &Version| match (now, v.absent) {
            (State::Absent, absent) => absent,
            (_, true) => false,
            (State::File { bytes, .. }, _) if is_index => self
                .state_of(v)
                .is_ok_and(|state| state.bytes().is_some_and(|then| then == bytes || is_refreshed(then))),
            (State::File { bytes, .. }, _) => {
                v.size() == bytes.len() as u64 && self.state_of(v).is_ok_and(|s| s.bytes() == Some(bytes))
            }
            (State::Large(file), _) if v.size() != file.size => false,
            (State::Large(_), _) => self.state_of(v).is_ok_and(|s| state_sha(&s) == sha),
            (link, _) => self.state_of(v).is_ok_and(|s| s == *link),
        };
        last.is_some_and(|l| l.states.contains(&sha) || l.bytes.as_ref().is_some_and(|wrote| is_refreshed(wrote)))
            || self.versions(path).is_ok_and(|versions| versions.iter().rev().any(same))
    }
}

/// Returns the preview of a file that nebula wrote last, and what is written. `today`: the mode that someone else gave it
/// since, which stays.
fn restored_but_for_mode(
    known: Changed<'_>,
    (now, old, today): (State, State, Option<u32>),
    choices: &Choices,
) -> (RestoreStatus, Option<FileChange>) {
    let forced = choices.of(known.path, false) == Some(ForeignChoice::RestoreVersion);
    match today.filter(|today| !forced && old.mode().is_some_and(|mode| mode != *today)) {
        Some(today) => without_mode(Changed { is_later: false, ..known }, (now, old, today), choices),
        None => restored(known.path, now, old, known.last),
    }
}

/// Returns the preview of a file that nebula wrote last, and whose restore goes over what someone else wrote before that: so
/// does one of a moment, but for what git keeps, which stays unless that is chosen.
fn over_others(
    path: &str,
    (status, change): (RestoreStatus, Option<FileChange>),
    at: Option<i64>,
    choices: &Choices,
) -> (RestoreStatus, Option<FileChange>) {
    let RestoreStatus::Restore(_, counts) = status else { return (status, change) };
    let choice = choices.of(path, false);
    let foreign = RestoreStatus::Foreign { at, counts, choice, conflicts: None, rung: None, is_later: false };
    match choice {
        Some(ForeignChoice::RestoreVersion) => (foreign, change),
        _ if is_in_repository(path) => (foreign, None),
        _ => (status, change),
    }
}

/// Returns the preview of a file that nebula changed alone, and what is written.
fn restored(path: &str, now: State, old: State, last: Option<LastWritten>) -> (RestoreStatus, Option<FileChange>) {
    let mut change = FileChange::new(path, now, old, "undo", &[]);
    change.restores = true;
    change.folders = last.map(|l| l.folders).unwrap_or_default();
    let fate = RestoreFate::of(&change.before, &change.after);
    (RestoreStatus::Restore(fate, change.counts), Some(change))
}

/// Returns the folders that a restore brings back.
fn folders_of(goals: &[Goal]) -> BTreeSet<String> {
    let folders = goals.iter().filter(|goal| goal.version.as_ref().is_ok_and(|version| version.folder));
    folders.map(|goal| goal.path.clone()).collect()
}

//! Undo, redo and restores: from archived states to a proposal, with a preview of each file. Writes nothing.
//!
//! What nebula last wrote to a path is handed in ([`LastWrittenLookup`]): today's bytes that are neither that nor among
//! the file's versions are someone else's, and are left out of the proposal until something was chosen for them.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::mode::ModeChanges;
use super::unit::{repository, whole};
use super::{Archive, Error, Id, Sha, StoreOps, Version, sha256};
use crate::git::index;
use crate::proposal::{
    Counts, FileChange, ForeignChoice, Merger, Proposal, ProposalId, RestoreFate, RestorePreview, RestoreStatus, State,
    count_changed, is_in_repository, merge,
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
    /// The states before the oldest of these changesets, file by file.
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

/// The state nebula last wrote to a path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LastWritten {
    /// The states that count as nebula's, as [`state_sha`] gives them. Two while a write is under way, or was when its
    /// process died.
    pub states: Vec<Option<Sha>>,
    /// The newest one's bytes, if they were stored: the base of a merge.
    pub bytes: Option<Arc<[u8]>>,
    /// Folders above the path that nebula made, innermost first.
    pub folders: Vec<String>,
}

/// Knows what nebula last wrote. The archive does not: memory does.
pub trait LastWrittenLookup {
    /// Returns what nebula last wrote to a normalised path; `None`: it never did, or no one remembers.
    fn written(&self, path: &str) -> Option<LastWritten>;

    /// Returns the hash of the state that was archived as a version of a path; `None`: no one remembers.
    fn archived(&self, path: &str, version: Id) -> Option<Sha> {
        let _ = (path, version);
        None
    }

    /// Returns the changeset with which nebula made a folder; none: it did not, or no one remembers.
    fn folder_made_by(&self, folder: &str) -> Option<Id> {
        let _ = folder;
        None
    }

    /// Returns whether a version of a path, or its state, is recorded as archived here: another may come with a clone.
    fn knows_version(&self, _path: &str, _version: Id, _state: &State) -> bool {
        true
    }

    /// Returns whether a changeset is recorded as made here; one that is not may have come with a clone, too.
    fn knows_changeset(&self, _changeset: Id) -> bool {
        true
    }

    /// Returns whether writing failed after this changeset was archived, and everything was put back: nothing of it
    /// needs to be undone.
    fn failed(&self, changeset: Id) -> bool {
        let _ = changeset;
        false
    }
}

/// Knowledge of nothing, where no memory is at hand.
pub struct NothingKnown;

impl LastWrittenLookup for NothingKnown {
    fn written(&self, _path: &str) -> Option<LastWritten> {
        None
    }
}

/// Returns the SHA-256 of a state: of a file's bytes, or a link's text; `None`: nothing is there.
pub fn state_sha(state: &State) -> Option<Sha> {
    match state {
        State::Absent => None,
        State::File { bytes, .. } => Some(sha256(bytes)),
        State::Large(file) => Some(file.sha256),
        State::Link { target } => Some(sha256(format!("link\0{}", target.display()).as_bytes())),
        State::Folder { mode } => Some(sha256(format!("folder\0{mode:o}").as_bytes())),
    }
}

/// Returns whether a version is not what was archived, where it is known what that was.
pub fn is_damaged(state: &State, archived: Option<Sha>) -> bool {
    let is_compared = matches!(state, State::File { .. } | State::Large(_) | State::Link { .. });
    is_compared && archived.is_some_and(|archived| state_sha(state) != Some(archived))
}

/// The choices for files that someone else changed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Choices {
    /// The choice for each file, by normalised path.
    pub each: HashMap<String, ForeignChoice>,
    /// The choice for all others; `None`: not chosen yet, so they stay.
    pub others: Option<ForeignChoice>,
    /// A file without a choice of its own is merged where that meets no conflict. Where one version of one file is
    /// wanted, nothing is merged: that is a replacement.
    pub merge_clean: bool,
}

impl Choices {
    /// Returns the choice for a file; `is_clean`: its merge meets no conflict and changes it.
    fn of(&self, path: &str, is_clean: bool) -> Option<ForeignChoice> {
        let merge = (self.merge_clean && is_clean).then_some(ForeignChoice::Merge);
        self.each.get(path).copied().or(merge).or(self.others)
    }
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
    /// No changeset can be read; why of the newest.
    #[error("no changeset can be read: {0}")]
    Unreadable(String),
    /// The file has no versions.
    #[error("{path} has no archived version: `nebula history` lists what has")]
    NoVersions {
        /// The path.
        path: String,
    },
    /// It has fewer versions.
    #[error("{path} has {have} archived version{}, not {count}: `nebula history {path}` lists them", plural(*have))]
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

/// A file and the version to restore, or why there is none.
struct Goal {
    path: String,
    version: Result<Version, String>,
    /// A folder that one of the changesets made: nothing stood there, whatever the version holds.
    is_made: bool,
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
        // The changesets that are taken back, wholly or in part.
        let mut undone = Vec::new();
        let (changeset, goals) = match request {
            RestoreTarget::Undo { count: 0, .. } => return Err(RestoreError::Zero),
            RestoreTarget::Undo { count, files } if files.is_empty() => {
                let (newest, paths) = self.newest(written, &mut warnings)?;
                undone.push(newest);
                (Some(newest), self.goals_of_newest(newest, paths, *count)?)
            }
            RestoreTarget::Undo { count, files } => {
                let goals = self.goals_of_files(files, *count)?;
                undone = self.changesets_of(&goals, &mut warnings)?;
                (None, goals)
            }
            RestoreTarget::Changesets(ids) => {
                undone.clone_from(ids);
                (None, self.goals_before(ids, written, &mut warnings)?)
            }
            RestoreTarget::Since(first) => {
                undone = self.list()?.into_iter().filter(|id| id >= first).collect();
                (None, self.goals_before(&undone, written, &mut warnings)?)
            }
            RestoreTarget::Version { path, version } => {
                let found = self.find_version(Some(path), &version.to_string())?;
                let goals = vec![Goal { path: path.clone(), version: Ok(found), is_made: false }];
                undone = self.changesets_of(&goals, &mut warnings)?;
                (None, goals)
            }
        };
        let (ops, left) = self.ops_to_revert(request, &undone, written, choices)?;
        let (mut files, mut previews) = (Vec::new(), Vec::new());
        let modes = ModeChanges::new(self);
        let folders = folders_of(&goals);
        for goal in goals {
            let (status, change) = self.preview(workspace, &goal, &folders, (written, &modes), choices);
            previews.push(RestorePreview { path: goal.path, status });
            files.extend(change);
        }
        workspace.note_other_names(&mut files);
        repository::all_or_none(workspace, &mut previews, &mut files);
        repository::as_one(workspace, &mut previews, &files);
        whole::as_one(&mut previews);
        previews.extend(left);
        previews.extend(self.previews_of_not_undone(&undone));
        Ok(Restoration { proposal: Proposal { id, title: title.into(), files }, previews, changeset, warnings, ops })
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

    /// Returns the newest changeset that changed something: those whose writing failed are passed over.
    ///
    /// # Errors
    /// When the archive's folder cannot be read; one that is not there has none.
    pub fn newest_written(&self, written: &dyn LastWrittenLookup) -> Result<Option<Id>, Error> {
        Ok(self.list()?.into_iter().find(|id| !written.failed(*id)))
    }

    /// Returns the newest changeset that changed something and can be read.
    fn newest(
        &self,
        written: &dyn LastWrittenLookup,
        warnings: &mut Vec<String>,
    ) -> Result<(Id, Vec<String>), RestoreError> {
        for id in self.list()?.into_iter().filter(|id| !written.failed(*id)) {
            match self.paths(id) {
                Ok(paths) => return Ok((id, paths)),
                Err(error) => warnings.push(error.to_string()),
            }
        }
        Err(warnings.first().map_or(RestoreError::Empty, |why| RestoreError::Unreadable(why.clone())))
    }

    fn goals_of_newest(&self, newest: Id, paths: Vec<String>, count: usize) -> Result<Vec<Goal>, RestoreError> {
        let goal = |path: String| {
            let mut older = self.versions(&path)?;
            older.retain(|v| v.id < newest);
            let have = older.len();
            let version = match have.checked_sub(count) {
                Some(at) => Ok(older.swap_remove(at)),
                None if have == 0 => Err("its version is missing from the archive".into()),
                None => return Err(RestoreError::TooFar { path, have, count }),
            };
            Ok(Goal { path, version, is_made: false })
        };
        paths.into_iter().map(goal).collect()
    }

    fn goals_of_files(&self, files: &[String], count: usize) -> Result<Vec<Goal>, RestoreError> {
        let mut seen = BTreeSet::new();
        let goal = |path: &String| {
            let mut versions = self.versions(path)?;
            let have = versions.len();
            match have.checked_sub(count) {
                Some(at) => Ok(Goal { path: path.clone(), version: Ok(versions.swap_remove(at)), is_made: false }),
                None if have == 0 => Err(RestoreError::NoVersions { path: path.clone() }),
                None => Err(RestoreError::TooFar { path: path.clone(), have, count }),
            }
        };
        files.iter().filter(|f| seen.insert(*f)).map(goal).collect()
    }

    /// Collects, for each file of these changesets, the state before the oldest of them that names it.
    fn goals_before(
        &self,
        ids: &[Id],
        written: &dyn LastWrittenLookup,
        warnings: &mut Vec<String>,
    ) -> Result<Vec<Goal>, RestoreError> {
        let mut ids = ids.to_vec();
        ids.sort_unstable();
        let (mut seen, mut goals, mut has_ops) = (BTreeSet::new(), Vec::new(), false);
        for id in ids.iter().copied() {
            has_ops |= self.store_ops(id).is_ok_and(|ops| !ops.is_empty());
            let paths = match self.paths(id) {
                Ok(paths) => paths,
                Err(error) => {
                    warnings.push(error.to_string());
                    continue;
                }
            };
            for path in paths {
                if seen.insert(path.clone()) {
                    let found = self.version_in(&path, id)?;
                    let version = found.ok_or_else(|| "its version is missing from the archive".into());
                    let made = path.strip_suffix('/').and_then(|folder| written.folder_made_by(folder));
                    let is_made = made.is_some_and(|made| made < id && ids.contains(&made));
                    goals.push(Goal { path, version, is_made });
                }
            }
        }
        match (goals.is_empty(), warnings.first()) {
            (true, Some(why)) if !has_ops => Err(RestoreError::Unreadable(why.clone())),
            (true, None) if !has_ops => Err(RestoreError::Empty),
            _ => Ok(goals),
        }
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
            // A file or a link in the way is removed by the same restore.
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
        if now.state == old {
            return (RestoreStatus::Equal, None);
        }
        let is_known = written.knows_version(path, version.id, &old);
        // Nothing is merged into what no one remembers.
        let last = written.written(path).filter(|_| is_known);
        if is_known && self.is_ours(path, &now.state, last.as_ref()) {
            let mut change = FileChange::new(path, now.state, old, "undo", &[]);
            change.restores = true;
            change.folders = last.map(|l| l.folders).unwrap_or_default();
            let fate = RestoreFate::of(&change.before, &change.after);
            return (RestoreStatus::Restore(fate, change.counts), Some(change));
        }
        foreign(path, last, now.stamp.map(|s| s.modified()), (now.state, old), choices, self.merger())
    }

    /// Returns whether a state is what nebula wrote, or is archived anyway.
    pub fn is_ours(&self, path: &str, now: &State, last: Option<&LastWritten>) -> bool {
        let sha = state_sha(now);
        if path.ends_with('/') {
            // A folder has no bytes that someone else could have written.
            return true;
        }
        // `git status` rewrites the index when it refreshes the times of files in it: its entries are compared.
        let is_index = is_in_repository(path) && now.bytes().is_some_and(|bytes| bytes.starts_with(b"DIRC"));
        let same = |v: &Version| match (now, v.absent) {
            (State::Absent, absent) => absent,
            (_, true) => false,
            (State::File { bytes, .. }, _) if is_index => self
                .state_of(v)
                .is_ok_and(|state| state.bytes().is_some_and(|then| then == bytes || index::same_entries(bytes, then))),
            (State::File { bytes, .. }, _) => {
                v.size() == bytes.len() as u64 && self.state_of(v).is_ok_and(|s| s.bytes() == Some(bytes))
            }
            (State::Large(file), _) if v.size() != file.size => false,
            (State::Large(_), _) => self.state_of(v).is_ok_and(|s| state_sha(&s) == sha),
            (link, _) => self.state_of(v).is_ok_and(|s| s == *link),
        };
        last.is_some_and(|l| l.states.contains(&sha))
            || self.versions(path).is_ok_and(|versions| versions.iter().rev().any(same))
    }
}

/// Returns the folders that a restore brings back.
fn folders_of(goals: &[Goal]) -> BTreeSet<String> {
    let folders = goals.iter().filter(|goal| goal.version.as_ref().is_ok_and(|version| version.folder));
    folders.map(|goal| goal.path.clone()).collect()
}

/// Returns whether a path lies in one of these folders, each with its closing `/`.
pub fn lies_in(path: &str, folders: &BTreeSet<String>) -> bool {
    path.match_indices('/').any(|(end, _)| folders.contains(&path[..=end]))
}

/// Returns the preview of a file that someone else changed.
fn foreign(
    path: &str,
    last: Option<LastWritten>,
    at: Option<i64>,
    (now, old): (State, State),
    choices: &Choices,
    merger: &Merger,
) -> (RestoreStatus, Option<FileChange>) {
    let wrote = last.as_ref().and_then(|l| l.bytes.clone());
    let folders = last.map(|l| l.folders).unwrap_or_default();
    let counts = match &wrote {
        Some(bytes) => count_changed(&State::File { bytes: bytes.clone(), mode: None }, &now),
        None => Counts::default(),
    };
    let merged = wrote.and_then(|wrote| merge::three_way(path, &wrote, &old, &now, merger));
    let conflicts = merged.as_ref().map(|m| m.conflicts.len());
    let rung = merged.as_ref().map(|m| m.rung);
    let merged = merged.map(|mut merged| {
        // It is another mode only where a changeset set it since.
        if old.mode() != now.mode() {
            merged.after = merged.after.with_mode(old.mode());
        }
        FileChange::merged(path, now.clone(), merged, "undo")
    });
    // The repository is kept or taken as a whole.
    let changes = merged.as_ref().is_some_and(|change| !change.hunks.is_empty()) && !is_in_repository(path);
    let choice = choices.of(path, conflicts == Some(0) && changes);
    let change = match (choice, merged) {
        (Some(ForeignChoice::RestoreVersion), _) => Some(FileChange::new(path, now, old, "undo", &[])),
        (Some(ForeignChoice::Merge), merged) => merged,
        _ => None,
    };
    // A merge may result in the present text.
    let change =
        change.filter(|c| !c.hunks.is_empty()).map(|c| FileChange { folders, restores: true, foreign: true, ..c });
    (RestoreStatus::Foreign { at, counts, choice, conflicts, rung }, change)
}

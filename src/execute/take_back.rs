//! Takes back a change that was cut off: its process was killed while it wrote, so some of its files are as they were and
//! the others as they were to be. Of each path both states are known: what is in neither is someone else's, and stays.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::{ApplyError, Stores, apply, in_the_way};
use crate::archive::restore::state_sha;
use crate::archive::{self, Id, Lock, ModeChanges, Sha};
use crate::memory::{self, PendingId};
use crate::proposal::{Consent, Decision, DecisionError, FileChange, Proposal, ProposalId, State};
use crate::workspace::leftover;

/// The permission bits of a file that a version holds.
const FILE_BITS: u32 = 0o1777;
/// The permissions that the owner of a folder has while what is in it is written.
const OWNER: u32 = 0o700;

/// The outcome of a change that was cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CutOffChange {
    /// All of it was written, but for what someone else has changed since; or a later changeset has changed the same files.
    Written,
    /// It is taken back, with this many paths.
    TakenBack(usize),
}

/// The reason why a change that was cut off could not be taken back.
#[derive(Debug, thiserror::Error)]
pub enum TakeBackError {
    /// A file could not be written, or has to stay.
    #[error(transparent)]
    Apply(#[from] ApplyError),
    /// The states before cannot be read.
    #[error(transparent)]
    Archive(#[from] archive::Error),
    /// Its intent cannot be read.
    #[error(transparent)]
    Memory(#[from] memory::Error),
    /// The states do not make a proposal.
    #[error(transparent)]
    Decision(#[from] DecisionError),
}

/// The progress of a change at one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// The path is as it was.
    Before,
    /// A folder has the permissions that it has only while what is in it is written.
    Between,
    /// The path is as it was to be.
    After,
    /// Someone else has changed it.
    Foreign,
}

/// The states that a change was to leave.
struct IntendedStates {
    /// The hashes, by path.
    hashes: HashMap<String, Option<Sha>>,
    /// The permission bits, where it was to change them.
    modes: HashMap<String, u32>,
}

/// Takes a change back whose process is gone, so the lock is held; `pending` is its intent. Cut off itself, it goes on the
/// next time.
///
/// # Errors
/// When a state cannot be read, or the disk refuses: what was written is put back as far as it goes.
pub fn take_back(
    lock: &mut Lock,
    changeset: Id,
    pending: PendingId,
    stores: Stores<'_>,
) -> Result<CutOffChange, TakeBackError> {
    let intended =
        IntendedStates { hashes: stores.memory.intended(pending)?, modes: stores.archive.left_modes(changeset)? };
    let paths = stores.archive.paths(changeset)?;
    // Of ops alone, nothing of it was done.
    if paths.is_empty() {
        return Ok(CutOffChange::TakenBack(0));
    }
    sweep(lock, &paths, stores);
    let (is_whole, changes) = intended.progress(changeset, &paths, stores);
    if is_whole || !changes.is_empty() && is_changed_later(changeset, &paths, stores)? {
        return Ok(CutOffChange::Written);
    }
    let count = changes.len();
    if write_back(lock, changeset, changes, stores)? {
        // What kept folders from going may have been temporary files that git could not speak of before.
        sweep(lock, &paths, stores);
        write_back(lock, changeset, intended.progress(changeset, &paths, stores).1, stores)?;
    }
    stores.archive.forget_modes(lock, changeset)?;
    Ok(CutOffChange::TakenBack(count))
}

/// Returns whether a later changeset has some of these paths: what is there now is its work.
fn is_changed_later(changeset: Id, paths: &[String], stores: Stores<'_>) -> Result<bool, archive::Error> {
    let own: HashSet<&String> = paths.iter().collect();
    let later = stores.archive.list()?.into_iter().take_while(|later| *later > changeset);
    Ok(later.filter_map(|later| stores.archive.paths(later).ok()).any(|paths| paths.iter().any(|p| own.contains(p))))
}

/// Removes the temporary files of the process from the folders that it wrote to.
fn sweep(lock: &mut Lock, paths: &[String], stores: Stores<'_>) {
    let above = |path: &String| path.trim_end_matches('/').rsplit_once('/').map_or("", |(above, _)| above).to_string();
    let folders: BTreeSet<String> = paths.iter().map(above).collect();
    stores.archive.sweep_folders(lock, &folders, leftover::sweep);
}

/// Writes the states before. Returns whether something has to stay for what is in its place, or in it.
fn write_back(
    lock: &mut Lock,
    changeset: Id,
    files: Vec<FileChange>,
    stores: Stores<'_>,
) -> Result<bool, TakeBackError> {
    let proposal = Proposal { id: ProposalId(0), title: String::new(), files };
    let Some(decided) = proposal.decide(&Decision::accept(&proposal, Consent::Person))? else { return Ok(false) };
    let (decided, left) = match in_the_way::leave_out(&decided, stores.workspace) {
        Err(ApplyError::InTheWay(_)) => return Ok(true),
        found => found?,
    };
    apply::write_back(lock, changeset, &decided, stores)?;
    Ok(!left.is_empty())
}

impl IntendedStates {
    /// Returns whether all of a change was written, and the ways back of what was.
    fn progress(&self, changeset: Id, paths: &[String], stores: Stores<'_>) -> (bool, Vec<FileChange>) {
        let modes = ModeChanges::new(stores.archive);
        let (mut is_whole, mut changes) = (true, Vec::new());
        for path in paths {
            // What cannot be read is none of its work.
            let Ok(now) = stores.workspace.read_to_restore(path).map(|read| read.state) else { continue };
            let Some(before) = modes.state_before(changeset, path, &now) else { continue };
            let progress = self.progress_at(path, &now, &before);
            is_whole &= !matches!(progress, Progress::Before | Progress::Between);
            if matches!(progress, Progress::Between | Progress::After) && now != before {
                changes.push(FileChange { restores: true, ..FileChange::new(path, now, before, "undo", &[]) });
            }
        }
        (is_whole, changes)
    }

    fn progress_at(&self, path: &str, now: &State, before: &State) -> Progress {
        let after = self.hashes.get(path);
        let is_after = match after {
            Some(after) => state_sha(now) == *after && self.has_mode(path, now),
            // A folder that was opened for what is in it, and closed again.
            None => now == before,
        };
        if is_after {
            Progress::After
        } else if now == before {
            Progress::Before
        } else if is_between(now, before, after.copied().flatten()) {
            Progress::Between
        } else {
            Progress::Foreign
        }
    }

    /// Returns whether a file has the permission bits that it was to get.
    fn has_mode(&self, path: &str, now: &State) -> bool {
        let bits = self.modes.get(path).filter(|_| !path.ends_with('/')).zip(now.mode());
        bits.is_none_or(|(left, now)| (left ^ now) & FILE_BITS == 0)
    }
}

/// Returns whether a folder has permissions that it has only while what is in it is written: its owner may do anything.
fn is_between(now: &State, before: &State, after: Option<Sha>) -> bool {
    let State::Folder { mode } = *now else { return false };
    let was = match before {
        State::Folder { mode: was } => was | OWNER == mode,
        // It was made a moment ago.
        State::Absent => mode == OWNER && after.is_some(),
        _ => false,
    };
    let is_to_be = |owner: u32| state_sha(&State::Folder { mode: mode & !OWNER | owner << 6 }) == after;
    was || after.is_some() && mode & OWNER == OWNER && (0..8).any(is_to_be)
}

//! Executes a decided proposal: what will be written is put down in memory, archived, written, and its outcome recorded.
//! Edits, undo, redo, restores, `patch` and whatever else changes a file come through [`execute`], from the agent and
//! from the command line alike.
//!
//! Everything here is synchronous and takes the disk: the agent calls it on a thread that may block. Nothing here asks
//! anyone; a [`Decided`] is the proof that someone agreed.

pub mod apply;
mod at_once;
pub mod command;
mod error;
mod in_the_way;
mod modes;
mod moved;
mod part;
pub mod record;
#[cfg_attr(not(feature = "strand"), path = "no_store.rs")]
pub mod store;
mod stores;
mod take_back;
#[cfg(test)]
pub mod testing;

pub use apply::{Applied, UNGUARDED, can_exchange};
pub use error::ApplyError;
pub use stores::Stores;
pub use take_back::{CutOffChange, take_back};

use std::io;

use crate::archive::restore::state_sha;
use crate::archive::{self, Archive, Before, Lock, Recorded};
use crate::memory::{self, ChangesetCause, StoredFile, WriteIntent};
use crate::proposal::{Decided, DecidedFile, count_changed};
use crate::workspace::{ReadError, Workspace, leftover};

/// The most times that a change is merged into files that changed since the proposal was made: they may change again
/// before they are written.
const MERGES: usize = 4;

/// Removes temporary files of processes that have ended. Returns how many.
///
/// # Errors
/// When the archive's lock cannot be taken.
pub fn sweep(archive: &Archive) -> Result<usize, archive::Error> {
    archive.sweep(leftover::sweep)
}

/// The one who asks for a restore: what it reverts in a Strand store is issued in their name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Restorer {
    /// The person.
    Person,
    /// An agent: the session's model, or another program.
    Agent,
}

/// The outcome of a change.
#[derive(Debug)]
pub struct Executed {
    /// The result of writing, or why nothing was written.
    pub applied: Result<Applied, ApplyError>,
    /// The errors of memory. The change is written and archived all the same; only its cause is not known later.
    pub unrecorded: Vec<memory::Error>,
}

/// Writes a decided proposal: intent to memory, states before to the archive, files to the disk, outcome to memory.
/// A process that is killed between any two of these leaves every file old or new and every old state archived;
/// memory's intent lets the next start join the changeset with its cause. Commands that still run wait with their calls.
///
/// Where a file is another one than the proposal knew, what was decided is merged into it as it is now, or nothing is
/// written: see [`Decided::merged_into`].
pub fn execute(decided: &Decided, cause: ChangesetCause, stores: Stores<'_>) -> Executed {
    let mut lock = match lock(stores) {
        Ok(lock) => lock,
        Err(failed) => return *failed,
    };
    let mut executed = execute_locked(&mut lock, decided, cause.clone(), stores);
    for _ in 0..MERGES {
        if !matches!(executed.applied, Err(ApplyError::Conflict { .. })) {
            break;
        }
        let Some(merged) = merged_now(decided, stores) else { break };
        let mut unrecorded = executed.unrecorded;
        executed = execute_locked(&mut lock, &merged, cause.clone(), stores);
        unrecorded.append(&mut executed.unrecorded);
        executed.unrecorded = unrecorded;
    }
    // What was merged was never seen by anyone.
    if let Err(ApplyError::Conflict { path, expected, .. }) = &mut executed.applied
        && let Some(file) = decided.files().iter().find(|file| file.path() == path)
    {
        expected.clone_from(file.before());
    }
    executed
}

/// Returns the files that [`execute`] would write now, as it would write them: merged into those that are others than the
/// proposal knew, and without what has to stay.
///
/// # Errors
/// When [`execute`] would write nothing.
pub fn preview(decided: &Decided, stores: Stores<'_>) -> Result<Vec<DecidedFile>, ApplyError> {
    let as_known = |decided: &Decided| -> Result<_, ApplyError> {
        let (decided, _) = in_the_way::leave_out(decided, stores.workspace)?;
        let now = apply::read_again(&decided, stores.workspace)?;
        Ok(modes::with_modes_of_today(decided.files(), &now))
    };
    let known = as_known(decided);
    match &known {
        Err(ApplyError::Conflict { .. }) => merged_now(decided, stores).map_or(known, |merged| as_known(&merged)),
        _ => known,
    }
}

/// Returns a decided proposal merged into its files as they are now; none: see [`Decided::merged_into`].
fn merged_now(decided: &Decided, stores: Stores<'_>) -> Option<Decided> {
    let present = |file: &DecidedFile| Some(apply::present(file, stores.workspace).ok()?.state);
    decided.merged_into(present, stores.archive.merger())
}

/// Writes a decided proposal as [`execute`] does, to files that are as it knows them; else nothing is written.
pub fn execute_exactly(decided: &Decided, cause: ChangesetCause, stores: Stores<'_>) -> Executed {
    match lock(stores) {
        Ok(mut lock) => execute_locked(&mut lock, decided, cause, stores),
        Err(failed) => *failed,
    }
}

/// Takes the archive's lock, for as long as the calls of commands that still run wait.
fn lock(stores: Stores<'_>) -> Result<Lock, Box<Executed>> {
    let failed = |error: archive::Error| Box::new(Executed { applied: Err(error.into()), unrecorded: Vec::new() });
    let mut lock = stores.archive.lock().map_err(failed)?;
    stores.archive.let_calls_wait(&mut lock, None);
    Ok(lock)
}

fn execute_locked(lock: &mut Lock, decided: &Decided, cause: ChangesetCause, stores: Stores<'_>) -> Executed {
    let (decided, left_out) = match in_the_way::leave_out(decided, stores.workspace) {
        Ok(found) => found,
        Err(error) => return Executed { applied: Err(error), unrecorded: Vec::new() },
    };
    let project = stores.project();
    let merged = decided.merge_rung().map(|rung| rung.word().to_string());
    let cause = ChangesetCause { approved: Some(decided.consent().to_string()), merged, ..cause };
    let intent = record::intent(&decided);
    let paths = decided.files().iter().map(DecidedFile::path).collect();
    // Where that fails, the states of other commands stay staged.
    let (met, unrecorded) = at_once::seal_before(lock, &paths, stores).ok().unzip();
    let mut unrecorded = unrecorded.unwrap_or_default();
    let pending = stores.memory.write_intent(&project, &cause, &intent);
    let pending = pending.map_err(|error| unrecorded.push(error)).ok();
    let mut applied = apply::apply_locked(lock, &decided, stores.workspace, stores.archive);
    applied.iter_mut().for_each(|applied| applied.not_kept.extend(left_out.iter().cloned()));
    if let (Some(met), Some(id)) = (met, applied.as_ref().ok().and_then(|applied| applied.changeset)) {
        met.note(id);
    }
    if let Some(pending) = pending {
        unrecorded.extend(record::outcome(stores.memory, &project, pending, &intent, &applied).err());
    }
    Executed { applied, unrecorded }
}

/// Archives files as they are, without a change: `shi`. Takes normalised paths. The error of memory is apart: what is
/// archived is archived without it.
///
/// # Errors
/// When one is not there or cannot be read, or the archive fails.
pub fn archive_as_is(paths: &[String], stores: Stores<'_>) -> Result<(Recorded, Option<memory::Error>), ApplyError> {
    let cause = ChangesetCause { kind: "shi".into(), title: "shi".into(), ..ChangesetCause::default() };
    record_as_is(as_is(paths, false, stores.workspace, stores.archive)?, &cause, stores)
}

/// Archives files as they are before another program writes them, those that are not there yet too; `kind` says how it
/// asked. Takes normalised paths. The error of memory is apart, as with [`archive_as_is`].
///
/// # Errors
/// When one cannot be read, or the archive fails.
pub fn archive_before(
    paths: &[String],
    kind: &str,
    title: &str,
    stores: Stores<'_>,
) -> Result<(Recorded, Option<memory::Error>), ApplyError> {
    let cause = ChangesetCause { kind: kind.into(), title: title.into(), ..ChangesetCause::default() };
    record_as_is(as_is(paths, true, stores.workspace, stores.archive)?, &cause, stores)
}

/// Records that another program wrote files as they stand now: they count as nebula's, but for those that it left as they
/// were. Takes normalised paths.
///
/// # Errors
/// When one cannot be read, or memory cannot be written.
pub fn written_by_another(paths: &[String], title: &str, stores: Stores<'_>) -> Result<(), WrittenError> {
    let mut files = Vec::new();
    for path in paths {
        let state = stores.workspace.read(path)?.state;
        // What it was before is the newest version: the hook before it archived that.
        let versions = stores.archive.versions(path).unwrap_or_default();
        let before = versions.last().and_then(|version| Some((version.id, stores.archive.show(version).ok()?)));
        if let Some((version, before)) = before {
            let counts = count_changed(&before, &state);
            let counts = (counts.added as u64, counts.removed as u64);
            let (project, version) = (stores.project(), version.to_string());
            stores.memory.changed_by_another(&project, (path, &version), state_sha(&state), counts)?;
            if state_sha(&before) == state_sha(&state) {
                continue;
            }
        }
        files.push(WriteIntent {
            path: path.clone(),
            sha256: state_sha(&state),
            replaces: None,
            bytes: state.text().map(|text| text.as_bytes().to_vec()),
            added: None,
            removed: None,
        });
    }
    if files.is_empty() {
        return Ok(());
    }
    let cause = ChangesetCause { kind: "hook".into(), title: title.into(), ..ChangesetCause::default() };
    let pending = stores.memory.write_intent(&stores.project(), &cause, &files)?;
    Ok(stores.memory.applied_unarchived(pending)?)
}

/// The reason why it could not be noted what another program wrote.
#[derive(Debug, thiserror::Error)]
pub enum WrittenError {
    /// A file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Memory cannot be written.
    #[error(transparent)]
    Memory(#[from] memory::Error),
}

/// Archives files as they are, without a change. Takes normalised paths; with `absent`, some may not be there yet.
///
/// # Errors
/// When one is not there or cannot be read, or the archive fails.
fn as_is(paths: &[String], absent: bool, workspace: &Workspace, archive: &Archive) -> Result<Recorded, ApplyError> {
    let mut lock = archive.lock()?;
    let mut states = Vec::new();
    for path in paths {
        let state = workspace.read(path)?.state;
        if state.is_absent() && !absent {
            let source = io::ErrorKind::NotFound.into();
            return Err(ReadError::Io { path: path.clone(), source }.into());
        }
        states.push((path.as_str(), state));
    }
    let states: Vec<_> = states.iter().map(|(path, state)| Before::from((*path, state))).collect();
    Ok(archive.record(&mut lock, &states, None)?)
}

fn record_as_is(
    recorded: Recorded,
    cause: &ChangesetCause,
    stores: Stores<'_>,
) -> Result<(Recorded, Option<memory::Error>), ApplyError> {
    let Some(id) = recorded.changeset else { return Ok((recorded, None)) };
    let files: Vec<_> = recorded
        .files
        .iter()
        .map(|f| StoredFile {
            path: f.path.clone(),
            version: Some(f.version.to_string()),
            absent: f.absent,
            sha256: f.sha256,
            added: Some(0),
            removed: Some(0),
        })
        .collect();
    let unrecorded = stores.memory.archived(&stores.project(), cause, &id.to_string(), &files).err();
    Ok((recorded, unrecorded))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::testing::World;
    use super::{ApplyError, preview};
    use crate::proposal::{Consent, Decision, FileChange, Proposal, ProposalId, State};

    #[test]
    fn a_preview_holds_what_is_on_disk_too_or_says_that_it_conflicts() {
        let text = |first: &str, last: &str| format!("{first}\n2\n3\n4\n5\n6\n7\n8\n{last}\n");
        let w = World::with(&text("1", "9"));
        let state = |text: &str| State::file(text.as_bytes());
        let files = vec![FileChange::new("a", state(&text("1", "9")), state(&text("1", "nine")), "edit", &[])];
        let proposal = Proposal { id: ProposalId(1), title: String::new(), files };
        let decided =
            proposal.decide(&Decision::accept(&proposal, Consent::Person)).expect("it fits").expect("accepted");
        let previewed = || {
            let files = preview(&decided, w.stores())?;
            let texts = files.iter().map(|file| file.after().text().unwrap_or_default().to_string());
            Ok::<_, ApplyError>(texts.collect::<Vec<_>>())
        };
        let path = w.workspace.root().join("a");
        assert_eq!(previewed().expect("as it was read"), [text("1", "nine")]);
        fs::write(&path, text("own", "9")).expect("written");
        assert_eq!(previewed().expect("merged"), [text("own", "nine")]);
        assert_eq!(fs::read_to_string(&path).expect("read"), text("own", "9"), "nothing is written");
        fs::write(&path, text("1", "nine")).expect("written");
        assert_eq!(previewed().expect("there already"), [""; 0]);
        fs::write(&path, text("1", "neun")).expect("written");
        assert!(matches!(previewed(), Err(ApplyError::Conflict { path, .. }) if path == "a"));
    }
}

//! The end of a command: the states that its keeper staged become a changeset, which is recorded in memory.

use super::Stores;
use crate::archive::staging::{CommandInfo, CommandStaging};
use crate::archive::{self, CommandChange, CommandChanges, Id, Lock, NotUndone};
use crate::memory::{self, ChangesetCause, StoredFile, WriteIntent};

/// The words of a command that are its changeset's title.
const TITLE: usize = 80;

/// A command's changes, archived.
#[derive(Debug, Default)]
pub struct SealedCommand {
    /// The changeset; none: it changed nothing.
    pub changeset: Option<Id>,
    /// The changesets before it, oldest first: someone else changed some of its files meanwhile.
    pub earlier: Vec<Id>,
    /// Its changes.
    pub changes: CommandChanges,
    /// The errors of memory. The changeset exists all the same.
    pub unrecorded: Vec<memory::Error>,
}

/// Archives what is staged as one changeset, and empties the staging folder. The changeset keeps what an undo of it does
/// not bring back.
///
/// # Errors
/// When the archive refuses: the states then stay staged.
pub fn seal(
    staging: &mut CommandStaging,
    info: &CommandInfo,
    not_undone: &[NotUndone],
    stores: Stores<'_>,
) -> Result<SealedCommand, archive::Error> {
    let mut lock = stores.archive.lock()?;
    let changes = stores.archive.compare(stores.workspace, staging)?;
    let mut sealed = SealedCommand { changes, ..SealedCommand::default() };
    for round in sealed.changes.take_earlier() {
        let rest = std::mem::replace(&mut sealed.changes.changes, round);
        let id = archive(&mut lock, staging, (info, &[]), stores, &mut sealed)?;
        sealed.earlier.push(id);
        sealed.changes.changes = rest;
    }
    if !sealed.changes.changes.is_empty() {
        sealed.changeset = Some(archive(&mut lock, staging, (info, not_undone), stores, &mut sealed)?);
    }
    let emptied = staging.empty();
    emptied.map_err(|source| archive::Error::Io { path: staging.folder().to_path_buf(), source })?;
    Ok(sealed)
}

fn archive(
    lock: &mut Lock,
    staging: &CommandStaging,
    (info, not_undone): (&CommandInfo, &[NotUndone]),
    stores: Stores<'_>,
    sealed: &mut SealedCommand,
) -> Result<Id, archive::Error> {
    let changes = &sealed.changes.changes;
    let will: Vec<WriteIntent> = changes.iter().map(write_intent).collect();
    let pending = stores.memory.write_intent(&stores.project(), &cause(info), &will);
    let pending = pending.map_err(|error| sealed.unrecorded.push(error)).ok();
    let unread = sealed.changes.unread.iter().map(|(path, why)| NotUndone::new(path, why));
    let not_undone: Vec<NotUndone> = not_undone.iter().cloned().chain(unread).collect();
    let (id, files) = stores.archive.seal(lock, staging, changes, info.approved.as_deref(), &not_undone)?;
    if let Some(pending) = pending {
        let file = |(file, will): (&archive::RecordedFile, &WriteIntent)| StoredFile {
            path: file.path.clone(),
            version: Some(file.version.to_string()),
            absent: file.absent,
            sha256: file.sha256,
            added: will.added,
            removed: will.removed,
        };
        let files: Vec<_> = files.iter().zip(&will).map(file).collect();
        sealed.unrecorded.extend(stores.memory.applied(pending, &id.to_string(), &files).err());
    }
    Ok(id)
}

fn write_intent(change: &CommandChange) -> WriteIntent {
    WriteIntent {
        path: change.entry.path.clone(),
        sha256: change.after,
        replaces: change.before,
        bytes: change.bytes.clone(),
        added: Some(change.counts.added as u64),
        removed: Some(change.counts.removed as u64),
    }
}

/// Returns the cause of a command's changeset.
pub fn cause(info: &CommandInfo) -> ChangesetCause {
    let title: String = info.command.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(TITLE).collect();
    ChangesetCause {
        session: info.session.clone(),
        message: info.message,
        turn: info.turn,
        tool_call: info.call.clone(),
        kind: "command".into(),
        title,
        approved: info.approved.clone(),
    }
}

//! One changeset of a command: archived, and recorded in memory.

use super::{Stores, record};
use crate::archive::staging::{CommandInfo, CommandStaging};
use crate::archive::{self, CommandChange, Id, Lock, SealOrder};
use crate::memory::{self, ChangesetCause, Memory, WriteIntent};

/// The words of a command that are its changeset's title.
const TITLE: usize = 80;

/// Archives states that someone else has changed after the command. What is there now is no one's that is known, so that
/// no undo of the command, or of its turn, takes the other's work back: memory knows the changeset as one that was only
/// archived, of no turn, and it waits for no review.
pub(super) fn archive_earlier(
    lock: &mut Lock,
    staging: &mut CommandStaging,
    changes: &[CommandChange],
    sealing: SealOrder<'_>,
    (info, unrecorded): (&CommandInfo, &mut Vec<memory::Error>),
    stores: Stores<'_>,
) -> Result<Id, archive::Error> {
    let (id, files) = stores.archive.seal(lock, staging, changes, sealing)?;
    let ChangesetCause { kind, title, .. } = cause(info);
    let cause = ChangesetCause { kind, title, ..ChangesetCause::default() };
    let files: Vec<_> = files.iter().map(|file| record::stored_file(file, None)).collect();
    unrecorded.extend(stores.memory.archived(&stores.project(), &cause, &id.to_string(), &files).err());
    Ok(id)
}

/// Archives a command's own changes, with the errors of memory.
pub(super) fn archive(
    lock: &mut Lock,
    (staging, info): (&mut CommandStaging, &CommandInfo),
    changes: &[CommandChange],
    sealing: SealOrder<'_>,
    stores: Stores<'_>,
) -> Result<(Id, Vec<memory::Error>), archive::Error> {
    let will: Vec<WriteIntent> = changes.iter().map(write_intent).collect();
    let mut unrecorded = Vec::new();
    let pending = stores.memory.write_intent(&stores.project(), &cause(info), &will);
    let pending = pending.map_err(|error| unrecorded.push(error)).ok();
    let (id, files) = stores.archive.seal(lock, staging, changes, sealing)?;
    if let Some(pending) = pending {
        let files: Vec<_> = files.iter().zip(&will).map(|(file, will)| record::stored_file(file, Some(will))).collect();
        unrecorded.extend(stores.memory.applied(pending, &id.to_string(), &files).err());
    }
    Ok((id, unrecorded))
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

/// Returns a command as its staging folder records it, without a turn that is none of its session's here: the process
/// that noted it may have counted messages that it never stored, or those of another memory.
pub fn recorded(info: CommandInfo, memory: &Memory) -> CommandInfo {
    let turn = info.session.as_deref().zip(info.turn);
    let known = turn.is_some_and(|(session, turn)| memory.has_message(session, turn).unwrap_or_default());
    CommandInfo { turn: info.turn.filter(|_| known), ..info }
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
        merged: None,
    }
}

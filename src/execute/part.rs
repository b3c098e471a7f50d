//! One changeset of a command: archived, and recorded in memory.

use std::collections::HashMap;

use super::{Stores, record};
use crate::archive::staging::{CommandInfo, CommandStaging, JournalLine};
use crate::archive::{self, CommandChange, CommandChanges, Id, Lock, SealOrder, Sha};
use crate::memory::{self, ChangesetCause, Memory, StatesAround, StoredFile, WriteIntent};
use crate::proposal::Counts;
use crate::text::sentence::first_words;

/// The most characters of a command that are its changeset's title.
const TITLE: usize = 80;

/// A command's changes, archived.
#[derive(Debug, Default)]
pub struct SealedCommand {
    /// The changeset; none: it changed nothing.
    pub changeset: Option<Id>,
    /// The changesets before it, oldest first: someone else changed some of its files meanwhile, or it was sealed in
    /// several parts.
    pub earlier: Vec<Id>,
    /// Its own changes, in whichever changeset they are; of a path that changed in several parts, the last one.
    pub changes: CommandChanges,
    /// The errors of memory. The changeset exists all the same.
    pub unrecorded: Vec<memory::Error>,
}

impl SealedCommand {
    /// Returns the whole of a command that was sealed in parts, oldest first.
    pub fn of_parts(parts: Vec<SealedCommand>) -> SealedCommand {
        let mut whole = SealedCommand::default();
        for part in parts {
            whole.earlier.extend(part.earlier);
            whole.unrecorded.extend(part.unrecorded);
            whole.changes.unread.extend(part.changes.unread);
            if part.changeset.is_some() {
                whole.earlier.extend(std::mem::replace(&mut whole.changeset, part.changeset));
                let is_later = |path: &str| part.changes.changes.iter().any(|change| change.entry.path == path);
                whole.changes.changes.retain(|change| !is_later(&change.entry.path));
                whole.changes.changes.extend(part.changes.changes);
            }
        }
        whole.earlier.sort();
        whole
    }
}

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

/// Returns a command as its staging folder records it, without messages that are none of its session's here: the process
/// that noted them may have counted messages that it never stored, or those of another memory. Those that this process
/// itself had not stored then are known by what they are now.
pub fn recorded(info: CommandInfo, memory: &Memory) -> CommandInfo {
    let known = |message: i64| {
        let message = memory.id_of(message);
        let is_of = |session: &str| memory.has_message(session, message).unwrap_or_default();
        info.session.as_deref().is_some_and(is_of).then_some(message)
    };
    let (message, turn) = (info.message.and_then(known), info.turn.and_then(known));
    CommandInfo { message, turn, ..info }
}

/// Takes up what another one's sealing archived of a command: the changesets of its own changes, oldest first, each with
/// these, and those of states that someone else changed after it. Where the other did not know the command's message or
/// turn, their causes are completed.
pub(super) fn take_up(
    (staging, info): (&CommandStaging, &CommandInfo),
    stores: Stores<'_>,
) -> Result<SealedCommand, archive::Error> {
    let (project, mut unrecorded) = (stores.project(), Vec::new());
    let mut parts = Vec::new();
    for (id, states) in stores.archive.sealed_elsewhere(staging)? {
        let name = id.to_string();
        unrecorded.extend(stores.memory.complete_cause(&project, &name, &cause(info)).err());
        let changes = own_changes(&name, states, stores);
        parts.push(match changes.is_empty() {
            true => SealedCommand { earlier: vec![id], ..SealedCommand::default() },
            false => SealedCommand {
                changeset: Some(id),
                changes: CommandChanges { changes, ..CommandChanges::default() },
                ..SealedCommand::default()
            },
        });
    }
    Ok(SealedCommand { unrecorded, ..SealedCommand::of_parts(parts) })
}

/// Returns what memory knows of a command's own changes in a changeset; nothing, where it only archives what someone else
/// changed.
fn own_changes(id: &str, states: Vec<(usize, JournalLine)>, stores: Stores<'_>) -> Vec<CommandChange> {
    let around = stores.memory.changed_states(&stores.project(), id).unwrap_or_default();
    let record = stores.memory.changeset(&stores.project(), id).ok().flatten();
    let files = record.map(|record| record.files).unwrap_or_default();
    let around: HashMap<&str, &StatesAround> = around.iter().map(|state| (state.path.as_str(), state)).collect();
    let files: HashMap<&str, &StoredFile> = files.iter().map(|file| (file.path.as_str(), file)).collect();
    let number = |count: Option<u64>| count.and_then(|count| usize::try_from(count).ok()).unwrap_or_default();
    let change = |(place, entry): (usize, JournalLine)| {
        let after = around.get(entry.path.as_str())?.after.as_ref()?;
        let file = files.get(entry.path.as_str())?;
        let counts = Counts { added: number(file.added), removed: number(file.removed) };
        let after: Option<Sha> = after.as_slice().try_into().ok();
        Some(CommandChange::archived((place, entry), (file.sha256, after), counts))
    };
    states.into_iter().filter_map(change).collect()
}

/// Returns the cause of a command's changeset.
pub fn cause(info: &CommandInfo) -> ChangesetCause {
    ChangesetCause {
        session: info.session.clone(),
        message: info.message,
        turn: info.turn,
        tool_call: info.call.clone(),
        kind: "command".into(),
        title: first_words(&info.command, TITLE),
        approved: info.approved.clone(),
        merged: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_that_is_cut_ends_with_a_mark() {
        let title = |command: String| cause(&CommandInfo { command, ..CommandInfo::default() }).title;
        assert_eq!(title("echo a\n  && rm b".into()), "echo a && rm b");
        assert_eq!(title("x".repeat(TITLE)), "x".repeat(TITLE));
        assert_eq!(title("x".repeat(TITLE + 1)), format!("{}…", "x".repeat(TITLE)));
    }
}

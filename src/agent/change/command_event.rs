//! The events of a command for programs that read them: its start, what it prints, and its end.

use crate::archive::{ChangeKind, CommandChange};
use crate::protocol::{ChangedPath, CommandEnd, CommandEvent};
use crate::shell::output::NewOutput;
use crate::shell::{Exit, SealResult, ShellCommand, Stopped, with_moves};

/// Returns what is told of a command's end, or of its call's.
pub fn ended(command: &ShellCommand, stopped: Option<Stopped>, sealed: &SealResult) -> CommandEnd {
    let progress = command.running.progress().clone();
    let (exit, signal) = match progress.exit.as_ref().map(|(exit, _)| *exit) {
        Some(Exit::Code(code)) => (Some(code), None),
        Some(Exit::Signal(signal)) => (None, Some(signal)),
        None => (None, None),
    };
    let changed = |(change, from): (&CommandChange, Option<&CommandChange>)| ChangedPath {
        path: change.entry.path.clone(),
        from: from.map(|from| from.entry.path.clone()),
        kind: if from.is_some() { "moved" } else { kind_word(change.kind) },
        added: if from.is_some() { 0 } else { change.counts.added },
        removed: change.counts.removed,
    };
    let summary = &progress.summary;
    let unread = command.left_out().iter().cloned().chain(sealed.unread.iter().cloned());
    CommandEnd {
        id: command.id.clone(),
        exit,
        signal,
        stopped: stopped.is_some() || progress.stopped,
        ms: progress.took.map(|took| u64::try_from(took.as_millis()).unwrap_or(u64::MAX)),
        changeset: sealed.changeset.map(|id| id.to_string()),
        earlier: sealed.earlier.iter().map(ToString::to_string).collect(),
        changed: with_moves(&sealed.changes).map(changed).collect(),
        derived: summary.derived.clone(),
        not_archived: summary.not_archived.iter().cloned().chain(unread).collect(),
        archive_error: command.archive_error(),
        refused_writes: summary.refused + summary.private + summary.said_no + summary.unanswered,
        unanswered_writes: summary.unanswered,
        refused_connections: summary.connections + summary.abstracts,
        running: !progress.is_over(),
        grant: command.grant.map(|grant| grant.word()),
        keeper: command.keeper.word(),
    }
}

fn kind_word(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Made => "made",
        ChangeKind::Changed => "changed",
        ChangeKind::Removed => "removed",
        ChangeKind::Mode => "mode",
    }
}

/// Returns what a command printed since the last call; none: nothing. `is_over`: its unfinished line is over.
pub fn printed(command: &ShellCommand, is_over: bool) -> Option<CommandEvent> {
    let NewOutput { missed, lines, begun } = command.running.output().take_printed(is_over)?;
    let text = lines.into_iter().map(|line| line + "\n").collect();
    Some(CommandEvent::Printed { id: command.id.clone(), missed, text, begun })
}

//! A command in a view: it runs in a copy-on-write view of the workspace, and what it changed there is proposed or thrown away.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::follow::follow;
use crate::agent::change::command::{self, Finished, seal_jobs};
use crate::agent::change::command_event::ended;
use crate::agent::change::execute_proposal::{Approver, ProposalResult, RestoreParts, execute_proposal};
use crate::agent::change::holds;
use crate::agent::change::restore::tell_unwritten;
use crate::agent::services::Services;
use crate::agent::session::context::SessionContext;
use crate::agent::turn::step::call_item::CallItem;
use crate::agent::turn::step::results::{remarks, written};
use crate::archive::staging::CommandInfo;
use crate::execute::command::cause;
use crate::messages::card as words;
use crate::proposal::{Choice, FileChange, HunkKind, Proposal};
use crate::protocol::{
    CallState, ChangedPath, CommandBegan, CommandEnd, CommandEvent, EventBody, Level, Outcome, PREVIEW,
};
use crate::shell::{
    CommandReport, CommandRequest, Exit, Keeper, SealResult, ShellCommand, StartError, View, ViewChanges, files_of_view,
};
use crate::text::clean::clean_line;
use crate::text::id::short_changeset;
use crate::text::number::plural;
use crate::text::time;

/// The use of the changes in a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The person decides about them.
    Propose,
    /// The changes are only named: this is plan mode.
    ThrowAway,
}

/// Starts a command in a view of the workspace.
///
/// # Errors
/// When it cannot be run there: nothing was run.
pub async fn begin(
    context: &Arc<SessionContext>,
    request: CommandRequest,
    info: CommandInfo,
) -> Result<Arc<ShellCommand>, StartError> {
    let view = Some(Arc::new(create(&context.services).await?));
    command::begin(context, CommandRequest { view, ..request }, Keeper::View, info).await
}

/// Follows a command that was started in a view to its end.
pub async fn finish(
    context: &Arc<SessionContext>,
    item: &mut CallItem,
    command: Arc<ShellCommand>,
    (limit, began): (Duration, CommandBegan),
    purpose: Purpose,
    stop: &CancellationToken,
) -> Finished {
    let began = CommandBegan { id: Some(command.id.clone()), entry: Some(item.id), ..began };
    context.events.send(EventBody::Command(CommandEvent::Began(began))).await;
    item.set(&context.events, CallState::Running).await;
    let halt = stop.child_token();
    let holds = holds::watch(context, &command, Some(limit), &halt);
    let stopped = follow(&context.events, item, (&command, &holds), limit, &halt).await;
    let mut report = CommandReport::new(&command, stopped, &SealResult::default(), None);
    let output = command.running.output().for_model(&command.id);
    let ok = stopped.is_none() && command.exit().is_none_or(|exit| exit == Exit::Code(0));
    let (view, changes) = changes(&context.services, &command).await;
    let (mut changeset, mut changed, mut is_dropped) = (None, Vec::new(), false);
    match changes {
        Ok(changes) => {
            report.files = files_of_view(&changes.files);
            report.notes.extend(changes.notes().into_iter().chain(changes.read_only_notes()));
            let (line, taken) = match (changes.files.len(), purpose) {
                (_, Purpose::Propose) if changes.unknown.is_some() => (conflict(context, &changes).await, None),
                (0, _) => (nothing_proposed(context, &changes, purpose).await, None),
                (count, Purpose::ThrowAway) => {
                    (format!("preview: nothing was changed; {} would have been", plural(count, "file")), None)
                }
                (_, Purpose::Propose) => {
                    let (line, decided) = propose(context, item, changes, &command.info, stop).await;
                    is_dropped = stop.is_cancelled() && decided.0.is_none();
                    (line, Some(decided))
                }
            };
            report.notes.push(line);
            (changeset, changed) = taken.unwrap_or_default();
        }
        Err(why) => report.notes.push(format!("preview: nothing was changed; {why}")),
    }
    match item.call.hunks.filter(|hunks| hunks.is_partial()) {
        Some(hunks) => {
            let part = written(hunks.accepted, hunks.accepted + hunks.rejected);
            report.summary = format!("{PREVIEW}{part}");
        }
        None if changeset.is_none() => report.summary = format!("{PREVIEW}{}", report.summary),
        None => {}
    }
    let end = CommandEnd { changeset: changeset.clone(), changed, ..ended(&command, stopped, &SealResult::default()) };
    context.events.send(EventBody::Command(CommandEvent::Ended(end))).await;
    command.mark_reported();
    keep_record(&command, changeset.clone(), view).await;
    context.events.refresh_status();
    let took = command.running.progress().took;
    Finished { command: command.info.command.clone(), report, output, ok, took, changeset, is_dropped }
}

/// Writes down how a command ended, and takes its view away.
async fn keep_record(command: &Arc<ShellCommand>, changeset: Option<String>, view: Option<Arc<View>>) {
    let command = Arc::clone(command);
    let work = move || {
        // What fails in it fails the listing of this command alone.
        command.keep_record(changeset);
        drop(view);
    };
    let _ = tokio::task::spawn_blocking(work).await;
}

/// Returns the line for the model where there is nothing to propose. Where there is something that is left out, the person
/// reads it now.
async fn nothing_proposed(context: &SessionContext, changes: &ViewChanges, purpose: Purpose) -> String {
    let left_out = changes.notes();
    let lines: Vec<String> = left_out.iter().cloned().chain(changes.read_only_notes()).collect();
    if let Some((first, more)) = lines.split_first().filter(|_| purpose == Purpose::Propose) {
        context.say(Level::Warning, first.clone(), more.join("\n")).await;
    }
    if left_out.is_empty() {
        return "preview: nothing was changed, and nothing would have been".into();
    }
    "preview: nothing was changed; what would have been is left out of it, as said above".into()
}

/// Says that a file changed on disk meanwhile, so that what is known is not the whole of the command: nothing is proposed.
/// Returns the line for the model.
async fn conflict(context: &SessionContext, changes: &ViewChanges) -> String {
    let path = clean_line(changes.unknown.as_deref().unwrap_or_default());
    context.say(Level::Warning, words::preview_conflict(&path), changes.notes().join("\n")).await;
    format!("preview: nothing was changed: {path} changed on disk meanwhile. Run it again")
}

async fn create(services: &Arc<Services>) -> Result<View, StartError> {
    let services = Arc::clone(services);
    let create = move || {
        View::create(&services.workspace, &services.archive).map(|view| view.with_met_states(&services.workspace))
    };
    let created = tokio::task::spawn_blocking(create).await.map_err(|error| StartError::Helper(error.into()))?;
    Ok(created?)
}

/// Returns what a command changed in its view, and the view, in which large files still lie.
async fn changes(
    services: &Arc<Services>,
    command: &Arc<ShellCommand>,
) -> (Option<Arc<View>>, Result<ViewChanges, String>) {
    let (services, command) = (Arc::clone(services), Arc::clone(command));
    let read = move || {
        let Some(view) = command.take_view() else { return (None, Err("its view is gone".to_string())) };
        let changes = view.changes(&services.workspace, &services.shell.places()).map_err(|error| error.to_string());
        let changes = changes.map(|mut changes| {
            services.workspace.note_other_names(&mut changes.files);
            changes
        });
        (Some(view), changes)
    };
    tokio::task::spawn_blocking(read).await.unwrap_or_else(|error| (None, Err(error.to_string())))
}

/// Lets the person decide about what a command changed in its view. Returns a line for the model, and the changeset of
/// what was taken with its files.
async fn propose(
    context: &Arc<SessionContext>,
    item: &mut CallItem,
    changes: ViewChanges,
    info: &CommandInfo,
    stop: &CancellationToken,
) -> (String, (Option<String>, Vec<ChangedPath>)) {
    seal_jobs(&context.services, &context.commands, &context.events).await;
    item.set(&context.events, CallState::Asking).await;
    let left_out = changes.notes().into_iter().chain(changes.read_only_notes()).collect();
    let text = info.command.lines().next().unwrap_or_default();
    let title = words::preview_title(&text);
    let proposal = Arc::new(Proposal { id: context.events.proposal(), title, files: changes.files });
    let parts = RestoreParts { left_out, ..RestoreParts::default() };
    let decided = execute_proposal(context, Arc::clone(&proposal), parts, Approver::Person, cause(info), stop).await;
    tell_unwritten(context, &decided).await;
    note_decision(item, &decided);
    let is_taken = |file: &&FileChange| decided.written.iter().any(|(path, _)| *path == file.path);
    let changed = proposal.files.iter().filter(is_taken).map(changed_path).collect();
    (result_text(&decided, &proposal), (decided.changeset.clone(), changed))
}

/// Shows what was decided with the command, where some was taken and not all.
fn note_decision(item: &mut CallItem, decided: &ProposalResult) {
    let part = decided.decided_hunks().filter(|hunks| hunks.is_partial());
    (item.call.hunks, item.call.decided) = (part, part);
    item.call.answered = part.map(|_| time::now());
    let reason = part.and(decided.decision.as_ref()).map(remarks);
    item.call.reason = reason.filter(|reason| !reason.is_empty());
}

/// Returns a file that was taken, as it is told to programs.
fn changed_path(file: &FileChange) -> ChangedPath {
    let kind = match (file.before.is_absent(), file.after.is_absent()) {
        (true, _) => "made",
        (_, true) => "removed",
        _ if file.hunks.iter().all(|hunk| hunk.kind == HunkKind::Mode) => "mode",
        _ => "changed",
    };
    ChangedPath { path: file.path.clone(), from: None, kind, added: file.counts.added, removed: file.counts.removed }
}

/// Returns the result of the proposal, for the model.
fn result_text(decided: &ProposalResult, proposal: &Proposal) -> String {
    let reason = decided.decision.as_ref().map(remarks);
    let reason = reason.filter(|reason| !reason.is_empty()).map_or(String::new(), |reason| format!(": {reason}"));
    let nothing = "preview: nothing was changed";
    match &decided.outcome {
        Outcome::Applied { hunks, .. } if hunks.rejected == 0 => {
            let id =
                decided.changeset.as_deref().map_or(String::new(), |id| format!(", changeset {}", short_changeset(id)));
            format!("preview: the person took all of these changes{id}{reason}")
        }
        Outcome::Applied { hunks, .. } => {
            let paths: Vec<&str> = decided.written.iter().map(|(path, _)| path.as_str()).collect();
            let files = decided.decision.iter().flat_map(|decision| decision.files());
            let rejected = proposal.files.iter().zip(files).filter(|(_, said)| said.hunks.contains(&Choice::Reject));
            let rejected: Vec<&str> = rejected.map(|(file, _)| file.path.as_str()).collect();
            let (taken, all) = (hunks.accepted, hunks.accepted + hunks.rejected);
            let (paths, rejected) = (paths.join(", "), rejected.join(", "));
            format!("preview: the person took {taken} of {all} changes, in {paths}; rejected, in {rejected}{reason}")
        }
        Outcome::Refused => format!("{nothing}: the person took none of these changes{reason}"),
        Outcome::Withdrawn => format!("{nothing}: interrupted by the user"),
        Outcome::Conflict { path, .. } => format!("{nothing}: {path} changed on disk meanwhile. Run it again"),
        Outcome::Failed(why) => format!("{nothing}: {why}"),
    }
}

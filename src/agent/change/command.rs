//! Commands between the shell and the stores: started and sealed on threads that may block, and reported to the front
//! end.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use crate::agent::background::adopt::adopt_and_say;
use crate::agent::background::review;
use crate::agent::change::command_event;
use crate::agent::services::events::Events;
use crate::agent::services::{Services, lock};
use crate::agent::session::context::SessionContext;
use crate::archive::restore::state_sha;
use crate::archive::staging::CommandInfo;
use crate::archive::{Id, Sha};
use crate::execute::command::{SealedCommand, seal};
use crate::messages::agent as say;
use crate::messages::records::localized;
use crate::protocol::{CommandEnd, CommandEvent, EventBody, Level};
use crate::shell::{
    self, CommandReport, CommandRequest, Commands, Keeper, SealResult, ShellCommand, StartError, Stopped,
};
use crate::text::sentence::first_words;

/// The interval at which the changes of a job are sealed.
const SEAL_EACH: Duration = Duration::from_secs(30);
/// The shortest interval at which they are sealed because someone looks at changes.
const LOOK_EACH: Duration = Duration::from_secs(5);
/// The time that the ends of jobs have to be told when the session ends.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// The shortest interval at which what a command prints is told.
pub const PACE: Duration = Duration::from_millis(100);

/// A finished command, as its call is answered.
pub struct Finished {
    /// The command as it ran.
    pub command: String,
    /// The report, in words.
    pub report: CommandReport,
    /// Its output, as the model gets it.
    pub output: String,
    /// True if it ended well.
    pub ok: bool,
    /// The time that its shell ran; none: it runs on.
    pub took: Option<Duration>,
    /// The changeset of what it changed.
    pub changeset: Option<String>,
    /// True if it ran in a view and the person interrupted the turn before they decided about what it changed there.
    pub is_dropped: bool,
}

/// Starts a command.
///
/// # Errors
/// When it cannot be started: nothing was run.
pub async fn begin(
    context: &SessionContext,
    request: CommandRequest,
    keeper: Keeper,
    info: CommandInfo,
) -> Result<Arc<ShellCommand>, StartError> {
    let commands = Arc::clone(&context.commands);
    let services = Arc::clone(&context.services);
    let begun = tokio::task::spawn_blocking(move || {
        // One that is not over yet is archived later: nothing is waited for here.
        adopt_and_say(&services, Duration::ZERO);
        // Its staging folder outlives this process.
        let id_of = |message: i64| services.stores().memory.id_of(message);
        let info = CommandInfo { message: info.message.map(id_of), turn: info.turn.map(id_of), ..info };
        commands.begin(&request, keeper, info, None)
    });
    begun.await.unwrap_or_else(|_| Err(StartError::Refused(say::command_failed().into())))
}

/// Seals what a command changed so far, and reports the result.
pub async fn finish(context: &Arc<SessionContext>, command: Arc<ShellCommand>, stopped: Option<Stopped>) -> Finished {
    let Sealing { sealed, failure, is_over } = seal_and_tell(&context.services, &context.events, &command).await;
    let sealed = context.services.watched.early_parts.answer(&command, sealed);
    let (exit, is_stopped) = {
        let progress = command.running.progress();
        (progress.exit.clone(), progress.stopped)
    };
    // What was cut off leaves the next one no folder and no variables.
    let left = match &exit {
        Some((shell::Exit::Code(_), left)) if stopped.is_none() && !is_stopped => left.as_ref(),
        _ => None,
    };
    let notes = context.commands.take_up(&command, left);
    let result = seal_result(sealed);
    let told = command.running.progress().notices.len();
    let mut report = CommandReport::new(&command, stopped, &result, failure.as_deref());
    report.notes.extend(notes.moved.into_iter().chain(notes.dropped.clone()));
    let end = CommandEnd { running: !is_over, ..command_event::ended(&command, stopped, &result) };
    context.events.send(EventBody::Command(CommandEvent::Ended(end))).await;
    // The model reads it in its result.
    if let Some(dropped) = notes.dropped.filter(|_| command.info.call.is_none()) {
        context.events.say(Level::Warning, localized(&dropped), "").await;
    }
    let output = command.running.output().for_model(&command.id);
    if is_over {
        command.mark_reported();
    }
    let changeset = result.changeset.map(|id| id.to_string());
    let stored = changeset.clone();
    let ended = Arc::clone(&command);
    // What fails in it fails the listing of this command alone.
    let _ = tokio::task::spawn_blocking(move || ended.keep_record(stored)).await;
    let commands = Arc::clone(&context.commands);
    tokio::task::spawn_blocking(move || commands.get_ready());
    if !is_over {
        watch_job(context, &command, told);
    }
    context.events.refresh_status();
    let ok = matches!(exit, Some((shell::Exit::Code(0), _)) | None) && stopped.is_none();
    let took = command.running.progress().took;
    Finished { command: command.info.command.clone(), report, output, ok, took, changeset, is_dropped: false }
}

fn seal_result(sealed: SealedCommand) -> SealResult {
    let SealedCommand { changeset, earlier, changes, .. } = sealed;
    SealResult { changeset, earlier, changes: changes.changes, unread: changes.unread }
}

/// Seals what jobs changed every half minute while this one runs, and tells what it prints and what is noticed of it after
/// the first `told` notices. When it has ended and all of that is told, its end is told and recorded, and the count of
/// jobs renewed.
fn watch_job(context: &Arc<SessionContext>, job: &Arc<ShellCommand>, mut told: usize) {
    let (services, events) = (Arc::clone(&context.services), context.events.clone());
    let (commands, job) = (Arc::clone(&context.commands), Arc::clone(job));
    let task = tokio::spawn(async move {
        let changed = Arc::new(Notify::new());
        let tell = Arc::clone(&changed);
        job.running.on_change(move || tell.notify_one());
        let mut due = tokio::time::Instant::now() + SEAL_EACH;
        // What changed before the listener stood was told to nobody.
        tell_noticed(&events, &job, &mut told).await;
        while !job.running.progress().is_read() {
            tokio::select! {
                () = changed.notified() => {
                    tell_printed(&events, &job, false).await;
                    tell_noticed(&events, &job, &mut told).await;
                    tokio::time::sleep(PACE).await;
                }
                () = tokio::time::sleep_until(due) => {
                    seal_all(&services, commands.unsealed_jobs(), &events).await;
                    due = tokio::time::Instant::now() + SEAL_EACH;
                }
            }
        }
        let Sealing { sealed, .. } = seal_and_tell(&services, &events, &job).await;
        seal_all(&services, commands.unsealed_jobs(), &events).await;
        let result = seal_result(sealed);
        let end = command_event::ended(&job, None, &result);
        let changeset = end.changeset.clone();
        tell_printed(&events, &job, true).await;
        let is_stopped = end.stopped;
        events.send(EventBody::Command(CommandEvent::Ended(end))).await;
        if !is_stopped {
            tell_failed(&events, &job).await;
        }
        // What fails in it fails the listing of this command alone.
        let _ = tokio::task::spawn_blocking(move || job.keep_record(changeset)).await;
        events.refresh_status();
    });
    let mut tasks = lock(&context.job_tasks);
    tasks.retain(|task| !task.is_finished());
    tasks.push(task);
}

/// Ends what still runs of a session, and waits until its end is told, recorded and archived.
pub async fn end_all(context: &SessionContext) {
    let commands = Arc::clone(&context.commands);
    let _ = tokio::task::spawn_blocking(move || commands.end_all()).await;
    let until = tokio::time::Instant::now() + LAST_WORDS;
    let tasks = std::mem::take(&mut *lock(&context.job_tasks));
    let had_jobs = !tasks.is_empty();
    for task in tasks {
        // One that takes longer is told of by the next start.
        let _ = tokio::time::timeout_at(until, task).await;
    }
    if context.id().is_some() {
        seal_jobs(&context.services, &context.commands, &context.events).await;
    }
    if had_jobs {
        // Who leaves is told how many changes wait, with the last of theirs.
        let services = Arc::clone(&context.services);
        let _ = tokio::task::spawn_blocking(move || review::count(&services)).await;
    }
}

/// Tells that a job ended by itself without success: nobody waits for it.
async fn tell_failed(events: &Events, job: &ShellCommand) {
    let exit = job.running.progress().exit.as_ref().map(|(exit, _)| *exit);
    if let Some(exit) = exit.filter(|exit| *exit != shell::Exit::Code(0)) {
        let how = shell::exit_words(exit);
        let title = say::job_failed(&job.id, &localized(&how));
        events.say(Level::Warning, title, first_words(&job.info.command, 60)).await;
    }
}

/// Tells what was noticed of a job since the first notices, which were told.
async fn tell_noticed(events: &Events, job: &ShellCommand, told: &mut usize) {
    let new: Vec<String> = job.running.progress().notices.iter().skip(*told).cloned().collect();
    *told += new.len();
    for notice in new {
        let named = notice.split(' ').next() == Some(job.id.as_str());
        events.say(Level::Info, if named { notice } else { format!("{}: {notice}", job.id) }, "").await;
    }
}

/// Lets the commands of the model's calls run on as jobs, so that the calls are answered; where there are none, those of
/// the person. One in a view has to end: its changes are told with its call.
pub async fn run_on(commands: &Commands, events: &Events) {
    let waits =
        |command: &&Arc<ShellCommand>| command.keeper != Keeper::View && !command.running.progress().is_answerable();
    let jobs = commands.jobs();
    // A call that waits comes before a command of the person, for which nothing waits.
    let (calls, own): (Vec<_>, Vec<_>) = jobs.iter().filter(waits).partition(|command| command.info.call.is_some());
    let released = if calls.is_empty() { own } else { calls };
    released.iter().for_each(|command| command.running.release());
    if released.is_empty() {
        let is_preview =
            |command: &Arc<ShellCommand>| command.keeper == Keeper::View && !command.running.progress().is_answerable();
        let words = if jobs.iter().any(is_preview) { say::preview_has_to_end() } else { say::nothing_runs_on() };
        events.say(Level::Info, words, "").await;
    }
}

/// Stops a command that runs, at the person's word.
pub fn stop(commands: &Commands, id: &str) {
    if let Some(command) = commands.find(id).filter(|command| !command.running.progress().is_over()) {
        command.note_stopped(Some(Stopped::Person));
        command.running.stop();
    }
}

/// Lets the next command begin again, and tells so.
pub async fn clear_left(commands: &Commands, events: &Events) {
    commands.clear_left();
    events.refresh_status();
    events.say(Level::Info, say::environment_cleared(), "").await;
}

/// Seals what every command changed so far, so that changesets stand in the order in which things happened.
pub async fn seal_jobs(services: &Arc<Services>, commands: &Commands, events: &Events) {
    seal_all(services, commands.unsealed(), events).await;
}

async fn seal_all(services: &Arc<Services>, commands: Vec<Arc<ShellCommand>>, events: &Events) {
    for command in commands {
        let sealing = seal_and_tell(services, events, &command).await;
        services.watched.early_parts.keep(&command, sealing.sealed);
    }
}

/// Seals what the session's jobs changed so far, before files are compared with what is archived: it is no one else's
/// change. Where commands of others still run in the workspace it says so.
pub async fn seal_before_restore(context: &SessionContext) {
    seal_jobs(&context.services, &context.commands, &context.events).await;
    let services = Arc::clone(&context.services);
    let in_use = tokio::task::spawn_blocking(move || adopt_and_say(&services, Duration::ZERO)).await;
    if in_use.unwrap_or_default() > context.commands.unsealed().len() {
        context.say(Level::Warning, say::command_runs_yet(), "").await;
    }
}

/// Seals what these commands changed so far for someone who looks at changes, though not more often than now and then: each
/// time makes a changeset.
pub async fn seal_to_look(context: &SessionContext, commands: Vec<Arc<ShellCommand>>) {
    let is_due = {
        let mut last = lock(&context.sealed_to_look);
        let is_due = last.is_none_or(|last| last.elapsed() >= LOOK_EACH);
        *last = if is_due { Some(Instant::now()) } else { *last };
        is_due
    };
    if is_due {
        seal_all(&context.services, commands, &context.events).await;
    }
}

/// Tells what a command printed since it was told last; `is_over`: its unfinished line is over.
pub async fn tell_printed(events: &Events, command: &ShellCommand, is_over: bool) {
    let printed = command_event::printed(command, is_over);
    if let Some(printed) = printed {
        events.send(EventBody::Command(printed)).await;
    }
}

/// Tells of the changeset of a command, before anything else is told of it.
async fn tell_changeset(services: &Services, events: &Events, id: Id) {
    services.news.tell(events, id);
    services.news.flushed().await;
}

/// A sealing of what a command changed so far.
struct Sealing {
    /// The changesets, and the changes in them.
    sealed: SealedCommand,
    /// The reason why not all of it was.
    failure: Option<String>,
    /// True if the command had ended before: then this was all of it.
    is_over: bool,
}

/// Seals what a command changed so far, and tells of its changesets, and of a failure that was not told yet.
async fn seal_and_tell(services: &Arc<Services>, events: &Events, command: &Arc<ShellCommand>) -> Sealing {
    let (own, sealing) = (Arc::clone(services), Arc::clone(command));
    let sealing = tokio::task::spawn_blocking(move || seal_command(&own, &sealing)).await;
    let sealing = sealing.unwrap_or_else(|_| Sealing {
        sealed: SealedCommand::default(),
        failure: Some(say::sealing_failed().into()),
        is_over: command.running.progress().is_over(),
    });
    for id in sealing.sealed.earlier.iter().chain(&sealing.sealed.changeset) {
        tell_changeset(services, events, *id).await;
    }
    if command.note_failure(sealing.failure.as_ref()) {
        let why = localized(sealing.failure.as_deref().unwrap_or_default());
        events.say(Level::Error, say::not_archived_yet(&command.id, &why), say::states_kept()).await;
    }
    if command.is_answered() {
        command.note_later(later_lines(&sealing.sealed));
    }
    sealing
}

/// Returns the changes of a job for the model: a line for its changeset, and one for each file.
fn later_lines(sealed: &SealedCommand) -> Vec<String> {
    let Some(id) = sealed.changeset else { return Vec::new() };
    let files = shell::changed_files(&sealed.changes.changes);
    std::iter::once(format!("changeset {id}:")).chain(files.into_iter().map(|line| format!("  {line}"))).collect()
}

/// Seals what a command changed so far; once more where it ends meanwhile.
fn seal_command(services: &Services, command: &ShellCommand) -> Sealing {
    let _sealing = services.watched.begin_sealing();
    let parts = RefCell::new(Vec::new());
    let seal = |staging: &mut _, not_undone: &[_]| {
        let part = seal(staging, &command.info, not_undone, services.stores()).map_err(|error| error.to_string())?;
        parts.borrow_mut().push(part);
        Ok(())
    };
    let (failure, is_over) = loop {
        let is_over = command.running.progress().is_over();
        let failure = command.seal(&services.shell, seal).err();
        if is_over || !command.running.progress().is_over() {
            break (failure, is_over);
        }
    };
    let mut sealed = SealedCommand::of_parts(parts.into_inner());
    for error in std::mem::take(&mut sealed.unrecorded) {
        services.record_error::<()>(Err(error));
    }
    if sealed.changeset.is_some() {
        shell::sweep(&services.archive);
    }
    forget_own(services, command, &sealed);
    Sealing { sealed, failure, is_over }
}

/// Forgets what the sessions know of the files that a command changed: that is no one else's change. Of one that someone
/// else changed, too, it stays known, so that the watch tells of it.
fn forget_own(services: &Services, command: &ShellCommand, sealed: &SealedCommand) {
    let meanwhile = command.running.progress().summary.meanwhile.clone();
    let own = |path: &str, after: Option<Sha>| {
        let is_as_left = || services.workspace.read_archived(path).is_ok_and(|read| state_sha(&read.state) == after);
        !meanwhile.iter().any(|other| other == path) && is_as_left()
    };
    let changed = sealed.changes.changes.iter().map(|change| (change.entry.path.as_str(), change.after));
    let known: Vec<_> = {
        let known = lock(&services.watched.known);
        changed.filter(|(path, _)| known.contains_key(*path)).collect()
    };
    for (path, _) in known.into_iter().filter(|(path, after)| own(path, *after)) {
        lock(&services.watched.known).remove(path);
    }
}

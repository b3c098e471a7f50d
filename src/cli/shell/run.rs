//! `nebula run`: a person's own command under a keeper, undone by `nebula undo`.

use std::cell::RefCell;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Result;
use serde_json::json;
use tokio::sync::{mpsc, oneshot};

use super::super::args::RunArgs;
use super::super::out::{self, Out};
use super::super::{Context, UsageError};
use super::events::line as event_line;
use super::printer::OutputPrinter;
use super::terminal;
use crate::agent::background::reconcile::reconcile;
use crate::agent::{adopt, command_end};
use crate::archive::Archive;
use crate::archive::staging::CommandInfo;
use crate::execute::Stores;
use crate::execute::command::{SealedCommand, seal};
use crate::proposal::{Consent, counted};
use crate::protocol::{CommandBegan, CommandEvent};
use crate::shell::class::{Assessment, Class};
use crate::shell::output::record::{self, CommandRecord};
use crate::shell::{
    self, CommandRequest, Commands, Exit, Grant, Keeper, OutputReader, SealResult, Shell, ShellCommand, Summary,
};

/// The folder of logs of these commands, in place of a session's.
pub(super) const SESSION: &str = "run";
/// The number of commands whose output is kept.
const LOGS: usize = 200;
/// Bytes of output that wait at most to be printed on, in pieces.
const WAITING: usize = 16;
/// The time after which what may begin a secret is printed in a terminal, where it may be what the person typed.
const QUIET: Duration = Duration::from_millis(50);
/// The command could not be started.
pub(super) const NOT_STARTED: i32 = 126;
/// Its helper failed.
const HELPER_FAILED: i32 = 125;

/// An event while a command runs.
enum RunEvent {
    Printed(Vec<u8>),
    Changed,
}

/// Runs a command; the exit code is its own.
///
/// # Errors
/// When the archive or the output cannot be used.
pub fn run(context: &Context, args: &RunArgs) -> Result<i32> {
    let (archive, memory) = (context.archive()?, context.memory());
    let stores = Stores { workspace: &context.workspace, archive: &archive, memory: &memory };
    let shell = Arc::new(crate::agent::shell(&context.config, &context.workspace, &archive));
    for line in adopt(&shell, stores, Duration::ZERO)?.lines {
        out::complain(line);
    }
    match reconcile(stores) {
        Ok(reconciled) => reconciled.lines.iter().for_each(out::complain),
        Err(error) => out::complain(error),
    }
    let request = request(context, args)?;
    let keeper = match args.keeper.as_deref() {
        _ if args.unkept => Some(Keeper::None),
        Some("guard") => Some(Keeper::Guard),
        Some("scan") => Some(Keeper::Scan),
        _ => None,
    };
    let commands = Commands::new(Arc::clone(&shell), SESSION);
    let Some(RanCommand { command, stopped, printed }) = run_through(context, &commands, &request, keeper, args.json)?
    else {
        return Ok(NOT_STARTED);
    };
    let sealed = seal_changes(&shell, &command, stores);
    sweep(context, &archive);
    if let Some(logs) = shell.logs() {
        // What stays is deleted the next time.
        let _ = record::prune(&logs.join(SESSION), LOGS);
    }
    command.keep_record(sealed.changeset.map(|id| id.to_string()));
    let code = tell(&command, sealed, memory.banner().is_none(), args.json, stopped)?;
    out::unless_unread(printed)?;
    Ok(code)
}

/// Removes what no command needs any more. A signal does not wait for it: what stays is removed the next time.
fn sweep(context: &Context, archive: &Archive) {
    let (archive, (done, swept)) = (archive.clone(), oneshot::channel());
    std::thread::spawn(move || {
        shell::sweep(&archive);
        // Nobody waits any more where a signal came.
        let _ = done.send(());
    });
    context.block_on(async {
        tokio::select! {
            _ = swept => {}
            () = terminal::told_to_end() => {}
        }
    });
}

/// Returns what is asked for.
pub(super) fn request(context: &Context, args: &RunArgs) -> Result<CommandRequest> {
    let text = match args.command.as_slice() {
        [] => anyhow::bail!(UsageError::new("say what to run: nebula run -- CMD…")),
        words => super::text(words),
    };
    let folder = context.folder.strip_prefix(context.workspace.root()).ok();
    let folder = folder.map(|folder| folder.to_string_lossy().into_owned()).filter(|folder| !folder.is_empty());
    let grant = match (args.network, args.read) {
        (true, _) => Grant::Online,
        (false, true) => Grant::Read,
        (false, false) => Grant::Workspace,
    };
    // It is the command's alone: nobody is asked anything here, so that nothing of it is taken for an answer.
    let input = shell::has_input().map_err(|why| {
        UsageError::new(format!("standard input cannot be given to the command: {why}; open it to be only read"))
    })?;
    let consent = Consent::Person;
    Ok(CommandRequest { text, folder, grant, consent, view: None, holds: None, terminal: None, input })
}

/// A command that has ended.
pub(super) struct RanCommand {
    pub command: Arc<ShellCommand>,
    /// It was interrupted.
    pub stopped: bool,
    /// The first error in printing what it printed.
    pub printed: io::Result<()>,
}

/// Runs a command to its end, under the keeper that works here where none is chosen, and prints what it prints; none: it
/// was not started, which was said. One whose output takes
/// no more is no error yet: what it does until its end counts.
pub(super) fn run_through(
    context: &Context,
    commands: &Commands,
    request: &CommandRequest,
    keeper: Option<Keeper>,
    as_json: bool,
) -> Result<Option<RanCommand>> {
    let (events, received) = mpsc::channel(WAITING);
    let unread = Arc::new(AtomicBool::new(false));
    let passes = || -> OutputReader {
        let (printed, is_unread) = (events.clone(), Arc::clone(&unread));
        // The command waits while nobody takes what it prints.
        Box::new(move |bytes| {
            !is_unread.load(Ordering::Relaxed) && printed.blocking_send(RunEvent::Printed(bytes.to_vec())).is_ok()
        })
    };
    // Once it runs, what it makes is there.
    let network = request.grant == Grant::Online;
    let (found, _) = commands.assess(&request.text, request.folder.as_deref(), network);
    let shell = commands.shell();
    let terminal = if as_json { None } else { terminal::open()? };
    let request = &CommandRequest { terminal: terminal.clone(), ..request.clone() };
    let Some(command) = begin(commands, request, &found, keeper, passes) else { return Ok(None) };
    // Where the channel is full, what is in it wakes the reader as well.
    command.running.on_change(move || drop(events.try_send(RunEvent::Changed)));
    let secrets = shell.environment.secrets().to_vec();
    let mut printer = OutputPrinter::new(&command.id, unread, (as_json, terminal.is_some()), secrets);
    if as_json {
        let began = began(found.class.word(), &command, request);
        printer.note(Out::stdout().json(&event_line(&CommandEvent::Began(began))));
    }
    let (stopped, printed) = context.block_on(async {
        let _mode = terminal.as_ref().map(terminal::follow).transpose()?;
        anyhow::Ok(follow(&command, received, printer).await)
    })?;
    commands.end_all();
    Ok(Some(RanCommand { command, stopped, printed }))
}

/// Starts a command, under the keeper that works here where none is chosen; none: it was not started, which was said.
fn begin(
    commands: &Commands,
    request: &CommandRequest,
    found: &Assessment,
    chosen: Option<Keeper>,
    passes: impl Fn() -> OutputReader,
) -> Option<Arc<ShellCommand>> {
    let shell = commands.shell();
    let mut may_try_again = request.view.is_none();
    loop {
        let keeper = chosen.unwrap_or_else(|| shell.keeper());
        say_unprotected(shell, found, keeper);
        if found.needs_network() && request.grant == Grant::Workspace && shell.has_sandbox() {
            out::complain("it needs the network, which `nebula run --network` gives it");
        }
        let only_reads = found.class == Class::Read || request.grant == Grant::Read && shell.has_sandbox();
        let keeper = needed(shell, keeper, only_reads);
        match commands.begin(request, keeper, CommandInfo::default(), Some(passes())) {
            Ok(command) => return Some(command),
            Err(error @ shell::StartError::Unkept(_)) => {
                out::complain(format_args!("{error}. `nebula run --unkept` runs it all the same"));
                return None;
            }
            // What was known of the machine is not so: what works is tried anew.
            Err(error) if error.shows_what_works() && may_try_again => may_try_again = false,
            Err(error) => {
                out::complain(error);
                return None;
            }
        }
    }
}

/// Returns the keeper for a command: what only reads needs nothing kept, so it may run where `scan` cannot.
fn needed(shell: &Shell, keeper: Keeper, only_reads: bool) -> Keeper {
    let is_too_much = keeper == Keeper::Scan && only_reads && shell.cannot_scan().is_some();
    if is_too_much { Keeper::None } else { keeper }
}

/// Says, before a command starts, what nothing keeps it from.
fn say_unprotected(shell: &Shell, found: &Assessment, keeper: Keeper) {
    if found.class == Class::Read {
        return shell.private_unprotected().iter().for_each(out::complain);
    }
    let unprotected = [shell.own_unprotected(keeper), shell.outside_unprotected(keeper)];
    unprotected.iter().flatten().for_each(out::complain);
    if matches!(keeper, Keeper::Guard | Keeper::Scan) {
        shell.excluded(found).iter().for_each(out::complain);
    }
}

/// Returns what is told of a command of the person's that was started.
fn began(class: &'static str, command: &ShellCommand, request: &CommandRequest) -> CommandBegan {
    CommandBegan {
        id: Some(command.id.clone()),
        text: command.text().to_string(),
        class,
        grant: request.grant.word(),
        keeper: command.keeper.word(),
        decision: "allowed",
        by_person: true,
        entry: None,
    }
}

/// Returns the exit code that a command's end is, and says why where it has none of its own.
pub(super) fn exit_code(command: &ShellCommand) -> i32 {
    let progress = command.running.progress();
    match (&progress.failed, &progress.exit) {
        (Some(why), _) => {
            out::complain(why);
            if progress.process.is_none() { NOT_STARTED } else { HELPER_FAILED }
        }
        (None, Some((Exit::Code(code), _))) => *code,
        (None, Some((Exit::Signal(signal), _))) => 128 + signal,
        (None, None) => HELPER_FAILED,
    }
}

/// Archives what the command changed.
fn seal_changes(shell: &shell::Shell, command: &ShellCommand, stores: Stores<'_>) -> SealedCommand {
    let parts = RefCell::new(Vec::new());
    let sealing = |staging: &mut _, not_undone: &[_]| {
        let part = seal(staging, &command.info, not_undone, stores).map_err(|error| error.to_string())?;
        parts.borrow_mut().push(part);
        Ok(())
    };
    if let Err(why) = command.seal(shell, sealing) {
        match command.has_lost_states() {
            true => out::complain(format_args!("what it changed is not archived and cannot be undone: {why}")),
            false => out::complain(format_args!(
                "what it changed is not archived yet: {why}; the next nebula command tries again"
            )),
        }
    }
    let sealed = SealedCommand::of_parts(parts.into_inner());
    sealed.unrecorded.iter().for_each(|error| stores.memory.report(error));
    sealed
}

/// Prints what the command prints until nothing of it runs. Returns whether it was interrupted.
async fn follow(
    command: &ShellCommand,
    mut received: mpsc::Receiver<RunEvent>,
    mut printer: OutputPrinter<'_>,
) -> (bool, io::Result<()>) {
    let mut stopped = false;
    let mut told = 0;
    // One listener for all rounds: a signal that comes between them counts too.
    let mut interrupted = std::pin::pin!(terminal::told_to_end());
    loop {
        let progress = command.running.progress().clone();
        progress.notices.iter().skip(told).for_each(|notice| printer.notice(notice));
        told = progress.notices.len();
        if progress.failed.is_some() || progress.is_answerable() {
            break;
        }
        tokio::select! {
            event = received.recv() => match event {
                Some(RunEvent::Printed(bytes)) => printer.print(&bytes),
                Some(RunEvent::Changed) => {}
                None => break,
            },
            () = tokio::time::sleep(QUIET), if printer.waits_for_more() => printer.show_all(),
            () = &mut interrupted, if !stopped => {
                stopped = true;
                command.running.stop();
            }
        }
    }
    while let Ok(event) = received.try_recv() {
        if let RunEvent::Printed(bytes) = event {
            printer.print(&bytes);
        }
    }
    let finished = printer.finish();
    printer.note(finished);
    (stopped, printer.printed)
}

fn tell(command: &ShellCommand, sealed: SealedCommand, known: bool, as_json: bool, stopped: bool) -> Result<i32> {
    let progress = command.running.progress().clone();
    let code = exit_code(command);
    for (path, why) in command.left_out().iter().chain(&sealed.changes.unread) {
        out::complain(format_args!("not archived: {path} ({why})"));
    }
    if command.keeper == Keeper::Scan && sealed.changeset.is_some() {
        out::complain(shell::SCANNED);
    }
    let summary = &progress.summary;
    summary.meanwhile_words().for_each(out::complain);
    // What a repository gains stays, and is no one's loss.
    summary.derived_words().chain(summary.room_words()).chain(summary.not_archived_words()).for_each(out::complain);
    tell_refused(command, summary, code);
    if let Some(count) = progress.still_run.filter(|_| !stopped) {
        let processes = if count == 1 { "process" } else { "processes" };
        out::complain(format_args!(
            "ended with it: {count} {processes} that it left running; `!` in nebula lets them run on"
        ));
    }
    let SealedCommand { changeset, earlier, changes, .. } = sealed;
    if as_json {
        let result = SealResult { changeset, earlier, changes: changes.changes, unread: changes.unread };
        let end = command_end(command, stopped.then_some(shell::Stopped::Person), &result);
        out::unless_unread(Out::stdout().json(&event_line(&CommandEvent::Ended(end))))?;
    } else {
        if let Some(id) = changeset {
            let files = counted(changes.changes.iter().map(|change| change.entry.path.as_str()));
            let how = match known {
                true => "`nebula undo` undoes it",
                false => {
                    "`nebula undo --force` undoes it; memory is not kept, so nothing tells what others changed since"
                }
            };
            let set = match earlier.len() {
                0 => format!("changeset {id}"),
                n => format!("in {} changesets, the last of them {id}", n + 1),
            };
            out::aside(format_args!("changed {files}, {set}: {how}"));
        }
        if let Some(first) = earlier.first() {
            out::aside(format_args!(
                "what it changed before someone else did is changeset {first}: `nebula at {first} --restore` goes back to before that"
            ));
        }
    }
    Ok(code)
}

/// Says what the sandbox refused, and what would lift that.
fn tell_refused(command: &ShellCommand, summary: &Summary, code: i32) {
    summary.refused_words().for_each(out::complain);
    if summary.is_beyond {
        out::complain(shell::WRITES_FURTHER);
    }
    if let Some(line) = summary.connection_words(code != 0) {
        out::complain(format_args!("{line}: `nebula run --network` lifts it"));
    }
    shell::refused_caches(command, summary).filter(|_| code != 0).iter().for_each(out::complain);
    summary.abstract_words().iter().for_each(out::complain);
}

/// Lists the commands of this project, newest first.
///
/// # Errors
/// When the output cannot be written.
pub fn list(context: &Context, as_json: bool) -> Result<i32> {
    let records = records(context);
    let mut out = Out::stdout();
    if as_json {
        let rows: Vec<_> = records.iter().map(|(record, log)| json!({"log": log, "command": record})).collect();
        out.json(&rows)?;
        return Ok(0);
    }
    for (record, _) in &records {
        let end = record.end().unwrap_or_else(|| "no end seen".into());
        let name = format!("{}/{}", record.session, record.id);
        let text = crate::text::clean::clean_line(&record.command);
        let view = if record.keeper == Keeper::View.word() { "preview: " } else { "" };
        let took = record.took.map(|took| format!("{:.1} s", took as f64 / 1e3)).unwrap_or_default();
        io::Write::write_fmt(
            &mut out,
            format_args!(
                "{name:<16} {}  {end:<11} {took:>8}  {view}{text}\n",
                crate::text::time::local(record.started)
            ),
        )?;
    }
    Ok(0)
}

/// Prints the whole output of a command; `id` is `c7`, or `SESSION/c7` where several have that id.
///
/// # Errors
/// When the output cannot be read or written.
pub fn output(context: &Context, id: &str) -> Result<i32> {
    let records = records(context);
    let is_it = |record: &CommandRecord| record.id == id || format!("{}/{}", record.session, record.id) == id;
    let Some((_, log)) = records.iter().find(|(record, _)| is_it(record)) else {
        out::complain(format_args!("there is no command {id} in this project: `nebula commands` lists them"));
        return Ok(1);
    };
    match std::fs::File::open(log) {
        Ok(mut log) => drop(io::copy(&mut log, &mut Out::stdout())?),
        // It printed nothing.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error.into()),
    }
    Ok(0)
}

fn records(context: &Context) -> Vec<(CommandRecord, std::path::PathBuf)> {
    // The commands of a project that was moved come along with it.
    if context.archive().is_ok_and(|archive| archive.list().is_ok_and(|changesets| !changesets.is_empty())) {
        drop(context.memory());
    }
    let logs = context.config.paths.own("commands");
    logs.map(|logs| record::list(&logs, context.workspace.root())).unwrap_or_default()
}

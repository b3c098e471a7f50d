//! `runCommand`, `commandOutput` and `stopCommand`: a shell, its jobs and their output. The agent runs them, after it
//! has asked.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::base::Run;
use super::{Args, Builtin, MainArgument, RunResult, ToolAliases, ToolKind, ToolOutput};
use crate::shell::output::Output;
use crate::shell::output::record::CommandRecord;
use crate::shell::{self, CommandReport, ShellCommand, Stopped};
use crate::text::number::plural;

/// The tool that runs a command.
pub const RUN: Builtin = Builtin {
    name: "runCommand",
    description: include_str!("runCommand.md"),
    kind: ToolKind::Run,
    of_code: false,
    optional: false,
    verb: ["run", "running", "ran"],
    object: "command",
    main: MainArgument::Quoted("command"),
    aliases: ToolAliases {
        names: &["bash", "shell", "execute_command", "run_terminal_cmd"],
        parameters: &[("command", &["cmd", "commandLine"])],
        ..ToolAliases::NONE
    },
    parameters: run_parameters,
    edits: None,
    run,
};

/// The tool that shows what a command printed.
pub const OUTPUT: Builtin = Builtin {
    name: "commandOutput",
    description: include_str!("commandOutput.md"),
    kind: ToolKind::Output,
    of_code: false,
    optional: false,
    verb: ["read", "reading", "read"],
    object: "output",
    main: MainArgument::Quoted("id"),
    aliases: ToolAliases::NONE,
    parameters: output_parameters,
    edits: None,
    run: output,
};

/// The tool that ends a job.
pub const STOP: Builtin = Builtin {
    name: "stopCommand",
    description: include_str!("stopCommand.md"),
    kind: ToolKind::Run,
    of_code: false,
    optional: false,
    verb: ["stop", "stopping", "stopped"],
    object: "command",
    main: MainArgument::Quoted("id"),
    aliases: ToolAliases::NONE,
    parameters: stop_parameters,
    edits: None,
    run: stop,
};

/// The needs of a command beyond the workspace.
const NETWORK: &str = "network";
/// The longest wait for output, in seconds.
const LONGEST_WAIT: usize = 60;
/// Lines of a command that was stopped.
const LAST: usize = 20;
/// The interval at which a wait looks whether it is to end.
const LOOK: Duration = Duration::from_millis(100);

fn run_parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "command": {"type": "string"},
            "timeoutSeconds": {"type": "integer", "description": "For what takes minutes."},
            "cwd": {"type": "string"},
            "background": {"type": "boolean", "description": "Let it run on."},
            "needs": {"type": "array", "items": {"type": "string", "enum": [NETWORK]}, "description": "`network`: servers beyond this machine."},
            "why": {"type": "string", "description": "One line for the person."}
        },
        "required": ["command"]
    })
}

fn output_parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "id": {"type": "string", "description": "As in `c7`."},
            "startLine": {"type": "integer"},
            "endLine": {"type": "integer"},
            "search": {"type": "string"},
            "waitSeconds": {"type": "integer"}
        },
        "required": ["id"]
    })
}

fn stop_parameters() -> Value {
    super::base::texts(&[("id", "")])
}

fn run(args: &Args, run: &Run) -> Result<RunResult, String> {
    let text = args.text("command")?;
    shell::check_text(text)?;
    let settings = &run.context.commands.shell().settings;
    let seconds = args.number("timeoutSeconds")?.map_or(settings.timeout.min(settings.max_timeout), |s| s as u64);
    if seconds > settings.max_timeout {
        return Err(format!("`timeoutSeconds` must be at most {}, but is {seconds}", settings.max_timeout));
    }
    Ok(RunResult::Command(super::CommandCall {
        text: text.to_string(),
        folder: args.maybe_text("cwd")?.map(str::trim).filter(|folder| !folder.is_empty()).map(str::to_string),
        limit: Duration::from_secs(seconds),
        background: args.flag("background")?,
        network: needs_network(args)?,
        why: args.maybe_text("why")?.map(str::to_string),
    }))
}

/// Returns whether a call asks for the network; some models write the word alone.
fn needs_network(args: &Args) -> Result<bool, String> {
    let words: Vec<&str> = match args.value("needs") {
        None | Some(Value::Null) => return Ok(false),
        Some(Value::String(word)) if word.is_empty() => return Ok(false),
        Some(Value::String(word)) => vec![word],
        Some(Value::Array(list)) => list.iter().map(|word| word.as_str().unwrap_or_default()).collect(),
        Some(_) => vec![""],
    };
    match words.iter().find(|word| **word != NETWORK) {
        Some(_) => Err(format!("`needs` must be a list of \"{NETWORK}\"")),
        None => Ok(!words.is_empty()),
    }
}

/// A command of the session.
enum Found {
    Own(Arc<ShellCommand>),
    /// An earlier nebula ran it.
    Earlier(CommandRecord, PathBuf),
}

fn find(args: &Args, run: &Run) -> Result<Found, String> {
    let id = args.text("id")?.trim();
    let commands = &run.context.commands;
    if let Some(command) = commands.find(id) {
        return Ok(Found::Own(command));
    }
    if let Some((record, log)) = commands.earlier(id) {
        return Ok(Found::Earlier(record, log));
    }
    let known = commands.ids();
    Err(match known.is_empty() {
        true => format!("there is no command {id}: none was run in this session"),
        false => format!("there is no command {id}; there are: {}", known.join(", ")),
    })
}

/// The lines that are asked for.
struct Wanted<'a> {
    first: Option<usize>,
    last: Option<usize>,
    search: Option<&'a str>,
}

impl Wanted<'_> {
    /// Returns whether any are named.
    fn is_chosen(&self) -> bool {
        self.first.is_some() || self.last.is_some() || self.search.is_some()
    }

    /// Returns those lines of a log, each with its number; `count`: the lines there are.
    fn of_log(&self, log: &Path, count: usize) -> Result<String, String> {
        let last = self.last.unwrap_or(usize::MAX);
        let found = shell::output::lines_of(log, self.first.unwrap_or(1), last, self.search);
        let found = found.map_err(|error| error.to_string())?;
        let lines: Vec<String> = found.iter().map(|(number, line)| format!("{number}\t{line}")).collect();
        Ok(match found.last() {
            None => "(no such line)\n".to_string(),
            Some((end, _)) if *end < last.min(count) && self.search.is_none() => {
                format!("{}\n(more: startLine {})\n", lines.join("\n"), end + 1)
            }
            Some(_) => lines.join("\n") + "\n",
        })
    }
}

/// Returns the output of a command that an earlier nebula ran.
fn earlier_output(record: &CommandRecord, log: &Path, wanted: &Wanted) -> Result<RunResult, String> {
    let output = Output::of_log(log).map_err(|error| error.to_string())?;
    let text = match wanted.is_chosen() {
        true => wanted.of_log(log, output.line_count())?,
        false => output.for_model(&record.id),
    };
    let end = record.ending();
    let text = format!("{end} · {}\n{text}", record.id);
    Ok(RunResult::Output(ToolOutput { text, summary: plural(output.line_count(), "line"), ..ToolOutput::default() }))
}

fn output(args: &Args, run: &Run) -> Result<RunResult, String> {
    let found = find(args, run)?;
    let (first, last) = (args.number("startLine")?, args.number("endLine")?);
    let wanted = Wanted { first, last, search: args.maybe_text("search")? };
    // 0 is the same as nothing, and the smallest that a model writes.
    let wait = args.number("waitSeconds").ok().flatten().unwrap_or(0);
    if wait > LONGEST_WAIT {
        return Err(format!("`waitSeconds` must be at most {LONGEST_WAIT}, but is {wait}"));
    }
    let command = match found {
        Found::Own(command) => command,
        Found::Earlier(record, log) => return earlier_output(&record, &log, &wanted),
    };
    wait_for_more(&command, Duration::from_secs(wait as u64), run);
    let report = CommandReport::new(&command, None, &shell::SealResult::default(), None);
    let text = match &command.log {
        Some(log) if wanted.is_chosen() => {
            command.running.output().flush();
            let count = command.running.output().line_count();
            wanted.of_log(log, count)?
        }
        _ => command.running.output().for_model(&command.id),
    };
    if command.running.progress().is_over() {
        command.mark_reported();
        command.keep_record(None);
    }
    let summary = plural(command.running.output().line_count(), "line");
    Ok(RunResult::Output(ToolOutput { text: report.text(&text), summary, ..ToolOutput::default() }))
}

/// Waits for new output or the end.
fn wait_for_more(command: &ShellCommand, patience: Duration, run: &Run) {
    let (begun, bytes) = (Instant::now(), command.running.output().byte_count());
    while begun.elapsed() < patience && !run.stop.is_cancelled() {
        let more = command.running.output().byte_count() > bytes;
        if more || command.running.wait(Some(Instant::now() + LOOK), shell::CommandProgress::is_over) {
            return;
        }
    }
}

fn stop(args: &Args, run: &Run) -> Result<RunResult, String> {
    let command = match find(args, run)? {
        Found::Own(command) => command,
        Found::Earlier(record, _) => {
            let end = record.ending();
            return Err(format!("{} is over: {end}; an earlier nebula ran it", record.id));
        }
    };
    if command.running.progress().is_over() {
        return Err(format!(
            "{} is over: {}",
            command.id,
            CommandReport::new(&command, None, &shell::SealResult::default(), None).line
        ));
    }
    command.running.stop();
    let patience = Instant::now() + Duration::from_secs(5);
    command.running.wait(Some(patience), shell::CommandProgress::is_over);
    command.mark_reported();
    let report = CommandReport::new(&command, Some(Stopped::Model), &shell::SealResult::default(), None);
    // Nebula may end before the job's own end is told.
    command.keep_record(None);
    let last = command.running.output().last(LAST).join("\n") + "\n";
    Ok(RunResult::Output(ToolOutput { text: report.text(&last), summary: "stopped".into(), ..ToolOutput::default() }))
}

//! The command line: its arguments, and the commands that need no screen.

mod args;
mod chat;
#[cfg(all(feature = "strand", feature = "code"))]
mod code;
mod commit;
mod context;
mod demo;
pub mod diff;
pub mod files;
mod guide;
mod hook;
pub mod out;
mod parse;
mod print;
mod rag;
mod served;
mod sessions;
mod settings;
mod shell;
#[cfg(feature = "strand")]
mod strand;
mod task;
mod unsaved;

use std::io::{self, Read};

use anyhow::{Context as _, Result, bail};

pub use args::{Cli, Cmd, Global};
pub use context::Context;
pub use demo::{PROMPT as TOUR_PROMPT, Tour};
pub use parse::parse;
pub use print::{USAGE, UsageError, report};
#[cfg(feature = "strand")]
pub use strand::strand;
pub use unsaved::complain_of_unsaved;

use out::Out;

use crate::agent;
use crate::memory;
use crate::protocol::SessionChoice;
use crate::provider::Recorder;
use settings::KeyFaults;

/// Runs a command that needs no screen. Returns the exit code. `key_faults`: the screen knows them.
///
/// # Errors
/// When the command fails, as one line for standard error.
pub fn run(command: Cmd, global: Global, key_faults: KeyFaults) -> Result<i32> {
    let approval = match &command {
        Cmd::Task(args) => args.approve.clone(),
        _ => None,
    };
    if let Cmd::Completions { shell } = command {
        settings::completions(shell)?;
        return Ok(0);
    }
    if let Cmd::Guide { topic } = command {
        guide::run(topic.as_deref())?;
        return Ok(0);
    }
    #[cfg(feature = "strand")]
    if let Cmd::Strand { args } = command {
        return Ok(i32::from(strand(std::iter::once("strand".into()).chain(args))));
    }
    if let Cmd::Mcp { what: args::McpCmd::Serve(args) } = command {
        return Ok(served::serve(args, global));
    }
    if let Cmd::Files(files::FilesCmd::Shi { hook: true, after, .. }) = command {
        hook::run(after, global);
        return Ok(0);
    }
    let mut context = match command {
        Cmd::Chat(_) => Context::new(global, approval)?,
        _ => Context::for_one(global, approval)?,
    };
    // A session tells them itself.
    if !matches!(command, Cmd::Doctor(_) | Cmd::Task(_) | Cmd::Chat(_)) {
        context.config.warnings.iter().for_each(out::complain);
    }
    if let Cmd::Task(_) | Cmd::Chat(_) | Cmd::Model(args::ModelArgs { name: None, .. }) | Cmd::Commit(_) = command {
        context.ask_for_key()?;
    }
    let ended = run_command(&mut context, command, key_faults);
    if let Some(damage) = ended.as_ref().err().and_then(|e| e.downcast_ref::<memory::Error>())
        && damage.trouble() == Some(memory::Trouble::Corrupt)
    {
        // Read whole, and moved aside if it is damaged, which is reported.
        context.memory().suspect(damage);
        drop(context.memory());
    }
    ended
}

fn run_command(context: &mut Context, command: Cmd, key_faults: KeyFaults) -> Result<i32> {
    context.config.paths.sweep();
    match command {
        Cmd::Task(args) => run_task(context, args),
        Cmd::Chat(args) => run_chat(context, &args.prompt.join(" ")),
        Cmd::Sessions { what } => sessions::run(context, what),
        Cmd::Model(args) => settings::model(context, &args),
        Cmd::Config { what } => settings::config(context, what),
        Cmd::Rag { what } => rag::run(context, what),
        Cmd::Commit(args) => commit::run(context, &args),
        Cmd::Doctor(args) if args.last => settings::last_request(context, args.json),
        Cmd::Doctor(args) => settings::doctor(context, args.json, key_faults),
        Cmd::Stats(args) => settings::stats(context, args.json),
        Cmd::Usage(args) => settings::usage(&*context, &args),
        Cmd::Files(command) => run_files(context, &command),
        Cmd::Run(args) if args.preview => shell::preview(context, &args),
        Cmd::Run(args) => shell::run(context, &args),
        Cmd::Commands(args) => shell::list(context, args.json),
        Cmd::Output { id } => shell::output(context, &id),
        Cmd::Rules { what } => shell::check(context, &what),
        #[cfg(feature = "strand")]
        Cmd::Strand { .. } => Ok(0),
        Cmd::Demo | Cmd::Completions { .. } | Cmd::Guide { .. } | Cmd::Mcp { .. } => Ok(0),
    }
}

fn run_files(context: &Context, command: &files::FilesCmd) -> Result<i32> {
    let (archive, memory) = (context.archive()?, context.memory());
    let mut input = io::stdin().lock();
    let mut commands = files::ArchiveCommands {
        workspace: &context.workspace,
        archive: &archive,
        memory: &memory,
        folder: context.folder.clone(),
        commands: context.config.paths.own("commands"),
        max_size: context.config.archive_max_size,
        format: context.global.format.clone(),
        session: context.global.resume.clone().filter(|id| !id.is_empty()),
        can_ask: out::at_terminal(),
        input: &mut input,
        out: Out::stdout(),
        err: Out::stderr(),
    };
    Ok(i32::from(commands.run(command)?))
}

/// Talks line by line.
///
/// # Errors
/// When the agent cannot be started, or standard output takes no more.
pub fn run_chat(context: &Context, prompt: &str) -> Result<i32> {
    context.choose_language();
    let parts = context.parts()?;
    let session = context.session().unwrap_or(SessionChoice::New);
    let first = Some(prompt.trim().to_string()).filter(|text| !text.is_empty());
    let (code, session, end) = context.block_on(async { chat::run(agent::spawn(parts), session, first).await })?;
    if let Some(id) = session.filter(|id| out::at_terminal() && end.has_stored(id)) {
        say_resume(context, &id);
    }
    Ok(code)
}

/// Says how a session is resumed, which is stored.
pub fn say_resume(context: &Context, id: &str) {
    // The terminal may be gone.
    let _ = out::say(format_args!("{}", crate::messages::app::resume_with(&context.short_session(id))));
}

/// Says how many changes wait to be reviewed, where any does.
pub fn say_unreviewed(count: usize) {
    if count > 0 {
        let _ = out::say(format_args!("{}: nebula review", crate::messages::review::open(count)));
    }
}

fn run_task(context: &Context, args: args::TaskArgs) -> Result<i32> {
    let mut prompt = args.prompt.join(" ");
    if prompt == "-" {
        prompt.clear();
        io::stdin().read_to_string(&mut prompt).context("the prompt cannot be read from standard input")?;
    }
    if prompt.trim().is_empty() {
        out::complain("the prompt is empty: say what to do");
        return Ok(USAGE.into());
    }
    if args.expect_change && context.global.mode.as_deref() == Some("plan") {
        bail!(UsageError::new(
            "--expect-change asks for a change, and --mode plan changes nothing: leave one of them out"
        ));
    }
    let ask = context.config.approval == "ask" && out::at_terminal();
    if context.global.resume.as_deref() == Some("") {
        bail!(UsageError::new(
            "--resume needs the beginning of a session's id here: `nebula sessions list` shows them"
        ));
    }
    if let Some(path) = &context.global.record {
        Recorder::check(path).map_err(|e| anyhow::anyhow!("{e}. {}", e.hint))?;
    }
    let parts = agent::AgentParts { expect_change: args.expect_change, unattended: !ask, ..context.parts()? };
    let unattended = parts.config.approval == "ask" && !ask;
    let session = context.session().unwrap_or(SessionChoice::New);
    let exit = context.block_on(async {
        let handle = agent::spawn(parts);
        task::run(handle, task::Task { prompt, json: args.json, expect_change: args.expect_change, session, ask }).await
    })?;
    if unattended && exit == task::TaskExit::Refused {
        out::complain(
            "without a terminal nobody can approve what was refused; `--approve edits` accepts edits, `--approve review` also commands that can be undone",
        );
    }
    Ok(exit as i32)
}

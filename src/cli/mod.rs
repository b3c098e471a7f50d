//! The command line: what can be typed, and the commands that need no screen.

mod args;
mod commit;
mod connect;
mod demo;
pub mod diff;
pub mod files;
pub mod out;
mod parse;
mod print;
mod rag;
mod sessions;
mod settings;
mod task;

use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};

pub use args::{Cli, Cmd, Global};
pub use demo::{PROMPT as TOUR_PROMPT, Tour};
pub use parse::parse;

use out::Out;

use crate::agent::{self, Parts};
use crate::archive::Archive;
use crate::config::{self, Config, Env, Flags, PROVIDERS, Paths};
use crate::memory::{self, Memory};
use crate::protocol::{Mode, SessionChoice};
use crate::provider::{Provider, Recorder, Replay};
use crate::workspace::Workspace;

/// The exit code for what cannot be meant.
pub const USAGE: u8 = 2;

/// What was typed cannot be meant: exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(String);

/// Prints an error in one line and returns its exit code.
pub fn report(error: &anyhow::Error) -> u8 {
    if print::is_broken_pipe(error) {
        return 0;
    }
    out::complain(print::one_line(error));
    if error.is::<Usage>() { USAGE } else { 1 }
}

/// What every command works with.
pub struct Context {
    /// The configuration with environment and flags.
    pub config: Config,
    /// The folder the agent may touch.
    pub workspace: Workspace,
    /// The flags that go with every command.
    pub global: Global,
    /// The shell's current folder.
    pub folder: PathBuf,
    runtime: tokio::runtime::Runtime,
}

impl Context {
    /// Finds the workspace and reads the configuration. Opens nothing else.
    ///
    /// # Errors
    /// When there is no usable folder.
    pub fn new(global: Global, approval: Option<String>) -> Result<Self> {
        let env = Env::capture();
        let paths = Paths::from_env(&env);
        let folder = std::env::current_dir().context("the current folder is gone: change to another one")?;
        let mut workspace = match &global.workspace {
            Some(dir) => Workspace::open(dir)?,
            None => Workspace::find(&folder, paths.home())?,
        };
        if let Some(own) = paths.folder() {
            workspace = workspace.protect(own);
        }
        let flags = Flags {
            provider: global.provider.clone(),
            model: global.model.clone(),
            edit_format: global.format.clone(),
            approval,
            max_steps: global.max_steps,
        };
        let config = Config::load(paths, env, flags, Some(workspace.root()));
        if let Some(name) = &global.provider
            && !PROVIDERS.contains(&name.as_str())
            && !config.providers.contains_key(name)
        {
            let known = PROVIDERS.iter().copied().chain(config.providers.keys().map(String::as_str));
            let known = known.collect::<Vec<_>>().join(", ");
            bail!(Usage(format!("there is no provider {name}: there are {known}; set providers.{name} to add it")));
        }
        if let Some(folder) = &config.archive_dir {
            let folder = workspace.root().join(folder);
            workspace = workspace.protect(&folder);
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .context("cannot start threads")?;
        Ok(Context { config, workspace, global, folder, runtime })
    }

    /// Runs a future to its end.
    pub fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    /// The memory of all sessions; says on standard error what is wrong with it.
    pub fn memory(&self) -> Memory {
        // Also while it is being opened and later: whoever waits for another program is told so.
        let (memory, notices) = Memory::open_telling(self.memory_options(), Box::new(out::complain));
        for notice in notices {
            out::complain(notice);
        }
        memory
    }

    /// The memory of all sessions, for a command that is about what is in it.
    ///
    /// # Errors
    /// When nothing of it can be read.
    pub fn readable_memory(&self) -> Result<Memory, memory::Error> {
        let (memory, notices) = Memory::open_telling(self.memory_options(), Box::new(out::complain));
        memory.readable()?;
        notices.iter().for_each(out::complain);
        Ok(memory)
    }

    fn memory_options(&self) -> memory::Options {
        self.config.paths.folder().map_or_else(memory::Options::nowhere, memory::Options::in_folder)
    }

    /// The workspace's archive.
    ///
    /// # Errors
    /// When it cannot be used.
    pub fn archive(&self) -> Result<Archive> {
        Ok(agent::open_archive(&self.config, &self.workspace)?)
    }

    /// The workspace's root, as memory names projects.
    pub fn project(&self) -> String {
        self.workspace.root().to_string_lossy().into_owned()
    }

    /// What an agent for this workspace is made of.
    ///
    /// # Errors
    /// When a recording that was named cannot be played.
    pub fn parts(&self) -> Result<Parts> {
        let provider: Option<Arc<dyn Provider>> = match &self.global.replay {
            Some(path) => Some(Arc::new(Replay::open(path).map_err(|e| anyhow::anyhow!("{e}. {}", e.hint))?)),
            None => None,
        };
        let mode = if self.global.mode.as_deref() == Some("plan") { Mode::Plan } else { Mode::Agent };
        Ok(Parts {
            config: self.config.clone(),
            workspace: self.workspace.clone(),
            archive: self.archive()?,
            provider,
            record: self.global.record.clone(),
            mode,
        })
    }

    /// Asks the person, once, whether a key may go where this folder's configuration wants it. Without a terminal nothing is
    /// asked, and the key stays.
    ///
    /// # Errors
    /// When the answer cannot be read or kept.
    pub fn ask_for_key(&mut self) -> Result<()> {
        let Some(key_use) = self.config.connection().withheld else { return Ok(()) };
        if self.global.replay.is_some() || !out::at_terminal() {
            return Ok(());
        }
        let config::KeyUse { variable, server } = &key_use;
        out::complain(format_args!("this folder's configuration asks for {variable} to be sent to {server}"));
        let answer = out::read_line("send it there from now on? [y/N] ")?;
        if matches!(answer.trim().to_lowercase().as_str(), "y" | "yes") {
            self.config.agree(&key_use).map_err(|e| anyhow::anyhow!("{}. {}", e.message, e.hint))?;
        }
        Ok(())
    }

    /// The session that flags ask for; none where they do not say.
    pub fn session(&self) -> Option<SessionChoice> {
        match (&self.global.resume, self.global.go_on) {
            (Some(id), _) if !id.is_empty() => Some(SessionChoice::Resume(id.clone())),
            (_, true) => Some(SessionChoice::Continue),
            _ => None,
        }
    }
}

/// Runs a command that needs no screen; the exit code.
///
/// # Errors
/// What went wrong, for one line on standard error.
pub fn run(command: Cmd, global: Global) -> Result<i32> {
    let approval = match &command {
        Cmd::Task(args) => args.approve.clone(),
        _ => None,
    };
    if let Cmd::Completions { shell } = command {
        settings::completions(shell)?;
        return Ok(0);
    }
    #[cfg(feature = "strand")]
    if let Cmd::Strand { args } = command {
        return Ok(i32::from(crate::strand::cli::main(std::iter::once("strand".into()).chain(args))));
    }
    let mut context = Context::new(global, approval)?;
    if !matches!(command, Cmd::Doctor(_)) {
        context.config.warnings.iter().for_each(out::complain);
    }
    if let Cmd::Task(_) | Cmd::Model(args::ModelArgs { name: None, .. }) | Cmd::Commit(_) = command {
        context.ask_for_key()?;
    }
    let ended = run_command(&mut context, command);
    if let Some(damage) = ended.as_ref().err().and_then(|e| e.downcast_ref::<memory::Error>())
        && damage.trouble() == Some(memory::Trouble::Corrupt)
    {
        // Read whole, and moved aside if it is damaged, which is told.
        context.memory().suspect(damage);
        drop(context.memory());
    }
    ended
}

fn run_command(context: &mut Context, command: Cmd) -> Result<i32> {
    match command {
        Cmd::Task(args) => run_task(context, args),
        Cmd::Sessions { what } => sessions::run(context, what),
        Cmd::Model(args) => settings::model(context, &args),
        Cmd::Config { what } => settings::config(context, what),
        Cmd::Rag { what } => rag::run(context, what),
        Cmd::Commit(args) => commit::run(context, &args),
        Cmd::Doctor(args) => settings::doctor(context, args.json),
        Cmd::Stats(args) => settings::stats(context, args.json),
        Cmd::Files(command) => run_files(context, &command),
        #[cfg(feature = "strand")]
        Cmd::Strand { .. } => Ok(0),
        Cmd::Demo | Cmd::Completions { .. } => Ok(0),
    }
}

fn run_files(context: &Context, command: &files::FilesCmd) -> Result<i32> {
    let (archive, memory) = (context.archive()?, context.memory());
    let mut input = io::stdin().lock();
    let mut desk = files::Desk {
        workspace: &context.workspace,
        archive: &archive,
        memory: &memory,
        folder: context.folder.clone(),
        max_size: context.config.archive_max_size,
        format: context.global.format.clone(),
        session: context.global.resume.clone().filter(|id| !id.is_empty()),
        can_ask: out::at_terminal(),
        input: &mut input,
        out: Out::stdout(),
        err: Out::stderr(),
    };
    Ok(i32::from(desk.run(command)?))
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
    let ask = context.config.approval == "ask" && out::at_terminal();
    if args.approve.as_deref() == Some("ask") && !ask {
        bail!(Usage("--approve ask needs a terminal: use --approve edits or none".into()));
    }
    if context.global.resume.as_deref() == Some("") {
        bail!(Usage("--resume needs the beginning of a session's id here: `nebula sessions list` shows them".into()));
    }
    if let Some(path) = &context.global.record {
        Recorder::check(path).map_err(|e| anyhow::anyhow!("{e}. {}", e.hint))?;
    }
    let mut parts = context.parts()?;
    let unattended = parts.config.approval == "ask" && !ask;
    if unattended {
        parts.config.approval = "none".into();
    }
    let session = context.session().unwrap_or(SessionChoice::New);
    let exit = context.block_on(async {
        let handle = agent::spawn(parts);
        task::run(handle, task::Task { prompt, json: args.json, session, ask }).await
    })?;
    if unattended && exit == task::Exit::Refused {
        out::complain("edits were refused: without a terminal nobody can approve them; `--approve edits` accepts them");
    }
    Ok(exit as i32)
}

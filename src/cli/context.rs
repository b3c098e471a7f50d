//! The context of every command: workspace, configuration, flags, and what follows from them: memory, archive, a model.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use anyhow::{Context as _, Result, bail};
use tokio::runtime::{Builder, Runtime};

use super::args::Global;
use super::out;
use super::print::UsageError;
use crate::agent::background::moved::follow;
use crate::agent::{self, AgentParts};
use crate::archive::Archive;
use crate::config::{self, Config, Flags, Paths, Variables};
use crate::execute::Stores;
use crate::memory::{self, DatabaseNotice, Memory};
use crate::messages::{self, Language};
use crate::protocol::{Mode, SessionChoice};
use crate::provider::{self, ErrorKind, Provider, Replay};
use crate::text::clean;
use crate::tools::of_store;
use crate::workspace::Workspace;

/// The characters of a session's id that stand for its time, with the mark between them.
const SHORTEST: usize = 13;

/// The context of every command.
pub struct Context {
    /// The configuration with environment and flags.
    pub config: Config,
    /// The folder the agent may touch.
    pub workspace: Workspace,
    /// The flags that go with every command.
    pub global: Global,
    /// The shell's current folder.
    pub folder: PathBuf,
    threads: Threads,
}

/// The threads of the program. Its end does not wait for what still blocks one of them, such as a disk that does not
/// answer.
#[derive(Default)]
struct Threads(OnceLock<Runtime>);

impl Threads {
    fn start(workers: usize) -> io::Result<Runtime> {
        Builder::new_multi_thread().worker_threads(workers).enable_all().build()
    }

    /// Returns them; of a command that was to need none they begin now.
    fn running(&self) -> &Runtime {
        self.0.get_or_init(|| {
            Threads::start(1).unwrap_or_else(|error| {
                out::complain(format_args!("cannot start threads: {error}"));
                std::process::exit(1)
            })
        })
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

impl Context {
    /// Finds the workspace and reads the configuration, for a front end in which several sessions run side by side. Opens
    /// nothing else.
    ///
    /// # Errors
    /// When there is no usable folder.
    pub fn new(global: Global, approval: Option<String>) -> Result<Self> {
        Context::of_files(global, approval)?.with_workers(2)
    }

    /// Does the same for a command that does one thing: one thread waits for all of it, and none has to wake another.
    ///
    /// # Errors
    /// As [`Context::new`].
    pub fn for_one(global: Global, approval: Option<String>) -> Result<Self> {
        Context::of_files(global, approval)?.with_workers(1)
    }

    fn with_workers(self, workers: usize) -> Result<Self> {
        let threads = Threads(OnceLock::from(Threads::start(workers).context("cannot start threads")?));
        Ok(Context { threads, ..self })
    }

    /// Does the same for a command that is about files alone: it starts no thread.
    ///
    /// # Errors
    /// As [`Context::new`].
    pub fn of_files(global: Global, approval: Option<String>) -> Result<Self> {
        let env = Variables::capture();
        let paths = Paths::of_process(&env);
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
            effort: global.effort.clone(),
            budget: global.budget,
        };
        let config = Config::load(paths, env, flags, Some(workspace.root()));
        if let Some(why) = config.unknown_provider().filter(|_| global.provider.is_some()) {
            bail!(UsageError::new(why));
        }
        if let Some(folder) = &config.archive_dir {
            let folder = workspace.root().join(folder);
            workspace = workspace.protect(&folder);
        }
        let workspace = agent::with_folders(workspace, &config);
        Ok(Context { config, workspace, global, folder, threads: Threads::default() })
    }

    /// Sets the language of what the screen and `nebula chat` say; all else is English.
    pub fn choose_language(&self) {
        let set = self.config.language.as_deref();
        let variable = |name: &str| std::env::var(name).ok();
        messages::set(Language::choose(set, variable));
        if !messages::is_utf8(variable) {
            clean::use_ascii();
        }
    }

    /// Runs a future to its end.
    pub fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.threads.running().block_on(future)
    }

    /// Starts tasks on the threads of the program: whatever `start` spawns runs there.
    pub fn on_threads<T>(&self, start: impl FnOnce() -> T) -> T {
        let _threads = self.threads.running().enter();
        start()
    }

    /// Runs a future to its end on this thread alone: its timers wake no other.
    ///
    /// # Errors
    /// When the system refuses what it takes to wait.
    pub fn block_here<T>(&self, future: impl Future<Output = T>) -> Result<T> {
        let own = Builder::new_current_thread().enable_all().build().context("cannot wait")?;
        Ok(own.block_on(future))
    }

    /// Returns the memory of all sessions, which knows the project by its path; says on standard error what is wrong with it.
    pub fn memory(&self) -> Memory {
        // Also while it is being opened and later: the person is notified of waiting for another program.
        let (memory, notices) = Memory::open_telling(self.memory_options(), complaining());
        for notice in notices {
            out::complain(notice);
        }
        self.follow(&memory);
        memory
    }

    /// Lets memory know this project by the path that it has now.
    fn follow(&self, memory: &Memory) {
        let Ok(archive) = self.archive() else { return };
        let stores = Stores { workspace: &self.workspace, archive: &archive, memory };
        // What cannot be read or written is said by whatever needs it.
        if let Ok(Some(line)) = follow(stores, self.config.paths.own("commands").as_deref()) {
            out::complain(line);
        }
    }

    /// Returns the memory of all sessions, for a command that is about what is in it.
    ///
    /// # Errors
    /// When nothing of it can be read.
    pub fn readable_memory(&self) -> Result<Memory, memory::Error> {
        let (memory, notices) = Memory::open_telling(self.memory_options(), complaining());
        memory.readable()?;
        notices.iter().for_each(out::complain);
        self.follow(&memory);
        Ok(memory)
    }

    pub(super) fn memory_options(&self) -> memory::Options {
        self.config.paths.folder().map_or_else(memory::Options::nowhere, memory::Options::in_folder)
    }

    /// Returns the shortest beginning of a session's id that names it alone here.
    pub fn short_session<'i>(&self, id: &'i str) -> &'i str {
        let (memory, _) = Memory::open(self.memory_options());
        let project = self.project();
        let names_it = |short: &&str| memory.find(&project, short).is_ok_and(|found| found == id);
        // An id begins with the time: what is shorter than all of it names later sessions too.
        (SHORTEST.min(id.len())..id.len()).filter_map(|end| id.get(..end)).find(names_it).unwrap_or(id)
    }

    /// Returns the workspace's archive.
    ///
    /// # Errors
    /// When it cannot be used.
    pub fn archive(&self) -> Result<Archive> {
        Ok(agent::open_archive(&self.config, &self.workspace)?)
    }

    /// Returns the workspace's root, as memory names projects.
    pub fn project(&self) -> String {
        self.workspace.root().to_string_lossy().into_owned()
    }

    /// Returns what an agent for this workspace is made of.
    ///
    /// # Errors
    /// When a recording that was named cannot be played.
    pub fn parts(&self) -> Result<AgentParts> {
        let provider: Option<Arc<dyn Provider>> = match &self.global.replay {
            Some(path) => Some(Arc::new(Replay::open(path).map_err(|e| anyhow::anyhow!("{e}. {}", e.hint))?)),
            None => None,
        };
        let mode = self.global.mode.as_deref().map(|word| if word == "plan" { Mode::Plan } else { Mode::Agent });
        Ok(AgentParts {
            config: self.config.clone(),
            workspace: self.workspace.clone(),
            archive: self.archive()?,
            provider,
            tools: if self.config.code_ops == "off" { Vec::new() } else { of_store(self.workspace.root()) },
            record: self.global.record.clone(),
            mode,
            expect_change: false,
            unattended: false,
        })
    }

    /// Asks the person, once, whether a key may go where this folder's configuration wants it. Without a terminal
    /// nothing is asked, and the key stays.
    ///
    /// # Errors
    /// When the answer cannot be read or kept.
    pub fn ask_for_key(&mut self) -> Result<()> {
        let Some(key_use) = self.config.connection().withheld else { return Ok(()) };
        if self.global.replay.is_some() || !out::at_terminal() {
            return Ok(());
        }
        let config::KeyUse { variable, server } = &key_use;
        out::complain(format_args!("this folder's configuration wants {variable} sent to {server}"));
        let answer = out::read_line("send it there from now on? [y/N] ")?;
        if matches!(answer.trim().to_lowercase().as_str(), "y" | "yes") {
            self.config.agree(&key_use).map_err(|e| anyhow::anyhow!("{}. {}", e.message, e.hint))?;
        }
        Ok(())
    }

    /// Returns the session that flags ask for; none where they do not say.
    pub fn session(&self) -> Option<SessionChoice> {
        match (&self.global.resume, self.global.go_on) {
            (Some(id), _) if !id.is_empty() => Some(SessionChoice::Resume(id.clone())),
            (_, true) => Some(SessionChoice::Continue),
            _ => None,
        }
    }

    /// Connects to the configured provider; without a key for its own address, to a server on this computer.
    ///
    /// # Errors
    /// When neither can be used.
    pub fn connect(&self) -> Result<Connected, provider::Error> {
        let connection = self.config.connection();
        let usual = self.config.model.clone();
        let provider = match provider::connect(&connection) {
            Err(e) if e.kind == ErrorKind::NoKey && !connection.custom_url => {
                let found = self.block_on(provider::find(self.config.ollama_host().as_deref()));
                let empty = provider::without_model(&found);
                let (server, model) = provider::choose(found, &usual).ok_or_else(|| empty.unwrap_or(e))?;
                return Ok(Connected { provider: provider::connect(&server.connection())?, model });
            }
            configured => configured?,
        };
        // A server on this computer hardly has the model that is meant for the one in the cloud.
        let model = match provider::is_local(&connection) && !self.config.model_is_chosen() {
            true => {
                let listed = self.block_on(provider.models());
                let answers = listed.is_ok();
                let offered = self.block_on(provider::writers(&*provider, listed.unwrap_or_default()));
                if let Some(error) = provider::lacks_models(&*provider, &offered).filter(|_| answers) {
                    return Err(error);
                }
                provider::begin_with(&offered, self.config.named_model().unwrap_or(&usual)).cloned().unwrap_or(usual)
            }
            false => usual,
        };
        Ok(Connected { provider, model })
    }
}

/// Returns the listener that says on standard error what happens to memory; an error that comes again is said once.
fn complaining() -> memory::Listener {
    let last = Mutex::new(None);
    Box::new(move |notice| {
        let again = last.lock().unwrap_or_else(PoisonError::into_inner).replace(notice.clone());
        if again.as_ref() != Some(&notice) || !matches!(notice, DatabaseNotice::Failed { .. }) {
            out::complain(notice);
        }
    })
}

/// A connected provider, and the model to use.
pub struct Connected {
    /// The provider.
    pub provider: Arc<dyn Provider>,
    /// The model.
    pub model: String,
}

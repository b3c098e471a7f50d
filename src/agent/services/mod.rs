//! The parts that every session works with: the workspace, its archive, memory, the configuration, the connected model.
//! They live as long as the process and do not know of sessions; what concerns them goes to the supervisor as a
//! [`ServiceReport`].

pub mod changesets;
pub mod config_files;
pub mod connect;
pub mod events;
pub mod file_index;
pub mod last_request;
pub mod learnt_windows;
mod locked;
pub mod model_facts;
pub mod models;
pub mod news;
mod shell;
pub mod target;
pub mod watched;

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::agent::background::graph_reads::GraphReads;
use crate::agent::services::config_files::ConfigFiles;
use crate::agent::services::events::Events;
pub use crate::agent::services::locked::lock;
use crate::agent::services::models::ModelAccess;
use crate::agent::services::news::ChangesetNews;
pub use crate::agent::services::shell::{check_rules, command_rules, shell, with_folders};
use crate::agent::services::watched::WatchedFiles;
use crate::archive::{self, Archive};
use crate::config::{Config, RuleConfig};
use crate::context::prompts::{self, Prompts};
use crate::execute::Stores;
use crate::memory::{self, Trouble};
use crate::messages::agent as say;
use crate::protocol::{Cause, Level, Notice};
use crate::provider;
use crate::shell::Shell;
use crate::shell::class::rules::Rule;
use crate::tools::{Tool, ToolSet};
use crate::workspace::Workspace;

/// The time a turn waits for memory.
const PATIENCE: Duration = Duration::from_millis(500);

/// Shared by all sessions and by the background tasks.
pub struct Services {
    /// The folder the agent may touch.
    pub workspace: Arc<Workspace>,
    /// Its archive.
    pub archive: Arc<Archive>,
    /// The stored sessions and changesets.
    pub memory: memory::MemoryHandle,
    /// The configuration as it was at the start, with what was set since.
    pub config: Arc<ConfigFiles>,
    /// The connected model, and the facts about models.
    pub models: Arc<ModelAccess>,
    /// The parts that the commands of all sessions share.
    pub shell: Arc<Shell>,
    /// Tools that servers offer to every session, beside nebula's own.
    pub offered: Vec<Arc<dyn Tool>>,
    /// The knowledge of the workspace's files.
    pub watched: WatchedFiles,
    /// The readings for the graph of definitions.
    pub graph: GraphReads,
    /// The counts that every status line shows.
    pub counts: StatusCounts,
    /// The channel to the front end, for events that belong to no session.
    pub events: Events,
    /// The agent ends: background work stops.
    pub closing: AtomicBool,
    /// True if it was reported that files are replaced without checking what the rename displaced.
    pub reported_unguarded: AtomicBool,
    /// It was said that nothing keeps commands from nebula's own folders.
    pub reported_unprotected: AtomicBool,
    /// It was said on a card that the policy asks because guard or sandbox is missing.
    pub reported_unguarded_policy: AtomicBool,
    trouble: Mutex<Option<String>>,
    /// The trouble in the configuration's files at the last reading of the rules for commands.
    reported_trouble: Mutex<Vec<String>>,
    /// The way to the task that tells of new changesets.
    pub news: ChangesetNews,
    reports: mpsc::UnboundedSender<ServiceReport>,
}

/// The reason why something that is stored could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// That of memory.
    #[error(transparent)]
    Memory(#[from] memory::Error),
    /// That of the archive.
    #[error(transparent)]
    Archive(#[from] archive::Error),
}

/// The counts that every status line shows.
#[derive(Default)]
pub struct StatusCounts {
    /// Changesets and files in the archive, once they are counted.
    pub archive: Mutex<Option<(usize, usize)>>,
    /// Changes that wait to be reviewed, as counted last.
    pub unreviewed: AtomicUsize,
}

/// Something process-wide that concerns the sessions or the person.
pub enum ServiceReport {
    /// A notice in passing, not stored in a chat.
    Passing(Notice),
    /// A problem that lasts: it is reported in every open chat, or in the next one.
    Standing(Notice),
    /// Something that every status line shows has changed.
    Status,
    /// The search for a local server has ended.
    Looked,
    /// Memory has stopped being written.
    MemoryTrouble,
    /// Memory is written again.
    MemoryBack,
    /// An undo, redo or restore was written: its changeset.
    Restored(String),
    /// The archive has grown by at most this many bytes.
    ArchiveGrew(u64),
}

impl Services {
    /// Keeps a rule for commands in the person's own file.
    ///
    /// # Errors
    /// Why it is not kept, in words.
    pub fn keep_command_rule(&self, rule: &Rule) -> Result<(), String> {
        let rule = RuleConfig {
            prefix: rule.prefix.clone(),
            decision: rule.decision.word().into(),
            network: rule.network,
            why: rule.why.clone(),
        };
        self.config.change(|config| config.append("shell.rules", rule.json())).map_err(|error| error.to_string())
    }

    /// Lets every command reach a port on this machine: from now on, and as the configuration's files say, later too.
    ///
    /// # Errors
    /// Why it is not kept, in words.
    pub fn keep_port(&self, port: u16) -> Result<(), String> {
        self.shell.allow_port(port);
        self.config.change(|config| config.add_port(port)).map_err(|error| error.to_string())
    }

    /// Returns the rules for commands as the configuration's files have them now; none: a file cannot be read, so that its
    /// rules are missing. New trouble in the files is said once. For blocking code alone.
    pub fn read_command_rules(&self) -> Option<Vec<Rule>> {
        let config = self.config.read().clone();
        let now = config.reload();
        let (rules, wrong) = command_rules(&now);
        let trouble: Vec<String> = now.warnings.into_iter().chain(wrong).collect();
        let reported = std::mem::replace(&mut *lock(&self.reported_trouble), trouble.clone());
        let is_new = |what: &&String| !reported.contains(what) && !config.warnings.contains(what);
        if let Some(new) = trouble.iter().find(is_new) {
            self.say(Level::Warning, new.clone(), say::wrong_config());
        }
        (!now.is_unreadable).then_some(rules)
    }

    /// Puts the parts together; reports arrive at the other end of `reports`, new changesets at that of `news`.
    pub fn new(
        workspace: Arc<Workspace>,
        archive: Arc<Archive>,
        memory: memory::MemoryHandle,
        events: Events,
        config: Config,
        offered: Vec<Arc<dyn Tool>>,
        (reports, news): (mpsc::UnboundedSender<ServiceReport>, ChangesetNews),
    ) -> Self {
        let (_, wrong_rules) = command_rules(&config);
        let shell = Arc::new(shell(&config, &workspace, &archive));
        let events = events.with_secrets(shell.environment.secrets());
        Services {
            shell,
            models: Arc::new(ModelAccess::new(config.model.clone())),
            config: Arc::new(ConfigFiles::new(config)),
            workspace,
            archive,
            memory,
            events,
            offered,
            watched: WatchedFiles::default(),
            graph: GraphReads::default(),
            counts: StatusCounts::default(),
            closing: AtomicBool::new(false),
            reported_unguarded: AtomicBool::new(false),
            reported_unprotected: AtomicBool::new(false),
            reported_unguarded_policy: AtomicBool::new(false),
            trouble: Mutex::new(None),
            reported_trouble: Mutex::new(wrong_rules),
            news,
            reports,
        }
    }

    /// Returns the tools of a session that begins now: nebula's own, then those that are offered.
    pub fn tools(&self) -> Arc<ToolSet> {
        let offered = self.offered.iter().map(Arc::clone);
        Arc::new(offered.fold(ToolSet::builtin(), |tools, tool| tools.with(tool)))
    }

    /// Returns the workspace's root, as memory names projects.
    pub fn project(&self) -> String {
        self.workspace.root().to_string_lossy().into_owned()
    }

    /// Returns the stores that changes go to. For blocking code alone: it waits for memory.
    pub fn stores(&self) -> Stores<'_> {
        Stores { workspace: &self.workspace, archive: &self.archive, memory: self.memory.sync() }
    }

    /// Runs `work` as [`Services::stores`] does, but ends early once `stop` is cancelled.
    pub fn with_stores<T>(&self, stop: &CancellationToken, work: impl FnOnce(Stores<'_>) -> T) -> T {
        let (workspace, archive) = (self.workspace.stopped_by(stop), self.archive.stopped_by(stop));
        work(Stores { workspace: &workspace, archive: &archive, memory: self.memory.sync() })
    }

    /// Returns the person's prompts. For blocking code alone: it reads their files.
    pub fn prompts(&self) -> Prompts {
        let home = self.config.read().paths.folder().map(Path::to_path_buf);
        prompts::list(&self.workspace, home.as_deref())
    }

    /// Hands a report to the supervisor, without waiting.
    pub fn report(&self, report: ServiceReport) {
        // The supervisor is gone only when the process ends.
        let _ = self.reports.send(report);
    }

    /// Says something in passing, not in a chat.
    pub fn say(&self, level: Level, title: impl Into<String>, detail: impl Into<String>) {
        self.report(ServiceReport::Passing(Notice::new(level, title, detail)));
    }

    /// Says in passing why no model could be connected.
    pub fn say_failed(&self, error: provider::Error) {
        let provider::Error { kind, message, hint, status, request_id, .. } = error;
        let cause = Cause { kind: kind.word(), status, request_id };
        self.report(ServiceReport::Passing(Notice { cause, ..Notice::new(Level::Error, message, hint) }));
    }

    /// Tells what stays wrong in every open chat, or in the one that is opened next.
    pub fn tell(&self, level: Level, title: impl Into<String>, detail: impl Into<String>) {
        self.report(ServiceReport::Standing(Notice::new(level, title, detail)));
    }

    /// Takes what memory or the archive answered. An error is recorded for the banner: the session goes on.
    pub fn record_error<T>(&self, result: Result<T, impl Into<StoreError>>) -> Option<T> {
        let record = |error: StoreError| {
            if let StoreError::Memory(error) = &error {
                self.memory.suspect(error);
            }
            self.record_trouble(error.to_string());
        };
        result.map_err(|error| record(error.into())).ok()
    }

    /// Records for the banner why something could not be stored or read.
    pub fn record_trouble(&self, what: String) {
        let before = lock(&self.trouble).replace(what.clone());
        if before != Some(what) {
            self.report(ServiceReport::Status);
        }
    }

    /// Waits until memory has done what was posted, unless another program holds it up; then it is written later.
    pub async fn flushed(&self) {
        let _ = tokio::time::timeout(PATIENCE, self.memory.flushed()).await;
    }

    /// Forgets recorded errors of memory: it is written again.
    pub fn forget_errors(&self) {
        *lock(&self.trouble) = None;
    }

    /// Returns why memory is not written, if it is not.
    pub fn banner(&self) -> Option<String> {
        match self.memory.banner() {
            Some(trouble) => Some(say::in_ram(&trouble.word())),
            None => lock(&self.trouble).clone(),
        }
    }

    /// Returns why memory is stored in RAM only, if it is, and what to do about it.
    pub fn memory_trouble(&self) -> Option<(String, String)> {
        let trouble = self.memory.banner()?;
        let folder = self.config.read().paths.folder().map(Path::to_path_buf);
        let detail = match (trouble, folder) {
            (Trouble::NoHome, _) | (_, None) => say::set_home().into(),
            (Trouble::Full, Some(folder)) => say::free_space(&folder.display()),
            (Trouble::Locked, _) => say::kept_when_free().into(),
            (Trouble::Denied | Trouble::InTheWay, Some(folder)) => {
                format!("See {}: {}.", folder.join("memory.db").display(), trouble.hint())
            }
            _ => say::archive_works().into(),
        };
        Some((say::in_ram(&trouble.word()), detail))
    }

    /// Writes a key of the configuration to the person's own file.
    pub async fn persist(self: &Arc<Self>, key: &str, value: &str) {
        let (services, key, value) = (Arc::clone(self), key.to_string(), value.to_string());
        // A panic there is reported by its thread.
        let _ = tokio::task::spawn_blocking(move || services.persist_now(&key, &value)).await;
    }

    /// Writes a key of the configuration to the person's own file. For blocking code alone: it waits for the disk.
    pub fn persist_now(&self, key: &str, value: &str) {
        if let Err(e) = self.config.change(|config| config.set(key, value)) {
            self.say(Level::Warning, say::setting_not_kept(&key, &e), say::until_end());
        }
    }
}

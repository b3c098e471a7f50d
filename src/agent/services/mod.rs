//! What every session works with: the workspace, its archive, memory, the configuration, the connected model. It lives
//! as long as the process and does not know of sessions; what concerns them goes to the supervisor as a
//! [`ServiceReport`].

pub mod changesets;
pub mod events;
pub mod file_index;
pub mod model;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use crate::agent::services::events::Events;
use crate::agent::services::file_index::FileIndex;
use crate::archive::{Archive, Id};
use crate::config::{Config, RuleConfig, folder};
use crate::context::prompts::{self, Prompts};
use crate::execute::Stores;
use crate::memory::{self, Trouble};
use crate::messages::agent as say;
use crate::protocol::{KeyPlaces, Level, ModelFileRow, Notice};
use crate::provider::models::KnownModels;
use crate::provider::{self, Provider};
use crate::shell::class::rules::{Rule, RuleDecision};
use crate::shell::{
    CopyLimits, Environment, Keeper, PlaceSettings, PreviewWhen, SandboxSettings, Shell, ShellSettings,
};
use crate::tools::{ContentHash, Tool, ToolSet};
use crate::workspace::Workspace;
use crate::workspace::watch::FileWatch;

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
    /// The parts that the commands of all sessions share.
    pub shell: Arc<Shell>,
    /// Tools that servers offer to every session, beside nebula's own.
    pub offered: Vec<Arc<dyn Tool>>,
    /// The facts about models.
    pub models: Mutex<KnownModels>,
    /// The configuration as it was at the start, with what was set since.
    pub config: Mutex<Config>,
    /// The channel to the front end, for events that belong to no session.
    pub events: Events,
    /// The index behind `@`.
    pub index: FileIndex,
    /// The SHA-256 of each file as the sessions know it, to recognise changes by others.
    pub known: Mutex<HashMap<String, ContentHash>>,
    /// The newest changeset that the front end received.
    pub newest: Mutex<Id>,
    /// Keeps the watch on the workspace and the archive alive.
    pub watch: Mutex<Option<FileWatch>>,
    /// Changesets and files in the archive, once they are counted.
    pub archive_counts: Mutex<Option<(usize, usize)>>,
    /// Changes that wait to be reviewed, as counted last.
    pub unreviewed: AtomicUsize,
    /// True if a local server is being looked for; the supervisor ends it, once the sessions know what was found.
    pub looking: watch::Sender<bool>,
    /// Has a server on this computer asked at once for what the next request can do without.
    pub facts_later: Mutex<Option<oneshot::Sender<()>>>,
    /// The file in which the answers of the first connected model are recorded.
    pub record: Mutex<Option<PathBuf>>,
    /// True if the index of `@rag` is being brought up to date.
    pub refreshing: AtomicBool,
    /// True if it was reported that files are replaced without checking what the rename displaced.
    pub told_unguarded: AtomicBool,
    /// The agent ends: background work stops.
    pub closing: AtomicBool,
    connection: Mutex<ModelConnection>,
    /// Held while the configuration's files change.
    changing_config: Mutex<()>,
    trouble: Mutex<Option<String>>,
    reports: mpsc::UnboundedSender<ServiceReport>,
}

/// The model that answers, or why none does.
#[derive(Clone)]
pub struct ModelConnection {
    /// The connected provider, if one is.
    pub provider: Option<Arc<dyn Provider>>,
    /// The model of sessions that did not choose one.
    pub model: String,
    /// Local ports that were tried without an answer.
    pub tried: Vec<u16>,
    /// A model file that was found on this computer.
    pub model_file: Option<ModelFileRow>,
    /// The places of the built-in providers' keys.
    pub key_places: Vec<KeyPlaces>,
    /// The reason why no provider is connected, where one is configured.
    pub why_not: Option<provider::Error>,
}

/// Returns what commands work with, as the configuration says.
pub fn shell(config: &Config, workspace: &Workspace, archive: &Archive) -> Shell {
    let connection = config.connection();
    let providers = config.providers.values().filter_map(|provider| provider.api_key_env.clone());
    let named: Vec<String> =
        connection.key_variable.into_iter().chain(config.api_key_env.clone()).chain(providers).collect();
    Shell {
        workspace: workspace.clone(),
        archive: archive.clone(),
        settings: shell_settings(config, workspace.root()),
        environment: Environment::new(config.env().all(), &named, &config.shell.env_keep),
        own: config.paths.folder().map(Path::to_path_buf),
        program: config.program.clone(),
        offered: std::sync::Mutex::default(),
    }
}

/// Returns the rules for commands that the configuration names, and what is wrong with those that cannot be.
pub fn command_rules(config: &Config) -> (Vec<Rule>, Vec<String>) {
    let (mut rules, mut wrong) = (Vec::new(), Vec::new());
    for said in config.shell.rules.iter().chain(&config.shell.workspace_rules) {
        let decision = RuleDecision::parse(&said.decision).unwrap_or_else(|| {
            wrong.push(format!("shell.rules: the rule for {:?} has no decision, so it asks", said.prefix.join(" ")));
            RuleDecision::Ask
        });
        let rule = Rule { prefix: said.prefix.clone(), decision, network: said.network, why: said.why.clone() };
        match rule.check() {
            Ok(()) => rules.push(rule),
            Err(why) => wrong.push(format!("shell.rules: {why}")),
        }
    }
    (rules, wrong)
}

fn shell_settings(config: &Config, root: &Path) -> ShellSettings {
    let (said, usual) = (&config.shell, ShellSettings::default());
    let home = config.env().get("HOME").map(PathBuf::from);
    let folders = |named: &[String]| named.iter().map(|name| folder(name, home.as_deref(), root)).collect();
    let keeper = match said.keeper.as_deref() {
        Some("guard") => Some(Keeper::Guard),
        Some("scan") => Some(Keeper::Scan),
        _ => None,
    };
    ShellSettings {
        places: PlaceSettings { derived: said.derived.clone(), archived: said.archived.clone() },
        sandbox: SandboxSettings {
            off: said.sandbox == Some(false),
            private: said.private.clone(),
            write: folders(&said.write),
            caches: folders(&said.caches),
            ports: said.ports.clone(),
        },
        rules: command_rules(config).0,
        limits: CopyLimits {
            file: said.keep_file.unwrap_or(usual.limits.file),
            total: said.keep_total.unwrap_or(usual.limits.total),
        },
        keeper,
        program: said.bash.clone(),
        timeout: said.timeout.unwrap_or(usual.timeout),
        max_timeout: said.max_timeout.unwrap_or(usual.max_timeout),
        preview: match said.preview.as_deref() {
            Some("harm") => PreviewWhen::Harm,
            Some("always") => PreviewWhen::Always,
            _ => PreviewWhen::Never,
        },
        check: said.check.clone(),
    }
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
        self.change_config(|config| config.append("shell.rules", rule.json())).map_err(|error| error.to_string())
    }

    /// Changes the configuration and its files. For blocking code alone: it waits for the disk, while others go on with
    /// the configuration as it was.
    pub fn change_config<T>(&self, change: impl FnOnce(&mut Config) -> T) -> T {
        let _changing = lock(&self.changing_config);
        let mut config = lock(&self.config).clone();
        let done = change(&mut config);
        *lock(&self.config) = config;
        done
    }

    /// Changes the configuration as [`Services::change_config`] does, on a thread that may wait. `None`: it panicked.
    pub async fn configure<T: Send + 'static>(
        self: &Arc<Self>,
        change: impl FnOnce(&mut Config) -> T + Send + 'static,
    ) -> Option<T> {
        let services = Arc::clone(self);
        tokio::task::spawn_blocking(move || services.change_config(change)).await.ok()
    }

    /// Puts the parts together; reports arrive at the other end of `reports`.
    pub fn new(
        workspace: Arc<Workspace>,
        archive: Arc<Archive>,
        memory: memory::MemoryHandle,
        events: Events,
        config: Config,
        offered: Vec<Arc<dyn Tool>>,
        reports: mpsc::UnboundedSender<ServiceReport>,
    ) -> Self {
        let model = config.model.clone();
        Services {
            shell: Arc::new(shell(&config, &workspace, &archive)),
            workspace,
            archive,
            memory,
            events,
            offered,
            models: Mutex::default(),
            config: Mutex::new(config),
            index: FileIndex::default(),
            known: Mutex::new(HashMap::new()),
            newest: Mutex::new(Id::MIN),
            watch: Mutex::new(None),
            archive_counts: Mutex::new(None),
            unreviewed: AtomicUsize::new(0),
            looking: watch::Sender::new(false),
            facts_later: Mutex::new(None),
            record: Mutex::new(None),
            refreshing: AtomicBool::new(false),
            told_unguarded: AtomicBool::new(false),
            closing: AtomicBool::new(false),
            connection: Mutex::new(ModelConnection {
                provider: None,
                model,
                tried: Vec::new(),
                model_file: None,
                key_places: Vec::new(),
                why_not: None,
            }),
            changing_config: Mutex::default(),
            trouble: Mutex::new(None),
            reports,
        }
    }

    /// Returns the tools of a session that begins now: nebula's own, then those that are offered.
    pub fn tools(&self) -> Arc<ToolSet> {
        let offered = self.offered.iter().map(Arc::clone);
        Arc::new(offered.fold(ToolSet::builtin(), |tools, tool| tools.with(tool)))
    }

    /// Returns the connected model now.
    pub fn connection(&self) -> ModelConnection {
        lock(&self.connection).clone()
    }

    /// Changes the connected model.
    pub fn change_connection(&self, change: impl FnOnce(&mut ModelConnection)) {
        change(&mut lock(&self.connection));
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

    /// Records what is known of a file.
    pub fn knows(&self, path: &str, sha: ContentHash) {
        lock(&self.known).insert(path.to_string(), sha);
    }

    /// Waits for a server on this computer that is being looked for: the search takes two seconds at most.
    pub async fn local_search(&self, stop: &CancellationToken) {
        let mut looking = self.looking.subscribe();
        let _ = stop.run_until_cancelled(looking.wait_for(|looking| !looking)).await;
    }

    /// Has the next request wait for what a server on this computer knows of the model, where that was put off.
    pub fn want_facts(&self) {
        if let Some(ask) = lock(&self.facts_later).take().filter(|ask| !ask.is_closed()) {
            let before = self.looking.send_replace(true);
            // It was told meanwhile: there is nothing to wait for.
            if ask.send(()).is_err() && !before {
                self.looking.send_replace(false);
            }
        }
    }

    /// Returns the person's prompts. For blocking code alone: it reads their files.
    pub fn prompts(&self) -> Prompts {
        let home = lock(&self.config).paths.folder().map(Path::to_path_buf);
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

    /// Tells what stays wrong in every open chat, or in the one that is opened next.
    pub fn tell(&self, level: Level, title: impl Into<String>, detail: impl Into<String>) {
        self.report(ServiceReport::Standing(Notice::new(level, title, detail)));
    }

    /// Takes what memory answered. An error is recorded for the banner: the session goes on.
    pub fn record_error<T>(&self, result: Result<T, memory::Error>) -> Option<T> {
        let record = |e: memory::Error| {
            self.memory.suspect(&e);
            self.record_trouble(e.to_string());
        };
        result.map_err(record).ok()
    }

    /// Records for the banner why something could not be stored.
    pub fn record_trouble(&self, what: String) {
        *lock(&self.trouble) = Some(what);
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
        let folder = lock(&self.config).paths.folder().map(Path::to_path_buf);
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
        if let Err(e) = self.change_config(|config| config.set(key, value)) {
            self.say(Level::Warning, say::setting_not_kept(&key, &e), say::until_end());
        }
    }
}

/// Takes a lock whose value is replaced whole, so that a panic elsewhere leaves nothing half done.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

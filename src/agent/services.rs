//! What every part of the agent works with: the stores, the channel up, and the settings that may change while a
//! turn runs.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::task::JoinHandle;

use crate::agent::approval::Gate;
use crate::agent::background::archive_size::Size;
use crate::agent::events::Events;
use crate::agent::session::Session;
use crate::archive::{Archive, Id};
use crate::config::Config;
use crate::edit::Format;
use crate::memory::{self, Memory, Trouble};
use crate::protocol::{Approval, Event, Item, Level, Mode, Notice, NoticeAction, RuleChip, RulesView, Status};
use crate::provider::{self, Hurry, Provider};
use crate::tools::{self, Args, Context, Prepared, Sha, Tool};
use crate::workspace::Workspace;
use crate::workspace::find::Files;
use crate::workspace::watch::Watch;

/// Shared by the actor's loop, the turn and the answers to queries.
pub struct Env {
    /// The folder the agent may touch.
    pub workspace: Arc<Workspace>,
    /// Its archive.
    pub archive: Arc<Archive>,
    /// All sessions.
    pub memory: Arc<Memory>,
    /// The channel to the front end.
    pub events: Events,
    /// Where proposals and questions wait.
    pub gate: Gate,
    /// Ends a pause between tries.
    pub hurry: Hurry,
    /// The configuration as it was at the start, with what was set since.
    pub config: Mutex<Config>,
    live: Mutex<Live>,
    trouble: Mutex<Option<String>>,
    /// The rules and the system prompt that was sent last.
    pub rules: Mutex<RulesView>,
    /// What happened beside the conversation and the model must hear of with the next message.
    pub notes: Mutex<Vec<String>>,
    /// What the agent knows of files by their SHA-256, to tell what others change.
    pub known: Mutex<HashMap<String, Sha>>,
    /// The newest changeset that was told.
    pub newest: Mutex<Id>,
    /// Watches as long as it is kept.
    pub watch: Mutex<Option<Watch>>,
    /// How large the archive is.
    pub size: Mutex<Size>,
    /// A local server is being looked for.
    pub looking: tokio::sync::watch::Sender<bool>,
    /// Where the answers of the first model that is connected are recorded.
    pub record: Mutex<Option<PathBuf>>,
    /// The index behind `@`, once it was asked for.
    index: Mutex<Option<Arc<Files>>>,
    /// The words that files were asked for with the last time.
    file_words: Mutex<Option<String>>,
    /// The index of `@rag` is being brought up to date.
    pub refreshing: AtomicBool,
    /// The agent ends: what goes on beside it stops.
    pub closing: AtomicBool,
    /// Id of the open session.
    open: Mutex<Option<String>>,
    /// What the status line shows beside the settings.
    pub seen: Mutex<Seen>,
    /// What is to be told in a chat that is not there yet; `None` while one is.
    early: Mutex<Option<Vec<Notice>>>,
}

/// What the status line shows beside the settings.
#[derive(Default, Clone)]
pub struct Seen {
    /// Active rules.
    pub rules: Vec<RuleChip>,
    /// Tokens of the open session.
    pub tokens: u64,
    /// Dollars of the open session, where a price is known.
    pub cost: Option<f64>,
    /// Changesets and files in the archive.
    pub archive: Option<(usize, usize)>,
}

/// Settings that may change while a turn runs; its next step goes by them.
#[derive(Clone)]
pub struct Live {
    /// The connected provider, if one is.
    pub provider: Option<Arc<dyn Provider>>,
    /// The model's name.
    pub model: String,
    /// Plan or agent.
    pub mode: Mode,
    /// How edits are written.
    pub format: Format,
    /// Who decides.
    pub approval: Approval,
    /// Steps of one turn before it asks; 0: never.
    pub max_steps: u32,
    /// Local ports that were tried without an answer.
    pub tried: Vec<u16>,
    /// Why no provider is connected, where one is configured.
    pub why_not: Option<provider::Error>,
}

impl Env {
    /// Puts the parts together.
    pub fn new(
        workspace: Arc<Workspace>,
        archive: Arc<Archive>,
        memory: Arc<Memory>,
        events: Events,
        config: Config,
        live: Live,
    ) -> Self {
        Env {
            workspace,
            archive,
            memory,
            events,
            gate: Gate::default(),
            hurry: Hurry::default(),
            config: Mutex::new(config),
            live: Mutex::new(live),
            trouble: Mutex::new(None),
            rules: Mutex::new(RulesView::default()),
            notes: Mutex::new(Vec::new()),
            known: Mutex::new(HashMap::new()),
            newest: Mutex::new(Id::MIN),
            watch: Mutex::new(None),
            size: Mutex::new(Size::default()),
            looking: tokio::sync::watch::Sender::new(false),
            record: Mutex::new(None),
            index: Mutex::new(None),
            file_words: Mutex::new(None),
            refreshing: AtomicBool::new(false),
            closing: AtomicBool::new(false),
            open: Mutex::new(None),
            seen: Mutex::new(Seen::default()),
            early: Mutex::new(Some(Vec::new())),
        }
    }

    /// The settings now.
    pub fn live(&self) -> Live {
        lock(&self.live).clone()
    }

    /// Changes settings.
    pub fn change(&self, change: impl FnOnce(&mut Live)) {
        change(&mut lock(&self.live));
    }

    /// The workspace's root, as memory names projects.
    pub fn project(&self) -> String {
        self.workspace.root().to_string_lossy().into_owned()
    }

    /// Takes what memory answered. An error is kept for the banner: the session goes on.
    pub fn kept<T>(&self, result: Result<T, memory::Error>) -> Option<T> {
        let keep = |e: memory::Error| {
            self.memory.suspect(&e);
            *self.trouble() = Some(e.to_string());
        };
        result.map_err(keep).ok()
    }

    /// Why something could not be kept in memory, if that happened.
    pub fn trouble(&self) -> MutexGuard<'_, Option<String>> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Prepares a call on the blocking pool. `outside` is a path beyond the workspace that the person approved.
    pub fn prepare(
        self: &Arc<Self>,
        tool: &'static Tool,
        arguments: Value,
        session: &Session,
        outside: Option<PathBuf>,
    ) -> JoinHandle<Result<Prepared, String>> {
        let env = Arc::clone(self);
        let seen = session.seen.clone();
        tokio::task::spawn_blocking(move || {
            let context = Context { workspace: &env.workspace, seen: &seen, outside: outside.as_deref() };
            (tool.prepare)(&Args::new(arguments)?, &context)
        })
    }

    /// Whether this tool may be used now.
    pub fn allows(&self, tool: &Tool) -> bool {
        tool.kind != tools::Kind::Write || self.live().mode == Mode::Agent
    }

    /// The open session's id.
    pub fn open_session(&self) -> Option<String> {
        lock(&self.open).clone()
    }

    /// Notes which session is open.
    pub fn set_open(&self, id: Option<String>) {
        *lock(&self.open) = id;
        *lock(&self.rules) = RulesView::default();
        let mut seen = lock(&self.seen);
        *seen = Seen { archive: seen.archive, ..Seen::default() };
    }

    /// Takes the settings up that a stored session went on with.
    pub fn take_up(&self, record: &memory::Session) {
        let mut live = lock(&self.live);
        if let Some(mode) = record.mode.as_deref() {
            live.mode = if mode == Mode::Plan.word() { Mode::Plan } else { Mode::Agent };
        }
        if let Some(format) = record.format.as_deref().and_then(Format::parse) {
            live.format = format;
        }
        let mut seen = lock(&self.seen);
        seen.tokens = record.totals.input + record.totals.output;
        seen.cost = record.totals.cost;
    }

    /// The status line as it is now.
    pub fn status(&self) -> Status {
        let live = self.live();
        let seen = lock(&self.seen).clone();
        let provider = live.provider.as_ref();
        Status {
            workspace: self.workspace.name(),
            mode: live.mode,
            approval: live.approval,
            model: provider.map(|_| live.model.clone()),
            provider: provider.map(|p| p.place()).unwrap_or_default(),
            recording: provider.is_some_and(|p| p.recorded()),
            format: live.format.name().into(),
            tokens: seen.tokens,
            cost: seen.cost,
            rules: seen.rules,
            archive: seen.archive,
            banner: self.banner(),
            tried: live.tried,
        }
    }

    /// Why memory is not written, if it is not.
    fn banner(&self) -> Option<String> {
        match self.memory.banner() {
            Some(trouble) => Some(format!("{}: this session is kept in RAM only", trouble.word())),
            None => self.trouble().clone(),
        }
    }

    /// Sends the status line.
    pub async fn tell_status(&self) {
        let status = self.status();
        self.events.send(Event::Status(status)).await;
    }

    /// Says something in passing, not in the chat.
    pub async fn say(&self, level: Level, title: impl Into<String>, detail: impl Into<String>) {
        let notice = Notice { level, title: title.into(), detail: detail.into(), actions: Vec::new() };
        self.events.send(Event::Notice(notice)).await;
    }

    /// Tells what stays wrong in the chat. Before there is one it is said in passing, a line that the next key wipes
    /// away, and kept for the chat of the session that is opened next.
    pub async fn tell(&self, level: Level, title: impl Into<String>, detail: impl Into<String>) {
        let notice = Notice { level, title: title.into(), detail: detail.into(), actions: Vec::new() };
        let title = notice.title.clone();
        let told = match &mut *lock(&self.early) {
            Some(early) => {
                early.push(notice);
                None
            }
            None => Some(notice),
        };
        match told {
            Some(notice) => drop(self.events.add(Item::Notice(notice)).await),
            None => self.say(level, title, "").await,
        }
    }

    /// The chat is about to be another one: what is told from here on waits for it.
    pub fn chat_ends(&self) {
        lock(&self.early).get_or_insert_default();
    }

    /// The chat is there: what waited for it is told.
    pub async fn chat_begins(&self) {
        let early = lock(&self.early).take();
        for notice in early.into_iter().flatten() {
            self.events.add(Item::Notice(notice)).await;
        }
        self.tell_memory_trouble().await;
    }

    /// Tells in the chat that memory is not written.
    pub async fn tell_memory_trouble(&self) {
        let Some((title, detail)) = self.memory_trouble() else { return };
        let retry = lock(&self.config).paths.folder().is_some();
        let actions = if retry { vec![NoticeAction::RetryMemory] } else { Vec::new() };
        self.events.notice_with(Level::Warning, title, detail, actions).await;
    }

    /// Why memory is kept in RAM only, if it is, and what to do about it.
    pub fn memory_trouble(&self) -> Option<(String, String)> {
        let trouble = self.memory.banner()?;
        let Some(folder) = lock(&self.config).paths.folder().map(Path::to_path_buf) else {
            let title = "there is no home folder: this session is kept in RAM only";
            let detail =
                "Set HOME, or NEBULA_HOME to a folder that can be written. What is archived in the workspace stays.";
            return Some((title.into(), detail.into()));
        };
        let detail = match trouble {
            Trouble::Full => format!(
                "Free some space where {} lies: then what was said is kept after all, at the latest when nebula ends.",
                folder.display()
            ),
            _ => "The archive works as ever; only what is said would be lost with this window.".into(),
        };
        Some((format!("{}: this session is kept in RAM only", trouble.word()), detail))
    }

    /// The index behind `@`; empty until it is walked.
    pub fn files(&self) -> Arc<Files> {
        Arc::clone(lock(&self.index).get_or_insert_with(|| Arc::new(Files::new())))
    }

    /// Whether the index was asked for before; from now on it was.
    pub fn index_asked(&self) -> bool {
        let mut index = lock(&self.index);
        let asked = index.is_some();
        index.get_or_insert_with(|| Arc::new(Files::new()));
        asked
    }

    /// Whether files were asked for with the same words the last time.
    pub fn asks_again(&self, words: &str) -> bool {
        let mut last = lock(&self.file_words);
        let again = last.as_deref() == Some(words);
        *last = Some(words.to_string());
        again
    }

    /// Takes up what changed, if there is an index.
    pub fn update_index(&self, paths: &[String]) {
        let index = lock(&self.index).clone();
        if let Some(files) = index {
            files.update(&self.workspace, paths);
        }
    }

    /// Whether files were ever asked for, so that somebody may look at a list of them.
    pub fn has_index(&self) -> bool {
        lock(&self.index).is_some()
    }

    /// Forgets the index: it is walked again when it is asked for.
    pub fn forget_index(&self) {
        *lock(&self.index) = None;
    }

    /// Notes what the agent knows of a file.
    pub fn knows(&self, path: &str, sha: Sha) {
        lock(&self.known).insert(path.to_string(), sha);
    }

    /// Trusts this workspace's own configuration file from now on, and takes up what it sets; flags still win. Whether
    /// that worked.
    pub async fn trust(&self) -> bool {
        let (done, config) = {
            let mut config = lock(&self.config);
            (config.trust(), config.clone())
        };
        if let Err(e) = done {
            self.say(Level::Warning, e.to_string(), "This folder is not trusted.").await;
            return false;
        }
        self.change(|live| {
            if !live.provider.as_ref().is_some_and(|p| p.recorded()) {
                live.model.clone_from(&config.model);
            }
            live.format = Format::parse(config.format_for(&live.model)).unwrap_or(live.format);
            live.approval = Approval::parse(&config.approval).unwrap_or(live.approval);
            live.max_steps = config.max_steps;
        });
        self.say(Level::Info, "this folder is trusted: its configuration counts whole", "").await;
        true
    }

    /// Writes a key of the configuration to the person's own file.
    pub async fn persist(&self, key: &str, value: &str) {
        let done = lock(&self.config).set(key, value);
        if let Err(e) = done {
            self.say(Level::Warning, format!("{key} was not kept: {e}"), "It holds until nebula ends.").await;
        }
    }
}

/// Takes a lock of this file.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is behind these locks is replaced whole, so a panic elsewhere leaves nothing half done.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

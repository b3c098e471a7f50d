//! The part of a session that its actor, its turn and its restores share: everything but the conversation.

mod model;
mod rules;
mod settings;
mod status;

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use tokio::task::JoinHandle;

pub use self::rules::SessionRules;
pub use self::settings::{AUTO, Settings, consent};
pub use self::status::{RequestPart, StatusData, cost_event, request_parts};
use crate::agent::services::events::Events;
use crate::agent::services::{Services, lock};
use crate::agent::session::approval::{ApprovalPolicy, PendingApprovals};
use crate::protocol::{EventBody, Item, Level, Mode, Notice, NoticeAction, RulesView, SessionId, Status};
use crate::provider::{Provider, SkipBackoff};
use crate::shell::{CommandReport, Commands, SealResult, ShellCommand};
use crate::tools::Tool;

/// One session without its conversation; before a session is open, the idle one.
pub struct SessionContext {
    /// Everything that lives as long as the process.
    pub services: Arc<Services>,
    /// The session; none while none is open.
    pub session: Option<SessionId>,
    /// The channel to the front end, for this session's events.
    pub events: Events,
    /// Proposals and questions that wait for the person.
    pub approvals: PendingApprovals,
    /// The rules that decide for the person.
    pub policy: ApprovalPolicy,
    /// Ends a pause between tries.
    pub skip_backoff: SkipBackoff,
    /// Its commands.
    pub commands: Arc<Commands>,
    /// The rules and the system prompt that was sent last.
    pub rules: SessionRules,
    /// Events outside of the conversation that the model is informed of with the next message.
    pub notes: Mutex<Vec<String>>,
    /// The person's own command that ended last, and its output as the model would get it.
    pub own_output: Mutex<Option<(String, String)>>,
    settings: Mutex<Settings>,
    /// The provider it asks, once it asked or chose one.
    own_provider: Mutex<Option<Arc<dyn Provider>>>,
    /// The values that the status line shows of it.
    pub status_data: StatusData,
    /// The tasks that follow its jobs, each to the job's end.
    pub job_tasks: Mutex<Vec<JoinHandle<()>>>,
    /// The time when they were sealed last because someone looked at changes.
    pub sealed_to_look: Mutex<Option<Instant>>,
}

impl SessionContext {
    /// Creates the context of a session, or of none.
    pub fn new(services: &Arc<Services>, session: Option<SessionId>, settings: Settings) -> Self {
        let events = match &session {
            Some(id) => services.events.of(id.clone()),
            None => services.events.clone(),
        };
        let name = session.as_ref().map_or_else(|| "none".to_string(), |id| id.to_string());
        SessionContext {
            services: Arc::clone(services),
            commands: Arc::new(Commands::new(Arc::clone(&services.shell), &name)),
            session,
            approvals: PendingApprovals::new(events.clone()),
            events,
            policy: ApprovalPolicy::new(services.shell.settings.rules.clone()),
            skip_backoff: SkipBackoff::default(),
            rules: SessionRules::default(),
            notes: Mutex::new(Vec::new()),
            own_output: Mutex::new(None),
            settings: Mutex::new(settings),
            own_provider: Mutex::new(None),
            status_data: StatusData::default(),
            job_tasks: Mutex::default(),
            sealed_to_look: Mutex::default(),
        }
    }

    /// Returns the session's id in memory.
    pub fn id(&self) -> Option<String> {
        self.session.as_ref().map(|id| id.to_string())
    }

    /// Returns what the model must be told with the next message: what happened beside the conversation, and jobs that
    /// ended.
    pub fn take_notes(&self) -> Vec<String> {
        let ended = self.take_job_news();
        let news = self.commands.take_news().into_iter().chain(self.commands.take_moved()).chain(ended);
        std::mem::take(&mut *lock(&self.notes)).into_iter().chain(news).collect()
    }

    /// Returns what the model must be told of jobs that are over: their ends, their last lines, and what they changed since
    /// their calls were answered.
    pub fn take_job_news(&self) -> Vec<String> {
        const LAST: usize = 20;
        let ended = self.commands.ended_untold();
        let is_ended = |job: &Arc<ShellCommand>| ended.iter().any(|one| one.id == job.id);
        // What the person's own commands print is theirs.
        let of_calls = self.commands.all().into_iter().filter(|job| job.info.call.is_some());
        let news = of_calls.filter(|job| job.running.progress().is_over()).filter_map(|job| {
            let mut lines = job.take_later();
            if is_ended(&job) {
                let report = CommandReport::new(&job, None, &SealResult::default(), None);
                lines.insert(0, format!("{} ended: {}", job.id, report.summary));
                lines.extend(job.running.output().last(LAST));
            } else if !lines.is_empty() {
                lines.insert(0, format!("{} is over", job.id));
            }
            (!lines.is_empty()).then(|| lines.join("\n"))
        });
        news.collect()
    }

    /// Tells the model something with the next message; said twice it is told once.
    pub fn note_once(&self, note: String) {
        let mut notes = lock(&self.notes);
        if !notes.contains(&note) {
            notes.push(note);
        }
    }

    /// Returns the settings now.
    pub fn settings(&self) -> Settings {
        lock(&self.settings).clone()
    }

    /// Changes settings.
    pub fn change_settings(&self, change: impl FnOnce(&mut Settings)) {
        change(&mut lock(&self.settings));
    }

    /// Takes what was fitted to the model: the format, the size of the prompts, and how its answers are read.
    pub fn fit_settings(&self, fitted: &Settings) {
        let mut before = fitted.format;
        self.change_settings(|settings| {
            before = settings.format;
            (settings.format, settings.small_model) = (fitted.format, fitted.small_model);
            (settings.text_calls, settings.no_tools) = (fitted.text_calls, fitted.no_tools);
            settings.displays = fitted.displays;
        });
        if before != fitted.format {
            self.events.refresh_status();
        }
    }

    /// Stores the rules, and shows those in force in the status line. Returns those stored before.
    pub fn set_rules(&self, view: RulesView) -> RulesView {
        if self.status_data.show_rules(view.active.clone()) {
            self.events.refresh_status();
        }
        self.rules.set(view)
    }

    /// Returns whether this tool may be used now.
    pub fn allows(&self, tool: &dyn Tool) -> bool {
        !tool.kind().changes() || self.settings().mode == Mode::Agent
    }

    /// Returns the status line as it is now.
    pub fn status(&self) -> Status {
        let settings = self.settings();
        let connection = self.connection();
        let provider = connection.provider.as_ref();
        let (chosen, provider_name, own_server) = {
            let config = self.services.config.read();
            let name = provider.map_or_else(|| config.provider.clone(), |provider| provider.name().to_string());
            (config.model_is_chosen(), name.clone(), config.own_server(&name))
        };
        let mut status = Status {
            workspace: self.services.workspace.name(),
            mode: settings.mode,
            approval: settings.approval,
            model: provider.map(|_| settings.model.unwrap_or(connection.model)),
            seeks_model: !chosen && *self.services.models.looking.borrow(),
            provider: provider.map(|p| p.place()).unwrap_or_default(),
            provider_name,
            own_server,
            recording: provider.is_some_and(|p| p.recorded()),
            format: settings.format.name().into(),
            tokens: 0,
            cost: None,
            context: None,
            rules: Vec::new(),
            archive: *lock(&self.services.counts.archive),
            banner: self.services.banner(),
            in_ram: self.services.memory.banner().map(|trouble| trouble.word().into()),
            tried: connection.tried,
            without_model: connection.without_model,
            model_file: connection.model_file,
            key_places: connection.key_places,
            jobs: self.commands.jobs().iter().filter(|command| command.is_answered()).count(),
            unreviewed: self.services.counts.unreviewed.load(Ordering::Relaxed),
            next_folder: self.commands.next_folder(),
        };
        let window = self.show_window();
        self.status_data.fill(&mut status);
        if status.context.is_none() && !status.recording {
            // Nothing was sent yet: all of the window is free.
            status.context = window.map(|window| (0, window));
        }
        status
    }

    /// Has what was sent counted against the window of the model that is asked next, and returns that window where it is
    /// known.
    pub fn show_window(&self) -> Option<u64> {
        let target = self.target();
        let window = target.connected().and_then(|_| target.facts().window).map(u64::from);
        if let Some(window) = window {
            self.status_data.show_window(window);
        }
        window
    }

    /// Sends the status line.
    pub async fn tell_status(&self) {
        self.events.send(EventBody::Status(self.status())).await;
    }

    /// Says something in passing, not in the chat.
    pub async fn say(&self, level: Level, title: impl Into<String>, detail: impl Into<String>) {
        self.events.say(level, title, detail).await;
    }

    /// Tells in the chat that memory is not written.
    pub async fn tell_memory_trouble(&self) {
        let Some((title, detail)) = self.services.memory_trouble() else { return };
        let retry = self.services.config.read().paths.folder().is_some();
        let actions = if retry { vec![NoticeAction::RetryMemory] } else { Vec::new() };
        let notice = Notice { actions, ..Notice::new(Level::Warning, title, detail) };
        self.events.add(Item::Notice(notice)).await;
    }
}

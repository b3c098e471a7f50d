//! The part of a session that its actor, its turn and its restores share: everything but the conversation.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use crate::agent::services::events::Events;
use crate::agent::services::{ModelConnection, Services, lock};
use crate::agent::session::approval::PendingApprovals;
use crate::config::{Config, ValueSource};
use crate::edit::Format;
use crate::memory;
use crate::messages::agent as say;
use crate::proposal::Consent;
use crate::protocol::{
    Approval, Cost, EventBody, Item, Level, Mode, Notice, NoticeAction, RuleChip, RulesView, SessionId, Status,
};
use crate::provider::{Provider, SkipBackoff};
use crate::shell::class::rules::Rule;
use crate::shell::{CommandReport, Commands, SealResult};
use crate::text::number;
use crate::tools::{Tool, ToolKind};

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
    /// Ends a pause between tries.
    pub skip_backoff: SkipBackoff,
    /// Its commands.
    pub commands: Arc<Commands>,
    /// The rules and the system prompt that was sent last.
    pub rules: Mutex<RulesView>,
    /// Proposals in a row that went back to the model because they failed their test.
    pub failed_tests: AtomicU32,
    /// Events outside of the conversation that the model is informed of with the next message.
    pub notes: Mutex<Vec<String>>,
    command_rules: Mutex<Vec<Rule>>,
    settings: Mutex<Settings>,
    /// The provider it asks, once it asked or chose one.
    own_provider: Mutex<Option<Arc<dyn Provider>>>,
    status_data: Mutex<StatusData>,
}

/// The model that a request is for and who is asked, whatever the person chooses while the answer comes.
#[derive(Clone)]
pub struct RequestTarget {
    /// The provider; `None`: none is connected.
    pub provider: Option<Arc<dyn Provider>>,
    /// The model's name.
    pub model: String,
}

/// The format that is chosen by itself.
pub const AUTO: &str = "auto";

/// Settings of a session that may change while a turn runs; its next step goes by them.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Plan or agent.
    pub mode: Mode,
    /// The format of edits.
    pub format: Format,
    /// Nobody chose the format: it is chosen anew for each request.
    pub auto_format: bool,
    /// The person chose the format in this session: it stays when the model changes.
    pub format_chosen: bool,
    /// The model, or its context window, is small: it gets the short prompts.
    pub small_model: bool,
    /// The approval policy.
    pub approval: Approval,
    /// In whose name the policy accepts.
    pub consent: Consent,
    /// The model, once one was chosen or used in this session.
    pub model: Option<String>,
}

impl Settings {
    /// Creates the settings that the configuration names.
    pub fn new(config: &Config, mode: Mode) -> Self {
        let approval = Approval::parse(&config.approval).unwrap_or_default();
        Settings {
            mode,
            format: Format::parse(config.format_for(&config.model)).unwrap_or(Format::TOOLS),
            auto_format: config.format_for(&config.model) == AUTO,
            format_chosen: false,
            small_model: false,
            approval,
            consent: consent(config, approval),
            model: None,
        }
    }

    /// Lets a policy decide from now on, in the name of `consent`.
    pub fn approve(&mut self, approval: Approval, consent: Consent) {
        (self.approval, self.consent) = (approval, consent);
    }

    /// Takes the format of this name; `auto`: it is chosen anew for each request. Returns whether there is such a
    /// format.
    pub fn choose_format(&mut self, name: &str) -> bool {
        let format = Format::parse(name);
        self.auto_format = name == AUTO || self.auto_format && format.is_none();
        self.format = format.unwrap_or(self.format);
        format.is_some() || name == AUTO
    }

    /// Returns the format's name, as a session keeps it.
    pub fn format_name(&self) -> &'static str {
        if self.auto_format { AUTO } else { self.format.name() }
    }

    /// Takes the settings up that a stored session was left with.
    pub fn take_up(&mut self, record: &memory::Session) {
        if let Some(mode) = record.mode.as_deref() {
            self.mode = if mode == Mode::Plan.word() { Mode::Plan } else { Mode::Agent };
        }
        if let Some(name) = record.format.as_deref() {
            // Another one than the configuration's was chosen in that session.
            self.format_chosen = name != self.format_name();
            self.choose_format(name);
        }
    }
}

/// Returns in whose name a configured policy accepts: the flag's, where one was given.
pub fn consent(config: &Config, approval: Approval) -> Consent {
    match (config.origin("approval"), approval) {
        (ValueSource::Flag, Approval::All) => Consent::Flag("--approve all"),
        (ValueSource::Flag, Approval::Review) => Consent::Flag("--approve review"),
        (ValueSource::Flag, _) => Consent::Flag("--approve edits"),
        (_, approval) => Consent::Policy(approval.word()),
    }
}

/// The parts of a session's status line that are not settings.
#[derive(Debug, Default, Clone)]
struct StatusData {
    rules: Vec<RuleChip>,
    tokens: u64,
    cost: Option<Cost>,
    /// The tokens of the last request by part, and the window it was made for.
    context: Option<(Vec<(&'static str, u64)>, u64)>,
}

/// Returns what a session cost, for a front end.
pub fn shown_cost(totals: &memory::Totals) -> Option<Cost> {
    totals.cost.map(|dollars| Cost { dollars, estimated: totals.estimated, partial: totals.unpriced })
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
            events,
            approvals: PendingApprovals::default(),
            skip_backoff: SkipBackoff::default(),
            rules: Mutex::new(RulesView::default()),
            failed_tests: AtomicU32::new(0),
            notes: Mutex::new(Vec::new()),
            command_rules: Mutex::new(services.shell.settings.rules.clone()),
            settings: Mutex::new(settings),
            own_provider: Mutex::new(None),
            status_data: Mutex::new(StatusData::default()),
        }
    }

    /// Returns the session's id in memory.
    pub fn id(&self) -> Option<String> {
        self.session.as_ref().map(|id| id.to_string())
    }

    /// Returns what the model must hear of with the next message: what happened beside the conversation, and jobs that
    /// ended.
    pub fn take_notes(&self) -> Vec<String> {
        const LAST: usize = 20;
        let ended = self.commands.ended_untold().into_iter().map(|job| {
            let report = CommandReport::new(&job, None, &SealResult::default(), None);
            format!("{} ended: {}\n{}", job.id, report.summary, job.running.output().last(LAST).join("\n"))
        });
        std::mem::take(&mut *lock(&self.notes)).into_iter().chain(ended).collect()
    }

    /// Returns the rules for commands, those of this session with them.
    pub fn command_rules(&self) -> Vec<Rule> {
        lock(&self.command_rules).clone()
    }

    /// Goes by one more rule for commands from now on.
    pub fn add_command_rule(&self, rule: Rule) {
        lock(&self.command_rules).push(rule);
    }

    /// Returns the settings now.
    pub fn settings(&self) -> Settings {
        lock(&self.settings).clone()
    }

    /// Changes settings.
    pub fn change_settings(&self, change: impl FnOnce(&mut Settings)) {
        change(&mut lock(&self.settings));
    }

    /// Returns the model's name: the session's own, or that of the connection.
    pub fn model(&self) -> String {
        let own = lock(&self.settings).model.clone();
        own.unwrap_or_else(|| self.services.connection().model)
    }

    /// Returns the provider that this session asks: its own, once it has asked one or chose one, in the newest
    /// connection of that name; else the one that was connected last.
    pub fn provider(&self) -> Option<Arc<dyn Provider>> {
        self.connection().provider
    }

    /// Returns the connection of this session: that of the process with the session's own provider.
    pub fn connection(&self) -> ModelConnection {
        let mut connection = self.services.connection();
        if let Some(own) = lock(&self.own_provider).as_ref()
            && connection.provider.as_ref().is_none_or(|newest| newest.name() != own.name())
        {
            connection.provider = Some(Arc::clone(own));
        }
        connection
    }

    /// Returns the target of a request for `model` that goes out now.
    pub fn target(&self, model: &str) -> RequestTarget {
        RequestTarget { provider: self.provider(), model: model.to_string() }
    }

    /// Takes the provider that was connected last as this session's own.
    pub fn take_provider(&self) {
        let newest = self.services.connection().provider;
        if let (Some(id), Some(provider)) = (self.id(), &newest) {
            let name = provider.name().to_string();
            self.services.memory.post(move |memory| memory.set_provider(&id, &name));
        }
        *lock(&self.own_provider) = newest;
    }

    /// Asks, from the next request on, the provider that is connected then.
    pub fn forget_provider(&self) {
        *lock(&self.own_provider) = None;
    }

    /// Asks this provider in this session, whichever others ask.
    pub fn ask_provider(&self, provider: Arc<dyn Provider>) {
        *lock(&self.own_provider) = Some(provider);
    }

    /// Returns the model that is asked now; the session keeps it, and its provider, until another is chosen in it.
    pub fn keep_model(&self) -> String {
        if let Some(provider) = self.provider() {
            lock(&self.own_provider).get_or_insert(provider);
        }
        let model = self.model();
        lock(&self.settings).model.get_or_insert(model).clone()
    }

    /// Returns whether this tool may be used now.
    pub fn allows(&self, tool: &dyn Tool) -> bool {
        tool.kind() != ToolKind::Write || self.settings().mode == Mode::Agent
    }

    /// Takes what memory answered. An error is recorded for the banner: the session goes on.
    pub fn record_error<T>(&self, result: Result<T, memory::Error>) -> Option<T> {
        self.services.record_error(result)
    }

    /// Shows the session's tokens and dollars from now on.
    pub fn show_totals(&self, totals: &memory::Totals) {
        let mut status_data = lock(&self.status_data);
        status_data.tokens = totals.input + totals.output;
        status_data.cost = shown_cost(totals);
    }

    /// Records what the request that goes out now holds, in tokens, by part, and the window it is made for.
    pub fn show_context(&self, parts: Vec<(&'static str, u64)>, window: u64) {
        lock(&self.status_data).context = Some((parts, window));
    }

    /// Returns the tokens of the last request, and the window they count against.
    pub fn shown_context(&self) -> Option<(u64, u64)> {
        let status = lock(&self.status_data);
        status.context.as_ref().map(|(parts, window)| (parts.iter().map(|(_, tokens)| tokens).sum(), *window))
    }

    /// Returns tokens of the last request that are the same in every one: system prompt and tools.
    pub fn fixed_tokens(&self) -> u64 {
        self.fixed_parts().iter().map(|(_, tokens)| tokens).sum()
    }

    /// Returns the parts that are the same in every request, with their tokens in the last one.
    pub fn fixed_parts(&self) -> Vec<(&'static str, u64)> {
        lock(&self.status_data)
            .context
            .as_ref()
            .map_or_else(Vec::new, |(parts, _)| parts.iter().take(3).cloned().collect())
    }

    /// Returns what the last request held, by part, as a table.
    pub fn context_table(&self) -> String {
        let StatusData { context, rules, .. } = lock(&self.status_data).clone();
        context.map_or_else(|| say::nothing_asked().into(), |(parts, window)| table(&parts, window, &rules))
    }

    /// Shows these rules from now on. Returns whether they are others than before.
    pub fn show_rules(&self, rules: Vec<RuleChip>) -> bool {
        let mut status_data = lock(&self.status_data);
        let changed = status_data.rules != rules;
        status_data.rules = rules;
        changed
    }

    /// Returns the status line as it is now.
    pub fn status(&self) -> Status {
        let settings = self.settings();
        let connection = self.connection();
        let status_data = lock(&self.status_data).clone();
        let provider = connection.provider.as_ref();
        Status {
            workspace: self.services.workspace.name(),
            mode: settings.mode,
            approval: settings.approval,
            model: provider.map(|_| settings.model.unwrap_or(connection.model)),
            provider: provider.map(|p| p.place()).unwrap_or_default(),
            recording: provider.is_some_and(|p| p.recorded()),
            format: settings.format.name().into(),
            tokens: status_data.tokens,
            cost: status_data.cost,
            context: status_data.context.map(|(parts, window)| (parts.iter().map(|(_, tokens)| tokens).sum(), window)),
            rules: status_data.rules,
            archive: *lock(&self.services.archive_counts),
            banner: self.services.banner(),
            tried: connection.tried,
            model_file: connection.model_file,
            key_places: connection.key_places,
            jobs: self.commands.jobs().len(),
            unreviewed: self.services.unreviewed.load(Ordering::Relaxed),
        }
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
        let retry = lock(&self.services.config).paths.folder().is_some();
        let actions = if retry { vec![NoticeAction::RetryMemory] } else { Vec::new() };
        let notice = Notice { actions, ..Notice::new(Level::Warning, title, detail) };
        self.events.add(Item::Notice(notice)).await;
    }
}

/// Returns the parts of a request in tokens as a table, below the rules' part each of them with its share.
fn table(parts: &[(&'static str, u64)], window: u64, rules: &[RuleChip]) -> String {
    let used: u64 = parts.iter().map(|(_, tokens)| tokens).sum();
    let bytes: u64 = rules.iter().map(|rule| rule.bytes as u64).sum();
    let share = |tokens: u64| (tokens * 100).checked_div(window).unwrap_or(0);
    let mut text = String::from(say::part_tokens());
    for (name, tokens) in parts {
        text.push_str(&format!("| {name} | {} | {}% |\n", number::tokens(*tokens), share(*tokens)));
        for rule in rules.iter().filter(|_| *name == say::rules_part()) {
            let own = (tokens * rule.bytes as u64).checked_div(bytes).unwrap_or(0);
            text.push_str(&format!("| · {} | {} | |\n", rule.path, number::tokens(own)));
        }
    }
    text.push_str(&say::together(&number::tokens(used), &number::tokens(window), &share(used)));
    text.push_str(say::counted());
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::{Language, with};

    #[test]
    fn each_rule_has_its_share_in_the_table_in_every_language() {
        let rule = |path: &str, bytes| RuleChip { path: path.into(), reason: String::new(), bytes };
        let rules = [rule("AGENTS.md", 300), rule("src/AGENTS.md", 100)];
        for language in [Language::English, Language::Japanese] {
            let text = with(language, || table(&[(say::rules_part(), 80), (say::tools_part(), 20)], 200, &rules));
            let rows = ["| · AGENTS.md | 60 | |", "| · src/AGENTS.md | 20 | |"];
            assert!(rows.iter().all(|row| text.contains(row)), "{text}");
        }
    }
}

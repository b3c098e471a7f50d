//! Finding, making and forking the session that is asked for.

use std::sync::Arc;

use crate::agent::background::moved::follow_and_say;
use crate::agent::services::model_facts;
use crate::agent::services::{Services, lock};
use crate::agent::session::context::{SessionContext, Settings};
use crate::agent::session::conversation::Conversation;
use crate::agent::session::load::StoredConversation;
use crate::agent::session::records::{read_unsent, write_unsent};
use crate::agent::session::unanswered::EarlierCommands;
use crate::config::ValueSource;
use crate::memory::{self, Memory, NewSession};
use crate::messages::agent as say;
use crate::protocol::{Item, Level, Notice, SessionChoice, SessionId, Unsent};
use crate::provider::{self, Provider};

/// A session that is open, with its entries for the front end.
pub struct OpenedSession {
    /// The part that it shares with its turn.
    pub context: Arc<SessionContext>,
    /// Its conversation.
    pub session: Conversation,
    /// Its conversation, as entries.
    pub items: Vec<Item>,
    /// The messages that were typed in it and not sent.
    pub unsent: Option<Unsent>,
    /// Tells why it is another session than the one that was meant.
    pub why_other: Option<Notice>,
    /// Tells that variables which its commands left are not set any more.
    pub lost_variables: Option<Notice>,
}

/// Opens the session that is asked for, beginning with these settings. `taken` are the sessions that this process has
/// open already and keeps.
///
/// # Errors
/// Why it cannot be opened; nothing was changed.
pub fn open(
    services: &Arc<Services>,
    settings: Settings,
    choice: SessionChoice,
    taken: &[SessionId],
) -> Result<OpenedSession, String> {
    if choice == SessionChoice::New {
        // It needs nothing of what is stored: a locked memory does not hold it up.
        return Ok(begin(services, settings, None));
    }
    let (project, own) = (services.project(), taken.to_vec());
    // A project that was moved with its archive brings its sessions along.
    follow_and_say(services);
    let found = services.memory.ask_blocking(move |memory| find(memory, &project, choice, &own));
    let (stored, passed_over) = match found.map_err(|error| error.to_string())? {
        FoundSession::None { in_use } => {
            let why = if in_use { say::all_in_use() } else { say::none_to_continue() };
            let level = if in_use { Level::Warning } else { Level::Info };
            return Ok(begin(services, settings, Some(Notice::new(level, why, say::new_session_begins()))));
        }
        FoundSession::Taken => return Err(say::open_already().into()),
        FoundSession::Stored(stored, passed_over) => (*stored, passed_over),
    };
    let why_other = passed_over.map(|newest| {
        let title = say::newest_in_use(&name_of(&newest));
        Notice::new(Level::Warning, title, say::continues_before(&name_of(&stored.record)))
    });
    let record = stored.record.clone();
    let (id, notes, unsent) = (record.id.clone(), stored.notes(), read_unsent(stored.unsent.as_deref()));
    let begun = stored.asked_last();
    let logs = services.shell.logs();
    let commands = logs.map(|logs| EarlierCommands::of_session(&logs.join(&id), begun)).unwrap_or_default();
    let (session, items) = Conversation::load(stored, &services.tools(), &services.memory, &commands);
    let mut settings = settings;
    settings.take_up(&record);
    settings.model = model_of(services, &record);
    let context = SessionContext::new(services, Some(SessionId::from(id)), settings);
    if let Some(provider) = provider_of(services, &record) {
        context.ask_provider(provider);
    }
    keep_choice(&context, &record);
    lock(&context.notes).extend(notes);
    let lost = context.commands.resume().join(", ");
    let lost_variables =
        (!lost.is_empty()).then(|| Notice::new(Level::Info, say::variables_gone(&lost), say::values_not_stored()));
    context.status_data.show_totals(&record.totals);
    if let Some((estimate, window)) = session.sent.size {
        match &session.sent.parts {
            Some(parts) => context.status_data.show_context(parts, window),
            None => context.status_data.show_whole(session.sent.counted.unwrap_or(estimate), window),
        }
    }
    Ok(OpenedSession { context: Arc::new(context), session, items, unsent, why_other, lost_variables })
}

/// Returns a session's title and the beginning of its id.
fn name_of(session: &memory::Session) -> String {
    let id = session.id.get(..13).unwrap_or(&session.id);
    session.title.as_ref().map_or_else(|| id.to_string(), |title| format!("{title} ({id})"))
}

/// The session that a choice leads to.
enum FoundSession {
    /// There is none; `in_use`: there are some, but other processes have all of them open.
    None { in_use: bool },
    /// It is open in this process already.
    Taken,
    /// Its conversation; with it a newer session that was meant, but is in use by another process.
    Stored(Box<StoredConversation>, Option<Box<memory::Session>>),
}

/// Finds the session that is asked for, takes it and reads it; a fork is made first.
fn find(
    memory: &Memory,
    project: &str,
    choice: SessionChoice,
    taken: &[SessionId],
) -> Result<FoundSession, memory::Error> {
    let is_taken = |id: &str| taken.iter().any(|t| &**t == id);
    let mut passed_over = None;
    let id = match choice {
        SessionChoice::New => return Ok(FoundSession::None { in_use: false }),
        SessionChoice::Continue => {
            let mut sessions = memory.list(project)?;
            let Some(at) = sessions.iter().position(|s| !is_elsewhere(s) && !is_taken(&s.id)) else {
                return Ok(FoundSession::None { in_use: !sessions.is_empty() });
            };
            let session = sessions.swap_remove(at);
            passed_over = sessions.into_iter().take(at).find(is_elsewhere).map(Box::new);
            session.id
        }
        SessionChoice::Resume(beginning) => memory.find(project, &beginning)?,
        SessionChoice::Fork(beginning) => memory.fork(&memory.find(project, &beginning)?, None)?,
    };
    if is_taken(&id) {
        return Ok(FoundSession::Taken);
    }
    let record = memory.reopen(&id)?;
    Ok(FoundSession::Stored(Box::new(StoredConversation::read(memory, record)?), passed_over))
}

/// Returns the conversation of an open session as memory has it.
///
/// # Errors
/// When memory cannot be read.
pub fn reload(context: &SessionContext) -> Result<Conversation, memory::Error> {
    let (services, id) = (&context.services, context.id().unwrap_or_default());
    let read = move |memory: &Memory| StoredConversation::read(memory, memory.get(&id)?);
    let stored = services.memory.ask_blocking(read)?;
    Ok(Conversation::load(stored, &services.tools(), &services.memory, &EarlierCommands::default()).0)
}

/// Returns the model that a stored session was left with, unless another was chosen for this run, a recording answers,
/// or a flag chose another provider, which has a model of its own.
fn model_of(services: &Services, record: &memory::Session) -> Option<String> {
    let config = services.config.read();
    let chosen = config.origin("model") == ValueSource::Flag;
    let now = services.models.connection().provider;
    let recorded = now.as_ref().is_some_and(|provider| provider.recorded());
    let flagged = config.origin("provider") == ValueSource::Flag;
    let left = record.provider.as_deref().filter(|_| flagged);
    let elsewhere = left.zip(now).is_some_and(|(left, now)| now.name() != left);
    Some(record.model.clone()).filter(|model| !model.is_empty() && !chosen && !recorded && !elsewhere)
}

/// Returns the provider that a stored session was left with, where it is another than the one in force, can be
/// connected, and none was chosen for this run.
fn provider_of(services: &Services, record: &memory::Session) -> Option<Arc<dyn Provider>> {
    let name = record.provider.as_deref()?;
    let config = services.config.read();
    // A model that a flag chose is asked of the session's provider.
    let chosen = config.origin("provider") == ValueSource::Flag;
    let now = services.models.connection().provider;
    let other = now.as_ref().is_some_and(|provider| provider.name() != name && !provider.recorded());
    // A server that was found on this computer is named `openai` too, and may be gone: nothing of it goes elsewhere.
    if chosen || !other || name == "openai" || !config.is_provider(name) {
        return None;
    }
    provider::connect(&config.connection_of(name)).ok()
}

/// Stores what flags chose for this run: the session is left with it.
fn keep_choice(context: &SessionContext, record: &memory::Session) {
    let (services, settings) = (&context.services, context.settings());
    let (mode, format) = (settings.mode.word(), settings.format_name());
    let is_new = |flagged: bool, stored: &Option<String>, word: &str| flagged && stored.as_deref() != Some(word);
    if is_new(settings.mode_flagged, &record.mode, mode) {
        let id = record.id.clone();
        services.memory.post(move |memory| memory.set_mode(&id, mode));
    }
    if is_new(settings.format_flagged, &record.format, format) {
        let id = record.id.clone();
        services.memory.post(move |memory| memory.set_format(&id, format));
    }
    // What is opened after it is taken up as it was left.
    context.change_settings(|settings| (settings.mode_flagged, settings.format_flagged) = (false, false));
    let chosen = {
        let config = services.config.read();
        ["provider", "model"].iter().any(|key| config.origin(key) == ValueSource::Flag)
    };
    let Some(provider) = context.provider().filter(|provider| chosen && !provider.recorded()) else { return };
    let (id, provider, model) = (record.id.clone(), provider.name().to_string(), context.model());
    if record.provider.as_deref() != Some(&*provider) || record.model != model {
        services.memory.post(move |memory| {
            memory.set_provider(&id, &provider)?;
            memory.set_model(&id, &model)
        });
    }
}

/// Says so where the model that a resumed session used is not among those there are; it is not replaced.
pub fn tell_if_missing(context: &Arc<SessionContext>) {
    let (connection, model) = (context.connection(), context.model());
    // The configured one was looked for when it was chosen: a resumed session asks nothing more of its server.
    let Some(provider) = connection.provider.filter(|_| model != connection.model) else { return };
    let context = Arc::clone(context);
    tokio::spawn(async move {
        if model_facts::is_missing(&*provider, &model).await {
            let title = say::model_not_offered(&provider.place(), &model);
            context.events.notice(Level::Warning, title, say::not_replaced()).await;
        }
    });
}

/// Stores what was typed in the session of this id and not sent.
pub fn keep_unsent(services: &Services, id: String, unsent: Unsent) {
    let stored = write_unsent(unsent);
    services.memory.post(move |memory| memory.set_unsent(&id, &stored));
}

/// Returns whether another process has it open.
fn is_elsewhere(session: &memory::Session) -> bool {
    matches!(session.state, memory::SessionUse::InUse { mine: false })
}

/// Makes a new session, without waiting; `why_other`: tells why it is no stored one.
fn begin(services: &Arc<Services>, mut settings: Settings, why_other: Option<Notice>) -> OpenedSession {
    (settings.mode_flagged, settings.format_flagged) = (false, false);
    let connection = services.models.connection();
    let new = NewSession {
        project: services.project(),
        // Where none was chosen it is known with the first request: a server may offer another than the usual one.
        model: settings.model.clone().unwrap_or_default(),
        mode: Some(settings.mode.word().into()),
        provider: connection.provider.as_ref().map(|p| p.name().to_string()),
        format: Some(settings.format_name().into()),
    };
    let id = services.memory.create(new);
    let context = SessionContext::new(services, Some(SessionId::from(id.clone())), settings);
    let session = Conversation::new(id, services.tools(), services.memory.clone());
    let context = Arc::new(context);
    OpenedSession { context, session, items: Vec::new(), unsent: None, why_other, lost_variables: None }
}

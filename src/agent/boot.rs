//! Opening what the agent works with, and connecting a model. Runs after the front end's first frame.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::mpsc;

use super::env::{Env, Live, lock};
use super::events::Events;
use super::start::Parts;
use super::{Agent, restore, watch};
use crate::archive::{self, Archive};
use crate::config::Config;
use crate::edit::Format;
use crate::memory::{self, Memory};
use crate::protocol::{Approval, Event, Level, Notice};
use crate::provider::{self, Provider, Recorder};
use crate::workspace::Workspace;

/// Puts the agent together.
pub async fn boot(parts: Parts, outbox: mpsc::Sender<Event>) -> Agent {
    let events = Events::new(outbox);
    let Parts { config, workspace, archive, provider, record, mode } = parts;
    let (warnings, untrusted) = (config.warnings.clone(), config.untrusted.clone());
    let workspace = Arc::new(workspace);
    let options = match config.paths.folder() {
        Some(folder) => memory::Options::in_folder(folder),
        None => memory::Options::nowhere(),
    };
    let listener = passing(&events);
    let opened = tokio::task::spawn_blocking(move || Memory::open_telling(options, listener)).await;
    let (memory, notices) = opened.unwrap_or_else(|_| Memory::open(memory::Options::nowhere()));
    let live = Live {
        provider: None,
        model: config.model.clone(),
        mode,
        format: Format::parse(config.format_for(&config.model)).unwrap_or(Format::Tools),
        approval: Approval::parse(&config.approval).unwrap_or_default(),
        max_steps: config.max_steps,
        tried: Vec::new(),
        why_not: None,
    };
    let env = Arc::new(Env::new(workspace, Arc::new(archive), Arc::new(memory), events, config, live));
    listen_to_memory(&env);
    *lock(&env.record) = record;
    match provider {
        Some(provider) => {
            if provider.recorded() {
                env.change(|live| live.model = "recording".into());
            }
            plug(&env, provider).await;
        }
        None => connect(&env).await,
    }
    for warning in warnings {
        let detail = "What is wrong in it does not count; the file is left as it is.";
        env.tell(Level::Warning, warning, detail).await;
    }
    if !untrusted.is_empty() {
        let title =
            format!(".nebula/config.json sets {}, which counts only in a folder you trust", untrusted.join(", "));
        let detail = "It is left out. /trust lets it count here, if you know who wrote it.";
        env.tell(Level::Warning, title, detail).await;
    }
    for notice in notices {
        match notice {
            // Told with the session, as long as it lasts.
            memory::Notice::InMemoryOnly { .. } => {
                if let Some((title, detail)) = env.memory_trouble() {
                    env.say(Level::Warning, title, detail).await;
                }
            }
            lost => env.tell(Level::Warning, lost.to_string(), "").await,
        }
    }
    env.tell_status().await;
    // Sessions whose process is gone count as ended from now on; nothing waits for that.
    let memory = Arc::clone(&env.memory);
    tokio::task::spawn_blocking(move || memory.sweep());
    restore::start_up(&env);
    watch::begin(&env);
    Agent { env, session: None, turn: None, restores: restore::Restores::default(), draft: None }
}

/// The archive of a workspace, as the configuration says.
///
/// # Errors
/// When something that is no folder lies in its place, or a glob is broken.
pub fn open_archive(config: &Config, workspace: &Workspace) -> Result<Archive, archive::Error> {
    let folder = config.archive_dir.as_deref().map(PathBuf::from);
    Archive::open(workspace, &archive::Settings { folder, exclude: config.archive_exclude.clone() })
}

/// Memory's troubles reach the person while they last.
fn listen_to_memory(env: &Arc<Env>) {
    let weak = Arc::downgrade(env);
    let runtime = tokio::runtime::Handle::current();
    let say = passing(&env.events);
    env.memory.listen(Box::new(move |notice| {
        let Some(env) = weak.upgrade() else { return };
        match notice {
            memory::Notice::InMemoryOnly { .. } if env.open_session().is_some() => {
                runtime.spawn(async move {
                    env.tell_memory_trouble().await;
                    env.tell_status().await;
                });
            }
            passing => say(passing),
        }
    }));
}

/// Says in passing what memory tells of. It is said at once: whoever calls memory may hold up the runtime meanwhile.
fn passing(events: &Events) -> memory::Listener {
    let events = events.clone();
    let runtime = tokio::runtime::Handle::current();
    Box::new(move |notice| {
        let notice =
            Notice { level: Level::Warning, title: notice.to_string(), detail: String::new(), actions: Vec::new() };
        if let Some(event) = events.send_at_once(Event::Notice(notice)) {
            let events = events.clone();
            runtime.spawn(async move { events.send(event).await });
        }
    })
}

/// From here on this provider answers. The first one is recorded, where that was asked for.
async fn plug(env: &Arc<Env>, provider: Arc<dyn Provider>) {
    let record = lock(&env.record).take();
    let provider = match record.map(|path| Recorder::create(Arc::clone(&provider), &path)) {
        None => provider,
        Some(Ok(recorder)) => Arc::new(recorder),
        Some(Err(e)) => {
            env.say(Level::Error, e.message, e.hint).await;
            provider
        }
    };
    env.change(|live| (live.provider, live.why_not) = (Some(provider), None));
}

/// Connects the configured model; without a key for the provider's own address, a local server that answers.
pub async fn connect(env: &Arc<Env>) {
    let connection = lock(&env.config).connection();
    match provider::connect(&connection) {
        Ok(provider) => {
            plug(env, Arc::clone(&provider)).await;
            let chosen = lock(&env.config).model_is_chosen();
            // A server on this computer hardly has the model that is meant for the one in the cloud.
            if provider::is_local(&connection) && !chosen {
                settle_on_model(env, provider);
            }
        }
        Err(e) => {
            env.change(|live| live.why_not = Some(e.clone()));
            match e.kind {
                // Who names a server means that one, and no other that happens to listen here.
                provider::Kind::NoKey if !connection.custom_url => look_for_local(env),
                _ => env.say(Level::Error, e.message, e.hint).await,
            }
        }
    }
}

/// Looks for a local server without holding anything up; the status line changes when one is found.
fn look_for_local(env: &Arc<Env>) {
    env.looking.send_replace(true);
    let env = Arc::clone(env);
    tokio::spawn(async move {
        let found = provider::find().await;
        let usual = env.live().model;
        match provider::choose(found, &usual) {
            Some((server, model)) => take_local(&env, server, model).await,
            None => env.change(|live| live.tried = provider::PORTS.iter().map(|(port, _)| *port).collect()),
        }
        env.looking.send_replace(false);
        env.tell_status().await;
    });
}

/// Takes a model that the server offers, without holding anything up, where nobody chose one and it lacks the usual.
fn settle_on_model(env: &Arc<Env>, provider: Arc<dyn Provider>) {
    env.looking.send_replace(true);
    let (env, usual) = (Arc::clone(env), env.live().model);
    tokio::spawn(async move {
        let offered = tokio::time::timeout(TO_LIST, provider.models()).await;
        let offered = offered.ok().and_then(Result::ok).unwrap_or_default();
        let meant = env.live().model == usual;
        if let Some(model) = provider::begin_with(&offered, &usual).filter(|model| meant && **model != usual) {
            env.change(|live| live.model.clone_from(model));
            env.tell_status().await;
            let title = format!("{} offers no {usual}: {model} answers", provider.place());
            env.say(Level::Info, title, "Ctrl-O chooses another").await;
        }
        env.looking.send_replace(false);
        env.tell_status().await;
    });
}

/// A server that is there lists its models from memory.
const TO_LIST: std::time::Duration = std::time::Duration::from_secs(2);

async fn take_local(env: &Arc<Env>, server: provider::LocalServer, model: String) {
    match provider::connect(&server.connection()) {
        Ok(provider) => {
            plug(env, provider).await;
            let usual = env.live().model;
            let lacks = lock(&env.config).model_is_chosen() && !model.starts_with(&usual);
            let detail = if lacks { format!("It has no {usual}: {model} answers") } else { String::new() };
            env.change(|live| (live.tried, live.model) = (Vec::new(), model));
            // Before it is said: `task --json` begins with who answers.
            env.tell_status().await;
            env.say(Level::Info, format!("connected to {} on this computer", server.name), detail).await;
        }
        Err(e) => env.say(Level::Error, e.message, e.hint).await,
    }
}

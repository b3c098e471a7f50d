//! Starting the agent: nothing is opened before the front end has had its first frame.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::mpsc;

use crate::agent::background::watch;
use crate::agent::events::Events;
use crate::agent::model;
use crate::agent::services::{Env, Live, lock};
use crate::agent::{Agent, restore};
use crate::archive::{self, Archive};
use crate::config::Config;
use crate::edit::Format;
use crate::memory::{self, Memory};
use crate::protocol::{Approval, Command, Event, Level, Notice};
use crate::provider::Provider;
use crate::workspace::Workspace;

/// How many events may wait for the front end: a slow screen slows the stream instead of growing memory.
const EVENTS: usize = 256;

/// What the agent is made of.
pub struct Parts {
    /// The configuration with environment and flags laid over it.
    pub config: Config,
    /// The folder it may touch.
    pub workspace: Workspace,
    /// Its archive.
    pub archive: Archive,
    /// A provider to use in place of the configured one: a recording.
    pub provider: Option<Arc<dyn Provider>>,
    /// Write the model's answers to this recording.
    pub record: Option<PathBuf>,
    /// Plan or agent.
    pub mode: crate::protocol::Mode,
}

/// The front end's ends of the two channels.
pub struct Handle {
    /// What may be asked.
    pub commands: mpsc::UnboundedSender<Command>,
    /// What is told.
    pub events: mpsc::Receiver<Event>,
    /// Ends when the agent has closed everything.
    pub done: tokio::task::JoinHandle<()>,
}

/// Starts the agent on the current runtime.
pub fn spawn(parts: Parts) -> Handle {
    let (commands, inbox) = mpsc::unbounded_channel();
    let (outbox, events) = mpsc::channel(EVENTS);
    let done = tokio::spawn(async move {
        let agent: Agent = boot(parts, outbox).await;
        agent.run(inbox).await;
    });
    Handle { commands, events, done }
}

/// Puts the agent together.
async fn boot(parts: Parts, outbox: mpsc::Sender<Event>) -> Agent {
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
            model::plug(&env, provider).await;
        }
        None => model::connect(&env).await,
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

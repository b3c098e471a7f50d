//! Starting the agent: nothing is opened before the front end has had its first frame.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use crate::agent::background::archive_size::ArchiveSize;
use crate::agent::background::{changeset_news, maintenance, watch};
use crate::agent::query::unsaved::UnsavedSession;
use crate::agent::services::connect;
use crate::agent::services::events::Events;
use crate::agent::services::{ServiceReport, Services, command_rules, lock};
use crate::agent::session::context::Settings;
use crate::agent::supervisor::{ClosedAgent, HeldUp, Supervisor};
use crate::archive::{self, Archive};
use crate::config::Config;
use crate::memory;
use crate::mergiraf::Mergiraf;
use crate::messages::agent as say;
use crate::proposal::Merger;
use crate::protocol::{Addressed, Event, EventBody, Level, Mode, Notice};
use crate::provider::Provider;
use crate::tools::Tool;
use crate::workspace::Workspace;

/// The most events that wait for the front end: a slow screen slows the stream instead of growing memory.
const EVENTS: usize = 256;

/// The parts the agent is made of.
pub struct AgentParts {
    /// The configuration with environment and flags laid over it.
    pub config: Config,
    /// The folder it may touch.
    pub workspace: Workspace,
    /// Its archive.
    pub archive: Archive,
    /// A provider to use in place of the configured one: a recording.
    pub provider: Option<Arc<dyn Provider>>,
    /// Tools beside nebula's own, as servers offer them: every session has them.
    pub tools: Vec<Arc<dyn Tool>>,
    /// Write the model's answers to this recording.
    pub record: Option<PathBuf>,
    /// Plan or agent, where a flag says so.
    pub mode: Option<Mode>,
    /// Every prompt asks for a change of a file.
    pub expect_change: bool,
    /// Nobody is there to approve what the policy leaves to a person.
    pub unattended: bool,
}

/// The front end's ends of the two channels.
pub struct AgentHandle {
    /// Commands, for the session opened last unless another is named.
    pub commands: mpsc::UnboundedSender<Addressed>,
    /// Events of all sessions.
    pub events: mpsc::Receiver<Event>,
    /// The wait that holds up the end of the agent, where one does.
    pub held_up: oneshot::Receiver<HeldUp>,
    /// Ends when the agent has closed everything.
    pub done: tokio::task::JoinHandle<ClosedAgent>,
}

/// The end of an agent.
#[derive(Debug, Default)]
pub struct AgentEnd {
    /// It ended in time; else it is not known what was stored.
    pub in_time: bool,
    /// The sessions that could not be stored.
    pub unsaved: Vec<UnsavedSession>,
    /// The number of changes that waited to be reviewed then; 0 where it did not end in time.
    pub unreviewed: usize,
}

impl AgentEnd {
    /// Returns whether a later run can resume this session.
    pub fn has_stored(&self, id: &str) -> bool {
        self.in_time && self.unsaved.iter().all(|unsaved| unsaved.id != id)
    }
}

/// The longest time the agent may take to end. It waits for nothing that takes time, but a disk may not answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Waits until an agent that is shutting down has closed everything, or it takes too long: whatever it was doing, each
/// file is old or new, and what was overwritten is archived. What holds it up is passed to `tell`; an interrupt from
/// the keyboard ends that wait.
pub async fn ended(
    held_up: oneshot::Receiver<HeldUp>,
    done: tokio::task::JoinHandle<ClosedAgent>,
    tell: impl FnOnce(String),
) -> AgentEnd {
    let watched = async {
        if let Ok(held_up) = held_up.await {
            tell(held_up.words());
            if tokio::signal::ctrl_c().await.is_ok() {
                held_up.end();
            }
        }
        std::future::pending::<ClosedAgent>().await
    };
    let ended = async {
        tokio::select! {
            ended = done => ended.ok(),
            closed = watched => Some(closed),
        }
    };
    let closed = tokio::time::timeout(PATIENCE, ended).await.ok().flatten();
    closed
        .map(|ClosedAgent { unsaved, unreviewed }| AgentEnd { in_time: true, unsaved, unreviewed })
        .unwrap_or_default()
}

/// Starts the agent on the current runtime.
pub fn spawn(parts: AgentParts) -> AgentHandle {
    let (commands, inbox) = mpsc::unbounded_channel();
    let (outbox, events) = mpsc::channel(EVENTS);
    let (holds_up, held_up) = oneshot::channel();
    let done = tokio::spawn(async move {
        let (reports, reported) = mpsc::unbounded_channel();
        let supervisor = boot(parts, Events::new(outbox), reports).await;
        supervisor.run(inbox, reported, holds_up).await
    });
    AgentHandle { commands, events, held_up, done }
}

/// Opens the services and begins what goes on in the background. What there is to say waits as reports.
async fn boot(parts: AgentParts, events: Events, reports: mpsc::UnboundedSender<ServiceReport>) -> Supervisor {
    let AgentParts { config, workspace, archive, provider, tools, record, mode, expect_change, unattended } = parts;
    let (warnings, untrusted) = (config.warnings.clone(), config.untrusted.clone());
    let (_, wrong_rules) = command_rules(&config);
    let settings = Settings { expect_change, unattended, ..Settings::new(&config, mode) };
    let options = match config.paths.folder() {
        Some(folder) => memory::Options::in_folder(folder),
        None => memory::Options::nowhere(),
    };
    // On its own thread: nothing waits for a database that another program holds.
    let (memory, opened) = memory::MemoryHandle::open(options, passing(&events));
    let (workspace, archive) = (Arc::new(workspace), Arc::new(archive));
    let (news, told) = changeset_news::channel();
    let services = Arc::new(Services::new(workspace, archive, memory, events, config, tools, (reports, news)));
    changeset_news::begin(&services, told);
    listen_to_memory(&services);
    *lock(&services.models.record) = record;
    match provider {
        Some(provider) => {
            if provider.recorded() {
                services.models.change_connection(|connection| connection.model = "recording".into());
            }
            connect::plug(&services, provider);
        }
        None => connect::connect(&services),
    }
    tell_configuration(&services, warnings.into_iter().chain(wrong_rules).collect(), &untrusted);
    services.report(ServiceReport::Status);
    let services2 = Arc::clone(&services);
    tokio::spawn(async move { tell_opened(&services2, opened.await.unwrap_or_default()) });
    let size = ArchiveSize::new(&services);
    maintenance::begin(&services, size.clone());
    watch::begin(&services);
    Supervisor::new(services, settings, size)
}

/// Tells what is wrong in the configuration, and what of it does not count.
fn tell_configuration(services: &Services, warnings: Vec<String>, untrusted: &[String]) {
    for warning in warnings {
        let detail = say::wrong_config();
        services.tell(Level::Warning, warning, detail);
    }
    if !untrusted.is_empty() {
        let title = say::sets_untrusted(&untrusted.join(", "));
        let detail = say::left_out_trust();
        services.tell(Level::Warning, title, detail);
    }
}

/// Reports memory's notices once it is open.
fn tell_opened(services: &Services, notices: Vec<memory::DatabaseNotice>) {
    for notice in notices {
        match notice {
            // Told with the session, as long as it lasts.
            memory::DatabaseNotice::InMemoryOnly { .. } => services.report(ServiceReport::MemoryTrouble),
            lost => services.tell(Level::Warning, lost.to_string(), ""),
        }
    }
}

/// Returns the archive of a workspace, and what joins two versions of a file there, as the configuration says.
///
/// # Errors
/// When something that is no folder lies in its place, or a glob is broken.
pub fn open_archive(config: &Config, workspace: &Workspace) -> Result<Archive, archive::Error> {
    let folder = config.archive_dir.as_deref().map(PathBuf::from);
    let settings = archive::ArchiveSettings { folder, exclude: config.archive_exclude.clone() };
    let search = config.env().get("PATH").filter(|_| config.mergiraf);
    let program = search.and_then(|search| Mergiraf::find(search, workspace.root()));
    let merger = program.map_or_else(Merger::default, |program| Merger::by_program(Arc::new(program)));
    Ok(Archive::open(workspace, &settings)?.merging_by(merger))
}

/// Reports memory's troubles to the person while they last.
fn listen_to_memory(services: &Arc<Services>) {
    let weak = Arc::downgrade(services);
    let say = passing(&services.events);
    services.memory.listen(Box::new(move |notice| match (&notice, weak.upgrade()) {
        (memory::DatabaseNotice::InMemoryOnly { .. }, Some(services)) => services.report(ServiceReport::MemoryTrouble),
        (memory::DatabaseNotice::Back, Some(services)) => services.report(ServiceReport::MemoryBack),
        (memory::DatabaseNotice::Failed { error }, Some(services)) => services.record_trouble(error.clone()),
        (_, Some(_)) => say(notice),
        (_, None) => {}
    }));
}

/// Reports memory's notices in passing, at once: the caller of memory may hold up the runtime meanwhile.
fn passing(events: &Events) -> memory::Listener {
    let events = events.clone();
    let runtime = tokio::runtime::Handle::current();
    Box::new(move |notice| {
        let notice = Notice::new(Level::Warning, notice.to_string(), "");
        if let Some(event) = events.send_at_once(EventBody::Notice(notice)) {
            let events = events.clone();
            runtime.spawn(async move { events.send(event).await });
        }
    })
}

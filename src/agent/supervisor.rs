//! The supervisor: session id → actor. It routes commands, opens and closes sessions, and forwards to all of them what
//! concerns the process.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use crate::agent::actor::ActorHandle;
use crate::agent::background::archive_size::ArchiveSize;
use crate::agent::query::unsaved::UnsavedSession;
use crate::agent::query::{listings, unsaved};
use crate::agent::services::{ServiceReport, Services, lock};
use crate::agent::session::context::{SessionContext, Settings};
use crate::agent::session::{open, prompt_parts};
use crate::memory::MemoryHandle;
use crate::messages::agent as say;
use crate::messages::records::localized;
use crate::protocol::{Addressed, Command, EventBody, Level, Notice, Query, SessionChange, SessionChoice, SessionId};

/// The state in which an agent ended.
#[derive(Debug, Default)]
pub struct ClosedAgent {
    /// The sessions that could not be stored.
    pub unsaved: Vec<UnsavedSession>,
    /// The number of changes that wait to be reviewed, those of its last jobs among them.
    pub unreviewed: usize,
}

/// The wait that holds up the end of the agent: memory is being saved.
pub struct HeldUp {
    memory: MemoryHandle,
}

impl HeldUp {
    /// Returns the reason, in words.
    pub fn words(&self) -> String {
        match self.memory.banner() {
            Some(trouble) => say::saving_still(&localized(trouble.word())),
            None => say::saving_now().into(),
        }
    }

    /// Ends the wait.
    pub fn end(&self) {
        self.memory.end_waits();
    }
}

/// The time that saving may take at the end without a word of it.
const UNNOTICED: Duration = Duration::from_millis(300);

/// All open sessions.
pub struct Supervisor {
    services: Arc<Services>,
    /// Serves the person while no session is open.
    idle: ActorHandle,
    sessions: HashMap<SessionId, ActorHandle>,
    /// The session that commands are for which name none: the one opened last in its place.
    current: Option<SessionId>,
    /// Lasting problems that wait for a chat to be reported in.
    standing: Vec<Notice>,
    archive_size: ArchiveSize,
}

impl Supervisor {
    /// Creates the supervisor without a session; the first one begins with these settings.
    pub fn new(services: Arc<Services>, settings: Settings, archive_size: ArchiveSize) -> Self {
        let idle = ActorHandle::idle(SessionContext::new(&services, None, settings));
        tokio::spawn(prompt_parts::look_at_first_rules(Arc::clone(&idle.context)));
        Supervisor { services, idle, sessions: HashMap::new(), current: None, standing: Vec::new(), archive_size }
    }

    /// Runs until the front end closes its channel or asks to shut down. What holds up its end is passed to `holds_up`.
    pub async fn run(
        mut self,
        mut commands: mpsc::UnboundedReceiver<Addressed>,
        mut reports: mpsc::UnboundedReceiver<ServiceReport>,
        holds_up: oneshot::Sender<HeldUp>,
    ) -> ClosedAgent {
        loop {
            tokio::select! {
                biased;
                Some(report) = reports.recv() => self.report(report).await,
                command = commands.recv() => match command {
                    None | Some(Addressed { command: Command::Shutdown, .. }) => break,
                    Some(addressed) => self.command(addressed).await,
                },
            }
        }
        self.shut_down(holds_up).await
    }

    async fn command(&mut self, Addressed { session, command }: Addressed) {
        let target = session.or_else(|| self.current.clone());
        match command {
            Command::Open(choice) => return self.open(target, choice).await,
            Command::OpenBeside(choice) => return self.open(None, choice).await,
            Command::Close => return self.close(target).await,
            Command::Submit(prompt) if target.is_none() => {
                if !prompt.text.trim().is_empty() {
                    self.begin_with(Command::Submit(prompt)).await;
                }
                return;
            }
            run @ (Command::Run(_) | Command::RunForModel(Some(_))) if target.is_none() => {
                return self.begin_with(run).await;
            }
            _ => {}
        }
        let Some(actor) = self.actor(target.as_ref()) else {
            return self.not_open(command).await;
        };
        match command {
            // The conversation is the actor's.
            Command::Ask(id, Query::Results) => actor.command(Command::Ask(id, Query::Results)),
            Command::Ask(id, query) => listings::answer(Arc::clone(&actor.context), id, query),
            Command::LeaveGraph => actor.context.services.graph.leave(),
            Command::Sessions(SessionChange::Delete(id)) if self.sessions.contains_key(&*id) => {
                let title = say::open_not_deleted();
                actor.context.say(Level::Warning, title, say::start_new_first()).await;
            }
            Command::Sessions(SessionChange::Rename(id, title)) => {
                let own = self.sessions.get(&*id).unwrap_or(actor);
                own.command(Command::Sessions(SessionChange::Rename(id, title)));
            }
            command => actor.command(command),
        }
    }

    /// Returns the actor of a session; the idle one while none is open.
    fn actor(&self, session: Option<&SessionId>) -> Option<&ActorHandle> {
        match session {
            Some(id) => self.sessions.get(id),
            None => Some(&self.idle),
        }
    }

    /// Answers a command for a session that is not open.
    async fn not_open(&self, command: Command) {
        let why = say::not_open_here();
        match command {
            Command::Submit(prompt) => self.services.events.send(EventBody::Returned(prompt, why.into())).await,
            _ => self.services.events.say(Level::Warning, why, say::nothing_done()).await,
        }
    }

    /// Opens a new session for a first message or command.
    async fn begin_with(&mut self, first: Command) {
        self.open(None, SessionChoice::New).await;
        if let Some(actor) = self.current.as_ref().and_then(|id| self.sessions.get(id)) {
            actor.command(first);
        }
    }

    /// Opens a session in place of another, whose work is stopped first; beside the open ones where there is none.
    async fn open(&mut self, replaced: Option<SessionId>, choice: SessionChoice) {
        let Some(old) = self.actor(replaced.as_ref()) else {
            return self.not_open(Command::Open(choice)).await;
        };
        old.stop().await;
        let (services, settings) = (Arc::clone(&self.services), old.context.settings());
        let taken: Vec<_> = self.sessions.keys().filter(|id| Some(*id) != replaced.as_ref()).cloned().collect();
        let opened = tokio::task::spawn_blocking(move || open::open(&services, settings, choice, &taken)).await;
        let opened = opened.unwrap_or_else(|_| Err(say::opening_failed().into()));
        let mut opened = match opened {
            Ok(opened) => opened,
            Err(why) => return old.context.events.notice(Level::Error, why, say::nothing_changed()).await,
        };
        if !opened.items.is_empty() {
            open::tell_if_missing(&opened.context);
        }
        // What the person did while no session was open is for the first one that opens.
        let notes = std::mem::take(&mut *lock(&self.idle.context.notes));
        lock(&opened.context.notes).extend(notes);
        let id = SessionId::from(opened.session.id.clone());
        if let Some(old) = replaced.and_then(|id| self.sessions.remove(&id)) {
            let stays = old.context.session.as_ref() == Some(&id);
            old.close(stays).await;
        }
        // A session that is opened later is taken up as it was left.
        self.idle.context.change_settings(|idle| (idle.mode_flagged, idle.format_flagged) = (false, false));
        if opened.items.is_empty() {
            opened.context.status_data.show_rules(self.idle.context.status_data.rules());
        }
        let of_session = opened.why_other.take().into_iter().chain(opened.lost_variables.take());
        let standing = of_session.chain(std::mem::take(&mut self.standing)).collect();
        let actor = ActorHandle::open(opened, standing);
        self.sessions.insert(id.clone(), actor);
        self.current = Some(id);
    }

    /// Closes a session; its turn is stopped first.
    async fn close(&mut self, session: Option<SessionId>) {
        let Some(actor) = session.and_then(|id| self.sessions.remove(&id)) else {
            return self.not_open(Command::Close).await;
        };
        let id = actor.context.session.clone();
        actor.close(false).await;
        self.current.take_if(|current| Some(&*current) == id.as_ref());
    }

    /// Forwards what concerns the whole process.
    async fn report(&mut self, report: ServiceReport) {
        match report {
            ServiceReport::Passing(notice) => self.services.events.send(EventBody::Notice(notice)).await,
            ServiceReport::Standing(notice) if self.sessions.is_empty() => {
                let passing = Notice::new(notice.level, notice.title.clone(), "");
                self.standing.push(notice);
                self.services.events.send(EventBody::Notice(passing)).await;
            }
            ServiceReport::Standing(notice) => self.sessions.values().for_each(|actor| actor.tell(notice.clone())),
            ServiceReport::Status => self.tell_status().await,
            ServiceReport::Looked => {
                // A request waits for this: by then the sessions know who answers.
                self.tell_status().await;
                self.services.models.looking.send_replace(false);
            }
            ServiceReport::MemoryTrouble if self.sessions.is_empty() => {
                if let Some((title, _)) = self.services.memory_trouble() {
                    self.services.events.say(Level::Warning, title, "").await;
                }
            }
            ServiceReport::MemoryTrouble => self.sessions.values().for_each(ActorHandle::tell_memory_trouble),
            ServiceReport::MemoryBack => {
                self.services.forget_errors();
                self.services.events.say(Level::Info, crate::memory::DatabaseNotice::Back.to_string(), "").await;
                self.tell_status().await;
            }
            ServiceReport::Restored(id) => self.sessions.values().for_each(|actor| actor.restored(id.clone())),
            ServiceReport::ArchiveGrew(bytes) => self.archive_size.grew(bytes),
        }
    }

    async fn tell_status(&self) {
        if self.sessions.is_empty() {
            return self.idle.context.tell_status().await;
        }
        for actor in self.sessions.values() {
            actor.context.tell_status().await;
        }
    }

    /// Lets writes under way finish, saves, and closes all sessions. Returns those that could not be stored.
    async fn shut_down(mut self, holds_up: oneshot::Sender<HeldUp>) -> ClosedAgent {
        self.services.closing.store(true, Ordering::Relaxed);
        self.services.memory.end_soon();
        let actors = self.sessions.drain().map(|(_, actor)| actor).chain([self.idle]);
        futures_util::future::join_all(actors.map(|actor| actor.close(false))).await;
        let unreviewed = self.services.counts.unreviewed.load(Ordering::Relaxed);
        let memory = self.services.memory.clone();
        let mut saved = tokio::task::spawn_blocking(move || {
            memory.close();
            unsaved::keep(&memory)
        });
        if let Ok(saved) = tokio::time::timeout(UNNOTICED, &mut saved).await {
            return ClosedAgent { unsaved: saved.unwrap_or_default(), unreviewed };
        }
        // Nobody may be there to be told.
        let _ = holds_up.send(HeldUp { memory: self.services.memory.clone() });
        ClosedAgent { unsaved: saved.await.unwrap_or_default(), unreviewed }
    }
}

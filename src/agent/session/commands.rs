//! What the actor does on a command: sessions, settings, prompts.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio_util::sync::CancellationToken;

use crate::agent::Agent;
use crate::agent::Running;
use crate::agent::services::Env;
use crate::agent::session::Session;
use crate::agent::session::prompt_state;
use crate::agent::turn::{self, Begin};
use crate::edit::Format;
use crate::memory::{self, NewSession};
use crate::protocol::{
    Event, ExportFormat, Item, Level, NoticeAction, Prompt, SessionChange, SessionChoice, SessionInfo, Setting, TurnEnd,
};

impl Agent {
    /// A message of the person begins a turn; mid-turn it goes back, since the queue lives in the front end.
    pub(in crate::agent) async fn submit(&mut self, prompt: Prompt) {
        if self.turn.is_some() {
            let why = "nebula is working; the message goes into the queue".to_string();
            return self.env.events.send(Event::Returned(prompt, why)).await;
        }
        if prompt.text.trim().is_empty() {
            return;
        }
        if self.session.is_none() {
            self.open(SessionChoice::New).await;
        }
        self.begin(Begin::Prompt(prompt)).await;
    }

    /// Begins a turn with the open session.
    pub(in crate::agent) async fn begin(&mut self, begin: Begin) {
        if self.turn.is_some() {
            return self.env.events.notice(Level::Info, "nebula is working already", "").await;
        }
        let Some(session) = self.session.take() else {
            return self.env.events.notice(Level::Info, "there is nothing to go on with", "").await;
        };
        let stop = CancellationToken::new();
        let task = tokio::spawn(turn::run(Arc::clone(&self.env), session, begin, stop.clone()));
        self.turn = Some(Running { task, stop });
    }

    /// Takes the session back when its turn is over, and says so.
    pub(in crate::agent) async fn turn_ended(&mut self, ended: Option<(Session, turn::Outcome)>) {
        let end = match ended {
            Some((session, outcome)) => {
                self.session = Some(session);
                match outcome {
                    Ok((id, end)) => Event::TurnEnded(id, end),
                    Err((prompt, why)) => Event::Returned(prompt, why),
                }
            }
            None => {
                let message = "the turn failed in nebula itself".to_string();
                let hint = "Its messages are in memory: open the session again to go on.".to_string();
                self.env.events.notice(Level::Error, &message, &hint).await;
                Event::TurnEnded(self.env.events.last_turn(), TurnEnd::Failed { message, hint, resumable: false })
            }
        };
        self.env.tell_status().await;
        self.env.events.send(end).await;
    }

    /// Opens a session; a running turn is stopped first.
    pub(in crate::agent) async fn open(&mut self, choice: SessionChoice) {
        self.stop_turn().await;
        self.env.chat_ends();
        match open(&self.env, choice) {
            Ok((session, items)) => {
                if let Some(old) = self.session.take()
                    && old.id != session.id
                {
                    self.env.kept(self.env.memory.end(&old.id));
                }
                self.show(session, items).await;
            }
            Err(why) => {
                self.env.events.notice(Level::Error, why, "Nothing was changed.").await;
                if self.session.is_some() {
                    self.env.chat_begins().await;
                }
            }
        }
    }

    /// Tells the front end of a session and all that is in it.
    async fn show(&mut self, session: Session, items: Vec<Item>) {
        let info = SessionInfo {
            id: session.id.clone(),
            title: session.title.clone(),
            resumed: session.rows.len(),
            status: self.env.status(),
        };
        self.env.events.send(Event::Opened(info)).await;
        if !session.rows.is_empty() {
            self.env.events.recall(items).await;
            tokio::spawn(prompt_state::look_at_rules(Arc::clone(&self.env), session.in_play.clone()));
            self.tell_drifted(&session).await;
        } else if self.env.live().provider.as_ref().is_some_and(|p| p.recorded()) {
            let detail = "What it says was recorded. Tools, approvals, archive and memory are real.";
            self.env.events.notice(Level::Info, "the model is a recording", detail).await;
        }
        self.env.chat_begins().await;
        self.session = Some(session);
    }

    /// Files of a resumed session that someone else changed since.
    async fn tell_drifted(&self, session: &Session) {
        let env = Arc::clone(&self.env);
        let known = session.shas();
        let found = tokio::task::spawn_blocking(move || {
            let changed = |path: &String, sha: &crate::tools::Sha| match env.workspace.read(path) {
                Ok(read) => read.state.bytes().is_none_or(|b| crate::agent::session::records::sha(b) != *sha),
                Err(_) => true,
            };
            let mut paths: Vec<String> = known.iter().filter(|(p, s)| changed(p, s)).map(|(p, _)| p.clone()).collect();
            paths.sort();
            paths
        });
        let drifted = found.await.unwrap_or_default();
        if drifted.is_empty() {
            return;
        }
        let title = match drifted.as_slice() {
            [one] => format!("{one} has changed on disk since this session"),
            many => format!("{} files have changed on disk since this session", many.len()),
        };
        let detail = format!("{}. nebula will read them again before it edits them.", drifted.join(", "));
        self.env.events.send(Event::Drifted(drifted)).await;
        self.env.events.notice(Level::Info, title, detail).await;
    }

    pub(in crate::agent) async fn change_session(&mut self, change: SessionChange) {
        let memory = &self.env.memory;
        let (done, said) = match change {
            SessionChange::Rename(id, title) => {
                if let Some(session) = self.session.as_mut().filter(|s| s.id == id) {
                    session.title = Some(title.clone());
                }
                (memory.rename(&id, &title), format!("renamed to {title}"))
            }
            SessionChange::Delete(id) if self.session.as_ref().is_some_and(|s| s.id == id) || self.turn.is_some() => {
                return self
                    .env
                    .events
                    .notice(Level::Warning, "the open session is not deleted", "Start a new one first (/new).")
                    .await;
            }
            SessionChange::Delete(id) => (memory.delete(&id), "session deleted".to_string()),
            SessionChange::Export(id, format) => return self.export_session(&id, format).await,
        };
        match done {
            Ok(()) => self.env.say(Level::Info, said, "").await,
            Err(e) => self.env.events.notice(Level::Error, e.to_string(), "Nothing was changed.").await,
        }
    }

    pub(in crate::agent) async fn export(&mut self, format: ExportFormat) {
        let id = self.env.open_session();
        match id {
            Some(id) => self.export_session(&id, format).await,
            None => self.env.say(Level::Info, "there is no session to export yet", "").await,
        }
    }

    /// Writes a session to a file that is new, beside the workspace's root, through the one road: as a proposal.
    async fn export_session(&mut self, id: &str, format: ExportFormat) {
        match crate::agent::session::export::proposal(&self.env, id, format) {
            Ok(proposal) => self.restores.begin_plain(&self.env, proposal, "export"),
            Err(why) => self.env.events.notice(Level::Error, why, "Nothing was written.").await,
        }
    }

    pub(in crate::agent) async fn set(&mut self, setting: Setting) {
        let env = &self.env;
        let session = env.open_session();
        match setting {
            Setting::Mode(mode) => {
                env.change(|live| live.mode = mode);
                if let Some(id) = session {
                    env.kept(env.memory.set_mode(&id, mode.word()));
                }
            }
            Setting::Model(name) => {
                env.change(|live| live.model.clone_from(&name));
                if let Some(id) = session {
                    env.kept(env.memory.set_model(&id, &name));
                }
                env.persist("model", &name).await;
            }
            Setting::Format(name) => match Format::parse(&name) {
                Some(format) => {
                    env.change(|live| live.format = format);
                    env.say(Level::Info, format!("from now on edits are written as {}", format.name()), "").await;
                    if let Some(id) = session {
                        env.kept(env.memory.set_format(&id, &name));
                    }
                }
                None => {
                    let names: Vec<_> = Format::ALL.iter().map(|f| f.name()).collect();
                    let title = format!("{name} is no edit format; there are {}", names.join(", "));
                    env.events.notice(Level::Warning, title, "").await;
                }
            },
            Setting::Approval(approval) => env.change(|live| live.approval = approval),
            Setting::Theme(name) => env.persist("theme", &name).await,
            Setting::Mouse(on) => env.persist("mouse", if on { "true" } else { "false" }).await,
            Setting::Trust => {
                let trusted = env.trust().await;
                if trusted && !env.live().provider.is_some_and(|p| p.recorded()) {
                    crate::agent::model::connect(env).await;
                }
            }
            Setting::Config(key, value) => env.persist(&key, &value).await,
            Setting::Reconnect => crate::agent::model::connect(env).await,
            Setting::RetryMemory => self.retry_memory().await,
        }
        self.env.tell_status().await;
    }

    async fn retry_memory(&self) {
        let env = Arc::clone(&self.env);
        let tried = tokio::task::spawn_blocking(move || env.memory.reconnect()).await;
        match tried {
            Ok(Ok(_)) => {
                *self.env.trouble() = None;
                self.env.say(Level::Info, "memory is written again; nothing was lost", "").await;
            }
            Ok(Err(e)) => {
                let actions = vec![NoticeAction::RetryMemory];
                let detail = "This session is kept in RAM until it works.";
                self.env.events.notice_with(Level::Error, e.to_string(), detail, actions).await;
            }
            Err(_) => {}
        }
    }

    /// Stops the running turn and takes its session back.
    async fn stop_turn(&mut self) {
        self.restores.withdraw();
        if let Some(running) = &self.turn {
            running.stop.cancel();
            let ended = crate::agent::finished(&mut self.turn).await;
            self.turn_ended(ended).await;
        }
    }

    /// Lets a write under way finish, saves, and closes the session.
    pub(in crate::agent) async fn shut_down(&mut self) {
        self.env.closing.store(true, Ordering::Relaxed);
        self.stop_turn().await;
        self.restores.finish().await;
        if let Some(session) = self.session.take() {
            self.env.kept(self.env.memory.end(&session.id));
        }
        if self.env.memory.banner().is_some() {
            // The last chance to keep what is in RAM only; that it is was told all along.
            let _ = self.env.memory.reconnect_now();
        }
    }
}

/// Finds or makes the session that was asked for.
fn open(env: &Env, choice: SessionChoice) -> Result<(Session, Vec<Item>), String> {
    let memory = &env.memory;
    let project = env.project();
    let say = |e: memory::Error| e.to_string();
    let id = match choice {
        SessionChoice::New => return begin_session(env).map(|s| (s, Vec::new())),
        SessionChoice::Continue => {
            let free = memory.list(&project).map_err(say)?.into_iter().find(|s| !in_use(s));
            match free {
                Some(s) => s.id,
                None => return begin_session(env).map(|s| (s, Vec::new())),
            }
        }
        SessionChoice::Resume(beginning) => memory.find(&project, &beginning).map_err(say)?,
        SessionChoice::Fork(beginning) => {
            let id = memory.find(&project, &beginning).map_err(say)?;
            memory.fork(&id, None).map_err(say)?
        }
    };
    let record = memory.reopen(&id).map_err(say)?;
    let loaded = Session::load(memory, &record).map_err(say)?;
    env.set_open(Some(id));
    env.take_up(&record);
    Ok(loaded)
}

/// Whether another nebula has it.
pub(in crate::agent) fn in_use(session: &memory::Session) -> bool {
    matches!(session.state, memory::SessionState::InUse { mine: false })
}

fn begin_session(env: &Env) -> Result<Session, String> {
    let live = env.live();
    let new = NewSession {
        project: env.project(),
        model: live.model.clone(),
        mode: Some(live.mode.word().into()),
        provider: live.provider.as_ref().map(|p| p.name().to_string()),
        format: Some(live.format.name().into()),
    };
    let id = env.memory.create(&new).map_err(|e| e.to_string())?;
    env.set_open(Some(id.clone()));
    Ok(Session::new(id))
}

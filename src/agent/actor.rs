//! The actor of one session: it owns the conversation while no turn runs, and handles the session's commands.
//!
//! It waits for the next message or for the end of the running turn, whichever comes first. While a turn runs the
//! conversation is its own; the actor keeps the token that stops it. One more actor, without a conversation, serves the
//! person while no session is open.

use std::collections::HashSet;
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::agent::begin::{Begin, TurnOutcome, begin};
use crate::agent::change::command;
use crate::agent::change::restore::{Restores, keep_reviewed, tell_elsewhere};
use crate::agent::query::{commit, export, graph, undone};
use crate::agent::services::{changesets, connect};
use crate::agent::session::context::SessionContext;
use crate::agent::session::conversation::Conversation;
use crate::agent::session::open::{self, OpenedSession};
use crate::agent::session::records::sha;
use crate::agent::session::{prompt_parts, settings};
use crate::agent::turn;
use crate::memory;
use crate::messages::agent as say;
use crate::protocol::{
    Cause, Command, ConnectForm, EventBody, ExportFormat, Item, Level, Listing, Notice, Prompt, ProposalEvent, Query,
    QueryId, SessionChange, SessionInfo, TurnEnd,
};
use crate::shell::output::record;
use crate::tools::ContentHash;

/// The way to a session's actor.
pub struct ActorHandle {
    /// The part of the session that its turn shares.
    pub context: Arc<SessionContext>,
    inbox: mpsc::UnboundedSender<ActorMessage>,
    task: JoinHandle<()>,
}

enum ActorMessage {
    Command(Command),
    /// A process-wide problem that lasts.
    Standing(Notice),
    MemoryTrouble,
    /// An undo, redo or restore was written, here or elsewhere: its changeset.
    Restored(String),
    /// Stop what is under way; answered when that is done.
    Stop(oneshot::Sender<()>),
    /// Stop, and close the session in memory unless it stays open.
    Close {
        stays: bool,
    },
}

impl ActorHandle {
    /// Starts the actor without a session.
    pub fn idle(context: SessionContext) -> Self {
        Self::start(Arc::new(context), None)
    }

    /// Starts the actor of a session that was opened. It sends the session and then the `standing` notices to the front
    /// end.
    pub fn open(opened: OpenedSession, standing: Vec<Notice>) -> Self {
        Self::start(Arc::clone(&opened.context), Some((opened, standing)))
    }

    fn start(context: Arc<SessionContext>, opened: Option<(OpenedSession, Vec<Notice>)>) -> Self {
        let (inbox, messages) = mpsc::unbounded_channel();
        let actor = Actor {
            context: Arc::clone(&context),
            session: None,
            turn: None,
            recalled: HashSet::new(),
            restores: Restores::default(),
            draft: None,
            commit: None,
        };
        let task = tokio::spawn(actor.run(messages, opened));
        ActorHandle { context, inbox, task }
    }

    /// Hands a command over.
    pub fn command(&self, command: Command) {
        self.send(ActorMessage::Command(command));
    }

    /// Tells what stays wrong in the session's chat.
    pub fn tell(&self, notice: Notice) {
        self.send(ActorMessage::Standing(notice));
    }

    /// Tells in the session's chat that memory is not written.
    pub fn tell_memory_trouble(&self) {
        self.send(ActorMessage::MemoryTrouble);
    }

    /// Tells of an undo, redo or restore.
    pub fn restored(&self, changeset: String) {
        self.send(ActorMessage::Restored(changeset));
    }

    /// Stops what is under way and waits until it has stopped; a write that has begun is finished.
    pub async fn stop(&self) {
        let (stopped, wait) = oneshot::channel();
        self.send(ActorMessage::Stop(stopped));
        let _ = wait.await;
    }

    /// Stops what is under way, saves, and ends the actor; the session stays open in memory if it is to be opened again.
    pub async fn close(self, stays: bool) {
        self.send(ActorMessage::Close { stays });
        let _ = self.task.await;
    }

    fn send(&self, message: ActorMessage) {
        // The actor ends by `close` alone.
        let _ = self.inbox.send(message);
    }
}

/// A turn under way.
struct Running {
    task: JoinHandle<(Conversation, TurnOutcome)>,
    stop: CancellationToken,
}

struct Actor {
    context: Arc<SessionContext>,
    /// The conversation, while no turn has it.
    session: Option<Conversation>,
    turn: Option<Running>,
    /// The changesets of the calls that the session had when it was opened; those of a fork are its parent's.
    recalled: HashSet<String>,
    /// Restores that wait for the person.
    restores: Restores,
    /// Ends the commit message that is being written.
    draft: Option<CancellationToken>,
    /// The commit that git is making.
    commit: Option<JoinHandle<()>>,
}

impl Actor {
    async fn run(
        mut self,
        mut messages: mpsc::UnboundedReceiver<ActorMessage>,
        opened: Option<(OpenedSession, Vec<Notice>)>,
    ) {
        if let Some((opened, standing)) = opened {
            self.show(opened, standing).await;
        }
        let stays = loop {
            tokio::select! {
                message = messages.recv() => match message {
                    Some(ActorMessage::Command(command)) => self.command(command).await,
                    Some(ActorMessage::Standing(notice)) => drop(self.context.events.add(Item::Notice(notice)).await),
                    Some(ActorMessage::MemoryTrouble) => {
                        self.context.tell_memory_trouble().await;
                        self.context.tell_status().await;
                    }
                    Some(ActorMessage::Restored(changeset)) => {
                        tell_elsewhere(&self.context, &changeset).await;
                        undone::tell(&self.context, &self.recalled, false).await;
                    }
                    Some(ActorMessage::Stop(stopped)) => {
                        self.stop().await;
                        let _ = stopped.send(());
                    }
                    Some(ActorMessage::Close { stays }) => break stays,
                    None => break false,
                },
                end = finished(&mut self.turn) => self.turn_ended(end).await,
                () = self.context.events.status_due() => self.context.tell_status().await,
            }
        };
        self.stop().await;
        if let Some(commit) = self.commit.take() {
            let _ = commit.await;
        }
        command::end_all(&self.context).await;
        if let Some(id) = self.context.id().filter(|_| !stays) {
            self.context.services.memory.post(move |memory| memory.end(&id));
        }
    }

    async fn command(&mut self, command: Command) {
        let context = &self.context;
        match command {
            Command::Submit(prompt) => self.submit(prompt).await,
            Command::Continue(how) => self.begin(Begin::Continue(how)).await,
            Command::Run(text) => turn::run_of_person(context, text, false),
            Command::RunForModel(Some(text)) => turn::run_of_person(context, text, true),
            Command::RunForModel(None) => turn::tell_output(context).await,
            Command::Compact => self.compact().await,
            Command::UndoCompact => self.undo_compact().await,
            Command::LeaveOut(index) => self.leave_out(index).await,
            Command::Ask(id, Query::Results) => self.list_results(id).await,
            Command::Decide(id, decision) => drop(context.approvals.decide(id, decision)),
            Command::Comment(id, comment) => {
                let what = (id, comment.clone());
                if !context.approvals.comment(id, comment) {
                    context
                        .events
                        .send(EventBody::Proposal(ProposalEvent::CommentAnswer(what.0, what.1, String::new())))
                        .await;
                }
            }
            Command::Reviewing(id) => context.approvals.set_reviewed(id),
            Command::Test(id, decision) => drop(context.approvals.test(id, decision)),
            Command::Reply(id, reply) => drop(context.approvals.reply(id, reply)),
            Command::Later(id) => context.approvals.stop_time(id),
            Command::DecideCommand(id, decision) => drop(context.approvals.decide_command(id, decision)),
            Command::Restore(request) => {
                let turn = self.session.as_ref().and_then(|s| s.turn);
                self.restores.restore(context, request, turn);
            }
            Command::KeepReviewed(names) => drop(tokio::spawn(keep_reviewed(Arc::clone(context), names))),
            Command::DecideConflict(row, choice) => drop(tokio::spawn(graph::decide(Arc::clone(context), row, choice))),
            Command::RunOn => command::run_on(&context.commands, &context.events).await,
            Command::StopCommand(id) => command::stop(&context.commands, &id),
            Command::ClearEnvironment => command::clear_left(&context.commands, &context.events).await,
            Command::Review(verdict) => self.restores.review(context, verdict),
            Command::Interrupt => self.interrupt(),
            Command::SkipBackoff => context.skip_backoff.now(),
            Command::Sessions(change) => self.change_session(change).await,
            Command::Set(setting) => settings::set(context, setting).await,
            Command::Connect(form) => begin_connecting(context, form),
            Command::Export(format) => match context.id() {
                Some(id) => self.export(&id, format).await,
                None => context.say(Level::Info, say::no_session_to_export(), "").await,
            },
            Command::DraftCommit => self.draft = Some(commit::draft(context)),
            Command::KeepUnsent(id, unsent) => open::keep_unsent(&context.services, id, unsent),
            Command::Commit(message) => self.commit = Some(commit::commit(context, message)),
            // The supervisor's.
            Command::Ask(..)
            | Command::LeaveGraph
            | Command::Open(_)
            | Command::OpenBeside(_)
            | Command::Close
            | Command::Shutdown => {}
        }
    }

    /// Begins a turn with a message of the person; while a turn runs the message goes back, since the queue lives in
    /// the front end.
    async fn submit(&mut self, prompt: Prompt) {
        let why = match (&self.turn, &self.session) {
            (Some(_), _) => say::queued(),
            (None, None) => say::cannot_go_on(),
            (None, Some(_)) if prompt.text.trim().is_empty() => return,
            (None, Some(_)) => return self.begin(Begin::Prompt(prompt)).await,
        };
        self.context.events.send(EventBody::Returned(prompt, why.into())).await;
    }

    /// Begins summarising, unless there is nothing or a turn runs.
    async fn compact(&mut self) {
        if self.turn.is_some() {
            return self.context.say(Level::Info, say::compact_later(), "").await;
        }
        if self.session.as_ref().is_none_or(|s| s.messages.is_empty()) {
            return self.context.say(Level::Info, say::nothing_to_summarise(), "").await;
        }
        self.begin(Begin::Compact).await;
    }

    /// Sends the whole conversation again, in place of its summary.
    async fn undo_compact(&mut self) {
        let context = &self.context;
        let Some(session) = self.session.as_mut().filter(|_| self.turn.is_none()) else {
            return context.say(Level::Info, say::compact_undo_later(), "").await;
        };
        if !turn::take_back_summary(context, session) {
            return context.say(Level::Info, say::no_summary(), "").await;
        }
        // The chat says where the summary stood: it says so too.
        context.events.notice(Level::Info, say::whole_again(), "").await;
    }

    /// Lists the results that can be left out of the context window.
    async fn list_results(&self, id: QueryId) {
        let results = match self.session.as_ref().filter(|_| self.turn.is_none()) {
            Some(session) => Listing::Results(session.window_results()),
            None => Listing::Failed(say::leave_out_later().into()),
        };
        self.context.services.events.send(EventBody::Answer(id, results)).await;
    }

    /// Sends a result as one line from now on.
    async fn leave_out(&mut self, index: usize) {
        let context = &self.context;
        let Some(session) = self.session.as_mut().filter(|_| self.turn.is_none()) else {
            return context.say(Level::Info, say::leave_out_later(), "").await;
        };
        match session.leave_out(index) {
            Some(line) => {
                session.store_prompt();
                context.say(Level::Info, say::is_left_out(&line), say::memory_keeps_it()).await;
            }
            None => context.say(Level::Info, say::not_in_window(), "").await,
        }
    }

    async fn begin(&mut self, how: Begin) {
        if self.turn.is_some() {
            return self.context.events.notice(Level::Info, say::working_already(), "").await;
        }
        let Some(session) = self.session.take() else {
            return self.context.events.notice(Level::Info, say::nothing_to_go_on(), "").await;
        };
        let stop = CancellationToken::new();
        let task = tokio::spawn(begin(Arc::clone(&self.context), session, how, stop.clone()));
        self.turn = Some(Running { task, stop });
    }

    /// Takes the conversation back when its turn has ended, and reports the end.
    async fn turn_ended(&mut self, ended: Option<(Conversation, TurnOutcome)>) {
        let end = match ended {
            Some((session, outcome)) => {
                self.session = Some(session);
                match outcome {
                    Ok((id, end)) => EventBody::TurnEnded(id, end),
                    Err((prompt, why)) => EventBody::Returned(prompt, why),
                }
            }
            None => {
                let context = Arc::clone(&self.context);
                let reloaded = tokio::task::spawn_blocking(move || open::reload(&context)).await;
                self.session = reloaded.ok().and_then(Result::ok);
                let message = say::turn_failed().to_string();
                let hint = say::in_memory().to_string();
                let notice = Notice::new(Level::Error, &message, &hint);
                match &self.session {
                    Some(session) => session.say(&self.context.events, notice).await,
                    None => drop(self.context.events.add(Item::Notice(notice)).await),
                }
                let end = TurnEnd::Failed { message, hint, resumable: false, cause: Cause::default() };
                EventBody::TurnEnded(self.context.events.last_turn(), end)
            }
        };
        self.context.tell_status().await;
        self.context.events.send(end).await;
    }

    fn interrupt(&mut self) {
        match (&self.turn, &self.draft) {
            (Some(running), _) => running.stop.cancel(),
            (None, Some(draft)) if !draft.is_cancelled() => draft.cancel(),
            (None, _) => self.restores.withdraw(),
        }
    }

    /// Stops what is under way and takes the conversation back.
    async fn stop(&mut self) {
        if let Some(draft) = &self.draft {
            draft.cancel();
        }
        self.restores.withdraw();
        if let Some(running) = &self.turn {
            running.stop.cancel();
            let ended = finished(&mut self.turn).await;
            self.turn_ended(ended).await;
        }
        self.restores.finish().await;
    }

    /// Tells the front end of the session and all that is in it.
    async fn show(&mut self, opened: OpenedSession, standing: Vec<Notice>) {
        let OpenedSession { context, session, items, unsent, .. } = opened;
        let info = SessionInfo {
            id: session.id.clone(),
            title: session.title.clone(),
            resumed: session.rows.len(),
            status: context.status(),
        };
        context.events.send(EventBody::Opened(info)).await;
        if !session.rows.is_empty() {
            self.recalled = undone::changesets_of(&items);
            context.events.recall(items).await;
            undone::tell(&context, &self.recalled, true).await;
            tokio::spawn(prompt_parts::look_at_rules(Arc::clone(&context), session.files.in_play.to_vec()));
            self.tell_drifted(&session).await;
        } else if context.provider().is_some_and(|p| p.recorded()) {
            let detail = say::recording_long();
            context.events.notice(Level::Info, say::recording(), detail).await;
        }
        for notice in standing {
            context.events.add(Item::Notice(notice)).await;
        }
        if let Some(unsent) = unsent {
            context.events.send(EventBody::Unsent(unsent)).await;
        }
        context.tell_memory_trouble().await;
        self.session = Some(session);
    }

    /// Tells which files of a resumed session someone else changed since.
    async fn tell_drifted(&self, session: &Conversation) {
        let services = Arc::clone(&self.context.services);
        let known = session.files.shas();
        let found = tokio::task::spawn_blocking(move || {
            // What nebula itself wrote since, as an undo, was not changed by someone else.
            let is_own = |path: &str| changesets::is_own(&services, path);
            let changed = |path: &String, known: &ContentHash| match services.workspace.read_known(path) {
                Ok(read) => read.state.bytes().is_none_or(|b| sha(b) != *known) && !is_own(path),
                Err(_) => !is_own(path),
            };
            let mut paths: Vec<String> = known.iter().filter(|(p, s)| changed(p, s)).map(|(p, _)| p.clone()).collect();
            paths.sort();
            paths
        });
        let drifted = found.await.unwrap_or_default();
        if drifted.is_empty() {
            return;
        }
        let (title, detail) = match drifted.as_slice() {
            [one] => (say::changed_since(&one), say::read_it_again().to_string()),
            many => (say::files_changed_since(&many.len()), say::read_again(&many.join(", "))),
        };
        self.context.events.send(EventBody::Drifted(drifted)).await;
        self.context.events.notice(Level::Info, title, detail).await;
    }

    /// Changes a stored session, this one or another that is not open.
    async fn change_session(&mut self, change: SessionChange) {
        let memory = &self.context.services.memory;
        let (done, said): (Result<(), memory::Error>, String) = match change {
            SessionChange::Rename(id, title) => {
                if let Some(session) = self.session.as_mut().filter(|s| s.id == id) {
                    session.title = Some(title.clone());
                }
                let said = say::renamed(&title);
                (memory.ask(move |memory| memory.rename(&id, &title)).await, said)
            }
            SessionChange::Delete(id) => {
                let (logs, deleted) = (self.context.services.shell.logs(), id.clone());
                let delete = move |memory: &memory::Memory| {
                    memory.delete(&id)?;
                    // What is left of its logs goes with nebula's folder.
                    let _ = logs.map(|logs| record::forget(&logs, &id));
                    Ok(())
                };
                let done = memory.ask(delete).await;
                if done.is_ok() {
                    self.context.events.send(EventBody::SessionDeleted(deleted)).await;
                }
                (done, say::deleted().to_string())
            }
            SessionChange::Export(id, format) => return self.export(&id, format).await,
        };
        match done {
            Ok(()) => self.context.say(Level::Info, said, "").await,
            // The list of sessions has no chat beside it.
            Err(e) => self.context.say(Level::Error, e.to_string(), say::nothing_changed()).await,
        }
    }

    /// Writes a session to a new file in the workspace's root, as a proposal.
    async fn export(&mut self, id: &str, format: ExportFormat) {
        let (context, id) = (Arc::clone(&self.context), id.to_string());
        let made = tokio::task::spawn_blocking(move || export::proposal(&context, &id, format)).await;
        match made.unwrap_or_else(|_| Err(say::export_failed().into())) {
            Ok(proposal) => self.restores.begin_plain(&self.context, proposal, "export"),
            Err(why) => self.context.events.notice(Level::Error, why, say::nothing_written()).await,
        }
    }
}

/// Returns the end of the running turn, none if it panicked; never, while none runs.
async fn finished(turn: &mut Option<Running>) -> Option<(Conversation, TurnOutcome)> {
    match turn {
        Some(running) => {
            let end = (&mut running.task).await;
            *turn = None;
            end.ok()
        }
        None => std::future::pending().await,
    }
}

/// Connects a model, without waiting for it: the check takes as long as the server does.
fn begin_connecting(context: &Arc<SessionContext>, form: ConnectForm) {
    let context = Arc::clone(context);
    tokio::spawn(async move {
        let done = connect::connect_with(&context.services, &form).await;
        if let (Ok(EventBody::Connected(_)), Some(model)) = (&done, &form.model) {
            context.take_provider();
            settings::take_model(&context, model);
            context.tell_status().await;
        }
        context.events.send(done.unwrap_or_else(|why| EventBody::NotConnected(form.id, why))).await;
    });
}

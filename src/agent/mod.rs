//! The background task: it owns the session, the tools' context, the archive and memory, and speaks with a front end
//! over two channels.
//!
//! The loop waits for the next command or for the end of the running turn, whichever comes first. While a turn runs
//! the session is its own; the loop keeps the token that stops it, and the gate where it waits for the person.

pub mod announce;
mod approval;
pub mod background;
mod events;
mod model;
mod restore;
mod services;
pub mod session;
mod settle;
mod start;
mod turn;

use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub use session::{commit, export};
pub use start::{Handle, Parts, open_archive, spawn};

use crate::edit::json;
use crate::protocol::Command;
use crate::provider::Role;
use services::Env;
use session::{Session, listings};
use turn::Begin;

/// A turn under way.
struct Running {
    task: JoinHandle<(Session, turn::Outcome)>,
    stop: CancellationToken,
}

/// The actor.
struct Agent {
    env: Arc<Env>,
    /// The open session, while no turn has it.
    session: Option<Session>,
    turn: Option<Running>,
    /// Restores that wait for the person.
    restores: restore::Restores,
    /// Ends the commit message that is being written.
    draft: Option<CancellationToken>,
}

impl Agent {
    /// Until the front end closes its channel or asks to shut down.
    async fn run(mut self, mut commands: mpsc::UnboundedReceiver<Command>) {
        loop {
            tokio::select! {
                command = commands.recv() => match command {
                    None | Some(Command::Shutdown) => break,
                    Some(command) => self.command(command).await,
                },
                end = finished(&mut self.turn) => self.turn_ended(end).await,
            }
        }
        self.shut_down().await;
    }

    async fn command(&mut self, command: Command) {
        match command {
            Command::Submit(prompt) => self.submit(prompt).await,
            Command::GoOn(how) => self.begin(Begin::GoOn(how)).await,
            Command::Decide(id, decision) => {
                self.env.gate.decide(id, decision);
            }
            Command::Reply(id, text) => {
                self.env.gate.reply(id, text);
            }
            Command::Restore(request) => self.restore(request).await,
            Command::Interrupt => match &self.turn {
                Some(running) => running.stop.cancel(),
                None if self.stop_draft() => {}
                None => self.restores.withdraw(),
            },
            Command::Hurry => self.env.hurry.now(),
            Command::Open(choice) => self.open(choice).await,
            Command::Sessions(change) => self.change_session(change).await,
            Command::Set(setting) => self.set(setting).await,
            Command::Ask(id, query) => listings::answer(Arc::clone(&self.env), id, query),
            Command::Compact => self.compact().await,
            Command::Export(format) => self.export(format).await,
            Command::DraftCommit => self.draft_commit(),
            Command::Commit(message) => self.commit(message),
            Command::Shutdown => {}
        }
    }
}

/// The end of the running turn, none if it panicked; never, while none runs.
async fn finished(turn: &mut Option<Running>) -> Option<(Session, turn::Outcome)> {
    match turn {
        Some(running) => {
            let end = (&mut running.task).await;
            *turn = None;
            end.ok()
        }
        None => std::future::pending().await,
    }
}

/// A call's arguments: as they are, or repaired where their meaning is certain.
///
/// # Errors
/// What is wrong with them, for the model.
fn arguments(text: &str) -> Result<serde_json::Value, String> {
    if text.trim().is_empty() {
        return Ok(serde_json::Value::Null);
    }
    serde_json::from_str(text).or_else(|_| json::repair(text))
}

/// The beginning of a text in one line of at most so many characters.
fn first_words(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most) {
        None => line,
        Some((at, _)) => format!("{}…", line[..at].trim_end()),
    }
}

/// The words of the prompt that began the present turn: the cause of what it changes.
fn prompt_words(session: &Session) -> Option<String> {
    let at = session.rows.iter().rposition(|r| Some(*r) == session.turn)?;
    let message = session.messages.get(at).filter(|m| m.role == Role::User)?;
    Some(first_words(message.text().split("\n\n---\n").next().unwrap_or(""), 60))
}

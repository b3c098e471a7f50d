//! Starting the agent: nothing is opened before the front end has had its first frame.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::mpsc;

use super::{Agent, boot};
use crate::archive::Archive;
use crate::config::Config;
use crate::protocol::{Command, Event};
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
        let agent: Agent = boot::boot(parts, outbox).await;
        agent.run(inbox).await;
    });
    Handle { commands, events, done }
}

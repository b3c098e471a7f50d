//! The way to the task that tells of new changesets.

use tokio::sync::{mpsc, oneshot};

use crate::agent::services::events::Events;
use crate::archive::Id;

/// A message to the task that tells of new changesets.
pub enum News {
    /// A new changeset, told through the events of the session that made it.
    Changeset(Events, Id),
    /// Answered once all before it is told.
    Flush(oneshot::Sender<()>),
}

/// The way to the task that tells of new changesets.
pub struct ChangesetNews(mpsc::UnboundedSender<News>);

impl ChangesetNews {
    /// Creates the way over a channel.
    pub fn new(to: mpsc::UnboundedSender<News>) -> Self {
        ChangesetNews(to)
    }

    /// Has a new changeset told to the front end, without waiting.
    pub fn tell(&self, events: &Events, id: Id) {
        // The teller is gone only when the process ends.
        let _ = self.0.send(News::Changeset(events.clone(), id));
    }

    /// Waits until all that was handed over is told.
    pub async fn flushed(&self) {
        let (flushed, wait) = oneshot::channel();
        let _ = self.0.send(News::Flush(flushed));
        let _ = wait.await;
    }
}

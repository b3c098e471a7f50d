//! The sending end of the events, with the numbers that name entries, turns, proposals and questions.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::mpsc::{self, error::TrySendError};

use crate::proposal::ProposalId;
use crate::protocol::{Event, Item, ItemId, Level, Notice, NoticeAction, QuestionId, TurnId};

/// Sends events in order; waits while the front end is behind. A closed channel is no error: the agent's loop
/// sees the closed command channel and ends.
#[derive(Clone)]
pub struct Events {
    to: mpsc::Sender<Event>,
    next: Arc<AtomicU64>,
    turn: Arc<AtomicU64>,
}

impl Events {
    /// Over the bounded channel to the front end.
    pub fn new(to: mpsc::Sender<Event>) -> Self {
        Events { to, next: Arc::new(AtomicU64::new(1)), turn: Arc::default() }
    }

    /// Sends one event.
    pub async fn send(&self, event: Event) {
        let _ = self.to.send(event).await;
    }

    /// Sends one event at once from outside the runtime, whose threads may be waiting for just what this tells of. It
    /// comes back where the front end is behind.
    pub fn send_at_once(&self, event: Event) -> Option<Event> {
        match self.to.try_send(event) {
            Err(TrySendError::Full(event)) => Some(event),
            Ok(()) | Err(TrySendError::Closed(_)) => None,
        }
    }

    /// Adds an entry to the conversation.
    pub async fn add(&self, item: Item) -> ItemId {
        let id = ItemId(self.number());
        self.send(Event::Added(id, item)).await;
        id
    }

    /// Adds the entries of a stored session.
    pub async fn recall(&self, items: Vec<Item>) {
        let items = items.into_iter().map(|item| (ItemId(self.number()), item)).collect();
        self.send(Event::Recalled(items)).await;
    }

    /// Adds a notice to the conversation.
    pub async fn notice(&self, level: Level, title: impl Into<String>, detail: impl Into<String>) {
        self.notice_with(level, title, detail, Vec::new()).await;
    }

    /// Adds a notice that offers something.
    pub async fn notice_with(
        &self,
        level: Level,
        title: impl Into<String>,
        detail: impl Into<String>,
        actions: Vec<NoticeAction>,
    ) {
        let notice = Notice { level, title: title.into(), detail: detail.into(), actions };
        self.add(Item::Notice(notice)).await;
    }

    /// A name for a turn.
    pub fn turn(&self) -> TurnId {
        let id = self.number();
        self.turn.store(id, Ordering::Relaxed);
        TurnId(id)
    }

    /// The name of the turn that began last.
    pub fn last_turn(&self) -> TurnId {
        TurnId(self.turn.load(Ordering::Relaxed))
    }

    /// A name for a proposal.
    pub fn proposal(&self) -> ProposalId {
        ProposalId(self.number())
    }

    /// A name for a question.
    pub fn question(&self) -> QuestionId {
        QuestionId(self.number())
    }

    fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }
}

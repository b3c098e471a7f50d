//! The sending end of the events, with the numbers that name entries, turns, proposals and questions.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use tokio::sync::Notify;
use tokio::sync::mpsc::{self, error::TrySendError};

use crate::messages::records::show;
use crate::messages::verbs::PREVIEWED;
use crate::proposal::ProposalId;
use crate::protocol::{
    Call, Event, EventBody, Item, ItemId, Level, Listing, Notice, NoticeAction, Outcome, ProposalEvent, QuestionId,
    SessionId, TurnEnd, TurnId,
};
use crate::shell::output::mask::{Masker, masked};
use crate::tools::RUN_COMMAND;

/// Sends events in order, each with the session it belongs to; waits while the front end is behind. A closed channel
/// is no error: the supervisor sees the closed command channel and ends.
#[derive(Clone)]
pub struct Events {
    to: mpsc::Sender<Event>,
    session: Option<SessionId>,
    next: Arc<AtomicU64>,
    turn: Arc<AtomicU64>,
    step: Arc<AtomicU32>,
    status_due: Arc<Notify>,
    /// Values that no text of a command shows, each behind its name.
    secrets: Arc<[(String, String)]>,
}

impl Events {
    /// Creates the sender over the bounded channel to the front end, for events that belong to no session.
    pub fn new(to: mpsc::Sender<Event>) -> Self {
        Events {
            to,
            session: None,
            next: Arc::new(AtomicU64::new(1)),
            turn: Arc::default(),
            step: Arc::default(),
            status_due: Arc::default(),
            secrets: Arc::default(),
        }
    }

    /// Returns a sender that masks these values (name, value) in the calls of commands, also as JSON writes them.
    pub fn with_secrets(self, secrets: &[(String, String)]) -> Self {
        let mut all = secrets.to_vec();
        for (name, value) in secrets {
            let json = serde_json::Value::from(value.as_str()).to_string();
            let escaped = &json[1..json.len() - 1];
            if escaped != value {
                all.push((name.clone(), escaped.to_string()));
            }
        }
        // One may be a part of another.
        all.sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
        Events { secrets: all.into(), ..self }
    }

    /// Returns what masks the arguments of a call of this tool as they arrive.
    pub fn masker(&self, tool: &str) -> Masker {
        let secrets: &[(String, String)] = if tool == RUN_COMMAND { &self.secrets } else { &[] };
        Masker::new(secrets.to_vec())
    }

    /// Returns a sender over the same channel for the events of one session. Names are unique across sessions.
    pub fn of(&self, session: SessionId) -> Self {
        Events {
            to: self.to.clone(),
            session: Some(session),
            next: Arc::clone(&self.next),
            turn: Arc::default(),
            step: Arc::default(),
            status_due: Arc::default(),
            secrets: Arc::clone(&self.secrets),
        }
    }

    /// Has the session's actor send the status line as it is then.
    pub fn refresh_status(&self) {
        self.status_due.notify_one();
    }

    /// Waits until the status line is to be sent again; one waits at a time, the session's actor.
    pub async fn status_due(&self) {
        self.status_due.notified().await;
    }

    /// Sends one event.
    pub async fn send(&self, body: EventBody) {
        let _ = self.to.send(self.event(body)).await;
    }

    /// Sends one event at once from outside the runtime, whose threads may be waiting for just what this tells of. It
    /// comes back where the front end is behind.
    pub fn send_at_once(&self, body: EventBody) -> Option<EventBody> {
        match self.to.try_send(self.event(body)) {
            Err(TrySendError::Full(event)) => Some(event.body),
            Ok(()) | Err(TrySendError::Closed(_)) => None,
        }
    }

    fn event(&self, body: EventBody) -> Event {
        let mut body = localised(body);
        if !self.secrets.is_empty() {
            calls_of(&mut body).for_each(|call| self.mask(call));
        }
        Event { session: self.session.clone(), body }
    }

    /// Masks the text of a command in its call.
    fn mask(&self, call: &mut Call) {
        if call.name == RUN_COMMAND {
            for text in [&mut call.main, &mut call.arguments] {
                *text = masked(&self.secrets, std::mem::take(text));
            }
        }
    }

    /// Adds an entry to the conversation.
    pub async fn add(&self, item: Item) -> ItemId {
        let id = ItemId(self.number());
        self.send(EventBody::Added(id, item)).await;
        id
    }

    /// Adds the entries of a stored session.
    pub async fn recall(&self, items: Vec<Item>) {
        let items = items.into_iter().map(|item| (ItemId(self.number()), item)).collect();
        self.send(EventBody::Recalled(items)).await;
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
        let notice = Notice { actions, ..Notice::new(level, title, detail) };
        self.add(Item::Notice(notice)).await;
    }

    /// Says something in passing, not in the conversation.
    pub async fn say(&self, level: Level, title: impl Into<String>, detail: impl Into<String>) {
        self.send(EventBody::Notice(Notice::new(level, title, detail))).await;
    }

    /// Returns a name for a turn.
    pub fn turn(&self) -> TurnId {
        let id = self.number();
        self.turn.store(id, Ordering::Relaxed);
        TurnId(id)
    }

    /// Returns the name of the session's turn that began last.
    pub fn last_turn(&self) -> TurnId {
        TurnId(self.turn.load(Ordering::Relaxed))
    }

    /// Tells that a step of the turn begins: which one, from 1.
    pub async fn begin_step(&self, of_turn: u32) {
        self.step.fetch_add(1, Ordering::Relaxed);
        self.send(EventBody::Step(of_turn)).await;
    }

    /// Returns the session's step under way, counted over all its turns.
    pub fn step(&self) -> u32 {
        self.step.load(Ordering::Relaxed)
    }

    /// Returns a name for a proposal.
    pub fn proposal(&self) -> ProposalId {
        ProposalId(self.number())
    }

    /// Returns a name for a question.
    pub fn question(&self) -> QuestionId {
        QuestionId(self.number())
    }

    fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }
}

/// Returns the calls that an event shows.
fn calls_of(event: &mut EventBody) -> impl Iterator<Item = &mut Call> {
    let (one, recalled, listed) = match event {
        EventBody::Added(_, item) | EventBody::Changed(_, item) => (Some(item), None, None),
        EventBody::Recalled(items) => (None, Some(items), None),
        EventBody::Answer(_, Listing::Preview(preview)) => (None, None, Some(&mut preview.items)),
        _ => (None, None, None),
    };
    let recalled = recalled.into_iter().flatten().map(|(_, item)| item);
    let items = one.into_iter().chain(recalled).chain(listed.into_iter().flatten());
    items.filter_map(|item| match item {
        Item::Call(call) => Some(call),
        _ => None,
    })
}

/// Returns the event in the words of the person: what the model and memory are told is English, and meant for the model.
fn localised(mut event: EventBody) -> EventBody {
    match &mut event {
        EventBody::Added(_, entry) | EventBody::Changed(_, entry) => item(entry),
        EventBody::Recalled(items) => items.iter_mut().for_each(|(_, entry)| item(entry)),
        EventBody::Notice(notice_entry) => notice(notice_entry),
        EventBody::NotConnected(_, why) | EventBody::Returned(_, why) => show(why),
        EventBody::Proposal(ProposalEvent::Settled(_, Outcome::Failed(why))) => show(why),
        EventBody::Proposal(ProposalEvent::LeftOut(_, lines)) => lines.iter_mut().for_each(show),
        EventBody::TurnEnded(_, TurnEnd::Asking(why)) => show(why),
        EventBody::Retrying(Some(wait)) => show(&mut wait.why),
        EventBody::Status(status) => status.banner.iter_mut().for_each(show),
        EventBody::Answer(_, Listing::Failed(why)) => show(why),
        EventBody::Answer(_, Listing::Preview(preview)) => preview.items.iter_mut().for_each(item),
        EventBody::Answer(_, Listing::Rules(rules)) => {
            rules.active.iter_mut().for_each(|rule| show(&mut rule.reason));
            rules.complaints.iter_mut().for_each(show);
        }
        _ => {}
    }
    event
}

fn item(item: &mut Item) {
    match item {
        Item::Call(call) => {
            if call.is_preview() {
                call.verb.done = PREVIEWED.into();
            }
            show(&mut call.summary);
            let file = call.file().to_string();
            if let Some(reason) = &mut call.reason {
                // The entry names the file already.
                if let Some(rest) = reason.strip_prefix(&file).and_then(|rest| rest.strip_prefix(": ")) {
                    *reason = rest.to_string();
                }
                show(reason);
            }
        }
        Item::Notice(notice_entry) => notice(notice_entry),
        Item::Rules(rules) => rules.iter_mut().for_each(|rule| show(&mut rule.reason)),
        _ => {}
    }
}

fn notice(notice: &mut Notice) {
    show(&mut notice.title);
    show(&mut notice.detail);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{Call, CallState, ItemId, Verb};

    #[test]
    fn a_command_that_was_thrown_away_is_no_command_that_ran() {
        let done = |summary: &str| {
            let verb = Verb { done: "ran".into(), ..Verb::default() };
            let call = Call { summary: summary.into(), ..Call::new(RUN_COMMAND, verb, CallState::Done) };
            match localised(EventBody::Added(ItemId(1), Item::Call(call))) {
                EventBody::Added(_, Item::Call(call)) => call.verb.done,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!((done("preview, exit 0").as_str(), done("exit 0").as_str()), ("previewed", "ran"));
    }
}

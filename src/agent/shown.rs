//! A call on the screen: what it shows now, told again each time it moves on.

use std::time::Instant;

use super::events::Events;
use crate::protocol::{Call, CallState, Event, Item, ItemId, PreviewLine};

/// A call's entry in the conversation.
pub struct Shown {
    /// Its name on the channel.
    pub id: ItemId,
    /// What it shows.
    pub call: Call,
    began: Option<Instant>,
}

impl Shown {
    /// A new entry.
    pub async fn add(events: &Events, name: &str, state: CallState) -> Self {
        let call = blank(name, state);
        let id = events.add(Item::Call(call.clone())).await;
        Shown { id, call, began: None }
    }

    /// Moves on to another state.
    pub async fn set(&mut self, events: &Events, state: CallState) {
        if state == CallState::Running {
            self.began = Some(Instant::now());
        }
        if state.is_final() && self.call.took.is_none() {
            self.call.took = self.began.map(|b| b.elapsed());
        }
        self.call.state = state;
        self.tell(events).await;
    }

    /// Ends it with a reason that is shown below it.
    pub async fn end(&mut self, events: &Events, state: CallState, reason: &str, result: &str) {
        self.call.reason = reason.lines().next().map(str::to_string);
        self.call.result = Some(result.to_string());
        self.set(events, state).await;
    }

    /// Shows it as it is now.
    pub async fn tell(&self, events: &Events) {
        events.send(Event::Changed(self.id, Item::Call(self.call.clone()))).await;
    }
}

/// A call of which nothing is known but its name.
pub fn blank(name: &str, state: CallState) -> Call {
    Call {
        name: name.to_string(),
        main: String::new(),
        arguments: String::new(),
        state,
        summary: String::new(),
        counts: None,
        preview: Vec::new(),
        result: None,
        reason: None,
        rung: None,
        took: None,
    }
}

/// Lines of a preview, each with the sign.
pub fn lines(sign: char, text: &str) -> impl Iterator<Item = PreviewLine> + '_ {
    text.lines().map(move |l| PreviewLine { sign, text: l.to_string() })
}

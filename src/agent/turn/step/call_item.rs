//! The entry of a call on the screen, sent again each time its state changes.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::agent::services::events::Events;
use crate::agent::session::records::CallDisplayRecord;
use crate::protocol::{Call, CallState, EventBody, Item, ItemId, PreviewLine};
use crate::shell::output::mask::Masker;
use crate::text::sentence::{first_sentence, in_one_line};
use crate::tools::ToolOutput;

/// A call's entry in the conversation.
#[derive(Clone)]
pub struct CallItem {
    /// Its name on the channel.
    pub id: ItemId,
    /// The call as the entry shows it.
    pub call: Call,
    began: Option<Instant>,
    masker: Masker,
}

impl CallItem {
    /// Creates a new entry.
    pub async fn add(events: &Events, call: Call) -> Self {
        let call = Call { step: events.step(), ..call };
        let masker = events.masker(&call.name);
        let id = events.add(Item::Call(call.clone())).await;
        CallItem { id, call, began: None, masker }
    }

    /// Adds a piece of its arguments as they arrive.
    pub async fn grow(&mut self, events: &Events, piece: &str) {
        self.call.arguments.push_str(piece);
        let shown = String::from_utf8_lossy(&self.masker.take(piece.as_bytes())).into_owned();
        if !shown.is_empty() {
            events.send(EventBody::Grew(self.id, shown)).await;
        }
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

    /// Shows the output of the call, and how long it ran.
    pub fn take_output(&mut self, output: &ToolOutput, took: Option<Duration>) {
        self.call.took = took.or(self.call.took);
        self.call.summary.clone_from(&output.summary);
        let line = |text: &String| PreviewLine { sign: ' ', text: text.clone() };
        self.call.preview = output.preview.iter().map(line).collect();
        self.call.result = Some(output.text.clone());
    }

    /// Returns what memory keeps of how it is shown.
    pub fn record(&self) -> CallDisplayRecord {
        CallDisplayRecord::of(&self.call)
    }

    /// Ends it with a reason that is shown below it; that it was interrupted is its state.
    pub async fn end(&mut self, events: &Events, state: CallState, reason: &str, result: &str) {
        let reason = if state == CallState::Interrupted { String::new() } else { reason_for_person(reason) };
        self.call.reason = Some(reason).filter(|reason| !reason.is_empty());
        self.call.result = Some(result.to_string());
        self.set(events, state).await;
    }

    /// Sends the entry as it is now.
    pub async fn tell(&self, events: &Events) {
        events.send(EventBody::Changed(self.id, Item::Call(self.call.clone()))).await;
    }
}

/// Returns what the person reads of a reason for the model: its first sentence, or the message of an error in JSON.
fn reason_for_person(reason: &str) -> String {
    // Notes may follow it.
    let value = serde_json::Deserializer::from_str(reason).into_iter::<Value>().next();
    match value.and_then(Result::ok).as_ref().and_then(|value| value["error"]["message"].as_str()) {
        Some(message) => in_one_line(message),
        None => first_sentence(reason).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::reason_for_person;

    #[test]
    fn the_message_of_a_refusal_in_json_is_shown() {
        let refused =
            r#"{"error":{"details":{},"kind":"referenced","message":"cannot remove fn.f. It is used\n  fn.g:1"}}"#;
        for (reason, words) in [
            (refused, "cannot remove fn.f. It is used; fn.g:1"),
            (&format!("{refused}\n(a notice)"), "cannot remove fn.f. It is used; fn.g:1"),
            (r#"{"rejected":["a"]}"#, r#"{"rejected":["a"]}"#),
            ("a.rs is not there. Use listDirectory.", "a.rs is not there"),
            ("12 of 14", "12 of 14"),
        ] {
            assert_eq!(reason_for_person(reason), words);
        }
    }
}

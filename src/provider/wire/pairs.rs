//! Every call has exactly one result, directly after its answer and in the order of the calls: every format wants that,
//! and no server is shown a conversation without it.

use std::sync::Arc;

use crate::provider::{Message, Role, ToolResult};

/// Returns the conversation as it is where it is whole; else with results for calls that have none, and without those
/// that have no call.
fn paired(messages: &[Arc<Message>]) -> Option<Vec<Arc<Message>>> {
    if is_paired(messages) {
        return None;
    }
    let mut out: Vec<Arc<Message>> = Vec::with_capacity(messages.len());
    let mut at = 0;
    while let Some(message) = messages.get(at) {
        at += 1;
        if message.role == Role::Tool {
            // Results are taken with their answer; one that is left has none.
            continue;
        }
        out.push(Arc::clone(message));
        let run = messages[at..].iter().take_while(|m| m.role == Role::Tool).count();
        let mut results: Vec<&Arc<Message>> = messages[at..at + run].iter().collect();
        at += run;
        for call in message.calls() {
            let found = results.iter().position(|r| r.answers() == Some(&call.id));
            out.push(match found {
                Some(found) => Arc::clone(results.remove(found)),
                None => Arc::new(Message::result(ToolResult {
                    blobs: Vec::new(),
                    call: call.id.clone(),
                    text: "interrupted by the user".into(),
                    ok: false,
                })),
            });
        }
    }
    Some(out)
}

/// The conversation of the last request, where it is whole: of the next one only what is new is looked at.
#[derive(Default)]
pub(super) struct Paired(Vec<Arc<Message>>);

impl Paired {
    /// Returns the conversation where it is not whole: see [`paired`].
    pub fn complete(&mut self, messages: &[Arc<Message>]) -> Option<Vec<Arc<Message>>> {
        let same = self.0.iter().zip(messages).take_while(|(old, new)| Arc::ptr_eq(old, new)).count();
        let from = if same == self.0.len() { same } else { 0 };
        if !is_paired(&messages[from..]) {
            self.0.clear();
            return paired(messages);
        }
        self.0.truncate(from);
        self.0.extend_from_slice(&messages[from..]);
        None
    }
}

fn is_paired(messages: &[Arc<Message>]) -> bool {
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        if message.role == Role::Tool {
            match open.first() {
                Some(id) if message.answers() == Some(id) => drop(open.remove(0)),
                _ => return false,
            }
        } else if !open.is_empty() {
            return false;
        } else {
            open.extend(message.calls().map(|call| call.id.as_str()));
        }
    }
    open.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::ToolCall;

    fn calls(ids: &[&str]) -> Message {
        let call = |id: &&str| ToolCall { id: (*id).into(), name: "list".into(), arguments: "{}".into() };
        Message::assistant("", ids.iter().map(call).collect())
    }

    fn texts(messages: Vec<Message>) -> Option<Vec<String>> {
        let messages: Vec<_> = messages.into_iter().map(Arc::new).collect();
        let texts = |m: &Arc<Message>| match m.answers() {
            Some(id) => format!("{id}={}", m.text()),
            None => m.calls().map(|c| c.id.as_str()).collect::<Vec<_>>().join(" "),
        };
        Some(paired(&messages)?.iter().map(texts).collect())
    }

    #[test]
    fn a_conversation_with_all_its_pairs_stays_the_same() {
        assert_eq!(
            texts(vec![Message::user("a"), calls(&["x", "x"]), Message::tool("x", "1"), Message::tool("x", "2")]),
            None
        );
        assert_eq!(texts(vec![]), None);
    }

    #[test]
    fn results_are_put_in_order_and_missing_ones_made_up() {
        let messages = vec![
            Message::tool("lost", "0"),
            calls(&["a", "b", "c"]),
            Message::tool("c", "3"),
            Message::tool("a", "1"),
            Message::tool("z", "9"),
            Message::user("u"),
            calls(&["d"]),
        ];
        let wanted = ["a b c", "a=1", "b=interrupted by the user", "c=3", "", "d", "d=interrupted by the user"];
        assert_eq!(texts(messages).expect("paired"), wanted);
    }

    #[test]
    fn what_was_whole_is_not_looked_at_again_unless_it_changed() {
        let mut known = Paired::default();
        let mut messages: Vec<Arc<Message>> =
            [Message::user("a"), calls(&["x"]), Message::tool("x", "1")].map(Arc::new).into();
        assert!(known.complete(&messages).is_none() && known.complete(&messages).is_none());
        messages.extend([calls(&["y"]), Message::tool("y", "2")].map(Arc::new));
        assert!(known.complete(&messages).is_none() && known.0.len() == 5);
        messages.push(Arc::new(Message::tool("y", "3")));
        assert_eq!(known.complete(&messages).map(|whole| whole.len()), Some(5));
        messages.truncate(4);
        assert_eq!(known.complete(&messages).map(|whole| whole.len()), Some(5));
        messages.truncate(3);
        assert!(known.complete(&messages).is_none());
        messages.remove(1);
        assert_eq!(known.complete(&messages).map(|whole| whole.len()), Some(1));
    }
}

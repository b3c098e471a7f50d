//! Joins the pieces of one answer.

use super::{Delta, EndReason, Message, Role, ToolCall, Usage};

/// An answer as far as it has arrived.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answer {
    /// Its text.
    pub text: String,
    /// What the model thought; empty when it did not say.
    pub thinking: String,
    /// Its calls, in order. The last one may be unfinished while [`Answer::end`] is `None`.
    pub calls: Vec<ToolCall>,
    /// Tokens, once told.
    pub usage: Option<Usage>,
    /// Why it ended, once it has.
    pub end: Option<EndReason>,
}

impl Answer {
    /// Takes the next piece in.
    pub fn push(&mut self, delta: &Delta) {
        match delta {
            Delta::Text(more) => self.text.push_str(more),
            Delta::Thinking(more) => self.thinking.push_str(more),
            Delta::Call { index, id, name, arguments } => {
                // Providers number calls without gaps; a recording made by hand may not, and must not make us
                // allocate what it says, so a call out of order goes to the end.
                let at = (*index).min(self.calls.len());
                if at == self.calls.len() {
                    self.calls.push(ToolCall { id: String::new(), name: String::new(), arguments: String::new() });
                }
                let call = &mut self.calls[at];
                if let Some(id) = id {
                    call.id.clone_from(id);
                }
                if let Some(name) = name {
                    call.name.clone_from(name);
                }
                call.arguments.push_str(arguments);
            }
            Delta::Usage(usage) => self.usage = Some(*usage),
            Delta::End(reason) => self.end = Some(*reason),
            Delta::Retrying(_) => {}
        }
    }

    /// Whether anything a person could miss has arrived.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.thinking.is_empty() && self.calls.is_empty()
    }

    /// The answer as a message of the conversation.
    pub fn into_message(self) -> Message {
        Message {
            role: Role::Assistant,
            text: self.text,
            thinking: Some(self.thinking).filter(|thinking| !thinking.is_empty()),
            calls: self.calls,
            answers: None,
            blobs: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(index: usize, id: Option<&str>, name: Option<&str>, arguments: &str) -> Delta {
        Delta::Call { index, id: id.map(Into::into), name: name.map(Into::into), arguments: arguments.into() }
    }

    #[test]
    fn pieces_join_by_index() {
        let mut answer = Answer::default();
        for delta in [
            Delta::Text("a".into()),
            call(0, Some("x"), Some("list"), "{\"pa"),
            call(1, Some("y"), Some("readFile"), "{}"),
            call(0, None, None, "th\":1}"),
            Delta::Text("b".into()),
            Delta::End(EndReason::Calls),
        ] {
            answer.push(&delta);
        }
        assert_eq!(answer.text, "ab");
        assert_eq!(answer.calls[0].arguments, "{\"path\":1}");
        assert_eq!((answer.calls[1].id.as_str(), answer.calls[1].name.as_str()), ("y", "readFile"));
        assert_eq!(answer.end, Some(EndReason::Calls));
    }

    #[test]
    fn a_wild_index_costs_nothing() {
        let mut answer = Answer::default();
        answer.push(&call(usize::MAX, Some("x"), Some("list"), "{}"));
        assert_eq!(answer.calls.len(), 1);
    }
}

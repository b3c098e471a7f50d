//! The inputs of a request's beginning. While none of it changes, each request begins with the bytes of the one before,
//! and a provider need not read them again.

use std::sync::Arc;

use crate::provider::{Message, ToolSpec};

/// The inputs of a request's beginning.
#[derive(Debug, Clone, Default)]
pub struct RequestPrefix {
    /// `plan` or `agent`.
    pub mode: &'static str,
    /// The model and the server that is asked.
    pub model: (String, String),
    /// The edit format, and whether the short prompts are used.
    pub format: (&'static str, bool),
    /// The number of messages the summary stands for; `None`: there is none.
    pub summarised: Option<usize>,
    /// The number of messages gone through for results to leave out, and the number that the person chose.
    pub left_out: (usize, usize),
    /// The system prompt.
    pub system: Arc<str>,
    /// The tools that the model may call.
    pub tools: Arc<[ToolSpec]>,
    /// The conversation.
    pub messages: Vec<Arc<Message>>,
}

impl RequestPrefix {
    /// Returns this with the `messages`, and why a request of it does not begin with the bytes of the one `before` it:
    /// `model`, `mode`, `format`, `compact`, `rewind`, `left out`, `tools` or `prompt`. `None`: it does, or is the
    /// first.
    pub fn after(mut self, before: Option<RequestPrefix>, messages: &[Arc<Message>]) -> (Self, Option<&'static str>) {
        let Some(mut before) = before else {
            self.messages = messages.to_vec();
            return (self, None);
        };
        let same = before.messages.iter().zip(messages).take_while(|(old, new)| Arc::ptr_eq(old, new)).count();
        let cause = self.cause(&before, same < before.messages.len());
        // Of a long conversation only what is new is touched.
        self.messages = std::mem::take(&mut before.messages);
        self.messages.truncate(same);
        self.messages.extend_from_slice(&messages[same..]);
        (self, cause)
    }

    fn cause(&self, before: &RequestPrefix, rewound: bool) -> Option<&'static str> {
        [
            (self.model != before.model, "model"),
            (self.mode != before.mode, "mode"),
            (self.format != before.format, "format"),
            (self.summarised != before.summarised, "compact"),
            (rewound, "rewind"),
            (self.left_out != before.left_out, "left out"),
            (!Arc::ptr_eq(&self.tools, &before.tools) && *self.tools != *before.tools, "tools"),
            (self.system != before.system, "prompt"),
        ]
        .into_iter()
        .find_map(|(changed, cause)| changed.then_some(cause))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_named_by_its_cause() {
        let message = |text: &str| Arc::new(Message::user(text));
        let first =
            RequestPrefix { mode: "agent", messages: vec![message("a"), message("b")], ..RequestPrefix::default() };
        let grown =
            RequestPrefix { messages: first.messages.iter().cloned().chain([message("c")]).collect(), ..first.clone() };
        let cause = |new: &RequestPrefix, before: &RequestPrefix| {
            let (after, cause) = new.clone().after(Some(before.clone()), &new.messages);
            assert!(after.messages.iter().zip(&new.messages).all(|(previous, new)| Arc::ptr_eq(previous, new)));
            assert_eq!(after.messages.len(), new.messages.len());
            cause
        };
        assert_eq!(cause(&grown, &first), None);
        assert_eq!(cause(&first, &grown), Some("rewind"));
        assert_eq!(
            cause(&RequestPrefix { messages: vec![message("a"), message("b")], ..first.clone() }, &first),
            Some("rewind")
        );
        assert_eq!(cause(&RequestPrefix { mode: "plan", ..grown.clone() }, &first), Some("mode"));
        assert_eq!(
            cause(&RequestPrefix { model: ("m".into(), String::new()), mode: "plan", ..grown.clone() }, &first),
            Some("model")
        );
        assert_eq!(cause(&RequestPrefix { format: ("whole", true), ..grown.clone() }, &first), Some("format"));
        assert_eq!(cause(&RequestPrefix { summarised: Some(2), ..grown.clone() }, &first), Some("compact"));
        assert_eq!(cause(&RequestPrefix { left_out: (3, 0), ..grown.clone() }, &first), Some("left out"));
        assert_eq!(cause(&RequestPrefix { system: "Antworte".into(), ..grown.clone() }, &first), Some("prompt"));
    }
}

//! What the beginning of a request depends on. While none of it changes, each request begins with the bytes of the one
//! before, and a provider need not read them anew.

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
    /// How many messages the summary stands for; `None`: there is none.
    pub summarised: Option<usize>,
    /// How many messages were gone through for results to leave out, and how many of them the person chose.
    pub left_out: (usize, usize),
    /// The system prompt.
    pub system: Arc<str>,
    /// The tools that the model may call.
    pub tools: Arc<[ToolSpec]>,
    /// The conversation.
    pub messages: Vec<Arc<Message>>,
}

impl RequestPrefix {
    /// Returns why a request does not begin with the bytes of the one `before` it: `model`, `mode`, `format`,
    /// `compact`,
    /// `rewind`, `left out`, `tools` or `prompt`. `None`: it does.
    pub fn cause(&self, before: &RequestPrefix) -> Option<&'static str> {
        let kept = before.messages.len().min(self.messages.len());
        let same = |at: &usize| Arc::ptr_eq(&self.messages[*at], &before.messages[*at]);
        let rewound = before.messages.len() > self.messages.len() || !(0..kept).all(|at| same(&at));
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
        assert_eq!(grown.cause(&first), None);
        assert_eq!(first.cause(&grown), Some("rewind"));
        assert_eq!(
            RequestPrefix { messages: vec![message("a"), message("b")], ..first.clone() }.cause(&first),
            Some("rewind")
        );
        assert_eq!(RequestPrefix { mode: "plan", ..grown.clone() }.cause(&first), Some("mode"));
        assert_eq!(
            RequestPrefix { model: ("m".into(), String::new()), mode: "plan", ..grown.clone() }.cause(&first),
            Some("model")
        );
        assert_eq!(RequestPrefix { format: ("whole", true), ..grown.clone() }.cause(&first), Some("format"));
        assert_eq!(RequestPrefix { summarised: Some(2), ..grown.clone() }.cause(&first), Some("compact"));
        assert_eq!(RequestPrefix { left_out: (3, 0), ..grown.clone() }.cause(&first), Some("left out"));
        assert_eq!(RequestPrefix { system: "Antworte".into(), ..grown.clone() }.cause(&first), Some("prompt"));
    }
}

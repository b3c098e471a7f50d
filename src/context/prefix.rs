//! The inputs of a request's beginning. While none of it changes, each request begins with the bytes of the one before,
//! and a provider need not read them again.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::provider::{Message, ToolSpec};

/// The inputs of a request's beginning.
#[derive(Debug, Clone, Default)]
pub struct RequestPrefix {
    /// The inputs that are stored with the answer.
    pub basis: PrefixBasis,
    /// The system prompt; `None` after a resume.
    pub system: Option<Arc<str>>,
    /// The tools that the model may call; `None` after a resume.
    pub tools: Option<Arc<[ToolSpec]>>,
    /// The conversation.
    pub messages: Vec<Arc<Message>>,
}

/// The inputs that memory keeps, so that the first request after a resume is compared too.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrefixBasis {
    /// `plan` or `agent`.
    pub mode: String,
    /// The model.
    pub model: String,
    /// The server that is asked.
    pub place: String,
    /// The edit format, and whether the short prompts are used.
    pub format: (String, bool),
    /// The number of messages the summary stands for; `None`: there is none.
    pub summarised: Option<usize>,
    /// The number of messages gone through for results to leave out, and the number of those that the person chose and
    /// of messages whose files a server refused.
    pub left_out: (usize, usize),
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
        let (now, then) = (&self.basis, &before.basis);
        let other_tools = |(now, then): (&Arc<[ToolSpec]>, &Arc<[ToolSpec]>)| !Arc::ptr_eq(now, then) && now != then;
        let other_prompt = |(now, then): (&Arc<str>, &Arc<str>)| now != then;
        [
            ((&now.model, &now.place) != (&then.model, &then.place), "model"),
            (now.mode != then.mode, "mode"),
            (now.format != then.format, "format"),
            (now.summarised != then.summarised, "compact"),
            (rewound, "rewind"),
            (now.left_out != then.left_out, "left out"),
            (self.tools.as_ref().zip(before.tools.as_ref()).is_some_and(other_tools), "tools"),
            (self.system.as_ref().zip(before.system.as_ref()).is_some_and(other_prompt), "prompt"),
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
        let basis = PrefixBasis { mode: "agent".into(), ..PrefixBasis::default() };
        let messages = vec![message("a"), message("b")];
        let first =
            RequestPrefix { basis: basis.clone(), messages, system: Some("Answer".into()), ..RequestPrefix::default() };
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
        let with = |change: &dyn Fn(&mut PrefixBasis)| {
            let mut basis = basis.clone();
            change(&mut basis);
            RequestPrefix { basis, ..grown.clone() }
        };
        assert_eq!(cause(&with(&|b| b.mode = "plan".into()), &first), Some("mode"));
        assert_eq!(cause(&with(&|b| (b.model, b.mode) = ("m".into(), "plan".into())), &first), Some("model"));
        assert_eq!(cause(&with(&|b| b.place = "p".into()), &first), Some("model"));
        assert_eq!(cause(&with(&|b| b.format = ("whole".into(), true)), &first), Some("format"));
        assert_eq!(cause(&with(&|b| b.summarised = Some(2)), &first), Some("compact"));
        assert_eq!(cause(&with(&|b| b.left_out = (3, 0)), &first), Some("left out"));
        assert_eq!(cause(&RequestPrefix { system: Some("Antworte".into()), ..grown.clone() }, &first), Some("prompt"));
        // After a resume the prompt and the tools of before are not known.
        let resumed = RequestPrefix { system: None, ..first.clone() };
        assert_eq!(cause(&grown, &resumed), None);
    }
}

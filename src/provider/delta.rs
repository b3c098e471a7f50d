//! The pieces of an answer as it arrives.

use futures_util::stream::BoxStream;

use super::{Error, ErrorKind, PartKind, Usage};

/// The answer to a request as it arrives.
pub type Deltas = BoxStream<'static, Result<Delta, Error>>;

/// A piece of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Delta {
    /// A piece of text.
    Text(String),
    /// More of what the model thinks; empty where it thinks and the server does not show what.
    Thinking(String),
    /// A piece of a call.
    Call {
        /// The call's number in this answer, from 0; calls of one answer never share it.
        index: usize,
        /// Its id, in its first piece.
        id: Option<String>,
        /// The tool, in its first piece.
        name: Option<String>,
        /// The next part of its arguments; may be empty.
        arguments: String,
    },
    /// A new part begins, also where it is of the same kind.
    Part,
    /// The text of the part that has just begun is said on the way, such as what the model is about to do: it is no answer.
    Commentary,
    /// The provider's own JSON of a part that is whole: of the newest one of its kind that has none yet, or, where
    /// there is none (or right after [`Delta::Part`]), of a new one without a word.
    Seal {
        /// Its kind.
        kind: PartKind,
        /// The place of the call in this answer, for a call.
        index: usize,
        /// The JSON, byte for byte.
        json: String,
    },
    /// The server begins again what it had not finished: this many bytes at the end of text and thoughts, and this many of the last
    /// calls, do not count.
    Withdraw {
        /// Bytes of text.
        text: usize,
        /// Bytes of thoughts.
        thinking: usize,
        /// Calls.
        calls: usize,
    },
    /// Tokens of this request; a later one replaces an earlier one.
    Usage(Usage),
    /// The answer is whole. Comes once, and nothing but usage comes after it.
    End(EndReason),
    /// Something the person should know: one line.
    Notice(String),
    /// The request failed and is tried again after a pause. Any other delta ends the pause.
    Retrying(Backoff),
}

/// The longest piece that is joined from neighbours, in bytes: what is shown, and stopped, goes by pieces.
const LONGEST_JOINED: usize = 4 << 10;

impl Delta {
    /// Takes `next` in where it only goes on with this one; gives it back where it does not.
    ///
    /// # Errors
    /// `next`, which stands for itself.
    pub(super) fn join(&mut self, next: Delta) -> Result<(), Delta> {
        let (text, more) = match (self, &next) {
            (Delta::Text(text), Delta::Text(more)) | (Delta::Thinking(text), Delta::Thinking(more)) => (text, more),
            (
                Delta::Call { index, arguments, .. },
                Delta::Call { index: same, id: None, name: None, arguments: more },
            ) if index == same => (arguments, more),
            _ => return Err(next),
        };
        if text.len() + more.len() > LONGEST_JOINED {
            return Err(next);
        }
        text.push_str(more);
        Ok(())
    }
}

/// The reason why an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EndReason {
    /// The model was done.
    Stop,
    /// It reached its limit of tokens: the end of the text is missing.
    Length,
    /// It waits for the results of its calls.
    Calls,
    /// The server held back the rest.
    Filter,
    /// The server pauses: it goes on when it is sent what it said so far.
    Paused,
    /// The model made a call that the server itself could not read.
    Malformed,
    /// Anything else, and servers that do not say.
    Other,
}

/// A pause before the next try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backoff {
    /// The kind of failure.
    pub kind: ErrorKind,
    /// The status of the answer, where there was one.
    pub status: Option<u16>,
    /// The server's own name for the request.
    pub request_id: Option<String>,
    /// The number of the next try; the first request was 1.
    pub attempt: u32,
    /// The most tries.
    pub of: u32,
    /// The time when it happens, in unix milliseconds.
    pub until: i64,
    /// The failure, in one line: `api.openai.com: rate limited (429)`.
    pub why: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_joined_that_only_go_on_with_each_other() {
        let call = |index, name: Option<&str>, arguments: &str| Delta::Call {
            index,
            id: None,
            name: name.map(Into::into),
            arguments: arguments.into(),
        };
        let text = |text: &str| Delta::Text(text.into());
        for (first, next, joined) in [
            (text("a"), text("b"), Some(text("ab"))),
            (Delta::Thinking("a".into()), Delta::Thinking("b".into()), Some(Delta::Thinking("ab".into()))),
            (call(1, Some("list"), "{"), call(1, None, "}"), Some(call(1, Some("list"), "{}"))),
            (call(1, None, "{"), call(2, None, "}"), None),
            (call(1, None, "{"), call(1, Some("list"), "}"), None),
            (text("a"), Delta::Thinking("b".into()), None),
            (text("a"), Delta::Part, None),
            (text(&"a".repeat(LONGEST_JOINED)), text("b"), None),
        ] {
            let mut delta = first.clone();
            match joined {
                Some(joined) => assert_eq!((delta.join(next), &delta), (Ok(()), &joined)),
                None => assert_eq!((delta.join(next.clone()), &delta), (Err(next), &first)),
            }
        }
    }
}

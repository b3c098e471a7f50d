//! Joins the pieces of one answer.

use super::{Delta, EndReason, Message, PartKind, Span, ToolCall, Usage};

/// An answer as far as it has arrived.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answer {
    /// Its text.
    pub text: String,
    /// The model's thoughts; empty where it sent none.
    pub thinking: String,
    /// Its calls, in order. The last one may be unfinished while [`Answer::end`] is `None`.
    pub calls: Vec<ToolCall>,
    /// The order in which pieces of these were said.
    pub spans: Vec<Span>,
    /// Tokens, once told.
    pub usage: Option<Usage>,
    /// The reason why it ended, once it has.
    pub end: Option<EndReason>,
    /// True if what comes next begins a new part.
    parted: bool,
}

impl Answer {
    /// Takes the next piece in.
    pub fn push(&mut self, delta: &Delta) {
        match delta {
            Delta::Text(more) => {
                self.text.push_str(more);
                self.extend(PartKind::Text, more.len());
            }
            Delta::Thinking(more) => {
                self.thinking.push_str(more);
                self.extend(PartKind::Thinking, more.len());
            }
            Delta::Call { index, id, name, arguments } => self.call(*index, id.as_deref(), name.as_deref(), arguments),
            Delta::Part => self.parted = true,
            Delta::Seal { kind, index, json } => self.seal(*kind, *index, json),
            Delta::Withdraw { text, thinking, calls } => self.withdraw(*text, *thinking, *calls),
            Delta::Usage(usage) => self.usage = Some(*usage),
            Delta::End(reason) => self.end = Some(*reason),
            Delta::Commentary | Delta::Notice(_) | Delta::Retrying(_) => {}
        }
    }

    /// Returns whether anything a person could miss has arrived.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.thinking.is_empty() && self.calls.is_empty()
    }

    /// Returns the bytes of all that the model wrote.
    pub fn written(&self) -> usize {
        let calls = self.calls.iter().map(|call| call.name.len() + call.arguments.len()).sum::<usize>();
        self.text.len() + self.thinking.len() + calls
    }

    /// Returns the tokens that the server reported and the bytes of the answer; `None`: it was stopped before its first word,
    /// and may not have been asked for at all.
    pub fn used(&self) -> Option<(Option<Usage>, usize)> {
        let is_unasked = self.usage.is_none() && self.end.is_none() && self.is_empty();
        (!is_unasked).then(|| (self.usage, self.written()))
    }

    /// Drops the calls that `keep` does not want, by their number.
    pub fn keep_calls(&mut self, keep: impl Fn(usize) -> bool) {
        let mut at = 0;
        self.spans.retain(|span| {
            let call = span.kind == PartKind::Call;
            at += usize::from(call);
            !call || keep(at - 1)
        });
        let mut at = 0;
        self.calls.retain(|_| {
            at += 1;
            keep(at - 1)
        });
    }

    /// Returns the answer as a message of the conversation.
    pub fn into_message(self) -> Message {
        Message::answer(&self.text, &self.thinking, self.calls, self.spans)
    }

    fn call(&mut self, index: usize, id: Option<&str>, name: Option<&str>, arguments: &str) {
        // Providers number calls without gaps; a recording made by hand may not, and must not make us
        // allocate what it says, so a call out of order goes to the end.
        let at = index.min(self.calls.len());
        if at == self.calls.len() {
            self.calls.push(ToolCall { id: String::new(), name: String::new(), arguments: String::new() });
            self.begin(PartKind::Call, 0);
        }
        let call = &mut self.calls[at];
        if let Some(id) = id {
            call.id = id.into();
        }
        if let Some(name) = name {
            call.name = name.into();
        }
        call.arguments.push_str(arguments);
    }

    fn withdraw(&mut self, text: usize, thinking: usize, calls: usize) {
        remove_end(&mut self.text, &mut self.spans, PartKind::Text, text);
        remove_end(&mut self.thinking, &mut self.spans, PartKind::Thinking, thinking);
        let remaining = self.calls.len().saturating_sub(calls);
        self.keep_calls(|at| at < remaining);
        self.parted = true;
    }

    fn extend(&mut self, kind: PartKind, bytes: usize) {
        match self.spans.last_mut() {
            Some(span) if span.kind == kind && span.seal.is_none() && !self.parted => span.bytes += bytes,
            _ => self.begin(kind, bytes),
        }
    }

    fn begin(&mut self, kind: PartKind, bytes: usize) {
        self.parted = false;
        self.spans.push(Span { kind, bytes, seal: None });
    }

    fn seal(&mut self, kind: PartKind, index: usize, json: &str) {
        let mut of_kind = self.spans.iter_mut().filter(|span| span.kind == kind);
        let found = match kind {
            PartKind::Call => of_kind.nth(index),
            _ if self.parted => None,
            _ => of_kind.rfind(|span| span.seal.is_none()),
        };
        match found {
            Some(span) => span.seal = Some(json.into()),
            // A seal of a call that is not there would go back without its call.
            None if kind == PartKind::Call => {}
            None => {
                self.parted = false;
                self.spans.push(Span { kind, bytes: 0, seal: Some(json.into()) });
            }
        }
    }
}

/// Takes bytes back from the end of a text and from its newest parts, as far as they are not sealed.
fn remove_end(text: &mut String, spans: &mut Vec<Span>, kind: PartKind, bytes: usize) {
    let mut left = bytes;
    for span in spans.iter_mut().rev().filter(|span| span.kind == kind).take_while(|span| span.seal.is_none()) {
        let remaining = text.len().saturating_sub(left.min(span.bytes));
        if left == 0 || !text.is_char_boundary(remaining) {
            break;
        }
        let taken = text.len() - remaining;
        text.truncate(remaining);
        span.bytes -= taken;
        left -= taken;
    }
    spans.retain(|span| span.kind != kind || span.bytes > 0 || span.seal.is_some());
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
    fn what_is_withdrawn_is_no_part_of_the_answer() {
        let mut answer = Answer::default();
        for delta in [
            Delta::Text("kept ".into()),
            seal(PartKind::Text, 0, "1"),
            call(0, Some("a"), Some("list"), "{}"),
            Delta::Part,
            Delta::Text("half".into()),
            call(1, Some("b"), Some("list"), "{\"pa"),
            Delta::Withdraw { text: 4, thinking: 9, calls: 1 },
            Delta::Text("whole".into()),
            call(1, Some("c"), Some("list"), "{}"),
        ] {
            answer.push(&delta);
        }
        assert_eq!((answer.text.as_str(), answer.calls[1].id.as_str()), ("kept whole", "c"));
        assert_eq!(answer.spans.iter().map(|span| span.bytes).collect::<Vec<_>>(), [5, 0, 5, 0]);
        // More than there is, or a part of a character, takes nothing that is whole away.
        answer.push(&Delta::Withdraw { text: 99, thinking: 0, calls: 99 });
        assert_eq!((answer.text.as_str(), answer.calls.len()), ("kept ", 0));
    }

    #[test]
    fn a_wild_index_costs_nothing() {
        let mut answer = Answer::default();
        answer.push(&call(usize::MAX, Some("x"), Some("list"), "{}"));
        assert_eq!(answer.calls.len(), 1);
    }

    fn seal(kind: PartKind, index: usize, json: &str) -> Delta {
        Delta::Seal { kind, index, json: json.into() }
    }

    /// Kind, bytes and seal of each part.
    fn spans(deltas: &[Delta]) -> Vec<(PartKind, usize, Option<String>)> {
        let mut answer = Answer::default();
        deltas.iter().for_each(|delta| answer.push(delta));
        answer.into_message().spans().into_iter().map(|s| (s.kind, s.bytes, s.seal.map(|s| s.to_string()))).collect()
    }

    #[test]
    fn a_sealed_part_is_closed() {
        let text = |text: &str| Delta::Text(text.into());
        let got = spans(&[
            Delta::Thinking("a".into()),
            Delta::Thinking("b".into()),
            seal(PartKind::Thinking, 0, "1"),
            seal(PartKind::Thinking, 0, "2"),
            text("x"),
            text("y"),
            Delta::Part,
            text("z"),
            seal(PartKind::Text, 0, "3"),
            call(0, Some("c"), Some("list"), "{}"),
            call(1, Some("d"), Some("list"), "{}"),
            seal(PartKind::Call, 0, "4"),
            seal(PartKind::Call, 7, "5"),
            Delta::Part,
            seal(PartKind::Text, 0, "6"),
            seal(PartKind::Other, 0, "7"),
        ]);
        let some = |text: &str| Some(text.to_string());
        assert_eq!(
            got,
            [
                (PartKind::Thinking, 2, some("1")),
                (PartKind::Thinking, 0, some("2")),
                (PartKind::Text, 2, None),
                (PartKind::Text, 1, some("3")),
                (PartKind::Call, 0, some("4")),
                (PartKind::Call, 0, None),
                (PartKind::Text, 0, some("6")),
                (PartKind::Other, 0, some("7")),
            ]
        );
    }

    #[test]
    fn calls_that_are_dropped_take_their_place_along() {
        let mut answer = Answer::default();
        for delta in [
            call(0, Some("a"), Some("list"), "{}"),
            Delta::Text("t".into()),
            call(1, Some("b"), Some("list"), "{"),
            seal(PartKind::Call, 0, "1"),
        ] {
            answer.push(&delta);
        }
        answer.keep_calls(|at| at == 0);
        let message = answer.into_message();
        assert_eq!(message.calls().map(|c| c.id.as_str()).collect::<Vec<_>>(), ["a"]);
        assert_eq!(message.parts.len(), 2);
        assert_eq!(message.seals().count(), 1);
    }
}

//! The reasoning that local models write in their answers: the text between `<think>` and `</think>` at the start of an
//! answer, which servers without a reading of their own pass on as it is.
//!
//! Only a tag that begins the answer counts, or one right after another thought, or a closing one that no opening one
//! precedes: anywhere else it is text about tags.

use super::unopened_thought::{UnopenedThought, WatchedText};
use crate::provider::Delta;

/// The names of the tags.
const NAMES: [&str; 2] = ["think", "thinking"];

/// Takes the text of one answer apart. The same in any chunking.
#[derive(Debug)]
pub(in crate::provider) struct ReasoningTags {
    state: TagState,
    /// The text that is not decided yet: the beginning of a tag.
    held: String,
    /// The text so far, as long as it may turn out to be a thought.
    unopened: Option<UnopenedThought>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TagState {
    /// Nothing but white space has come, since the start or since a thought.
    Before { thought: bool },
    /// Inside the tag of this name.
    Inside(&'static str),
    /// The answer itself.
    Text,
}

impl Default for ReasoningTags {
    fn default() -> Self {
        let unopened = Some(UnopenedThought::default());
        Self { state: TagState::Before { thought: false }, held: String::new(), unopened }
    }
}

impl ReasoningTags {
    /// Takes the next piece of text.
    pub(in crate::provider) fn push(&mut self, text: &str, out: &mut Vec<Delta>) {
        if self.state == TagState::Text && self.unopened.is_none() {
            return emit(text, Delta::Text, out);
        }
        self.held.push_str(text);
        while !self.held.is_empty() && self.step(out) {}
    }

    /// Ends the text: what was held is what it looks like. A thought that was never closed stays one.
    pub(in crate::provider) fn finish(&mut self, out: &mut Vec<Delta>) {
        let held = std::mem::take(&mut self.held);
        match self.state {
            TagState::Inside(_) => emit(&held, Delta::Thinking, out),
            TagState::Before { thought: true } if held.trim().is_empty() => {}
            TagState::Before { .. } | TagState::Text => self.text(&held, out),
        }
        if let Some(unopened) = self.unopened.take() {
            self.watched(unopened.finish(), out);
        }
    }

    /// Goes on as far as one decision; whether another may follow at once.
    fn step(&mut self, out: &mut Vec<Delta>) -> bool {
        match self.state {
            TagState::Text => {
                let text = std::mem::take(&mut self.held);
                self.text(&text, out);
                // Behind a closing tag another thought may follow.
                self.state != TagState::Text
            }
            TagState::Before { thought } => self.before(thought),
            TagState::Inside(name) => self.inside(name, out),
        }
    }

    fn before(&mut self, thought: bool) -> bool {
        let begun = self.held.trim_start();
        if let Some(name) = NAMES.into_iter().find(|name| begun.starts_with(&format!("<{name}>"))) {
            let rest = begun[name.len() + 2..].to_string();
            self.held = rest;
            (self.state, self.unopened) = (TagState::Inside(name), None);
            return true;
        }
        if NAMES.iter().any(|name| format!("<{name}>").starts_with(begun)) {
            return false;
        }
        if thought {
            self.held = begun.to_string();
        }
        self.state = TagState::Text;
        true
    }

    /// Takes text of the answer, which may still turn out to be a thought.
    fn text(&mut self, text: &str, out: &mut Vec<Delta>) {
        match self.unopened.as_mut().map(|unopened| unopened.push(text)) {
            Some(watched) => self.watched(watched, out),
            None => emit(text, Delta::Text, out),
        }
    }

    fn watched(&mut self, watched: WatchedText, out: &mut Vec<Delta>) {
        match watched {
            WatchedText::Text(text) => emit(&text, Delta::Text, out),
            WatchedText::Over(text) => {
                self.unopened = None;
                emit(&text, Delta::Text, out);
            }
            WatchedText::Closed { thought, passed, rest } => {
                self.unopened = None;
                if passed > 0 {
                    out.push(Delta::Withdraw { text: passed, thinking: 0, calls: 0 });
                }
                out.push(Delta::Part);
                emit(if thought.trim().is_empty() { "" } else { &thought }, Delta::Thinking, out);
                (self.state, self.held) = (TagState::Before { thought: true }, rest);
            }
        }
    }

    fn inside(&mut self, name: &'static str, out: &mut Vec<Delta>) -> bool {
        let end = format!("</{name}>");
        if let Some(at) = self.held.find(&end) {
            emit(&self.held[..at], Delta::Thinking, out);
            self.held.drain(..at + end.len());
            self.state = TagState::Before { thought: true };
            return true;
        }
        // The longest end of the text that may be the beginning of the tag waits. The tag is ASCII, so is what waits.
        let most = end.len().min(self.held.len());
        let waits = (1..=most).rev().find(|n| self.held.as_bytes().ends_with(&end.as_bytes()[..*n])).unwrap_or(0);
        let thoughts: String = self.held.drain(..self.held.len() - waits).collect();
        emit(&thoughts, Delta::Thinking, out);
        false
    }
}

fn emit(text: &str, delta: fn(String) -> Delta, out: &mut Vec<Delta>) {
    if !text.is_empty() {
        out.push(delta(text.to_string()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::Answer;

    /// Text and thinking of an answer that comes in these pieces.
    fn read<'a>(pieces: impl Iterator<Item = &'a str>) -> (String, String) {
        let (mut thoughts, mut out) = (ReasoningTags::default(), Vec::new());
        pieces.for_each(|piece| thoughts.push(piece, &mut out));
        thoughts.finish(&mut out);
        let mut answer = Answer::default();
        out.iter().for_each(|delta| answer.push(delta));
        (answer.text, answer.thinking)
    }

    #[test]
    fn thoughts_are_distinguished_from_the_answer_in_any_chunking() {
        for (whole, text, thinking) in [
            ("<think>\nhm, 日本\n</think>\n\nYes.", "Yes.", "\nhm, 日本\n"),
            ("\n <think></think>Yes.", "Yes.", ""),
            ("<thinking>a</think>b</thinking>c", "c", "a</think>b"),
            ("<think>a</think>\n<think>b</think>\nc", "c", "ab"),
            ("<think>never closed </thin", "", "never closed </thin"),
            ("<think>closed and nothing more</think>\n", "", "closed and nothing more"),
            ("<thin", "<thin", ""),
            ("  a <think>b</think>", "  a <think>b</think>", ""),
            ("<thinker>", "<thinker>", ""),
            ("plain\n", "plain\n", ""),
            ("<think>a</think>b <think>c</think>", "b <think>c</think>", "a"),
            ("", "", ""),
        ] {
            check(whole, text, thinking);
        }
    }

    #[test]
    fn a_closing_tag_that_no_opening_one_precedes_ends_a_thought_in_any_chunking() {
        let draft = "Let me draft:\n\na.py\n```python\nx = 1\n```\n日本\n";
        check(&format!("{draft}</think>\n\nYes."), "Yes.", draft);
        for (whole, text, thinking) in [
            ("hm.</think>\n\nYes.", "Yes.", "hm."),
            ("hm.</thinking> \nYes.", "Yes.", "hm."),
            ("hm.\n</think>Yes. </think>\n", "Yes. </think>\n", "hm.\n"),
            ("hm.</think>", "", "hm."),
            ("\n</think>\nYes.", "Yes.", ""),
            ("a\n</think>\n<think>b</think>c", "c", "a\nb"),
            ("```md\n```\nhm\n</think>\nYes.", "Yes.", "```md\n```\nhm\n"),
            ("*** Begin Patch\n*** End Patch\n</think>Yes.", "Yes.", "*** Begin Patch\n*** End Patch\n"),
            ("<write_file path=\"a\">x</write_file>\n</think>Yes.", "Yes.", "<write_file path=\"a\">x</write_file>\n"),
        ] {
            check(whole, text, thinking);
        }
        for text in [
            "```\nx\n</think>\n```\nYes.",
            "a.py\n<<<<<<< SEARCH\n</think>\n=======\n>>>>>>> REPLACE\n",
            "The tag </think> ends it.",
            "It is `</think>`\nor\n- </think>\n",
            "From <think> to\n</think>\n",
            "a < b </thin",
            "```\nx\n```\n--- a\n+++ b\n@@ -1,2 +1,2 @@\n </think>\n-x\n+y\n",
            "*** Begin Patch\n*** Add File: a\n+x\n</think>\n*** End Patch\n",
            "<write_file path=\"a\">\nx\n</think>\n</write_file>\nDone.",
            "<writeFile path=\"a\">\nx\n</think>\n</writeFile>\nDone.",
            "<replace_file>\n<path>a</path>\n<search>\n</think>\n</search>\n</replace_file>\n",
            "<function=writeFile>\n<parameter=content>\n</think>\n</parameter>\n</function>\n",
            "<invoke name=\"writeFile\">\n<parameter name=\"content\">\n</think>\n</parameter>\n</invoke>\n",
            "writeFile\n<arg_key>content</arg_key>\n<arg_value>\nx\n</think>\n</arg_value>\n",
        ] {
            check(text, text, "");
        }
    }

    /// Reads an answer whole, letter by letter, and in two pieces of any length.
    fn check(whole: &str, text: &str, thinking: &str) {
        let wanted = (text.to_string(), thinking.to_string());
        assert_eq!(read([whole].into_iter()), wanted, "{whole:?}");
        let letters = whole.char_indices().map(|(at, c)| &whole[at..at + c.len_utf8()]);
        assert_eq!(read(letters), wanted, "{whole:?}, letter by letter");
        for (cut, _) in whole.char_indices() {
            assert_eq!(read([&whole[..cut], &whole[cut..]].into_iter()), wanted, "{whole:?} cut at {cut}");
        }
    }

    #[test]
    fn text_that_cannot_be_a_tag_is_reported_at_once() {
        let (mut thoughts, mut out) = (ReasoningTags::default(), Vec::new());
        thoughts.push("Y", &mut out);
        thoughts.push("<think>", &mut out);
        assert_eq!(out, [Delta::Text("Y".into()), Delta::Text("<think>".into())]);
    }
}

//! The prose above what comes next in an answer.

use std::collections::VecDeque;

use super::super::starts::{HEAD, char_floor};

/// The last lines of prose above an edit or a block, without blank ones.
#[derive(Debug, Default)]
pub(super) struct ProseAbove {
    lines: VecDeque<String>,
    /// The line that is being said, as far as it has arrived.
    saying: String,
    /// A block has ended since: what is said next is about another one.
    is_over: bool,
}

/// Lines above a block that are looked at for the file it is for, at most.
const MOST: usize = 4;

impl ProseAbove {
    /// Returns the beginning of the last line.
    pub fn last(&self) -> &str {
        self.lines.back().map_or("", String::as_str)
    }

    /// Returns the lines above the last one.
    pub fn before(&self) -> String {
        let before = self.lines.iter().take(self.lines.len().saturating_sub(1));
        before.map(|line| format!("{}\n", line.trim_end())).collect()
    }

    /// Takes prose as it arrives.
    pub fn say(&mut self, text: &str) {
        for part in text.split_inclusive('\n') {
            let room = HEAD - self.saying.len();
            let fits = char_floor(part, room);
            self.saying.push_str(&part[..fits]);
            if fits < part.len() {
                // Full, so that nothing shorter than what did not fit follows it, however the text is cut.
                self.saying.extend(std::iter::repeat_n(' ', room - fits));
            }
            if part.ends_with('\n') {
                let line = std::mem::take(&mut self.saying);
                self.note(line);
            }
        }
    }

    /// Takes a line as a whole.
    pub fn note(&mut self, line: String) {
        if line.trim().is_empty() {
            return;
        }
        if std::mem::take(&mut self.is_over) {
            self.lines.clear();
        }
        self.lines.push_back(line);
        if self.lines.len() > MOST {
            self.lines.pop_front();
        }
    }

    /// Ends what was said of a block: only its last line may be about the next one too.
    pub fn end_block(&mut self) {
        let last = self.lines.pop_back();
        self.lines.clear();
        self.lines.extend(last);
        self.is_over = true;
    }

    /// Forgets what was said.
    pub fn clear(&mut self) {
        self.lines.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_known_however_they_arrive() {
        let text = format!("one\n\ntwo\n{}\nthree\n", "é".repeat(HEAD));
        let by = |size: usize| {
            let mut said = ProseAbove::default();
            let mut rest = text.as_str();
            while !rest.is_empty() {
                let (part, after) = rest.split_at(rest.ceil_char_boundary(size.min(rest.len())));
                said.say(part);
                rest = after;
            }
            (said.last().to_string(), said.before())
        };
        assert_eq!(by(1), by(usize::MAX));
        assert_eq!(by(1), by(7));
        assert!(by(1).0.starts_with("three") && by(1).1.starts_with("one\ntwo\n"));
    }

    #[test]
    fn what_was_said_of_a_block_is_over_with_it() {
        let mut said = ProseAbove::default();
        said.say("Create a.py.\nIt holds:\n");
        assert_eq!((said.last(), said.before().as_str()), ("It holds:\n", "Create a.py.\n"));
        said.end_block();
        assert_eq!((said.last(), said.before().as_str()), ("It holds:\n", ""));
        said.say("Then:\n");
        assert_eq!((said.last(), said.before().as_str()), ("Then:\n", ""));
    }
}

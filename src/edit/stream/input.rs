//! Text that has arrived and is not consumed yet.

use super::pieces::End;

/// The text from the first byte that is not consumed.
#[derive(Debug, Default)]
pub(in crate::edit) struct Input {
    buffer: String,
    at: usize,
    /// The number of bytes consumed so far.
    pub taken: usize,
    /// The position (absolute in `buffer`) up to which there is no line end after `at`.
    searched: usize,
    /// Set once nothing more will come.
    pub end: Option<End>,
}

/// One line of the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::edit) struct Line {
    /// Bytes of its content, without the line end.
    pub content: usize,
    /// Bytes to skip to reach the next line.
    pub next: usize,
}

impl Input {
    pub fn push(&mut self, text: &str) {
        if self.at > 0 && self.at >= self.buffer.len() / 2 {
            self.buffer.drain(..self.at);
            self.searched = self.searched.saturating_sub(self.at);
            self.at = 0;
        }
        self.buffer.push_str(text);
    }

    /// Returns all that has arrived and is not consumed.
    pub fn rest(&self) -> &str {
        &self.buffer[self.at..]
    }

    pub fn skip(&mut self, bytes: usize) {
        self.at += bytes;
        self.taken += bytes;
        self.searched = self.searched.max(self.at);
    }

    /// Returns the next line, if it is whole: ended, or the last one of an ended text (not empty).
    pub fn line(&mut self) -> Option<Line> {
        let from = self.searched.max(self.at);
        match memchr::memchr(b'\n', &self.buffer.as_bytes()[from..]) {
            Some(found) => {
                let end = from + found;
                self.searched = end;
                let content = self.buffer[self.at..end].strip_suffix('\r').map_or(end - self.at, str::len);
                Some(Line { content, next: end + 1 - self.at })
            }
            None => {
                self.searched = self.buffer.len();
                let rest = self.buffer.len() - self.at;
                (self.end.is_some() && rest > 0).then_some(Line { content: rest, next: rest })
            }
        }
    }

    pub fn ended(&self) -> bool {
        self.end.is_some()
    }
}

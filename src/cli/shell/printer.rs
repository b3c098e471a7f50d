//! The printer of what a person's own command prints.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use super::super::out::{self, Out};
use crate::shell::output::mask::Masker;
use crate::text::clean::clean_line;

/// Prints on what a command prints.
pub(super) struct OutputPrinter<'a> {
    id: &'a str,
    /// Nothing more can be printed.
    unread: Arc<AtomicBool>,
    /// The first error.
    pub(super) printed: io::Result<()>,
    as_json: bool,
    /// It prints to a terminal of its own: byte for byte, since programs there draw.
    in_terminal: bool,
    masker: Masker,
    /// The line that was printed last has ended.
    is_line_over: bool,
    /// The beginning of a character whose end has not come yet.
    held: Vec<u8>,
}

impl<'a> OutputPrinter<'a> {
    /// Creates the printer of the command of this id, which masks these secrets (name, value), the longest first. `unread`
    /// is set once nothing more can be printed.
    pub(super) fn new(
        id: &'a str,
        unread: Arc<AtomicBool>,
        (as_json, in_terminal): (bool, bool),
        secrets: Vec<(String, String)>,
    ) -> Self {
        let masker = Masker::new(secrets);
        let (printed, held) = (Ok(()), Vec::new());
        OutputPrinter { id, unread, printed, as_json, in_terminal, masker, is_line_over: true, held }
    }

    /// Prints what the command printed.
    pub(super) fn print(&mut self, bytes: &[u8]) {
        let masked = self.masker.take(bytes);
        let passed = self.pass(&masked);
        self.note(passed);
    }

    /// Notes an error: nothing more is taken then of what the command prints.
    pub(super) fn note(&mut self, printed: io::Result<()>) {
        if printed.is_err() && self.printed.is_ok() {
            self.unread.store(true, Ordering::Relaxed);
            self.printed = printed;
        }
    }

    fn pass(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut out = Out::stdout();
        self.is_line_over = bytes.last().map_or(self.is_line_over, |last| *last == b'\n');
        if !self.as_json {
            if self.in_terminal {
                out.styled(bytes)?
            } else {
                out.document(bytes)?
            }
            return io::Write::flush(&mut out);
        }
        self.held.extend_from_slice(bytes);
        let rest = self.held.split_off(self.held.len() - unfinished(&self.held));
        let whole = std::mem::replace(&mut self.held, rest);
        self.event(&whole)
    }

    /// Tells of something beside the output. A terminal without line editing begins no line by itself.
    pub(super) fn notice(&mut self, text: &str) {
        if !self.in_terminal {
            return out::complain(text);
        }
        let begin = if self.is_line_over { "" } else { "\r\n" };
        self.is_line_over = true;
        let said = Out::stderr().styled(format!("{begin}nebula: {}\r\n", clean_line(text)).as_bytes());
        self.note(said);
    }

    /// Returns whether the beginning of a secret is held back from a person who may have typed it.
    pub(super) fn waits_for_more(&self) -> bool {
        self.in_terminal && self.masker.is_holding()
    }

    /// Prints what is held back: nothing came that made it a secret.
    pub(super) fn show_all(&mut self) {
        let rest = self.masker.finish();
        let passed = self.pass(&rest);
        self.note(passed);
    }

    /// Prints what was held back, once nothing more comes.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        let rest = self.masker.finish();
        self.pass(&rest)?;
        if self.in_terminal && !self.is_line_over {
            Out::stdout().styled(b"\r\n")?;
        }
        let held = std::mem::take(&mut self.held);
        if self.as_json { self.event(&held) } else { Ok(()) }
    }

    fn event(&self, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let text = String::from_utf8_lossy(bytes);
        Out::stdout().json(&json!({"type": "command_output", "id": self.id, "text": text}))
    }
}

/// Returns how many bytes at the end begin a character that more may complete.
fn unfinished(bytes: &[u8]) -> usize {
    let begun = |length: &usize| match std::str::from_utf8(&bytes[bytes.len() - length..]) {
        Err(error) => error.valid_up_to() == 0 && error.error_len().is_none(),
        Ok(_) => false,
    };
    (1..=bytes.len().min(3)).rev().find(begun).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_that_is_cut_waits_for_its_end() {
        for (bytes, held) in [(&b"ab"[..], 0), ("aé".as_bytes(), 0), (&"aé".as_bytes()[..2], 1), (b"", 0), (b"\xff", 0)]
        {
            assert_eq!(unfinished(bytes), held, "{bytes:?}");
        }
        let wide = "x😀".as_bytes();
        assert_eq!([2, 3, 4, 5].map(|end| unfinished(&wide[..end])), [1, 2, 3, 0]);
    }
}

//! The lines of a file's state, as bytes: a diff must show texts of any encoding. What has no lines is told in words.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use crate::messages::diff as say;
use crate::proposal::{FileChange, State};
use crate::text::definition::TextLines;
use crate::text::number::thousands;
use crate::tui::text::highlight::{MAX_LINES, language_of};

/// The ending of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// `\n`
    Lf,
    /// `\r\n`
    CrLf,
    /// The last line of a file, without a newline.
    None,
}

/// A file's bytes with the beginnings of its lines. A line ends after `\n`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lines {
    bytes: Arc<[u8]>,
    starts: Vec<usize>,
}

impl TextLines for Lines {
    fn count(&self) -> usize {
        self.len()
    }

    fn at(&self, i: usize) -> &[u8] {
        self.line(i)
    }
}

impl Lines {
    /// Creates the lines of a state; of nothing and of links, none. UTF-16 is decoded, its byte order mark kept.
    pub fn of(state: &State) -> Self {
        let bytes = state.bytes().cloned().unwrap_or_else(|| Arc::from(&[][..]));
        match decode(&bytes) {
            Some(text) => Lines::new(Arc::from(text.into_bytes())),
            None => Lines::new(bytes),
        }
    }

    /// Creates the lines of these bytes.
    pub fn new(bytes: Arc<[u8]>) -> Self {
        let mut starts = Vec::new();
        if !bytes.is_empty() {
            starts.push(0);
            let ends = bytes.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(i, _)| i + 1);
            starts.extend(ends.filter(|end| *end < bytes.len()));
        }
        Lines { bytes, starts }
    }

    /// Returns the number of lines.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Returns all bytes.
    pub fn bytes(&self) -> &Arc<[u8]> {
        &self.bytes
    }

    /// Returns where line `i` lies in the bytes, its ending included; empty past the end.
    pub fn range(&self, i: usize) -> Range<usize> {
        let at = |i: usize| self.starts.get(i).copied().unwrap_or(self.bytes.len());
        at(i)..at(i + 1)
    }

    /// Returns line `i` with its ending.
    pub fn whole(&self, i: usize) -> &[u8] {
        &self.bytes[self.range(i)]
    }

    /// Returns line `i` without its ending.
    pub fn line(&self, i: usize) -> &[u8] {
        let whole = self.whole(i);
        &whole[..whole.len() - ending_len(whole)]
    }

    /// Returns the ending of line `i`.
    pub fn ending(&self, i: usize) -> Ending {
        match ending_len(self.whole(i)) {
            0 => Ending::None,
            1 => Ending::Lf,
            _ => Ending::CrLf,
        }
    }

    /// Returns the ending of most of the first hundred lines; `None` only when there is no newline at all.
    pub fn usual_ending(&self) -> Ending {
        let sample = 0..self.len().min(100);
        let crlf = sample.clone().filter(|i| self.ending(*i) == Ending::CrLf).count();
        let lf = sample.filter(|i| self.ending(*i) == Ending::Lf).count();
        match (crlf, lf) {
            (0, 0) => Ending::None,
            (crlf, lf) if crlf > lf => Ending::CrLf,
            _ => Ending::Lf,
        }
    }
}

/// Returns the text of UTF-16 with a byte order mark.
fn decode(bytes: &[u8]) -> Option<String> {
    let unit: fn([u8; 2]) -> u16 = match bytes {
        [0xff, 0xfe, ..] => u16::from_le_bytes,
        [0xfe, 0xff, ..] => u16::from_be_bytes,
        _ => return None,
    };
    if !bytes.len().is_multiple_of(2) {
        return None;
    }
    let units = bytes.chunks_exact(2).map(|p| unit([p[0], p[1]]));
    Some(char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
}

fn ending_len(whole: &[u8]) -> usize {
    if whole.ends_with(b"\r\n") { 2 } else { usize::from(whole.ends_with(b"\n")) }
}

/// Names a text for the highlighter; long ones are not coloured, and not hashed.
pub(super) fn text_id(path: &str, lines: &Lines) -> u64 {
    let mut hasher = DefaultHasher::new();
    language_of(path).hash(&mut hasher);
    if lines.len() <= MAX_LINES {
        lines.bytes().hash(&mut hasher);
    }
    hasher.finish()
}

/// Returns what a state is, when it is no text.
pub fn binary(change: &FileChange) -> Option<String> {
    let state = if change.after.is_absent() { &change.before } else { &change.after };
    match state {
        State::Link { target } => Some(say::a_link(&target.display())),
        State::Large(file) => Some(say::too_large(&file.size)),
        State::Folder { mode } => Some(say::folder_of_mode(&format!("{mode:o}"))),
        State::File { bytes, .. } if bytes.contains(&0) => Some(say::bytes_not_text(&thousands(bytes.len()))),
        _ => None,
    }
}

/// Returns what becomes of bytes that are no text.
pub fn binary_change(change: &FileChange) -> String {
    let words = |state: &State| match state {
        State::Absent => say::nothing().to_string(),
        State::Link { target } => say::a_link(&target.display()),
        State::Large(file) => say::bytes(&file.size),
        State::Folder { .. } => say::a_folder().to_string(),
        State::File { bytes, .. } => say::bytes(&thousands(bytes.len())),
    };
    let (before, after) = (words(&change.before), words(&change.after));
    match (change.before.bytes(), change.after.bytes()) {
        (Some(a), Some(b)) => {
            let same = a.iter().zip(b.iter()).take_while(|(x, y)| x == y).count();
            say::differs_from(&before, &after, &thousands(same + 1))
        }
        _ => say::now_are(&before, &after),
    }
}

/// Returns what becomes of the permissions of a file.
pub fn mode_change(change: &FileChange) -> String {
    let mode = |state: &State| match state {
        State::File { mode: Some(m), .. } | State::Folder { mode: m } => format!("{:o}", m & 0o7777),
        _ => say::default_mode().to_string(),
    };
    say::becomes(&mode(&change.before), &mode(&change.after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_every_byte() {
        let text = Lines::new(Arc::from(&b"a\r\n\nb\xe9"[..]));
        assert_eq!((0..text.len()).flat_map(|i| text.whole(i).to_vec()).collect::<Vec<_>>(), b"a\r\n\nb\xe9");
        assert_eq!((text.line(0), text.line(1), text.line(2)), (&b"a"[..], &b""[..], &b"b\xe9"[..]));
        assert_eq!((text.ending(0), text.ending(1), text.ending(2)), (Ending::CrLf, Ending::Lf, Ending::None));
        assert_eq!(text.range(9), 6..6);
    }

    #[test]
    fn an_empty_text_has_no_lines() {
        assert_eq!(Lines::of(&State::Absent).len(), 0);
        assert_eq!(Lines::of(&State::file(*b"\n")).len(), 1);
        assert_eq!(Lines::of(&State::Absent).usual_ending(), Ending::None);
    }

    #[test]
    fn utf16_is_decoded() {
        let wide = Lines::of(&State::file(*b"\xff\xfea\0\n\0"));
        assert_eq!((wide.len(), wide.line(0)), (1, "\u{feff}a".as_bytes()));
    }
}

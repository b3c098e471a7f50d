//! The most that is shown of something, and the words that narrow a list.

use crate::protocol::{GraphLink, GraphLinks};

/// Bytes of a text.
pub const TEXT: usize = 64 << 10;
/// References in one direction, and ops of a history.
pub const ROWS: usize = 200;
/// Characters of a line that stands for a text.
pub const LINE: usize = 200;

/// Returns whether a name holds every word.
pub fn holds(name: &str, words: &str) -> bool {
    let name = name.to_lowercase();
    words.split_whitespace().all(|word| name.contains(&word.to_lowercase()))
}

/// Returns the beginning of a text, and whether anything is missing.
pub fn clip(text: &str) -> (&str, bool) {
    let end = text.floor_char_boundary(TEXT);
    (&text[..end], end < text.len())
}

/// Returns as many references as are shown.
pub fn limited(mut rows: Vec<GraphLink>) -> GraphLinks {
    let more = rows.len().saturating_sub(ROWS);
    rows.truncate(ROWS);
    GraphLinks { rows, more }
}

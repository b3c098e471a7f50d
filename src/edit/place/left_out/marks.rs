//! Lines that may stand for others, each by itself.

use std::collections::HashSet;

use super::words::{Omission, said, says_foreign};
use crate::edit::locate::{commented, is_dots, loose_dots, only_dots};

/// A line by which a new text leaves out lines of the old one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::edit) enum LeftOut<'n> {
    Surely(&'n str),
    /// The line may be a part of the text all the same.
    Perhaps(&'n str),
}

/// Returns what a line says of lines that are left out.
pub(super) fn mark(line: &str) -> Option<Omission> {
    let text = line.trim();
    if text.len() > LONGEST || text.is_empty() {
        return None;
    }
    if only_dots(text) {
        return Some(Omission::Vague);
    }
    let comment = commented(text);
    let inner = comment.or_else(|| bracketed(text)).unwrap_or(text).trim();
    let is_quoted = comment.is_some() || bracketed(text).is_some();
    if loose_dots(inner) {
        return Some(if comment.is_some() || only_dots(inner) { Omission::Dots } else { Omission::Said });
    }
    let begins = inner.starts_with("...") || inner.starts_with('…');
    let ends = inner.ends_with("...") || inner.ends_with('…');
    if !is_quoted && !begins {
        return None;
    }
    if comment.is_some() && is_dots(text) {
        return Some(Omission::Dotted);
    }
    let lower = inner.to_lowercase();
    if is_quoted && inner.chars().count() <= 30 && says_foreign(&lower) {
        return Some(if begins || ends { Omission::Dotted } else { Omission::Vague });
    }
    said(&lower, (begins, ends), is_quoted)
}

/// A longer line is no such mark, in bytes.
pub(super) const LONGEST: usize = 120;

/// Returns what stands in the brackets around a whole line.
pub(super) fn bracketed(text: &str) -> Option<&str> {
    let pairs = [('[', ']'), ('<', '>'), ('(', ')')];
    let inner = pairs.iter().find_map(|(open, close)| text.strip_prefix(*open)?.strip_suffix(*close))?;
    // A tag or a list of one name is code.
    inner.contains(' ').then_some(inner)
}

/// Returns the lines of a text without the white space around them.
pub(super) fn trimmed(text: &str) -> HashSet<&str> {
    text.lines().map(str::trim).collect()
}

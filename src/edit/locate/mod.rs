//! Finds the place of a search text: a ladder of rungs from exact to inexact, each taken only if it yields
//! exactly one place, and never a guess between two.

mod exact;

use std::ops::Range;

use crate::proposal::{Found, Rung};

/// What a search text covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Whole lines, without the ending of the last one.
    Lines,
    /// Any passage, but where its ends are word characters only at word boundaries.
    Inline,
}

/// What to look for.
#[derive(Debug, Clone, Copy)]
pub struct Search<'a> {
    /// The text.
    pub text: &'a str,
    /// What it covers.
    pub shape: Shape,
    /// All places instead of exactly one.
    pub all: bool,
    /// The lowest rung that may be used.
    pub down_to: Rung,
}

/// A place that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The bytes it covers.
    pub range: Range<usize>,
    /// How it was found.
    pub found: Found,
}

/// Why no place was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Miss {
    /// The search text is empty.
    Empty,
    /// It fits several places: their first lines, from 1.
    Several(Vec<usize>),
    /// It is nowhere.
    Nothing,
}

/// Finds the one place (or, if asked, all places) of a text.
///
/// # Errors
/// A [`Miss`] when no rung yields exactly one place.
pub fn locate(text: &str, search: &Search) -> Result<Vec<Place>, Miss> {
    if search.text.is_empty() {
        return Err(Miss::Empty);
    }
    let found = exact::find(text, search.text, search.shape, if search.all { usize::MAX } else { 9 });
    let place = |range| Place { range, found: Found { rung: Rung::Exact, detail: None } };
    match found.len() {
        0 => Err(Miss::Nothing),
        1 => Ok(found.into_iter().map(place).collect()),
        _ if search.all => Ok(found.into_iter().map(place).collect()),
        _ => Err(Miss::Several(found.iter().map(|r| super::lines::number(text, r.start)).collect())),
    }
}

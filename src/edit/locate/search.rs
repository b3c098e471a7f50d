//! A search in a text, and its result.

use std::ops::Range;

use super::shift::Shift;
use crate::proposal::{PlaceMatch, Rung};

/// The extent of a search text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchShape {
    /// Whole lines, without the ending of the last one.
    Lines,
    /// Any passage, but where its ends are word characters only at word boundaries.
    Inline,
    /// Finds the text as before; where it has no exact match, the one place where it is part of a longer word.
    Literal,
}

/// A search.
#[derive(Debug, Clone, Copy)]
pub struct Search<'a> {
    /// The text.
    pub text: &'a str,
    /// The extent of the search text.
    pub shape: SearchShape,
    /// All places instead of exactly one.
    pub all: bool,
    /// The lowest rung that may be used.
    pub down_to: Rung,
}

/// A place that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocatedPlace {
    /// The bytes it covers.
    pub range: Range<usize>,
    /// The way it was found.
    pub found: PlaceMatch,
    /// The change that fits the replacement to the place.
    pub(in crate::edit) fit: Fit,
    /// True if another place is as like, and the name of a definition told them apart: in what else the search text is not
    /// as the place, it may be as the other one.
    pub(in crate::edit) is_chosen: bool,
    /// The lines of a place that is only alike that answer to each other: (line of the search text, line of the file).
    pub(in crate::edit) pairs: Vec<(usize, usize)>,
}

/// The transformation that a replacement needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::edit) enum Fit {
    /// No transformation.
    AsIs,
    /// Its indentation is shifted; the first line's only if `first`.
    Shifted { shift: Shift, first: bool },
    /// Finds the text as before; its lines of dots are filled with these parts of the file.
    Filled { shift: Shift, first: bool, gaps: Vec<Range<usize>> },
    /// Each of its lines is shifted like the line of the search text it comes from: (line, shift).
    Each(Vec<(usize, Shift)>),
}

/// The reason why no place was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Miss {
    /// The search text is empty.
    Empty,
    /// It fits several places.
    Several {
        /// The bytes of the places, at most a few.
        places: Vec<Range<usize>>,
        /// True if there are more.
        more: bool,
    },
    /// It has no match.
    Nothing {
        /// The lines most like it, from 0, if some are.
        closest: Option<Range<usize>>,
        /// Its matches inside longer lines or words.
        within: Vec<Range<usize>>,
    },
}

/// The most places that are listed.
pub(super) const LISTED: usize = 5;

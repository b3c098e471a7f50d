//! One edit in one text: which bytes become what.

use std::ops::Range;

use super::bytes::{self, Encoding, Endings};
use super::locate::{self, Search, Shape};
use super::{Edit, Format, Op};
use crate::proposal::{Found, Rung};

/// Some bytes of a text and what comes in their place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Splice {
    pub range: Range<usize>,
    pub new: String,
}

/// An edit that found its place: splices from first to last, and how it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Done {
    pub splices: Vec<Splice>,
    pub found: Found,
}

/// A change of bytes that has happened: where, how many went, how many came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    at: usize,
    old: usize,
    new: usize,
}

impl Step {
    pub fn of(splice: &Splice) -> Self {
        Step { at: splice.range.start, old: splice.range.len(), new: splice.new.len() }
    }

    /// The whole text was replaced: nothing from before can be found by its position.
    pub fn all() -> Self {
        Step { at: 0, old: usize::MAX, new: 0 }
    }

    /// Where a range of the text before the step is after it. `None` if the step changed some of it.
    pub fn carry(&self, range: Range<usize>) -> Option<Range<usize>> {
        if range.end <= self.at {
            return Some(range);
        }
        let end = self.at.saturating_add(self.old);
        (range.start >= end).then(|| range.start - self.old + self.new..range.end - self.old + self.new)
    }

    /// The same, with what the step put there where the two meet.
    pub fn carried(&self, range: Range<usize>) -> Range<usize> {
        self.carry(range.clone()).unwrap_or_else(|| {
            let end = self.at.saturating_add(self.old);
            let last = if range.end > end { range.end - self.old + self.new } else { self.at + self.new };
            range.start.min(self.at)..last
        })
    }
}

/// How a place counts that needed no looking: exact, or inexact when the end of the edit was missing.
pub(super) fn sure(whole: bool) -> Found {
    match whole {
        true => Found { rung: Rung::Exact, detail: None },
        false => Found { rung: Rung::Inexact, detail: Some("the end of the edit was missing".to_string()) },
    }
}

/// Places an edit that changes a part of a text. The error is for the model.
pub(super) fn edit(text: &str, encoding: Encoding, edit: &Edit, _steps: &[Step]) -> Result<Done, String> {
    match &edit.op {
        Op::Replace { search, replace: new, shape, all } => replace(text, encoding, (search, new), *shape, *all),
        _ => Err("this kind of edit is not understood".to_string()),
    }
}

/// The text of a file that an edit makes although it speaks of changing one.
pub(super) fn fresh(_op: &Op) -> Option<String> {
    None
}

/// The whole new text of an existing file.
pub(super) fn whole(old: &str, content: &str, _path: &str, _format: Format) -> Result<String, String> {
    Ok(bytes::fit_whole(content, old))
}

fn replace(
    text: &str,
    encoding: Encoding,
    (search, new): (&str, &str),
    shape: Shape,
    all: bool,
) -> Result<Done, String> {
    let raw = encoding == Encoding::Raw;
    let (search, new) = if raw { (bytes::raw(search), bytes::raw(new)) } else { (search.into(), new.into()) };
    let down_to = if raw { Rung::Exact } else { Rung::Inexact };
    let places = locate::locate(text, &Search { text: &search, shape, all, down_to }).map_err(|m| format!("{m:?}"))?;
    let endings = if new.contains('\n') { bytes::endings(text) } else { Endings::None };
    let mut found = Found { rung: Rung::Exact, detail: None };
    let mut splices: Vec<Splice> = Vec::with_capacity(places.len());
    for place in places {
        if splices.last().is_some_and(|s| s.range.end > place.range.start) {
            continue; // `replaceAll` of a text that overlaps itself: from left to right, as everywhere
        }
        if place.found.rung >= found.rung {
            found = place.found;
        }
        let fitted = bytes::fit_endings(&new, endings, &text[place.range.clone()], &text[..place.range.start]);
        let mut splice = Splice { range: place.range, new: fitted.into_owned() };
        if shape == Shape::Lines && new.is_empty() {
            splice.range = with_ending(text, splice.range);
        }
        splices.push(splice);
    }
    Ok(Done { splices, found })
}

/// The lines of `range` with the ending of the last one; at the end of a text without a final newline, with
/// the ending before them instead, so that the text still has none.
fn with_ending(text: &str, range: Range<usize>) -> Range<usize> {
    let ending = match &text.as_bytes()[range.end..] {
        [b'\r', b'\n', ..] => 2,
        [b'\r' | b'\n', ..] => 1,
        _ => 0,
    };
    let before = match &text.as_bytes()[..range.start] {
        [.., b'\r', b'\n'] => 2,
        [.., b'\r' | b'\n'] => 1,
        _ => 0,
    };
    if ending == 0 { range.start - before..range.end } else { range.start..range.end + ending }
}

/// The text with the splices in it.
pub(super) fn spliced(text: &str, splices: &[Splice]) -> String {
    let mut out = String::with_capacity(text.len() + splices.iter().map(|s| s.new.len()).sum::<usize>());
    let mut reached = 0;
    for splice in splices {
        out.push_str(&text[reached..splice.range.start]);
        out.push_str(&splice.new);
        reached = splice.range.end;
    }
    out.push_str(&text[reached..]);
    out
}

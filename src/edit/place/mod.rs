//! One edit in one text: which bytes become what.

mod body;
mod fit;
mod hunks;
mod numbers;
mod whole;

use std::ops::Range;

pub(super) use whole::{made, whole};

use super::bytes::{self, Encoding};
use super::locate::{self, Miss, Search, Shape};
use super::{Edit, Op};
use crate::proposal::{Found, Rung};

/// Some bytes of a text and what comes in their place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Splice {
    pub range: Range<usize>,
    pub new: String,
}

/// An edit that found its place, and how it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Done {
    /// Splices of one text, from first to last; each stage in the text that the one before left.
    pub stages: Vec<Vec<Splice>>,
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

/// The text an edit is placed in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ground<'a> {
    /// As it is now.
    pub text: &'a str,
    pub encoding: Encoding,
    /// As it was when the run of edits began: what line numbers refer to.
    pub base: &'a str,
    /// What has happened since.
    pub steps: &'a [Step],
}

/// Places an edit that changes a part of a text. The error is for the model.
pub(super) fn edit(ground: &Ground, edit: &Edit) -> Result<Done, String> {
    match &edit.op {
        Op::Replace { search, replace, shape, all } => self::replace(ground, search, replace, *shape, *all),
        Op::Hunks(hunks) => hunks::place(ground, hunks),
        Op::Lines { start, end, expect, replace } => numbers::place(ground, (*start, *end), expect, replace),
        Op::Write { .. } | Op::Overwrite { .. } | Op::Mode { .. } | Op::Delete | Op::Move { .. } => {
            Err("this edit changes the whole file, not a part of it".to_string())
        }
    }
}

/// The text of a file that an edit makes although it speaks of changing one.
pub(super) fn fresh(op: &Op) -> Option<String> {
    match op {
        Op::Replace { search, replace, .. } if search.trim().is_empty() => Some(replace.clone()),
        Op::Hunks(hunks) => hunks::fresh(hunks),
        _ => None,
    }
}

fn replace(ground: &Ground, search: &str, new: &str, shape: Shape, all: bool) -> Result<Done, String> {
    let text = ground.text;
    if ground.encoding == Encoding::Raw {
        let (search, new) = (bytes::raw(search), bytes::raw(new));
        let search = Search { text: &search, shape, all, down_to: Rung::Exact };
        let told = |miss: Miss| format!("{} {RAW}", miss.text(text, shape));
        return fit::all(text, &search, &new, locate::locate(text, &search).map_err(told)?);
    }
    let literal = Search { text: search, shape, all, down_to: Rung::Inexact };
    let plain = entities(search).map(|plain| (plain, entities(new).unwrap_or_else(|| new.to_string())));
    if let Some((plain, new)) = &plain
        && locate::locate(text, &Search { down_to: Rung::Elided, ..literal }).is_err()
    {
        let search = Search { text: plain, ..literal };
        if let Ok(places) = locate::locate(text, &search) {
            let mut done = fit::all(text, &search, new, places)?;
            done.found.detail.get_or_insert_with(|| "entities read as characters".to_string());
            return Ok(done);
        }
    }
    match locate::locate(text, &literal) {
        // What is found by likeness only may be there for certain without the numbers of its lines.
        Ok(places) if places.iter().any(|p| p.found.rung == Rung::Inexact) => match unnumbered(text, &literal, new) {
            Some(done) => done,
            None => fit::all(text, &literal, new, places),
        },
        Ok(places) => fit::all(text, &literal, new, places),
        Err(_) if let Some(done) = unnumbered(text, &literal, new) => done,
        Err(miss) if search == new => {
            Err(format!("the search text and its replacement are the same, and {}", miss.text(text, shape)))
        }
        Err(miss) => Err(miss.text(text, shape)),
    }
}

/// The same where the search text was copied with the numbers that its lines were shown with, and stands in one place
/// without them.
fn unnumbered(text: &str, literal: &Search, new: &str) -> Option<Result<Done, String>> {
    let bare = numbers::without(literal.text)?;
    let numbered = new.lines().any(|line| numbers::of(line).is_some());
    // A replacement in which only some lines have numbers is not understood.
    let new = if numbered { numbers::without(new)? } else { new.to_string() };
    let shape = if bare.lines().count() > 1 { Shape::Lines } else { literal.shape };
    let search = Search { text: &bare, shape, all: false, down_to: Rung::LookAlikes };
    let mut places = locate::locate(text, &search).ok()?;
    for place in &mut places {
        place.found.rung = place.found.rung.max(Rung::TrailingSpace);
        place.found.detail.get_or_insert_with(|| "line numbers left out".to_string());
    }
    Some(fit::all(text, &search, &new, places))
}

const RAW: &str = "(The file is not valid text, so only an exact search can find something in it.)";

/// A text with XML's entities read as the characters they stand for; `None` if it has none.
pub(super) fn entities(text: &str) -> Option<String> {
    const ENTITIES: [(&str, &str); 6] =
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&#39;", "'"), ("&amp;", "&")];
    if !ENTITIES.iter().any(|(entity, _)| text.contains(entity)) {
        return None;
    }
    // `&amp;` comes last, so that `&amp;lt;` becomes `&lt;`.
    Some(ENTITIES.iter().fold(text.to_string(), |text, (entity, plain)| text.replace(entity, plain)))
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

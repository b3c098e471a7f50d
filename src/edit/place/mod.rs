//! One edit in one text: which bytes become what.

mod body;
mod fit;
mod hunks;
mod numbers;
mod passage;
mod whole;

use std::ops::Range;

pub(super) use whole::{made, whole};

use self::passage::entities;
pub(super) use self::passage::unfenced;
use super::bytes::{self, Encoding};
use super::lines::Lines;
use super::{Edit, Format, Op, PatchHunk};
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
pub(super) struct TargetText<'a> {
    /// As it is now.
    pub text: &'a str,
    pub encoding: Encoding,
    /// As it was when the run of edits began: what line numbers refer to.
    pub base: &'a str,
    /// What has happened since.
    pub steps: &'a [Step],
}

/// Places an edit that changes a part of a text. The error is for the model.
pub(super) fn edit(ground: &TargetText, edit: &Edit) -> Result<Done, String> {
    match &edit.op {
        Op::Replace { search, replace, .. } if edit.format == Format::Blocks => passage::block(ground, search, replace),
        Op::Replace { search, replace, shape, all } => passage::place(ground, search, replace, *shape, *all),
        Op::Hunks(hunks) => hunks::place(ground, hunks),
        Op::Lines { start, end, expect, replace } => numbers::place(ground, (*start, *end), expect, replace),
        Op::Write { .. }
        | Op::Overwrite { .. }
        | Op::Mode { .. }
        | Op::Delete
        | Op::DeleteText(_)
        | Op::Move { .. } => Err("this edit changes the whole file, not a part of it".to_string()),
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

/// Whether hunks remove a text to its last line.
pub(super) fn removes_all(hunks: &[PatchHunk], encoding: Encoding, text: &str) -> bool {
    let lines = Lines::new(text);
    let there = (0..lines.len()).map(|i| lines.content(i));
    let read = |line: &String| if encoding == Encoding::Raw { bytes::raw(line) } else { line.clone() };
    let bodies: Vec<String> = hunks.iter().flat_map(|h| &h.body).map(read).collect();
    let body = body::Body::strict(&bodies);
    body.after().is_empty() && there.eq(body.before())
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

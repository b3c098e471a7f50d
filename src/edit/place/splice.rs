//! The effect of an edit on a text: replaced bytes, and the shift of offsets after them.

use std::borrow::Cow;
use std::ops::Range;

use crate::edit::bytes::{Encoding, unmarked};
use crate::edit::locate::{blocks_with_tabs, has_tabs, is_of_make, with_recipe_tabs};
use crate::proposal::{PlaceMatch, Rung};

/// A range of bytes of a text and its replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::edit) struct Splice {
    pub range: Range<usize>,
    pub new: String,
}

/// An edit that found its place, and how it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::edit) struct Done {
    /// Splices of one text, from first to last; each stage in the text that the one before left.
    pub stages: Vec<Vec<Splice>>,
    pub found: PlaceMatch,
    /// True if some of it stands in the text already, and is in no stage.
    pub stands: bool,
}

impl Done {
    /// Returns what the edit makes of the text in which it has its place.
    pub fn made(&self, text: &str) -> String {
        self.stages.iter().fold(text.to_string(), |text, splices| spliced(&text, splices))
    }

    /// Leaves out the byte order mark of what comes to the start of a text whose encoding writes one by itself.
    pub fn unmark(&mut self, text: &str, encoding: Encoding) {
        let at_start = self.stages.iter_mut().filter_map(|splices| splices.first_mut());
        for splice in at_start.filter(|splice| splice.range.start == 0 && !text.starts_with('\u{feff}')) {
            splice.new = unmarked(encoding, &splice.new).to_string();
        }
    }
}

/// Puts tabs in place of the spaces of what comes into a text that is indented with tabs, and in front of a recipe for Make.
pub(super) fn indent_with_tabs(done: &mut Done, text: &str, path: &str) {
    let mut before = Cow::Borrowed(text);
    for splices in &mut done.stages {
        let is_spaced = |splice: &&mut Splice| splice.new.starts_with(' ') || splice.new.contains("\n ");
        let may_have_tabs = has_tabs(&before) || is_of_make(path);
        for splice in splices.iter_mut().filter(is_spaced).filter(|_| may_have_tabs) {
            let old = &before[splice.range.clone()];
            let recipes = with_recipe_tabs((&before[..splice.range.start], &splice.new), &before, path);
            let new = blocks_with_tabs(&recipes, &before).into_owned();
            // To put spaces in their place is the change.
            if new != old {
                splice.new = new;
            }
        }
        before = spliced(&before, splices).into();
    }
}

/// A change of bytes that has been applied: where, how many were removed, how many added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::edit) struct Step {
    at: usize,
    old: usize,
    new: usize,
}

impl Step {
    pub fn of(splice: &Splice) -> Self {
        Step { at: splice.range.start, old: splice.range.len(), new: splice.new.len() }
    }

    /// Describes the replacement of the whole text: nothing from before can be found by its position.
    pub fn all() -> Self {
        Step { at: 0, old: usize::MAX, new: 0 }
    }

    /// Returns where a range of the text before the step is after it. `None` if the step changed some of it.
    pub fn carry(&self, range: Range<usize>) -> Option<Range<usize>> {
        if range.end <= self.at {
            return Some(range);
        }
        let end = self.at.saturating_add(self.old);
        (range.start >= end).then(|| range.start - self.old + self.new..range.end - self.old + self.new)
    }

    /// Returns the range after the step, with what the step put there where the two meet.
    pub fn carried(&self, range: Range<usize>) -> Range<usize> {
        self.carry(range.clone()).unwrap_or_else(|| {
            let end = self.at.saturating_add(self.old);
            let last = if range.end > end { range.end - self.old + self.new } else { self.at + self.new };
            range.start.min(self.at)..last
        })
    }
}

/// Returns how a place counts that needed no looking: exact, or inexact when the end of the edit was missing.
pub(in crate::edit) fn sure(whole: bool) -> PlaceMatch {
    match whole {
        true => PlaceMatch { rung: Rung::Exact, detail: None },
        false => PlaceMatch { rung: Rung::Inexact, detail: Some("the end of the edit was missing".to_string()) },
    }
}

/// The text an edit is placed in.
#[derive(Debug, Clone, Copy)]
pub(in crate::edit) struct TargetText<'a> {
    /// The text as it is now.
    pub text: &'a str,
    pub encoding: Encoding,
    /// The text as it was when the run of edits began: line numbers refer to it.
    pub base: &'a str,
    /// The changes since.
    pub steps: &'a [Step],
}

/// Returns the lines of `range` with the ending of the last one; at the end of a text without a final newline, with the
/// ending before them instead, so that the text still has none.
pub(super) fn with_ending(text: &str, range: Range<usize>) -> Range<usize> {
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

/// Returns the text with the splices in it.
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

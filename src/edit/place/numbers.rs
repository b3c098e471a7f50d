//! Edits by line number, each guarded by the text those lines should have.

use std::ops::Range;

use super::entities::entities;
use super::fit;
use super::splice::{Done, Splice, TargetText, sure, with_ending};
use crate::edit::bytes::Encoding;
use crate::edit::lines::{Lines, number};
use crate::edit::locate::{self, Search, SearchShape, numbered};
use crate::proposal::Rung;

/// Places an edit of lines `first` to `last` (from 1, as they were shown). If the guard is not there, it is looked
/// for. The error is for the model.
pub(super) fn place(
    target: &TargetText,
    (first, last): (usize, usize),
    expect: &str,
    new: &str,
) -> Result<Done, String> {
    if target.encoding == Encoding::Raw {
        return Err("it is not valid text; only an exact search and replace is allowed in it.".to_string());
    }
    let bare = without(expect);
    let new = match (&bare, without(new)) {
        (Some(_), Some(new)) => new,
        _ => new.to_string(),
    };
    // The guard as it was written first: `12: ` or `&lt;` may be what the lines really read.
    let plain = entities(bare.as_deref().unwrap_or(expect));
    let plain_new = plain.as_ref().map_or_else(String::new, |_| entities(&new).unwrap_or_else(|| new.clone()));
    let mut guards: Vec<(&str, &str)> = std::iter::once(expect).chain(bare.as_deref()).map(|g| (g, &*new)).collect();
    guards.extend(plain.as_deref().map(|plain| (plain, &*plain_new)));
    let there = there(target, first, last);
    if let Some(range) = &there {
        for (guard, new) in &guards {
            if let Some(done) = at(target.text, range, guard, new)? {
                return Ok(done);
            }
        }
    }
    let mut miss = None;
    for (text, new) in guards {
        let search = Search { text, shape: SearchShape::Lines, all: false, down_to: Rung::Inexact };
        match locate::locate(target.text, &search) {
            Ok(places) => {
                let line = number(target.text, places[0].range.start);
                let mut done = fit::all(target.text, &search, new, places)?;
                let moved = format!("at line {line}, not {first}");
                done.found.detail = Some(done.found.detail.map_or(moved.clone(), |d| format!("{moved}, {d}")));
                return Ok(done);
            }
            Err(m) => miss = miss.or(Some(m.text(target.text, SearchShape::Lines))),
        }
    }
    let now = there.map_or_else(|| gone(target, first, last), |range| reads(target.text, range, first, last));
    Err(format!("{now}And elsewhere {}", miss.unwrap_or_default()))
}

/// Returns where the lines of those numbers are now; `None` if there are none, or an edit before has changed them.
fn there(target: &TargetText, first: usize, last: usize) -> Option<Range<usize>> {
    let base = Lines::new(target.base);
    if first == 0 || last < first || last > base.len() {
        return None;
    }
    let named_lines = base.range(first - 1..last);
    target.steps.iter().try_fold(named_lines, |range, step| step.carry(range))
}

/// Returns the edit at the lines it names, if they read as expected but for what the rungs up to look-alikes overlook.
fn at(text: &str, range: &Range<usize>, expect: &str, new: &str) -> Result<Option<Done>, String> {
    let lines = &text[range.clone()];
    if lines.trim().is_empty() && expect.trim().is_empty() {
        let range = if new.is_empty() { with_ending(text, range.clone()) } else { range.clone() };
        let splice = Splice { range, new: new.to_string() };
        return Ok(Some(Done { stages: vec![vec![splice]], found: sure(true), stands: false }));
    }
    let search = Search { text: expect, shape: SearchShape::Lines, all: false, down_to: Rung::LookAlikes };
    let Ok(mut places) = locate::locate(lines, &search) else { return Ok(None) };
    if places[0].range != (0..lines.len()) {
        return Ok(None);
    }
    places[0].range = range.clone();
    fit::all(text, &search, new, places).map(Some)
}

fn reads(text: &str, range: Range<usize>, first: usize, last: usize) -> String {
    let lines = Lines::new(text);
    let named_lines = lines.at(range.start)..lines.at(range.end.max(range.start + 1) - 1) + 1;
    format!("lines {first} to {last} do not read as expected. They read now:\n{}", numbered(&lines, named_lines))
}

fn gone(target: &TargetText, first: usize, last: usize) -> String {
    let count = Lines::new(target.base).len();
    if first == 0 || last < first || last > count {
        return format!("there are no lines {first} to {last}: the file has {count}. ");
    }
    format!("lines {first} to {last} have been changed by an edit before this one. ")
}

/// Returns a text without the numbers in front of its lines; `None` if some line has none, or they do not count up.
pub(super) fn without(text: &str) -> Option<String> {
    let lines: Vec<(usize, &str)> = text.lines().map(of).collect::<Option<_>>()?;
    let first = lines.first()?.0;
    let counts_up = lines.iter().enumerate().all(|(i, (number, _))| *number == first + i);
    let bare: Vec<&str> = lines.into_iter().map(|(_, line)| line).collect();
    counts_up.then(|| bare.join("\n"))
}

/// Returns a line's number as it is shown in front of it, and the line: `12: text`, `12 | text`, `12\ttext`, `12→text`.
pub(super) fn of(line: &str) -> Option<(usize, &str)> {
    let text = line.trim_start_matches(' ');
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let number = text[..digits].parse().ok()?;
    let rest = &text[digits..];
    let marked = [": ", " | ", "| ", "|", "\t", "→", ":"].iter().find_map(|mark| rest.strip_prefix(mark));
    // An empty line loses the space behind its mark.
    let empty = || [" |"].contains(&rest.trim_end()).then_some("");
    Some((number, marked.or_else(empty)?))
}

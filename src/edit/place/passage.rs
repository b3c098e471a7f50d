//! Places a search text and its replacement: as written, else without what models add that the file does not have, such
//! as entities and line numbers.

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::body::{Body, LineKind, blanks};
use super::entities::entities;
use super::splice::{Done, TargetText};
use super::{fit, numbers};
use crate::edit::bytes::{self, Encoding};
use crate::edit::lines::number;
use crate::edit::locate::{self, LocatedPlace, Miss, Search, SearchShape};
use crate::proposal::{PlaceMatch, Rung};

/// Puts `new` where `search` is. The error is for the model.
pub(super) fn place(
    target: &TargetText,
    search: &str,
    new: &str,
    shape: SearchShape,
    all: bool,
) -> Result<Done, String> {
    let text = target.text;
    if target.encoding == Encoding::Raw {
        let (search, new) = (bytes::raw(search), bytes::raw(new));
        let search = Search { text: &search, shape, all, down_to: Rung::Exact };
        let explain = |miss: Miss| format!("{} {RAW}", miss.text(text, shape));
        return fit::all(text, &search, &new, locate::locate(text, &search).map_err(explain)?);
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
    let otherwise = || {
        unnumbered(text, &literal, new)
            .or_else(|| without_blanks(text, &literal, new))
            .or_else(|| with_own_blanks(text, &literal, new))
            .or_else(|| without_fences(text, &literal, new))
    };
    match locate::locate(text, &literal) {
        // A text found by likeness only may occur exactly without what was written around it.
        Ok(places) if places.iter().any(|p| p.found.rung == Rung::Inexact) => match otherwise() {
            Some(done) => done,
            None => fit::all(text, &literal, new, places),
        },
        Ok(places) => fit::all(text, &literal, new, places),
        Err(miss) => match otherwise() {
            Some(done) => done,
            None => Err(explain(text, &miss, search, new, shape)),
        },
    }
}

fn explain(text: &str, miss: &Miss, search: &str, new: &str, shape: SearchShape) -> String {
    let why = miss.text(text, shape);
    if search == new {
        return format!("the search text and its replacement are the same, and {why}");
    }
    let made = if matches!(miss, Miss::Nothing { .. }) { made_already(text, new, shape) } else { None };
    made.map_or(why.clone(), |made| format!("{made}{why}"))
}

/// Returns what the model is told before the reason where the text that is to come stands in the file already, in one
/// place: small models send what was applied once more.
pub(super) fn made_already(text: &str, new: &str, shape: SearchShape) -> Option<String> {
    if new.trim().len() < TELLING {
        return None;
    }
    let search = Search { text: new, shape, all: false, down_to: Rung::TrailingSpace };
    let places = locate::locate(text, &search).ok()?;
    let line = number(text, places.first()?.range.start);
    Some(format!(
        "the new text is in the file already, at line {line}. If that is this change, it is done: leave it out. Otherwise: "
    ))
}

/// A shorter replacement may stand in a file by chance, in bytes.
const TELLING: usize = 8;

/// Places a block of lines. Where it has more than one line of `=======`, the file says which of them parts it: the
/// longest search text that is there. If that is only the shortest, what the others are is not certain.
pub(super) fn block(target: &TargetText, search: &str, new: &str) -> Result<Done, String> {
    let mut dividers = Vec::new();
    let mut at = 0;
    for line in new.split('\n') {
        if line.trim_end() == DIVIDER {
            dividers.push(at..at + line.len());
        }
        at += line.len() + 1;
    }
    for divider in dividers.iter().rev() {
        let above = new[..divider.start].trim_end_matches('\n');
        let longer = match divider.start {
            0 => format!("{search}\n{DIVIDER}"),
            _ => format!("{search}\n{DIVIDER}\n{above}"),
        };
        let wanted = Search { text: &longer, shape: SearchShape::Lines, all: false, down_to: Rung::LookAlikes };
        if locate::locate(target.text, &wanted).is_ok() {
            let rest = new.get(divider.end + 1..).unwrap_or_default();
            return place(target, &longer, rest, SearchShape::Lines, false);
        }
    }
    let mut done = place(target, search, new, SearchShape::Lines, false)?;
    if !dividers.is_empty() {
        done.found =
            PlaceMatch { rung: Rung::Inexact, detail: Some(format!("the block has more than one line of {DIVIDER}")) };
    }
    Ok(done)
}

const DIVIDER: &str = "=======";

/// Places the same block where the search text was copied with the numbers that its lines were shown with.
fn unnumbered(text: &str, literal: &Search, new: &str) -> Option<Result<Done, String>> {
    let bare = numbers::without(literal.text)?;
    let numbered = new.lines().any(|line| numbers::of(line).is_some());
    // A replacement in which only some lines have numbers is not understood.
    let new = if numbered { numbers::without(new)? } else { new.to_string() };
    let shape = if bare.lines().count() > 1 { SearchShape::Lines } else { literal.shape };
    let search = Search { text: &bare, shape, all: false, down_to: Rung::LookAlikes };
    Some(fit::all(text, &search, &new, surely(text, &search, "line numbers left out")?))
}

/// Places the same block where the search text and its replacement have blank lines at their ends, as many in both,
/// that the file lacks.
fn without_blanks(text: &str, literal: &Search, new: &str) -> Option<Result<Done, String>> {
    let (ends, bare) = blank_ends(literal.text)?;
    let (other, new) = blank_ends(new)?;
    if ends != other || ends == (0, 0) {
        return None;
    }
    let search = Search { text: bare, all: false, down_to: Rung::LookAlikes, ..*literal };
    Some(fit::all(text, &search, new, surely(text, &search, "blank lines at its ends left out")?))
}

/// Places the same block where the file has blank lines between the lines of the search text: they stay.
fn with_own_blanks(text: &str, literal: &Search, new: &str) -> Option<Result<Done, String>> {
    let (before, after): (Vec<&str>, Vec<&str>) = (literal.text.lines().collect(), new.lines().collect());
    let mut rows = Vec::new();
    for place in capture_diff_slices(Algorithm::Myers, &before, &after) {
        match place {
            DiffOp::Equal { .. } => rows.extend(place.old_range().map(|at| (LineKind::Stays, before[at]))),
            _ => {
                rows.extend(place.old_range().map(|at| (LineKind::Goes, before[at])));
                rows.extend(place.new_range().map(|at| (LineKind::Comes, after[at])));
            }
        }
    }
    let body = Body { lines: blanks::with_own(text, &rows)?, unended: [false; 2] };
    let (search, after) = (body.before().join("\n"), body.after().join("\n"));
    let search = Search { text: &search, shape: SearchShape::Lines, all: false, down_to: Rung::LookAlikes };
    let places = surely(text, &search, blanks::DETAIL)?;
    (literal.text.ends_with('\n') == new.ends_with('\n')).then(|| fit::all(text, &search, &after, places))
}

/// Places the same block where both the search text and its replacement are in a fence that the file lacks.
fn without_fences(text: &str, literal: &Search, new: &str) -> Option<Result<Done, String>> {
    let (bare, new) = (unfenced(literal.text)?, unfenced(new)?);
    let search = Search { text: bare, all: false, down_to: Rung::LookAlikes, ..*literal };
    Some(fit::all(text, &search, new, surely(text, &search, "without the fence around it")?))
}

/// Returns what is inside of a fence around a whole text.
pub fn unfenced(text: &str) -> Option<&str> {
    let (first, rest) = text.trim_matches('\n').split_once('\n')?;
    let rest = rest.strip_suffix("```")?;
    (first.starts_with("```") && !first[3..].contains('`')).then(|| rest.strip_suffix('\n').unwrap_or(rest))
}

/// Returns how many blank lines a text begins and ends with, and what is between them; `None` if that is nothing.
fn blank_ends(text: &str) -> Option<((usize, usize), &str)> {
    let blank = |line: &&str| line.trim().is_empty();
    let before: Vec<&str> = text.split_inclusive('\n').take_while(blank).collect();
    let rest = &text[before.iter().map(|l| l.len()).sum::<usize>()..];
    let after = rest.split('\n').rev().take_while(blank).count();
    (!rest.is_empty()).then(|| ((before.len(), after), rest.trim_end_matches(['\n', '\r', ' ', '\t'])))
}

/// Returns the place of a text that is not quite what the model wrote, and what was left out of that.
fn surely(text: &str, search: &Search, left_out: &str) -> Option<Vec<LocatedPlace>> {
    let mut places = locate::locate(text, search).ok()?;
    for place in &mut places {
        place.found.rung = place.found.rung.max(Rung::TrailingSpace);
        place.found.detail.get_or_insert_with(|| left_out.to_string());
    }
    Some(places)
}

const RAW: &str = "(The file is not valid text, so only an exact search can find something in it.)";

//! Adapts a replacement to the file: shifted, filled, with the file's line endings.

use super::left_out::{doubtful, is_left_out, may_leave_out};
use super::splice::{Done, Splice, spliced, with_ending};
use crate::edit::bytes::{self, Endings};
use crate::edit::lines::Lines;
use crate::edit::locate::{Fit, LocatedPlace, Search, SearchShape, Shift, folded_line, is_dots, with_plain};
use crate::proposal::merge::side_by_side;
use crate::proposal::{PlaceMatch, Rung, State};

/// Returns the splices for the places of a search text.
pub(super) fn all(text: &str, search: &Search, new: &str, places: Vec<LocatedPlace>) -> Result<Done, String> {
    let is_full = !search.text.lines().any(is_dots);
    if is_full && is_left_out(search.text, new) {
        return Err(DOTS.to_string());
    }
    let endings = if new.contains('\n') { bytes::endings(text) } else { Endings::None };
    let mut found = PlaceMatch { rung: Rung::Exact, detail: None };
    let mut splices: Vec<Splice> = Vec::with_capacity(places.len());
    for place in places {
        if splices.last().is_some_and(|s| s.range.end > place.range.start) {
            continue; // every place of a text that overlaps itself: from left to right, as everywhere
        }
        let fitted = one(text, search.text, new, &place)?;
        // With the line ending after it: a last line that stays is followed by what is new.
        let old = &text[place.range.start..with_ending(text, place.range.clone()).end];
        let ended = |new: &str| bytes::fit_endings(new, endings, old, &text[..place.range.start]).into_owned();
        let mut fitted = ended(&fitted);
        if (Rung::TrailingSpace..Rung::Elided).contains(&place.found.rung) {
            fitted = with_own_ends(search.text, new, &text[place.range.clone()], fitted);
        }
        if (Rung::LookAlikes..Rung::Inexact).contains(&place.found.rung) {
            fitted = with_plain_lines(search.text, &text[place.range.clone()], &fitted).unwrap_or(fitted);
        }
        if place.is_chosen {
            let searched = ended(&one(text, search.text, search.text, &place)?);
            fitted = with_own(&searched, &text[place.range.clone()], &fitted).unwrap_or(fitted);
        }
        let mut splice = Splice { range: place.range, new: fitted };
        // A last line without an ending was found by a text that has one: the file still ends without.
        let unended = splice.range.end == text.len() && !text.ends_with(['\n', '\r']);
        if unended && search.text.ends_with('\n') && splice.new.ends_with('\n') {
            splice.new.truncate(splice.new.trim_end_matches(['\n', '\r']).len().max(splice.new.len() - 2));
        }
        if search.shape == SearchShape::Lines && new.is_empty() {
            splice.range = with_ending(text, splice.range);
        }
        splices.push(splice);
        if place.found.rung >= found.rung {
            found = place.found;
        }
    }
    if let Some(line) = may_leave_out(search.text, new).filter(|_| is_full) {
        found = doubtful(line);
    }
    Ok(Done { stages: vec![splices], found, stands: false })
}

/// Returns a replacement with the characters that the passage has where the search text has others that look so. Where only those
/// differ, they are the change.
fn with_plain_lines(search: &str, passage: &str, new: &str) -> Option<String> {
    let bare = |text: &str| text.lines().map(str::trim).collect::<Vec<_>>().join("\n");
    let text = with_plain(&bare(search), &bare(passage), new)?;
    (bare(&text) != bare(passage)).then_some(text)
}

/// Returns a fitted replacement in which the lines that are those of the search text end in the white space that they have
/// in the passage.
fn with_own_ends(search: &str, new: &str, passage: &str, fitted: String) -> String {
    let contents = |text| {
        let lines = Lines::new(text);
        (0..lines.len()).map(|at| lines.content(at).to_string()).collect::<Vec<_>>()
    };
    let (searched, own, new, fits) = (contents(search), contents(passage), contents(new), Lines::new(&fitted));
    if searched.len() != own.len() || new.len() != fits.len() {
        return fitted;
    }
    let bare = |line: &str| line.trim_end_matches([' ', '\t']).len();
    let ends_otherwise = |(from, at): (usize, usize)| {
        let (line, own) = (fits.content(at), own[from].as_str());
        let is_other = line != own && line[..bare(line)] == own[..bare(own)];
        is_other.then(|| Splice { range: fits.spans[at].start..fits.spans[at].end, new: own.to_string() })
    };
    let splices: Vec<Splice> = common(&searched, &new).into_iter().filter_map(ends_otherwise).collect();
    spliced(&fitted, &splices)
}

/// Returns a passage with the lines that the replacement changes of the search text, where the other lines in which the
/// passage differs from the search text can stay as they are. Blank lines are no such difference.
fn with_own(searched: &str, own: &str, new: &str) -> Option<String> {
    let solid = |text: &str| text.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect::<Vec<_>>();
    if solid(searched) == solid(own) {
        return None;
    }
    let [own, new] = [own, new].map(|text| State::file(text.as_bytes()));
    side_by_side(searched.as_bytes(), &new, &own)?.text().map(str::to_owned)
}

pub(in crate::edit) const DOTS: &str = "the replacement holds a line that stands for others, which the search text does not have, so what \
                               it stands for is unknown. Write the replacement out in full.";

/// Returns the replacement for one place, still with the model's line endings.
fn one(text: &str, search: &str, new: &str, place: &LocatedPlace) -> Result<String, String> {
    Ok(match &place.fit {
        Fit::AsIs => new.to_string(),
        Fit::Shifted { shift, first } => {
            shifted(new, |line| if line > 0 || *first { shift.clone() } else { Shift::None })
        }
        Fit::Filled { shift, first, gaps } => {
            let lines: Vec<&str> = new.split_inclusive('\n').collect();
            let dots = lines.iter().filter(|l| is_dots(l)).count();
            if dots != 0 && dots != gaps.len() {
                return Err(DOTS.to_string());
            }
            let mut gaps = gaps.iter();
            let mut out = String::new();
            for (i, line) in lines.iter().enumerate() {
                match gaps.as_slice().first() {
                    Some(gap) if is_dots(line) => {
                        gaps.next();
                        out.push_str(&text[gap.clone()]);
                    }
                    _ if i == 0 && !first => out.push_str(line),
                    _ => out.push_str(&shift.apply(line)),
                }
            }
            out
        }
        Fit::Each(shifts) => {
            let origin = origins(search, new);
            shifted(new, |line| {
                let from = origin[line];
                let at = shifts.partition_point(|(l, _)| *l <= from).saturating_sub(1);
                shifts.get(at).map_or(Shift::None, |(_, shift)| shift.clone())
            })
        }
    })
}

fn shifted(new: &str, shift: impl Fn(usize) -> Shift) -> String {
    new.split_inclusive('\n').enumerate().map(|(i, line)| shift(i).apply(line)).collect()
}

/// Returns, for each line of the replacement, the line of the search text it corresponds to: an equal one, or the one
/// at the same distance from the last equal one before it.
fn origins(search: &str, new: &str) -> Vec<usize> {
    let keys = |t| {
        let lines = Lines::new(t);
        (0..lines.len()).map(|i| folded_line(lines.content(i), Rung::LookAlikes).into_owned()).collect::<Vec<_>>()
    };
    let (old, new) = (keys(search), keys(new));
    let equal = common(&old, &new);
    let mut origins = Vec::with_capacity(new.len());
    let (mut base, mut next) = (None, 0);
    for line in 0..new.len() {
        if equal.get(next).is_some_and(|(_, n)| *n == line) {
            base = Some(equal[next]);
            next += 1;
        }
        let (o, n) = base.unwrap_or((0, 0));
        let bound = equal.get(next).map_or(old.len(), |(o, _)| *o).saturating_sub(1);
        origins.push((o + line - n).min(bound.max(o)));
    }
    origins
}

/// Returns pairs of equal lines in order, as many as there can be (of large middles only what the ends share).
fn common(old: &[String], new: &[String]) -> Vec<(usize, usize)> {
    let front = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let back = old[front..].iter().rev().zip(new[front..].iter().rev()).take_while(|(a, b)| a == b).count();
    let (a, b) = (&old[front..old.len() - back], &new[front..new.len() - back]);
    let mut pairs: Vec<(usize, usize)> = (0..front).map(|i| (i, i)).collect();
    if a.len() * b.len() <= 1 << 22 {
        let width = b.len() + 1;
        let mut longest = vec![0_u32; (a.len() + 1) * width];
        for i in (0..a.len()).rev() {
            for j in (0..b.len()).rev() {
                longest[i * width + j] = if a[i] == b[j] {
                    longest[(i + 1) * width + j + 1] + 1
                } else {
                    longest[(i + 1) * width + j].max(longest[i * width + j + 1])
                };
            }
        }
        let (mut i, mut j) = (0, 0);
        while i < a.len() && j < b.len() {
            if a[i] == b[j] {
                pairs.push((front + i, front + j));
                (i, j) = (i + 1, j + 1);
            } else if longest[(i + 1) * width + j] >= longest[i * width + j + 1] {
                i += 1;
            } else {
                j += 1;
            }
        }
    }
    pairs.extend((0..back).rev().map(|i| (old.len() - 1 - i, new.len() - 1 - i)));
    pairs
}

//! The rungs that compare line by line: trailing space, indentation, look-alikes.

use std::borrow::Cow;
use std::ops::Range;

use super::fold;
use super::shift::Shift;
use crate::edit::lines::Lines;
use crate::proposal::Rung;

/// The lines of the search text.
pub(super) struct Needle<'a> {
    pub lines: Vec<&'a str>,
    /// True if the first line may begin in the middle of a line's indentation, so that its own does not count.
    pub free_first: bool,
}

/// Lines of the file that fit, and how they are indented.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LineMatch {
    pub lines: Range<usize>,
    pub shift: Shift,
}

/// Returns the lines of a text as a rung compares them.
pub(super) fn keys<'t>(lines: &Lines<'t>, rung: Rung) -> Vec<Cow<'t, str>> {
    (0..lines.len()).map(|i| fold::line(lines.content(i), rung)).collect()
}

/// Returns all runs of lines that fit the needle at this rung, at most `limit`.
pub(super) fn find(hay: &Lines, keys: &[Cow<str>], needle: &Needle, rung: Rung, limit: usize) -> Vec<LineMatch> {
    let wanted: Vec<Cow<str>> = needle.lines.iter().map(|l| fold::line(l, rung)).collect();
    let mut fits = Vec::new();
    // Blank lines alone are everywhere.
    if wanted.iter().all(|w| w.is_empty()) {
        return fits;
    }
    for at in runs(keys, &wanted) {
        let lines = at..at + wanted.len();
        if let Some(shift) = shift(hay, &lines, needle, rung) {
            fits.push(LineMatch { lines, shift });
            if fits.len() == limit {
                break;
            }
        }
    }
    fits
}

/// Returns where the wanted keys stand one after another.
pub(super) fn runs<'k>(keys: &'k [Cow<str>], wanted: &'k [Cow<str>]) -> impl Iterator<Item = usize> + 'k {
    // The longest line is the rarest: it is looked for first.
    let rare = (0..wanted.len()).max_by_key(|i| wanted[*i].len()).unwrap_or(0);
    let last = (keys.len() + 1).saturating_sub(wanted.len().max(1));
    (0..last).filter(move |at| keys[at + rare] == wanted[rare] && keys[*at..at + wanted.len()] == *wanted)
}

/// Returns the uniform shift between the needle and these lines; before the rung of indentation there may be none.
fn shift(hay: &Lines, lines: &Range<usize>, needle: &Needle, rung: Rung) -> Option<Shift> {
    if rung < Rung::Indentation {
        return Some(Shift::None);
    }
    let pairs = pairs(hay, lines.start, &needle.lines, usize::from(needle.free_first));
    Shift::uniform(&pairs)
}

/// Returns the indentation of the needle's lines and of the file's from `start` on, without blank lines and the first
/// `skip`.
pub(super) fn pairs<'a>(hay: &Lines<'a>, start: usize, needle: &[&'a str], skip: usize) -> Vec<(&'a str, &'a str)> {
    let both = needle.iter().enumerate().skip(skip).map(|(i, model)| (*model, hay.content(start + i)));
    both.filter(|(model, _)| !fold::line(model, Rung::LookAlikes).is_empty())
        .map(|(model, file)| (fold::indent(model), fold::indent(file)))
        .collect()
}

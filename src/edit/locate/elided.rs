//! Search texts with a middle left out: lines of dots match any lines.

use std::borrow::Cow;
use std::ops::Range;

use super::fold;
use super::rows::{self, Needle};
use super::shift::Shift;
use crate::edit::lines::Lines;
use crate::proposal::Rung;

/// A run of lines found by its ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ElidedSpan {
    pub lines: Range<usize>,
    pub shift: Shift,
    /// The lines that each line of dots matches.
    pub gaps: Vec<Range<usize>>,
}

/// The number of ways to combine the parts that are looked at before the search is given up as ambiguous.
const WAYS: usize = 10_000;

/// Returns whether a line is nothing but dots, alone or in a comment (`// ...`, `# ... rest as before ...`).
pub(in crate::edit) fn is_dots(line: &str) -> bool {
    let text = line.trim();
    only_dots(text) || commented(text).is_some_and(|inner| loose_dots(inner.trim()) || is_rest(inner))
}

/// Returns whether a text is dots and nothing else, in brackets or with spaces between them: `[...]`, `.. ..`.
pub(in crate::edit) fn loose_dots(text: &str) -> bool {
    const BRACKETS: [(char, char); 3] = [('[', ']'), ('(', ')'), ('<', '>')];
    let inner = BRACKETS.iter().find_map(|(open, close)| text.strip_prefix(*open)?.strip_suffix(*close));
    only_dots(&inner.unwrap_or(text).replace(' ', ""))
}

/// Returns whether a text is dots and nothing else.
pub(in crate::edit) fn only_dots(text: &str) -> bool {
    !text.is_empty() && (text.chars().all(|c| c == '…') || (text.len() >= 3 && text.bytes().all(|b| b == b'.')))
}

/// Returns whether a line reads `... existing code ...`: dots, words, and dots again or a word for the rest.
fn is_rest(inner: &str) -> bool {
    let inner = inner.trim();
    let Some(words) = inner.strip_prefix("...").or_else(|| inner.strip_prefix('…')) else { return false };
    let ends = words.ends_with("...") || words.ends_with('…');
    let lower = words.to_lowercase();
    ends || ["existing", "rest of", "unchanged", "remaining", "same as"].iter().any(|w| lower.contains(w))
}

/// Returns what stands in the comment that a line is.
pub(in crate::edit) fn commented(text: &str) -> Option<&str> {
    const PAIRS: [(&str, &str); 5] = [("/*", "*/"), ("<!--", "-->"), ("{/*", "*/}"), ("(*", "*)"), ("{-", "-}")];
    const LEADS: [&str; 5] = ["//", "#", "--", ";", "%"];
    let paired = PAIRS.iter().find_map(|(open, close)| text.strip_prefix(open)?.strip_suffix(close));
    paired.or_else(|| LEADS.iter().find_map(|lead| text.strip_prefix(lead)))
}

/// Returns all runs of lines that begin with the needle's first part, end with its last and hold those between in
/// order; at most two, as more are no better than two.
pub(super) fn find(hay: &Lines, keys: &[Cow<str>], needle: &Needle) -> Vec<ElidedSpan> {
    let parts: Vec<Vec<&str>> = needle.lines.split(|l| is_dots(l)).map(|part| part.to_vec()).collect();
    let blank = |part: &Vec<&str>| part.iter().all(|l| fold::line(l, Rung::LookAlikes).is_empty());
    if parts.len() < 2 || parts.iter().any(blank) {
        return Vec::new();
    }
    let places: Vec<Vec<usize>> = parts
        .iter()
        .map(|part| {
            let wanted: Vec<Cow<str>> = part.iter().map(|l| fold::line(l, Rung::LookAlikes)).collect();
            rows::runs(keys, &wanted).collect()
        })
        .collect();
    let mut search =
        Ways { hay, needle, parts: &parts, places: &places, chosen: Vec::new(), found: Vec::new(), left: WAYS };
    search.go(0);
    if search.left == 0 { Vec::new() } else { search.found }
}

struct Ways<'a, 't> {
    hay: &'a Lines<'t>,
    needle: &'a Needle<'t>,
    parts: &'a [Vec<&'t str>],
    places: &'a [Vec<usize>],
    chosen: Vec<usize>,
    found: Vec<ElidedSpan>,
    left: usize,
}

impl Ways<'_, '_> {
    fn go(&mut self, from: usize) {
        let part = self.chosen.len();
        if part == self.parts.len() {
            self.found.extend(self.span());
            return;
        }
        let places = &self.places[part];
        for place in &places[places.partition_point(|p| *p < from)..] {
            if self.left == 0 || self.found.len() == 2 {
                return;
            }
            self.left -= 1;
            self.chosen.push(*place);
            self.go(place + self.parts[part].len());
            self.chosen.pop();
        }
    }

    fn span(&self) -> Option<ElidedSpan> {
        let mut pairs = Vec::new();
        for (i, (part, start)) in self.parts.iter().zip(&self.chosen).enumerate() {
            pairs.extend(rows::pairs(self.hay, *start, part, usize::from(i == 0 && self.needle.free_first)));
        }
        let shift = Shift::uniform(&pairs)?;
        let end = |i: usize| self.chosen[i] + self.parts[i].len();
        let gaps = (1..self.parts.len()).map(|i| end(i - 1)..self.chosen[i]).collect();
        Some(ElidedSpan { lines: self.chosen[0]..end(self.parts.len() - 1), shift, gaps })
    }
}

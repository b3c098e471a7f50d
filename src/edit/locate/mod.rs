//! Finds the place of a search text: a ladder of rungs from exact to inexact, each taken only if it yields
//! exactly one place, and never a guess between two.

mod alike;
mod elided;
mod exact;
mod fold;
mod near;
mod recipes;
mod rows;
mod search;
mod shift;
mod tabs;
mod tell;
mod width;

use std::borrow::Cow;
use std::ops::Range;

pub(super) use alike::Pattern;
pub(super) use elided::{commented, is_dots, loose_dots, only_dots};
pub(super) use exact::fits;
pub(super) use fold::{indent, line as folded_line, with_plain};
pub(super) use recipes::{is_of_make, with_recipe_tabs};
pub(super) use search::Fit;
pub use search::{LocatedPlace, Miss, Search, SearchShape};
pub(super) use shift::Shift;
pub(super) use tabs::{blocks_with_tabs, has_tabs, part_with_tabs, with_tabs};
pub(super) use tell::numbered;
pub(super) use width::{lost_indentation, with_own_width};

use self::near::Near;
use self::rows::Needle;
use self::search::LISTED;
use super::lines::Lines;
use crate::proposal::{PlaceMatch, Rung};
use crate::text::definition::named;

/// Above this likeness lines count as found.
const ALIKE: f32 = 0.9;
/// The likeness below which lines are no help in a refusal.
const HELPFUL: f32 = 0.35;

/// Finds the one place (or, if asked, all places) of a text.
///
/// # Errors
/// A [`Miss`] when no rung yields exactly one place; [`Miss::text`] says it to the model.
pub fn locate(text: &str, search: &Search) -> Result<Vec<LocatedPlace>, Miss> {
    if search.text.trim().is_empty() {
        return Err(Miss::Empty);
    }
    let limit = if search.all { usize::MAX } else { LISTED + 1 };
    let mut exact = exact::find(text, search.text, search.shape, limit);
    if exact.is_empty() && search.shape == SearchShape::Literal {
        exact = exact::find_in_words(text, search.text, limit);
    }
    let place = |range| LocatedPlace {
        range,
        found: PlaceMatch { rung: Rung::Exact, detail: None },
        fit: Fit::AsIs,
        is_chosen: false,
        pairs: Vec::new(),
    };
    if let Some(answer) = one(exact.into_iter().map(place).collect(), search.all) {
        return answer;
    }
    if search.down_to == Rung::Exact {
        return Err(Miss::Nothing { closest: None, within: within(text, search) });
    }
    Ladder::new(text, search).climb(limit)
}

/// Returns the answer of a rung: places, too many of them, or none and the next rung's turn.
fn one(mut places: Vec<LocatedPlace>, all: bool) -> Option<Result<Vec<LocatedPlace>, Miss>> {
    match places.len() {
        0 => None,
        1 => Some(Ok(places)),
        _ if all => Some(Ok(places)),
        n => {
            places.truncate(LISTED);
            let places = places.into_iter().map(|p| p.range).collect();
            Some(Err(Miss::Several { places, more: n > LISTED }))
        }
    }
}

/// Returns where the search text stands in the middle of longer lines or words.
fn within(text: &str, search: &Search) -> Vec<Range<usize>> {
    let needle = search.text.trim_matches(fold::is_space);
    if needle.contains('\n') || needle.len() < 2 {
        return Vec::new();
    }
    memchr::memmem::find_iter(text.as_bytes(), needle.as_bytes()).take(LISTED).map(|at| at..at + needle.len()).collect()
}

/// The rungs below exact.
struct Ladder<'a> {
    text: &'a str,
    search: &'a Search<'a>,
    hay: Lines<'a>,
    needle: Needle<'a>,
}

impl<'a> Ladder<'a> {
    fn new(text: &'a str, search: &'a Search<'a>) -> Self {
        let lines = Lines::new(search.text);
        let lines: Vec<&str> = (0..lines.len()).map(|i| lines.content(i)).collect();
        let bare = lines.first().is_some_and(|l| !l.starts_with(fold::is_space));
        let needle = Needle { free_first: search.shape != SearchShape::Lines && bare && lines.len() > 1, lines };
        Ladder { text, search, hay: Lines::new(text), needle }
    }

    fn climb(&self, limit: usize) -> Result<Vec<LocatedPlace>, Miss> {
        let mut keys = Vec::new();
        for rung in [Rung::LineEndings, Rung::TrailingSpace, Rung::Indentation, Rung::LookAlikes, Rung::Elided] {
            if rung > self.search.down_to {
                break;
            }
            let mut places = Vec::new();
            if rung == Rung::Elided {
                places.extend(elided::find(&self.hay, &keys, &self.needle).into_iter().map(|s| self.elided(s)));
            } else {
                keys = rows::keys(&self.hay, rung);
                let fits = rows::find(&self.hay, &keys, &self.needle, rung, limit);
                places.extend(fits.into_iter().map(|fit| self.rows(fit, rung)));
                self.inline(rung, limit, &mut places);
            }
            if let Some(answer) = one(places, self.search.all) {
                return answer;
            }
        }
        if keys.is_empty() || self.search.down_to < Rung::LookAlikes {
            keys = rows::keys(&self.hay, Rung::LookAlikes);
        }
        self.inexact(&keys)
    }

    /// Searches for a passage that does not cover whole lines, at the rungs that know no indentation.
    fn inline(&self, rung: Rung, limit: usize, places: &mut Vec<LocatedPlace>) {
        if self.search.shape == SearchShape::Lines || rung == Rung::Indentation {
            return;
        }
        let dull = match rung {
            Rung::LineEndings => !self.text.contains('\r') && !self.search.text.contains('\r'),
            Rung::LookAlikes => self.text.is_ascii() && self.search.text.is_ascii(),
            _ => false,
        };
        if dull {
            return;
        }
        let mut needle = fold::text(self.search.text, rung).text;
        if rung >= Rung::TrailingSpace {
            needle.truncate(needle.trim_end_matches([' ', '\t']).len());
        }
        if needle.trim().is_empty() {
            return;
        }
        let hay = fold::text(self.text, rung);
        for range in exact::find(&hay.text, &needle, SearchShape::Inline, limit) {
            let range = hay.original(range);
            if places.iter().all(|p| p.range.end <= range.start || range.end <= p.range.start) {
                places.push(LocatedPlace {
                    range,
                    found: PlaceMatch { rung, detail: None },
                    fit: Fit::AsIs,
                    is_chosen: false,
                    pairs: Vec::new(),
                });
            }
        }
    }

    fn rows(&self, fit: rows::LineMatch, rung: Rung) -> LocatedPlace {
        let detail = if fit.shift == Shift::None { None } else { fit.shift.detail() };
        let fits = match fit.shift {
            Shift::None if !self.needle.free_first => Fit::AsIs,
            shift => Fit::Shifted { shift, first: !self.needle.free_first },
        };
        LocatedPlace {
            range: self.range(fit.lines),
            found: PlaceMatch { rung, detail },
            fit: fits,
            is_chosen: false,
            pairs: Vec::new(),
        }
    }

    fn elided(&self, span: elided::ElidedSpan) -> LocatedPlace {
        let gaps: Vec<Range<usize>> = span.gaps.iter().map(|lines| self.gap(lines)).collect();
        let left_out: usize = span.gaps.iter().map(ExactSizeIterator::len).sum();
        let lines = format!("{left_out} line{} between", if left_out == 1 { "" } else { "s" });
        let detail = span.shift.detail().map_or(lines.clone(), |shift| format!("{lines}, {shift}"));
        LocatedPlace {
            range: self.range(span.lines),
            found: PlaceMatch { rung: Rung::Elided, detail: Some(detail) },
            fit: Fit::Filled { shift: span.shift, first: !self.needle.free_first, gaps },
            is_chosen: false,
            pairs: Vec::new(),
        }
    }

    /// Returns the bytes of the lines a line of dots stands for, the last ending included.
    fn gap(&self, lines: &Range<usize>) -> Range<usize> {
        let at = |i: usize| self.hay.spans.get(i).map_or(self.text.len(), |s| s.start);
        at(lines.start)..at(lines.end)
    }

    /// Returns the bytes of lines as the search text means them: with the last ending if it has one, and without the
    /// first indentation if it leaves that out.
    fn range(&self, lines: Range<usize>) -> Range<usize> {
        let mut range = self.hay.range(lines.clone());
        if self.needle.free_first {
            range.start += fold::indent(self.hay.content(lines.start)).len();
        }
        if self.search.shape != SearchShape::Lines && self.search.text.ends_with('\n') {
            range.end = self.hay.spans[lines.end - 1].next;
        }
        range
    }

    fn inexact(&self, keys: &[Cow<str>]) -> Result<Vec<LocatedPlace>, Miss> {
        let wanted: Vec<Cow<str>> = self.needle.lines.iter().map(|l| fold::line(l, Rung::LookAlikes)).collect();
        let mut nears = near::find(keys, &wanted);
        let is_alike = |n: &Near| n.score > ALIKE && n.ends;
        let is_chosen = nears.iter().filter(|n| is_alike(n)).count() > 1;
        // A definition that the search text names and that the file has once is no other one, however alike.
        if let Some(pair) = self.definition() {
            nears.retain(|n| n.pairs.contains(&pair));
        }
        let alike: Vec<&Near> = nears.iter().filter(|n| is_alike(n)).collect();
        if self.search.down_to == Rung::Inexact && !alike.is_empty() {
            if let [near] = alike.as_slice() {
                return Ok(vec![LocatedPlace { is_chosen, ..self.near(near) }]);
            }
            let places = alike.iter().map(|n| self.hay.range(n.lines.clone())).collect();
            return Err(Miss::Several { places, more: false });
        }
        let closest = nears.first().filter(|n| n.score > HELPFUL).map(|n| n.lines.clone());
        Err(Miss::Nothing { closest, within: within(self.text, self.search) })
    }

    /// Returns the first line of the search text that begins a definition, and the only line of the file that begins it.
    fn definition(&self) -> Option<(usize, usize)> {
        let (row, name) = self.needle.lines.iter().enumerate().find_map(|(row, line)| Some((row, named(line)?)))?;
        let mut begins = (0..self.hay.len()).filter(|at| named(self.hay.content(*at)).is_some_and(|own| own == name));
        begins.next().filter(|_| begins.next().is_none()).map(|at| (row, at))
    }

    fn near(&self, near: &Near) -> LocatedPlace {
        let skip = usize::from(self.needle.free_first);
        let indents = |(model, file): &(usize, usize)| {
            (fold::indent(self.needle.lines[*model]), fold::indent(self.hay.content(*file)))
        };
        let pairs: Vec<_> = near.pairs.iter().filter(|(model, _)| *model >= skip).map(indents).collect();
        let fit = match Shift::uniform(&pairs) {
            Some(shift) => Fit::Shifted { shift, first: !self.needle.free_first },
            None => Fit::Each(
                near.pairs
                    .iter()
                    .map(|pair| {
                        let (model, file) = indents(pair);
                        (pair.0, Shift::between(model, file))
                    })
                    .collect(),
            ),
        };
        let detail = format!("{} % alike", (near.score * 100.0).floor());
        LocatedPlace {
            range: self.range(near.lines.clone()),
            found: PlaceMatch { rung: Rung::Inexact, detail: Some(detail) },
            fit,
            is_chosen: false,
            pairs: near.pairs.clone(),
        }
    }
}

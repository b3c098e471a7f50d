//! Places the hunks of a patch. The unchanged and removed lines of a hunk are the search text; line numbers are trusted
//! only where they choose between places that fit, and where the header's counts are true.

use std::ops::Range;

use super::body::{Body, LineKind, blanks, near};
use super::entities::entities;
use super::fit;
use super::left_out::{doubtful, leaves_out_of_part, may_leave_out};
use super::passage::made_already;
use super::splice::{Done, Splice, TargetText, spliced, sure, with_ending};
use super::standing;
use crate::edit::bytes::{self, Encoding};
use crate::edit::lines::Lines;
use crate::edit::locate::{self, LocatedPlace, Miss, Search, SearchShape, Shift, folded_line, indent, is_dots};
use crate::edit::op::PatchHunk;
use crate::proposal::{PlaceMatch, Rung};

/// Places all hunks of one file, one after another. The error is for the model.
pub(super) fn place(target: &TargetText, hunks: &[PatchHunk]) -> Result<Done, String> {
    let mut done = Done { stages: Vec::new(), found: sure(true), stands: false };
    let mut text = target.text.to_string();
    let mut after = 0;
    for (i, hunk) in hunks.iter().enumerate() {
        if hunks[..i].contains(hunk) {
            done.stands = true;
            continue;
        }
        let placer = Placer { text: &text, raw: target.encoding == Encoding::Raw, hunk, after };
        let explain =
            |why: String| if hunks.len() > 1 { format!("hunk {} of {}: {why}", i + 1, hunks.len()) } else { why };
        let Some((splices, mut found)) = placer.place(hunks.len() == 1).map_err(explain)? else { continue };
        if let Some(doubt) = placer.doubt() {
            found = doubt;
        }
        if splices.is_empty() {
            done.stands = true;
            continue;
        }
        if found.rung > done.found.rung || done.found.detail.is_none() && found.rung == done.found.rung {
            done.found = found;
        }
        text = spliced(&text, &splices);
        let grown: usize = splices.iter().map(|s| s.new.len()).sum();
        let shrunk: usize = splices.iter().map(|s| s.range.len()).sum();
        after = splices.last().map_or(after, |s| s.range.end + grown - shrunk);
        done.stages.push(splices);
    }
    Ok(done)
}

/// Returns the text of a file that these hunks make: they only add.
pub(super) fn fresh(hunks: &[PatchHunk]) -> Option<String> {
    let mut text = String::new();
    for hunk in hunks {
        let body = Body::strict(&hunk.body);
        if body
            .lines
            .iter()
            .any(|(kind, line)| *kind == LineKind::Goes || (*kind == LineKind::Stays && !line.is_empty()))
        {
            return None;
        }
        body.after().iter().for_each(|line| text.extend([line, "\n"]));
        if body.unended[1] {
            text.pop();
        }
    }
    Some(text)
}

/// The number of lines by which models miscount those of a hunk.
const MISCOUNTED: usize = 2;
/// The length, in lines, above which a file is never taken to be a hunk of its own.
const LONGEST_WHOLE: usize = 5_000;

struct Placer<'a> {
    text: &'a str,
    raw: bool,
    hunk: &'a PatchHunk,
    /// The end of the hunk before this one.
    after: usize,
}

/// The splices of a hunk, and how its place was found; without splices: what it makes stands there already.
type Splices = (Vec<Splice>, PlaceMatch);

impl Placer<'_> {
    /// Returns the hunk's splices; none if it changes nothing.
    fn place(&self, alone: bool) -> Result<Option<Splices>, String> {
        let strict = Body::strict(&self.hunk.body);
        if !strict.before().iter().any(|l| is_dots(l))
            && leaves_out_of_part(&strict.before().join("\n"), &strict.after().join("\n"))
        {
            return Err(fit::DOTS.to_string());
        }
        if self.raw {
            let lines: Vec<String> = self.hunk.body.iter().map(|l| bytes::raw(l)).collect();
            return self.search(&Body::strict(&lines), Rung::Exact).map_err(|m| self.explain(&m));
        }
        if strict.before().iter().all(|l| l.trim().is_empty()) {
            return self.insert(&strict).map(Some);
        }
        let miss = match self.search(&strict, Rung::Elided) {
            Ok(placed) => return Ok(placed),
            Err(miss @ Miss::Several { .. }) => return Err(self.explain(&miss)),
            Err(miss) => miss,
        };
        let lenient = Body::lenient(&self.hunk.body, self.text);
        if let Some(placed) = self.with_blanks(&strict).or_else(|| self.with_blanks(&lenient)) {
            return Ok(Some(placed));
        }
        match self.search(&lenient, Rung::Inexact) {
            Ok(placed) => Ok(placed),
            Err(several @ Miss::Several { .. }) => Err(self.explain(&several)),
            Err(_) if let Some(placed) = self.without_dots() => Ok(Some(placed)),
            Err(_) if let Some(placed) = self.without_prose() => Ok(Some(placed)),
            Err(_) if let Some(placed) = self.unescaped() => Ok(Some(placed)),
            Err(_) if alone && let Some(new) = self.whole(&lenient) => Ok(Some(new)),
            Err(lenient_miss) => Err(self.explain(if lenient == strict { &miss } else { &lenient_miss })),
        }
    }

    /// Returns how the hunk counts where a line of it may stand for others.
    fn doubt(&self) -> Option<PlaceMatch> {
        let body = Body::strict(&self.hunk.body);
        let before = body.before();
        let is_full = !before.iter().any(|line| is_dots(line));
        may_leave_out(&before.join("\n"), &body.after().join("\n")).filter(|_| is_full).map(doubtful)
    }

    /// Returns the hunk with the blank lines that the file has between its lines.
    fn with_blanks(&self, body: &Body) -> Option<Splices> {
        let lines = blanks::with_own(self.text, &body.lines)?;
        let placed = self.search(&Body { lines, unended: body.unended }, Rung::LookAlikes).ok()?;
        placed.map(|(splices, mut found)| {
            found.rung = found.rung.max(Rung::TrailingSpace);
            found.detail.get_or_insert_with(|| blanks::DETAIL.to_string());
            (splices, found)
        })
    }

    /// Returns the hunk without unchanged lines of dots at its ends: what they stand for lies outside of it.
    fn without_dots(&self) -> Option<Splices> {
        let body = &self.hunk.body;
        let is_outside = |line: &&String| !line.starts_with(['+', '-']) && is_dots(line);
        let from = body.iter().take_while(is_outside).count();
        let to = body.len() - body.iter().rev().take_while(is_outside).count();
        let inner = body.get(from..to).filter(|inner| inner.len() < body.len())?;
        let strict = self.search(&Body::strict(inner), Rung::Elided);
        strict.or_else(|_| self.search(&Body::lenient(inner, self.text), Rung::Elided)).ok()?
    }

    /// Returns the hunk without lines at its end that stand apart and have no prefix: prose that a header with too high
    /// counts has drawn in.
    fn without_prose(&self) -> Option<Splices> {
        let body = &self.hunk.body;
        let end = body.iter().rposition(|l| l.starts_with(['+', '-', ' ', '\\']))? + 1;
        let apart = body.get(end).is_some_and(|l| l.trim().is_empty());
        let placed = self.search(&Body::strict(&body[..end]), Rung::Elided).ok()?;
        placed.filter(|_| apart)
    }

    /// Returns the hunk with entities read as characters, if that is there for certain.
    fn unescaped(&self) -> Option<Splices> {
        let plain = |line: &String| entities(line).unwrap_or_else(|| line.clone());
        let body: Vec<String> = self.hunk.body.iter().map(plain).collect();
        let placed = self.search(&Body::strict(&body), Rung::Elided).ok().filter(|_| body != self.hunk.body)?;
        placed.map(|(splices, mut found)| {
            found.detail.get_or_insert_with(|| "entities read as characters".to_string());
            (splices, found)
        })
    }

    fn explain(&self, miss: &Miss) -> String {
        let missing = self.hunk.above.iter().find(|a| self.hunk.strict_above && self.lines_of(a).next().is_none());
        match missing {
            Some(above) => format!(
                "no line of the file is `{above}`, which stands after @@. {}",
                miss.text(self.text, SearchShape::Lines)
            ),
            None => {
                let after = Body::lenient(&self.hunk.body, self.text).after().join("\n");
                let made =
                    matches!(miss, Miss::Nothing { .. }).then(|| made_already(self.text, &after, SearchShape::Lines));
                made.flatten().unwrap_or_default() + &miss.text(self.text, SearchShape::Lines)
            }
        }
    }

    fn search(&self, body: &Body, down_to: Rung) -> Result<Option<Splices>, Miss> {
        let (before, after) = (body.before().join("\n"), body.after().join("\n"));
        let search = Search { text: &before, shape: SearchShape::Lines, all: true, down_to };
        let places = self.choose(locate::locate(self.text, &search)?)?;
        if !body.changes() && places.found.rung < Rung::Inexact {
            return Ok(None);
        }
        let found = places.found.clone();
        if self.stands(body, &search, &after, &places) {
            return Ok(Some((Vec::new(), found)));
        }
        let splices = match self.lines(body, &places) {
            Some(splices) => splices,
            None if self.is_near(body, &places) => self.near_lines(body, &places)?,
            None => {
                let done = fit::all(self.text, &search, &after, vec![places]);
                done.map_err(|_| Miss::Nothing { closest: None, within: Vec::new() })?.stages.remove(0)
            }
        };
        Ok(Some((splices, found)))
    }

    /// Returns whether the lines that come stand there already, among those that stay.
    fn stands(&self, body: &Body, search: &Search, after: &str, place: &LocatedPlace) -> bool {
        let is_solid = |(kind, line): &&(LineKind, &str)| *kind == LineKind::Comes && !line.trim().is_empty();
        let Some((_, line)) = body.lines.iter().find(is_solid) else { return false };
        self.text.contains(line.trim())
            && fit::all(self.text, search, after, vec![place.clone()])
                .is_ok_and(|done| done.stages.iter().flatten().all(|splice| standing::is_there(self.text, splice)))
    }

    /// Returns the one place that what stands above, the end of the file, the header or the hunk before allow.
    fn choose(&self, mut places: Vec<LocatedPlace>) -> Result<LocatedPlace, Miss> {
        if self.hunk.at_end {
            let end = self.text.trim_end_matches(['\r', '\n']).len();
            places.retain(|p| p.range.end >= end);
        }
        if !self.hunk.above.is_empty() {
            let below: Vec<LocatedPlace> = places.iter().filter(|p| self.below(p.range.start)).cloned().collect();
            if self.hunk.strict_above || !below.is_empty() {
                places = below;
            }
        }
        let filters: [&dyn Fn(&LocatedPlace) -> bool; 3] =
            [&|p| self.in_scope(p.range.start), &|p| self.at_header(p.range.start), &|p| p.range.start >= self.after];
        for filter in filters {
            let fit: Vec<LocatedPlace> = places.iter().filter(|p| filter(p)).cloned().collect();
            if places.len() > 1 && fit.len() == 1 {
                places = fit;
            }
        }
        match places.len() {
            1 => Ok(places.remove(0)),
            0 => Err(Miss::Nothing { closest: None, within: Vec::new() }),
            n => Err(Miss::Several { places: places.into_iter().take(5).map(|p| p.range).collect(), more: n > 5 }),
        }
    }

    /// Returns the offsets of the lines that a text after `@@` names.
    fn lines_of<'b>(&'b self, above: &'b str) -> impl Iterator<Item = usize> + 'b {
        let lines = Lines::new(self.text);
        let above = above.trim();
        (0..lines.len()).filter_map(move |i| {
            let line = lines.content(i).trim();
            (line == above || (!above.is_empty() && line.starts_with(above))).then(|| lines.spans[i].start)
        })
    }

    /// Returns whether all texts after `@@` stand above, in their order.
    fn below(&self, at: usize) -> bool {
        let mut from = 0;
        self.hunk.above.iter().all(|above| match self.lines_of(above).find(|l| *l >= from && *l <= at) {
            Some(line) => {
                from = line + 1;
                true
            }
            None => false,
        })
    }

    /// Returns whether the place is inside of what the last text after `@@` begins: all lines between are further
    /// right.
    fn in_scope(&self, at: usize) -> bool {
        let Some(above) = self.hunk.above.last() else { return false };
        let Some(head) = self.lines_of(above).take_while(|l| *l <= at).last() else { return false };
        let mut lines = self.text[head..at].lines();
        let depth = lines.next().map_or(0, |l| indent(l).len());
        lines.all(|l| l.trim().is_empty() || indent(l).len() > depth)
    }

    /// Returns whether the place is the one the header names; a header whose counts are wrong names none.
    fn at_header(&self, at: usize) -> bool {
        let Some([before, after]) = self.hunk.header else { return false };
        let body = Body::strict(&self.hunk.body);
        before.1 == body.before().len()
            && after.1 == body.after().len()
            && crate::edit::lines::number(self.text, at) == after.0
    }

    /// Splices that leave the lines that stay as they are on disk. Needs a place that matches line by line.
    fn lines(&self, body: &Body, place: &LocatedPlace) -> Option<Vec<Splice>> {
        if place.found.rung >= Rung::Elided {
            return None;
        }
        let shift = match &place.fit {
            locate::Fit::AsIs => Shift::None,
            locate::Fit::Shifted { shift, .. } => shift.clone(),
            _ => return None,
        };
        let hay = Lines::new(self.text);
        let mut line = hay.at(place.range.start);
        let (mut splices, mut run): (Vec<Splice>, Option<(usize, Vec<String>)>) = (Vec::new(), None);
        for (kind, text) in body.lines.iter().chain([&(LineKind::Stays, "")]) {
            match kind {
                LineKind::Stays => {
                    if let Some((start, new)) = run.take() {
                        splices.push(self.run(&hay, start..line, &new, body.unended));
                    }
                    line += 1;
                }
                LineKind::Goes => {
                    run.get_or_insert((line, Vec::new()));
                    line += 1;
                }
                LineKind::Comes => run.get_or_insert((line, Vec::new())).1.push(shift.apply(text)),
            }
        }
        Some(splices)
    }

    /// Returns whether a hunk with a place that is only alike is a diff to the letter. A header of quite other counts stands
    /// above a text that is none: its lines are as they shall be.
    fn is_near(&self, body: &Body, place: &LocatedPlace) -> bool {
        let is_counted = |[before, _]: [(usize, usize); 2]| before.1.abs_diff(body.before().len()) <= MISCOUNTED;
        place.found.rung == Rung::Inexact && self.hunk.header.is_none_or(is_counted)
    }

    /// Returns the splices of such a hunk: what has no mark stays as the file has it. The error: it is not certain what is to
    /// change, or nothing is.
    fn near_lines(&self, body: &Body, place: &LocatedPlace) -> Result<Vec<Splice>, Miss> {
        let hay = Lines::new(self.text);
        let lines = hay.at(place.range.start)..(hay.at(place.range.end) + 1).min(hay.len());
        let fitted = |row: usize, line: &str| Some(shift_at(&place.fit, row)?.apply(line));
        let runs = near::runs(body, &hay, (&place.pairs, lines.clone()), &fitted);
        let runs = runs.filter(|runs| body.changes() || !runs.is_empty());
        let runs = runs.ok_or(Miss::Nothing { closest: Some(lines), within: Vec::new() })?;
        Ok(runs.into_iter().map(|(lines, new)| self.run(&hay, lines, &new, body.unended)).collect())
    }

    /// Returns one run of changed lines.
    fn run(&self, hay: &Lines, lines: Range<usize>, new: &[String], unended: [bool; 2]) -> Splice {
        let at = |line: usize| hay.spans.get(line).map_or(self.text.len(), |s| s.start);
        let range = at(lines.start)..at(lines.end);
        let is_last = lines.end >= hay.len();
        let ended = self.text[..range.end].ends_with(['\n', '\r']) || self.text[..range.end].is_empty();
        let mut text: String = new.iter().flat_map(|l| [l.as_str(), "\n"]).collect();
        let mut range = range;
        if is_last {
            let end_after = if unended[0] || unended[1] { !unended[1] } else { ended };
            if range.is_empty() && !ended && !text.is_empty() {
                // New lines after a last line that has no ending: the ending goes before them.
                text.insert(0, '\n');
            }
            if !end_after {
                match text.pop() {
                    Some(_) => {}
                    None => range = with_ending(self.text, range),
                }
            }
        }
        let new =
            bytes::fit_endings(&text, bytes::endings(self.text), &self.text[range.clone()], &self.text[..range.start]);
        Splice { range, new: new.into_owned() }
    }

    /// Returns a hunk that only adds.
    fn insert(&self, body: &Body) -> Result<Splices, String> {
        let hay = Lines::new(self.text);
        let new: Vec<String> = body.after().iter().map(|l| l.to_string()).collect();
        if new.is_empty() {
            return Err("the hunk is empty.".to_string());
        }
        let above: Vec<usize> = self.hunk.above.last().map_or(Vec::new(), |a| self.lines_of(a).collect());
        let inexact = |detail: &str| PlaceMatch { rung: Rung::Inexact, detail: Some(detail.to_string()) };
        let (line, found) = match (above.as_slice(), self.hunk.header) {
            _ if self.hunk.at_end || hay.len() == 0 => (hay.len(), sure(true)),
            // Blank lines alone are no lines that could be named.
            _ if self.text.trim().is_empty() => (0, sure(true)),
            ([one], _) if self.hunk.strict_above => (hay.at(*one) + 1, sure(true)),
            (_, Some([(_, 0), (start, count)])) if count == new.len() && (1..=hay.len() + 1).contains(&start) => {
                (start - 1, inexact("by line number alone"))
            }
            _ => {
                return Err(
                    "a hunk has only lines that come, so its place is unknown. Add two or three lines that stay, as \
                            they are in the file, before and after them."
                        .to_string(),
                );
            }
        };
        let is_at = |from: usize| (0..new.len()).all(|i| from + i < hay.len() && hay.content(from + i) == new[i]);
        let stands = is_at(line) || line == hay.len() && line.checked_sub(new.len()).is_some_and(is_at);
        // A bracket alone may be wanted once more.
        if stands && new.iter().any(|line| line.contains(char::is_alphanumeric)) {
            return Ok((Vec::new(), found));
        }
        Ok((vec![self.run(&hay, line..line, &new, body.unended)], found))
    }

    /// Returns a single hunk that holds the new text of the whole file: it begins as the file does and has most of its
    /// lines.
    fn whole(&self, body: &Body) -> Option<Splices> {
        let key = |line: &str| folded_line(line, Rung::LookAlikes).into_owned();
        let solid = |lines: &mut dyn Iterator<Item = &str>| -> Vec<String> {
            lines.map(key).filter(|k| !k.is_empty()).collect()
        };
        let old = solid(&mut self.text.lines());
        let after = body.after();
        let new = solid(&mut after.iter().copied());
        if old.len().max(new.len()) > LONGEST_WHOLE {
            return None;
        }
        let mut rest = new.iter();
        let same_lines = old.iter().filter(|line| {
            let mut ahead = rest.clone();
            let there = ahead.any(|n| n == *line);
            if there {
                rest = ahead;
            }
            there
        });
        if old.first() != new.first() || same_lines.count() * 10 < old.len() * 7 {
            return None;
        }
        let text = bytes::fit_whole(&(after.join("\n") + "\n"), self.text);
        let found = PlaceMatch { rung: Rung::Inexact, detail: Some("the patch holds the whole file".to_string()) };
        Some((vec![Splice { range: 0..self.text.len(), new: text }], found))
    }
}

/// Returns how a line that comes behind a row of the search text is shifted; nothing where its lines are left out.
fn shift_at(fit: &locate::Fit, row: usize) -> Option<Shift> {
    match fit {
        locate::Fit::AsIs => Some(Shift::None),
        locate::Fit::Shifted { shift, .. } => Some(shift.clone()),
        locate::Fit::Each(shifts) => {
            let at = shifts.partition_point(|(line, _)| *line < row).saturating_sub(1);
            Some(shifts.get(at).map_or(Shift::None, |(_, shift)| shift.clone()))
        }
        locate::Fit::Filled { .. } => None,
    }
}

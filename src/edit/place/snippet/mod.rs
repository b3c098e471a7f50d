//! Snippets under a file's path: texts that are nothing but passages of the file, such as functions, rules, tables, sections
//! and keys. Each has its head there exactly once, and takes the place of that one; what stands between them stays.

mod dots;
mod elided;
mod form;
mod heads;
mod units;
mod values;

use std::collections::HashSet;
use std::ops::Range;

pub(super) use self::dots::bare_dots;
pub(in crate::edit) use self::dots::written_dots;
pub(super) use self::elided::filled_by_keys;
use self::form::{Form, is_dots_alone};
use self::units::{Unit, units};
pub(in crate::edit) use self::values::values_gone;
use super::left_out::{is_mark, left_out};
use super::part::{self, Passage, in_order};
use super::splice::{Splice, spliced};
use crate::edit::bytes;
use crate::edit::lines::Lines;
use crate::edit::locate::{indent, part_with_tabs};

/// More passages than this are no handful of changes, and as many under one head are not distinguished by it.
const MOST: usize = 64;

/// Returns a file with the passages that a text consists of in the places of theirs, and the names of those that are other
/// ones. Nothing where the place of any part of the text is not certain, or where nothing changes.
pub(in crate::edit) fn passages(file: &str, new: &str, path: &str) -> Option<(String, String)> {
    let form = Form::of(path);
    let new = bytes::fit_whole(&part_with_tabs(new, file), file);
    let part = Side::new(&new, form);
    if !(1..=MOST).contains(&part.outermost(0..part.lines.len()).len()) {
        return None;
    }
    let hay = Side::new(file, form);
    let known: HashSet<&str> = file.lines().map(str::trim).collect();
    let leaves_out = |line: &str| is_mark(line) || form.has_keys() && is_dots_alone(line);
    if new.lines().any(|line| leaves_out(line) && !known.contains(line.trim())) {
        return None;
    }
    let mut placing = Placing { hay: &hay, part: &part, known, form, splices: Vec::new(), names: Vec::new() };
    placing.place(&hay.units.iter().collect::<Vec<_>>(), 0..part.lines.len())?;
    let (splices, names) = (in_order(placing.splices)?, placing.names.join(", "));
    let text = spliced(file, &splices);
    (text != file && form.keeps_sound(file, &text)).then_some((text, names))
}

/// Returns the name that a line of code gives a value.
pub(super) fn assigned(line: &str) -> Option<String> {
    heads::of_assignment(line).map(|key| key.trim_end_matches(" =").to_string())
}

/// Returns whether the first line of a text that is no comment begins a passage.
pub(in crate::edit) fn begins_passage(text: &str, path: &str) -> bool {
    let form = Form::of(path);
    let side = Side::new(text, form);
    let is_said = |line: &str| line.trim().is_empty() || form.decorates(line);
    let first = (0..side.lines.len()).find(|at| !is_said(side.lines.content(*at)));
    first.is_some_and(|at| side.units.iter().any(|unit| unit.lines.contains(&at)))
}

/// A text and its passages, in the order of their heads.
struct Side<'t> {
    lines: Lines<'t>,
    units: Vec<Unit>,
    form: Form,
}

impl<'t> Side<'t> {
    fn new(text: &'t str, form: Form) -> Self {
        let lines = Lines::new(text);
        let units = units(&lines, form);
        Side { lines, units, form }
    }

    /// Returns the passages whose heads are in these lines and that are in no other of them.
    fn outermost(&self, within: Range<usize>) -> Vec<&Unit> {
        let mut reached = within.start;
        let is_outer = |unit: &&Unit| {
            let is_outer = unit.lines.start >= reached;
            reached = if is_outer { unit.lines.end } else { reached };
            is_outer
        };
        self.units.iter().filter(|unit| within.contains(&unit.lines.start)).filter(is_outer).collect()
    }

    /// Returns the outermost passages inside of one.
    fn inside(&self, unit: &Unit) -> Vec<&Unit> {
        self.outermost(unit.line + 1..unit.lines.end)
    }

    /// Returns how many lines of comments stand right above a passage, below the line `from`.
    fn decorated(&self, unit: &Unit, from: usize) -> usize {
        (from..unit.lines.start).rev().take_while(|at| self.form.decorates(self.lines.content(*at))).count()
    }

    /// Returns the lines that are not blank: how far each is indented beyond the head of the passage, and its text without the
    /// sign that parts it from the next passage.
    fn solid(&self, lines: Range<usize>, unit: &Unit) -> Vec<(isize, &'t str)> {
        let head = indent(self.lines.content(unit.lines.start)).len() as isize;
        let line = |at: usize| {
            let line = self.lines.content(at);
            (indent(line).len() as isize - head, line.trim())
        };
        let mut solid: Vec<(isize, &str)> = lines.map(line).filter(|(_, text)| !text.is_empty()).collect();
        if let Some((_, last)) = solid.last_mut().filter(|_| self.form.has_commas()) {
            *last = last.trim_end_matches(',');
        }
        solid
    }
}

/// The passages that have found their places.
struct Placing<'s, 't> {
    hay: &'s Side<'t>,
    part: &'s Side<'t>,
    /// The file's lines, without space around them.
    known: HashSet<&'s str>,
    form: Form,
    splices: Vec<Splice>,
    names: Vec<String>,
}

/// Returns the rows of a table or list below its first line.
fn rows<'t>(side: &Side<'t>, unit: &Unit) -> HashSet<&'t str> {
    let lines = unit.lines.clone().filter(|at| *at > unit.line).map(|at| side.lines.content(at).trim());
    lines.map(|line| line.trim_end_matches(',')).filter(|line| line.contains(char::is_alphanumeric)).collect()
}

impl Placing<'_, '_> {
    /// Places the passages of these lines of the text at those of the file. All else there is in the lines must be in the
    /// file.
    fn place(&mut self, there: &[&Unit], here: Range<usize>) -> Option<()> {
        let part = self.part;
        let mut reached = here.start;
        for one in part.outermost(here.clone()) {
            let above = part.decorated(one, reached);
            self.is_known(reached..one.lines.start - above)?;
            self.place_one(one, above, there)?;
            reached = one.lines.end;
        }
        self.is_known(reached..here.end)
    }

    /// Returns nothing where one of these lines of the text is not in the file.
    fn is_known(&self, lines: Range<usize>) -> Option<()> {
        let is_there = |at: usize| {
            let line = self.part.lines.content(at).trim();
            line.is_empty() || self.known.contains(line)
        };
        { lines }.all(is_there).then_some(())
    }

    /// Places one passage, with the lines right above it that belong to it.
    fn place_one(&mut self, one: &Unit, above: usize, there: &[&Unit]) -> Option<()> {
        let hay = self.hay;
        let same: Vec<&Unit> = there.iter().copied().filter(|own| own.key == one.key).take(MOST).collect();
        let new = self.part.solid(one.lines.start - above..one.lines.end, one);
        let is_equal = |own: &&Unit| {
            let lines = own.lines.start - above.min(hay.decorated(own, 0))..own.lines.end;
            hay.solid(lines, own) == new
        };
        // A heading alone says where what follows stands.
        let is_bare = |one: &Unit| self.form == Form::Markdown && one.lines.end == one.line + 1;
        if same.iter().any(is_equal) || is_bare(one) && !same.is_empty() {
            return Some(());
        }
        if one.is_definition {
            let text = &self.part.lines.text[self.part.lines.range(one.lines.start - above..one.lines.end)];
            let (splices, name) = part::placed(hay.lines.text, text, None)?;
            self.splices.extend(splices);
            self.names.push(name);
            return Some(());
        }
        let [own] = same.as_slice() else { return None };
        if self.is_given_anew(one, own) {
            let splice = self.in_its_place(one, above, own)?;
            self.splices.push(splice);
            self.names.push(one.name().to_string());
            return Some(());
        }
        let (inside, theirs) = (self.part.inside(one), hay.inside(own));
        let keys: HashSet<&str> = inside.iter().map(|new| new.key.as_str()).collect();
        let staying = theirs.iter().filter(|old| keys.contains(old.key.as_str())).count();
        if !theirs.is_empty() && staying * 2 <= theirs.len() && inside.len() * 2 <= theirs.len() {
            // Of one that leaves out most of what is inside of it, only what is there is meant.
            if inside.is_empty() || inside.len() > MOST {
                return None;
            }
            self.is_known(one.lines.start - above..one.line + 1)?;
            return self.place(&theirs, one.line + 1..one.lines.end);
        }
        let (new, old) = (self.part.solid(one.lines.clone(), one), hay.solid(own.lines.clone(), own));
        if new.len() * 2 < old.len() {
            return None;
        }
        let splice = self.in_its_place(one, above, own)?;
        self.splices.push(splice);
        self.names.push(one.name().to_string());
        Some(())
    }

    /// Returns whether a passage gives a name at the margin another value, such as a table or a list, of which it leaves nothing
    /// out: however short that is, it is all of it.
    fn is_given_anew(&self, one: &Unit, own: &Unit) -> bool {
        let is_at_margin = |side: &Side, unit: &Unit| indent(side.lines.content(unit.lines.start)).is_empty();
        let text = |side: &Side<'_>, unit: &Unit| side.lines.text[side.lines.range(unit.lines.clone())].to_string();
        let (new, old) = (rows(self.part, one), rows(self.hay, own));
        // Fewer rows of which the file has none are more likely to be added.
        let may_be_added = new.len() < old.len() && !new.is_empty() && new.is_disjoint(&old);
        !may_be_added
            && self.form == Form::Code
            && one.key.ends_with(" =")
            && is_at_margin(self.part, one)
            && is_at_margin(self.hay, own)
            && left_out(&text(self.hay, own), &text(self.part, one)).is_none()
    }

    /// Returns the splice by which a passage takes the place of one of the file's.
    fn in_its_place(&self, one: &Unit, above: usize, own: &Unit) -> Option<Splice> {
        let (hay, part) = (self.hay, self.part);
        let ends = |side: &Side, unit: &Unit| self.form.ends(&side.lines, unit.lines.clone());
        let margin = |side: &Side, unit: &Unit| indent(side.lines.content(unit.lines.start)).len();
        let is_moved = self.form == Form::Code && margin(part, one) != margin(hay, own);
        if is_moved || !ends(part, one) || !ends(hay, own) {
            return None;
        }
        let closes = |side: &Side, unit: &Unit| side.lines.content(unit.lines.end - 1).trim() == "end";
        // The `end` below a branch closes what is around that, too.
        let old = match (closes(part, one), closes(hay, own)) {
            (true, false) if self.form == Form::Code => return None,
            (false, true) if self.form == Form::Code => own.lines.start..own.lines.end - 1,
            _ => own.lines.clone(),
        };
        let there = Passage { lines: &hay.lines, head: own.lines.start, extent: old.clone() };
        let here = Passage { lines: &part.lines, head: one.lines.start, extent: one.lines.clone() };
        let mut new = here.fitted(one.lines.start - above..one.lines.end, &there)?;
        let start = own.lines.start - above.min(hay.decorated(own, 0));
        let range = hay.lines.range(start..old.end);
        if self.form.has_commas() {
            let is_parted = hay.lines.text[range.clone()].ends_with(',');
            new.truncate(new.trim_end().trim_end_matches(',').len());
            new.push_str(if is_parted { "," } else { "" });
        }
        Some(Splice { range, new })
    }
}

#[cfg(test)]
mod tests;

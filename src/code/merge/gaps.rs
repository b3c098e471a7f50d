//! The text that parts two units of a merge: that of a side in which they stand side by side, or else one like it.

use std::collections::HashMap;

use super::super::lang::SourceLanguage;
use super::units::{HEAD, TAIL, Unit, is_plain, kind};

/// The place before the first unit of a list whose head is empty.
const START: &str = "\0start";

/// One version of a list of units.
pub(super) struct UnitList<'s, 'a> {
    /// The units in their order.
    pub units: &'s [Unit<'a>],
    places: HashMap<&'a str, usize>,
}

impl<'s, 'a> UnitList<'s, 'a> {
    /// Creates the list of units.
    pub fn new(units: &'s [Unit<'a>]) -> Self {
        UnitList { units, places: units.iter().map(|unit| unit.key).zip(0..).collect() }
    }

    /// Returns a unit by its key.
    pub fn get(&self, key: &str) -> Option<&'s Unit<'a>> {
        self.places.get(key).map(|at| &self.units[*at])
    }

    /// Returns whether it has a unit of this key.
    pub fn has(&self, key: &str) -> bool {
        self.places.contains_key(key)
    }

    /// Returns the name of the unit before one, and the text between them, if that only parts them.
    fn before(&self, key: &str) -> Option<(&'a str, &'a str)> {
        let at = *self.places.get(key)?;
        let above = &self.units[at.checked_sub(1)?];
        let gap = self.units[at].gap;
        is_plain(gap).then(|| (name(above.key, above.text), gap))
    }

    /// Returns what parts a unit from the one behind it, whose key it returns too, in the same form.
    fn after(&self, key: &str) -> Option<(&'a str, &'a str)> {
        let below = self.units.get(*self.places.get(key)? + 1)?;
        is_plain(below.gap).then_some((below.key, below.gap))
    }

    /// Returns every pair of keys of units side by side that are no head or end, with what parts them.
    fn pairs(&self) -> impl Iterator<Item = (&'a str, &'a str, &'a str)> {
        let pairs = self.units.windows(2).map(|pair| (pair[0].key, pair[1].key, pair[1].gap));
        pairs.filter(|(above, below, gap)| *above != HEAD && *below != TAIL && is_plain(gap))
    }

    /// Returns the text between the head and what follows it, if the head is empty just where it is to be.
    fn behind_head(&self, is_empty: bool) -> Option<&'a str> {
        let [head, first, ..] = self.units else { return None };
        (head.text.is_empty() == is_empty && first.key != TAIL && is_plain(first.gap)).then_some(first.gap)
    }
}

/// Returns the name that a unit has for the one behind it.
pub(super) fn name<'k>(key: &'k str, text: &str) -> &'k str {
    if key == HEAD && text.is_empty() { START } else { key }
}

/// Returns the text between two units where nothing but white space parts them in a side, or in neither side they stand
/// side by side. No line of it that a side has is lost.
pub(super) fn between(
    lists: &[UnitList<'_, '_>; 3],
    (above, key): (&str, &str),
    (language, ending): (SourceLanguage, &str),
) -> String {
    let beside = lists.each_ref().map(|list| list.before(key).filter(|(name, _)| *name == above).map(|(_, gap)| gap));
    if let Some(gap) = of_sides(beside) {
        return gap.to_owned();
    }
    let gaps = lists.each_ref().map(|list| list.get(key).map(|unit| unit.gap).filter(|gap| is_plain(gap)));
    let is_first = above == HEAD || above == START;
    let gap = match () {
        () if key == TAIL => of_sides(gaps).map(str::to_owned),
        () if is_first => {
            let found = lists.iter().rev().find_map(|list| list.behind_head(above == START));
            found.or((above == START).then_some("")).map(str::to_owned)
        }
        () => like(lists, above, key).map(str::to_owned),
    };
    indented(lists, key, &gap.unwrap_or_else(|| made(lists, key, (language, ending))))
}

/// Returns the one of three texts that stays: the other side left it as it was, or else it has the more lines.
fn of_sides([base, ours, theirs]: [Option<&str>; 3]) -> Option<&str> {
    match (ours, theirs) {
        (Some(ours), Some(theirs)) => Some(match () {
            () if theirs == ours || Some(ours) == base => theirs,
            () if Some(theirs) == base || lines(ours) > lines(theirs) => ours,
            () => theirs,
        }),
        _ => ours.or(theirs).or(base),
    }
}

fn lines(gap: &str) -> usize {
    gap.matches('\n').count()
}

/// Returns what parts one of two units from another: one of the kind that it is to be parted from here, if there is one,
/// and of several the longest.
fn like<'k>(lists: &[UnitList<'_, 'k>; 3], above: &'k str, key: &'k str) -> Option<&'k str> {
    let kinds = (kind(above), kind(key));
    let mut around = Vec::new();
    for list in lists {
        let before = list.before(key).filter(|(other, _)| *other != HEAD && *other != START);
        let after = list.after(above).filter(|(other, _)| *other != TAIL);
        around.extend(before.map(|(other, gap)| ((kind(other), kinds.1), gap)));
        around.extend(after.map(|(other, gap)| ((kinds.0, kind(other)), gap)));
    }
    let all = lists.iter().flat_map(UnitList::pairs).map(|(above, below, gap)| ((kind(above), kind(below)), gap));
    let are_alike = |found: &((&str, &str), &str)| found.0 == kinds;
    longest(around.iter().copied().filter(are_alike))
        .or_else(|| longest(around.iter().copied()))
        .or_else(|| longest(all.filter(are_alike)))
}

fn longest<'k>(found: impl Iterator<Item = ((&'k str, &'k str), &'k str)>) -> Option<&'k str> {
    found.map(|(_, gap)| gap).max_by_key(|gap| lines(gap))
}

/// Returns what parts a unit from another where no side has the like: with as many blank lines as it has before it, or
/// as the first unit has.
fn made(lists: &[UnitList<'_, '_>; 3], key: &str, (language, ending): (SourceLanguage, &str)) -> String {
    let own = lists.iter().filter_map(|list| list.get(key)).map(|unit| &unit.gap[unit.gap.trim_end().len()..]);
    let first = lists.iter().filter_map(|list| list.behind_head(false));
    let is_field = kind(key) == "field";
    let count = if is_field { 1 } else { own.chain(first).map(lines).fold(2, usize::max) };
    let ends = lists.iter().filter_map(|list| list.get(TAIL));
    let has_comma = language == SourceLanguage::Rust || ends.into_iter().any(|end| end.gap.starts_with(','));
    let comma = if is_field && has_comma { "," } else { "" };
    format!("{comma}{}", ending.repeat(count))
}

/// Returns a text between units with the indentation of the one behind it, which begins a line.
fn indented(lists: &[UnitList<'_, '_>; 3], key: &str, gap: &str) -> String {
    let indent = lists[1..].iter().find_map(|list| list.get(key)).and_then(|unit| unit.indent);
    match (gap.rfind('\n'), indent) {
        (Some(line), Some(indent)) => format!("{}{indent}", &gap[..=line]),
        _ => gap.to_owned(),
    }
}

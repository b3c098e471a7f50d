//! Merges lists of units: their order, the text of each, and what stands between them.

use std::collections::HashSet;

use super::super::lang::SourceLanguage;
use super::gaps::{self, UnitList};
use super::imports;
use super::names;
use super::units::{HEAD, TAIL, Unit, is_plain, loose_lines, one_sided};

/// Merges three texts line by line; `None`: both changed the same lines.
pub type LineMerge<'a> = &'a dyn Fn(&str, &str, &str) -> Option<String>;

/// A unit of the result.
pub(super) struct JoinedUnit {
    key: String,
    gap: String,
    text: String,
    /// The list of what it holds; empty: its text is that of a side.
    inner: Vec<JoinedUnit>,
}

impl JoinedUnit {
    fn of(unit: &Unit<'_>) -> JoinedUnit {
        let (key, gap, text) = (unit.key.to_owned(), String::new(), unit.text.to_owned());
        JoinedUnit { key, gap, text, inner: Vec::new() }
    }
}

/// Returns the text of a list.
pub(super) fn text_of(units: &[JoinedUnit]) -> String {
    units.iter().flat_map(|unit| [unit.gap.as_str(), unit.text.as_str()]).collect()
}

/// Returns whether the units that were found in a text are those that it was made of.
pub(super) fn are_found(found: &[Unit<'_>], joined: &[JoinedUnit]) -> bool {
    let is_found = |(found, joined): (&Unit<'_>, &JoinedUnit)| {
        let is_same = found.key == joined.key && found.text == joined.text;
        is_same && (joined.inner.is_empty() || are_found(&found.inner, &joined.inner))
    };
    found.len() == joined.len() && found.iter().zip(joined).all(is_found)
}

/// A merge of units of one language.
pub(super) struct UnitMerge<'m> {
    /// Merges text between them line by line.
    pub lines: LineMerge<'m>,
    /// The language.
    pub language: SourceLanguage,
    /// The line ending of the file.
    pub ending: &'static str,
}

impl UnitMerge<'_> {
    /// Merges three versions of a list; `None`: both sides changed one unit in different ways, or its place.
    pub fn list(&self, versions: [&[Unit<'_>]; 3]) -> Option<Vec<JoinedUnit>> {
        let lists = versions.map(UnitList::new);
        let mut joined = Vec::new();
        for key in order(&lists)? {
            joined.extend(self.unit(key, lists.each_ref().map(|list| list.get(key)))?);
        }
        for at in 1..joined.len() {
            joined[at].gap = self.gap(&lists, &joined, at)?;
        }
        Some(joined)
    }

    /// Merges one unit; `Some(None)`: it goes.
    fn unit(&self, key: &str, [base, ours, theirs]: [Option<&Unit<'_>>; 3]) -> Option<Option<JoinedUnit>> {
        let [was, own, other] = [base, ours, theirs].map(|unit| unit.map(|unit| unit.text));
        if own == other || other == was {
            return Some(ours.map(JoinedUnit::of));
        }
        if own == was {
            return Some(theirs.map(JoinedUnit::of));
        }
        let versions = [base?, ours?, theirs?];
        if key == HEAD {
            let text = self.head(versions.map(|unit| unit.text))?;
            return Some(Some(JoinedUnit { text, ..JoinedUnit::of(versions[0]) }));
        }
        if versions.iter().any(|unit| unit.inner.is_empty()) {
            return None;
        }
        let inner = self.list(versions.map(|unit| unit.inner.as_slice()))?;
        Some(Some(JoinedUnit { text: text_of(&inner), inner, ..JoinedUnit::of(versions[0]) }))
    }

    /// Merges the beginning of a list, which ends with no line.
    fn head(&self, texts: [&str; 3]) -> Option<String> {
        let ended = texts.map(|text| if text.is_empty() { String::new() } else { format!("{text}{}", self.ending) });
        self.loose(ended.each_ref().map(String::as_str)).map(|text| text.trim_end().to_owned())
    }

    /// Merges text between definitions: by lines, or else imports as sets, and the names of an import as well.
    fn loose(&self, texts: [&str; 3]) -> Option<String> {
        let merged = |texts: [&str; 3]| {
            let [base, ours, theirs] = texts;
            (self.lines)(base, ours, theirs).or_else(|| imports::merged(self.language, texts))
        };
        let as_lists = || {
            let texts = imports::grouped(self.language, texts)?;
            merged(texts.each_ref().map(String::as_str))
        };
        merged(texts).or_else(as_lists).or_else(|| {
            let unified = names::unified(self.language, texts)?;
            let texts = unified.each_ref().map(String::as_str);
            one_sided(&texts).map_or_else(|| merged(texts), |kept| Some((*kept).to_owned()))
        })
    }

    /// Returns the text between a unit of the result and the one before.
    fn gap(&self, lists: &[UnitList<'_, '_>; 3], joined: &[JoinedUnit], at: usize) -> Option<String> {
        let key = joined[at].key.as_str();
        let [base, ours, theirs] = lists.each_ref().map(|list| list.get(key).map(|unit| unit.gap));
        if [base, ours, theirs].into_iter().flatten().any(|gap| !is_plain(gap)) {
            let gap = match one_sided(&[base, ours, theirs]) {
                Some(kept) => (*kept)?.to_owned(),
                None => self.loose([base?, ours?, theirs?])?,
            };
            if !is_plain(&gap) && !is_there(lists, &joined[..at], (key, &gap)) {
                return Some(gap);
            }
        }
        let above = &joined[at - 1];
        Some(gaps::between(lists, (gaps::name(&above.key, &above.text), key), (self.language, self.ending)))
    }
}

/// Returns whether what stands before a new unit stands before those of the other side that it came to stand behind: both
/// were put between it and what follows.
fn is_there(lists: &[UnitList<'_, '_>; 3], before: &[JoinedUnit], (key, gap): (&str, &str)) -> bool {
    let [base, ours, theirs] = lists;
    let own = match (ours.has(key), theirs.has(key)) {
        (true, false) => ours,
        (false, true) => theirs,
        _ => return false,
    };
    let is_of_other = |unit: &&JoinedUnit| unit.key != TAIL && !base.has(&unit.key) && !own.has(&unit.key);
    let mut others = before.iter().rev().take_while(is_of_other);
    !base.has(key) && others.any(|unit| loose_lines(&unit.gap).eq(loose_lines(gap)))
}

/// Returns the keys of the result in their order: that of the side that moved units, which not both may have done. `None`
/// too where one side changed what the other removed.
fn order<'a>([base, ours, theirs]: &[UnitList<'_, 'a>; 3]) -> Option<Vec<&'a str>> {
    let moves = |side: &UnitList<'_, 'a>| shared(base, side) != shared(side, base);
    let (lead, follow, is_theirs) = match (moves(ours), moves(theirs)) {
        (true, true) => return None,
        (false, true) => (theirs, ours, false),
        _ => (ours, theirs, true),
    };
    let is_changed = |unit: &Unit<'_>| follow.get(unit.key).is_some_and(|follow| follow.text != unit.text);
    if base.units.iter().any(|unit| !lead.has(unit.key) && is_changed(unit)) {
        return None;
    }
    let loose = |unit: &Unit<'a>| loose_lines(unit.gap).chain(loose_lines(unit.loose));
    let known: HashSet<&str> = base.units.iter().flat_map(loose).collect();
    let mut order: Vec<&str> = lead.units.iter().map(|unit| unit.key).collect();
    for (at, unit) in follow.units.iter().enumerate() {
        if lead.has(unit.key) || base.has(unit.key) {
            continue;
        }
        let before = follow.units[..at].iter().rev().find_map(|unit| order.iter().position(|key| *key == unit.key))?;
        // What both put behind one unit: that of `theirs` is first at the beginning of a list, and last elsewhere, as
        // far as nothing that was there is between but what is before it too.
        let is_behind = lead.has(order[before]) && is_theirs != (before == 0);
        let is_beside = |key: &&str| {
            let is_new = is_behind && !base.has(key) && !follow.has(key);
            let gap = lead.get(key).map_or("", |unit| unit.gap);
            is_new && (!loose_lines(gap).any(|line| known.contains(line)) || loose_lines(gap).eq(loose_lines(unit.gap)))
        };
        let added = order[before + 1..].iter().copied().take_while(is_beside).count();
        order.insert(before + 1 + added, unit.key);
    }
    Some(order)
}

/// Returns the keys that are in another version too, in their order.
fn shared<'a>(list: &UnitList<'_, 'a>, other: &UnitList<'_, '_>) -> Vec<&'a str> {
    list.units.iter().map(|unit| unit.key).filter(|key| other.has(key)).collect()
}

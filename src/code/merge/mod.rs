//! Three-way merge by definitions: two versions of a file that changed different definitions are joined, also where the
//! changed lines lie side by side, as where both add a function at the same place.
//!
//! A text is cut into units, each a definition with the text between it and the one before; a class, a trait, a module or
//! an `impl` block is a list of units itself. A unit that one side alone changed is taken from that side, and what both
//! put at one place is there one after the other. White space between units is that of a side in which they stand side by
//! side; other text there is changed by one side alone, so that none of it comes twice or is lost. Before the first
//! definition text is merged by lines, and imports as sets, those of the names of one module too.

mod gaps;
mod imports;
mod list;
mod names;
mod units;

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

use super::file::SourceFile;
use super::lang::SourceLanguage;
pub use list::LineMerge;
use list::{UnitMerge, are_found, text_of};
use names::keeps_imports;
use units::{Unit, blocks, called, is_plain, loose_lines, one_sided, units};

/// Merges the ways from `base` to `ours` and to `theirs`. `None` where both changed one definition in different ways, or
/// its place, or a text is no source file without syntax errors, or the result would not hold just the definitions that
/// both sides leave.
pub fn merge(path: &str, [base, ours, theirs]: [&[u8]; 3], lines: LineMerge<'_>) -> Option<String> {
    let read = |bytes| SourceFile::read(path, bytes).ok().filter(|file| file.errors.is_empty());
    let files = [read(base)?, read(ours)?, read(theirs)?];
    if !are_numbered_alike(&files) {
        return None;
    }
    let found = files.each_ref().map(blocks);
    let versions = [0, 1, 2].map(|side| units(&files[side], &found[side]));
    if may_be_renamed(&versions) {
        return None;
    }
    let language = files[0].language;
    let ending = if files[2].text.contains("\r\n") { "\r\n" } else { "\n" };
    let joined = UnitMerge { lines, language, ending }.list(versions.each_ref().map(Vec::as_slice))?;
    let result = SourceFile::of_text(path, language, text_of(&joined)).filter(|file| file.errors.is_empty())?;
    let found = blocks(&result);
    let found = units(&result, &found);
    let is_whole = are_found(&found, &joined) && keeps_what_is_between(language, &versions, &found);
    let is_whole = is_whole && keeps_imports(&files, &result);
    (is_whole && keeps_definitions(&files, &result)).then_some(result.text)
}

/// Returns whether a text that another way of merging left is without syntax errors and has the definitions that both
/// sides leave, none of them more often than one of the sides has it. True for a file of another language.
pub fn has_definitions_of_both(path: &str, texts: [&str; 3], merged: &str) -> bool {
    if SourceLanguage::of_path(path).is_none() {
        return true;
    }
    let read = |text: &str| SourceFile::read(path, text.as_bytes()).ok();
    let Some(result) = read(merged).filter(|file| file.errors.is_empty()) else { return false };
    let [Some(base), Some(ours), Some(theirs)] = texts.map(read) else { return false };
    keeps_definitions(&[base, ours, theirs], &result)
}

/// Returns whether a merge has a definition twice that no side had twice: both added it, each its own. False for a file of
/// another language.
pub fn has_twice(path: &str, texts: [&str; 3], merged: &str) -> bool {
    let [base, ours, theirs] = texts;
    if SourceLanguage::of_path(path).is_none() || ours == theirs || [ours, theirs].contains(&base) {
        return false;
    }
    let read = |text: &str| SourceFile::read(path, text.as_bytes()).ok();
    let counts_of = |text: &str| read(text).as_ref().map(counts).unwrap_or_default();
    let [base, ours, theirs] = texts.map(counts_of);
    let was_once = |name: &String| [&base, &ours, &theirs].iter().all(|of| of.get(name).is_none_or(|count| *count < 2));
    counts_of(merged).iter().any(|(name, count)| *count > 1 && was_once(name))
}

/// Returns whether a text has the definitions that both sides leave, none of them more often than one of the sides has it.
fn keeps_definitions([base, ours, theirs]: &[SourceFile; 3], result: &SourceFile) -> bool {
    let [base, ours, theirs, result] = [base, ours, theirs, result].map(counts);
    let all: HashSet<&String> = [&base, &ours, &theirs, &result].into_iter().flat_map(HashMap::keys).collect();
    all.into_iter().all(|name| {
        let [before, ours, theirs, found] =
            [&base, &ours, &theirs, &result].map(|of| of.get(name).copied().unwrap_or(0));
        let stays = ours > 0 && theirs > 0 || before == 0 && ours + theirs > 0;
        (found > 0) == stays && found <= ours.max(theirs)
    })
}

/// Counts the definitions of a file by name.
fn counts(file: &SourceFile) -> HashMap<String, usize> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    called(file).into_iter().for_each(|name| *counts.entry(name).or_default() += 1);
    counts
}

/// Returns whether three versions have equally many definitions of each name that several share: else the numbers that
/// tell them apart would mean another one each.
fn are_numbered_alike(files: &[SourceFile; 3]) -> bool {
    let counts = files.each_ref().map(counts);
    let mut shared = counts.iter().flatten().filter(|(_, count)| **count > 1).map(|(name, _)| name);
    shared.all(|name| counts.iter().all(|count| count.get(name) == counts[0].get(name)))
}

/// Returns whether what both sides took away may have another name in one of them now, which the other does not know.
fn may_be_renamed(versions: &[Vec<Unit<'_>>; 3]) -> bool {
    fn gather<'a>(units: &[Unit<'a>], keys: &mut HashSet<&'a str>) {
        units.iter().for_each(|unit| {
            keys.insert(unit.key);
            gather(&unit.inner, keys);
        });
    }
    let [base, ours, theirs] = versions.each_ref().map(|units| {
        let mut keys = HashSet::new();
        gather(units, &mut keys);
        keys
    });
    let is_gone = base.iter().any(|key| !ours.contains(key) && !theirs.contains(key));
    is_gone && ours.union(&theirs).any(|key| !base.contains(key))
}

/// Returns whether the text between definitions of a merge is that of one side, where the other left it as it was, or,
/// where both changed some of it, has each line as often as the side that changed that line. A definition that is put before
/// text of the head makes it text between definitions: then both count as one.
fn keeps_what_is_between(language: SourceLanguage, versions: &[Vec<Unit<'_>>; 3], merged: &[Unit<'_>]) -> bool {
    let [base, ours, theirs] = versions.each_ref().map(|units| gaps_of(units));
    if base == ours && base == theirs {
        return gaps_of(merged) == base;
    }
    let sides = versions.each_ref().map(|units| loose_of(language, units));
    let merged = loose_of(language, merged);
    if let Some(kept) = one_sided(&sides) {
        return *kept == merged;
    }
    let counts = [&sides[0], &sides[1], &sides[2], &merged].map(|lines| {
        let mut counts: HashMap<&str, usize> = HashMap::new();
        lines.iter().for_each(|line| *counts.entry(line).or_default() += 1);
        counts
    });
    counts.iter().flat_map(HashMap::keys).all(|line| {
        let [base, ours, theirs, found] = counts.each_ref().map(|counts| counts.get(line).copied());
        one_sided(&[base, ours, theirs]) == Some(&found)
    })
}

/// Returns the lines between the definitions of a list, in their order.
fn gaps_of<'a>(units: &[Unit<'a>]) -> Vec<&'a str> {
    let mut lines = Vec::new();
    units.iter().for_each(|unit| gather_loose(unit, false, &mut lines));
    lines
}

/// Returns the lines between the definitions of a file and before the first of each list, in their order. Imports of the
/// file are merged by themselves.
fn loose_of<'a>(language: SourceLanguage, units: &[Unit<'a>]) -> Vec<&'a str> {
    let mut lines = Vec::new();
    for (at, unit) in units.iter().enumerate() {
        let text = if at == 0 { unit.text } else { unit.gap };
        if !is_plain(text) {
            lines.extend(imports::others(language, text));
        }
        gather_inner(unit, true, &mut lines);
    }
    lines
}

fn gather_loose<'a>(unit: &Unit<'a>, with_heads: bool, lines: &mut Vec<&'a str>) {
    lines.extend(loose_lines(unit.gap));
    gather_inner(unit, with_heads, lines);
}

fn gather_inner<'a>(unit: &Unit<'a>, with_heads: bool, lines: &mut Vec<&'a str>) {
    for inner in &unit.inner {
        if with_heads {
            lines.extend(loose_lines(inner.loose));
        }
        gather_loose(inner, with_heads, lines);
    }
}

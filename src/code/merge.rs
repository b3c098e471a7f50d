//! Three-way merge by definitions: two versions of a file that changed different definitions are joined, also where the
//! changed lines lie side by side, as where both add a function at the same place.
//!
//! A text is cut into units, each a definition with the text between it and the one before; a class, a trait or a module
//! is cut further, into its members. A unit that one side alone changed is taken from that side. The text between
//! definitions is changed by one side alone, so that none of it comes twice or is lost; before the first definition it is
//! merged by lines, and imports as sets.

use std::collections::{HashMap, HashSet};

use tree_sitter::Node;

use super::file::SourceFile;
use super::lang::{NodeKind, SourceLanguage};

/// Merges three texts line by line; `None`: both changed the same lines.
pub type LineMerge<'a> = &'a dyn Fn(&str, &str, &str) -> Option<String>;

/// A definition and the text between it and the unit before. The last unit of a file is the text behind its last
/// definition.
#[derive(Clone, Copy)]
struct Unit<'a> {
    key: &'a str,
    gap: &'a str,
    text: &'a str,
    /// The white space before it in its line.
    indent: &'a str,
}

/// The syntax nodes of imports.
const IMPORTS: &[&str] = &[
    "use_declaration",
    "import_statement",
    "import_from_statement",
    "future_import_statement",
    "import_declaration",
    "import_spec",
];

/// The beginning of a file, up to its first definition.
const HEAD: &str = "\0head";
/// The rest, behind its last definition.
const TAIL: &str = "\0tail";

/// Merges the ways from `base` to `ours` and to `theirs`. `None` where both changed one definition in different ways, or
/// its place, or a text is no source file without syntax errors, or the result would not hold just the definitions that
/// both sides leave.
pub fn merge(path: &str, [base, ours, theirs]: [&[u8]; 3], lines: LineMerge<'_>) -> Option<String> {
    let read = |bytes| SourceFile::read(path, bytes).ok().filter(|file| file.errors.is_empty());
    let files = [read(base)?, read(ours)?, read(theirs)?];
    if !are_numbered_alike(&files) {
        return None;
    }
    let keys = files.each_ref().map(keys);
    let [base, ours, theirs] = [0, 1, 2].map(|side| units(&files[side], &keys[side]));
    let language = files[0].language;
    let merged = Merge { base: by_key(&base), lines, language }.merged_units(&base, &ours, &theirs)?;
    let result = merged.iter().map(|(key, gap, text)| Unit { key, gap, text, indent: "" }).collect::<Vec<Unit<'_>>>();
    if !keeps_what_is_between(language, [&base, &ours, &theirs], &result) {
        return None;
    }
    let text: String = merged.iter().flat_map(|(_, gap, text)| [gap.as_str(), text.as_str()]).collect();
    let result = SourceFile::of_text(path, language, text).filter(|file| file.errors.is_empty())?;
    let keys = self::keys(&result);
    let found = units(&result, &keys).into_iter().map(|unit| (unit.key, unit.text));
    found.eq(merged.iter().map(|(key, _, text)| (key.as_str(), text.as_str()))).then_some(result.text)
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
    let [base, ours, theirs, result] = [base, ours, theirs, result].map(|file| counts(&file));
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
    (0..file.nodes.len()).for_each(|at| *counts.entry(file.called(at)).or_default() += 1);
    counts
}

/// Returns whether three versions have equally many definitions of each name that several share: else the numbers that
/// tell them apart would mean another one each.
fn are_numbered_alike(files: &[SourceFile; 3]) -> bool {
    let counts = files.each_ref().map(counts);
    let mut shared = files
        .iter()
        .flat_map(|file| (0..file.nodes.len()).filter(|at| file.nodes[*at].shared).map(|at| file.called(at)));
    shared.all(|name| counts.iter().all(|count| count.get(&name) == counts[0].get(&name)))
}

/// Returns whether the text between definitions of a merge is that of one side, where the other left it as it was. A
/// definition that is put before text of the head makes it text between definitions: then both count as one.
fn keeps_what_is_between(language: SourceLanguage, versions: [&[Unit<'_>]; 3], merged: &[Unit<'_>]) -> bool {
    let gaps = |units: &[Unit<'_>]| -> Vec<String> {
        gap_lines(units.iter().map(|unit| unit.gap)).into_iter().map(str::to_owned).collect()
    };
    let with_head = |units: &[Unit<'_>]| -> Vec<String> {
        let head = units.iter().filter(|unit| unit.key == HEAD).flat_map(|unit| unit.text.lines());
        let rest = head.filter(|line| !is_import(language, line));
        gap_lines(rest).into_iter().map(str::to_owned).chain(gaps(units)).collect()
    };
    let [base, ours, theirs] = versions.map(gaps);
    if base == ours && base == theirs {
        return gaps(merged) == base;
    }
    one_sided(&versions.map(with_head)).is_some_and(|kept| *kept == with_head(merged))
}

/// Returns the lines between definitions, in their order, without white space and what separates members.
fn gap_lines<'a>(gaps: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    gaps.flat_map(str::lines).map(str::trim).filter(|line| !matches!(*line, "" | "," | ";")).collect()
}

/// Returns the one of three versions that the other side left as it was.
fn one_sided<T: PartialEq>([base, ours, theirs]: &[T; 3]) -> Option<&T> {
    match () {
        () if ours == theirs || theirs == base => Some(ours),
        () if ours == base => Some(theirs),
        () => None,
    }
}

/// Returns whether a definition is cut into those that it holds.
fn is_container(kind: NodeKind) -> bool {
    use NodeKind::{Class, Enum, Interface, Mod, Struct, Trait};
    matches!(kind, Class | Enum | Interface | Mod | Struct | Trait)
}

/// Returns the names of a file's definitions, which tell those of one name apart.
fn keys(file: &SourceFile) -> Vec<String> {
    (0..file.nodes.len()).map(|at| format!("{} {}", file.called(at), file.nodes[at].number)).collect()
}

/// Cuts a text into units.
fn units<'a>(file: &'a SourceFile, keys: &'a [String]) -> Vec<Unit<'a>> {
    let holds = |at: usize| {
        let range = &file.nodes[at].range;
        file.nodes.get(at + 1).is_some_and(|next| next.range.start < range.end)
    };
    let mut places: Vec<usize> = Vec::new();
    let mut end = 0;
    for (at, node) in file.nodes.iter().enumerate() {
        if node.range.start >= end && !(is_container(node.kind) && holds(at)) {
            places.push(at);
            end = node.range.end;
        }
    }
    let text = |from: usize, to: usize| file.text.get(from..to).unwrap_or_default();
    let head = places.first().map_or(file.text.len(), |first| file.nodes[*first].range.start);
    let mut units = vec![Unit { key: HEAD, gap: "", text: text(0, head), indent: "" }];
    let mut end = head;
    for at in places {
        let range = &file.nodes[at].range;
        let line = file.text[..range.start].rfind('\n').map_or(0, |at| at + 1);
        let indent = Some(text(line, range.start)).filter(|before| before.trim().is_empty()).unwrap_or_default();
        units.push(Unit { key: &keys[at], gap: text(end, range.start), text: text(range.start, range.end), indent });
        end = range.end;
    }
    units.push(Unit { key: TAIL, gap: text(end, file.text.len()), text: "", indent: "" });
    units
}

fn by_key<'a>(units: &[Unit<'a>]) -> HashMap<&'a str, Unit<'a>> {
    units.iter().map(|unit| (unit.key, *unit)).collect()
}

/// Returns the keys that are in another version too, in their order.
fn shared<'a>(units: &[Unit<'a>], other: &HashMap<&str, Unit<'_>>) -> Vec<&'a str> {
    units.iter().map(|unit| unit.key).filter(|key| other.contains_key(key)).collect()
}

struct Merge<'a> {
    base: HashMap<&'a str, Unit<'a>>,
    lines: LineMerge<'a>,
    language: SourceLanguage,
}

impl<'a> Merge<'a> {
    /// Returns the units of the result: key, gap and text.
    fn merged_units(
        &self,
        base: &[Unit<'a>],
        ours: &[Unit<'a>],
        theirs: &[Unit<'a>],
    ) -> Option<Vec<(String, String, String)>> {
        let (of_ours, of_theirs) = (by_key(ours), by_key(theirs));
        let moves =
            |side: &[Unit<'a>], units: &HashMap<&str, Unit<'_>>| shared(base, units) != shared(side, &self.base);
        // The order is that of the side that moved definitions; not both may.
        let (lead, follow, of_follow) = match (moves(ours, &of_ours), moves(theirs, &of_theirs)) {
            (true, true) => return None,
            (false, true) => (theirs, ours, &of_ours),
            _ => (ours, theirs, &of_theirs),
        };
        let of_lead = by_key(lead);
        let is_changed = |unit: &Unit<'_>| of_follow.get(unit.key).is_some_and(|follow| follow.text != unit.text);
        if base.iter().any(|unit| !of_lead.contains_key(unit.key) && is_changed(unit)) {
            // What one removed the other changed.
            return None;
        }
        let is_new = |unit: &Unit<'_>| !self.base.contains_key(unit.key);
        let is_gone = |unit: &Unit<'_>| !of_lead.contains_key(unit.key) && !of_follow.contains_key(unit.key);
        if base.iter().any(is_gone) && lead.iter().chain(follow).any(is_new) {
            // It may have another name now, which the other side does not know.
            return None;
        }
        let mut order: Vec<&str> = lead.iter().map(|unit| unit.key).collect();
        for (at, unit) in follow.iter().enumerate() {
            if !of_lead.contains_key(unit.key) && !self.base.contains_key(unit.key) {
                // Behind what precedes it, and what the other side put there, as far as nothing else is between than is
                // before it too: the head of a class, say.
                let before = follow[..at].iter().rev().find_map(|unit| order.iter().position(|key| *key == unit.key));
                let after = order.iter().skip(before? + 1);
                let own = gap_lines([unit.gap].into_iter());
                let is_beside = |key: &&str| {
                    let between = of_lead.get(*key).map(|unit| gap_lines([unit.gap].into_iter()));
                    between.is_some_and(|lines| lines.is_empty() || lines == own)
                };
                let added = after
                    .take_while(|key| !self.base.contains_key(*key) && !of_follow.contains_key(*key) && is_beside(key));
                let place = before? + 1 + added.count();
                order.insert(place, unit.key);
            }
        }
        let mut result = Vec::new();
        for key in order {
            let sides = [self.base.get(key), of_ours.get(key), of_theirs.get(key)];
            let text = self.merge_text(sides.map(|unit| unit.map(|unit| unit.text)), |texts| {
                (key == HEAD).then(|| self.merge_gap(texts)).flatten()
            })?;
            let gap = self.merge_text(sides.map(|unit| unit.map(|unit| unit.gap)), |gaps| self.merge_gap(gaps))?;
            if let (Some(gap), Some(text)) = (gap, text) {
                result.push((key.to_owned(), gap, text));
            }
        }
        self.part(&mut result, [ours, theirs]);
        Some(result)
    }

    /// Splits the additions of both sides at one place: the text before that place, the head of a class say, stands there once.
    fn part(&self, result: &mut [(String, String, String)], sides: [&[Unit<'a>]; 2]) {
        let places = sides.map(|side| -> HashMap<&str, usize> { side.iter().map(|unit| unit.key).zip(0..).collect() });
        for at in 2..result.len() {
            let key = result[at].0.as_str();
            let (side, place) = match places.each_ref().map(|places| places.get(key).copied()) {
                [Some(place), _] => (0, place),
                [None, Some(place)] => (1, place),
                [None, None] => continue,
            };
            let is_new = |key: &str| !self.base.contains_key(key) && key != TAIL;
            let is_of_other = |key: &str| is_new(key) && !places[side].contains_key(key);
            let own = result[at].1.as_str();
            let before = result[..at].iter().rev().take_while(|(key, ..)| is_of_other(key));
            let lines = |gap| gap_lines([gap].into_iter());
            let is_twice = !lines(own).is_empty() && before.clone().any(|(_, gap, _)| lines(gap) == lines(own));
            // It came to stand behind something else.
            if is_new(key) && is_twice && !places[1 - side].contains_key(key) || own.is_empty() && key != TAIL {
                result[at].1 = separator(sides[side], place);
            }
        }
    }

    /// Merges one text; `Some(None)`: it goes. `both` merges what both sides changed.
    fn merge_text(
        &self,
        [base, ours, theirs]: [Option<&str>; 3],
        both: impl FnOnce([&str; 3]) -> Option<String>,
    ) -> Option<Option<String>> {
        if ours == theirs || theirs == base {
            return Some(ours.map(str::to_owned));
        }
        if ours == base {
            return Some(theirs.map(str::to_owned));
        }
        both([base?, ours?, theirs?]).map(Some)
    }

    /// Merges text between definitions: by lines, or else imports as sets.
    fn merge_gap(&self, texts: [&str; 3]) -> Option<String> {
        let [base, ours, theirs] = texts;
        (self.lines)(base, ours, theirs).or_else(|| self.imports(texts))
    }

    /// Returns whether each line that moves stands by itself: nothing above it is about it, as an attribute, a comment or
    /// the head of a block is.
    fn are_free(&self, text: &str, moves: impl Fn(&str) -> bool) -> bool {
        let mut above = "";
        lines_of(text).all(|line| {
            let before = std::mem::replace(&mut above, line).trim();
            let is_free = before.is_empty() || before == "import (" || is_import(self.language, before);
            !moves(line) || (is_free && self.is_at_the_margin(line))
        })
    }

    /// Returns whether a line belongs to no block; the imports of Go stand in parentheses.
    fn is_at_the_margin(&self, line: &str) -> bool {
        self.language == SourceLanguage::Go || !line.starts_with(char::is_whitespace)
    }

    /// Merges text in which both sides changed imports: those of both are there, and none that a side took away. What
    /// `theirs` has stays where it is. `None` where both changed something else too, or one import, or where the order of
    /// new ones matters.
    fn imports(&self, [base, ours, theirs]: [&str; 3]) -> Option<String> {
        let is_import = |line: &&str| is_import(self.language, line);
        let rest = |text| lines_of(text).filter(|line| !is_import(line)).collect::<String>();
        let (lead, other) = match () {
            () if rest(ours) == rest(base) || rest(ours) == rest(theirs) => (theirs, ours),
            () if rest(theirs) == rest(base) => (ours, theirs),
            () => return None,
        };
        let set = |text| -> Vec<&str> { lines_of(text).filter(is_import).collect() };
        let (before, of_lead, of_other) = (set(base), set(lead), set(other));
        if before.iter().any(|line| !of_lead.contains(line) && !of_other.contains(line)) {
            return None;
        }
        let is_new = |line: &&str| !before.contains(line);
        let new: Vec<&str> = of_other.iter().copied().filter(is_new).filter(|line| !of_lead.contains(line)).collect();
        let of_both: Vec<&str> = of_lead.iter().copied().filter(is_new).flat_map(imported).collect();
        if new.iter().copied().flat_map(imported).any(|name| of_both.contains(&name)) {
            // The same name for two things.
            return None;
        }
        if new.iter().any(|line| is_run_alone(self.language, line)) {
            return None;
        }
        let goes = |line: &&str| is_import(line) && before.contains(line) && !of_other.contains(line);
        let sets = [&before, &of_lead, &of_other];
        let moves = |line: &str| is_import(&line) && !sets.iter().all(|set| set.contains(&line));
        if [lead, other].into_iter().any(|text| !self.are_free(text, moves)) {
            return None;
        }
        let mut lines: Vec<&str> = lines_of(lead).filter(|line| !goes(line)).collect();
        let last = lines.iter().rposition(is_import)?;
        if !self.is_at_the_margin(lines[last]) {
            return None;
        }
        let (first, others): (Vec<&str>, Vec<&str>) =
            new.into_iter().partition(|line| line.trim_start().starts_with("from __future__ "));
        lines.splice(last + 1..last + 1, others);
        let top = lines.iter().position(is_import)?;
        lines.splice(top..top, first);
        let merged = lines.concat();
        [base, ours, theirs, &merged].iter().all(|text| self.are_imports(text)).then_some(merged)
    }

    /// Returns whether each line that reads like an import is one to the grammar, and the whole of it: none stands in a
    /// string, and none in a list that begins or ends on another line, where it would mean something else; the lists of
    /// Go hold whole ones.
    fn are_imports(&self, text: &str) -> bool {
        let Some(file) = SourceFile::of_text("", self.language, text.to_owned()) else { return false };
        let mut start = 0;
        lines_of(text).all(|line| {
            let (at, end) = (start + line.len() - line.trim_start().len(), start + line.len());
            start = end;
            let leaf = file.syntax().root.descendant_for_byte_range(at, at + 1);
            let all = std::iter::successors(leaf, Node::parent).take_while(|node| node.start_byte() == at);
            let mut whole = all.filter(|node| node.end_byte() <= end);
            !is_import(self.language, line) || whole.any(|node| IMPORTS.contains(&node.kind()))
        })
    }
}

/// Returns what parts a unit from another of its kind: the text behind it, where nothing but white space and a comma is
/// there.
fn separator(side: &[Unit<'_>], place: usize) -> String {
    let unit = &side[place];
    let behind = side.get(place + 1).filter(|next| next.key != TAIL).map(|next| next.gap);
    let plain = behind.filter(|gap| !gap.is_empty() && gap_lines([*gap].into_iter()).is_empty());
    plain.map_or_else(
        || {
            let is_field = unit.key.starts_with("field.");
            let comma = if unit.gap.trim_start().starts_with(',') { "," } else { "" };
            format!("{comma}{}{}", if is_field { "\n" } else { "\n\n" }, unit.indent)
        },
        str::to_owned,
    )
}

/// Returns the names that an import binds, as far as one line tells them: the last word of each part of a list.
fn imported(line: &str) -> Vec<&str> {
    let words =
        line.split_once(" from ").filter(|_| line.trim_start().starts_with("import ")).map_or(line, |(names, _)| names);
    let words = words.rsplit_once(" import ").map_or(words, |(_, names)| names);
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    // What stands before a list is the module or the keyword, but for a name that a comma ends.
    let (before, list) = words
        .split_once('{')
        .map_or(("", words), |(before, list)| (before.rsplit_once(',').map_or("", |(name, _)| name), list));
    let parts = before.split(',').chain(list.split([',', '{', '}']));
    parts.filter_map(|part| part.split(|c| !is_word(c)).rfind(|word| !word.is_empty())).collect()
}

fn lines_of(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive('\n')
}

/// Returns whether an import binds no name: it is there for what its module does when it is read, and that may need to
/// come before others.
fn is_run_alone(language: SourceLanguage, line: &str) -> bool {
    let bare = line.trim_start().strip_prefix("import ").is_some_and(|rest| rest.trim_start().starts_with(['"', '\'']));
    bare && matches!(language, SourceLanguage::TypeScript | SourceLanguage::Tsx)
}

/// Returns whether a line is an import, whole.
fn is_import(language: SourceLanguage, line: &str) -> bool {
    let line = line.trim();
    let begins = |words: &[&str]| words.iter().any(|word| line.starts_with(word));
    match language {
        SourceLanguage::Rust => begins(&["use ", "pub use ", "pub(crate) use "]) && line.ends_with(';'),
        SourceLanguage::Python => begins(&["import ", "from "]) && !line.ends_with(['(', '\\']),
        SourceLanguage::TypeScript | SourceLanguage::Tsx => begins(&["import "]) && line.ends_with([';', '"', '\'']),
        SourceLanguage::Go => begins(&["import \"", "\""]) && line.ends_with('"'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines that never merge, so that what is merged is merged by definitions.
    fn merged(path: &str, base: &str, ours: &str, theirs: &str) -> Option<String> {
        let never = |_: &str, _: &str, _: &str| None;
        let one = merge(path, [base, ours, theirs].map(str::as_bytes), &never);
        let other = merge(path, [base, theirs, ours].map(str::as_bytes), &never);
        let lines = |text: &Option<String>| {
            let mut lines: Vec<String> = text.iter().flat_map(|text| text.lines()).map(str::to_owned).collect();
            lines.sort();
            text.as_ref().map(|_| lines)
        };
        assert_eq!(lines(&one), lines(&other), "which side is ours decides nothing but an order");
        one
    }

    #[test]
    fn what_both_add_at_one_place_is_there_once_each() {
        let base = "fn a() {}\n";
        let text = merged("a.rs", base, "fn a() {}\n\nfn b() {}\n", "fn a() {}\n\n/// C.\nfn c() {}\n");
        assert_eq!(text.as_deref(), Some("fn a() {}\n\nfn b() {}\n\n/// C.\nfn c() {}\n"));
        let text = merged("a.rs", base, "fn b() {}\n\nfn a() {}\n", "fn c() {}\n\nfn a() {}\n");
        assert_eq!(text.as_deref(), Some("fn b() {}\n\nfn c() {}\n\nfn a() {}\n"));
        let base = "class A:\n    def a(self):\n        pass\n";
        let [ours, theirs] = ["b", "c"].map(|name| format!("{base}\n    def {name}(self):\n        pass\n"));
        let text = merged("a.py", base, &ours, &theirs).expect("merged");
        assert_eq!(text, format!("{ours}\n    def c(self):\n        pass\n"));
    }

    #[test]
    fn members_that_both_add_at_one_place_are_there_once_each() {
        for (path, base, at, ours, theirs) in [
            ("a.rs", "struct A {\n    x: u8,\n}\n", "    x: u8,\n", "    y: u8,\n", "    z: u8,\n"),
            (
                "a.rs",
                "fn f() {}\n\nstruct A {\n    x: u8,\n}\n",
                "    x: u8,\n",
                "    y: u8,\n",
                "    /// Z.\n    z: u8,\n",
            ),
            ("a.rs", "enum A {\n    X,\n}\nfn f() {}\n", "    X,\n", "    Y,\n", "    Z(u8),\n"),
            (
                "a.rs",
                "fn g() {}\nimpl A {\n    fn a() {}\n}\n",
                "    fn a() {}\n",
                "    fn y() {}\n",
                "    fn z() {}\n",
            ),
            ("a.ts", "f();\nclass A {\n  x = 1;\n}\n", "  x = 1;\n", "  y = 2;\n", "  z() {}\n"),
            (
                "a.ts",
                "var a = 1\ninterface A {\n  x: number;\n}\n",
                "  x: number;\n",
                "  y: number;\n",
                "  z: number;\n",
            ),
            ("a.py", "a = 1\n\nclass A:\n    x = 1\n", "    x = 1\n", "    y = 2\n", "    z = 3\n"),
            ("a.go", "package p\n\ntype A struct {\n\tx int\n}\n", "\tx int\n", "\ty int\n", "\tz int\n"),
        ] {
            for (one, other) in
                [(format!("{at}{ours}"), format!("{at}{theirs}")), (format!("{ours}{at}"), format!("{theirs}{at}"))]
            {
                let [one, other] = [one, other].map(|lines| base.replace(at, &lines));
                let text = merged(path, base, &one, &other).unwrap_or_else(|| panic!("{path}: {one}{other}"));
                let mut want: Vec<&str> = one.lines().chain(theirs.lines()).collect();
                let mut lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
                want.retain(|line| !line.is_empty());
                want.sort_unstable();
                lines.sort_unstable();
                assert_eq!(lines, want, "{text}");
            }
        }
        let base = "struct A {\n    x: u8, // bytes\n}\n";
        let [ours, theirs] = ["y", "z"].map(|name| base.replace("}", &format!("    {name}: u8,\n}}")));
        let text = merged("a.rs", base, &ours, &theirs).expect("merged");
        assert_eq!(text, "struct A {\n    x: u8, // bytes\n    y: u8,\n    z: u8,\n}\n");
    }

    #[test]
    fn neighbours_that_each_side_changed_are_joined() {
        let base = "fn a() { 1 }\nfn b() { 2 }\n";
        let text = merged("a.rs", base, "fn a() { 10 }\nfn b() { 2 }\n", "fn a() { 1 }\nfn b() { 20 }\n");
        assert_eq!(text.as_deref(), Some("fn a() { 10 }\nfn b() { 20 }\n"));
        let text = merged("a.rs", base, "fn b() { 2 }\n", "fn a() { 1 }\nfn b() { 20 }\n");
        assert_eq!(text.as_deref(), Some("fn b() { 20 }\n"), "one goes, the other changes");
        let text = merged("a.rs", base, "fn b() { 2 }\nfn a() { 1 }\n", "fn a() { 1 }\nfn b() { 20 }\n");
        assert_eq!(text.as_deref(), Some("fn b() { 20 }\nfn a() { 1 }\n"), "one side moved them");
    }

    #[test]
    fn imports_are_sets() {
        let base = "use a;\n\nfn f() {}\n";
        let text = merged("a.rs", base, "use a;\nuse b;\n\nfn f() {}\n", "use c;\n\nfn f() { 1 }\n");
        assert_eq!(text.as_deref(), Some("use c;\nuse b;\n\nfn f() { 1 }\n"));
        for (path, [base, ours, theirs]) in [
            ("a.ts", ["import { a } from './a';", "import { b } from './b';", "import d, { c } from './c';"]),
            ("a.rs", ["use std::fs::{A};", "use std::fs::{B};", "use std::fs::{C, D};"]),
        ] {
            let [base, ours, theirs] = [vec![base], vec![base, ours], vec![base, theirs]].map(|lines| lines.join("\n"));
            let both = format!("{theirs}\n{}", ours.lines().last().expect("a line"));
            let file =
                |imports: &str| format!("{imports}\n\n{}\n", if path == "a.rs" { "fn f() {}" } else { "var f = 1" });
            assert_eq!(merged(path, &file(&base), &file(&ours), &file(&theirs)), Some(file(&both)), "{path}");
        }
    }

    #[test]
    fn an_import_whose_place_matters_keeps_it_or_is_no_merge() {
        let base = "\"\"\"Doc.\"\"\"\n\nimport os\n\n\ndef f():\n    pass\n";
        let with = |line: &str| base.replace("import os\n", line);
        let [future, json] =
            [with("from __future__ import annotations\nimport os\n"), with("import json\nimport os\n")];
        for (ours, theirs) in [(&future, &json), (&json, &future)] {
            let text = merged("a.py", base, ours, theirs).expect("merged");
            let at = |line: &str| text.find(line).expect("there");
            assert!(at("from __future__") < at("import json").min(at("import os")), "{text}");
            assert!(text.starts_with("\"\"\"Doc."), "{text}");
        }
        let base = "import { a } from './a';\n\nvar f = 1\n";
        let ours = format!("import './first';\n{base}");
        let theirs = base.replace("'./a';\n", "'./a';\nimport { b } from './b';\n");
        let never = |_: &str, _: &str, _: &str| None;
        assert_eq!(merge("a.ts", [base, &ours, &theirs].map(str::as_bytes), &never), None);
        // What is on disk stays where it is.
        let text = merge("a.ts", [base, &theirs, &ours].map(str::as_bytes), &never).expect("merged");
        assert!(text.starts_with("import './first';\n"), "{text}");
    }

    #[test]
    fn imports_that_something_else_is_about_are_no_sets() {
        let base = "import os\nif TYPE_CHECKING:\n    from a import A\n\ndef f():\n    pass\n";
        let with = |name: &str, from: &str| {
            let ours = base.replace("import os\n", &format!("import os\nimport {name}\n"));
            ours.replace("A\n", &format!("A\n    from {from} import {from}\n"))
        };
        assert_eq!(merged("a.py", base, &with("sys", "c"), &with("re", "b")), None, "a block");
        let base = "#[cfg(unix)]\nuse a;\n\nfn f() {}\n";
        let theirs = base.replace("use a;", "use b;");
        let ours = base.replace("use a;", "use a;\nuse c;");
        assert_eq!(merged("a.rs", base, &ours, &theirs), None, "an attribute");
        let base = "use a;\n\nfn f() {}\n";
        let [ours, theirs] = ["b::X", "c::{Y, X}"].map(|path| base.replace("use a;", &format!("use a;\nuse {path};")));
        assert_eq!(merged("a.rs", base, &ours, &theirs), None, "two of one name");
        let base = "import (\n\t\"a\"\n)\n\nfunc f() {}\n";
        let base = format!("package p\n\n{base}");
        let [ours, theirs] = ["b", "c"].map(|name| base.replace("\"a\"", &format!("\"a\"\n\t\"{name}\"")));
        let both = base.replace("\"a\"", "\"a\"\n\t\"c\"\n\t\"b\"");
        assert_eq!(merged("a.go", &base, &ours, &theirs), Some(both));
    }

    #[test]
    fn an_import_that_would_come_to_stand_elsewhere_is_no_merge() {
        let list = "package p\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\nfunc f() {}\n";
        let single = list.replace("(\n\t\"fmt\"\n\t\"os\"\n)", "\"fmt\"");
        let more = list.replace("\t\"os\"\n", "\t\"os\"\n\t\"io\"\n");
        assert_eq!(merged("a.go", list, &single, &more), None, "a list of Go");
        // A way of merging by lines that leaves it there.
        let lines = |_: &str, _: &str, _: &str| Some("package p\n\nimport \"fmt\"\n\t\"io\"\n\n".to_owned());
        assert_eq!(merge("a.go", [list, &single, &more].map(str::as_bytes), &lines), None);
        assert!(!has_definitions_of_both(
            "a.go",
            [list, &single, &more],
            &single.replace("fmt\"\n", "fmt\"\n\"io\"\n")
        ));
        for (path, base, ours, theirs) in [
            ("a.py", "\"\"\"\nimport a\n\"\"\"\nx\n", "import a", "import a\nimport b"),
            ("a.py", "import a\nfrom b import (c,\n    d)\nx\n", "import a", "import a\nimport e"),
        ] {
            let end = format!("{base}def f():\n    pass\n");
            let [ours, theirs] = [ours, theirs].map(|line| end.replacen("import a", line, 1));
            let ours = ours.replacen("import a\n", "import a\nimport z\n", 1);
            let text = merged(path, &end, &ours, &theirs);
            assert!(text.is_none(), "{text:?}");
        }
    }

    #[test]
    fn text_of_the_head_that_one_side_removed_does_not_come_back() {
        let base = "import a\nregister(1)\ndef f():\n    pass\n";
        let ours = base.replace("register", "def x():\n    pass\nregister");
        assert_eq!(merged("a.py", base, &ours, &base.replace("register(1)\n", "")), None);
        let theirs = base.replace("    pass", "    return");
        let both = ours.replace("f():\n    pass", "f():\n    return");
        assert_eq!(merged("a.py", base, &ours, &theirs), Some(both), "nothing of it was touched");
    }

    #[test]
    fn one_definition_that_both_changed_is_no_merge() {
        let base = "fn a() { 1 }\n";
        assert_eq!(merged("a.rs", base, "fn a() { 2 }\n", "fn a() { 3 }\n"), None);
        assert_eq!(merged("a.rs", base, "", "fn a() { 3 }\n"), None, "one removed it");
        let [ours, theirs] = ["2", "3"].map(|n| format!("{base}\nfn b() {{ {n} }}\n"));
        assert_eq!(merged("a.rs", base, &ours, &theirs), None, "both made one of that name");
        assert_eq!(merged("a.rs", base, &ours, &ours).as_ref(), Some(&ours), "the same one");
        assert_eq!(merged("a.rs", base, "// x\nfn a() { 1 }\n", "// y\nfn a() { 1 }\n"), None);
    }

    #[test]
    fn what_stands_between_definitions_comes_neither_twice_nor_goes() {
        let base = "def a():\n    pass\n\nregister(a)\n";
        let [ours, theirs] = ["b", "c"].map(|name| format!("{base}\n\ndef {name}():\n    pass\n"));
        let both = format!("{ours}\ndef c():\n    pass\n");
        assert_eq!(merged("a.py", base, &ours, &theirs), Some(both), "once, before both");
        let base = "class B:\n    def b(self):\n        pass\n";
        let [ours, theirs] =
            ["x", "y"].map(|name| base.replace("B:\n", &format!("B:\n    def {name}(self):\n        pass\n\n")));
        let text = merged("a.py", base, &ours, &theirs).expect("merged");
        assert_eq!(["class B", "def x", "def y", "def b"].map(|word| text.matches(word).count()), [1; 4], "{text}");
        let base = "def a():\n    pass\nregister(a)\ndef b():\n    pass\ndef c():\n    pass\n";
        let ours = base.replace("def b():\n    pass\n", "");
        let theirs = base.replace("register(a)", "register(a, 1)");
        assert_eq!(merged("a.py", base, &ours, &theirs), None);
        let base = "impl X {\n    fn a() {}\n}\nimpl D for X {\n    fn f() {}\n}\n";
        let ours = base.replace("    fn f", "    fn bar() {}\n    fn f");
        let theirs = base.replace("a() {}\n", "a() {}\n    fn foo() {}\n");
        let both = ours.replace("a() {}\n", "a() {}\n    fn foo() {}\n");
        assert_eq!(merged("a.rs", base, &ours, &theirs), Some(both), "each in its own block");
    }

    #[test]
    fn one_thing_that_both_named_anew_or_took_away_is_no_merge() {
        let base = "fn a() {}\nfn z() {}\n";
        assert_eq!(merged("a.rs", base, "fn x() {}\nfn z() {}\n", "fn y() {}\nfn z() {}\n"), None);
        assert_eq!(merged("a.rs", base, "fn x() {}\nfn z() {}\n", "fn z() {}\n"), None);
        let base = "use f::{a};\n\nfn z() {}\n";
        let [ours, theirs] = ["b", "c"].map(|name| base.replace("{a}", &format!("{{a, {name}}}")));
        assert_eq!(merged("a.rs", base, &ours, &theirs), None);
        let [unix, windows] = ["unix", "windows"].map(|name| format!("#[cfg({name})]\nfn f() {{}}\n"));
        assert_eq!(merged("a.rs", &format!("{unix}{windows}"), &unix, &windows), None);
    }

    #[test]
    fn what_is_no_source_or_would_not_be_is_no_merge() {
        assert_eq!(merged("a.txt", "a\n", "b\n", "a\nc\n"), None);
        assert_eq!(merged("a.rs", "fn a() {}\n", "fn a() {}\nfn b( {}\n", "fn a() {}\nfn c() {}\n"), None);
        let base = "impl A {\n    fn a() {}\n    fn b() {}\n}\n";
        let head_gone = "fn a() {}\nfn b() {}\n";
        let text = merged("a.rs", base, head_gone, "impl A {\n    fn c() {}\n    fn a() {}\n    fn b() {}\n}\n");
        assert_eq!(text, None, "{text:?}");
    }
}

//! The names of imports: those that both sides added to one import are there, and none that a side took away.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use tree_sitter::Node;

use super::super::file::SourceFile;
use super::super::lang::SourceLanguage;
use super::imports::{bound, is_statement};
use super::units::one_sided;

/// Statements around imports of Python, and the list of those of Go.
const HOLDERS: &[&str] = &[
    "if_statement",
    "elif_clause",
    "else_clause",
    "try_statement",
    "except_clause",
    "finally_clause",
    "with_statement",
    "block",
    "import_declaration",
    "import_spec_list",
];

/// An import that takes names out of one module.
struct NamedImport<'a> {
    text: &'a str,
    /// Its first byte in the file.
    start: usize,
    /// The place of its names in the text.
    names: Range<usize>,
    language: SourceLanguage,
}

/// The names of an import as they are written.
struct NameList<'a> {
    /// The white space before each name, and the name.
    names: Vec<(&'a str, &'a str)>,
    /// A comma stands behind the last.
    has_last_comma: bool,
    /// The white space behind the last.
    tail: &'a str,
}

/// A name that a file imports.
struct ImportedName {
    /// The statement without its other names.
    path: String,
    /// The word that stands for it in the file; empty: there is none.
    bound: String,
}

impl<'a> NamedImport<'a> {
    /// Returns the import that a statement is; `None` where it has no names of its own.
    fn of(file: &'a SourceFile, node: Node<'_>) -> Option<NamedImport<'a>> {
        let (start, text) = (node.start_byte(), &file.text[node.byte_range()]);
        let mut cursor = node.walk();
        let names = match file.language {
            SourceLanguage::Rust => {
                let argument = node.child_by_field_name("argument")?;
                let own = &file.text[argument.byte_range()];
                match own.find('{').filter(|_| own.ends_with('}')) {
                    Some(open) => argument.start_byte() + open + 1..argument.end_byte() - 1,
                    None => argument.start_byte() + own.rfind("::").map_or(0, |at| at + 2)..argument.end_byte(),
                }
            }
            SourceLanguage::Python => {
                let names: Vec<Node<'_>> = node.children_by_field_name("name", &mut cursor).collect();
                let bracket = |word| node.children(&mut node.walk()).find(|child| child.kind() == word);
                match (bracket("("), bracket(")")) {
                    (Some(open), Some(close)) => open.end_byte()..close.start_byte(),
                    _ => names.first()?.start_byte()..names.last()?.end_byte(),
                }
            }
            SourceLanguage::TypeScript | SourceLanguage::Tsx => {
                let clause = node.named_children(&mut cursor).find(|child| child.kind() == "import_clause")?;
                let part = |kind| clause.named_children(&mut clause.walk()).find(|child| child.kind() == kind);
                match part("named_imports") {
                    Some(list) => list.start_byte() + 1..list.end_byte() - 1,
                    // `import a from './a'` has no names yet.
                    None if clause.named_child_count() == 1 => {
                        let end = part("identifier")?.end_byte();
                        end..end
                    }
                    None => return None,
                }
            }
            SourceLanguage::Go => return None,
        };
        let names = names.start - start..names.end - start;
        Some(NamedImport { text, start, names, language: file.language })
    }

    /// Returns the words before the names and behind them.
    fn around(&self) -> (String, String) {
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let before = self.text[..self.names.start].trim_end().trim_end_matches(['{', '(']).trim_end();
        let before = before.strip_suffix(',').unwrap_or(before);
        let after = self.text[self.names.end..].trim_start().trim_start_matches(['}', ')']);
        (words(before), words(after.trim_end_matches(';')))
    }

    /// Returns whether brackets stand around its names.
    fn is_closed(&self) -> bool {
        self.text[self.names.end..].trim_start().starts_with(['}', ')'])
    }

    /// Returns its names; `None` where a comment is among them, or a line goes on behind a mark.
    fn list(&self) -> Option<NameList<'a>> {
        let list = &self.text[self.names.clone()];
        if list.is_empty() && !self.is_closed() {
            return Some(NameList { names: Vec::new(), has_last_comma: false, tail: "" });
        }
        if ["//", "/*", "#", "\\"].iter().any(|mark| list.contains(mark)) {
            return None;
        }
        let mut parts = parts(list);
        let rest = parts.pop()?;
        let has_last_comma = rest.trim().is_empty();
        let tail = if has_last_comma { rest } else { &rest[rest.trim_end().len()..] };
        parts.extend(Some(rest).filter(|_| !has_last_comma));
        let name = |part: &'a str| (&part[..part.len() - part.trim_start().len()], part.trim());
        let names: Vec<(&str, &str)> = parts.into_iter().map(name).collect();
        let are_names = !names.is_empty() && names.iter().all(|(_, name)| !name.is_empty());
        are_names.then_some(NameList { names, has_last_comma, tail })
    }

    /// Returns the statement with other names, in its own form.
    fn with(&self, list: &NameList<'_>, names: &[&str]) -> String {
        let first = list.names.first().map_or("", |(before, _)| before);
        let is_column = first.contains('\n') && list.names.iter().all(|(before, _)| before.contains('\n'));
        let in_line = list.names.iter().skip(1).map(|(before, _)| *before).find(|before| !before.contains('\n'));
        let other = if is_column { first } else { in_line.unwrap_or(" ") };
        let before = |at: usize, name: &str| match list.names.iter().position(|(_, known)| *known == name) {
            _ if at == 0 => first,
            Some(place) if place > 0 => list.names[place].0,
            _ => other,
        };
        let all = names.iter().enumerate().map(|(at, name)| format!("{}{name}", before(at, name)));
        let mut inner = all.collect::<Vec<_>>().join(",");
        if list.has_last_comma {
            inner.push(',');
        }
        inner.push_str(list.tail);
        // Several names of Rust stand in braces.
        if self.language == SourceLanguage::Rust && names.len() > 1 && !self.is_closed() {
            inner = format!("{{{inner}}}");
        }
        [&self.text[..self.names.start], &inner, &self.text[self.names.end..]].concat()
    }
}

/// Cuts a list at its commas, but for those within braces.
fn parts(list: &str) -> Vec<&str> {
    let (mut found, mut start, mut depth) = (Vec::new(), 0, 0_usize);
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                found.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(&list[start..]);
    found
}

/// Writes each import of which both sides changed the names in all three texts as it is with the changes of both. `None`
/// where there is none, or where it cannot be told what both mean.
pub(super) fn unified(language: SourceLanguage, texts: [&str; 3]) -> Option<[String; 3]> {
    let read = |text: &str| SourceFile::of_text("", language, text.to_owned()).filter(|file| file.errors.is_empty());
    let [base, ours, theirs] = texts.map(read);
    let files = [base?, ours?, theirs?];
    let lists = files.each_ref().map(|file| {
        let (root, mut cursor) = (file.syntax().root, file.syntax().root.walk());
        let statements = root.named_children(&mut cursor).filter(|child| is_statement(*child));
        statements.filter_map(|node| NamedImport::of(file, node)).collect::<Vec<_>>()
    });
    let mut edits: [Vec<(Range<usize>, String)>; 3] = Default::default();
    for list in &lists[0] {
        let around = list.around();
        let of = |side: &'_ [NamedImport<'_>]| {
            let mut alike = (0..side.len()).filter(|at| side[*at].around() == around);
            alike.next().filter(|_| alike.next().is_none())
        };
        let [Some(base), Some(own), Some(other)] = [of(&lists[0]), of(&lists[1]), of(&lists[2])] else { continue };
        let same = [&lists[0][base], &lists[1][own], &lists[2][other]];
        if one_sided(&same.map(|import| import.text)).is_some() {
            continue;
        }
        let merged = joined(same)?;
        for (import, edits) in same.iter().zip(&mut edits) {
            edits.push((import.start..import.start + import.text.len(), merged.clone()));
        }
    }
    if edits[0].is_empty() {
        return None;
    }
    let mut whole = texts.map(str::to_owned);
    for (text, mut edits) in whole.iter_mut().zip(edits) {
        edits.sort_by_key(|(range, _)| range.start);
        edits.into_iter().rev().for_each(|(range, merged)| text.replace_range(range, &merged));
    }
    Some(whole)
}

/// Returns an import with the names that both sides leave, in the form of the side that has it over several lines, or else
/// of `theirs`.
fn joined([base, ours, theirs]: [&NamedImport<'_>; 3]) -> Option<String> {
    let [before, own, other] = [base.list()?, ours.list()?, theirs.list()?];
    let [was, of_ours, of_theirs] = [&before, &own, &other].map(|list| list.names.iter().map(|(_, name)| *name));
    let [was, of_ours, of_theirs]: [Vec<&str>; 3] = [was.collect(), of_ours.collect(), of_theirs.collect()];
    let is_clear =
        |names: &[&str]| (1..names.len()).all(|at| !names[..at].contains(&names[at])) && !names.contains(&"*");
    if ![&was, &of_ours, &of_theirs].into_iter().all(|names| is_clear(names)) {
        return None;
    }
    // One that both took away may be another one now.
    if was.iter().any(|name| !of_ours.contains(name) && !of_theirs.contains(name)) {
        return None;
    }
    let stays = |name: &&&str| of_ours.contains(name) && of_theirs.contains(name) && was.contains(name);
    let order =
        |side: &[&'_ str]| -> Vec<String> { side.iter().filter(stays).map(|name| (*name).to_owned()).collect() };
    let orders = [order(&was), order(&of_ours), order(&of_theirs)];
    let kept: Vec<&str> = one_sided(&orders)?.iter().map(String::as_str).collect();
    let names = placed(&kept, &was, [&of_ours, &of_theirs]);
    let form = |(import, list): &(&NamedImport<'_>, &NameList<'_>)| {
        (import.is_closed(), list.names.iter().any(|(before, _)| before.contains('\n')))
    };
    let (form, list) = [(ours, &own), (theirs, &other)].into_iter().max_by_key(form)?;
    (!names.is_empty()).then(|| form.with(list, &names))
}

/// Returns the names that stay with those that each side added, each behind the one that it follows there; what both put
/// at one place is in the order of the alphabet where each side has it so.
fn placed<'n>(kept: &[&'n str], was: &[&str], sides: [&[&'n str]; 2]) -> Vec<&'n str> {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for side in sides {
        let mut place = 0;
        for name in side {
            match kept.iter().position(|other| other == name) {
                Some(at) => place = at + 1,
                None if was.contains(name) => {}
                None => drop(places.entry(name).and_modify(|known| *known = place.min(*known)).or_insert(place)),
            }
        }
    }
    let mut found = Vec::new();
    for place in 0..=kept.len() {
        found.extend(place.checked_sub(1).map(|at| kept[at]));
        let here = |name: &&&str| places.get(**name) == Some(&place);
        let mut new = sides.map(|side| side.iter().filter(here).copied().collect::<Vec<&str>>());
        new.sort();
        let are_sorted = new.iter().all(|names| names.is_sorted());
        let mut all: Vec<&str> = Vec::new();
        new.iter().flatten().for_each(|name| all.extend(Some(*name).filter(|name| !all.contains(name))));
        if are_sorted {
            all.sort_unstable();
        }
        found.extend(all);
    }
    found
}

/// Returns whether a text imports what both sides leave, each name as often as the side that changed that: none is lost,
/// and none that both added stands for two things.
pub(super) fn keeps_imports(files: &[SourceFile; 3], result: &SourceFile) -> bool {
    let [base, ours, theirs] = files.each_ref().map(imported);
    let sides = [base, ours, theirs, imported(result)];
    let counts = sides.each_ref().map(|names| {
        let mut counts: HashMap<&str, usize> = HashMap::new();
        names.iter().for_each(|name| *counts.entry(&name.path).or_default() += 1);
        counts
    });
    let [base, ours, theirs, found] = &counts;
    let is_kept = |path: &&str| one_sided(&[base, ours, theirs].map(|of| of.get(path))) == Some(&found.get(path));
    let added = |side: usize| sides[side].iter().filter(|name| !base.contains_key(name.path.as_str()));
    let clash = |one: &ImportedName| {
        let is_other = |other: &ImportedName| other.bound == one.bound && other.path != one.path;
        !one.bound.is_empty() && added(2).any(is_other)
    };
    counts.iter().flat_map(HashMap::keys).all(is_kept) && !added(1).any(clash)
}

/// Returns the names that a file imports outside of its definitions.
fn imported(file: &SourceFile) -> Vec<ImportedName> {
    let (mut found, mut open) = (Vec::new(), vec![file.syntax().root]);
    while let Some(node) = open.pop() {
        for child in node.named_children(&mut node.walk()) {
            match child.kind() {
                kind if HOLDERS.contains(&kind) => open.push(child),
                _ if is_statement(child) => found.extend(of_statement(file, child)),
                _ => {}
            }
        }
    }
    found
}

/// Returns the names that a statement imports.
fn of_statement(file: &SourceFile, node: Node<'_>) -> Vec<ImportedName> {
    let text = &file.text[node.byte_range()];
    let named = NamedImport::of(file, node);
    let list = named.and_then(|import| import.list().map(|list| (import, list)));
    let Some((import, list)) = list else {
        let path = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let names = bound(text).into_iter().filter(|name| *name != "_");
        let mut all: Vec<ImportedName> =
            names.map(|name| ImportedName { path: format!("{path} {name}"), bound: name.to_owned() }).collect();
        all.extend(all.is_empty().then(|| ImportedName { path: path.clone(), bound: String::new() }));
        return all;
    };
    let (before, after) = import.around();
    let mut found = Vec::new();
    // A name outside of the list: `import a, { b } from './c'`.
    let words: Vec<&str> = before.split_whitespace().collect();
    if let ["import", .., name] = words.as_slice()
        && *name != "type"
    {
        found.push(ImportedName { path: format!("{before} {after}"), bound: (*name).to_owned() });
    }
    for (_, name) in list.names {
        flatten(&before, name, &mut |path, name| {
            let path = format!("{path} {after}");
            found.push(ImportedName { path, bound: name.to_owned() });
        });
    }
    found
}

/// Visits the names of a part of a list, with what precedes each: a part of Rust may be a list itself.
fn flatten(before: &str, part: &str, see: &mut dyn FnMut(String, &str)) {
    if let Some((path, list)) = part.strip_suffix('}').and_then(|part| part.split_once('{')) {
        let before = format!("{before}{}", path.trim());
        parts(list).into_iter().filter(|part| !part.trim().is_empty()).for_each(|part| flatten(&before, part, see));
        return;
    }
    let words = part.split_whitespace().collect::<Vec<_>>().join(" ");
    let path = if before.ends_with("::") { format!("{before}{words}") } else { format!("{before} {words}") };
    // `c::{self}` is `c`.
    let path = path.strip_suffix("::self").map(str::to_owned).unwrap_or(path);
    let name = match words.rsplit_once(" as ") {
        Some((_, alias)) => alias,
        None if words == "self" => path.rsplit("::").next().unwrap_or_default(),
        None => words.rsplit("::").next().unwrap_or_default(),
    };
    let name = name.rsplit(' ').next().filter(|name| *name != "_").unwrap_or_default().to_owned();
    see(path, &name);
}

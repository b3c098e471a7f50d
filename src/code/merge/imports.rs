//! Imports as sets: those that both sides added are there, and none that a side took away.

use tree_sitter::Node;

use super::super::file::SourceFile;
use super::super::lang::SourceLanguage;
use super::units::loose_lines;

/// The syntax nodes of imports.
const IMPORTS: &[&str] = &[
    "use_declaration",
    "import_statement",
    "import_from_statement",
    "future_import_statement",
    "import_declaration",
    "import_spec",
];

/// Returns whether a syntax node is an import, or hands on what another module has: `export * from './a'`.
pub(super) fn is_statement(node: Node<'_>) -> bool {
    let is_handed_on = || node.kind() == "export_statement" && node.child_by_field_name("source").is_some();
    IMPORTS.contains(&node.kind()) || is_handed_on()
}

/// Merges text in which both sides changed imports. What `theirs` has stays where it is, or, where it has none, what
/// `ours` has. `None` where both changed something else too, or one import, or where the order of new ones matters.
pub(super) fn merged(language: SourceLanguage, texts: [&str; 3]) -> Option<String> {
    let is_import = |line: &&str| is_import(language, line);
    let (lead, other) = sides(language, texts)?;
    let set = |text| -> Vec<&str> { lines_of(text).filter(is_import).collect() };
    let (before, of_lead, of_other) = (set(texts[0]), set(lead), set(other));
    if before.iter().any(|line| !of_lead.contains(line) && !of_other.contains(line)) {
        return None;
    }
    let is_new = |line: &&str| !before.contains(line);
    let new: Vec<&str> = of_other.iter().copied().filter(is_new).filter(|line| !of_lead.contains(line)).collect();
    let of_both: Vec<&str> = of_lead.iter().copied().filter(is_new).flat_map(bound).collect();
    if new.iter().copied().flat_map(bound).any(|name| of_both.contains(&name)) {
        // The same name for two things.
        return None;
    }
    if new.iter().any(|line| is_run_alone(language, line)) {
        return None;
    }
    let goes = |line: &&str| is_import(line) && before.contains(line) && !of_other.contains(line);
    let sets = [&before, &of_lead, &of_other];
    let moves = |line: &str| is_import(&line) && !sets.iter().all(|set| set.contains(&line));
    if [lead, other].into_iter().any(|text| !are_free(language, text, moves)) {
        return None;
    }
    let mut lines: Vec<&str> = lines_of(lead).collect();
    let (first, others): (Vec<&str>, Vec<&str>) =
        new.into_iter().partition(|line| line.trim_start().starts_with("from __future__ "));
    for line in others {
        let place = place(language, &lines, (other, &of_other), &before, line)?;
        lines.insert(place, line);
    }
    let top = lines.iter().position(is_import)?;
    lines.splice(top..top, first);
    lines.retain(|line| !goes(line));
    let merged = lines.concat();
    let [base, ours, theirs] = texts;
    [base, ours, theirs, &merged].iter().all(|text| are_imports(language, text)).then_some(merged)
}

/// Returns the place of a new import among lines: behind the one that it follows on its own side and what the other side
/// put there, or before the one that follows it; else behind the last. `side`: its own side, and the imports of that.
fn place(
    language: SourceLanguage,
    lines: &[&str],
    (side, own): (&str, &[&str]),
    base: &[&str],
    line: &str,
) -> Option<usize> {
    let rows: Vec<&str> = lines_of(side).collect();
    let at = rows.iter().position(|row| *row == line)?;
    let is_solid = |row: &&&str| !row.trim().is_empty();
    // Code between two imports may have to run before the second.
    let is_alike = |row: &str| is_import(language, row) && is_of_one_block(language, [row, line]);
    let is_beside = |row: &&&str| is_alike(row);
    let of = |other: &&str| {
        let mut all = (0..lines.len()).filter(|at| lines[*at] == *other);
        all.next().filter(|_| is_at_the_margin(language, line) || all.next().is_none())
    };
    let is_other = |row: &&&str| is_alike(row) && !base.contains(row) && !own.contains(row);
    let mut above = rows[..at].iter().rev().filter(is_solid).take_while(is_beside);
    if let Some(above) = above.find_map(of) {
        return Some(above + 1 + lines[above + 1..].iter().take_while(is_other).count());
    }
    let stands_free = |below: &usize| {
        let above = below.checked_sub(1).map_or("", |above| lines[above]);
        is_behind_another(language, above)
    };
    let below = rows[at + 1..].iter().find(is_solid).filter(is_beside).and_then(of).filter(stands_free);
    let is_last = |last: &usize| [line, lines[*last]].into_iter().all(|row| is_at_the_margin(language, row));
    let last = || lines.iter().rposition(|row| is_import(language, row)).filter(is_last);
    below.or_else(|| last().map(|last| last + 1))
}

/// Returns the side whose text stays, which has an import beside which others can stand, and the one whose imports come
/// into it, which changed nothing else. Blank lines may have gone with its imports, but not come.
fn sides(language: SourceLanguage, [base, ours, theirs]: [&str; 3]) -> Option<(&str, &str)> {
    let rest = |text| -> Vec<&str> { lines_of(text).filter(|line| !is_import(language, line)).collect() };
    let parted = |text| -> (Vec<&str>, Vec<&str>) { rest(text).into_iter().partition(|line| !line.trim().is_empty()) };
    let is_base = |side| {
        let ((solid, blank), (of_base, blank_of_base)) = (parted(side), parted(base));
        rest(side) == rest(base) || solid == of_base && blank.len() < blank_of_base.len()
    };
    let fits = |other| is_base(other) || rest(ours) == rest(theirs);
    let has_place = |lead| lines_of(lead).any(|line| is_import(language, line));
    [(theirs, ours), (ours, theirs)].into_iter().find(|(lead, other)| fits(*other) && has_place(lead))
}

/// Returns whether each line that moves stands by itself: nothing above it is about it, as an attribute, a comment or
/// the head of a block is. One in a block stands behind another one of it, and neither is there twice.
fn are_free(language: SourceLanguage, text: &str, moves: impl Fn(&str) -> bool) -> bool {
    let (mut above, mut start) = ("", 0);
    lines_of(text).all(|line| {
        let (last, end) = (std::mem::replace(&mut above, line), start);
        start += line.len();
        let is_free = || is_behind_another(language, last) || is_of_the_file(language, &text[..end]);
        let is_once = |row: &str| lines_of(text).filter(|other| *other == row).count() == 1;
        let is_in_block = || is_import(language, last) && is_of_one_block(language, [last, line]);
        match is_at_the_margin(language, line) {
            _ if !moves(line) => true,
            true => is_free(),
            false => is_in_block() && is_once(last) && is_once(line),
        }
    })
}

/// Returns whether a line is not about the one below it at the margin: an import, or the end of a block of Python.
fn is_behind_another(language: SourceLanguage, line: &str) -> bool {
    let ends_block = language == SourceLanguage::Python && !is_at_the_margin(language, line);
    let line = line.trim();
    line.is_empty() || line == "import (" || is_import(language, line) || ends_block && !line.starts_with('#')
}

/// Writes the only import of a file of Go as a list in each of three texts that has none, where others have one.
pub(super) fn grouped(language: SourceLanguage, texts: [&str; 3]) -> Option<[String; 3]> {
    let has_list = |text: &str| lines_of(text).any(|line| line.trim() == "import (");
    if language != SourceLanguage::Go || texts.iter().all(|text| has_list(text)) {
        return None;
    }
    let as_list = |text: &str| {
        if has_list(text) {
            return Some(text.to_owned());
        }
        let mut alone = lines_of(text).filter(|line| line.starts_with("import ") && is_import(language, line));
        let line = alone.next().filter(|_| alone.next().is_none())?;
        let ending = &line[line.trim_end().len()..];
        let path = line.trim().strip_prefix("import ")?;
        Some(text.replacen(line, &format!("import ({ending}\t{path}{ending}){ending}"), 1))
    };
    let [base, ours, theirs] = texts.map(as_list);
    texts.iter().any(|text| has_list(text)).then_some([base?, ours?, theirs?])
}

/// Returns whether the last line of a text is about the file, or an import over several lines: a comment with which the
/// file begins, its documentation, a directive.
fn is_of_the_file(language: SourceLanguage, above: &str) -> bool {
    let Some(file) = SourceFile::of_text("", language, above.to_owned()) else { return false };
    let end = file.text.trim_end().len();
    let leaf = file.syntax().root.descendant_for_byte_range(end.saturating_sub(1), end);
    let Some(node) = std::iter::successors(leaf, Node::parent).take_while(|node| node.parent().is_some()).last() else {
        return false;
    };
    match node.kind() {
        "inner_attribute_item" | "shebang" | "hash_bang_line" | "package_clause" => true,
        "expression_statement" => node.named_child_count() == 1 && node.named_child(0).is_some_and(is_string),
        kind if kind.ends_with("comment") => is_heading(&file, node),
        _ => is_statement(node),
    }
}

fn is_string(node: Node<'_>) -> bool {
    node.kind() == "string"
}

/// Returns whether a comment documents the file, or is one of those that it begins with and not for the line below.
fn is_heading(file: &SourceFile, comment: Node<'_>) -> bool {
    let text = |node: Node<'_>| &file.text[node.byte_range()];
    let is_rust = file.language == SourceLanguage::Rust;
    let begins = |marks: &[&str]| is_rust && marks.iter().any(|mark| text(comment).starts_with(mark));
    if begins(&["//!", "/*!"]) {
        return true;
    }
    let is_for_next = NEXT_LINE.iter().any(|word| text(comment).contains(word)) || begins(&["///", "/**"]);
    let begins_file = |node: Node<'_>| {
        let kind = node.kind();
        let is_heading =
            kind.ends_with("comment") || ["shebang", "hash_bang_line", "inner_attribute_item"].contains(&kind);
        is_heading && (node.prev_sibling().is_some() || node.start_byte() == 0)
    };
    !is_for_next && std::iter::successors(Some(comment), Node::prev_sibling).all(begins_file)
}

/// Words of comments that tell a tool something of the line below.
const NEXT_LINE: &[&str] = &["ignore", "expect-error", "next-line", "skip", "disable"];

/// Returns the lines of a text between definitions that belong to no import, without white space.
pub(super) fn others(language: SourceLanguage, text: &str) -> Vec<&str> {
    let file = SourceFile::of_text("", language, text.to_owned()).filter(|file| file.errors.is_empty());
    let (mut start, mut found) = (0, Vec::new());
    for line in lines_of(text) {
        let at = start + line.len() - line.trim_start().len();
        start += line.len();
        let line = line.trim();
        // What opens and ends a list of Go stays, and what stands beside an import.
        let in_import = |file: &SourceFile| {
            let leaf = file.syntax().root.descendant_for_byte_range(at, at + line.len());
            let mut all = std::iter::successors(leaf, Node::parent);
            language != SourceLanguage::Go && all.any(is_statement)
        };
        if !is_import(language, line) && !file.as_ref().is_some_and(in_import) {
            found.extend(loose_lines(line));
        }
    }
    found
}

/// Returns whether a line belongs to no block; the imports of Go stand in parentheses.
fn is_at_the_margin(language: SourceLanguage, line: &str) -> bool {
    language == SourceLanguage::Go || !line.starts_with(char::is_whitespace)
}

/// Returns whether two lines belong to no block, or begin as deep as each other.
fn is_of_one_block(language: SourceLanguage, rows: [&str; 2]) -> bool {
    let [deep, other] = rows.map(|row| &row[..row.len() - row.trim_start().len()]);
    rows.iter().all(|row| is_at_the_margin(language, row)) || deep == other
}

/// Returns whether each line that reads like an import is one to the grammar, and the whole of it: none stands in a
/// string, and none in a list that begins or ends on another line, where it would mean something else; the lists of
/// Go hold whole ones.
fn are_imports(language: SourceLanguage, text: &str) -> bool {
    let Some(file) = SourceFile::of_text("", language, text.to_owned()) else { return false };
    let mut start = 0;
    lines_of(text).all(|line| {
        let (at, end) = (start + line.len() - line.trim_start().len(), start + line.len());
        start = end;
        let leaf = file.syntax().root.descendant_for_byte_range(at, at + 1);
        let all = std::iter::successors(leaf, Node::parent).take_while(|node| node.start_byte() == at);
        let mut whole = all.filter(|node| node.end_byte() <= end);
        !is_import(language, line) || whole.any(is_statement)
    })
}

/// Returns the names that an import binds, as far as one line tells them: the last word of each part of a list.
pub(super) fn bound(line: &str) -> Vec<&str> {
    let is_script = ["import ", "export "].iter().any(|word| line.trim_start().starts_with(word));
    let words = line.split_once(" from ").filter(|_| is_script).map_or(line, |(names, _)| names);
    let words = words.rsplit_once(" import ").map_or(words, |(_, names)| names);
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    // What stands before a list is the module or the keyword, but for a name that a comma ends.
    let (before, list) = words
        .split_once('{')
        .map_or(("", words), |(before, list)| (before.rsplit_once(',').map_or("", |(name, _)| name), list));
    let parts = before.split(',').chain(list.split([',', '{', '}']));
    parts.filter_map(|part| part.split(|c| !is_word(c)).rfind(|word| !["", "export"].contains(word))).collect()
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
pub(super) fn is_import(language: SourceLanguage, line: &str) -> bool {
    let line = line.trim();
    let begins = |words: &[&str]| words.iter().any(|word| line.starts_with(word));
    match language {
        SourceLanguage::Rust => begins(&["use ", "pub use ", "pub(crate) use "]) && line.ends_with(';'),
        SourceLanguage::Python => begins(&["import ", "from "]) && !line.ends_with(['(', '\\']),
        SourceLanguage::TypeScript | SourceLanguage::Tsx => {
            let is_handed_on = || begins(&["export {", "export *", "export type {"]) && line.contains(" from ");
            line.ends_with([';', '"', '\'']) && (begins(&["import "]) || is_handed_on())
        }
        SourceLanguage::Go => begins(&["import \"", "\""]) && line.ends_with('"'),
    }
}

//! Imports as sets: those that both sides added are there, and none that a side took away.

use tree_sitter::Node;

use super::super::file::SourceFile;
use super::super::lang::SourceLanguage;

/// The syntax nodes of imports.
const IMPORTS: &[&str] = &[
    "use_declaration",
    "import_statement",
    "import_from_statement",
    "future_import_statement",
    "import_declaration",
    "import_spec",
];

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
    let last = lines.iter().rposition(is_import)?;
    if !is_at_the_margin(language, lines[last]) {
        return None;
    }
    let (first, others): (Vec<&str>, Vec<&str>) =
        new.into_iter().partition(|line| line.trim_start().starts_with("from __future__ "));
    lines.splice(last + 1..last + 1, others);
    let top = lines.iter().position(is_import)?;
    lines.splice(top..top, first);
    lines.retain(|line| !goes(line));
    let merged = lines.concat();
    let [base, ours, theirs] = texts;
    [base, ours, theirs, &merged].iter().all(|text| are_imports(language, text)).then_some(merged)
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
/// the head of a block is.
fn are_free(language: SourceLanguage, text: &str, moves: impl Fn(&str) -> bool) -> bool {
    let mut above = "";
    lines_of(text).all(|line| {
        let before = std::mem::replace(&mut above, line).trim();
        let is_free = before.is_empty() || before == "import (" || is_import(language, before);
        !moves(line) || (is_free && is_at_the_margin(language, line))
    })
}

/// Returns whether a line belongs to no block; the imports of Go stand in parentheses.
fn is_at_the_margin(language: SourceLanguage, line: &str) -> bool {
    language == SourceLanguage::Go || !line.starts_with(char::is_whitespace)
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
        !is_import(language, line) || whole.any(|node| IMPORTS.contains(&node.kind()))
    })
}

/// Returns the names that an import binds, as far as one line tells them: the last word of each part of a list.
fn bound(line: &str) -> Vec<&str> {
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
pub(super) fn is_import(language: SourceLanguage, line: &str) -> bool {
    let line = line.trim();
    let begins = |words: &[&str]| words.iter().any(|word| line.starts_with(word));
    match language {
        SourceLanguage::Rust => begins(&["use ", "pub use ", "pub(crate) use "]) && line.ends_with(';'),
        SourceLanguage::Python => begins(&["import ", "from "]) && !line.ends_with(['(', '\\']),
        SourceLanguage::TypeScript | SourceLanguage::Tsx => begins(&["import "]) && line.ends_with([';', '"', '\'']),
        SourceLanguage::Go => begins(&["import \"", "\""]) && line.ends_with('"'),
    }
}

//! The definition that encloses a line, told from words and indentation alone: `fn open`, `impl Cart`, `class Shop`.

use std::ops::Range;

/// The number of lines that are looked through upwards.
const REACH: usize = 4_000;
/// The number of a change's own lines that are looked through: each is, whenever the change is drawn.
const WITHIN: usize = 200;

/// Words before the word that names the kind of an item.
const BEFORE: &[&str] = &[
    "pub",
    "async",
    "unsafe",
    "const",
    "extern",
    "export",
    "default",
    "static",
    "public",
    "private",
    "protected",
    "internal",
    "abstract",
    "final",
    "override",
    "inline",
    "virtual",
    "declare",
    "open",
    "data",
    "sealed",
];

/// Words that begin an item.
const ITEMS: &[&str] = &[
    "fn",
    "impl",
    "struct",
    "enum",
    "trait",
    "mod",
    "union",
    "macro_rules!",
    "class",
    "def",
    "function",
    "func",
    "fun",
    "interface",
    "namespace",
    "module",
    "type",
    "object",
    "protocol",
    "extension",
    "record",
    "sub",
    "proc",
];

/// Endings of files whose words name no definitions.
const PROSE: &[&str] = &["md", "markdown", "mdx", "txt", "text", "rst", "adoc", "org", "tex", "log"];

/// Beginnings of lines that stand above an item and belong to it.
const COMMENTS: &[&[u8]] = &[b"//", b"/*", b"*", b"#", b"@", b"--"];

/// Words that may follow the name of an item.
const AFTER: &[&str] = &[
    "for",
    "where",
    "extends",
    "implements",
    "struct",
    "interface",
    "final",
    "with",
    "permits",
    "exposing",
    "private",
    "internal",
    "protected",
    "constructor",
];
/// Words for items whose arguments may follow without a parenthesis.
const PLAIN_ARGUMENTS: &[&str] = &["def", "proc", "sub"];

/// A text by its lines.
pub trait TextLines {
    /// Returns the number of lines.
    fn count(&self) -> usize;
    /// Returns line `i`.
    fn at(&self, i: usize) -> &[u8];
}

impl TextLines for Vec<&str> {
    fn count(&self) -> usize {
        self.len()
    }

    fn at(&self, i: usize) -> &[u8] {
        self[i].as_bytes()
    }
}

/// The effect of a change on a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefinitionChange {
    /// It comes with the change.
    New,
    /// It goes with it.
    Removed,
    /// It is there before and after.
    Changed,
    /// It is there under another name.
    Renamed,
    /// It is there under another name, and more of it differs.
    RenamedAndChanged,
    /// It stands elsewhere, as it was.
    Moved,
    /// It stands elsewhere, and something of it differs.
    MovedAndChanged,
}

/// Returns the innermost definition around line `at`, named by its first words; empty when there is none in reach.
pub fn around(lines: &impl TextLines, at: usize) -> String {
    let Some(first) = (at..lines.count()).take(WITHIN).find(|i| !lines.at(*i).trim_ascii().is_empty()) else {
        return String::new();
    };
    let depth = indent(lines.at(first));
    let above = (first.saturating_sub(REACH)..first).rev();
    above
        .filter(|i| indent(lines.at(*i)) < depth)
        .find_map(|i| named(&String::from_utf8_lossy(lines.at(i))))
        .unwrap_or_default()
}

/// Returns the definition that a change of these lines of a file is about, and what becomes of it: what begins in lines
/// that come or go as a whole, else the one whose lines the change begins in. None: there is none in reach, or the file
/// holds prose.
pub fn of_change(
    path: &str,
    before: (&impl TextLines, &Range<usize>),
    after: (&impl TextLines, &Range<usize>),
) -> Option<(String, DefinitionChange)> {
    let name = path.rsplit('/').next().unwrap_or(path);
    if name.rsplit_once('.').is_none_or(|(_, ending)| PROSE.contains(&ending.to_ascii_lowercase().as_str())) {
        return None;
    }
    let (old, new) = match before.1.is_empty() || after.1.is_empty() {
        true => (begins(before.0, before.1), begins(after.0, after.1)),
        // What is between its changed lines may begin with another definition.
        false => (first_named(before.0, before.1), first_named(after.0, after.1)),
    };
    match (old, new) {
        // Other lines in its place may still be its own.
        (Some(old), None) if around(after.0, after.1.start) != old => Some((old, DefinitionChange::Removed)),
        (None, Some(new)) if before.1.is_empty() => Some((new, DefinitionChange::New)),
        (_, Some(name)) | (Some(name), None) => Some((name, DefinitionChange::Changed)),
        (None, None) => {
            let name = match after.1.is_empty() {
                true => around(before.0, before.1.start),
                false => around(after.0, after.1.start),
            };
            (!name.is_empty()).then_some((name, DefinitionChange::Changed))
        }
    }
}

/// Returns the first definition that begins in these lines.
fn begins(lines: &impl TextLines, range: &Range<usize>) -> Option<String> {
    let range = range.start..range.end.min(lines.count());
    range.take(WITHIN).find_map(|i| named(&String::from_utf8_lossy(lines.at(i))))
}

/// Returns the definition that begins in the first of these lines that is neither empty nor a comment or an attribute.
fn first_named(lines: &impl TextLines, range: &Range<usize>) -> Option<String> {
    let mut range = (range.start..range.end.min(lines.count())).take(WITHIN);
    let is_above = |line: &[u8]| line.is_empty() || COMMENTS.iter().any(|mark| line.starts_with(mark));
    let first = range.find(|i| !is_above(lines.at(*i).trim_ascii()))?;
    named(&String::from_utf8_lossy(lines.at(first)))
}

fn indent(line: &[u8]) -> usize {
    // A tab counts for four, like everywhere on the screen.
    line.iter().take_while(|b| b.is_ascii_whitespace()).map(|b| if *b == b'\t' { 4 } else { 1 }).sum()
}

/// Returns `fn open` of `    pub async fn open(url: &str) -> Result {`.
pub fn named(line: &str) -> Option<String> {
    let mut words = line.split_whitespace().skip_while(|w| BEFORE.contains(w) || w.starts_with("pub("));
    let kind = words.next()?;
    let kind = ITEMS.iter().find(|i| kind == **i || kind.split('<').next() == Some(**i))?;
    // `impl<T> Cart<T> for …` names the type, not the parameters.
    let rest = line.split_once(kind)?.1.trim_start();
    let rest = if rest.starts_with('<') { rest.split_once('>')?.1.trim_start() } else { rest };
    let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '~')).collect();
    // Prose goes on with another word.
    let behind = rest[name.len()..].trim_start();
    let next: String = behind.chars().take_while(|c| c.is_alphabetic()).collect();
    let is_code = PLAIN_ARGUMENTS.contains(kind) || line.trim_end().ends_with('{');
    let goes_on = !is_code && !next.is_empty() && !AFTER.contains(&next.as_str());
    (!name.is_empty() && !goes_on).then(|| format!("{kind} {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_named() {
        for (line, want) in [
            ("    pub async fn open(url: &str) -> R {", Some("fn open")),
            ("pub(crate) struct Cart<T> {", Some("struct Cart")),
            ("impl<T> Display for Cart<T> {", Some("impl Display")),
            ("export default class Shop extends X {", Some("class Shop")),
            ("def total(self):", Some("def total")),
            ("let fn_name = 3;", None),
            ("}", None),
            ("type: string", None),
            ("type checking is done before the build", None),
            ("module of its own", None),
            ("def add a, b", Some("def add")),
            ("class A with B {", Some("class A")),
            ("sealed interface A permits B {", Some("interface A")),
            ("type Price struct {", Some("type Price")),
            ("class Shop extends Base {", Some("class Shop")),
        ] {
            assert_eq!(named(line).as_deref(), want, "{line}");
        }
    }

    #[test]
    fn the_innermost_less_indented_item_counts() {
        let text = "impl Cart {\n    fn a() {}\n\n    fn b() {\n        x\n        y\n    }\n\n    fn c() {}\n";
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(around(&lines, 5), "fn b");
        assert_eq!(around(&lines, 8), "impl Cart");
        assert_eq!(around(&lines, 7), "impl Cart");
        assert_eq!(around(&lines, 0), "");
        assert_eq!(around(&lines, 99), "");
    }

    #[test]
    fn a_change_names_its_definition() {
        let before = vec!["fn a() {", "    x", "}"];
        let after = vec!["fn a() {", "    y", "}", "", "fn b() {", "    z", "}"];
        let of = |old: Range<usize>, new: Range<usize>| of_change("a.rs", (&before, &old), (&after, &new));
        let name = |name: &str, change| Some((name.to_string(), change));
        assert_eq!(of(1..2, 1..2), name("fn a", DefinitionChange::Changed));
        assert_eq!(of(3..3, 3..7), name("fn b", DefinitionChange::New));
        assert_eq!(of(0..3, 0..0), name("fn a", DefinitionChange::Removed));
        assert_eq!(of(0..1, 0..1), name("fn a", DefinitionChange::Changed));
        assert_eq!(of(3..3, 3..4), None);
        // A change of two definitions is told by the first.
        let both = vec!["fn a() {", "    z", "}", "", "fn b() {", "    y", "}"];
        assert_eq!(of_change("a.rs", (&after, &(1..6)), (&both, &(1..6))), name("fn a", DefinitionChange::Changed));
        let documented = vec!["/// Says so.", "#[inline]", "fn a() {", "    x", "}"];
        assert_eq!(
            of_change("a.rs", (&before, &(0..2)), (&documented, &(0..4))),
            name("fn a", DefinitionChange::Changed)
        );
        let constant = vec!["const A: u8 = 1;"];
        let change = ((&before, &(0..3)), (&constant, &(0..1)));
        assert_eq!(of_change("a.rs", change.0, change.1), name("fn a", DefinitionChange::Removed));
        let prose = vec!["type checking"];
        assert_eq!(of_change("README.md", (&prose, &(0..1)), (&prose, &(0..1))), None);
        assert_eq!(of_change("Makefile", (&prose, &(0..1)), (&prose, &(0..1))), None);
    }
}

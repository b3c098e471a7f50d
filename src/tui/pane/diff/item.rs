//! The item that encloses a line, told from words and indentation alone: `fn open`, `impl Cart`, `class Shop`.

use super::lines::Lines;

/// The number of lines that are looked through upwards.
const REACH: usize = 4_000;

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

/// Returns the innermost item around line `at`, named by its first words; empty when there is none in reach.
pub fn around(lines: &Lines, at: usize) -> String {
    let Some(first) = (at..lines.len()).take(200).find(|i| !lines.line(*i).trim_ascii().is_empty()) else {
        return String::new();
    };
    let depth = indent(lines.line(first));
    let above = (first.saturating_sub(REACH)..first).rev();
    above
        .filter(|i| indent(lines.line(*i)) < depth)
        .find_map(|i| named(&String::from_utf8_lossy(lines.line(i))))
        .unwrap_or_default()
}

fn indent(line: &[u8]) -> usize {
    // A tab counts for four, like everywhere on the screen.
    line.iter().take_while(|b| b.is_ascii_whitespace()).map(|b| if *b == b'\t' { 4 } else { 1 }).sum()
}

/// Returns `fn open` of `    pub async fn open(url: &str) -> Result {`.
fn named(line: &str) -> Option<String> {
    let mut words = line.split_whitespace().skip_while(|w| BEFORE.contains(w) || w.starts_with("pub("));
    let kind = words.next()?;
    let kind = ITEMS.iter().find(|i| kind == **i || kind.split('<').next() == Some(**i))?;
    // `impl<T> Cart<T> for …` names the type, not the parameters.
    let rest = line.split_once(kind)?.1.trim_start();
    let rest = if rest.starts_with('<') { rest.split_once('>')?.1.trim_start() } else { rest };
    let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '~')).collect();
    (!name.is_empty()).then(|| format!("{kind} {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

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
        ] {
            assert_eq!(named(line).as_deref(), want, "{line}");
        }
    }

    #[test]
    fn the_innermost_less_indented_item_counts() {
        let text = "impl Cart {\n    fn a() {}\n\n    fn b() {\n        x\n        y\n    }\n\n    fn c() {}\n";
        let lines = Lines::new(Arc::from(text.as_bytes()));
        assert_eq!(around(&lines, 5), "fn b");
        assert_eq!(around(&lines, 8), "impl Cart");
        assert_eq!(around(&lines, 7), "impl Cart");
        assert_eq!(around(&lines, 0), "");
        assert_eq!(around(&lines, 99), "");
    }
}

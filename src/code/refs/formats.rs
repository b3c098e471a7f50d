//! Names in the format strings of Rust: `format!("{LIMIT:>width$}")`.

use std::ops::Range;

use tree_sitter::Node;

use super::super::file::SourceFile;
use super::role::around;

/// Macros of the standard library that take a format string, and the number of arguments that precede it.
const MACROS: &[(&str, usize)] = &[
    ("assert", 1),
    ("assert_eq", 2),
    ("assert_ne", 2),
    ("debug_assert", 1),
    ("debug_assert_eq", 2),
    ("debug_assert_ne", 2),
    ("eprint", 0),
    ("eprintln", 0),
    ("format", 0),
    ("format_args", 0),
    ("panic", 0),
    ("print", 0),
    ("println", 0),
    ("todo", 0),
    ("unimplemented", 0),
    ("unreachable", 0),
    ("write", 1),
    ("writeln", 1),
];

/// Returns whether a macro of the standard library is called so that takes a format string.
pub(super) fn takes_format(name: &str) -> bool {
    MACROS.iter().any(|(own, _)| *own == name)
}

/// A name between the braces of a string.
pub(super) struct FormatName {
    /// Its bytes.
    pub at: Range<usize>,
    /// True if the string certainly is a format string.
    pub is_certain: bool,
}

/// Returns where strings in the calls of macros name something in braces, in order.
pub(super) fn format_names(file: &SourceFile, name: &str) -> Vec<FormatName> {
    let mut found = Vec::new();
    for at in memchr::memmem::find_iter(file.text.as_bytes(), name) {
        let range = at..at + name.len();
        // Few strings are parsed: a name in braces has one of these beside it.
        if !file.text[..at].ends_with('{') && !file.text[range.end..].starts_with('$') {
            continue;
        }
        let Some(literal) = literal(file, &range) else { continue };
        if is_argument(&file.text, literal.byte_range(), &range) {
            found.push(FormatName { at: range, is_certain: is_format_string(file, literal) });
        }
    }
    found
}

/// Returns the string in the call of a macro that holds these bytes.
fn literal<'t>(file: &'t SourceFile, within: &Range<usize>) -> Option<Node<'t>> {
    let node = file.syntax().root.descendant_for_byte_range(within.start, within.end)?;
    let kinds = ["string_literal", "raw_string_literal"];
    let literal = if kinds.contains(&node.kind()) { node } else { around(node, &kinds)? };
    around(literal, &["macro_invocation", "attribute_item", "macro_definition", "block"])
        .filter(|call| call.kind() == "macro_invocation")
        .map(|_| literal)
}

/// Returns whether bytes in a string name an argument: they follow a brace, or are a width or a precision.
fn is_argument(text: &str, literal: Range<usize>, name: &Range<usize>) -> bool {
    let mut open = None;
    let mut chars = text[literal.start..name.start].char_indices().map(|(at, c)| (literal.start + at, c)).peekable();
    while let Some((at, c)) = chars.next() {
        match (c, open) {
            // Two of them are one brace of the text.
            ('{', None) if chars.next_if(|(_, next)| *next == '{').is_none() => open = Some(at),
            ('}', Some(_)) => open = None,
            _ => {}
        }
    }
    let Some(open) = open else { return false };
    let (before, after) = (&text[open + 1..name.start], &text[name.end..literal.end]);
    match before.is_empty() {
        true => after.trim_start().starts_with(['}', ':']),
        false => {
            before.contains(':')
                && after.starts_with('$')
                && !before.ends_with(|c: char| c.is_alphanumeric() || c == '_')
        }
    }
}

/// Returns whether a string stands where a macro of the standard library has its format string.
fn is_format_string(file: &SourceFile, literal: Node<'_>) -> bool {
    let Some(tokens) = literal.parent().filter(|tokens| tokens.kind() == "token_tree") else { return false };
    let Some(call) = tokens.parent().filter(|call| call.kind() == "macro_invocation") else { return false };
    let called = call.child_by_field_name("macro").map_or("", |path| &file.text[path.byte_range()]);
    let name = called.rsplit("::").next().unwrap_or_default();
    let mut cursor = tokens.walk();
    let before = tokens.children(&mut cursor).take_while(|token| token.end_byte() <= literal.start_byte());
    let commas = before.filter(|token| &file.text[token.byte_range()] == ",").count();
    MACROS.contains(&(name, commas))
}

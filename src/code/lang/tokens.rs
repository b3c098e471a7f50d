//! The tokens of a text: where its strings run over several lines, and whether there is code in a range.

use std::ops::Range;

use tree_sitter::Node;

use super::language::SourceLanguage;
use super::parts::is_comment;

/// A text and its syntax tree.
#[derive(Clone, Copy)]
pub struct Syntax<'t> {
    /// The root of the tree.
    pub root: Node<'t>,
    /// The language.
    pub language: SourceLanguage,
    /// The text.
    pub text: &'t str,
}

/// Syntax nodes that count as one token, with all that is written in them.
const WHOLE: &[&str] = &[
    "string_literal",
    "raw_string_literal",
    "char_literal",
    "string",
    "template_string",
    "regex",
    "jsx_text",
    "interpreted_string_literal",
    "rune_literal",
];

/// Visits the tokens of a tree in order, comments left out.
fn visit<'t>(syntax: Syntax<'t>, mut see: impl FnMut(Node<'t>)) {
    let mut cursor = syntax.root.walk();
    loop {
        let node = cursor.node();
        let whole = is_comment(node) || WHOLE.contains(&node.kind());
        if !whole && cursor.goto_first_child() {
            continue;
        }
        if !is_comment(node) && !node.byte_range().is_empty() {
            see(node);
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

/// Returns the strings of a text that run over several lines; documentation of Python is none of them.
pub fn multiline_strings(syntax: Syntax<'_>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    visit(syntax, |token| {
        if syntax.text[token.byte_range()].trim_end().contains('\n') && token.kind() != "jsx_text" && !documents(token)
        {
            found.push(token.byte_range());
        }
    });
    found
}

/// Returns whether a string is the documentation of what holds it: the first statement of a block of Python.
fn documents(string: Node<'_>) -> bool {
    let statement = string.parent().filter(|parent| parent.kind() == "expression_statement");
    statement.is_some_and(|statement| {
        let block = statement.parent();
        block.is_some_and(|block| block.named_child(0) == Some(statement))
    })
}

/// Returns whether there is anything but comments and punctuation among these bytes.
pub fn code_between(syntax: Syntax<'_>, range: &Range<usize>) -> bool {
    let mut found = false;
    visit(syntax, |token| {
        let text = syntax.text[token.byte_range()].trim();
        let inside = token.start_byte() >= range.start && token.end_byte() <= range.end;
        found |= inside && !text.is_empty() && ![";", ","].contains(&text);
    });
    found
}

//! The tokens of a text: the hashes of its definitions, and where its strings run over several lines.

use std::ops::Range;

use tree_sitter::Node;

use super::language::SourceLanguage;
use super::node::CodeNode;
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

/// A step through the tokens of a text.
enum Step<'t> {
    Token(Node<'t>),
    /// A block of Python begins or ends: its white space has a meaning.
    Opens(Node<'t>),
    Closes(Node<'t>),
}

/// Visits the tokens of a tree in order, comments left out.
fn visit<'t>(syntax: Syntax<'t>, mut see: impl FnMut(Step<'t>)) {
    let is_block = |node: Node<'_>| syntax.language == SourceLanguage::Python && node.kind() == "block";
    let mut cursor = syntax.root.walk();
    loop {
        let node = cursor.node();
        let whole = is_comment(node) || WHOLE.contains(&node.kind());
        if is_block(node) {
            see(Step::Opens(node));
        }
        if !whole && cursor.goto_first_child() {
            continue;
        }
        if !is_comment(node) && !node.byte_range().is_empty() {
            see(Step::Token(node));
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
            if is_block(cursor.node()) {
                see(Step::Closes(cursor.node()));
            }
        }
    }
}

/// Returns the hash of each definition: BLAKE3 of its tokens, each ended by a zero byte.
pub fn hashes(syntax: Syntax<'_>, nodes: &[CodeNode]) -> Vec<String> {
    let mut hashers: Vec<blake3::Hasher> = nodes.iter().map(|_| blake3::Hasher::new()).collect();
    // Those that hold the present byte; definitions lie in each other or apart.
    let (mut open, mut next): (Vec<usize>, usize) = (Vec::new(), 0);
    visit(syntax, |step| {
        let (node, text, within): (Node<'_>, &[u8], usize) = match step {
            Step::Token(token) => (token, &syntax.text.as_bytes()[token.byte_range()], 0),
            // A definition begins before its block: one that begins with it lies in it.
            Step::Opens(block) => (block, b"\x01", 1),
            Step::Closes(block) => (block, b"\x02", 1),
        };
        // A token of white space alone is a line's end.
        if text.trim_ascii().is_empty() {
            return;
        }
        let range = node.byte_range();
        while nodes.get(next).is_some_and(|node| node.range.start <= range.start) {
            open.push(next);
            next += 1;
        }
        open.retain(|at| nodes[*at].range.end > range.start);
        let holds = |at: usize| {
            let own = &nodes[at].range;
            own.start + within <= range.start && range.end <= own.end
        };
        for at in open.iter().filter(|at| holds(**at)) {
            hashers[*at].update(text).update(&[0]);
        }
    });
    hashers.iter().map(|hasher| format!("h:{}", hasher.finalize().to_hex())).collect()
}

/// Returns the strings of a text that run over several lines; documentation of Python is none of them.
pub fn multiline_strings(syntax: Syntax<'_>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    visit(syntax, |step| {
        if let Step::Token(token) = step
            && syntax.text[token.byte_range()].trim_end().contains('\n')
            && token.kind() != "jsx_text"
            && !documents(token)
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
    visit(syntax, |step| {
        if let Step::Token(token) = step {
            let text = syntax.text[token.byte_range()].trim();
            let inside = token.start_byte() >= range.start && token.end_byte() <= range.end;
            found |= inside && !text.is_empty() && ![";", ","].contains(&text);
        }
    });
    found
}

//! One source file: its text, its syntax tree, its definitions.

use std::collections::HashMap;
use std::ops::Range;

use tree_sitter::{Node, Parser, Tree};

use super::fault::{CodeFault, DIGITS};
use super::lang::{self, CodeNode, SourceLanguage, Syntax, misplaced};

/// The largest file that is read, in bytes.
pub const LARGEST: usize = 2 << 20;

/// A text with its definitions.
pub struct SourceFile {
    /// The path it was given under.
    pub path: String,
    /// The language.
    pub language: SourceLanguage,
    /// The whole text.
    pub text: String,
    /// Its definitions in the order of the text; one stands after that which holds it.
    pub nodes: Vec<CodeNode>,
    /// The beginnings of its syntax errors.
    pub errors: Vec<usize>,
    tree: Tree,
    line_starts: Vec<usize>,
}

impl SourceFile {
    /// Reads the definitions of a file.
    ///
    /// # Errors
    /// When the path is of no known language, or the bytes are too many or no UTF-8.
    pub fn read(path: &str, bytes: &[u8]) -> Result<SourceFile, CodeFault> {
        let fault = |why: String| CodeFault::Unreadable { path: path.to_owned(), why };
        let language = SourceLanguage::of_path(path)
            .ok_or_else(|| fault("is no source file of Rust, Python, TypeScript or Go".to_owned()))?;
        if bytes.len() > LARGEST {
            return Err(fault(format!("is larger than {} MiB: its definitions are not read", LARGEST >> 20)));
        }
        let text = std::str::from_utf8(bytes).map_err(|error| {
            fault(format!("is not UTF-8 from byte {}: its definitions are not read", error.valid_up_to()))
        })?;
        SourceFile::of_text(path, language, text.to_owned()).ok_or_else(|| fault("cannot be parsed".to_owned()))
    }

    /// Reads the definitions of a text. None: its grammar does not load.
    pub(super) fn of_text(path: &str, language: SourceLanguage, text: String) -> Option<SourceFile> {
        let mut parser = Parser::new();
        parser.set_language(&language.grammar()).ok()?;
        let tree = parser.parse(&text, None)?;
        let line_starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let mut nodes = lang::definitions(language, tree.root_node(), &text);
        number(&mut nodes);
        let errors = errors(language, tree.root_node(), &text);
        let path = path.to_owned();
        Some(SourceFile { path, language, text, nodes, errors, tree, line_starts })
    }

    /// Returns its syntax tree.
    pub(super) fn syntax(&self) -> Syntax<'_> {
        Syntax { root: self.tree.root_node(), language: self.language, text: &self.text }
    }

    /// Returns the id of a definition: its path and dotted name, with its number if there are several of that name.
    pub fn id(&self, at: usize) -> String {
        format!("{}::{}", self.path, self.name(at))
    }

    /// Returns the part of a definition's id that names it in its file.
    pub fn name(&self, at: usize) -> String {
        let node = &self.nodes[at];
        let number = if node.shared { format!("#{}", node.number) } else { String::new() };
        format!("{}{number}", node.dotted)
    }

    /// Returns a definition's kind and name, as the cause of a changeset says them.
    pub fn called(&self, at: usize) -> String {
        let node = &self.nodes[at];
        format!("{}.{}", node.kind.word(), node.dotted)
    }

    /// Checks that a definition is the one of this hash.
    ///
    /// # Errors
    /// When it is another, or the hash is none.
    pub fn expect(&self, at: usize, expected: &str) -> Result<(), CodeFault> {
        let digits = expected.strip_prefix("h:").unwrap_or(expected);
        if digits.len() < DIGITS || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            let why = format!("'{expected}' is no hash: viewing {} tells it, {DIGITS} digits will do", self.id(at));
            return Err(CodeFault::Usage(why));
        }
        let hash = self.hash(at);
        if hash.trim_start_matches("h:").starts_with(&digits.to_ascii_lowercase()) {
            return Ok(());
        }
        Err(CodeFault::Stale { id: self.id(at), hash, expected: expected.to_owned() })
    }

    /// Returns the number of the line that holds a byte, from 1.
    pub fn line(&self, byte: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= byte)
    }

    /// Returns the text of the line that holds a byte.
    pub fn line_text(&self, byte: usize) -> &str {
        let line = self.line(byte);
        let end = self.line_starts.get(line).copied().unwrap_or(self.text.len());
        &self.text[self.line_starts[line - 1]..end]
    }

    /// Returns the text of some lines, counted from 0.
    pub fn text_of_lines(&self, lines: &Range<usize>) -> &str {
        let start = |line: usize| self.line_starts.get(line).copied().unwrap_or(self.text.len());
        &self.text[start(lines.start)..start(lines.end)]
    }

    /// Returns the innermost definition that holds a byte.
    pub fn holder(&self, byte: usize) -> Option<usize> {
        let last = self.nodes.partition_point(|node| node.range.start <= byte).checked_sub(1);
        let mut around = std::iter::successors(last, |at| self.nodes[*at].parent);
        around.find(|at| self.nodes[*at].range.contains(&byte))
    }

    /// Returns the first and last line of a definition, from 1.
    pub fn lines(&self, at: usize) -> (usize, usize) {
        let range = &self.nodes[at].range;
        (self.line(range.start), self.line(range.end.saturating_sub(1).max(range.start)))
    }

    /// Returns the white space that precedes a byte on its line, if nothing else does.
    pub(super) fn indentation(&self, byte: usize) -> Option<&str> {
        let start = self.line_starts[self.line(byte) - 1];
        let before = &self.text[start..byte];
        before.bytes().all(|b| matches!(b, b' ' | b'\t')).then_some(before)
    }

    /// Returns the text of a definition; the first line with its indentation, if the definition begins the line.
    pub fn text_of(&self, at: usize) -> &str {
        let range = &self.nodes[at].range;
        let start = range.start - self.indentation(range.start).map_or(0, str::len);
        &self.text[start..range.end]
    }

    /// Returns a definition without its body, on one line.
    pub fn signature(&self, at: usize) -> String {
        let node = &self.nodes[at];
        let end = node.body.unwrap_or_else(|| {
            let line = self.text[node.own.start..node.own.end].find('\n');
            line.map_or(node.own.end, |line| node.own.start + line)
        });
        let words: Vec<&str> = self.text[node.own.start..end].split_whitespace().collect();
        words.join(" ")
    }

    /// Returns the hash of a definition: BLAKE3 of its bytes. What nobody looked at is not overwritten, so comments and
    /// white space count.
    pub fn hash(&self, at: usize) -> String {
        let text = &self.text[self.nodes[at].range.clone()];
        format!("h:{}", blake3::hash(text.as_bytes()).to_hex())
    }

    /// Returns the number of definitions that hold a definition.
    pub fn depth(&self, at: usize) -> usize {
        std::iter::successors(self.nodes[at].parent, |parent| self.nodes[*parent].parent).count()
    }
}

/// Numbers the definitions of equal names.
fn number(nodes: &mut [CodeNode]) {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for node in nodes.iter_mut() {
        let count = counts.entry(node.dotted.clone()).or_default();
        *count += 1;
        node.number = *count;
    }
    for node in nodes {
        node.shared = counts.get(&node.dotted).is_some_and(|count| *count > 1);
    }
}

/// Syntax nodes that may stand in a file of Go, in no function.
const TOP_LEVEL: &[&str] = &[
    "package_clause",
    "import_declaration",
    "function_declaration",
    "method_declaration",
    "type_declaration",
    "const_declaration",
    "var_declaration",
    "empty_statement",
];

/// Returns the beginnings of what the grammar does not accept or misses; in Python of blocks without a statement too, and
/// of lines whose indentation is no block's, and in Go of statements in no function, which it accepts.
fn errors(language: SourceLanguage, root: Node<'_>, text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    if language == SourceLanguage::Go {
        let mut cursor = root.walk();
        let is_misplaced =
            |child: &Node<'_>| !child.is_extra() && !child.is_error() && !TOP_LEVEL.contains(&child.kind());
        found.extend(root.named_children(&mut cursor).filter(is_misplaced).map(|child| child.start_byte()));
    }
    let is_python = language == SourceLanguage::Python;
    if !root.has_error() && !is_python {
        return found;
    }
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        let is_empty = is_python && node.kind() == "block" && !has_statement(node);
        if node.is_error() || node.is_missing() || is_empty {
            found.push(node.start_byte());
        }
        if is_python {
            found.extend(misplaced(node, text));
        }
        if (is_python || node.has_error()) && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return found;
            }
        }
    }
}

fn has_statement(block: Node<'_>) -> bool {
    let mut cursor = block.walk();
    block.named_children(&mut cursor).any(|child| !child.is_extra())
}

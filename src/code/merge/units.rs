//! Cuts a text into units: each a definition with the text between it and the one before. A class, a trait, a module or an
//! `impl` block is a list of units itself.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::iter;
use std::ops::Range;

use tree_sitter::Node;

use super::super::file::SourceFile;
use super::super::lang::{NodeKind, SourceLanguage};

/// The first unit of a list: the text before its first definition.
pub(super) const HEAD: &str = "\0head";
/// The last unit of a list: the text behind its last definition, and the brace that ends a block.
pub(super) const TAIL: &str = "\0tail";

/// The words that the key of an `impl` block begins with.
const IMPL: &str = "impl.";

/// A definition and the text between it and the unit before.
pub(super) struct Unit<'a> {
    /// Its kind and name, which tell it apart in its list.
    pub key: &'a str,
    /// The text between it and the unit before.
    pub gap: &'a str,
    /// Its own text.
    pub text: &'a str,
    /// The text of a head but for what opens the block.
    pub loose: &'a str,
    /// The white space before it in its line; none: something else is there.
    pub indent: Option<&'a str>,
    /// The list of what it holds; empty: it is not cut.
    pub inner: Vec<Unit<'a>>,
}

/// A definition or an `impl` block in its place.
pub(super) struct Block {
    key: String,
    range: Range<usize>,
    /// The place of what it holds; none: it is not cut.
    inside: Option<Range<usize>>,
}

/// Returns the definitions and `impl` blocks of a file in their order; one stands after that which holds it.
pub(super) fn blocks(file: &SourceFile) -> Vec<Block> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    let definition = |(at, called): (usize, String)| {
        let node = &file.nodes[at];
        let body = node.body.filter(|_| is_container(node.kind));
        let inside = body.and_then(|body| inside(file, body, node.range.end));
        let count = counts.entry(called.clone()).or_default();
        *count += 1;
        Block { key: format!("{called} {count}"), range: node.range.clone(), inside }
    };
    let definitions = called(file).into_iter().enumerate().map(definition);
    let mut blocks: Vec<Block> = definitions.chain(impl_blocks(file)).collect();
    blocks.sort_by_key(|block| (block.range.start, Reverse(block.range.end)));
    blocks
}

/// Returns whether a definition is cut into those that it holds.
fn is_container(kind: NodeKind) -> bool {
    use NodeKind::{Class, Enum, Interface, Mod, Struct, Trait};
    matches!(kind, Class | Enum | Interface | Mod | Struct | Trait)
}

/// Returns the place between the brackets of a body, or of a body of Python itself.
fn inside(file: &SourceFile, body: usize, end: usize) -> Option<Range<usize>> {
    if file.language == SourceLanguage::Python {
        return Some(body..end);
    }
    let text = file.text.get(body..end)?;
    (text.len() > 1 && text.starts_with('{') && text.ends_with('}')).then(|| body + 1..end - 1)
}

/// Returns the kind and name of each definition of a file, of one in an `impl` block with the trait of that: one type has
/// `fmt` of several. What reads and what writes a property differ too.
pub(super) fn called(file: &SourceFile) -> Vec<String> {
    let mut traits = Vec::new();
    for item in impl_items(file).into_iter().flatten() {
        let name = item
            .child_by_field_name("trait")
            .map(|of| file.text[of.byte_range()].split_whitespace().collect::<String>());
        traits.extend(name.map(|name| (item.byte_range(), name)));
    }
    traits.sort_by_key(|(block, _)| block.start);
    let of_node = |at: usize| {
        let (name, range) = (file.called(at), &file.nodes[at].range);
        let before = traits.partition_point(|(block, _)| block.start <= range.start);
        let around = before.checked_sub(1).map(|at| &traits[at]).filter(|(block, _)| range.end <= block.end);
        match around {
            // Its path may be written in several ways.
            Some((_, of)) => {
                let path = of.split('<').next().unwrap_or_default();
                format!("{name} of {}", &of[path.rfind("::").map_or(0, |at| at + 2)..])
            }
            None => match accessor(file, at) {
                Some(word) => format!("{name} {word}"),
                None => name,
            },
        }
    };
    (0..file.nodes.len()).map(of_node).collect()
}

/// Returns what a method does with a property of its name: `get v()`, `@v.setter`.
fn accessor(file: &SourceFile, at: usize) -> Option<&'static str> {
    let node = &file.nodes[at];
    let head = file.text.get(node.range.start..node.name_at.start).filter(|_| node.kind == NodeKind::Method)?;
    let is_of = |(word, decorator): &(&str, &str)| match file.language {
        SourceLanguage::TypeScript | SourceLanguage::Tsx => head.split_whitespace().next_back() == Some(word),
        SourceLanguage::Python => {
            let own = format!("@{}.{decorator}", node.name);
            head.lines().any(|line| line.trim() == own)
        }
        _ => false,
    };
    [("get", "getter"), ("set", "setter"), ("del", "deleter")].into_iter().find(is_of).map(|(word, _)| word)
}

/// Returns the `impl` blocks of a file and of each of its modules, those of one in a list.
fn impl_items(file: &SourceFile) -> Vec<Vec<Node<'_>>> {
    let mut found = Vec::new();
    let mut lists = Vec::from_iter((file.language == SourceLanguage::Rust).then(|| file.syntax().root));
    while let Some(list) = lists.pop() {
        let mut cursor = list.walk();
        let (mut items, children) = (Vec::new(), list.named_children(&mut cursor));
        for (item, body) in children.filter_map(|item| Some((item, item.child_by_field_name("body")?))) {
            match item.kind() {
                "mod_item" => lists.push(body),
                "impl_item" => items.push(item),
                _ => {}
            }
        }
        found.push(items);
    }
    found
}

/// Returns the `impl` blocks of Rust, which are no definitions but hold some.
fn impl_blocks(file: &SourceFile) -> Vec<Block> {
    let mut found = Vec::new();
    for items in impl_items(file) {
        let mut counts: HashMap<String, usize> = HashMap::new();
        for (item, body) in items.into_iter().filter_map(|item| Some((item, item.child_by_field_name("body")?))) {
            let (start, mut key) = opening(file, item, body);
            let count = counts.entry(key.clone()).or_default();
            *count += 1;
            key.push_str(&format!(" {count}"));
            let inside = inside(file, body.start_byte(), body.end_byte());
            found.push(Block { key, range: start..item.end_byte(), inside });
        }
    }
    found
}

/// Returns the beginning of an `impl` block, the attributes and comments directly above it included, and its key.
fn opening(file: &SourceFile, item: Node<'_>, body: Node<'_>) -> (usize, String) {
    let (text, mut start) = (&file.text, item.start_byte());
    let mut attributes = Vec::new();
    for above in iter::successors(item.prev_sibling(), Node::prev_sibling) {
        let is_attribute = above.kind() == "attribute_item";
        let own = text[above.byte_range()].trim_end();
        let between = &text[above.start_byte() + own.len()..start];
        let begins_line = file.indentation(above.start_byte()).is_some();
        let is_comment = above.kind().ends_with("comment") && begins_line && between.matches('\n').count() <= 1;
        if !is_attribute && !is_comment {
            break;
        }
        attributes.extend(is_attribute.then_some(own));
        start = above.start_byte();
    }
    let head = text[item.start_byte()..body.start_byte()].split_whitespace();
    let words: Vec<&str> = attributes.into_iter().chain(head).collect();
    (start, format!("{IMPL}{}", words.join(" ")))
}

/// Cuts a file into units.
pub(super) fn units<'a>(file: &'a SourceFile, blocks: &'a [Block]) -> Vec<Unit<'a>> {
    let whole = 0..file.text.len();
    list(file, blocks, &whole, &whole)
}

/// Cuts a stretch of a text into units, those in its middle `inside` by their blocks.
fn list<'a>(file: &'a SourceFile, blocks: &'a [Block], whole: &Range<usize>, inside: &Range<usize>) -> Vec<Unit<'a>> {
    let part = |from: usize, to: usize| file.text.get(from..to).unwrap_or_default();
    let first = blocks.first().map_or(inside.end, |block| block.range.start);
    let text = part(whole.start, first).trim_end();
    let mut end = whole.start + text.len();
    let loose = part(inside.start.min(end), end);
    let mut units = vec![Unit { key: HEAD, gap: "", text, loose, indent: None, inner: Vec::new() }];
    let mut at = 0;
    while let Some(Block { key, range, inside }) = blocks.get(at) {
        let rest = &blocks[at + 1..];
        let held = &rest[..rest.partition_point(|block| block.range.start < range.end)];
        // A body of Python without definitions is not empty, and cannot be.
        let inside = inside.as_ref().filter(|inside| !held.is_empty() || inside.end < range.end);
        let inner = inside.map_or_else(Vec::new, |inside| list(file, held, range, inside));
        let (gap, text) = (part(end, range.start), part(range.start, range.end));
        units.push(Unit { key, gap, text, loose: "", indent: file.indentation(range.start), inner });
        end = range.end;
        at += 1 + held.len();
    }
    let (gap, text) = (part(end, inside.end), part(inside.end, whole.end));
    units.push(Unit { key: TAIL, gap, text, loose: "", indent: None, inner: Vec::new() });
    units
}

/// Returns the kind of a unit, told from its key.
pub(super) fn kind(key: &str) -> &str {
    key.split('.').next().unwrap_or(key)
}

/// Returns the lines of a text between definitions, in their order, without white space and what separates members.
pub(super) fn loose_lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !matches!(*line, "" | "," | ";"))
}

/// Returns whether a text between definitions only parts them.
pub(super) fn is_plain(gap: &str) -> bool {
    loose_lines(gap).next().is_none()
}

/// Returns the one of three versions that the other side left as it was.
pub(super) fn one_sided<T: PartialEq>([base, ours, theirs]: &[T; 3]) -> Option<&T> {
    match () {
        () if ours == theirs || theirs == base => Some(ours),
        () if ours == base => Some(theirs),
        () => None,
    }
}

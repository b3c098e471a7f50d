//! Replaces or removes one definition: nothing outside it changes by a byte, and the file parses as well as before.

use std::ops::Range;

use tree_sitter::Node;

use super::fault::CodeFault;
use super::file::SourceFile;
use super::lang::{CodeNode, NodeKind, SourceLanguage, code_between};
use super::shift::{indented, with_endings};

/// A file with one definition replaced.
pub struct SplicedFile {
    /// The file as it would be.
    pub file: SourceFile,
    /// The place of the new definition in its list.
    pub at: usize,
    /// The bytes that took the place of the old one.
    pub range: Range<usize>,
}

/// Replaces a definition by a text.
///
/// # Errors
/// When the text is not one definition of the same kind, or something else would not be what it is.
pub fn replace(file: &SourceFile, at: usize, text: &str) -> Result<SplicedFile, CodeFault> {
    let old = &file.nodes[at];
    alone(file, at)?;
    let not_one = |found: &str| CodeFault::NotOne { id: file.id(at), kind: old.kind.word(), found: found.to_owned() };
    // The mark at the beginning of a file belongs to no definition.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).trim_end();
    if text.trim().is_empty() {
        return Err(not_one("empty"));
    }
    let line = file.text[..old.range.start].rfind('\n').map_or(0, |end| end + 1);
    let white = file.text[line..].len() - file.text[line..].trim_start_matches([' ', '\t']).len();
    let text = with_endings(text, &file.text[old.range.clone()], &file.text);
    let text = indented(&text, &file.text[line..line + white], file.language);
    let new = reread(file, &old.range, &text)?;
    let range = old.range.start..old.range.start + text.len();
    let inside = |node: &CodeNode| range.start <= node.range.start && node.range.end <= range.end;
    let outer: Vec<usize> = (0..new.nodes.len())
        .filter(|at| inside(&new.nodes[*at]) && !new.nodes[*at].parent.is_some_and(|parent| inside(&new.nodes[parent])))
        .collect();
    let found = match outer.as_slice() {
        [one] => *one,
        [] => return Err(not_one("no definition")),
        [first, .., last] => {
            let (first, last) = (&new.nodes[*first], &new.nodes[*last]);
            return Err(not_one(&format!("{} definitions, {} to {}", outer.len(), first.name, last.name)));
        }
    };
    let node = &new.nodes[found];
    if node.kind != old.kind {
        return Err(not_one(&format!("a {}", node.kind.word())));
    }
    let beside = [range.start..node.range.start, node.range.end..range.end];
    if beside.iter().any(|part| code_between(new.syntax(), part) || documents_holder(&new, part)) {
        return Err(not_one("more than a definition"));
    }
    same(file, at, &new, &range)?;
    // Another one of a new name would have another number.
    let has_name = |other: &CodeNode| node.dotted != old.dotted && other.dotted == node.dotted;
    if let Some(other) = file.nodes.iter().position(has_name) {
        return Err(CodeFault::Others { id: file.id(at), other: file.id(other) });
    }
    Ok(SplicedFile { file: new, at: found, range })
}

/// Removes a definition, with the lines it fills, one empty line beside it, or those above it where it is the last, and the
/// comma that ends a field.
///
/// # Errors
/// When the file would not parse as well as before, or something else would not be what it is.
pub fn remove(file: &SourceFile, at: usize) -> Result<SourceFile, CodeFault> {
    alone(file, at)?;
    let cut = lines_of(file, at);
    let new = reread(file, &cut, "")?;
    same(file, at, &new, &(cut.start..cut.start))?;
    Ok(new)
}

/// Returns whether constants of Go after a definition would be others without it: they repeat or count those before.
pub fn numbers_others(file: &SourceFile, at: usize) -> bool {
    let name = &file.nodes[at].name_at;
    let leaf = file.syntax().root.descendant_for_byte_range(name.start, name.end);
    let spec = leaf.and_then(|leaf| leaf.parent()).filter(|spec| spec.kind() == "const_spec");
    let counts = |spec: Node<'_>| match spec.child_by_field_name("value") {
        None => true,
        Some(value) => file.text[value.byte_range()].contains("iota"),
    };
    let mut after = std::iter::successors(spec.and_then(|spec| spec.next_named_sibling()), Node::next_named_sibling);
    after.any(|other| other.kind() == "const_spec" && counts(other))
}

/// Returns a file with a name written anew in some places. Where one word names a field and what it is given, the field
/// keeps its name: `{ total }` becomes `{ total: sum }`.
///
/// # Errors
/// When the file would not parse as well as before, or a definition would not be what it is but for its name.
pub fn renamed(file: &SourceFile, places: &[Range<usize>], name: &str) -> Result<SourceFile, CodeFault> {
    let mut places: Vec<Range<usize>> = places.to_vec();
    places.sort_by_key(|place| place.start);
    places.dedup();
    let (mut text, mut at) = (String::with_capacity(file.text.len()), 0);
    for place in &places {
        text.push_str(&file.text[at..place.start]);
        if names_field(file, place) {
            text.push_str(&file.text[place.clone()]);
            text.push_str(": ");
        }
        text.push_str(name);
        at = place.end;
    }
    text.push_str(&file.text[at..]);
    respelled(file, &text)
}

/// Returns whether a name stands for a field and for a variable at once, in a literal or a pattern.
pub fn names_field(file: &SourceFile, place: &Range<usize>) -> bool {
    let leaf = file.syntax().root.descendant_for_byte_range(place.start, place.end);
    leaf.filter(|leaf| leaf.byte_range() == *place).is_some_and(|leaf| match leaf.kind() {
        "shorthand_property_identifier" | "shorthand_property_identifier_pattern" | "shorthand_field_identifier" => {
            true
        }
        _ => leaf.parent().is_some_and(|parent| parent.kind() == "shorthand_field_initializer"),
    })
}

/// Returns a file with another text, in which names alone are others.
///
/// # Errors
/// When it would not parse as well as before, or a definition would not be what it is but for its name.
pub fn respelled(file: &SourceFile, text: &str) -> Result<SourceFile, CodeFault> {
    let new = SourceFile::read(&file.path, text.as_bytes())?;
    if new.errors.len() > file.errors.len() {
        let line = new.errors.first().map_or(1, |at| new.line(*at));
        return Err(CodeFault::Syntax { path: file.path.clone(), line });
    }
    let differs =
        (0..file.nodes.len()).find(|at| new.nodes.get(*at).is_none_or(|node| node.kind != file.nodes[*at].kind));
    match differs.or((new.nodes.len() > file.nodes.len()).then_some(0)) {
        Some(at) => Err(CodeFault::Others { id: file.path.clone(), other: file.id(at) }),
        None => Ok(new),
    }
}

/// Refuses a definition that shares its text with another: `a, b = 1, 2`.
fn alone(file: &SourceFile, at: usize) -> Result<(), CodeFault> {
    let own = &file.nodes[at];
    let beside = (0..file.nodes.len()).find(|other| *other != at && file.nodes[*other].range == own.range);
    beside.map_or(Ok(()), |other| Err(CodeFault::Others { id: file.id(at), other: file.id(other) }))
}

/// Returns whether documentation of what holds it begins in a range: between definitions Rust has none.
fn documents_holder(file: &SourceFile, range: &Range<usize>) -> bool {
    if file.language != SourceLanguage::Rust {
        return false;
    }
    let text = &file.text[range.clone()];
    let begins_comment = |at: usize| {
        let leaf = file.syntax().root.descendant_for_byte_range(at, at + 1);
        let mut around = std::iter::successors(leaf, Node::parent).take_while(|node| node.start_byte() == at);
        around.any(|node| node.kind().ends_with("comment"))
    };
    ["//!", "/*!"].iter().any(|mark| text.match_indices(mark).any(|(at, _)| begins_comment(range.start + at)))
}

/// Reads the file again with other text in a range.
fn reread(file: &SourceFile, range: &Range<usize>, text: &str) -> Result<SourceFile, CodeFault> {
    let whole = [&file.text[..range.start], text, &file.text[range.end..]].concat();
    let new = SourceFile::read(&file.path, whole.as_bytes())?;
    if new.errors.len() <= file.errors.len() {
        return Ok(new);
    }
    let moved = |at: usize| if at < range.end { Some(at) } else { (at + text.len()).checked_sub(range.len()) };
    let known: Vec<usize> = file.errors.iter().filter_map(|at| moved(*at)).collect();
    // One that spans the whole file begins before the text that is its reason.
    let first = new.errors.iter().find(|at| **at >= range.start && !known.contains(at));
    let line = new.line(first.copied().unwrap_or(range.start));
    Err(CodeFault::Syntax { path: file.path.clone(), line })
}

/// Refuses a change after which other definitions are not what they were; `range` is where the new text stands. Those that
/// hold the changed one keep their place, name and kind; of all others not a byte is another.
fn same(file: &SourceFile, at: usize, new: &SourceFile, range: &Range<usize>) -> Result<(), CodeFault> {
    let old = &file.nodes[at].range;
    let within = |node: &CodeNode, range: &Range<usize>| range.start <= node.range.start && node.range.end <= range.end;
    let mut after = new.nodes.iter().filter(|node| range.is_empty() || !within(node, range));
    for (other, node) in file.nodes.iter().enumerate().filter(|(_, node)| !within(node, old)) {
        let holds = node.range.start <= old.start && old.end <= node.range.end;
        let equal = after.next().is_some_and(|now| {
            let text = holds || file.text[node.range.clone()] == new.text[now.range.clone()];
            text && (&node.dotted, node.kind) == (&now.dotted, now.kind)
        });
        if !equal {
            return Err(CodeFault::Others { id: file.id(at), other: file.id(other) });
        }
    }
    match after.next() {
        Some(more) => Err(CodeFault::Others { id: file.id(at), other: more.dotted.clone() }),
        None => Ok(()),
    }
}

/// Returns the bytes that go with a definition.
fn lines_of(file: &SourceFile, at: usize) -> Range<usize> {
    let (text, node) = (&file.text, &file.nodes[at]);
    let blank = |text: &str| text.len() - text.trim_start_matches([' ', '\t']).len();
    let mut end = node.range.end;
    let comma = end + blank(&text[end..]);
    if node.kind == NodeKind::Field && text[comma..].starts_with(',') {
        end = comma + 1;
    }
    let start = file.indentation(node.range.start).map(|white| node.range.start - white.len());
    let rest = end + blank(&text[end..]);
    let next = ["\r\n", "\n"].iter().find(|ending| text[rest..].starts_with(**ending));
    let (start, mut end) = match (start, next) {
        (Some(start), Some(ending)) => (start, rest + ending.len()),
        (Some(start), None) if rest == text.len() => (start, rest),
        // Something else is on its lines.
        _ => return node.range.start..rest,
    };
    let kept = text[..start].trim_end().len();
    let follows = text[end..].trim_start_matches([' ', '\t']);
    if follows.is_empty() || follows.starts_with(['}', ')', ']']) {
        let start = text[kept..start].find('\n').map_or(start, |ending| kept + ending + 1);
        return if kept == 0 { 0..end } else { start..end };
    }
    let above = text[..start].trim_end_matches([' ', '\t']);
    let parted = above.is_empty() || above.ends_with("\n\n") || above.ends_with("\n\r\n");
    let line = end + blank(&text[end..]);
    if let Some(ending) = ["\r\n", "\n"].iter().find(|ending| text[line..].starts_with(**ending)).filter(|_| parted) {
        end = line + ending.len();
    }
    start..end
}

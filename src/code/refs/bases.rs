//! The bases of classes of Python and TypeScript whose members are not all in these files: they may find what overrides
//! theirs by its name.

use std::rc::Rc;

use tree_sitter::Node;

use super::super::file::SourceFile;
use super::super::lang::{NodeKind, SourceLanguage};
use super::meaning::{HOPS, Meaning, Names};
use super::names::Lookup;
use super::target::{CodeTarget, SourceTree};

/// Bases that look for nothing by its name.
const PLAIN: &[&str] = &["object", "ABC", "Protocol", "Generic", "type"];

/// Names that errors of Python and TypeScript have.
const OF_ERRORS: &[&str] = &[
    "add_note",
    "args",
    "cause",
    "characters_written",
    "code",
    "end",
    "errno",
    "filename",
    "filename2",
    "message",
    "msg",
    "name",
    "obj",
    "offset",
    "path",
    "print_file_and_line",
    "stack",
    "start",
    "strerror",
    "text",
    "value",
    "with_traceback",
];

impl CodeTarget {
    /// Returns the base of its class whose members are not all in these files and may have this name too.
    pub fn foreign_base(&self, tree: &dyn SourceTree) -> Option<String> {
        let (file, node) = (&self.file, self.node());
        let holder = node.parent.filter(|holder| file.nodes[*holder].kind == NodeKind::Class)?;
        let own = &file.text[node.own.start..node.name_at.start];
        // Such as `_fields_` are what a base looks for.
        let is_marked = node.name.starts_with('#') || node.name.starts_with('_') && !node.name.ends_with('_');
        let is_private = is_marked || own.split_whitespace().any(|word| word == "private");
        if is_private || !self.is_member() {
            return None;
        }
        let lookup = Lookup::new(tree);
        foreign(&lookup, file, holder, &node.name, 0)
    }

    /// Returns the decorator that makes the fields of its class what a program reads by their names.
    pub fn field_decorator(&self) -> Option<&str> {
        let (file, node) = (&self.file, self.node());
        let holder = &file.nodes[node.parent.filter(|_| node.kind == NodeKind::Field)?];
        let head = &file.text[holder.range.start..holder.name_at.start];
        let is_python = file.language == SourceLanguage::Python;
        decorators(head).find(|name| is_python && name.rsplit('.').next() == Some("dataclass"))
    }
}

/// Returns the names of the decorators in what stands above a definition of Python.
pub(super) fn decorators(head: &str) -> impl Iterator<Item = &str> {
    let lines = head.lines().filter_map(|line| line.trim().strip_prefix('@'));
    lines.map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '.').next().unwrap_or_default())
}

/// Returns the base of a class or an alias, or of one of its bases, whose members are not all in these files.
fn foreign(lookup: &Lookup<'_>, file: &Rc<SourceFile>, class: usize, name: &str, hops: usize) -> Option<String> {
    let at = &file.nodes[class].name_at;
    let definition = file.syntax().root.descendant_for_byte_range(at.start, at.end)?.parent()?;
    let bases = match file.nodes[class].kind {
        NodeKind::Type => match named_types(definition) {
            Some(types) => types,
            None => return Some(file.nodes[class].name.clone()),
        },
        _ => bases(definition, &file.text),
    };
    bases.into_iter().find_map(|base| {
        let text = &file.text[base.byte_range()];
        lookup.begin();
        match meant(lookup, file, base) {
            _ if hops >= HOPS => Some(text.to_owned()),
            Meaning::Node { file, at, .. } if has_members(&file, at) => foreign(lookup, &file, at, name, hops + 1),
            Meaning::Elsewhere | Meaning::Unbound if is_plain(text, name) => None,
            _ => Some(text.to_owned()),
        }
    })
}

/// Returns whether a definition has members that are known: a class, an interface, an alias of TypeScript.
fn has_members(file: &SourceFile, at: usize) -> bool {
    match file.nodes[at].kind {
        NodeKind::Class | NodeKind::Interface => true,
        NodeKind::Type => file.language.is_like(SourceLanguage::TypeScript),
        _ => false,
    }
}

/// Returns the names of the types that an alias is made of, beside members of its own; `None`: it is made in another way.
fn named_types(alias: Node<'_>) -> Option<Vec<Node<'_>>> {
    let (mut found, mut open) = (Vec::new(), vec![alias.child_by_field_name("value")?]);
    while let Some(part) = open.pop() {
        match part.kind() {
            // `{ [K in T]: … }` has the members of another type.
            "object_type" => {
                let mut inner = part.walk();
                let is_mapped = |one: Node<'_>| {
                    let mut inner = one.walk();
                    one.named_children(&mut inner).any(|part| part.kind() == "mapped_type_clause")
                };
                if part.named_children(&mut inner).any(is_mapped) {
                    return None;
                }
            }
            "intersection_type" | "union_type" | "parenthesized_type" => {
                let mut inner = part.walk();
                open.extend(part.named_children(&mut inner).filter(|one| !one.is_extra()));
            }
            "type_identifier" | "nested_type_identifier" | "generic_type" => found.push(without_types(part)),
            _ => return None,
        }
    }
    Some(found)
}

/// Returns whether a base that is built in looks for no such name.
fn is_plain(base: &str, name: &str) -> bool {
    let last = base.rsplit('.').next().unwrap_or_default();
    let is_error = ["Error", "Exception", "Warning"].iter().any(|end| base.ends_with(end));
    PLAIN.contains(&last) || is_error && !OF_ERRORS.contains(&name)
}

/// Returns the expressions that name the bases of a class.
fn bases<'t>(class: Node<'t>, text: &str) -> Vec<Node<'t>> {
    let (mut found, mut cursor) = (Vec::new(), class.walk());
    let mut open: Vec<Node<'_>> = class.named_children(&mut cursor).collect();
    while let Some(part) = open.pop() {
        match part.kind() {
            "class_heritage" | "argument_list" | "extends_clause" | "implements_clause" | "extends_type_clause" => {
                let mut inner = part.walk();
                let all =
                    part.named_children(&mut inner).filter(|one| !one.is_extra() && one.kind() != "type_arguments");
                match part.kind() {
                    "class_heritage" => open.extend(all),
                    _ => found.extend(all),
                }
            }
            _ => {}
        }
    }
    found.into_iter().filter_map(|base| not_keyword(base, text)).map(without_types).collect()
}

/// Returns a base, or what is like one: a metaclass of Python, but for the one that only makes classes abstract.
fn not_keyword<'t>(base: Node<'t>, text: &str) -> Option<Node<'t>> {
    if base.kind() != "keyword_argument" {
        return Some(base);
    }
    let is_metaclass = &text[base.child_by_field_name("name")?.byte_range()] == "metaclass";
    let value = base.child_by_field_name("value")?;
    (is_metaclass && !text[value.byte_range()].ends_with("ABCMeta")).then_some(value)
}

/// Returns a base without the types it is given: `Base[T]`, `Base<T>`.
fn without_types(base: Node<'_>) -> Node<'_> {
    let inner = match base.kind() {
        "subscript" => base.child_by_field_name("value"),
        "generic_type" => base.child_by_field_name("name"),
        _ => None,
    };
    inner.unwrap_or(base)
}

/// Returns what the name of a base means.
fn meant(lookup: &Lookup<'_>, file: &Rc<SourceFile>, base: Node<'_>) -> Meaning {
    let text = |node: Node<'_>| &file.text[node.byte_range()];
    let parts = match base.kind() {
        "identifier" | "type_identifier" => return lookup.name(file, text(base), base.start_byte(), 0),
        "attribute" => ("object", "attribute"),
        "member_expression" => ("object", "property"),
        "nested_type_identifier" => ("module", "name"),
        _ => return Meaning::Unknown,
    };
    match (base.child_by_field_name(parts.0), base.child_by_field_name(parts.1)) {
        (of, Some(name)) => lookup.member(file, of, text(name)),
        _ => Meaning::Unknown,
    }
}

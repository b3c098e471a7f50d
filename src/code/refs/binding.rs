//! The bindings of a name in a file: variables, definitions, imports, each within a scope.

use std::ops::Range;

use tree_sitter::Node;

use super::super::file::SourceFile;
use super::super::lang::SourceLanguage;
use super::role::{Import, Role, around};
use super::roles::role;
use super::target::is_member;

/// The thing that a name is bound to.
#[derive(Debug, Clone)]
pub(super) enum Bound {
    Variable,
    Node(usize),
    Import(Import),
}

/// A name that is bound in a scope.
#[derive(Debug, Clone)]
pub(super) struct Binding {
    pub scope: Range<usize>,
    pub bound: Bound,
}

/// Syntax nodes that are names.
const NAMES: &[&str] = &[
    "identifier",
    "type_identifier",
    "field_identifier",
    "shorthand_field_identifier",
    "property_identifier",
    "private_property_identifier",
    "shorthand_property_identifier",
    "shorthand_property_identifier_pattern",
    "package_identifier",
];

/// Returns the identifiers of a name in a file, but for the names of definitions.
pub(super) fn leaves<'t>(file: &'t SourceFile, name: &str) -> Vec<Node<'t>> {
    let mut found = Vec::new();
    let finder = memchr::memmem::Finder::new(name.as_bytes());
    for at in finder.find_iter(file.text.as_bytes()) {
        let range = at..at + name.len();
        let Some(leaf) = file.syntax().root.descendant_for_byte_range(range.start, range.end) else { continue };
        let is_name = leaf.byte_range() == range && NAMES.contains(&leaf.kind());
        if is_name && !file.nodes.iter().any(|node| node.name_at == range) {
            found.push(leaf);
        }
    }
    found
}

/// Returns what a name is bound to in a file.
pub(super) fn bindings(file: &SourceFile, name: &str) -> Vec<Binding> {
    let mut found = Vec::new();
    for leaf in leaves(file, name) {
        match role(leaf, file.syntax()) {
            Role::Binds(scope) | Role::BindsKey(scope) => found.push(Binding { scope, bound: Bound::Variable }),
            Role::Import(import) => {
                if let Some(scope) = import.scope.clone() {
                    found.push(Binding { scope, bound: Bound::Import(import) });
                }
            }
            _ => {}
        }
    }
    for (at, node) in file.nodes.iter().enumerate() {
        if node.name == name && !is_member(file, at) {
            found.push(Binding { scope: definition_scope(file, at), bound: Bound::Node(at) });
        }
    }
    found
}

/// Returns the bytes in which a definition is seen by its name.
fn definition_scope(file: &SourceFile, at: usize) -> Range<usize> {
    let scopes: &[&str] = match file.language {
        SourceLanguage::Rust => &["block", "declaration_list", "source_file"],
        SourceLanguage::Python => &["function_definition", "lambda", "module"],
        SourceLanguage::TypeScript | SourceLanguage::Tsx => &["statement_block", "switch_body", "program"],
        SourceLanguage::Go => &["block", "source_file"],
    };
    let node = &file.nodes[at];
    let name = file.syntax().root.descendant_for_byte_range(node.name_at.start, node.name_at.end);
    // A function is seen around itself, not only within.
    let inner = |scope: &Node<'_>| scope.start_byte() >= node.own.start && scope.end_byte() <= node.own.end;
    let mut scope = name.and_then(|name| around(name, scopes));
    while let Some(found) = scope.filter(|found| inner(found) && found.parent().is_some()) {
        scope = around(found, scopes);
    }
    scope.filter(|scope| scope.parent().is_some()).map_or(0..usize::MAX, |scope| scope.byte_range())
}

/// Returns the innermost binding that is seen at a byte; what is bound in a scope before the `barrier` is not seen.
pub(super) fn innermost(bindings: &[Binding], at: usize, barrier: usize) -> Option<&Binding> {
    let seen = bindings.iter().filter(|binding| binding.scope.contains(&at) && binding.scope.start >= barrier);
    seen.min_by_key(|binding| binding.scope.len())
}

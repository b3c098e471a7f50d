//! The bindings of a name in a file: variables, definitions, imports, each within a scope.

use std::collections::HashSet;
use std::ops::Range;

use tree_sitter::Node;

use super::super::file::SourceFile;
use super::super::lang::SourceLanguage;
use super::super::words::is_whole;
use super::role::{Import, Role, around};
use super::roles::{body_of_class, role};
use super::target::is_member;

/// The thing that a name is bound to.
#[derive(Debug, Clone)]
pub(super) enum Bound {
    Variable,
    /// A parameter of types, in TypeScript: it hides no value.
    TypeVariable,
    /// A variable that a pattern of Rust names, unless the name is that of a constant.
    Pattern,
    Node(usize),
    Import(Import),
    /// It cannot be told.
    Untold,
}

/// A name that is bound in a scope.
#[derive(Debug, Clone)]
pub(super) struct Binding {
    pub scope: Range<usize>,
    pub bound: Bound,
    /// The scope is the body of a class of Python: what is written in a function there does not see it.
    pub in_class: bool,
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

/// The depth in the syntax, and the number in a file, up to which the identifiers of a name are told apart: what is around
/// each is looked at from the root of the file on.
const DEEPEST: usize = 256;
pub(super) const MOST: usize = 4_000;

/// The identifiers of a name in a file, but for the names of definitions, in order.
pub(super) struct Leaves<'t> {
    pub nodes: Vec<Node<'t>>,
    /// In Python the texts that hold the name as a whole word, with the bytes where they do; of very many the first.
    pub texts: Vec<(usize, Node<'t>)>,
    /// False if they are not told apart.
    pub legible: bool,
}

impl<'t> Leaves<'t> {
    /// Returns those that are told apart.
    pub fn apart(self) -> Vec<Node<'t>> {
        if self.legible { self.nodes } else { Vec::new() }
    }

    /// Returns whether something holds of one of them, or cannot be told.
    pub fn any(self, holds: impl FnMut(Node<'t>) -> bool) -> bool {
        !self.legible || self.nodes.into_iter().any(holds)
    }
}

/// Returns the identifiers of a name in a file.
pub(super) fn leaves<'t>(file: &'t SourceFile, name: &str) -> Leaves<'t> {
    let own: HashSet<usize> =
        file.nodes.iter().filter(|node| node.name == name).map(|node| node.name_at.start).collect();
    let (mut cursor, mut depth) = (file.syntax().root.walk(), 0);
    let mut found = Leaves { nodes: Vec::new(), texts: Vec::new(), legible: true };
    let is_python = file.language == SourceLanguage::Python;
    let mut places = memchr::memmem::find_iter(file.text.as_bytes(), name).filter(|at| !own.contains(at)).peekable();
    while let Some(at) = places.peek().copied() {
        let node = cursor.node();
        if node.end_byte() <= at {
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return found;
                }
                depth -= 1;
            }
        } else if is_python && node.start_byte() <= at && node.kind() == "string_content" {
            let is_worth = is_whole(&file.text, at, name) && depth <= DEEPEST && found.texts.len() < MOST;
            found.texts.extend(Some((at, node)).filter(|_| is_worth));
            places.next();
        } else if node.start_byte() <= at && cursor.goto_first_child() {
            depth += 1;
        } else {
            if node.byte_range() == (at..at + name.len()) && NAMES.contains(&node.kind()) {
                found.legible &= depth <= DEEPEST && found.nodes.len() < MOST;
                found.nodes.push(node);
            }
            places.next();
        }
    }
    found
}

/// Returns the identifiers in these bytes of a file that can be told apart, but for the names of definitions, in order; of
/// very many the first [`MOST`].
pub(super) fn leaves_within<'t>(file: &'t SourceFile, within: &Range<usize>) -> Vec<Node<'t>> {
    let own: HashSet<usize> = file.nodes.iter().map(|node| node.name_at.start).collect();
    let (mut cursor, mut depth, mut found) = (file.syntax().root.walk(), 0, Vec::new());
    while found.len() < MOST {
        let node = cursor.node();
        let is_before = node.end_byte() <= within.start;
        if node.start_byte() >= within.end {
            break;
        }
        if !is_before && depth < DEEPEST && cursor.goto_first_child() {
            depth += 1;
            continue;
        }
        if !is_before && NAMES.contains(&node.kind()) && !own.contains(&node.start_byte()) {
            found.push(node);
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return found;
            }
            depth -= 1;
        }
    }
    found
}

/// Returns what a name is bound to in a file.
pub(super) fn bindings(file: &SourceFile, name: &str) -> Vec<Binding> {
    let mut found = Vec::new();
    let leaves = leaves(file, name);
    if !leaves.legible {
        // The only one then.
        return vec![Binding { scope: 0..usize::MAX, bound: Bound::Untold, in_class: false }];
    }
    for leaf in leaves.nodes {
        let (scope, bound) = match role(leaf, file.syntax()) {
            Role::Pattern(scope) => (scope, Bound::Pattern),
            Role::Binds(scope) | Role::BindsKey(scope) => (scope, variable(leaf, file.language)),
            Role::Import(import) => match import.scope.clone() {
                Some(scope) => (scope, Bound::Import(import)),
                None => continue,
            },
            _ => continue,
        };
        let in_class = body_of_class(leaf, file.syntax()).is_some_and(|body| body == scope);
        found.push(Binding { scope, bound, in_class });
    }
    for (at, node) in file.nodes.iter().enumerate() {
        if node.name == name && !is_member(file, at) {
            found.push(Binding { scope: definition_scope(file, at), bound: Bound::Node(at), in_class: false });
        }
    }
    found
}

/// Returns what an identifier that names a variable is bound to.
fn variable(leaf: Node<'_>, language: SourceLanguage) -> Bound {
    let is_script = language.is_like(SourceLanguage::TypeScript);
    // A class is a value as well.
    let is_type = leaf.kind() == "type_identifier" && leaf.parent().is_some_and(|parent| parent.kind() != "class");
    if is_script && is_type { Bound::TypeVariable } else { Bound::Variable }
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
    // What is declared of other languages is seen around its declaration.
    let foreign = |scope: &Node<'_>| scope.parent().is_some_and(|parent| parent.kind() == "foreign_mod_item");
    while let Some(found) = scope.filter(|found| (inner(found) || foreign(found)) && found.parent().is_some()) {
        scope = around(found, scopes);
    }
    let scope = scope.filter(|scope| scope.parent().is_some());
    // The parameters of a function of Python are read outside of it.
    let body =
        scope.filter(|_| file.language == SourceLanguage::Python).and_then(|scope| scope.child_by_field_name("body"));
    body.or(scope).map_or(0..usize::MAX, |scope| scope.byte_range())
}

/// Returns the bindings of the innermost scope that has one and is seen at a byte; what is bound in a scope before the
/// `barrier` is not seen.
pub(super) fn innermost<'b>(
    bindings: impl Iterator<Item = &'b Binding>,
    at: usize,
    barrier: usize,
) -> Vec<&'b Binding> {
    let mut seen: Vec<&Binding> =
        bindings.filter(|binding| binding.scope.contains(&at) && binding.scope.start >= barrier).collect();
    let least = seen.iter().map(|binding| binding.scope.len()).min();
    seen.retain(|binding| Some(binding.scope.len()) == least);
    seen
}

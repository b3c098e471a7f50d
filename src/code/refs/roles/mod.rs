//! The role of an identifier, told by each language's syntax.

mod go;
mod python;
mod rust;
mod typescript;

use std::ops::Range;

use tree_sitter::Node;

use super::super::file::SourceFile;
use super::super::lang::{CodeNode, SourceLanguage, Syntax};
use super::role::{Role, around, is_field, outermost};
use super::target::is_member;

pub(super) use python::{first_iterables, global_in};

/// Parts of imports and exports that give another name.
const CLAUSES: &[&str] = &["use_as_clause", "aliased_import", "import_specifier", "export_specifier"];

/// Returns the role of an identifier.
pub(super) fn role<'t>(leaf: Node<'t>, syntax: Syntax<'t>) -> Role<'t> {
    match syntax.language {
        SourceLanguage::Rust => rust::role(leaf, syntax.text),
        SourceLanguage::Python => python::role(leaf, syntax.text),
        SourceLanguage::TypeScript | SourceLanguage::Tsx => typescript::role(leaf, syntax.text),
        SourceLanguage::Go => go::role(leaf),
    }
}

/// Returns the name that an import or an export gives to an identifier in it: `use a::{Cart as Basket}`.
pub(super) fn alias(leaf: Node<'_>) -> Option<Node<'_>> {
    let named = outermost(leaf, &["scoped_identifier", "dotted_name"]);
    let clause = named.parent().filter(|clause| CLAUSES.contains(&clause.kind()))?;
    // Of a path the last name alone.
    let is_last = leaf.end_byte() == named.end_byte() && !is_field(named, "alias");
    clause.child_by_field_name("alias").filter(|_| is_last)
}

/// Returns whether an identifier is such a name.
pub(super) fn is_alias(leaf: Node<'_>) -> bool {
    is_field(leaf, "alias") && leaf.parent().is_some_and(|clause| CLAUSES.contains(&clause.kind()))
}

/// Returns whether other files may import what has such a name by it.
pub(super) fn is_handed_on(alias: Node<'_>) -> bool {
    let Some(clause) = alias.parent() else { return false };
    match clause.kind() {
        "export_specifier" => true,
        "aliased_import" => around(clause, &["function_definition", "lambda", "class_definition"]).is_none(),
        "use_as_clause" => around(clause, &["use_declaration"]).is_some_and(|of| {
            let mut cursor = of.walk();
            of.named_children(&mut cursor).any(|child| child.kind() == "visibility_modifier")
        }),
        _ => false,
    }
}

/// Returns the body of the class of Python that an identifier is read or bound in.
pub(super) fn body_of_class(leaf: Node<'_>, syntax: Syntax<'_>) -> Option<Range<usize>> {
    if syntax.language == SourceLanguage::Python { python::body_of_class(leaf) } else { None }
}

/// Returns whether a token that stands alone in the call of a macro may be a member that its file defines by that name: it
/// is not called there.
pub(super) fn may_be_member(leaf: Node<'_>, file: &SourceFile) -> bool {
    let name = &file.text[leaf.byte_range()];
    let is_it = |(at, node): (usize, &CodeNode)| node.name == name && is_member(file, at);
    !file.text[leaf.end_byte()..].starts_with('(') && file.nodes.iter().enumerate().any(is_it)
}

/// Returns the calls of macros, by their bytes, in which a name may be bound to a variable that no scope shows.
pub(super) fn may_bind(leaves: &[Node<'_>], syntax: Syntax<'_>) -> Vec<Range<usize>> {
    match syntax.language {
        SourceLanguage::Rust => rust::may_bind(leaves, syntax.text),
        _ => Vec::new(),
    }
}

/// Returns the imports of all names of a module, with the bytes where they are seen.
pub(super) fn globs(syntax: Syntax<'_>) -> Vec<super::role::Import> {
    match syntax.language {
        SourceLanguage::Rust => rust::globs(syntax.root, syntax.text),
        SourceLanguage::Python => python::globs(syntax.root, syntax.text),
        SourceLanguage::TypeScript | SourceLanguage::Tsx => typescript::globs(syntax.root, syntax.text),
        SourceLanguage::Go => Vec::new(),
    }
}

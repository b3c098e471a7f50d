//! The role of an identifier, told by each language's syntax.

mod go;
mod python;
mod rust;
mod typescript;

use std::ops::Range;

use tree_sitter::Node;

use super::super::lang::{SourceLanguage, Syntax};
use super::role::Role;

/// Returns the role of an identifier.
pub(super) fn role<'t>(leaf: Node<'t>, syntax: Syntax<'t>) -> Role<'t> {
    match syntax.language {
        SourceLanguage::Rust => rust::role(leaf, syntax.text),
        SourceLanguage::Python => python::role(leaf, syntax.text),
        SourceLanguage::TypeScript | SourceLanguage::Tsx => typescript::role(leaf, syntax.text),
        SourceLanguage::Go => go::role(leaf),
    }
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

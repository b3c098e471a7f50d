//! A definition, as it is found in a text.

use std::ops::Range;

use super::kind::NodeKind;

/// A definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeNode {
    /// Its name after those of what holds it, joined by dots: `Cart.total`.
    pub dotted: String,
    /// Its own name.
    pub name: String,
    /// Its kind.
    pub kind: NodeKind,
    /// Its bytes, with the attributes, decorators and documentation directly above it.
    pub range: Range<usize>,
    /// Its bytes without what stands above it.
    pub own: Range<usize>,
    /// The bytes of its name.
    pub name_at: Range<usize>,
    /// The beginning of its body; what precedes that is its signature.
    pub body: Option<usize>,
    /// The definition that holds it, by its place in the file's list.
    pub parent: Option<usize>,
    /// Its number among those of the same dotted name, from 1.
    pub number: usize,
    /// True if there are several of the same dotted name.
    pub shared: bool,
    /// True if there is a syntax error in it.
    pub broken: bool,
}

//! The roles of identifiers in the syntax around them.

use std::ops::Range;

use tree_sitter::Node;

/// The role of an identifier where it stands.
#[derive(Debug, Clone)]
pub(super) enum Role<'t> {
    /// Nothing that means a definition: a label, the name of an argument.
    Other,
    /// It names a variable that is seen in these bytes.
    Binds(Range<usize>),
    /// It names a variable and a field at once, as in `let Cart { items } = cart`.
    BindsKey(Range<usize>),
    /// It stands alone in a pattern of Rust: a constant of the name, or else it names a variable that is seen in these
    /// bytes.
    Pattern(Range<usize>),
    /// Scopes say what it means.
    Plain,
    /// The name of a macro that is called.
    Macro,
    /// The expression, type or module before it says what it means: `of.name`, `of::name`.
    Member { of: Option<Node<'t>> },
    /// The name of a field in a literal or a pattern of a type.
    Key { of: Option<Node<'t>> },
    /// A field and the variable it is given, under one name; `is_read`: scopes say which variable, else it may be one
    /// that a pattern names.
    Shorthand { is_read: bool },
    /// It is imported, or handed on.
    Import(Import),
    /// It stands where no scope says what it means: in the body of a macro, in an attribute.
    Untold,
    /// It stands alone among the tokens of a macro that may make anything of it, a field of the name as well; `is_key`:
    /// before a colon.
    Loose { is_key: bool },
}

/// An import of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Import {
    /// The module, as the language writes it; in Rust the whole path, joined by `::`.
    pub module: String,
    /// The name in it; none: the module itself.
    pub name: Option<String>,
    /// The bytes where it is seen; none: it is no name here.
    pub scope: Option<Range<usize>>,
    /// The byte at which it is written.
    pub at: usize,
}

/// Returns whether a node stands in this field of its parent.
pub(super) fn is_field(node: Node<'_>, field: &str) -> bool {
    node.parent().is_some_and(|parent| {
        let mut cursor = parent.walk();
        parent.children_by_field_name(field, &mut cursor).any(|child| child == node)
    })
}

/// Returns the kind of the node so many levels up.
pub(super) fn above<'t>(node: Node<'t>, up: usize) -> &'t str {
    ancestor(node, up).map_or("", |node| node.kind())
}

/// Returns the node so many levels up.
pub(super) fn ancestor(node: Node<'_>, up: usize) -> Option<Node<'_>> {
    (0..up).try_fold(node, |node, _| node.parent())
}

/// Returns the nearest node around another of one of these kinds.
pub(super) fn around<'t>(node: Node<'t>, kinds: &[&str]) -> Option<Node<'t>> {
    std::iter::successors(node.parent(), Node::parent).find(|node| kinds.contains(&node.kind()))
}

/// Returns the bytes of the nearest node of these kinds, else of the whole text.
pub(super) fn scope(node: Node<'_>, kinds: &[&str]) -> Range<usize> {
    let found = around(node, kinds).filter(|node| node.parent().is_some());
    found.map_or(0..usize::MAX, |node| node.byte_range())
}

/// Returns the outermost node of a pattern that a node belongs to, by the kinds that patterns are made of.
pub(super) fn outermost<'t>(node: Node<'t>, kinds: &[&str]) -> Node<'t> {
    let mut outer = node;
    while let Some(parent) = outer.parent().filter(|parent| kinds.contains(&parent.kind())) {
        outer = parent;
    }
    outer
}

//! The parts that definitions are told from: syntax nodes and what stands around them.

use tree_sitter::Node;

use super::kind::NodeKind;

/// Returns whether a syntax node is a comment.
pub(super) fn is_comment(node: Node<'_>) -> bool {
    node.is_extra() && node.kind().ends_with("comment")
}

/// The relation of a syntax node to the definition that follows it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LeadKind {
    /// It belongs to it, however many lines lie between.
    Attribute,
    /// It belongs to it where no empty line lies between.
    Documentation,
    /// It belongs to it where it stands between others that do.
    Comment,
    /// It is something else.
    None,
}

/// The place of a syntax node.
pub(super) struct Above<'a, 't> {
    /// The nodes that hold it, outermost first.
    pub nodes: &'a [Node<'t>],
    /// The kind of the innermost definition around it.
    pub within: Option<NodeKind>,
    pub text: &'a str,
}

impl<'t> Above<'_, 't> {
    /// Returns the kind of the node so many levels up; 1 is the parent's.
    pub fn kind(&self, up: usize) -> &'t str {
        self.node(up).map_or("", |node| node.kind())
    }

    /// Returns the node so many levels up.
    pub fn node(&self, up: usize) -> Option<Node<'t>> {
        self.nodes.len().checked_sub(up).and_then(|at| self.nodes.get(at)).copied()
    }

    /// Returns how many of the next levels up are of these kinds.
    pub fn climb(&self, from: usize, kinds: &[&str]) -> usize {
        (from + 1..).take_while(|up| kinds.contains(&self.kind(*up))).count() + from
    }
}

/// A syntax node that is a definition.
pub(super) struct Defined<'t> {
    /// The kind.
    pub kind: NodeKind,
    /// The names it defines: mostly one.
    pub names: Vec<Node<'t>>,
    /// The number of levels up to the node that is the whole definition.
    pub climb: usize,
    /// The node that a signature ends before.
    pub body: Option<Node<'t>>,
    /// The name of what it belongs to, where that is not what holds it: the receiver of a method in Go.
    pub of: Option<String>,
}

impl<'t> Defined<'t> {
    /// Returns a definition by its node, which has a field `name` and perhaps one `body`.
    pub fn named(kind: NodeKind, node: Node<'t>) -> Option<Defined<'t>> {
        let name = node.child_by_field_name("name")?;
        let body = node.child_by_field_name("body");
        Some(Defined { kind, names: vec![name], climb: 0, body, of: None })
    }
}

/// Returns the children of a syntax node that stand in a field.
pub(super) fn in_field<'t>(node: Node<'t>, field: &str) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    node.children_by_field_name(field, &mut cursor).collect()
}

//! A text as it is printed, with the ranges of its nodes.

/// A text with the byte ranges of the nodes in it.
#[derive(Clone, Debug, Default)]
pub struct Printed {
    /// The text.
    pub text: String,
    /// Node number, start, end; only nodes that have a number.
    pub spans: Vec<(u32, usize, usize)>,
}

impl Printed {
    /// Returns the byte range of a node.
    pub fn span(&self, node: u32) -> Option<(usize, usize)> {
        self.spans.iter().find(|(found, _, _)| *found == node).map(|(_, start, end)| (*start, *end))
    }
}

//! The walk over a syntax tree that gathers its definitions. It holds its own stack: no text is nested too deep for it.

use tree_sitter::Node;

use super::kind::NodeKind;
use super::language::SourceLanguage;
use super::node::CodeNode;
use super::parts::{Above, Defined, LeadKind, is_comment};
use super::{go, python, rust, typescript};

/// Definitions that lie in more others than this, or whose dotted name is longer than this in bytes, count as body of
/// those: each keeps a name that all those around it make longer.
const DEEPEST: usize = 64;
const LONGEST: usize = 512;

/// The nodes that stand above another at its level of the tree and may belong to it.
#[derive(Clone, Copy)]
struct Lead {
    start: usize,
    end: usize,
    /// An attribute is among it: no empty line parts it from what follows.
    firm: bool,
}

/// The name under which the definitions within these bytes stand.
struct Holder {
    end: usize,
    dotted: String,
    node: Option<usize>,
    kind: Option<NodeKind>,
}

struct Walk<'t> {
    language: SourceLanguage,
    text: &'t str,
    /// The nodes from the root to the present one.
    nodes: Vec<Node<'t>>,
    /// The nodes that precede each of them and may belong to it.
    leads: Vec<Option<Lead>>,
    holders: Vec<Holder>,
    /// The end of a definition whose text is body alone.
    closed: usize,
    found: Vec<CodeNode>,
}

/// Returns the definitions of a text, in its order.
pub fn definitions<'t>(language: SourceLanguage, root: Node<'t>, text: &'t str) -> Vec<CodeNode> {
    let (holders, found) = (Vec::new(), Vec::new());
    let mut walk = Walk { language, text, nodes: vec![root], leads: vec![None], holders, closed: 0, found };
    let mut cursor = root.walk();
    loop {
        walk.enter(cursor.node());
        if cursor.goto_first_child() {
            walk.nodes.push(cursor.node());
            walk.leads.push(None);
            continue;
        }
        loop {
            walk.leave();
            if cursor.goto_next_sibling() {
                let last = walk.nodes.len() - 1;
                walk.nodes[last] = cursor.node();
                break;
            }
            if !cursor.goto_parent() {
                return walk.found;
            }
            walk.nodes.pop();
            walk.leads.pop();
        }
    }
}

impl Walk<'_> {
    /// Notes what the present node defines or holds.
    fn enter(&mut self, node: Node<'_>) {
        let start = node.start_byte();
        while self.holders.last().is_some_and(|holder| holder.end <= start) {
            self.holders.pop();
        }
        if !node.is_named() || start < self.closed {
            return;
        }
        let at = self.nodes.len() - 1;
        let holder = self.holders.last();
        let above = Above { nodes: &self.nodes[..at], within: holder.and_then(|holder| holder.kind), text: self.text };
        if let Some(defined) = definition(self.language, self.nodes[at], &above) {
            let whole = self.nodes[at - defined.climb];
            let own = whole.start_byte()..self.end(whole, &above, defined.climb);
            let lead = self.leads[at - defined.climb].filter(|lead| self.adjoins(lead, own.start));
            let inside = defined.of.clone().or_else(|| holder.map(|holder| holder.dotted.clone()));
            let parent = holder.and_then(|holder| holder.node);
            let names: Vec<Node<'_>> = defined.names.clone();
            for name in names {
                let text = self.text[name.byte_range()].trim_matches(['"', '\'']);
                if text.is_empty() {
                    continue;
                }
                let dotted = inside.as_ref().map_or_else(|| text.to_owned(), |inside| format!("{inside}.{text}"));
                if !self.has_room(&dotted) {
                    self.closed = own.end;
                    continue;
                }
                let node = CodeNode {
                    dotted: dotted.clone(),
                    name: text.to_owned(),
                    kind: defined.kind,
                    range: lead.map_or(own.start, |lead| lead.start)..own.end,
                    own: own.clone(),
                    name_at: name.byte_range(),
                    body: defined.body.map(|body| body.start_byte()),
                    parent,
                    number: 0,
                    shared: false,
                    broken: whole.has_error(),
                };
                self.found.push(node);
                let node = Some(self.found.len() - 1);
                self.holders.push(Holder { end: own.end, dotted, node, kind: Some(defined.kind) });
            }
        } else if let Some(dotted) = holder_name(self.language, node, self.text) {
            let (node, kind, dotted) = (holder.and_then(|holder| holder.node), None, self.within(dotted));
            let end = self.nodes[at].end_byte();
            match self.has_room(&dotted) {
                true => self.holders.push(Holder { end, dotted, node, kind }),
                false => self.closed = end,
            }
        }
    }

    fn has_room(&self, dotted: &str) -> bool {
        self.holders.len() < DEEPEST && dotted.len() <= LONGEST
    }

    fn within(&self, name: String) -> String {
        self.holders.last().map_or_else(|| name.clone(), |holder| format!("{}.{name}", holder.dotted))
    }

    /// Returns the end of a definition: without white space, and with the semicolon that ends a member in TypeScript.
    fn end(&self, whole: Node<'_>, above: &Above<'_, '_>, climb: usize) -> usize {
        let range = whole.byte_range();
        let end = range.start + self.text[range].trim_end().len();
        let member = ["class_body", "interface_body", "object_type"].contains(&above.kind(climb + 1));
        end + usize::from(member && self.text[end..].starts_with(';'))
    }

    /// Returns whether what precedes a definition belongs to it: an empty line parts documentation from it.
    fn adjoins(&self, lead: &Lead, start: usize) -> bool {
        lead.firm || self.text[lead.end.min(start)..start].matches('\n').count() <= 1
    }

    /// Goes on from the present node to what follows it at its level.
    fn leave(&mut self) {
        let at = self.nodes.len() - 1;
        let (node, lead) = (self.nodes[at], self.leads[at]);
        let kind = lead_kind(self.language, node, self.text);
        if kind == LeadKind::None {
            self.leads[at] = None;
            return;
        }
        let range = node.byte_range();
        let end = range.start + self.text[range.clone()].trim_end().len();
        let before = lead.filter(|lead| self.adjoins(lead, range.start));
        let start = before.map_or(range.start, |lead| lead.start);
        let firm = before.is_some_and(|lead| lead.firm);
        self.leads[at] = match kind {
            LeadKind::Attribute => Some(Lead { start, end, firm: true }),
            LeadKind::Documentation if self.begins_line(range.start) => Some(Lead { start, end, firm }),
            LeadKind::Comment => before.map(|lead| Lead { end, ..lead }),
            LeadKind::Documentation | LeadKind::None => None,
        };
    }

    fn begins_line(&self, at: usize) -> bool {
        self.text[..at].trim_end_matches([' ', '\t']).chars().next_back().is_none_or(|c| c == '\n')
    }
}

/// Returns the definition that a syntax node is; `above` are the nodes that hold it, outermost first.
fn definition<'t>(language: SourceLanguage, node: Node<'t>, above: &Above<'_, 't>) -> Option<Defined<'t>> {
    match language {
        SourceLanguage::Rust => rust::definition(node, above),
        SourceLanguage::Python => python::definition(node, above),
        SourceLanguage::TypeScript | SourceLanguage::Tsx => typescript::definition(node, above),
        SourceLanguage::Go => go::definition(node, above),
    }
}

/// Returns the name under which a syntax node that is no definition holds others: an `impl` of Rust.
fn holder_name(language: SourceLanguage, node: Node<'_>, text: &str) -> Option<String> {
    match language {
        SourceLanguage::Rust => rust::holder(node, text),
        _ => None,
    }
}

/// Returns what a syntax node is to the definition that follows it.
fn lead_kind(language: SourceLanguage, node: Node<'_>, text: &str) -> LeadKind {
    match (language, node.kind()) {
        (SourceLanguage::Rust, "attribute_item") | (_, "decorator") => LeadKind::Attribute,
        (SourceLanguage::Rust, "line_comment" | "block_comment") => rust::comment(&text[node.byte_range()]),
        (SourceLanguage::Go, "comment") => LeadKind::Documentation,
        (SourceLanguage::TypeScript | SourceLanguage::Tsx, "comment") if text[node.byte_range()].starts_with("/**") => {
            LeadKind::Documentation
        }
        _ if is_comment(node) => LeadKind::Comment,
        _ => LeadKind::None,
    }
}

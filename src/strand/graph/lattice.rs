//! The ops on one definition, and their combined effect.

use std::collections::{BTreeSet, HashSet};

use super::Graph;
use super::node::Node;
use crate::strand::id::{DefId, Layer, OpId};
use crate::strand::lazy::Line;
use crate::strand::one_or_many::OneOrMany;
use crate::strand::op::{Kind, Op};

/// The ops on one definition.
#[derive(Debug)]
pub struct Lattice {
    /// Its layer.
    pub layer: Layer,
    /// All ops on it, void ones too, in order of admission.
    pub ops: OneOrMany<OpId>,
    /// Ops that no other op on it follows, sorted.
    pub heads: OneOrMany<OpId>,
    /// True if some of the ops were made without knowing each other; never false for such.
    pub forked: bool,
    /// The combined effect of the ops where they are a line: kept with each op, so that none is read again for it.
    pub(super) line: Option<Box<Line>>,
    /// The number of ops of the line whose roles the source says.
    pub(super) stored: usize,
}

/// The combined effect of the non-void ops on a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// True if some op that keeps it was unknown to every remove.
    pub live: bool,
    /// Its name.
    pub name: String,
    /// The op that set the name.
    pub claim: OpId,
    /// True if that op was an `add`.
    pub claimed_by_add: bool,
    /// The op whose body it is based on.
    pub epoch: OpId,
    /// Edits made on that body.
    pub edits: Vec<OpId>,
    /// The edits that make the body: all, or all but those of which later ones are known to set everything they set.
    pub counting: Vec<OpId>,
    /// Edits of other bodies, and other bodies.
    pub inactive: Vec<OpId>,
    /// Definitions it is linked to.
    pub links: Vec<DefId>,
    /// The definition that replaced it, by the newest settling remove.
    pub settled: Option<DefId>,
}

impl Summary {
    /// Returns what an op comes to that is the only one on its definition.
    fn of_add(op: &Op) -> Option<Summary> {
        (op.kind == Kind::Add).then(|| Summary {
            live: true,
            name: op.name.to_string(),
            claim: op.id,
            claimed_by_add: true,
            epoch: op.id,
            edits: Vec::new(),
            counting: Vec::new(),
            inactive: Vec::new(),
            links: Vec::new(),
            settled: None,
        })
    }
}

impl Lattice {
    pub(super) fn new(layer: Layer) -> Lattice {
        Lattice { layer, ops: OneOrMany::None, heads: OneOrMany::None, forked: false, line: None, stored: 0 }
    }

    /// Creates the lattice of a single op.
    pub(super) fn of(node: &Node) -> Lattice {
        let mut lattice = Lattice::new(node.op.layer);
        lattice.take(node, false);
        lattice
    }

    /// Adds an op. `covers` says that it sets everything that the last one sets.
    pub(super) fn take(&mut self, node: &Node, covers: bool) {
        let (op, void) = (&node.op, node.void.is_some());
        let follows = self.ops.last().is_some_and(|last| op.parents.contains(last));
        for parent in &op.parents {
            self.heads.take(parent);
        }
        self.forked |= !self.heads.is_empty();
        self.line = match self.line.take() {
            _ if self.ops.is_empty() => Line::begin(op, void).map(Box::new),
            Some(mut line) if follows && !self.forked => {
                if covers && !void {
                    line.cover_last();
                }
                line.take(op, void).map(|()| line)
            }
            _ => None,
        };
        self.heads.add(op.id);
        self.ops.push(op.id);
    }
}

impl Graph {
    /// Returns what the ops on a definition come to; `None` if none of them has an effect.
    pub fn summary(&self, def: DefId) -> Option<Summary> {
        if let Some(node) = self.alone(def) {
            return Some(node).filter(|node| node.void.is_none()).and_then(|node| Summary::of_add(&node.op));
        }
        let lattice = self.lattice(def)?;
        if let Some(line) = &lattice.line {
            return Some(Summary::of_line(line, &lattice.ops));
        }
        self.summary_from_scratch(lattice)
    }

    /// Returns what ops come to, from all of them.
    pub(super) fn summary_from_scratch(&self, lattice: &Lattice) -> Option<Summary> {
        if let [only] = *lattice.ops {
            return self.light(only).filter(|node| node.void.is_none()).and_then(|node| Summary::of_add(&node.op));
        }
        let mut nodes: Vec<_> =
            lattice.ops.iter().filter_map(|id| self.light(*id)).filter(|n| n.void.is_none()).collect();
        // The order of arrival must not show.
        nodes.sort_unstable_by_key(|node| node.op.key());
        let of = |kinds: &'static [Kind]| nodes.iter().filter(move |node| kinds.contains(&node.op.kind));
        let claim = of(&[Kind::Add, Kind::Rename]).max_by_key(|node| node.op.key())?;
        let epoch = of(&[Kind::Add, Kind::Replace]).max_by_key(|node| node.op.key())?;
        let mut killed: HashSet<OpId> = HashSet::new();
        for remove in of(&[Kind::Remove]) {
            killed.extend(self.past_on(remove.op.id));
        }
        let keeps = &[Kind::Add, Kind::Replace, Kind::Edit, Kind::Rename, Kind::Link];
        let settling = of(&[Kind::Remove]).filter(|node| node.op.to().is_some()).max_by_key(|node| node.op.key());
        let (edits, other_edits): (Vec<&Node>, Vec<&Node>) =
            of(&[Kind::Edit]).partition(|node| node.op.base == Some(epoch.op.id));
        let other_bodies = of(&[Kind::Add, Kind::Replace]).filter(|node| node.op.id != epoch.op.id);
        let edits: Vec<OpId> = edits.iter().map(|node| node.op.id).collect();
        Some(Summary {
            live: of(keeps).any(|node| !killed.contains(&node.op.id)),
            name: match claim.op.kind {
                Kind::Rename => claim.op.name_new().unwrap_or_default().to_owned(),
                _ => claim.op.name.to_string(),
            },
            claim: claim.op.id,
            claimed_by_add: claim.op.kind == Kind::Add,
            epoch: epoch.op.id,
            counting: edits.clone(),
            edits,
            inactive: other_edits.into_iter().chain(other_bodies.copied()).map(|node| node.op.id).collect(),
            links: self.live_links(&nodes),
            settled: settling.and_then(|node| node.op.to_def()),
        })
    }

    /// Returns the live links of these ops: a link lives unless an unlink of the same target saw it.
    fn live_links(&self, nodes: &[&Node]) -> Vec<DefId> {
        let ops = |kind: Kind| nodes.iter().map(|node| &node.op).filter(move |op| op.kind == kind);
        let mut cut: HashSet<(OpId, DefId)> = HashSet::new();
        for unlink in ops(Kind::Unlink) {
            if let Some(to) = unlink.to_def() {
                cut.extend(self.past_on(unlink.id).into_iter().map(|seen| (seen, to)));
            }
        }
        let live = ops(Kind::Link).filter_map(|link| link.to_def().map(|to| (link.id, to)));
        live.filter(|pair| !cut.contains(pair)).map(|(_, to)| to).collect::<BTreeSet<_>>().into_iter().collect()
    }
}

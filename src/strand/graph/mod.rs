//! The op graph: which ops are known, which are admitted, and which are void.
//!
//! An op is admitted when all its parents are; until then it is pending and has no effect. Nothing
//! here depends on the order of arrival.

mod lattice;
mod line;
mod node;
mod void;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

pub use lattice::{Lattice, Summary};
pub use node::Node;

use super::id::{DefId, Layer, OpId};
use super::lazy::{AppendOnlyMap, ArchiveReader, IdMap, IdSet, Ids, LazySource, Name, name_hash};
use super::one_or_many::OneOrMany;
use super::op::Op;

/// The outcome of ops that were offered.
#[derive(Debug, Default)]
pub struct MergeOutcome {
    /// Admitted now, parents first; earlier pending ones among them.
    pub admitted: Vec<OpId>,
    /// Known already, with the same content.
    pub duplicates: Vec<OpId>,
    /// Known already with other content.
    pub collisions: Vec<OpId>,
}

/// The set of known ops.
#[derive(Debug)]
pub struct Graph {
    nodes: AppendOnlyMap<Box<Node>>,
    /// Archived ops without their text.
    stubs: AppendOnlyMap<Box<Node>>,
    archives: Option<Rc<dyn ArchiveReader>>,
    pending: IdMap<Box<Node>>,
    lattices: AppendOnlyMap<Lattice>,
    /// All definitions that may ever have had a name, by the hash of the name.
    holders: HashMap<u64, OneOrMany<DefId>, Ids>,
    lazy: Option<Rc<dyn LazySource>>,
    /// The number of admitted ops, loaded or not.
    count: usize,
}

impl Default for Graph {
    fn default() -> Graph {
        Graph::on(None)
    }
}

impl Graph {
    /// Creates a graph that loads what it does not hold from a source, if there is one.
    pub fn on(lazy: Option<Rc<dyn LazySource>>) -> Graph {
        Graph {
            nodes: AppendOnlyMap::default(),
            stubs: AppendOnlyMap::default(),
            archives: None,
            pending: IdMap::default(),
            lattices: AppendOnlyMap::default(),
            holders: HashMap::default(),
            count: lazy.as_ref().map_or(0, |lazy| lazy.op_count()),
            lazy,
        }
    }

    /// Says where the texts of archived ops are.
    pub fn set_archives(&mut self, archives: Rc<dyn ArchiveReader>) {
        self.archives = Some(archives);
    }

    /// Returns an admitted op.
    pub fn node(&self, id: OpId) -> Option<&Node> {
        let node = self.light(id)?;
        let Some(at) = node.archived.as_deref() else { return Some(node) };
        let op = self.archives.as_ref()?.op(*at)?;
        let whole = Node::known(op, node.void.clone(), node.max_ts, node.anchored, None);
        Some(self.nodes.put(id, Box::new(whole)))
    }

    /// Returns an admitted op, an archived one without its text: body, changes, docs, references, author. Enough for
    /// its place among the others; what the text brought to a definition that others have overwritten is left out.
    pub fn light(&self, id: OpId) -> Option<&Node> {
        if let Some(node) = self.nodes.get(id) {
            return Some(node);
        }
        if self.archives.is_some()
            && let Some(stub) = self.stubs.get(id)
        {
            return Some(stub);
        }
        let found = self.lazy.as_ref()?.op(id)?;
        let node = Node::known(found.op, found.void.map(Into::into), found.max_ts, found.anchored, found.archived);
        let map = if found.archived.is_some() { &self.stubs } else { &self.nodes };
        Some(map.put(id, Box::new(node)))
    }

    /// Takes in ops that were admitted before, with what was found out about them then.
    pub fn restore(&mut self, nodes: Vec<Node>) {
        let mut followed: Vec<(DefId, OpId)> = Vec::new();
        for node in nodes {
            let (id, target) = (node.op.id, node.op.target());
            self.place(&node);
            followed.extend(node.op.parents.iter().map(|parent| (target, *parent)));
            let map = if node.archived.is_some() { &mut self.stubs } else { &mut self.nodes };
            map.insert(id, Box::new(node));
            self.count += 1;
        }
        let targets: IdSet = followed.iter().map(|(target, _)| *target).collect();
        // They may come in any order.
        for (target, parent) in followed {
            if let Some(lattice) = self.lattices.get_mut(target) {
                lattice.heads.take(&parent);
            }
        }
        for target in targets {
            let in_line = self.is_line(target);
            if let Some(lattice) = self.lattices.get_mut(target) {
                (lattice.forked, lattice.line) = (!in_line, None);
            }
        }
    }

    /// Returns whether each op on a definition follows the one before it.
    fn is_line(&self, def: DefId) -> bool {
        let ops = self.lattices.get(def).map(|lattice| &lattice.ops);
        let mut nodes: Vec<&Node> = ops.into_iter().flatten().filter_map(|id| self.light(*id)).collect();
        nodes.sort_unstable_by_key(|node| node.op.key());
        nodes.windows(2).all(|pair| pair[1].op.parents.contains(&pair[0].op.id))
    }

    /// Returns whether some ops on a definition were made without knowing each other.
    pub fn is_forked(&self, def: DefId) -> bool {
        self.alone(def).is_none() && self.lattice(def).is_some_and(|lattice| lattice.forked)
    }

    /// Returns the admitted ops that have no effect, in order.
    pub fn void_ids(&self) -> Vec<OpId> {
        let nodes = self.nodes.values().chain(self.stubs.values());
        let mut ids: Vec<OpId> = nodes.filter(|node| node.void.is_some()).map(|node| node.op.id).collect();
        ids.extend(self.lazy.iter().flat_map(|lazy| lazy.void_ids()));
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// Returns whether an op is admitted.
    pub fn has(&self, id: OpId) -> bool {
        self.nodes.contains(id) || self.stubs.contains(id) || self.lazy.as_ref().is_some_and(|lazy| lazy.has_op(id))
    }

    /// Returns how many ops are admitted.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns how many admitted ops are in memory.
    pub fn held(&self) -> usize {
        self.nodes.count() + self.stubs.count()
    }

    /// Returns whether no op is admitted.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the ids of every admitted op, in order.
    pub fn ids(&self) -> impl Iterator<Item = OpId> + '_ {
        let mut ids = self.nodes.ids();
        ids.extend(self.stubs.ids());
        ids.extend(self.lazy.iter().flat_map(|lazy| lazy.op_ids()));
        ids.sort_unstable();
        ids.dedup();
        ids.into_iter()
    }

    /// Returns every definition some op is about, of those that are held.
    pub fn definitions(&self) -> Vec<DefId> {
        let mut ids = self.lattices.ids();
        let nodes = self.nodes.values().chain(self.stubs.values());
        ids.extend(nodes.map(|node| node.op.id).filter(|id| self.alone(*id).is_some()));
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// Returns the op on a definition that has only the one that made it.
    fn alone(&self, def: DefId) -> Option<&Node> {
        if self.lazy.is_some() || self.lattices.contains(def) {
            return None;
        }
        self.light(def).filter(|node| node.op.def.is_none())
    }

    /// Returns the layer of a definition some op is about.
    pub fn layer(&self, def: DefId) -> Option<Layer> {
        match self.alone(def) {
            Some(node) => Some(node.op.layer),
            None => self.lattice(def).map(|lattice| lattice.layer),
        }
    }

    /// Returns the ops waiting for a parent.
    pub fn pending(&self) -> impl Iterator<Item = &Op> {
        let mut ids: Vec<OpId> = self.pending.keys().copied().collect();
        ids.sort_unstable();
        ids.into_iter().filter_map(|id| self.pending.get(&id)).map(|node| &node.op)
    }

    /// Returns the parents a pending op still lacks.
    pub fn missing(&self, op: &Op) -> Vec<OpId> {
        op.parents.iter().copied().filter(|parent| !self.has(*parent)).collect()
    }

    /// Returns the ops on a definition.
    pub fn lattice(&self, def: DefId) -> Option<&Lattice> {
        if let Some(lattice) = self.lattices.get(def) {
            return Some(lattice);
        }
        let lattice = match &self.lazy {
            Some(lazy) => {
                let found = lazy.ops_on(def)?;
                Lattice {
                    layer: found.layer,
                    ops: found.ops.into(),
                    heads: found.heads.into_iter().collect(),
                    forked: found.forked,
                    stored: found.line.as_ref().map_or(0, |line| line.roles.len()),
                    line: found.line.map(Box::new),
                }
            }
            None => Lattice::of(self.alone(def)?),
        };
        Some(self.lattices.put(def, lattice))
    }

    /// Returns every definition that ever had this name.
    pub fn holders(&self, layer: Layer, name: &str) -> Vec<DefId> {
        let name = (layer, name.to_owned());
        let stored = self.lazy.iter().flat_map(|lazy| lazy.holders(&name));
        let mut held: Vec<DefId> = stored.filter(|def| self.lattice(*def).is_some()).collect();
        let near = self.holders.get(&name_hash(layer, &name.1)).into_iter().flatten();
        held.extend(near.filter(|def| self.had(**def, &name)));
        held.sort_unstable();
        held.dedup();
        held
    }

    /// Returns whether an op gave a definition this name.
    fn had(&self, def: DefId, (layer, name): &Name) -> bool {
        let ops = self.lattice(def).filter(|lattice| lattice.layer == *layer).map(|lattice| &lattice.ops);
        let mut nodes = ops.into_iter().flatten().filter_map(|id| self.light(*id));
        nodes.any(|node| node.names() == Some(name.as_str()))
    }

    /// Offers ops in any order. Known ones are counted; of the others, and of those pending, the
    /// largest set whose parents and bundles are whole is admitted.
    pub fn offer(&mut self, ops: impl IntoIterator<Item = Op>) -> MergeOutcome {
        let mut offered = MergeOutcome::default();
        for op in ops {
            match self.node(op.id).or_else(|| self.pending.get(&op.id).map(AsRef::as_ref)).map(|node| &node.op) {
                Some(known) if *known == op || known.to_json() == op.to_json() => offered.duplicates.push(op.id),
                Some(_) => offered.collisions.push(op.id),
                None => {
                    self.pending.insert(op.id, Box::new(Node::new(op)));
                }
            }
        }
        for id in self.ready() {
            if let Some(node) = self.pending.remove(&id) {
                self.admit(node);
                offered.admitted.push(id);
            }
        }
        offered
    }

    /// Forgets ops that wait for a parent.
    pub fn drop_pending(&mut self, ids: &HashSet<OpId>) {
        self.pending.retain(|id, _| !ids.contains(id));
    }

    /// Returns the largest set of pending ops closed under parents and bundles, parents first.
    fn ready(&self) -> Vec<OpId> {
        let mut ids: Vec<OpId> = self.pending.keys().copied().collect();
        ids.sort_unstable();
        let mut children: IdMap<Vec<OpId>> = IdMap::default();
        let mut waits: IdMap<usize> = IdMap::default();
        let mut barred: Vec<OpId> = Vec::new();
        for (id, node) in ids.iter().filter_map(|id| Some((*id, self.pending.get(id)?))) {
            // What a source says of a definition says where most of the parents are.
            node.op.def.filter(|_| self.lazy.is_some()).and_then(|def| self.lattice(def));
            for parent in node.op.parents.iter().filter(|parent| self.light(**parent).is_none()) {
                *waits.entry(id).or_default() += 1;
                if self.pending.contains_key(parent) {
                    children.entry(*parent).or_default().push(id);
                } else {
                    barred.push(id);
                }
            }
        }
        let mut out = IdSet::default();
        loop {
            self.bar(barred, &children, &mut out);
            let order = topological(&ids, waits.clone(), &out, &children);
            if order.len() + out.len() == ids.len() {
                return order;
            }
            // A cycle of parents can never be admitted: bar it and look again.
            let placed: IdSet = order.into_iter().collect();
            barred = ids.iter().copied().filter(|id| !out.contains(id) && !placed.contains(id)).collect();
        }
    }

    /// Puts ops that cannot be admitted with all that follow them, and with the rest of their bundles, among those
    /// that are out.
    fn bar(&self, mut barred: Vec<OpId>, children: &IdMap<Vec<OpId>>, out: &mut IdSet) {
        let mut bundles: HashMap<&str, Vec<OpId>> = HashMap::new();
        if !barred.is_empty() {
            for (id, node) in &self.pending {
                if let Some(bundle) = &node.op.bundle {
                    bundles.entry(bundle).or_default().push(*id);
                }
            }
        }
        while let Some(id) = barred.pop() {
            if out.insert(id) {
                barred.extend(children.get(&id).into_iter().flatten());
                let bundle = self.pending.get(&id).and_then(|node| node.op.bundle.as_deref());
                barred.extend(bundle.and_then(|bundle| bundles.get(bundle)).into_iter().flatten());
            }
        }
    }

    /// Takes an op whose parents are admitted into the set.
    fn admit(&mut self, mut node: Box<Node>) {
        self.examine(&mut node);
        let id = node.op.id;
        self.place(&node);
        self.nodes.insert(id, node);
        self.count += 1;
    }

    /// Records an op among those on its definition, and the name that it gives.
    fn place(&mut self, node: &Node) {
        let target = node.op.target();
        if let Some(name) = node.names() {
            self.holders.entry(name_hash(node.op.layer, name)).or_default().add(target);
        }
        // An op that makes a definition needs no lattice as long as it is alone.
        if node.op.def.is_some() || self.lazy.is_some() || self.lattices.contains(target) {
            // Loads what the source has.
            self.lattice(target);
            let covers = self.covers_last(&node.op);
            match self.lattices.get_mut(target) {
                Some(lattice) => lattice.take(node, covers),
                None => self.lattices.insert(target, Lattice::of(node)),
            }
        }
    }

    /// Takes ops out again, with everything admitted that follows them. Returns what went, parents
    /// first as far as each definition goes. None of them may lie in the source.
    pub fn retract(&mut self, ids: &HashSet<OpId>) -> Vec<Op> {
        let mut gone: IdSet = ids.iter().copied().collect();
        loop {
            let before = gone.len();
            for node in self.nodes.values() {
                if !gone.contains(&node.op.id) && node.op.parents.iter().any(|parent| gone.contains(parent)) {
                    gone.insert(node.op.id);
                }
            }
            if gone.len() == before {
                break;
            }
        }
        let mut ops: Vec<Op> = Vec::new();
        let mut touched = IdSet::default();
        for id in &gone {
            if let Some(node) = self.nodes.remove(*id) {
                touched.insert(node.op.target());
                ops.push(node.op.clone());
                self.count -= 1;
            }
        }
        for def in touched {
            let Some(old) = self.lattices.remove(def) else { continue };
            let mut lattice = Lattice::new(old.layer);
            for id in old.ops.iter().filter(|id| !gone.contains(*id)) {
                if let Some(node) = self.light(*id) {
                    lattice.take(node, false);
                }
            }
            if !lattice.ops.is_empty() {
                self.lattices.insert(def, lattice);
            }
        }
        ops.sort_by_key(Op::key);
        ops
    }

    /// Returns whether `old` is a strict ancestor of `young`; both admitted.
    pub fn is_ancestor(&self, old: OpId, young: OpId) -> bool {
        let Some(goal) = self.light(old) else { return false };
        let Some(start) = self.light(young) else { return false };
        self.reaches(goal, &start.op.parents)
    }

    /// Returns whether `goal` is among these ops or their ancestors.
    fn reaches(&self, goal: &Node, from: &[OpId]) -> bool {
        let mut seen = IdSet::default();
        let mut stack: Vec<OpId> = from.to_vec();
        while let Some(id) = stack.pop() {
            if id == goal.op.id {
                return true;
            }
            // No ancestor of an op has a greater ts than its running maximum.
            if let Some(node) = self.light(id)
                && node.max_ts >= goal.max_ts
                && seen.insert(id)
            {
                stack.extend(&node.op.parents);
            }
        }
        false
    }

    /// Returns the ancestors of an op that are ops on the same definition, reached through such ops.
    pub fn past_on(&self, id: OpId) -> IdSet {
        let mut seen = IdSet::default();
        let Some(start) = self.light(id) else { return seen };
        let target = start.op.target();
        let mut stack: Vec<OpId> = start.op.parents.to_vec();
        while let Some(id) = stack.pop() {
            if let Some(node) = self.light(id)
                && node.op.target() == target
                && seen.insert(id)
            {
                stack.extend(&node.op.parents);
            }
        }
        seen
    }
}

/// Returns the ops that are not out, parents first. `waits` tells how many parents of each are still to be placed.
fn topological(ids: &[OpId], mut waits: IdMap<usize>, out: &IdSet, children: &IdMap<Vec<OpId>>) -> Vec<OpId> {
    let mut ready: Vec<OpId> =
        ids.iter().rev().copied().filter(|id| !waits.contains_key(id) && !out.contains(id)).collect();
    let mut order = Vec::with_capacity(ids.len());
    while let Some(id) = ready.pop() {
        order.push(id);
        for child in children.get(&id).into_iter().flatten() {
            if let Some(count) = waits.get_mut(child) {
                *count -= 1;
                if *count == 0 && !out.contains(child) {
                    ready.push(*child);
                }
            }
        }
    }
    order
}

//! Earlier states, histories, and the comparison of a store with its log.

use std::collections::{BTreeSet, HashMap};

use super::{Error, Store};
use crate::strand::graph::Node;
use crate::strand::id::{DefId, OpId};
use crate::strand::op::Op;
use crate::strand::state::State;

/// A past that more definitions than these have a part in is read from the whole log.
const MOST: usize = 5_000;

/// The result of comparing a store with its log.
#[derive(Clone, Debug, PartialEq)]
pub struct Verified {
    /// The hash of the state as commands see it.
    pub now: String,
    /// The hash of the state that the log alone makes.
    pub rebuilt: String,
    /// The first definition that differs, and how.
    pub difference: Option<String>,
}

impl Store {
    /// Returns the state as of an op of this store's log, with it.
    pub fn state_at(&self, id: OpId) -> Result<State, Error> {
        if !self.state.graph().has(id) {
            return Err(Error::NotFound(format!("there is no op {id}")));
        }
        let mut state = State::new();
        state.apply(self.log.read_until(id)?);
        Ok(state)
    }

    /// Returns the state as of an op of this store's log, with it or just before it, as far as some definitions show
    /// it: these, and all that their texts, names and hashes depend on. Only ops on those are read.
    pub fn past_of(&self, id: OpId, with: bool, seeds: &[DefId]) -> Result<State, Error> {
        let Some(moment) = self.place_of(id) else { return self.whole_past(id, with) };
        let mut wanted: BTreeSet<DefId> = seeds.iter().copied().collect();
        loop {
            if wanted.len() > MOST {
                return self.whole_past(id, with);
            }
            let before = wanted.len();
            let mut nodes = Vec::new();
            let mut looked_up = wanted.clone();
            for op in wanted.iter().filter_map(|def| self.state.graph().lattice(*def)).flat_map(|lattice| &lattice.ops)
            {
                let Some(place) = self.place_of(*op) else { return self.whole_past(id, with) };
                if place > moment || place == moment && !with {
                    continue;
                }
                let Some(node) = self.state.graph().node(*op) else { continue };
                looked_up.extend(node.op.depends.iter().filter_map(|dep| dep.def));
                nodes.push(Node::known(node.op.clone(), node.void.clone(), node.max_ts, node.anchored, None));
            }
            let mut state = State::new();
            state.restore(nodes);
            state.refresh();
            for view in state.views() {
                let own = [(view.layer, view.name.clone())];
                let names = view.watch().names.iter().chain(&own);
                looked_up.extend(names.flat_map(|(layer, name)| self.state.graph().holders(*layer, name)));
            }
            wanted = looked_up;
            if wanted.len() == before {
                self.sound()?;
                return Ok(state);
            }
        }
    }

    /// Returns where an op stands in the log, if that is known without reading it.
    fn place_of(&self, id: OpId) -> Option<u64> {
        let placed = self.placed.get(&id).copied();
        placed.or_else(|| self.source.as_ref()?.place_of(id)).map(|place| place.offset)
    }

    fn whole_past(&self, id: OpId, with: bool) -> Result<State, Error> {
        let mut ops = self.log.read_until(id)?;
        if !with {
            ops.pop();
        }
        let mut state = State::new();
        state.apply(ops);
        Ok(state)
    }

    /// Returns every admitted op in causal order: by time, which grows along it, then by id.
    pub fn ops(&self) -> Vec<Op> {
        let graph = self.state.graph();
        let mut ops: Vec<Op> = graph.ids().filter_map(|id| graph.node(id)).map(|node| node.op.clone()).collect();
        ops.sort_by_key(|op| (op.ts, op.id));
        ops
    }

    /// Rebuilds the state from the log alone, and compares with it what the checkpoint and its tail say: every
    /// definition, its ops, and who refers to it.
    pub fn verify(&self) -> Result<Verified, Error> {
        let mut whole = State::new();
        whole.apply(self.log.read_whole()?);
        let difference = difference(&self.state, &whole);
        let now = self.state.state_hash();
        self.sound()?;
        Ok(Verified { now, rebuilt: whole.state_hash(), difference })
    }

    /// Returns ops by definition, for histories: oldest first.
    pub fn history(&self, def: DefId) -> Vec<Op> {
        let lattice = self.state.graph().lattice(def);
        let ids = lattice.map(|lattice| lattice.ops.to_vec()).unwrap_or_default();
        let mut ops: Vec<Op> =
            ids.into_iter().filter_map(|id| self.state.graph().node(id)).map(|node| node.op.clone()).collect();
        ops.sort_by_key(Op::key);
        ops
    }

    /// Returns each definition's ops, for whoever walks them all.
    pub fn by_definition(&self) -> HashMap<DefId, Vec<Op>> {
        let mut out: HashMap<DefId, Vec<Op>> = HashMap::new();
        for op in self.ops() {
            out.entry(op.target()).or_default().push(op);
        }
        out
    }
}

/// Returns the first thing that two states tell otherwise.
fn difference(a: &State, b: &State) -> Option<String> {
    let sorted = |mut ids: Vec<DefId>| {
        ids.sort_unstable();
        ids
    };
    let ids = |state: &State| sorted(state.views().map(|view| view.id).collect());
    if ids(a) != ids(b) {
        return Some("the definitions are not the same".to_owned());
    }
    for there in b.views() {
        let difference = |what: &str| Some(format!("{}: {what}", there.qname()));
        let Some(here) = a.view(there.id) else { return difference("it is not there") };
        let lattice = |state: &State| {
            state.graph().lattice(there.id).map(|lattice| (sorted(lattice.ops.to_vec()), lattice.heads.to_vec()))
        };
        if **here != **there || here.text() != there.text() || here.deps() != there.deps() {
            return difference("its text, name or hash is another");
        }
        if here.watch() != there.watch() || lattice(a) != lattice(b) {
            return difference("its ops or references are others");
        }
        let near = |state: &State| {
            let watchers = sorted(state.watchers(there.id).collect());
            let (named, name) = (state.late_watchers(there.layer, &there.name), &there.name);
            (
                watchers,
                state.referrers(there.id),
                state.linked_to(there.id),
                named,
                state.graph().holders(there.layer, name),
            )
        };
        if near(a) != near(b) {
            return difference("other definitions refer to it");
        }
    }
    None
}

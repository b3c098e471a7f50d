//! What the log tells of the past, and whether it can be believed.

use std::collections::HashMap;

use super::{Error, Store};
use crate::strand::id::{DefId, OpId};
use crate::strand::op::Op;
use crate::strand::state::State;

impl Store {
    /// The state as of an op of this store's log, with it.
    pub fn state_at(&self, id: OpId) -> Result<State, Error> {
        if !self.state.graph().has(id) {
            return Err(Error::NotFound(format!("there is no op {id}")));
        }
        let mut state = State::new();
        state.apply(self.log.read_until(id)?);
        Ok(state)
    }

    /// The state as of just before an op.
    pub fn state_before(&self, id: OpId) -> Result<State, Error> {
        let mut ops = self.log.read_until(id)?;
        ops.pop();
        let mut state = State::new();
        state.apply(ops);
        Ok(state)
    }

    /// Every admitted op in causal order: by time, which grows along it, then by id.
    pub fn ops(&self) -> Vec<Op> {
        let graph = self.state.graph();
        let mut ops: Vec<Op> = graph.ids().filter_map(|id| graph.node(id)).map(|node| node.op.clone()).collect();
        ops.sort_by_key(|op| (op.ts, op.id));
        ops
    }

    /// Rebuilds the state from the log alone and compares. Returns both hashes.
    pub fn verify(&self) -> Result<(String, String), Error> {
        let mut state = State::new();
        state.apply(self.log.read_whole()?);
        let now = self.state.state_hash();
        self.sound()?;
        Ok((now, state.state_hash()))
    }

    /// Ops by definition, for histories: oldest first.
    pub fn history(&self, def: DefId) -> Vec<Op> {
        let lattice = self.state.graph().lattice(def);
        let ids = lattice.map(|lattice| lattice.ops.to_vec()).unwrap_or_default();
        let mut ops: Vec<Op> =
            ids.into_iter().filter_map(|id| self.state.graph().node(id)).map(|node| node.op.clone()).collect();
        ops.sort_by_key(Op::key);
        ops
    }

    /// Each definition's ops, for whoever walks them all.
    pub fn by_definition(&self) -> HashMap<DefId, Vec<Op>> {
        let mut out: HashMap<DefId, Vec<Op>> = HashMap::new();
        for op in self.ops() {
            out.entry(op.target()).or_default().push(op);
        }
        out
    }
}

//! Push, pull and snapshots: stores that hold the same accepted ops.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use serde_json::json;

use super::accept::{Gate, Gated, forbidden_by};
use super::{Accepted, Error, Store};
use crate::strand::id::OpId;
use crate::strand::issue::Refusal;
use crate::strand::op::Op;
use crate::strand::state::State;

/// What a pull did.
#[derive(Clone, Debug, PartialEq)]
pub struct Exchange {
    /// What became of the ops.
    pub result: Accepted,
    /// Ops withdrawn here.
    pub withdrawn: Vec<OpId>,
}

impl Store {
    /// The ops another store lacks, in causal order.
    fn lacking(&self, other: &Store) -> Result<Vec<Op>, Error> {
        let known: HashSet<OpId> = other.state.graph().ids().collect();
        let graph = self.state.graph();
        let lacking = graph.ids().filter(|id| !known.contains(id)).filter_map(|id| graph.node(id));
        let mut ops: Vec<Op> = lacking.map(|node| node.op.clone()).collect();
        // One that cannot be read would leave what follows it waiting over there.
        self.sound()?;
        ops.sort_by_key(Op::key);
        Ok(ops)
    }

    /// Refuses to judge ops anew that stand in an archive: what one brought cannot be taken back there.
    fn none_archived(&self, ops: &[Op]) -> Result<(), Error> {
        let archived = if ops.is_empty() { None } else { self.log.read()?.base };
        let archived: HashSet<OpId> = archived.iter().flat_map(|base| &base.ops).map(|kept| kept.node.op.id).collect();
        let Some(first) = ops.iter().find(|op| archived.contains(&op.id)) else { return Ok(()) };
        Err(Refusal::Usage(format!(
            "{} is archived here and not in that store, and a pull may not take it back; push it first: strand op push",
            first.id
        ))
        .into())
    }

    /// Clones this store into a new folder, its upstream set to this one. Locks stay here.
    pub fn snapshot(&self, target: &Path) -> Result<Store, Error> {
        let ops = self.ops();
        self.sound()?;
        let mut copy = Store::init(target)?;
        let lock = copy.lock()?;
        copy.state.apply(ops.clone());
        copy.commit(&ops, &[])?;
        drop(lock);
        let mut config = self.config.clone();
        let here = std::fs::canonicalize(&self.root).map_err(|error| Error::io("find", &self.root, error))?;
        config.upstream = Some(here.to_string_lossy().into_owned());
        copy.set_config(config)?;
        Ok(copy)
    }
}

/// Gives another store the ops it lacks, and takes in what it added to mend them.
pub fn push(from: &mut Store, to: &mut Store) -> Result<Accepted, Error> {
    from.catch_up()?;
    to.catch_up()?;
    let ops = from.lacking(to)?;
    let result = to.accept(ops)?;
    let heals: Vec<Op> =
        result.healed.iter().filter_map(|id| to.state.graph().node(*id)).map(|node| node.op.clone()).collect();
    if !heals.is_empty() {
        let _lock = from.lock()?;
        let offered = from.state.offer(heals);
        from.state.refresh();
        let kept: Vec<Op> =
            offered.admitted.iter().filter_map(|id| from.state.graph().node(*id)).map(|node| node.op.clone()).collect();
        from.commit(&kept, &[])?;
    }
    Ok(result)
}

/// Takes in another store's ops. From the upstream they are taken as they are, and own unpushed
/// bundles are judged anew, oldest first; from any other store they pass the gate.
pub fn pull(into: &mut Store, from: &mut Store, upstream: bool) -> Result<Exchange, Error> {
    from.catch_up()?;
    let _lock = into.lock()?;
    let theirs = from.lacking(into)?;
    if !upstream {
        let gated = into.gate(theirs)?;
        return Ok(Exchange { result: into.keep(gated, &[])?, withdrawn: Vec::new() });
    }
    let unpushed = into.lacking(from)?;
    into.none_archived(&unpushed)?;
    let taken_back: HashSet<OpId> = from.withdrawn.iter().copied().filter(|id| !from.state.graph().has(*id)).collect();
    let ids: HashSet<OpId> = unpushed.iter().map(|op| op.id).collect();
    into.state.retract(&ids);
    let offered = into.state.offer(theirs);
    into.state.refresh();
    let op = |state: &State, id: &OpId| state.graph().node(*id).map(|node| node.op.clone());
    let mut kept: Vec<Op> = offered.admitted.iter().filter_map(|id| op(&into.state, id)).collect();
    let mut all = Gated::default();
    all.result.accepted = offered.admitted;
    let (enforced, locks) = (from.config.locks_enforced, from.locks()?);
    let forbidden = move |state: &State, op: &Op| forbidden_by(enforced, &locks, state, op);
    let gate = Gate { policy: from.config.policy, forbidden: &forbidden };
    let mut withdrawn: Vec<OpId> = Vec::new();
    for bundle in bundles(unpushed) {
        let ids: Vec<OpId> = bundle.iter().map(|op| op.id).collect();
        if ids.iter().any(|id| taken_back.contains(id)) {
            withdrawn.extend(ids);
            continue;
        }
        let gated = gate.run(&mut into.state, bundle);
        withdrawn.extend(gated.result.rejected.iter().flat_map(|rejected| rejected.ops.iter().copied()));
        let fresh = gated.kept.into_iter().filter(|op| gated.result.healed.contains(&op.id));
        kept.extend(fresh);
        all.result.rejected.extend(gated.result.rejected);
        all.result.healed.extend(gated.result.healed);
        all.result.warnings.extend(gated.result.warnings);
        all.conflicts.extend(gated.conflicts);
    }
    // What followed a withdrawn op waits for it in vain: it goes with it.
    let stranded: Vec<Op> = into.state.graph().pending().filter(|op| ids.contains(&op.id)).cloned().collect();
    withdrawn.extend(stranded.iter().map(|op| op.id));
    into.state.drop_pending(&stranded.iter().map(|op| op.id).collect());
    into.state.refresh();
    let conflict = all.conflicts.first().map(|conflict| conflict.id.clone());
    let control: Vec<String> = if withdrawn.is_empty() {
        Vec::new()
    } else {
        vec![json!({"withdraw": withdrawn, "conflict": conflict}).to_string()]
    };
    if let Some(first) = all.conflicts.first_mut() {
        first.ops.extend(stranded.iter().map(Op::to_json));
    }
    into.withdrawn.extend(&withdrawn);
    all.kept = kept;
    let graph = into.state.graph();
    all.result.pending = graph.pending().map(|op| (op.id, graph.missing(op))).collect();
    Ok(Exchange { result: into.keep(all, &control)?, withdrawn })
}

/// Ops as bundles, oldest first.
fn bundles(ops: Vec<Op>) -> Vec<Vec<Op>> {
    let mut at: HashMap<String, usize> = HashMap::new();
    let mut out: Vec<Vec<Op>> = Vec::new();
    for op in ops {
        let index = *at.entry(op.bundle_key()).or_insert_with(|| {
            out.push(Vec::new());
            out.len() - 1
        });
        out[index].push(op);
    }
    out
}

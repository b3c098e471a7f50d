//! Push, pull and snapshots: stores that hold the same accepted ops.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use serde_json::json;

use super::accept::{AcceptanceRules, Judged, absorbed, forbidden_by};
use super::{Accepted, Conflict, Error, Store};
use crate::strand::id::{OpId, new_id, now_ms};
use crate::strand::issue::Refusal;
use crate::strand::op::Op;
use crate::strand::state::State;

/// The result of a pull.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Exchange {
    /// The outcome of the ops.
    pub result: Accepted,
    /// Ops withdrawn here.
    pub withdrawn: Vec<OpId>,
    /// The records that keep them, with their text and what depended on them.
    pub records: Vec<Conflict>,
}

impl Exchange {
    /// Returns the exit code of the command.
    pub fn exit(&self) -> u8 {
        if self.withdrawn.is_empty() { self.result.exit() } else { 4 }
    }

    /// Returns what this one and a later one did.
    pub fn and(mut self, later: Exchange) -> Exchange {
        let Accepted { accepted, duplicate, pending, rejected, absorbed, healed, warnings, state_hash } = later.result;
        self.result.accepted.extend(accepted);
        self.result.duplicate.extend(duplicate);
        self.result.rejected.extend(rejected);
        self.result.absorbed.extend(absorbed);
        self.result.healed.extend(healed);
        self.result.warnings.extend(warnings);
        (self.result.pending, self.result.state_hash) = (pending, state_hash);
        self.withdrawn.extend(later.withdrawn);
        self.records.extend(later.records);
        self
    }
}

impl Store {
    /// Returns the identity that `init` gave it, which its clones and snapshots have too; empty: it has none.
    ///
    /// # Errors
    /// When its log cannot be read.
    pub fn identity(&self) -> Result<String, Error> {
        Ok(self.log.head()?.store)
    }

    /// Returns whether another one has its identity or an op of it.
    ///
    /// # Errors
    /// When a log cannot be read.
    pub fn is_kin(&self, other: &Store) -> Result<bool, Error> {
        let identity = self.identity()?;
        let graph = self.state.graph();
        let shares_op = || other.state.graph().ids().any(|id| graph.has(id));
        Ok(!identity.is_empty() && identity == other.identity()? || shares_op())
    }

    /// Returns the ops another store lacks, in causal order.
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

    /// Refuses to judge ops again that stand in an archive: what one brought cannot be withdrawn there.
    fn none_archived(&self, ops: &[Op]) -> Result<(), Error> {
        let archived = if ops.is_empty() { None } else { self.log.read()?.base };
        let archived: HashSet<OpId> =
            archived.iter().flat_map(|base| &base.ops).map(|retained| retained.node.op.id).collect();
        let Some(first) = ops.iter().find(|op| archived.contains(&op.id)) else { return Ok(()) };
        Err(Refusal::Usage(format!(
            "{} is archived here and not in that store, and a pull may not withdraw it; push it first: strand op push",
            first.id
        ))
        .into())
    }

    /// Clones this store into a new folder, its upstream set to this one. Locks stay here.
    pub fn snapshot(&self, target: &Path) -> Result<Store, Error> {
        let ops = self.ops();
        self.sound()?;
        let mut copy = Store::init_as(target, &self.identity()?)?;
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

/// Gives another store the ops it lacks, and takes in what it added to complete them.
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
        let retained: Vec<Op> =
            offered.admitted.iter().filter_map(|id| from.state.graph().node(*id)).map(|node| node.op.clone()).collect();
        from.commit(&retained, &[])?;
    }
    Ok(result)
}

/// Takes in another store's ops. From the upstream they are taken as they are, and own unpushed
/// bundles are judged again, oldest first; from any other store they pass the gate.
pub fn pull(into: &mut Store, from: &mut Store, upstream: bool) -> Result<Exchange, Error> {
    from.catch_up()?;
    from.whole()?;
    let _lock = into.lock()?;
    let theirs = from.lacking(into)?;
    if !upstream {
        let judged = into.judge(theirs)?;
        return Ok(Exchange { result: into.keep(judged, &[])?, withdrawn: Vec::new(), records: Vec::new() });
    }
    let unpushed = into.lacking(from)?;
    let upstream_withdrew: HashSet<OpId> =
        from.withdrawn.iter().copied().filter(|id| !from.state.graph().has(*id)).collect();
    let (enforced, locks) = (from.config.locks_enforced, from.locks()?);
    let forbidden = move |state: &State, op: &Op| forbidden_by(enforced, &locks, state, op);
    let rules = AcceptanceRules { policy: from.config.policy, forbidden: &forbidden, latest: None };
    take_in(into, theirs, unpushed, &rules, &upstream_withdrew)
}

/// Takes in the ops that are published elsewhere, as they are. Own ops that are not among them are judged again by this
/// store's policy, oldest first.
pub fn pull_from(into: &mut Store, published: &[Op]) -> Result<Exchange, Error> {
    let _lock = into.lock()?;
    let graph = into.state.graph();
    let theirs: Vec<Op> = published.iter().filter(|op| !graph.has(op.id)).cloned().collect();
    if theirs.is_empty() {
        return Ok(Exchange::default());
    }
    let known: HashSet<OpId> = published.iter().map(|op| op.id).collect();
    let unpushed: Vec<Op> = into.ops().into_iter().filter(|op| !known.contains(&op.id)).collect();
    into.sound()?;
    let rules = AcceptanceRules { policy: into.config.policy, forbidden: &|_, _| None, latest: None };
    take_in(into, theirs, unpushed, &rules, &HashSet::new())
}

/// Takes in ops as they are, and judges own ones that are not published again by a gate, under the lock.
fn take_in(
    into: &mut Store,
    theirs: Vec<Op>,
    unpushed: Vec<Op>,
    rules: &AcceptanceRules,
    upstream_withdrew: &HashSet<OpId>,
) -> Result<Exchange, Error> {
    into.none_archived(&unpushed)?;
    let ids: HashSet<OpId> = unpushed.iter().map(|op| op.id).collect();
    into.state.retract(&ids);
    let offered = into.state.offer(theirs);
    into.state.refresh();
    let mut all = Judged { retained: offered.admitted.clone(), ..Judged::default() };
    all.result.accepted = offered.admitted;
    let mut withdrawals = judge_again(into, rules, upstream_withdrew, unpushed, &mut all);
    // The successors of a withdrawn op could never be admitted: they are withdrawn with it.
    let mut stranded: Vec<Op> = into.state.graph().pending().filter(|op| ids.contains(&op.id)).cloned().collect();
    stranded.sort_by_key(Op::key);
    into.state.drop_pending(&stranded.iter().map(|op| op.id).collect());
    into.state.refresh();
    withdrawals.strand(stranded, rules.policy.word());
    let withdrawn = withdrawals.ids();
    let control: Vec<String> = match withdrawals.records.first() {
        None => Vec::new(),
        Some(first) => vec![json!({"withdraw": withdrawn, "conflict": first.id}).to_string()],
    };
    into.withdrawn.extend(&withdrawn);
    all.conflicts.extend(withdrawals.records.iter().cloned());
    // Own ops alone bring about nothing that was not told before.
    all.result.absorbed = absorbed(&into.state, &all.result.accepted.iter().copied().collect());
    let graph = into.state.graph();
    all.result.pending = graph.pending().map(|op| (op.id, graph.missing(op))).collect();
    Ok(Exchange { result: into.keep(all, &control)?, withdrawn, records: withdrawals.records })
}

/// Judges bundles that are not published, oldest first, by a policy and locks. Returns those that go.
fn judge_again(
    into: &mut Store,
    rules: &AcceptanceRules,
    upstream_withdrew: &HashSet<OpId>,
    unpushed: Vec<Op>,
    all: &mut Judged,
) -> Withdrawals {
    let mut withdrawals = Withdrawals::default();
    for bundle in bundles(unpushed) {
        if bundle.iter().any(|op| upstream_withdrew.contains(&op.id)) {
            withdrawals.record(withdrawal(rules.policy.word(), &bundle));
            continue;
        }
        let judged = rules.run(&mut into.state, bundle);
        let rejected: HashSet<&String> =
            judged.result.rejected.iter().filter_map(|rejected| rejected.conflict.as_ref()).collect();
        let (records, notes): (Vec<Conflict>, Vec<Conflict>) =
            judged.conflicts.into_iter().partition(|conflict| rejected.contains(&conflict.id));
        records.into_iter().for_each(|record| withdrawals.record(record));
        all.conflicts.extend(notes);
        all.retained.extend(&judged.result.healed);
        all.result.rejected.extend(judged.result.rejected);
        all.result.healed.extend(judged.result.healed);
        all.result.warnings.extend(judged.result.warnings);
    }
    withdrawals
}

/// The ops that a pull withdraws, by their record.
#[derive(Default)]
struct Withdrawals {
    records: Vec<Conflict>,
    /// The record of an op, and the ops of a bundle.
    of_op: HashMap<OpId, usize>,
    of_bundle: HashMap<String, usize>,
}

impl Withdrawals {
    fn record(&mut self, record: Conflict) {
        let at = self.records.len();
        for op in record.ops.iter().filter_map(|op| Op::from_json(op).ok()) {
            self.of_bundle.insert(op.bundle_key(), at);
            self.of_op.insert(op.id, at);
        }
        self.records.push(record);
    }

    /// Adds ops that are invalid without withdrawn ones to these, oldest first.
    fn strand(&mut self, mut ops: Vec<Op>, policy: &str) {
        while !ops.is_empty() {
            let before = ops.len();
            ops.retain(|op| {
                let by_parent = op.parents.iter().find_map(|parent| self.of_op.get(parent));
                let Some(at) = by_parent.or_else(|| self.of_bundle.get(&op.bundle_key())).copied() else { return true };
                self.of_op.insert(op.id, at);
                self.of_bundle.insert(op.bundle_key(), at);
                self.records[at].ops.push(op.to_json());
                false
            });
            if ops.len() == before {
                let rest = std::mem::take(&mut ops);
                self.record(withdrawal(policy, &rest));
            }
        }
    }

    fn ids(&self) -> Vec<OpId> {
        let mut ids: Vec<OpId> = self.of_op.keys().copied().collect();
        ids.sort_unstable();
        ids
    }
}

/// Returns the record of ops that the upstream withdrew.
fn withdrawal(policy: &str, ops: &[Op]) -> Conflict {
    Conflict {
        id: new_id("cf_"),
        kind: "withdrawn".to_owned(),
        policy: policy.to_owned(),
        at: now_ms(),
        edges: Vec::new(),
        ops: ops.iter().map(Op::to_json).collect(),
        status: "open".to_owned(),
    }
}

/// Returns ops as bundles, oldest first.
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

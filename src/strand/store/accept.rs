//! Accepts sealed ops: the rules by which edits of several authors are merged.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{Conflict, Error, Policy, Store, atomic_write, files};
use crate::strand::id::{DefId, OpId, new_id, now_ms};
use crate::strand::integrity::{Dangling, heal, is_heal, new_danglings};
use crate::strand::lazy::IdMap;
use crate::strand::op::{Kind, Op};
use crate::strand::state::{State, Visibility};

/// A bundle that was not accepted.
#[derive(Clone, Debug, PartialEq)]
pub struct Rejected {
    /// The bundle, or the op-id of an op without one.
    pub bundle: String,
    /// Its ops.
    pub ops: Vec<OpId>,
    /// `dangling`, `locked`, `clock`, `op-id-collision` or `malformed`.
    pub reason: &'static str,
    /// The record that holds its ops.
    pub conflict: Option<String>,
    /// Referring places and what they refer to.
    pub edges: Vec<(String, String)>,
    /// One sentence.
    pub message: String,
}

/// The outcome of ops offered to a store.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Accepted {
    /// Accepted now.
    pub accepted: Vec<OpId>,
    /// Known before.
    pub duplicate: Vec<OpId>,
    /// Waiting, with what they wait for.
    pub pending: Vec<(OpId, Vec<OpId>)>,
    /// Refused.
    pub rejected: Vec<Rejected>,
    /// Name, winner, loser.
    pub absorbed: Vec<(String, OpId, OpId)>,
    /// Heal ops that were added.
    pub healed: Vec<OpId>,
    /// Warnings for the person.
    pub warnings: Vec<String>,
    /// The hash of the state afterwards; empty until it is requested.
    pub state_hash: String,
}

impl Accepted {
    /// Returns the exit code of the command.
    pub fn exit(&self) -> u8 {
        let has = |reason: &str| self.rejected.iter().any(|rejected| rejected.reason == reason);
        if has("dangling") {
            4
        } else if has("locked") {
            5
        } else if self.rejected.is_empty() {
            0
        } else {
            2
        }
    }

    /// Returns the result as programs read it.
    pub fn to_json(&self) -> Value {
        let rejected = |r: &Rejected| json!({"bundle": r.bundle, "ops": r.ops, "reason": r.reason, "conflict": r.conflict, "edges": r.edges});
        json!({
            "accepted": self.accepted,
            "duplicate": self.duplicate,
            "pending": self.pending.iter().map(|(id, missing)| json!({"op-id": id, "missing": missing})).collect::<Vec<_>>(),
            "rejected": self.rejected.iter().map(rejected).collect::<Vec<_>>(),
            "absorbed": self.absorbed.iter().map(|(q, w, l)| json!({"qname": q, "winner": w, "loser": l})).collect::<Vec<_>>(),
            "healed": self.healed,
            "warnings": self.warnings,
            "state-hash": self.state_hash,
        })
    }
}

/// The judgement of ops offered to a state.
#[derive(Debug, Default)]
pub(super) struct Judged {
    pub result: Accepted,
    /// Ops of the state to be logged, in order.
    pub retained: Vec<OpId>,
    pub conflicts: Vec<Conflict>,
}

/// The rules of one gate.
pub(super) struct AcceptanceRules<'g> {
    pub policy: Policy,
    /// The reason why an op may not touch what it touches.
    pub forbidden: &'g dyn Fn(&State, &Op) -> Option<String>,
    /// The last moment an op that is new here may name; none for ops that were accepted here before.
    pub latest: Option<i64>,
}

/// The farthest that the clock of an op's author may be ahead of this one, in milliseconds.
const AHEAD: i64 = 24 * 60 * 60 * 1000;

/// Records nothing twice: a bundle that is offered and refused again keeps its record.
fn join_records(known: &[Conflict], judged: &mut Judged) {
    let rejected = &mut judged.result.rejected;
    judged.conflicts.retain(|new| {
        let same = |old: &&Conflict| Conflict { id: new.id.clone(), at: new.at, ..(*old).clone() } == *new;
        let Some(old) = known.iter().find(same) else { return true };
        for rejected in rejected.iter_mut().filter(|rejected| rejected.conflict.as_ref() == Some(&new.id)) {
            rejected.conflict = Some(old.id.clone());
        }
        false
    });
}

impl Store {
    /// Accepts sealed ops as one transaction, by this store's policy and locks.
    pub fn accept(&mut self, ops: Vec<Op>) -> Result<Accepted, Error> {
        let _lock = self.lock()?;
        // What cannot be read is found out before the state holds what the disk does not.
        let known = self.conflicts()?;
        let mut judged = self.judge(ops)?;
        join_records(&known, &mut judged);
        self.keep(judged, &[])
    }

    /// Returns what accepting would come to, without doing it.
    pub fn rehearse(&mut self, ops: Vec<Op>) -> Result<Accepted, Error> {
        let _lock = self.lock()?;
        let judged = self.judge(ops)?;
        self.stand_on_checkpoint();
        self.catch_up()?;
        Ok(judged.result)
    }

    /// Offers ops to the state by this store's policy and locks. Without its locks nothing is let in.
    pub(super) fn judge(&mut self, ops: Vec<Op>) -> Result<Judged, Error> {
        let (enforced, locks) = (self.config.locks_enforced, self.locks()?);
        let forbidden = move |state: &State, op: &Op| forbidden_by(enforced, &locks, state, op);
        let latest = Some(now_ms().saturating_add(AHEAD));
        let rules = AcceptanceRules { policy: self.config.policy, forbidden: &forbidden, latest };
        Ok(rules.run(&mut self.state, ops))
    }

    /// Makes what a gate let through durable. If that fails, the state is what the disk has.
    pub(super) fn keep(&mut self, judged: Judged, control: &[String]) -> Result<Accepted, Error> {
        match self.write_judged(&judged, control) {
            Ok(()) => Ok(judged.result),
            Err(error) => {
                self.read_back()?;
                Err(error)
            }
        }
    }

    fn write_judged(&mut self, judged: &Judged, control: &[String]) -> Result<(), Error> {
        if let Some(rehearsed) = &mut self.rehearsed {
            rehearsed.extend(&judged.retained);
            return Ok(());
        }
        let line = |op: &Op| (op.id, op.to_line());
        let waiting: BTreeMap<OpId, String> = self.state.graph().pending().map(line).collect();
        let pending = self.inner("pending.jsonl");
        let waited: BTreeMap<OpId, String> = files::read_ops(&pending)?.iter().map(line).collect();
        // Waiting ops are safe before anything is reported; admitted and refused ones leave the file last.
        let both: BTreeMap<OpId, String> = waited.clone().into_iter().chain(waiting.clone()).collect();
        if both != waited {
            write_lines(&pending, both.values())?;
        }
        // A bundle is withdrawn only once it is recorded whole.
        files::append_conflicts(&self.root, &judged.conflicts)?;
        let line = |id: &OpId| Some((*id, self.state.graph().node(*id)?.op.to_line()));
        let (ids, lines): (Vec<OpId>, Vec<String>) = judged.retained.iter().filter_map(line).unzip();
        self.log_ops(&ids, lines, control)?;
        if both != waiting {
            write_lines(&pending, waiting.values())?;
        }
        Ok(())
    }
}

/// Replaces a file by lines.
fn write_lines<'l>(path: &Path, lines: impl Iterator<Item = &'l String>) -> Result<(), Error> {
    let text: String = lines.map(|line| format!("{line}\n")).collect();
    atomic_write(path, text.as_bytes())
}

/// Returns why an op may not touch what it touches, by ownership.
pub(super) fn forbidden_by(enforced: bool, locks: &[super::Lock], state: &State, op: &Op) -> Option<String> {
    use crate::strand::id::QName;
    if !enforced {
        return None;
    }
    if locks.is_empty() {
        return None;
    }
    let claimed = match op.kind {
        Kind::Add => Some(QName::new(op.layer, &*op.name)),
        Kind::Rename => op.name_new().map(|name| QName::new(op.layer, name)),
        _ => None,
    };
    let label = state.view(op.target()).map(|view| view.qname());
    [label, claimed].into_iter().flatten().find_map(|qname| {
        let lock = super::forbids(locks, &op.author, &qname)?;
        Some(format!("{qname} is owned by {} (pattern {})", lock.owner, lock.pattern))
    })
}

impl AcceptanceRules<'_> {
    /// Offers ops to a state and takes out again what may not stay.
    pub(super) fn run(&self, state: &mut State, ops: Vec<Op>) -> Judged {
        let mut judged = Judged::default();
        let ops = self.first_look(state, ops, &mut judged);
        let offered = state.offer(ops);
        state.refresh();
        judged.result.duplicate = offered.duplicates;
        let mut fresh: BTreeSet<OpId> = offered.admitted.iter().copied().collect();
        if self.policy == Policy::Strict {
            self.roll_back(state, &mut fresh, &mut judged);
        }
        let order = offered.admitted.into_iter().filter(|id| fresh.contains(id));
        judged.result.accepted = order.collect();
        judged.retained.clone_from(&judged.result.accepted);
        match self.policy {
            Policy::Strict => {}
            Policy::Heal => self.heal(state, &fresh, &mut judged),
            Policy::Warn => self.warn(state, &fresh, &mut judged),
        }
        let graph = state.graph();
        judged.result.pending = graph.pending().map(|op| (op.id, graph.missing(op))).collect();
        judged.result.absorbed = absorbed(state, &fresh);
        judged
    }

    /// Puts aside bundles with an op-id of other content, or that touch what belongs to another.
    fn first_look(&self, state: &State, ops: Vec<Op>, judged: &mut Judged) -> Vec<Op> {
        let mut at: HashMap<Arc<str>, usize> = HashMap::new();
        let mut bundles: Vec<Vec<Op>> = Vec::new();
        for op in ops {
            let next = bundles.len();
            let index = match &op.bundle {
                Some(bundle) => *at.entry(bundle.clone()).or_insert(next),
                None => next,
            };
            if index == next {
                bundles.push(Vec::new());
            }
            bundles[index].push(op);
        }
        let brought: IdMap<(Kind, DefId)> =
            bundles.iter().flatten().map(|op| (op.id, (op.kind, op.target()))).collect();
        let find = |id: OpId| {
            let known = state.graph().light(id).map(|node| (node.op.kind, node.op.target()));
            known.or_else(|| brought.get(&id).copied())
        };
        // Names of definitions that these very ops bring are judged by what they claim.
        let mut pass = Vec::new();
        for ops in bundles {
            let graph = state.graph();
            let differs = |known: &Op, op: &Op| known != op && known.to_json() != op.to_json();
            let (mut collides, mut new) = (false, Vec::with_capacity(ops.len()));
            for op in &ops {
                match graph.node(op.id) {
                    Some(node) => collides |= differs(&node.op, op),
                    None => new.push(op),
                }
            }
            let ahead = new.iter().copied().find(|op| self.latest.is_some_and(|latest| op.ts > latest));
            if let (false, Some(op)) = (collides, ahead) {
                judged.result.rejected.push(from_the_future(op, &ops));
                continue;
            }
            let locked = new.iter().filter(|op| !is_heal(op, find)).find_map(|op| (self.forbidden)(state, op));
            let (reason, message) = match (collides, locked) {
                (true, _) => ("op-id-collision", "an op-id of this bundle is known with other content".to_owned()),
                (_, Some(message)) => ("locked", message),
                _ => {
                    pass.extend(ops);
                    continue;
                }
            };
            self.reject(ops[0].bundle_key(), &ops, reason, &[], message, judged);
        }
        pass
    }

    fn reject(
        &self,
        bundle: String,
        ops: &[Op],
        reason: &'static str,
        edges: &[(String, String)],
        message: String,
        judged: &mut Judged,
    ) {
        let conflict = Conflict {
            id: new_id("cf_"),
            kind: reason.to_owned(),
            policy: self.policy.word().to_owned(),
            at: now_ms(),
            edges: edges.to_vec(),
            ops: ops.iter().map(Op::to_json).collect(),
            status: "open".to_owned(),
        };
        judged.result.rejected.push(Rejected {
            bundle,
            ops: ops.iter().map(|op| op.id).collect(),
            reason,
            conflict: Some(conflict.id.clone()),
            edges: edges.to_vec(),
            message,
        });
        judged.conflicts.push(conflict);
    }

    /// Takes bundles that bring new danglings out again, until there is none left.
    fn roll_back(&self, state: &mut State, fresh: &mut BTreeSet<OpId>, judged: &mut Judged) {
        loop {
            let found = new_danglings(state, fresh);
            let Some(first) = found.first() else { return };
            let group: Vec<&Dangling> = found.iter().filter(|other| other.removed == first.removed).collect();
            let edges: Vec<(String, String)> = group.iter().map(|found| found.edge(state)).collect();
            let guilty = guilty_ops(state, &group, fresh);
            if guilty.is_empty() {
                return;
            }
            let bundles: BTreeSet<String> =
                guilty.iter().filter_map(|id| state.graph().node(*id)).map(|node| node.op.bundle_key()).collect();
            let out: HashSet<OpId> = fresh
                .iter()
                .copied()
                .filter(|id| state.graph().node(*id).is_some_and(|node| bundles.contains(&node.op.bundle_key())))
                .collect();
            let mut gone = state.retract(&out);
            // The successors of a removed op belong to a bundle that is incomplete too.
            loop {
                let keys: BTreeSet<String> = gone.iter().map(Op::bundle_key).collect();
                let rest: HashSet<OpId> = fresh
                    .iter()
                    .copied()
                    .filter(|id| state.graph().node(*id).is_some_and(|node| keys.contains(&node.op.bundle_key())))
                    .collect();
                if rest.is_empty() {
                    break;
                }
                gone.extend(state.retract(&rest));
            }
            state.refresh();
            let mut by_bundle: BTreeMap<String, Vec<Op>> = BTreeMap::new();
            for op in gone {
                fresh.remove(&op.id);
                by_bundle.entry(op.bundle_key()).or_default().push(op);
            }
            let message = edges.iter().map(|(from, to)| format!("{from} -> {to}")).collect::<Vec<_>>().join(", ");
            self.reject_group(by_bundle, &edges, format!("dangling: {message}"), judged);
        }
    }

    /// Records all bundles of a group once.
    fn reject_group(
        &self,
        bundles: BTreeMap<String, Vec<Op>>,
        edges: &[(String, String)],
        message: String,
        judged: &mut Judged,
    ) {
        let all: Vec<Op> = bundles.values().flatten().cloned().collect();
        let conflict = Conflict {
            id: new_id("cf_"),
            kind: "dangling".to_owned(),
            policy: self.policy.word().to_owned(),
            at: now_ms(),
            edges: edges.to_vec(),
            ops: all.iter().map(Op::to_json).collect(),
            status: "open".to_owned(),
        };
        for (bundle, ops) in bundles {
            judged.result.rejected.push(Rejected {
                bundle,
                ops: ops.iter().map(|op| op.id).collect(),
                reason: "dangling",
                conflict: Some(conflict.id.clone()),
                edges: edges.to_vec(),
                message: message.clone(),
            });
        }
        judged.conflicts.push(conflict);
    }

    fn heal(&self, state: &mut State, fresh: &BTreeSet<OpId>, judged: &mut Judged) {
        let mut fresh = fresh.clone();
        loop {
            let found = new_danglings(state, &fresh);
            let removed: BTreeSet<_> = found.iter().map(|found| found.removed).collect();
            let heals: Vec<Op> = removed.iter().filter_map(|def| heal(state, *def)).collect();
            if heals.is_empty() {
                return;
            }
            self.note(state, &found, "healed", judged);
            let offered = state.offer(heals);
            state.refresh();
            if offered.admitted.is_empty() {
                return;
            }
            fresh = offered.admitted.iter().copied().collect();
            judged.result.healed.extend(&offered.admitted);
            judged.retained.extend(&offered.admitted);
        }
    }

    fn warn(&self, state: &State, fresh: &BTreeSet<OpId>, judged: &mut Judged) {
        let found = new_danglings(state, fresh);
        self.note(state, &found, "warned", judged);
    }

    fn note(&self, state: &State, found: &[Dangling], status: &str, judged: &mut Judged) {
        let mut groups: BTreeMap<_, Vec<&Dangling>> = BTreeMap::new();
        for dangling in found {
            groups.entry(dangling.removed).or_default().push(dangling);
        }
        for group in groups.into_values() {
            let edges: Vec<(String, String)> = group.iter().map(|found| found.edge(state)).collect();
            let ids: BTreeSet<OpId> =
                group.iter().flat_map(|found| found.heads.iter().copied().chain([found.writer])).collect();
            let ops = ids.iter().filter_map(|id| state.graph().node(*id)).map(|node| node.op.to_json()).collect();
            for (from, to) in &edges {
                judged.result.warnings.push(format!("dangling: {from} -> {to} ({status})"));
            }
            judged.conflicts.push(Conflict {
                id: new_id("cf_"),
                kind: "dangling".to_owned(),
                policy: self.policy.word().to_owned(),
                at: now_ms(),
                edges,
                ops,
                status: status.to_owned(),
            });
        }
    }
}

/// Returns a bundle whose ops stay with their sender: what a clock says that is far ahead would win over all others.
fn from_the_future(op: &Op, ops: &[Op]) -> Rejected {
    let about = format!("{} {}.{}", op.kind.word(), op.layer, op.name);
    Rejected {
        bundle: op.bundle_key(),
        ops: ops.iter().map(|op| op.id).collect(),
        reason: "clock",
        conflict: None,
        edges: Vec::new(),
        message: format!(
            "{} ({about}) names a time more than 24 hours ahead of the clock here; set the clocks right",
            op.id
        ),
    }
}

/// Returns the ops of this transaction that make the danglings: writers and removers, or, when both sides were there
/// before, whatever touched either definition.
fn guilty_ops(state: &State, group: &[&Dangling], fresh: &BTreeSet<OpId>) -> BTreeSet<OpId> {
    let sides = group.iter().flat_map(|found| found.heads.iter().copied().chain([found.writer]));
    let direct: BTreeSet<OpId> = sides.filter(|id| fresh.contains(id)).collect();
    if !direct.is_empty() {
        return direct;
    }
    let about: BTreeSet<_> = group.iter().flat_map(|found| [found.from, found.removed]).collect();
    let touches = |id: &&OpId| state.graph().node(**id).is_some_and(|node| about.contains(&node.op.target()));
    fresh.iter().filter(touches).copied().collect()
}

/// Returns name, winner and loser of every absorption that these ops brought about.
pub(super) fn absorbed(state: &State, fresh: &BTreeSet<OpId>) -> Vec<(String, OpId, OpId)> {
    let mut out: BTreeSet<(String, OpId, OpId)> = BTreeSet::new();
    // No other kind of op makes a claim.
    let claims = fresh.iter().filter_map(|id| state.graph().node(*id));
    let claims = claims.filter(|node| matches!(node.op.kind, Kind::Add | Kind::Rename));
    for view in claims.filter_map(|node| state.view(node.op.target())) {
        if !fresh.contains(&view.claim) {
            continue;
        }
        if let Visibility::Absorbed(by) = view.status {
            out.insert((view.qname().to_string(), by, view.id));
        }
        out.extend(state.absorbed_by(view.id).into_iter().map(|loser| (view.qname().to_string(), view.id, loser)));
    }
    out.into_iter().collect()
}

//! The common part of every op: author and subject, its parents, its references, and its admission to the state.

use std::collections::{BTreeSet, HashSet};

use super::draft::Issuer;
use super::refusal::Refusal;
use crate::strand::id::{DefId, Layer, OpId, QName};
use crate::strand::lang::ast::{Body, To};
use crate::strand::lang::names::name_fault;
use crate::strand::lang::resolve::each_ref;
use crate::strand::lang::similar;
use crate::strand::lang::unit::{join, split};
use crate::strand::op::{Change, Dep, Kind, Op};
use crate::strand::state::{Edge, State, View};

/// Returns the visible definition of a name, or a refusal that names a similar one.
pub fn target<'s>(state: &'s State, qname: &QName) -> Result<&'s View, Refusal> {
    state.named(qname).ok_or_else(|| {
        let names = state.labels(qname.layer);
        let near = similar::best(&qname.name, names.iter().map(String::as_str))
            .map(|(name, _, _)| QName::new(qname.layer, name));
        Refusal::NotFound { name: qname.to_string(), near: near.map(|near| near.to_string()) }
    })
}

pub(super) fn checked_name(layer: Layer, name: &str) -> Result<(), Refusal> {
    name_fault(layer, name).map_or(Ok(()), |fault| Err(Refusal::BadName(fault)))
}

/// Issues an edit whose changes are already known, for `sync`.
pub fn edit_sealed(
    state: &mut State,
    def: DefId,
    make: impl FnOnce(OpId) -> (Vec<Change>, Body),
    issuer: &Issuer,
    made: &mut Vec<Op>,
) {
    let Some(view) = state.view(def) else { return };
    let mut op = blank(Kind::Edit, &view.qname(), issuer);
    let (changes, body) = make(op.id);
    op.changes = changes;
    admit_edit(state, def, op, body, made);
}

pub(super) fn admit_edit(state: &mut State, def: DefId, mut op: Op, mut body: Body, made: &mut Vec<Op>) {
    let Some(view) = state.view(def) else { return };
    op.def = Some(def);
    op.base = Some(view.epoch);
    let (depends, follow) = depends(state, &mut body, Some(view));
    op.depends = depends;
    let mut parents = heads(state, follow);
    parents.extend(own_heads(state, def));
    admit(state, op, parents, made);
}

/// Removes what an absorber absorbs, so that it cannot come back under a freed name.
pub(super) fn settle_name(state: &mut State, id: DefId, issuer: &Issuer, made: &mut Vec<Op>) {
    for absorbed in state.absorbed_by(id) {
        let (Some(loser), Some(absorber)) = (state.view(absorbed), state.view(id)) else { continue };
        let mut op = blank(Kind::Remove, &loser.qname(), &issuer.because("settle"));
        op.def = Some(absorbed);
        op.set_rare(|rare| rare.to = Some(absorber.qname().to_string()));
        op.depends = vec![dep(absorber)];
        let mut parents = heads(state, Some(absorbed));
        parents.extend(heads(state, Some(id)));
        admit(state, op, parents, made);
    }
}

/// Returns an op with nothing in it but who and what.
pub(super) fn blank(kind: Kind, qname: &QName, issuer: &Issuer) -> Op {
    let (ts, id) = (issuer.clock.now(), issuer.clock.op_id());
    let mut op = Op::new(kind, (qname.layer, &qname.name), &issuer.author, ts, id);
    op.bundle = issuer.bundle.as_deref().map(Into::into);
    op.set_rare(|rare| rare.cause.clone_from(&issuer.cause));
    op
}

/// Gives an op its parents and time, and admits it.
pub(super) fn admit(state: &mut State, mut op: Op, parents: BTreeSet<OpId>, made: &mut Vec<Op>) {
    let above = parents.iter().filter_map(|id| state.graph().node(*id)).map(|node| node.max_ts).max();
    op.ts = above.map_or(op.ts, |above| op.ts.max(above.saturating_add(1)));
    op.parents = parents.into_iter().collect();
    made.push(op.clone());
    state.apply([op]);
}

/// Returns the heads of some definitions.
pub fn heads(state: &State, defs: impl IntoIterator<Item = DefId>) -> BTreeSet<OpId> {
    defs.into_iter().filter_map(|def| state.graph().lattice(def)).flat_map(|l| l.heads.iter().copied()).collect()
}

/// Returns the heads of a definition and of what it absorbs.
pub(super) fn own_heads(state: &State, id: DefId) -> BTreeSet<OpId> {
    let mut parents = heads(state, Some(id));
    parents.extend(heads(state, state.absorbed_by(id)));
    parents
}

/// Returns the entry of depends-on for a definition.
pub fn dep(view: &View) -> Dep {
    Dep { layer: view.layer, name: view.label.clone(), hash: view.hash.hex(), def: Some(view.id) }
}

/// Resolves the new names of a body. Returns the entries of depends-on, and the definitions whose heads the op must
/// follow: new references, and removed definitions.
pub fn depends(state: &State, body: &mut Body, old: Option<&View>) -> (Vec<Dep>, BTreeSet<DefId>) {
    keep_dangling(state, body, old);
    let (_, edges) = state.resolve_body(body);
    let known: HashSet<DefId> = old.into_iter().flat_map(|old| &old.edges).filter_map(target_of).collect();
    let (mut deps, mut follow) = (BTreeSet::new(), BTreeSet::new());
    for edge in edges.iter().filter(|edge| edge.writer.is_none()) {
        let Some(id) = target_of(edge) else { continue };
        let hash = state.view(id).map(|view| view.hash.hex()).unwrap_or_default();
        deps.insert(Dep { layer: edge.layer, name: edge.name.clone(), hash, def: Some(id) });
        if !known.contains(&id) || matches!(edge.to, To::Dangling(_)) {
            follow.insert(id);
        }
    }
    let mut deps: Vec<Dep> = deps.into_iter().collect();
    deps.sort_by_key(Dep::to_string);
    (deps, follow)
}

/// Returns the definition an edge leads to, or once led to.
fn target_of(edge: &Edge) -> Option<DefId> {
    match edge.to {
        To::Def(id) | To::Dangling(id) => Some(id),
        _ => None,
    }
}

/// Keeps the binding of a dangling name that a rewritten register still mentions, as long as no visible definition has
/// that name.
fn keep_dangling(state: &State, body: &mut Body, old: Option<&View>) {
    let lost: Vec<(&Edge, DefId)> = old
        .into_iter()
        .flat_map(|old| &old.edges)
        .filter_map(|edge| match edge.to {
            To::Dangling(id) if state.find(edge.layer, &edge.name).is_none() => Some((edge, id)),
            _ => None,
        })
        .collect();
    if lost.is_empty() {
        return;
    }
    let layer = body.layer();
    let mut parts = split(body);
    let regs = parts.header.values_mut().chain(parts.units.iter_mut().flat_map(|unit| unit.regs.values_mut()));
    for reg in regs {
        each_ref(reg, &mut |reference| {
            if reference.writer.is_none() && reference.bound.is_none() {
                let fits = |(edge, _): &&(&Edge, DefId)| edge.name == reference.name && edge.layer == reference.layer;
                reference.bound = lost.iter().find(fits).map(|(_, id)| *id);
            }
        });
    }
    if let Some(joined) = join(layer, parts) {
        *body = joined;
    }
}

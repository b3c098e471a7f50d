//! Issuing: drafts become sealed ops on the present state, or are refused.

mod draft;
mod patch;
mod refusal;
mod reissue;
mod remove;
mod rename;
mod revert;

use std::collections::{BTreeSet, HashSet};

use serde_json::Value;

pub use draft::{Draft, Issuer};
pub use patch::{find_tokens, patch_of, replace_tokens};
pub use refusal::{Refusal, Unparsed};
pub use reissue::reissue;
pub use remove::{References, Removal, references};
pub use revert::{changed_body, current_text, revert};

use super::id::{DefId, Layer, OpId, QName};
use super::lang::ast::{Body, To};
use super::lang::names::name_fault;
use super::lang::parse::parse_body;
use super::lang::print;
use super::lang::resolve::each_ref;
use super::lang::similar;
use super::lang::unit::{join, split};
use super::op::{Change, Dep, Kind, Op};
use super::state::{Edge, State, View};

/// Seals a draft on the state and admits what comes of it there. On refusal the state is as before.
pub fn issue(state: &mut State, draft: &Draft, issuer: &Issuer) -> Result<Vec<Op>, Refusal> {
    let mut made = Vec::new();
    let result = seal(state, draft, issuer, &mut made);
    match result {
        Ok(()) => Ok(made),
        Err(refusal) => {
            let ids: HashSet<OpId> = made.iter().map(|op| op.id).collect();
            if !ids.is_empty() {
                state.retract(&ids);
                state.refresh();
            }
            Err(refusal)
        }
    }
}

/// Seals drafts one upon the other; all or none.
pub fn issue_all(state: &mut State, drafts: &[Draft], issuer: &Issuer) -> Result<Vec<Op>, Refusal> {
    let mut made: Vec<Op> = Vec::new();
    for draft in drafts {
        match issue(state, draft, issuer) {
            Ok(ops) => made.extend(ops),
            Err(refusal) => {
                let ids: HashSet<OpId> = made.iter().map(|op| op.id).collect();
                state.retract(&ids);
                state.refresh();
                return Err(refusal);
            }
        }
    }
    Ok(made)
}

fn seal(state: &mut State, draft: &Draft, issuer: &Issuer, made: &mut Vec<Op>) -> Result<(), Refusal> {
    match draft {
        Draft::Add { qname, body, doc, def } => add(state, qname, body, doc.clone(), *def, issuer, made),
        Draft::Replace { qname, body, doc } => replace(state, qname, body, doc.clone(), issuer, made),
        Draft::Edit { qname, patch } => edit(state, qname, patch, issuer, made),
        Draft::Rename { qname, to } => rename::rename(state, qname, to, issuer, made),
        Draft::Remove { qname, how } => remove::remove(state, qname, *how, issuer, made),
        Draft::Link(from, to) => link(state, Kind::Link, from, to, issuer, made),
        Draft::Unlink(from, to) => link(state, Kind::Unlink, from, to, issuer, made),
    }
}

/// The visible definition of a name, or a refusal that names a similar one.
pub fn target<'s>(state: &'s State, qname: &QName) -> Result<&'s View, Refusal> {
    state.named(qname).ok_or_else(|| {
        let names = state.labels(qname.layer);
        let near = similar::best(&qname.name, names.iter().map(String::as_str))
            .map(|(name, _, _)| QName::new(qname.layer, name));
        Refusal::NotFound { name: qname.to_string(), near: near.map(|near| near.to_string()) }
    })
}

fn parsed(layer: Layer, name: &str, text: &str) -> Result<Body, Refusal> {
    parse_body(layer, text).map_err(|faults| Refusal::syntax(layer, name, text, &faults))
}

fn checked_name(layer: Layer, name: &str) -> Result<(), Refusal> {
    name_fault(layer, name).map_or(Ok(()), |fault| Err(Refusal::BadName(fault)))
}

fn add(
    state: &mut State,
    qname: &QName,
    text: &str,
    doc: Option<String>,
    def: Option<DefId>,
    issuer: &Issuer,
    made: &mut Vec<Op>,
) -> Result<(), Refusal> {
    checked_name(qname.layer, &qname.name)?;
    if state.named(qname).is_some() {
        return Err(Refusal::Exists(qname.to_string()));
    }
    let mut body = parsed(qname.layer, &qname.name, text)?;
    let old = def.and_then(|def| state.view(def));
    let (depends, follow) = depends(state, &mut body, old);
    let mut op = blank(Kind::Add, qname, issuer);
    op.def = def;
    op.body = Some(print::body(&body));
    op.doc = doc.filter(|doc| !doc.is_empty());
    op.depends = depends;
    let mut parents = heads(state, follow);
    parents.extend(heads(state, state.graph().holders(qname.layer, &qname.name)));
    parents.extend(heads(state, def));
    admit(state, op, parents, made);
    Ok(())
}

fn replace(
    state: &mut State,
    qname: &QName,
    text: &str,
    doc: Option<String>,
    issuer: &Issuer,
    made: &mut Vec<Op>,
) -> Result<(), Refusal> {
    let view = target(state, qname)?;
    let id = view.id;
    let mut body = parsed(qname.layer, &qname.name, text)?;
    let doc = doc.unwrap_or_else(|| view.doc.clone());
    let (depends, follow) = depends(state, &mut body, Some(view));
    let mut op = blank(Kind::Replace, qname, issuer);
    op.def = Some(id);
    op.body = Some(print::body(&body));
    op.doc = Some(doc).filter(|doc| !doc.is_empty());
    op.depends = depends;
    let mut parents = heads(state, follow);
    parents.extend(own_heads(state, id));
    admit(state, op, parents, made);
    Ok(())
}

fn edit(state: &mut State, qname: &QName, patch: &Value, issuer: &Issuer, made: &mut Vec<Op>) -> Result<(), Refusal> {
    let view = target(state, qname)?;
    let mut op = blank(Kind::Edit, qname, issuer);
    let sealed = patch::seal(view, patch, op.id)?;
    // Units put into units, each fine alone, must not nest deeper than a text may.
    if parse_body(view.layer, &print::body(&sealed.body)).is_err() {
        return Err(Refusal::PatchFailed("this is nested too deeply".to_owned()));
    }
    op.changes = sealed.changes;
    admit_edit(state, view.id, op, sealed.body, made);
    Ok(())
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

fn admit_edit(state: &mut State, def: DefId, mut op: Op, mut body: Body, made: &mut Vec<Op>) {
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
fn settle(state: &mut State, id: DefId, issuer: &Issuer, made: &mut Vec<Op>) {
    for absorbed in state.absorbed_by(id) {
        let (Some(loser), Some(absorber)) = (state.view(absorbed), state.view(id)) else { continue };
        let mut op = blank(Kind::Remove, &loser.qname(), &issuer.because("settle"));
        op.def = Some(absorbed);
        op.to = Some(absorber.qname().to_string());
        op.depends = vec![dep(absorber)];
        let mut parents = heads(state, Some(absorbed));
        parents.extend(heads(state, Some(id)));
        admit(state, op, parents, made);
    }
}

fn link(
    state: &mut State,
    kind: Kind,
    from: &QName,
    to: &QName,
    issuer: &Issuer,
    made: &mut Vec<Op>,
) -> Result<(), Refusal> {
    let (source, end) = (target(state, from)?, target(state, to)?);
    let mut op = blank(kind, from, issuer);
    op.def = Some(source.id);
    op.to = Some(to.to_string());
    op.depends = vec![dep(end)];
    let mut parents = own_heads(state, source.id);
    parents.extend(heads(state, Some(end.id)));
    admit(state, op, parents, made);
    Ok(())
}

/// An op with nothing in it but who and what.
fn blank(kind: Kind, qname: &QName, issuer: &Issuer) -> Op {
    Op {
        kind,
        layer: qname.layer,
        name: qname.name.clone(),
        body: None,
        author: issuer.author.as_str().into(),
        ts: issuer.clock.now(),
        id: issuer.clock.op_id(),
        parents: Vec::new(),
        depends: Vec::new(),
        def: None,
        name_new: None,
        base: None,
        changes: Vec::new(),
        to: None,
        bundle: issuer.bundle.as_deref().map(Into::into),
        cause: issuer.cause.clone(),
        doc: None,
        extra: None,
    }
}

/// Gives an op its parents and time, and admits it.
fn admit(state: &mut State, mut op: Op, parents: BTreeSet<OpId>, made: &mut Vec<Op>) {
    let above = parents.iter().filter_map(|id| state.graph().node(*id)).map(|node| node.max_ts).max();
    op.ts = above.map_or(op.ts, |above| op.ts.max(above.saturating_add(1)));
    op.parents = parents.into_iter().collect();
    made.push(op.clone());
    state.apply([op]);
}

/// The heads of some definitions.
pub fn heads(state: &State, defs: impl IntoIterator<Item = DefId>) -> BTreeSet<OpId> {
    defs.into_iter().filter_map(|def| state.graph().lattice(def)).flat_map(|l| l.heads.iter().copied()).collect()
}

/// The heads of a definition and of what it absorbs.
fn own_heads(state: &State, id: DefId) -> BTreeSet<OpId> {
    let mut parents = heads(state, Some(id));
    parents.extend(heads(state, state.absorbed_by(id)));
    parents
}

/// The entry of depends-on for a definition.
pub fn dep(view: &View) -> Dep {
    Dep { layer: view.layer, name: view.label.clone(), hash: view.hash.hex(), def: Some(view.id) }
}

/// Resolves the new names of a body. Returns the entries of depends-on, and the definitions whose
/// heads the op must follow: those it did not refer to before, and those that are gone.
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

/// The definition an edge leads to, or once led to.
fn target_of(edge: &Edge) -> Option<DefId> {
    match edge.to {
        To::Def(id) | To::Dangling(id) => Some(id),
        _ => None,
    }
}

/// A rewritten register keeps the binding of a dangling name it still mentions, as long as no
/// visible definition has that name.
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
    if let Some(kept) = join(layer, parts) {
        *body = kept;
    }
}

//! Issuing: drafts become sealed ops on the present state, or are refused.

mod patch;
mod refusal;
mod reissue;
mod remove;
mod revert;

use std::collections::{BTreeSet, HashSet};

use serde_json::Value;

pub use patch::{find_tokens, replace_tokens};
pub use refusal::{Refusal, Unparsed};
pub use reissue::reissue;
pub use remove::{References, Removal, references};
pub use revert::{changed_body, revert};

use super::id::{Clock, DefId, Layer, OpId, QName};
use super::lang::ast::{Body, Ref, To};
use super::lang::names::name_fault;
use super::lang::parse::parse_body;
use super::lang::print;
use super::lang::resolve::{each_ref, hidden};
use super::lang::similar;
use super::lang::unit::{Parts, Reg, join, split};
use super::op::{Change, Dep, Kind, Op};
use super::state::{Edge, State, View};

/// An op that is not sealed yet.
#[derive(Clone, Debug, PartialEq)]
pub enum Draft {
    /// A new definition, or the return of one (`def`).
    Add {
        /// Layer and name.
        qname: QName,
        /// Its body.
        body: String,
        /// Its doc lines.
        doc: Option<String>,
        /// The definition to bring back.
        def: Option<DefId>,
    },
    /// Another body.
    Replace {
        /// The definition.
        qname: QName,
        /// Its new body.
        body: String,
        /// Its doc lines; `None` keeps them.
        doc: Option<String>,
    },
    /// A patch of a body.
    Edit {
        /// The definition.
        qname: QName,
        /// Addresses and instructions.
        patch: Value,
    },
    /// Another name.
    Rename {
        /// The definition.
        qname: QName,
        /// The new name.
        to: String,
    },
    /// Away with it.
    Remove {
        /// The definition.
        qname: QName,
        /// What becomes of those that refer to it.
        how: Removal,
    },
    /// An explicit edge.
    Link(QName, QName),
    /// No explicit edge any more.
    Unlink(QName, QName),
}

impl Draft {
    /// Reads a draft op: an op without op-id.
    pub fn from_json(value: &Value) -> Result<Draft, Refusal> {
        let wrong = |message: String| Refusal::Malformed(message);
        let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        let need = |name: &str| text(name).ok_or_else(|| wrong(format!("'{name}' is missing in a draft op")));
        let layer = need("layer")?;
        let layer = Layer::parse(&layer).ok_or_else(|| wrong(format!("unknown layer '{layer}'")))?;
        let qname = QName::new(layer, need("name")?);
        let to = || {
            let to = need("to")?;
            QName::parse(&to).ok_or_else(|| wrong(format!("'{to}' is not layer.Name")))
        };
        let def = text("def").map(|def| OpId::parse(&def).ok_or_else(|| wrong(format!("'{def}' is not a def-id"))));
        Ok(match need("op")?.as_str() {
            "add" => Draft::Add { qname, body: need("body")?, doc: text("doc"), def: def.transpose()? },
            "replace" => Draft::Replace { qname, body: need("body")?, doc: text("doc") },
            "edit" => {
                let patch = value.get("patch").cloned();
                Draft::Edit { qname, patch: patch.ok_or_else(|| wrong("'patch' is missing in an edit".to_owned()))? }
            }
            "rename" => Draft::Rename { qname, to: need("name-new")? },
            "remove" => Draft::Remove { qname, how: Removal::Refuse },
            "link" => Draft::Link(qname, to()?),
            "unlink" => Draft::Unlink(qname, to()?),
            other => return Err(wrong(format!("unknown op '{other}'"))),
        })
    }
}

/// Who issues, and why.
#[derive(Clone, Debug)]
pub struct Issuer {
    /// The author of the ops.
    pub author: String,
    /// The bundle they join.
    pub bundle: Option<String>,
    /// Why they were generated.
    pub cause: Option<String>,
    /// Where their times and ids come from.
    pub clock: Clock,
}

impl Issuer {
    /// An author who issues single ops by hand.
    pub fn new(author: impl Into<String>) -> Issuer {
        Issuer { author: author.into(), bundle: None, cause: None, clock: Clock::default() }
    }

    /// The same for ops that stand or fall together.
    pub fn bundled(&self) -> Issuer {
        let id = self.clock.op_id().to_string();
        Issuer { bundle: Some(format!("bnd_{}", id.trim_start_matches("op_"))), ..self.clone() }
    }

    /// The same for a reason.
    pub fn because(&self, cause: &str) -> Issuer {
        Issuer { cause: Some(cause.to_owned()), ..self.clone() }
    }
}

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
        Draft::Rename { qname, to } => rename(state, qname, to, issuer, made),
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
    op.patch = Some(patch.clone());
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

fn rename(state: &mut State, qname: &QName, to: &str, issuer: &Issuer, made: &mut Vec<Op>) -> Result<(), Refusal> {
    let view = target(state, qname)?;
    let to = match to.split_once('.') {
        Some((layer, name)) if layer == qname.layer.word() => name,
        Some(_) => return Err(Refusal::BadName(format!("'{to}' is not a name in the layer {}", qname.layer))),
        None => to,
    };
    checked_name(qname.layer, to)?;
    if state.find(qname.layer, to).is_some() {
        return Err(Refusal::Exists(format!("{}.{to}", qname.layer)));
    }
    let id = view.id;
    stays_in_sight(state, id, to)?;
    let mentions = late_mentions(state, id);
    let mentions: Vec<_> =
        mentions.into_iter().filter_map(|who| rewrite_late(state, who, id, to).map(|made| (who, made))).collect();
    let absorbed = state.absorbed_by(id);
    let issuer = if mentions.is_empty() && absorbed.is_empty() || issuer.bundle.is_some() {
        issuer.clone()
    } else {
        issuer.bundled()
    };
    settle(state, id, &issuer, made);
    let mut op = blank(Kind::Rename, qname, &issuer);
    op.def = Some(id);
    op.name_new = Some(to.to_owned());
    let mut parents = own_heads(state, id);
    parents.extend(heads(state, absorbed));
    admit(state, op, parents, made);
    for (who, (changes, body)) in mentions {
        edit_sealed(state, who, |_| (changes, body), &issuer.because("rename"), made);
    }
    Ok(())
}

/// Refuses a name that a binder has where the slot is read: as text it would mean the binder.
fn stays_in_sight(state: &State, id: DefId, to: &str) -> Result<(), Refusal> {
    let called = |reference: &Ref| (reference.def() == Some(id)).then(|| to.to_owned());
    for view in state.referrers(id).into_iter().filter_map(|who| state.view(who)).filter(|view| view.visible()) {
        if let Some((place, _)) = hidden(&view.body, &called).into_iter().find(|(_, name)| name == to) {
            let message = format!("{}:{place} reads it where '{to}' is the name of something else", view.qname());
            return Err(Refusal::Hidden(format!("cannot rename to {to}: {message}")));
        }
    }
    Ok(())
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

/// Definitions that mention another by name only.
fn late_mentions(state: &State, id: DefId) -> Vec<DefId> {
    let mentions = |edge: &Edge| edge.to == To::Def(id) && edge.bound.is_none();
    let referrers = state.referrers(id).into_iter();
    referrers
        .filter(|who| state.view(*who).is_some_and(|view| view.visible() && view.edges.iter().any(mentions)))
        .collect()
}

/// The registers of a definition that mention another by name only, with its new name, and the
/// body they make.
fn rewrite_late(state: &State, who: DefId, id: DefId, new_name: &str) -> Option<(Vec<Change>, Body)> {
    let view = state.view(who)?;
    let Parts { mut header, mut units } = split(&view.body);
    let mut changes = Vec::new();
    let mut rewrite = |unit, name: &str, reg: &mut Reg| {
        if name_late(reg, id, new_name) {
            changes.push(Change::Set { unit, register: name.to_owned(), value: Some(reg.text()) });
        }
    };
    for (name, reg) in &mut header {
        rewrite(None, name, reg);
    }
    for (unit, unit_id) in units.iter_mut().zip(&view.units) {
        for (name, reg) in &mut unit.regs {
            rewrite(Some(*unit_id), name, reg);
        }
    }
    let body = join(view.layer, Parts { header, units })?;
    (!changes.is_empty()).then_some((changes, body))
}

/// Gives a register's late mentions of a definition its new name, and binds them. Every name of
/// such a register counts as written anew.
fn name_late(reg: &mut Reg, id: DefId, new_name: &str) -> bool {
    let mut found = false;
    each_ref(reg, &mut |reference| found |= reference.bound.is_none() && reference.to == To::Def(id));
    if found {
        each_ref(reg, &mut |reference| {
            reference.writer = None;
            if reference.bound.is_none() && reference.to == To::Def(id) {
                reference.name = new_name.to_owned();
                reference.bound = Some(id);
            }
        });
    }
    found
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
        author: issuer.author.clone(),
        ts: issuer.clock.now(),
        id: issuer.clock.op_id(),
        parents: Vec::new(),
        depends: Vec::new(),
        def: None,
        name_new: None,
        patch: None,
        base: None,
        changes: Vec::new(),
        to: None,
        bundle: issuer.bundle.clone(),
        cause: issuer.cause.clone(),
        doc: None,
        extra: serde_json::Map::new(),
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

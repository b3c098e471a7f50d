//! Reverts an op: issues its inverse on the present state.

use std::collections::{BTreeSet, HashSet};

use super::admit::{admit_edit, blank, heads};
use super::{Draft, Issuer, Refusal, Removal, issue};
use crate::strand::id::{DefId, OpId, QName, UnitId};
use crate::strand::lang::parse::{category, parse_register};
use crate::strand::lang::unit::{Parts, Reg, RegName, Unit, join, split};
use crate::strand::op::{Change, Insert, Kind, Op};
use crate::strand::state::{State, View};

/// Issues the inverse of an op. Returns the ops, and what could not be restored because something newer replaced it.
/// `before` is the state just before the op.
pub fn revert(state: &mut State, before: &State, id: OpId, issuer: &Issuer) -> Result<(Vec<Op>, Vec<String>), Refusal> {
    revert_one(state, before, id, issuer, &HashSet::new())
}

/// Issues the inverses of ops, the newest first, each with the state just before it; all or none. Between them stand
/// nothing but one another and what took some of them back before: what is back already stays so.
pub fn revert_all(state: &mut State, ops: &[(OpId, State)], issuer: &Issuer) -> Result<Vec<Op>, Refusal> {
    let mut ours = with_reverts(state, ops.iter().map(|(id, _)| *id));
    let mut made: Vec<Op> = Vec::new();
    for (id, before) in ops {
        let refused = match revert_one(state, before, *id, issuer, &ours) {
            Ok((ops, skipped)) if skipped.is_empty() => {
                ours.extend(ops.iter().map(|op| op.id));
                made.extend(ops);
                continue;
            }
            Ok((ops, skipped)) => {
                made.extend(ops);
                Refusal::Superseded(format!("cannot revert {id}: {} changed since", skipped.join(", ")))
            }
            Err(refusal) => refusal,
        };
        state.retract(&made.iter().map(|op| op.id).collect());
        state.refresh();
        return Err(refused);
    }
    Ok(made)
}

/// Returns ops, and all that reverted one of them, or such a revert.
fn with_reverts(state: &State, ops: impl Iterator<Item = OpId>) -> HashSet<OpId> {
    let mut ours: HashSet<OpId> = ops.collect();
    let targets: BTreeSet<DefId> =
        ours.iter().filter_map(|id| state.graph().light(*id)).map(|node| node.op.target()).collect();
    let lattices = targets.iter().filter_map(|def| state.graph().lattice(*def));
    let mut all: Vec<Op> = lattices
        .flat_map(|lattice| &lattice.ops)
        .filter_map(|id| state.graph().node(*id))
        .map(|node| node.op.clone())
        .collect();
    all.sort_by_key(Op::key);
    for op in all {
        let of = op.cause().and_then(|cause| OpId::parse(cause.strip_prefix("revert:")?));
        if of.is_some_and(|of| ours.contains(&of)) {
            ours.insert(op.id);
        }
    }
    ours
}

fn revert_one(
    state: &mut State,
    before: &State,
    id: OpId,
    issuer: &Issuer,
    ours: &HashSet<OpId>,
) -> Result<(Vec<Op>, Vec<String>), Refusal> {
    let missing = || Refusal::NotFound { name: id.to_string(), near: None };
    let op = state.graph().node(id).map(|node| node.op.clone()).ok_or_else(missing)?;
    let issuer = issuer.because(&format!("revert:{id}"));
    let def = op.target();
    let view = state.view(def).ok_or_else(|| Refusal::Superseded(format!("{id} has no effect; nothing to revert")))?;
    let qname = view.qname();
    let over = |why: &str| Err(Refusal::Superseded(format!("cannot revert {id}: {why}")));
    let (gone, done) = (!view.visible(), Ok((Vec::new(), Vec::new())));
    let stands = |holder: OpId| holder == id || ours.contains(&holder);
    let draft = match op.kind {
        Kind::Remove if !gone && ours.contains(&view.epoch) => return done,
        Kind::Remove if !gone => return over("the definition is there again"),
        Kind::Remove => restore(state, view),
        _ if gone && heads(state, Some(def)).iter().all(|head| ours.contains(head)) => return done,
        _ if gone => return over("the definition is not there any more"),
        Kind::Add if others_wrote(state, &op, ours, |_| true) => return over("the definition was changed since"),
        Kind::Add => Draft::Remove { qname, how: Removal::Refuse },
        Kind::Rename if !stands(view.claim) => return over("it was renamed again"),
        Kind::Rename => match before.view(def) {
            Some(old) if view.name == old.name => return done,
            Some(old) => Draft::Rename { qname, to: old.name.clone() },
            None => return over("its former name is not known"),
        },
        Kind::Edit | Kind::Replace if only_ours_since(state, &op, ours) => match before.view(def) {
            Some(old) if has_text_of(state, view, old) => return done,
            Some(old) => Draft::Replace { qname, body: current_text(state, old), doc: Some(old.doc.clone()) },
            None => return over("its former body is not known"),
        },
        Kind::Replace if !stands(view.epoch) => return over("its body was replaced again"),
        Kind::Replace if others_wrote(state, &op, ours, |kind| matches!(kind, Kind::Replace | Kind::Edit)) => {
            return over("its body was changed since");
        }
        Kind::Replace => match before.view(def) {
            Some(old) => {
                let body = current_text(state, old);
                Draft::Replace { qname, body, doc: Some(old.doc.clone()) }
            }
            None => return over("its former body is not known"),
        },
        Kind::Edit => return revert_edit(state, before, &op, &issuer, ours),
        Kind::Link | Kind::Unlink => {
            let to = op.to_def().and_then(|to| state.view(to)).map(View::qname);
            let linked = op.to_def().is_some_and(|to| view.links.contains(&to));
            match (op.kind, to) {
                _ if !ours.is_empty() && linked != (op.kind == Kind::Link) => return done,
                (Kind::Link, Some(to)) => Draft::Unlink(qname, to),
                (_, Some(to)) => Draft::Link(qname, to),
                _ => return over("what it links to is not known"),
            }
        }
    };
    issue(state, &draft, &issuer).map(|ops| (ops, Vec::new()))
}

/// Returns whether ops wrote to the body since an op, and all of them are `ours`.
fn only_ours_since(state: &State, op: &Op, ours: &HashSet<OpId>) -> bool {
    let Some(lattice) = state.graph().lattice(op.target()) else { return false };
    let nodes = lattice.ops.iter().filter_map(|id| state.graph().node(*id));
    let writes = |kind: Kind| matches!(kind, Kind::Add | Kind::Replace | Kind::Edit);
    let mut since = nodes.map(|node| &node.op).filter(|later| writes(later.kind) && later.key() > op.key()).peekable();
    since.peek().is_some() && since.all(|later| ours.contains(&later.id))
}

/// Returns whether ops that are not `ours` changed the definition of an op since; `counts` says which kinds do. An op that
/// is reverted by itself, with none of `ours`, is so over what came later.
fn others_wrote(state: &State, op: &Op, ours: &HashSet<OpId>, counts: impl Fn(Kind) -> bool) -> bool {
    let Some(lattice) = state.graph().lattice(op.target()).filter(|_| !ours.is_empty()) else { return false };
    let nodes = lattice.ops.iter().filter_map(|id| state.graph().node(*id)).filter(|node| node.void.is_none());
    nodes.map(|node| &node.op).any(|later| counts(later.kind) && later.key() > op.key() && !ours.contains(&later.id))
}

/// Returns whether a definition has the text that it had in an older view.
fn has_text_of(state: &State, view: &View, old: &View) -> bool {
    view.doc == old.doc && view.body_text() == current_text(state, old)
}

/// Returns a draft that brings a removed definition back with its last body.
pub(super) fn restore(state: &State, view: &View) -> Draft {
    Draft::Add {
        qname: QName::new(view.layer, view.name.clone()),
        body: current_text(state, view),
        doc: Some(view.doc.clone()),
        def: Some(view.id),
    }
}

/// Returns the body of an older view with the names of now.
pub fn current_text(state: &State, old: &View) -> String {
    let mut body = old.body.clone();
    let parts = &mut split(&body);
    for reg in parts.header.values_mut().chain(parts.units.iter_mut().flat_map(|unit| unit.regs.values_mut())) {
        crate::strand::lang::resolve::each_ref(reg, &mut |reference| {
            if let (None, Some(id)) = (reference.bound, reference.def()) {
                reference.bound = Some(id);
            }
        });
    }
    if let Some(bound) = join(old.layer, parts.clone()) {
        body = bound;
    }
    state.resolve_body(&mut body);
    crate::strand::lang::print::body(&body)
}

/// Restores what the edit still holds.
fn revert_edit(
    state: &mut State,
    before: &State,
    op: &Op,
    issuer: &Issuer,
    ours: &HashSet<OpId>,
) -> Result<(Vec<Op>, Vec<String>), Refusal> {
    let id = op.id;
    let over = |why: &str| Refusal::Superseded(format!("cannot revert {id}: {why}"));
    let def = op.target();
    let view = state.view(def).ok_or_else(|| over("the definition is not known"))?;
    if op.base != Some(view.epoch) {
        return Err(over("its body was replaced since"));
    }
    let old = before.view(def).ok_or_else(|| over("its former body is not known"))?;
    let mut work = EditBack {
        state,
        def,
        view,
        old,
        changes: Vec::new(),
        skipped: Vec::new(),
        op: blank(Kind::Edit, &view.qname(), issuer),
        ours,
    };
    for change in &op.changes {
        work.undo(id, change);
    }
    let EditBack { changes, skipped, mut op, .. } = work;
    if changes.is_empty() {
        return Err(Refusal::Superseded(format!(
            "cannot revert {id}: all of it was changed since ({})",
            skipped.join(", ")
        )));
    }
    let body = changed_body(view, &changes).ok_or_else(|| over("what is left does not make a body"))?;
    op.changes = changes;
    let mut made = Vec::new();
    admit_edit(state, def, op, body, &mut made);
    Ok((made, skipped))
}

struct EditBack<'s> {
    state: &'s State,
    def: DefId,
    view: &'s View,
    old: &'s View,
    changes: Vec<Change>,
    skipped: Vec<String>,
    op: Op,
    /// The ops beside the edit whose values count as its own.
    ours: &'s HashSet<OpId>,
}

impl EditBack<'_> {
    fn undo(&mut self, id: OpId, change: &Change) {
        match change {
            Change::Set { unit, register, .. } => {
                let target = unit.map_or_else(|| register.to_string(), |unit| format!("{unit}/{register}"));
                if !self.holds(id, *unit, register) || unit.is_some_and(|unit| !self.view.units.contains(&unit)) {
                    self.skipped.push(target);
                    return;
                }
                let value = register_text(self.old, *unit, register).map(Into::into);
                self.changes.push(Change::Set { unit: *unit, register: register.clone(), value });
            }
            Change::Insert(insert) if self.view.units.contains(&insert.id) && !self.has_others_in(insert.id) => {
                self.changes.push(Change::Delete(insert.id))
            }
            Change::Insert(insert) => self.skipped.push(insert.id.to_string()),
            Change::Delete(unit) => self.bring_back(*unit),
        }
    }

    /// Returns whether the edit's value of a register still stands: no later edit of this body wrote it.
    fn holds(&self, id: OpId, unit: Option<UnitId>, register: &str) -> bool {
        let Some(lattice) = self.state.graph().lattice(self.def) else { return false };
        let writes = |change: &Change| matches!(change, Change::Set { unit: u, register: r, .. } if *u == unit && **r == *register);
        let edits = lattice.ops.iter().filter_map(|id| self.state.graph().node(*id));
        let edits = edits.filter(|node| node.void.is_none() && node.op.base == Some(self.view.epoch));
        let newest = edits.filter(|node| node.op.changes.iter().any(writes)).max_by_key(|node| node.op.key());
        newest.is_some_and(|node| node.op.id == id || self.ours.contains(&node.op.id))
    }

    /// Returns whether an edit that is not among `ours`, where there are some, wrote into a unit.
    fn has_others_in(&self, inserted: UnitId) -> bool {
        let Some(lattice) = self.state.graph().lattice(self.def).filter(|_| !self.ours.is_empty()) else {
            return false;
        };
        let writes = |change: &Change| match change {
            Change::Set { unit, .. } => *unit == Some(inserted),
            Change::Insert(insert) => insert.parent == Some(inserted),
            Change::Delete(_) => false,
        };
        let edits = lattice.ops.iter().filter_map(|id| self.state.graph().node(*id));
        let mut others = edits.filter(|node| node.void.is_none() && !self.ours.contains(&node.op.id));
        others.any(|node| node.op.changes.iter().any(writes))
    }

    /// Inserts a deleted unit again, after the sibling that stood before it.
    fn bring_back(&mut self, unit: UnitId) {
        let parts = split(&self.old.body);
        let Some(at) = self.old.units.iter().position(|id| *id == unit) else {
            return self.skipped.push(unit.to_string());
        };
        let root_parent = parts.units[at].parent;
        let parent = root_parent.and_then(|parent| self.old.units.get(parent)).copied();
        let lost_parent = parent.is_some_and(|parent| !self.view.units.contains(&parent));
        if lost_parent {
            return self.skipped.push(unit.to_string());
        }
        let before = (0..at)
            .rev()
            .find(|i| parts.units[*i].parent == root_parent && self.view.units.contains(&self.old.units[*i]));
        let mut ids: Vec<(usize, UnitId)> = Vec::new();
        for index in at..parts.units.len() {
            let own = index == at;
            let below =
                parts.units[index].parent.and_then(|parent| ids.iter().find(|(i, _)| *i == parent)).map(|(_, id)| *id);
            if !own && below.is_none() {
                continue;
            }
            let inserted = self.changes.iter().filter(|change| matches!(change, Change::Insert(_))).count();
            let id = UnitId { op: self.op.id, n: inserted as u32 + 1 };
            let after = if own {
                before.map(|i| self.old.units[i])
            } else {
                let sibling = ids.iter().rev().find(|(i, _)| parts.units[*i].parent == parts.units[index].parent);
                sibling.map(|(_, id)| *id)
            };
            let regs = parts.units[index].regs.iter().map(|(name, reg)| (name.to_string(), reg.text())).collect();
            let parent = if own { parent } else { below };
            self.changes.push(Change::Insert(Box::new(Insert { id, after, parent, regs })));
            ids.push((index, id));
        }
    }
}

fn register_text(view: &View, unit: Option<UnitId>, register: &str) -> Option<String> {
    if register == "doc" && unit.is_none() {
        return Some(view.doc.clone());
    }
    let parts = split(&view.body);
    let regs = match unit {
        None => &parts.header,
        Some(unit) => &parts.units.get(view.units.iter().position(|id| *id == unit)?)?.regs,
    };
    regs.get(register).map(Reg::text)
}

/// Returns the body a view will have after these changes, the changed registers parsed again.
pub fn changed_body(view: &View, changes: &[Change]) -> Option<crate::strand::lang::ast::Body> {
    let mut parts = split(&view.body);
    let parse = |unit: bool, name: &str, text: &str| parse_register(category(view.layer, unit, name)?, text).ok();
    let mut ids: Vec<UnitId> = view.units.clone();
    let mut deleted: BTreeSet<UnitId> = BTreeSet::new();
    for change in changes {
        match change {
            Change::Set { unit: None, register, .. } if **register == *"doc" => {}
            Change::Set { unit, register, value } => {
                let regs = match unit {
                    None => &mut parts.header,
                    Some(unit) => &mut parts.units.get_mut(ids.iter().position(|id| id == unit)?)?.regs,
                };
                match value {
                    Some(text) => {
                        regs.insert(RegName::Owned(register.to_string()), parse(unit.is_some(), register, text)?);
                    }
                    None => {
                        regs.remove(&**register);
                    }
                }
            }
            Change::Insert(insert) => {
                let Insert { id, parent, regs, .. } = &**insert;
                let parent = parent.and_then(|parent| ids.iter().position(|id| *id == parent));
                let mut unit = Unit { id: Some(*id), parent, regs: Default::default() };
                for (name, text) in regs {
                    unit.regs.insert(RegName::Owned(name.clone()), parse(true, name, text)?);
                }
                ids.push(*id);
                parts.units.push(unit);
            }
            Change::Delete(unit) => {
                deleted.insert(*unit);
            }
        }
    }
    join(view.layer, without(parts, &ids, &deleted))
}

/// Leaves out deleted units and their descendants.
fn without(parts: Parts, ids: &[UnitId], deleted: &BTreeSet<UnitId>) -> Parts {
    let mut indices: Vec<Option<usize>> = Vec::with_capacity(parts.units.len());
    let mut units = Vec::new();
    for (index, mut unit) in parts.units.into_iter().enumerate() {
        let parent = unit.parent.map(|parent| indices.get(parent).copied().flatten());
        if ids.get(index).is_some_and(|id| deleted.contains(id)) || parent == Some(None) {
            indices.push(None);
            continue;
        }
        unit.parent = parent.flatten();
        indices.push(Some(units.len()));
        units.push(unit);
    }
    Parts { header: parts.header, units }
}

//! Issuing refused ops again: what they meant, on the present state.

use std::collections::HashMap;

use super::{Draft, Issuer, Refusal, Removal, edit_sealed, issue, revert::changed_body};
use crate::strand::id::{DefId, OpId, QName, UnitId};
use crate::strand::op::{Change, Kind, Op};
use crate::strand::state::State;

/// Issues ops again, parents first, as one bundle. References among them follow to the new
/// definitions by name.
pub fn reissue(state: &mut State, ops: &[Op], issuer: &Issuer) -> Result<Vec<Op>, Refusal> {
    let mut made: Vec<Op> = Vec::new();
    // Definitions that were to be new, by their old identity.
    let mut renewed: HashMap<DefId, DefId> = HashMap::new();
    for op in ops {
        let def = op.def.map(|def| renewed.get(&def).copied().unwrap_or(def));
        let current = def.and_then(|def| state.view(def)).filter(|view| view.visible()).map(|view| view.qname());
        let qname = current.clone().unwrap_or_else(|| QName::new(op.layer, op.name.clone()));
        let other = || op.to_def().and_then(|to| state.view(to)).map(|view| view.qname());
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let draft = match op.kind {
            Kind::Add => Draft::Add { qname, body: text(&op.body), doc: op.doc.clone(), def },
            Kind::Replace => Draft::Replace { qname, body: text(&op.body), doc: op.doc.clone() },
            Kind::Rename => Draft::Rename { qname, to: text(&op.name_new) },
            Kind::Remove => Draft::Remove { qname, how: Removal::Refuse },
            Kind::Link | Kind::Unlink => match (op.kind, other()) {
                (Kind::Link, Some(to)) => Draft::Link(qname, to),
                (_, Some(to)) => Draft::Unlink(qname, to),
                _ => continue,
            },
            Kind::Edit => {
                let issued = def.is_some_and(|def| same_body(state, def, op, issuer, &mut made));
                match (issued, &op.patch) {
                    (true, _) => continue,
                    (false, Some(patch)) => Draft::Edit { qname, patch: patch.clone() },
                    (false, None) => {
                        return Err(Refusal::PatchFailed(format!(
                            "the body that {} was made on is not there any more",
                            op.id
                        )));
                    }
                }
            }
        };
        let ops = issue(state, &draft, issuer).inspect_err(|_| {
            let ids = made.iter().map(|op| op.id).collect();
            state.retract(&ids);
            state.refresh();
        })?;
        if let (Kind::Add, None, Some(new)) = (op.kind, op.def, ops.first()) {
            renewed.insert(op.id, new.id);
        }
        made.extend(ops);
    }
    Ok(made)
}

/// Issues an edit's changes as they are, when the body they were made on still stands.
fn same_body(state: &mut State, def: DefId, op: &Op, issuer: &Issuer, made: &mut Vec<Op>) -> bool {
    let Some(view) = state.view(def).filter(|view| op.base == Some(view.epoch)) else { return false };
    let units = &view.units;
    let own = |unit: &UnitId| unit.op == op.id || units.contains(unit);
    let fits = op.changes.iter().all(|change| match change {
        Change::Set { unit, .. } => unit.iter().all(&own),
        Change::Insert { after, parent, .. } => after.iter().chain(parent).all(&own),
        Change::Delete(unit) => own(unit),
    });
    let renamed = |id: OpId| -> Vec<Change> { op.changes.iter().map(|change| moved(change, op.id, id)).collect() };
    let Some(body) = Some(()).filter(|()| fits).and_then(|()| changed_body(view, &op.changes)) else { return false };
    edit_sealed(state, def, |id| (renamed(id), body), issuer, made);
    true
}

/// A change whose own inserts carry the id of the new op.
fn moved(change: &Change, old: OpId, new: OpId) -> Change {
    let unit = |unit: UnitId| if unit.op == old { UnitId { op: new, ..unit } } else { unit };
    match change {
        Change::Set { unit: u, register, value } => {
            Change::Set { unit: u.map(unit), register: register.clone(), value: value.clone() }
        }
        Change::Insert { id, after, parent, regs } => {
            Change::Insert { id: unit(*id), after: after.map(unit), parent: parent.map(unit), regs: regs.clone() }
        }
        Change::Delete(u) => Change::Delete(unit(*u)),
    }
}

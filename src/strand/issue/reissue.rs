//! Issues refused or withdrawn ops again on the present state.

use std::collections::HashMap;

use super::{Draft, Issuer, Refusal, Removal, edit_sealed, issue, patch_of, revert::changed_body};
use crate::strand::id::{DefId, OpId, QName, UnitId};
use crate::strand::op::{Change, Insert, Kind, Op};
use crate::strand::state::State;

/// Issues ops again, parents first, as one bundle. References among them follow to the new
/// definitions by name.
pub fn reissue(state: &mut State, ops: &[Op], issuer: &Issuer) -> Result<Vec<Op>, Refusal> {
    let mut made: Vec<Op> = Vec::new();
    // The new id of each op: definitions, bodies and units carry the id of the op that made them.
    let mut renewed: HashMap<OpId, OpId> = HashMap::new();
    for op in ops {
        let def = op.def.map(|def| renewed.get(&def).copied().unwrap_or(def));
        let current = def.and_then(|def| state.view(def)).filter(|view| view.visible()).map(|view| view.qname());
        let qname = current.clone().unwrap_or_else(|| QName::new(op.layer, &*op.name));
        let other = || op.to_def().and_then(|to| state.view(to)).map(|view| view.qname());
        let body = || op.body.as_deref().unwrap_or_default().to_owned();
        let doc = || op.doc().map(str::to_owned);
        let draft = match op.kind {
            Kind::Add => Draft::Add { qname, body: body(), doc: doc(), def },
            Kind::Replace => Draft::Replace { qname, body: body(), doc: doc() },
            Kind::Rename => Draft::Rename { qname, to: op.name_new().unwrap_or_default().to_owned() },
            Kind::Remove => Draft::Remove { qname, how: Removal::Refuse },
            Kind::Link | Kind::Unlink => match (op.kind, other()) {
                (Kind::Link, Some(to)) => Draft::Link(qname, to),
                (_, Some(to)) => Draft::Unlink(qname, to),
                _ => continue,
            },
            Kind::Edit => {
                if let Some(new) = def.and_then(|def| same_body(state, def, op, &renewed, issuer, &mut made)) {
                    renewed.insert(op.id, new);
                    continue;
                }
                match patch_of(op) {
                    Some(patch) => Draft::Edit { qname, patch },
                    None => {
                        roll_back(state, &made);
                        let gone = format!("the body that {} was made on is not there any more", op.id);
                        return Err(Refusal::PatchFailed(gone));
                    }
                }
            }
        };
        let ops = issue(state, &draft, issuer).inspect_err(|_| roll_back(state, &made))?;
        if let (Kind::Add | Kind::Replace, Some(new)) = (op.kind, ops.iter().find(|new| new.kind == op.kind)) {
            renewed.insert(op.id, new.id);
        }
        made.extend(ops);
    }
    Ok(made)
}

fn roll_back(state: &mut State, made: &[Op]) {
    state.retract(&made.iter().map(|op| op.id).collect());
    state.refresh();
}

/// Issues an edit's changes unchanged, when the body they were made on still exists or was issued again. Returns the id
/// of the new op.
fn same_body(
    state: &mut State,
    def: DefId,
    op: &Op,
    renewed: &HashMap<OpId, OpId>,
    issuer: &Issuer,
    made: &mut Vec<Op>,
) -> Option<OpId> {
    let now = |id: OpId| renewed.get(&id).copied().unwrap_or(id);
    let view = state.view(def).filter(|view| op.base.map(now) == Some(view.epoch))?;
    let units = &view.units;
    let own = |unit: &UnitId| unit.op == op.id || units.contains(&UnitId { op: now(unit.op), ..*unit });
    let fits = op.changes.iter().all(|change| match change {
        Change::Set { unit, .. } => unit.iter().all(&own),
        Change::Insert(insert) => insert.after.iter().chain(&insert.parent).all(&own),
        Change::Delete(unit) => own(unit),
    });
    let changes_for = |id: OpId| -> Vec<Change> {
        let to = |unit: OpId| if unit == op.id { id } else { now(unit) };
        op.changes.iter().map(|change| moved(change, to)).collect()
    };
    let body = Some(()).filter(|()| fits).and_then(|()| changed_body(view, &changes_for(op.id)))?;
    edit_sealed(state, def, |id| (changes_for(id), body), issuer, made);
    made.last().map(|op| op.id)
}

/// Returns a change whose units are those of other ops.
fn moved(change: &Change, to: impl Fn(OpId) -> OpId) -> Change {
    let unit = |unit: UnitId| UnitId { op: to(unit.op), ..unit };
    match change {
        Change::Set { unit: u, register, value } => {
            Change::Set { unit: u.map(unit), register: register.clone(), value: value.clone() }
        }
        Change::Insert(insert) => {
            let (id, after, parent) = (unit(insert.id), insert.after.map(unit), insert.parent.map(unit));
            Change::Insert(Box::new(Insert { id, after, parent, regs: insert.regs.clone() }))
        }
        Change::Delete(u) => Change::Delete(unit(*u)),
    }
}

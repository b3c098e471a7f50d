//! Renames a definition: by a register of its own, and by edits of unbound mentions of the name.

use super::admit::{admit, blank, checked_name, edit_sealed, heads, own_heads, settle_name, target};
use super::draft::Issuer;
use super::refusal::Refusal;
use crate::strand::id::{DefId, QName};
use crate::strand::lang::ast::{Body, Ref, To};
use crate::strand::lang::resolve::{each_ref, hidden};
use crate::strand::lang::unit::{Parts, Reg, join, split};
use crate::strand::op::{Change, Kind, Op};
use crate::strand::state::{Edge, State};

pub(super) fn rename(
    state: &mut State,
    qname: &QName,
    to: &str,
    issuer: &Issuer,
    made: &mut Vec<Op>,
) -> Result<(), Refusal> {
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
    settle_name(state, id, &issuer, made);
    let mut op = blank(Kind::Rename, qname, &issuer);
    op.def = Some(id);
    op.set_rare(|rare| rare.name_new = Some(to.to_owned()));
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

/// Returns definitions that mention another by name only.
fn late_mentions(state: &State, id: DefId) -> Vec<DefId> {
    let mentions = |edge: &Edge| edge.to == To::Def(id) && edge.bound.is_none();
    let referrers = state.referrers(id).into_iter();
    referrers
        .filter(|who| state.view(*who).is_some_and(|view| view.visible() && view.edges.iter().any(mentions)))
        .collect()
}

/// Returns the registers of a definition that mention another by name only, with its new name, and the body they make.
fn rewrite_late(state: &State, who: DefId, id: DefId, new_name: &str) -> Option<(Vec<Change>, Body)> {
    let view = state.view(who)?;
    let Parts { mut header, mut units } = split(&view.body);
    let mut changes = Vec::new();
    let mut rewrite = |unit, name: &str, reg: &mut Reg| {
        if name_late(reg, id, new_name) {
            changes.push(Change::Set { unit, register: name.into(), value: Some(reg.text().into()) });
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
/// such a register counts as written again.
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

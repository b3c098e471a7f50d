//! Removes a definition, and handles the references to it.

use std::collections::{BTreeSet, HashMap};

use super::admit::{admit, blank, heads, own_heads, settle_name, target};
use super::draft::{Issuer, Removal};
use super::references::references;
use super::refusal::Refusal;
use crate::strand::id::{DefId, OpId, QName};
use crate::strand::op::{Kind, Op};
use crate::strand::state::State;

pub(super) fn remove(
    state: &mut State,
    qname: &QName,
    how: Removal,
    issuer: &Issuer,
    made: &mut Vec<Op>,
) -> Result<(), Refusal> {
    let id = target(state, qname)?.id;
    let found = references(state, id);
    match how {
        Removal::Refuse if !found.is_empty() => return Err(Refusal::Referenced(found)),
        Removal::Cascade if !found.is_empty() => {
            let issuer = if issuer.bundle.is_some() { issuer.clone() } else { issuer.bundled() };
            cascade(state, id, &issuer, made);
            return Ok(());
        }
        _ => {}
    }
    let issuer =
        if state.absorbed_by(id).is_empty() || issuer.bundle.is_some() { issuer.clone() } else { issuer.bundled() };
    // Naming the heads of those that refer makes the dangling intended.
    let mut who = state.referrers(id);
    who.extend(state.linked_to(id));
    let mut parents = heads(state, who);
    parents.extend(own_heads(state, id));
    remove_one(state, id, parents, &issuer, made);
    Ok(())
}

fn remove_one(state: &mut State, id: DefId, mut parents: BTreeSet<OpId>, issuer: &Issuer, made: &mut Vec<Op>) {
    settle_name(state, id, issuer, made);
    let Some(view) = state.view(id) else { return };
    let mut op = blank(Kind::Remove, &view.qname(), issuer);
    op.def = Some(id);
    parents.extend(heads(state, Some(id)));
    admit(state, op, parents, made);
}

/// Removes a definition and everything that refers to it, however far, dependents first.
fn cascade(state: &mut State, root: DefId, issuer: &Issuer, made: &mut Vec<Op>) {
    let dependents = |state: &State, id: DefId| {
        let mut who: BTreeSet<DefId> = state.referrers(id).into_iter().collect();
        who.extend(state.linked_to(id));
        who.remove(&id);
        who.into_iter().filter(|who| state.view(*who).is_some_and(|view| view.live())).collect::<Vec<_>>()
    };
    let mut order: Vec<DefId> = Vec::new();
    let mut edges: HashMap<DefId, Vec<DefId>> = HashMap::new();
    let mut stack: Vec<(DefId, usize)> = vec![(root, 0)];
    // Depth first, a definition after its dependents.
    while let Some((id, next)) = stack.pop() {
        let children = edges.entry(id).or_insert_with(|| dependents(state, id)).clone();
        match children.get(next) {
            Some(child) => {
                stack.push((id, next + 1));
                if !edges.contains_key(child) {
                    stack.push((*child, 0));
                }
            }
            None => order.push(id),
        }
    }
    let issuer = issuer.because("cascade");
    let mut removed: HashMap<DefId, OpId> = HashMap::new();
    for id in order {
        let dependents = edges.get(&id).into_iter().flatten();
        let mut parents: BTreeSet<OpId> = dependents.filter_map(|who| removed.get(who).copied()).collect();
        parents.extend(own_heads(state, id));
        remove_one(state, id, parents, &issuer, made);
        if let Some(op) = made.last() {
            removed.insert(id, op.id);
        }
    }
}

//! Removing: who refers to a definition, and what becomes of them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use super::{Issuer, Refusal, admit, blank, heads, own_heads, settle, target};
use crate::strand::id::{DefId, Layer, OpId, QName};
use crate::strand::lang::place::Place;
use crate::strand::lazy::Mention;
use crate::strand::op::{Kind, Op};
use crate::strand::state::State;

/// What becomes of those that refer to a removed definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removal {
    /// If there are any, nothing is removed.
    Refuse,
    /// They are removed as well.
    Cascade,
    /// They are left dangling.
    Force,
}

/// A referring definition's name, and its units that refer.
type Referring = (String, Vec<String>);

/// Who refers to a definition.
#[derive(Clone, Debug, PartialEq)]
pub struct References {
    /// The definition.
    pub name: String,
    /// Each referring definition's layer and its units, grouped by layer.
    groups: Vec<(Layer, Vec<Referring>)>,
}

impl References {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Each referring unit: `tile.NewForm:1`.
    pub fn places(&self) -> Vec<String> {
        let units = |(name, units): &Referring| units.iter().map(|unit| format!("{name}:{unit}")).collect::<Vec<_>>();
        self.groups.iter().flat_map(|(_, defs)| defs.iter().flat_map(units)).collect()
    }

    /// `3 tiles, 2 reducers`.
    pub fn counts(&self) -> String {
        let count = |(layer, defs): &(Layer, Vec<_>)| {
            let plural = if defs.len() == 1 { "" } else { "s" };
            format!("{} {layer}{plural}", defs.len())
        };
        self.groups.iter().map(count).collect::<Vec<_>>().join(", ")
    }
}

impl fmt::Display for References {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "cannot remove {} (referenced by {})", self.name, self.counts())?;
        let places = self.places();
        for place in places.iter().take(20) {
            writeln!(f, "  {place}")?;
        }
        if places.len() > 20 {
            writeln!(f, "  ... and {} more", places.len() - 20)?;
        }
        write!(f, "Use --cascade to remove all dependents, or --force to leave dangling")
    }
}

/// The units of other live definitions that refer or link to one.
pub fn references(state: &State, id: DefId) -> References {
    let mut groups: HashMap<Layer, Vec<Referring>> = HashMap::new();
    let linked: BTreeSet<DefId> = state.linked_to(id).into_iter().collect();
    let mut who: BTreeMap<DefId, Mention> = state.mentions(id).into_iter().map(|found| (found.id, found)).collect();
    for other in &linked {
        if let (false, Some(qname)) = (who.contains_key(other), state.qname(*other)) {
            who.insert(*other, Mention { id: *other, layer: qname.layer, label: qname.name, places: Vec::new() });
        }
    }
    who.remove(&id);
    for (other, Mention { layer, label, places, .. }) in who {
        let mut units: Vec<String> = places.iter().map(Place::to_string).collect();
        if linked.contains(&other) {
            units.push("link".to_owned());
        }
        groups.entry(layer).or_default().push((format!("{layer}.{label}"), units));
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by(|(a, left), (b, right)| right.len().cmp(&left.len()).then(a.cmp(b)));
    let name = state.view(id).map(|view| view.qname().to_string()).unwrap_or_default();
    References { name, groups }
}

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
    settle(state, id, issuer, made);
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

//! Finds the references to a definition.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use crate::strand::id::{DefId, Layer};
use crate::strand::lang::place::Place;
use crate::strand::lazy::Mention;
use crate::strand::state::State;

/// A referring definition's name, and its units that refer.
type Referring = (String, Vec<String>);

/// The definitions that refer to a definition.
#[derive(Clone, Debug, PartialEq)]
pub struct References {
    /// The definition.
    pub name: String,
    /// Each referring definition's layer and its units, grouped by layer.
    groups: Vec<(Layer, Vec<Referring>)>,
}

impl References {
    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Returns each referring unit: `tile.NewForm:1`.
    pub fn places(&self) -> Vec<String> {
        let units = |(name, units): &Referring| units.iter().map(|unit| format!("{name}:{unit}")).collect::<Vec<_>>();
        self.groups.iter().flat_map(|(_, defs)| defs.iter().flat_map(units)).collect()
    }

    /// Formats as `3 tiles, 2 reducers`.
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

/// Returns the units of other live definitions that refer or link to one.
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

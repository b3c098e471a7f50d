//! The state: what the admitted ops come to. A pure function of their set, kept up to date a
//! definition at a time.

mod hashing;
mod labels;
mod merge;
mod resolving;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::graph::{Graph, Offered};
use super::hash::{Encoded, Hash};
use super::id::{DefId, Layer, OpId, QName, UnitId};
use super::lang::ast::{Body, To};
use super::lang::print;
use super::lang::resolve::{Place, Places};
use super::op::Op;
use resolving::Watch;

/// Whether a definition can be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It stands under its label.
    Visible,
    /// Another definition of the same name stands for it.
    Absorbed(DefId),
    /// It was removed.
    Dead,
}

/// One reference out of a definition.
#[derive(Clone, Debug)]
pub struct Edge {
    /// Where it stands.
    pub place: Place,
    /// The layer it was looked up in.
    pub layer: Layer,
    /// The name, as printed now.
    pub name: String,
    /// The definition its writer bound it to.
    pub bound: Option<DefId>,
    /// Where it leads.
    pub to: To,
    /// The op that wrote it.
    pub writer: Option<OpId>,
}

/// One definition as it stands.
#[derive(Clone, Debug)]
pub struct View {
    /// Its identity.
    pub id: DefId,
    /// Its layer.
    pub layer: Layer,
    /// The name it shows.
    pub label: String,
    /// The name its ops claim.
    pub name: String,
    /// The op that set the name.
    pub claim: OpId,
    /// Whether that op was an `add`.
    pub claimed_by_add: bool,
    /// Whether it can be seen.
    pub status: Status,
    /// The op whose body it stands on.
    pub epoch: OpId,
    /// What took its place when it was removed.
    pub settled: Option<DefId>,
    /// Doc lines without `## `.
    pub doc: String,
    /// The body, resolved.
    pub body: Body,
    /// Where each of its nodes stands.
    pub places: Places,
    /// The identity of each unit of a body that has units.
    pub units: Vec<UnitId>,
    /// Its references.
    pub edges: Vec<Edge>,
    /// Definitions it is linked to.
    pub links: Vec<DefId>,
    /// Its content hash.
    pub hash: Hash,
    /// Its canonical text with doc lines.
    pub text: String,
    encoded: Encoded,
    watch: Watch,
}

impl View {
    /// `layer.Label`.
    pub fn qname(&self) -> QName {
        QName::new(self.layer, self.label.clone())
    }

    /// Whether it can be seen.
    pub fn visible(&self) -> bool {
        self.status == Status::Visible
    }

    /// Whether it is live: visible or absorbed.
    pub fn live(&self) -> bool {
        self.status != Status::Dead
    }

    /// The definitions its hash is made of, in order of first occurrence.
    pub fn deps(&self) -> &[DefId] {
        &self.encoded.deps
    }

    /// The body's canonical text.
    pub fn body_text(&self) -> String {
        print::body(&self.body)
    }
}

/// What a refresh changed.
#[derive(Clone, Debug, Default)]
pub struct Changed {
    /// Definitions whose text, hash, label or status changed, or that are new.
    pub definitions: BTreeSet<DefId>,
    /// How many hashes were computed.
    pub rehashed: usize,
}

/// The graph with the view of each definition.
#[derive(Debug, Default)]
pub struct State {
    graph: Graph,
    views: HashMap<DefId, View>,
    /// Visible definitions by label.
    labels: HashMap<Layer, BTreeMap<String, DefId>>,
    /// Live definitions by claimed name.
    claims: BTreeMap<(Layer, String), BTreeSet<DefId>>,
    /// Names some claimant did not get.
    contested: BTreeSet<(Layer, String)>,
    /// Who mentions a definition, by any step of the way to what it leads to.
    watchers: HashMap<DefId, HashSet<DefId>>,
    /// Who mentions a name that is looked up.
    late: HashMap<(Layer, String), HashSet<DefId>>,
    /// Who refers to a definition.
    referrers: HashMap<DefId, HashSet<DefId>>,
    /// Who is linked to a definition.
    linked: HashMap<DefId, HashSet<DefId>>,
    dirty: HashSet<DefId>,
    /// What changed since someone last asked.
    touched: HashSet<DefId>,
}

impl State {
    /// A state without ops.
    pub fn new() -> State {
        State::default()
    }

    /// The ops behind it.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Offers ops without bringing the views up to date.
    pub fn offer(&mut self, ops: impl IntoIterator<Item = Op>) -> Offered {
        let offered = self.graph.offer(ops);
        for id in &offered.admitted {
            if let Some(node) = self.graph.node(*id) {
                self.dirty.insert(node.op.target());
            }
        }
        offered
    }

    /// Takes ops, and what follows them, out again. Returns what went.
    pub fn retract(&mut self, ids: &HashSet<OpId>) -> Vec<Op> {
        let gone = self.graph.retract(ids);
        self.dirty.extend(gone.iter().map(Op::target));
        gone
    }

    /// Forgets ops that wait for a parent.
    pub fn drop_pending(&mut self, ids: &HashSet<OpId>) {
        self.graph.drop_pending(ids);
    }

    /// Brings every view up to date.
    pub fn refresh(&mut self) -> Changed {
        let dirty = std::mem::take(&mut self.dirty);
        if dirty.is_empty() {
            return Changed::default();
        }
        let before: HashMap<DefId, (String, Status)> = dirty
            .iter()
            .filter_map(|id| self.views.get(id).map(|view| (*id, (view.label.clone(), view.status))))
            .collect();
        let (names, gone) = self.remerge(&dirty);
        let relabelled = self.relabel(&dirty, &names, before);
        let resolve = self.to_resolve(&dirty, &relabelled, &gone);
        let mut changed = Changed::default();
        for id in &resolve {
            if self.resolve_view(*id) {
                changed.definitions.insert(*id);
            }
        }
        changed.definitions.extend(relabelled.keys());
        changed.definitions.extend(&gone);
        self.rehash(&resolve, &mut changed);
        self.touched.extend(&changed.definitions);
        changed
    }

    /// The definitions that changed since this was last asked.
    pub fn take_touched(&mut self) -> HashSet<DefId> {
        std::mem::take(&mut self.touched)
    }

    /// Offers ops and brings the views up to date.
    pub fn apply(&mut self, ops: impl IntoIterator<Item = Op>) -> (Offered, Changed) {
        let offered = self.offer(ops);
        let changed = self.refresh();
        (offered, changed)
    }

    /// A definition, seen or not.
    pub fn view(&self, id: DefId) -> Option<&View> {
        self.views.get(&id)
    }

    /// Every definition that ever was, in no order.
    pub fn views(&self) -> impl Iterator<Item = &View> {
        self.views.values()
    }

    /// The visible definition of a name.
    pub fn find(&self, layer: Layer, name: &str) -> Option<&View> {
        self.labels.get(&layer)?.get(name).and_then(|id| self.views.get(id))
    }

    /// The visible definition of a qualified name.
    pub fn named(&self, qname: &QName) -> Option<&View> {
        self.find(qname.layer, &qname.name)
    }

    /// The visible definitions of a layer by name.
    pub fn layer(&self, layer: Layer) -> impl Iterator<Item = &View> {
        self.labels.get(&layer).into_iter().flat_map(|labels| labels.values()).filter_map(|id| self.views.get(id))
    }

    /// All visible definitions, in layer order then by name.
    pub fn visible(&self) -> impl Iterator<Item = &View> {
        Layer::ALL.into_iter().flat_map(|layer| self.layer(layer))
    }

    /// The live definitions that refer to one, or to what stands behind it, by identity.
    pub fn referrers(&self, id: DefId) -> Vec<DefId> {
        let mut found: Vec<DefId> = self.referrers.get(&id).into_iter().flatten().copied().collect();
        found.sort_unstable();
        found
    }

    /// The live definitions linked to one, by identity.
    pub fn linked_to(&self, id: DefId) -> Vec<DefId> {
        let mut found: Vec<DefId> = self.linked.get(&id).into_iter().flatten().copied().collect();
        found.sort_unstable();
        found
    }

    /// Definitions that mention one by any step of the way, live or not.
    pub fn watchers(&self, id: DefId) -> impl Iterator<Item = DefId> + '_ {
        self.watchers.get(&id).into_iter().flatten().copied()
    }

    /// Definitions that look a name up.
    pub fn late_watchers(&self, layer: Layer, name: &str) -> Vec<DefId> {
        self.late.get(&(layer, name.to_owned())).into_iter().flatten().copied().collect()
    }

    /// The definitions absorbed by one.
    pub fn absorbed_by(&self, id: DefId) -> Vec<DefId> {
        let Some(view) = self.views.get(&id) else { return Vec::new() };
        let claimants = self.claims.get(&(view.layer, view.name.clone()));
        let absorbed = |other: &DefId| self.views.get(other).is_some_and(|other| other.status == Status::Absorbed(id));
        claimants.into_iter().flatten().copied().filter(absorbed).collect()
    }

    /// The hash of the whole state: equal exactly when every live definition is.
    pub fn state_hash(&self) -> String {
        let mut live: Vec<&View> = self.views.values().filter(|view| view.live()).collect();
        live.sort_by_key(|view| view.id);
        let mut hasher = blake3::Hasher::new();
        let mut item = |bytes: &[u8]| {
            hasher.update(&(bytes.len() as u32).to_le_bytes());
            hasher.update(bytes);
        };
        for view in live {
            item(view.id.to_string().as_bytes());
            item(view.layer.word().as_bytes());
            item(view.label.as_bytes());
            item(if view.visible() { b"visible" } else { b"absorbed" });
            item(view.text.as_bytes());
            item(&view.hash.0);
            for link in &view.links {
                item(link.to_string().as_bytes());
            }
        }
        hasher.finalize().to_hex().to_string()
    }
}

#[cfg(test)]
mod tests;

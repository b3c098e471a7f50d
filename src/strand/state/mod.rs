//! The state: the combined effect of the admitted ops. A pure function of their set, kept up to date a definition at a
//! time.

mod hashing;
mod labels;
mod merge;
mod reading;
mod resolving;

use std::cell::{Cell, OnceCell};
use std::collections::{BTreeSet, HashSet};
use std::ops::Deref;
use std::rc::Rc;

use super::graph::{Graph, MergeOutcome, Node};
use super::hash::Encoded;
use super::id::{DefId, Layer, OpId, QName, UnitId};
use super::lang::ast::{Body, Ref, To};
use super::lang::place::{Place, Places};
use super::lang::print;
use super::lazy::{
    AppendOnlyMap, ArchiveReader, CheckpointDefinition, Head, IdMap, IdSet, LazySource, Mention, Name, Names, Relation,
    Sets,
};
pub use super::lazy::{Visibility, Watch};
use super::op::Op;

/// One reference from a definition.
#[derive(Clone, Debug)]
pub struct Edge {
    /// Its place.
    pub place: Place,
    /// The layer it was looked up in.
    pub layer: Layer,
    /// The name, as printed now.
    pub name: String,
    /// The definition its writer bound it to.
    pub bound: Option<DefId>,
    /// Its target.
    pub to: To,
    /// The op that wrote it.
    pub writer: Option<OpId>,
}

impl Edge {
    /// Returns the reference that was looked up at a place.
    fn of(reference: &Ref, place: Place) -> Edge {
        Edge {
            place,
            layer: reference.layer,
            name: reference.name.clone(),
            bound: reference.bound,
            to: reference.to,
            writer: reference.writer,
        }
    }
}

/// One definition in its present form. Its head can be read as if it were part of the view.
#[derive(Clone, Debug)]
pub struct View {
    head: Head,
    /// Doc lines without `## `.
    pub doc: String,
    /// The body, resolved.
    pub body: Body,
    /// The place of each of its nodes.
    pub places: Places,
    /// The identity of each unit of a body that has units.
    pub units: Vec<UnitId>,
    /// Its references.
    pub edges: Vec<Edge>,
    /// Definitions it is linked to.
    pub links: Vec<DefId>,
    /// Names under which a slot is read where a binder is called the same.
    pub hidden: Box<[String]>,
    text: OnceCell<String>,
    encoded: Encoded,
    watch: Watch,
}

impl Deref for View {
    type Target = Head;

    fn deref(&self) -> &Head {
        &self.head
    }
}

impl View {
    /// Returns `layer.Label`.
    pub fn qname(&self) -> QName {
        QName::new(self.layer, self.label.clone())
    }

    /// Returns whether it can be seen.
    pub fn visible(&self) -> bool {
        self.status == Visibility::Visible
    }

    /// Returns whether it is live: visible or absorbed.
    pub fn live(&self) -> bool {
        self.status != Visibility::Dead
    }

    /// Returns the definitions its hash is made of, in order of first occurrence.
    pub fn deps(&self) -> &[DefId] {
        &self.encoded.deps
    }

    /// Returns what its references depend on.
    pub fn watch(&self) -> &Watch {
        &self.watch
    }

    /// Returns its canonical text with doc lines.
    pub fn text(&self) -> &str {
        self.text.get_or_init(|| print::whole(self.layer, &self.label, &self.doc, &self.body))
    }

    /// Returns the body's canonical text.
    pub fn body_text(&self) -> String {
        print::body(&self.body)
    }
}

/// The changes of a refresh.
#[derive(Clone, Debug, Default)]
pub struct Changed {
    /// Definitions whose text, hash, label or status changed, or that are new.
    pub definitions: BTreeSet<DefId>,
    /// The number of hashes computed.
    pub rehashed: usize,
}

/// Definitions whose label or status changed, with the label they had if they were there.
type Relabelled = Vec<(DefId, Option<String>)>;

/// Changed definitions, some of them more than once.
#[derive(Debug, Default)]
struct Touched {
    ids: Vec<DefId>,
    /// The number of them from which on it is worth to look for those that are there twice.
    limit: usize,
}

impl Touched {
    fn extend(&mut self, ids: impl IntoIterator<Item = DefId>) {
        self.ids.extend(ids);
        if self.ids.len() > self.limit {
            self.ids.sort_unstable();
            self.ids.dedup();
            self.limit = (self.ids.len() * 2).max(4096);
        }
    }
}

/// The ops that take as much memory as one view, with the sets and names that go with it.
const VIEW_WEIGHT: usize = 6;
/// The ops that take as much memory as one row.
const ROW_WEIGHT: usize = 2;

/// The graph with the view of each definition.
#[derive(Debug)]
pub struct State {
    graph: Graph,
    views: AppendOnlyMap<Box<View>>,
    /// The rows loaded from the source.
    rows: AppendOnlyMap<Box<CheckpointDefinition>>,
    /// True if all rows were loaded.
    all_rows: Cell<bool>,
    /// Definitions as their texts show them, as long as nothing changes.
    readings: AppendOnlyMap<Box<View>>,
    lazy: Option<Rc<dyn LazySource>>,
    /// The claimants, the holder and the unbound mentions of each name.
    names: Names,
    /// Names some claimant did not get.
    contested: BTreeSet<Name>,
    /// The definitions that mention a definition, by any step of the way to what it leads to.
    watchers: Sets,
    /// The definitions that refer to a definition.
    referrers: Sets,
    /// The definitions linked to a definition.
    linked: Sets,
    dirty: IdSet,
    /// The changes since they were last taken.
    touched: Touched,
}

impl Default for State {
    fn default() -> State {
        State::on(None)
    }
}

impl State {
    /// Creates a state without ops.
    pub fn new() -> State {
        State::default()
    }

    /// Creates a state that stands on a source, if there is one, and loads from it what it is asked for.
    pub fn on(lazy: Option<Rc<dyn LazySource>>) -> State {
        State {
            graph: Graph::on(lazy.clone()),
            views: AppendOnlyMap::default(),
            rows: AppendOnlyMap::default(),
            all_rows: Cell::new(false),
            readings: AppendOnlyMap::default(),
            names: Names::new(lazy.clone()),
            contested: lazy.iter().flat_map(|lazy| lazy.contested()).collect(),
            watchers: Sets::new(lazy.clone(), Relation::Watches),
            referrers: Sets::new(lazy.clone(), Relation::Refers),
            linked: Sets::new(lazy.clone(), Relation::Links),
            lazy,
            dirty: IdSet::default(),
            touched: Touched::default(),
        }
    }

    /// Says where the texts of archived ops are.
    pub fn set_archives(&mut self, archives: Rc<dyn ArchiveReader>) {
        self.graph.set_archives(archives);
    }

    /// Takes in ops that were admitted before, without bringing the views up to date.
    pub fn restore(&mut self, nodes: Vec<Node>) {
        self.dirty.extend(nodes.iter().map(|node| node.op.target()));
        self.graph.restore(nodes);
    }

    /// Returns whether it holds everything itself.
    pub fn is_whole(&self) -> bool {
        self.lazy.is_none()
    }

    /// Returns how much is in memory, an op counted as one.
    pub fn weight(&self) -> usize {
        let views = self.views.count() + self.readings.count();
        self.graph.held() + VIEW_WEIGHT * views + ROW_WEIGHT * self.rows.count()
    }

    /// Loads everything, and drops the source.
    fn make_whole(&mut self) {
        if self.is_whole() {
            return;
        }
        let admitted: Vec<Op> =
            self.graph.ids().filter_map(|id| self.graph.node(id)).map(|node| node.op.clone()).collect();
        let mut whole = State::new();
        whole.offer(admitted);
        whole.apply(self.graph.pending().cloned());
        whole.touched.extend(self.take_touched());
        *self = whole;
    }

    /// Returns the ops behind it.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Offers ops without bringing the views up to date.
    pub fn offer(&mut self, ops: impl IntoIterator<Item = Op>) -> MergeOutcome {
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
        if self.lazy.as_ref().is_some_and(|lazy| ids.iter().any(|id| lazy.has_op(*id))) {
            self.make_whole();
        }
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
        let mut dirty: Vec<DefId> = std::mem::take(&mut self.dirty).into_iter().collect();
        if dirty.is_empty() {
            return Changed::default();
        }
        dirty.sort_unstable();
        self.readings = AppendOnlyMap::default();
        let summaries = self.load_rivals(&dirty);
        let before: IdMap<(String, Visibility)> = dirty
            .iter()
            .filter_map(|id| self.head(*id).map(|head| (*id, (head.label.to_owned(), head.status))))
            .collect();
        let (names, gone) = self.remerge(&dirty, summaries);
        let relabelled = self.relabel(&dirty, names, before);
        let resolve = self.to_resolve(&dirty, &relabelled, &gone);
        let mut changed: IdSet = relabelled.iter().map(|(id, _)| *id).chain(gone).collect();
        for id in &resolve {
            if self.resolve_view(*id) {
                changed.insert(*id);
            }
        }
        let rehashed = self.rehash(&resolve, &mut changed);
        let others = changed.iter().copied().filter(|id| dirty.binary_search(id).is_err());
        self.touched.extend(dirty.iter().copied().chain(others));
        for id in &changed {
            // No row is asked for where there is a view.
            if self.views.contains(*id) {
                self.rows.remove(*id);
            }
        }
        Changed { definitions: changed.into_iter().collect(), rehashed }
    }

    /// Returns the definitions that changed since this was last asked.
    pub fn take_touched(&mut self) -> IdSet {
        let open = std::mem::take(&mut self.touched).ids.into_iter();
        open.chain(self.dirty.iter().copied()).collect()
    }

    /// Offers ops and brings the views up to date.
    pub fn apply(&mut self, ops: impl IntoIterator<Item = Op>) -> (MergeOutcome, Changed) {
        let offered = self.offer(ops);
        let changed = self.refresh();
        (offered, changed)
    }

    /// Returns the identity of the visible definition of a name.
    pub fn find_id(&self, layer: Layer, name: &str) -> Option<DefId> {
        self.names.get(layer, name)
    }

    /// Returns the visible definition of a name.
    pub fn find(&self, layer: Layer, name: &str) -> Option<&View> {
        self.names.get(layer, name).and_then(|id| self.view(id))
    }

    /// Returns the visible definition of a qualified name.
    pub fn named(&self, qname: &QName) -> Option<&View> {
        self.find(qname.layer, &qname.name)
    }

    /// Returns the visible definitions of a layer by name.
    pub fn layer(&self, layer: Layer) -> impl Iterator<Item = &View> {
        self.names.ids(layer).into_iter().filter_map(|id| self.view(id))
    }

    /// Returns the names of the visible definitions of a layer, in order.
    pub fn labels(&self, layer: Layer) -> Vec<String> {
        self.names.labels(layer)
    }

    /// Returns all visible definitions, in layer order then by name.
    pub fn visible(&self) -> impl Iterator<Item = &View> {
        Layer::ALL.into_iter().flat_map(|layer| self.layer(layer))
    }

    /// Returns the layer and label of a definition, seen or not.
    pub fn qname(&self, id: DefId) -> Option<QName> {
        self.head(id).map(|head| QName::new(head.layer, head.label.clone()))
    }

    /// Returns what the hash of a definition is made of.
    pub fn deps(&self, id: DefId) -> Vec<DefId> {
        self.deps_of(id).to_vec()
    }

    /// Returns the live definitions that refer to one, or to what stands behind it, by identity.
    pub fn referrers(&self, id: DefId) -> Vec<DefId> {
        self.referrers.get(id)
    }

    /// Returns the live definitions that refer to one, by identity, with the places where they do.
    pub fn mentions(&self, id: DefId) -> Vec<Mention> {
        let mentions: Vec<Mention> = self.lazy.iter().flat_map(|lazy| lazy.mentions(id)).collect();
        self.referrers.meet(id, || mentions.iter().map(|mention| mention.id).collect());
        let mut mentions: IdMap<Mention> = mentions.into_iter().map(|mention| (mention.id, mention)).collect();
        let from_view = |view: &View| {
            let mut places = view.watch.places(id).unwrap_or_default().to_vec();
            places.sort_unstable();
            Mention { id: view.id, layer: view.layer, label: view.label.clone(), places }
        };
        let mention = |who: DefId| match (self.views.get(who), mentions.remove(&who)) {
            (None, Some(mention)) => Some(mention),
            _ => self.view(who).map(from_view),
        };
        self.referrers(id).into_iter().filter_map(mention).collect()
    }

    /// Returns the live definitions linked to one, by identity.
    pub fn linked_to(&self, id: DefId) -> Vec<DefId> {
        self.linked.get(id)
    }

    /// Returns definitions that mention one by any step of the way, live or not.
    pub fn watchers(&self, id: DefId) -> impl Iterator<Item = DefId> + use<> {
        self.watchers.get(id).into_iter()
    }

    /// Returns definitions that look a name up.
    pub fn late_watchers(&self, layer: Layer, name: &str) -> Vec<DefId> {
        self.names.late(layer, name)
    }

    /// Returns whether a definition is live and no other live one claims its name.
    pub fn is_only_claimant(&self, view: &View) -> bool {
        view.live() && self.names.only_claimant(self.names.id(view.layer, &view.name)) == Some(view.id)
    }

    /// Returns the definitions absorbed by one.
    pub fn absorbed_by(&self, id: DefId) -> Vec<DefId> {
        let Some(head) = self.head(id) else { return Vec::new() };
        let mut absorbed = self.names.claimants_of(head.layer, &head.name);
        absorbed.retain(|other| self.head(*other).is_some_and(|other| other.status == Visibility::Absorbed(id)));
        absorbed
    }

    /// Returns the view of a definition, if it is loaded: what changed since the source was written always is.
    pub fn held(&self, id: DefId) -> Option<&View> {
        self.views.get(id).map(AsRef::as_ref)
    }

    /// Returns names that some claimant did not get.
    pub fn contested(&self) -> impl Iterator<Item = &Name> {
        self.contested.iter()
    }

    /// Returns the hash of the whole state: equal exactly when every live definition is.
    pub fn state_hash(&self) -> String {
        let mut ids = self.views.ids();
        ids.extend(self.lazy.iter().flat_map(|lazy| lazy.row_ids()));
        ids.sort_unstable();
        ids.dedup();
        let mut hasher = blake3::Hasher::new();
        for id in ids {
            let (head, text, links) = match self.views.get(id) {
                Some(view) => (&view.head, view.text(), &view.links),
                None => match self.row(id) {
                    Some(row) => (&row.head, row.text.as_str(), &row.watch.links),
                    None => continue,
                },
            };
            if head.status == Visibility::Dead {
                continue;
            }
            let mut item = |bytes: &[u8]| {
                hasher.update(&(bytes.len() as u32).to_le_bytes());
                hasher.update(bytes);
            };
            item(id.to_string().as_bytes());
            item(head.layer.word().as_bytes());
            item(head.label.as_bytes());
            item(if head.status == Visibility::Visible { b"visible" } else { b"absorbed" });
            item(text.as_bytes());
            item(&head.hash.0);
            for link in links {
                item(link.to_string().as_bytes());
            }
        }
        hasher.finalize().to_hex().to_string()
    }
}

#[cfg(test)]
mod tests;

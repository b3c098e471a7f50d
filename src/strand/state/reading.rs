//! Definitions that did not change since the source was written: from their ops where all must be known, from their
//! texts where it is enough to read them.

use std::cell::OnceCell;

use super::{Edge, State, View, Visibility, Watch, merge};
use crate::strand::hash::{Encoded, encode};
use crate::strand::id::{DefId, Layer};
use crate::strand::lang::ast::{Ref, To};
use crate::strand::lang::parse::parse_definitions;
use crate::strand::lang::place::{Place, Places};
use crate::strand::lang::resolve::{Env, resolve};
use crate::strand::lazy::{CheckpointDefinition, Head};

impl State {
    /// Returns a definition, seen or not.
    pub fn view(&self, id: DefId) -> Option<&View> {
        if let Some(view) = self.views.get(id) {
            return Some(view);
        }
        let view = self.load(self.row(id)?)?;
        Some(self.views.put(id, Box::new(view)))
    }

    /// Returns what the source says about a definition that is not held.
    pub(super) fn row(&self, id: DefId) -> Option<&CheckpointDefinition> {
        if let Some(row) = self.rows.get(id) {
            return Some(row);
        }
        let row = self.lazy.as_ref()?.row(id)?;
        self.names.meet(&row);
        Some(self.rows.put(id, Box::new(row)))
    }

    /// Returns what a definition is apart from its body, seen or not.
    pub(super) fn head(&self, id: DefId) -> Option<&Head> {
        match self.views.get(id) {
            Some(view) => Some(&view.head),
            None => self.row(id).map(|row| &row.head),
        }
    }

    /// Makes the view of a definition that did not change since the source was written.
    fn load(&self, row: &CheckpointDefinition) -> Option<View> {
        let summary = self.graph.summary(row.head.id)?;
        let merged = merge::merge(&self.graph, row.head.layer, &summary)?;
        let mut view = View {
            head: row.head.clone(),
            doc: merged.doc,
            body: merged.body,
            places: Places::default(),
            units: merged.units,
            edges: Vec::new(),
            links: summary.links,
            hidden: Box::default(),
            text: OnceCell::from(row.text.clone()),
            encoded: Encoded::default(),
            watch: row.watch.clone(),
        };
        let (places, edges, hidden) = self.resolve_whole(&mut view.body);
        view.encoded = encode(view.id, &view.body);
        (view.places, view.edges, view.hidden) = (places, edges, hidden);
        Some(view)
    }

    /// Returns every definition that ever was, in no order.
    pub fn views(&self) -> impl Iterator<Item = &View> {
        for id in self.lazy.iter().flat_map(|lazy| lazy.row_ids()) {
            self.view(id);
        }
        self.views.values().map(AsRef::as_ref)
    }

    /// Returns a definition to be read: its text, its body and what its names lead to. Which op wrote a reference,
    /// whether it is bound, and the identities of units are left out where the source has it, for they need every op on
    /// it.
    pub fn reading(&self, id: DefId) -> Option<&View> {
        if let Some(view) = self.views.get(id).or_else(|| self.readings.get(id)) {
            return Some(view);
        }
        match self.read_text(self.row(id)?) {
            Some(view) => Some(self.readings.put(id, Box::new(view))),
            None => self.view(id),
        }
    }

    /// Asks the source for every definition at once.
    fn load_rows(&self) {
        let Some(lazy) = self.lazy.as_ref().filter(|_| !self.all_rows.get()) else { return };
        let rows = lazy.all_rows();
        let visible = rows.iter().map(|row| &row.head).filter(|head| head.status == Visibility::Visible);
        self.names.fill(visible.map(|head| (head.layer, head.label.as_str(), head.id)));
        rows.into_iter().for_each(|row| {
            self.rows.put(row.head.id, Box::new(row));
        });
        self.all_rows.set(true);
    }

    /// Returns all visible definitions to be read, in layer order then by name.
    pub fn readings(&self) -> impl Iterator<Item = &View> {
        self.load_rows();
        Layer::ALL.into_iter().flat_map(|layer| self.names.ids(layer)).filter_map(|id| self.reading(id))
    }

    /// Returns the identities of all visible definitions, in no order.
    pub fn visible_ids(&self) -> impl Iterator<Item = DefId> {
        self.load_rows();
        Layer::ALL.into_iter().flat_map(|layer| self.names.unsorted(layer))
    }

    /// Returns live definitions about which a merge may have left something to say: ops on it were made without knowing
    /// each other, it did not get its name, or its text means something else than it says. In no order.
    pub fn merged_ids(&self) -> Vec<DefId> {
        self.load_rows();
        let is_odd = |head: &Head, forked: bool, hidden: bool| {
            let odd = forked || hidden || head.status != Visibility::Visible || head.label != head.name;
            (odd && head.status != Visibility::Dead).then_some(head.id)
        };
        let held = self.views.values();
        let held = held.filter_map(|view| is_odd(view, self.graph.is_forked(view.id), !view.hidden.is_empty()));
        let stored = self.rows.values().filter(|row| !self.views.contains(row.head.id));
        held.chain(stored.filter_map(|row| is_odd(&row.head, row.forked, row.hidden))).collect()
    }

    /// Returns the view that the text of a definition makes, if it means what its ops mean: its names must lead to
    /// where they led when the source was written.
    fn read_text(&self, row: &CheckpointDefinition) -> Option<View> {
        if row.head.status == Visibility::Dead || row.hidden {
            return None;
        }
        let [found] = <[_; 1]>::try_from(parse_definitions(&row.text).ok()?).ok()?;
        let found = found.result.ok()?;
        let mut body = found.body;
        let mut env = TextEnv { state: self, row, watch: Watch::default(), edges: Vec::new() };
        let places = resolve(&mut body, &mut env).places;
        let TextEnv { watch, edges, .. } = env;
        if watch.defs != row.watch.defs || watch.names != row.watch.names || watch.targets != row.watch.targets {
            return None;
        }
        Some(View {
            head: row.head.clone(),
            doc: found.doc,
            body,
            places,
            units: Vec::new(),
            edges,
            links: row.watch.links.clone(),
            hidden: Box::default(),
            text: OnceCell::from(row.text.clone()),
            encoded: Encoded::of_deps(row.deps.clone()),
            watch: row.watch.clone(),
        })
    }
}

/// Looks up the names of a printed text: each refers to the definition that has it now.
struct TextEnv<'s> {
    state: &'s State,
    row: &'s CheckpointDefinition,
    watch: Watch,
    edges: Vec<Edge>,
}

impl Env for TextEnv<'_> {
    fn lookup(&mut self, reference: &mut Ref, layers: &[Layer], place: Place) {
        let known = &self.row.watch;
        let late = !known.names.is_empty()
            && layers.iter().any(|layer| known.names.contains(&(*layer, reference.name.clone())));
        reference.to = To::Missing;
        reference.layer = layers[0];
        for layer in layers {
            if late {
                self.watch.names.insert((*layer, reference.name.clone()));
            }
            let Some(found) = self.state.find_id(*layer, &reference.name) else { continue };
            if late || known.places(found).is_some_and(|places| places.contains(&place)) {
                (reference.to, reference.layer) = (To::Def(found), *layer);
                self.watch.defs.add(found);
                self.watch.note(found, place);
                break;
            }
        }
        self.edges.push(Edge::of(reference, place));
    }
}

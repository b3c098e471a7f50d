//! Names: who is live, who holds a name, and what the others are called.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use super::merge::merge;
use super::{Head, Places, State, Status, View, Watch};
use crate::strand::cold::{IdMap, Name};
use crate::strand::hash::{Encoded, Hash};
use crate::strand::id::{DefId, Layer};

/// Definitions whose label or status changed, with the label they had if they were there.
pub(super) type Relabelled = Vec<(DefId, Option<String>)>;

/// What stays of a view when its body is merged anew.
#[derive(Default)]
struct Kept {
    label: String,
    hash: Option<Hash>,
    text: OnceCell<String>,
    encoded: Encoded,
    watch: Watch,
}

impl State {
    /// Loads whoever claims a name that may change hands, while everything still stands as it did.
    pub(super) fn load_rivals(&self, dirty: &[DefId]) {
        if self.is_whole() {
            return;
        }
        let old = dirty.iter().filter_map(|id| self.head(*id)).map(|head| (head.layer, head.name.to_owned()));
        let layer = |id: &DefId| self.graph.lattice(*id).map(|lattice| lattice.layer);
        let new = dirty.iter().filter_map(|id| Some((layer(id)?, self.graph.summary(*id)?.name)));
        let names: BTreeSet<Name> = old.chain(new).chain(self.contested.iter().cloned()).collect();
        let rivals = names.iter().flat_map(|name| self.claims.get(name));
        rivals.filter(|id| dirty.binary_search(id).is_err()).for_each(|id| {
            self.view(id);
        });
    }

    /// Takes the view of a definition out, as far as it outlives a new merge.
    fn keep(&mut self, id: DefId) -> Kept {
        match (self.views.remove(id), self.row(id)) {
            (Some(old), _) => {
                // What it shows from now on is to be compared with what it showed.
                old.text();
                Kept { label: old.label, hash: Some(old.hash), text: old.text, encoded: old.encoded, watch: old.watch }
            }
            (None, Some(row)) => Kept {
                label: row.label.clone(),
                hash: Some(row.hash),
                text: OnceCell::from(row.text.clone()),
                encoded: Encoded::default(),
                watch: row.watch.clone(),
            },
            (None, None) => Kept::default(),
        }
    }

    /// Merges the bodies of these definitions anew. Returns the names whose claims may have
    /// changed, and the definitions that no longer exist.
    pub(super) fn remerge(&mut self, dirty: &[DefId]) -> (Vec<Name>, Vec<DefId>) {
        let (mut names, mut gone) = (Vec::with_capacity(dirty.len()), Vec::new());
        for id in dirty {
            if let Some(Head { layer, name, .. }) = self.head(*id) {
                let key = (layer, name.to_owned());
                self.claims.take(&key, *id);
                names.push(key);
            }
            let Some(layer) = self.graph.lattice(*id).map(|lattice| lattice.layer) else {
                self.forget(*id, &mut gone);
                continue;
            };
            let summary = self.graph.summary(*id);
            let made = summary.and_then(|summary| merge(&self.graph, layer, &summary).map(|merged| (summary, merged)));
            let Some((summary, merged)) = made else {
                self.forget(*id, &mut gone);
                continue;
            };
            if summary.live {
                let key = (layer, summary.name.clone());
                self.claims.add(key.clone(), *id);
                names.push(key);
            }
            let Kept { label, hash, text, encoded, watch } = self.keep(*id);
            let view = View {
                id: *id,
                layer,
                label,
                name: summary.name,
                claim: summary.claim,
                claimed_by_add: summary.claimed_by_add,
                status: if summary.live { Status::Visible } else { Status::Dead },
                epoch: summary.epoch,
                settled: summary.settled,
                doc: merged.doc,
                body: merged.body,
                places: Places::default(),
                units: merged.units,
                edges: Vec::new(),
                links: summary.links,
                hash: hash.unwrap_or(Hash::ZERO),
                text,
                encoded,
                watch,
            };
            self.views.insert(*id, Box::new(view));
        }
        names.sort_unstable();
        names.dedup();
        (names, gone)
    }

    fn forget(&mut self, id: DefId, gone: &mut Vec<DefId>) {
        if let Some(view) = self.views.remove(id) {
            self.unwatch(id, &view.watch);
            self.labels.remove(view.layer, &view.label, id);
            gone.push(id);
        }
    }

    /// Decides anew who holds these names. `before` has the label and status of each dirty
    /// definition that was there. Returns whose label or status changed, with what they were.
    pub(super) fn relabel(
        &mut self,
        dirty: &[DefId],
        names: &[Name],
        mut before: IdMap<(String, Status)>,
    ) -> Relabelled {
        let with_contested: BTreeSet<Name>;
        let all: Vec<&Name> = if self.contested.is_empty() {
            names.iter().collect()
        } else {
            with_contested = names.iter().chain(&self.contested).cloned().collect();
            with_contested.iter().collect()
        };
        let mut open = dirty.to_vec();
        for name in &all {
            self.claims.each(name, |id| open.push(id));
        }
        open.sort_unstable();
        open.dedup();
        // Whoever may get another label first gives up the one it shows.
        for id in &open {
            let Some(view) = self.views.get_mut(*id) else { continue };
            if dirty.binary_search(id).is_err() {
                before.insert(*id, (view.label.clone(), view.status));
            }
            if !view.label.is_empty() {
                self.labels.remove(view.layer, &view.label, *id);
            }
            if !view.live() {
                view.label.clone_from(&view.name);
            }
        }
        let mut losers: Vec<(&(Layer, String), DefId)> = Vec::new();
        for name in all {
            let lost = self.hold(name);
            if lost.is_empty() {
                self.contested.remove(name);
            } else {
                self.contested.insert(name.clone());
            }
            losers.extend(lost.into_iter().map(|id| (name, id)));
        }
        for ((layer, name), id) in losers {
            self.label_loser(*layer, name, id);
        }
        let mut changed = Relabelled::new();
        for id in open {
            let Some(view) = self.views.get(id) else { continue };
            match before.remove(&id) {
                Some((label, status)) if label == view.label && status == view.status => {}
                Some((label, _)) => changed.push((id, Some(label))),
                None => changed.push((id, None)),
            }
        }
        changed
    }

    /// Gives a name to the claimant it belongs to. Returns the visible ones that do not get it, in
    /// order of their claims.
    fn hold(&mut self, key: &(Layer, String)) -> Vec<DefId> {
        if let Some(only) = self.claims.only(key) {
            if let Some(view) = self.views.get_mut(only) {
                view.status = Status::Visible;
            }
            self.show(key.0, &key.1, only);
            return Vec::new();
        }
        let claimants = self.claims.get(key);
        let views: Vec<&View> = claimants.iter().filter_map(|id| self.views.get(*id)).map(AsRef::as_ref).collect();
        let absorber =
            views.iter().filter(|view| view.claimed_by_add).min_by_key(|view| view.claim).map(|view| view.id);
        let mut rest: Vec<(crate::strand::id::OpId, DefId)> = Vec::new();
        let mut absorbed = Vec::new();
        for view in views {
            if view.claimed_by_add && Some(view.id) != absorber {
                absorbed.push(view.id);
            } else {
                rest.push((view.claim, view.id));
            }
        }
        rest.sort_unstable();
        for id in absorbed {
            if let (Some(view), Some(absorber)) = (self.views.get_mut(id), absorber) {
                view.status = Status::Absorbed(absorber);
                view.label.clone_from(&key.1);
            }
        }
        for (_, id) in &rest {
            if let Some(view) = self.views.get_mut(*id) {
                view.status = Status::Visible;
            }
        }
        let mut rest = rest.into_iter().map(|(_, id)| id);
        if let Some(winner) = rest.next() {
            self.show(key.0, &key.1, winner);
        }
        rest.collect()
    }

    fn show(&mut self, layer: Layer, label: &str, id: DefId) {
        if let Some(view) = self.views.get_mut(id) {
            label.clone_into(&mut view.label);
        }
        self.labels.insert(layer, label.to_owned(), id);
    }

    fn label_loser(&mut self, layer: Layer, name: &str, id: DefId) {
        let taken = |label: &String| {
            !self.claims.get(&(layer, label.clone())).is_empty() || self.labels.get(layer, label).is_some()
        };
        let mut label = [6, 10, 26].into_iter().map(|n| format!("{name}__{}", id.tail(n))).find(|label| !taken(label));
        let mut longest = format!("{name}__{}", id.tail(26));
        while label.is_none() {
            longest.push('_');
            label = Some(longest.clone()).filter(|label| !taken(label));
        }
        self.show(layer, &label.unwrap_or(longest), id);
    }
}

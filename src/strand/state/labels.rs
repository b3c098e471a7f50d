//! Names: who is live, who holds a name, and what the others are called.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::merge::merge;
use super::{State, Status, View};
use crate::strand::hash::Hash;
use crate::strand::id::{DefId, Layer};

/// Definitions whose label or status changed, with the label they had if they were there.
pub(super) type Relabelled = BTreeMap<DefId, Option<String>>;

impl State {
    /// Merges the bodies of these definitions anew. Returns the names whose claims may have
    /// changed, and the definitions that no longer exist.
    pub(super) fn remerge(&mut self, dirty: &HashSet<DefId>) -> (BTreeSet<(Layer, String)>, Vec<DefId>) {
        let (mut names, mut gone) = (BTreeSet::new(), Vec::new());
        for id in dirty {
            if let Some(old) = self.views.get(id) {
                let key = (old.layer, old.name.clone());
                if let Some(claimants) = self.claims.get_mut(&key) {
                    claimants.remove(id);
                }
                names.insert(key);
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
                self.claims.entry(key.clone()).or_default().insert(*id);
                names.insert(key);
            }
            let old = self.views.remove(id);
            let (label, hash, text, encoded, watch) = match old {
                Some(old) => (old.label, old.hash, old.text, old.encoded, old.watch),
                None => (String::new(), Hash::ZERO, String::new(), super::hashing::nothing(), Default::default()),
            };
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
                places: Vec::new(),
                units: merged.units,
                edges: Vec::new(),
                links: summary.links,
                hash,
                text,
                encoded,
                watch,
            };
            self.views.insert(*id, view);
        }
        (names, gone)
    }

    fn forget(&mut self, id: DefId, gone: &mut Vec<DefId>) {
        if let Some(view) = self.views.remove(&id) {
            self.unwatch(&view);
            if self.labels.get(&view.layer).and_then(|labels| labels.get(&view.label)) == Some(&id)
                && let Some(labels) = self.labels.get_mut(&view.layer)
            {
                labels.remove(&view.label);
            }
            gone.push(id);
        }
    }

    /// Decides anew who holds these names. `before` has the label and status of each dirty
    /// definition that was there. Returns whose label or status changed, with what they were.
    pub(super) fn relabel(
        &mut self,
        dirty: &HashSet<DefId>,
        names: &BTreeSet<(Layer, String)>,
        mut before: HashMap<DefId, (String, Status)>,
    ) -> Relabelled {
        let all: BTreeSet<(Layer, String)> = names.iter().chain(&self.contested).cloned().collect();
        let mut open: BTreeSet<DefId> = dirty.iter().copied().collect();
        open.extend(all.iter().filter_map(|name| self.claims.get(name)).flatten());
        // Whoever may get another label first gives up the one it shows.
        for id in &open {
            let Some(view) = self.views.get_mut(id) else { continue };
            if !dirty.contains(id) {
                before.insert(*id, (view.label.clone(), view.status));
            }
            let labels = self.labels.entry(view.layer).or_default();
            if labels.get(&view.label) == Some(id) {
                labels.remove(&view.label);
            }
            if !view.live() {
                view.label.clone_from(&view.name);
            }
        }
        let mut losers: Vec<(&(Layer, String), DefId)> = Vec::new();
        for name in &all {
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
            let Some(view) = self.views.get(&id) else { continue };
            match before.remove(&id) {
                Some((label, status)) if label == view.label && status == view.status => {}
                Some((label, _)) => {
                    changed.insert(id, Some(label));
                }
                None => {
                    changed.insert(id, None);
                }
            }
        }
        changed
    }

    /// Gives a name to the claimant it belongs to. Returns the visible ones that do not get it, in
    /// order of their claims.
    fn hold(&mut self, key: &(Layer, String)) -> Vec<DefId> {
        let claimants = self.claims.get(key).cloned().unwrap_or_default();
        if claimants.is_empty() {
            self.claims.remove(key);
            return Vec::new();
        }
        let views: Vec<&View> = claimants.iter().filter_map(|id| self.views.get(id)).collect();
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
            if let (Some(view), Some(absorber)) = (self.views.get_mut(&id), absorber) {
                view.status = Status::Absorbed(absorber);
                view.label.clone_from(&key.1);
            }
        }
        for (_, id) in &rest {
            if let Some(view) = self.views.get_mut(id) {
                view.status = Status::Visible;
            }
        }
        let mut rest = rest.into_iter().map(|(_, id)| id);
        if let Some(winner) = rest.next() {
            self.show(key.0, key.1.clone(), winner);
        }
        rest.collect()
    }

    fn show(&mut self, layer: Layer, label: String, id: DefId) {
        if let Some(view) = self.views.get_mut(&id) {
            view.label.clone_from(&label);
        }
        self.labels.entry(layer).or_default().insert(label, id);
    }

    fn label_loser(&mut self, layer: Layer, name: &str, id: DefId) {
        let taken = |label: &String| {
            self.claims.get(&(layer, label.clone())).is_some_and(|claimants| !claimants.is_empty())
                || self.labels.get(&layer).is_some_and(|labels| labels.contains_key(label))
        };
        let mut label = [6, 10, 26].into_iter().map(|n| format!("{name}__{}", id.tail(n))).find(|label| !taken(label));
        let mut longest = format!("{name}__{}", id.tail(26));
        while label.is_none() {
            longest.push('_');
            label = Some(longest.clone()).filter(|label| !taken(label));
        }
        self.show(layer, label.unwrap_or(longest), id);
    }
}

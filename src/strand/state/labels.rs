//! Decides names: the live definitions, the holder of each name, and the labels of the others.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use super::merge::{Merged, merge};
use super::{Relabelled, State, View, Visibility, Watch};
use crate::strand::graph::Summary;
use crate::strand::hash::{Encoded, Hash};
use crate::strand::id::{DefId, Layer};
use crate::strand::lang::place::Places;
use crate::strand::lazy::{Head, IdMap, Name, NameId};

/// The parts of a view that stay when its body is merged again.
struct RetainedLabels {
    layer: Layer,
    label: String,
    hash: Hash,
    text: OnceCell<String>,
    encoded: Encoded,
    watch: Watch,
}

impl View {
    /// Returns a definition with its body merged again, its names not yet resolved.
    fn new(id: DefId, layer: Layer, summary: Summary, merged: Merged, previous: Option<RetainedLabels>) -> View {
        let Summary { live, name, claim, claimed_by_add, epoch, settled, links, .. } = summary;
        let Merged { body, doc, units } = merged;
        let status = if live { Visibility::Visible } else { Visibility::Dead };
        let (label, hash, text, encoded, watch) = match previous {
            Some(previous) => (previous.label, previous.hash, previous.text, previous.encoded, previous.watch),
            None => (String::new(), Hash::ZERO, OnceCell::new(), Encoded::default(), Watch::default()),
        };
        View {
            head: Head { id, layer, label, name, claim, claimed_by_add, status, epoch, settled, hash },
            doc,
            body,
            places: Places::default(),
            units,
            edges: Vec::new(),
            links,
            hidden: Box::default(),
            text,
            encoded,
            watch,
        }
    }
}

impl State {
    /// Loads the claimants of a name that may change hands, before anything changes. Returns the summaries that it
    /// needed for that, of some or all of these definitions.
    pub(super) fn load_rivals(&self, dirty: &[DefId]) -> IdMap<Summary> {
        if self.is_whole() {
            return IdMap::default();
        }
        let summaries: IdMap<Summary> = dirty.iter().filter_map(|id| Some((*id, self.graph.summary(*id)?))).collect();
        let old = dirty.iter().filter_map(|id| self.head(*id)).map(|head| (head.layer, head.name.clone()));
        let new = summaries.iter().filter_map(|(id, summary)| Some((self.graph.layer(*id)?, summary.name.clone())));
        let names: BTreeSet<Name> = old.chain(new).chain(self.contested.iter().cloned()).collect();
        let rivals = names.iter().flat_map(|(layer, name)| self.names.claimants_of(*layer, name));
        rivals.filter(|id| dirty.binary_search(id).is_err()).for_each(|id| {
            self.view(id);
        });
        summaries
    }

    /// Takes the view of a definition out, as far as it outlives a new merge. Its name loses a claimant and is noted.
    fn keep(&mut self, id: DefId, names: &mut Vec<NameId>) -> Option<RetainedLabels> {
        let (head, text, encoded, watch) = match self.views.remove(id) {
            Some(old) => {
                // The new text is compared with the old one.
                old.text();
                let View { head, text, encoded, watch, .. } = *old;
                (head, text, encoded, watch)
            }
            None => {
                self.row(id)?;
                let row = *self.rows.remove(id)?;
                (row.head, OnceCell::from(row.text), Encoded::default(), row.watch)
            }
        };
        // The view takes its place.
        self.rows.remove(id);
        let name = self.names.id(head.layer, &head.name);
        self.names.unclaim(name, id);
        names.push(name);
        Some(RetainedLabels { layer: head.layer, label: head.label, hash: head.hash, text, encoded, watch })
    }

    /// Merges the bodies of these definitions again. Returns the names whose claims may have
    /// changed, and the definitions that no longer exist.
    pub(super) fn remerge(&mut self, dirty: &[DefId], mut summaries: IdMap<Summary>) -> (Vec<NameId>, Vec<DefId>) {
        let (mut names, mut gone) = (Vec::with_capacity(dirty.len()), Vec::new());
        for id in dirty {
            let previous = self.keep(*id, &mut names);
            let Some((layer, summary, merged)) = self.merged(*id, summaries.remove(id)) else {
                if let Some(previous) = previous {
                    self.unwatch(*id, &previous.watch);
                    self.names.release(previous.layer, &previous.label, *id);
                    gone.push(*id);
                }
                continue;
            };
            if summary.live {
                let name = self.names.id(layer, &summary.name);
                self.names.claim(name, *id);
                names.push(name);
            }
            self.views.insert(*id, Box::new(View::new(*id, layer, summary, merged, previous)));
        }
        (names, gone)
    }

    /// Returns what the ops on a definition come to. `summary` is known already, if it is there.
    fn merged(&self, id: DefId, summary: Option<Summary>) -> Option<(Layer, Summary, Merged)> {
        let layer = self.graph.layer(id)?;
        let summary = summary.or_else(|| self.graph.summary(id))?;
        let merged = merge(&self.graph, layer, &summary)?;
        Some((layer, summary, merged))
    }

    /// Returns these definitions with all claimants of these names and of those that some claimant did not get, sorted.
    /// The latter join the names, which are then sorted.
    fn claimants_of(&mut self, dirty: &[DefId], names: &mut Vec<NameId>) -> Vec<DefId> {
        names.sort_unstable();
        names.dedup();
        let mut open: Vec<DefId> = Vec::with_capacity(2 * dirty.len());
        for name in &*names {
            self.names.each_claimant(*name, |id| open.push(id));
        }
        // The checkpoint says of a definition whether it has rivals, which these may have gained or lost.
        open.retain(|id| dirty.binary_search(id).is_err());
        self.touched.extend(open.iter().copied().filter(|id| self.views.contains(*id)));
        open.extend(dirty);
        let contested = self.contested.iter().map(|(layer, name)| self.names.id(*layer, name));
        let others: Vec<NameId> = contested.filter(|name| names.binary_search(name).is_err()).collect();
        for name in &others {
            self.names.each_claimant(*name, |id| open.push(id));
        }
        names.extend(others);
        names.sort_unstable();
        open.sort_unstable();
        open.dedup();
        open
    }

    /// Decides again who holds these names. `before` has the label and status of each dirty
    /// definition that was there. Returns whose label or status changed, with what they were.
    pub(super) fn relabel(
        &mut self,
        dirty: &[DefId],
        mut names: Vec<NameId>,
        mut before: IdMap<(String, Visibility)>,
    ) -> Relabelled {
        let open = self.claimants_of(dirty, &mut names);
        // Whoever may get another label first gives up the one it shows.
        for id in &open {
            let Some(view) = self.views.get_mut(*id) else { continue };
            if dirty.binary_search(id).is_err() {
                before.insert(*id, (view.label.clone(), view.status));
            }
            if !view.label.is_empty() {
                self.names.release(view.layer, &view.label, *id);
            }
            if !view.live() {
                view.head.label.clone_from(&view.head.name);
            }
        }
        let mut losers: Vec<(Name, Vec<DefId>)> = Vec::new();
        // All of them are looked at again.
        self.contested.clear();
        for name in names {
            let lost = self.hold(name);
            if !lost.is_empty() {
                losers.push((self.names.name(name), lost));
            }
        }
        // The order of first mention must not show.
        losers.sort_unstable();
        for ((layer, name), lost) in losers {
            lost.into_iter().for_each(|id| self.label_loser(layer, &name, id));
            self.contested.insert((layer, name));
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
    fn hold(&mut self, name: NameId) -> Vec<DefId> {
        if let Some(only) = self.names.only_claimant(name) {
            self.show(name, only);
            return Vec::new();
        }
        let claimants = self.names.claimants(name);
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
                view.head.status = Visibility::Absorbed(absorber);
                self.names.text(name).clone_into(&mut view.head.label);
            }
        }
        for (_, id) in &rest {
            if let Some(view) = self.views.get_mut(*id) {
                view.head.status = Visibility::Visible;
            }
        }
        let mut rest = rest.into_iter().map(|(_, id)| id);
        if let Some(winner) = rest.next() {
            self.show(name, winner);
        }
        rest.collect()
    }

    /// Shows a definition under a label.
    fn show(&mut self, label: NameId, id: DefId) {
        if let Some(view) = self.views.get_mut(id) {
            view.head.status = Visibility::Visible;
            self.names.text(label).clone_into(&mut view.head.label);
        }
        self.names.hold(label, id);
    }

    fn label_loser(&mut self, layer: Layer, name: &str, id: DefId) {
        let taken = |label: &String| {
            !self.names.claimants_of(layer, label).is_empty() || self.names.get(layer, label).is_some()
        };
        let mut label = [6, 10, 26].into_iter().map(|n| format!("{name}__{}", id.tail(n))).find(|label| !taken(label));
        let mut longest = format!("{name}__{}", id.tail(26));
        while label.is_none() {
            longest.push('_');
            label = Some(longest.clone()).filter(|label| !taken(label));
        }
        let label = self.names.id(layer, &label.unwrap_or(longest));
        self.show(label, id);
    }
}

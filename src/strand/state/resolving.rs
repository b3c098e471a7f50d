//! Resolves references: the target of each name of a body in the present state.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use super::{Edge, Relabelled, State, Visibility, Watch};
use crate::strand::hash::Hash;
use crate::strand::id::{DefId, Layer};
use crate::strand::lang::ast::{Body, Ref, To, TypeBody};
use crate::strand::lang::place::{Place, Places};
use crate::strand::lang::print;
use crate::strand::lang::resolve::{Env, Resolved, resolve};
use crate::strand::lazy::Head;

/// Returns each name once, in order.
fn hidden_names(hidden: Vec<(Place, String)>) -> Box<[String]> {
    hidden.into_iter().map(|(_, name)| name).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Resolves names against a state and notes what it met.
pub(super) struct StateEnv<'s> {
    state: &'s State,
    watch: Watch,
    pub(super) edges: Vec<Edge>,
}

impl Env for StateEnv<'_> {
    fn lookup(&mut self, reference: &mut Ref, layers: &[Layer], place: Place) {
        match reference.bound {
            Some(bound) => {
                let (to, last) = self.state.follow(bound, |step| {
                    self.watch.defs.add(step);
                });
                reference.to = to;
                if let Some(head) = self.state.head(last) {
                    reference.layer = head.layer;
                    let name = if matches!(to, To::Def(_)) { &head.label } else { &head.name };
                    if reference.name != *name {
                        reference.name.clone_from(name);
                    }
                }
            }
            None => {
                reference.to = To::Missing;
                reference.layer = layers[0];
                for layer in layers {
                    self.watch.names.insert((*layer, reference.name.clone()));
                    if let Some(found) = self.state.find_id(*layer, &reference.name) {
                        reference.to = To::Def(found);
                        reference.layer = *layer;
                        self.watch.defs.add(found);
                        break;
                    }
                }
            }
        }
        if let To::Def(target) = reference.to {
            self.watch.note(target, place);
        }
        if self.edges.is_empty() {
            // Most have one at most.
            self.edges.reserve_exact(1);
        }
        self.edges.push(Edge::of(reference, place));
    }
}

impl State {
    /// Returns where a bound reference leads: to itself if visible, to what absorbed it, to what settled it. Also the
    /// last definition on the way. `step` is told each one met.
    pub fn follow(&self, from: DefId, mut step: impl FnMut(DefId)) -> (To, DefId) {
        let (mut at, mut seen) = (from, Vec::new());
        loop {
            step(at);
            if seen.contains(&at) {
                return (To::Dangling(at), at);
            }
            let next = match self.head(at) {
                None => return (To::Dangling(at), at),
                Some(Head { status: Visibility::Visible, .. }) => return (To::Def(at), at),
                Some(Head { status: Visibility::Absorbed(by), .. }) => Some(*by),
                Some(head) => head.settled,
            };
            seen.push(at);
            match next {
                Some(next) => at = next,
                None => return (To::Dangling(at), at),
            }
        }
    }

    /// Resolves a body without a definition against the present state.
    pub fn resolve_body(&self, body: &mut Body) -> (Places, Vec<Edge>) {
        let (places, edges, _) = self.resolve_whole(body);
        (places, edges)
    }

    /// Resolves a body, with the names that stand in it where a binder is called the same.
    pub(super) fn resolve_whole(&self, body: &mut Body) -> (Places, Vec<Edge>, Box<[String]>) {
        let mut env = StateEnv { state: self, watch: Watch::default(), edges: Vec::new() };
        let resolved = resolve(body, &mut env);
        (resolved.places, env.edges, hidden_names(resolved.hidden))
    }

    /// Returns the definitions whose references must be looked at again.
    pub(super) fn to_resolve(&self, dirty: &[DefId], relabelled: &Relabelled, gone: &[DefId]) -> Vec<DefId> {
        let mut out = dirty.to_vec();
        for (id, old) in relabelled {
            self.watchers.each(*id, |who| out.push(who));
            // A changed label shows in the definition's own text.
            out.push(*id);
            let Some(head) = self.head(*id) else { continue };
            let names = [&head.label, &head.name].into_iter().chain(old);
            out.extend(names.flat_map(|name| self.late_watchers(head.layer, name)));
        }
        for id in gone {
            self.watchers.each(*id, |who| out.push(who));
        }
        out.extend(self.missing_names(gone));
        out.sort_unstable();
        out.dedup();
        out.retain(|id| self.head(*id).is_some());
        out
    }

    /// Returns definitions that look up a name no visible definition has any more, when some went away altogether:
    /// their labels are not known any longer.
    fn missing_names(&self, gone: &[DefId]) -> Vec<DefId> {
        if gone.is_empty() {
            return Vec::new();
        }
        // The removal is newer than the source, and so is every reference that it affects.
        self.names.missing()
    }

    /// Resolves one definition. Says whether its text or its encoding changed.
    pub(super) fn resolve_view(&mut self, id: DefId) -> bool {
        // A definition that is loaded only now was encoded in the present state: its earlier encoding is unknown.
        let unknown = !self.views.contains(id);
        if unknown && self.view(id).is_none() {
            return false;
        }
        let Some(view) = self.views.get_mut(id) else { return false };
        if view.hash != Hash::ZERO {
            // How it was is to be compared with how it will be.
            view.text();
        }
        let mut body = std::mem::replace(&mut view.body, Body::Type(TypeBody::Union(Vec::new())));
        let mut env = StateEnv { state: self, watch: Watch::default(), edges: Vec::new() };
        let Resolved { places, hidden } = resolve(&mut body, &mut env);
        let StateEnv { mut watch, edges, .. } = env;
        let Some(view) = self.views.get_mut(id) else { return false };
        let encoded = crate::strand::hash::encode(id, &body);
        let mut text = OnceCell::new();
        // One without a hash is new. Its text is printed when someone wants it.
        let mut changed = unknown || view.hash == Hash::ZERO || encoded != view.encoded;
        if !changed {
            let now = print::whole(view.layer, &view.label, &view.doc, &body);
            changed = view.text.get() != Some(&now);
            text = OnceCell::from(now);
        }
        watch.links.clone_from(&view.links);
        watch.live = view.live();
        let old = std::mem::take(&mut view.watch);
        view.places = places;
        view.edges = edges;
        view.hidden = hidden_names(hidden);
        view.text = text;
        view.encoded = encoded;
        view.body = body;
        if old != watch {
            self.unwatch(id, &old);
            self.watch(id, &watch);
            self.touched.extend([id]);
        }
        if let Some(view) = self.views.get_mut(id) {
            view.watch = watch;
        }
        changed
    }

    fn watch(&mut self, id: DefId, watch: &Watch) {
        for def in &watch.defs {
            self.watchers.add(*def, id);
        }
        for name in &watch.names {
            self.names.look_up(name, id);
        }
        if watch.live {
            for (target, _) in &watch.targets {
                self.referrers.add(*target, id);
            }
            for link in &watch.links {
                self.linked.add(*link, id);
            }
        }
    }

    pub(super) fn unwatch(&mut self, id: DefId, watch: &Watch) {
        for def in &watch.defs {
            self.watchers.take(*def, id);
        }
        for name in &watch.names {
            self.names.forget(name, id);
        }
        for (target, _) in &watch.targets {
            self.referrers.take(*target, id);
        }
        for link in &watch.links {
            self.linked.take(*link, id);
        }
    }
}

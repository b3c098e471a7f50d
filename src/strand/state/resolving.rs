//! References: what each name of a body leads to in the present state.

use std::collections::{BTreeSet, HashSet};

use super::labels::Relabelled;
use super::{Edge, State, Status, View};
use crate::strand::id::{DefId, Layer};
use crate::strand::lang::ast::{Body, Ref, To};
use crate::strand::lang::print;
use crate::strand::lang::resolve::{Env, Place, Places, resolve};

/// What a definition's references depend on.
#[derive(Clone, Debug, Default)]
pub(super) struct Watch {
    /// Every definition met on the way.
    defs: BTreeSet<DefId>,
    /// Every name looked up.
    names: BTreeSet<(Layer, String)>,
    /// What the references lead to.
    targets: BTreeSet<DefId>,
    links: Vec<DefId>,
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
                    self.watch.defs.insert(step);
                });
                reference.to = to;
                if let Some(view) = self.state.views.get(&last) {
                    reference.layer = view.layer;
                    let name = if matches!(to, To::Def(_)) { &view.label } else { &view.name };
                    reference.name.clone_from(name);
                }
            }
            None => {
                reference.to = To::Missing;
                reference.layer = layers[0];
                for layer in layers {
                    self.watch.names.insert((*layer, reference.name.clone()));
                    if let Some(view) = self.state.find(*layer, &reference.name) {
                        reference.to = To::Def(view.id);
                        reference.layer = *layer;
                        self.watch.defs.insert(view.id);
                        break;
                    }
                }
            }
        }
        if let To::Def(target) = reference.to {
            self.watch.targets.insert(target);
        }
        self.edges.push(Edge {
            place,
            layer: reference.layer,
            name: reference.name.clone(),
            bound: reference.bound,
            to: reference.to,
            writer: reference.writer,
        });
    }
}

impl State {
    /// Where a bound reference leads: to itself if visible, to what absorbed it, to what settled
    /// it. Also the last definition on the way. `step` is told each one met.
    pub fn follow(&self, from: DefId, mut step: impl FnMut(DefId)) -> (To, DefId) {
        let (mut at, mut seen) = (from, HashSet::new());
        loop {
            step(at);
            if !seen.insert(at) {
                return (To::Dangling(at), at);
            }
            let next = match self.views.get(&at) {
                None => return (To::Dangling(at), at),
                Some(View { status: Status::Visible, .. }) => return (To::Def(at), at),
                Some(View { status: Status::Absorbed(by), .. }) => Some(*by),
                Some(view) => view.settled,
            };
            match next {
                Some(next) => at = next,
                None => return (To::Dangling(at), at),
            }
        }
    }

    /// Resolves a body of nobody against the present state.
    pub fn resolve_body(&self, body: &mut Body) -> (Places, Vec<Edge>) {
        let mut env = StateEnv { state: self, watch: Watch::default(), edges: Vec::new() };
        let places = resolve(body, &mut env);
        (places, env.edges)
    }

    /// The definitions whose references must be looked at again.
    pub(super) fn to_resolve(
        &self,
        dirty: &HashSet<DefId>,
        relabelled: &Relabelled,
        gone: &[DefId],
    ) -> BTreeSet<DefId> {
        let mut out: BTreeSet<DefId> = dirty.iter().copied().collect();
        for (id, old) in relabelled {
            out.extend(self.watchers.get(id).into_iter().flatten());
            let Some(view) = self.views.get(id) else { continue };
            for name in old.iter().chain([&view.label, &view.name]) {
                out.extend(self.late.get(&(view.layer, name.clone())).into_iter().flatten());
            }
            // A changed label shows in the definition's own text.
            out.insert(*id);
        }
        for id in gone {
            out.extend(self.watchers.get(id).into_iter().flatten());
        }
        out.extend(self.missing_names(gone));
        out.retain(|id| self.views.contains_key(id));
        out
    }

    /// Definitions that look up a name no visible definition has any more, when some went away
    /// altogether: their labels are not known any longer.
    fn missing_names(&self, gone: &[DefId]) -> Vec<DefId> {
        if gone.is_empty() {
            return Vec::new();
        }
        let stale = |(key, _): &(&(Layer, String), &HashSet<DefId>)| self.find(key.0, &key.1).is_none();
        self.late.iter().filter(stale).flat_map(|(_, who)| who.iter().copied()).collect()
    }

    /// Resolves one definition. Says whether its text or its encoding changed.
    pub(super) fn resolve_view(&mut self, id: DefId) -> bool {
        let Some(mut view) = self.views.remove(&id) else { return false };
        self.unwatch(&view);
        // Kept out of the map while resolving, it must still find itself.
        let own = view.clone_header();
        self.views.insert(id, own);
        let mut env = StateEnv { state: self, watch: Watch::default(), edges: Vec::new() };
        view.places = resolve(&mut view.body, &mut env);
        let StateEnv { mut watch, edges, .. } = env;
        view.edges = edges;
        watch.links.clone_from(&view.links);
        view.watch = watch;
        let text = print::whole(view.layer, &view.label, &view.doc, &view.body);
        let encoded = crate::strand::hash::encode(id, &view.body);
        let changed = text != view.text || encoded != view.encoded;
        view.text = text;
        view.encoded = encoded;
        self.watch(&view);
        self.views.insert(id, view);
        changed
    }

    fn watch(&mut self, view: &View) {
        for def in &view.watch.defs {
            self.watchers.entry(*def).or_default().insert(view.id);
        }
        for name in &view.watch.names {
            self.late.entry(name.clone()).or_default().insert(view.id);
        }
        if view.live() {
            for target in &view.watch.targets {
                self.referrers.entry(*target).or_default().insert(view.id);
            }
            for link in &view.watch.links {
                self.linked.entry(*link).or_default().insert(view.id);
            }
        }
    }

    pub(super) fn unwatch(&mut self, view: &View) {
        fn drop_one<K: std::hash::Hash + Eq>(
            map: &mut std::collections::HashMap<K, HashSet<DefId>>,
            key: &K,
            id: DefId,
        ) {
            if let Some(set) = map.get_mut(key) {
                set.remove(&id);
                if set.is_empty() {
                    map.remove(key);
                }
            }
        }
        for def in &view.watch.defs {
            drop_one(&mut self.watchers, def, view.id);
        }
        for name in &view.watch.names {
            drop_one(&mut self.late, name, view.id);
        }
        for target in &view.watch.targets {
            drop_one(&mut self.referrers, target, view.id);
        }
        for link in &view.watch.links {
            drop_one(&mut self.linked, link, view.id);
        }
    }
}

impl View {
    /// The parts of a view others look at, without its body.
    fn clone_header(&self) -> View {
        View {
            body: Body::Type(crate::strand::lang::ast::TypeBody::Union(Vec::new())),
            doc: String::new(),
            places: Vec::new(),
            units: Vec::new(),
            edges: Vec::new(),
            links: Vec::new(),
            text: String::new(),
            label: self.label.clone(),
            name: self.name.clone(),
            encoded: super::hashing::nothing(),
            watch: Watch::default(),
            id: self.id,
            layer: self.layer,
            claim: self.claim,
            claimed_by_add: self.claimed_by_add,
            status: self.status,
            epoch: self.epoch,
            settled: self.settled,
            hash: self.hash,
        }
    }
}

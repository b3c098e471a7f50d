//! Keeps content hashes up to date: what changed, and what refers to it, dependencies first.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::{Changed, State};
use crate::strand::cold::{IdMap, IdSet};
use crate::strand::hash::{Hash, cycle_hash};
use crate::strand::id::DefId;

impl State {
    /// Computes the hashes that may have changed. `resolved` are the definitions looked at again.
    pub(super) fn rehash(&mut self, resolved: &BTreeSet<DefId>, changed: &mut Changed) {
        let roots: BTreeSet<DefId> = resolved.iter().copied().filter(|id| changed.definitions.contains(id)).collect();
        let affected = self.affected(&roots);
        let mut moved = IdSet::default();
        for component in self.components(&affected) {
            let stale = component
                .iter()
                .any(|id| roots.contains(id) || self.deps_of(*id).iter().any(|dep| moved.contains(dep)));
            if !stale {
                continue;
            }
            for (id, hash) in self.hash_component(&component) {
                changed.rehashed += 1;
                if let Some(view) = self.views.get_mut(id)
                    && view.hash != hash
                {
                    view.hash = hash;
                    moved.insert(id);
                    changed.definitions.insert(id);
                }
            }
        }
    }

    pub(super) fn deps_of(&self, id: DefId) -> &[DefId] {
        match self.views.get(id) {
            Some(view) => view.deps(),
            None => self.row(id).map_or(&[], |row| &row.deps),
        }
    }

    fn hash_of(&self, id: DefId) -> Hash {
        match self.views.get(id) {
            Some(view) => view.hash,
            None => self.row(id).map_or(Hash::ZERO, |row| row.hash),
        }
    }

    /// The roots and every definition that refers to one, however far.
    fn affected(&self, roots: &BTreeSet<DefId>) -> IdSet {
        let mut seen = IdSet::default();
        let mut stack: Vec<DefId> = roots.iter().copied().collect();
        while let Some(id) = stack.pop() {
            if seen.insert(id) {
                // A dead definition refers to others as well; its hash is kept for revival.
                self.watchers.each(&id, |who| stack.push(who));
            }
        }
        seen
    }

    /// Strongly connected components among these definitions, dependencies first.
    pub(super) fn components(&self, among: &IdSet) -> Vec<Vec<DefId>> {
        let mut search = Search::default();
        let mut out = Vec::new();
        let mut starts: Vec<DefId> = among.iter().copied().collect();
        starts.sort_unstable();
        for start in starts {
            if !search.index.contains_key(&start) {
                self.connect(start, among, &mut search, &mut out);
            }
        }
        out
    }

    /// Tarjan's search with a stack of its own, so that long chains cannot exhaust the program's.
    fn connect(&self, start: DefId, among: &IdSet, search: &mut Search, out: &mut Vec<Vec<DefId>>) {
        let mut work: Vec<(DefId, usize)> = vec![(start, 0)];
        while let Some((id, next)) = work.pop() {
            if next == 0 {
                let index = search.index.len();
                search.index.insert(id, index);
                search.low.insert(id, index);
                search.stack.push(id);
                search.on.insert(id);
            }
            let deps = self.deps_of(id);
            if let Some(dep) = deps.get(next) {
                work.push((id, next + 1));
                if !among.contains(dep) {
                    continue;
                }
                match search.index.get(dep) {
                    None => work.push((*dep, 0)),
                    Some(index) if search.on.contains(dep) => {
                        let index = *index;
                        search.lower(id, index);
                    }
                    Some(_) => {}
                }
                continue;
            }
            let low = search.low[&id];
            if low == search.index[&id] {
                let at = search.stack.iter().rposition(|held| *held == id).unwrap_or(0);
                let component = search.stack.split_off(at);
                component.iter().for_each(|member| {
                    search.on.remove(member);
                });
                out.push(component);
            }
            if let Some((parent, _)) = work.last() {
                search.lower(*parent, low);
            }
        }
    }

    fn hash_component(&self, component: &[DefId]) -> Vec<(DefId, Hash)> {
        let hash_of = |id: DefId| self.hash_of(id);
        let own = |id: DefId| self.view(id).map(|view| &view.encoded);
        if let [id] = component
            && own(*id).is_some_and(|encoded| !encoded.deps.contains(id))
        {
            return own(*id).map(|encoded| (*id, encoded.hash(hash_of))).into_iter().collect();
        }
        let round = |last: &HashMap<DefId, Hash>| -> HashMap<DefId, Hash> {
            let value = |id: DefId| last.get(&id).copied().unwrap_or_else(|| hash_of(id));
            component.iter().filter_map(|id| own(*id).map(|encoded| (*id, encoded.hash(value)))).collect()
        };
        let distinct = |round: &HashMap<DefId, Hash>| round.values().collect::<HashSet<_>>().len();
        let mut last = round(&component.iter().map(|id| (*id, Hash::ZERO)).collect());
        loop {
            let next = round(&last);
            let done = distinct(&next) == distinct(&last);
            last = next;
            if done {
                break;
            }
        }
        let all: Vec<Hash> = last.values().copied().collect();
        last.iter().map(|(id, own)| (*id, cycle_hash(*own, &all))).collect()
    }
}

#[derive(Default)]
struct Search {
    index: IdMap<usize>,
    low: IdMap<usize>,
    stack: Vec<DefId>,
    on: IdSet,
}

impl Search {
    fn lower(&mut self, id: DefId, to: usize) {
        if let Some(low) = self.low.get_mut(&id) {
            *low = (*low).min(to);
        }
    }
}

impl State {
    /// Groups of more than one definition that refer to each other in a circle.
    pub fn cycles(&self, among: &IdSet) -> Vec<Vec<DefId>> {
        self.components(among).into_iter().filter(|component| component.len() > 1).collect()
    }
}

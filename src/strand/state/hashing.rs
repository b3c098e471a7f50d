//! Keeps content hashes up to date: of changed definitions and those that refer to them, dependencies first.

use std::collections::{HashMap, HashSet};

use super::State;
use crate::strand::hash::{Hash, cycle_hash};
use crate::strand::id::DefId;
use crate::strand::lazy::{IdMap, IdSet, Ids};
use crate::strand::one_or_many::OneOrMany;

impl State {
    /// Computes the hashes that may have changed. `resolved` are the definitions looked at again, sorted. Adds those
    /// whose hash is another now to the changed ones, and returns how many hashes were computed.
    pub(super) fn rehash(&mut self, resolved: &[DefId], changed: &mut IdSet) -> usize {
        let roots: Vec<DefId> = resolved.iter().copied().filter(|id| changed.contains(id)).collect();
        let is_root = |id: &DefId| roots.binary_search(id).is_ok();
        let affected = self.affected(&roots);
        let mut moved = IdSet::default();
        let mut rehashed = 0;
        for component in self.components(&affected) {
            let stale =
                component.iter().any(|id| is_root(id) || self.deps_of(*id).iter().any(|dep| moved.contains(dep)));
            if !stale {
                continue;
            }
            for (id, hash) in &self.hash_component(&component) {
                rehashed += 1;
                if let Some(view) = self.views.get_mut(*id)
                    && view.hash != *hash
                {
                    view.head.hash = *hash;
                    moved.insert(*id);
                    changed.insert(*id);
                }
            }
        }
        rehashed
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
            None => self.row(id).map_or(Hash::ZERO, |row| row.head.hash),
        }
    }

    /// Returns the roots and every definition that refers to one, however far.
    fn affected(&self, roots: &[DefId]) -> IdSet {
        let mut seen = IdSet::with_capacity_and_hasher(roots.len(), Ids::default());
        let mut stack = roots.to_vec();
        while let Some(id) = stack.pop() {
            if seen.insert(id) {
                // A removed definition refers to others as well; its hash is kept for revival.
                self.watchers.each(id, |who| stack.push(who));
            }
        }
        seen
    }

    /// Returns the strongly connected components among these definitions, dependencies first.
    pub(super) fn components(&self, among: &IdSet) -> Vec<OneOrMany<DefId>> {
        let mut members: Vec<DefId> = among.iter().copied().collect();
        members.sort_unstable();
        let mut search = Search::new(members);
        for start in 0..search.members.len() {
            if search.marks[start].index == 0 {
                search.connect(start, |id| self.deps_of(id));
            }
        }
        search.found
    }

    fn hash_component(&self, component: &[DefId]) -> OneOrMany<(DefId, Hash)> {
        let hash_of = |id: DefId| self.hash_of(id);
        let own = |id: DefId| self.view(id).map(|view| &view.encoded);
        if let [id] = component
            && own(*id).is_some_and(|encoded| !encoded.deps.contains(id))
        {
            return own(*id).map_or(OneOrMany::None, |encoded| OneOrMany::One((*id, encoded.hash(hash_of))));
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

/// Tarjan's search with a stack of its own, so that long chains cannot exhaust the program's.
struct Search {
    members: Vec<DefId>,
    places: IdMap<usize>,
    /// The marks of each member.
    marks: Vec<Mark>,
    stack: Vec<usize>,
    found: Vec<OneOrMany<DefId>>,
    last: usize,
}

#[derive(Clone, Copy, Default)]
struct Mark {
    /// Its number in order of visits, from 1.
    index: usize,
    /// The least number it is known to reach.
    low: usize,
    /// True if it is on the stack.
    on: bool,
}

impl Search {
    fn new(members: Vec<DefId>) -> Search {
        let places = members.iter().enumerate().map(|(place, id)| (*id, place)).collect();
        let marks = vec![Mark::default(); members.len()];
        let found = Vec::with_capacity(members.len());
        Search { members, places, marks, stack: Vec::new(), found, last: 0 }
    }

    fn visit(&mut self, place: usize) {
        self.last += 1;
        self.marks[place] = Mark { index: self.last, low: self.last, on: true };
        self.stack.push(place);
    }

    fn connect<'s>(&mut self, start: usize, deps: impl Fn(DefId) -> &'s [DefId]) {
        self.visit(start);
        let mut work = vec![(start, deps(self.members[start]).iter())];
        while let Some((at, rest)) = work.last_mut() {
            let at = *at;
            match rest.next().map(|dep| self.places.get(dep).copied()) {
                Some(Some(to)) if self.marks[to].index == 0 => {
                    self.visit(to);
                    work.push((to, deps(self.members[to]).iter()));
                }
                Some(Some(to)) if self.marks[to].on => {
                    self.marks[at].low = self.marks[at].low.min(self.marks[to].index)
                }
                Some(_) => {}
                None => {
                    work.pop();
                    self.close(at);
                    if let Some((parent, _)) = work.last() {
                        self.marks[*parent].low = self.marks[*parent].low.min(self.marks[at].low);
                    }
                }
            }
        }
    }

    /// Takes a component from the stack if a member is the first that was visited of it.
    fn close(&mut self, at: usize) {
        if self.marks[at].low < self.marks[at].index {
            return;
        }
        let mut component = OneOrMany::None;
        while let Some(place) = self.stack.pop() {
            self.marks[place].on = false;
            component.push(self.members[place]);
            if place == at {
                break;
            }
        }
        self.found.push(component);
    }
}

impl State {
    /// Groups of more than one definition that refer to each other in a circle.
    pub fn cycles(&self, among: &IdSet) -> Vec<OneOrMany<DefId>> {
        self.components(among).into_iter().filter(|component| component.len() > 1).collect()
    }
}

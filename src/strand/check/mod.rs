//! Checks: every fault of a state, one definition at a time.

mod call;
mod checker;
mod default;
mod definition;
mod element;
mod expr;
mod fault;
mod matching;
mod predicate;
mod render;
pub mod types;

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

pub use fault::{Fault, LocatedFault};
pub use render::{Diagnostic, render};

use super::id::{DefId, Layer};
use super::lang::ast::To;
use super::lang::place::Place;
use super::lazy::{IdMap, IdSet};
use super::state::{Changed, State, View};
use checker::Checker;
use types::Types;

/// All capabilities; granted unless a store says otherwise.
pub const CAPABILITIES: [&str; 5] = ["net", "storage", "clock", "random", "log"];

/// Returns all capabilities, granted.
pub fn all_capabilities() -> BTreeSet<String> {
    CAPABILITIES.iter().map(|cap| (*cap).to_owned()).collect()
}

/// Checks one definition on its own.
fn check_definition(types: &Types, view: &View, granted: &BTreeSet<String>) -> Vec<LocatedFault> {
    let mut checker = Checker::new(types, view, granted);
    checker.body(&view.body);
    let mut found = checker.found;
    let recursive = matches!(view.layer, Layer::Fn | Layer::Type | Layer::Tile);
    if recursive && let Some(edge) = view.edges.iter().find(|edge| edge.to == To::Def(view.id)) {
        let who = format!("{} {}", view.layer, view.label);
        found.push(LocatedFault { def: view.id, place: edge.place, node: 0, fault: Fault::Recursion { who } });
    }
    found
}

/// Statistics of a check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Definitions checked.
    pub checked: usize,
    /// Definitions whose faults were known already.
    pub reused: usize,
    /// Hashes computed.
    pub rehashed: usize,
    /// The number of times the check ran.
    pub rounds: usize,
}

/// Faults of a whole state, kept up to date.
#[derive(Debug, Default)]
pub struct Checks {
    found: IdMap<Vec<LocatedFault>>,
    /// Members of cycles, with the cycle's fault at its smallest member.
    cycles: HashMap<DefId, Vec<DefId>>,
    /// Statistics of the last check.
    pub stats: Stats,
}

impl Checks {
    /// Checks everything.
    pub fn full(state: &State, granted: &BTreeSet<String>) -> Checks {
        let mut checks = Checks::default();
        let all: BTreeSet<DefId> = state.visible_ids().collect();
        checks.run(state, granted, &all, &|| false);
        checks
    }

    /// Checks what no earlier check covered. Returns the definitions whose faults may have changed.
    pub fn resume(
        state: &State,
        granted: &BTreeSet<String>,
        mut known: IdMap<Vec<LocatedFault>>,
        is_stopped: &dyn Fn() -> bool,
    ) -> (Checks, BTreeSet<DefId>) {
        let all: IdSet = state.visible_ids().collect();
        known.retain(|id, _| all.contains(id));
        let mut open: BTreeSet<DefId> = all.iter().copied().filter(|id| !known.contains_key(id)).collect();
        let mut checks = Checks { found: known, ..Checks::default() };
        checks.run(state, granted, &open, is_stopped);
        open.extend(checks.cycles.keys());
        (checks, open)
    }

    /// Returns what a change may make another of: the definitions it touched, and those that mention one of them. A
    /// fault may name whatever a type is made of, so that of a type goes all the way up.
    pub fn affected(state: &State, touched: &IdSet) -> IdSet {
        let mut out = IdSet::default();
        let mut stack: Vec<DefId> = touched.iter().copied().collect();
        while let Some(id) = stack.pop() {
            let leads_on =
                |id: &DefId| touched.contains(id) || state.qname(*id).is_some_and(|name| name.layer == Layer::Type);
            if out.insert(id) && leads_on(&id) {
                stack.extend(state.watchers(id));
            }
        }
        out
    }

    /// Checks these definitions only.
    pub fn of_some(state: &State, granted: &BTreeSet<String>, which: &BTreeSet<DefId>) -> Checks {
        let mut checks = Checks::default();
        checks.run(state, granted, which, &|| false);
        checks
    }

    /// Checks what a change touched, and what depends on it.
    pub fn update(&mut self, state: &State, granted: &BTreeSet<String>, changed: &Changed) {
        let mut again: BTreeSet<DefId> = BTreeSet::new();
        // A fault may name whatever a type is made of, so a new name is looked for all the way up.
        let mut stack: Vec<DefId> = changed.definitions.iter().copied().collect();
        while let Some(id) = stack.pop() {
            if !again.insert(id) {
                continue;
            }
            if changed.definitions.contains(&id) || state.qname(id).is_some_and(|name| name.layer == Layer::Type) {
                stack.extend(state.watchers(id));
            }
            if let Some(members) = self.cycles.get(&id) {
                stack.extend(members);
            }
        }
        for id in &again {
            self.found.remove(id);
            self.cycles.remove(id);
        }
        again.retain(|id| state.reading(*id).is_some_and(View::visible));
        self.run(state, granted, &again, &|| false);
        self.stats.rehashed = changed.rehashed;
    }

    fn run(
        &mut self,
        state: &State,
        granted: &BTreeSet<String>,
        which: &BTreeSet<DefId>,
        is_stopped: &dyn Fn() -> bool,
    ) {
        let types = Types::new(state);
        let known = self.found.len();
        for id in which {
            // What was found so far counts for nothing then.
            if is_stopped() {
                return;
            }
            if let Some(view) = state.reading(*id) {
                let found = check_definition(&types, view, granted);
                self.found.insert(view.id, found);
            }
        }
        self.find_cycles(state, which);
        let rounds = self.stats.rounds + 1;
        self.stats = Stats { checked: which.len(), reused: known, rehashed: 0, rounds };
    }

    /// Finds cycles of references among types, fns and tiles, each reported at its smallest member.
    fn find_cycles(&mut self, state: &State, which: &BTreeSet<DefId>) {
        let whole = which.len() * 4 > state.graph().len();
        let among: IdSet = if whole { state.visible_ids().collect() } else { reachable(state, which) };
        let illegal = |id: &DefId| {
            state.qname(*id).is_some_and(|name| matches!(name.layer, Layer::Type | Layer::Fn | Layer::Tile))
        };
        for component in state.cycles(&among) {
            let mut members: Vec<DefId> = component.iter().copied().filter(illegal).collect();
            if members.len() < 2 || !members.iter().any(|id| which.contains(id)) {
                continue;
            }
            members.sort_by_key(|id| state.qname(*id));
            let first = members[0];
            let path = shortest_cycle(state, first, &component.iter().copied().collect());
            let path = path.iter().filter_map(|id| state.qname(*id)).map(|name| name.to_string()).collect();
            for member in &members {
                let found = self.found.entry(*member).or_default();
                found.retain(|found| !matches!(found.fault, Fault::Cycle { .. }));
            }
            self.found.entry(first).or_default().push(LocatedFault {
                def: first,
                place: Place::Unit(1),
                node: 0,
                fault: Fault::Cycle { path },
            });
            for member in &component {
                self.cycles.insert(*member, members.clone());
            }
        }
    }

    /// Returns every fault, in order of output: layer, name, unit, code, column.
    pub fn all<'c>(&'c self, state: &'c State) -> impl Iterator<Item = &'c LocatedFault> + 'c {
        state.readings().flat_map(|view| self.of(view.id))
    }

    /// Returns every fault, in no order.
    pub fn found(&self) -> impl Iterator<Item = &LocatedFault> {
        self.found.values().flatten()
    }

    /// Returns the faults of one definition, in no order.
    pub fn of(&self, id: DefId) -> &[LocatedFault] {
        self.found.get(&id).map_or(&[], Vec::as_slice)
    }
}

/// Returns what some definitions refer to, however far.
fn reachable(state: &State, from: &BTreeSet<DefId>) -> IdSet {
    let mut seen = IdSet::default();
    let mut stack: Vec<DefId> = from.iter().copied().collect();
    while let Some(id) = stack.pop() {
        if seen.insert(id) {
            stack.extend(state.deps(id));
        }
    }
    seen
}

/// Returns the shortest way from a definition to itself within its component, both ends included.
fn shortest_cycle(state: &State, start: DefId, among: &HashSet<DefId>) -> Vec<DefId> {
    let mut from: HashMap<DefId, DefId> = HashMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(id) = queue.pop_front() {
        let mut deps = state.deps(id);
        deps.sort_by_key(|dep| state.qname(*dep));
        for dep in deps.into_iter().filter(|dep| among.contains(dep) && *dep != id) {
            if dep == start {
                let mut path = vec![start, id];
                let mut at = id;
                while let Some(before) = from.get(&at).filter(|_| at != start) {
                    at = *before;
                    path.push(at);
                }
                path.reverse();
                return path;
            }
            if let std::collections::hash_map::Entry::Vacant(free) = from.entry(dep) {
                free.insert(id);
                queue.push_back(dep);
            }
        }
    }
    vec![start]
}

#[cfg(test)]
mod tests;

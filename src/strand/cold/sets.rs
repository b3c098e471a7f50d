//! Sets of definitions by the definition they stand to in a relation, loaded one by one.

use std::cell::RefCell;
use std::rc::Rc;

use super::{Cold, IdMap, Relation};
use crate::strand::few::Few;
use crate::strand::id::DefId;

/// Sets of definitions, each sorted.
#[derive(Debug)]
pub struct Sets {
    held: RefCell<IdMap<Few<DefId>>>,
    cold: Option<Rc<dyn Cold>>,
    relation: Relation,
}

impl Sets {
    /// No sets but those of the source.
    pub fn new(cold: Option<Rc<dyn Cold>>, relation: Relation) -> Sets {
        Sets { held: RefCell::default(), cold, relation }
    }

    fn load(&self, to: DefId) {
        let Some(cold) = &self.cold else { return };
        if !self.held.borrow().contains_key(&to) {
            let mut set = cold.related(self.relation, to);
            set.sort_unstable();
            self.held.borrow_mut().insert(to, set.into());
        }
    }

    /// A set, by identity.
    pub fn get(&self, to: DefId) -> Vec<DefId> {
        self.load(to);
        self.held.borrow().get(&to).map(|set| set.to_vec()).unwrap_or_default()
    }

    /// Lets each of a set be looked at.
    pub fn each(&self, to: DefId, look: impl FnMut(DefId)) {
        self.load(to);
        self.held.borrow().get(&to).into_iter().flatten().copied().for_each(look);
    }

    /// Adds to a set.
    pub fn add(&mut self, to: DefId, id: DefId) {
        self.load(to);
        self.held.get_mut().entry(to).or_default().add(id);
    }

    /// Takes from a set.
    pub fn take(&mut self, to: DefId, id: DefId) {
        self.load(to);
        let held = self.held.get_mut();
        let Some(set) = held.get_mut(&to) else { return };
        set.take(&id);
        // An empty set is kept where its absence would mean to ask the source.
        if set.is_empty() && self.cold.is_none() {
            held.remove(&to);
        }
    }
}

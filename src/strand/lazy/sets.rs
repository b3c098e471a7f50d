//! Sets of definitions by their relation to a definition, loaded one by one.

use std::cell::RefCell;
use std::rc::Rc;

use super::ids::IdMap;
use super::row::Relation;
use super::source::LazySource;
use crate::strand::id::DefId;
use crate::strand::one_or_many::OneOrMany;

/// Sets of definitions, each sorted.
#[derive(Debug)]
pub struct Sets {
    held: RefCell<IdMap<OneOrMany<DefId>>>,
    lazy: Option<Rc<dyn LazySource>>,
    relation: Relation,
}

impl Sets {
    /// Creates sets that hold only those of the source.
    pub fn new(lazy: Option<Rc<dyn LazySource>>, relation: Relation) -> Sets {
        Sets { held: RefCell::default(), lazy, relation }
    }

    fn load(&self, to: DefId) {
        if let Some(lazy) = &self.lazy {
            self.meet(to, || lazy.related(self.relation, to));
        }
    }

    /// Takes in a set as the source has it, where it was not asked for yet.
    pub fn meet(&self, to: DefId, set: impl FnOnce() -> Vec<DefId>) {
        if self.lazy.is_some() && !self.held.borrow().contains_key(&to) {
            let mut set = set();
            set.sort_unstable();
            self.held.borrow_mut().insert(to, set.into());
        }
    }

    /// Returns a set, by identity.
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
        // An empty set is stored where its absence would mean a query to the source.
        if set.is_empty() && self.lazy.is_none() {
            held.remove(&to);
        }
    }
}

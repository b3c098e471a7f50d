//! Sets of definitions by key, loaded key by key.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::Hash;
use std::rc::Rc;

use super::{Cold, Ids};
use crate::strand::few::Few;
use crate::strand::id::{DefId, Layer};

/// A layer and a name in it.
pub type Name = (Layer, String);

/// Sets of definitions, each sorted.
#[derive(Debug)]
pub struct Sets<K> {
    held: RefCell<HashMap<K, Few<DefId>, Ids>>,
    cold: Option<Rc<dyn Cold>>,
    fetch: fn(&dyn Cold, &K) -> Vec<DefId>,
}

impl<K: Hash + Eq + Clone> Sets<K> {
    /// No sets but those of the source, of which `fetch` gets one.
    pub fn new(cold: Option<Rc<dyn Cold>>, fetch: fn(&dyn Cold, &K) -> Vec<DefId>) -> Sets<K> {
        Sets { held: RefCell::default(), cold, fetch }
    }

    fn load(&self, key: &K) {
        let Some(cold) = &self.cold else { return };
        if !self.held.borrow().contains_key(key) {
            let mut set = (self.fetch)(cold.as_ref(), key);
            set.sort_unstable();
            self.held.borrow_mut().insert(key.clone(), set.into());
        }
    }

    /// A set, by identity.
    pub fn get(&self, key: &K) -> Vec<DefId> {
        self.load(key);
        self.held.borrow().get(key).map(|set| set.to_vec()).unwrap_or_default()
    }

    /// Lets each of a set be looked at.
    pub fn each(&self, key: &K, look: impl FnMut(DefId)) {
        self.load(key);
        self.held.borrow().get(key).into_iter().flatten().copied().for_each(look);
    }

    /// The one in a set that has only one.
    pub fn only(&self, key: &K) -> Option<DefId> {
        self.load(key);
        match self.held.borrow().get(key).map(|set| &**set) {
            Some([one]) => Some(*one),
            _ => None,
        }
    }

    /// Adds to a set.
    pub fn add(&mut self, key: K, id: DefId) {
        self.load(&key);
        self.held.get_mut().entry(key).or_default().add(id);
    }

    /// Takes from a set.
    pub fn take(&mut self, key: &K, id: DefId) {
        self.load(key);
        let held = self.held.get_mut();
        let Some(set) = held.get_mut(key) else { return };
        set.take(&id);
        // An empty set is kept where its absence would mean to ask the source.
        if set.is_empty() && self.cold.is_none() {
            held.remove(key);
        }
    }

    /// Whether every set is empty for certain.
    pub fn is_void(&self) -> bool {
        self.cold.is_none() && self.held.borrow().is_empty()
    }

    /// The keys of what is held, for whoever looks through all of a state without a source.
    pub fn held_keys(&self) -> Vec<K> {
        self.held.borrow().keys().cloned().collect()
    }
}

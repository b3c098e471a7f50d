//! Which definition stands under which label.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::{Cold, Ids, Name};
use crate::strand::id::{DefId, Layer};

/// Visible definitions by label.
#[derive(Debug, Default)]
pub struct Labels {
    held: RefCell<[HashMap<String, DefId, Ids>; 6]>,
    /// Labels of which the source may say something else than holds.
    known: RefCell<HashSet<Name>>,
    /// The layers of which every label is held.
    whole: [Cell<bool>; 6],
    cold: Option<Rc<dyn Cold>>,
}

impl Labels {
    /// The labels of a source, if there is one.
    pub fn new(cold: Option<Rc<dyn Cold>>) -> Labels {
        Labels { cold, ..Labels::default() }
    }

    /// The source, while it has something to say about a layer.
    fn source(&self, layer: Layer) -> Option<&dyn Cold> {
        self.cold.as_deref().filter(|_| !self.whole[layer as usize].get())
    }

    /// The definition under a label.
    pub fn get(&self, layer: Layer, label: &str) -> Option<DefId> {
        let held = self.held.borrow()[layer as usize].get(label).copied();
        let Some(cold) = self.source(layer).filter(|_| held.is_none()) else { return held };
        let key = (layer, label.to_owned());
        if !self.known.borrow_mut().insert(key.clone()) {
            return None;
        }
        let found = cold.labelled(layer, label)?;
        self.held.borrow_mut()[layer as usize].insert(key.1, found);
        Some(found)
    }

    /// Puts a definition under a label.
    pub fn insert(&mut self, layer: Layer, label: String, id: DefId) {
        if self.cold.is_some() {
            self.known.get_mut().insert((layer, label.clone()));
        }
        self.held.get_mut()[layer as usize].insert(label, id);
    }

    /// Takes a label away, if it is this definition's.
    pub fn remove(&mut self, layer: Layer, label: &str, id: DefId) {
        if self.get(layer, label) == Some(id) {
            self.held.get_mut()[layer as usize].remove(label);
            if self.cold.is_some() {
                self.known.get_mut().insert((layer, label.to_owned()));
            }
        }
    }

    fn load(&self, layer: Layer) {
        let Some(cold) = self.source(layer) else { return };
        let known = self.known.borrow();
        let mut held = self.held.borrow_mut();
        for (label, id) in cold.labels(layer) {
            let key = (layer, label);
            if !known.contains(&key) {
                held[layer as usize].entry(key.1).or_insert(id);
            }
        }
        self.whole[layer as usize].set(true);
    }

    /// Looks at what a layer holds, in order of the labels.
    fn sorted<T>(&self, layer: Layer, look: impl Fn((&String, &DefId)) -> T) -> Vec<T> {
        self.load(layer);
        let held = &self.held.borrow()[layer as usize];
        let mut all: Vec<(&String, &DefId)> = held.iter().collect();
        all.sort_unstable();
        all.into_iter().map(look).collect()
    }

    /// The definitions of a layer, in no order.
    pub fn unsorted(&self, layer: Layer) -> Vec<DefId> {
        self.load(layer);
        self.held.borrow()[layer as usize].values().copied().collect()
    }

    /// The definitions of a layer, by label.
    pub fn ids(&self, layer: Layer) -> Vec<DefId> {
        self.sorted(layer, |(_, id)| *id)
    }

    /// The labels of a layer, in order.
    pub fn names(&self, layer: Layer) -> Vec<String> {
        self.sorted(layer, |(label, _)| label.clone())
    }
}

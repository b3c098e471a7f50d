//! An index of names: the claimants, the holder and the users of each.

use std::cell::{Ref, RefCell};
use std::collections::HashMap;
use std::hash::Hasher;
use std::rc::Rc;

use super::ids::{IdHasher, Ids};
use super::row::{CheckpointDefinition, Name, Visibility};
use super::source::LazySource;
use crate::strand::id::{DefId, Layer};
use crate::strand::one_or_many::OneOrMany;

/// The number of a name in this table. In order of first mention, not of the names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NameId {
    layer: Layer,
    at: u32,
}

/// Returns a name spread over 64 bits. Two names may have the same.
pub fn name_hash(layer: Layer, name: &str) -> u64 {
    let mut hasher = IdHasher::default();
    hasher.write_u8(layer as u8);
    hasher.write(name.as_bytes());
    hasher.finish()
}

/// The known facts about one name; `None` was not read from the source yet.
#[derive(Debug)]
struct Entry {
    text: Box<str>,
    /// Live definitions that claim it, sorted.
    claims: Option<OneOrMany<DefId>>,
    /// Definitions that look it up, sorted.
    late: Option<OneOrMany<DefId>>,
    /// The visible definition of this label.
    holder: Option<Option<DefId>>,
}

/// The names of one layer.
#[derive(Debug, Default)]
struct Table {
    /// The places of the names of a hash.
    index: HashMap<u64, OneOrMany<u32>, Ids>,
    entries: Vec<Entry>,
    /// True if every label is held.
    whole: bool,
    /// True if any name was ever looked up.
    late: bool,
}

impl Table {
    fn find(&self, hash: u64, text: &str) -> Option<u32> {
        let places = self.index.get(&hash)?;
        places.iter().copied().find(|at| *self.entries[*at as usize].text == *text)
    }
}

/// The known facts about the names of a state, loaded name by name.
#[derive(Debug, Default)]
pub struct Names {
    tables: [RefCell<Table>; 6],
    lazy: Option<Rc<dyn LazySource>>,
}

impl Names {
    /// Creates the names of a source, if there is one.
    pub fn new(lazy: Option<Rc<dyn LazySource>>) -> Names {
        Names { lazy, ..Names::default() }
    }

    fn table(&self, layer: Layer) -> &RefCell<Table> {
        &self.tables[layer as usize]
    }

    fn entry(&mut self, id: NameId) -> &mut Entry {
        &mut self.tables[id.layer as usize].get_mut().entries[id.at as usize]
    }

    /// Returns the number of a name.
    pub fn id(&self, layer: Layer, text: &str) -> NameId {
        let hash = name_hash(layer, text);
        let mut table = self.table(layer).borrow_mut();
        let at = table.find(hash, text).unwrap_or_else(|| {
            let at = table.entries.len() as u32;
            // Without a source, what is not held is not there.
            let whole = self.lazy.is_none();
            table.entries.push(Entry {
                text: text.into(),
                claims: whole.then_some(OneOrMany::None),
                late: whole.then_some(OneOrMany::None),
                holder: whole.then_some(None),
            });
            table.index.entry(hash).or_default().push(at);
            at
        });
        NameId { layer, at }
    }

    /// Returns the number of a name, if it may say anything.
    fn known(&self, layer: Layer, text: &str) -> Option<NameId> {
        if self.lazy.is_some() {
            return Some(self.id(layer, text));
        }
        self.table(layer).borrow().find(name_hash(layer, text), text).map(|at| NameId { layer, at })
    }

    /// Returns the name of a number.
    pub fn text(&self, id: NameId) -> Ref<'_, str> {
        Ref::map(self.table(id.layer).borrow(), |table| &*table.entries[id.at as usize].text)
    }

    /// Returns the layer and the name of a number.
    pub fn name(&self, id: NameId) -> Name {
        (id.layer, self.text(id).to_owned())
    }

    fn load_claims(&self, id: NameId) {
        let Some(lazy) = &self.lazy else { return };
        if self.table(id.layer).borrow().entries[id.at as usize].claims.is_none() {
            let claims = lazy.claimants(&self.name(id)).into_iter().collect();
            self.table(id.layer).borrow_mut().entries[id.at as usize].claims = Some(claims);
        }
    }

    /// Returns the live definitions that claim a name, by identity.
    pub fn claimants(&self, id: NameId) -> Vec<DefId> {
        self.load_claims(id);
        self.table(id.layer).borrow().entries[id.at as usize].claims.iter().flatten().copied().collect()
    }

    /// Returns the live definitions that claim a name, by identity.
    pub fn claimants_of(&self, layer: Layer, text: &str) -> Vec<DefId> {
        self.known(layer, text).map_or(Vec::new(), |id| self.claimants(id))
    }

    /// Lets each claimant be looked at.
    pub fn each_claimant(&self, id: NameId, look: impl FnMut(DefId)) {
        self.load_claims(id);
        self.table(id.layer).borrow().entries[id.at as usize].claims.iter().flatten().copied().for_each(look);
    }

    /// Returns the one claimant of a name that has only one.
    pub fn only_claimant(&self, id: NameId) -> Option<DefId> {
        self.load_claims(id);
        match self.table(id.layer).borrow().entries[id.at as usize].claims.as_deref() {
            Some([one]) => Some(*one),
            _ => None,
        }
    }

    /// Adds a claimant.
    pub fn claim(&mut self, id: NameId, def: DefId) {
        self.load_claims(id);
        self.entry(id).claims.get_or_insert_default().add(def);
    }

    /// Takes a claimant away.
    pub fn unclaim(&mut self, id: NameId, def: DefId) {
        self.load_claims(id);
        self.entry(id).claims.get_or_insert_default().take(&def);
    }

    fn load_late(&self, id: NameId) {
        let Some(lazy) = &self.lazy else { return };
        if self.table(id.layer).borrow().entries[id.at as usize].late.is_none() {
            let late = lazy.late(&self.name(id)).into_iter().collect();
            self.table(id.layer).borrow_mut().entries[id.at as usize].late = Some(late);
        }
    }

    /// Returns the definitions that look a name up, by identity.
    pub fn late(&self, layer: Layer, text: &str) -> Vec<DefId> {
        if self.lazy.is_none() && !self.table(layer).borrow().late {
            return Vec::new();
        }
        let Some(id) = self.known(layer, text) else { return Vec::new() };
        self.load_late(id);
        self.table(layer).borrow().entries[id.at as usize].late.iter().flatten().copied().collect()
    }

    /// Adds a definition that looks a name up.
    pub fn look_up(&mut self, name: &Name, def: DefId) {
        let id = self.id(name.0, &name.1);
        self.load_late(id);
        self.tables[id.layer as usize].get_mut().late = true;
        self.entry(id).late.get_or_insert_default().add(def);
    }

    /// Takes away a definition that looks a name up.
    pub fn forget(&mut self, name: &Name, def: DefId) {
        let Some(id) = self.known(name.0, &name.1) else { return };
        self.load_late(id);
        self.entry(id).late.get_or_insert_default().take(&def);
    }

    /// Returns the definitions held that look up a name nobody stands under.
    pub fn missing(&self) -> Vec<DefId> {
        let mut out = Vec::new();
        for layer in Layer::ALL.into_iter().filter(|layer| self.table(*layer).borrow().late) {
            let sought = |entry: &Entry| entry.late.as_ref().is_some_and(|late| !late.is_empty());
            let names: Vec<(Box<str>, Vec<DefId>)> = {
                let table = self.table(layer).borrow();
                let sought = table.entries.iter().filter(|entry| sought(entry));
                sought.map(|entry| (entry.text.clone(), entry.late.iter().flatten().copied().collect())).collect()
            };
            out.extend(names.into_iter().filter(|(text, _)| self.get(layer, text).is_none()).flat_map(|(_, who)| who));
        }
        out
    }

    /// Returns the definition under a label.
    pub fn get(&self, layer: Layer, label: &str) -> Option<DefId> {
        let id = self.known(layer, label)?;
        let table = self.table(layer).borrow();
        if let (Some(lazy), None, false) = (&self.lazy, table.entries[id.at as usize].holder, table.whole) {
            drop(table);
            let holder = lazy.labelled(layer, label);
            self.table(layer).borrow_mut().entries[id.at as usize].holder = Some(holder);
            return holder;
        }
        table.entries[id.at as usize].holder.flatten()
    }

    /// Puts a definition under a label.
    pub fn hold(&mut self, id: NameId, def: DefId) {
        self.entry(id).holder = Some(Some(def));
    }

    /// Takes in what the source says of a definition about names that it was not asked for yet.
    pub fn meet(&self, row: &CheckpointDefinition) {
        let head = &row.head;
        if head.status == Visibility::Visible {
            let id = self.id(head.layer, &head.label);
            self.table(id.layer).borrow_mut().entries[id.at as usize].holder.get_or_insert(Some(head.id));
        }
        if row.alone {
            let id = self.id(head.layer, &head.name);
            let claims = &mut self.table(id.layer).borrow_mut().entries[id.at as usize].claims;
            claims.get_or_insert(OneOrMany::One(head.id));
        }
    }

    /// Takes a label away, if it is this definition's.
    pub fn release(&mut self, layer: Layer, label: &str, def: DefId) {
        if self.get(layer, label) == Some(def) {
            let id = self.id(layer, label);
            self.entry(id).holder = Some(None);
        }
    }

    fn load_labels(&self, layer: Layer) {
        let Some(lazy) = self.lazy.as_ref().filter(|_| !self.table(layer).borrow().whole) else { return };
        for (label, def) in lazy.labels(layer) {
            let id = self.id(layer, &label);
            self.table(layer).borrow_mut().entries[id.at as usize].holder.get_or_insert(Some(def));
        }
        self.table(layer).borrow_mut().whole = true;
    }

    /// Takes in every visible definition of the source: what is held already stays.
    pub fn fill<'r>(&self, visible: impl Iterator<Item = (Layer, &'r str, DefId)>) {
        for (layer, label, def) in visible {
            let id = self.id(layer, label);
            self.table(layer).borrow_mut().entries[id.at as usize].holder.get_or_insert(Some(def));
        }
        self.tables.iter().for_each(|table| table.borrow_mut().whole = true);
    }

    /// Returns the definitions that stand under a label of a layer, in no order.
    pub fn unsorted(&self, layer: Layer) -> Vec<DefId> {
        self.load_labels(layer);
        self.table(layer).borrow().entries.iter().filter_map(|entry| entry.holder.flatten()).collect()
    }

    /// Looks at the labels of a layer in order.
    fn sorted<T>(&self, layer: Layer, look: impl Fn((&str, DefId)) -> T) -> Vec<T> {
        self.load_labels(layer);
        let table = self.table(layer).borrow();
        let held = table.entries.iter().filter_map(|entry| Some((&*entry.text, entry.holder.flatten()?)));
        let mut all: Vec<(&str, DefId)> = held.collect();
        all.sort_unstable();
        all.into_iter().map(look).collect()
    }

    /// Returns the definitions that stand under a label of a layer, by label.
    pub fn ids(&self, layer: Layer) -> Vec<DefId> {
        self.sorted(layer, |(_, id)| id)
    }

    /// Returns the labels of a layer, in order.
    pub fn labels(&self, layer: Layer) -> Vec<String> {
        self.sorted(layer, |(label, _)| label.to_owned())
    }
}

//! Entries that leave the queue together. Where a later one brings a path back to what an earlier one met, neither is a
//! change of it, and restoring one without the other would make it anew.

use std::collections::HashMap;

use crate::archive::{Id, ModeChanges};
use crate::execute::Stores;
use crate::memory::{self, StatesAround};

/// The entries looked at so far, by the paths that they changed.
pub struct EntryChains<'a> {
    stores: Stores<'a>,
    modes: &'a ModeChanges<'a>,
    of_paths: HashMap<String, PathChain>,
    /// For each entry: it waits.
    waits: Vec<bool>,
    /// The entries that leave together or not at all, by their places.
    together: Vec<(usize, usize)>,
    /// The states around changesets, by path.
    states: HashMap<Id, HashMap<String, StatesAround>>,
}

/// The entries that changed a path.
#[derive(Default)]
struct PathChain {
    /// They, oldest first, each with whether a restore brought the path back.
    entries: Vec<(Id, bool)>,
    /// The number of those that were compared, and whether the path is as before the last of them, or as before an earlier
    /// one after which these alone changed it.
    compared: usize,
    is_back: bool,
    /// The entries among them of which that is not so.
    open: Vec<Id>,
    /// The place of the last one of which something may be left here.
    last: Option<usize>,
}

impl<'a> EntryChains<'a> {
    /// Creates them without an entry.
    pub fn new(stores: Stores<'a>, modes: &'a ModeChanges<'a>) -> Self {
        let (of_paths, waits, together) = (HashMap::new(), Vec::new(), Vec::new());
        EntryChains { stores, modes, of_paths, waits, together, states: HashMap::new() }
    }

    /// Takes in an entry, newer than those before it. `is_restored`: a restore brought the path back.
    ///
    /// # Errors
    /// When memory cannot be read.
    pub fn add(&mut self, id: Id, paths: &[&str], is_restored: impl Fn(&str) -> bool) -> Result<(), memory::Error> {
        let (at, mut waits) = (self.waits.len(), false);
        for path in paths {
            let mut chain = self.of_paths.remove(*path).unwrap_or_default();
            let restored = is_restored(path);
            chain.entries.push((id, restored));
            if !restored {
                waits = self.meet(path, &mut chain, waits)? || waits;
                if let Some(earlier) = chain.last.replace(at).filter(|earlier| *earlier != at)
                    && self.together.last() != Some(&(earlier, at))
                {
                    self.together.push((earlier, at));
                }
            }
            self.of_paths.insert(path.to_string(), chain);
        }
        self.waits.push(waits);
        Ok(())
    }

    /// Returns whether the last entry of a chain waits for its path. One that begins anew has none before it.
    fn meet(&mut self, path: &str, chain: &mut PathChain, waits: bool) -> Result<bool, memory::Error> {
        // Of two that wait anyway nothing is compared.
        let is_after_one_that_waits = chain.last.is_some_and(|earlier| self.waits[earlier]);
        if waits && (chain.last.is_none() || is_after_one_that_waits) {
            return Ok(true);
        }
        let Some((id, _)) = chain.entries.last().copied() else { return Ok(false) };
        if is_as_before(path, id, (self.stores, self.modes)) {
            chain.last = None;
            return Ok(false);
        }
        // The first of a path has none before it that it could bring back.
        let is_first = chain.entries.len() == 1;
        Ok(waits || is_after_one_that_waits || is_first || !self.is_back(path, chain)?)
    }

    /// Returns whether a path is as before an entry of its chain after which these alone changed it.
    fn is_back(&mut self, path: &str, chain: &mut PathChain) -> Result<bool, memory::Error> {
        while let Some((id, is_restored)) = chain.entries.get(chain.compared).copied() {
            let earlier = chain.compared.checked_sub(1).filter(|_| chain.is_back).map(|at| chain.entries[at].0);
            chain.is_back = is_as_before(path, id, (self.stores, self.modes))
                || match earlier {
                    Some(earlier) => self.follows(path, earlier, id)? && !self.met_again(path, &chain.open, id)?,
                    None => false,
                };
            if !chain.is_back && !is_restored {
                chain.open.push(id);
            }
            chain.compared += 1;
        }
        Ok(chain.is_back)
    }

    /// Returns whether an entry met what one of these had met: it may have done their work anew.
    fn met_again(&mut self, path: &str, open: &[Id], id: Id) -> Result<bool, memory::Error> {
        let met = self.state_of(id, path)?.and_then(|state| state.before);
        for one in open {
            if self.state_of(*one, path)?.and_then(|state| state.before) == met {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns whether nobody changed a path between two entries.
    fn follows(&mut self, path: &str, earlier: Id, later: Id) -> Result<bool, memory::Error> {
        let versions = self.stores.archive.versions(path).unwrap_or_default();
        let mut between = versions.iter().filter(|version| earlier < version.id && version.id < later).rev();
        let (Some(_), is_next) = (between.next(), between.clone().next().is_none()) else { return Ok(false) };
        // Of a folder nothing else is known.
        if path.ends_with('/') {
            return Ok(is_next);
        }
        let left = self.state_of(earlier, path)?.and_then(|state| state.after);
        let met = self.state_of(later, path)?.and_then(|state| state.before);
        let (Some(left), true) = (&left, left == met) else { return Ok(false) };
        // A change that failed between them has met and left the same.
        let (memory, project) = (self.stores.memory, self.stores.project());
        let mut others = between.map(|version| match version.absent {
            true => Ok(left.is_empty()),
            false => {
                Ok(memory.version_hash(&project, path, &version.id.to_string())?.is_some_and(|sha| sha[..] == left[..]))
            }
        });
        others.try_fold(true, |all, one: Result<bool, memory::Error>| Ok(all && one?))
    }

    fn state_of(&mut self, id: Id, path: &str) -> Result<Option<StatesAround>, memory::Error> {
        if !self.states.contains_key(&id) {
            let states = self.stores.memory.changed_states(&self.stores.project(), &id.to_string())?;
            self.states.insert(id, states.into_iter().map(|state| (state.path.clone(), state)).collect());
        }
        Ok(self.states[&id].get(path).cloned())
    }

    /// Returns for each entry, in the order they were taken in, whether it waits.
    pub fn waits(self) -> Vec<bool> {
        let EntryChains { mut waits, together, .. } = self;
        let mut is_changed = true;
        while is_changed {
            is_changed = false;
            for (one, other) in together.iter().rev().copied() {
                if waits[one] != waits[other] {
                    (waits[one], waits[other], is_changed) = (true, true, true);
                }
            }
        }
        waits
    }
}

/// Returns whether a path is as it was before a changeset. What cannot be compared is not.
pub fn is_as_before(path: &str, id: Id, (stores, modes): (Stores<'_>, &ModeChanges<'_>)) -> bool {
    let Ok(Some(version)) = modes.version_in(path, id) else { return false };
    let size = stores.workspace.stamp(path).map(|stamp| stamp.size());
    // Most have another size, and are not read.
    if !version.absent && !version.folder && size.is_some_and(|size| size != version.size()) {
        return false;
    }
    modes.is_as_before(stores.workspace, id, path)
}

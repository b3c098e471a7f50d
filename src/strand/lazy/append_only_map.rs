//! A map that can be added to through a shared reference: what it holds never moves.

use std::cell::{Cell, OnceCell, RefCell};

use super::ids::IdMap;
use crate::strand::id::OpId;

/// The number of places of the first board; each further one has twice as many as the one before.
const FIRST: usize = 64;
/// Boards enough for four thousand million places.
const BOARDS: usize = 26;

/// Values by identity.
#[derive(Debug)]
pub struct AppendOnlyMap<V> {
    index: RefCell<IdMap<usize>>,
    boards: [OnceCell<Box<[OnceCell<V>]>>; BOARDS],
    /// The places in use at the front.
    used: Cell<usize>,
    /// Places given back.
    free: Vec<usize>,
}

impl<V> Default for AppendOnlyMap<V> {
    fn default() -> AppendOnlyMap<V> {
        let boards = std::array::from_fn(|_| OnceCell::new());
        AppendOnlyMap { index: RefCell::default(), boards, used: Cell::new(0), free: Vec::new() }
    }
}

/// Returns the board of a place, and the place on it.
#[inline]
fn place(at: usize) -> (usize, usize) {
    let shifted = at + FIRST;
    let board = (shifted / FIRST).ilog2() as usize;
    (board, shifted - (FIRST << board))
}

impl<V> AppendOnlyMap<V> {
    #[inline]
    fn slot(&self, at: usize) -> &OnceCell<V> {
        let (board, place) = place(at);
        let board = self.boards[board].get_or_init(|| (0..FIRST << board).map(|_| OnceCell::new()).collect());
        &board[place]
    }

    #[inline]
    fn slot_mut(&mut self, at: usize) -> Option<&mut OnceCell<V>> {
        let (board, place) = place(at);
        self.boards[board].get_mut()?.get_mut(place)
    }

    /// Returns whether there is a value of this identity.
    #[inline]
    pub fn contains(&self, id: OpId) -> bool {
        self.index.borrow().contains_key(&id)
    }

    /// Returns the value under a key.
    #[inline]
    pub fn get(&self, id: OpId) -> Option<&V> {
        let at = *self.index.borrow().get(&id)?;
        self.slot(at).get()
    }

    /// Returns the value under a key, to change it.
    #[inline]
    pub fn get_mut(&mut self, id: OpId) -> Option<&mut V> {
        let at = *self.index.get_mut().get(&id)?;
        self.slot_mut(at)?.get_mut()
    }

    /// Inserts a value where there is none yet. Returns the stored value.
    pub fn put(&self, id: OpId, value: V) -> &V {
        let known = self.index.borrow().get(&id).copied();
        let at = known.unwrap_or_else(|| {
            let at = self.used.get();
            self.used.set(at + 1);
            self.index.borrow_mut().insert(id, at);
            at
        });
        self.slot(at).get_or_init(|| value)
    }

    /// Puts a value, in place of any that was there.
    pub fn insert(&mut self, id: OpId, value: V) {
        let next = self.free.last().copied().unwrap_or(self.used.get());
        let at = *self.index.get_mut().entry(id).or_insert(next);
        if at == next && self.free.pop().is_none() {
            self.used.set(next + 1);
        }
        // The board of a new place may have to be made.
        self.slot(at);
        if let Some(slot) = self.slot_mut(at) {
            *slot = OnceCell::from(value);
        }
    }

    /// Takes a value away.
    pub fn remove(&mut self, id: OpId) -> Option<V> {
        let at = self.index.get_mut().remove(&id)?;
        self.free.push(at);
        self.slot_mut(at)?.take()
    }

    /// Returns how many values there are.
    pub fn count(&self) -> usize {
        self.index.borrow().len()
    }

    /// Returns every value, in no order.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.boards.iter().filter_map(OnceCell::get).flat_map(|board| board.iter().filter_map(OnceCell::get))
    }

    /// Returns every identity, in no order.
    pub fn ids(&self) -> Vec<OpId> {
        self.index.borrow().keys().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stay_where_they_are_while_others_come_and_go() {
        let id = |n: i64| OpId::from_parts(n, 7);
        let mut map: AppendOnlyMap<String> = AppendOnlyMap::default();
        for n in 0..1000 {
            map.insert(id(n), n.to_string());
        }
        assert_eq!(map.remove(id(3)).as_deref(), Some("3"));
        assert_eq!((map.get(id(3)), map.ids().len()), (None, 999));
        let first = map.get(id(5)).unwrap();
        for n in 1000..3000 {
            map.put(id(n), n.to_string());
        }
        assert_eq!(map.put(id(5), "other".into()), first);
        map.insert(id(4000), "here".into());
        *map.get_mut(id(4000)).unwrap() += "!";
        assert_eq!(map.get(id(4000)).unwrap(), "here!");
        assert_eq!((map.values().count(), map.count()), (3000, 3000));
        assert!((0..3000).filter(|n| *n != 3).all(|n| map.get(id(n)).unwrap() == &n.to_string()));
    }
}

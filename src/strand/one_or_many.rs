//! A list that mostly has one element, which is stored in place until there is a second.

use std::fmt;
use std::ops::{Deref, DerefMut};

/// A short list.
#[derive(Clone, Default)]
pub enum OneOrMany<T> {
    /// No element.
    #[default]
    None,
    /// One element.
    One(T),
    /// Any number.
    Many(Vec<T>),
}

impl<T> Deref for OneOrMany<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match self {
            OneOrMany::None => &[],
            OneOrMany::One(one) => std::slice::from_ref(one),
            OneOrMany::Many(all) => all,
        }
    }
}

impl<T> DerefMut for OneOrMany<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        match self {
            OneOrMany::None => &mut [],
            OneOrMany::One(one) => std::slice::from_mut(one),
            OneOrMany::Many(all) => all,
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for OneOrMany<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: PartialEq> PartialEq for OneOrMany<T> {
    fn eq(&self, other: &OneOrMany<T>) -> bool {
        **self == **other
    }
}

impl<T: Eq> Eq for OneOrMany<T> {}

impl<'f, T> IntoIterator for &'f OneOrMany<T> {
    type Item = &'f T;
    type IntoIter = std::slice::Iter<'f, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T> From<Vec<T>> for OneOrMany<T> {
    fn from(all: Vec<T>) -> OneOrMany<T> {
        OneOrMany::Many(all)
    }
}

impl<T> OneOrMany<T> {
    /// Adds at the end.
    pub fn push(&mut self, item: T) {
        self.insert(self.len(), item);
    }

    /// Adds at a place.
    pub fn insert(&mut self, at: usize, item: T) {
        if let OneOrMany::Many(all) = self {
            return all.insert(at, item);
        }
        *self = match std::mem::take(self) {
            OneOrMany::One(one) => OneOrMany::Many(if at == 0 { vec![item, one] } else { vec![one, item] }),
            _ => OneOrMany::One(item),
        };
    }
}

impl<T: Ord> OneOrMany<T> {
    /// Adds an item to a sorted list that lacks it. Returns whether it was added.
    pub fn add(&mut self, item: T) -> bool {
        // New elements are mostly younger than the present ones.
        let place =
            if self.last().is_none_or(|last| *last < item) { Err(self.len()) } else { self.binary_search(&item) };
        match place {
            Ok(_) => false,
            Err(at) => {
                self.insert(at, item);
                true
            }
        }
    }

    /// Removes an item from a sorted list.
    pub fn take(&mut self, item: &T) {
        let Ok(at) = self.binary_search(item) else { return };
        match self {
            OneOrMany::Many(all) => {
                all.remove(at);
            }
            _ => *self = OneOrMany::None,
        }
    }
}

impl<T: Ord> FromIterator<T> for OneOrMany<T> {
    /// Creates a sorted list, each item once.
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> OneOrMany<T> {
        let mut all: Vec<T> = items.into_iter().collect();
        all.sort_unstable();
        all.dedup();
        all.shrink_to_fit();
        match all.len() {
            0 => OneOrMany::None,
            1 => all.pop().map_or(OneOrMany::None, OneOrMany::One),
            _ => OneOrMany::Many(all),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sorted_list_has_each_item_once_however_it_came_and_went() {
        let mut few: OneOrMany<u8> = [5, 3, 5, 9].into_iter().collect();
        assert_eq!(*few, [3, 5, 9]);
        assert!(!few.add(3) && few.add(4));
        few.take(&9);
        few.take(&7);
        assert_eq!(*few, [3, 4, 5]);
        [3, 4, 5].iter().for_each(|item| few.take(item));
        assert!(few.is_empty());
        let mut one = OneOrMany::One(2);
        one.take(&1);
        one.push(1);
        assert_eq!(*one, [2, 1]);
        let mut last = OneOrMany::One(1);
        last.take(&1);
        assert_eq!(last, OneOrMany::None);
    }
}

//! A list that is mostly of one: it needs no room elsewhere until there is a second.

use std::fmt;
use std::ops::{Deref, DerefMut};

/// A short list.
#[derive(Clone, Default)]
pub enum Few<T> {
    /// Nothing.
    #[default]
    None,
    /// One.
    One(T),
    /// Any number.
    Many(Vec<T>),
}

impl<T> Deref for Few<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Few::None => &[],
            Few::One(one) => std::slice::from_ref(one),
            Few::Many(all) => all,
        }
    }
}

impl<T> DerefMut for Few<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match self {
            Few::None => &mut [],
            Few::One(one) => std::slice::from_mut(one),
            Few::Many(all) => all,
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Few<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: PartialEq> PartialEq for Few<T> {
    fn eq(&self, other: &Few<T>) -> bool {
        **self == **other
    }
}

impl<T: Eq> Eq for Few<T> {}

impl<'f, T> IntoIterator for &'f Few<T> {
    type Item = &'f T;
    type IntoIter = std::slice::Iter<'f, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T> From<Vec<T>> for Few<T> {
    fn from(all: Vec<T>) -> Few<T> {
        Few::Many(all)
    }
}

impl<T> Few<T> {
    /// Adds at the end.
    pub fn push(&mut self, item: T) {
        self.insert(self.len(), item);
    }

    /// Adds at a place.
    pub fn insert(&mut self, at: usize, item: T) {
        if let Few::Many(all) = self {
            return all.insert(at, item);
        }
        *self = match std::mem::take(self) {
            Few::One(one) => Few::Many(if at == 0 { vec![item, one] } else { vec![one, item] }),
            _ => Few::One(item),
        };
    }
}

impl<T: Ord> Few<T> {
    /// Adds to a sorted list what it does not have. Says whether it is new.
    pub fn add(&mut self, item: T) -> bool {
        // What comes is mostly younger than what is there.
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

    /// Takes from a sorted list.
    pub fn take(&mut self, item: &T) {
        let Ok(at) = self.binary_search(item) else { return };
        match self {
            Few::Many(all) => {
                all.remove(at);
            }
            _ => *self = Few::None,
        }
    }
}

impl<T: Ord> FromIterator<T> for Few<T> {
    /// A sorted list, each item once.
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Few<T> {
        let mut few = Few::None;
        items.into_iter().for_each(|item| {
            few.add(item);
        });
        few
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sorted_list_has_each_item_once_however_it_came_and_went() {
        let mut few: Few<u8> = [5, 3, 5, 9].into_iter().collect();
        assert_eq!(*few, [3, 5, 9]);
        assert!(!few.add(3) && few.add(4));
        few.take(&9);
        few.take(&7);
        assert_eq!(*few, [3, 4, 5]);
        [3, 4, 5].iter().for_each(|item| few.take(item));
        assert!(few.is_empty());
        let mut one = Few::One(2);
        one.take(&1);
        one.push(1);
        assert_eq!(*one, [2, 1]);
        let mut last = Few::One(1);
        last.take(&1);
        assert_eq!(last, Few::None);
    }
}

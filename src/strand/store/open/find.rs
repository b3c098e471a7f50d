//! Finds the store that a folder is, holds or lies in.

use std::path::{Path, PathBuf};

use crate::strand::store::{Store, files};

impl Store {
    /// Returns whether a folder is a store.
    pub fn is_in(folder: &Path) -> bool {
        folder.join(".strand/op-log.jsonl").exists()
    }

    /// Finds the store in a folder or in one above it.
    pub fn find_above(from: &Path) -> Option<PathBuf> {
        from.ancestors().find(|folder| Store::is_in(folder)).map(Path::to_owned)
    }

    /// Finds the store for a working directory: upwards, else the only child that is one and is called `*.strand` or
    /// `*.strand-store`, else the only one whatever it is called.
    pub fn find(from: &Path) -> Option<PathBuf> {
        if let Some(above) = Store::find_above(from) {
            return Some(above);
        }
        let (mut named, mut others): (Vec<_>, Vec<_>) =
            Store::below(from).into_iter().partition(|path| files::is_named(path));
        let stores = if named.is_empty() { &mut others } else { &mut named };
        stores.pop().filter(|_| stores.is_empty())
    }

    /// Returns the stores directly in a folder by their names, first those that are called as one.
    pub fn below(folder: &Path) -> Vec<PathBuf> {
        let mut stores: Vec<PathBuf> = files::folders(folder).filter(|path| Store::is_in(path)).collect();
        stores.sort_by_cached_key(|path| (!files::is_named(path), path.clone()));
        stores
    }
}

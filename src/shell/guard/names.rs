//! The names of files that have several.

use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::path::is_descriptor;
use super::reach::meta_at;
use crate::shell::places::{PathClass, PathClasses};

/// Device and number of a file.
pub type Inode = (u64, u64);

/// Returns which file something is.
pub fn inode(meta: &Metadata) -> Inode {
    (meta.dev(), meta.ino())
}

/// Returns the metadata of the file that a call means: a descriptor's link is followed, no other is.
pub fn meta_of(path: &Path) -> Option<Metadata> {
    if is_descriptor(path) { fs::metadata(path).ok() } else { meta_at(path).ok() }
}

/// Returns whether a file may have more names than the one it was reached by; a descriptor is none.
pub fn has_others(path: &Path, meta: &Metadata) -> bool {
    meta.is_file() && meta.nlink() > own_names(path)
}

/// Returns how many of a file's names are this path.
pub fn own_names(path: &Path) -> u64 {
    u64::from(!is_descriptor(path))
}

/// The kept files of a workspace that have several names.
#[derive(Default)]
pub struct Names {
    known: HashMap<Inode, Vec<PathBuf>>,
    /// The workspace was searched for them.
    searched: bool,
}

impl Names {
    /// Notes that a file is about to have the name `new` too, or instead. A search may come before the kernel gives it.
    pub fn add(&mut self, old: &Path, new: &Path) {
        let Some(meta) = meta_of(old).filter(Metadata::is_file) else { return };
        self.known.entry(inode(&meta)).or_insert_with(|| vec![old.to_path_buf()]).push(new.to_path_buf());
    }

    /// Returns the names of a file other than this path.
    pub fn others(&mut self, places: &PathClasses, own: Inode, path: &Path) -> Vec<PathBuf> {
        let all = match is_descriptor(path) {
            // The one name that is left may be the only one that there is.
            true => search(places, |meta| inode(meta) == own).remove(&own),
            false => {
                self.search_once(places);
                self.known.get(&own).cloned()
            }
        };
        let is_still = |other: &PathBuf| meta_at(other).is_ok_and(|meta| inode(&meta) == own);
        all.unwrap_or_default().into_iter().filter(|other| other != path && is_still(other)).collect()
    }

    /// Searches the workspace the first time: the calls that give and take names are followed all the time.
    fn search_once(&mut self, places: &PathClasses) {
        if std::mem::replace(&mut self.searched, true) {
            return;
        }
        for (file, found) in search(places, |meta| meta.nlink() > 1) {
            let names = self.known.entry(file).or_default();
            let new: Vec<PathBuf> = found.into_iter().filter(|name| !names.contains(name)).collect();
            names.extend(new);
        }
    }
}

/// Returns the kept files of a workspace that are wanted.
fn search(places: &PathClasses, is_wanted: impl Fn(&Metadata) -> bool) -> HashMap<Inode, Vec<PathBuf>> {
    let mut found: HashMap<Inode, Vec<PathBuf>> = HashMap::new();
    let mut folders: Vec<PathBuf> = places.outside().chain([places.root()]).map(Path::to_path_buf).collect();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let (path, Ok(meta)) = (entry.path(), entry.metadata()) else { continue };
            if places.of(&path, meta.is_dir()) != PathClass::Kept {
                continue;
            }
            if meta.is_dir() {
                folders.extend((!places.is_base(&path)).then_some(path));
            } else if meta.is_file() && is_wanted(&meta) {
                found.entry(inode(&meta)).or_default().push(path);
            }
        }
    }
    found
}

//! Objects of repositories, pipes, sockets and devices that a command added: they are not kept.

use std::collections::BTreeMap;

use super::Scan;
use super::entry::{SPECIAL, ScanEntry};
use crate::shell::places::holds_objects;

impl Scan {
    /// Counts the added objects, by their folders. Those of a repository that was made go with it.
    pub(super) fn added_objects(&self, now: &BTreeMap<String, ScanEntry>) -> BTreeMap<String, u64> {
        let mut added = BTreeMap::new();
        for entry in now.values().filter(|entry| entry.object && !self.entries.contains_key(&entry.path)) {
            let mut above = entry.path.match_indices('/').map(|(at, _)| &entry.path[..=at]);
            if let Some(folder) = above.find(|folder| holds_objects(folder)).filter(|folder| !self.is_of_new(folder)) {
                *added.entry(folder.to_string()).or_default() += 1;
            }
        }
        added
    }

    /// Returns whether a folder of objects is that of a repository that was not there before.
    fn is_of_new(&self, objects: &str) -> bool {
        let above = objects.trim_end_matches('/').rfind('/').map_or("", |end| &objects[..=end]);
        !objects.starts_with('/') && !self.entries.contains_key(above)
    }

    /// Returns the pipes, sockets and devices among what is left out that stand where no file was before. Each is named
    /// when the states are compared; that one was there already is known to the process alone that began the scan.
    pub(super) fn added_special<'l>(
        &'l self,
        left_out: &'l [(String, String)],
    ) -> impl Iterator<Item = &'l String> + 'l {
        let is_special = |(path, why): &&(String, String)| why == SPECIAL && !self.entries.contains_key(path);
        left_out.iter().filter(is_special).filter(|_| !self.is_resumed).map(|(path, _)| path)
    }
}

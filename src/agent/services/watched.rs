//! The knowledge of the workspace's files and of the archive, which the watch keeps up to date.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use crate::agent::services::file_index::FileIndex;
use crate::agent::services::locked::lock;
use crate::archive::Id;
use crate::tools::ContentHash;
use crate::workspace::watch::FileWatch;

/// The knowledge of the workspace's files.
pub struct WatchedFiles {
    /// The index behind `@`.
    pub index: FileIndex,
    /// The SHA-256 of each file as the sessions know it, to recognise changes by others.
    pub known: Mutex<HashMap<String, ContentHash>>,
    /// The newest changeset that the front end received.
    pub newest: Mutex<Id>,
    /// Keeps the watch on the workspace and the archive alive.
    pub watch: Mutex<Option<FileWatch>>,
    /// True if the index of `@rag` is being brought up to date.
    pub refreshing: AtomicBool,
}

impl Default for WatchedFiles {
    fn default() -> Self {
        WatchedFiles {
            index: FileIndex::default(),
            known: Mutex::default(),
            newest: Mutex::new(Id::MIN),
            watch: Mutex::default(),
            refreshing: AtomicBool::default(),
        }
    }
}

impl WatchedFiles {
    /// Records what is known of a file.
    pub fn knows(&self, path: &str, sha: ContentHash) {
        lock(&self.known).insert(path.to_string(), sha);
    }
}

//! The files that belong to a database.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the path of something that belongs to a database.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(suffix);
    PathBuf::from(name)
}

/// Returns what is no regular file of a database and what belongs to it. A link to a file is the person's own.
pub(super) fn in_the_way(path: &Path) -> Option<PathBuf> {
    let mut parts = ["", "-wal", "-shm"].into_iter().map(|suffix| beside(path, suffix));
    parts.find(|part| fs::metadata(part).is_ok_and(|meta| !meta.is_file()))
}

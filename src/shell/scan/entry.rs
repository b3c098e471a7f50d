//! A path as a scan sees it, and what keeps one from being made.

use std::io;
use std::path::PathBuf;

use rustix::fs::{FileType, Stat};
use serde::{Deserialize, Serialize};

use crate::archive::staging::StagedKind;
use crate::{archive, disk};

/// The root itself, among what is looked at.
pub(super) const ROOT: &str = "./";
/// The length of a path, in bytes, from which the kernel may not take it as a whole.
pub(super) const LONG: usize = 1_000;
/// The reason why an archive below the root is left out.
pub(super) const OWN: &str = "nebula's own";
/// The reason why a pipe, a socket or a device is left out.
pub(super) const SPECIAL: &str = "special file";
/// The most bytes that are copied for one command.
pub(super) const MOST_BYTES: u64 = 1 << 30;

/// The reason why a tree cannot be scanned.
#[derive(Debug, thiserror::Error)]
pub enum ScanError {
    /// It is too large.
    #[error("this tree is too large to archive without the guard ({0}): what this command overwrites cannot be undone")]
    TooLarge(String),
    /// The folder of copies cannot be used.
    #[error(transparent)]
    Archive(#[from] archive::Error),
    /// A call of the file system failed.
    #[error("{}", disk::words_at(path, source))]
    Io {
        /// The path.
        path: PathBuf,
        /// The error of the file system.
        source: io::Error,
    },
}

/// One path as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScanEntry {
    pub path: String,
    pub kind: StagedKind,
    pub mode: u32,
    /// Size, and the times of the last change of bytes and of the inode, in seconds and nanoseconds.
    pub stat: (u64, i64, i64, i64, i64),
    pub inode: (u64, u64),
    /// The copy, in the folder of copies; the text of a link.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub copy: String,
    /// It is an object of a repository, which nothing writes to: its copy is a further name of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub object: bool,
}

impl ScanEntry {
    pub fn new(path: String, found: &Stat) -> Option<Self> {
        let kind = match FileType::from_raw_mode(found.st_mode) {
            FileType::Symlink => StagedKind::Link,
            FileType::Directory => StagedKind::Folder,
            FileType::RegularFile => StagedKind::File,
            _ => return None,
        };
        let times = (wide(found.st_mtime), wide(found.st_mtime_nsec), wide(found.st_ctime), wide(found.st_ctime_nsec));
        // A folder's size and times change with what is in it.
        let stat = match kind {
            StagedKind::Folder => (0, 0, 0, 0, 0),
            _ => (wide(found.st_size).unsigned_abs(), times.0, times.1, times.2, times.3),
        };
        let path = if kind == StagedKind::Folder { format!("{path}/") } else { path };
        let mode = u32::try_from(wide(found.st_mode) & 0o7777).unwrap_or_default();
        let inode = (wide(found.st_dev).unsigned_abs(), found.st_ino);
        Some(ScanEntry { path, kind, mode, stat, inode, copy: String::new(), object: false })
    }

    /// Returns the bytes that a copy of it takes.
    pub fn cost(&self) -> u64 {
        if self.object { 0 } else { self.stat.0 }
    }

    pub fn is_same(&self, other: &ScanEntry) -> bool {
        let folder = self.kind == StagedKind::Folder;
        if self.object && other.object && !folder {
            // A further name of it changes the time of its inode.
            return (self.kind, self.stat.0, self.inode) == (other.kind, other.stat.0, other.inode);
        }
        (self.kind, self.mode, self.stat) == (other.kind, other.mode, other.stat)
            && (folder || self.inode == other.inode)
    }
}

/// Widens numbers of a `stat`, whose types differ from system to system.
fn wide<T: TryInto<i64>>(number: T) -> i64 {
    number.try_into().unwrap_or(0)
}

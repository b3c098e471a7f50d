//! Stamps of files, by which a change is noticed cheaply.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

use rustix::fs::Stat;

/// The time after which another change of a file has another stamp, on the file systems with the coarsest clocks.
const SETTLED: i64 = 2;

/// Tells cheaply whether a file was touched: device, inode, size and times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    pub(super) fn of(meta: &Metadata) -> Self {
        Stamp {
            device: meta.dev(),
            inode: meta.ino(),
            size: meta.size(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        }
    }

    /// Creates the stamp that a `stat` tells.
    pub(super) fn of_stat(stat: &Stat) -> Self {
        Stamp {
            device: stat.st_dev,
            inode: stat.st_ino,
            size: wide(stat.st_size).unsigned_abs(),
            modified: (wide(stat.st_mtime), wide(stat.st_mtime_nsec)),
            changed: (wide(stat.st_ctime), wide(stat.st_ctime_nsec)),
        }
    }

    /// Returns whether two stamps are of the same file with the same bytes: renaming a file changes its stamp, but not
    /// that.
    pub(super) fn is_same_file(&self, other: &Stamp) -> bool {
        Stamp { changed: other.changed, ..*self } == *other
    }

    /// Returns whether the file was changed so long before `now`, in unix milliseconds, that another change since has another stamp.
    pub(super) fn is_settled(&self, now: i64) -> bool {
        self.modified.0.max(self.changed.0) < now / 1_000 - SETTLED
    }

    /// Returns the size in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns when its bytes were changed last, in unix milliseconds.
    pub fn modified(&self) -> i64 {
        self.modified.0.saturating_mul(1000).saturating_add(self.modified.1 / 1_000_000)
    }
}

/// Widens numbers of a `stat`, whose types differ from system to system.
pub(super) fn wide<T: TryInto<i64>>(number: T) -> i64 {
    number.try_into().unwrap_or(0)
}

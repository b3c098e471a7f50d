//! Copies of files. A large file is copied without the keeper's lock: other calls are answered meanwhile, and the command
//! can be sealed. Once the copy is made its call is looked at again, and takes it where the file is still the same.

use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::super::names::{Inode, inode};
use super::super::reach::reach;
use crate::disk;

/// The size from which a file is large: a smaller one is copied in some milliseconds.
pub(super) const LARGE: u64 = 16 << 20;

/// The copies of large files.
#[derive(Default)]
pub(super) struct Copies {
    /// A call is answered that can be looked at again.
    pub may_wait: bool,
    /// The copy to be made first.
    pub first: Option<LargeCopy>,
    /// The copies that were tried, by file.
    tried: HashMap<Inode, LargeCopy>,
}

/// A copy of a large file into the staging folder.
pub struct LargeCopy {
    from: PathBuf,
    to: PathBuf,
    meta: Metadata,
}

impl LargeCopy {
    /// Makes it. What goes wrong shows when its call is looked at again.
    pub fn make(&self) {
        let _ = copy_file(&self.from, &self.to, &self.meta);
    }
}

impl Copies {
    /// Takes a copy that was made, or could not be made.
    pub fn add(&mut self, copy: LargeCopy) {
        self.tried.insert(inode(&copy.meta), copy);
    }

    /// Copies a file, or takes the copy that was made of it. Returns false where its call waits for a copy, which is
    /// made at a `new_path`.
    pub fn copy_or_take(
        &mut self,
        (from, to): (&Path, &Path),
        meta: &Metadata,
        new_path: impl FnOnce() -> PathBuf,
    ) -> io::Result<bool> {
        let is_large = meta.len() >= LARGE;
        match self.tried.remove(&inode(meta)) {
            Some(copy) if is_same(&copy.meta, meta) && fs::rename(&copy.to, to).is_ok() => return Ok(true),
            // It was changed meanwhile, or the staging folder was sealed. Left behind, it goes with that folder.
            Some(copy) => drop(fs::remove_file(copy.to)),
            None if is_large && self.may_wait => {
                self.first = Some(LargeCopy { from: from.to_path_buf(), to: new_path(), meta: meta.clone() });
                return Ok(false);
            }
            None => {}
        }
        copy_file(from, to, meta).map(|()| true)
    }
}

/// Copies a file with its mode.
pub(super) fn copy_file(from: &Path, to: &Path, meta: &Metadata) -> io::Result<()> {
    let file = reach(from, |from| disk::open_file(from, disk::Links::Refuse))?;
    disk::copy_new(&file, to, meta.mode() & 0o1777).map(drop)
}

/// Copies a file with its mode where that copies no byte. Returns false where the file system cannot, or the file cannot
/// be read.
pub(super) fn share_file(from: &Path, to: &Path, meta: &Metadata) -> bool {
    let share = |file| disk::share_new(&file, to, meta.mode() & 0o1777);
    reach(from, |from| disk::open_file(from, disk::Links::Refuse)).and_then(share).unwrap_or(false)
}

/// Returns whether a file is as it was.
fn is_same(was: &Metadata, is: &Metadata) -> bool {
    let times = |meta: &Metadata| (meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec());
    (was.len(), times(was)) == (is.len(), times(is))
}

//! The archive's lock: held from the second reading of the files to the last rename, and by prune. Its text is the
//! newest id, so that the next one is greater, whatever the clock says.

use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::{Archive, Error, Id, at};
use crate::disk::{self, Folder};

/// The longest wait for the lock.
const PATIENCE: Duration = Duration::from_secs(30);
/// The interval at which it is tried.
const PAUSE: Duration = Duration::from_millis(5);

/// The held lock; dropping it, or the end of the process, lets it go.
#[derive(Debug)]
pub struct Lock {
    file: File,
    last: Id,
}

impl Lock {
    /// Returns the newest id that the archive holds.
    pub(super) fn last(&self) -> Id {
        self.last
    }

    /// Returns a new id, greater than any that the archive holds.
    pub(super) fn next(&mut self) -> Id {
        self.last = Id::after(self.last);
        self.last
    }

    /// Writes down the newest id. Always the same length, so that it is never torn.
    pub(super) fn save(&self) -> io::Result<()> {
        let text = format!("{}\n", self.last);
        self.file.write_all_at(text.as_bytes(), 0)?;
        self.file.set_len(text.len() as u64)
    }
}

impl Archive {
    /// Returns the newest id that was given out, as the lock tells it without being held; `None` where it tells
    /// nothing. Whatever it belongs to may still be on its way.
    pub fn newest_given(&self) -> Option<Id> {
        read_id(&self.open_home().ok()??.open_file("lock").ok()?)
    }

    /// Takes the lock, making the archive's folders where they are missing. Waits for another holder.
    ///
    /// # Errors
    /// When a folder cannot be made, the lock is held for longer than 30 s, or the wait is stopped.
    pub fn lock(&self) -> Result<Lock, Error> {
        let home = self.make(&self.home)?;
        let folder = self.make_folder()?;
        let path = self.home.join("lock");
        let file = home.open_or_make("lock", 0o600).map_err(at(&path))?;
        let start = Instant::now();
        loop {
            disk::check_stop(&self.stop).map_err(at(&path))?;
            match file.try_lock() {
                Ok(()) => break,
                // A file's lock cannot be waited for with a limit of time, nor so that the wait can be stopped.
                Err(TryLockError::WouldBlock) if start.elapsed() < PATIENCE => std::thread::sleep(PAUSE),
                Err(TryLockError::WouldBlock) => return Err(Error::Busy { path, seconds: PATIENCE.as_secs() }),
                Err(TryLockError::Error(e)) => return Err(at(&path)(e)),
            }
        }
        self.keep_from_git(&home)?;
        if !self.folder.starts_with(&self.home) {
            self.keep_from_git(&folder)?;
        }
        let last = self.newest_id(&file)?;
        Ok(Lock { file, last })
    }

    /// Returns the newest id: the lock's text, or the newest changeset where that is greater. The text is not flushed,
    /// so that a computer that lost its power may have an older one; while this process lives that does not happen, and
    /// looking once is enough.
    fn newest_id(&self, file: &File) -> Result<Id, Error> {
        let stored = read_id(file);
        if let (Some(id), true) = (stored, self.listed.load(Ordering::Relaxed)) {
            return Ok(id);
        }
        let newest = self.list()?.first().copied();
        self.listed.store(true, Ordering::Relaxed);
        Ok(stored.max(newest).unwrap_or(Id::MIN))
    }

    /// Sweeps under the lock, since a sweep takes temporary files of this process for those of an earlier one.
    fn keep_from_git(&self, folder: &Folder) -> Result<(), Error> {
        let path = folder.path().join(".gitignore");
        if folder.stat(".gitignore").map_err(at(&path))?.is_none() {
            folder.replace(".gitignore", b"*\n", 0o600).map_err(at(&path))?;
        }
        Ok(())
    }
}

/// Returns the id that a lock's text is.
fn read_id(file: &File) -> Option<Id> {
    let mut text = [0; 36];
    file.read_exact_at(&mut text, 0).ok()?;
    Id::parse(std::str::from_utf8(&text).ok()?)
}

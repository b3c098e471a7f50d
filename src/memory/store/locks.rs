//! Locks of open sessions: an advisory lock on one file for each, released by the system when its process ends.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::memory::Error;

/// The hold on a session. Letting go of it frees the session.
#[derive(Debug)]
pub(in crate::memory) struct Hold {
    path: PathBuf,
    _file: File,
}

impl Hold {
    /// Takes a session, or `None` when another has it.
    pub(in crate::memory) fn take(folder: &Path, session: &str) -> Result<Option<Hold>, Error> {
        let path = folder.join(session);
        let fail = |source| Error::Lock { path: path.clone(), source };
        fs::create_dir_all(folder).map_err(fail)?;
        // Someone who only looks holds the lock for an instant, and a file may be unlinked between opening and locking.
        for _ in 0..10 {
            let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path).map_err(fail)?;
            match file.try_lock() {
                Ok(()) if is_still(&path, &file) => return Ok(Some(Hold { path, _file: file })),
                Ok(()) => {}
                // A file's lock cannot be waited for with a limit of time.
                Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(1)),
                Err(TryLockError::Error(e)) => return Err(fail(e)),
            }
        }
        Ok(None)
    }
}

impl Drop for Hold {
    /// Removes the file first, while it is held, so that nobody locks a file that is about to vanish unnoticed.
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Returns whether some process has the session.
pub(in crate::memory) fn is_held(folder: &Path, session: &str) -> bool {
    match File::open(folder.join(session)) {
        Ok(file) => matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)),
        Err(_) => false,
    }
}

/// Removes the lock file of a process that has ended.
pub(in crate::memory) fn sweep(folder: &Path, session: &str) {
    if let Ok(Some(hold)) = Hold::take(folder, session) {
        drop(hold);
    }
}

#[cfg(unix)]
fn is_still(path: &Path, file: &File) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (fs::metadata(path), file.metadata()) {
        (Ok(a), Ok(b)) => a.ino() == b.ino() && a.dev() == b.dev(),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_still(path: &Path, _file: &File) -> bool {
    path.exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_lock_has_one_holder_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        assert!(!is_held(dir.path(), "s"));
        let hold = Hold::take(dir.path(), "s").unwrap().unwrap();
        assert!(is_held(dir.path(), "s"));
        assert!(Hold::take(dir.path(), "s").unwrap().is_none());
        drop(hold);
        assert!(!is_held(dir.path(), "s"));
        assert!(Hold::take(dir.path(), "s").unwrap().is_some());
    }
}

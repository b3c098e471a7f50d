//! The archive's lock: held from the second reading of the files to the last rename, and by prune. Its text is the
//! newest id, so that the next one is greater, whatever the clock says.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::{Archive, Error, Id, at};
use crate::disk;

/// How long the lock is waited for.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often it is tried.
const PAUSE: Duration = Duration::from_millis(5);

/// The held lock; dropping it, or the end of the process, lets it go.
#[derive(Debug)]
pub struct Lock {
    file: File,
    last: Id,
}

impl Lock {
    /// The newest id that the archive holds.
    pub(super) fn last(&self) -> Id {
        self.last
    }

    /// A new id, greater than any that the archive holds.
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
    /// The newest id that was given out, as the lock tells it without being held; `None` where it tells nothing.
    /// Whatever it belongs to may still be on its way.
    pub fn newest_given(&self) -> Option<Id> {
        told(&File::open(self.home.join("lock")).ok()?)
    }

    /// Takes the lock, making the archive's folders where they are missing. Waits for another holder.
    ///
    /// # Errors
    /// When a folder cannot be made, or the lock is held for longer than 30 s.
    pub fn lock(&self) -> Result<Lock, Error> {
        self.make_folders()?;
        let path = self.home.join("lock");
        let open = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(&path);
        let file = open.map_err(at(&path))?;
        let start = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if start.elapsed() < PATIENCE => std::thread::sleep(PAUSE),
                Err(TryLockError::WouldBlock) => return Err(Error::Busy { path, seconds: PATIENCE.as_secs() }),
                Err(TryLockError::Error(e)) => return Err(at(&path)(e)),
            }
        }
        self.keep_from_git()?;
        let last = self.newest_id(&file)?;
        Ok(Lock { file, last })
    }

    /// The newest id: the lock's text, or the newest changeset where that is greater. The text is not flushed, so that
    /// a computer that lost its power may have an older one; while this process lives that does not happen, and
    /// looking once is enough.
    fn newest_id(&self, file: &File) -> Result<Id, Error> {
        let told = told(file);
        if let (Some(id), true) = (told, self.listed.load(Ordering::Relaxed)) {
            return Ok(id);
        }
        let newest = self.list()?.first().copied();
        self.listed.store(true, Ordering::Relaxed);
        Ok(told.max(newest).unwrap_or(Id::MIN))
    }

    fn make_folders(&self) -> Result<(), Error> {
        make_folder(&self.home)?;
        make_folder(&self.folder)
    }

    /// Under the lock, since a sweep takes temporary files of this process for those of an earlier one of its number.
    fn keep_from_git(&self) -> Result<(), Error> {
        let mut ignored = vec![&self.home];
        if !self.folder.starts_with(&self.home) {
            ignored.push(&self.folder);
        }
        for folder in ignored {
            let ignore = folder.join(".gitignore");
            if ignore.symlink_metadata().is_err() {
                disk::replace(&ignore, b"*\n", 0o600).map_err(at(&ignore))?;
            }
        }
        Ok(())
    }
}

/// The id that a lock's text is.
fn told(file: &File) -> Option<Id> {
    let mut text = [0; 36];
    file.read_exact_at(&mut text, 0).ok()?;
    Id::parse(std::str::from_utf8(&text).ok()?)
}

/// Makes a folder that only its owner may enter, and those above it, and flushes their names.
fn make_folder(folder: &Path) -> Result<(), Error> {
    match fs::metadata(folder) {
        Ok(meta) if meta.is_dir() => Ok(()),
        Ok(_) => Err(Error::NotAFolder(folder.to_path_buf())),
        Err(_) => {
            let missing: Vec<_> = folder.ancestors().take_while(|f| !f.exists()).map(Path::to_path_buf).collect();
            DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(at(folder))?;
            let above: Vec<_> = missing.iter().map(|f| disk::parent(f).to_path_buf()).collect();
            disk::sync_folders(&above).map_err(at(folder))
        }
    }
}

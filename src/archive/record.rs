//! Archiving states: versions first, then their changeset, all flushed, before anyone changes a file.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use super::recent::Recent;
use super::restore::state_sha;
use super::{Archive, Error, Id, Lock, Sha, at, changeset, version};
use crate::disk;
use crate::proposal::{Consent, State};
use crate::workspace::lexical;

/// What was archived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The changeset; `None`: every path is excluded from the archive.
    pub changeset: Option<Id>,
    /// Its files. Excluded ones are left out.
    pub files: Vec<RecordedFile>,
}

/// One archived state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedFile {
    /// Normalised path.
    pub path: String,
    /// Its version.
    pub version: Id,
    /// There was no file.
    pub absent: bool,
    /// SHA-256 of the state, as [`state_sha`] gives it.
    pub sha256: Option<Sha>,
}

/// A version on its way to its name.
struct Pending {
    temp: PathBuf,
    name: PathBuf,
}

impl Archive {
    /// Archives states, read under this lock, as one changeset, with who approved what is about to overwrite them. When
    /// this returns they are on disk.
    ///
    /// # Errors
    /// Whatever the disk says. Versions archived so far stay (without a changeset); nothing else does.
    pub fn record(
        &self,
        lock: &mut Lock,
        states: &[(&str, &State)],
        consent: Option<Consent>,
    ) -> Result<Recorded, Error> {
        let kept: Vec<_> = states.iter().filter(|(path, _)| self.excluded_by(path).is_none()).collect();
        if kept.is_empty() {
            return Ok(Recorded { changeset: None, files: Vec::new() });
        }
        let newest = lock.last();
        let files: Vec<_> = kept
            .iter()
            .map(|(path, state)| RecordedFile {
                path: (*path).into(),
                version: lock.next(),
                absent: state.is_absent(),
                sha256: state_sha(state),
            })
            .collect();
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        recent.begin(newest);
        let changeset = lock.next();
        let step = |name| self.reach(name).map_err(at(&self.folder));
        step("archive: ids")?;
        lock.save().map_err(at(&self.folder))?;
        step("archive: versions")?;
        self.write_versions(&files, &kept, &mut recent)?;
        step("archive: changeset")?;
        let paths: Vec<_> = files.iter().map(|f| f.path.as_str()).collect();
        self.write_changeset(changeset, &paths, consent.map(|c| c.to_string()).as_deref())?;
        recent.done(changeset);
        step("archive: done")?;
        Ok(Recorded { changeset: Some(changeset), files })
    }

    /// Writes or replaces a changeset file.
    pub(super) fn write_changeset(&self, id: Id, paths: &[&str], approved: Option<&str>) -> Result<(), Error> {
        let file = self.changeset_file(id);
        disk::replace(&file, changeset::write(paths, approved).as_bytes(), 0o600).map_err(at(&file))
    }

    /// Many versions are written first, then flushed side by side, then named, so that the disk joins the work.
    fn write_versions(
        &self,
        files: &[RecordedFile],
        states: &[&(&str, &State)],
        recent: &mut Recent,
    ) -> Result<(), Error> {
        let (mut pending, mut open, mut touched) = (Vec::new(), Vec::new(), BTreeSet::new());
        let written = files.iter().zip(states).try_for_each(|(file, (path, state))| {
            let folder = self.file_folder(path);
            let fail = |source| Error::State { file: (*path).to_string(), folder: folder.clone(), source };
            if make_folder(&folder).map_err(fail)? {
                touched.insert(self.folder.clone());
            }
            let name = folder.join(version::name(file.version, path, state));
            let equal = match state {
                State::File { bytes, mode } => recent.equal_one(&folder, bytes, mode_of(*mode), file.sha256),
                State::Absent | State::Link { .. } => None,
            };
            let result = self.write_version(equal, name.clone(), state, &mut pending, &mut open);
            if let State::File { .. } = state {
                recent.add(name, file.sha256);
            }
            touched.insert(folder.clone());
            result.map_err(fail)
        });
        let step = |name| self.reach(name).map_err(at(&self.folder));
        let named = written.and_then(|()| {
            step("archive: flush versions")?;
            disk::sync_all(&open).map_err(at(&self.folder))?;
            step("archive: name versions")?;
            disk::each(&pending, |p: &Pending| fs::rename(&p.temp, &p.name)).map_err(at(&self.folder))?;
            step("archive: flush folders")?;
            let touched: Vec<_> = touched.into_iter().collect();
            disk::sync_folders(&touched).map_err(at(&self.folder))
        });
        if named.is_err() {
            for p in &pending {
                // Gone already where it has its name; else swept at the next start.
                let _ = fs::remove_file(&p.temp);
            }
        }
        named
    }

    /// One version: under its name at once where a single step makes it whole, else as a temporary file in the
    /// archive's own folder, where a crash leaves it easy to find. `equal` is a version of the same bytes and mode.
    fn write_version(
        &self,
        equal: Option<PathBuf>,
        name: PathBuf,
        state: &State,
        pending: &mut Vec<Pending>,
        open: &mut Vec<File>,
    ) -> io::Result<()> {
        match state {
            State::Absent => open.push(disk::write_new(&name, b"", Some(0o600))?),
            State::Link { target } => symlink(target, name)?,
            State::File { bytes, mode } => {
                let mode = mode_of(*mode);
                let temp = disk::temp_path(&self.folder);
                if let Some(equal) = equal {
                    if let Some(file) = share_blocks(&equal, &temp, mode) {
                        open.push(file);
                        pending.push(Pending { temp, name });
                        return Ok(());
                    }
                    if fs::hard_link(&equal, &name).is_ok() {
                        return Ok(());
                    }
                }
                pending.push(Pending { temp: temp.clone(), name });
                open.push(disk::write_new(&temp, bytes, Some(mode))?);
            }
        }
        Ok(())
    }

    /// Removes what crashed processes left behind: temporary files in the archive, and in the workspace folders of the
    /// last 20 changesets by `sweep`. How many.
    ///
    /// # Errors
    /// When the lock cannot be taken. An archive that is not there needs no sweep.
    pub fn sweep(&self, sweep: impl Fn(&Path) -> usize) -> Result<usize, Error> {
        const CHANGESETS: usize = 20;
        if !self.folder.is_dir() {
            return Ok(0);
        }
        let _lock = self.lock()?;
        let mut folders = BTreeSet::from([self.folder.clone(), self.home.clone()]);
        for id in self.list()?.into_iter().take(CHANGESETS) {
            for path in self.paths(id).unwrap_or_default() {
                folders.extend(lexical(&self.root, Path::new(&path)).parent().map(Path::to_path_buf));
            }
        }
        Ok(folders.iter().filter(|f| f.starts_with(&self.root) || **f == self.folder).map(|f| sweep(f)).sum())
    }
}

/// The mode a version is kept with.
fn mode_of(mode: Option<u32>) -> u32 {
    mode.unwrap_or(0o600)
}

/// Makes the folder of a file's versions; whether it was missing.
fn make_folder(folder: &Path) -> io::Result<bool> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(e) => Err(e),
    }
}

/// A new file at `temp` that shares the blocks of `equal`, where the file system can; else nothing is left.
#[cfg(target_os = "linux")]
fn share_blocks(equal: &Path, temp: &Path, mode: u32) -> Option<File> {
    let old = File::open(equal).ok()?;
    let new = disk::write_new(temp, b"", Some(mode)).ok()?;
    if rustix::fs::ioctl_ficlone(&new, &old).is_ok() {
        return Some(new);
    }
    // Should it stay, the next start sweeps it.
    let _ = fs::remove_file(temp);
    None
}

/// Only Linux is asked for shared blocks; a hard link does elsewhere.
#[cfg(not(target_os = "linux"))]
fn share_blocks(_equal: &Path, _temp: &Path, _mode: u32) -> Option<File> {
    None
}

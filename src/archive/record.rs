//! Archiving states: versions first, then their changeset, all flushed, before anyone changes a file.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use tokio_util::sync::CancellationToken;

use super::changeset::{self, Changeset};
use super::recent::Recent;
use super::restore::state_sha;
use super::{Archive, Error, Id, Lock, Sha, at, changeset_name, version};
use crate::disk::{self, Folder, Unflushed};
use crate::git;
use crate::proposal::{Consent, LargeFile, State, outermost_folder};
use crate::workspace::leftover::UntrackedLookup;
use crate::workspace::{OutsideFolder, copy_large, holds_large, lexical};

/// The result of archiving.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The changeset; `None`: every path is excluded from the archive.
    pub changeset: Option<Id>,
    /// Its files. Excluded ones are left out.
    pub files: Vec<RecordedFile>,
    /// The folders whose versions lie in one listing, each with the version of the folder.
    pub listed: Vec<(String, Id)>,
}

/// One archived state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedFile {
    /// Normalised path.
    pub path: String,
    /// Its version.
    pub version: Id,
    /// True if there was no file.
    pub absent: bool,
    /// SHA-256 of the state, as [`state_sha`] gives it.
    pub sha256: Option<Sha>,
}

/// A state to be archived, before something is done to the file.
#[derive(Debug, Clone, Copy)]
pub struct Before<'a> {
    /// Normalised path.
    pub path: &'a str,
    /// The state that is about to be overwritten.
    pub state: &'a State,
    /// The file is about to be removed.
    pub goes: bool,
    /// The permission bits that are about to be set; `None`: they stay, or nothing that has some is there then.
    pub mode: Option<u32>,
}

impl<'a> From<(&'a str, &'a State)> for Before<'a> {
    /// Describes a file that stays.
    fn from((path, state): (&'a str, &'a State)) -> Self {
        Before { path, state, goes: false, mode: None }
    }
}

/// A version on its way to its name.
struct Pending {
    /// The temporary file, in the archive's own folder.
    temp: String,
    /// The name of the file's folder of versions in it: open handles of all of them would be too many.
    folder: OsString,
    name: String,
}

/// Versions that have their names, which are not flushed yet.
struct NamedVersions {
    folders: Vec<OsString>,
    /// Some of the folders are new.
    new_folders: bool,
}

impl NamedVersions {
    fn flush(&self, archive: &Folder) -> io::Result<()> {
        if archive.sync_all_if_many(self.folders.len())? {
            return Ok(());
        }
        disk::each(&self.folders, |folder| archive.enter(folder)?.sync())?;
        if self.new_folders { archive.sync() } else { Ok(()) }
    }
}

impl Archive {
    /// Archives states, read under this lock, as one changeset, with who approved what is about to overwrite them. When
    /// this returns they are on disk.
    ///
    /// # Errors
    /// Any error of the file system. Versions archived so far stay (without a changeset); nothing else does.
    pub fn record(&self, lock: &mut Lock, states: &[Before<'_>], consent: Option<Consent>) -> Result<Recorded, Error> {
        self.record_folders(lock, states, &BTreeSet::new(), consent)
    }

    /// Archives states as [`Archive::record`] does, those of each of these folders, which are among them, in one listing: a
    /// folder that is about to be removed is to be renamed to the version that [`Recorded::listed`] names.
    ///
    /// # Errors
    /// As [`Archive::record`].
    pub fn record_folders(
        &self,
        lock: &mut Lock,
        states: &[Before<'_>],
        folders: &BTreeSet<&str>,
        consent: Option<Consent>,
    ) -> Result<Recorded, Error> {
        let archived_states: Vec<_> = states.iter().filter(|b| self.excluded_by(b.path).is_none()).collect();
        if archived_states.is_empty() {
            return Ok(Recorded { changeset: None, files: Vec::new(), listed: Vec::new() });
        }
        let newest = lock.last();
        let files: Vec<_> = archived_states
            .iter()
            .map(|Before { path, state, .. }| RecordedFile {
                path: (*path).into(),
                version: lock.next(),
                absent: state.is_absent(),
                sha256: state_sha(state),
            })
            .collect();
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        recent.begin(newest);
        let changeset = lock.next();
        let step = |name| self.probe_step(name).map_err(at(&self.folder));
        step("archive: ids")?;
        lock.save().map_err(at(&self.folder))?;
        step("archive: versions")?;
        let pairs: Vec<_> = files.iter().zip(archived_states.iter().copied()).collect();
        let (listed, own): (Vec<_>, Vec<_>) =
            pairs.into_iter().partition(|(file, _)| outermost_folder(&file.path, folders).is_some());
        let named = self.write_versions(&own, &mut recent)?;
        let listed = self.write_listings(&listed, folders)?;
        step("archive: changeset")?;
        let set = archived_states.iter().filter(|before| changeset::sets_mode(before.state, before.mode));
        let left = set.clone().filter_map(|before| Some((before.path.to_string(), before.mode?)));
        let text = changeset::write(&Changeset {
            paths: files.iter().map(|file| file.path.clone()).collect(),
            approved: consent.map(|consent| consent.to_string()),
            left_modes: left.collect(),
            modes: set.map(|before| before.path.to_string()).collect(),
            ..Changeset::default()
        });
        self.add_changeset(changeset, &text, &named)?;
        recent.done(changeset);
        step("archive: done")?;
        Ok(Recorded { changeset: Some(changeset), files, listed })
    }

    fn write_listings(
        &self,
        versions: &[(&RecordedFile, &Before<'_>)],
        folders: &BTreeSet<&str>,
    ) -> Result<Vec<(String, Id)>, Error> {
        let write = |folder: &&str| {
            let inner = versions.iter().filter(|(file, _)| file.path.starts_with(*folder));
            let (first, rest): (Vec<_>, Vec<_>) = inner.partition(|(file, _)| file.path == *folder);
            let lines = first.into_iter().chain(rest).map(|(file, before)| (file, before.state));
            Ok((folder.to_string(), self.write_listing(lines)?))
        };
        folders.iter().map(write).collect()
    }

    /// Archives each state of a listing by itself, and removes that: its folder cannot be renamed.
    ///
    /// # Errors
    /// Any error of the file system; then nothing may be changed.
    pub fn unlist(
        &self,
        _lock: &mut Lock,
        recorded: &mut Recorded,
        states: &[Before<'_>],
        folder: &str,
    ) -> Result<(), Error> {
        let Some(place) = recorded.listed.iter().position(|(listed, _)| listed == folder) else { return Ok(()) };
        let archived_states = states.iter().filter(|b| self.excluded_by(b.path).is_none());
        let pairs = recorded.files.iter().zip(archived_states).filter(|(file, _)| file.path.starts_with(folder));
        let pairs: Vec<_> = pairs.collect();
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let named = self.write_versions(&pairs, &mut recent)?;
        named.flush(&self.make_folder()?).map_err(at(&self.folder))?;
        let (_, id) = recorded.listed.remove(place);
        self.remove_listing(id)
    }

    /// Writes a new changeset file, which gets its name once the names of its versions are on disk. They are flushed
    /// behind its text: where the file system keeps one journal for all, one flush then takes both.
    fn add_changeset(&self, id: Id, text: &str, versions: &NamedVersions) -> Result<(), Error> {
        let file = self.changeset_file(id);
        let archive = self.make_folder()?;
        let step = |name| self.probe_step(name).map_err(at(&self.folder));
        let temp = disk::temp_name();
        let written = archive.write_new(&temp, text.as_bytes(), Some(0o600)).and_then(|open| open.sync_all());
        let added = written.map_err(at(&file)).and_then(|()| {
            step("archive: flush folders")?;
            versions.flush(&archive).map_err(at(&self.folder))?;
            step("archive: name changeset")?;
            archive.rename_new(&temp, &archive, changeset_name(id)).map_err(at(&file))
        });
        if added.is_err() {
            // The first error is the one worth telling; should it stay, the next start sweeps it.
            let _ = archive.remove_file(&temp);
        }
        added?;
        archive.sync().map_err(at(&file))
    }

    /// Writes or replaces a changeset file.
    pub(super) fn write_changeset(&self, id: Id, changeset: &Changeset) -> Result<(), Error> {
        let file = self.changeset_file(id);
        let folder = self.make_folder()?;
        let text = changeset::write(changeset);
        folder.replace(changeset_name(id), text.as_bytes(), 0o600).map_err(at(&file))?;
        Ok(())
    }

    /// Writes many versions first, then flushes them side by side, then names them. The names are not flushed.
    fn write_versions(
        &self,
        states: &[(&RecordedFile, &Before<'_>)],
        recent: &mut Recent,
    ) -> Result<NamedVersions, Error> {
        let archive = self.make_folder()?;
        let root = Folder::open(&self.root).map_err(at(&self.root))?;
        let mut writing = Writing {
            root: &root,
            archive: &archive,
            stop: &self.stop,
            pending: Vec::new(),
            unflushed: Unflushed::new(states.len()),
        };
        let mut folders: Vec<OsString> = Vec::new();
        let mut new_folders = false;
        let written = states.iter().try_for_each(|(file, before)| {
            let Before { path, state, .. } = before;
            let path_of_folder = self.file_folder(path);
            let fail = |source| Error::State { file: (*path).to_string(), folder: path_of_folder.clone(), source };
            let name_of_folder = path_of_folder.file_name().unwrap_or_default();
            new_folders |= archive.make(name_of_folder, 0o700).map_err(fail)?;
            let folder = archive.enter(name_of_folder).map_err(fail)?;
            let name = version::name(file.version, path, state);
            let equal = match state {
                State::File { bytes, mode } => recent.equal_one(&folder, bytes, mode_of(*mode), file.sha256),
                State::Absent | State::Large(_) | State::Link { .. } | State::Folder { .. } => None,
            };
            let result = writing.write(equal, &folder, &name, before);
            if let State::File { .. } = state {
                recent.add(path_of_folder.join(name), file.sha256);
            }
            folders.push(name_of_folder.to_os_string());
            result.map_err(fail)
        });
        let step = |name| self.probe_step(name).map_err(at(&self.folder));
        let named = written.and_then(|()| {
            step("archive: flush versions")?;
            writing.unflushed.flush().map_err(at(&self.folder))?;
            step("archive: name versions")?;
            let rename = |p: &Pending| archive.rename_new(&p.temp, &archive.enter(&p.folder)?, &p.name);
            disk::each(&writing.pending, rename).map_err(at(&self.folder))
        });
        if named.is_err() {
            for p in &writing.pending {
                // Gone already where it has its name; else swept at the next start.
                let _ = archive.remove_file(&p.temp);
            }
        }
        named.map(|()| NamedVersions { folders, new_folders })
    }

    /// Makes versions that share their file with the workspace files of their own: a delete that did not come to its
    /// end has left the file two names, and what is written to it would be written to its version.
    ///
    /// # Errors
    /// Any error of the file system; the version then stays as it is.
    pub fn unshare<'p>(&self, _lock: &mut Lock, paths: impl IntoIterator<Item = &'p String>) -> Result<(), Error> {
        let root = Folder::open(&self.root).map_err(at(&self.root))?;
        for path in paths {
            let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
            let file = root.descend(Path::new(above)).and_then(|above| above.stat(name)).ok().flatten();
            let Some(file) = file.filter(|stat| stat.st_nlink > 1) else { continue };
            let folder = self.file_folder(path);
            let Some(open) = self.open_versions(&folder)? else { continue };
            for version in self.versions_in(&folder)? {
                let name = version.file.file_name().unwrap_or_default();
                let stat = open.stat(name).map_err(at(&version.file))?;
                if stat.is_some_and(|v| (v.st_dev, v.st_ino) == (file.st_dev, file.st_ino)) {
                    self.copy_over(&open, name).map_err(at(&version.file))?;
                }
            }
        }
        Ok(())
    }

    /// Puts a copy of a version in its place.
    fn copy_over(&self, folder: &Folder, name: &OsStr) -> io::Result<()> {
        let old = folder.open_unreadable(name)?;
        let archive = self.make_folder().map_err(io::Error::other)?;
        archive.replace_from(folder, name, |temp| {
            let new = archive.make_file(temp, 0o600)?;
            if !disk::share_blocks(&old, &new) {
                disk::copy_pieces(&old, &new, &self.stop, |_| ())?;
            }
            new.set_permissions(Permissions::from_mode(mode_of(Some(old.metadata()?.permissions().mode()))))?;
            new.sync_all()
        })?;
        folder.sync()
    }

    /// Removes the temporary files of processes that have ended from folders of the workspace, given by their paths below its
    /// root, by `sweep`.
    pub fn sweep_folders(
        &self,
        _lock: &mut Lock,
        folders: &BTreeSet<String>,
        sweep: impl Fn(&Folder, &Path, UntrackedLookup) -> usize,
    ) {
        let Ok(root) = Folder::open(&self.root) else { return };
        for folder in folders {
            sweep(&root, Path::new(folder), git::untracked_of);
        }
    }

    /// Removes what crashed processes left behind: temporary files in the archive, and in the workspace folders of the
    /// last 20 changesets by `sweep`, and the second names of files that were to be deleted. How many temporary files.
    ///
    /// # Errors
    /// When the lock cannot be taken. An archive that is not there needs no sweep.
    pub fn sweep(&self, sweep: impl Fn(&Folder, &Path, UntrackedLookup) -> usize) -> Result<usize, Error> {
        let sweep = |folder: &Folder, below: &Path| sweep(folder, below, git::untracked_of);
        const CHANGESETS: usize = 20;
        if self.open_folder()?.is_none() {
            return Ok(0);
        }
        let mut lock = self.lock()?;
        let mut folders = BTreeSet::from([self.folder.clone(), self.home.clone()]);
        // The same files are often in several of them.
        let ids = self.list()?.into_iter().take(CHANGESETS);
        let paths: BTreeSet<String> = ids.flat_map(|id| self.paths(id).unwrap_or_default()).collect();
        self.unshare(&mut lock, &paths)?;
        self.sweep_removed();
        folders.extend(paths.iter().filter_map(|path| Some(lexical(&self.root, Path::new(path)).parent()?.into())));
        let root = Folder::open(&self.root).map_err(at(&self.root))?;
        let own = self.make_folder()?;
        // Those outside the root that are gone hold nothing.
        let open = |outside: &OutsideFolder| Some((Folder::open(&outside.folder).ok()?, outside.folder.clone()));
        let outside: Vec<(Folder, PathBuf)> = self.outside.iter().filter_map(open).collect();
        let of = |folder: &PathBuf| match folder.strip_prefix(&self.root) {
            Ok(below) => sweep(&root, below),
            Err(_) if *folder == self.folder => sweep(&own, Path::new("")),
            Err(_) => {
                let below = outside.iter().find_map(|(open, path)| Some((open, folder.strip_prefix(path).ok()?)));
                below.map_or(0, |(open, below)| sweep(open, below))
            }
        };
        Ok(folders.iter().map(of).sum())
    }
}

/// Versions that are being written.
struct Writing<'a> {
    root: &'a Folder,
    archive: &'a Folder,
    stop: &'a CancellationToken,
    pending: Vec<Pending>,
    unflushed: Unflushed,
}

impl Writing<'_> {
    /// Records a temporary file that waits for its name.
    fn wait(&mut self, temp: String, folder: &Folder, name: &str) {
        let folder = folder.path().file_name().unwrap_or_default().to_os_string();
        self.pending.push(Pending { temp, folder, name: name.into() });
    }

    /// Writes one version: under its name at once where a single step makes it whole, else as a temporary file. `equal`
    /// is a version of the same bytes and mode.
    fn write(&mut self, equal: Option<PathBuf>, folder: &Folder, name: &str, before: &Before<'_>) -> io::Result<()> {
        let text;
        let (bytes, mode): (&[u8], u32) = match before.state {
            State::Absent => {
                self.unflushed.add(folder.write_new(name, b"", Some(0o600))?)?;
                return Ok(());
            }
            State::Link { target } => return folder.make_link(name, target),
            State::Folder { mode } => {
                text = version::folder_text(*mode);
                (text.as_bytes(), 0o600)
            }
            State::Large(file) => return self.write_large(file, folder, name, before),
            State::File { bytes, mode } => (bytes, mode_of(*mode)),
        };
        let temp = disk::temp_name();
        if let Some(equal) = equal.as_deref().and_then(Path::file_name) {
            if let Some(file) = self.share_blocks(folder, equal, &temp, mode) {
                self.wait(temp, folder, name);
                return self.unflushed.add(file);
            }
            if folder.hard_link(equal, folder, name).is_ok() {
                return Ok(());
            }
        }
        self.wait(temp.clone(), folder, name);
        self.unflushed.add(self.archive.write_new(&temp, bytes, Some(mode))?)?;
        Ok(())
    }

    /// Writes a version of a file too large to be held in memory. One that is about to go is given a second name, where
    /// it has no other; else its blocks are shared where the file system can, or copied.
    fn write_large(&mut self, file: &LargeFile, folder: &Folder, name: &str, before: &Before<'_>) -> io::Result<()> {
        let temp = disk::temp_name();
        self.wait(temp.clone(), folder, name);
        if before.goes && self.link_large(file, &temp, before.path)? {
            return Ok(());
        }
        let new = self.archive.make_file(&temp, 0o600)?;
        copy_large(file, &new, self.stop)?;
        new.set_permissions(Permissions::from_mode(mode_of(file.mode)))?;
        self.unflushed.add(new)?;
        Ok(())
    }

    /// Gives the file at a normalised path the name `temp` in the archive; `false`: it has other names, may run as its
    /// owner or group, lies outside the workspace, or the file system cannot.
    fn link_large(&mut self, file: &LargeFile, temp: &str, path: &str) -> io::Result<bool> {
        if path.starts_with('/') {
            return Ok(false);
        }
        let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
        let above = self.root.descend(Path::new(above))?;
        let plain = above.stat(name)?.is_some_and(|stat| stat.st_nlink == 1 && stat.st_mode & 0o6000 == 0);
        if !plain || above.hard_link(name, self.archive, temp).is_err() {
            return Ok(false);
        }
        // A file with two names now need not be what was read before.
        let linked = self.archive.open_unreadable(temp)?;
        if !holds_large(&linked, file, self.stop)? {
            return Err(io::Error::other("it changed while it was archived"));
        }
        self.unflushed.add(linked)?;
        Ok(true)
    }

    /// Returns a new file at `temp` that shares the blocks of `equal`, where the file system can; else nothing is left.
    fn share_blocks(&self, folder: &Folder, equal: &OsStr, temp: &str, mode: u32) -> Option<File> {
        let old = folder.open_unreadable(equal).ok()?;
        let new = self.archive.write_new(temp, b"", Some(mode)).ok()?;
        if disk::share_blocks(&old, &new) {
            return Some(new);
        }
        // Should it stay, the next start sweeps it.
        let _ = self.archive.remove_file(temp);
        None
    }
}

/// Returns the permission bits a version is kept with: those of the file, but it never runs as its owner or group.
fn mode_of(mode: Option<u32>) -> u32 {
    mode.unwrap_or(0o600) & 0o1777
}

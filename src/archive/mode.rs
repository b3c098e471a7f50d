//! The permission bits that a version is restored with. A change that was none of them leaves those of today, so that an
//! undo never opens a file that the person has closed since.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;

use super::changeset::{Changeset, SET_ID_BITS};
use super::unit::listed::Listing;
use super::{Archive, Error, Id, Lock, Version, version_before};
use crate::disk::Folder;
use crate::proposal::{LargeFile, State};
use crate::workspace::Workspace;

/// The changesets that changed modes. They are read once for all files that one restore looks at, as far back as the
/// oldest version among these.
pub struct ModeChanges<'a> {
    archive: &'a Archive,
    read: RefCell<ReadSoFar>,
    opened: OnceCell<Opened>,
}

/// The archive as it was when the first of many paths was looked up.
struct Opened {
    /// The folder of the folders of versions; `None`: it is not there.
    folder: Option<Folder>,
    listings: Vec<Arc<Listing>>,
}

#[derive(Default)]
struct ReadSoFar {
    /// The changesets that were not read yet, oldest first; `None`: they were not listed yet.
    unread: Option<Vec<Id>>,
    /// The changesets that changed the mode of each path, newest first.
    setters: HashMap<String, Vec<Id>>,
    /// The permission bits that the newest of them left at each path, where that is known.
    left: HashMap<String, Option<u32>>,
    /// The newest one that gave each path a set-user-ID or set-group-ID bit.
    newest_set_id: HashMap<String, Id>,
}

impl Archive {
    /// Returns the permission bits that a changeset left, by the paths of which it changed them.
    ///
    /// # Errors
    /// When it is not there, cannot be read, or is damaged.
    pub fn left_modes(&self, changeset: Id) -> Result<HashMap<String, u32>, Error> {
        Ok(self.read_changeset(changeset)?.left_modes.into_iter().collect())
    }

    /// Forgets the permission bits that a changeset changed: it is taken back, and those that are there are no one else's work.
    ///
    /// # Errors
    /// When it cannot be read or written.
    pub fn forget_modes(&self, _lock: &mut Lock, changeset: Id) -> Result<(), Error> {
        let read = self.read_changeset(changeset)?;
        let (modes, set_ids, left_modes) = (Vec::new(), Vec::new(), Vec::new());
        self.write_changeset(changeset, &Changeset { modes, set_ids, left_modes, ..read })
    }
}

impl<'a> ModeChanges<'a> {
    /// Creates them for an archive. Nothing is read before a mode differs.
    pub fn new(archive: &'a Archive) -> Self {
        ModeChanges { archive, read: RefCell::default(), opened: OnceCell::new() }
    }

    /// Returns a version's state with the mode that it is restored with: where no changeset since the version has changed
    /// the mode or made the file anew, it is that of today, which the person may have set.
    pub(super) fn with_mode(&self, path: &str, version: Id, old: State, now: &State) -> State {
        let is_new = |now: u32| {
            now & SET_ID_BITS != 0 && (self.added_set_id_since(path, version) || self.was_no_file_since(path, version))
        };
        let old = if now.mode().is_some_and(is_new) { old } else { with_set_id_bits(old, now) };
        let (then, today) = (old.mode(), now.mode());
        let is_kept = then != today
            && today.is_some()
            && then.is_some()
            && !self.set_mode_since(path, version)
            && !self.was_no_file_since(path, version);
        if is_kept { old.with_mode(today) } else { old }
    }

    /// Returns the mode of a path as it is where someone else set it after the last changeset that did, newer than a version.
    pub(super) fn set_by_others(&self, path: &str, version: Id, now: &State) -> Option<u32> {
        let today = now.mode().filter(|_| self.set_mode_since(path, version))?;
        let left = self.read.borrow().left.get(path).copied().flatten()?;
        let is_folder = path.ends_with('/');
        let bits = if is_folder { 0o7777 } else { 0o7777 & !SET_ID_BITS };
        // What is there now may have got its mode when it was made.
        let is_new = || match is_folder {
            true => self.archive.versions(path).unwrap_or_default().iter().any(|v| v.id > version && !v.folder),
            false => self.was_no_file_since(path, version),
        };
        ((left ^ today) & bits != 0 && !is_new()).then_some(today)
    }

    /// Returns whether a changeset newer than a version changed the mode of its path. One that cannot be read did not.
    fn set_mode_since(&self, path: &str, version: Id) -> bool {
        self.read_since(version);
        self.read.borrow().setters.get(path).is_some_and(|ids| ids[0] > version)
    }

    /// Returns whether any of these changesets, all newer than a version, changed the mode of its path.
    pub(super) fn is_set_by(&self, path: &str, version: Id, changesets: impl Fn(Id) -> bool) -> bool {
        self.read_since(version);
        let read = self.read.borrow();
        read.setters.get(path).is_some_and(|ids| ids.iter().any(|id| *id > version && changesets(*id)))
    }

    /// Returns whether a changeset newer than a version gave its path a set-user-ID or set-group-ID bit: that is none of
    /// the file as it was.
    fn added_set_id_since(&self, path: &str, version: Id) -> bool {
        self.read_since(version);
        self.read.borrow().newest_set_id.get(path).is_some_and(|id| *id > version)
    }

    /// Reads the changesets newer than a version that were not read yet.
    fn read_since(&self, version: Id) {
        let mut read = self.read.borrow_mut();
        let ReadSoFar { unread, setters, left, newest_set_id } = &mut *read;
        let unread = unread.get_or_insert_with(|| {
            let mut ids = self.archive.list().unwrap_or_default();
            ids.reverse();
            ids
        });
        while let Some(id) = unread.pop_if(|id| *id > version) {
            let changeset = self.archive.read_changeset(id).unwrap_or_default();
            let modes: HashMap<String, u32> = changeset.left_modes.into_iter().collect();
            for path in changeset.modes {
                left.entry(path.clone()).or_insert_with(|| modes.get(&path).copied());
                setters.entry(path).or_default().push(id);
            }
            for path in changeset.set_ids {
                newest_set_id.entry(path).or_insert(id);
            }
        }
    }

    /// Returns whether a path was no file after a version: what is there now got its mode when it was made.
    fn was_no_file_since(&self, path: &str, version: Id) -> bool {
        let is_no_file = |other: &Version| other.absent || other.folder || other.file.is_symlink();
        let versions = self.archive.versions(path).unwrap_or_default();
        versions.iter().any(|other| other.id > version && is_no_file(other))
    }

    /// Returns the version of a path that belongs to a changeset, as [`Archive::version_in`] does, but with the archive opened
    /// once for all paths.
    ///
    /// # Errors
    /// As [`Archive::versions`].
    pub fn version_in(&self, path: &str, changeset: Id) -> Result<Option<Version>, Error> {
        let opened = match self.opened.get() {
            Some(opened) => opened,
            None => {
                let opened = Opened { folder: self.archive.open_folder()?, listings: self.archive.listings()? };
                self.opened.get_or_init(|| opened)
            }
        };
        let versions = self.archive.versions_of(path, opened.folder.as_ref(), &opened.listings)?;
        Ok(version_before(&versions, changeset).cloned())
    }

    /// Returns whether a file is still, or again, in the state that a changeset archived. One whose state cannot be
    /// read is not.
    pub fn is_as_before(&self, workspace: &Workspace, changeset: Id, path: &str) -> bool {
        let now = workspace.read_to_restore(path).map(|read| read.state);
        now.is_ok_and(|now| self.state_before(changeset, path, &now).is_some_and(|before| before == now))
    }

    /// Returns the state that a changeset archived of a path, as it is brought back where `now` is there; none: it cannot be
    /// read.
    pub fn state_before(&self, changeset: Id, path: &str, now: &State) -> Option<State> {
        let version = self.version_in(path, changeset).ok()??;
        Some(self.with_mode(path, version.id, self.archive.show(&version).ok()?, now))
    }
}

/// Returns a version's state with the set-user-ID and set-group-ID bits of the file as it is: an archived copy has
/// none, and a file that had them before keeps them.
fn with_set_id_bits(old: State, now: &State) -> State {
    match (old, now) {
        (State::File { bytes, mode: Some(old) }, State::File { mode: Some(now), .. }) => {
            State::File { bytes, mode: Some(old | now & SET_ID_BITS) }
        }
        (State::Large(old), now) => {
            let set_id_bits = now.mode().unwrap_or(0) & SET_ID_BITS;
            State::Large(Box::new(LargeFile { mode: old.mode.map(|mode| mode | set_id_bits), ..*old }))
        }
        (old, _) => old,
    }
}

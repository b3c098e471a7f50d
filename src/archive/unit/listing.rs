//! The versions of a folder and of all in it as one file, where a changeset makes or removes a folder with many files.
//!
//! ```text
//! .shaft/archives/folders/<version of the folder>.jsonl   a line for each path: its version, and what it was
//! .shaft/removed/<version of the folder>/                 a removed folder, which was renamed to there as it was
//! ```
//!
//! A restore that brings the folder back by renaming it takes the bytes with it: they are then found where the files are,
//! or in a later version, by their hash.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use rustix::fs::FileType;

use super::listed::{ListedKind, ListedVersion, Listing};
use crate::archive::restore::state_sha;
use crate::archive::version::Listed;
use crate::archive::{Archive, Error, Id, RecordedFile, Sha, Version, at, path::hex};
use crate::disk::{self, Folder};
use crate::proposal::State;
use crate::workspace::state_of;

/// The folder of listings beside the versions.
pub(in crate::archive) const LISTINGS: &str = "folders";
/// The folder of removed folders in `.shaft`.
const REMOVED: &str = "removed";
/// The largest listing that is read, in bytes.
const MAX_LISTING: u64 = 1 << 30;

impl Archive {
    pub(in crate::archive) fn listing_file(&self, id: Id) -> PathBuf {
        self.folder.join(LISTINGS).join(format!("{id}.jsonl"))
    }

    /// Returns the ids of all listings, those that cannot be read too.
    pub(in crate::archive) fn listing_ids(&self) -> Result<Vec<Id>, Error> {
        let Some(folder) = self.open_folder()? else { return Ok(Vec::new()) };
        let names = match folder.enter(LISTINGS).and_then(|open| open.names()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            names => names.map_err(at(&self.folder.join(LISTINGS)))?,
        };
        Ok(names.iter().filter_map(|name| Id::parse(name.to_str()?.strip_suffix(".jsonl")?)).collect())
    }

    /// Returns all listings that can be read; the check names the others.
    pub(in crate::archive) fn listings(&self) -> Result<Vec<Arc<Listing>>, Error> {
        let ids: HashSet<Id> = self.listing_ids()?.into_iter().collect();
        let known = || self.listings.lock().unwrap_or_else(PoisonError::into_inner);
        known().retain(|id, _| ids.contains(id));
        let new: Vec<Id> = ids.into_iter().filter(|id| !known().contains_key(id)).collect();
        for id in new {
            let listing = match self.read_listing(id) {
                Ok(listing) => Some(Arc::new(listing)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                // One that may be read the next time hides no version.
                Err(error) if is_passing(&error) => return Err(at(&self.listing_file(id))(error)),
                Err(_) => None,
            };
            known().insert(id, listing);
        }
        let all = known().values().flatten().cloned().collect();
        Ok(all)
    }

    /// Reads one listing.
    pub(in crate::archive) fn read_listing(&self, id: Id) -> io::Result<Listing> {
        let folder = self.open_folder().map_err(io::Error::other)?.ok_or(io::ErrorKind::NotFound)?;
        let file = folder.enter(LISTINGS)?.open_file(format!("{id}.jsonl"))?;
        let bytes = disk::read_open(&file, MAX_LISTING)?;
        let removed = self.home.join(REMOVED).join(id.to_string());
        Listing::read(id, &bytes, self.listing_file(id), removed).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    /// Adds the versions of a path that listings hold.
    pub(in crate::archive) fn add_listed(path: &str, versions: &mut Vec<Version>, listings: &[Arc<Listing>]) {
        let had = versions.len();
        for listing in listings {
            let line = listing.of_path(path);
            // One that lies by itself too was to be listed and was not.
            if let Some(line) = line.filter(|(id, _)| versions.iter().all(|version| version.id != *id)) {
                versions.push(listing.version(line));
            }
        }
        if versions.len() > had {
            versions.sort_by_key(|version| version.id);
        }
    }

    /// Returns the normalised path of a listed version.
    pub(in crate::archive) fn path_of_listed(&self, listing: Id, version: Id) -> Result<Option<String>, Error> {
        let listings = self.listings()?;
        let found = listings.iter().find(|found| found.id == listing);
        Ok(found.and_then(|found| Some(found.of_version(version)?.path.clone())))
    }

    /// Returns the state that a listed version holds.
    pub(in crate::archive) fn listed_state(&self, listing: Id, version: &Version) -> io::Result<State> {
        let listings = self.listings().map_err(io::Error::other)?;
        let listing = listings.iter().find(|found| found.id == listing).ok_or(io::ErrorKind::NotFound)?;
        let line = listing.of_version(version.id).ok_or(io::ErrorKind::NotFound)?;
        let mode = Some(line.mode);
        match line.kind {
            ListedKind::Absent => return Ok(State::Absent),
            ListedKind::Folder => return Ok(State::Folder { mode: line.mode }),
            ListedKind::File | ListedKind::Link => {}
        }
        let is_it = |state: &State| state_sha(state).map(|sha| hex(&sha)) == line.sha256;
        if let Some(removed) = self.open_removed(listing.id)? {
            let state = self.state_below(&removed, listing.below(line))?;
            return is_it(&state).then(|| state.with_mode(mode)).ok_or_else(|| io::Error::other(CHANGED));
        }
        // It was renamed back.
        self.state_elsewhere(version, &line.path, is_it)?
            .map(|state| state.with_mode(mode))
            .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, GONE))
    }

    /// Returns the state that fits, of the later versions of a path and of the path itself.
    fn state_elsewhere(
        &self,
        version: &Version,
        path: &str,
        is_it: impl Fn(&State) -> bool,
    ) -> io::Result<Option<State>> {
        let later = self.versions(path).map_err(io::Error::other)?;
        for later in later.into_iter().filter(|later| later.id > version.id && !later.absent) {
            let state = match later.listed {
                None => self.state_of(&later),
                Some(Listed { listing, .. }) => match (self.open_removed(listing)?, self.path_below(listing, path)?) {
                    (Some(removed), Some(below)) => self.state_below(&removed, &below),
                    _ => continue,
                },
            };
            if let Ok(state) = state
                && is_it(&state)
            {
                return Ok(Some(state));
            }
        }
        let now = Folder::open(&self.root).and_then(|root| self.state_below(&root, path));
        Ok(now.ok().filter(is_it))
    }

    fn path_below(&self, listing: Id, path: &str) -> io::Result<Option<String>> {
        let listings = self.listings().map_err(io::Error::other)?;
        let folder = listings.iter().find(|found| found.id == listing).map(|found| found.folder.clone());
        Ok(folder.and_then(|folder| path.strip_prefix(&folder).map(str::to_string)))
    }

    /// Returns what lies at a path below an open folder; a link itself.
    fn state_below(&self, folder: &Folder, path: &str) -> io::Result<State> {
        let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
        let above = folder.descend(Path::new(above))?;
        match above.stat(name)?.ok_or(io::ErrorKind::NotFound)? {
            stat if disk::is(&stat, FileType::Symlink) => Ok(State::Link { target: above.read_link(name)? }),
            _ => Ok(state_of(above.open_unreadable(name)?, &above.path().join(name), &self.stop)?.0),
        }
    }

    /// Opens the removed folder of a listing; none: it is not there, or not any more.
    fn open_removed(&self, id: Id) -> io::Result<Option<Folder>> {
        let Some(removed) = self.open_own(REMOVED).map_err(io::Error::other)? else { return Ok(None) };
        match removed.enter(id.to_string()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            opened => opened.map(Some),
        }
    }

    /// Opens the folder of removed folders, made where it is missing.
    ///
    /// # Errors
    /// When it cannot be made, or is a link.
    pub fn make_removed(&self) -> Result<Folder, Error> {
        self.make_own(REMOVED)
    }

    /// Returns the removed folders of this path that are still there, newest first.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn removed_folders(&self, folder: &str) -> Result<Vec<Id>, Error> {
        let mut ids: Vec<Id> = self.listings()?.iter().filter(|one| one.folder == folder).map(|one| one.id).collect();
        ids.sort_unstable_by(|a, b| b.cmp(a));
        ids.retain(|id| self.open_removed(*id).is_ok_and(|open| open.is_some()));
        Ok(ids)
    }

    /// Returns the listing of a removed folder that came back by being renamed, before a changeset: it has no bytes of its own
    /// since. `states`: what is in the folder now, which has to be what is listed.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn listing_brought_back(
        &self,
        folder: &str,
        changeset: Id,
        states: &HashMap<&str, Option<Sha>>,
    ) -> Result<Option<Id>, Error> {
        let listings = self.listings()?;
        let is_removal = |one: &&Arc<Listing>| {
            one.folder == folder && one.id < changeset && one.lines[0].1.kind == ListedKind::Folder
        };
        let newest = listings.iter().filter(is_removal).max_by_key(|one| one.id);
        let is_as_listed = |line: &ListedVersion| {
            states.get(line.path.as_str()).is_some_and(|sha| sha.map(|sha| hex(&sha)) == line.sha256)
        };
        let fits = |one: &&Arc<Listing>| {
            self.open_removed(one.id).is_ok_and(|open| open.is_none())
                && one.lines.iter().all(|(_, line)| is_as_listed(line))
        };
        Ok(newest.filter(fits).map(|one| one.id))
    }

    /// Writes the listing of versions, the first of which is that of the folder that holds the others. When this returns
    /// it is on disk.
    pub(in crate::archive) fn write_listing<'a>(
        &self,
        versions: impl Iterator<Item = (&'a RecordedFile, &'a State)>,
    ) -> Result<Id, Error> {
        let mut text = Vec::new();
        let mut first = None;
        for (file, state) in versions {
            first = first.or(Some(file.version));
            let line = line_of(file, state);
            serde_json::to_writer(&mut text, &line).map_err(|error| at(&self.folder)(error.into()))?;
            text.push(b'\n');
        }
        let id = first.ok_or_else(|| at(&self.folder)(io::ErrorKind::InvalidInput.into()))?;
        let archive = self.make_folder()?;
        let path = self.listing_file(id);
        let write = || {
            let temp = disk::temp_name();
            archive.write_new(&temp, &text, Some(0o600))?.sync_all()?;
            if archive.make(LISTINGS, 0o700)? {
                archive.sync()?;
            }
            let listings = archive.enter(LISTINGS)?;
            archive.rename_new(&temp, &listings, format!("{id}.jsonl"))?;
            listings.sync()
        };
        write().map_err(at(&path)).map(|()| id)
    }

    /// Removes a listing, and the removed folder that it is of.
    pub(in crate::archive) fn remove_listing(&self, id: Id) -> Result<(), Error> {
        let removed = self.open_own(REMOVED)?;
        if let Some(removed) = &removed {
            // It has another name first: cut off, the rest goes with the next one.
            match removed.rename(id.to_string(), disk::temp_name()) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(at(removed.path())(error)),
                _ => removed.sync().map_err(at(removed.path()))?,
            }
        }
        let folder = self.make_folder()?.enter(LISTINGS).map_err(at(&self.folder))?;
        folder.remove_file(format!("{id}.jsonl")).and_then(|()| folder.sync()).map_err(at(&self.listing_file(id)))?;
        self.sweep_removed();
        Ok(())
    }

    /// Removes what is left of folders whose listings are gone. What cannot be removed is left to the next time.
    pub(in crate::archive) fn sweep_removed(&self) {
        let Ok(Some(removed)) = self.open_own(REMOVED) else { return };
        let names = removed.names().unwrap_or_default();
        for name in names.iter().filter(|name| name.to_str().is_some_and(disk::is_temp_name)) {
            let is_folder = removed.stat(name).ok().flatten().is_some_and(|stat| disk::is(&stat, FileType::Directory));
            let _ = if is_folder { removed.remove_all(name) } else { removed.remove_file(name) };
        }
    }

    /// Returns the bytes of a listing and of the removed folder that it is of.
    pub(in crate::archive) fn listing_size(&self, id: Id) -> u64 {
        let listing = self.listing_file(id).symlink_metadata().map_or(0, |meta| meta.len());
        let removed = self.open_removed(id).ok().flatten();
        listing + removed.map_or(0, |removed| size_below(&removed))
    }

    /// Returns what is wrong with a listing and the folder that it is of; none: nothing shows.
    pub(in crate::archive) fn check_listing(&self, listing: &Listing) -> Option<String> {
        let content = listing.lines.iter().filter(|(_, line)| matches!(line.kind, ListedKind::File | ListedKind::Link));
        let is_there = self.open_removed(listing.id).is_ok_and(|open| open.is_some());
        if !is_there {
            let later = |v: &Version| v.id > listing.id;
            let is_back = self.versions(&listing.folder).is_ok_and(|versions| versions.iter().any(later));
            let is_lost = !is_back && content.count() > 0 && !self.root.join(&listing.folder).exists();
            return is_lost.then(|| format!("{} is missing in .shaft/{REMOVED}", listing.id));
        }
        content.clone().find_map(|line| {
            let version = listing.version(line);
            let error = self.listed_state(listing.id, &version).err()?;
            Some(format!("{} cannot be read: {error}", line.1.path))
        })
    }
}

const CHANGED: &str = "its bytes are not those that were archived";
const GONE: &str = "its folder was brought back, and it was changed outside nebula since";

fn line_of(file: &RecordedFile, state: &State) -> ListedVersion {
    let kind = match state {
        State::Absent => ListedKind::Absent,
        State::File { .. } | State::Large(_) => ListedKind::File,
        State::Link { .. } => ListedKind::Link,
        State::Folder { .. } => ListedKind::Folder,
    };
    let mode = state.mode().unwrap_or_default() & 0o7777;
    let size = match state {
        State::File { bytes, .. } => bytes.len() as u64,
        State::Large(file) => file.size,
        State::Link { target } => target.as_os_str().len() as u64,
        State::Absent | State::Folder { .. } => 0,
    };
    let sha256 = file.sha256.filter(|_| kind != ListedKind::Absent).map(|sha: Sha| hex(&sha));
    ListedVersion { path: file.path.clone(), version: file.version.to_string(), kind, mode, size, sha256 }
}

/// Returns the bytes of the files below an open folder, without following links.
fn size_below(folder: &Folder) -> u64 {
    let size = |name: &OsString| match folder.stat(name).ok().flatten() {
        Some(stat) if disk::is(&stat, FileType::Directory) => folder.enter(name).map_or(0, |inner| size_below(&inner)),
        stat => stat.map_or(0, |stat| u64::try_from(stat.st_size).unwrap_or(0)),
    };
    folder.names().unwrap_or_default().iter().map(size).sum()
}

/// Returns whether an error says nothing of the file itself.
fn is_passing(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let number = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(number, Some(Errno::MFILE | Errno::NFILE | Errno::IO | Errno::NOMEM | Errno::ACCESS | Errno::INTR))
}

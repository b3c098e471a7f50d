//! Folders that come or go with many files: they are renamed, and not written or removed file by file.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::{fs, io};

use crate::archive::restore::state_sha;
use crate::archive::{Archive, Id, Sha};
use crate::disk::Folder;
use crate::proposal::{DecidedFile, State, is_in_repository, large_folders, outermost_folder};
use crate::workspace::folders::{Expected, holds_exactly};
use crate::workspace::{Read, Workspace};

/// A folder that may come or go by one rename.
pub struct FolderMove<'a> {
    /// Its path, with the closing `/`.
    pub folder: &'a str,
    /// The removed folder that comes back; none: it goes.
    back: Option<Id>,
    /// The states in it, by the paths below it.
    expected: HashMap<&'a str, Expected<'a>>,
    /// The places that it was renamed from and to.
    done: Option<[(Folder, String); 2]>,
}

/// Returns the folders of a restore that hold exactly what it takes away, or that lie removed exactly as it brings them
/// back. What cannot be looked at is left to be written file by file.
pub fn plan<'a>(all: &[(&'a DecidedFile, &'a Read)], workspace: &Workspace, archive: &Archive) -> Vec<FolderMove<'a>> {
    let changes = |(file, now): &&(&'a DecidedFile, &'a Read)| {
        matches!(
            (&now.state, file.after()),
            (State::Folder { .. }, State::Absent) | (State::Absent, State::Folder { .. })
        )
    };
    let folders: BTreeSet<&str> = all.iter().filter(changes).map(|(file, _)| file.path()).collect();
    let large: BTreeSet<&str> = large_folders(&folders, all.iter().map(|(file, _)| file.path())).into_keys().collect();
    let mut members: HashMap<&str, Vec<(&'a DecidedFile, &'a Read)>> = HashMap::new();
    for (file, now) in all {
        if let Some(folder) = outermost_folder(file.path(), &large) {
            members.entry(folder).or_default().push((*file, *now));
        }
    }
    let as_file: BTreeSet<&str> = all.iter().map(|(file, _)| file.path()).collect();
    let others = large.into_iter().filter(|folder| !as_file.contains(folder.trim_end_matches('/')));
    let mut moves = Vec::new();
    for folder in others {
        let inner = members.remove(folder).unwrap_or_default();
        if let Ok(Some(planned)) = FolderMove::new(folder, &inner, workspace, archive) {
            moves.push(planned);
        }
    }
    moves
}

/// Renames the folders that a changeset brought by renaming, or took away so, to where they were, and returns those. What
/// lies in one that was brought is nowhere else: where it cannot be renamed, nothing goes back. The error names the path.
pub fn go_back<'a>(
    moves: &mut [FolderMove<'a>],
    all: &[(&'a DecidedFile, &'a Read)],
    changeset: Id,
    (workspace, archive): (&Workspace, &Archive),
) -> Result<BTreeSet<&'a str>, (String, io::Error)> {
    let states: HashMap<&str, Option<Sha>> =
        all.iter().map(|(file, now)| (file.path(), state_sha(&now.state))).collect();
    let goes =
        |(file, now): &&(&DecidedFile, &Read)| matches!(now.state, State::Folder { .. }) && file.after().is_absent();
    let mut brought = HashMap::new();
    for (file, _) in all.iter().filter(goes) {
        let listed = archive.listing_brought_back(file.path(), changeset, &states);
        let listed = listed.map_err(|error| (file.path().to_string(), io::Error::other(error)))?;
        brought.extend(listed.map(|listed| (file.path(), listed)));
    }
    let mut moved = BTreeSet::new();
    for one in moves {
        let listed = if one.goes() { brought.remove(one.folder) } else { Some(changeset) };
        let Some(listed) = listed else { continue };
        let at = |error| (one.folder.to_string(), error);
        match one.run(listed, workspace, archive) {
            Ok(true) => drop(moved.insert(one.folder)),
            Ok(false) => return Err(at(io::ErrorKind::ResourceBusy.into())),
            Err(error) => return Err(at(error)),
        }
    }
    match brought.into_keys().find(|folder| outermost_folder(folder, &moved).is_none()) {
        Some(folder) => Err((folder.to_string(), io::ErrorKind::ResourceBusy.into())),
        None => Ok(moved),
    }
}

impl<'a> FolderMove<'a> {
    fn new(
        folder: &'a str,
        inner: &[(&'a DecidedFile, &'a Read)],
        workspace: &Workspace,
        archive: &Archive,
    ) -> io::Result<Option<Self>> {
        let goes = inner.iter().all(|(file, now)| file.after().is_absent() && !now.state.is_absent());
        let comes = inner.iter().all(|(file, now)| now.state.is_absent() && !file.after().is_absent());
        let is_whole = inner.iter().all(|(file, _)| file.restores() && archive.excluded_by(file.path()).is_none());
        if !is_whole || goes == comes || folder.starts_with('/') || is_in_repository(folder) {
            return Ok(None);
        }
        let below = |path: &'a str| path.strip_prefix(folder).filter(|below| !below.is_empty()).unwrap_or("/");
        let expects = |(file, now): &(&'a DecidedFile, &'a Read)| match goes {
            true => (below(file.path()), Expected { state: &now.state, stamp: now.stamp }),
            false => (below(file.path()), Expected { state: file.after(), stamp: None }),
        };
        let expected: HashMap<_, _> = inner.iter().map(expects).collect();
        let removed = archive.make_removed().map_err(io::Error::other)?;
        let device = fs::symlink_metadata(removed.path())?.dev();
        let mut planned = FolderMove { folder, back: None, expected, done: None };
        if goes {
            let (above, name) = planned.place(workspace)?;
            // What is in it becomes the archive's: it has to be on the disk, and nobody may go on writing to it.
            let is_ready = !is_in_use(&workspace.full(folder))
                && holds_exactly(&above, &name, &planned.expected, device)?
                && removed.sync_all_if_many(planned.expected.len())?;
            return Ok(is_ready.then_some(planned));
        }
        for id in archive.removed_folders(folder).map_err(io::Error::other)? {
            if holds_exactly(&removed, &id.to_string(), &planned.expected, device)? {
                planned.back = Some(id);
                return Ok(Some(planned));
            }
        }
        Ok(None)
    }

    /// Returns the folder that it lies in, and its name there.
    fn place(&self, workspace: &Workspace) -> io::Result<(Folder, String)> {
        let path = self.folder.trim_end_matches('/');
        let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
        Ok((workspace.folder(above)?, name.to_string()))
    }

    /// Renames it, where it goes to the name of `listed`, the version of it that is being archived. `false`: it was changed
    /// meanwhile, and is where it was.
    ///
    /// # Errors
    /// Any error of the file system; it is where it was.
    pub fn run(&mut self, listed: Id, workspace: &Workspace, archive: &Archive) -> io::Result<bool> {
        let removed = archive.make_removed().map_err(io::Error::other)?;
        let device = fs::symlink_metadata(removed.path())?.dev();
        archive.probe_step("apply: rename folder")?;
        let own = (removed, self.back.unwrap_or(listed).to_string());
        let (from, to) = match self.back {
            None => (self.place(workspace)?, own),
            Some(_) => (own, self.place(workspace)?),
        };
        from.0.rename_new(&from.1, &to.0, &to.1)?;
        // Who wrote to it and has closed it since has left another stamp.
        let is_same = self.back.is_some()
            || !is_in_use(&to.0.path().join(&to.1))
                && holds_exactly(&to.0, &to.1, &self.expected, device).unwrap_or(false);
        self.done = Some([from, to]);
        if !is_same {
            self.put_back()?;
            return Ok(false);
        }
        let flushed = self.done.iter().flatten().try_for_each(|(folder, _)| folder.sync());
        let ended = flushed.and_then(|()| archive.probe_step("apply: renamed folder"));
        if ended.is_err() {
            self.put_back()?;
        }
        ended.map(|()| true)
    }

    /// Returns whether it goes, and does not come back.
    pub fn goes(&self) -> bool {
        self.back.is_none()
    }

    /// Returns whether it is where it was renamed to.
    pub fn is_moved(&self) -> bool {
        self.done.is_some()
    }

    /// Renames it back to where it was.
    ///
    /// # Errors
    /// Any error of the file system: then it is where it was renamed to.
    pub fn put_back(&mut self) -> io::Result<()> {
        let Some([from, to]) = &self.done else { return Ok(()) };
        to.0.rename_new(&to.1, &from.0, &from.1)?;
        let flushed = from.0.sync().and(to.0.sync());
        self.done = None;
        flushed
    }
}

/// Returns whether a process has a file in a folder open or mapped, or runs in it. Where that cannot be told it counts as
/// so; processes of others that may not be looked at do not.
fn is_in_use(folder: &Path) -> bool {
    let Ok(processes) = fs::read_dir("/proc") else { return true };
    let below = folder.join("").to_string_lossy().into_owned();
    let is_process = |name: &OsStr| name.as_encoded_bytes().iter().all(u8::is_ascii_digit);
    let leads_there = |link: &Path| fs::read_link(link).is_ok_and(|target| target.starts_with(folder));
    let maps_it = |maps: Vec<u8>| String::from_utf8_lossy(&maps).contains(&below);
    processes.flatten().filter(|entry| is_process(&entry.file_name())).map(|entry| entry.path()).any(|process| {
        let mut open = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
        leads_there(&process.join("cwd"))
            || open.any(|entry| leads_there(&entry.path()))
            || fs::read(process.join("maps")).is_ok_and(maps_it)
    })
}

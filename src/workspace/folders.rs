//! Folders that come back, go or get their mode back with a restore. Used by `execute` alone.
//!
//! Around the writing of the files in them: [`Folders::open_up`] lets the owner write where a mode forbids it,
//! [`shut_above`] finds those around them that do, [`Folders::make`] makes what is missing, [`Folders::remove`] removes what is to go, [`Folders::set_modes`] sets the modes.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use super::Workspace;
use super::read::split;
use crate::disk::Folder;
use crate::proposal::State;

/// The permissions that the owner needs to change the contents of a folder.
const OWNER: u32 = 0o700;
/// The permissions among them without which nothing in it can be made or removed.
const WRITE: u32 = 0o300;

/// The folders of one restore, by normalised path without the closing `/`.
pub struct Folders<'a> {
    workspace: &'a Workspace,
    /// The mode it has now and the one it gets; `None`: there is none.
    all: BTreeMap<&'a str, (Option<u32>, Option<u32>)>,
}

/// Returns the folders, not among these paths (normalised), into which they are written and that keep their own owner
/// from writing, each with its closing `/` and its state. Nothing keeps root.
pub fn shut_above<'p>(workspace: &Workspace, paths: impl Iterator<Item = &'p str>) -> BTreeMap<String, State> {
    let mut shut = BTreeMap::new();
    if rustix::process::geteuid().is_root() {
        return shut;
    }
    let paths: BTreeSet<&str> = paths.collect();
    for path in &paths {
        let mut above = split(path.trim_end_matches('/')).0;
        let (folder, mode) = loop {
            let folder = if above.is_empty() { "./".into() } else { format!("{above}/") };
            match workspace.read_archived(&folder).map(|read| read.state) {
                Ok(State::Folder { mode }) => break (folder, mode),
                // It is made in the one above it.
                Ok(_) if !above.is_empty() => above = split(above).0,
                // Writing there says why not.
                Ok(_) | Err(_) => break (folder, WRITE),
            }
        };
        if mode & WRITE != WRITE && !paths.contains(folder.as_str()) {
            shut.insert(folder, State::Folder { mode });
        }
    }
    shut
}

impl<'a> Folders<'a> {
    /// Collects these paths, each with its state now and after. Those of files are left out.
    pub fn new(workspace: &'a Workspace, states: impl Iterator<Item = (&'a str, &'a State, &'a State)>) -> Self {
        let mode = |state: &State| match state {
            State::Folder { mode } => Some(*mode),
            _ => None,
        };
        let folders = states.filter_map(|(path, now, after)| {
            let path = path.strip_suffix('/')?;
            Some((path, (mode(now), mode(after))))
        });
        Folders { workspace, all: folders.collect() }
    }

    /// Returns whether a folder of this path is made or removed.
    pub fn comes_or_goes(&self, path: &str) -> bool {
        self.all.get(path).is_some_and(|(now, after)| now.is_some() != after.is_some())
    }

    /// Returns whether a path lies in a folder that is removed, or names one.
    pub fn is_in_removed(&self, path: &str) -> bool {
        let gone = |folder: &str| matches!(self.all.get(folder), Some((Some(_), None)));
        gone(path) || path.match_indices('/').any(|(end, _)| gone(&path[..end]))
    }

    /// Lets the owner write into those that are there.
    ///
    /// # Errors
    /// Any error of the file system.
    pub fn open_up(&self) -> io::Result<()> {
        for (path, (now, _)) in &self.all {
            if let Some(mode) = now.filter(|mode| mode & OWNER != OWNER) {
                self.set_mode(path, mode | OWNER)?;
            }
        }
        Ok(())
    }

    /// Makes those that are missing, outermost first.
    ///
    /// # Errors
    /// Any error of the file system.
    pub fn make(&self) -> io::Result<()> {
        for (path, (now, after)) in &self.all {
            if let (None, Some(mode)) = (now, after) {
                let (above, name) = split(path);
                let above = self.above(above)?;
                above.make(name, OWNER)?;
                self.set_mode(path, mode | OWNER)?;
                above.sync()?;
            }
        }
        Ok(())
    }

    /// Removes those that are to go, innermost first, as far as they are empty; those that stay.
    pub fn remove(&self) -> Vec<String> {
        let gone = self.all.iter().rev().filter(|(_, (now, after))| now.is_some() && after.is_none());
        gone.filter(|(path, _)| self.remove_one(path).is_err()).map(|(path, _)| format!("{path}/")).collect()
    }

    fn remove_one(&self, path: &str) -> io::Result<()> {
        let (above, name) = split(path);
        let removed = self.above(above).and_then(|above| {
            above.remove_folder(name)?;
            above.sync()
        });
        match removed {
            // It went before, and a file may have come in its place or in that of one above it.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(()),
            other => other,
        }
    }

    /// Sets the modes of restored and remaining folders, innermost first.
    ///
    /// # Errors
    /// The first that failed; the others are set.
    pub fn set_modes(&self) -> io::Result<()> {
        self.each_mode(|_, after| after)
    }

    /// Undoes what was done to them, as far as it goes.
    ///
    /// # Errors
    /// The first that failed; the others are undone.
    pub fn put_back(&self) -> io::Result<()> {
        for (path, _) in self.all.iter().rev().filter(|(_, (now, after))| now.is_none() && after.is_some()) {
            // One that is not empty any more stays.
            let _ = self.remove_one(path);
        }
        for (path, _) in self.all.iter().filter(|(_, (now, after))| now.is_some() && after.is_none()) {
            let (above, name) = split(path);
            // Those that are still there stay as they are.
            let _ = self.above(above).and_then(|above| above.make(name, OWNER).and_then(|_| above.sync()));
        }
        self.each_mode(|now, _| now)
    }

    fn each_mode(&self, which: impl Fn(Option<u32>, Option<u32>) -> Option<u32>) -> io::Result<()> {
        let mut first = Ok(());
        for (path, (now, after)) in self.all.iter().rev() {
            if let Some(mode) = which(*now, *after) {
                let set = match self.set_mode(path, mode) {
                    Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                    set => set,
                };
                first = first.and(set);
            }
        }
        first
    }

    fn set_mode(&self, path: &str, mode: u32) -> io::Result<()> {
        let (above, name) = self.workspace.split_base(path);
        self.above(above)?.set_folder_mode(name, mode)
    }

    fn above(&self, path: &str) -> io::Result<Folder> {
        self.workspace.folder(path)
    }
}

//! Folders that come back, go or get their mode back with a restore. Used by `execute` alone.
//!
//! Around the writing of the files in them: [`Folders::open_up`] lets the owner write where a mode forbids it,
//! [`shut_above`] finds those around them that do, [`Folders::make`] makes what is missing, [`Folders::remove`] removes what is to go, [`Folders::set_modes`] sets the modes.
//! A folder that comes or goes whole is renamed: [`holds_exactly`] tells whether it may be.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;

use rustix::fs::{FileType, Stat};
use tokio_util::sync::CancellationToken;

use super::read::split;
use super::{Stamp, Workspace, state_of};
use crate::disk::{self, Folder};
use crate::proposal::State;
use crate::text::name::text_of;

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

/// The state that is expected at a path below a folder.
#[derive(Debug, Clone, Copy)]
pub struct Expected<'a> {
    /// The state.
    pub state: &'a State,
    /// The stamp of the file when that state was read; none: its bytes are read again.
    pub stamp: Option<Stamp>,
}

/// Returns whether a folder holds what is expected and nothing else, by the paths below it, the folder itself by `/`; all on
/// the file system of `device`. Where a part could not be read or removed later, or has another name, the folder does not.
///
/// # Errors
/// Any error of the file system.
pub fn holds_exactly(
    above: &Folder,
    name: &str,
    expected: &HashMap<&str, Expected<'_>>,
    device: u64,
) -> io::Result<bool> {
    let Some(stat) = above.stat(name)? else { return Ok(false) };
    if !is_open_folder(&stat, expected.get("/"), device) {
        return Ok(false);
    }
    let mut found = 1;
    Ok(holds_below(&above.enter(name)?, "", (expected, device), &mut found)? && found == expected.len())
}

fn holds_below(
    folder: &Folder,
    below: &str,
    (expected, device): (&HashMap<&str, Expected<'_>>, u64),
    found: &mut usize,
) -> io::Result<bool> {
    for name in folder.names()? {
        let Some(stat) = folder.stat(&name)? else { return Ok(false) };
        let path = format!("{below}{}", text_of(&name));
        let is_it = match disk::is(&stat, FileType::Directory) {
            true => {
                let path = path + "/";
                is_open_folder(&stat, expected.get(path.as_str()), device)
                    && holds_below(&folder.enter(&name)?, &path, (expected, device), found)?
            }
            false => match expected.get(path.as_str()) {
                Some(expected) => is_plain(&stat) && is_state(folder, &name, &stat, expected)?,
                None => false,
            },
        };
        if !is_it {
            return Ok(false);
        }
        *found += 1;
    }
    Ok(true)
}

/// Returns whether a folder is the expected one, and its owner may do anything in it.
fn is_open_folder(stat: &Stat, expected: Option<&Expected<'_>>, device: u64) -> bool {
    let mode = stat.st_mode & 0o7777;
    let is_expected = expected.is_some_and(|expected| *expected.state == State::Folder { mode });
    is_expected && mode & OWNER == OWNER && stat.st_dev == device && disk::is(stat, FileType::Directory)
}

/// Returns whether a file has one name, can be read, and runs as nobody else.
fn is_plain(stat: &Stat) -> bool {
    let is_link = disk::is(stat, FileType::Symlink);
    stat.st_nlink == 1 && (is_link || stat.st_mode & 0o6400 == 0o400)
}

fn is_state(folder: &Folder, name: &std::ffi::OsStr, stat: &Stat, expected: &Expected<'_>) -> io::Result<bool> {
    let is_file = matches!(expected.state, State::File { .. } | State::Large(_));
    if disk::is(stat, FileType::Symlink) {
        return Ok(!is_file && State::Link { target: folder.read_link(name)? } == *expected.state);
    }
    let has_mode = expected.state.mode() == Some(stat.st_mode & 0o7777);
    if !is_file || !has_mode || !disk::is(stat, FileType::RegularFile) {
        return Ok(false);
    }
    if let Some(stamp) = expected.stamp {
        return Ok(stamp == Stamp::of_stat(stat));
    }
    let file = folder.open_file(name)?;
    Ok(state_of(file, &folder.path().join(name), &CancellationToken::new())?.0 == *expected.state)
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

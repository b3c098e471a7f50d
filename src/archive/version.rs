//! The version file: one archived state of one file, under `<id>.<extension>`.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;
use tokio_util::sync::CancellationToken;

use super::Id;
use crate::disk::{self, Folder};
use crate::proposal::State;
use crate::workspace::state_of;

/// The extension of a version that records that there was no file.
const ABSENT: &str = "absent";
/// The extension of a version that records a folder. Its text is the folder's mode.
const FOLDER: &str = "nebula-folder";
/// Extensions longer than this are left out of a version's name, which must fit a file name.
const MAX_EXTENSION: usize = 200;
/// The longest text of a version of a folder.
const FOLDER_TEXT: u64 = 16;

/// One archived state of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// Its name; greater means later.
    pub id: Id,
    /// The file did not exist then.
    pub absent: bool,
    /// It was a folder then.
    pub folder: bool,
    /// It is one of the many in a listing; none: it is a file of its own.
    pub(super) listed: Option<Listed>,
    /// The file that holds it; of one in a listing it may be missing.
    pub file: PathBuf,
}

/// The place of a version in a listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Listed {
    /// The listing.
    pub listing: Id,
    /// The size of its state in bytes.
    pub size: u64,
}

/// Returns which of a path's versions, oldest first, belongs to a changeset: its newest one older than that.
pub fn version_before(versions: &[Version], changeset: Id) -> Option<&Version> {
    versions.iter().rev().find(|version| version.id < changeset)
}

impl Version {
    /// Returns the state that is archived, in the folder that its file lies in.
    ///
    /// # Errors
    /// When it is gone or cannot be read, or reading it is stopped.
    pub(super) fn state_in(&self, folder: &Folder, stop: &CancellationToken) -> io::Result<State> {
        if self.absent {
            return Ok(State::Absent);
        }
        let name = self.file.file_name().ok_or(io::ErrorKind::NotFound)?;
        let stat = folder.stat(name)?.ok_or(io::ErrorKind::NotFound)?;
        if disk::is(&stat, FileType::Symlink) {
            return Ok(State::Link { target: folder.read_link(name)? });
        }
        let file = folder.open_unreadable(name)?;
        if self.folder {
            let text = disk::read_open(&file, FOLDER_TEXT)?;
            let mode = std::str::from_utf8(&text).ok().and_then(|text| u32::from_str_radix(text.trim(), 8).ok());
            return mode.map(|mode| State::Folder { mode }).ok_or_else(|| io::ErrorKind::InvalidData.into());
        }
        Ok(state_of(file, &self.file, stop)?.0)
    }

    /// Returns the size in bytes; 0 for a version that records that there was no file.
    pub fn size(&self) -> u64 {
        self.listed.map_or_else(|| fs::symlink_metadata(&self.file).map_or(0, |m| m.size()), |listed| listed.size)
    }
}

/// Returns what a file of a version folder is.
pub(super) fn parse(folder: &Path, name: &str) -> Option<Version> {
    let (id, extension) = match name.split_once('.') {
        Some((id, extension)) => (id, Some(extension)),
        None => (name, None),
    };
    let is = |what| extension == Some(what);
    Some(Version { id: Id::parse(id)?, absent: is(ABSENT), folder: is(FOLDER), listed: None, file: folder.join(name) })
}

/// Returns the name of a version of the file at `path`.
pub(super) fn name(id: Id, path: &str, state: &State) -> String {
    if state.is_absent() {
        return format!("{id}.{ABSENT}");
    }
    if let State::Folder { .. } = state {
        return format!("{id}.{FOLDER}");
    }
    let extension = Path::new(path).extension().and_then(|e| e.to_str());
    match extension.filter(|e| !e.is_empty() && e.len() <= MAX_EXTENSION && !e.contains('\0')) {
        Some(extension @ (ABSENT | FOLDER)) => format!("{id}.{extension}-file"),
        Some(extension) => format!("{id}.{extension}"),
        None => id.to_string(),
    }
}

/// Returns the text of a version that says: there was a folder of this mode.
pub(super) fn folder_text(mode: u32) -> String {
    format!("{mode:o}\n")
}

/// Returns the versions in a folder, oldest first. Files that are none are left out.
pub(super) fn list(folder: &Folder) -> io::Result<Vec<Version>> {
    let names = folder.names()?;
    let mut found: Vec<Version> = names.iter().filter_map(|n| parse(folder.path(), n.to_str()?)).collect();
    found.sort_by_key(|v| v.id);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_carry_the_last_extension() {
        let id = Id::after(Id::MIN);
        let file = State::file(&b""[..]);
        let name = |path, state: &State| super::name(id, path, state).strip_prefix(&id.to_string()).map(str::to_string);
        assert_eq!(name("src/main.py", &file).as_deref(), Some(".py"));
        assert_eq!(name("a.tar.gz", &file).as_deref(), Some(".gz"));
        assert_eq!(name(".gitignore", &file).as_deref(), Some(""));
        assert_eq!(name("d.x/Makefile", &file).as_deref(), Some(""));
        assert_eq!(name("gone.absent", &file).as_deref(), Some(".absent-file"));
        assert_eq!(name("src/main.py", &State::Absent).as_deref(), Some(".absent"));
        assert!(parse(Path::new("f"), &format!("{id}.absent")).expect("a version").absent);
        assert!(!parse(Path::new("f"), &format!("{id}.absent-file")).expect("a version").absent);
        assert!(parse(Path::new("f"), "notes.txt").is_none());
        assert_eq!(name("x.nebula-folder", &file).as_deref(), Some(".nebula-folder-file"));
        assert_eq!(name("x/", &State::Folder { mode: 0o755 }).as_deref(), Some(".nebula-folder"));
        assert!(parse(Path::new("f"), &format!("{id}.nebula-folder")).expect("a version").folder);
    }
}

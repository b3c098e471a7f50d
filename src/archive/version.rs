//! The version file: one archived state of one file, under `<id>.<extension>`.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::Id;
use crate::proposal::State;

/// The extension of a version that says: there was no file.
const ABSENT: &str = "absent";
/// Extensions longer than this are left out of a version's name, which must fit a file name.
const MAX_EXTENSION: usize = 200;

/// One archived state of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// Its name; greater means later.
    pub id: Id,
    /// The file did not exist then.
    pub absent: bool,
    /// The file that holds it.
    pub file: PathBuf,
}

impl Version {
    /// The state that is archived.
    ///
    /// # Errors
    /// When it is gone or cannot be read.
    pub(super) fn state(&self) -> io::Result<State> {
        if self.absent {
            return Ok(State::Absent);
        }
        let meta = fs::symlink_metadata(&self.file)?;
        if meta.is_symlink() {
            return Ok(State::Link { target: fs::read_link(&self.file)? });
        }
        if !meta.is_file() {
            return Err(io::Error::other("it is no file"));
        }
        let bytes = fs::read(&self.file)?;
        Ok(State::File { bytes: bytes.into(), mode: Some(meta.permissions().mode() & 0o7777) })
    }

    /// Size in bytes; 0 for one that says there was no file.
    pub fn size(&self) -> u64 {
        fs::symlink_metadata(&self.file).map_or(0, |m| m.size())
    }
}

/// What a file of a version folder is.
pub(super) fn parse(folder: &Path, name: &str) -> Option<Version> {
    let (id, extension) = match name.split_once('.') {
        Some((id, extension)) => (id, Some(extension)),
        None => (name, None),
    };
    Some(Version { id: Id::parse(id)?, absent: extension == Some(ABSENT), file: folder.join(name) })
}

/// The name of a version of the file at `path`.
pub(super) fn name(id: Id, path: &str, state: &State) -> String {
    if state.is_absent() {
        return format!("{id}.{ABSENT}");
    }
    let extension = Path::new(path).extension().and_then(|e| e.to_str());
    match extension.filter(|e| !e.is_empty() && e.len() <= MAX_EXTENSION) {
        Some(ABSENT) => format!("{id}.{ABSENT}-file"),
        Some(extension) => format!("{id}.{extension}"),
        None => id.to_string(),
    }
}

/// The versions in a folder, oldest first. Files that are none are left out; a folder that is not there has none.
pub(super) fn list(folder: &Path) -> io::Result<Vec<Version>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(e),
    };
    let mut found = Vec::new();
    for entry in entries {
        found.extend(entry?.file_name().to_str().and_then(|name| parse(folder, name)));
    }
    found.sort_by_key(|v: &Version| v.id);
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
    }
}

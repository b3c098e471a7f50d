//! Versions of staged states, before a changeset names them.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::archive::staging::{JournalLine, StagedKind};
use crate::archive::{RecordedFile, version};
use crate::disk::{self, Folder};

/// The versions of staged states.
#[derive(Default)]
pub(super) struct NamedStates {
    pub files: Vec<RecordedFile>,
    /// The versions that are files of their own, each with the place of its change.
    pub versions: Vec<(usize, PathBuf)>,
    /// Their folders.
    pub folders: BTreeSet<PathBuf>,
}

impl NamedStates {
    /// Removes the versions, which no changeset names; what stays is one that nothing names.
    pub fn remove(&self) {
        self.versions.iter().for_each(|(_, version)| drop(fs::remove_file(version)));
        // One that has other versions stays.
        self.folders.iter().for_each(|folder| drop(fs::remove_dir(folder)));
    }
}

/// Makes a version of a staged state, which gets its name once it is whole. `in_use`: what was not copied by the keeper may
/// be written by its command yet.
pub(super) fn name_version(
    archive: &Folder,
    (folder, in_use): (&Path, bool),
    entry: &JournalLine,
    version: &Path,
) -> io::Result<()> {
    let (text, staged) = match (&entry.kind, &entry.staged) {
        (StagedKind::Absent, _) => (String::new(), None),
        (StagedKind::Folder, _) => (version::folder_text(entry.mode & 0o7777), None),
        (_, Some(name)) => (String::new(), Some(folder.join(name))),
        (_, None) => return Err(io::ErrorKind::NotFound.into()),
    };
    let Some(staged) = staged else {
        let write = |temp: &str| archive.write_new(temp, text.as_bytes(), Some(0o600));
        return named_when_whole(archive, version, write);
    };
    let meta = fs::symlink_metadata(&staged)?;
    if meta.is_symlink() {
        return std::os::unix::fs::symlink(fs::read_link(&staged)?, version);
    }
    // A file that has another name may still be written by another program.
    let is_free = entry.inode == JournalLine::COPY || meta.nlink() == 1 && !in_use;
    let linked = is_free && fs::hard_link(&staged, version).is_ok();
    if !linked {
        let from = open_staged(&staged)?;
        let copy = |temp: &str| disk::copy_new(&from, &archive.path().join(temp), entry.mode & 0o1777);
        return named_when_whole(archive, version, copy);
    } else if meta.mode() & 0o7777 != entry.mode & 0o1777 {
        fs::set_permissions(version, fs::Permissions::from_mode(entry.mode & 0o1777))?;
    }
    Ok(())
}

/// Makes a file in the archive's own folder by `write`, then gives it the name of its version.
fn named_when_whole(archive: &Folder, version: &Path, write: impl FnOnce(&str) -> io::Result<File>) -> io::Result<()> {
    let temp = disk::temp_name();
    let (folder, name) = (disk::parent(version), version.file_name().ok_or(io::ErrorKind::InvalidInput)?);
    let folder = archive.enter(folder.file_name().ok_or(io::ErrorKind::InvalidInput)?)?;
    write(&temp)?;
    if let Err(error) = archive.rename_new(&temp, &folder, name) {
        // The first error is the one worth telling; should it stay, the next start sweeps it.
        let _ = archive.remove_file(&temp);
        return Err(error);
    }
    Ok(())
}

/// Opens a staged file to be read. Where its mode keeps its owner out, it may be read for that moment.
pub(super) fn open_staged(staged: &Path) -> io::Result<File> {
    let refused = match disk::open_file(staged, disk::Links::Refuse) {
        Err(refused) if refused.kind() == io::ErrorKind::PermissionDenied => refused,
        opened => return opened,
    };
    let mode = fs::symlink_metadata(staged)?.mode() & 0o7777;
    if mode & 0o400 != 0 {
        return Err(refused);
    }
    fs::set_permissions(staged, fs::Permissions::from_mode(mode | 0o400))?;
    let opened = disk::open_file(staged, disk::Links::Refuse);
    fs::set_permissions(staged, fs::Permissions::from_mode(mode))?;
    opened
}

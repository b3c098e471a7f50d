//! Replaces, makes and removes workspace files, atomically. Named only by `apply`.
//!
//! A write has two halves: [`stage`] puts the new state into a temporary file beside its target, [`Staged::commit`]
//! renames it into place. Between them the temporary files of a whole proposal are flushed together.

use std::fs::{self, DirBuilder, File, Metadata};
use std::io;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Gid, RenameFlags, Uid, fchown, renameat_with};
use rustix::io::Errno;

use super::{Access, Workspace, normalise};
use crate::disk;
use crate::proposal::State;

/// A state that is ready to be put in place.
#[derive(Debug)]
pub struct Staged {
    target: PathBuf,
    step: Step,
    /// Folders that were made for it, outermost first.
    made: Vec<PathBuf>,
}

#[derive(Debug)]
enum Step {
    Replace(PathBuf),
    Make(PathBuf),
    Remove,
}

/// Prepares `after` at a normalised path where `now` is. The file handed back must be flushed before the commit.
///
/// # Errors
/// Whatever the disk says; nothing is left behind then.
pub fn stage(workspace: &Workspace, path: &str, now: &State, after: &State) -> io::Result<(Staged, Option<File>)> {
    let target = workspace.full(path);
    if after.is_absent() {
        return Ok((Staged { target, step: Step::Remove, made: Vec::new() }, None));
    }
    let folder = disk::parent(&target).to_path_buf();
    let mut made = Vec::new();
    let temp = disk::temp_path(&folder);
    let written = make_folders(&folder, &mut made).and_then(|()| write_temp(&temp, &target, now, after));
    let step = if now.is_absent() { Step::Make(temp) } else { Step::Replace(temp) };
    let staged = Staged { target, step, made };
    match written {
        Ok(file) => Ok((staged, file)),
        Err(error) => {
            staged.discard();
            Err(error)
        }
    }
}

fn write_temp(temp: &Path, target: &Path, now: &State, after: &State) -> io::Result<Option<File>> {
    match after {
        State::Link { target } => symlink(target, temp).map(|()| None),
        State::File { bytes, mode } => {
            let kept = match now {
                State::File { mode, .. } => *mode,
                _ => None,
            };
            let file = disk::write_new(temp, bytes, mode.or(kept))?;
            if let Ok(old) = fs::symlink_metadata(target)
                && old.is_file()
            {
                keep_owner(&file, &old);
            }
            Ok(Some(file))
        }
        State::Absent => Ok(None),
    }
}

/// Gives a new file the owner of the one it replaces. Where that is not ours to give it stays as it is, as with any
/// editor that saves by renaming.
fn keep_owner(file: &File, old: &Metadata) {
    let Ok(new) = file.metadata() else { return };
    if (new.uid(), new.gid()) == (old.uid(), old.gid()) {
        return;
    }
    if fchown(file, Some(Uid::from_raw(old.uid())), Some(Gid::from_raw(old.gid()))).is_ok() {
        // Changing the owner may have cleared bits.
        let _ = file.set_permissions(new.permissions());
    }
}

/// Makes the missing folders above a file, naming each in `made`.
fn make_folders(folder: &Path, made: &mut Vec<PathBuf>) -> io::Result<()> {
    let missing: Vec<_> = folder.ancestors().take_while(|f| f.symlink_metadata().is_err()).collect();
    for folder in missing.into_iter().rev() {
        match DirBuilder::new().create(folder) {
            Ok(()) => made.push(folder.to_path_buf()),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

impl Staged {
    /// Puts the state in place. A file that appeared where none was is not overwritten.
    ///
    /// # Errors
    /// Whatever the disk says; the target then is as it was.
    pub fn commit(&self) -> io::Result<()> {
        match &self.step {
            Step::Replace(temp) => fs::rename(temp, &self.target),
            Step::Make(temp) => rename_new(temp, &self.target),
            Step::Remove => fs::remove_file(&self.target),
        }
    }

    /// The folders to flush after the commit.
    pub fn folders(&self) -> impl Iterator<Item = PathBuf> + '_ {
        let above = self.made.iter().map(|m| disk::parent(m).to_path_buf());
        above.chain([disk::parent(&self.target).to_path_buf()])
    }

    /// The folders that were made for it, outermost first, as normalised paths.
    pub fn made(&self, workspace: &Workspace) -> Vec<String> {
        self.made.iter().map(|folder| normalise(workspace.root(), folder)).collect()
    }

    /// Takes back the preparation: the temporary file, and folders made that are still empty.
    pub fn discard(&self) {
        // What cannot be removed now is swept at the next start.
        if let Step::Replace(temp) | Step::Make(temp) = &self.step {
            let _ = fs::remove_file(temp);
        }
        for folder in self.made.iter().rev() {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Renames, but never over something.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            // A file system without such renames: a hard link refuses an existing name too.
            fs::hard_link(from, to)?;
            fs::remove_file(from)
        }
        other => Ok(other?),
    }
}

/// Puts a state back in place, flushed: after a failure, from what was read before.
///
/// # Errors
/// Whatever the disk says.
pub fn put_back(workspace: &Workspace, path: &str, before: &State) -> io::Result<()> {
    let target = workspace.full(path);
    if before.is_absent() {
        match fs::remove_file(&target) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
            _ => return disk::sync_folder(disk::parent(&target)),
        }
    }
    let temp = disk::temp_path(disk::parent(&target));
    let written = write_temp(&temp, &target, before, before)?;
    let done = written.map_or(Ok(()), |file| file.sync_all()).and_then(|()| fs::rename(&temp, &target));
    if let Err(error) = done {
        // What cannot be removed now is swept at the next start.
        let _ = fs::remove_file(&temp);
        return Err(error);
    }
    disk::sync_folder(disk::parent(&target))
}

/// Removes folders (normalised paths) that are empty, in this order; those that went. One that is not empty, or not a
/// folder any more, stays, and nothing is wrong with that.
pub fn remove_empty<'a>(workspace: &Workspace, folders: impl Iterator<Item = &'a String>) -> Vec<String> {
    let inside = |folder: &&String| workspace.resolve(folder, Access::Folder).is_ok_and(|real| real == **folder);
    let mut gone: Vec<String> = Vec::new();
    for folder in folders.filter(inside) {
        if fs::remove_dir(workspace.full(folder)).is_ok() {
            gone.push(folder.clone());
        }
    }
    gone
}

/// Removes the temporary files of processes that are gone from a folder of the workspace; how many.
pub fn sweep(folder: &Path) -> usize {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let left_over = |e: &fs::DirEntry| e.file_name().to_str().is_some_and(disk::is_left_over);
    entries.flatten().filter(left_over).filter(|e| fs::remove_file(e.path()).is_ok()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_appeared_is_not_overwritten() {
        let dir = tempfile::tempdir().expect("a folder");
        let w = Workspace::open(dir.path()).expect("open");
        let (staged, _) = stage(&w, "d/a", &State::Absent, &State::file(&b"new"[..])).expect("staged");
        fs::write(dir.path().join("d/a"), "theirs").expect("written");
        assert!(staged.commit().is_err());
        staged.discard();
        assert_eq!(fs::read(dir.path().join("d/a")).expect("there"), b"theirs");
        assert_eq!(fs::read_dir(dir.path().join("d")).expect("there").count(), 1);
    }

    #[test]
    fn discarding_leaves_no_trace() {
        let dir = tempfile::tempdir().expect("a folder");
        let w = Workspace::open(dir.path()).expect("open");
        let (staged, _) = stage(&w, "d/e/a", &State::Absent, &State::file(&b"new"[..])).expect("staged");
        staged.discard();
        assert_eq!(fs::read_dir(dir.path()).expect("there").count(), 0);
    }
}

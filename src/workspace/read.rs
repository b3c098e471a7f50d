//! Reads bytes with a stamp, so that "changed since you read it" can be decided.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::Path;

use rustix::fs::FileType;
use tokio_util::sync::CancellationToken;

use super::large::{LARGEST_WHOLE, state_of};
use super::stamp::{Stamp, wide};
use super::{Access, PathError, Workspace};
use crate::disk::{self, Folder, Links};
use crate::proposal::{FileChange, State};

/// The number of bytes examined to recognise text.
const PROBE: usize = 8 << 10;
/// The most folders that a reader holds open.
const MOST_OPEN: usize = 64;

/// The state of a path when it was read, and the stamp of that moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Read {
    /// The state.
    pub state: State,
    /// Its stamp; `None`: nothing was there.
    pub stamp: Option<Stamp>,
}

/// A path that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The path is not a regular file.
    #[error("{path} is {kind}, not a regular file")]
    NotAFile {
        /// The path as requested.
        path: String,
        /// The kind of the file.
        kind: &'static str,
    },
    /// It may only be streamed.
    #[error("{path} is too large to be read whole ({size} bytes)")]
    TooLarge {
        /// The path as requested.
        path: String,
        /// The size in bytes.
        size: u64,
    },
    /// The disk refused.
    #[error("cannot read {path}: {source}")]
    Io {
        /// The path as requested.
        path: String,
        /// The error of the file system.
        source: io::Error,
    },
}

/// Reads paths one after the other. The folders above the last one stay open, so that the next is followed from the
/// nearest of them.
pub struct PathReader<'a> {
    workspace: &'a Workspace,
    /// Folders on the way to the last path, outermost first, each with its normalised path.
    open: VecDeque<(String, Folder)>,
}

impl PathReader<'_> {
    /// Reads as [`Workspace::read`] does.
    ///
    /// # Errors
    /// As there.
    pub fn read(&mut self, path: &str) -> Result<Read, ReadError> {
        self.read_by(path, |folder, name| folder.open_file(name))
    }

    /// Returns the stamp of a normalised path as [`Workspace::stamp`] does.
    pub fn stamp(&mut self, path: &str) -> Option<Stamp> {
        let (folder, name) = split(path);
        self.folder(folder).ok()?.stat(name).ok()?.map(|stat| Stamp::of_stat(&stat))
    }

    fn read_by(&mut self, path: &str, open: OpenFile) -> Result<Read, ReadError> {
        let (folder, name) = split(path);
        let workspace = self.workspace;
        match self.folder(folder) {
            Ok(folder) => read_in((folder, name.as_ref()), path, open, &workspace.stop),
            Err(e) if is_absent(&e) => Ok(ABSENT),
            Err(source) => Err(ReadError::Io { path: path.into(), source }),
        }
    }

    /// Reads as [`Workspace::read_archived`] does.
    ///
    /// # Errors
    /// As there.
    pub fn read_archived(&mut self, path: &str) -> Result<Read, ReadError> {
        let Some(name) = path.strip_suffix('/') else {
            return match self.read_by(path, |folder, name| folder.open_unreadable(name)) {
                Err(ReadError::NotAFile { kind: "a folder", .. }) => Ok(ABSENT),
                // The target of the link is another path's.
                Err(ReadError::Io { source, .. }) if disk::is_linked_folder(&source) => Ok(ABSENT),
                read => read,
            };
        };
        let fail = |source| ReadError::Io { path: path.into(), source };
        let (above, last) = self.workspace.split_base(name);
        let stat = match self.folder(above) {
            Ok(base) if last == "." => base.mode().map(Some),
            Ok(above) => above.stat(last).map(|stat| {
                let folder = stat.filter(|stat| disk::is(stat, FileType::Directory));
                folder.map(|stat| stat.st_mode)
            }),
            Err(e) => Err(e),
        };
        match stat {
            Ok(Some(mode)) => Ok(Read { state: State::Folder { mode: mode & 0o7777 }, stamp: None }),
            Ok(None) => Ok(ABSENT),
            Err(e) if is_absent(&e) || disk::is_linked_folder(&e) => Ok(ABSENT),
            Err(e) => Err(fail(e)),
        }
    }

    /// Returns the folder at a normalised path, opened without following a link.
    fn folder(&mut self, path: &str) -> io::Result<&Folder> {
        let is_above = |open: &str| match path.strip_prefix(open) {
            Some(_) if open.is_empty() => !path.starts_with('/'),
            Some(rest) => rest.is_empty() || rest.starts_with('/'),
            None => false,
        };
        while self.open.back().is_some_and(|(open, _)| !is_above(open)) {
            self.open.pop_back();
        }
        if self.open.is_empty() {
            let (base, folder, _) = self.workspace.open_base(path)?;
            self.open.push_back((base, folder));
        }
        let mut end = self.open.back().map_or(0, |(open, _)| open.len());
        while end < path.len() {
            let begin = if end == 0 { 0 } else { end + 1 };
            end = path[begin..].find('/').map_or(path.len(), |slash| begin + slash);
            let above = &self.open[self.open.len() - 1].1;
            let folder = above.enter(&path[begin..end])?;
            if self.open.len() == MOST_OPEN {
                self.open.pop_front();
            }
            self.open.push_back((path[..end].to_string(), folder));
        }
        Ok(&self.open[self.open.len() - 1].1)
    }
}

impl Workspace {
    /// Returns what is at a normalised path now. A link there is read as a link; nothing there is [`State::Absent`].
    ///
    /// # Errors
    /// When it is neither file nor link, a folder above it is a link, or it cannot be read.
    pub fn read(&self, path: &str) -> Result<Read, ReadError> {
        self.reader().read(path)
    }

    /// Returns a reader of several paths.
    pub fn reader(&self) -> PathReader<'_> {
        PathReader { workspace: self, open: VecDeque::new() }
    }

    /// Reads as [`Workspace::read`] does, for whoever wants the bytes: a file that is too large to be held is not read
    /// at all.
    ///
    /// # Errors
    /// As there, and when it is too large.
    pub fn read_whole(&self, path: &str) -> Result<Read, ReadError> {
        match self.stamp(path).map(|stamp| stamp.size()) {
            Some(size) if size > LARGEST_WHOLE => Err(ReadError::TooLarge { path: path.into(), size }),
            _ => self.read(path),
        }
    }

    /// Returns what is at a path that [`Workspace::resolve_archived`] gives: a path that ends in `/` is of the folder
    /// itself, and any other is not of a folder, which counts as [`State::Absent`], as does what lies below a link. A file
    /// whose mode keeps its owner out is read all the same.
    ///
    /// # Errors
    /// As [`Workspace::read`].
    pub fn read_archived(&self, path: &str) -> Result<Read, ReadError> {
        self.reader().read_archived(path)
    }

    /// Reads as [`Workspace::read_archived`] does, for a restore: a pipe, socket or device holds no bytes and counts as
    /// nothing.
    ///
    /// # Errors
    /// As there.
    pub fn read_to_restore(&self, path: &str) -> Result<Read, ReadError> {
        match self.read_archived(path) {
            Err(ReadError::NotAFile { .. }) if self.special(path).is_some() => Ok(ABSENT),
            read => read,
        }
    }

    /// Returns what kind of special file is at a normalised path, and the folder it is in; none: it is no pipe, socket
    /// or device.
    pub(super) fn special(&self, path: &str) -> Option<(Folder, &'static str)> {
        let (above, name) = split(path.trim_end_matches('/'));
        let folder = self.folder(above).ok()?;
        let stat = folder.stat(name).ok()??;
        let plain = [FileType::RegularFile, FileType::Symlink, FileType::Directory];
        (!plain.iter().any(|kind| disk::is(&stat, *kind))).then(|| (folder, disk::kind_of_stat(&stat)))
    }

    /// Returns the folder at a normalised path, opened without following a link.
    ///
    /// # Errors
    /// When there is none, it or one on the way is a link, or it lies outside the root where nothing is archived.
    pub fn folder(&self, path: &str) -> io::Result<Folder> {
        let (_, base, rest) = self.open_base(path)?;
        base.descend(Path::new(rest))
    }

    /// Returns what is at an absolute path, outside the workspace too: for reads that the person approved.
    ///
    /// # Errors
    /// As [`Workspace::read_whole`].
    pub fn read_outside(&self, path: &Path) -> Result<Read, ReadError> {
        let given = path.to_string_lossy();
        let fail = |source| ReadError::Io { path: given.to_string(), source };
        let name = path.file_name().ok_or_else(|| fail(io::ErrorKind::InvalidFilename.into()))?;
        match Folder::open(disk::parent(path)) {
            Ok(folder) => match folder.stat(name) {
                Ok(Some(stat)) if Stamp::of_stat(&stat).size() > LARGEST_WHOLE => {
                    Err(ReadError::TooLarge { path: given.to_string(), size: Stamp::of_stat(&stat).size() })
                }
                _ => read_in((&folder, name), &given, |folder, name| folder.open_file(name), &self.stop),
            },
            Err(e) if is_absent(&e) => Ok(ABSENT),
            Err(e) => Err(fail(e)),
        }
    }

    /// Returns what is at a path that a session knows: one in the workspace, or an absolute one that the person let it
    /// read.
    ///
    /// # Errors
    /// As [`Workspace::read_whole`].
    pub fn read_known(&self, path: &str) -> Result<Read, ReadError> {
        match Path::new(path) {
            outside if outside.is_absolute() => self.read_outside(outside),
            _ => self.read_whole(path),
        }
    }

    /// Returns the text of a small file that nebula itself reads for its work: rules, templates, prompts. `None` where
    /// there is none.
    ///
    /// # Errors
    /// When it leads out of the workspace or into what is protected, is no regular file, is larger than `cap` bytes or
    /// is no text: in words that begin with its path.
    pub fn read_own(&self, path: &str, cap: u64) -> Result<Option<String>, String> {
        let real = match self.resolve(path, Access::File) {
            Ok(real) => real,
            Err(PathError::BelowAFile { .. }) => return Ok(None),
            Err(PathError::Protected { .. }) if self.is_own(path) => path.to_string(),
            Err(error) => return Err(error.to_string()),
        };
        match disk::read_text(&self.full(&real), cap, Links::Refuse) {
            Ok(text) => Ok(Some(text)),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(format!("{path}: {error}")),
        }
    }

    /// Returns the names in a folder that nebula itself reads files from, sorted; none where there is no such folder.
    ///
    /// # Errors
    /// When it leads out of the workspace or into what is protected, or cannot be listed.
    pub fn names_own(&self, path: &str) -> Result<Vec<String>, String> {
        let real = match self.resolve(path, Access::Folder) {
            Ok(real) => real,
            Err(PathError::Missing { .. } | PathError::BelowAFile { .. }) => return Ok(Vec::new()),
            Err(PathError::Protected { .. }) if self.is_own(path) => path.to_string(),
            Err(error) => return Err(error.to_string()),
        };
        let entries = match fs::read_dir(self.full(&real)) {
            Ok(entries) => entries,
            Err(error) if is_absent(&error) => return Ok(Vec::new()),
            Err(error) => return Err(format!("{path}: {error}")),
        };
        let mut names: Vec<String> = entries.flatten().filter_map(|e| e.file_name().into_string().ok()).collect();
        names.sort();
        Ok(names)
    }

    /// Returns whether a path is meant by its words alone, without a link in it, in the workspace's own `.nebula`:
    /// protected where the workspace is the home folder, and nebula's to read all the same.
    fn is_own(&self, path: &str) -> bool {
        let full = self.full(path);
        // A path that does not exist is judged by the nearest folder that does.
        let there = full.ancestors().find(|a| a.symlink_metadata().is_ok());
        path.starts_with(".nebula/") && there.is_some_and(|a| a.canonicalize().is_ok_and(|real| real == *a))
    }

    /// Notes in each change of a file how many other names (hard links) the file has that is replaced.
    pub fn note_other_names(&self, changes: &mut [FileChange]) {
        for change in changes.iter_mut().filter(|change| change.before.mode().is_some() && !change.after.is_absent()) {
            let (folder, name) = split(&change.path);
            let stat = self.folder(folder).ok().and_then(|folder| folder.stat(name).ok()?);
            let names = stat.filter(|stat| disk::is(stat, FileType::RegularFile)).map_or(0, |stat| wide(stat.st_nlink));
            change.other_names = usize::try_from(names).unwrap_or(0).saturating_sub(1);
        }
    }

    /// Returns the stamp of a normalised path; `None` when nothing is there or it cannot be looked at.
    pub fn stamp(&self, path: &str) -> Option<Stamp> {
        self.reader().stamp(path)
    }
}

/// A path that does not exist.
const ABSENT: Read = Read { state: State::Absent, stamp: None };

/// Returns a normalised path's folder and name; the folder of a name alone is empty.
pub(super) fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// Opens the file of a name in a folder.
type OpenFile = fn(&Folder, &OsStr) -> io::Result<File>;

/// Returns what has a name in a folder; `path` is how it is called in errors.
fn read_in(
    (folder, name): (&Folder, &OsStr),
    path: &str,
    open: OpenFile,
    stop: &CancellationToken,
) -> Result<Read, ReadError> {
    let fail = |source| ReadError::Io { path: path.into(), source };
    if name.is_empty() {
        return Err(ReadError::NotAFile { path: path.into(), kind: "a folder" });
    }
    let Some(stat) = folder.stat(name).or_else(|e| if is_absent(&e) { Ok(None) } else { Err(fail(e)) })? else {
        return Ok(ABSENT);
    };
    if disk::is(&stat, FileType::Symlink) {
        let target = folder.read_link(name).map_err(fail)?;
        return Ok(Read { state: State::Link { target }, stamp: Some(Stamp::of_stat(&stat)) });
    }
    if !disk::is(&stat, FileType::RegularFile) {
        return Err(ReadError::NotAFile { path: path.into(), kind: disk::kind_of_stat(&stat) });
    }
    // A file may have become a link or a pipe by now: neither is followed nor waited for.
    let file = match open(folder, name) {
        Ok(file) => file,
        Err(e) if is_absent(&e) => return Ok(ABSENT),
        Err(e) => return Err(fail(e)),
    };
    let (state, stamp) = state_of(file, &folder.path().join(name), stop).map_err(fail)?;
    Ok(Read { state, stamp: Some(stamp) })
}

/// Returns whether the error says that nothing is there, or below a file, which comes to the same. Below a linked
/// folder something may be.
pub(super) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) && !disk::is_linked_folder(error)
}

/// Returns whether bytes look like text, by their beginning: UTF-16 with a byte order mark, or no NUL byte.
pub fn is_text(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(PROBE)];
    start.starts_with(&[0xff, 0xfe]) || start.starts_with(&[0xfe, 0xff]) || !start.contains(&0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_other_names_of_a_file_that_is_replaced_are_counted() {
        let dir = tempfile::tempdir().expect("a folder");
        let w = Workspace::open(dir.path()).expect("open");
        for (name, text) in [("one", "1"), ("three", "3")] {
            fs::write(dir.path().join(name), text).expect("written");
        }
        for name in ["b", "c"] {
            fs::hard_link(dir.path().join("three"), dir.path().join(name)).expect("linked");
        }
        let change = |path: &str, after| FileChange::new(path, w.read(path).expect("read").state, after, "", &[]);
        let new = || State::file(&b"new"[..]);
        let mut changes =
            [change("one", new()), change("three", new()), change("c", State::Absent), change("none", new())];
        w.note_other_names(&mut changes);
        assert_eq!(changes.map(|change| change.other_names), [0, 2, 0, 0]);
    }

    #[test]
    fn reads_say_what_is_there() {
        let dir = tempfile::tempdir().expect("a folder");
        let w = Workspace::open(dir.path()).expect("open");
        assert_eq!(w.read("none").expect("absent"), Read { state: State::Absent, stamp: None });
        fs::write(dir.path().join("a"), "bytes").expect("written");
        let first = w.read("a").expect("read");
        assert_eq!(first.state.text(), Some("bytes"));
        assert_eq!(w.stamp("a"), first.stamp);
        fs::write(dir.path().join("a"), "other!").expect("written");
        assert_ne!(w.stamp("a"), first.stamp);
        std::os::unix::fs::symlink("nowhere", dir.path().join("l")).expect("linked");
        assert_eq!(w.read("l").expect("read").state, State::Link { target: "nowhere".into() });
        assert!(matches!(w.read(""), Err(ReadError::NotAFile { kind: "a folder", .. })));
        assert!(w.read("a/below").expect("absent").state.is_absent());
    }
}

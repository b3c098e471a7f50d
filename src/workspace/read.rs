//! Bytes with a stamp, so that "changed since you read it" can be told.

use std::fs::{self, Metadata, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::OFlags;

use super::{Access, PathError, Workspace};
use crate::disk::{self, Links, kind_of};
use crate::proposal::State;

/// Bytes looked at to tell text from anything else.
const PROBE: usize = 8 << 10;

/// What a path was when it was read, and the stamp of that moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Read {
    /// What was there.
    pub state: State,
    /// Its stamp; `None`: nothing was there.
    pub stamp: Option<Stamp>,
}

/// Tells cheaply whether a file was touched: device, inode, size and times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    fn of(meta: &Metadata) -> Self {
        Stamp {
            device: meta.dev(),
            inode: meta.ino(),
            size: meta.size(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        }
    }

    /// Size in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// When its bytes were changed last: unix milliseconds.
    pub fn modified(&self) -> i64 {
        self.modified.0.saturating_mul(1000).saturating_add(self.modified.1 / 1_000_000)
    }
}

/// A path that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Not a regular file.
    #[error("{path} is {kind}, not a regular file")]
    NotAFile {
        /// As asked.
        path: String,
        /// What it is.
        kind: &'static str,
    },
    /// The disk refused.
    #[error("cannot read {path}: {source}")]
    Io {
        /// As asked.
        path: String,
        /// What the disk said.
        source: io::Error,
    },
}

impl Workspace {
    /// What is at a normalised path now. A link there is read as a link; nothing there is [`State::Absent`].
    ///
    /// # Errors
    /// When it is neither file nor link, or cannot be read.
    pub fn read(&self, path: &str) -> Result<Read, ReadError> {
        read_at(&self.full(path), path)
    }

    /// What is at an absolute path, outside the workspace too: for reads that the person approved.
    ///
    /// # Errors
    /// As [`Workspace::read`].
    pub fn read_outside(&self, path: &Path) -> Result<Read, ReadError> {
        read_at(path, &path.to_string_lossy())
    }

    /// The text of a small file that nebula itself reads for its work: rules, templates, prompts. `None` where there is
    /// none.
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

    /// The names in a folder that nebula itself reads files from, sorted; none where there is no such folder.
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

    /// Whether a path is meant by its words alone, without a link in it, in the workspace's own `.nebula`: protected where the
    /// workspace is the home folder, and nebula's to read all the same.
    fn is_own(&self, path: &str) -> bool {
        path.starts_with(".nebula/") && self.full(path).canonicalize().is_ok_and(|real| real == self.full(path))
    }

    /// The stamp of a normalised path; `None` when nothing is there or it cannot be looked at.
    pub fn stamp(&self, path: &str) -> Option<Stamp> {
        fs::symlink_metadata(self.full(path)).ok().map(|m| Stamp::of(&m))
    }
}

fn read_at(full: &Path, name: &str) -> Result<Read, ReadError> {
    let fail = |source| ReadError::Io { path: name.into(), source };
    let absent = || Ok(Read { state: State::Absent, stamp: None });
    let meta = match fs::symlink_metadata(full) {
        Ok(meta) => meta,
        Err(e) if is_absent(&e) => return absent(),
        Err(e) => return Err(fail(e)),
    };
    if meta.is_symlink() {
        let target = fs::read_link(full).map_err(fail)?;
        return Ok(Read { state: State::Link { target }, stamp: Some(Stamp::of(&meta)) });
    }
    if !meta.is_file() {
        return Err(ReadError::NotAFile { path: name.into(), kind: kind_of(meta.file_type()) });
    }
    // What was a file may have become a link or a pipe by now: neither is followed nor waited for.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut file = match OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(full) {
        Ok(file) => file,
        Err(e) if is_absent(&e) => return absent(),
        Err(e) => return Err(fail(e)),
    };
    // The stamp is of before the bytes: a change while they are read shows.
    let meta = file.metadata().map_err(fail)?;
    if !meta.is_file() {
        return Err(ReadError::NotAFile { path: name.into(), kind: kind_of(meta.file_type()) });
    }
    let mut bytes = Vec::with_capacity(usize::try_from(meta.len()).unwrap_or(0).saturating_add(1));
    file.read_to_end(&mut bytes).map_err(fail)?;
    let mode = Some(meta.permissions().mode() & 0o7777);
    Ok(Read { state: State::File { bytes: bytes.into(), mode }, stamp: Some(Stamp::of(&meta)) })
}

/// Nothing is there, or below a file, which comes to the same.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Whether bytes look like text, by their beginning: UTF-16 with a byte order mark, or no NUL byte.
pub fn is_text(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(PROBE)];
    start.starts_with(&[0xff, 0xfe]) || start.starts_with(&[0xfe, 0xff]) || !start.contains(&0)
}

#[cfg(test)]
mod tests {
    use super::*;

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

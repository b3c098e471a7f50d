//! Bytes with a stamp, so that "changed since you read it" can be told.

use std::fs::{self, FileType, Metadata, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::OFlags;

use super::Workspace;
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

/// What kind of thing it is, in a sentence.
pub(super) fn kind_of(kind: FileType) -> &'static str {
    match kind {
        k if k.is_dir() => "a folder",
        k if k.is_symlink() => "a link",
        k if k.is_fifo() => "a pipe",
        k if k.is_socket() => "a socket",
        k if k.is_block_device() || k.is_char_device() => "a device",
        _ => "no file",
    }
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

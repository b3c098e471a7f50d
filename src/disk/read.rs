//! Bounded reading of regular files. A pipe, a socket, a device or a file without end never blocks the program.

use std::fs::{self, File, FileType, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

/// The treatment of a link at the end of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    /// Followed, as for a person's own files.
    Follow,
    /// Refused, as for files that nebula owns and paths that were resolved before.
    Refuse,
}

/// Returns the whole of a regular file of at most `cap` bytes. Never waits for another process.
///
/// # Errors
/// When it is not there, is not a regular file, is a link that is not to be followed, or is larger. The message says
/// which, without the path.
pub fn read_file(path: &Path, cap: u64, links: Links) -> io::Result<Vec<u8>> {
    let file = open_file(path, links)?;
    read_open(&file, cap)
}

/// Reads as [`read_file`] does, as text.
///
/// # Errors
/// As there, and when it is not UTF-8.
pub fn read_text(path: &Path, cap: u64, links: Links) -> io::Result<String> {
    let bytes = read_file(path, cap, links)?;
    String::from_utf8(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text"))
}

/// Returns the whole of what a person names on the command line, at most `cap` bytes: a regular file, or a pipe, as
/// shells hand one over for `<(…)`. A pipe is waited for.
///
/// # Errors
/// When it is not there, is anything else, or is larger.
pub fn read_named(path: &Path, cap: u64) -> io::Result<Vec<u8>> {
    match fs::metadata(path)?.file_type().is_fifo() {
        true => read_open(&File::open(path)?, cap),
        false => read_file(path, cap, Links::Follow),
    }
}

/// Opens a regular file for reading, without waiting for the other end of a pipe.
///
/// # Errors
/// As [`read_file`].
pub fn open_file(path: &Path, links: Links) -> io::Result<File> {
    // Opening some devices does something, so the kind is looked at before, and again on what was opened.
    let meta = match links {
        Links::Follow => fs::metadata(path)?,
        Links::Refuse => fs::symlink_metadata(path)?,
    };
    check_regular(meta.file_type())?;
    let mut flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    if links == Links::Refuse {
        flags |= OFlags::NOFOLLOW;
    }
    let file = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    check_regular(file.metadata()?.file_type())?;
    Ok(file)
}

/// Returns the bytes of an open file from where it stands, `cap` at most.
///
/// # Errors
/// When it is larger, or the disk refuses.
pub fn read_open(file: &File, cap: u64) -> io::Result<Vec<u8>> {
    let too_large = || io::Error::new(io::ErrorKind::FileTooLarge, format!("it is larger than {cap} bytes"));
    let size = file.metadata()?.len();
    if size > cap {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0).saturating_add(1));
    // A file that grows meanwhile, or has no size as in /proc, is bounded too.
    file.take(cap.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > cap { Err(too_large()) } else { Ok(bytes) }
}

fn check_regular(kind: FileType) -> io::Result<()> {
    match kind.is_file() {
        true => Ok(()),
        false => Err(io::Error::other(format!("it is {}, not a regular file", kind_of(kind)))),
    }
}

/// Returns what kind of thing a file is, in a sentence.
pub fn kind_of(kind: FileType) -> &'static str {
    match kind {
        k if k.is_dir() => "a folder",
        k if k.is_symlink() => "a link",
        k if k.is_fifo() => "a pipe",
        k if k.is_socket() => "a socket",
        k if k.is_block_device() || k.is_char_device() => "a device",
        _ => "no file",
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use rustix::fs::{CWD, Mode, mkfifoat};

    use super::*;

    #[test]
    fn only_regular_files_of_a_bounded_size_are_read() {
        let dir = tempfile::tempdir().expect("a folder");
        let at = |name: &str| dir.path().join(name);
        fs::write(at("file"), "text").expect("written");
        mkfifoat(CWD, at("pipe"), Mode::RUSR).expect("a pipe");
        let _socket = UnixListener::bind(at("socket")).expect("a socket");
        symlink("/dev/zero", at("zero")).expect("linked");
        symlink("file", at("link")).expect("linked");
        File::create(at("large")).and_then(|f| f.set_len(3 << 30)).expect("a sparse file");
        let read = |name: &str, links| read_text(&at(name), 4, links).map_err(|e| e.to_string());
        assert_eq!(read("file", Links::Refuse).as_deref(), Ok("text"));
        assert_eq!(read("link", Links::Follow).as_deref(), Ok("text"));
        for (name, links, said) in [
            ("pipe", Links::Follow, "a pipe"),
            ("socket", Links::Follow, "a socket"),
            ("zero", Links::Follow, "a device"),
            ("zero", Links::Refuse, "a link"),
            ("link", Links::Refuse, "a link"),
            (".", Links::Follow, "a folder"),
            ("large", Links::Follow, "larger than 4 bytes"),
        ] {
            let error = read(name, links).expect_err(name);
            assert!(error.contains(said), "{name}: {error}");
        }
        assert!(read_file(&at("none"), 4, Links::Follow).is_err_and(|e| e.kind() == io::ErrorKind::NotFound));
    }
}

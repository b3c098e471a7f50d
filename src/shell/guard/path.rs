//! The file that the caller of a system call means: its memory is read, its folder and its descriptors are its own,
//! links are followed as the kernel will.

use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Component, Path, PathBuf};

use super::sys;
use crate::disk::{LinkView, follow_links};

/// The longest path that the kernel takes.
pub const LONGEST: usize = 4_096;
/// Follows the last name of a file that has none any more.
const GONE: &[u8] = b" (deleted)";
/// The value in place of a descriptor for the caller's own folder.
const OWN_FOLDER: i32 = libc::AT_FDCWD;

/// Returns a descriptor among a call's arguments.
pub fn descriptor(argument: u64) -> i32 {
    // The kernel looks at the lower half alone.
    (argument as u32).cast_signed()
}

/// Returns the text at an address of another process, up to its NUL.
///
/// # Errors
/// When it cannot be read, or is longer than a path may be.
pub fn text_at(process: i32, address: u64) -> io::Result<OsString> {
    let mut bytes = vec![0; LONGEST];
    let mut length = 0;
    while length < LONGEST {
        // Up to the end of a page: what follows it may not be there.
        let next = address.wrapping_add(length as u64);
        let piece = (256 - (next % 256) as usize).min(LONGEST - length);
        let read = read_memory(process, next, &mut bytes[length..length + piece])?;
        if let Some(end) = bytes[length..length + read].iter().position(|b| *b == 0) {
            bytes.truncate(length + end);
            return Ok(OsString::from_vec(bytes));
        }
        if read < piece {
            return Err(io::Error::from_raw_os_error(libc::EFAULT));
        }
        length += read;
    }
    Err(io::Error::from_raw_os_error(libc::ENAMETOOLONG))
}

/// Returns the file behind a descriptor of another process, by its path now; where it has none, the descriptor's link.
///
/// # Errors
/// When there is none.
pub fn of_descriptor(process: i32, descriptor: i32) -> io::Result<PathBuf> {
    named(PathBuf::from(format!("/proc/{process}/fd/{descriptor}")))
}

/// Returns the path of what a descriptor's link in `/proc` leads to; the link itself where that has no name any more.
///
/// # Errors
/// When there is no such link.
pub fn named(link: PathBuf) -> io::Result<PathBuf> {
    Ok(target_of(&link)?.unwrap_or(link))
}

/// Returns the target of a link in `/proc`; none: it has no name. Behind the name it had, the kernel's mark may be read
/// as the name of another file.
fn target_of(link: &Path) -> io::Result<Option<PathBuf>> {
    let target = fs::read_link(link)?;
    if !target.is_absolute() {
        return Ok(None);
    }
    if !target.as_os_str().as_bytes().ends_with(GONE) {
        return Ok(Some(target));
    }
    let both = fs::metadata(link).ok().zip(fs::symlink_metadata(&target).ok());
    Ok(both.is_some_and(|(one, other)| is_same(&one, &other)).then_some(target))
}

/// Returns whether two are one file.
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Returns the absolute path that a caller means by `path`, seen from `folder` (a descriptor). `last`: a link at its
/// very end is followed too. What was looked at on the way is added to `passed`.
///
/// # Errors
/// When it leads nowhere a file could be: the kernel will say so to the caller.
pub fn resolve(process: i32, folder: i32, path: &OsStr, last: bool, passed: &mut Vec<PathBuf>) -> io::Result<PathBuf> {
    let path = Path::new(path);
    let whole = match (path.is_absolute(), folder) {
        (true, _) => path.to_path_buf(),
        (false, OWN_FOLDER) => below(Path::new(&format!("/proc/{process}/cwd")), path)?,
        (false, folder) => below(Path::new(&format!("/proc/{process}/fd/{folder}")), path)?,
    };
    let view = CallerView { process, passed: RefCell::new(std::mem::take(passed)) };
    let found = follow_links(&whole, last, &view);
    *passed = view.passed.into_inner();
    passed.extend(found.as_ref().ok().cloned());
    found
}

/// Returns a path below the folder that a link in `/proc` leads to. From one that has no name any more, only `..` leads
/// anywhere: the folder above it is the one it had.
fn below(link: &Path, path: &Path) -> io::Result<PathBuf> {
    if let Some(folder) = target_of(link)? {
        return Ok(folder.join(path));
    }
    let mut above = fs::read_link(link)?;
    let mut parts = path.components();
    let mut rest = parts.as_path();
    let mut left = false;
    while let Some(part @ (Component::CurDir | Component::ParentDir)) = parts.next() {
        if part == Component::ParentDir {
            left |= above.pop();
        }
        rest = parts.as_path();
    }
    if left { Ok(above.join(rest)) } else { Err(io::Error::from_raw_os_error(libc::ENOENT)) }
}

/// Returns whether a path is a descriptor's link in `/proc`.
pub fn is_descriptor(path: &Path) -> bool {
    path.starts_with("/proc") && path.parent().is_some_and(|above| above.ends_with("fd"))
}

/// Returns whether a process's link in `/proc` leads to a file or folder without a name.
fn is_gone(link: &Path, target: &Path) -> bool {
    let of_process = is_descriptor(link) || link.starts_with("/proc") && link.ends_with("cwd");
    of_process && (fs::symlink_metadata(target).is_err() || target_of(link).is_ok_and(|named| named.is_none()))
}

/// The view of the caller, by its process.
struct CallerView {
    process: i32,
    /// The paths that were looked at.
    passed: RefCell<Vec<PathBuf>>,
}

impl LinkView for CallerView {
    fn own(&self, path: &Path) -> Option<PathBuf> {
        let own = |rest: &str| Some(PathBuf::from(format!("/proc/{}{rest}", self.process)));
        match path.to_str()? {
            "/proc/self" | "/proc/thread-self" => own(""),
            "/dev/fd" => own("/fd"),
            "/dev/stdin" => own("/fd/0"),
            "/dev/stdout" => own("/fd/1"),
            "/dev/stderr" => own("/fd/2"),
            _ => None,
        }
    }

    fn nameless(&self, link: &Path, target: &Path, rest: &Path) -> io::Result<Option<PathBuf>> {
        match is_gone(link, target) {
            false => Ok(None),
            true if rest.as_os_str().is_empty() && is_descriptor(link) => Ok(Some(link.into())),
            true => below(link, rest).map(Some),
        }
    }

    fn passed(&self, path: &Path) {
        self.passed.borrow_mut().push(path.into());
    }
}

/// Reads memory of another process; how much was there. Also what that process itself may only write or execute: the
/// kernel reads a call's arguments all the same.
///
/// # Errors
/// When it may not be read, or nothing is there.
pub fn read_memory(process: i32, address: u64, bytes: &mut [u8]) -> io::Result<usize> {
    let read = match sys::read_readable(process, address, bytes) {
        Ok(read) => read,
        Err(error) if error.raw_os_error() == Some(libc::EFAULT) => 0,
        Err(error) => return Err(error),
    };
    if read == bytes.len() {
        return Ok(read);
    }
    let unreadable = |_| io::Error::from_raw_os_error(libc::EFAULT);
    let memory = File::open(format!("/proc/{process}/mem")).map_err(unreadable)?;
    match memory.read_at(&mut bytes[read..], address.wrapping_add(read as u64)) {
        Ok(more) if read + more > 0 => Ok(read + more),
        Err(_) if read > 0 => Ok(read),
        _ => Err(io::Error::from_raw_os_error(libc::EFAULT)),
    }
}

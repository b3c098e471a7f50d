//! The change that a system call is about to make: of which paths, and which names it depends on.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::call::{Notification, Refusal};
use super::connect;
use super::filter;
use super::path::{descriptor, of_descriptor, resolve, text_at};
use super::reach::meta_at;

/// A path among a call's arguments, or none where the kernel will find nothing either.
type Found = Result<Option<PathBuf>, Refusal>;
/// A change, or none where there is nothing to keep.
type PlannedChange = Result<Option<PathChange>, Refusal>;

/// The caller's own folder, in place of a descriptor.
const HERE: u64 = libc::AT_FDCWD as u64;

/// A change of files, by the paths that its call means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathChange {
    /// A file is changed in place, or made where that is true.
    Write(PathBuf, bool),
    /// A file or link loses this name.
    Lose(PathBuf),
    /// A folder goes.
    LoseFolder(PathBuf),
    /// Something is made where nothing is.
    Make(PathBuf, Made),
    /// A file without a name is made in a folder.
    MakeUnnamed(PathBuf),
    /// A file or folder gets the second name in place of the first, with these flags.
    Rename(PathBuf, PathBuf, u64),
    /// A file gets the second name too.
    SecondName(PathBuf, PathBuf),
    /// A mode is set, or an owner where none is given.
    Mode(PathBuf, Option<u64>),
    /// A group is set.
    Group(PathBuf, u64),
    /// Times are set.
    Times(PathBuf),
    /// A file is locked.
    Lock(PathBuf),
}

/// The names that a call depends on.
#[derive(Debug, Clone, Default)]
pub struct CallNames {
    /// The paths on the way to its files.
    pub passed: Vec<PathBuf>,
    /// The paths that lead elsewhere after it than before.
    pub moved: Vec<PathBuf>,
}

/// The kind of what is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Made {
    /// A file.
    File,
    /// A symbolic link.
    Link,
    /// A folder.
    Folder,
}

impl PathChange {
    /// Returns the names that lead elsewhere after it than before.
    pub fn moved(&self) -> Vec<PathBuf> {
        let is = |path: &Path, kind: fn(&fs::FileType) -> bool| meta_at(path).is_ok_and(|meta| kind(&meta.file_type()));
        match self {
            PathChange::Rename(old, new, _) => vec![old.clone(), new.clone()],
            PathChange::SecondName(_, new) | PathChange::Make(new, Made::Link) => vec![new.clone()],
            // Where one is, none is made.
            PathChange::Make(new, Made::Folder) if !is(new, fs::FileType::is_dir) => vec![new.clone()],
            PathChange::Lose(old) if is(old, fs::FileType::is_symlink) => vec![old.clone()],
            _ => Vec::new(),
        }
    }
}

/// Returns what a call is about to change, and the names that it depends on.
///
/// # Errors
/// When it cannot be found out: its call is not to go on.
pub fn planned(call: &Notification) -> Result<(Option<PathChange>, CallNames), Refusal> {
    let mut passed = Vec::new();
    let change = of_call(call, &mut passed)?;
    let moved = change.as_ref().map(PathChange::moved).unwrap_or_default();
    Ok((change, CallNames { passed, moved }))
}

fn of_call(call: &Notification, passed: &mut Vec<PathBuf>) -> PlannedChange {
    let [a, b, c, d, e, _] = call.arguments;
    let has = |flags: u64, flag: i32| flags & flag as u64 != 0;
    let mut path = |folder, address, last| path_of(call, folder, address, last, passed);
    Ok(match call.number {
        libc::SYS_openat => return open(call, a, b, c, passed),
        libc::SYS_truncate => path(HERE, a, true)?.map(|path| PathChange::Write(path, false)),
        libc::SYS_unlinkat if has(c, libc::AT_REMOVEDIR) => path(a, b, false)?.map(PathChange::LoseFolder),
        libc::SYS_unlinkat => path(a, b, false)?.map(PathChange::Lose),
        libc::SYS_renameat => rename(path(a, b, false)?, path(c, d, false)?, 0),
        libc::SYS_renameat2 => rename(path(a, b, false)?, path(c, d, false)?, e),
        libc::SYS_linkat if means_descriptor(call, b, e) => {
            let new = path(c, d, false)?;
            second_name(behind(call, a, passed)?, new)
        }
        libc::SYS_linkat => second_name(path(a, b, has(e, libc::AT_SYMLINK_FOLLOW))?, path(c, d, false)?),
        libc::SYS_symlinkat => path(b, c, false)?.map(|path| PathChange::Make(path, Made::Link)),
        libc::SYS_mknodat => path(a, b, false)?.map(|path| PathChange::Make(path, Made::File)),
        libc::SYS_mkdirat => path(a, b, false)?.map(|path| PathChange::Make(path, Made::Folder)),
        libc::SYS_fchmod => behind(call, a, passed)?.map(|path| PathChange::Mode(path, Some(b))),
        libc::SYS_fchmodat => path(a, b, true)?.map(|path| PathChange::Mode(path, Some(c))),
        filter::FCHMODAT2 if means_descriptor(call, b, d) => {
            behind(call, a, passed)?.map(|path| PathChange::Mode(path, Some(c)))
        }
        filter::FCHMODAT2 => {
            path(a, b, !has(d, libc::AT_SYMLINK_NOFOLLOW))?.map(|path| PathChange::Mode(path, Some(c)))
        }
        libc::SYS_fchown => behind(call, a, passed)?.map(|path| PathChange::Group(path, c)),
        libc::SYS_fchownat if means_descriptor(call, b, e) => {
            behind(call, a, passed)?.map(|path| PathChange::Group(path, d))
        }
        libc::SYS_fchownat => path(a, b, !has(e, libc::AT_SYMLINK_NOFOLLOW))?.map(|path| PathChange::Group(path, d)),
        libc::SYS_utimensat if b == 0 || means_descriptor(call, b, d) => {
            behind(call, a, passed)?.map(PathChange::Times)
        }
        libc::SYS_utimensat => path(a, b, !has(d, libc::AT_SYMLINK_NOFOLLOW))?.map(PathChange::Times),
        libc::SYS_flock => behind(call, a, passed)?.map(PathChange::Lock),
        libc::SYS_bind => {
            let path = connect::bound(call, passed).or_else(|error| found(Err(error)))?;
            path.map(|path| PathChange::Make(path, Made::File))
        }
        _ => return of_old_call(call, passed),
    })
}

/// Returns the change of a call that only one machine has.
#[cfg(target_arch = "x86_64")]
fn of_old_call(call: &Notification, passed: &mut Vec<PathBuf>) -> PlannedChange {
    let [a, b, c, ..] = call.arguments;
    let mut path = |address, last| path_of(call, HERE, address, last, passed);
    Ok(match call.number {
        libc::SYS_open => return open(call, HERE, a, b, passed),
        libc::SYS_creat => {
            let flags = libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC;
            return open(call, HERE, a, flags as u64, passed);
        }
        libc::SYS_unlink => path(a, false)?.map(PathChange::Lose),
        libc::SYS_rmdir => path(a, false)?.map(PathChange::LoseFolder),
        libc::SYS_rename => rename(path(a, false)?, path(b, false)?, 0),
        libc::SYS_link => second_name(path(a, false)?, path(b, false)?),
        libc::SYS_symlink => path(b, false)?.map(|path| PathChange::Make(path, Made::Link)),
        libc::SYS_mknod => path(a, false)?.map(|path| PathChange::Make(path, Made::File)),
        libc::SYS_mkdir => path(a, false)?.map(|path| PathChange::Make(path, Made::Folder)),
        libc::SYS_chmod => path(a, true)?.map(|path| PathChange::Mode(path, Some(b))),
        libc::SYS_chown => path(a, true)?.map(|path| PathChange::Group(path, c)),
        libc::SYS_lchown => path(a, false)?.map(|path| PathChange::Group(path, c)),
        libc::SYS_utime | libc::SYS_utimes => path(a, true)?.map(PathChange::Times),
        libc::SYS_futimesat if b == 0 => behind(call, a, passed)?.map(PathChange::Times),
        libc::SYS_futimesat => path_of(call, a, b, true, passed)?.map(PathChange::Times),
        _ => None,
    })
}

#[cfg(not(target_arch = "x86_64"))]
fn of_old_call(_call: &Notification, _passed: &mut Vec<PathBuf>) -> PlannedChange {
    Ok(None)
}

fn open(call: &Notification, folder: u64, address: u64, flags: u64, passed: &mut Vec<PathBuf>) -> PlannedChange {
    let has = |flag: i32| flags & flag as u64 == flag as u64;
    if has(libc::O_TMPFILE) {
        // It has no name yet; the call that gives it one is kept.
        return Ok(path_of(call, folder, address, true, passed)?.map(PathChange::MakeUnnamed));
    }
    let exclusive = has(libc::O_CREAT) && has(libc::O_EXCL);
    let path = path_of(call, folder, address, !has(libc::O_NOFOLLOW) && !exclusive, passed)?;
    let writes = flags & (libc::O_WRONLY | libc::O_RDWR | libc::O_TRUNC) as u64 != 0;
    Ok(path.map(|path| match writes && !exclusive {
        true => PathChange::Write(path, has(libc::O_CREAT)),
        // What is there already is only opened, or stops the call.
        false => PathChange::Make(path, Made::File),
    }))
}

fn rename(old: Option<PathBuf>, new: Option<PathBuf>, flags: u64) -> Option<PathChange> {
    old.zip(new).map(|(old, new)| PathChange::Rename(old, new, flags))
}

fn second_name(old: Option<PathBuf>, new: Option<PathBuf>) -> Option<PathChange> {
    old.zip(new).map(|(old, new)| PathChange::SecondName(old, new))
}

/// Returns the path at an address, seen from a folder's descriptor; `last`: a link at its end is followed. What cannot
/// be read cannot be kept: the call is refused.
fn path_of(call: &Notification, folder: u64, address: u64, last: bool, passed: &mut Vec<PathBuf>) -> Found {
    match text_at(call.process, address) {
        Ok(text) if text.is_empty() => Ok(None),
        Ok(text) => found(resolve(call.process, descriptor(folder), &text, last, passed)),
        Err(error) if error.raw_os_error() == Some(libc::ENAMETOOLONG) => Ok(None),
        // The kernel may read what the guard cannot.
        Err(error) if error.raw_os_error() == Some(libc::EFAULT) => Err(libc::EFAULT),
        Err(_) => Err(libc::EACCES),
    }
}

/// Returns a path that was looked for. What the guard cannot follow, though the kernel may, cannot be kept: the call is
/// refused.
fn found(path: io::Result<PathBuf>) -> Found {
    match path {
        Ok(path) => Ok(Some(path)),
        Err(error) => match error.raw_os_error() {
            Some(libc::ENOENT | libc::ENOTDIR | libc::ELOOP | libc::EINVAL) => Ok(None),
            number => Err(number.unwrap_or(libc::EACCES)),
        },
    }
}

/// Returns the file behind a descriptor of the caller.
fn behind(call: &Notification, argument: u64, passed: &mut Vec<PathBuf>) -> Found {
    let path = of_open_file(call, argument)?;
    passed.extend(path.clone());
    Ok(path)
}

/// Returns the path of the file behind a descriptor of the caller.
pub fn of_open_file(call: &Notification, argument: u64) -> Found {
    found(of_descriptor(call.process, descriptor(argument)))
}

/// Returns whether a call means the file behind its descriptor itself: it gives no path, and its flags allow that.
fn means_descriptor(call: &Notification, path: u64, flags: u64) -> bool {
    let empty = || path == 0 || text_at(call.process, path).is_ok_and(|text| text.is_empty());
    flags & libc::AT_EMPTY_PATH as u64 != 0 && empty()
}

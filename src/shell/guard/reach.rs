//! Files whose path is longer than the kernel takes: they are reached by their name in the open folder above them.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::path::LONGEST;

/// Returns what `look` finds at a path, however long that is.
///
/// # Errors
/// As `look`, also where the folder above is out of reach.
pub fn reach<T>(path: &Path, look: impl Fn(&Path) -> io::Result<T>) -> io::Result<T> {
    let looked = look(path);
    let is_too_long = path.as_os_str().len() >= LONGEST;
    match (&looked, path.parent(), path.file_name()) {
        (Err(error), Some(above), Some(name)) if is_too_long && error.raw_os_error() == Some(libc::ENAMETOOLONG) => {
            look_in(&open(above)?, name, look)
        }
        _ => looked,
    }
}

fn open(folder: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(libc::O_PATH | libc::O_DIRECTORY).open(folder)
}

fn look_in<T>(folder: &File, name: &OsStr, look: impl Fn(&Path) -> io::Result<T>) -> io::Result<T> {
    look(&Path::new(&format!("/proc/self/fd/{}", folder.as_raw_fd())).join(name))
}

/// Returns the metadata of what is at a path; a link is not followed.
///
/// # Errors
/// Whatever the system says.
pub fn meta_at(path: &Path) -> io::Result<Metadata> {
    reach(path, |path| fs::symlink_metadata(path))
}

/// Returns whether an error says that nothing is there.
pub fn is_nothing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

//! Atomic file replacement, for whoever owns files: temporary file beside the target, flush, rename, flush of the
//! folder. A crash at any instant leaves the old or the new file, and at worst a temporary one. Bounded reading of
//! regular files too.

mod read;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::process::{Pid, test_kill_process};

pub use read::{Links, kind_of, open_file, read_file, read_text};

/// How the names of temporary files begin; the id of the process follows.
pub const TEMP_PREFIX: &str = ".nebula-tmp-";

/// Files from which on flushing is done by several threads, so that the disk joins their work.
const MANY: usize = 8;
/// Threads that flush. They wait for the disk, not for a processor.
const FLUSHERS: usize = 16;

/// A new temporary path in `folder`, unlike that of any other process, alive or dead.
pub fn temp_path(folder: &Path) -> PathBuf {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let n = NEXT.fetch_add(1, Ordering::Relaxed);
    let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.subsec_nanos());
    folder.join(format!("{TEMP_PREFIX}{}-{n}-{nanos:x}", std::process::id()))
}

/// Whether a file name is that of a temporary file whose process is gone, or is this one.
pub fn is_left_over(name: &str) -> bool {
    let Some(rest) = name.strip_prefix(TEMP_PREFIX) else { return false };
    let pid: Option<i32> = rest.split('-').next().and_then(|p| p.parse().ok());
    match pid.and_then(Pid::from_raw) {
        Some(pid) => {
            pid.as_raw_nonzero().get().unsigned_abs() == std::process::id()
                || test_kill_process(pid) == Err(rustix::io::Errno::SRCH)
        }
        None => true,
    }
}

/// Makes a new file with these bytes, not flushed yet. `mode` are its permission bits whatever the process's mask;
/// `None`: those the mask gives a new file.
///
/// # Errors
/// When it exists or cannot be written; a file begun is removed again.
pub fn write_new(path: &Path, bytes: &[u8], mode: Option<u32>) -> io::Result<File> {
    let first = mode.map_or(0o666, |_| 0o600);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(first).open(path)?;
    let written = file.write_all(bytes).and_then(|()| match mode {
        Some(mode) => file.set_permissions(fs::Permissions::from_mode(mode)),
        None => Ok(()),
    });
    if let Err(error) = written {
        // The first error is the one worth telling.
        let _ = fs::remove_file(path);
        return Err(error);
    }
    Ok(file)
}

/// Replaces or makes a file atomically and flushes it and its folder.
///
/// # Errors
/// Whatever the disk says; the old file then stands as it was.
pub fn replace(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let folder = parent(path);
    let temp = temp_path(folder);
    let done = write_new(&temp, bytes, Some(mode)).and_then(|f| f.sync_all()).and_then(|()| fs::rename(&temp, path));
    if let Err(error) = done {
        // The first error is the one worth telling.
        let _ = fs::remove_file(&temp);
        return Err(error);
    }
    sync_folder(folder)
}

/// What the disk said, and for a full one what to do about it.
pub fn words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            format!("{error}: free some space there, then try again")
        }
        _ => error.to_string(),
    }
}

/// The folder a path lies in.
pub fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(p) if !p.as_os_str().is_empty() => p,
        _ => Path::new("."),
    }
}

/// Flushes a folder: the names in it.
///
/// # Errors
/// Whatever the disk says.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Flushes files, many at once.
///
/// # Errors
/// The first that failed.
pub fn sync_all(files: &[File]) -> io::Result<()> {
    each(files, File::sync_all)
}

/// Flushes folders, many at once.
///
/// # Errors
/// The first that failed.
pub fn sync_folders(folders: &[PathBuf]) -> io::Result<()> {
    each(folders, |f| sync_folder(f))
}

/// Does the same for each item, by several threads where there are many, and gives the first error.
///
/// # Errors
/// The first that failed; items after it may be left undone.
pub fn each<T: Sync>(items: &[T], act: impl Fn(&T) -> io::Result<()> + Sync) -> io::Result<()> {
    if items.len() < MANY {
        return items.iter().try_for_each(act);
    }
    let chunk = items.len().div_ceil(FLUSHERS);
    std::thread::scope(|scope| {
        let workers: Vec<_> = items.chunks(chunk).map(|part| scope.spawn(|| part.iter().try_for_each(&act))).collect();
        workers.into_iter().try_for_each(|w| match w.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replacing_leaves_the_new_file_and_nothing_else() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("a");
        replace(&path, b"one", 0o600).expect("made");
        replace(&path, b"two", 0o640).expect("replaced");
        assert_eq!(fs::read(&path).expect("there"), b"two");
        assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o640);
        assert_eq!(fs::read_dir(dir.path()).expect("a folder").count(), 1);
    }

    #[test]
    fn a_failed_replacement_leaves_the_old_state() {
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir(dir.path().join("a")).expect("made");
        assert!(replace(&dir.path().join("a"), b"x", 0o600).is_err());
        assert_eq!(fs::read_dir(dir.path()).expect("a folder").count(), 1);
    }

    #[test]
    fn leftovers_are_those_of_processes_that_are_gone() {
        let own = temp_path(Path::new("")).to_string_lossy().to_string();
        assert!(is_left_over(&own));
        assert!(!is_left_over(&format!("{TEMP_PREFIX}1-0-0")));
        assert!(is_left_over(&format!("{TEMP_PREFIX}2147483600-0-0")));
        assert!(!is_left_over("notes.txt"));
    }
}

//! Written files are brought to the disk: one by one, by several threads, or, where they are many, with all of their
//! file system at once, which is one wait in place of one for each.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The number of files above which the whole file system is flushed.
const FEW: usize = 64;
/// The most files that are held open until they are flushed together, well below what a process may have.
const MANY_OPEN: usize = 256;
/// Files from which on flushing is done by several threads, so that the disk joins their work.
const MANY: usize = 8;
/// Threads that flush. They wait for the disk, not for a processor.
const FLUSHERS: usize = 32;

/// Files that were written and are not on disk yet.
#[derive(Debug)]
pub struct Unflushed {
    by_file_system: bool,
    /// Files that are flushed one by one.
    open: Vec<File>,
    /// A file of each file system that is flushed whole, and its device.
    of_systems: Vec<(u64, File)>,
}

impl Unflushed {
    /// Creates it for about that many files.
    pub fn new(count: usize) -> Self {
        Unflushed { by_file_system: count > FEW, open: Vec::new(), of_systems: Vec::new() }
    }

    /// Creates it for files of which each is flushed by itself.
    pub fn one_by_one() -> Self {
        Self::new(0)
    }

    /// Adds a file that was written whole. Those that are open are flushed and closed once they are many.
    ///
    /// # Errors
    /// Any of the file system.
    pub fn add(&mut self, file: File) -> io::Result<()> {
        if self.by_file_system && flushes_whole(&file) {
            let device = file.metadata()?.dev();
            if self.of_systems.iter().all(|(known, _)| *known != device) {
                self.of_systems.push((device, file));
            }
            return Ok(());
        }
        self.open.push(file);
        if self.open.len() >= MANY_OPEN { self.flush_open() } else { Ok(()) }
    }

    /// Flushes all of them. When this returns they are on disk.
    ///
    /// # Errors
    /// The first that failed.
    pub fn flush(&mut self) -> io::Result<()> {
        self.flush_open()?;
        self.of_systems.drain(..).try_for_each(|(_, file)| sync_file_system(&file))
    }

    fn flush_open(&mut self) -> io::Result<()> {
        each(&self.open, File::sync_all)?;
        self.open.clear();
        Ok(())
    }
}

/// Flushes the whole file system of a file if there are many to flush, and that brings them to the disk. Returns
/// whether it did.
///
/// # Errors
/// Any of the file system.
pub(super) fn sync_if_many(count: usize, file: impl AsFd) -> io::Result<bool> {
    if count <= FEW || !flushes_whole(&file) {
        return Ok(false);
    }
    sync_file_system(&file).map(|()| true)
}

/// Returns whether a flush of the whole file system of a file brings it to the disk: of one in a network or in another
/// program it may only reach that.
#[cfg(target_os = "linux")]
fn flushes_whole(file: impl AsFd) -> bool {
    // The numbers of statfs(2): ext2 to ext4, XFS, Btrfs, F2FS, tmpfs, overlayfs.
    const KNOWN: [u64; 6] = [0xEF53, 0x5846_5342, 0x9123_683E, 0xF2F5_2010, 0x0102_1994, 0x794C_7630];
    rustix::fs::fstatfs(file).is_ok_and(|stat| KNOWN.contains(&(stat.f_type as u64 & 0xFFFF_FFFF)))
}

/// Returns whether a folder is of a file system of this machine, on which a file's times change with its bytes alone: one
/// in a network or in another program may set them later.
pub fn is_local(folder: &Path) -> bool {
    File::open(folder).is_ok_and(flushes_whole)
}

#[cfg(not(target_os = "linux"))]
fn flushes_whole(_file: impl AsFd) -> bool {
    false
}

#[cfg(target_os = "linux")]
fn sync_file_system(file: impl AsFd) -> io::Result<()> {
    Ok(rustix::fs::syncfs(file)?)
}

#[cfg(not(target_os = "linux"))]
fn sync_file_system(_file: impl AsFd) -> io::Result<()> {
    // None is flushed whole here.
    Err(io::ErrorKind::Unsupported.into())
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
    fn one_file_stands_for_all_of_its_file_system() {
        let dir = tempfile::tempdir().expect("a folder");
        for (count, whole) in [(FEW, false), (FEW + 1, true)] {
            let mut unflushed = Unflushed::new(count);
            for n in 0..count {
                unflushed.add(File::create(dir.path().join(n.to_string())).expect("made")).expect("added");
            }
            let whole = whole && flushes_whole(File::open(dir.path()).expect("open"));
            let held = if whole { (0, 1) } else { (count, 0) };
            assert_eq!((unflushed.open.len(), unflushed.of_systems.len()), held);
            unflushed.flush().expect("flushed");
            assert!(unflushed.open.is_empty() && unflushed.of_systems.is_empty());
        }
    }

    #[test]
    fn a_pseudo_file_system_is_not_flushed_whole() {
        let Ok(file) = File::open("/proc/self/stat") else { return };
        assert!(!flushes_whole(file));
    }
}

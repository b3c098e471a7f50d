//! Answers for what no version holds: what lies outside the workspace, times, locks and terminals.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::SystemTime;

use super::super::names::meta_of;
use super::super::path::is_descriptor;
use super::{Keeping, Verdict};
use crate::shell::places::PathClass;
use crate::shell::sandbox::{Bounds, TEMPORARY};

/// The terminals, each a file.
const TERMINALS: &str = "/dev/pts";

/// The kernel's clock for files stands still for as long, in nanoseconds: what the session opened may seem older than it.
const TICK: i128 = 10_000_000;

/// Returns whether something was made since the session began. Where the file system does not say, it counts as older.
fn is_newer(meta: &Metadata, since: u64) -> bool {
    let made = meta.created().ok().and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
    made.is_some_and(|made| made.as_nanos() >= u128::from(since))
}

/// Returns whether a terminal was there before the session began.
fn is_older(meta: &Metadata, since: u64) -> bool {
    i128::from(meta.ctime()) * 1_000_000_000 + i128::from(meta.ctime_nsec()) + TICK < i128::from(since)
}

/// Returns whether a path is a terminal that was there before the session began: it is another program's.
pub fn is_older_terminal(path: &Path, since: u64) -> bool {
    path.starts_with(TERMINALS) && fs::metadata(path).is_ok_and(|meta| is_older(&meta, since))
}

impl Keeping {
    /// Answers for something whose times are about to be set. No version holds them; what is not the command's stays as
    /// it is.
    pub fn set_times(&mut self, path: &Path) -> Verdict {
        match self.class(path, false) {
            PathClass::Refused => self.refuse(path),
            PathClass::Outside => match meta_of(path) {
                Some(meta) => self.outside(path, Some(&meta)),
                None => Ok(()),
            },
            PathClass::Kept => {
                self.left.touch(self.name(path), false);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Answers for a file that is about to be locked: nebula waits for the locks of its own.
    pub fn lock_file(&mut self, path: &Path) -> Verdict {
        if self.class(path, false) == PathClass::Refused { self.refuse(path) } else { Ok(()) }
    }

    /// Answers for a file without a name that is about to be made in a folder.
    pub fn make_unnamed(&mut self, folder: &Path) -> Verdict {
        if self.class(folder, true) == PathClass::Refused { self.refuse(folder) } else { Ok(()) }
    }

    /// Returns when the session began, in nanoseconds since 1970; none: nothing is refused for its age.
    pub fn since(&self) -> Option<u64> {
        Some(self.bounds.as_ref().filter(|bounds| !bounds.names_only)?.since)
    }

    /// Answers for something outside the workspace that is about to be changed, or made where nothing is.
    pub(super) fn outside(&mut self, path: &Path, there: Option<&Metadata>) -> Verdict {
        let Some(bounds) = &self.bounds else { return Ok(()) };
        if is_descriptor(path) || path.starts_with(&bounds.temporary) {
            return Ok(());
        }
        if path.starts_with(TERMINALS) && there.is_some_and(|meta| is_older(meta, bounds.since)) {
            return self.beyond(path);
        }
        if TEMPORARY.iter().any(|folder| path.starts_with(folder)) {
            let own = there.is_none_or(|meta| self.made.contains(path) || is_newer(meta, bounds.since));
            if there.is_none() {
                self.made.insert(path.to_path_buf());
            }
            return if own { Ok(()) } else { self.beyond(path) };
        }
        match bounds.write.iter().any(|free| path.starts_with(free)) {
            true => Ok(()),
            false => self.beyond(path),
        }
    }

    /// Answers for something beyond the bounds: it is refused, or named where the person switched the sandbox off.
    fn beyond(&mut self, path: &Path) -> Verdict {
        let is =
            |question: fn(&Bounds, &Path) -> bool| self.bounds.as_ref().is_some_and(|bounds| question(bounds, path));
        if is(|bounds, _| bounds.names_only) {
            return self.unarchived(path, "outside the workspace, and shell.sandbox is off");
        }
        if is(|bounds, path| bounds.caches.iter().any(|cache| path.starts_with(cache))) {
            self.summary.caches += 1;
            self.summary.first_cache.get_or_insert_with(|| path.display().to_string());
            return Err(libc::EACCES);
        }
        self.summary.is_beyond = true;
        self.refuse(path)
    }
}

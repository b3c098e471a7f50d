//! The options with which memory is opened.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The place of memory for a person without a home: nothing can be below it.
pub(super) const NOWHERE: &str = "/dev/null";

/// The place of memory, and its waiting times.
#[derive(Debug, Clone)]
pub struct Options {
    /// The database file; its folder is made (0700) if it is missing.
    pub path: PathBuf,
    /// The folder of the locks that live sessions hold.
    pub locks: PathBuf,
    /// The time a locked database is waited for before memory goes on in RAM.
    pub wait: Duration,
    /// The interval at which the file is tried again while memory lives in RAM for a cause that passes.
    pub retry: Duration,
    /// The time at which every wait for a lock ends, once there is one.
    pub limit: WaitLimit,
}

/// The time at which every wait for a lock ends: the program is about to. Clones are one.
#[derive(Debug, Clone, Default)]
pub struct WaitLimit(Arc<Mutex<Option<Instant>>>);

impl WaitLimit {
    /// Ends every wait after this time, or earlier where that was said before.
    pub fn set(&self, after: Duration) {
        let (until, mut limit) = (Instant::now() + after, self.0.lock().unwrap_or_else(PoisonError::into_inner));
        *limit = Some(limit.map_or(until, |before| before.min(until)));
    }

    /// Returns whether nothing is waited for any more.
    pub fn is_over(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some_and(|until| until <= Instant::now())
    }
}

impl Options {
    /// Returns the options for `memory.db` and `locks/` in nebula's own folder, with a timeout of five seconds.
    pub fn in_folder(home: &Path) -> Self {
        Options {
            path: home.join("memory.db"),
            locks: home.join("locks"),
            wait: Duration::from_secs(5),
            retry: Duration::from_secs(1),
            limit: WaitLimit::default(),
        }
    }

    /// Returns the options for a person without a home: nothing can be stored, and memory lives in RAM.
    pub fn nowhere() -> Self {
        let none = Path::new(NOWHERE);
        Options { wait: Duration::ZERO, ..Options::in_folder(none) }
    }
}

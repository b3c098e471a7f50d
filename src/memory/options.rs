//! The options with which memory is opened.

use std::path::{Path, PathBuf};
use std::time::Duration;

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
}

impl Options {
    /// Returns the options for `memory.db` and `locks/` in nebula's own folder, with a timeout of five seconds.
    pub fn in_folder(home: &Path) -> Self {
        Options {
            path: home.join("memory.db"),
            locks: home.join("locks"),
            wait: Duration::from_secs(5),
            retry: Duration::from_secs(1),
        }
    }

    /// Returns the options for a person without a home: nothing can be stored, and memory lives in RAM.
    pub fn nowhere() -> Self {
        let none = Path::new(NOWHERE);
        Options { wait: Duration::ZERO, ..Options::in_folder(none) }
    }
}

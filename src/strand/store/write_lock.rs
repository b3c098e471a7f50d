//! The exclusive lock that a writer holds from reading the tail of the log to the commit.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use super::{Error, Log, disk};
use crate::disk::check_stop;

/// The time a writer waits for another, by default.
pub const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// The pause before asking again.
const PAUSE: Duration = Duration::from_millis(2);

/// The exclusive lock of a store, held while it lives.
#[derive(Debug)]
pub struct WriteLock(#[allow(dead_code)] File);

impl WriteLock {
    /// Takes the lock of a store. Once `stop` is cancelled it waits no longer.
    pub(super) fn wait(root: &Path, log: &Log, limit: Duration, stop: &CancellationToken) -> Result<WriteLock, Error> {
        let path = root.join(".strand/lock");
        let file = disk::open_lock(&path).map_err(|error| Error::io("open", &path, error))?;
        let mut patience = Patience { limit, since: Instant::now(), seen: log.length()? };
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(WriteLock(file)),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(Error::io("lock", &path, error)),
            }
            check_stop(stop).map_err(|error| Error::io("lock", &path, error))?;
            if patience.ends(Instant::now(), log.length()?) {
                return Err(Error::Busy(limit.as_secs()));
            }
            // A file's lock cannot be waited for with a limit of time.
            std::thread::sleep(PAUSE);
        }
    }
}

/// The time a writer waits. The lock is given to waiters in no order, so the wait begins again each time the log grows:
/// many writers at once are only slow; a writer that holds the lock and does nothing makes the others give up.
struct Patience {
    limit: Duration,
    since: Instant,
    /// The length of the log then, in bytes.
    seen: u64,
}

impl Patience {
    fn ends(&mut self, now: Instant, length: u64) -> bool {
        if length != self.seen {
            (self.since, self.seen) = (now, length);
        }
        now.duration_since(self.since) >= self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_begins_anew_when_another_got_on_and_ends_when_nobody_does() {
        let start = Instant::now();
        let mut patience = Patience { limit: Duration::from_secs(10), since: start, seen: 100 };
        let mut ends = |second: u64, length: u64| patience.ends(start + Duration::from_secs(second), length);
        // Eight that write one after the other: longer than the limit in all.
        assert!((0..8).all(|turn| !ends(9 * turn, 100 + turn)));
        assert!(!ends(72, 107));
        // A log that was made smaller is progress too.
        assert!(!ends(73, 20) && !ends(82, 20));
        assert!(ends(83, 20));
    }

    #[test]
    fn a_lock_that_nobody_gives_back_is_reported_as_busy() {
        let dir = tempfile::tempdir().unwrap();
        let store = super::super::Store::init(dir.path()).unwrap();
        let stop = CancellationToken::new();
        let held = WriteLock::wait(dir.path(), store.log(), Duration::ZERO, &stop).unwrap();
        let error = WriteLock::wait(dir.path(), store.log(), Duration::ZERO, &stop).unwrap_err();
        assert_eq!((error.kind(), error.exit()), ("busy", 7));
        stop.cancel();
        let error = WriteLock::wait(dir.path(), store.log(), LOCK_TIMEOUT, &stop).unwrap_err();
        assert!(error.to_string().contains("stopped"), "{error}");
        drop(held);
        WriteLock::wait(dir.path(), store.log(), Duration::ZERO, &stop).unwrap();
    }
}

//! Ends long work on files early: between the pieces of a large file, and while waiting for a lock.

use std::io;

use tokio_util::sync::CancellationToken;

/// The work was stopped before its end.
#[derive(Debug, thiserror::Error)]
#[error("stopped")]
struct Stopped;

/// Fails once `stop` is cancelled.
///
/// # Errors
/// When it is; [`is_stopped`] tells that error from the disk's.
pub fn check_stop(stop: &CancellationToken) -> io::Result<()> {
    match stop.is_cancelled() {
        true => Err(io::Error::other(Stopped)),
        false => Ok(()),
    }
}

/// Returns whether an error says that the work was stopped.
pub fn is_stopped(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<Stopped>())
}

//! The lock of values that are replaced whole.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Takes a lock whose value is replaced whole, so that a panic elsewhere leaves nothing half done.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

//! Fault injection for tests: ends a thread's file operations at a chosen step.

use std::cell::Cell;
use std::io;

thread_local! {
    static LEFT: Cell<Option<usize>> = const { Cell::new(None) };
    static TORN: Cell<bool> = const { Cell::new(false) };
}

/// Lets this many steps pass. The next one fails, and every later one, as if the program had ended. With `torn`, a
/// write that fails has written half of its bytes.
pub fn after(steps: usize, torn: bool) {
    LEFT.set(Some(steps));
    TORN.set(torn);
}

/// Lets every step pass again. Returns whether one had failed.
pub fn clear() -> bool {
    LEFT.replace(None) == Some(0)
}

/// Returns, of the bytes a step may write, how many it writes; fewer than asked means it fails.
pub(super) fn pass(bytes: usize) -> io::Result<usize> {
    match LEFT.get() {
        None => Ok(bytes),
        Some(0) => Err(io::Error::other("the program is gone")),
        Some(1) => {
            LEFT.set(Some(0));
            if TORN.get() && bytes > 1 { Ok(bytes / 2) } else { Err(io::Error::other("the program is gone")) }
        }
        Some(left) => {
            LEFT.set(Some(left - 1));
            Ok(bytes)
        }
    }
}

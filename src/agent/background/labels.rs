//! The definitions that hunks touch, for the screen. For blocking code alone: it parses.

use crate::proposal::FileChange;

/// Names the definitions that each hunk touches.
#[cfg(feature = "code")]
pub fn label(changes: &mut [FileChange]) {
    crate::definitions::label(changes);
}

/// Names nothing: this program reads no definitions.
#[cfg(not(feature = "code"))]
pub fn label(_: &mut [FileChange]) {}

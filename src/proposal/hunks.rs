//! Before and after → hunks; words changed inside a line.

use std::sync::Arc;

use super::{Choice, Counts, FileChange, Hunk, Placed, State};

/// A stretch of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// Byte range in the line.
    pub range: std::ops::Range<usize>,
    /// Whether it differs from the other side.
    pub changed: bool,
}

/// Cuts a change into hunks.
pub(super) fn cut(_before: &State, _after: &State, _placed: &[Placed]) -> (Vec<Hunk>, Counts) {
    (Vec::new(), Counts::default())
}

/// The after-bytes with refused hunks as they were before.
pub(super) fn keep(_change: &FileChange, _choices: &[Choice]) -> Option<Arc<[u8]>> {
    None
}

/// Words that changed between two lines: each side's stretches.
pub fn changed_words(_before: &str, _after: &str) -> Option<(Vec<Word>, Vec<Word>)> {
    None
}

//! The folds of a diff: unchanged lines that are left out, and hunks of which only the head is shown.

use std::collections::BTreeSet;

/// The folds of a diff, by file and number.
#[derive(Debug, Clone, Default)]
pub struct Folds {
    /// The folds of unchanged lines that are opened.
    pub open: BTreeSet<(usize, usize)>,
    /// The hunks whose lines are left out.
    pub shut: BTreeSet<(usize, usize)>,
}

impl Folds {
    /// Returns those of one file.
    pub fn of(&self, file: usize) -> FileFolds<'_> {
        FileFolds { folds: self, file }
    }
}

/// The folds of one file.
pub struct FileFolds<'a> {
    folds: &'a Folds,
    file: usize,
}

impl FileFolds<'_> {
    /// Returns whether a fold of unchanged lines is opened.
    pub fn is_open(&self, slot: usize) -> bool {
        self.folds.open.contains(&(self.file, slot))
    }

    /// Returns whether the lines of a hunk are left out.
    pub fn is_shut(&self, hunk: usize) -> bool {
        self.folds.shut.contains(&(self.file, hunk))
    }
}

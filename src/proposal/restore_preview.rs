//! Previews of a restore: what it would do with each file, shown before anything is restored.

use super::Counts;

/// The choice for a file that someone else changed, in a restore.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForeignChoice {
    /// The file stays as it is.
    Keep,
    /// Three-way merge.
    Merge,
    /// The archived version is restored; the current one is archived first.
    RestoreVersion,
}

/// The preview of a restore for one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestorePreview {
    /// Normalised path.
    pub path: String,
    /// The effect on it.
    pub status: RestoreStatus,
}

/// The effect of a restore on a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RestoreStatus {
    /// Will be restored.
    Restore(Counts),
    /// Is as it was already.
    Equal,
    /// Today's bytes are not what nebula last wrote.
    Foreign {
        /// The time when it was changed, in unix milliseconds.
        at: Option<i64>,
        /// Lines that differ from what nebula wrote.
        counts: Counts,
        /// The choice so far.
        choice: Option<ForeignChoice>,
        /// True if a three-way merge meets conflicts; `None`: cannot be merged.
        conflicts: Option<usize>,
    },
    /// Has no archived state, and why.
    NotArchived(String),
    /// Stays as it is although it has an archived state, and why.
    Refused(String),
    /// Is no file of the restore but something else that its command did, which is not brought back, and why.
    NotUndone(String),
}

impl RestorePreview {
    /// Returns whether it is of a file that may be written.
    pub fn is_file(&self) -> bool {
        !matches!(self.status, RestoreStatus::NotUndone(_))
    }
}

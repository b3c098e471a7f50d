//! The reasons why no definition is found.

use crate::code::CodeFault;
use crate::workspace::{PathError, ReadError};

/// The reason why nothing was found. Each says what to do.
#[derive(Debug, thiserror::Error)]
pub enum FindFault {
    /// None is called so, or not one alone.
    #[error(transparent)]
    Code(#[from] CodeFault),
    /// None is called so in the files that could be read.
    #[error("{fault}; {path} was not read: {why}")]
    Unread {
        /// The selector, and what may have been meant.
        fault: CodeFault,
        /// The first file that was not read.
        path: String,
        /// The reason.
        why: String,
    },
    /// A path may not be used.
    #[error(transparent)]
    Path(#[from] PathError),
    /// A file that was named cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
}

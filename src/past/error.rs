//! The reasons why the past cannot be told.

use crate::archive;
use crate::memory;
use crate::workspace::ReadError;

/// The reason why a moment, or the authors of a file, cannot be told.
#[derive(Debug, thiserror::Error)]
pub enum PastError {
    /// A moment is written in no known way.
    #[error("{0} is no moment: give a changeset, SESSION:MESSAGE, 14:05, 2026-11-21T14:05, -2h, or now")]
    Unknown(String),
    /// The text of a moment is empty.
    #[error("an empty text is no moment: give a changeset, SESSION:MESSAGE, 14:05, 2026-11-21T14:05, -2h, or now")]
    Nothing,
    /// A date, or a time of a date, is none.
    #[error("there is no time {0}: the months go from 01 to 12, the days to the end of the month, the hours to 23")]
    NoDate(String),
    /// A time of day is none.
    #[error("there is no time {0}: the hours go from 00 to 23, the minutes from 00 to 59")]
    NoTime(String),
    /// The moment is earlier than anything archived.
    #[error("nothing is archived before {0}")]
    TooEarly(String),
    /// Nothing is archived.
    #[error("the archive is empty: only the present state is known")]
    Empty,
    /// A session has no message of this number.
    #[error("the session has no message {0}: `nebula sessions show` lists them")]
    NoMessage(i64),
    /// Nothing was changed since then.
    #[error("nothing was changed since {0}")]
    NothingSince(String),
    /// A file has too many bytes or lines, or is no text.
    #[error("{0}: too large to blame, or no text")]
    TooLarge(String),
    /// A file is a link.
    #[error("{path} is a link to {target}, which has lines of its own")]
    Link {
        /// Its path.
        path: String,
        /// The path in it.
        target: String,
    },
    /// A file is not there.
    #[error("{0} is no file: `nebula history` lists what has versions")]
    Missing(String),
    /// The archive cannot be read, or has nothing of that name.
    #[error(transparent)]
    Archive(#[from] archive::Error),
    /// A file of the workspace cannot be read.
    #[error(transparent)]
    File(#[from] ReadError),
    /// Memory cannot be read.
    #[error(transparent)]
    Memory(#[from] memory::Error),
}

//! What can go wrong with memory, and what to do about it.

use std::io::ErrorKind;
use std::path::PathBuf;

use rusqlite::ErrorCode;

/// Why memory could not do what was asked. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No session of that id.
    #[error("there is no session {0}; `nebula sessions list` shows the ones there are")]
    NoSession(String),
    /// A shortened id that fits several sessions.
    #[error("{0:?} is the beginning of several session ids; give more of it")]
    Ambiguous(String),
    /// Another nebula has the session.
    #[error("session {0} is in use by another nebula; fork it, or close it there")]
    InUse(String),
    /// No message of that id.
    #[error("there is no message {0}")]
    NoMessage(i64),
    /// The database was made by a newer nebula.
    #[error("memory was written by a newer nebula (format {found}, this one knows {known}); update this one")]
    Newer {
        /// The database's version.
        found: i64,
        /// The newest version this program knows.
        known: i64,
    },
    /// A lock file or its folder could not be used.
    #[error("{}: {source}; check who owns the folder", path.display())]
    Lock {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Something beside the database could not be used: its folder, a source to index.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// What was asked needs the database on disk, which cannot be written at present.
    #[error("{}; try again once memory is back", .0.word())]
    NotNow(Trouble),
    /// The thread that memory runs on is gone.
    #[error("memory has stopped; start nebula again")]
    Stopped,
    /// SQLite's own complaint.
    #[error("memory: {0}")]
    Sql(#[from] rusqlite::Error),
}

/// Why the database on disk cannot be written at present.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// Another process holds it.
    Locked,
    /// It, its folder or its file system is read-only, or access is denied.
    ReadOnly,
    /// The disk is full.
    Full,
    /// Reading or writing failed.
    Io,
    /// Its contents are damaged.
    Corrupt,
    /// A newer nebula made it.
    Newer,
}

impl Trouble {
    /// What it is, in a few words: `memory is locked by another program`.
    pub fn word(self) -> &'static str {
        match self {
            Trouble::Locked => "memory is locked by another program",
            Trouble::ReadOnly => "memory is read-only",
            Trouble::Full => "the disk that holds memory is full",
            Trouble::Io => "memory could not be read or written",
            Trouble::Corrupt => "memory is damaged",
            Trouble::Newer => "memory was written by a newer nebula",
        }
    }
}

impl Error {
    /// What it says about the database as a whole; `None`: the request itself was wrong.
    pub fn trouble(&self) -> Option<Trouble> {
        let Error::Sql(e) = self else {
            return match self {
                Error::Newer { .. } => Some(Trouble::Newer),
                Error::File { source, .. } | Error::Lock { source, .. } => Some(match source.kind() {
                    ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Trouble::Full,
                    _ => Trouble::ReadOnly,
                }),
                _ => None,
            };
        };
        match e.sqlite_error_code()? {
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed => {
                Some(Trouble::Locked)
            }
            ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen => Some(Trouble::ReadOnly),
            ErrorCode::DiskFull => Some(Trouble::Full),
            ErrorCode::SystemIoFailure => Some(Trouble::Io),
            // SQLite's general error: our statements are right, so it is the schema or the header that is not.
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::Unknown => Some(Trouble::Corrupt),
            _ => None,
        }
    }
}

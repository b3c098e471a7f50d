//! The errors of memory, and how to resolve them.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use super::files::in_the_way;

/// The reason why memory failed. Nothing was changed.
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
    /// Nothing that was stored can be read, or nothing can be stored.
    #[error("{}{}; {}", .trouble.word(), place(*.trouble, path), .trouble.hint())]
    Unusable {
        /// The reason.
        trouble: Trouble,
        /// The database, or what lies in its way.
        path: PathBuf,
    },
    /// A lock file or its folder could not be used.
    #[error("{}: {source}; check who owns the folder", path.display())]
    Lock {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// A file beside the database could not be used: its folder, a source to index.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The request needs the database on disk, which cannot be written at present.
    #[error("{}; try again once memory is back", .0.word())]
    NotNow(Trouble),
    /// Memory's thread has ended.
    #[error("memory has stopped; start nebula again")]
    Stopped,
    /// A piece of work panicked. Others go on.
    #[error("memory failed in nebula itself at this request, and did not do it; try again")]
    Panicked,
    /// SQLite's own complaint.
    #[error("memory: {0}")]
    Sql(#[from] rusqlite::Error),
}

/// The reason why the database on disk cannot be written at present.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// Another process holds it.
    Locked,
    /// It or its file system is read-only.
    ReadOnly,
    /// The person may not read or write it, or its folder.
    Denied,
    /// A file of another kind is in its place, or in that of its folder.
    InTheWay,
    /// The person has no home folder for it.
    NoHome,
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
    /// Returns what it is, in a few words: `memory is locked by another program`.
    pub fn word(self) -> &'static str {
        match self {
            Trouble::Locked => "memory is locked by another program",
            Trouble::ReadOnly => "memory is read-only",
            Trouble::Denied => "memory may not be read or written: no permission",
            Trouble::InTheWay => "something else lies in the place of memory",
            Trouble::NoHome => "there is no home folder for memory",
            Trouble::Full => "the disk that holds memory is full",
            Trouble::Io => "memory could not be read or written",
            Trouble::Corrupt => "memory is damaged",
            Trouble::Newer => "memory was written by a newer nebula",
        }
    }
}

impl Trouble {
    /// Returns what to do about it.
    pub fn hint(self) -> &'static str {
        match self {
            Trouble::Locked => "end the other program, or try again later",
            Trouble::ReadOnly => "make it writable",
            Trouble::Denied => "check who owns it and its folder",
            Trouble::InTheWay => "move that away; memory is a file in a folder",
            Trouble::NoHome => "set HOME to a folder that exists, or NEBULA_HOME to one of your choice",
            Trouble::Full => "free some space there",
            Trouble::Io => "check the disk",
            Trouble::Corrupt => "start nebula again: it moves what is damaged aside",
            Trouble::Newer => "update this nebula",
        }
    }
}

/// Returns the path a trouble is about, in brackets.
fn place(trouble: Trouble, path: &Path) -> String {
    match trouble {
        Trouble::NoHome => String::new(),
        _ => format!(" ({})", path.display()),
    }
}

impl Error {
    /// Creates the error of a database that cannot be used, with the path it is about: of what is in the way, that
    /// which is of the wrong kind.
    pub(in crate::memory) fn unusable(trouble: Trouble, path: &Path) -> Error {
        let wrong =
            |at: &&Path| at.symlink_metadata().is_ok() && !(if *at == path { at.is_file() } else { at.is_dir() });
        let about = match trouble {
            Trouble::InTheWay => in_the_way(path).or_else(|| path.ancestors().find(wrong).map(Path::to_path_buf)),
            _ => None,
        };
        Error::Unusable { trouble, path: about.unwrap_or_else(|| path.into()) }
    }

    /// Returns what it says about the database as a whole; `None`: the request itself was wrong.
    pub fn trouble(&self) -> Option<Trouble> {
        let Error::Sql(e) = self else {
            return match self {
                Error::Newer { .. } => Some(Trouble::Newer),
                Error::Unusable { trouble, .. } | Error::NotNow(trouble) => Some(*trouble),
                Error::File { source, .. } | Error::Lock { source, .. } => Some(match source.kind() {
                    ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Trouble::Full,
                    ErrorKind::PermissionDenied => Trouble::Denied,
                    ErrorKind::AlreadyExists | ErrorKind::NotADirectory | ErrorKind::IsADirectory => Trouble::InTheWay,
                    ErrorKind::ReadOnlyFilesystem => Trouble::ReadOnly,
                    _ => Trouble::Io,
                }),
                _ => None,
            };
        };
        match e.sqlite_error_code()? {
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed => {
                Some(Trouble::Locked)
            }
            ErrorCode::ReadOnly => Some(Trouble::ReadOnly),
            ErrorCode::PermissionDenied | ErrorCode::CannotOpen => Some(Trouble::Denied),
            ErrorCode::DiskFull => Some(Trouble::Full),
            ErrorCode::SystemIoFailure => Some(Trouble::Io),
            // SQLite's general error: our statements are right, so it is the schema or the header that is not.
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::Unknown => Some(Trouble::Corrupt),
            _ => None,
        }
    }
}

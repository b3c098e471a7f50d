//! Errors of a store, with their exit codes.

use std::path::{Path, PathBuf};

use crate::strand::issue::Refusal;

/// A failure of a store.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum Error {
    #[error("cannot {what} {}: {source}", path.display())]
    Io { what: &'static str, path: PathBuf, source: std::io::Error },
    #[error(
        "the store is busy: another process has held its lock for {0} seconds without finishing; try again or raise --lock-timeout"
    )]
    Busy(u64),
    #[error("{} line {line}: {why}; nothing was written: run 'strand store repair'", path.display())]
    Corrupt { path: PathBuf, line: usize, why: String },
    #[error("{} has the form {form}, which a newer strand wrote; nothing was read or written, use that strand", path.display())]
    Newer { path: PathBuf, form: u64 },
    #[error("{} is not valid: {message}; fix the file or remove it", path.display())]
    BadFile { path: PathBuf, message: String },
    #[error("the checkpoint is damaged ({0}) and was removed; nothing was written, so run the command again")]
    Checkpoint(String),
    #[error("{0}; nothing was written to the store")]
    NotBegun(String),
    #[error("{0}")]
    Archive(String),
    #[error("{0}")]
    Remote(String),
    #[error("no store here: make one with 'strand init', or name one with --store")]
    NoStore,
    #[error("{0}")]
    NotFound(String),
    #[error(transparent)]
    Refused(#[from] Refusal),
}

impl Error {
    /// Returns a failed file call, with what was tried.
    pub fn io(what: &'static str, path: &Path, source: std::io::Error) -> Error {
        Error::Io { what, path: path.to_owned(), source }
    }

    /// Returns the exit code of the command.
    pub fn exit(&self) -> u8 {
        match self {
            Error::Refused(refusal) => refusal.exit(),
            Error::NoStore | Error::NotFound(_) => 6,
            _ => 7,
        }
    }

    /// Returns the word for the kind of failure.
    pub fn kind(&self) -> &'static str {
        match self {
            Error::Io { .. } => "io",
            Error::Busy(_) => "busy",
            Error::Corrupt { .. } | Error::Checkpoint(_) => "corrupt",
            Error::Archive(_) => "archive",
            Error::NotBegun(_) => "not-begun",
            Error::Remote(_) => "remote",
            Error::BadFile { .. } => "bad-file",
            Error::Newer { .. } => "newer",
            Error::NoStore | Error::NotFound(_) => "not-found",
            Error::Refused(refusal) => refusal.kind(),
        }
    }
}

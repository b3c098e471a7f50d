//! The reasons why a decided proposal was not written.

use std::io;

use crate::archive::{self, Id, RecordedFile};
use crate::disk;
use crate::proposal::State;
use crate::workspace::{PathError, ReadError};

/// The reason why writing failed. Nothing was changed, unless the message says so.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// A file differs from the proposal's state of it. Nothing was written.
    #[error("{path} {}: nothing was written; read it again", how_changed(.expected, .found))]
    Conflict {
        /// Normalised path.
        path: String,
        /// The state as the proposal knew it.
        expected: State,
        /// The state as it is.
        found: State,
        /// The changeset of states before, and its files for memory, where that was made by then.
        archived: Option<Box<(Id, Vec<RecordedFile>)>>,
    },
    /// Nothing can be restored for what is in its place, or in it: each path in a line.
    #[error("{0}: nothing was written")]
    InTheWay(String),
    /// A path may not be written, or not any more.
    #[error("{0}: nothing was written")]
    Path(#[from] PathError),
    /// A file cannot be read again.
    #[error("{0}: nothing was written")]
    Read(#[from] ReadError),
    /// A file may not be written by anyone.
    #[error("{0} is read-only: nothing was written; make it writable first (chmod u+w)")]
    ReadOnly(String),
    /// The archive failed, so nothing was written.
    #[error("cannot archive, so nothing was written: {0}")]
    Archive(#[from] archive::Error),
    /// Ops of a Strand store could not be taken back.
    #[error("{0}")]
    Store(String),
    /// A file could not be written; those before it were put back.
    #[error("cannot write {path}: {}; {}", disk::words(source), outcome(.not_put_back, .removed, .changeset))]
    Write {
        /// Normalised path of the file that failed.
        path: String,
        /// The error of the file system.
        source: io::Error,
        /// The changeset that holds all states before.
        changeset: Option<Id>,
        /// Its files, for memory.
        archived: Vec<RecordedFile>,
        /// Files that could not be put back.
        not_put_back: Vec<String>,
        /// Pipes, sockets and devices that were removed, each in a line.
        removed: Box<[String]>,
    },
}

impl ApplyError {
    /// Returns whether the work was stopped before anything was written.
    pub fn is_stopped(&self) -> bool {
        match self {
            ApplyError::Archive(error) => error.is_stopped(),
            ApplyError::Read(ReadError::Io { source, .. }) => disk::is_stopped(source),
            ApplyError::Write { source, not_put_back, removed, .. } => {
                disk::is_stopped(source) && not_put_back.is_empty() && removed.is_empty()
            }
            _ => false,
        }
    }
}

fn how_changed(expected: &State, found: &State) -> &'static str {
    match (expected.is_absent(), found.is_absent()) {
        (true, false) => "appeared on disk meanwhile",
        (false, true) => "vanished from disk meanwhile",
        _ => "changed on disk meanwhile",
    }
}

fn outcome(not_put_back: &[String], removed: &[String], changeset: &Option<Id>) -> String {
    let files = match (not_put_back, changeset) {
        ([], _) => "all files are as before".into(),
        (left, Some(id)) => format!("could not put back {}; changeset {id} holds what was there", left.join(", ")),
        (left, None) => format!("could not put back {}", left.join(", ")),
    };
    [&[files], removed].concat().join("; ")
}

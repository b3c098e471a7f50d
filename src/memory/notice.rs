//! Notices about the database.

use std::path::PathBuf;

use super::Trouble;

/// A notice about the database for the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DatabaseNotice {
    /// It was damaged: it was moved aside, and a new one begun.
    MovedAside {
        /// Its new name.
        to: PathBuf,
    },
    /// It is locked; memory waits for it. Said once a wait, while it lasts.
    Waiting,
    /// It cannot be written; the session goes on in RAM until [`super::Memory::reconnect`] succeeds.
    InMemoryOnly {
        /// The reason.
        trouble: Trouble,
    },
    /// It is written again, and holds what was stored in RAM.
    Back,
    /// Something was not stored or read; the caller went on without it.
    Failed {
        /// The error, and how to resolve it.
        error: String,
    },
}

impl std::fmt::Display for DatabaseNotice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            DatabaseNotice::MovedAside { to } => {
                write!(f, "memory was damaged: it is kept as {}, and a new one was begun", to.display())
            }
            DatabaseNotice::Waiting => write!(f, "memory is locked by another program; waiting for it"),
            DatabaseNotice::InMemoryOnly { trouble } => {
                write!(f, "{}: this session is kept in RAM only", trouble.word())
            }
            DatabaseNotice::Back => write!(f, "memory is written again; nothing was lost"),
            DatabaseNotice::Failed { error } => write!(f, "{error}"),
        }
    }
}

/// Called with what happens during a call into memory. It must not call memory itself.
pub type Listener = Box<dyn Fn(DatabaseNotice) + Send + Sync>;

//! The reasons why a tool refuses, in a form that an agent can act on.

use serde_json::{Value, json};

use crate::archive::{self, RestoreError};
use crate::execute::ApplyError;
use crate::memory;
use crate::past::PastError;
use crate::restore_plan::PlanError;
use crate::workspace::{PathError, ReadError};

/// The reason why a tool refuses.
#[derive(Debug)]
pub(super) struct ToolRefusal {
    /// Its kind, one word that does not change.
    pub kind: &'static str,
    /// The event, and what to do about it.
    pub message: String,
}

impl ToolRefusal {
    /// Creates one.
    pub fn new(kind: &'static str, message: impl Into<String>) -> Self {
        ToolRefusal { kind, message: message.into() }
    }

    /// Returns the object that a client gets.
    pub fn value(&self) -> Value {
        json!({"error": {"kind": self.kind, "message": self.message}})
    }
}

impl From<archive::Error> for ToolRefusal {
    fn from(error: archive::Error) -> Self {
        let kind = match &error {
            archive::Error::Unknown { .. } => "not-found",
            archive::Error::Ambiguous { .. } => "ambiguous",
            archive::Error::Busy { .. } => "busy",
            archive::Error::Damaged { .. } => "damaged",
            _ => "io",
        };
        ToolRefusal::new(kind, error.to_string())
    }
}

impl From<memory::Error> for ToolRefusal {
    fn from(error: memory::Error) -> Self {
        ToolRefusal::new("memory", error.to_string())
    }
}

impl From<PathError> for ToolRefusal {
    fn from(error: PathError) -> Self {
        ToolRefusal::new("path", error.to_string())
    }
}

impl From<ReadError> for ToolRefusal {
    fn from(error: ReadError) -> Self {
        let kind = match &error {
            ReadError::NotAFile { .. } => "path",
            ReadError::TooLarge { .. } => "too-large",
            ReadError::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound => "not-found",
            ReadError::Io { .. } => "io",
        };
        ToolRefusal::new(kind, error.to_string())
    }
}

impl From<RestoreError> for ToolRefusal {
    fn from(error: RestoreError) -> Self {
        let kind = match error {
            RestoreError::Archive(error) => return error.into(),
            RestoreError::Zero | RestoreError::OpsOnce(_) => "usage",
            RestoreError::Store(_) | RestoreError::StoreWithFiles(_) => "store",
            RestoreError::Unreadable(_) => "damaged",
            RestoreError::Empty
            | RestoreError::NothingChanged
            | RestoreError::NoVersions { .. }
            | RestoreError::TooFar { .. } => "not-found",
        };
        ToolRefusal::new(kind, error.to_string())
    }
}

impl From<PlanError> for ToolRefusal {
    fn from(error: PlanError) -> Self {
        match error {
            PlanError::Archive(error) => error.into(),
            PlanError::Memory(error) => error.into(),
            other => ToolRefusal::new("not-found", other.to_string()),
        }
    }
}

impl From<PastError> for ToolRefusal {
    fn from(error: PastError) -> Self {
        match error {
            PastError::Archive(error) => error.into(),
            PastError::File(error) => error.into(),
            PastError::Memory(error) => error.into(),
            other => ToolRefusal::new("not-found", other.to_string()),
        }
    }
}

impl From<ApplyError> for ToolRefusal {
    fn from(error: ApplyError) -> Self {
        let message = error.to_string();
        let kind = match error {
            ApplyError::Conflict { .. } => "stale",
            ApplyError::Path(_) | ApplyError::InTheWay(_) => "path",
            ApplyError::Read(error) => ToolRefusal::from(error).kind,
            ApplyError::ReadOnly(_) => "read-only",
            ApplyError::Archive(error) => ToolRefusal::from(error).kind,
            ApplyError::Store(_) => "store",
            ApplyError::Write { .. } => "io",
        };
        ToolRefusal::new(kind, message)
    }
}

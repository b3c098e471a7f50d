//! Why something was refused, with its exit code.

use serde_json::{Value, json};

use super::References;
use crate::strand::id::Layer;
use crate::strand::lang::token::SyntaxError;

/// A refusal: nothing was changed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs)]
pub enum Refusal {
    #[error("{message}")]
    Syntax { message: String, faults: Vec<String> },
    #[error("{0}")]
    BadName(String),
    #[error("{0} exists already")]
    Exists(String),
    #[error("there is no {name}{}", near.as_ref().map(|near| format!("; did you mean {near}?")).unwrap_or_default())]
    NotFound { name: String, near: Option<String> },
    #[error("the patch does not apply: {0}")]
    PatchFailed(String),
    #[error("the patch is ambiguous: {0}")]
    PatchAmbiguous(String),
    #[error("{0}")]
    Referenced(References),
    #[error("{0}")]
    Locked(String),
    #[error("{0}")]
    Superseded(String),
    #[error("malformed op: {0}")]
    Malformed(String),
    #[error("{0}")]
    NewErrors(String),
    #[error("{0}")]
    Usage(String),
}

impl Refusal {
    /// The refusal of a body that does not parse, with the place of each fault.
    pub fn syntax(layer: Layer, name: &str, text: &str, faults: &[SyntaxError]) -> Refusal {
        let place = |fault: &SyntaxError| {
            let (line, column) = fault.line_col(text);
            format!("E0001 at {layer}.{name}.body:{line}:{column}: {}", fault.message)
        };
        let faults: Vec<String> = faults.iter().map(place).collect();
        Refusal::Syntax { message: format!("the body does not parse\n  {}", faults.join("\n  ")), faults }
    }

    /// The exit code of the command.
    pub fn exit(&self) -> u8 {
        match self {
            Refusal::NewErrors(_) => 1,
            Refusal::Exists(_) | Refusal::Referenced(_) | Refusal::Superseded(_) => 3,
            Refusal::Locked(_) => 5,
            Refusal::NotFound { .. } => 6,
            _ => 2,
        }
    }

    /// The word for the kind of refusal.
    pub fn kind(&self) -> &'static str {
        match self {
            Refusal::Syntax { .. } => "syntax",
            Refusal::BadName(_) => "bad-name",
            Refusal::Exists(_) => "exists",
            Refusal::NotFound { .. } => "not-found",
            Refusal::PatchFailed(_) => "patch-failed",
            Refusal::PatchAmbiguous(_) => "patch-ambiguous",
            Refusal::Referenced(_) => "referenced",
            Refusal::Locked(_) => "locked",
            Refusal::Superseded(_) => "superseded",
            Refusal::Malformed(_) => "malformed",
            Refusal::NewErrors(_) => "new-errors",
            Refusal::Usage(_) => "usage",
        }
    }

    /// What a program needs to act on it.
    pub fn details(&self) -> Value {
        match self {
            Refusal::Syntax { faults, .. } => json!({"faults": faults}),
            Refusal::NotFound { near, .. } => json!({"did_you_mean": near}),
            Refusal::Referenced(references) => json!({"referenced_by": references.places()}),
            _ => json!({}),
        }
    }
}

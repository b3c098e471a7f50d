//! Reasons for a refusal, with their exit codes.

use serde_json::{Value, json};

use super::references::References;
use crate::strand::id::Layer;
use crate::strand::lang::token::SyntaxError;

/// The place where a body does not parse.
#[derive(Clone, Debug, PartialEq)]
pub struct Unparsed {
    /// Code, place and what is wrong there: `E0001 at slot.n.body:1:7: ..`.
    pub message: String,
    /// The line of the fault.
    pub line: String,
    /// The byte of the line it begins at.
    pub start: usize,
}

impl Unparsed {
    /// Returns a fault of a text, at a place that is called `location`.
    pub fn new(location: &str, text: &str, fault: &SyntaxError) -> Unparsed {
        let (line, column) = fault.line_col(text);
        let message = format!("E0001 at {location}:{line}:{column}: {}", fault.message);
        let source_line = text.split('\n').nth(line - 1).unwrap_or_default();
        let start = source_line.char_indices().nth(column - 1).map_or(source_line.len(), |(at, _)| at);
        Unparsed { message, line: source_line.trim_end_matches('\r').to_owned(), start: start.min(source_line.len()) }
    }
}

/// A refusal: nothing was changed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs)]
pub enum Refusal {
    #[error("{message}{}", faults.iter().map(|fault| format!("\n  {}", fault.message)).collect::<String>())]
    Syntax { message: String, faults: Vec<Unparsed> },
    #[error("{0}")]
    BadName(String),
    #[error("{0} exists already")]
    Exists(String),
    #[error("{0}")]
    Hidden(String),
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
    #[error("{name} changed since: its hash is {found}; view it again and issue the edit anew")]
    Stale { name: String, found: String },
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
    /// Returns the refusal of a body that does not parse, with the place of each fault.
    pub fn syntax(layer: Layer, name: &str, text: &str, faults: &[SyntaxError]) -> Refusal {
        let location = format!("{layer}.{name}.body");
        let faults = faults.iter().map(|fault| Unparsed::new(&location, text, fault)).collect();
        Refusal::Syntax { message: "the body does not parse".to_owned(), faults }
    }

    /// Returns the exit code of the command.
    pub fn exit(&self) -> u8 {
        match self {
            Refusal::NewErrors(_) => 1,
            Refusal::Exists(_)
            | Refusal::Hidden(_)
            | Refusal::Referenced(_)
            | Refusal::Stale { .. }
            | Refusal::Superseded(_) => 3,
            Refusal::Locked(_) => 5,
            Refusal::NotFound { .. } => 6,
            _ => 2,
        }
    }

    /// Returns the word for the kind of refusal.
    pub fn kind(&self) -> &'static str {
        match self {
            Refusal::Syntax { .. } => "syntax",
            Refusal::BadName(_) => "bad-name",
            Refusal::Exists(_) => "exists",
            Refusal::Hidden(_) => "hidden",
            Refusal::NotFound { .. } => "not-found",
            Refusal::PatchFailed(_) => "patch-failed",
            Refusal::PatchAmbiguous(_) => "patch-ambiguous",
            Refusal::Referenced(_) => "referenced",
            Refusal::Locked(_) => "locked",
            Refusal::Stale { .. } => "stale",
            Refusal::Superseded(_) => "superseded",
            Refusal::Malformed(_) => "malformed",
            Refusal::NewErrors(_) => "new-errors",
            Refusal::Usage(_) => "usage",
        }
    }

    /// Returns what a program needs to act on it.
    pub fn details(&self) -> Value {
        match self {
            Refusal::Syntax { faults, .. } => {
                json!({"faults": faults.iter().map(|fault| &fault.message).collect::<Vec<_>>()})
            }
            Refusal::NotFound { near, .. } => json!({"did_you_mean": near}),
            Refusal::Stale { found, .. } => json!({"hash": found}),
            Refusal::Referenced(references) => json!({"referenced_by": references.places()}),
            _ => json!({}),
        }
    }
}

//! The reasons why a command did nothing: one sentence, a word and an exit code each.

use std::fmt;

use serde_json::{Value, json};

use crate::cli::out;
use crate::cli::print::{is_broken_pipe, one_line};
use crate::code::CodeFault;
use crate::definitions::FindFault;
use crate::execute::ApplyError;

/// The exit code of a wrong use.
pub const USAGE: u8 = 2;
/// The exit code of what was refused.
pub const REFUSED: u8 = 3;
const NOT_FOUND: u8 = 6;
const BROKEN: u8 = 7;
/// The kind of a failure to write to whoever reads the output no more.
const CLOSED: &str = "closed";

/// A failure of a command.
#[derive(Debug)]
pub struct Failed {
    kind: &'static str,
    exit: u8,
    message: String,
    details: Value,
}

impl Failed {
    /// Creates one without details.
    pub fn new(kind: &'static str, exit: u8, message: impl Into<String>) -> Failed {
        Failed { kind, exit, message: message.into(), details: json!({}) }
    }

    /// Returns it with what a program needs to act on it.
    pub fn with(self, details: Value) -> Failed {
        Failed { details, ..self }
    }

    /// Returns it with more to its sentence.
    pub fn and(mut self, more: &str) -> Failed {
        self.message.push_str(more);
        self
    }

    /// Returns whether it is that something is not what it was when it was read.
    pub fn is_stale(&self) -> bool {
        self.kind == "stale"
    }

    /// Returns whether it is that whoever reads the output has seen enough.
    pub fn is_closed_pipe(&self) -> bool {
        self.kind == CLOSED
    }

    /// Tells it on standard error, and in JSON on standard output if that was asked for. Returns the exit code.
    pub fn tell(&self, json: bool) -> u8 {
        out::aside(format_args!("Error: {}", self.message));
        if json {
            let mut error = self.value();
            error["code"] = self.exit.into();
            // Whoever reads no more has seen enough.
            let _ = out::say_json(&json!({"error": error}));
        }
        self.exit
    }

    /// Returns it for a program: the first line of its sentence, and what it needs to act on it.
    pub fn value(&self) -> Value {
        let message = self.message.lines().next().unwrap_or_default();
        json!({"kind": self.kind, "message": message, "details": self.details})
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<CodeFault> for Failed {
    fn from(fault: CodeFault) -> Failed {
        let exit = match &fault {
            CodeFault::Stale { .. } | CodeFault::Others { .. } => REFUSED,
            CodeFault::NotFound { .. } | CodeFault::NoDefinitions(_) | CodeFault::NoFiles(_) => NOT_FOUND,
            CodeFault::Usage(_)
            | CodeFault::Unreadable { .. }
            | CodeFault::Ambiguous { .. }
            | CodeFault::Syntax { .. }
            | CodeFault::NotOne { .. } => USAGE,
        };
        let details = match &fault {
            CodeFault::NotFound { near, .. } => json!({"did_you_mean": near}),
            CodeFault::Ambiguous { candidates, .. } => json!({"candidates": candidates}),
            CodeFault::Stale { hash, .. } => json!({"hash": hash}),
            CodeFault::Syntax { line, .. } => json!({"line": line}),
            _ => json!({}),
        };
        Failed { kind: fault.kind(), exit, message: fault.to_string(), details }
    }
}

impl From<FindFault> for Failed {
    fn from(fault: FindFault) -> Failed {
        match fault {
            FindFault::Code(fault) => fault.into(),
            FindFault::Unread { fault, path, why } => Failed::from(fault).and(&format!("; {path} was not read: {why}")),
            FindFault::Path(error) => anyhow::Error::from(error).into(),
            FindFault::Read(error) => anyhow::Error::from(error).into(),
        }
    }
}

impl From<anyhow::Error> for Failed {
    fn from(error: anyhow::Error) -> Failed {
        let stale = matches!(error.downcast_ref(), Some(ApplyError::Conflict { .. }));
        let (kind, exit) = match stale {
            true => ("stale", REFUSED),
            false if is_broken_pipe(&error) => (CLOSED, BROKEN),
            false => ("io", BROKEN),
        };
        Failed::new(kind, exit, one_line(&error))
    }
}

impl From<std::io::Error> for Failed {
    fn from(error: std::io::Error) -> Failed {
        anyhow::Error::from(error).into()
    }
}

//! The answers of tools.

use serde_json::Value;

/// The most entries of an answer, unless its caller names another number.
pub const LIMIT: usize = 200;

/// The answer of a tool.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolAnswer {
    /// The tool succeeded.
    Done(Value),
    /// It refused: `{"error": {kind, message, details}}`, or a result in which something was refused.
    Refused(Value),
}

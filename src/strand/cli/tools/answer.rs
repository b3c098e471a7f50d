//! What tools answer.

use serde_json::Value;

/// How many entries an answer has at most, unless its caller names another number.
pub const LIMIT: usize = 200;

/// What a tool answers.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolAnswer {
    /// It did what it was asked to.
    Done(Value),
    /// It refused: `{"error": {kind, message, details}}`, or a result in which something was refused.
    Refused(Value),
}

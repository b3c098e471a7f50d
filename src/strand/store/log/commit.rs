//! Commit lines: each closes a transaction.

use serde_json::Value;

/// A commit line.
pub(super) struct Commit {
    /// The number of lines it closes.
    pub lines: u64,
    /// The sum of these lines.
    pub sum: String,
    /// True if it closes everything before it, after a merge of two logs.
    pub merged: bool,
}

impl Commit {
    pub(super) fn read(value: &Value) -> Option<Commit> {
        value.get("commit")?;
        Some(Commit {
            lines: value.get("n").and_then(Value::as_u64).unwrap_or(u64::MAX),
            sum: value.get("sum").and_then(Value::as_str).unwrap_or_default().to_owned(),
            merged: value.get("merged").and_then(Value::as_bool).unwrap_or(false),
        })
    }
}

//! The text of a value, in whichever form a server puts it.

use serde_json::Value;

/// Returns the text in a value that is a string, or a list of entries that hold one.
pub(super) fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(entries) => entries.iter().map(words).collect(),
        Value::Object(entry) => entry.get("text").or_else(|| entry.get("summary")).map(words).unwrap_or_default(),
        _ => String::new(),
    }
}

//! The words of JSON Schema in which tools describe their arguments and answers.

use serde::Deserialize;
use serde_json::{Value, json};

/// Returns an object with these properties and no others.
pub fn object(properties: Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

/// Returns a text.
pub fn text() -> Value {
    json!({"type": "string"})
}

/// Returns true or false.
pub fn flag() -> Value {
    json!({"type": "boolean"})
}

/// Returns a whole number, which is `least` or more.
pub fn number(least: u32) -> Value {
    json!({"type": "integer", "minimum": least})
}

/// Returns a list.
pub fn list(items: Value) -> Value {
    json!({"type": "array", "items": items})
}

/// Returns what a schema allows, or null.
pub fn nullable(schema: Value) -> Value {
    json!({"anyOf": [schema, {"type": "null"}]})
}

/// Returns a schema with words for its reader.
pub fn described(mut schema: Value, words: &str) -> Value {
    schema["description"] = words.into();
    schema
}

/// Returns how long a page may be: a [`PageLimit`].
pub fn limit(usual: usize) -> Value {
    described(number(1), &format!("at most so many; {usual} if not given"))
}

/// The most entries that a caller wants of a page: one or more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "usize")]
pub struct PageLimit(usize);

impl PageLimit {
    /// Returns how many are wanted; `usual` where nothing was said.
    pub fn or(limit: Option<PageLimit>, usual: usize) -> usize {
        limit.map_or(usual, |limit| limit.0)
    }
}

impl TryFrom<usize> for PageLimit {
    type Error = &'static str;

    fn try_from(limit: usize) -> Result<PageLimit, &'static str> {
        if limit == 0 { Err("limit must be at least 1") } else { Ok(PageLimit(limit)) }
    }
}

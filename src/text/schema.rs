//! The words of JSON Schema in which tools describe their arguments and answers.

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

/// Returns how long a page may be.
pub fn limit(usual: usize) -> Value {
    described(number(1), &format!("at most so many; {usual} if not given"))
}

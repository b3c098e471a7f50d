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
    described(number(1), &format!("at most so many, {MOST} at most; {usual} if not given"))
}

/// The most entries of a page, whatever its caller wants: what a server holds of one answer stays bounded.
const MOST: usize = 1_000;

/// The most entries that a caller wants of a page: one or more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "usize")]
pub struct PageLimit(usize);

impl PageLimit {
    /// Returns how many a page holds at most: what is wanted, up to 1,000; `usual` where nothing was said.
    pub fn or(limit: Option<PageLimit>, usual: usize) -> usize {
        limit.map_or(usual, |limit| limit.0.min(MOST))
    }
}

impl TryFrom<usize> for PageLimit {
    type Error = &'static str;

    fn try_from(limit: usize) -> Result<PageLimit, &'static str> {
        if limit == 0 { Err("limit must be at least 1") } else { Ok(PageLimit(limit)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_bounded_whatever_is_wanted() {
        let wanted = |limit: usize| PageLimit::or(Some(PageLimit::try_from(limit).unwrap()), 200);
        assert_eq!((wanted(7), wanted(MOST), wanted(100_000), PageLimit::or(None, 200)), (7, MOST, MOST, 200));
        assert!(PageLimit::try_from(0).is_err());
    }
}

//! The checked arguments of a call: the errors tell a model what to write instead.

use serde_json::{Map, Value};

/// The arguments of one call.
#[derive(Debug, Clone)]
pub struct Args(Map<String, Value>);

impl Args {
    /// Reads parsed arguments. Nothing at all counts as an empty object.
    ///
    /// # Errors
    /// When they are no JSON object.
    pub fn new(value: Value) -> Result<Self, String> {
        match value {
            Value::Object(map) => Ok(Args(map)),
            Value::Null => Ok(Args(Map::new())),
            other => Err(format!("the arguments must be one JSON object, but are {}", kind(&other))),
        }
    }

    /// Returns all of them as they were written.
    pub fn into_map(self) -> Map<String, Value> {
        self.0
    }

    /// Returns a required string.
    ///
    /// # Errors
    /// When it is missing or no string.
    pub fn text(&self, name: &str) -> Result<&str, String> {
        match self.0.get(name) {
            Some(Value::String(s)) => Ok(s),
            None | Some(Value::Null) => Err(format!("`{name}` is missing: it must be a string")),
            Some(other) => Err(format!("`{name}` must be a string, but is {}", kind(other))),
        }
    }

    /// Returns a value as it was written.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// Returns an optional string.
    ///
    /// # Errors
    /// When it is there and no string.
    pub fn maybe_text(&self, name: &str) -> Result<Option<&str>, String> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(_) => self.text(name).map(Some),
        }
    }

    /// Returns an optional truth value, false when left out. Models also write it as a string.
    ///
    /// # Errors
    /// When it is anything else.
    pub fn flag(&self, name: &str) -> Result<bool, String> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(b)) => Ok(*b),
            Some(Value::String(s)) if s == "true" => Ok(true),
            Some(Value::String(s)) if s == "false" => Ok(false),
            Some(other) => Err(format!("`{name}` must be true or false, but is {}", kind(other))),
        }
    }

    /// Returns an optional whole number from 1 on. Models also write it as a string.
    ///
    /// # Errors
    /// When it is anything else.
    pub fn number(&self, name: &str) -> Result<Option<usize>, String> {
        let wrong = |what: String| Err(format!("`{name}` must be a whole number from 1 on, but is {what}"));
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Number(n)) => {
                match n.as_u64().or_else(|| n.as_f64().filter(|f| f.fract() == 0.0 && *f >= 0.0).map(|f| f as u64)) {
                    Some(n) if n >= 1 => Ok(usize::try_from(n).ok()),
                    _ => wrong(n.to_string()),
                }
            }
            Some(Value::String(s)) => match s.trim().parse() {
                Ok(n) if n >= 1 => Ok(Some(n)),
                _ => wrong(format!("{s:?}")),
            },
            Some(other) => wrong(kind(other).to_string()),
        }
    }

    /// Returns an optional list of strings; also a string with one a line, or a list written as a string.
    ///
    /// # Errors
    /// When it is anything else.
    pub fn texts(&self, name: &str) -> Result<Vec<String>, String> {
        let wrong = |v: &Value| format!("`{name}` must be a list of strings, but holds {}", kind(v));
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Array(list)) => {
                list.iter().map(|v| v.as_str().map(str::to_string).ok_or_else(|| wrong(v))).collect()
            }
            Some(Value::String(s)) => match serde_json::from_str::<Vec<String>>(s) {
                Ok(list) => Ok(list),
                Err(_) => Ok(s.lines().filter(|l| !l.trim().is_empty()).map(str::to_string).collect()),
            },
            Some(other) => Err(wrong(other)),
        }
    }
}

/// Returns what kind of value it is, in a sentence.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn wrong_types_are_named() {
        let args = Args::new(json!({"path": 3, "n": 0, "yes": "true", "list": ["a", 1]})).expect("an object");
        assert_eq!(args.text("path"), Err("`path` must be a string, but is a number".into()));
        assert_eq!(args.text("other"), Err("`other` is missing: it must be a string".into()));
        assert!(args.number("n").is_err());
        assert_eq!(args.flag("yes"), Ok(true));
        assert!(args.texts("list").is_err());
        assert!(Args::new(json!([1])).is_err());
    }
}

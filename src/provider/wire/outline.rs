//! The outline of a refused request, without its contents: for finding out why a server does not take it.

use reqwest::Url;
use serde_json::{Map, Value, json};

use crate::provider::{Error, Wire};

/// Fields whose texts are words of the format, and no contents.
const WORDS: [&str; 12] = [
    "role",
    "type",
    "name",
    "model",
    "effort",
    "mimeType",
    "media_type",
    "thinkingLevel",
    "reasoning_effort",
    "tool_choice",
    "tool_name",
    "ttl",
];
/// Fields that hold what a model or the person wrote, whole.
const CONTENTS: [&str; 8] =
    ["parameters", "input_schema", "parametersJsonSchema", "arguments", "input", "args", "response", "data"];
/// The number of entries of a list that are shown at its beginning; [`LAST`] are shown at its end.
const FIRST: usize = 4;
const LAST: usize = 12;

/// Returns the shape of a request, as JSON: every text in it stands as its length.
pub(super) fn outline(wire: Wire, address: &Url, body: &[u8], error: &Error) -> String {
    let bytes = body.len();
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let mut address = address.clone();
    address.set_query(None);
    // A name or a password in an address is nobody's business.
    let _ = (address.set_username(""), address.set_password(None));
    let record = json!({
        "wire": wire.name(), "address": address.as_str(), "status": error.status, "requestId": error.request_id,
        "kind": error.kind.word(), "message": error.message, "hint": error.hint,
        "bytes": bytes, "request": shape("", &body),
    });
    record.to_string()
}

fn shape(field: &str, value: &Value) -> Value {
    match value {
        // `input` is the list of items of one format, and the arguments of a call in another.
        Value::Object(_) | Value::String(_) if CONTENTS.contains(&field) => size(value),
        Value::String(text) if WORDS.contains(&field) && text.len() <= 200 => value.clone(),
        Value::String(_) => size(value),
        Value::Array(list) if list.len() > FIRST + LAST + 1 => {
            let entry = |value: &Value| entry_of(field, value);
            let between = Value::from(format!("{} more", list.len() - FIRST - LAST));
            let (first, last) = (list.iter().take(FIRST), list.iter().skip(list.len() - LAST));
            first.map(entry).chain([between]).chain(last.map(entry)).collect()
        }
        Value::Array(list) => list.iter().map(|value| entry_of(field, value)).collect(),
        Value::Object(fields) => {
            let one = |(name, value): (&String, &Value)| (name.clone(), shape(name, value));
            fields.iter().map(one).collect::<Map<_, _>>().into()
        }
        other => other.clone(),
    }
}

/// Returns an entry of a list: an object of it is looked into, whatever the list is called.
fn entry_of(field: &str, value: &Value) -> Value {
    shape(if value.is_object() { "" } else { field }, value)
}

fn size(value: &Value) -> Value {
    let bytes = value.as_str().map_or_else(|| value.to_string().len(), str::len);
    format!("{bytes} bytes").into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::ErrorKind;

    #[test]
    fn an_outline_shows_the_shape_and_no_contents() {
        let tool = json!({"type": "function", "name": "readFile", "description": "secret words",
            "parameters": {"properties": {"secret": {}}}});
        let mut input = vec![json!({"role": "user", "content": [{"type": "input_text", "text": "secret"}]})];
        input.push(json!({"type": "function_call", "name": "readFile", "arguments": "{\"path\":\"secret\"}"}));
        let content = json!([{"type": "tool_use", "name": "list", "input": {"secret": 1}}]);
        input.push(json!({"role": "assistant", "content": content}));
        input.extend((0..30).map(|_| json!({"role": "user", "content": "secret"})));
        let body = json!({"model": "m", "instructions": "secret", "max_tokens": 9, "tools": [tool], "input": input});
        let address = Url::parse("https://me:secret@host.test/v1/responses?key=secret").expect("a URL");
        let error = Error { status: Some(400), ..Error::new(ErrorKind::BadRequest, "refused", "It says: no") };
        let text = outline(Wire::Responses, &address, body.to_string().as_bytes(), &error);
        assert!(!text.contains("secret"), "{text}");
        let record: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(record["address"], "https://host.test/v1/responses");
        assert_eq!((&record["status"], &record["request"]["max_tokens"]), (&json!(400), &json!(9)));
        assert_eq!(
            record["request"]["input"][0],
            json!({"role": "user", "content": [{"type": "input_text", "text": "6 bytes"}]})
        );
        assert_eq!(record["request"]["input"][4], "17 more");
        assert_eq!(record["request"]["tools"][0]["name"], "readFile");
    }
}

//! The arguments of a call of the past, as servers that read them back want them.

use serde_json::json;
use serde_json::value::RawValue;

use crate::provider::ToolCall;

/// Returns the arguments as the text of a JSON object: byte for byte where they are one.
pub(super) fn object(call: &ToolCall) -> String {
    let arguments = call.arguments.trim();
    match serde_json::from_str::<&RawValue>(arguments) {
        Ok(json) if json.get().starts_with('{') => arguments.to_string(),
        _ if arguments.is_empty() => "{}".into(),
        _ => json!({"unreadable": call.arguments}).to_string(),
    }
}

//! The cause of a failure and the use of a step, in the lines for programs.

use serde_json::{Value, json};

use crate::protocol::{Cause, EventBody};

/// Adds what a failure was by kind, with the status and the server's name for the request where there are any.
pub fn add_cause(line: &mut Value, cause: &Cause) {
    if cause.kind.is_empty() {
        return;
    }
    line["kind"] = cause.kind.into();
    if let Some(status) = cause.status {
        line["status"] = status.into();
    }
    if let Some(id) = &cause.request_id {
        line["requestId"] = id.as_str().into();
    }
}

/// Returns the line of a step's tokens, or of a summary that stands for the conversation.
pub fn tokens_line(event: &EventBody) -> Value {
    match event {
        EventBody::Usage(usage) => json!({
            "type": "usage", "input": usage.input, "output": usage.output, "cacheRead": usage.cache_read,
            "cacheWrite": usage.cache_write, "thinking": usage.thinking, "cost": usage.cost,
            "estimated": usage.estimated, "prefix": usage.prefix,
        }),
        EventBody::Compacted { before, after } => json!({"type": "compacted", "before": before, "after": after}),
        _ => Value::Null,
    }
}

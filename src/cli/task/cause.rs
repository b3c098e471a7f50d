//! What a failure was, in the lines for programs.

use serde_json::Value;

use crate::protocol::Cause;

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

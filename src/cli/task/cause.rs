//! The cause of a failure and the use of a step, in the lines for programs.

use serde_json::{Value, json};

use crate::messages::{agent as say, provider};
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

/// Returns what to do about a notice, where no command of the screen can be typed.
pub fn words_here(detail: &str) -> String {
    let said = [
        (say::chooses_another(), say::chooses_another_here()),
        (say::grants_again(), say::grants_again_here()),
        (say::compact_or_new(), say::compact_or_new_here()),
        (say::compact_is_off(), say::compact_is_off_here()),
        (provider::shorter_hint(), provider::shorter_hint_here()),
    ];
    let here = said.iter().find_map(|(on_screen, here)| Some(format!("{here}{}", detail.strip_prefix(on_screen)?)));
    here.unwrap_or_else(|| detail.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_command_of_the_screen_is_named_where_none_can_be_typed() {
        let too_long = format!("{} It says: too long", provider::shorter_hint());
        assert!(words_here(&too_long).contains("nebula chat --continue"));
        assert!(words_here(&too_long).ends_with("It says: too long"));
        assert!(words_here(say::grants_again()).contains("--budget"));
        assert_eq!(words_here("as it is"), "as it is");
        for hint in [say::chooses_another(), say::compact_or_new(), say::compact_is_off()] {
            let words = words_here(hint);
            assert!(!words.starts_with('/') && !words.contains("/new"), "{words}");
        }
    }
}

//! Commands as lines of JSON, for `task --json` and `run --json`.

use serde_json::{Value, json};

use crate::protocol::{ChangedPath, CommandBegan, CommandEnd, CommandEvent, CommandHold};

/// Returns the line of an event.
pub fn line(event: &CommandEvent) -> Value {
    match event {
        CommandEvent::Began(began) => of_began(began),
        CommandEvent::Printed { id, missed, text, begun: _ } => {
            let missed = (*missed > 0).then(|| format!("[{missed} lines left out: nebula output {id}]\n"));
            json!({"type": "command_output", "id": id, "text": missed.unwrap_or_default() + text})
        }
        CommandEvent::Held(CommandHold { id, call, path, decision }) => {
            json!({"type": "hold", "id": id, "call": call, "path": path, "decision": decision})
        }
        CommandEvent::Ended(end) => of_end(end),
    }
}

fn of_began(began: &CommandBegan) -> Value {
    let CommandBegan { id, text, class, grant, keeper, decision, by_person: _, entry: _ } = began;
    json!({
        "type": "command", "id": id, "text": text, "class": class, "grant": grant, "keeper": keeper,
        "decision": decision,
    })
}

fn of_end(end: &CommandEnd) -> Value {
    let changed = |path: &ChangedPath| {
        let ChangedPath { path, from, kind, added, removed } = path;
        let mut changed = json!({"path": path, "kind": kind, "added": added, "removed": removed});
        if let Some(from) = from {
            changed["from"] = from.as_str().into();
        }
        changed
    };
    let changed: Vec<_> = end.changed.iter().map(changed).collect();
    let left: Vec<_> = end.not_archived.iter().map(|(path, why)| json!({"path": path, "why": why})).collect();
    json!({
        "type": "command_end", "id": end.id, "exit": end.exit, "signal": end.signal, "stopped": end.stopped,
        "ms": end.ms, "changeset": end.changeset, "earlier": end.earlier, "changed": changed, "derived": end.derived, "not_archived": left,
        "archive_error": end.archive_error,
        "refused": {"writes": end.refused_writes, "connections": end.refused_connections}, "running": end.running,
        "grant": end.grant, "keeper": end.keeper,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_was_too_much_and_an_unfinished_line_is_for_screens() {
        let printed = |missed, text: &str| CommandEvent::Printed {
            id: "c1".into(),
            missed,
            text: text.into(),
            begun: "half".into(),
        };
        let many = printed(1_204, "one\n");
        let text = "[1204 lines left out: nebula output c1]\none\n";
        assert_eq!(line(&many), json!({"type": "command_output", "id": "c1", "text": text}));
        assert!(!many.is_for_screens() && printed(0, "").is_for_screens());
    }
}

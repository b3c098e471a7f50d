//! What a turn changed; reported where it changed nothing although that was meant.

use crate::agent::session::context::SessionContext;
use crate::agent::session::conversation::Conversation;
use crate::agent::turn::tool_run::StepNotes;
use crate::messages::agent as say;
use crate::protocol::{Level, Mode};
use crate::provider::Role;

/// Records whether a turn was to change files, and whether it did.
#[derive(Default)]
pub struct Effect {
    changes_requested: bool,
    changed: bool,
}

impl Effect {
    /// Adds the notes of a step.
    pub fn add(&mut self, notes: &StepNotes) {
        self.changes_requested |= notes.changes_requested;
        self.changed |= notes.changed;
    }

    /// Reports in the chat that no file was changed, where an edit failed or the answer holds code that was not read as
    /// one.
    pub async fn say(&self, context: &SessionContext, session: &Conversation) {
        if self.changed || context.settings().mode == Mode::Plan {
            return;
        }
        let last = session.messages.iter().rev().find(|m| m.role == Role::Assistant);
        let why = match last {
            _ if self.changes_requested => say::no_edit_applied(),
            Some(last) if holds_code(&last.text()) => say::block_without_file(),
            _ => return,
        };
        context.events.notice(Level::Warning, say::no_file_changed(), why).await;
    }
}

/// Languages of blocks that show commands or output, not files.
const NO_FILES: [&str; 11] =
    ["bash", "sh", "shell", "zsh", "console", "text", "txt", "output", "plaintext", "log", "mermaid"];

/// Returns whether a text holds a fenced block of code of three lines or more.
fn holds_code(text: &str) -> bool {
    let mut open: Option<(&str, bool, usize)> = None;
    for line in text.lines().map(str::trim) {
        let ticks = &line[..line.len() - line.trim_start_matches('`').len()];
        open = match open {
            Some((fence, is_file, lines)) if line == fence => {
                if is_file && lines >= 3 {
                    return true;
                }
                None
            }
            Some((fence, is_file, lines)) => Some((fence, is_file, lines + 1)),
            None if ticks.len() >= 3 => {
                let language = line[ticks.len()..].split_whitespace().next().unwrap_or_default().to_lowercase();
                Some((ticks, !NO_FILES.contains(&language.as_str()), 0))
            }
            None => None,
        };
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_told_from_commands() {
        assert!(holds_code("So:\n```python\na\nb\nc\n```\n"));
        assert!(!holds_code("Run:\n```bash\na\nb\nc\n```\nand `x`, or\n```rust\none line\n```"));
    }
}

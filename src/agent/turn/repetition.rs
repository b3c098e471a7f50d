//! Loops of a turn: the same call or edit again, the same refusal again.

use std::collections::{HashMap, HashSet};

use crate::agent::session::conversation::Conversation;
use crate::agent::session::records::arguments;
use crate::agent::turn::step::Act;
use crate::provider::ToolCall;
use crate::tools::{Sha, ToolSet};

/// The requests made in a turn.
#[derive(Default)]
pub struct Repeats {
    last: Option<RepetitionKey>,
    times: u32,
    /// Edits that were written, with the file as it was then.
    written: HashMap<RepetitionKey, (String, Sha)>,
    /// Calls and edits that were refused, each with the result for the model.
    refused: HashSet<String>,
}

/// The key that equal calls or edits share: the tool or format, and all arguments.
pub type RepetitionKey = (String, String);

/// Returns the key of an act, and of an edit the path it names.
pub fn key(act: &Act, tools: &ToolSet) -> Option<(RepetitionKey, Option<String>)> {
    match act {
        Act::Edit(_, edit) => {
            let path = edit.path.clone().unwrap_or_default();
            Some(((edit.by.clone(), format!("{path} {:?}", edit.op)), Some(path)))
        }
        Act::Call(call) => {
            let path = edits_file(&call.call, tools).then(|| call.item.call.main.clone());
            Some(((call.call.name.clone(), call.call.arguments.clone()), path))
        }
        Act::Dropped(..) => None,
    }
}

/// Returns whether a call asks for edits: the same read again is answered anew.
fn edits_file(call: &ToolCall, tools: &ToolSet) -> bool {
    let arguments = arguments(&call.arguments).ok();
    arguments.and_then(|arguments| tools.edits(&call.name, &arguments)).is_some_and(|edits| edits.is_ok())
}

impl Repeats {
    /// Returns whether this is the third time in a row.
    pub fn thrice(&mut self, key: &RepetitionKey) -> bool {
        self.times = if self.last.as_ref() == Some(key) { self.times + 1 } else { 1 };
        self.last = Some(key.clone());
        self.times == 3
    }

    /// Returns whether the same edit was written in this turn, and its file is still as it was then.
    pub fn is_done(&self, key: &RepetitionKey, session: &Conversation) -> bool {
        let now = |path: &str| session.seen.get(path).map(|seen| seen.sha);
        self.written.get(key).is_some_and(|(path, sha)| now(path) == Some(*sha))
    }

    /// Notes edits that were written.
    pub fn note_written(&mut self, edits: Vec<(RepetitionKey, String)>, session: &Conversation) {
        for (key, path) in edits {
            let path = path.strip_prefix("./").unwrap_or(&path).to_string();
            if let Some(seen) = session.seen.get(&path) {
                self.written.insert(key, (path, seen.sha));
            }
        }
    }

    /// Notes refusals; returns the first that was there before.
    pub fn note_refused(&mut self, refusals: Vec<String>) -> Option<String> {
        let mut again = None;
        for refusal in refusals {
            if !self.refused.insert(refusal.clone()) {
                again.get_or_insert(refusal);
            }
        }
        again
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_calls_that_edit_count_as_written() {
        let tools = ToolSet::builtin();
        let call =
            |name: &str, arguments: &str| ToolCall { id: "1".into(), name: name.into(), arguments: arguments.into() };
        assert!(edits_file(&call("deleteFile", r#"{"path": "a.rs"}"#), &tools));
        assert!(!edits_file(&call("readFile", r#"{"path": "a.rs"}"#), &tools));
        assert!(!edits_file(&call("deleteFile", "{"), &tools));
    }
}

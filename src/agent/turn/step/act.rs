//! The acts that an answer asks for, and the way it ended.

use crate::agent::session::records::{ResultRecord, arguments};
use crate::agent::turn::follow_up::Unfinished;
use crate::agent::turn::repetition::RepetitionKey;
use crate::agent::turn::step::call_item::CallItem;
use crate::agent::turn::step::call_question::EarlyQuestion;
use crate::agent::turn::step::running_call::RunningCall;
use crate::edit::Edit;
use crate::protocol::ItemId;
use crate::provider::{self, ToolCall};
use crate::tools::ToolSet;

/// The most calls of one answer that are run; the rest of the answer is not read.
pub const MAX_CALLS: usize = 500;

/// The parts of one answer.
pub struct Step {
    /// The acts, in the order in which they were written.
    pub acts: Vec<Act>,
    /// Its end.
    pub ended: Ended,
    /// Tokens, where the server reported them.
    pub usage: Option<provider::Usage>,
    /// Some of the tokens were counted here: the answer was cut before the server reported them.
    pub counted: bool,
    /// Its row in memory, if it is stored.
    pub row: Option<i64>,
    /// It ended by itself and holds neither text nor anything to do.
    pub silent: bool,
    /// It holds thoughts.
    pub thought: bool,
}

impl Step {
    /// Returns why this answer is no end, where it asks for nothing and does not stand as it is.
    pub fn unfinished(&self) -> Option<Unfinished> {
        match self.ended {
            _ if !self.acts.is_empty() => None,
            Ended::Paused => Some(Unfinished::Paused),
            Ended::Malformed => Some(Unfinished::Malformed),
            Ended::Whole if self.silent && self.thought => Some(Unfinished::Silent),
            _ => None,
        }
    }
}

/// The end of an answer.
pub enum Ended {
    /// The answer ended by itself.
    Whole,
    /// The model's limit of tokens cut it.
    Cut,
    /// The server held back the rest.
    Withheld,
    /// The server paused: it goes on when it is sent what it said so far.
    Paused,
    /// The server could not read the model's call.
    Malformed,
    /// It made more calls than one answer may; those beyond [`MAX_CALLS`] are left out.
    TooManyCalls,
    /// It repeated this text until it was cut; empty where that is nothing but blank characters.
    Repeating(String),
    /// It used up the session's budget.
    OverBudget,
    /// The person stopped it.
    Interrupted,
    /// The connection, or the server.
    Broken(provider::Error),
}

/// Something an answer asks for.
pub enum Act {
    /// An edit written in the text.
    Edit(CallItem, Box<Edit>),
    /// A failed edit or call in the text, with its entry; the result for the model is in the record.
    Dropped(ItemId, Box<ResultRecord>),
    /// A tool call.
    Call(Box<CallAct>),
}

/// A tool call of an answer.
pub struct CallAct {
    /// Its entry on the screen.
    pub item: CallItem,
    /// The call, as the model wrote it.
    pub call: ToolCall,
    /// Made through the API; otherwise written as text.
    pub native: bool,
    /// Its run, where it began before its turn.
    pub early: Option<EarlyCall>,
}

/// A call that began before its turn.
pub enum EarlyCall {
    /// A read.
    Running(RunningCall),
    /// A call that may ask the person, and asks already.
    Question(EarlyQuestion),
}

impl Act {
    /// Returns whether it was written in the text of the answer.
    pub fn is_text(&self) -> bool {
        match self {
            Act::Edit(..) | Act::Dropped(..) => true,
            Act::Call(call) => !call.native,
        }
    }

    /// Returns its entry on the screen.
    pub fn item(&self) -> ItemId {
        match self {
            Act::Edit(item, _) => item.id,
            Act::Dropped(item, _) => *item,
            Act::Call(call) => call.item.id,
        }
    }

    /// Returns the key it is recognised by when it is repeated, and of an edit the path it names.
    pub fn repetition_key(&self, tools: &ToolSet) -> Option<(RepetitionKey, Option<String>)> {
        match self {
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
}

/// Returns whether a call asks for edits: the same read again is answered again.
fn edits_file(call: &ToolCall, tools: &ToolSet) -> bool {
    let arguments = arguments(&call.arguments).ok();
    arguments.and_then(|arguments| tools.edits(&call.name, &arguments)).is_some_and(|edits| edits.is_ok())
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

//! The result of a run of edits: changed files, and for each edit the message to the model.

use super::Format;
use crate::proposal::{FileChange, PlaceMatch, Rung};

/// The words for the model about an edit that changes nothing.
pub const UNCHANGED: &str = "changes nothing, for the new text equals the present one";

/// The outcome of one edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditStatus {
    /// It is in the changes.
    Placed(PlaceMatch),
    /// Its place was found, but it changes nothing.
    Same,
    /// Its effect stands already: by an edit before it, or since an earlier answer.
    Made,
    /// It could not be placed; why, and what would help, for the model.
    Failed(String),
    /// A whole new text that leaves out most of its file: the question to the model whether a part is
    /// meant.
    Doubted(String),
    /// It could have been placed, but another edit of its file (or of the patch) could not.
    LeftOut,
    /// It is the example of the instructions, for a file that is not there.
    Example,
}

/// One edit's result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditResult {
    /// The edit's number, from 0.
    pub index: usize,
    /// Its file: normalised where that is known, else as the model wrote it.
    pub path: String,
    /// The format it was written in.
    pub format: Format,
    /// The outcome of it.
    pub status: EditStatus,
}

impl EditResult {
    /// Returns whether it is in the changes, is made already, or changes nothing.
    pub fn ok(&self) -> bool {
        matches!(self.status, EditStatus::Placed(_) | EditStatus::Same | EditStatus::Made | EditStatus::Example)
    }

    /// Returns what the same edit is that comes once more; none: it is to be tried.
    pub(super) fn again(&self) -> Option<EditStatus> {
        match self.status {
            EditStatus::Placed(_) | EditStatus::Made => Some(EditStatus::Made),
            EditStatus::Same => Some(EditStatus::Same),
            _ => None,
        }
    }

    /// Returns the rung that found its place, if it landed.
    pub fn rung(&self) -> Option<Rung> {
        match &self.status {
            EditStatus::Placed(found) => Some(found.rung),
            _ => None,
        }
    }

    /// Returns what the model is told of it.
    pub fn text(&self) -> String {
        match &self.status {
            EditStatus::Placed(PlaceMatch { rung: Rung::Exact, detail: None }) => format!("{}: placed", self.path),
            EditStatus::Placed(PlaceMatch { rung, detail: None }) => {
                format!("{}: placed, found {}", self.path, rung.word())
            }
            EditStatus::Placed(PlaceMatch { rung, detail: Some(detail) }) => {
                format!("{}: placed, found {} ({detail})", self.path, rung.word())
            }
            EditStatus::Same => format!(
                "{}: {UNCHANGED}. Send it again with the change that the task asks for, or say why none is needed.",
                self.path
            ),
            EditStatus::Made => format!(
                "{}: already done: the file has this change. Go on with what is left, or say that you are done; if the \
                 change is wanted once more, give more context.",
                self.path
            ),
            EditStatus::Example => format!("{}: ignored, it is the example of the instructions", self.path),
            EditStatus::Failed(why) | EditStatus::Doubted(why) => format!("{}: {why}", self.path),
            EditStatus::LeftOut => {
                format!(
                    "{}: could be placed, but is left out because another change could not; send it again with that one",
                    self.path
                )
            }
        }
    }
}

/// The result of a run of edits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditOutcome {
    /// The changed files, in the order in which they were first named. Files that stay the same are not among them.
    pub changes: Vec<FileChange>,
    /// One result for each edit, in their order.
    pub results: Vec<EditResult>,
}

impl EditOutcome {
    /// Returns whether every edit could be placed.
    pub fn ok(&self) -> bool {
        self.results.iter().all(EditResult::ok)
    }

    /// Returns what the model is told, edit by edit.
    pub fn text(&self) -> String {
        let lines: Vec<String> = match self.results.as_slice() {
            [one] => vec![one.text()],
            many => many.iter().map(|r| format!("edit {}: {}", r.index + 1, r.text())).collect(),
        };
        lines.join("\n")
    }
}

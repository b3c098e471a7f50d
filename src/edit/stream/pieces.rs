//! The pieces of an answer.

use std::sync::Arc;

use crate::edit::format::Format;
use crate::edit::op::Edit;

/// Names an edit or a call within one answer, from 0, in the order in which they begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EditId(pub usize);

/// The part of an edit that grew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EditPart {
    /// The path.
    Path,
    /// Text that is to go.
    Old,
    /// Text that is to come.
    New,
    /// Text that stays (a patch's context).
    Same,
}

/// A piece of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// Text for the person, to be shown at once. Never a part of a tag.
    Prose(String),
    /// An edit begins.
    EditStarted {
        /// Its name.
        id: EditId,
        /// The format it is written in.
        format: Format,
    },
    /// An edit grew by some text.
    EditGrew {
        /// The edit.
        id: EditId,
        /// The part of it.
        part: EditPart,
        /// The text that joins that part.
        text: String,
    },
    /// An edit is complete.
    EditDone {
        /// The edit.
        id: EditId,
        /// The edit.
        edit: Edit,
    },
    /// An edit failed: the answer was cut in it, or it was only the example of the instructions.
    EditDropped {
        /// The edit.
        id: EditId,
        /// The reason, for the person and the model.
        why: String,
    },
    /// A tool call written as text begins; not every one is known early enough.
    CallStarted {
        /// Its name among the edits and calls.
        id: EditId,
        /// The tool's name, as in the tools' list.
        name: String,
    },
    /// The arguments of a call grew.
    CallGrew {
        /// The call.
        id: EditId,
        /// The text that joins them, as it was written.
        text: String,
    },
    /// A tool call that was written as text.
    Call {
        /// The id of the call, if its beginning was reported.
        id: Option<EditId>,
        /// The tool's name, as in the tools' list.
        name: String,
        /// Its arguments, under the tool's own names for them.
        arguments: serde_json::Value,
    },
    /// A text that was meant as a tool call and cannot be read as one.
    BrokenCall {
        /// The id of the call, if its beginning was reported.
        id: Option<EditId>,
        /// The text, as it was written.
        text: String,
        /// The error, for the model.
        why: String,
    },
}

/// The end of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The model stopped.
    Ordinary,
    /// Its length ran out, or the connection broke.
    Cut,
}

/// A file the model knows: attached, or read in this session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownFile {
    /// Its normalised path.
    pub path: String,
    /// Its present text.
    pub text: Arc<str>,
}

/// Returns edits as pieces, under ids that no piece of a stream has.
pub(in crate::edit) fn edits_of_files(edits: Vec<Edit>) -> Vec<Piece> {
    let pieces = edits.into_iter().enumerate().flat_map(|(n, edit)| {
        let id = EditId(usize::MAX - n);
        [Piece::EditStarted { id, format: edit.format }, Piece::EditDone { id, edit }]
    });
    pieces.collect()
}

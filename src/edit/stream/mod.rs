//! Reads a streamed answer: prose goes on at once, edits and calls are recognised, whatever the chunking.

use std::sync::Arc;

use super::{Edit, Format};

/// Names an edit or a call within one answer, from 0, in the order in which they begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EditId(pub usize);

/// Which part of an edit grew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// The path.
    Path,
    /// Text that is to go.
    Old,
    /// Text that is to come.
    New,
    /// Text that stays (a patch's context).
    Same,
}

/// What an answer is made of.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// Text for the person, to be shown at once. Never a part of a tag.
    Prose(String),
    /// An edit begins.
    EditStarted {
        /// Its name.
        id: EditId,
        /// How it is written.
        format: Format,
    },
    /// An edit grew by some text.
    EditGrew {
        /// Which edit.
        id: EditId,
        /// Which part of it.
        part: Part,
        /// The text that joins that part.
        text: String,
    },
    /// An edit is complete.
    EditDone {
        /// Which edit.
        id: EditId,
        /// The edit.
        edit: Edit,
    },
    /// An edit came to nothing: the answer was cut in it, or it was only the example of the instructions.
    EditDropped {
        /// Which edit.
        id: EditId,
        /// Why, for the person and the model.
        why: String,
    },
    /// A tool call that was written as text.
    Call {
        /// The tool's name, as in the tools' list.
        name: String,
        /// Its arguments, under the tool's own names for them.
        arguments: serde_json::Value,
    },
}

/// How an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The model stopped.
    Ordinary,
    /// Its length ran out, or the connection broke.
    Cut,
}

/// A file the model knows of: attached, or read in this session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// Its normalised path.
    pub path: String,
    /// Its present text.
    pub text: Arc<str>,
}

/// Recognises every format while the text streams.
#[derive(Debug)]
pub struct Parser {
    expected: Option<Format>,
    known: Vec<Known>,
}

impl Parser {
    /// A parser for one answer. `expected` is the format the model was asked for; `None` when the text is known
    /// to be an edit of any format (`nebula patch`). `known` are the files in play.
    pub fn new(expected: Option<Format>, known: Vec<Known>) -> Self {
        Parser { expected, known }
    }

    /// Takes the next piece of the answer, of any size.
    pub fn push(&mut self, text: &str) -> Vec<Piece> {
        vec![Piece::Prose(text.to_string())]
    }

    /// Ends the answer.
    pub fn finish(self, _end: End) -> Vec<Piece> {
        Vec::new()
    }
}

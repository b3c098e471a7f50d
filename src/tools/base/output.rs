//! The result of a tool's run.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

#[cfg(feature = "strand")]
use super::viewed::ViewedDefinitions;
use crate::edit::Edit;
#[cfg(feature = "strand")]
use crate::strand::cli::{Opening, ToolCall, TouchedDefinition};

/// The thing at a path that is not read yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtPath {
    /// A folder.
    Folder,
    /// A file of so many bytes.
    File(u64),
    /// Nothing that can be looked at.
    Nothing,
}

/// The result of a run. Nothing is written by it: changes are proposed by the agent.
#[derive(Debug)]
pub enum RunResult {
    /// An answer for the model.
    Output(ToolOutput),
    /// Changes to be proposed.
    Edits(Vec<Edit>),
    /// Versions to be restored.
    Undo {
        /// The number of versions, from 1.
        count: usize,
        /// Normalised path; none: the newest changeset.
        path: Option<String>,
    },
    /// A question for the person.
    Question {
        /// The question.
        text: String,
        /// Short answers, each with what it means (may be empty).
        choices: Vec<(String, String)>,
    },
    /// A command to be run.
    Command(CommandCall),
    /// A path outside the workspace, or of a file that may hold keys, that needs the person's approval before it is read,
    /// and what is there.
    Outside(PathBuf, AtPath),
    /// A call that changes a Strand store, tried and not made: it needs approval.
    #[cfg(feature = "strand")]
    StoreChange(Box<StoreChange>),
}

impl RunResult {
    /// Returns that a path needs the person's approval before it is read.
    pub fn outside(path: PathBuf) -> RunResult {
        let there = match path.metadata() {
            Ok(found) if found.is_dir() => AtPath::Folder,
            Ok(found) => AtPath::File(found.len()),
            Err(_) => AtPath::Nothing,
        };
        RunResult::Outside(path, there)
    }
}

/// A call that changes a Strand store.
#[cfg(feature = "strand")]
#[derive(Debug)]
pub struct StoreChange {
    /// The store.
    pub opening: Opening,
    /// The call.
    pub call: ToolCall,
    /// The definitions that it touches; none: what it does is not known before.
    pub touched: Vec<TouchedDefinition>,
    /// The definitions that the model knows: those that it touches, too, once it is made.
    pub viewed: Arc<ViewedDefinitions>,
    /// Its effect, for the person: the tool, and each definition as marked lines; or its arguments.
    pub what: String,
}

/// A command as the model requests it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandCall {
    /// Its text.
    pub text: String,
    /// The folder it runs in, as given; none: where the last one left off.
    pub folder: Option<String>,
    /// Its time limit.
    pub limit: Duration,
    /// It is answered at once and runs on.
    pub background: bool,
    /// It needs the network.
    pub network: bool,
    /// Its purpose.
    pub why: Option<String>,
}

/// The answer of a tool.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct ToolOutput {
    /// The text for the model.
    pub text: String,
    /// Images and other content besides the text.
    pub blocks: Vec<OutputBlock>,
    /// True if the tool failed.
    pub is_error: bool,
    /// The result in a word or two, for the screen.
    pub summary: String,
    /// First lines worth showing.
    pub preview: Vec<String>,
    /// A file that was read whole or in part.
    pub read: Option<FileRead>,
}

/// A file that a tool read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRead {
    /// Its path.
    pub path: String,
    /// All its bytes.
    pub bytes: Arc<[u8]>,
    /// The title of the text: the path of a whole file, or `Lines 4-9 of a.py:`. `None`: it holds notes beside
    /// what was read.
    pub title: Option<String>,
}

/// A part of an answer that is no text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutputBlock {
    /// An image.
    Image {
        /// Its type: `image/png`.
        media_type: String,
        /// Its bytes.
        bytes: Arc<[u8]>,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_at_a_path_outside_is_known_before_it_is_read() {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::write(dir.path().join("file"), "four").expect("written");
        for (name, there) in [("", AtPath::Folder), ("file", AtPath::File(4)), ("missing", AtPath::Nothing)] {
            let RunResult::Outside(_, found) = RunResult::outside(dir.path().join(name)) else { panic!("{name}") };
            assert_eq!(found, there, "{name}");
        }
    }
}

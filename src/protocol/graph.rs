//! The graph of definitions for the screen: what there is, one of them with its references and its history, and the
//! conflicts that a person decides.

use std::path::Path;
use std::sync::Arc;

/// The definitions of a store and of source files, as many as were asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphPage {
    /// The store's folder; without a store the workspace's.
    pub place: String,
    /// The names of the other stores beside that one in the workspace.
    pub beside: Vec<String>,
    /// The damage to the store, or what could not be looked at, in words.
    pub trouble: Option<String>,
    /// The conflicts that are not decided.
    pub conflicts: Vec<ConflictRow>,
    /// The definitions of the store, in layer order then by name, then those of source files, by file. A file that is not
    /// read whole has a row of its own.
    pub rows: Vec<DefinitionRow>,
    /// Rows of files that are not read whole.
    pub faults: usize,
    /// Definitions that the filter leaves, in the store and in the files that were read.
    pub found: usize,
    /// Definitions in all of these.
    pub total: usize,
    /// Source files in the workspace.
    pub files: usize,
    /// Source files that were not looked at yet: enough was found before.
    pub files_left: usize,
}

impl GraphPage {
    /// Returns the page of a folder that holds nothing.
    pub fn empty(folder: &Path) -> GraphPage {
        GraphPage {
            place: folder.display().to_string(),
            beside: Vec::new(),
            trouble: None,
            conflicts: Vec::new(),
            rows: Vec::new(),
            faults: 0,
            found: 0,
            total: 0,
            files: 0,
            files_left: 0,
        }
    }

    /// Returns the number of definitions that were found and are not among the rows.
    pub fn more(&self) -> usize {
        self.found.saturating_sub(self.rows.len().saturating_sub(self.faults))
    }
}

/// A definition in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinitionRow {
    /// Its identity.
    pub id: String,
    /// Its layer, or its file.
    pub group: String,
    /// Its name in there; of a file, why it is not read whole.
    pub name: String,
    /// Its parameters and type, in short.
    pub signature: String,
    /// Errors in it.
    pub errors: usize,
    /// Warnings about it.
    pub warnings: usize,
}

/// A conflict that is not decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConflictRow {
    /// Its identity, as the command line has it.
    pub id: String,
    /// Its kind in one word.
    pub kind: String,
    /// The definition, or the places and ops it is about.
    pub about: String,
    /// The event in a sentence; empty: the kind says it.
    pub message: String,
    /// The text that does not show, a line for each op or line of it.
    pub lost: String,
    /// The definition it is about, where one stands.
    pub definition: Option<GraphLink>,
    /// True if it holds something to issue again.
    pub can_take: bool,
}

/// The decision about a conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConflictChoice {
    /// Keep the present text.
    Keep,
    /// Issue again the text that does not show.
    Take,
}

/// A definition with what is around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinitionDetail {
    /// Its identity.
    pub id: String,
    /// `layer.Name`, or `path::name`.
    pub name: String,
    /// Its text; long ones are cut.
    pub text: Arc<str>,
    /// True if the text is cut.
    pub is_cut: bool,
    /// True if it is a source file, in outline: references and history are told of its definitions.
    pub is_file: bool,
    /// The faults in it.
    pub faults: Vec<FaultRow>,
    /// The definitions that it refers to.
    pub uses: GraphLinks,
    /// The places that refer to it.
    pub used_by: GraphLinks,
    /// Its ops or changes, newest first.
    pub history: Vec<OpRow>,
    /// Older ones that are left out.
    pub older: usize,
}

/// A fault in a definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultRow {
    /// Its code; empty: it has none.
    pub code: String,
    /// One sentence.
    pub message: String,
    /// True if it is only a warning.
    pub is_warning: bool,
}

/// References in one direction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GraphLinks {
    /// As many as are shown.
    pub rows: Vec<GraphLink>,
    /// The number of those that are left out.
    pub more: usize,
}

/// A reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphLink {
    /// The definition at the other end.
    pub id: String,
    /// `layer.Name` of it, or `path::name`.
    pub name: String,
    /// The unit or the line that refers; empty: the whole definition.
    pub place: String,
}

/// An op on a definition, or a change of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpRow {
    /// Its time in unix milliseconds.
    pub at: i64,
    /// Its author.
    pub author: String,
    /// Its kind, in one word.
    pub kind: String,
    /// The first line of what it says.
    pub summary: String,
}

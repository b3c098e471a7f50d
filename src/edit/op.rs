//! Edits: what a model asked to change, whatever the format it was written in.

use super::format::Format;
use super::locate::SearchShape;
use crate::proposal::{PlaceMatch, Rung};

/// One change that a model asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The file, as the model wrote it; `None` means the one file in play.
    pub path: Option<String>,
    /// The operation.
    pub op: Op,
    /// The format it was written in.
    pub format: Format,
    /// The origin, for people: the tool's name, or the format's.
    pub by: String,
    /// The names of definitions of its file that the edit leaves out and that another block of the answer holds.
    pub elsewhere: Option<String>,
    /// The name of which its path may be the end only, where words stand before the path.
    pub longer: Option<LongerName>,
    /// False when the end of the edit was missing and is a guess, or when only its likeness to a file says that it is
    /// one; such an edit is at best inexact.
    pub whole: bool,
}

/// A name that a line has in full, of which another path is the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LongerName {
    /// The name in full.
    pub path: String,
    /// Nothing says that the words in front of the path are none of the name.
    pub is_doubtful: bool,
}

/// The operation of an edit on its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op {
    /// Puts `replace` where `search` is.
    Replace {
        /// The text to find.
        search: String,
        /// The replacement.
        replace: String,
        /// True if `search` is whole lines.
        shape: SearchShape,
        /// All places instead of exactly one.
        all: bool,
    },
    /// Makes a file; an existing one is replaced only if it was read before.
    Write {
        /// All of its text.
        content: String,
    },
    /// Gives an existing file a new text. A file that does not exist is made.
    Overwrite {
        /// All of its text; line endings and final newline follow the file before.
        content: String,
    },
    /// Replaces lines by number.
    Lines {
        /// First line, from 1.
        start: usize,
        /// Last line.
        end: usize,
        /// The present text of those lines: the guard.
        expect: String,
        /// The replacement; empty removes the lines.
        replace: String,
    },
    /// Replaces one definition of a source file.
    Definition {
        /// The name in its file, as its id has it.
        name: String,
        /// Its present hash: the guard.
        expect: String,
        /// The replacement.
        text: String,
        /// The present lines, and those in their place with the file's indentation: for the screen.
        lines: [String; 2],
    },
    /// The hunks of a patch for one file.
    Hunks(Vec<PatchHunk>),
    /// Gives the file other permissions.
    Mode {
        /// The nine bits: `0o755`.
        mode: u32,
    },
    /// Deletes the file.
    Delete,
    /// Deletes the file whose whole text these hunks remove.
    DeleteText(Vec<PatchHunk>),
    /// Moves the file.
    Move {
        /// The new path, as the model wrote it.
        to: String,
    },
}

/// One hunk of a patch, its lines as they were written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PatchHunk {
    /// The line numbers in the header of a unified diff: (first line, count) before and after.
    pub header: Option<[(usize, usize); 2]>,
    /// Texts after `@@` that must stand above the hunk (envelope), or may (unified diff).
    pub above: Vec<String>,
    /// True if `above` is binding.
    pub strict_above: bool,
    /// True if the hunk must end at the end of the file.
    pub at_end: bool,
    /// The body's lines, each with its prefix as it was written, without line endings.
    pub body: Vec<String>,
}

impl Edit {
    /// Creates a complete edit. `by` is the name of the tool, or of the format.
    pub fn new(path: impl Into<String>, op: Op, format: Format, by: impl Into<String>) -> Self {
        Edit { path: Some(path.into()), op, format, by: by.into(), elsewhere: None, longer: None, whole: true }
    }

    /// Returns the same edit of a file under its normalised path.
    pub fn of(self, path: &str) -> Self {
        Edit { path: Some(path.to_string()), longer: None, ..self }
    }

    /// Returns how its place counts where its path may be only the end of its file's name.
    pub(super) fn name_doubt(&self) -> Option<PlaceMatch> {
        let longer = self.longer.as_ref().filter(|longer| longer.is_doubtful)?;
        let detail = format!("the name may be {}", longer.path);
        Some(PlaceMatch { rung: Rung::Inexact, detail: Some(detail) })
    }

    /// Returns the place in its file that is at `path`, for the screen: of a definition its id.
    pub fn place(&self, path: &str) -> String {
        match &self.op {
            Op::Definition { name, .. } => format!("{path}::{name}"),
            _ => path.to_string(),
        }
    }

    /// Returns whether it changes text at a place in a file.
    pub fn is_of_text(&self) -> bool {
        matches!(self.op, Op::Replace { .. } | Op::Lines { .. } | Op::Hunks(_) | Op::Definition { .. })
    }

    /// Returns whether it means a link itself, not the file that the link leads to.
    pub fn is_of_entry(&self) -> bool {
        matches!(self.op, Op::Delete | Op::DeleteText(_) | Op::Move { .. })
    }
}

//! From a model's words to file changes. Pure: bytes are handed in, [`FileChange`]s come out, nothing is written.
//!
//! - [`stream::Parser`] reads a streamed answer in any chunking and tells prose from edits and calls.
//! - [`Edit`] is one change a model asked for, whatever the [`Format`] it was written in.
//! - [`apply`] places a run of edits in evolving texts and gives the changed files and a result an edit.
//! - [`locate`] is the ladder that finds the place of a search text, from exact to inexact.
//! - [`bytes`] keeps what an edit must not disturb: encoding, byte order mark, line endings, final newline.
//! - [`json`] reads the JSON that models really write.
//!
//! [`FileChange`]: crate::proposal::FileChange

pub mod bytes;
pub mod calls;
mod group;
pub mod json;
mod lines;
pub mod locate;
mod outcome;
mod place;
pub mod stream;

pub use group::{Current, Lookup, Rules, apply};
pub use locate::Shape;
pub use outcome::{EditResult, EditStatus, Outcome};

/// How a model writes a change down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Format {
    /// Tool calls.
    Tools,
    /// `<replace_file>` and `<write_file>` in ordinary text.
    Xml,
    /// A path line and a fenced block with the whole file.
    Whole,
    /// `<<<<<<< SEARCH` blocks under a path line.
    Blocks,
    /// Unified diff or the `*** Begin Patch` envelope.
    Patch,
    /// Edits by line number with the expected text as a guard.
    Lines,
}

impl Format {
    /// All formats, in the order in which they are listed.
    pub const ALL: [Format; 6] =
        [Format::Tools, Format::Xml, Format::Whole, Format::Blocks, Format::Patch, Format::Lines];

    /// The word for it in the configuration, in `/format` and in memory.
    pub fn name(self) -> &'static str {
        match self {
            Format::Tools => "tools",
            Format::Xml => "xml",
            Format::Whole => "whole",
            Format::Blocks => "blocks",
            Format::Patch => "patch",
            Format::Lines => "lines",
        }
    }

    /// The format of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Format::ALL.into_iter().find(|f| f.name() == name)
    }

    /// What a model that shall write this format is told about it (Markdown). Nothing for [`Format::Tools`] but
    /// how to use the tools well.
    pub fn prompt(self) -> &'static str {
        match self {
            Format::Tools => include_str!("../../assets/prompts/format-tools.md"),
            Format::Xml => include_str!("../../assets/prompts/format-xml.md"),
            Format::Whole => include_str!("../../assets/prompts/format-whole.md"),
            Format::Blocks => include_str!("../../assets/prompts/format-blocks.md"),
            Format::Patch => include_str!("../../assets/prompts/format-patch.md"),
            Format::Lines => include_str!("../../assets/prompts/format-lines.md"),
        }
    }
}

/// One change a model asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The file, as the model wrote it; `None` means the one file in play.
    pub path: Option<String>,
    /// What is to happen.
    pub op: Op,
    /// How it was written.
    pub format: Format,
    /// What asked for it, for people: the tool's name, or the format's.
    pub by: String,
    /// False when the end of the edit was missing and is a guess, or when only its likeness to a file says that it is
    /// one; such an edit is at best inexact.
    pub whole: bool,
}

/// What an edit does to its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op {
    /// Puts `replace` where `search` is.
    Replace {
        /// The text to find.
        search: String,
        /// What comes in its place.
        replace: String,
        /// Whether `search` is whole lines.
        shape: Shape,
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
        /// What comes in their place; empty removes them.
        replace: String,
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
        /// Where to, as the model wrote it.
        to: String,
    },
}

/// One hunk of a patch, its lines as they were written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PatchHunk {
    /// What the header of a unified diff says: (first line, count) before and after.
    pub header: Option<[(usize, usize); 2]>,
    /// Texts after `@@` that must stand above the hunk (envelope), or may (unified diff).
    pub above: Vec<String>,
    /// Whether `above` is binding.
    pub strict_above: bool,
    /// Whether the hunk must end at the end of the file.
    pub at_end: bool,
    /// The body's lines, each with its prefix as it was written, without line endings.
    pub body: Vec<String>,
}

impl Edit {
    /// A complete edit. `by` is the name of the tool, or of the format.
    pub fn new(path: impl Into<String>, op: Op, format: Format, by: impl Into<String>) -> Self {
        Edit { path: Some(path.into()), op, format, by: by.into(), whole: true }
    }

    /// The same edit of a file under its normalised path.
    pub fn of(self, path: &str) -> Self {
        Edit { path: Some(path.to_string()), ..self }
    }

    /// Whether it means a link itself, not the file that the link leads to.
    pub fn is_of_entry(&self) -> bool {
        matches!(self.op, Op::Delete | Op::DeleteText(_) | Op::Move { .. })
    }

    /// Whether it changes a part of a file, which must be there.
    pub fn is_within(&self) -> bool {
        matches!(self.op, Op::Replace { .. } | Op::Lines { .. } | Op::Hunks(_)) && place::fresh(&self.op).is_none()
    }
}

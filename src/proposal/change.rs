//! The proposed changes: states of files, changes from one to another, the hunks they are cut into.

use std::path::PathBuf;
use std::sync::Arc;

use crate::text::definition::DefinitionChange;

/// The state of a path on disk, now or as proposed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// The path does not exist.
    Absent,
    /// A regular file.
    File {
        /// All its bytes.
        bytes: Arc<[u8]>,
        /// Unix permission bits (`0o644`); `None` in an after-state means: as before, or the default for a new file.
        mode: Option<u32>,
    },
    /// A regular file that is too large to be held.
    Large(Box<LargeFile>),
    /// A symbolic link itself, not what it points to.
    Link {
        /// The text of the link.
        target: PathBuf,
    },
    /// A folder itself, whatever is in it. Its path ends in `/`. Only restores of commands know of folders.
    Folder {
        /// Unix permission bits.
        mode: u32,
    },
}

/// A regular file that is too large to be held in memory: its identity, and where its bytes can be read.
#[derive(Debug, Clone)]
pub struct LargeFile {
    /// The size in bytes.
    pub size: u64,
    /// SHA-256 of its bytes.
    pub sha256: [u8; 32],
    /// Unix permission bits.
    pub mode: Option<u32>,
    /// The file it was read from. Whoever copies it from there compares the sum.
    pub source: PathBuf,
}

/// Two are equal wherever they were read.
impl PartialEq for LargeFile {
    fn eq(&self, other: &Self) -> bool {
        (self.size, self.sha256, self.mode) == (other.size, other.sha256, other.mode)
    }
}

impl Eq for LargeFile {}

impl State {
    /// Returns the permission bits, if it is a file and they are known.
    pub fn mode(&self) -> Option<u32> {
        match self {
            State::File { mode, .. } => *mode,
            State::Large(file) => file.mode,
            State::Folder { mode } => Some(*mode),
            State::Absent | State::Link { .. } => None,
        }
    }

    /// Returns the same with these permission bits, if it is a file or a folder.
    #[must_use]
    pub fn with_mode(mut self, new: Option<u32>) -> Self {
        match &mut self {
            State::File { mode, .. } => *mode = new,
            State::Large(file) => file.mode = new,
            State::Folder { mode } => *mode = new.unwrap_or(*mode),
            State::Absent | State::Link { .. } => {}
        }
        self
    }

    /// Creates a file with these bytes whose mode is left as it is.
    pub fn file(bytes: impl Into<Arc<[u8]>>) -> Self {
        State::File { bytes: bytes.into(), mode: None }
    }

    /// Returns the bytes, if it is a file.
    pub fn bytes(&self) -> Option<&Arc<[u8]>> {
        match self {
            State::File { bytes, .. } => Some(bytes),
            _ => None,
        }
    }

    /// Returns the text, if it is a file of valid UTF-8.
    pub fn text(&self) -> Option<&str> {
        self.bytes().and_then(|b| std::str::from_utf8(b).ok())
    }

    /// Returns whether another is the same, but for the mode of a file.
    pub fn is_same_but_for_mode(&self, other: &State) -> bool {
        match (self, other) {
            (State::File { bytes: a, .. }, State::File { bytes: b, .. }) => a == b,
            (State::Large(a), State::Large(b)) => a.sha256 == b.sha256,
            (a, b) => a == b,
        }
    }

    /// Returns whether nothing is there.
    pub fn is_absent(&self) -> bool {
        matches!(self, State::Absent)
    }
}

/// The way the place of an edit was found; the rungs of the ladder in `edit::locate`, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rung {
    /// Byte for byte.
    Exact,
    /// The texts differ in line endings only.
    LineEndings,
    /// The texts differ in white space at line ends only.
    TrailingSpace,
    /// The texts differ in indentation only, shifted uniformly.
    Indentation,
    /// The texts differ in look-alike characters only: quotes, dashes, spaces.
    LookAlikes,
    /// The middle was left out (`...`), and both ends are unique.
    Elided,
    /// The lines are alike, or the end of the edit was missing: never approved by policy.
    Inexact,
}

impl Rung {
    /// Returns the rung with this [`Rung::word`].
    pub fn named(word: &str) -> Option<Rung> {
        use Rung::{Elided, Exact, Indentation, Inexact, LineEndings, LookAlikes, TrailingSpace};
        let all = [Exact, LineEndings, TrailingSpace, Indentation, LookAlikes, Elided, Inexact];
        all.into_iter().find(|rung| rung.word() == word)
    }

    /// Returns the word for it on the screen after `found:` and in memory: `exact`, `by line endings`, ….
    pub fn word(self) -> &'static str {
        match self {
            Rung::Exact => "exact",
            Rung::LineEndings => "by line endings",
            Rung::TrailingSpace => "by trailing space",
            Rung::Indentation => "by indentation",
            Rung::LookAlikes => "by look-alikes",
            Rung::Elided => "by its ends",
            Rung::Inexact => "inexact",
        }
    }
}

/// The rung at which an edit's place was found, with what differed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceMatch {
    /// The rung that matched.
    pub rung: Rung,
    /// The difference (`4 further right`), for the hunk line and the model.
    pub detail: Option<String>,
}

/// The place of an edit in the after-text, and the way it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// Byte range in the after-text.
    pub after: std::ops::Range<usize>,
    /// The way its place was found.
    pub found: PlaceMatch,
    /// The edit's number in its run, from 0; none where no run of edits made the change.
    pub edit: Option<usize>,
}

/// A run of changed lines: which lines become which.
pub type ChangedLines = (std::ops::Range<usize>, std::ops::Range<usize>);

/// The kind of a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HunkKind {
    /// Lines of a text.
    Lines,
    /// The file is made.
    Create,
    /// The file is deleted.
    Delete,
    /// The file is one end of a move; the two ends are decided together.
    Move,
    /// Bytes that are no text, or a link.
    Binary,
    /// Only permission bits.
    Mode,
}

/// A run of changed lines that is accepted or refused as one. Line numbers are 0-based half-open ranges
/// of lines including their line endings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// The kind of the change.
    pub kind: HunkKind,
    /// Changed lines in the text before, from the first changed to the last (with at most 3 unchanged between).
    pub before: std::ops::Range<usize>,
    /// The lines they become.
    pub after: std::ops::Range<usize>,
    /// The way the edit's place was found, if an edit made it: the lowest rung of all edits in it.
    pub found: Option<PlaceMatch>,
    /// The edits of the run that had a part in it, ascending; empty where that is not known.
    pub edits: Vec<usize>,
    /// The number of characters in its added lines that hide what the text says: see [`super::hidden()`].
    pub hidden: usize,
    /// The definitions that it touches, where the file was parsed.
    pub definitions: Vec<HunkDefinition>,
}

/// A definition that a hunk touches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HunkDefinition {
    /// The kind and name, one of its kind in its file: `fn total`, `method Cart.total`.
    pub name: String,
    /// The effect of the whole change of its file on it.
    pub change: DefinitionChange,
}

/// The change of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// Normalised path: relative to the workspace root with `/`.
    pub path: String,
    /// The state as it was read when the proposal was made.
    pub before: State,
    /// The state after the change.
    pub after: State,
    /// The path of the other end, for the two ends of a move.
    pub moved: Option<String>,
    /// Folders that were made for this file and go with it when it is taken away, innermost first, as far as nothing
    /// else is in them.
    pub folders: Vec<String>,
    /// The origin of the change, for the strip: `replaceInFile (2)`, `undo`, ….
    pub by: String,
    /// The parts that are decided one by one; never empty unless before equals after.
    pub hunks: Vec<Hunk>,
    /// The places of the edits that made it in the text after.
    pub placed: Vec<Placed>,
    /// Lines added and removed.
    pub counts: Counts,
    /// The way it was joined with what someone else had changed; `None`: nobody had.
    pub merged: Option<MergeRung>,
    /// Brings an archived state back: such a change, and no other, may be of a folder or of the repository.
    pub restores: bool,
    /// Restores a file that was changed outside nebula: no hunk of it is accepted beforehand.
    pub foreign: bool,
    /// The line of the text after, from 1, with a syntax error that the text before has not; `None`: there is none, or the
    /// file was not parsed.
    pub broken: Option<usize>,
    /// The number of other names (hard links) of the file that is replaced: they keep the old text.
    pub other_names: usize,
    /// It is shown and decided as one with all of the repository, or of a folder, of which these words say what changes.
    pub unit: Option<String>,
}

/// The way two versions of a file were joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MergeRung {
    /// Nothing to do: all of it is there already, and the file is not written.
    There,
    /// Line by line.
    Lines,
    /// Definition by definition: changed lines lay side by side.
    Definitions,
    /// By the program `mergiraf`: both changed one definition, or the language is another one.
    Mergiraf,
}

impl MergeRung {
    /// Returns the rung with this [`MergeRung::word`].
    pub fn named(word: &str) -> Option<MergeRung> {
        [MergeRung::Lines, MergeRung::Definitions, MergeRung::Mergiraf].into_iter().find(|rung| rung.word() == word)
    }

    /// Returns the word for it in memory and for programs.
    pub fn word(self) -> &'static str {
        match self {
            MergeRung::There => "already there",
            MergeRung::Lines => "lines",
            MergeRung::Definitions => "definitions",
            MergeRung::Mergiraf => "mergiraf",
        }
    }

    /// Returns what is said of a file that was merged so.
    pub fn said(self) -> &'static str {
        match self {
            MergeRung::There => "already there",
            MergeRung::Lines => "merged: lines",
            MergeRung::Definitions => "merged: definitions",
            MergeRung::Mergiraf => "merged: mergiraf",
        }
    }
}

/// A file into which a decided change was merged, because it was another one by the time of writing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergedFile {
    /// Normalised path.
    pub path: String,
    /// The way it was merged.
    pub rung: MergeRung,
    /// The state as the decision would have left it without the changes of others.
    pub alone: State,
    /// The state with them.
    pub after: State,
}

/// Lines added and removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Lines that are new.
    pub added: usize,
    /// Lines that go.
    pub removed: usize,
}

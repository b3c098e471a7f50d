//! The exact set of file changes that something asks for, and what was decided about them. Pure data:
//! nothing here reads a file, asks a clock or waits.
//!
//! A [`Proposal`] holds, per file, the state before and the state after, split into [`Hunk`]s.
//! [`Proposal::decide`] joins it with a [`Decision`] and gives a [`Decided`], the only thing that
//! `apply` accepts. The fields of both are private, and a decision that accepts names its [`Consent`]: no change without
//! consent compiles.

mod consent;
mod decision;
mod fate;
mod hidden;
mod hunks;
mod later;
pub mod merge;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

pub use consent::Consent;
pub use decision::{Choice, Decided, DecidedFile, Decision, DecisionError, FileDecision, HunkCount};
pub use fate::{Fate, FateKind, ForeignChoice};
pub use hidden::hidden;
pub use hunks::{Word, changed_words, count_changed, lines, shown};
pub use later::acts_later;

/// Names a proposal within one run of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProposalId(pub u64);

/// What a path is on disk, or shall become.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Nothing is there.
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
}

/// A regular file that is too large to be held: what tells it from others, and where its bytes can be read.
#[derive(Debug, Clone)]
pub struct LargeFile {
    /// In bytes.
    pub size: u64,
    /// SHA-256 of its bytes.
    pub sha256: [u8; 32],
    /// Unix permission bits.
    pub mode: Option<u32>,
    /// Where it was read. Whoever copies it from there compares the sum.
    pub source: PathBuf,
}

/// Where it was read makes no difference.
impl PartialEq for LargeFile {
    fn eq(&self, other: &Self) -> bool {
        (self.size, self.sha256, self.mode) == (other.size, other.sha256, other.mode)
    }
}

impl Eq for LargeFile {}

impl State {
    /// The permission bits, if it is a file and they are known.
    pub fn mode(&self) -> Option<u32> {
        match self {
            State::File { mode, .. } => *mode,
            State::Large(file) => file.mode,
            State::Absent | State::Link { .. } => None,
        }
    }

    /// A file with these bytes whose mode is left as it is.
    pub fn file(bytes: impl Into<Arc<[u8]>>) -> Self {
        State::File { bytes: bytes.into(), mode: None }
    }

    /// The bytes, if it is a file.
    pub fn bytes(&self) -> Option<&Arc<[u8]>> {
        match self {
            State::File { bytes, .. } => Some(bytes),
            _ => None,
        }
    }

    /// The text, if it is a file of valid UTF-8.
    pub fn text(&self) -> Option<&str> {
        self.bytes().and_then(|b| std::str::from_utf8(b).ok())
    }

    /// Whether nothing is there.
    pub fn is_absent(&self) -> bool {
        matches!(self, State::Absent)
    }
}

/// How the place of an edit was found; the rungs of the ladder in `edit::locate`, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rung {
    /// Byte for byte.
    Exact,
    /// But for line endings.
    LineEndings,
    /// But for white space at line ends.
    TrailingSpace,
    /// But for indentation, shifted uniformly.
    Indentation,
    /// But for look-alike characters: quotes, dashes, spaces.
    LookAlikes,
    /// With a middle left out (`...`) and both ends unique.
    Elided,
    /// By likeness of lines, or an edit whose end was missing: never approved by policy.
    Inexact,
}

impl Rung {
    /// The word for it on the screen after `found:` and in memory: `exact`, `by line endings`, ….
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

/// How an edit's place was found, with what differed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The rung that matched.
    pub rung: Rung,
    /// What differed (`4 further right`), for the hunk line and the model.
    pub detail: Option<String>,
}

/// Where in the after-text an edit ended up, and how its place was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// Byte range in the after-text.
    pub after: std::ops::Range<usize>,
    /// How its place was found.
    pub found: Found,
    /// Which edit of its run this is, counted from 0; none where no run of edits made the change.
    pub edit: Option<usize>,
}

/// What a hunk is about.
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
    /// What it is about.
    pub kind: HunkKind,
    /// Changed lines in the text before, from the first changed to the last (with at most 3 unchanged between).
    pub before: std::ops::Range<usize>,
    /// The lines they become.
    pub after: std::ops::Range<usize>,
    /// How the edit's place was found, if an edit made it: the lowest rung of all edits in it.
    pub found: Option<Found>,
    /// Which edits of the run had a part in it, ascending; empty where that is not known.
    pub edits: Vec<usize>,
    /// Characters in its added lines that hide what the text says: see [`hidden`].
    pub hidden: usize,
}

/// What is to become of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// Normalised path: relative to the workspace root with `/`.
    pub path: String,
    /// As it was read when the proposal was made.
    pub before: State,
    /// As it shall be.
    pub after: State,
    /// For the two ends of a move: the path of the other end.
    pub moved: Option<String>,
    /// Folders that were made for this file and go with it when it is taken away, innermost first, as far as nothing
    /// else is in them.
    pub folders: Vec<String>,
    /// What asked for it, for the strip: `replaceInFile (2)`, `undo`, ….
    pub by: String,
    /// The parts that are decided one by one; never empty unless before equals after.
    pub hunks: Vec<Hunk>,
    /// Lines added and removed.
    pub counts: Counts,
}

/// Lines added and removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Lines that are new.
    pub added: usize,
    /// Lines that go.
    pub removed: usize,
}

/// The exact set of file changes that one tool call, one response's edits, a patch, an undo or a sync asks for.
/// Making one writes nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// Its name on the channels.
    pub id: ProposalId,
    /// What it is, in words, for lists and the cause of the changeset: `undo of …`, `replaceInFile`.
    pub title: String,
    /// The files, in the order in which they are applied.
    pub files: Vec<FileChange>,
}

impl FileChange {
    /// A change of one file, cut into hunks.
    pub fn new(path: impl Into<String>, before: State, after: State, by: impl Into<String>, placed: &[Placed]) -> Self {
        let (mut hunks, counts) = hunks::cut(&before, &after, placed);
        hunks::count_hidden(&mut hunks, &before, &after);
        FileChange { path: path.into(), before, after, moved: None, folders: Vec::new(), by: by.into(), hunks, counts }
    }

    /// The two ends of a move: the old path vanishes, the new one appears with `after`, in which edits stand at
    /// `placed`.
    pub fn moved(from: &str, to: &str, before: State, after: State, by: &str, placed: &[Placed]) -> [Self; 2] {
        let end = |path: &str, other: &str, before, after| {
            let mut c = FileChange::new(path, before, after, by, placed);
            c.moved = Some(other.to_string());
            c.hunks.iter_mut().for_each(|h| h.kind = HunkKind::Move);
            c
        };
        let mut ends = [end(from, to, before.clone(), State::Absent), end(to, from, State::Absent, after)];
        hunks::count_hidden(&mut ends[1].hunks, &before, &ends[1].after);
        ends
    }

    /// Whether its content acts later, without anyone looking at it again: see [`acts_later()`].
    pub fn acts_later(&self) -> bool {
        acts_later(&self.path)
    }
}

impl Proposal {
    /// Lines added and removed in all files.
    pub fn counts(&self) -> Counts {
        self.files.iter().fold(Counts::default(), |sum, f| Counts {
            added: sum.added + f.counts.added,
            removed: sum.removed + f.counts.removed,
        })
    }

    /// What in it no policy and no flag may approve, if there is something.
    pub fn needs_person(&self) -> Option<NeedsPerson<'_>> {
        let of = |file: &'_ FileChange| {
            let inexact = |h: &Hunk| h.found.as_ref().is_some_and(|f| f.rung == Rung::Inexact);
            let hidden = file.hunks.iter().map(|h| h.hidden).sum();
            match () {
                () if file.acts_later() => Some(Personal::ActsLater),
                () if hidden > 0 => Some(Personal::Hidden(hidden)),
                () if file.hunks.iter().any(inexact) => Some(Personal::Inexact),
                () => None,
            }
        };
        self.files.iter().find_map(|file| Some(NeedsPerson { path: &file.path, why: of(file)? }))
    }
}

/// Why only a person may approve a change of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Personal {
    /// The file acts later, without anyone looking at it again.
    ActsLater,
    /// So many characters in it hide what the text says.
    Hidden(usize),
    /// The place of an edit is a guess.
    Inexact,
}

/// A file that only a person may approve a change of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NeedsPerson<'a> {
    /// Normalised path.
    pub path: &'a str,
    /// Why.
    pub why: Personal,
}

impl fmt::Display for NeedsPerson<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path;
        match self.why {
            Personal::ActsLater => write!(f, "{path} acts later"),
            Personal::Hidden(1) => write!(f, "{path} gets a hidden or look-alike character"),
            Personal::Hidden(n) => write!(f, "{path} gets {n} hidden or look-alike characters"),
            Personal::Inexact => write!(f, "a place in {path} is a guess"),
        }
    }
}

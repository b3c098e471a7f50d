//! The exact set of file changes that something asks for, and what was decided about them. Pure data:
//! nothing here reads a file, asks a clock or waits.
//!
//! A [`Proposal`] holds, per file, the state before and the state after, split into [`Hunk`]s.
//! [`Proposal::decide`] joins it with a [`Decision`] and gives a [`Decided`], the only thing that
//! `apply` accepts. The fields of both are private, and a decision that accepts names its [`Consent`]: no change
//! without consent compiles.

mod change;
mod consent;
mod decision;
mod hidden;
mod hunks;
mod large_folder;
mod later;
mod marked;
pub mod merge;
mod merger;
mod restore_preview;
mod undone;

use std::fmt;

use crate::text::clean::clean_line;

pub use change::{
    ChangedLines, Counts, FileChange, Hunk, HunkDefinition, HunkKind, LargeFile, MergeRung, MergedFile, PlaceMatch,
    Placed, Rung, State,
};
pub use consent::Consent;
pub use decision::{Choice, Decided, DecidedFile, Decision, DecisionError, FileDecision, HunkComment, HunkCount};
pub use hidden::{hidden, looks_latin};
pub use hunks::{WordSpan, changed_words, changes, count_changed, display_text, lines, lines_touch};
pub use large_folder::{FEW, large_folders, large_made};
pub use later::acts_later;
pub use marked::marked;
pub use merger::{MergeProgram, Merger};
pub use restore_preview::{
    ForeignChoice, LINKED, REPOSITORY, RestoreFate, RestorePreview, RestoreStatus, counted, is_in_any_repository,
    is_in_repository, outermost_folder, part_of_repository, unit_of, units, whole_folders,
};
pub use undone::WrittenChange;

/// Names a proposal within one run of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProposalId(pub u64);

/// The exact set of file changes of one tool call, one response's edits, a patch, an undo or a sync. Making one writes
/// nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// Its name on the channels.
    pub id: ProposalId,
    /// The title, for lists and the cause of the changeset: `undo of …`, `replaceInFile`.
    pub title: String,
    /// The files, in the order in which they are applied.
    pub files: Vec<FileChange>,
}

impl FileChange {
    /// Creates a change of one file, cut into hunks.
    pub fn new(path: impl Into<String>, before: State, after: State, by: impl Into<String>, placed: &[Placed]) -> Self {
        let (mut hunks, counts) = hunks::cut(&before, &after, placed);
        hunks::count_hidden(&mut hunks, &before, &after);
        FileChange {
            path: path.into(),
            before,
            after,
            moved: None,
            folders: Vec::new(),
            by: by.into(),
            hunks,
            placed: placed.to_vec(),
            counts,
            merged: None,
            restores: false,
            foreign: false,
            broken: None,
            other_names: 0,
            unit: None,
        }
    }

    /// Cuts its hunks of lines further, between two runs of changed lines that `are_apart`.
    pub fn cut_further(&mut self, are_apart: impl Fn(&ChangedLines, &ChangedLines) -> bool) {
        hunks::cut_further(self, are_apart);
    }

    /// Creates a change of all of the repository, to be shown: these words say what changes.
    pub fn of_repository(words: String) -> Self {
        let (before, after) = (State::file(Vec::new()), State::file(vec![0]));
        let change = FileChange::new(REPOSITORY, before, after, "", &[]);
        FileChange { before: State::Absent, after: State::Absent, unit: Some(words), ..change }
    }

    /// Returns the two ends of a move: the old path vanishes, the new one appears with `after`, in which edits stand at
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

    /// Returns how many characters of its path hide what the path says, or would act on a terminal.
    fn hidden_in_path(&self) -> usize {
        hidden(&self.path).len() + self.path.chars().filter(|c| c.is_control()).count()
    }

    /// Returns whether its content acts later, without anyone looking at it again: see [`acts_later()`].
    pub fn acts_later(&self) -> bool {
        acts_later(&self.path)
    }

    /// Returns whether it brings back a part of the repository, which is restored whole or not at all.
    pub fn restores_repository(&self) -> bool {
        self.restores && is_in_repository(&self.path)
    }

    /// Returns why no policy may approve a hunk of it, if that is so.
    pub fn needs_person(&self, hunk: &Hunk) -> Option<Personal> {
        match hunk.hidden {
            _ if self.acts_later() => Some(Personal::ActsLater),
            _ if self.hidden_in_path() > 0 => Some(Personal::HiddenInPath),
            0 if hunk.found.as_ref().is_some_and(|found| found.rung == Rung::Inexact) => Some(Personal::Inexact),
            0 => None,
            hidden => Some(Personal::Hidden(hidden)),
        }
    }
}

impl Proposal {
    /// Counts lines added and removed in all files.
    pub fn counts(&self) -> Counts {
        self.files.iter().fold(Counts::default(), |sum, f| Counts {
            added: sum.added + f.counts.added,
            removed: sum.removed + f.counts.removed,
        })
    }

    /// Returns what in it no policy and no flag may approve, if there is something.
    pub fn needs_person(&self) -> Option<NeedsPerson<'_>> {
        let of = |file: &FileChange| {
            let hidden = file.hunks.iter().map(|h| h.hidden).sum();
            match file.hunks.iter().find_map(|hunk| file.needs_person(hunk)) {
                _ if file.acts_later() => Some(Personal::ActsLater),
                _ if file.hidden_in_path() > 0 => Some(Personal::HiddenInPath),
                _ if hidden > 0 => Some(Personal::Hidden(hidden)),
                why => why,
            }
        };
        self.files.iter().find_map(|file| Some(NeedsPerson { path: &file.path, why: of(file)? }))
    }
}

/// The reason why only a person may approve a change of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Personal {
    /// The file acts later, without being read again by a person.
    ActsLater,
    /// Its path holds characters that hide what it says.
    HiddenInPath,
    /// The number of characters in it that hide what the text says.
    Hidden(usize),
    /// The place of an edit is a guess.
    Inexact,
}

/// A file that only a person may approve a change of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NeedsPerson<'a> {
    /// Normalised path.
    pub path: &'a str,
    /// The reason.
    pub why: Personal,
}

impl fmt::Display for NeedsPerson<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = clean_line(self.path);
        match self.why {
            Personal::ActsLater => write!(f, "{path} acts later"),
            Personal::HiddenInPath => write!(f, "the name of {path} holds a hidden or look-alike character"),
            Personal::Hidden(1) => write!(f, "{path} gets a hidden or look-alike character"),
            Personal::Hidden(n) => write!(f, "{path} gets {n} hidden or look-alike characters"),
            Personal::Inexact => write!(f, "a place in {path} is a guess"),
        }
    }
}

//! The review queue: what waits, what it changed, and what the person decided about it.

use std::sync::Arc;

use crate::proposal::{Counts, Proposal, State};

/// The changes of one turn that wait to be reviewed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewTurn {
    /// The person's words; empty: no turn made them.
    pub title: String,
    /// The time of its first change, in unix milliseconds.
    pub at: i64,
    /// Its changes, oldest first.
    pub entries: Vec<ReviewRow>,
}

/// A change that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewRow {
    /// Its changeset.
    pub id: String,
    /// The command's text, or the path of a single file, or its cause.
    pub title: String,
    /// A command made it.
    pub command: bool,
    /// Files that it changed.
    pub files: usize,
    /// Lines that it added and removed, where they were counted.
    pub counts: Option<Counts>,
}

/// The states that are shown of entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReviewScope {
    /// The present state without what they did against the present one.
    Net,
    /// The state before them against the one that they left.
    Single,
}

/// The paths that entries changed.
#[derive(Debug, Clone, PartialEq)]
pub struct ReviewChange {
    /// File by file; folders, and the repository as one.
    pub change: Arc<Proposal>,
    /// Lines about which nothing can be decided: a path that cannot be compared, or an effect that is not undone, and why.
    pub aside: Vec<(String, String)>,
    /// Files that others changed, too: restoring merges. The number of conflicts of each.
    pub later: Vec<(String, usize)>,
}

/// The person's decision, hunk by hunk.
#[derive(Debug, Clone, PartialEq)]
pub struct ReviewVerdict {
    /// The changesets that it is about.
    pub ids: Vec<String>,
    /// The states that were shown of them.
    pub scope: ReviewScope,
    /// The files of which something is restored.
    pub restored: Vec<ReviewedFile>,
    /// The reason, for the model; empty: nothing was said.
    pub reason: String,
}

/// A file of which something is restored, or a folder, or the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewedFile {
    /// Normalised path.
    pub path: String,
    /// It stands for all files in it.
    pub is_whole: bool,
    /// No hunk of it is kept.
    pub is_all: bool,
    /// Its state as it was shown.
    pub displayed: State,
    /// The state that is wanted in its place.
    pub then: State,
}

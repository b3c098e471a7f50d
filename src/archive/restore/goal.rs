//! The files of a restore: the version that each is to have, and the choices for them.

use std::collections::{BTreeSet, HashMap};

use crate::archive::{Id, Sha, Version, sha256};
use crate::proposal::{ForeignChoice, State};

/// Returns the SHA-256 of a state: of a file's bytes, or a link's text; `None`: nothing is there.
pub fn state_sha(state: &State) -> Option<Sha> {
    match state {
        State::Absent => None,
        State::File { bytes, .. } => Some(sha256(bytes)),
        State::Large(file) => Some(file.sha256),
        State::Link { target } => Some(sha256(format!("link\0{}", target.display()).as_bytes())),
        State::Folder { mode } => Some(sha256(format!("folder\0{mode:o}").as_bytes())),
    }
}

/// Returns whether a version is not what was archived, where it is known what that was.
pub fn is_damaged(state: &State, archived: Option<Sha>) -> bool {
    let is_compared = matches!(state, State::File { .. } | State::Large(_) | State::Link { .. });
    is_compared && archived.is_some_and(|archived| state_sha(state) != Some(archived))
}

/// The choices for files that someone else changed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Choices {
    /// The choice for each file, by normalised path.
    pub each: HashMap<String, ForeignChoice>,
    /// The choice for all others; `None`: not chosen yet, so they stay.
    pub others: Option<ForeignChoice>,
    /// A file without a choice of its own is merged where that meets no conflict. Where one version of one file is
    /// wanted, nothing is merged: that is a replacement.
    pub merge_clean: bool,
    /// The lines of a file that meet no conflict are restored alone where others meet one and `merge_clean` merges.
    pub by_hunk: bool,
    /// The paths with later changes that wait to be decided about: nothing is undone there of which they changed a part.
    pub waiting: BTreeSet<String>,
}

impl Choices {
    /// Returns the choice for a file; `is_clean`: its merge meets no conflict and changes it.
    pub(super) fn of(&self, path: &str, is_clean: bool) -> Option<ForeignChoice> {
        let merge = (self.merge_clean && is_clean).then_some(ForeignChoice::Merge);
        self.each.get(path).copied().or(merge).or(self.others)
    }
}

/// The part of a restore in what someone else changed between the changesets that are undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Between {
    /// There is none.
    Nothing,
    /// It stays.
    Stays,
    /// It goes with them.
    Goes,
}

/// A file and the version to restore, or why there is none.
pub struct Goal {
    /// Its path.
    pub path: String,
    /// The version, or why there is none.
    pub version: Result<Version, String>,
    /// A folder that one of the changesets made: nothing stood there, whatever the version holds.
    pub is_made: bool,
    /// The changesets that are undone, where another one changed the file between or later; empty: none did.
    pub own: Vec<Id>,
    /// The part in it of what someone else changed of the file between two of them.
    pub between: Between,
    /// The mode in which a later changeset met a folder: where it is gone, what is undone did not remove it.
    pub met_later: Option<u32>,
}

impl Goal {
    /// Creates the goal of a file that none of the others changed.
    pub fn new(path: String, version: Result<Version, String>) -> Self {
        Goal { path, version, is_made: false, own: Vec::new(), between: Between::Nothing, met_later: None }
    }
}

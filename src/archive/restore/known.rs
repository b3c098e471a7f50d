//! Knowledge of nebula's own writing, which memory has and the archive does not.

use std::sync::Arc;

use crate::archive::{Id, Sha};
use crate::proposal::State;

/// The state nebula last wrote to a path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LastWritten {
    /// The states that count as nebula's, as [`state_sha`](super::state_sha) gives them. Two while a write is under way, or was when its
    /// process died.
    pub states: Vec<Option<Sha>>,
    /// The newest one's bytes, if they were stored: the base of a merge.
    pub bytes: Option<Arc<[u8]>>,
    /// Folders above the path that nebula made, innermost first.
    pub folders: Vec<String>,
}

/// Knows what nebula last wrote. The archive does not: memory does.
pub trait LastWrittenLookup {
    /// Returns what nebula last wrote to a normalised path; `None`: it never did, or no one remembers.
    fn written(&self, path: &str) -> Option<LastWritten>;

    /// Returns the hash of the state that was archived as a version of a path; `None`: no one remembers.
    fn archived(&self, path: &str, version: Id) -> Option<Sha> {
        let _ = (path, version);
        None
    }

    /// Returns the changeset with which nebula made a folder; none: it did not, or no one remembers.
    fn folder_made_by(&self, folder: &str) -> Option<Id> {
        let _ = folder;
        None
    }

    /// Returns the hash of the state that the changeset which made a version old left at a path; none: no one remembers.
    fn left(&self, path: &str, version: Id) -> Option<Option<Sha>> {
        let _ = (path, version);
        None
    }

    /// Returns the bytes that the changeset which made a version old left at a path, where someone else changed the file
    /// before the next one met it (`met`). `Some(None)`: they are not kept. `None`: it met them, or no one remembers.
    fn left_instead(&self, path: &str, version: Id, met: &State) -> Option<Option<Arc<[u8]>>> {
        let _ = (path, version, met);
        None
    }

    /// Returns whether a version of a path, or its state, is recorded as archived here: another may come with a clone.
    fn knows_version(&self, _path: &str, _version: Id, _state: &State) -> bool {
        true
    }

    /// Returns whether a changeset is recorded as made here; one that is not may have come with a clone, too.
    fn knows_changeset(&self, _changeset: Id) -> bool {
        true
    }

    /// Returns whether writing failed after this changeset was archived, and everything was put back: nothing of it
    /// needs to be undone.
    fn failed(&self, changeset: Id) -> bool {
        let _ = changeset;
        false
    }

    /// Returns whether a changeset undid another one: what it brought back is nothing of its own.
    fn is_undo(&self, changeset: Id) -> bool {
        let _ = changeset;
        false
    }

    /// Returns whether a changeset was made ahead of another program's change, and no such change is recorded.
    fn is_ahead(&self, changeset: Id) -> bool {
        let _ = changeset;
        false
    }

    /// Returns whether a changeset saved files as they were, whatever may have followed.
    fn is_saved(&self, changeset: Id) -> bool {
        let _ = changeset;
        false
    }

    /// Returns whether the changes of the program ahead of which a changeset was made are recorded once they are made: where
    /// none is, it made none.
    fn records_changes(&self, changeset: Id) -> bool {
        let _ = changeset;
        false
    }
}

/// Knowledge of nothing, where no memory is at hand.
pub struct NothingKnown;

impl LastWrittenLookup for NothingKnown {
    fn written(&self, _path: &str) -> Option<LastWritten> {
        None
    }
}

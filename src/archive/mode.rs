//! The permission bits that a version is restored with. A change that was none of them leaves those of today, so that an
//! undo never opens a file that the person has closed since.

use std::cell::RefCell;
use std::collections::HashMap;

use super::{Archive, Id, Version};
use crate::proposal::{LargeFile, State};
use crate::workspace::Workspace;

/// The changesets that changed modes. They are read once for all files that one restore looks at, as far back as the
/// oldest version among these.
pub struct ModeChanges<'a> {
    archive: &'a Archive,
    read: RefCell<ReadSoFar>,
}

#[derive(Default)]
struct ReadSoFar {
    /// The changesets that were not read yet, oldest first; `None`: they were not listed yet.
    left: Option<Vec<Id>>,
    /// The newest one that changed the mode of each path.
    newest: HashMap<String, Id>,
}

impl<'a> ModeChanges<'a> {
    /// Creates them for an archive. Nothing is read before a mode differs.
    pub fn new(archive: &'a Archive) -> Self {
        ModeChanges { archive, read: RefCell::default() }
    }

    /// Returns a version's state with the mode that it is restored with: where no changeset since the version has changed
    /// the mode or made the file anew, it is that of today, which the person may have set.
    pub(super) fn with_mode(&self, path: &str, version: Id, old: State, now: &State) -> State {
        let old = with_set_id_bits(old, now);
        let (then, today) = (old.mode(), now.mode());
        let is_kept = then != today
            && today.is_some()
            && then.is_some()
            && !self.set_mode_since(path, version)
            && !self.was_no_file_since(path, version);
        if is_kept { old.with_mode(today) } else { old }
    }

    /// Returns whether a changeset newer than a version changed the mode of its path. One that cannot be read did not.
    fn set_mode_since(&self, path: &str, version: Id) -> bool {
        let mut read = self.read.borrow_mut();
        let ReadSoFar { left, newest } = &mut *read;
        let left = left.get_or_insert_with(|| {
            let mut ids = self.archive.list().unwrap_or_default();
            ids.reverse();
            ids
        });
        while let Some(id) = left.pop_if(|id| *id > version) {
            for path in self.archive.read_changeset(id).map(|changeset| changeset.modes).unwrap_or_default() {
                newest.entry(path).or_insert(id);
            }
        }
        newest.get(path).is_some_and(|id| *id > version)
    }

    /// Returns whether a path was no file after a version: what is there now got its mode when it was made.
    fn was_no_file_since(&self, path: &str, version: Id) -> bool {
        let is_no_file = |other: &Version| other.absent || other.folder || other.file.is_symlink();
        let versions = self.archive.versions(path).unwrap_or_default();
        versions.iter().any(|other| other.id > version && is_no_file(other))
    }

    /// Returns whether a file is still, or again, in the state that a changeset archived. One whose state cannot be
    /// read is not.
    pub fn is_as_before(&self, workspace: &Workspace, changeset: Id, path: &str) -> bool {
        let Ok(Some(version)) = self.archive.version_in(path, changeset) else { return false };
        let (old, now) = (self.archive.show(&version), workspace.read_to_restore(path));
        old.ok().zip(now.ok()).is_some_and(|(old, now)| self.with_mode(path, version.id, old, &now.state) == now.state)
    }
}

/// Returns a version's state with the set-user-ID and set-group-ID bits of the file as it is: an archived copy has
/// none.
fn with_set_id_bits(old: State, now: &State) -> State {
    match (old, now) {
        (State::File { bytes, mode: Some(old) }, State::File { mode: Some(now), .. }) => {
            State::File { bytes, mode: Some(old | now & 0o6000) }
        }
        (State::Large(old), now) => {
            let set_id_bits = now.mode().unwrap_or(0) & 0o6000;
            State::Large(Box::new(LargeFile { mode: old.mode.map(|mode| mode | set_id_bits), ..*old }))
        }
        (old, _) => old,
    }
}

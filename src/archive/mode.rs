//! The permission bits that a version is restored with. A change that was none of them leaves those of today, so that an
//! undo never opens a file that the person has closed since.

use super::{Archive, Id};
use crate::proposal::{LargeFile, State};

impl Archive {
    /// Returns a version's state with the mode that it is restored with: where no changeset since the version has changed
    /// the mode, it is that of today, which the person may have set.
    pub(super) fn with_mode(&self, path: &str, version: Id, old: State, now: &State) -> State {
        let old = with_set_id_bits(old, now);
        let (then, today) = (old.mode(), now.mode());
        let is_kept = then != today && today.is_some() && then.is_some() && !self.set_mode_since(path, version);
        if is_kept { old.with_mode(today) } else { old }
    }

    /// Returns whether a changeset newer than a version changed the mode of its path. One that cannot be read did not.
    fn set_mode_since(&self, path: &str, version: Id) -> bool {
        let newer = self.list().unwrap_or_default().into_iter().filter(|id| *id > version);
        newer.into_iter().any(|id| {
            let changeset = self.read_changeset(id);
            changeset.is_ok_and(|changeset| changeset.modes.iter().any(|own| own == path))
        })
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

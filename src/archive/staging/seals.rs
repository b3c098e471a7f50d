//! Lines of a journal that say which changeset its states are archived with: they are written before that is named, by
//! whoever seals them.

use serde::{Deserialize, Serialize};

use crate::archive::Id;

/// A line of the journal that says what a changeset is about to be made of: once the changeset is there, these states
/// are archived. It stands in the journal so that both are emptied in one step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SealLine {
    /// The changeset's name.
    pub(super) changeset: String,
    /// The states, by their place in the journal.
    pub(super) states: Vec<usize>,
    /// The relation of the two.
    #[serde(default, skip_serializing_if = "SealKind::is_own")]
    pub(super) kind: SealKind,
}

/// The relation of a changeset to states of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SealKind {
    /// It is the command's own, and is made of them.
    #[default]
    Own,
    /// It is another command's, which met them as they are: they are no change of this one.
    Met,
    /// It is another command's, made of states before them.
    Earlier,
    /// It is never made: calls wait until whoever announced it has let go of the archive.
    Awaited,
}

impl SealKind {
    fn is_own(&self) -> bool {
        *self == SealKind::Own
    }
}

/// States of a journal for which there is a changeset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedStates {
    /// The changeset; it may not be there yet, or never.
    pub changeset: Id,
    /// Their places in the journal.
    pub states: Vec<usize>,
    /// The relation of the two.
    pub kind: SealKind,
}

impl SealedStates {
    /// Returns whether it is this changeset and one of these states.
    pub(in crate::archive) fn is_of(&self, changeset: Id, place: usize) -> bool {
        self.changeset == changeset && self.states.contains(&place)
    }

    /// Reads a line of the journal; none: it is no such line.
    pub(super) fn read(line: &[u8]) -> Option<Self> {
        let SealLine { changeset, states, kind } = serde_json::from_slice(line).ok()?;
        Some(SealedStates { changeset: Id::parse(&changeset)?, states, kind })
    }
}

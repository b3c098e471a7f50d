//! The journal of a staging folder: its lines, and what they say together.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;

use serde::{Deserialize, Serialize};

use super::seals::SealedStates;
use crate::archive::NotUndone;
use crate::archive::changeset::SET_ID_BITS;
use crate::proposal::State;

/// The kind of a path's state before the command changed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StagedKind {
    /// There was no file.
    Absent,
    /// A regular file: its bytes are in the staged file.
    File,
    /// A symbolic link: the staged file is one too.
    Link,
    /// A folder. Its path ends in `/`.
    Folder,
}

/// A line of the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalLine {
    /// Normalised path; a folder's ends in `/`.
    pub path: String,
    /// The kind of the state.
    pub kind: StagedKind,
    /// Its permission bits.
    pub mode: u32,
    /// The staged file, for files and links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub staged: Option<String>,
    /// Device and inode of the staged file; [`JournalLine::COPY`] where it is a copy that no program writes.
    #[serde(default)]
    pub inode: (u64, u64),
    /// The time at which it was kept, in unix milliseconds; 0: that at which the line is written.
    #[serde(default)]
    pub kept: i64,
    /// The microseconds since then at which it was: which of two commands kept a path first is told by less than one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub within: u32,
    /// It is a later state of a path that was kept before: someone else had changed it meanwhile.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl JournalLine {
    /// The mark in place of an inode: the staged file was never the workspace's.
    pub const COPY: (u64, u64) = (0, 0);

    /// Creates the first state of a path, kept when the line is written, without a staged file.
    pub fn of(path: String, kind: StagedKind, mode: u32) -> Self {
        JournalLine { path, kind, mode, staged: None, inode: JournalLine::COPY, kept: 0, again: false, within: 0 }
    }

    /// Returns a state of this kind, for the name of its version.
    pub(in crate::archive) fn shape(&self) -> State {
        match self.kind {
            StagedKind::Absent => State::Absent,
            StagedKind::Folder => State::Folder { mode: self.mode },
            StagedKind::File | StagedKind::Link => State::file(&b""[..]),
        }
    }

    /// Returns the bit of a file's mode that no version holds, so that nothing runs as its owner or group, where an undo
    /// does not leave it: the file does not have it now either, or got another one, which the undo takes away with those
    /// before.
    pub(in crate::archive) fn lost_bit(&self, after: &State) -> Option<&'static str> {
        let (had, has) = (self.mode & SET_ID_BITS, after.mode().unwrap_or_default() & SET_ID_BITS);
        let lost = match self.kind {
            StagedKind::File if has & !had != 0 => had,
            StagedKind::File => had & !has,
            _ => 0,
        };
        match lost {
            0 => None,
            0o2000 => Some("set-group-ID"),
            _ => Some("set-user-ID"),
        }
    }
}

/// A journal that was read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Journal {
    /// The states that were kept: the first one of each path, and those that were kept again.
    pub states: Vec<JournalLine>,
    /// The states that the command had left before someone else changed them, by the places of those kept again then.
    pub(in crate::archive) left: HashMap<usize, LeftLine>,
    /// The states that the command had left at its end, by their paths, as far as its helper noted them.
    pub(in crate::archive) at_end: HashMap<String, LeftLine>,
    /// The changesets that were about to be made of them, each with the places of its states.
    pub(in crate::archive) seals: Vec<SealedStates>,
    /// The effects of its command that an undo does not bring back; none: nothing says that it has ended.
    pub ended: Option<Vec<NotUndone>>,
}

impl Journal {
    /// Reads the lines that can be read.
    pub(super) fn read(text: &[u8]) -> Journal {
        let mut seen = HashSet::new();
        // One that names a file elsewhere is none of this archive's making.
        let is_own = |entry: &JournalLine| entry.staged.as_ref().is_none_or(|name| is_staged(name.as_ref()));
        let (mut journal, mut left) = (Journal::default(), HashMap::new());
        for line in text.split(|b| *b == b'\n') {
            if let Ok(state) = serde_json::from_slice::<JournalLine>(line) {
                let before: Option<LeftLine> = if state.again { left.remove(&state.path) } else { None };
                if is_own(&state) && (seen.insert(state.path.clone()) || state.again) {
                    journal.left.extend(before.map(|left| (journal.states.len(), left)));
                    journal.states.push(state);
                }
            } else if let Some(line) = LeftLine::read(line) {
                left.insert(line.left.clone(), line);
            } else {
                journal.seals.extend(SealedStates::read(line));
                journal.ended = EndLine::read(line).or(journal.ended);
            }
        }
        journal.at_end = left;
        journal
    }
}

/// A line of the journal that says what the command had left at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::archive) struct LeftLine {
    /// Normalised path.
    pub left: String,
    /// The staged file and its mode; none: nothing was there.
    pub staged: Option<(String, u32)>,
}

impl LeftLine {
    /// Reads a line of the journal; none: it is no such line.
    fn read(line: &[u8]) -> Option<LeftLine> {
        let line: LeftLine = serde_json::from_slice(line).ok()?;
        line.staged.as_ref().is_none_or(|(name, _)| is_staged(name.as_ref())).then_some(line)
    }

    /// Returns the line as one of a state that was kept.
    pub(in crate::archive) fn state(&self) -> JournalLine {
        let (staged, mode) = self.staged.clone().map_or((None, 0), |(staged, mode)| (Some(staged), mode));
        let kind = if staged.is_some() { StagedKind::File } else { StagedKind::Absent };
        JournalLine { staged, ..JournalLine::of(self.left.clone(), kind, mode) }
    }
}

/// A line of the journal that says what an undo does not bring back of the command, which has ended.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct EndLine {
    /// A path, or what else it is on, and the reason.
    ended: Vec<(String, String)>,
}

impl EndLine {
    /// Returns the line for a command that has ended.
    pub(super) fn of(not_undone: &[NotUndone]) -> EndLine {
        EndLine { ended: not_undone.iter().map(|effect| (effect.what.clone(), effect.why.clone())).collect() }
    }

    /// Reads a line of the journal; none: it is no such line.
    fn read(line: &[u8]) -> Option<Vec<NotUndone>> {
        let EndLine { ended } = serde_json::from_slice(line).ok()?;
        Some(ended.into_iter().map(|(what, why)| NotUndone::new(what, why)).collect())
    }
}

/// Returns whether a name is one of a staged file.
pub(super) fn is_staged(name: &OsStr) -> bool {
    !name.is_empty() && name.as_encoded_bytes().iter().all(u8::is_ascii_digit)
}

//! Notes in a journal of the changesets that its states are archived with.

use std::collections::{HashMap, HashSet};
use std::io;

use super::seals::{SealKind, SealLine};
use super::{CommandStaging, Journal};
use crate::archive::Id;

impl CommandStaging {
    /// Notes that a changeset is about to be made of these states.
    ///
    /// # Errors
    /// Any error of the file system; then the changeset must not be made.
    pub(in crate::archive) fn seals(&mut self, changeset: Id, states: Vec<usize>) -> io::Result<()> {
        self.made.push(changeset);
        self.note(changeset, states, SealKind::Own)
    }

    /// Notes what a changeset is to these states, which is about to be made, or was.
    ///
    /// # Errors
    /// Any error of the file system.
    pub fn note(&mut self, changeset: Id, states: Vec<usize>, kind: SealKind) -> io::Result<()> {
        self.write_line(&SealLine { changeset: changeset.to_string(), states, kind })
    }

    /// Returns the paths whose states another one's sealing has archived since this was asked last: what is there now is no
    /// state that was kept.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn sealed_by_another(&mut self) -> io::Result<Vec<String>> {
        let length = self.journal.metadata()?.len();
        if length == self.length {
            return Ok(Vec::new());
        }
        let Journal { states, seals } = self.journal()?;
        self.length = length;
        let seals = seals.into_iter().filter(|sealed| sealed.kind != SealKind::Earlier);
        let sealed: HashSet<usize> = seals.flat_map(|sealed| sealed.states).collect();
        // Of a path that was kept again since, the last state counts.
        let mut last = HashMap::new();
        last.extend(states.iter().enumerate().map(|(place, state)| (state.path.as_str(), place)));
        let is_sealed = last.into_iter().filter(|(_, place)| sealed.contains(place));
        Ok(is_sealed.map(|(path, _)| path.to_string()).collect())
    }
}

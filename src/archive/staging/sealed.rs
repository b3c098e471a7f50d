//! Notes in a journal of the changesets that its states are archived with.

use std::collections::{HashMap, HashSet};
use std::io::{self, Seek as _, SeekFrom};

use super::seals::{SealKind, SealLine, SealedStates};
use super::{CommandStaging, Journal};
use crate::archive::{Archive, Id};

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
    /// state that was kept. Where a changeset is announced and not there, whoever makes it is waited for.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn sealed_by_another(&mut self, archive: &Archive) -> io::Result<Vec<String>> {
        // Each line is appended, wherever the file is read or written: its end is found with the least that can be asked.
        let length = (&self.journal).seek(SeekFrom::End(0))?;
        if length == self.length {
            return Ok(Vec::new());
        }
        let read = |staging: &Self| {
            let mut journal = staging.journal()?;
            let is_known = |sealed: &SealedStates| match sealed.kind {
                SealKind::Own | SealKind::Met => !sealed.states.is_empty(),
                SealKind::Earlier => false,
                SealKind::Awaited => true,
            };
            journal.seals.retain(|sealed| is_known(sealed) && !staging.never_made.contains(&sealed.changeset));
            Ok::<Journal, io::Error>(journal)
        };
        let mut journal = read(self)?;
        self.length = length;
        let is_made = |sealed: &SealedStates| archive.paths(sealed.changeset).is_ok();
        // It is made under the archive's lock: once that is free, what is not there never comes. Where it does not get
        // free, states are kept once more than they need be.
        if !journal.seals.iter().all(is_made)
            && let Ok(_held) = archive.lock()
        {
            self.length = self.journal.metadata()?.len();
            journal = read(self)?;
            let (made, never) = journal.seals.into_iter().partition(is_made);
            journal.seals = made;
            self.never_made.extend(never.into_iter().map(|sealed: SealedStates| sealed.changeset));
        }
        let Journal { states, seals, .. } = journal;
        let sealed: HashSet<usize> = seals.into_iter().flat_map(|sealed| sealed.states).collect();
        // Of a path that was kept again since, the last state counts.
        let mut last = HashMap::new();
        last.extend(states.iter().enumerate().map(|(place, state)| (state.path.as_str(), place)));
        let is_sealed = last.into_iter().filter(|(_, place)| sealed.contains(place));
        Ok(is_sealed.map(|(path, _)| path.to_string()).collect())
    }
}

//! The knowledge of the workspace's files and of the archive, which the watch keeps up to date.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::agent::services::file_index::FileIndex;
use crate::agent::services::locked::lock;
use crate::archive::{Id, sha256};
use crate::execute::command::SealedCommand;
use crate::proposal::State;
use crate::shell::ShellCommand;
use crate::tools::ContentHash;
use crate::workspace::watch::FileWatch;

/// The knowledge of the workspace's files.
#[derive(Default)]
pub struct WatchedFiles {
    /// The index behind `@`.
    pub index: FileIndex,
    /// The SHA-256 of each file as the sessions know it, to recognise changes by others; none: it is not there.
    pub known: Mutex<HashMap<String, Option<ContentHash>>>,
    /// The changesets that the front end received.
    pub reported: Mutex<ReportedChangesets>,
    /// The files of the changes that wait to be reviewed, as counted last.
    pub unreviewed: Mutex<HashSet<String>>,
    /// The number of changes that had been decided about when they were counted, and the time of the last decision.
    pub reviewed: Mutex<Option<(i64, i64)>>,
    /// Keeps the watch on the workspace, the archive and memory alive.
    pub watch: Mutex<Option<FileWatch>>,
    /// True if the index of `@rag` is being brought up to date.
    pub refreshing: AtomicBool,
    /// The parts of commands that were archived before their calls were answered.
    pub early_parts: EarlyParts,
    /// The number of commands whose changes are being archived.
    sealing: AtomicUsize,
}

impl WatchedFiles {
    /// Records what is known of a file.
    pub fn knows(&self, path: &str, sha: ContentHash) {
        lock(&self.known).insert(path.to_string(), Some(sha));
    }

    /// Records what is known of a file that a proposal changes or makes.
    pub fn knows_state(&self, path: &str, state: &State) {
        let sha = state.bytes().map(|bytes| sha256(bytes));
        if sha.is_some() || state.is_absent() {
            lock(&self.known).insert(path.to_string(), sha);
        }
    }

    /// Forgets that files are not there: of these that is known only as long as a proposal waits to make them.
    pub fn forget_absent<'p>(&self, paths: impl Iterator<Item = &'p str>) {
        let mut known = lock(&self.known);
        for path in paths {
            if known.get(path) == Some(&None) {
                known.remove(path);
            }
        }
    }

    /// Marks what a command changed as being archived, until the value is dropped: what the sessions know of its files
    /// is brought up to date by then.
    pub fn begin_sealing(&self) -> SealingMark<'_> {
        self.sealing.fetch_add(1, Ordering::SeqCst);
        SealingMark(&self.sealing)
    }

    /// Returns whether what a command changed is being archived.
    pub fn is_sealing(&self) -> bool {
        self.sealing.load(Ordering::SeqCst) > 0
    }
}

/// The mark of a sealing under way.
pub struct SealingMark<'a>(&'a AtomicUsize);

impl Drop for SealingMark<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The changesets that the front end received. They are not reported in the order in which they were made: one that another
/// program made may be seen after a later one of this nebula.
pub struct ReportedChangesets {
    /// Up to this one all are reported.
    newest: Id,
    /// The changesets after it that are reported.
    above: BTreeSet<Id>,
}

impl Default for ReportedChangesets {
    fn default() -> Self {
        ReportedChangesets { newest: Id::MIN, above: BTreeSet::new() }
    }
}

impl ReportedChangesets {
    /// Returns whether one is reported.
    pub fn has(&self, id: Id) -> bool {
        id <= self.newest || self.above.contains(&id)
    }

    /// Adds one that is being reported. Returns whether it was not reported before.
    pub fn add(&mut self, id: Id) -> bool {
        !self.has(id) && self.above.insert(id)
    }

    /// Takes all up to this one as reported.
    pub fn all_to(&mut self, id: Id) {
        self.newest = self.newest.max(id);
        self.above.retain(|reported| *reported > self.newest);
    }
}

/// The parts of commands whose calls are not answered yet, oldest first, by session and id: each result tells of all.
#[derive(Debug, Default)]
pub struct EarlyParts(Mutex<HashMap<(Option<String>, String), Vec<SealedCommand>>>);

impl EarlyParts {
    /// Keeps what was archived of a command, where its call is not answered yet.
    pub fn keep(&self, command: &ShellCommand, sealed: SealedCommand) {
        let mut parts = lock(&self.0);
        if !command.is_answered() && sealed.changeset.is_some() {
            parts.entry(key(command)).or_default().push(sealed);
        }
    }

    /// Marks the call of a command as answered. Returns all that was archived of it; `last`: what was archived now.
    pub fn answer(&self, command: &ShellCommand, last: SealedCommand) -> SealedCommand {
        let mut all = lock(&self.0);
        command.mark_answered();
        let mut parts = all.remove(&key(command)).unwrap_or_default();
        parts.push(last);
        SealedCommand::of_parts(parts)
    }
}

fn key(command: &ShellCommand) -> (Option<String>, String) {
    (command.info.session.clone(), command.id.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_is_told_hides_none_before_it() {
        let first = Id::after(Id::MIN);
        let second = Id::after(first);
        let mut reported = ReportedChangesets::default();
        assert!(reported.add(second) && !reported.add(second));
        assert!(!reported.has(first) && reported.add(first));
        reported.all_to(second);
        assert!(reported.has(first) && !reported.add(second) && reported.add(Id::after(second)));
    }
}

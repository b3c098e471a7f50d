//! The changes of a command beyond its archived files, and what was refused to it, in numbers and in words.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::super::places::holds_objects;
use super::super::sandbox::Grant;
use super::{CALL_REFUSED, MadeConfig, NAMED};
use crate::archive::NotUndone;
use crate::text::number::plural;

/// The notes about a command beside its changes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Summary {
    /// Folders that can be rebuilt, and in each the changes that were not archived.
    pub derived: BTreeMap<String, u64>,
    /// The folders among them, or beside them, that are gone as a whole.
    #[serde(default)]
    pub derived_gone: BTreeSet<String>,
    /// A state found no room: its call was refused.
    #[serde(default)]
    pub no_room: bool,
    /// Kept files in whose place someone else put others meanwhile.
    #[serde(default)]
    pub meanwhile: Vec<String>,
    /// There are more of them.
    #[serde(default)]
    pub more_meanwhile: bool,
    /// Writes that the person refused.
    #[serde(default)]
    pub said_no: u64,
    /// The first of them.
    #[serde(default)]
    pub first_said_no: Option<String>,
    /// Writes that would have needed the person's word, and got none.
    #[serde(default)]
    pub unanswered: u64,
    /// The first of them.
    #[serde(default)]
    pub first_unanswered: Option<String>,
    /// Writes that were refused without a question.
    pub refused: u64,
    /// The first of them.
    pub first_refused: Option<String>,
    /// One of them was beyond what its sandbox may write, which the person may change.
    #[serde(default)]
    pub is_beyond: bool,
    /// Writes of caches that are only read without the network: programs go on without them.
    #[serde(default)]
    pub caches: u64,
    /// The first of them.
    #[serde(default)]
    pub first_cache: Option<String>,
    /// Moves and links of private files that were refused.
    #[serde(default)]
    pub private: u64,
    /// The first of them.
    #[serde(default)]
    pub first_private: Option<String>,
    /// Paths that are not archived, each with why.
    pub not_archived: Vec<(String, String)>,
    /// The number of further ones.
    #[serde(default)]
    pub more_not_archived: u64,
    /// Connections that were refused.
    pub connections: u64,
    /// The target of the first of them.
    pub first_connection: Option<String>,
    /// The number of those among them that would have looked up a name.
    #[serde(default)]
    pub lookups: u64,
    /// Connections to abstract sockets, all of which are refused.
    #[serde(default)]
    pub abstracts: u64,
    /// The first of them.
    #[serde(default)]
    pub first_abstract: Option<String>,
    /// The configurations of repositories that it made.
    #[serde(default)]
    pub configs: Vec<MadeConfig>,
}

impl Summary {
    /// Adds what came after.
    pub fn add(&mut self, more: Summary) {
        for (folder, count) in more.derived {
            *self.derived.entry(folder).or_default() += count;
        }
        self.derived_gone.extend(more.derived_gone);
        self.no_room |= more.no_room;
        more.meanwhile.into_iter().for_each(|path| self.add_meanwhile(path));
        self.said_no += more.said_no;
        self.first_said_no = self.first_said_no.take().or(more.first_said_no);
        self.unanswered += more.unanswered;
        self.first_unanswered = self.first_unanswered.take().or(more.first_unanswered);
        self.refused += more.refused;
        self.first_refused = self.first_refused.take().or(more.first_refused);
        self.is_beyond |= more.is_beyond;
        self.caches += more.caches;
        self.first_cache = self.first_cache.take().or(more.first_cache);
        self.private += more.private;
        self.first_private = self.first_private.take().or(more.first_private);
        self.not_archived.extend(more.not_archived);
        self.more_not_archived += more.more_not_archived;
        self.connections += more.connections;
        self.lookups += more.lookups;
        self.first_connection = self.first_connection.take().or(more.first_connection);
        self.abstracts += more.abstracts;
        self.first_abstract = self.first_abstract.take().or(more.first_abstract);
        self.configs.extend(more.configs);
    }

    /// Notes a kept file in whose place someone else put another.
    pub fn add_meanwhile(&mut self, path: String) {
        if self.meanwhile.contains(&path) {
            return;
        }
        match self.meanwhile.len() < NAMED {
            true => self.meanwhile.push(path),
            false => self.more_meanwhile = true,
        }
    }

    /// Returns a line for each folder that can be rebuilt and was changed or is gone.
    pub fn derived_words(&self) -> impl Iterator<Item = String> + '_ {
        let gone =
            self.derived_gone.iter().map(|folder| format!("derived: {folder} removed (rebuild it; not archived)"));
        let changed = self.derived_changed().filter(|(folder, _)| !holds_objects(folder));
        gone.chain(changed.map(|(folder, count)| {
            let changes = plural_of(*count, "change");
            format!("derived: {folder} ({changes}, not archived)")
        }))
    }

    /// Returns a line for each repository that got objects, which stay.
    pub fn gained_words(&self) -> impl Iterator<Item = String> + '_ {
        let gained = self.derived_changed().filter(|(folder, _)| holds_objects(folder));
        gained.map(|(folder, count)| {
            let changes = plural_of(*count, "change");
            format!("derived: {} ({changes}; what was added stays)", plain(folder))
        })
    }

    /// Returns the folders that can be rebuilt, were changed and are there, each with its number of changes.
    fn derived_changed(&self) -> impl Iterator<Item = (&String, &u64)> {
        self.derived.iter().filter(|(folder, _)| !self.derived_gone.contains(*folder))
    }

    /// Returns what an undo does not bring back, as far as is known, of a command with this grant; none: it ran in no
    /// sandbox. `left_out`: paths that a scan did not archive.
    pub fn not_undone(&self, grant: Option<Grant>, left_out: &[(String, String)]) -> Vec<NotUndone> {
        let gone = self.derived_gone.iter().map(|folder| NotUndone::new(folder, "removed; it can be rebuilt"));
        // Without their number: a job is sealed several times, and each of its changesets names them.
        let changed = self.derived_changed().map(|(folder, _)| match holds_objects(folder) {
            true => NotUndone::new(plain(folder), "what was added stays: once this is undone, no branch may name it"),
            false => NotUndone::new(folder, "changed; it can be rebuilt"),
        });
        // What was refused was not done.
        let paths = self.not_archived.iter().filter(|(_, why)| !why.contains(CALL_REFUSED)).chain(left_out);
        let named = paths.map(|(path, why)| NotUndone::new(path, format!("not archived: {why}")));
        let reached = match grant {
            Some(Grant::Online) => Some(NotUndone::new("network", "what was sent, and caches of package managers")),
            None => Some(NotUndone::new("outside the workspace", "it ran in no sandbox: nothing there is archived")),
            Some(Grant::Read | Grant::Workspace) => None,
        };
        let more = (self.more_not_archived > 0).then(|| NotUndone::new("further paths", "not archived"));
        gone.chain(changed).chain(named).chain(more).chain(reached).collect()
    }

    /// Returns a line for each file that someone else changed meanwhile.
    pub fn meanwhile_words(&self) -> impl Iterator<Item = String> + '_ {
        let named = self.meanwhile.iter().map(|path| format!("changed by someone else meanwhile: {path}"));
        named.chain(self.more_meanwhile.then(|| "changed by someone else meanwhile: further files".into()))
    }

    /// Returns a line where a state found no room.
    pub fn room_words(&self) -> Option<String> {
        self.no_room.then(|| "not enough room to archive: nothing unarchived was overwritten".into())
    }

    /// Returns a line for the writes that were refused, one for those that the person refused, and one for those that
    /// nobody answered for.
    pub fn refused_words(&self) -> impl Iterator<Item = String> + '_ {
        let line = |what: &str, count, first: &String| format!("{what}: {}, first {first}", plural_of(count, "write"));
        let said_no = self.first_said_no.iter().map(move |first| line("refused by the person", self.said_no, first));
        let unanswered = self.first_unanswered.iter();
        let unanswered = unanswered.map(move |first| line("not allowed, as nobody answered", self.unanswered, first));
        self.outside_words().into_iter().chain(self.private_words()).chain(said_no).chain(unanswered)
    }

    /// Returns a line for the writes that the sandbox refused.
    fn outside_words(&self) -> Option<String> {
        let first = self.first_refused.as_ref()?;
        Some(format!("refused: {} outside what it may write, first {first}", plural_of(self.refused, "write")))
    }

    /// Returns a line for the caches that were only read, for a command that failed.
    pub fn cache_words(&self) -> Option<String> {
        let first = self.first_cache.as_ref()?;
        Some(format!(
            "caches are only read without the network: {} refused, first {first}",
            plural_of(self.caches, "write")
        ))
    }

    /// Returns a line for the moves and links of private files that were refused.
    fn private_words(&self) -> Option<String> {
        let first = self.first_private.as_ref()?;
        let (count, words) = (self.private, if self.private == 1 { "move or link" } else { "moves or links" });
        Some(format!(
            "refused: {count} {words} of private files, first {first} (by another name the next command could read them)"
        ))
    }

    /// Returns a line for the writes and one for the connections that the sandbox refused.
    pub fn blocked_words(&self, has_failed: bool) -> impl Iterator<Item = String> + '_ {
        self.outside_words().into_iter().chain(self.private_words()).chain(self.connection_words(has_failed))
    }

    /// Returns a line for each path that is not archived, and one for those that are not named.
    pub fn not_archived_words(&self) -> impl Iterator<Item = String> + '_ {
        let named = self.not_archived.iter().map(|(path, why)| format!("not archived: {path} ({why})"));
        let more = self.more_not_archived;
        named.chain((more > 0).then(|| format!("and {more} more are not archived")))
    }

    /// Returns a line for the connections that were refused. Where the command did not fail, none of names alone that were to
    /// be looked up: package managers ask whether there is a newer one of themselves.
    pub fn connection_words(&self, has_failed: bool) -> Option<String> {
        let first = self.first_connection.as_ref().filter(|_| has_failed || self.lookups < self.connections)?;
        Some(format!("no network: {} refused, first {first}", plural_of(self.connections, "connection")))
    }

    /// Returns a line for the connections to abstract sockets, which nothing lifts.
    pub fn abstract_words(&self) -> Option<String> {
        let first = self.first_abstract.as_ref()?;
        Some(format!("abstract sockets are closed: {} refused, first {first}", plural_of(self.abstracts, "connection")))
    }
}

/// Returns a folder as a person writes it: `/./` marks the root of a repository of a linked worktree.
fn plain(folder: &str) -> String {
    folder.replace("/./", "/")
}

fn plural_of(count: u64, word: &str) -> String {
    plural(usize::try_from(count).unwrap_or(usize::MAX), word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_were_not_looked_up_are_told_where_the_command_failed() {
        let first = Some("the look-up of a host name (UDP)".to_string());
        let names = Summary { connections: 2, lookups: 2, first_connection: first, ..Summary::default() };
        assert_eq!(names.connection_words(false), None);
        let says = "no network: 2 connections refused, first the look-up of a host name (UDP)";
        assert_eq!(names.connection_words(true).as_deref(), Some(says));
        let more = Summary { connections: 3, ..names };
        assert!(more.connection_words(false).is_some());
    }
}

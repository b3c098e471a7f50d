//! Words of `undo`: versions back, files, a changeset, a message.

use std::collections::BTreeSet;

use anyhow::{Result, bail};

use super::ArchiveCommands;
use crate::archive;
use crate::past::PastError;
use crate::restore_plan::RestoreScope;
use crate::shell::output::record::{self, CommandRecord};
use crate::text::clean::clean_line;
use crate::text::sentence::first_words;

/// The shortest beginning of a changeset's id that is taken for one, in characters: a shorter word names a file.
const SHORTEST_ID: usize = 8;

impl ArchiveCommands<'_> {
    /// Parses `[COUNT] [FILE…]`, or the id of a changeset. A file whose name is a number is written `./2`.
    pub(super) fn of_words(&mut self, words: &[String]) -> Result<RestoreScope> {
        if let [word] = words
            && let Some(scope) = self.of_changeset(word)?
        {
            return Ok(scope);
        }
        let (first, files) = match words.split_first() {
            Some((first, rest)) if first.bytes().all(|b| b.is_ascii_digit()) && !first.is_empty() => {
                (Some(first), rest)
            }
            _ => (None, words),
        };
        let count = match first.map(|n| n.parse()) {
            None => 1,
            Some(Ok(n)) => n,
            Some(Err(_)) => usize::MAX,
        };
        let mut files = self.paths(files)?;
        let mut seen = BTreeSet::new();
        files.retain(|path| seen.insert(path.clone()));
        Ok(RestoreScope::Undo { count, files })
    }

    /// Says where the newest command archived nothing: the newest change is older than that.
    pub(super) fn tell_newest_command(&mut self) -> Result<()> {
        let newest = self.archive.list()?.first().map(|id| id.at());
        let commands = self.commands.iter().flat_map(|logs| record::list(logs, self.workspace.root()));
        let is_kept = |command: &CommandRecord| ["guard", "scan"].contains(&command.keeper.as_str());
        let command = commands.map(|(command, _)| command).find(is_kept);
        let command = command.filter(|command| command.changeset.is_none());
        match command.zip(newest).filter(|(command, newest)| command.started > *newest) {
            Some((command, _)) => {
                let text = first_words(&command.command, 60);
                self.complain(&format!(
                    "the newest command ({}) archived nothing: this is about the change before it",
                    clean_line(&text)
                ))
            }
            None => Ok(()),
        }
    }

    /// Returns the changeset that a word begins the id of, where no file is called so.
    fn of_changeset(&self, word: &str) -> Result<Option<RestoreScope>> {
        let is_id = word.len() >= SHORTEST_ID && word.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
        let is_count = word.bytes().all(|b| b.is_ascii_digit());
        if !is_id || is_count || self.workspace.root().join(word).symlink_metadata().is_ok() {
            return Ok(None);
        }
        match self.archive.find_changeset(word) {
            Ok(id) => Ok(Some(RestoreScope::Changeset(id.to_string()))),
            Err(archive::Error::Unknown { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn since_message(&self, to: &str) -> Result<RestoreScope> {
        let parts = to.rsplit_once(':').and_then(|(s, m)| Some((s, m.parse::<i64>().ok()?)));
        let Some((session, message)) = parts else {
            bail!("--to wants SESSION:MESSAGE, as `nebula sessions show` writes them, not {to}");
        };
        let session = self.memory.find(&self.project(), session)?;
        if !self.memory.has_message(&session, message)? {
            return Err(PastError::NoMessage(message).into());
        }
        Ok(RestoreScope::SinceMessage { session, message, called: format!("message {message}") })
    }
}

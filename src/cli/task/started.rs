//! The commands that a task started.

use std::collections::{HashMap, HashSet};

use crate::protocol::{CommandBegan, CommandEnd, CommandEvent};

/// The texts of the commands that were started, by id, those of them whose shells are over and that run on, and those
/// whose changes could not be archived.
#[derive(Default)]
pub(super) struct StartedCommands {
    texts: HashMap<String, String>,
    left: HashSet<String>,
    unarchived: HashSet<String>,
}

impl StartedCommands {
    /// Notes what an event tells of them.
    pub(super) fn note(&mut self, event: &CommandEvent) {
        match event {
            CommandEvent::Began(CommandBegan { id: Some(id), text, .. }) => {
                self.texts.insert(id.clone(), text.clone());
            }
            CommandEvent::Ended(end) => self.note_end(end),
            _ => {}
        }
    }

    fn note_end(&mut self, end: &CommandEnd) {
        if end.running && end.exit.is_some() {
            self.left.insert(end.id.clone());
        }
        match end.archive_error {
            Some(_) => self.unarchived.insert(end.id.clone()),
            None => self.unarchived.remove(&end.id),
        };
    }

    /// Returns whether one of them changed what could not be archived.
    pub(super) fn has_unarchived(&self) -> bool {
        !self.unarchived.is_empty()
    }

    /// Returns the text of a command that ended as nebula did.
    pub(super) fn ended_here(&self, end: &CommandEnd) -> Option<&String> {
        self.texts.get(&end.id).filter(|_| end.stopped || !end.running && self.left.contains(&end.id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_not_be_archived_stands_until_it_is() {
        let mut started = StartedCommands::default();
        let end = |archive_error: Option<&str>| {
            let archive_error = archive_error.map(str::to_string);
            CommandEvent::Ended(CommandEnd { id: "c1".into(), archive_error, ..CommandEnd::default() })
        };
        started.note(&end(Some("no space left")));
        assert!(started.has_unarchived());
        started.note(&end(None));
        assert!(!started.has_unarchived());
    }
}

//! The commands that a task started.

use std::collections::{HashMap, HashSet};

use crate::protocol::{CommandBegan, CommandEnd, CommandEvent};

/// The texts of the commands that were started, by id, and those of them whose shells are over and that run on.
#[derive(Default)]
pub(super) struct StartedCommands {
    texts: HashMap<String, String>,
    left: HashSet<String>,
}

impl StartedCommands {
    /// Notes what an event tells of them.
    pub(super) fn note(&mut self, event: &CommandEvent) {
        match event {
            CommandEvent::Began(CommandBegan { id: Some(id), text, .. }) => {
                self.texts.insert(id.clone(), text.clone());
            }
            CommandEvent::Ended(end) if end.running && end.exit.is_some() => drop(self.left.insert(end.id.clone())),
            _ => {}
        }
    }

    /// Returns the text of a command that ended as nebula did.
    pub(super) fn ended_here(&self, end: &CommandEnd) -> Option<&String> {
        self.texts.get(&end.id).filter(|_| end.stopped || !end.running && self.left.contains(&end.id))
    }
}

//! The end of a task: what still runs of its session ends, which is told, and the last line follows.

use std::collections::{HashMap, HashSet};
use std::io;

use serde_json::{Value, json};

use super::cause::add_cause;
use super::{EventPrinter, TaskExit};
use crate::agent::{self, AgentHandle};
use crate::cli::out;
use crate::cli::shell::event_line;
use crate::cli::unsaved::complain_of_unsaved;
use crate::messages::agent as say;
use crate::proposal::units;
use crate::protocol::{Cause, CommandBegan, CommandEnd, CommandEvent, EventBody};
use crate::text::sentence::first_words;

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
    fn ended_here(&self, end: &CommandEnd) -> Option<&String> {
        self.texts.get(&end.id).filter(|_| end.stopped || !end.running && self.left.contains(&end.id))
    }
}

impl EventPrinter {
    /// Prints what is told while the agent ends, and the last line.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub(super) async fn end(&mut self, mut handle: AgentHandle) -> io::Result<()> {
        let mut ended = std::pin::pin!(agent::ended(handle.held_up, handle.done, out::complain));
        let mut end = None;
        let mut told = Ok(());
        while told.is_ok() {
            tokio::select! {
                event = handle.events.recv() => match event {
                    Some(event) => told = self.late(event.body),
                    None => break,
                },
                how = &mut ended => {
                    end = Some(how);
                    break;
                }
            }
        }
        while let Ok(event) = handle.events.try_recv() {
            told = told.and_then(|()| self.late(event.body));
        }
        // Nobody who still tells something is held up.
        handle.events.close();
        let end = match end {
            Some(end) => end,
            None => ended.await,
        };
        complain_of_unsaved(&end);
        match told.and_then(|()| self.finish()) {
            // Nobody reads on: what was done stays done.
            Err(why) if why.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            done => done,
        }
    }

    pub(super) fn done(&mut self, reason: &str, error: &str, exit: TaskExit) -> io::Result<TaskExit> {
        self.done_because(reason, error, &Cause::default());
        Ok(exit)
    }

    /// Keeps the last line until nothing of the session runs any more, with what a failure was for programs.
    pub(super) fn done_because(&mut self, reason: &str, error: &str, cause: &Cause) {
        let error = if error.is_empty() { Value::Null } else { error.into() };
        let mut line = json!({"type": "done", "reason": reason, "error": error});
        add_cause(&mut line, cause);
        self.last = Some(line);
    }

    /// Keeps the notice of what was not read as an edit, or that no file was changed, for the last line.
    pub(super) fn keep_note(&mut self, title: &str, text: &str) {
        if [say::no_file_changed(), say::no_further(), say::block_not_read()].contains(&title) && title != text {
            self.note = Some(text.to_string());
        }
    }

    /// Prints what the end of a job brings.
    fn late(&mut self, event: EventBody) -> io::Result<()> {
        match event {
            EventBody::Archived(changeset) => self.archived(&changeset),
            EventBody::Command(event) if !event.is_for_screens() => {
                if let CommandEvent::Ended(end) = &event
                    && let Some(text) = self.commands.ended_here(end)
                {
                    out::complain(format_args!("ended with nebula: {} ({})", end.id, first_words(text, 60)));
                }
                self.line(event_line(&event))
            }
            _ => Ok(()),
        }
    }

    /// Prints the last line.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        let Some(mut line) = self.last.take() else { return Ok(()) };
        line["changed"] = units(self.changed.iter().map(String::as_str)).into();
        if let Some(note) = self.note.take() {
            line["note"] = note.into();
        }
        self.line(line)
    }
}

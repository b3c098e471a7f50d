//! The end of a task: what still runs of its session ends, which is told, and the last line follows.

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
use crate::protocol::{Cause, CommandEvent, EventBody, Level, Notice, TurnEnd};
use crate::text::sentence::first_words;

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

    /// Returns whether no file was changed. What a command changed counts also where it could not be archived.
    pub(super) fn is_unchanged(&self) -> bool {
        self.changed.is_empty() && !self.commands.has_unarchived()
    }

    /// Ends the turn.
    pub(super) fn ended(&mut self, end: TurnEnd) -> io::Result<TaskExit> {
        self.aside.end();
        if self.column > 0 && !self.json {
            self.out("\n")?;
        }
        match end {
            TurnEnd::Done if self.refused || !self.unmade.is_empty() => self.done("refused", "", TaskExit::Refused),
            TurnEnd::Done if self.expect_change && self.is_unchanged() => {
                let why = "no file was changed, and --expect-change asks for one";
                self.notice(&Notice::new(Level::Error, why, ""))?;
                self.done("unchanged", why, TaskExit::Failed)
            }
            TurnEnd::Done => {
                if self.is_unchanged() && !self.plan && !self.json && self.note.is_none() {
                    self.notice(&Notice::new(Level::Info, "no file was changed", ""))?;
                }
                self.done("done", "", TaskExit::Done)
            }
            TurnEnd::Interrupted => self.done("interrupted", "", TaskExit::Interrupted),
            // What was changed stands; something else was refused.
            TurnEnd::Asking(why) if !self.changed.is_empty() && why.starts_with(&say::refused_twice(&"")) => {
                self.done("refused", &why, TaskExit::Refused)
            }
            TurnEnd::Asking(why) => {
                // The notice before it says what was reached.
                let (title, cause) = std::mem::take(&mut self.newest);
                self.done_because("limit", &why, &Some(cause).filter(|_| title == why).unwrap_or_default());
                Ok(TaskExit::Failed)
            }
            TurnEnd::Failed { message, cause, .. } => {
                self.done_because("failed", &message, &cause);
                Ok(TaskExit::Failed)
            }
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

    /// Says at a terminal that the turn goes on. A line that is not whole yet shows that itself.
    pub(super) fn say_at_work(&self, seconds: u64) {
        if self.terminal && !self.json && self.column == 0 {
            out::complain(format_args!("nothing for {seconds} s: still at work. Ctrl+C stops it"));
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

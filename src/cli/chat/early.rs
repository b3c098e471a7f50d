//! The lines that are typed before what they meet: they answer nothing, and no answer among them becomes a message.

use std::io;

use super::Chat;
use super::input::InputLine;
use super::replies::{OpenQuestion, reads_like_answer};
use super::words::{self, TypedLine};
use crate::cli::out;
use crate::messages::line as say;
use crate::protocol::Command;

impl Chat {
    /// Handles a typed line. One that was begun before its question decides nothing: it is a message for later, or where it
    /// reads like an answer it is dropped.
    pub(super) fn line(&mut self, line: InputLine) -> io::Result<()> {
        let text = line.text.trim().to_string();
        self.printer.typed(line.is_before(self.put))?;
        let is_early = line.is_early(self.put);
        // A word for nebula itself goes to no model.
        if is_early && reads_like_answer(&text) && words::read(&text) == TypedLine::Message {
            return self.printer.say(&say::dropped_answer(&text));
        }
        if is_early && !self.waiting.is_empty() {
            if !text.is_empty() {
                self.printer.say(&say::kept_for_later(&text))?;
                self.held.push_back(text);
            }
            return Ok(());
        }
        let (before, put) = (self.open_question(), self.put.take());
        match self.waiting.pop_front() {
            Some(OpenQuestion::Proposal(pending)) => self.decide(pending, &text)?,
            Some(OpenQuestion::Question(question)) => self.answer(question, &text)?,
            None => self.message(&text)?,
        }
        // One that asks on was read before.
        if before.is_some() && self.open_question() == before {
            self.put = put;
        }
        Ok(())
    }

    /// Stops the turn on Ctrl-C, and drops what waits to be sent. Where no turn runs, the first clears the line, and the
    /// second ends the program.
    pub(super) fn interrupt(&mut self) -> io::Result<()> {
        let held: Vec<String> = self.held.drain(..).chain(self.lines.drop_typed()).collect();
        for text in held.iter().map(|text| text.trim()).filter(|text| !text.is_empty()) {
            self.printer.say(&say::dropped(&text))?;
        }
        if self.busy {
            self.send(Command::Interrupt);
            // What the turn asks is asked no more; what the person asked for still waits.
            self.drop_waiting(|question| !matches!(question, OpenQuestion::Proposal(p) if p.restore));
            return self.printer.say(say::interrupting());
        }
        if out::at_terminal() && !self.printer.again_ends()? {
            return Ok(());
        }
        self.ended = true;
        self.end_of_input()
    }
}

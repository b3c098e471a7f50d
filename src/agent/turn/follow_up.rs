//! Unfinished answers: one that the server paused, a call that it could not read, thoughts without a word. The model
//! is asked to continue once in a turn for each kind.

use std::collections::HashSet;

use crate::agent::session::conversation::Conversation;

/// The reason why an answer is no end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unfinished {
    /// The server paused it: it wants nothing but what it said.
    Paused,
    /// The server could not read the call in it.
    Malformed,
    /// It holds thoughts, and not a word.
    Silent,
}

/// The kinds of unfinished answers that the model was asked to continue in a turn.
#[derive(Default)]
pub struct FollowUp(HashSet<Unfinished>);

impl FollowUp {
    /// Returns whether the model is asked once more because of how this answer ended; it is told why.
    pub fn again(&mut self, session: &mut Conversation, answer: Unfinished) -> bool {
        if !self.0.insert(answer) {
            return false;
        }
        match answer {
            Unfinished::Paused => {}
            Unfinished::Malformed => {
                session.add_hidden("Your call could not be read. Make it again, with valid arguments.");
            }
            Unfinished::Silent => {
                session.add_hidden("Your answer was empty. Give it now, or make the call that comes next.");
            }
        }
        true
    }
}

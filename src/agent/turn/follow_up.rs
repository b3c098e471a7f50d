//! Unfinished answers: one that the server paused, a call that it could not read, thoughts without a word, a block that has
//! no place in its file. The model is asked to continue once in a turn for each kind.

use std::collections::HashSet;

use crate::agent::session::conversation::Conversation;
use crate::edit::Format;

/// The reason why an answer is no end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unfinished {
    /// The server paused it: it wants nothing but what it said.
    Paused,
    /// The server could not read the call in it.
    Malformed,
    /// It holds thoughts, and not a word.
    Silent,
    /// It holds a block for a file that is neither all of it nor a part with a certain place, or that names no file.
    Unplaced,
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
            Unfinished::Paused | Unfinished::Unplaced => {}
            Unfinished::Malformed => {
                session.add_hidden("Your call could not be read. Make it again, with valid arguments.");
            }
            Unfinished::Silent => {
                session.add_hidden("Your answer was empty. Give it now, or make the call that comes next.");
            }
        }
        true
    }

    /// Returns whether the model is asked once more for the change of this file, a block for which has no place in it.
    pub fn again_for(&mut self, session: &mut Conversation, path: &str, format: Format) -> bool {
        let why = format!(
            "{path}: nothing was written. The block for it is neither the whole file nor a part whose place in it is certain."
        );
        self.again_because(session, &why, format)
    }

    /// Returns whether the model is asked once more because of a block of this file without a place, beside others that were read.
    pub fn again_beside(&mut self, session: &mut Conversation, path: &str, format: Format) -> bool {
        let why = format!(
            "{path}: a block of the answer was not written. It is neither the whole file nor a part whose place in it is certain; what else the answer changes is made."
        );
        self.again_because(session, &why, format)
    }

    /// Returns whether the model is asked once more because of a block that names no file: it may be meant for this one.
    pub fn again_without_path(&mut self, session: &mut Conversation, path: &str, format: Format) -> bool {
        let why = format!("Nothing was written. The block does not say which file it belongs to: is it {path}?");
        self.again_because(session, &why, format)
    }

    /// Returns whether the model is asked once more because its answer is nothing but the path of this file.
    pub fn again_without_text(&mut self, session: &mut Conversation, path: &str, format: Format) -> bool {
        let why = format!("{path}: nothing was written. The answer names the file and holds no text for it.");
        self.again_because(session, &why, format)
    }

    fn again_because(&mut self, session: &mut Conversation, why: &str, format: Format) -> bool {
        let is_asked = self.again(session, Unfinished::Unplaced);
        if is_asked {
            let how = format.reminder().unwrap_or("Make the change by a call of a tool that edits files.");
            session.add_hidden(&format!("{why} If it is to be changed, do that now. {how}"));
        }
        is_asked
    }
}

//! Answers that are no end: what the server paused, a call that it could not read, thoughts without a word. Each is
//! asked on once in a turn.

use crate::agent::session::context::SessionContext;
use crate::agent::session::conversation::Conversation;
use crate::agent::turn::step::{Ended, Step};

/// The kinds of answers that were asked on in a turn.
#[derive(Default)]
pub struct FollowUp {
    paused: bool,
    malformed: bool,
    empty: bool,
}

impl FollowUp {
    /// Returns whether the model is asked once more because of how this answer ended; it is told why.
    pub fn again(&mut self, context: &SessionContext, session: &mut Conversation, step: &Step) -> bool {
        if !step.acts.is_empty() {
            return false;
        }
        let (already, words) = match step.ended {
            // The server wants nothing but what it said.
            Ended::Paused => (&mut self.paused, None),
            Ended::Malformed => {
                (&mut self.malformed, Some("Your call could not be read. Make it again, with valid arguments."))
            }
            Ended::Whole if step.silent && step.thought => {
                (&mut self.empty, Some("Your answer was empty. Give it now, or make the call that comes next."))
            }
            _ => return false,
        };
        if std::mem::replace(already, true) {
            return false;
        }
        if let Some(words) = words {
            session.add_hidden(context, words);
        }
        true
    }
}

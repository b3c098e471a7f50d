//! The pictures and documents that a server refused: left out of what is sent to it from then on, so that the session
//! goes on. The conversation keeps them, and another model is sent them.

use std::sync::Arc;

use crate::agent::services::events::Events;
use crate::agent::services::target::RequestTarget;
use crate::agent::session::conversation::{Conversation, first_words};
use crate::agent::session::prompt_state::RefusedFiles;
use crate::context::request::size;
use crate::messages::provider as say;
use crate::protocol::{Level, Notice};
use crate::provider::{Blob, Capabilities, Error, ErrorKind, Message};

/// The longest reason that is kept, in characters.
const REASON: usize = 200;

/// The refusals in a turn of requests that hold pictures or documents.
#[derive(Default)]
pub struct FileRefusals {
    /// The names of the files that are left out since the last request that was answered.
    tried: Vec<String>,
    /// The number of files that were left out for good before.
    before: usize,
    /// True once it did not help in this turn to leave files out.
    given_up: bool,
}

impl FileRefusals {
    /// Leaves files out of what is sent, after a refusal of `target` that may be about them: those of the newest message
    /// that has some, then all others; where the request was too large, all but those of the newest message first.
    /// Returns whether the model is asked once more.
    pub fn learn(&mut self, session: &mut Conversation, target: &RequestTarget, error: &Error) -> bool {
        let sent = if self.given_up { Vec::new() } else { sent_files(session, target) };
        let Some((newest, older)) = sent.split_last() else {
            self.given_up |= !self.tried.is_empty();
            self.restore(session);
            return false;
        };
        let says = error.said.as_ref().map_or("", |said| said.words.as_str());
        let are_too_many = error.status == Some(413) || says.to_lowercase().contains("too many");
        let first = self.tried.is_empty();
        let leave = match first {
            true if are_too_many && !older.is_empty() => older,
            true => std::slice::from_ref(newest),
            false => &sent,
        };
        let why = if says.trim().is_empty() { error.message.clone() } else { first_words(says, REASON) };
        if first {
            self.before = session.prompt.refused.len();
        }
        for index in leave {
            let message = &session.messages[*index];
            let taken = message.blobs().filter(|blob| is_taken(target.capabilities(), blob));
            self.tried.extend(taken.map(|blob| blob.name.clone()));
            let files = files(message);
            let (place, model, why) = (target.address(), target.model.clone(), why.clone());
            session.prompt.refused.push(RefusedFiles { message: *index, files, place, model, why });
        }
        true
    }

    /// Keeps what is left out once the server has `answered`, and says so; else it is sent again.
    pub async fn finish(&mut self, events: &Events, session: &mut Conversation, place: &str, answered: bool) {
        if self.tried.is_empty() {
            return;
        }
        if !answered {
            return self.restore(session);
        }
        session.store_prompt();
        let why = session.prompt.refused.last().map_or("", |refused| refused.why.as_str());
        let title = say::files_left_out(&place, &std::mem::take(&mut self.tried).join(", "));
        session.say(events, Notice::new(Level::Warning, title, say::it_says(&why))).await;
    }

    /// Sends again what was left out to no effect.
    pub fn restore(&mut self, session: &mut Conversation) {
        if !std::mem::take(&mut self.tried).is_empty() {
            session.prompt.refused.truncate(self.before);
            session.store_prompt();
        }
    }
}

/// Returns whether a refusal of `target` may be about the pictures and documents that were sent: one without a kind of
/// its own, or one for length where the texts are far from filling the window, or are less than the files.
pub fn may_be_about_files(session: &Conversation, target: &RequestTarget, error: &Error) -> bool {
    let is_small = || session.window.sent() * 2 < u64::from(error.window().unwrap_or(target.window()));
    let is_less = || {
        let sent = sent_files(session, target);
        let bytes: usize = sent.iter().flat_map(|at| files(&session.messages[*at])).map(|(_, bytes)| bytes).sum();
        bytes > size(&session.messages)
    };
    match error.kind {
        ErrorKind::BadRequest => true,
        // Where only the answer is too long beside it, the prompt with its files is taken.
        ErrorKind::ContextTooLong if error.said.as_ref().is_some_and(|said| said.prompt.is_some()) => false,
        ErrorKind::ContextTooLong => is_small() || error.status == Some(413) && is_less(),
        _ => false,
    }
}

/// Returns the messages of which `target` refused the files, each with the reason.
pub(super) fn refused_messages(session: &Conversation, target: &RequestTarget) -> Vec<(Arc<Message>, String)> {
    let all = session.prompt.refused.iter();
    let here = all.filter(|refused| refused.model == target.model && refused.place == target.address());
    let message = |refused: &RefusedFiles| {
        let message = session.messages.get(refused.message).filter(|message| files(message) == refused.files)?;
        Some((Arc::clone(message), refused.why.clone()))
    };
    here.filter_map(message).collect()
}

/// Returns the places of the messages with files that are sent to `target`, oldest first.
fn sent_files(session: &Conversation, target: &RequestTarget) -> Vec<usize> {
    let (capabilities, refused) = (target.capabilities(), refused_messages(session, target));
    let is_refused = |message: &Arc<Message>| refused.iter().any(|(of, _)| Arc::ptr_eq(of, message));
    let from = session.summary.as_ref().map_or(0, |(_, covered)| *covered).min(session.messages.len());
    let is_sent = |at: &usize| {
        let message = &session.messages[*at];
        message.blobs().any(|blob| is_taken(capabilities, blob)) && !is_refused(message)
    };
    (from..session.messages.len()).filter(is_sent).collect()
}

/// Returns whether a model of these capabilities takes a file.
pub(super) fn is_taken(capabilities: Capabilities, blob: &Blob) -> bool {
    if blob.mime.starts_with("image/") { capabilities.images } else { capabilities.documents }
}

/// Returns the name and the size of each file of a message.
fn files(message: &Message) -> Vec<(String, usize)> {
    message.blobs().map(|blob| (blob.name.clone(), blob.bytes.len())).collect()
}

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

/// The words of refusals that are about pictures or documents.
const FILE_WORDS: [&str; 16] = [
    "image",
    "images",
    "picture",
    "pictures",
    "photo",
    "vision",
    "multimodal",
    "modality",
    "mmproj",
    "document",
    "documents",
    "pdf",
    "file",
    "files",
    "attachment",
    "base64",
];

/// The refusals in a turn of requests that hold pictures or documents.
#[derive(Default)]
pub struct FileRefusals {
    /// The names of the files that are left out since the last request that was answered.
    tried: Vec<String>,
    /// The number of entries of left-out files before that.
    before: usize,
    /// The reason, for the person.
    detail: String,
    /// True once the request was sent again as it was, since the last one that was answered.
    repeated: bool,
    /// True once it did not help in this turn to leave files out.
    given_up: bool,
}

/// The request after a refusal.
enum NextTry {
    /// The request goes out as it was.
    Same,
    /// The request goes out without the files of these messages, for good or for the turn.
    Without {
        /// The places of the messages.
        messages: Vec<usize>,
        /// True if one success shows that the server does not take them.
        lasting: bool,
    },
}

impl FileRefusals {
    /// Leaves files out of what is sent, after a refusal of `target` that may be about them. Returns whether the model is
    /// asked once more.
    pub fn learn(&mut self, session: &mut Conversation, target: &RequestTarget, error: &Error) -> bool {
        let sent = if self.given_up { Vec::new() } else { sent_files(session, target) };
        let next = self.next(session, target, error, sent);
        let Some(NextTry::Without { messages, lasting }) = next else {
            self.repeated |= next.is_some();
            self.given_up |= !self.tried.is_empty();
            self.restore(session);
            return next.is_some();
        };
        let says = error.said.as_ref().map_or("", |said| said.words.as_str());
        let is_silent = says.trim().is_empty();
        let why = if is_silent { error.message.clone() } else { first_words(says, REASON) };
        self.detail = if is_silent { why.clone() } else { say::it_says(&why) };
        if self.tried.is_empty() {
            self.before = session.prompt.refused.len();
        }
        for index in messages {
            let message = &session.messages[index];
            let taken = message.blobs().filter(|blob| is_taken(target.capabilities(), blob));
            self.tried.extend(taken.map(|blob| blob.name.clone()));
            let files = files(message);
            let (place, model, why) = (target.address(), target.model.clone(), why.clone());
            session.prompt.refused.push(RefusedFiles { message: index, files, place, model, why, for_turn: false });
        }
        session.prompt.refused[self.before..].iter_mut().for_each(|refused| refused.for_turn = !lasting);
        true
    }

    /// Returns the request to make after a refusal of one with the files of the messages at `sent`, oldest first: without
    /// those that the server has not answered yet. Files that it took before are left out for good only where its words
    /// are about files: those of the newest message, then all; else the request is repeated, and made without them in
    /// this turn. Where the request was too large, all but those of the newest message are left out first.
    fn next(&self, session: &Conversation, target: &RequestTarget, error: &Error, sent: Vec<usize>) -> Option<NextTry> {
        let says = error.said.as_ref().map_or(String::new(), |said| said.words.to_lowercase());
        let is_named = error.kind == ErrorKind::ContextTooLong || names_files(session, &sent, &says);
        let is_open = is_named || error.kind == ErrorKind::BadRequest;
        let are_too_many = error.status == Some(413) || says.contains("too many");
        let without = |messages: &[usize], lasting| Some(NextTry::Without { messages: messages.to_vec(), lasting });
        let (newest, older) = sent.split_last()?;
        let last = last_answer(session, target);
        let new = &sent[sent.partition_point(|at| Some(*at) < last)..];
        match () {
            () if !self.tried.is_empty() => without(&sent, is_named).filter(|_| is_open),
            () if are_too_many && !older.is_empty() => without(older, true),
            // That a server of the network fails shows nothing of the kind.
            () if !new.is_empty() => without(new, is_named || error.kind != ErrorKind::Server || target.is_local()),
            () if is_named => without(&[*newest], true),
            () if !is_open => None,
            () if !self.repeated => Some(NextTry::Same),
            () => without(&sent, false),
        }
    }

    /// Keeps what is left out once the server has `answered`, and says so; else it is sent again.
    pub async fn finish(&mut self, events: &Events, session: &mut Conversation, place: &str, answered: bool) {
        self.repeated = false;
        if self.tried.is_empty() {
            return;
        }
        if !answered {
            return self.restore(session);
        }
        session.store_prompt();
        let names = std::mem::take(&mut self.tried).join(", ");
        let title = match session.prompt.refused.last().is_some_and(|refused| refused.for_turn) {
            true => say::files_left_out_now(&place, &names),
            false => say::files_left_out(&place, &names),
        };
        session.say(events, Notice::new(Level::Warning, title, &self.detail)).await;
    }

    /// Sends again what was left out to no effect.
    fn restore(&mut self, session: &mut Conversation) {
        if !std::mem::take(&mut self.tried).is_empty() {
            session.prompt.refused.truncate(self.before);
            session.store_prompt();
        }
    }

    /// Sends again from the next turn on what was left out to no effect, or for this turn alone.
    pub fn end_turn(mut self, session: &mut Conversation) {
        self.restore(session);
        session.prompt.refused.retain(|refused| !refused.for_turn);
    }
}

/// Returns whether the words of a refusal, in lower case, are about pictures or documents, or name one of the messages
/// at `sent`.
fn names_files(session: &Conversation, sent: &[usize], says: &str) -> bool {
    let mut words = says.split(|c: char| !c.is_alphanumeric());
    let mut names = sent.iter().flat_map(|at| session.messages[*at].blobs()).map(|blob| blob.name.to_lowercase());
    words.any(|word| FILE_WORDS.contains(&word)) || names.any(|name| !name.is_empty() && says.contains(&name))
}

/// Returns the place of the newest answer of `target`: it was sent the files before that, and took them.
fn last_answer(session: &Conversation, target: &RequestTarget) -> Option<usize> {
    let place = target.connected()?.origin(&target.model).place;
    let is_from = |message: &Arc<Message>| {
        message.origin.as_ref().is_some_and(|origin| origin.model == target.model && origin.place == place)
    };
    session.messages.iter().rposition(is_from)
}

/// Returns whether files are sent to `target` that it has not answered yet.
pub(super) fn sends_new_files(session: &Conversation, target: &RequestTarget) -> bool {
    let last = last_answer(session, target);
    sent_files(session, target).last().is_some_and(|newest| Some(*newest) > last)
}

/// Returns whether a refusal of `target` may be about the pictures and documents that were sent: one without a kind of
/// its own, one that lacks a right, a failure that may be of them, or one for length where the texts are far from filling
/// the window, or are less than the files.
pub fn may_be_about_files(session: &Conversation, target: &RequestTarget, error: &Error) -> bool {
    let is_small = || session.window.sent() * 2 < u64::from(error.window().unwrap_or(target.window()));
    let is_less = || {
        let sent = sent_files(session, target);
        let bytes: usize = sent.iter().flat_map(|at| files(&session.messages[*at])).map(|(_, bytes)| bytes).sum();
        bytes > size(&session.messages)
    };
    match error.kind {
        ErrorKind::BadRequest | ErrorKind::Permission => true,
        ErrorKind::Server => error.status == Some(500),
        // What runs the model may have died of them.
        ErrorKind::Broken { after_first_token: false } => target.is_local(),
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

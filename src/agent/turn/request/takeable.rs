//! The messages as a model takes them.

use std::sync::Arc;

use super::refused_files::{is_taken, refused_messages};
use crate::agent::services::target::RequestTarget;
use crate::agent::session::conversation::Conversation;
use crate::context::request::MessageSizes;
use crate::provider::{Blob, Capabilities, Message};

/// Returns the messages as `target` takes them: an attachment that the model does not take, as after a change of the
/// model, or that its server refused, is named instead.
pub(super) fn takeable(
    session: &mut Conversation,
    target: &RequestTarget,
    messages: Vec<Arc<Message>>,
    sizes: MessageSizes,
) -> Vec<Arc<Message>> {
    if sizes.files == 0 {
        return messages;
    }
    let (capabilities, refused) = (target.capabilities(), refused_messages(session, target));
    let reason = |m: &Arc<Message>| refused.iter().find(|(of, _)| Arc::ptr_eq(of, m)).map(|(_, why)| why.as_str());
    let mut plain = |m: Arc<Message>| {
        let reason = reason(&m);
        let note = note(&m, capabilities, reason);
        if note.is_empty() {
            return m;
        }
        // The same message every time: what was serialised before is recognised by identity.
        let made = session.sent.plain.iter().find(|(of, by, _)| Arc::ptr_eq(of, &m) && *by == note);
        if let Some((_, _, made)) = made {
            return Arc::clone(made);
        }
        let mut made = (*m).clone();
        made.retain_blobs(|blob| reason.is_none() && is_taken(capabilities, blob));
        let made = Arc::new(made.and_text(&note));
        session.sent.plain.push((m, note, Arc::clone(&made)));
        made
    };
    messages.into_iter().map(&mut plain).collect()
}

/// Returns the text in place of the files of a message that are not sent; empty where all are. `reason`: why the server
/// refused them, if it did.
fn note(message: &Message, capabilities: Capabilities, reason: Option<&str>) -> String {
    let left: Vec<&str> =
        message.blobs().filter(|b| !is_taken(capabilities, b)).map(|blob| blob.name.as_str()).collect();
    let mut note = match left.is_empty() {
        true => String::new(),
        false => format!("\n\n---\nNot sent, since you do not take such files: {}.", left.join(", ")),
    };
    let kind = |blob: &Blob| if blob.mime.starts_with("image/") { "picture" } else { "document" };
    for blob in reason.into_iter().flat_map(|_| message.blobs()).filter(|blob| is_taken(capabilities, blob)) {
        let why = reason.unwrap_or_default();
        note.push_str(&format!("\n\n[{} {}: refused by the server: {why}]", kind(blob), blob.name));
    }
    note
}

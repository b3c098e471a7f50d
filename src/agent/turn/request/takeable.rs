//! The messages as a model takes them.

use std::sync::Arc;

use crate::agent::session::conversation::Conversation;
use crate::context::request::MessageSizes;
use crate::provider::{Blob, Capabilities, Message};

/// Returns the messages as a model of these `capabilities` takes them: an attachment of an earlier message that it does not take, as
/// after a change of the model, is named instead.
pub(super) fn takeable(
    session: &mut Conversation,
    capabilities: Capabilities,
    messages: Vec<Arc<Message>>,
    sizes: MessageSizes,
) -> Vec<Arc<Message>> {
    if sizes.files == 0 {
        return messages;
    }
    let taken = |b: &Blob| if b.mime.starts_with("image/") { capabilities.images } else { capabilities.documents };
    let all = |m: &Arc<Message>| m.blobs().all(taken);
    if messages.iter().all(all) {
        return messages;
    }
    let mut plain = |m: Arc<Message>| {
        if all(&m) {
            return m;
        }
        // The same message every time: what was serialised before is recognised by identity.
        let made = session.sent.plain.iter().find(|(of, by, _)| Arc::ptr_eq(of, &m) && *by == capabilities);
        if let Some((_, _, made)) = made {
            return Arc::clone(made);
        }
        let left: Vec<&str> = m.blobs().filter(|b| !taken(b)).map(|b| b.name.as_str()).collect();
        let note = format!("\n\n---\nNot sent, since you do not take such files: {}.", left.join(", "));
        let mut made = (*m).clone();
        made.retain_blobs(taken);
        let made = Arc::new(made.and_text(&note));
        session.sent.plain.push((m, capabilities, Arc::clone(&made)));
        made
    };
    messages.into_iter().map(&mut plain).collect()
}

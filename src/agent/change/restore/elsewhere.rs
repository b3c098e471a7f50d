//! Restores that were made outside the session: by `nebula undo`, or in another session.

use std::sync::Arc;

use crate::agent::services::lock;
use crate::agent::session::context::SessionContext;
use crate::agent::session::transcript::PersonRestore;
use crate::memory::Memory;
use crate::protocol::Item;

/// Tells in the chat, and the model with its next request, of a restore outside the session that a person made of files
/// that the session changed.
pub async fn tell_elsewhere(context: &Arc<SessionContext>, changeset: &str) {
    let Some(session) = context.id() else { return };
    let own = session.clone();
    let read = move |memory: &Memory| memory.restores_of_session(&own);
    let restores = context.services.record_error(context.services.memory.ask(read).await).unwrap_or_default();
    let is_it = |record: &&crate::memory::ChangesetRecord| {
        record.id.as_deref() == Some(changeset) && record.cause.session.as_ref() != Some(&session)
    };
    if let Some(restored) = restores.iter().find(is_it).map(PersonRestore::of) {
        lock(&context.notes).push(restored.note());
        context.events.add(Item::Notice(restored.notice())).await;
    }
}

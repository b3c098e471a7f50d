//! A message of the person, with what it mentions, joins the conversation; or the last turn is to go on.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::agent::background::rag;
use crate::agent::services::Services;
use crate::agent::services::watched::WatchedFiles;
use crate::agent::session::approval::{PendingApprovals, yes_once};
use crate::agent::session::context::SessionContext;
use crate::agent::session::conversation::{Conversation, SessionFiles, first_words};
use crate::agent::session::records::{AttachedRecord, blob_record, write_attached};
use crate::context::attach::{Attachment, Composed, compose, named_files};
use crate::context::small_model::is_nudge;
use crate::memory::{self, MessageMeta, NUDGE_MARK, NewMessage};
use crate::messages::{agent as words, count};
use crate::protocol::{Attached, Item, Prompt, Reply};
use crate::provider::{Capabilities, Message, Role};
use crate::text::{number, time};
use crate::workspace::holds_secrets;

/// Stores and shows a message of the person, with what it mentions attached. Files are read here, so that what is sent
/// is what was there when Enter was pressed.
///
/// # Errors
/// When something mentioned is missing or may not be read: nothing is sent.
pub async fn say(
    context: &SessionContext,
    session: &mut Conversation,
    prompt: &Prompt,
    stop: &CancellationToken,
) -> Result<(), String> {
    if prompt.text.contains('@') {
        // Whether an image may be attached is for the server to say.
        context.services.models.want_facts();
    }
    // The room for attachments is known once a server on this computer has reported its window.
    context.model_described(stop).await;
    let target = context.target();
    // A file that is known stands in the conversation.
    let known: Vec<String> = session.files.versions.keys().cloned().collect();
    let names = context.services.config.writes_text(&target.model).then_some(known);
    let mut composed = composed(context, (target.capabilities(), names), prompt, stop).await?;
    may_send(&context.approvals, &composed, stop).await?;
    let room = target.budget().room();
    let size = session.window.tokens(composed.text.len());
    if size > room {
        let [size, room, window] = [size, room, u64::from(target.window())].map(number::large);
        return Err(words::message_too_large(&size, &room, &window));
    }
    for note in context.take_notes() {
        composed.text.push_str(&format!("\n\n---\n{note}"));
    }
    let records = attached(&context.services.watched, &mut session.files, &composed);
    let files: Vec<Attached> = records.iter().map(AttachedRecord::to_attached).collect();
    let row = session.append(record(&composed, &records));
    session.turn = Some(row);
    session.undecided.take();
    let typed = composed.text[..composed.typed].to_string();
    session.push(Message::user(composed.text).with_blobs(composed.blobs), row);
    if session.title.is_none() {
        session.title = Some(first_words(&typed, 60));
    }
    session.prompt.look_again();
    // What was typed is stored before anything of it is sent.
    stop.run_until_cancelled(context.services.flushed()).await;
    context.events.add(Item::User { text: typed, at: time::now(), attached: files }).await;
    Ok(())
}

/// Asks about each attached file that usually holds keys.
async fn may_send(approvals: &PendingApprovals, composed: &Composed, stop: &CancellationToken) -> Result<(), String> {
    for attachment in composed.attached.iter().filter(|attachment| holds_secrets(&attachment.path)) {
        // The message is not in the chat yet: it may not be sent at all.
        let message = first_words(&composed.text[..composed.typed], 60);
        let text = words::send_secrets_with(&attachment.path, &message);
        let choices = yes_once(words::this_file_once(&count::size(attachment.bytes as u64)), words::default_not_sent());
        if approvals.permission(text, choices, stop).await != Some(Reply::Choice(0)) {
            return Err(words::secrets_not_sent(&attachment.path));
        }
    }
    Ok(())
}

/// Returns a message with what it mentions, read on a thread that may block; for a small model also with the files it
/// names, but those `known` to it.
async fn composed(
    context: &SessionContext,
    (capabilities, known): (Capabilities, Option<Vec<String>>),
    prompt: &Prompt,
    stop: &CancellationToken,
) -> Result<Composed, String> {
    let (services, events) = (Arc::clone(&context.services), context.events.clone());
    let (typed, stop2) = (prompt.text.clone(), stop.clone());
    let composed = tokio::task::spawn_blocking(move || {
        let retrieve = |words: &str| rag::retrieve(&services, &events, words, &stop2);
        let text = expanded(&services, &typed)?;
        let workspace = services.workspace.stopped_by(&stop2);
        let named = known.map(|known| named_files(&workspace, &text, &known)).unwrap_or_default();
        compose(&workspace, &text, capabilities, &retrieve, &named).map_err(|refused| refused.problems.join("\n"))
    });
    let composed = stop.run_until_cancelled(composed).await.filter(|_| !stop.is_cancelled());
    let composed = composed.ok_or("interrupted before anything was sent")?;
    composed.map_err(|_| "reading the mentioned files failed in nebula itself".to_string())?
}

/// Records that the session knows what is attached. Returns the records of it.
fn attached(watched: &WatchedFiles, files: &mut SessionFiles, composed: &Composed) -> Vec<AttachedRecord> {
    let record = |attachment: &Attachment| {
        let sha = attachment.whole.as_ref().map(|bytes| files.know(&attachment.path, bytes));
        match sha {
            Some(sha) => watched.knows(&attachment.path, sha),
            None => files.touch(&attachment.path),
        }
        AttachedRecord::new(attachment, sha)
    };
    let records = composed.attached.iter().map(record).collect();
    files.links.extend(composed.links.iter().cloned());
    records
}

/// Returns what is kept of a message.
fn record(composed: &Composed, attached: &[AttachedRecord]) -> NewMessage {
    let mut record = NewMessage::text(memory::StoredRole::User, composed.text.clone());
    record.meta = MessageMeta {
        typed: Some(composed.typed),
        attached: (!attached.is_empty()).then(|| write_attached(attached)),
        extra: is_nudge(&composed.text[..composed.typed]).then(|| NUDGE_MARK.into()),
        ..MessageMeta::default()
    };
    record.blobs = composed.blobs.iter().map(blob_record).collect();
    record
}

/// Returns what was typed, or, for `/prompt NAME arguments`, what that stands for.
fn expanded(services: &Services, typed: &str) -> Result<String, String> {
    let Some(rest) = typed.strip_prefix("/prompt ") else { return Ok(typed.to_string()) };
    let rest = rest.trim_start();
    let (name, arguments) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    services.prompts().expand(name, arguments).map_err(|e| e.to_string())
}

/// Continues where the last turn stopped: where that was in the middle of an answer, the model is told so.
pub fn go_on(session: &mut Conversation) {
    session.granted = session.totals;
    if session.messages.last().is_some_and(|m| m.role == Role::Assistant && !m.is_blank()) {
        let text = "Go on exactly from where your last answer stopped. Do not repeat what is there already.";
        session.add_hidden(text);
    }
}

/// Sends the last request again; the result is removed from the conversation.
pub fn ask_again(session: &mut Conversation) {
    while session.messages.last().is_some_and(|m| m.role == Role::Assistant && !m.has_calls()) {
        session.messages.pop();
        if let Some(row) = session.rows.pop() {
            session.post(move |memory, id| memory.remove_from(id, row));
        }
    }
}

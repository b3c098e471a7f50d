//! `/compact`: the conversation so far is summarised; the summary is shown, and counts only once the person says so.
//!
//! It goes on like a turn: it can be stopped, a pause between tries is shown, and messages wait until it is over. What is
//! summarised is what would be sent, so that it helps when the context window is full, and where that is still too
//! much, the newest of it.

use std::sync::Arc;

use futures_util::StreamExt;
use tokio_util::sync::CancellationToken;

use crate::agent::services::lock;
use crate::agent::session::context::SessionContext;
use crate::agent::session::conversation::Conversation;
use crate::agent::session::request;
use crate::agent::turn::step;
use crate::context::request::{newest, size};
use crate::context::templates::Templates;
use crate::memory;
use crate::protocol::{EventBody, Item, Level, Question, TurnEnd};
use crate::provider::{Answer, Delta, Error, Kind, Message, Request};

/// A server that refuses so little, in bytes, is not asked with less.
const SMALLEST: usize = 4_000;
/// The choice that makes a summary count.
const USE_IT: &str = "use it";

/// Asks the model for a summary and puts it to the person.
pub async fn run(context: &Arc<SessionContext>, session: &mut Conversation, stop: &CancellationToken) -> TurnEnd {
    context.say(Level::Info, "summarising", "").await;
    let summary = summarise(context, session, stop).await;
    if stop.is_cancelled() {
        context.events.notice(Level::Broken, "interrupted", "Nothing was changed.").await;
        return TurnEnd::Interrupted;
    }
    match summary {
        Ok((text, left_out)) => {
            offer(context, session, text, left_out, stop).await;
            if stop.is_cancelled() { TurnEnd::Interrupted } else { TurnEnd::Done }
        }
        Err(Error { message, hint, .. }) => {
            context.events.notice(Level::Error, &message, &hint).await;
            TurnEnd::Failed { message, hint, resumable: false }
        }
    }
}

/// The model's summary, and how many of the oldest messages did not fit and are not in it.
async fn summarise(
    context: &Arc<SessionContext>,
    session: &mut Conversation,
    stop: &CancellationToken,
) -> Result<(String, usize), Error> {
    let services = Arc::clone(&context.services);
    let instructions = tokio::task::spawn_blocking(move || {
        let templates = Templates::new(&services.workspace, lock(&services.config).paths.folder());
        templates.get("summarise.md").map(|t| t.text).unwrap_or_default()
    });
    let system = stop.run_until_cancelled(instructions).await.and_then(Result::ok).unwrap_or_default();
    let kept = usize::from(session.summary.is_some());
    let (mut messages, room) = request::to_summarise(context, session, system.len());
    messages.push(Arc::new(Message::user("Summarise this conversation now, as your instructions say.")));
    let mut room = size(&messages).min(room);
    loop {
        let (newest, left_out) = newest(&messages, kept, room);
        let model = context.keep_model();
        let (system, skip_backoff) = (system.as_str().into(), context.skip_backoff.clone());
        let request = Request { model, system, messages: newest, skip_backoff, ..Request::default() };
        match listen(context, request, stop).await {
            Ok(answer) => {
                request::add_usage(context, session, answer.usage).await;
                let nothing = || Error::new(Kind::BadAnswer, "the model gave no summary", "Nothing was changed.");
                let text = Some(answer.text).filter(|text| !text.trim().is_empty() || stop.is_cancelled());
                return text.map(|text| (text, left_out)).ok_or_else(nothing);
            }
            // Its window is smaller than is known here.
            Err(error) if error.kind == Kind::ContextTooLong && room > SMALLEST => room /= 2,
            Err(error) => return Err(error),
        }
    }
}

/// The answer to one request, or what there is of it when the person stops it.
async fn listen(context: &Arc<SessionContext>, request: Request, stop: &CancellationToken) -> Result<Answer, Error> {
    let connection = context.services.connection();
    let unknown = || Error::new(Kind::NoKey, "no model is connected", "nebula doctor says more.");
    let provider = connection.provider.ok_or_else(|| connection.why_not.unwrap_or_else(unknown))?;
    let mut deltas = provider.stream(request);
    let mut answer = Answer::default();
    let mut retrying = false;
    let mut failed = None;
    while let Some(Some(delta)) = stop.run_until_cancelled(deltas.next()).await {
        match delta {
            Ok(Delta::Retrying(wait)) => {
                retrying = true;
                context.events.send(EventBody::Retrying(Some(step::shown_wait(wait)))).await;
            }
            Ok(delta) => {
                if std::mem::take(&mut retrying) {
                    context.events.send(EventBody::Retrying(None)).await;
                }
                answer.push(&delta);
            }
            Err(error) => failed = Some(error),
        }
    }
    if retrying {
        context.events.send(EventBody::Retrying(None)).await;
    }
    failed.map_or(Ok(answer), Err)
}

/// Shows the summary and waits for what the person says of it.
async fn offer(
    context: &Arc<SessionContext>,
    session: &mut Conversation,
    text: String,
    left_out: usize,
    stop: &CancellationToken,
) {
    let missing = match left_out {
        0 => String::new(),
        1 => "\n\n*The oldest message did not fit and is not in it.*".to_string(),
        n => format!("\n\n*The oldest {n} messages did not fit and are not in it.*"),
    };
    context.events.add(Item::Answer { text: format!("**Summary of this conversation**\n\n{text}{missing}") }).await;
    let id = context.events.question();
    let reply = context.approvals.await_reply(id);
    let choices = vec![
        (USE_IT.to_string(), "the model gets this in place of the messages so far; memory keeps them".to_string()),
        ("drop it".to_string(), "nothing changes".to_string()),
    ];
    let question = Question {
        id,
        text: "Send this summary in place of the conversation so far?".into(),
        choices,
        permission: false,
    };
    context.events.send(EventBody::Asked(question)).await;
    let said = stop.run_until_cancelled(reply).await.and_then(Result::ok);
    context.approvals.withdraw_question(id);
    context.events.send(EventBody::Answered(id)).await;
    if said.as_deref() != Some(USE_IT) {
        return;
    }
    let Some(upto) = session.rows.last().copied() else { return };
    let (id, summary) = (session.id.clone(), memory::Summary { text: text.clone(), upto });
    context.services.memory.post(move |memory| memory.set_summary(&id, Some(&summary)));
    session.summary = Some((text, session.messages.len()));
    session.window.reset();
    // What was read is known no more: the texts are not in what is sent.
    session.seen.clear();
    context.say(Level::Info, "the summary counts from the next message on", "").await;
}

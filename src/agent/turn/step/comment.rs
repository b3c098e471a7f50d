//! A question of the person about a hunk of a proposal that waits. It is asked beside the conversation: the calls get
//! their results when the proposal is decided, and these tell the model what was asked and what it answered.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::agent::services::events::Events;
use crate::agent::services::target::RequestTarget;
use crate::agent::session::context::SessionContext;
use crate::agent::session::conversation::Conversation;
use crate::agent::session::usage;
use crate::agent::turn::request;
use crate::agent::turn::side_request::listen;
use crate::proposal::{HunkKind, Proposal};
use crate::protocol::{Comment, EventBody, Level, ProposalEvent};
use crate::provider::{Answer, Message, Request};

/// Waits for `deciding`, and meanwhile answers questions about the proposal's hunks, one after the other. Returns the
/// questions and answers too; an answer without words, or one that had not come yet, is empty.
pub async fn beside<T>(
    context: &Arc<SessionContext>,
    session: &mut Conversation,
    proposal: &Proposal,
    comments: &mut mpsc::UnboundedReceiver<Comment>,
    deciding: impl Future<Output = T>,
    stop: &CancellationToken,
) -> (T, Vec<(String, String)>) {
    tokio::pin!(deciding);
    let mut exchanges = Vec::new();
    let mut asked: Option<String> = None;
    let mut answering: Option<BoxFuture<'static, Answered>> = None;
    loop {
        tokio::select! {
            biased;
            decided = &mut deciding => {
                exchanges.extend(asked.map(|asked| (asked, String::new())));
                return (decided, exchanges);
            }
            Some(answered) = async { Some(answering.as_mut()?.await) }, if answering.is_some() => {
                answering = None;
                exchanges.extend(asked.take().map(|asked| (asked, answered.text)));
                let display = (&context.events, &context.status_data);
                let project = context.services.project();
                usage::add_beside(display, project, session, &answered.target, (answered.sent, answered.answer.used())).await;
            }
            Some(comment) = comments.recv(), if answering.is_none() => {
                let question_text = question(proposal, &comment);
                let request = ask(context, session, &question_text).await;
                asked = Some(format!("{}: {}", proposal.place(comment.file, comment.hunk), comment.text.trim()));
                answering = Some(Box::pin(answer(context.events.clone(), request, proposal.id, comment, stop.clone())));
            }
        }
    }
}

/// Returns what the model is told: which hunk, and what the person asks.
fn question(proposal: &Proposal, comment: &Comment) -> String {
    let before = proposal.files.iter().take(comment.file).map(|f| f.hunks.len()).sum::<usize>();
    let number = before + comment.hunk + 1;
    let file = proposal.files.get(comment.file);
    let place = file.and_then(|f| Some((f, f.hunks.get(comment.hunk)?))).map(|(file, hunk)| match hunk.kind {
        HunkKind::Lines => {
            format!(" ({}, lines {}-{})", file.path, hunk.before.start + 1, hunk.before.end.max(hunk.before.start + 1))
        }
        _ => format!(" ({})", file.path),
    });
    format!(
        "not decided yet; the person asks about hunk {number}{}: {}\nAnswer in words, change nothing.",
        place.unwrap_or_default(),
        comment.text.trim()
    )
}

/// Returns the conversation with what is asked in place of the results that wait.
async fn ask(
    context: &Arc<SessionContext>,
    session: &mut Conversation,
    question_text: &str,
) -> (Request, RequestTarget) {
    let open = session.open_calls();
    let results = open.iter().map(|call| Message::tool(call.id.clone(), question_text));
    let mut more: Vec<Message> = results.collect();
    if more.is_empty() {
        more.push(Message::user(format!("The edits of your last answer are {question_text}")));
    }
    request::beside(context, session, more).await
}

/// The end of a question.
struct Answered {
    /// Its words; empty: there are none.
    text: String,
    /// The model that was asked.
    target: RequestTarget,
    /// The bytes that were sent.
    sent: usize,
    /// The whole answer.
    answer: Answer,
}

/// Sends it and shows what comes back.
async fn answer(
    events: Events,
    (request, target): (Request, RequestTarget),
    proposal: crate::proposal::ProposalId,
    comment: Comment,
    stop: CancellationToken,
) -> Answered {
    let sent = request::size_of(&request);
    let answer = match listen(&events, request, &target, &stop).await {
        Ok(answer) => answer,
        Err(error) => {
            events.say(Level::Error, error.message, error.hint).await;
            Answer::default()
        }
    };
    let text = answer.text.trim().to_string();
    events.send(EventBody::Proposal(ProposalEvent::CommentAnswer(proposal, comment, text.clone()))).await;
    Answered { text, target, sent, answer }
}

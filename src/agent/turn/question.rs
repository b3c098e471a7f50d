//! A question to the person: it is put, waited for and closed.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::agent::session::context::SessionContext;
use crate::messages::agent as say;
use crate::protocol::{EventBody, Question, Reply};

/// Choices: a short answer each, and what it means.
pub type QuestionChoices = Vec<(String, String)>;

/// Returns the choices of a permission that is given once; `no` says what happens without it.
pub fn yes_once(no: &str) -> QuestionChoices {
    vec![(say::yes_once().into(), String::new()), (say::no().into(), no.into())]
}

/// Returns the choices of a permission to run a command.
pub fn run_or_not() -> QuestionChoices {
    vec![(say::run_it().into(), String::new()), (say::no().into(), say::default_goes_on().into())]
}

/// Asks for a permission and waits; none when interrupted. Only [`Reply::Choice`] of 0 gives it.
pub async fn permission(
    context: &SessionContext,
    text: String,
    choices: QuestionChoices,
    stop: &CancellationToken,
) -> Option<Reply> {
    let id = context.events.question();
    ask(context, Question { id, text, choices, permission: true, card: None }, None, stop).await
}

/// Asks the person and waits, for `grace` at most; none when interrupted or not answered in time.
pub async fn ask(
    context: &SessionContext,
    question: Question,
    grace: Option<Duration>,
    stop: &CancellationToken,
) -> Option<Reply> {
    let id = question.id;
    let reply = context.approvals.await_reply(id);
    context.events.send(EventBody::Asked(question)).await;
    let in_time = async {
        match grace {
            Some(grace) => tokio::time::timeout(grace, reply).await.ok()?.ok(),
            None => reply.await.ok(),
        }
    };
    let reply = stop.run_until_cancelled(in_time).await.flatten();
    context.approvals.withdraw_question(id);
    context.events.send(EventBody::Answered(id)).await;
    reply
}

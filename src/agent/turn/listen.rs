//! One request beside the steps, and its whole answer: a summary, an answer about a hunk.

use std::sync::Arc;

use futures_util::StreamExt;
use tokio_util::sync::CancellationToken;

use crate::agent::session::context::{RequestTarget, SessionContext};
use crate::messages::agent as say;
use crate::protocol::{self, Cause, EventBody};
use crate::provider::{Answer, Backoff, Delta, Error, Kind, Request};

/// Returns the answer of `target` to one request, or what there is of it when the person stops it.
pub async fn listen(
    context: &Arc<SessionContext>,
    request: Request,
    target: &RequestTarget,
    stop: &CancellationToken,
) -> Result<Answer, Error> {
    let unknown = || Error::new(Kind::NoKey, say::no_model(), say::doctor_says());
    let why_not = || context.connection().why_not.unwrap_or_else(unknown);
    let provider = target.provider.as_ref().ok_or_else(why_not)?;
    let mut deltas = provider.stream(request);
    let mut answer = Answer::default();
    let mut retrying = false;
    let mut failed = None;
    while let Some(Some(delta)) = stop.run_until_cancelled(deltas.next()).await {
        match delta {
            Ok(Delta::Retrying(wait)) => {
                retrying = true;
                context.events.send(EventBody::Retrying(Some(backoff_event(wait)))).await;
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

/// Returns a pause between tries, for the front end.
pub fn backoff_event(wait: Backoff) -> protocol::Wait {
    let cause = Cause { kind: wait.kind.word(), status: wait.status, request_id: wait.request_id };
    protocol::Wait { attempt: wait.attempt, of: wait.of, until: wait.until, why: wait.why, cause }
}

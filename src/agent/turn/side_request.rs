//! One request beside the steps, and its whole answer: a summary, an answer about a hunk.

use futures_util::StreamExt;
use tokio_util::sync::CancellationToken;

use crate::agent::services::events::Events;
use crate::agent::services::target::RequestTarget;
use crate::protocol::{self, Cause, EventBody};
use crate::provider::{Answer, Backoff, Delta, Error, Request};

/// Returns the answer of `target` to one request, or what there is of it when the person stops it.
pub async fn listen(
    events: &Events,
    request: Request,
    target: &RequestTarget,
    stop: &CancellationToken,
) -> Result<Answer, Error> {
    let provider = target.provider.as_ref().map_err(Error::clone)?;
    let mut deltas = provider.stream(request);
    let mut answer = Answer::default();
    let mut retrying = false;
    let mut failed = None;
    while let Some(Some(delta)) = stop.run_until_cancelled(deltas.next()).await {
        match delta {
            Ok(Delta::Retrying(wait)) => {
                retrying = true;
                events.send(EventBody::Retrying(Some(backoff_event(wait)))).await;
            }
            Ok(delta) => {
                if std::mem::take(&mut retrying) {
                    events.send(EventBody::Retrying(None)).await;
                }
                answer.push(&delta);
            }
            Err(error) => failed = Some(error),
        }
    }
    if retrying {
        events.send(EventBody::Retrying(None)).await;
    }
    failed.map_or(Ok(answer), Err)
}

/// Returns a pause between tries, for the front end.
pub fn backoff_event(wait: Backoff) -> protocol::Wait {
    let cause = Cause { kind: wait.kind.word(), status: wait.status, request_id: wait.request_id };
    protocol::Wait { attempt: wait.attempt, of: wait.of, until: wait.until, why: wait.why, cause }
}

//! The answer of a step as it streams. Prose is shown at once, edits in the prose are recognised, calls are
//! collected, and reads begin as soon as their arguments are whole.

mod native_calls;
mod pieces;
mod reader;
mod repeated_output;
mod streaming_edit;

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use tokio::task::coop::consume_budget;
use tokio::time::{Interval, MissedTickBehavior, interval};

use self::reader::StepReader;
use crate::agent::services::target::RequestTarget;
use crate::agent::session::context::Settings;
use crate::agent::session::conversation::Conversation;
use crate::agent::session::usage::BudgetLeft;
use crate::agent::turn::step::act::{Ended, MAX_CALLS, Step};
use crate::agent::turn::step::context::StepContext;
use crate::provider::{EndReason, Request};

/// The interval at which growing text is stored, so that a kill loses no more than this.
const CHECKPOINT: Duration = Duration::from_secs(1);

/// Returns a timer that is late rather than in a hurry.
fn every(pause: Duration) -> Interval {
    let mut timer = interval(pause);
    timer.set_missed_tick_behavior(MissedTickBehavior::Delay);
    timer
}

/// Sends the request to `target`, and takes the answer in until it ends, is stopped or has used up the budget. What
/// arrived is stored in memory and in the session in every case.
pub async fn stream(
    step: StepContext<'_>,
    session: &mut Conversation,
    request: Request,
    (target, budget): (&RequestTarget, Option<BudgetLeft>),
    settings: &Settings,
) -> Step {
    let mut reader = StepReader::new(step, session, settings, target);
    reader.budget = budget;
    let provider = match &target.provider {
        Ok(provider) => provider,
        Err(why) => return reader.finish(Ended::Broken(why.clone())).await,
    };
    reader.origin = Some(Arc::new(provider.origin_of(&request)));
    let about = Request { model: request.model.clone(), facts: request.facts.clone(), ..Request::default() };
    let mut deltas = provider.stream(request);
    let (mut tick, mut preview) = (every(CHECKPOINT), every(streaming_edit::OFTEN));
    let ended = loop {
        tokio::select! {
            biased;
            () = step.stop.cancelled() => break Ended::Interrupted,
            // Before the next delta, which may always be there: a kill loses no more than a second all the same.
            _ = tick.tick(), if reader.dirty => reader.checkpoint(),
            delta = deltas.next() => match delta {
                Some(Ok(delta)) => {
                    let stored = !reader.dirty;
                    reader.take(delta).await;
                    if stored && reader.dirty {
                        tick.reset();
                    }
                    if reader.calls_made > MAX_CALLS {
                        break Ended::TooManyCalls;
                    }
                    if let Some(text) = reader.repeating.take() {
                        break Ended::Repeating(text);
                    }
                    if reader.is_over_budget() {
                        break Ended::OverBudget;
                    }
                    // A flood that never makes this task wait lets the others run all the same.
                    consume_budget().await;
                }
                Some(Err(error)) => break Ended::Broken(error),
                None => break match reader.answer.end {
                    Some(EndReason::Length) => Ended::Cut,
                    Some(EndReason::Filter) => Ended::Withheld,
                    Some(EndReason::Paused) => Ended::Paused,
                    Some(EndReason::Malformed) => Ended::Malformed,
                    _ => Ended::Whole,
                },
            },
            _ = preview.tick(), if reader.edits.iter().any(|(_, g)| g.stale) => reader.show_streamed().await,
        }
    };
    drop(deltas);
    // A refusal may have taught where this model answers.
    reader.origin = Some(Arc::new(provider.origin_of(&about)));
    reader.finish(ended).await
}

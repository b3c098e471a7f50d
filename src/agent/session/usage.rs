//! The tokens and dollars of a session, and what the person grants it.

use crate::agent::services::config_files::ConfigFiles;
use crate::agent::services::events::Events;
use crate::agent::services::target::RequestTarget;
use crate::agent::session::context::StatusData;
use crate::agent::session::conversation::Conversation;
use crate::memory::Totals;
use crate::protocol::{Cause, EventBody, Level, NoticeAction, StepUsage, TurnEnd};
use crate::provider::Usage;
use crate::text::number;

/// Adds the tokens of an answer of `target` to the session's.
pub async fn add(
    (events, status): (&Events, &StatusData),
    session: &mut Conversation,
    target: &RequestTarget,
    usage: Option<Usage>,
) {
    let Some(usage) = usage else { return };
    target.accept_prompt(usage.input);
    let cost = target.cost(&usage);
    let step = Totals {
        input: usage.input,
        output: usage.output,
        cost: cost.dollars,
        estimated: cost.estimated && cost.dollars.is_some(),
        unpriced: cost.nanos.is_none(),
        ..Totals::default()
    };
    session.totals.add(&step);
    session.post(move |memory, id| memory.add_usage(id, &step));
    status.show_totals(&session.totals);
    let Usage { input, output, cache_read, cache_write, thinking, .. } = usage;
    let prefix = session.sent.prefix_cause.take();
    let usage = StepUsage { input, output, cache_read, cache_write, thinking, cost: cost.dollars, prefix };
    events.send(EventBody::Usage(usage)).await;
    events.refresh_status();
}

/// Adds the tokens of a request beside the conversation, of whose answer no message is kept.
pub async fn add_beside(
    display: (&Events, &StatusData),
    project: String,
    session: &mut Conversation,
    target: &RequestTarget,
    usage: Option<Usage>,
) {
    if let Some(usage) = &usage {
        let beside = target.cost(usage).beside(session.turn, &target.model, usage);
        session.post(move |memory, id| memory.add_usage_beside(&project, Some(id), &beside));
    }
    add(display, session, target, usage).await;
}

/// Returns the end of a turn whose session has used up its budget; going on after it grants as much again.
pub async fn over_budget(config: &ConfigFiles, events: &Events, session: &Conversation) -> Option<TurnEnd> {
    let (dollars, tokens) = {
        let config = config.read();
        (config.budget, config.budget_tokens)
    };
    let (granted, spent) = (session.granted, session.totals);
    let cost = spent.cost.unwrap_or(0.0);
    let title = match (dollars, tokens) {
        (Some(budget), _) if cost - granted.cost.unwrap_or(0.0) >= budget => {
            format!("the budget of ${budget:.2} is used up (${cost:.2})")
        }
        (None, Some(budget)) if spent.input + spent.output - granted.input - granted.output >= budget => {
            let used = number::thousands((spent.input + spent.output) as usize);
            format!("the budget of {} tokens is used up ({used})", number::thousands(budget as usize))
        }
        _ => return None,
    };
    let detail = "Going on grants as much again.";
    events.failed(Level::Warning, (&title, detail), vec![NoticeAction::Continue], Cause::of("budget")).await;
    Some(TurnEnd::Asking(title))
}

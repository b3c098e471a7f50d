//! The tokens and dollars of a session, and what the person grants it.

use std::sync::Arc;

use crate::agent::services::model_facts;
use crate::agent::session::context::{RequestTarget, SessionContext};
use crate::agent::session::conversation::Conversation;
use crate::memory::Totals;
use crate::protocol::{Cause, EventBody, Level, NoticeAction, StepUsage, TurnEnd};
use crate::provider::Usage;
use crate::text::number;

/// Adds the tokens of an answer of `target` to the session's.
pub async fn add(
    context: &Arc<SessionContext>,
    session: &mut Conversation,
    target: &RequestTarget,
    usage: Option<Usage>,
) {
    let Some(usage) = usage else { return };
    let (services, provider) = (&context.services, target.provider.as_deref());
    model_facts::accept_prompt(services, provider, &target.model, usage.input);
    let cost = model_facts::cost(services, provider, &target.model, &usage);
    let step = Totals {
        input: usage.input,
        output: usage.output,
        cost: cost.dollars,
        estimated: cost.estimated && cost.dollars.is_some(),
        unpriced: cost.nanos.is_none(),
        ..Totals::default()
    };
    session.totals.add(&step);
    let id = session.id.clone();
    context.services.memory.post(move |memory| memory.add_usage(&id, &step));
    context.status_data.show_totals(&session.totals);
    let Usage { input, output, cache_read, cache_write, thinking, .. } = usage;
    let prefix = session.sent.prefix_cause.take();
    let usage = StepUsage { input, output, cache_read, cache_write, thinking, cost: cost.dollars, prefix };
    context.events.send(EventBody::Usage(usage)).await;
    context.tell_status().await;
}

/// Adds the tokens of a request beside the conversation, of whose answer no message is kept.
pub async fn add_beside(
    context: &Arc<SessionContext>,
    session: &mut Conversation,
    target: &RequestTarget,
    usage: Option<Usage>,
) {
    if let Some(usage) = &usage {
        store_beside(context, session.turn, target, usage);
    }
    add(context, session, target, usage).await;
}

/// Stores what a request beside the conversation took.
pub fn store_beside(context: &SessionContext, turn: Option<i64>, target: &RequestTarget, usage: &Usage) {
    let services = &context.services;
    let cost = model_facts::cost(services, target.provider.as_deref(), &target.model, usage);
    let beside = cost.beside(turn, &target.model, usage);
    let (project, id) = (services.project(), context.id());
    services.memory.post(move |memory| memory.add_usage_beside(&project, id.as_deref(), &beside));
}

/// Returns the end of a turn whose session has used up its budget; going on after it grants as much again.
pub async fn over_budget(context: &SessionContext, session: &mut Conversation) -> Option<TurnEnd> {
    let (dollars, tokens) = {
        let config = context.services.config.read();
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
    context.events.failed(Level::Warning, (&title, detail), vec![NoticeAction::Continue], Cause::of("budget")).await;
    Some(TurnEnd::Asking(title))
}

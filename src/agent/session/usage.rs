//! The tokens and dollars of a session, and what the person grants it.

use crate::agent::services::config_files::ConfigFiles;
use crate::agent::services::events::Events;
use crate::agent::services::target::RequestTarget;
use crate::agent::session::context::StatusData;
use crate::agent::session::conversation::Conversation;
use crate::memory::Totals;
use crate::messages::agent as say;
use crate::protocol::{Cause, EventBody, Level, NoticeAction, StepUsage, TurnEnd};
use crate::provider::Usage;
use crate::text::number;

/// Adds the tokens of an answer of `target` to the session's. `counted`: the server did not report all of them.
pub async fn add(
    (events, status): (&Events, &StatusData),
    session: &mut Conversation,
    target: &RequestTarget,
    (usage, counted): (Option<Usage>, bool),
) {
    let Some(usage) = usage else { return };
    if !counted {
        target.accept_prompt(usage.input);
    }
    let cost = target.cost(&usage);
    let step = Totals {
        input: usage.input,
        output: usage.output,
        cost: cost.dollars,
        estimated: (cost.estimated || counted) && cost.dollars.is_some(),
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
    add(display, session, target, (usage, false)).await;
}

/// The part of a session's budget that is left.
#[derive(Clone, Copy)]
pub enum BudgetLeft {
    /// In dollars.
    Dollars(f64),
    /// In tokens, read and written.
    Tokens(u64),
}

impl BudgetLeft {
    /// Returns what is left to `session`; `None`: it has no budget.
    pub fn of(config: &ConfigFiles, session: &Conversation) -> Option<Self> {
        let (granted, spent) = (session.granted, session.totals);
        let config = config.read();
        match (config.budget, config.budget_tokens) {
            (Some(budget), _) => {
                let used = spent.cost.unwrap_or(0.0) - granted.cost.unwrap_or(0.0);
                Some(BudgetLeft::Dollars(budget - used))
            }
            (None, Some(budget)) => {
                let used = (spent.input + spent.output).saturating_sub(granted.input + granted.output);
                Some(BudgetLeft::Tokens(budget.saturating_sub(used)))
            }
            (None, None) => None,
        }
    }

    /// Returns whether an answer of `target` of these tokens uses it up. One without a price costs nothing that is known.
    pub fn is_used_up(self, target: &RequestTarget, usage: &Usage) -> bool {
        match self {
            BudgetLeft::Dollars(left) => target.cost(usage).dollars.unwrap_or(0.0) >= left,
            BudgetLeft::Tokens(left) => usage.input + usage.output >= left,
        }
    }
}

/// Returns the end of a turn whose session has used up its budget; going on after it grants as much again.
pub async fn over_budget(config: &ConfigFiles, events: &Events, session: &Conversation) -> Option<TurnEnd> {
    let is_used_up = match BudgetLeft::of(config, session)? {
        BudgetLeft::Dollars(left) => left <= 0.0,
        BudgetLeft::Tokens(left) => left == 0,
    };
    if !is_used_up {
        return None;
    }
    let (dollars, tokens) = {
        let config = config.read();
        (config.budget, config.budget_tokens)
    };
    let spent = session.totals;
    let title = match dollars {
        Some(budget) => {
            let about = if spent.estimated { "≈" } else { "" };
            let used = format!("{about}${:.2}", spent.cost.unwrap_or(0.0));
            say::budget_used_up(&format!("${budget:.2}"), &used)
        }
        None => {
            let budget = say::tokens_of(&number::thousands(tokens.unwrap_or(0) as usize));
            say::budget_used_up(&budget, &number::thousands((spent.input + spent.output) as usize))
        }
    };
    let actions = vec![NoticeAction::Continue];
    events.failed(Level::Warning, (&title, say::grants_again()), actions, Cause::of("budget")).await;
    Some(TurnEnd::Asking(title))
}

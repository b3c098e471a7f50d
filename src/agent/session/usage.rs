//! The tokens and dollars of a session, and what the person grants it.

use crate::agent::services::config_files::ConfigFiles;
use crate::agent::services::events::Events;
use crate::agent::services::model_facts::AnswerCost;
use crate::agent::services::target::RequestTarget;
use crate::agent::session::context::StatusData;
use crate::agent::session::conversation::Conversation;
use crate::config::ValueSource;
use crate::memory::Totals;
use crate::messages::agent as say;
use crate::protocol::{Cause, EventBody, Level, Notice, NoticeAction, StepUsage, TurnEnd};
use crate::provider::{Message, Usage};
use crate::text::number;

/// Returns the bytes of all that a model wrote in an answer of the conversation.
pub fn written(answer: &Message) -> usize {
    let calls = answer.calls().map(|call| call.name.len() + call.arguments.len()).sum::<usize>();
    answer.text().len() + answer.thinking().len() + calls
}

/// Adds the tokens of an answer of `target` to the session's.
pub async fn add(
    (events, status): (&Events, &StatusData),
    session: &mut Conversation,
    target: &RequestTarget,
    usage: Usage,
) {
    if !usage.counted {
        target.accept_prompt(usage.input);
    }
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
    let (prefix, AnswerCost { dollars: cost, estimated, .. }) = (session.sent.prefix_cause.take(), cost);
    let usage = StepUsage { input, output, cache_read, cache_write, thinking, cost, estimated, prefix };
    events.send(EventBody::Usage(usage)).await;
    events.refresh_status();
}

/// Adds the tokens of a request of `sent` bytes beside the conversation, of whose answer no message is kept. `used`: the
/// tokens that its server reported, and the bytes of the answer; `None`: it may not have been asked at all.
pub async fn add_beside(
    display: (&Events, &StatusData),
    project: String,
    session: &mut Conversation,
    target: &RequestTarget,
    (sent, used): (usize, Option<(Option<Usage>, usize)>),
) {
    let Some((reported, written)) = used else { return };
    let tokens = |bytes: usize| session.window.tokens(bytes);
    let usage = Usage::or_counted(reported, tokens(sent), tokens(written));
    let beside = target.cost(&usage).beside(session.turn, &target.model, &usage);
    session.post(move |memory, id| memory.add_usage_beside(&project, Some(id), &beside));
    add(display, session, target, usage).await;
}

/// The parts of a session's budget that are left; `None`: it has none of this kind.
#[derive(Clone, Copy)]
pub struct BudgetLeft {
    /// In dollars.
    dollars: Option<f64>,
    /// In tokens, read and written.
    tokens: Option<u64>,
}

impl BudgetLeft {
    /// Returns what is left to `session`; `None`: it has no budget.
    pub fn of(config: &ConfigFiles, session: &Conversation) -> Option<Self> {
        let (granted, spent) = (session.granted, session.totals);
        let config = config.read();
        let dollars = spent.cost.unwrap_or(0.0) - granted.cost.unwrap_or(0.0);
        let tokens = (spent.input + spent.output).saturating_sub(granted.input + granted.output);
        // That of the flag stands in the place of all others.
        let budget_tokens = config.budget_tokens.filter(|_| config.origin("budget") != ValueSource::Flag);
        let left = BudgetLeft {
            dollars: config.budget.map(|budget| budget - dollars),
            tokens: budget_tokens.map(|budget| budget.saturating_sub(tokens)),
        };
        (left.dollars.is_some() || left.tokens.is_some()).then_some(left)
    }

    /// Returns whether an answer of `target` of these tokens uses it up. One without a price costs nothing that is known.
    pub fn is_used_up(self, target: &RequestTarget, usage: &Usage) -> bool {
        self.dollars.is_some_and(|left| target.cost(usage).dollars.unwrap_or(0.0) >= left)
            || self.tokens.is_some_and(|left| usage.input + usage.output >= left)
    }
}

/// Says, once for each model, that a budget in dollars does not count its answers, as their price is not known.
pub async fn tell_unpriced(
    config: &ConfigFiles,
    events: &Events,
    session: &mut Conversation,
    target: &RequestTarget,
    usage: &Usage,
) {
    let Some(budget) = config.read().budget else { return };
    if target.cost(usage).nanos.is_none() && session.sent.told_unpriced.as_ref() != Some(&target.model) {
        session.sent.told_unpriced = Some(target.model.clone());
        let title = say::budget_without_price(&target.model, &number::dollars_beside(budget, budget));
        events.notice(Level::Warning, title, say::budget_without_price_hint(&target.model)).await;
    }
}

/// Returns the end of a turn whose session has used up its budget; going on after it grants as much again.
pub async fn over_budget(config: &ConfigFiles, events: &Events, session: &Conversation) -> Option<TurnEnd> {
    let left = BudgetLeft::of(config, session)?;
    let (dollars, tokens) = {
        let config = config.read();
        let dollars = config.budget.filter(|_| left.dollars.is_some_and(|left| left <= 0.0));
        (dollars, config.budget_tokens.filter(|_| left.tokens == Some(0)))
    };
    let spent = session.totals;
    let title = match (dollars, tokens) {
        (Some(budget), _) => {
            let about = if spent.estimated { "≈" } else { "" };
            let used = format!("{about}{}", number::dollars_beside(spent.cost.unwrap_or(0.0), budget));
            say::budget_used_up(&number::dollars_beside(budget, budget), &used)
        }
        (None, Some(budget)) => {
            let budget = say::tokens_of(&number::large(budget));
            say::budget_used_up(&budget, &number::large(spent.input + spent.output))
        }
        (None, None) => return None,
    };
    let actions = vec![NoticeAction::Continue];
    let cause = Cause::of("budget");
    let notice = Notice { actions, cause, ..Notice::new(Level::Warning, &title, say::grants_again()) };
    session.say(events, notice).await;
    Some(TurnEnd::Asking(title))
}

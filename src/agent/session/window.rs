//! The context window of the model that a session asks.

use crate::agent::services::model_facts;
use crate::agent::session::context::{RequestTarget, SessionContext};
use crate::agent::session::conversation::Conversation;
use crate::context::request::Budget;
use crate::provider::Error;

/// Returns the context window of the model in use, in tokens.
pub fn tokens(context: &SessionContext) -> u32 {
    model_facts::window(&model_facts::facts(&context.services, context.provider().as_deref(), &context.model()))
}

/// Returns what of the window is for what is sent, and what for the answer.
pub fn budget(context: &SessionContext) -> Budget {
    Budget::of_window(u64::from(tokens(context)))
}

/// Returns how large the facts of a summary may be, in bytes: half of what system prompt and tools leave of the window.
pub fn facts_room(context: &SessionContext, session: &Conversation) -> usize {
    session.window.bytes(budget(context).room().saturating_sub(context.status_data.fixed_tokens()) / 2)
}

/// Records the window that a refusal of `target` for length shows: the one that the server names, else one that takes
/// three quarters of the messages that were sent, beside system prompt and tools. Returns whether the next request will
/// be shorter.
pub fn learn(context: &SessionContext, session: &Conversation, target: &RequestTarget, error: &Error) -> bool {
    let (services, provider) = (&context.services, target.provider.as_deref());
    let known = model_facts::window(&model_facts::facts(services, provider, &target.model));
    let sent = session.window.sent();
    let fixed = context.status_data.fixed_tokens().min(sent);
    let guess = u32::try_from(Budget::window_for(fixed + (sent - fixed) / 4 * 3)).unwrap_or(u32::MAX);
    let learnt = error.limit.filter(|limit| u64::from(*limit) < sent.max(u64::from(known))).unwrap_or(guess);
    learnt >= 256 && model_facts::learn_window(services, provider, &target.model, learnt, known)
}

//! Requests to the model: the next one of a turn, and those beside the conversation.

mod model_fit;
mod next;
mod refused_files;
pub mod system_prompt;
mod takeable;

use std::sync::Arc;

pub use self::model_fit::{learn_format, learn_no_tools};
pub use self::next::{BuiltRequest, Unbuilt, build};
pub use self::refused_files::{FileRefusals, may_be_about_files};
use self::takeable::takeable;
use crate::agent::services::config_files::ConfigFiles;
use crate::agent::services::target::RequestTarget;
use crate::agent::session::context::{SessionContext, Settings};
use crate::agent::session::conversation::Conversation;
use crate::agent::session::prompt_parts::offers_code;
use crate::context::request::{Budget, size};
use crate::context::small_model;
use crate::edit::Format;
use crate::protocol::Mode;
use crate::provider::models::Effort;
use crate::provider::{Message, Request, ToolSpec};
use crate::tools::OfferedTools;

/// The shortest limit of an answer, in tokens.
const LEAST: u64 = 256;
/// The size of a tool's schema beside its description, in bytes.
const SCHEMA: usize = 300;
/// The longest answer of a model that does not say its own, in tokens, where its window has the room.
const WHOLE_FILE: u64 = 8_192;

/// Returns what the model may call in the present mode. A model that is asked for edits as text is not offered tools
/// for them, and one that writes calls as text is told of the others in its prompt.
pub fn offered(config: &ConfigFiles, settings: &Settings, session: &Conversation) -> Arc<[ToolSpec]> {
    let offered = match (settings.mode, settings.format) {
        _ if settings.no_tools => return Arc::default(),
        (Mode::Agent, _) if settings.text_calls => return Arc::default(),
        (Mode::Plan, _) => OfferedTools::Plan,
        (Mode::Agent, Format::TOOLS) if settings.small_model => OfferedTools::Small,
        (Mode::Agent, Format::TOOLS) => OfferedTools::All,
        (Mode::Agent, _) => OfferedTools::TextEdits,
    };
    session.tool_specs(offered, offers_code(config, settings, session))
}

/// Returns about how many bytes tools take in a request.
fn size_of_tools(tools: &[ToolSpec]) -> usize {
    tools.iter().map(|tool| tool.description.len() + SCHEMA).sum()
}

/// Returns about how many bytes a request takes.
pub fn size_of(request: &Request) -> usize {
    request.system.len() + size_of_tools(&request.tools) + size(&request.messages)
}

/// Returns a request with what holds for every one of the session's: what is known of the model, how much it is to
/// think, how freely it chooses its words, and how long its answer may be where its window is known. `estimate` is the
/// size of the request in tokens.
pub fn base(config: &ConfigFiles, session: &Conversation, target: &RequestTarget, estimate: u64) -> Request {
    let (model, facts) = (target.model.clone(), target.facts());
    let effort = config.read().effort_for(&model).and_then(Effort::parse);
    let is_short = session.window.answer_is_short();
    let answer = |window: u32| if is_short { LEAST } else { Budget::of_window(u64::from(window)).answer };
    // Where the window is nearly full the answer may be as long as what is left, less what the estimate may be off.
    let room = facts.window.map(|window| (u64::from(window).saturating_sub(estimate) / 10 * 9).max(answer(window)));
    // A model that says nothing of its longest answer may write a whole file where the window has room for it.
    let whole = |window: u32| answer(window).max(room.unwrap_or_default().min(WHOLE_FILE));
    let most = facts.max_output.map(u64::from).or_else(|| facts.window.map(whole));
    let max_output = most.map(|most| u32::try_from(most.min(room.unwrap_or(most))).unwrap_or(u32::MAX));
    let temperature = model_fit::temperature(config, session, &model, effort, &facts);
    let conversation = session.id.as_str().into();
    Request { model, effort, temperature, facts, max_output, conversation, ..Request::default() }
}

/// Arranges the conversation for a small model; in plan mode it is reminded of no format.
fn arrange(settings: &Settings, session: &mut Conversation, messages: &mut Vec<Arc<Message>>) {
    if settings.small_model {
        let format = if settings.mode == Mode::Plan { Format::TOOLS } else { settings.format };
        small_model::arrange(messages, (format, settings.expect_change), &mut session.sent.arranged);
    }
}

/// Returns the conversation with `more` behind it, for a question beside it, and whom it is for: nothing of it is kept.
pub async fn beside(
    context: &Arc<SessionContext>,
    session: &mut Conversation,
    more: Vec<Message>,
) -> (Request, RequestTarget) {
    let (target, settings) = (context.keep_target(), context.settings());
    let system = system_prompt::present(context, session).await;
    let (mut messages, _) = to_summarise(session, session.messages.len(), &target, system.len());
    arrange(&settings, session, &mut messages);
    messages.extend(more.into_iter().map(Arc::new));
    let estimate = session.window.tokens(system.len() + size(&messages));
    // Some servers refuse calls in a conversation without tools.
    let (tools, skip_backoff) = (offered(&context.services.config, &settings, session), context.skip_backoff.clone());
    let base = base(&context.services.config, session, &target, estimate);
    (Request { system, messages, tools, skip_backoff, beside: true, ..base }, target)
}

/// Returns the messages before `end` as they would be sent, for a summary of them, and how many bytes fit beside a
/// `system` prompt of this many.
pub fn to_summarise(
    session: &mut Conversation,
    end: usize,
    target: &RequestTarget,
    system: usize,
) -> (Vec<Arc<Message>>, usize) {
    let budget = target.budget();
    let summary = session.summary.as_ref().map(|(text, covered)| (text.as_str(), *covered));
    // Of the session's own window nothing is left out: the person may drop the summary.
    let fitted = session.window.clone().fit(&session.messages[..end], summary, system, budget);
    let room = session.window.bytes(budget.room()).saturating_sub(system);
    (takeable(session, target, fitted.messages, fitted.sizes), room)
}

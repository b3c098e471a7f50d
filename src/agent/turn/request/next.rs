//! The next request of a turn: the conversation as far as it fits the model's window.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::refused_files::sends_new_files;
use super::takeable::takeable;
use super::{arrange, base, model_fit, offered, size_of_tools, system_prompt};
use crate::agent::services::events::Events;
use crate::agent::services::target::RequestTarget;
use crate::agent::session::context::{SessionContext, Settings};
use crate::agent::session::conversation::Conversation;
use crate::agent::session::usage;
use crate::agent::session::window::half_room;
use crate::context::prefix::{PrefixBasis, RequestPrefix};
use crate::context::request::{LeftOut, MessageSizes};
use crate::context::small_model;
use crate::protocol::{Level, Notice, TurnEnd};
use crate::provider::{Request, ToolSpec};

/// The next request, with what it was made of.
pub struct BuiltRequest {
    /// The request.
    pub request: Request,
    /// The model and the provider it is for.
    pub target: RequestTarget,
    /// The settings it was made with.
    pub settings: Settings,
}

/// The reason why there is no next request.
pub enum Unbuilt {
    /// The conversation does not fit, also without old results.
    TooLong,
    /// The turn ends.
    Stopped(TurnEnd),
}

/// Notes why the request that goes out now does not begin with the bytes of the last one, if it does not.
fn note_prefix(
    settings: &Settings,
    session: &mut Conversation,
    target: &RequestTarget,
    (system, tools): (&Arc<str>, &Arc<[ToolSpec]>),
) {
    let model = &target.model;
    let place = target.connected().map(|provider| provider.origin(model).place).unwrap_or_default();
    let basis = PrefixBasis {
        mode: settings.mode.word().into(),
        model: model.clone(),
        place,
        format: (settings.format.name().into(), settings.small_model),
        summarised: session.summary.as_ref().map(|(_, covered)| *covered),
        left_out: (session.prompt.left_out, session.prompt.chosen.len() + session.prompt.refused.len()),
    };
    let (system, tools) = (Some(Arc::clone(system)), Some(Arc::clone(tools)));
    let prefix = RequestPrefix { basis, system, tools, messages: Vec::new() };
    let (prefix, cause) = prefix.after(session.sent.prefix.take(), &session.messages);
    (session.sent.prefix, session.sent.prefix_cause) = (Some(prefix), cause);
}

/// Returns the next request: the whole conversation, as far as it fits, with the system prompt that holds now.
pub async fn build(context: &Arc<SessionContext>, session: &mut Conversation) -> Result<BuiltRequest, Unbuilt> {
    let (services, events) = (&context.services, &context.events);
    if let Some(end) = usage::over_budget(&services.config, events, session).await {
        return Err(Unbuilt::Stopped(end));
    }
    context.model_described(&CancellationToken::new()).await;
    let target = context.keep_target();
    let fitted = model_fit::fitted(context.settings(), &services.config, session, &target);
    context.fit_settings(&fitted);
    let system = system_prompt::system(context, session).await;
    let settings = context.settings();
    model_fit::tell_effort(&services.config, events, session, &target).await;
    let tools = offered(&services.config, &settings, session);
    let example = if settings.small_model { small_model::example_size(settings.format) } else { 0 };
    let own = system.len() + example;
    let beside = own + size_of_tools(&tools);
    let summary = session.summary.as_ref().map(|(text, covered)| (text.as_str(), *covered));
    let fitted = session.window.fit(&session.messages, summary, beside, target.budget());
    let rules = context.status_data.rule_bytes().min(system.len());
    let parts = parts(session, (own, rules), beside - own, fitted.sizes);
    let window = u64::from(target.window());
    session.sent.size = Some((parts.iter().sum(), window));
    context.status_data.show_context(&parts, window);
    session.files.longest_read = Some(half_room(&context.status_data, session, &target));
    if !fitted.newly_left_out.is_empty() {
        keep_left_out(events, session, &fitted.newly_left_out).await;
    }
    if fitted.too_long {
        return Err(Unbuilt::TooLong);
    }
    let new_files = fitted.sizes.files > 0 && target.is_local() && sends_new_files(session, &target);
    let mut messages = takeable(session, &target, fitted.messages, fitted.sizes);
    arrange(&settings, session, &mut messages);
    note_prefix(&settings, session, &target, (&system, &tools));
    let skip_backoff = context.skip_backoff.clone();
    let base = base(&services.config, session, &target, fitted.estimate);
    let request = Request { system, messages, tools, new_files, skip_backoff, ..base };
    Ok(BuiltRequest { request, target, settings })
}

/// Records which results are left out of what is sent, so that a resumed session leaves out the same ones, and says so.
async fn keep_left_out(events: &Events, session: &mut Conversation, left_out: &[LeftOut]) {
    for path in left_out.iter().filter_map(|left_out| left_out.path.as_ref()) {
        session.files.versions.remove(path);
    }
    session.note_left_out();
    session.store_prompt();
    let title = match left_out.len() {
        1 => "the context window is full: 1 old result is left out".to_string(),
        n => format!("the context window is full: {n} old results are left out"),
    };
    session
        .say(events, Notice::new(Level::Info, title, "They are sent as one line each; memory keeps them whole."))
        .await;
}

/// Returns what a request holds, in tokens of each of the [`request_parts`].
fn parts(session: &Conversation, (system, rules): (usize, usize), tools: usize, messages: MessageSizes) -> [u64; 6] {
    [system - rules, rules, tools, messages.user, messages.answers, messages.results]
        .map(|bytes| session.window.tokens(bytes))
}

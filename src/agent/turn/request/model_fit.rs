//! The parts of a request that depend on the model it is for: the edit format where the person chose none, by the
//! model's name and by what it was seen to do; the size of the prompts; the effort.

use std::sync::Arc;

use crate::agent::services::config_files::ConfigFiles;
use crate::agent::services::events::Events;
use crate::agent::services::target::RequestTarget;
use crate::agent::session::context::Settings;
use crate::agent::session::conversation::Conversation;
use crate::config::{Config, Error, TextUse};
use crate::context::model_class::{is_small, is_small_window, is_unknown, thinks_by_name};
use crate::context::small_model::is_nudge;
use crate::edit::Format;
use crate::messages::agent as say;
use crate::protocol::{Level, Mode};
use crate::provider::Role;
use crate::provider::models::{Effort, Facts, Thinking};

/// Says, once for each model, that it does not think as much as the configuration asks for.
pub(super) async fn tell_effort(
    config: &ConfigFiles,
    events: &Events,
    session: &mut Conversation,
    target: &RequestTarget,
) {
    let (model, facts) = (&target.model, target.facts());
    let Some(effort) = config.read().effort_for(model).and_then(Effort::parse) else { return };
    let sent = effort.within(facts.efforts.as_deref().unwrap_or(&[]));
    let title = match facts.thinking {
        Some(Thinking::None) if effort != Effort::None => say::does_not_think(model, &effort.word()),
        _ if sent != effort => say::no_effort(model, &effort.word(), &sent.word()),
        _ => return,
    };
    let effort_of_model = (model.clone(), effort);
    if session.sent.told_effort.as_ref() != Some(&effort_of_model) {
        session.sent.told_effort = Some(effort_of_model);
        events.notice(Level::Info, title, "").await;
    }
}

/// The temperature of a small model that is asked once more in the words that led nowhere.
const NUDGED: f64 = 0.6;
/// Files of this many lines and more are changed by blocks.
const LONG: usize = 300;

/// Returns the settings for the next request: the format, unless the person or the configuration chose it, and the size
/// of the prompts.
pub(super) fn fitted(
    settings: Settings,
    config: &ConfigFiles,
    session: &Conversation,
    target: &RequestTarget,
) -> Settings {
    let no_tools = target.facts().tools == Some(false);
    let text = config.writes_text(&target.model) || no_tools;
    let format = match (settings.auto_format, text) {
        // Its edits cannot be calls, whoever chose that.
        (false, _) if no_tools && settings.format == Format::TOOLS => text_format(session),
        (false, _) => settings.format,
        (true, true) => text_format(session),
        (true, false) => Format::TOOLS,
    };
    let calls = no_tools || is_small(&target.model) || config.read().text_use(&target.model) == Some(TextUse::Calls);
    let small_model = is_small_window(u64::from(target.window())) || calls;
    // Some servers refuse the calls of a conversation that comes without tools, and a plan's tools are offered.
    let is_agent = settings.mode == Mode::Agent;
    let called = || session.messages.iter().any(|message| message.calls().next().is_some());
    let text_calls = calls && format != Format::TOOLS && (no_tools || is_agent && !called());
    let makes_calls =
        session.sent.native_edits.contains(&target.model) || !is_unknown(&target.model) && !target.is_local();
    let displays = format == Format::TOOLS && !text_calls && !no_tools && makes_calls;
    Settings { format, small_model, text_calls, no_tools, displays, ..settings }
}

/// Returns the temperature that is configured for a model, and 0 for one that writes edits as text and does not think:
/// what servers take by themselves makes small models stray from the file they copy, and models that think repeat
/// themselves without any. §4 of the contract for providers has no temperature sent ever; this departs from it on
/// purpose, since more edits of small models land so. No other model is sent one that is not configured.
pub(super) fn temperature(
    config: &ConfigFiles,
    session: &Conversation,
    model: &str,
    effort: Option<Effort>,
    facts: &Facts,
) -> Option<f64> {
    let configured = config.read().model_config(model).temperature;
    let thinks = effort.is_some_and(|effort| effort != Effort::None)
        || facts.thinking.map_or_else(|| thinks_by_name(model), |form| form != Thinking::None);
    // The likeliest words led nowhere once.
    let again = || session.messages.iter().rfind(|m| m.role == Role::User).is_some_and(|last| is_nudge(&last.text()));
    let chosen = || if again() { NUDGED } else { 0.0 };
    configured.or_else(|| (config.writes_text(model) && !thinks).then(chosen))
}

/// Returns whole files, or blocks where a file whose text the model knows is long, or not UTF-8.
fn text_format(session: &Conversation) -> Format {
    let long = |text: &str| text.lines().nth(LONG - 1).is_some();
    let files = &session.files;
    match !files.not_utf8.is_empty() || files.versions.values().filter_map(|file| file.text.as_deref()).any(long) {
        true => Format::BLOCKS,
        false => Format::WHOLE,
    }
}

/// Records that a model takes no tools, as a refusal says, so that the same is asked once more without them. Returns what
/// to tell the person of it, where nothing of it was known; `None`: it was asked without already.
pub async fn learn_no_tools(
    config: &Arc<ConfigFiles>,
    session: &Conversation,
    target: &RequestTarget,
) -> Option<Option<(String, String)>> {
    if !target.learn_no_tools() {
        return None;
    }
    let model = target.model.clone();
    if config.read().text_use(&model) == Some(TextUse::Calls) {
        return Some(None);
    }
    let learn = move |config: &mut Config| config.learn_text_edits(&model, TextUse::Calls);
    Some(Some((say::takes_no_tools(&target.model, &text_format(session).name()), remember(config, learn).await)))
}

/// Remembers something of a model. Returns what to tell of it.
async fn remember(
    config: &Arc<ConfigFiles>,
    learn: impl FnOnce(&mut Config) -> Result<(), Error> + Send + 'static,
) -> String {
    match config.change_on_a_thread(learn).await {
        Some(Err(e)) => say::this_run_only(&e),
        _ => say::remembered().into(),
    }
}

/// Records that a model wrote a call or an edit as text, or that its first native edit failed, where that shows how it is
/// best asked: it made none by a call in this session, the format was not chosen, and nothing is known of the model or it runs on this computer. Returns what to
/// tell the person of it, once.
pub async fn learn_format(
    settings: &Settings,
    config: &Arc<ConfigFiles>,
    session: &Conversation,
    target: &RequestTarget,
    how: TextUse,
) -> Option<(String, String)> {
    let model = target.model.clone();
    if session.sent.native_edits.contains(&model) {
        // It has made one before: this one alone was wrong, or its text only shows what it made.
        return None;
    }
    if !settings.auto_format || settings.format != Format::TOOLS || config.writes_text(&model) {
        return None;
    }
    if !is_unknown(&model) && !target.is_local() {
        return None;
    }
    let detail = remember(config, move |config: &mut Config| config.learn_text_edits(&model, how)).await;
    let format = text_format(session).name();
    let title = match how {
        TextUse::Calls => say::writes_as_text(&format),
        TextUse::Edits => say::asked_for_text(&format),
    };
    Some((title, detail))
}

//! The edit format of a session for which nobody chose one: by the model's name, and by what the model was seen to do.
//!
//! Tools are the first choice. Small models, and models that were seen to write their edits as text, are asked for whole
//! files, or for blocks where a file in play is long.

use crate::agent::services::lock;
use crate::agent::session::context::SessionContext;
use crate::agent::session::conversation::Conversation;
use crate::context::model_class::{is_small, is_small_window, is_unknown};
use crate::edit::Format;
use crate::protocol::Level;
use crate::provider;

/// Files of this many lines and more are changed by blocks.
const LONG: usize = 300;

/// Chooses, for the next request, the format, unless the person or the configuration did, and the size of the prompts.
/// `window` is the model's context window in tokens.
pub async fn choose(context: &SessionContext, session: &Conversation, window: u64) {
    let (settings, text) = (context.settings(), writes_text(context));
    let format = match (settings.auto_format, text) {
        (false, _) => settings.format,
        (true, true) => text_format(session),
        (true, false) => Format::Tools,
    };
    let small_model = is_small_window(window) || text;
    context.change_settings(|settings| (settings.format, settings.small_model) = (format, small_model));
    if format != settings.format {
        context.tell_status().await;
    }
}

/// Whether the model in force is asked for edits as text.
fn writes_text(context: &SessionContext) -> bool {
    let model = context.model();
    is_small(&model) || lock(&context.services.config).writes_edits_as_text(&model)
}

/// Whole files, or blocks where a file whose text the model knows is long.
fn text_format(session: &Conversation) -> Format {
    let long = |text: &str| text.lines().nth(LONG - 1).is_some();
    match session.seen.values().filter_map(|file| file.text.as_deref()).any(long) {
        true => Format::Blocks,
        false => Format::Whole,
    }
}

/// Notes that a model wrote a call or an edit as text, or a native edit that could not be read, where that says how it
/// is best asked: nobody chose a format, and nothing is known of the model or it runs on this computer. Says so once.
pub async fn learn(context: &SessionContext, session: &Conversation) {
    let settings = context.settings();
    if !settings.auto_format || settings.format != Format::Tools || writes_text(context) {
        return;
    }
    let model = context.model();
    let learnt = {
        let mut config = lock(&context.services.config);
        if !is_unknown(&model) && !provider::is_local(&config.connection()) {
            return;
        }
        config.learn_text_edits(&model)
    };
    let detail = match learnt {
        Ok(()) => "It is remembered for this model; /format tools or models.NAME.editFormat choose otherwise.".into(),
        Err(e) => format!("For this run only: {e}"),
    };
    let title = format!("this model writes edits as text: format {}", text_format(session).name());
    context.events.notice(Level::Info, title, detail).await;
}

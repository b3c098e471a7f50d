//! The values of a request.

use std::sync::Arc;

use serde_json::Value;
use tokio::sync::Notify;

use super::Message;
use super::models::{Effort, Facts};

/// One question to a model: the whole conversation so far.
///
/// Messages are shared, so that a provider can tell by identity which of them it has serialised before: hand the
/// same `Arc` over in each request, and make a new one where a message changes.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The model's name.
    pub model: String,
    /// The system prompt; empty for none.
    pub system: Arc<str>,
    /// The conversation, oldest first.
    pub messages: Vec<Arc<Message>>,
    /// The tools that the model may call.
    pub tools: Arc<[ToolSpec]>,
    /// The most tokens of the answer; `None`: the server's default.
    pub max_output: Option<u32>,
    /// The model's effort of thinking; `None`: as it does by itself.
    pub effort: Option<Effort>,
    /// The temperature, which says how freely words are chosen; `None`: the server's own.
    pub temperature: Option<f64>,
    /// The facts about the model beside its name.
    pub facts: Facts,
    /// Names the conversation, for providers that cache by it; empty for none.
    pub conversation: Arc<str>,
    /// It is about the conversation and no step of it: a recording has no answer to it.
    pub beside: bool,
    /// Files go with it to a server on this computer that has not answered them yet: where what runs the model dies, it
    /// may be of them, and one more try shows that.
    pub new_files: bool,
    /// Ends a pause between tries early.
    pub skip_backoff: SkipBackoff,
}

/// The description of a tool for a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// The description of its use.
    pub description: String,
    /// JSON Schema of its arguments.
    pub parameters: Value,
}

/// Ends pauses between tries: clones share the same pauses.
#[derive(Debug, Clone, Default)]
pub struct SkipBackoff(pub(super) Arc<Notify>);

impl SkipBackoff {
    /// Ends the pause that is under way, if one is; a later pause is not shortened.
    pub fn now(&self) {
        self.0.notify_waiters();
    }
}

//! The wire formats, and the client that speaks any of them: it asks, learns from refusals, reads the answer and
//! retries.

mod anthropic;
mod arguments;
mod chat;
mod client;
mod format;
mod gemini;
mod learnt;
mod ollama;
mod outline;
mod pairs;
mod raw;
mod reasoning_tags;
mod responses;
mod roles;
mod unopened_thought;
mod written;

pub(super) use anthropic::Anthropic;
pub(super) use chat::Chat;
pub(super) use client::Client;
pub(super) use gemini::Gemini;
pub(super) use ollama::Ollama;
#[cfg(feature = "embedded")]
pub(super) use reasoning_tags::ReasoningTags;
pub(super) use responses::Responses;

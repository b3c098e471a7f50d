//! Chat Completions: OpenAI's first wire format, which nearly every other server speaks too.

mod reader;
mod reasoning;
mod request;
mod words;

use std::collections::HashMap;
use std::sync::Arc;

use reqwest::Url;
use serde_json::Value;
use tokio_util::bytes::Bytes;

use self::reader::ChatReader;
use self::request::{ChatCache, Dialect, Limits, SentReasoning, carries_reasoning, limit_name};
use super::format::{Format, Page, Probe, RequestBasis};
use super::learnt::{GivenUp, Lesson, ThinkField};
use crate::config::Connection;
use crate::provider::models::{Facts, listed};
use crate::provider::transport::{Auth, Reader, Server};
use crate::provider::{Message, Request, Wire};

/// The format, with what was serialised before.
pub(in crate::provider) struct Chat {
    cache: ChatCache,
    /// True if marked parts are cached for an hour.
    hour: bool,
    /// The server has refused `stream_options` once.
    no_usage: bool,
    /// The server has refused an id of a call once: it takes nine letters and digits.
    short_ids: bool,
    /// Models that refused the usual name of the limit of tokens, with whether it is `max_completion_tokens`.
    limit_names: HashMap<String, bool>,
    /// The form of the reasoning of earlier answers that refusals showed, by model.
    reasoning: HashMap<String, SentReasoning>,
    /// The forms in which the conversation that ends in this message was refused: none is tried twice.
    refused: Option<(Arc<Message>, Vec<SentReasoning>)>,
}

impl Chat {
    fn dialect(&self, request: &Request, basis: &RequestBasis) -> Dialect {
        let host = basis.host;
        let own = host == "api.openai.com";
        Dialect {
            usage: !self.no_usage,
            completion_tokens: self.limit_names.get(&request.model).copied().unwrap_or(own),
            short_ids: self.short_ids,
            conversation: own,
            reasoning: self.reasoning.get(&request.model).copied().unwrap_or_default(),
            marks: request
                .facts
                .cache_marks
                .unwrap_or(host == "openrouter.ai" && request.model.starts_with("anthropic/")),
            hour: self.hour,
            effort: basis.learnt.effort(request),
        }
    }
}

impl Chat {
    /// Takes down that a conversation was refused in one form, and returns whether it was not yet refused in the next.
    fn is_new(&mut self, request: &Request, refused: SentReasoning, next: SentReasoning) -> bool {
        let Some(last) = request.messages.last() else { return false };
        if self.refused.as_ref().is_none_or(|(same, _)| !Arc::ptr_eq(same, last)) {
            self.refused = Some((Arc::clone(last), Vec::new()));
        }
        let forms = self.refused.as_mut().map(|(_, forms)| forms);
        forms.is_some_and(|forms| {
            forms.push(refused);
            !forms.contains(&next)
        })
    }
}

impl Format for Chat {
    const WIRE: Wire = Wire::Chat;
    const VERSION: &'static str = "/v1";
    const VERSIONED: bool = false;
    const SEALS: &'static [&'static str] = &[];
    const THINKS: &'static [GivenUp] = &[(ThinkField::Effort, &EFFORT)];

    fn new(connection: &Connection) -> Self {
        Chat {
            cache: ChatCache::default(),
            hour: connection.cache_hour,
            no_usage: false,
            short_ids: false,
            limit_names: HashMap::new(),
            reasoning: HashMap::new(),
            refused: None,
        }
    }

    fn auth(_connection: &Connection) -> Auth {
        Auth::Bearer
    }

    fn address(&self, server: &Server, _request: &Request) -> Url {
        server.url("chat/completions")
    }

    fn body(&mut self, request: &Request, basis: &RequestBasis) -> Bytes {
        let dialect = self.dialect(request, basis);
        let limits = Limits { most: basis.most, temperature: basis.learnt.temperature(request) };
        self.cache.body(request, dialect, limits, basis.place)
    }

    fn reader(request: &Request) -> Box<dyn Reader> {
        Box::new(ChatReader::new(request.messages.len(), Arc::clone(&request.tools)))
    }

    /// Returns what a refusal taught: a server that does not know a field, or misses one, is asked again as it wants it.
    fn learn(&mut self, request: &Request, basis: &RequestBasis, says: &str) -> Option<Lesson> {
        let dialect = self.dialect(request, basis);
        if dialect.usage && says.contains("stream_options") {
            self.no_usage = true;
            return Some(Lesson::Quiet);
        }
        if !dialect.short_ids && says.to_lowercase().contains("tool call id") && says.contains('9') {
            self.short_ids = true;
            return Some(Lesson::Quiet);
        }
        let other_limit = !dialect.completion_tokens;
        if basis.most.is_some() && is_unknown(says, limit_name(dialect.completion_tokens), limit_name(other_limit)) {
            let is_new = self.limit_names.insert(request.model.clone(), other_limit).is_none();
            return is_new.then_some(Lesson::Quiet);
        }
        // How much to reason is another field, and learnt as every format does.
        let says = says.to_lowercase();
        let about_reasoning = EFFORT.iter().fold(says, |says, field| says.replace(field, "")).contains("reasoning");
        let next = match dialect.reasoning {
            SentReasoning::AsItCame | SentReasoning::Everywhere if carries_reasoning(request, dialect, basis.place) => {
                SentReasoning::Nowhere
            }
            _ => SentReasoning::Everywhere,
        };
        if !about_reasoning || next == dialect.reasoning || !self.is_new(request, dialect.reasoning, next) {
            return None;
        }
        self.reasoning.insert(request.model.clone(), next);
        Some(if next == SentReasoning::Nowhere { Lesson::reasoning_left_out(basis.host) } else { Lesson::Quiet })
    }

    fn list(server: &Server, _page: Option<&str>) -> Url {
        server.url("models")
    }

    fn page(list: &Value) -> Page {
        let entries = list.get("data").or_else(|| list.get("models")).unwrap_or(list).as_array().into_iter().flatten();
        Page { models: entries.filter_map(listed).collect(), next: None }
    }

    /// Servers on this computer that list their models without their windows: llama.cpp and LM Studio.
    fn probes(server: &Server, model: &str) -> Vec<Probe> {
        if !server.is_loopback() {
            return Vec::new();
        }
        let probe = |path: &str, read| Probe { url: server.root(path), body: None, read };
        vec![
            probe("/props", of_props),
            probe(&format!("/api/v0/models/{model}"), |response| {
                listed(response).map(|model| model.facts).unwrap_or_default()
            }),
        ]
    }
}

/// The names of the field for how much to think, in lower case.
const EFFORT: [&str; 3] = ["reasoning_effort", "reasoningeffort", "reasoning effort"];

/// Returns whether a refusal says that the server does not know this field: by its words, or by naming the `other` one in
/// its place.
fn is_unknown(says: &str, field: &str, other: &str) -> bool {
    const WORDS: [&str; 7] =
        ["unsupported", "not supported", "unrecognized", "unknown", "unexpected", "not permitted", "not allowed"];
    let says = says.to_lowercase();
    says.contains(field)
        && (WORDS.iter().any(|word| says.contains(word)) || says.contains(other) && says.contains("instead"))
}

/// Returns the facts that llama.cpp gives of the model it has loaded.
fn of_props(response: &Value) -> Facts {
    let window = response["default_generation_settings"]["n_ctx"].as_u64().or_else(|| response["n_ctx"].as_u64());
    let images = response["modalities"]["vision"].as_bool();
    Facts { window: window.and_then(|n| u32::try_from(n).ok()).filter(|n| *n >= 256), images, ..Facts::default() }
}

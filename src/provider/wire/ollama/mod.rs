//! Ollama's own format.

mod reader;
mod request;

use reqwest::Url;
use serde_json::{Value, json};
use tokio_util::bytes::Bytes;

use self::reader::OllamaReader;
use self::request::OllamaCache;
use super::format::{Format, Page, Probe, RequestBasis};
use super::learnt::{GivenUp, ThinkField};
use crate::config::Connection;
use crate::provider::models::{Facts, Thinking, listed, writes};
use crate::provider::transport::{Auth, Framing, Reader, Server};
use crate::provider::{Request, Wire};

/// The format, with what was serialised before.
pub(in crate::provider) struct Ollama {
    cache: OllamaCache,
}

impl Format for Ollama {
    const WIRE: Wire = Wire::Ollama;
    const FRAMING: Framing = Framing::Lines;
    const VERSION: &'static str = "/api";
    const SEALS: &'static [&'static str] = &["thinking block", "message", "thought"];
    const THINKS: &'static [GivenUp] = &[
        (ThinkField::Effort, &["support thinking", "think value", "think level", "\"think\"", "'think'", "`think`"]),
        (ThinkField::Effort, &["think"]),
    ];

    fn new(_connection: &Connection) -> Self {
        Ollama { cache: OllamaCache::default() }
    }

    fn auth(_connection: &Connection) -> Auth {
        Auth::Bearer
    }

    fn address(&self, server: &Server, _request: &Request) -> Url {
        server.url("api/chat")
    }

    fn body(&mut self, request: &Request, basis: &RequestBasis) -> Bytes {
        self.cache.body(request, basis)
    }

    fn reader(request: &Request) -> Box<dyn Reader> {
        Box::new(OllamaReader::new(request.messages.len()))
    }

    fn list(server: &Server, _page: Option<&str>) -> Url {
        server.url("api/tags")
    }

    fn page(list: &Value) -> Page {
        Page { models: list["models"].as_array().into_iter().flatten().filter_map(listed).collect(), next: None }
    }

    fn probes(server: &Server, model: &str) -> Vec<Probe> {
        vec![Probe { url: server.url("api/show"), body: Some(json!({"model": model})), read: facts_of }]
    }
}

/// Returns the facts in the answer of `/api/show`.
fn facts_of(response: &Value) -> Facts {
    let info = response["model_info"].as_object();
    let length = info.and_then(|info| info.iter().find(|(name, _)| name.ends_with(".context_length")));
    let window = length.and_then(|(_, value)| value.as_u64()).and_then(|n| u32::try_from(n).ok());
    let can = response["capabilities"].as_array();
    let has = |word: &str| can.map(|can| can.iter().any(|w| w == word));
    Facts {
        window: window.filter(|n| *n >= 256),
        thinking: has("thinking").filter(|thinks| !thinks).map(|_| Thinking::None),
        images: has("vision"),
        tools: has("tools").filter(|takes| !takes),
        writes: writes(&response["capabilities"]),
        ..Facts::default()
    }
}

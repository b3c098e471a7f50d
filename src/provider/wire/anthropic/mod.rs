//! Anthropic's Messages.

mod reader;
mod request;

use std::collections::HashSet;

use reqwest::Url;
use serde_json::Value;
use tokio_util::bytes::Bytes;

use self::reader::AnthropicReader;
use self::request::AnthropicCache;
use super::format::{Format, Page, RequestBasis};
use super::learnt::{GivenUp, Learnt, Lesson, ThinkField};
use crate::config::Connection;
use crate::provider::models::{Thinking, listed};
use crate::provider::transport::{Auth, Reader, Server};
use crate::provider::{Request, Wire};

/// The answer's length for a model of which nothing is known, in tokens.
const USUAL: u32 = 16_384;
/// No model is asked for more.
const LARGEST: u32 = 64_000;

/// The format, with what was serialised before.
pub(in crate::provider) struct Anthropic {
    cache: AnthropicCache,
    /// The models of which a refusal said that they think adaptively.
    adaptive: HashSet<String>,
}

impl Format for Anthropic {
    const WIRE: Wire = Wire::Anthropic;
    const VERSION: &'static str = "/v1";
    const SEALS: &'static [&'static str] = &["signature", "thinking", "block"];
    const THINKS: &'static [GivenUp] =
        &[(ThinkField::Effort, &["output_config", "effort"]), (ThinkField::Thoughts, &["thinking"])];

    fn new(connection: &Connection) -> Self {
        Anthropic { cache: AnthropicCache::new(connection.cache_hour), adaptive: HashSet::new() }
    }

    fn auth(connection: &Connection) -> Auth {
        match connection.key_variable.as_deref() {
            Some("ANTHROPIC_AUTH_TOKEN") => Auth::Bearer,
            _ => Auth::Header("x-api-key"),
        }
    }

    fn headers() -> &'static [(&'static str, &'static str)] {
        &[("anthropic-version", "2023-06-01")]
    }

    fn address(&self, server: &Server, _request: &Request) -> Url {
        server.url("v1/messages")
    }

    fn body(&mut self, request: &Request, basis: &RequestBasis) -> Bytes {
        let learnt = self.adaptive.contains(&request.model);
        let thinking = if learnt { Some(Thinking::Adaptive) } else { request.facts.thinking };
        self.cache.body(request, thinking, basis)
    }

    fn reader(request: &Request) -> Box<dyn Reader> {
        Box::new(AnthropicReader::new(request.messages.len()))
    }

    /// Returns the longest answer of the model, which this format wants to be told.
    fn most(request: &Request, learnt: &Learnt) -> Option<u32> {
        Some(learnt.most(request, request.facts.max_output.unwrap_or(USUAL).min(LARGEST)))
    }

    /// Learns from a refusal of a budget that the model thinks adaptively.
    fn learn(&mut self, request: &Request, asked: &RequestBasis, says: &str) -> Option<Lesson> {
        let sent = asked.learnt.accepts(&request.model, ThinkField::Thoughts) && asked.learnt.effort(request).is_some();
        let by_budget = matches!(request.facts.thinking, Some(Thinking::Budget) | None) && sent;
        let is_new =
            by_budget && says.to_lowercase().contains("adaptive") && self.adaptive.insert(request.model.clone());
        is_new.then_some(Lesson::Quiet)
    }

    fn list(server: &Server, page: Option<&str>) -> Url {
        let mut url = server.url("v1/models");
        url.query_pairs_mut().append_pair("limit", "1000");
        if let Some(id) = page {
            url.query_pairs_mut().append_pair("after_id", id);
        }
        url
    }

    fn page(list: &Value) -> Page {
        let entries = list["data"].as_array().into_iter().flatten();
        let next = list["last_id"].as_str().filter(|_| list["has_more"] == true).map(Into::into);
        Page { models: entries.filter_map(listed).collect(), next }
    }
}

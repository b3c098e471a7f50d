//! OpenAI's Responses.

mod reader;
mod request;

use reqwest::Url;
use serde_json::Value;
use tokio_util::bytes::Bytes;

use self::reader::ResponsesReader;
use self::request::ResponsesCache;
use super::format::{Format, Page, RequestBasis};
use super::learnt::{GivenUp, ThinkField};
use crate::config::Connection;
use crate::provider::models::listed;
use crate::provider::transport::{Auth, Reader, Server};
use crate::provider::{Request, Wire};

/// The format, with what was serialised before.
pub(in crate::provider) struct Responses {
    cache: ResponsesCache,
}

impl Format for Responses {
    const WIRE: Wire = Wire::Responses;
    const VERSION: &'static str = "/v1";
    const VERSIONED: bool = false;
    const SEALS: &'static [&'static str] =
        &["reasoning item", "encrypted", "'reasoning'", "following item", "item with id", "item '", "signature"];
    const THINKS: &'static [GivenUp] = &[
        (ThinkField::Effort, &["effort"]),
        (ThinkField::Seals, &["encrypted", "include[", "'include", "`include"]),
        (ThinkField::Thoughts, &["reasoning", "summary", "effort"]),
    ];

    fn new(_connection: &Connection) -> Self {
        Responses { cache: ResponsesCache::default() }
    }

    fn auth(_connection: &Connection) -> Auth {
        Auth::Bearer
    }

    fn address(&self, server: &Server, _request: &Request) -> Url {
        server.url("responses")
    }

    fn body(&mut self, request: &Request, basis: &RequestBasis) -> Bytes {
        self.cache.body(request, basis)
    }

    fn reader(request: &Request) -> Box<dyn Reader> {
        Box::new(ResponsesReader::new(request.messages.len()))
    }

    fn list(server: &Server, _page: Option<&str>) -> Url {
        server.url("models")
    }

    fn page(list: &Value) -> Page {
        Page { models: list["data"].as_array().into_iter().flatten().filter_map(listed).collect(), next: None }
    }
}

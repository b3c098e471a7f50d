//! Google's `generateContent`.

mod partial_args;
mod reader;
mod request;

use reqwest::Url;
use serde_json::Value;
use tokio_util::bytes::Bytes;

use self::reader::GeminiReader;
use self::request::GeminiCache;
use super::format::{Format, Page, RequestBasis};
use super::learnt::{GivenUp, ThinkField};
use crate::config::Connection;
use crate::provider::models::listed;
use crate::provider::transport::{Auth, Reader, Server};
use crate::provider::{Request, Wire};

/// The format, with what was serialised before.
pub(in crate::provider) struct Gemini {
    cache: GeminiCache,
}

impl Format for Gemini {
    const WIRE: Wire = Wire::Gemini;
    const VERSION: &'static str = "/v1beta";
    const SEALS: &'static [&'static str] = &["signature", "thought"];
    const THINKS: &'static [GivenUp] = &[
        (ThinkField::Effort, &["thinkinglevel", "thinking_level", "thinking level", "budget"]),
        (ThinkField::Thoughts, &["thinking", "thought"]),
    ];

    fn new(_connection: &Connection) -> Self {
        Gemini { cache: GeminiCache::default() }
    }

    fn auth(_connection: &Connection) -> Auth {
        Auth::Header("x-goog-api-key")
    }

    fn address(&self, server: &Server, request: &Request) -> Url {
        let name = request.model.strip_prefix("models/").unwrap_or(&request.model);
        let mut url = server.url(&format!("v1beta/models/{name}:streamGenerateContent"));
        url.query_pairs_mut().append_pair("alt", "sse");
        url
    }

    fn body(&mut self, request: &Request, basis: &RequestBasis) -> Bytes {
        self.cache.body(request, basis)
    }

    fn reader(request: &Request) -> Box<dyn Reader> {
        Box::new(GeminiReader::new(request.messages.len()))
    }

    fn list(server: &Server, page: Option<&str>) -> Url {
        let mut url = server.url("v1beta/models");
        url.query_pairs_mut().append_pair("pageSize", "1000");
        if let Some(token) = page {
            url.query_pairs_mut().append_pair("pageToken", token);
        }
        url
    }

    fn page(list: &Value) -> Page {
        let writes = |entry: &&Value| {
            let methods = entry["supportedGenerationMethods"].as_array();
            methods.is_none_or(|methods| methods.iter().any(|method| method == "generateContent"))
        };
        let models = list["models"].as_array().into_iter().flatten().filter(writes).filter_map(listed).collect();
        let next = list["nextPageToken"].as_str().filter(|token| !token.is_empty()).map(Into::into);
        Page { models, next }
    }
}

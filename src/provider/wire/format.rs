//! The description that a wire format gives of itself.

use reqwest::Url;
use serde_json::Value;
use tokio_util::bytes::Bytes;

use super::learnt::{GivenUp, Learnt, Lesson};
use crate::config::Connection;
use crate::provider::models::{Facts, Model};
use crate::provider::transport::{Auth, Framing, Reader, Server};
use crate::provider::{Request, Wire};

/// The inputs of a request's body beside the request.
pub(in crate::provider) struct RequestBasis<'a> {
    /// Scheme, host and port of the server: seals go back there alone.
    pub place: &'a str,
    /// Host and port as people write them.
    pub host: &'a str,
    /// The facts learnt from refusals.
    pub learnt: &'a Learnt,
    /// The most tokens of an answer.
    pub most: Option<u32>,
}

/// A page of a list of models.
#[derive(Default)]
pub(in crate::provider) struct Page {
    /// Its models.
    pub models: Vec<Model>,
    /// Names the next page.
    pub next: Option<String>,
}

/// A question about one model.
pub(in crate::provider) struct Probe {
    /// The address of the request.
    pub url: Url,
    /// The body of a POST; `None`: a GET.
    pub body: Option<Value>,
    /// Reads the answer.
    pub read: fn(&Value) -> Facts,
}

/// A wire format. The value holds what was serialised before, so that a step writes only what is new.
pub(in crate::provider) trait Format: Send + Sized + 'static {
    /// The wire format.
    const WIRE: Wire;
    /// The framing of events.
    const FRAMING: Framing = Framing::Events;
    /// The path segments that a base URL may end in or not.
    const VERSION: &'static str;
    /// True if [`Format::VERSION`] is part of every path, or only of bases that have it.
    const VERSIONED: bool = true;
    /// Words of a refusal that is about what was sealed, in lower case.
    const SEALS: &'static [&'static str];
    /// The fields about thinking that are given up, in this order, each with the words of a refusal that is about it. Those
    /// of the first entry mean nothing else.
    const THINKS: &'static [GivenUp];

    /// Creates the format in its first state.
    fn new(connection: &Connection) -> Self;

    /// Returns where the key goes.
    fn auth(connection: &Connection) -> Auth;

    /// Headers of each request.
    fn headers() -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// Returns where `request` goes.
    fn address(&self, server: &Server, request: &Request) -> Url;

    /// Returns the body of `request`.
    fn body(&mut self, request: &Request, basis: &RequestBasis) -> Bytes;

    /// Reads the answer to `request`.
    fn reader(request: &Request) -> Box<dyn Reader>;

    /// Returns the most tokens of answer to ask for; `None`: as many as the server allows.
    fn most(request: &Request, learnt: &Learnt) -> Option<u32> {
        request.max_output.map(|most| learnt.most(request, most))
    }

    /// Learns from a refusal what only this format knows; `None`: nothing.
    fn learn(&mut self, _request: &Request, _asked: &RequestBasis, _says: &str) -> Option<Lesson> {
        None
    }

    /// Returns where the list of models is, or its page of this name.
    fn list(server: &Server, page: Option<&str>) -> Url;

    /// Reads a page of the list of models.
    fn page(list: &Value) -> Page;

    /// Returns where more is said of one model, where the list does not say its window; asked in this order.
    fn probes(_server: &Server, _model: &str) -> Vec<Probe> {
        Vec::new()
    }
}

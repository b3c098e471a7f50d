//! How nebula talks to a model: the values of a request and of its streamed answer, and the [`Provider`] that
//! turns one into the other. One file a wire format; a consumer never sees JSON.
//!
//! What a provider promises:
//! - Every piece of a call carries the `index` of its call. The first piece of a call also carries its name and
//!   an id, made up where the server gave none. [`Answer`] joins the pieces.
//! - A whole answer ends in [`Delta::End`]; a stream that stops without it has ended in an [`Error`].
//! - Trouble before the first token is tried again, with a [`Delta::Retrying`] before each pause; trouble after
//!   it is an error of kind [`Kind::Broken`], and what arrived before stands.
//! - Dropping the stream drops the request.
//! - Keys are in no error, no `Debug` output and no recording.
//!
//! Not here: what joins a prompt (`context`), running tools (`agent`), repairing the meaning of arguments.

mod answer;
mod async_stream;
mod capabilities;
mod error;
mod http;
mod local;
mod message;
mod openai;
mod reasoning_tags;
mod recording;
mod replay;
mod retry;
mod sse;
mod usage;

pub use answer::Answer;
pub use capabilities::Capabilities;
pub use error::{Error, Kind};
pub use local::{LocalServer, PORTS, begin_with, choose, find, find_on};
pub use message::{Blob, Body, Message, Origin, Part, PartKind, Role, Span, ToolCall, ToolResult, Wire};
pub use openai::OpenAi;
pub use recording::Recording;
pub use replay::{Recorder, Replay};
pub use usage::Usage;

use std::sync::Arc;

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use tokio::sync::Notify;

use crate::config::{Connection, KeyUse};

/// The answer to a request as it arrives.
pub type Deltas = BoxStream<'static, Result<Delta, Error>>;

/// A model behind some wire format.
pub trait Provider: Send + Sync {
    /// The word of the configuration (`openai`, `replay`).
    fn name(&self) -> &str;

    /// Where the answers come from, for people: a host (`api.openai.com`), a local server's name, a recording's file.
    fn place(&self) -> String;

    /// Whether the answers are a recording.
    fn recorded(&self) -> bool {
        false
    }

    /// What a model takes beside text, as far as its name tells. The configuration may know better.
    fn capabilities(&self, model: &str) -> Capabilities {
        Capabilities::by_name(model)
    }

    /// Where an answer of `model` comes from: what is sealed in it goes back there and nowhere else.
    fn origin(&self, model: &str) -> Origin;

    /// Asks; nothing is sent before the stream is first polled. Needs a tokio runtime.
    fn stream(&self, request: Request) -> Deltas;

    /// Names of the models on offer, sorted.
    fn models(&self) -> BoxFuture<'static, Result<Vec<String>, Error>>;
}

/// The provider that `connection` describes. Asks nothing over the network.
///
/// Errors: no key where one is needed ([`Kind::NoKey`]), or a connection that cannot be used ([`Kind::Settings`]).
/// A recording is opened with [`Replay::open`]: it needs a file, not a connection.
pub fn connect(connection: &Connection) -> Result<Arc<dyn Provider>, Error> {
    let below = |path: &str| {
        let base_url = format!("{}/{path}", connection.base_url);
        Connection { base_url, ..connection.clone() }
    };
    if let Some(KeyUse { variable, server }) = &connection.withheld {
        return Err(Error::new(
            Kind::Settings,
            format!(
                "{variable} was not sent to {server}: this folder's configuration asks for it, and you have not agreed yet"
            ),
            "Run `nebula model` here at a terminal, which asks you once, or set baseUrl and apiKeyEnv in your own configuration.",
        ));
    }
    match connection.provider.as_str() {
        "replay" => Err(Error::new(
            Kind::Settings,
            "the provider replay needs a recording",
            "Start with --replay FILE, or see one with nebula demo.",
        )),
        "responses" => Err(Error::new(
            Kind::Settings,
            "the provider responses cannot be used yet",
            "The provider openai reaches the same models.",
        )),
        // Both also speak Chat Completions, below an address of its own.
        "gemini" if !connection.custom_url => Ok(Arc::new(OpenAi::new(&below("openai"))?)),
        "ollama" if !connection.custom_url => Ok(Arc::new(OpenAi::new(&below("v1"))?)),
        _ => Ok(Arc::new(OpenAi::new(connection)?)),
    }
}

/// Whether `connection` leads to a server on this computer.
pub fn is_local(connection: &Connection) -> bool {
    reqwest::Url::parse(&connection.base_url).is_ok_and(|url| http::is_loopback(&url))
}

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
    /// What the model may call.
    pub tools: Arc<[ToolSpec]>,
    /// At most so many tokens of answer; `None`: the server's default.
    pub max_output: Option<u32>,
    /// Ends a pause between tries early.
    pub skip_backoff: SkipBackoff,
}

/// What a model is told of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// When and how to use it.
    pub description: String,
    /// JSON Schema of its arguments.
    pub parameters: serde_json::Value,
}

/// A piece of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Delta {
    /// More text.
    Text(String),
    /// More of what the model thinks.
    Thinking(String),
    /// More of a call.
    Call {
        /// Which call of this answer, from 0; calls of one answer never share it.
        index: usize,
        /// Its id, in its first piece.
        id: Option<String>,
        /// The tool, in its first piece.
        name: Option<String>,
        /// The next part of its arguments; may be empty.
        arguments: String,
    },
    /// What follows begins a new part, also where it is of the same kind.
    Part,
    /// The provider's own JSON of a part that is whole: of the newest one of its kind that has none yet, or, where there is
    /// none (or right after [`Delta::Part`]), of a new one without a word.
    Seal {
        /// Its kind.
        kind: PartKind,
        /// For a call: which of this answer.
        index: usize,
        /// The JSON, byte for byte.
        json: String,
    },
    /// Tokens of this request; a later one replaces an earlier one.
    Usage(Usage),
    /// The answer is whole. Comes once, and nothing but usage comes after it.
    End(EndReason),
    /// The request failed and is tried again after a pause. Any other delta ends the pause.
    Retrying(Wait),
}

/// Why an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EndReason {
    /// The model was done.
    Stop,
    /// It reached its limit of tokens: the end of the text is missing.
    Length,
    /// It waits for the results of its calls.
    Calls,
    /// The server held back the rest.
    Filter,
    /// Anything else, and servers that do not say.
    Other,
}

/// A pause before the next try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wait {
    /// The number of the next try; the first request was 1.
    pub attempt: u32,
    /// Of how many at most.
    pub of: u32,
    /// When it happens, in unix milliseconds.
    pub until: i64,
    /// What happened, in one line: `api.openai.com asks to wait (429)`.
    pub why: String,
}

/// Ends pauses between tries: clones share the same pauses.
#[derive(Debug, Clone, Default)]
pub struct SkipBackoff(Arc<Notify>);

impl SkipBackoff {
    /// Ends the pause that is under way, if one is; a later pause is not shortened.
    pub fn now(&self) {
        self.0.notify_waiters();
    }
}

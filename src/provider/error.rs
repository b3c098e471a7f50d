//! The errors between nebula and a model, in words for the person.

use std::sync::Arc;

/// A request failed: what happened, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// The kind of failure, on which a caller may branch.
    pub kind: ErrorKind,
    /// The failure, in one line.
    pub message: String,
    /// Its consequence and what to do next; one or two sentences.
    pub hint: String,
    /// The status of the answer, where there was one.
    pub status: Option<u16>,
    /// The server's own name for the request.
    pub request_id: Option<String>,
    /// The server's own words, where it refused the request.
    pub said: Option<Box<ServerWords>>,
    /// The shape of the request that was refused, without its contents.
    pub outline: Option<Arc<str>>,
}

/// The words of a server that refuses a request, and the numbers in them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServerWords {
    /// Its words; empty where it gives none.
    pub words: String,
    /// The context window that it names, in tokens.
    pub window: Option<u32>,
    /// The tokens of the prompt as it counts them, where that fits and only the answer that was asked for is too long
    /// beside it.
    pub prompt: Option<u32>,
    /// The tokens of the prompt as it counts them, where they are more than the window.
    pub long_prompt: Option<u32>,
}

/// Kinds of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// No key is set where one is needed.
    NoKey,
    /// The server does not accept the key (401).
    Auth,
    /// The key has no right to this (403).
    Permission,
    /// The server knows no such address (404).
    NotFound,
    /// The server knows no such model.
    NoModel,
    /// The key's credit is used up (402).
    Quota,
    /// Still rate limited after every try, or for longer than nebula waits by itself (429).
    RateLimited,
    /// The server failed (5xx), after every try.
    Server,
    /// The connection could not be made or broke off.
    Broken {
        /// True if a part of the answer had arrived: it stands, and the answer can go on from it.
        after_first_token: bool,
    },
    /// The conversation does not fit the model.
    ContextTooLong,
    /// The server, or the model, takes no tools.
    NoTools,
    /// The server refuses the request for another reason (4xx).
    BadRequest,
    /// The server's answer is not what its wire format says.
    BadAnswer,
    /// The configuration cannot be used: an unknown provider, a URL that is none, a header that is none.
    Settings,
    /// The recording cannot be read, has no step left, or was asked something impossible.
    Recording,
}

impl ErrorKind {
    /// Returns its name in events.
    pub fn word(self) -> &'static str {
        match self {
            ErrorKind::NoKey | ErrorKind::Auth => "key",
            ErrorKind::Permission => "permission",
            ErrorKind::NoModel => "model",
            ErrorKind::Quota => "quota",
            ErrorKind::RateLimited => "rate",
            ErrorKind::Server => "overloaded",
            ErrorKind::Broken { after_first_token: false } => "network",
            ErrorKind::Broken { after_first_token: true } => "broken",
            ErrorKind::ContextTooLong => "context",
            ErrorKind::BadRequest | ErrorKind::NoTools => "request",
            ErrorKind::BadAnswer => "answer",
            ErrorKind::NotFound | ErrorKind::Settings | ErrorKind::Recording => "settings",
        }
    }
}

impl Error {
    /// Puts an error together.
    pub fn new(kind: ErrorKind, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            hint: hint.into(),
            status: None,
            request_id: None,
            said: None,
            outline: None,
        }
    }

    /// Returns the context window that the server named, in tokens.
    pub fn window(&self) -> Option<u32> {
        self.said.as_ref()?.window
    }

    /// Returns whether going on from what arrived, or asking again, may help without changing anything.
    pub fn resumable(&self) -> bool {
        matches!(
            self.kind,
            ErrorKind::RateLimited | ErrorKind::Server | ErrorKind::Broken { .. } | ErrorKind::BadAnswer
        )
    }
}

//! From a connection to the provider that speaks its wire format.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::StreamExt;
use futures_util::future::BoxFuture;

use super::embedded;
use super::models::{self, Facts, Model, Thinking};
use super::transport::{async_stream, is_loopback};
use super::wire::{self, Anthropic, Chat, Gemini, Ollama, Responses};
use super::{Deltas, Error, ErrorKind, Origin, Provider, Request, Wire};
use crate::config::{Connection, KeyUse};

/// Returns the provider that `connection` describes. Asks nothing over the network.
///
/// # Errors
/// No key where one is needed ([`ErrorKind::NoKey`]), or a connection that cannot be used ([`ErrorKind::Settings`]). A recording
/// is opened with [`super::Replay::open`]: it needs a file, not a connection.
pub fn connect(connection: &Connection) -> Result<Arc<dyn Provider>, Error> {
    if let Some(KeyUse { variable, server }) = &connection.withheld {
        return Err(Error::new(
            ErrorKind::Settings,
            format!(
                "{variable} was not sent to {server}: this folder's configuration asks for it, and you have not agreed yet"
            ),
            "Run `nebula model` here at a terminal, which asks you once, or set baseUrl and apiKeyEnv in your own configuration.",
        ));
    }
    if let Some(fault) = &connection.fault {
        let hint = "Nothing is sent until the configuration is corrected.";
        return Err(Error::new(ErrorKind::Settings, fault.clone(), hint));
    }
    if connection.provider == "replay" {
        return Err(Error::new(
            ErrorKind::Settings,
            "the provider replay needs a recording",
            "Start with --replay FILE, or see one with nebula demo.",
        ));
    }
    if connection.provider == embedded::NAME {
        return embedded::connect(connection);
    }
    Ok(match Wire::parse(&connection.wire) {
        Some(Wire::Responses) => Arc::new(wire::Client::<Responses>::new(connection)?),
        Some(Wire::Anthropic) => Arc::new(wire::Client::<Anthropic>::new(connection)?),
        Some(Wire::Gemini) => Arc::new(wire::Client::<Gemini>::new(connection)?),
        Some(Wire::Ollama) => Arc::new(wire::Client::<Ollama>::new(connection)?),
        _ => Arc::new(ChatOrResponses {
            chat: wire::Client::new(connection)?,
            responses: wire::Client::new(connection)?,
            is_openai: connection.provider == "openai" && !connection.custom_url,
            only_responses: Arc::default(),
        }),
    })
}

/// A server of Chat Completions. Models that it has on Responses alone are asked there once it has said so, and at OpenAI's
/// own address those that think, where what they thought can be sent back.
struct ChatOrResponses {
    chat: wire::Client<Chat>,
    responses: wire::Client<Responses>,
    is_openai: bool,
    /// The models of which a refusal said so.
    only_responses: Arc<Mutex<HashSet<String>>>,
}

impl ChatOrResponses {
    /// Returns whether `model` is asked through Responses. `known` is how it thinks where more than its name is known:
    /// configured, listed or learnt.
    fn is_on_responses(&self, model: &str, known: Option<Thinking>) -> bool {
        let thinks = || known.or_else(|| models::by_name(model).thinking).is_some_and(|how| how != Thinking::None);
        self.is_openai && thinks() || lock(&self.only_responses).contains(model)
    }

    fn of(&self, model: &str, known: Option<Thinking>) -> &dyn Provider {
        if self.is_on_responses(model, known) { &self.responses } else { &self.chat }
    }
}

/// Takes the lock; nothing panics while it is held.
fn lock(models: &Mutex<HashSet<String>>) -> MutexGuard<'_, HashSet<String>> {
    models.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns whether a refusal of Chat Completions says that its model is on Responses.
fn says_responses(error: &Error) -> bool {
    let is_refusal = error.status.is_some_and(|status| matches!(status, 400 | 404 | 405 | 422));
    let words = error.said.as_ref().map(|said| said.words.to_lowercase()).unwrap_or_default();
    is_refusal && ["v1/responses", "not a chat model", "responses api"].iter().any(|part| words.contains(part))
}

impl Provider for ChatOrResponses {
    fn name(&self) -> &str {
        self.chat.name()
    }

    fn place(&self) -> String {
        self.chat.place()
    }

    fn address(&self) -> String {
        self.chat.address()
    }

    fn local(&self) -> bool {
        self.chat.local()
    }

    fn origin(&self, model: &str) -> Origin {
        self.of(model, None).origin(model)
    }

    fn origin_of(&self, request: &Request) -> Origin {
        self.of(&request.model, request.facts.thinking).origin(&request.model)
    }

    fn stream(&self, request: Request) -> Deltas {
        if self.is_on_responses(&request.model, request.facts.thinking) {
            return self.responses.stream(request);
        }
        let mut answer = self.chat.stream(request.clone()).fuse();
        let (responses, only_responses) = (self.responses.clone(), Arc::clone(&self.only_responses));
        async_stream(move |out| async move {
            while let Some(item) = answer.next().await {
                if item.as_ref().is_err_and(says_responses) {
                    lock(&only_responses).insert(request.model.clone());
                    answer = responses.stream(request).fuse();
                    break;
                }
                let _ = out.send(item).await;
            }
            // Nothing, unless it is asked there.
            while let Some(item) = answer.next().await {
                let _ = out.send(item).await;
            }
        })
    }

    fn models(&self) -> BoxFuture<'static, Result<Vec<Model>, Error>> {
        self.chat.models()
    }

    fn probe(&self, model: &str) -> BoxFuture<'static, Facts> {
        self.chat.probe(model)
    }

    fn describe(&self, model: &str) -> BoxFuture<'static, Facts> {
        self.chat.describe(model)
    }
}

/// Returns whether the model of `connection` is on this computer.
pub fn is_local(connection: &Connection) -> bool {
    connection.provider == embedded::NAME
        || reqwest::Url::parse(&connection.base_url).is_ok_and(|url| is_loopback(&url))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Secret;

    #[test]
    fn a_model_that_thinks_is_requested_through_responses_whoever_says_so() {
        let connection = Connection {
            provider: "openai".into(),
            base_url: "https://api.openai.com/v1".into(),
            wire: "chat".into(),
            key: Some(Secret::new("sk-x")),
            ..Connection::default()
        };
        let openai = connect(&connection).expect("connected");
        let wire = |model: &str, thinking: Option<Thinking>| {
            let facts = Facts { thinking, ..Facts::default() };
            openai.origin_of(&Request { model: model.into(), facts, ..Request::default() }).wire
        };
        assert_eq!(wire("new-model", None), Wire::Chat);
        assert_eq!(wire("new-model", Some(Thinking::Effort)), Wire::Responses);
        assert_eq!(wire("gpt-5", None), Wire::Responses);
        assert_eq!(wire("gpt-5", Some(Thinking::None)), Wire::Chat);
    }
}

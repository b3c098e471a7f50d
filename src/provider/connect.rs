//! From a connection to the provider that speaks its wire format.

use std::sync::Arc;

use futures_util::future::BoxFuture;

use super::embedded;
use super::models::{self, Model, Thinking};
use super::transport::is_loopback;
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
        _ if connection.provider == "openai" && !connection.custom_url => {
            Arc::new(OpenAi { chat: wire::Client::new(connection)?, responses: wire::Client::new(connection)? })
        }
        _ => Arc::new(wire::Client::<Chat>::new(connection)?),
    })
}

/// OpenAI at its own address: models that think are asked through Responses, where what they thought can be sent back.
struct OpenAi {
    chat: wire::Client<Chat>,
    responses: wire::Client<Responses>,
}

impl OpenAi {
    /// Returns who is asked for `model`. `known` is how it thinks where more than its name is known: configured, listed or learnt.
    fn of(&self, model: &str, known: Option<Thinking>) -> &dyn Provider {
        match known.or_else(|| models::by_name(model).thinking) {
            None | Some(Thinking::None) => &self.chat,
            Some(_) => &self.responses,
        }
    }
}

impl Provider for OpenAi {
    fn name(&self) -> &str {
        self.chat.name()
    }

    fn place(&self) -> String {
        self.chat.place()
    }

    fn address(&self) -> String {
        self.chat.address()
    }

    fn origin(&self, model: &str) -> Origin {
        self.of(model, None).origin(model)
    }

    fn origin_of(&self, request: &Request) -> Origin {
        self.of(&request.model, request.facts.thinking).origin(&request.model)
    }

    fn stream(&self, request: Request) -> Deltas {
        self.of(&request.model, request.facts.thinking).stream(request)
    }

    fn models(&self) -> BoxFuture<'static, Result<Vec<Model>, Error>> {
        self.chat.models()
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
    use crate::provider::models::Facts;

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

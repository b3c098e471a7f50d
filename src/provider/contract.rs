//! The trait of all providers.

use futures_util::future::BoxFuture;

use super::models::{Facts, Model};
use super::{Capabilities, Deltas, Error, Origin, Request};

/// A model behind some wire format.
pub trait Provider: Send + Sync {
    /// Returns the word of the configuration (`openai`, `replay`).
    fn name(&self) -> &str;

    /// Returns where the answers come from, for people: a host (`api.openai.com`), a local server's name, a recording's
    /// file.
    fn place(&self) -> String;

    /// Returns the name by which what is known of its models is kept: two servers may share a host.
    fn address(&self) -> String {
        self.place()
    }

    /// Returns whether the answers are a recording.
    fn recorded(&self) -> bool {
        false
    }

    /// Returns the kinds of files that a model takes, as far as its name tells. The configuration may know better.
    fn capabilities(&self, model: &str) -> Capabilities {
        Capabilities::by_name(model)
    }

    /// Returns whether the answers come from this computer and cost nothing.
    fn local(&self) -> bool {
        false
    }

    /// Returns where an answer of `model` comes from: what is sealed in it goes back there and nowhere else.
    fn origin(&self, model: &str) -> Origin;

    /// Returns where the answer to `request` comes from: it may go elsewhere for what is known of its model beside the name.
    fn origin_of(&self, request: &Request) -> Origin {
        self.origin(&request.model)
    }

    /// Asks; nothing is sent before the stream is first polled. Needs a tokio runtime.
    fn stream(&self, request: Request) -> Deltas;

    /// Returns the models on offer, sorted by name, with what the server says of them.
    fn models(&self) -> BoxFuture<'static, Result<Vec<Model>, Error>>;

    /// Asks the server for more about one model of its list; nothing where there is nobody to ask.
    fn probe(&self, _model: &str) -> BoxFuture<'static, Facts> {
        Box::pin(async { Facts::default() })
    }

    /// Asks the server about one model, where its list does not say the window.
    fn describe(&self, model: &str) -> BoxFuture<'static, Facts> {
        let (listed, model) = (self.models(), model.to_string());
        Box::pin(async move {
            let listed = listed.await.unwrap_or_default();
            listed.into_iter().find(|m| m.name == model).map(|m| m.facts).unwrap_or_default()
        })
    }
}

//! The model that a request is for, with what is known of it.

use std::sync::Arc;

use crate::agent::services::model_facts::AnswerCost;
use crate::agent::services::models::{ModelAccess, ModelConnection};
use crate::config::ModelConfig;
use crate::context::request::Budget;
use crate::messages::agent as say;
use crate::provider::models::{Facts, Known};
use crate::provider::{Capabilities, Error, ErrorKind, Provider, Usage, Wire};

/// The context window of a model of which nothing is known, in tokens.
const DEFAULT_WINDOW: u32 = 128_000;
/// The window Ollama loads a model with where nothing is configured, at most.
const OLLAMA_WINDOW: u32 = 32_768;

/// The model that a request is for and the provider that is asked, whatever the person chooses while the answer comes.
#[derive(Clone)]
pub struct RequestTarget {
    /// The provider, or why none is connected.
    pub provider: Result<Arc<dyn Provider>, Error>,
    /// The model's name.
    pub model: String,
    configured: ModelConfig,
    models: Arc<ModelAccess>,
}

impl RequestTarget {
    /// Creates the target of a request to the provider and the model of `connection`; `configured` is what the person
    /// configured of this model.
    pub fn new(models: &Arc<ModelAccess>, connection: ModelConnection, configured: ModelConfig) -> Self {
        let ModelConnection { provider, model, why_not, .. } = connection;
        let unknown = || Error::new(ErrorKind::NoKey, say::no_model(), say::doctor_says());
        let provider = provider.ok_or_else(|| why_not.unwrap_or_else(unknown));
        RequestTarget { provider, model, configured, models: Arc::clone(models) }
    }

    /// Returns all that is known of the model at this provider now.
    fn known(&self) -> Known {
        self.models.known_of(&self.address(), &self.model, &self.configured)
    }

    /// Returns the provider, if one is connected.
    pub fn connected(&self) -> Option<&dyn Provider> {
        self.provider.as_deref().ok()
    }

    /// Returns whether the model runs on this computer.
    pub fn is_local(&self) -> bool {
        self.connected().is_some_and(Provider::local)
    }

    /// Returns the name by which what is known of the provider's models is kept; empty while none is connected.
    pub fn address(&self) -> String {
        self.connected().map(Provider::address).unwrap_or_default()
    }

    /// Returns the host and port that are asked; empty while none is connected.
    pub fn place(&self) -> String {
        self.connected().map(Provider::place).unwrap_or_default()
    }

    /// Returns what holds for the model, with the window that is counted with where nobody says one.
    pub fn facts(&self) -> Facts {
        let known = self.known();
        let mut facts = known.facts();
        let ollama = self.connected().is_some_and(|provider| provider.origin(&self.model).wire == Wire::Ollama);
        if ollama && known.configured.window.is_none() {
            facts.window = Some(facts.window.unwrap_or(OLLAMA_WINDOW).min(OLLAMA_WINDOW));
        }
        facts
    }

    /// Returns the model's context window, in tokens.
    pub fn window(&self) -> u32 {
        self.facts().window.unwrap_or(DEFAULT_WINDOW)
    }

    /// Returns the part of the window for what is sent, and the part for the answer.
    pub fn budget(&self) -> Budget {
        Budget::of_window(u64::from(self.window()))
    }

    /// Returns what the model takes beside text: the configuration's word counts, then what its name tells.
    pub fn capabilities(&self) -> Capabilities {
        let by_name = || Capabilities::by_name(&self.model);
        let known = self.connected().map_or_else(by_name, |provider| provider.capabilities(&self.model));
        let facts = self.facts();
        Capabilities { images: facts.images.unwrap_or(known.images), documents: facts.pdfs.unwrap_or(known.documents) }
    }

    /// Returns what an answer of these tokens cost.
    pub fn cost(&self, usage: &Usage) -> AnswerCost {
        AnswerCost::new(&self.known(), self.is_local(), usage)
    }

    /// Records that a prompt of this many tokens was taken.
    pub fn accept_prompt(&self, tokens: u64) {
        let tokens = u32::try_from(tokens).unwrap_or(u32::MAX);
        self.models.accept_prompt(&self.address(), &self.model, tokens);
    }

    /// Records that the model takes no tools. Returns whether that is new.
    pub fn learn_no_tools(&self) -> bool {
        self.models.learn_no_tools(&self.address(), &self.model)
    }

    /// Records the window that a refusal for length shows. Returns whether it is smaller than the known one.
    pub fn learn_window(&self, window: u32) -> bool {
        self.models.learn_window(&self.address(), &self.model, window, self.window())
    }

    /// Returns the window that refusals have shown.
    pub fn learnt_window(&self) -> Option<u32> {
        self.known().learnt.window
    }

    /// Records again the window that refusals had shown `before`.
    pub fn restore_window(&self, before: Option<u32>) {
        self.models.restore_window(&self.address(), &self.model, before);
    }
}

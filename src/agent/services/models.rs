//! The connected model, or why none is, and the facts about models.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;

use crate::agent::services::locked::lock;
use crate::config::ModelConfig;
use crate::messages::agent as say;
use crate::protocol::{KeyPlaces, ModelFileRow};
use crate::provider::models::{Facts, Known, KnownModels};
use crate::provider::{self, Provider};

/// The model that answers, or why none does.
#[derive(Clone)]
pub struct ModelConnection {
    /// The connected provider, if one is.
    pub provider: Option<Arc<dyn Provider>>,
    /// The model of sessions that did not choose one.
    pub model: String,
    /// Local ports that were tried without an answer.
    pub tried: Vec<u16>,
    /// The server on this computer that answers and has no model, for the person.
    pub without_model: Option<String>,
    /// A model file that was found on this computer.
    pub model_file: Option<ModelFileRow>,
    /// The places of the built-in providers' keys.
    pub key_places: Vec<KeyPlaces>,
    /// The reason why no provider is connected, where one is configured.
    pub why_not: Option<provider::Error>,
}

impl ModelConnection {
    /// Records that the server which is meant has no model yet: nothing is connected.
    pub fn lack_model(&mut self, error: provider::Error) {
        self.without_model = Some(say::with_hint(&error.message, &error.hint));
        (self.provider, self.why_not) = (None, Some(error));
    }
}

/// The way to a model, for every session.
pub struct ModelAccess {
    /// The facts about models.
    pub known: Mutex<KnownModels>,
    /// True if a local server is being looked for; the supervisor ends it, once the sessions know what was found.
    pub looking: watch::Sender<bool>,
    /// Has a server on this computer asked at once for what the next request can do without.
    pub facts_later: Mutex<Option<oneshot::Sender<()>>>,
    /// The file in which the answers of the first connected model are recorded.
    pub record: Mutex<Option<PathBuf>>,
    connection: Mutex<ModelConnection>,
}

impl ModelAccess {
    /// Creates the access to nothing yet; `model` is that of sessions that did not choose one.
    pub fn new(model: String) -> Self {
        let connection = ModelConnection {
            provider: None,
            model,
            tried: Vec::new(),
            without_model: None,
            model_file: None,
            key_places: Vec::new(),
            why_not: None,
        };
        ModelAccess {
            known: Mutex::default(),
            looking: watch::Sender::new(false),
            facts_later: Mutex::new(None),
            record: Mutex::new(None),
            connection: Mutex::new(connection),
        }
    }

    /// Returns the connected model now.
    pub fn connection(&self) -> ModelConnection {
        lock(&self.connection).clone()
    }

    /// Changes the connected model.
    pub fn change_connection(&self, change: impl FnOnce(&mut ModelConnection)) {
        change(&mut lock(&self.connection));
    }

    /// Returns all that is known of a model at a provider, beside what the person `configured` of it.
    pub fn known_of(&self, place: &str, model: &str, configured: &ModelConfig) -> Known {
        let models = lock(&self.known);
        Known::new(model, configured, models.listed(place, model), models.learnt(place, model))
    }

    /// Records that a model took a prompt of this many tokens.
    pub fn accept_prompt(&self, place: &str, model: &str, tokens: u32) {
        lock(&self.known).accept(place, model, tokens);
    }

    /// Records the window that a refusal for length shows, where it is smaller than the `known` one. It is not made
    /// smaller than a prompt that was taken, unless the server refuses what is smaller than that too: then it has
    /// changed. Returns whether the window is smaller now.
    pub fn learn_window(&self, place: &str, model: &str, window: u32, known: u32) -> bool {
        let mut models = lock(&self.known);
        let accepted = models.accepted(place, model);
        if accepted >= known {
            models.forget_accepted(place, model);
        }
        let window = if accepted < known { window.max(accepted) } else { window };
        if window >= known {
            return false;
        }
        models.learn(place, model, Facts { window: Some(window), ..Facts::default() });
        true
    }

    /// Records again the window that refusals had shown `before`, in place of one that was guessed.
    pub fn restore_window(&self, place: &str, model: &str, before: Option<u32>) {
        lock(&self.known).restore_window(place, model, before);
    }

    /// Records that a model takes no tools. Returns whether that is new.
    pub fn learn_no_tools(&self, place: &str, model: &str) -> bool {
        let mut models = lock(&self.known);
        let is_new = models.learnt(place, model).tools.is_none();
        models.learn(place, model, Facts { tools: Some(false), ..Facts::default() });
        is_new
    }

    /// Waits for a server on this computer that is being looked for: the search takes two seconds at most.
    pub async fn local_search(&self, stop: &CancellationToken) {
        let mut looking = self.looking.subscribe();
        let _ = stop.run_until_cancelled(looking.wait_for(|looking| !looking)).await;
    }

    /// Has the next request wait for what a server on this computer knows of the model, where that was put off.
    pub fn want_facts(&self) {
        if let Some(ask) = lock(&self.facts_later).take().filter(|ask| !ask.is_closed()) {
            let before = self.looking.send_replace(true);
            // It was told meanwhile: there is nothing to wait for.
            if ask.send(()).is_err() && !before {
                self.looking.send_replace(false);
            }
        }
    }
}

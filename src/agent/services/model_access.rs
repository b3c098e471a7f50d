//! The connected model, or why none is, and the facts about models.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;

use crate::agent::services::locked::lock;
use crate::protocol::{KeyPlaces, ModelFileRow};
use crate::provider::models::KnownModels;
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
    /// A model file that was found on this computer.
    pub model_file: Option<ModelFileRow>,
    /// The places of the built-in providers' keys.
    pub key_places: Vec<KeyPlaces>,
    /// The reason why no provider is connected, where one is configured.
    pub why_not: Option<provider::Error>,
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

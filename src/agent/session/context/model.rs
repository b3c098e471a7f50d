//! The model and the provider of a session.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::agent::services::models::ModelConnection;
use crate::agent::services::target::RequestTarget;
use crate::agent::services::{lock, model_facts};
use crate::agent::session::context::SessionContext;
use crate::provider::Provider;

impl SessionContext {
    /// Returns the model's name: the session's own, or that of the connection.
    pub fn model(&self) -> String {
        let own = lock(&self.settings).model.clone();
        own.unwrap_or_else(|| self.services.models.connection().model)
    }

    /// Returns the provider that this session asks: its own, once it has asked one or chose one, in the newest
    /// connection of that name; else the one that was connected last.
    pub fn provider(&self) -> Option<Arc<dyn Provider>> {
        self.connection().provider
    }

    /// Returns the connection of this session: that of the process with the session's own provider.
    pub fn connection(&self) -> ModelConnection {
        let mut connection = self.services.models.connection();
        if let Some(own) = lock(&self.own_provider).as_ref()
            && connection.provider.as_ref().is_none_or(|newest| newest.name() != own.name())
        {
            connection.provider = Some(Arc::clone(own));
        }
        connection
    }

    /// Waits for what a server on this computer says of the model that is asked now, for a few seconds at most where it is
    /// to be found first, else for a moment.
    pub async fn model_described(&self, stop: &CancellationToken) {
        self.services.models.local_search(stop).await;
        if let Some(provider) = self.provider() {
            let model = self.model();
            stop.run_until_cancelled(model_facts::ask_once(&self.services, provider, &model)).await;
        }
    }

    /// Returns the target of a request that goes out now.
    pub fn target(&self) -> RequestTarget {
        let connection = ModelConnection { model: self.model(), ..self.connection() };
        let configured = self.services.config.read().model_config(&connection.model);
        RequestTarget::new(&self.services.models, connection, configured)
    }

    /// Returns the target of a request that goes out now; the session keeps its model, and its provider, until another
    /// is chosen in it.
    pub fn keep_target(&self) -> RequestTarget {
        self.keep_model();
        self.target()
    }

    /// Takes the provider that was connected last as this session's own.
    pub fn take_provider(&self) {
        let newest = self.services.models.connection().provider;
        if let (Some(id), Some(provider)) = (self.id(), &newest) {
            let name = provider.name().to_string();
            self.services.memory.post(move |memory| memory.set_provider(&id, &name));
        }
        *lock(&self.own_provider) = newest;
    }

    /// Asks, from the next request on, the provider that is connected then.
    pub fn forget_provider(&self) {
        *lock(&self.own_provider) = None;
    }

    /// Asks this provider in this session, whichever others ask.
    pub fn ask_provider(&self, provider: Arc<dyn Provider>) {
        *lock(&self.own_provider) = Some(provider);
    }

    /// Keeps the model that is asked now, and its provider, until another is chosen in this session: it is resumed with
    /// them, whatever comes of the request.
    fn keep_model(&self) {
        let (provider, model) = (self.provider(), self.model());
        if let Some(provider) = &provider {
            lock(&self.own_provider).get_or_insert_with(|| Arc::clone(provider));
        }
        let is_new = {
            let mut settings = lock(&self.settings);
            let is_new = settings.model.is_none();
            settings.model.get_or_insert_with(|| model.clone());
            is_new
        };
        let Some(id) = self.id().filter(|_| is_new) else { return };
        self.services.memory.post(move |memory| {
            if let Some(provider) = provider {
                memory.set_provider(&id, provider.name())?;
            }
            memory.set_model(&id, &model)
        });
    }
}

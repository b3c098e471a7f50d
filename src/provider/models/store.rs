//! What servers said of their models, and what refusals taught, by place and model.

use std::collections::HashMap;

use super::{Facts, Model};

/// All that was said and taught since the start.
#[derive(Debug, Default)]
pub struct KnownModels {
    listed: HashMap<(String, String), Facts>,
    learnt: HashMap<(String, String), Facts>,
}

impl KnownModels {
    /// Returns the facts that the server at `place` gave of a model.
    pub fn listed(&self, place: &str, model: &str) -> Facts {
        self.listed.get(&(place.to_string(), model.to_string())).cloned().unwrap_or_default()
    }

    /// Returns the facts that refusals of the server at `place` showed of a model.
    pub fn learnt(&self, place: &str, model: &str) -> Facts {
        self.learnt.get(&(place.to_string(), model.to_string())).cloned().unwrap_or_default()
    }

    /// Takes down what a server says of its models.
    pub fn list(&mut self, place: &str, models: impl IntoIterator<Item = Model>) {
        self.listed.extend(models.into_iter().map(|model| ((place.to_string(), model.name), model.facts)));
    }

    /// Takes down what a refusal taught of a model.
    pub fn learn(&mut self, place: &str, model: &str, facts: Facts) {
        self.learnt.insert((place.to_string(), model.to_string()), facts);
    }
}

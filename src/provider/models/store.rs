//! The facts that servers gave about their models, and those learnt from refusals, by place and model.

use std::collections::{HashMap, HashSet};

use super::{Facts, Model};

/// All that was said and taught since the start.
#[derive(Debug, Default)]
pub struct KnownModels {
    listed: HashMap<(String, String), Facts>,
    learnt: HashMap<(String, String), Facts>,
    /// The largest prompt, in tokens, that the server took.
    accepted: HashMap<(String, String), u32>,
    /// The places of which was recalled what refusals taught in earlier runs.
    recalled: HashSet<String>,
}

impl KnownModels {
    /// Returns the facts that the server at `place` gave of a model.
    pub fn listed(&self, place: &str, model: &str) -> Facts {
        self.listed.get(&(place.to_string(), model.to_string())).cloned().unwrap_or_default()
    }

    /// Returns the facts that refusals of the server at `place` showed of a model. A window is not smaller than a prompt
    /// that was taken.
    pub fn learnt(&self, place: &str, model: &str) -> Facts {
        let key = (place.to_string(), model.to_string());
        let mut facts = self.learnt.get(&key).cloned().unwrap_or_default();
        facts.window = facts.window.max(facts.window.and_then(|_| self.accepted.get(&key).copied()));
        facts
    }

    /// Returns the largest prompt, in tokens, that the server at `place` took for a model.
    pub fn accepted(&self, place: &str, model: &str) -> u32 {
        self.accepted.get(&(place.to_string(), model.to_string())).copied().unwrap_or_default()
    }

    /// Takes down that the server took a prompt of this many tokens.
    pub fn accept(&mut self, place: &str, model: &str, tokens: u32) {
        let most = self.accepted.entry((place.to_string(), model.to_string())).or_default();
        *most = tokens.max(*most);
    }

    /// Forgets which prompts were taken: the server takes less than it did.
    pub fn forget_accepted(&mut self, place: &str, model: &str) {
        self.accepted.remove(&(place.to_string(), model.to_string()));
    }

    /// Takes down what a server says of its models.
    pub fn list(&mut self, place: &str, models: impl IntoIterator<Item = Model>) {
        self.listed.extend(models.into_iter().map(|model| ((place.to_string(), model.name), model.facts)));
    }

    /// Returns whether the server at `place` was asked about a model.
    pub fn is_listed(&self, place: &str, model: &str) -> bool {
        self.listed.contains_key(&(place.to_string(), model.to_string()))
    }

    /// Takes down what a refusal taught of a model.
    pub fn learn(&mut self, place: &str, model: &str, facts: Facts) {
        let known = self.learnt.entry((place.to_string(), model.to_string())).or_default();
        *known = facts.or(std::mem::take(known));
    }

    /// Takes down that it is recalled what the server at `place` taught in earlier runs. Returns whether that is new.
    pub fn begin_recall(&mut self, place: &str) -> bool {
        self.recalled.insert(place.to_string())
    }

    /// Takes down again what a refusal had taught of a model's window `before`, in place of what another one seemed to.
    pub fn restore_window(&mut self, place: &str, model: &str, before: Option<u32>) {
        self.learnt.entry((place.to_string(), model.to_string())).or_default().window = before;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_learnt_window_is_not_smaller_than_a_prompt_that_was_taken() {
        let mut known = KnownModels::default();
        let window = |known: &KnownModels| known.learnt("p", "m").window;
        known.accept("p", "m", 6_000);
        known.accept("p", "m", 5_000);
        assert_eq!((window(&known), known.accepted("p", "m"), known.accepted("p", "other")), (None, 6_000, 0));
        known.learn("p", "m", Facts { window: Some(4_096), ..Facts::default() });
        assert_eq!(window(&known), Some(6_000));
        known.forget_accepted("p", "m");
        assert_eq!(window(&known), Some(4_096));
    }
}

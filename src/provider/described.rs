//! The facts about models that servers on this computer give when they are asked about each.

use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::timeout;

use super::Provider;
use super::models::Model;

/// The most models that are asked about.
const MOST: usize = 64;

/// Adds what `provider` says of its `models` where its list does not tell the window: of each one on this computer, else of the one in
/// use alone. They are asked about side by side, and one that does not answer `within` stays as it was listed.
pub async fn described(provider: &dyn Provider, models: Vec<Model>, present: &str, within: Duration) -> Vec<Model> {
    let wanted = |model: &Model| model.facts.window.is_none() && (provider.local() || is_named(model, present));
    let wanted_at: Vec<usize> =
        models.iter().enumerate().filter(|(_, m)| wanted(m)).map(|(at, _)| at).take(MOST).collect();
    let answers = join_all(wanted_at.iter().map(|at| timeout(within, provider.probe(&models[*at].name)))).await;
    let mut models = models;
    for (at, answers) in wanted_at.into_iter().zip(answers) {
        let facts = std::mem::take(&mut models[at].facts);
        models[at].facts = facts.or(answers.unwrap_or_default());
    }
    models
}

fn is_named(model: &Model, name: &str) -> bool {
    model.name == name || model.name.strip_suffix(":latest") == Some(name)
}

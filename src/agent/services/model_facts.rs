//! Facts about models: requested from their server in the background, cached for an hour, corrected by refusals.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::agent::services::{ServiceReport, Services, lock};
use crate::config::{Paths, model_cache};
use crate::memory::UsageBeside;
use crate::provider::models::{Facts, Known, Model};
use crate::provider::{Capabilities, Provider, Usage, Wire};
use crate::text::time;

/// The context window of a model of which nothing is known, in tokens.
const DEFAULT_WINDOW: u32 = 128_000;
/// The window Ollama loads a model with where nothing is configured, at most.
const OLLAMA_WINDOW: u32 = 32_768;
/// The time for which what a server said is not asked again.
const FRESH: i64 = 60 * 60 * 1_000;
/// The time to wait for a server on this computer, which answers from memory.
pub const TO_DESCRIBE: Duration = Duration::from_secs(2);

/// The time for which a server on this computer is left alone with the first request, where its window is configured.
const AFTER_START: Duration = Duration::from_secs(1);

/// Returns all that is known of a model at this provider.
pub fn known(services: &Services, provider: Option<&dyn Provider>, model: &str) -> Known {
    let configured = services.config.read().model_config(model);
    let place = provider.map(Provider::place).unwrap_or_default();
    let models = lock(&services.models.known);
    Known::new(model, &configured, models.listed(&place, model), models.learnt(&place, model))
}

/// Returns what holds for a model, with the window that is counted with where nobody says one.
pub fn facts(services: &Services, provider: Option<&dyn Provider>, model: &str) -> Facts {
    let known = known(services, provider, model);
    let mut facts = known.facts();
    let ollama = provider.is_some_and(|p| p.origin(model).wire == Wire::Ollama);
    if ollama && known.configured.window.is_none() {
        facts.window = Some(facts.window.unwrap_or(OLLAMA_WINDOW).min(OLLAMA_WINDOW));
    }
    facts
}

/// Returns the context window of a model, in tokens.
pub fn window(facts: &Facts) -> u32 {
    facts.window.unwrap_or(DEFAULT_WINDOW)
}

/// Returns what a model takes beside text: the configuration's word counts, then what its name tells.
pub fn capabilities(services: &Services, provider: Option<&dyn Provider>, model: &str) -> Capabilities {
    let known = provider.map_or_else(|| Capabilities::by_name(model), |p| p.capabilities(model));
    let said = facts(services, provider, model);
    Capabilities { images: said.images.unwrap_or(known.images), documents: said.pdfs.unwrap_or(known.documents) }
}

/// The cost of an answer.
#[derive(Debug, Clone, Copy, Default)]
pub struct AnswerCost {
    /// In dollars; see [`Known::cost`].
    pub dollars: Option<f64>,
    /// In billionths of a dollar, as memory keeps it; see [`Known::cost_nanos`].
    pub nanos: Option<u64>,
    /// The price is that of the built-in table.
    pub estimated: bool,
}

impl AnswerCost {
    /// Returns what an answer of these tokens costs; `local`: the server runs on this computer.
    pub fn new(known: &Known, local: bool, usage: &Usage) -> Self {
        AnswerCost {
            dollars: known.cost(local, usage),
            nanos: known.cost_nanos(local, usage),
            estimated: known.is_estimated(local),
        }
    }

    /// Returns the record of a request beside the conversation that cost this.
    pub fn beside(self, turn: Option<i64>, model: &str, usage: &Usage) -> UsageBeside {
        UsageBeside {
            turn,
            model: model.into(),
            input: usage.input,
            output: usage.output,
            cache_read: usage.cache_read,
            cache_write: usage.cache_write,
            thinking: usage.thinking,
            cost_nanos: self.nanos,
            estimated: self.estimated,
        }
    }
}

/// Returns what an answer of these tokens cost.
pub fn cost(services: &Services, provider: Option<&dyn Provider>, model: &str, usage: &Usage) -> AnswerCost {
    AnswerCost::new(&known(services, provider, model), provider.is_some_and(Provider::local), usage)
}

/// Records the window that a refusal for length shows, where it is smaller than the `known` one. It is not made smaller
/// than a prompt that was taken, unless the server refuses what is smaller than that too: then it has changed. Returns
/// whether the window is smaller now.
pub fn learn_window(
    services: &Services,
    provider: Option<&dyn Provider>,
    model: &str,
    window: u32,
    known: u32,
) -> bool {
    let place = provider.map(Provider::place).unwrap_or_default();
    let mut models = lock(&services.models.known);
    let accepted = models.accepted(&place, model);
    if accepted >= known {
        models.forget_accepted(&place, model);
    }
    let window = if accepted < known { window.max(accepted) } else { window };
    if window >= known {
        return false;
    }
    models.learn(&place, model, Facts { window: Some(window), ..Facts::default() });
    true
}

/// Records that a prompt of so many tokens was taken.
pub fn accept_prompt(services: &Services, provider: Option<&dyn Provider>, model: &str, tokens: u64) {
    let place = provider.map(Provider::place).unwrap_or_default();
    let tokens = u32::try_from(tokens).unwrap_or(u32::MAX);
    lock(&services.models.known).accept(&place, model, tokens);
}

/// Asks the connected provider what it knows of `model`. A server on this computer is waited for by the next request,
/// for two seconds at most, unless the window is configured; others are not, and are asked once an hour.
pub fn look_up(services: &Arc<Services>, provider: Arc<dyn Provider>, model: String) {
    if provider.recorded() {
        return;
    }
    let services = Arc::clone(services);
    if provider.local() && services.config.read().model_config(&model).context_window.is_some() {
        let (ask, requests) = oneshot::channel();
        *lock(&services.models.facts_later) = Some(ask);
        tokio::spawn(describe_later(services, provider, model, requests));
    } else if provider.local() {
        services.models.looking.send_replace(true);
        tokio::spawn(async move {
            describe(&services, &*provider, &model).await;
            services.report(ServiceReport::Looked);
        });
    } else {
        tokio::spawn(async move { refresh(&services, &*provider).await });
    }
}

/// Takes down what a server on this computer says of a model whose window is configured: once it is `asked` for, else
/// when the start is over.
async fn describe_later(
    services: Arc<Services>,
    provider: Arc<dyn Provider>,
    model: String,
    mut requests: oneshot::Receiver<()>,
) {
    let mut waited_for = match timeout(AFTER_START, &mut requests).await {
        Ok(Ok(())) => true,
        // Another model was chosen meanwhile.
        Ok(Err(_)) => return,
        Err(_) => false,
    };
    describe(&services, &*provider, &model).await;
    // From here on nobody can ask: who asked before is answered.
    requests.close();
    waited_for |= requests.try_recv().is_ok();
    services.report(if waited_for { ServiceReport::Looked } else { ServiceReport::Status });
}

/// Returns the models of a provider; `None` where it fails or takes longer.
pub async fn list_within(provider: &dyn Provider, limit: Duration) -> Option<Vec<Model>> {
    tokio::time::timeout(limit, provider.models()).await.ok()?.ok()
}

/// Returns the models of a provider: of a server on this computer what it lists now, of others the list in the file where
/// that is younger than an hour. Where the provider does not answer within `limit`, what the file has counts.
pub async fn list_or_stored(paths: &Paths, provider: &dyn Provider, limit: Duration) -> Vec<Model> {
    if provider.local() {
        return list_within(provider, limit).await.unwrap_or_default();
    }
    let mut had = Vec::new();
    let listed = timeout(limit, list(paths, provider, |models| had = models)).await;
    listed.ok().flatten().unwrap_or(had)
}

/// Returns what a provider says of one model, as far as it does within `limit`.
pub async fn listed_facts(paths: &Paths, provider: &dyn Provider, model: &str, limit: Duration) -> Facts {
    if provider.recorded() {
        return Facts::default();
    }
    if provider.local() {
        return timeout(limit, provider.describe(model)).await.unwrap_or_default();
    }
    let models = list_or_stored(paths, provider, limit).await;
    models.into_iter().find(|listed| listed.name == model).map(|listed| listed.facts).unwrap_or_default()
}

/// Takes down what a server on this computer says of one model.
pub async fn describe(services: &Services, provider: &dyn Provider, model: &str) {
    let said = tokio::time::timeout(TO_DESCRIBE, provider.describe(model)).await;
    if let Ok(facts) = said {
        lock(&services.models.known).list(&provider.place(), [Model { name: model.into(), facts }]);
    }
}

/// Takes the list of a provider from the file, and asks for it where that is older than an hour.
async fn refresh(services: &Arc<Services>, provider: &dyn Provider) {
    let place = provider.place();
    let stored = |models| lock(&services.models.known).list(&place, models);
    let paths = services.config.read().paths.clone();
    let listed = list(&paths, provider, stored).await;
    lock(&services.models.known).list(&place, listed.unwrap_or_default());
}

/// Returns the list of a provider: the one in the file where that is younger than an hour, else asked for and put
/// there.
/// `stored` is given the one in the file first, however old. `None`: the provider does not answer.
pub async fn list(paths: &Paths, provider: &dyn Provider, stored: impl FnOnce(Vec<Model>)) -> Option<Vec<Model>> {
    let (place, paths, read) = (provider.place(), paths.clone(), paths.clone());
    let cached = tokio::task::spawn_blocking(move || model_cache::read(&read)).await.ok()?;
    let entry = &cached[&place];
    let known = of_json(&entry["models"]);
    let now = time::now();
    if entry["at"].as_i64().is_some_and(|at| (0..FRESH).contains(&(now - at))) && !known.is_empty() {
        return Some(known);
    }
    stored(known);
    let models = provider.models().await.ok()?;
    let entry = json!({"at": now, "models": models.iter().map(to_json).collect::<Vec<_>>()});
    let _ = tokio::task::spawn_blocking(move || {
        // Another list may have been put there meanwhile.
        let cached = model_cache::read(&paths);
        let mut cached = if cached.is_object() { cached } else { json!({}) };
        cached[&place] = entry;
        model_cache::write(&paths, &cached)
    })
    .await;
    Some(models)
}

fn to_json(model: &Model) -> Value {
    let mut value = model.facts.json();
    value["name"] = model.name.as_str().into();
    value
}

fn of_json(models: &Value) -> Vec<Model> {
    let model = |value: &Value| Some(Model { name: value["name"].as_str()?.into(), facts: Facts::read(value) });
    models.as_array().into_iter().flatten().filter_map(model).collect()
}

#[cfg(test)]
mod tests {
    use futures_util::future::BoxFuture;

    use super::*;
    use crate::config::Price;
    use crate::provider::{Deltas, Error, Origin, Request};

    /// A server elsewhere that lists one model with its price, or never answers.
    struct Elsewhere {
        answers: bool,
    }

    impl Provider for Elsewhere {
        fn name(&self) -> &str {
            "elsewhere"
        }

        fn place(&self) -> String {
            "elsewhere.example".into()
        }

        fn origin(&self, model: &str) -> Origin {
            Origin { wire: Wire::Chat, place: self.place(), model: model.into() }
        }

        fn stream(&self, _request: Request) -> Deltas {
            Box::pin(futures_util::stream::empty())
        }

        fn models(&self) -> BoxFuture<'static, Result<Vec<Model>, Error>> {
            let price = Some(Price { input: 2.0, output: 4.0, ..Price::default() });
            let facts = Facts { price, ..Facts::default() };
            match self.answers {
                true => Box::pin(async { Ok(vec![Model { name: "mine".into(), facts }]) }),
                false => Box::pin(std::future::pending()),
            }
        }
    }

    #[tokio::test]
    async fn a_request_outside_a_session_costs_what_the_server_lists() {
        let dir = tempfile::tempdir().unwrap();
        let paths = Paths::below(dir.path());
        let usage = Usage { input: 1_000_000, output: 1_000_000, ..Usage::default() };
        let limit = Duration::from_millis(50);
        for (answers, wanted) in [(false, None), (true, Some(6.0)), (false, Some(6.0))] {
            let listed = listed_facts(&paths, &Elsewhere { answers }, "mine", limit).await;
            let known = Known::new("mine", &crate::config::ModelConfig::default(), listed, Facts::default());
            assert_eq!(AnswerCost::new(&known, false, &usage).dollars, wanted);
            assert!(!known.is_estimated(false));
        }
    }
}

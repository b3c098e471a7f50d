//! Facts about models: requested from their server in the background, cached for an hour, corrected by refusals.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::agent::services::{ServiceReport, Services, learnt_windows, lock};
use crate::config::{ModelFolders, Paths, model_cache};
use crate::memory::UsageBeside;
use crate::provider::models::{Facts, Known, Model};
use crate::provider::{Provider, Usage, Wire, embedded};
use crate::text::time;

/// The time for which what a server said is not asked again.
const FRESH: i64 = 60 * 60 * 1_000;
/// The time to wait for a server on this computer that is asked for its list of models.
pub const TO_DESCRIBE: Duration = Duration::from_secs(2);
/// The time that a request waits for what a server on this computer knows of its model: most answer from memory.
const MOMENT: Duration = Duration::from_millis(500);
/// The time after which an answer about a model is of no use any more.
const LATEST: Duration = Duration::from_secs(60);

/// The time for which a server on this computer is left alone with the first request, where its window is configured.
const AFTER_START: Duration = Duration::from_secs(1);

/// The cost of an answer.
#[derive(Debug, Clone, Copy, Default)]
pub struct AnswerCost {
    /// The cost in dollars; see [`Known::cost`].
    pub dollars: Option<f64>,
    /// The cost in billionths of a dollar, as memory keeps it; see [`Known::cost_nanos`].
    pub nanos: Option<u64>,
    /// The price is that of the built-in table, or some of the tokens were counted here.
    pub estimated: bool,
}

impl AnswerCost {
    /// Returns what an answer of these tokens costs; `local`: the server runs on this computer.
    pub fn new(known: &Known, local: bool, usage: &Usage) -> Self {
        AnswerCost {
            dollars: known.cost(local, usage),
            nanos: known.cost_nanos(local, usage),
            estimated: known.is_estimated(local) || usage.counted,
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

/// Asks the connected provider what it knows of `model`. A server on this computer is waited for by the next request,
/// for a moment at most, unless the window is configured; others are not, and are asked once an hour.
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
            learnt_windows::recall(&services, &provider.address()).await;
            describe(&services, provider, &model).await;
            services.report(ServiceReport::Looked);
        });
    } else {
        tokio::spawn(async move {
            learnt_windows::recall(&services, &provider.address()).await;
            refresh(&services, &*provider).await;
        });
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
    describe(&services, provider, &model).await;
    // From here on nobody can ask: who asked before is answered.
    requests.close();
    waited_for |= requests.try_recv().is_ok();
    services.report(if waited_for { ServiceReport::Looked } else { ServiceReport::Status });
}

/// Returns the models of a provider; `None` where it fails or takes longer.
pub async fn list_within(provider: &dyn Provider, limit: Duration) -> Option<Vec<Model>> {
    tokio::time::timeout(limit, provider.models()).await.ok()?.ok()
}

/// Returns whether a provider lists its models, and this one is not among them. A name may leave out what a list adds to
/// it: a tag, a date.
pub async fn is_missing(provider: &dyn Provider, model: &str) -> bool {
    if provider.recorded() || provider.name() == embedded::NAME && ModelFolders::is_path(model) {
        return false;
    }
    let listed = list_within(provider, TO_DESCRIBE).await.unwrap_or_default();
    let is_it = |listed: &Model| {
        let rest = listed.name.strip_prefix(model).or_else(|| model.strip_prefix(listed.name.as_str()));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '-', '@']))
    };
    !listed.is_empty() && !listed.iter().any(is_it)
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

/// Takes down what a server on this computer says of one model: an answer that does not come in a moment is taken down
/// when it comes. Ollama loads the model by its own window and is waited for longer.
pub async fn describe(services: &Arc<Services>, provider: Arc<dyn Provider>, model: &str) {
    let moment = if provider.origin(model).wire == Wire::Ollama { TO_DESCRIBE } else { MOMENT };
    let (place, described) = (provider.address(), provider.describe(model));
    let (later, place_of, name) = (Arc::clone(services), place.clone(), model.to_string());
    let began = Instant::now();
    let taken = tokio::spawn(async move {
        let Ok(facts) = timeout(LATEST, described).await else { return };
        lock(&later.models.known).list(&place_of, [Model { name, facts }]);
        if began.elapsed() >= moment {
            later.report(ServiceReport::Status);
        }
    });
    let in_time = timeout(moment, taken).await.is_ok();
    let mut known = lock(&services.models.known);
    // A server that did not answer in time is not waited for again.
    if !in_time && !known.is_listed(&place, model) {
        known.list(&place, [Model { name: model.into(), facts: Facts::default() }]);
    }
}

/// Asks a server on this computer about a model that it was not asked about yet, such as that of a resumed session,
/// unless its window is configured: then only what a server named in earlier runs is taken.
pub async fn ask_once(services: &Arc<Services>, provider: Arc<dyn Provider>, model: &str) {
    let place = provider.address();
    let is_known = || lock(&services.models.known).is_listed(&place, model);
    if provider.recorded() {
        return;
    }
    if services.config.read().model_config(model).context_window.is_some() {
        return learnt_windows::recall_once(services, &place).await;
    }
    if provider.local() && !is_known() {
        learnt_windows::recall(services, &place).await;
        describe(services, provider, model).await;
    }
}

/// Takes the list of a provider from the file, and asks for it where that is older than an hour.
async fn refresh(services: &Arc<Services>, provider: &dyn Provider) {
    let place = provider.address();
    let stored = |models| lock(&services.models.known).list(&place, models);
    let paths = services.config.read().paths.clone();
    let listed = list(&paths, provider, stored).await;
    lock(&services.models.known).list(&place, listed.unwrap_or_default());
}

/// Returns the list of a provider: the one in the file where that is younger than an hour, else asked for and put
/// there.
/// `stored` is given the one in the file first, however old. `None`: the provider does not answer.
pub async fn list(paths: &Paths, provider: &dyn Provider, stored: impl FnOnce(Vec<Model>)) -> Option<Vec<Model>> {
    let (place, paths, read) = (provider.address(), paths.clone(), paths.clone());
    let cached = tokio::task::spawn_blocking(move || model_cache::read(&read)).await.ok()?;
    let entry = &cached[&place];
    let known = of_json(&entry["models"]);
    let now = time::now();
    if entry["at"].as_i64().is_some_and(|at| (0..FRESH).contains(&(now - at))) && !known.is_empty() {
        return Some(known);
    }
    stored(known);
    let models = provider.models().await.ok()?;
    let mut entry = json!({"at": now, "models": models.iter().map(to_json).collect::<Vec<_>>()});
    let _ = tokio::task::spawn_blocking(move || {
        // Another list may have been put there meanwhile.
        let cached = model_cache::read(&paths);
        let mut cached = if cached.is_object() { cached } else { json!({}) };
        learnt_windows::put_back(&mut entry, learnt_windows::entry(&cached, &place));
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
        // Where nothing is stored and the server does not answer, the limit is what ends it; else it is never reached.
        let (short, long) = (Duration::from_millis(50), Duration::from_secs(60));
        for (answers, limit, wanted) in [(false, short, None), (true, long, Some(6.0)), (false, long, Some(6.0))] {
            let listed = listed_facts(&paths, &Elsewhere { answers }, "mine", limit).await;
            let known = Known::new("mine", &crate::config::ModelConfig::default(), listed, Facts::default());
            assert_eq!(AnswerCost::new(&known, false, &usage).dollars, wanted);
            assert!(!known.is_estimated(false));
        }
    }
}

//! The context windows that servers named in a refusal, kept between runs so that a resumed session need not be refused
//! once more. They count for a day: a server may be started anew with another window.

use serde_json::{Value, json};

use crate::agent::services::config_files::ConfigFiles;
use crate::agent::services::{Services, lock};
use crate::config::{Paths, model_cache};
use crate::provider::models::Facts;
use crate::text::time;

/// The entry of the kept file, beside the list of a server's models.
const LEARNT: &str = "learnt";
/// The time for which a window counts, in milliseconds.
const COUNTS: i64 = 24 * 60 * 60 * 1_000;

/// Keeps the window that the server at `place` named for a model.
pub fn keep(config: &ConfigFiles, place: &str, model: &str, window: u32) {
    let (paths, place, model) = (config.read().paths.clone(), place.to_string(), model.to_string());
    tokio::task::spawn_blocking(move || {
        let cached = model_cache::read(&paths);
        let mut cached = if cached.is_object() { cached } else { json!({}) };
        cached[&place][LEARNT][&model] = json!({"contextWindow": window, "at": time::now()});
        // Where it cannot be kept the next run is refused once.
        let _ = model_cache::write(&paths, &cached);
    });
}

/// Takes the windows that the server at `place` named in earlier runs.
pub async fn recall(services: &Services, place: &str) {
    let (paths, of) = (services.config.read().paths.clone(), place.to_string());
    let Ok(kept) = tokio::task::spawn_blocking(move || read(&paths, &of)).await else { return };
    let mut known = lock(&services.models.known);
    for (model, window) in kept {
        // What this run learnt is newer.
        if known.learnt(place, &model).window.is_some() {
            continue;
        }
        known.learn(place, &model, Facts { window: Some(window), ..Facts::default() });
    }
}

/// Takes the windows that the server at `place` named in earlier runs, the first time only.
pub async fn recall_once(services: &Services, place: &str) {
    let is_first = lock(&services.models.known).begin_recall(place);
    if is_first {
        recall(services, place).await;
    }
}

/// Returns the windows that the server at `place` named in the last day, each with its model.
pub fn read(paths: &Paths, place: &str) -> Vec<(String, u32)> {
    let cached = model_cache::read(paths);
    let now = time::now();
    let window = |value: &Value| {
        let fresh = value["at"].as_i64().is_some_and(|at| (0..COUNTS).contains(&(now - at)));
        value["contextWindow"].as_u64().and_then(|n| u32::try_from(n).ok()).filter(|n| fresh && *n >= 256)
    };
    let kept = cached[place][LEARNT].as_object().into_iter().flatten();
    kept.filter_map(|(model, value)| Some((model.clone(), window(value)?))).collect()
}

/// Returns the entry of the kept file as it stands, to be written beside a new list.
pub fn entry(cached: &Value, place: &str) -> Option<Value> {
    cached[place].get(LEARNT).cloned()
}

/// Puts the entry back beside a list.
pub fn put_back(list: &mut Value, entry: Option<Value>) {
    if let Some(entry) = entry {
        list[LEARNT] = entry;
    }
}

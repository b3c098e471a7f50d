//! Reads one entry of a server's list of models, in whichever of the usual forms it is.

use serde_json::Value;

use super::{Facts, Model, Thinking};
use crate::config::Price;

/// Returns the model of an entry: its name, and what it says of window, answer, thinking, files and price. A size that
/// no model has is not believed.
pub(in crate::provider) fn listed(entry: &Value) -> Option<Model> {
    let name =
        entry.get("id").or_else(|| entry.get("name")).or_else(|| entry.get("model")).unwrap_or(entry).as_str()?;
    let name = name.strip_prefix("models/").unwrap_or(name).to_string();
    let believed = |n: &u32| (256..=100_000_000).contains(n);
    let size = |value: &Value| value.as_u64().and_then(|n| u32::try_from(n).ok()).filter(believed);
    let first = |paths: &[&str]| paths.iter().find_map(|path| entry.pointer(path).and_then(size));
    let has = |list: &Value, word: &str| Some(list.as_array()?.iter().any(|w| w == word));
    let takes = &entry["architecture"]["input_modalities"];
    let capabilities = &entry["capabilities"];
    let supported = |name: &str| entry.pointer(&format!("/capabilities/{name}/supported")).and_then(Value::as_bool);
    let facts = Facts {
        window: first(&[
            "/max_input_tokens",
            "/inputTokenLimit",
            "/max_model_len",
            // llama.cpp: what it was started with, before what the model was trained for.
            "/meta/n_ctx",
            "/n_ctx",
            "/context_length",
            "/loaded_context_length",
            "/max_context_length",
            "/context_window",
        ]),
        max_output: first(&[
            "/max_tokens",
            "/outputTokenLimit",
            "/top_provider/max_completion_tokens",
            "/max_completion_tokens",
        ]),
        thinking: match entry.get("thinking").and_then(Value::as_bool) {
            Some(false) => Some(Thinking::None),
            _ => None,
        },
        images: has(takes, "image").or_else(|| has(capabilities, "vision")).or_else(|| supported("image_input")),
        pdfs: has(takes, "file").or_else(|| supported("pdf_input")),
        price: pricing(&entry["pricing"]),
        retired: entry.pointer("/lifecycle/retired_at").or_else(|| entry.get("retired_at")).and_then(retired),
        ..Facts::default()
    };
    Some(Model { name, facts })
}

fn retired(value: &Value) -> Option<String> {
    value.as_str().map(|text| text.chars().take(40).collect())
}

/// Dollars a token as text, as OpenRouter writes them.
fn pricing(value: &Value) -> Option<Price> {
    let amount = |name: &str| {
        let dollars: f64 = value[name].as_str()?.parse().ok()?;
        (dollars.is_finite() && dollars >= 0.0).then_some(dollars * 1e6)
    };
    Some(Price {
        input: amount("prompt")?,
        output: amount("completion")?,
        cache_read: amount("input_cache_read"),
        cache_write: amount("input_cache_write"),
        ..Price::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn windows_of_every_kind_of_server() {
        for (entry, window) in [
            (json!({"id": "a", "max_model_len": 16_384}), Some(16_384)),
            (json!({"id": "a", "meta": {"n_ctx": 8_192, "n_ctx_train": 131_072}}), Some(8_192)),
            (json!({"id": "a", "context_length": 262_144}), Some(262_144)),
            (json!({"name": "models/a", "inputTokenLimit": 1_048_576}), Some(1_048_576)),
            (json!({"id": "a", "max_input_tokens": 200_000, "max_tokens": 64_000}), Some(200_000)),
            (json!({"id": "a", "context_length": 1}), None),
            (json!({"id": "a", "context_length": -5}), None),
            (json!("a"), None),
        ] {
            let model = listed(&entry).expect("a model");
            assert_eq!((model.name.as_str(), model.facts.window), ("a", window), "{entry}");
        }
        assert_eq!(listed(&json!({"object": "model"})), None);
    }

    #[test]
    fn prices_by_token_become_prices_by_million_and_a_negative_one_none() {
        let price = |prompt: &str| listed(&json!({"id": "a", "pricing": {"prompt": prompt, "completion": "0.000015"}}));
        let of = |prompt: &str| price(prompt).expect("a model").facts.price;
        assert!(of("0.000003").is_some_and(|p| (p.input - 3.0).abs() < 1e-9 && (p.output - 15.0).abs() < 1e-9));
        assert_eq!(of("-1"), None);
    }
}

//! Reads one entry of a server's list of models, in whichever of the usual forms it is.

use serde_json::Value;

use super::{Effort, Facts, Model, Thinking};
use crate::config::Price;
use crate::provider::usage::count;

/// Returns the model of an entry: its name, and what it says of window, answer, thinking, files and price. A size that
/// no model has is not believed.
pub(in crate::provider) fn listed(entry: &Value) -> Option<Model> {
    let name =
        entry.get("id").or_else(|| entry.get("name")).or_else(|| entry.get("model")).unwrap_or(entry).as_str()?;
    let name = name.strip_prefix("models/").unwrap_or(name).to_string();
    let believed = |n: &u32| (256..=100_000_000).contains(n);
    // Some servers write numbers as text.
    let size = |value: &Value| count(value).and_then(|n| u32::try_from(n).ok()).filter(believed);
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
            // Text Generation Inference, LiteLLM, Copilot.
            "/max_total_tokens",
            "/model_info/max_input_tokens",
            "/capabilities/limits/max_context_window_tokens",
        ]),
        max_output: first(&[
            "/max_tokens",
            "/outputTokenLimit",
            "/top_provider/max_completion_tokens",
            "/max_completion_tokens",
            "/model_info/max_output_tokens",
            "/capabilities/limits/max_output_tokens",
        ]),
        thinking: match entry.get("thinking").and_then(Value::as_bool) {
            Some(false) => Some(Thinking::None),
            Some(true) => gemini_thinking(&name),
            None => thinking(&entry["capabilities"]["thinking"]),
        },
        efforts: efforts(&entry["capabilities"]["effort"]),
        images: has(takes, "image").or_else(|| has(capabilities, "vision")).or_else(|| supported("image_input")),
        writes: writes(capabilities),
        pdfs: has(takes, "file").or_else(|| supported("pdf_input")),
        price: pricing(&entry["pricing"]),
        retired: entry.pointer("/lifecycle/retired_at").or_else(|| entry.get("retired_at")).and_then(retired),
        ..Facts::default()
    };
    Some(Model { name, facts })
}

/// Returns whether a model with a list of such capabilities writes text.
pub(in crate::provider) fn writes(capabilities: &Value) -> Option<bool> {
    let has = |word: &str| capabilities.as_array().is_some_and(|all| all.iter().any(|capability| capability == word));
    if has("completion") { Some(true) } else { has("embedding").then_some(false) }
}

/// Returns the form in which an Anthropic model takes how much it is to think.
fn thinking(response: &Value) -> Option<Thinking> {
    let takes = |form: &str| response.pointer(&format!("/types/{form}/supported")).and_then(Value::as_bool);
    match (takes("adaptive"), takes("enabled")) {
        (Some(true), _) => Some(Thinking::Adaptive),
        (_, Some(true)) => Some(Thinking::Budget),
        (Some(false), Some(false)) => Some(Thinking::None),
        _ => response["supported"].as_bool().filter(|thinks| !thinks).map(|_| Thinking::None),
    }
}

/// Returns the form in which a Gemini model that thinks takes how much. A name without a number, such as
/// `gemini-flash-latest`, stands for the newest.
fn gemini_thinking(name: &str) -> Option<Thinking> {
    match gemini_generation(name) {
        Some(..3) => Some(Thinking::Budget),
        Some(_) => Some(Thinking::Level),
        None => name.starts_with("gemini-").then_some(Thinking::Level),
    }
}

/// Returns the efforts that a model knows, and none at all, which every one takes that takes one.
fn efforts(response: &Value) -> Option<Vec<Effort>> {
    let knows = |effort: &Effort| response[effort.word()]["supported"] == true;
    let known: Vec<Effort> = Effort::ALL.into_iter().filter(|effort| knows(effort)).collect();
    let first = (!known.contains(&Effort::None)).then_some(Effort::None);
    (!known.is_empty()).then(|| first.into_iter().chain(known).collect())
}

/// Returns the generation of a Gemini model, by its name.
pub(in crate::provider) fn gemini_generation(model: &str) -> Option<u32> {
    let name = model.rsplit('/').next().unwrap_or(model);
    let number: String = name.strip_prefix("gemini-")?.chars().take_while(char::is_ascii_digit).collect();
    number.parse().ok()
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
            (json!({"id": "a", "context_length": "16384"}), Some(16_384)),
            (json!({"id": "a", "context_length": "large", "context_window": 8_192.0}), Some(8_192)),
            (json!({"id": "a", "max_total_tokens": 8_192}), Some(8_192)),
            (json!({"id": "a", "model_info": {"max_input_tokens": 16_000}}), Some(16_000)),
            (json!({"id": "a", "capabilities": {"limits": {"max_context_window_tokens": 64_000}}}), Some(64_000)),
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
    fn thinking_as_servers_say_it() {
        let types = |adaptive: bool, enabled: bool| {
            json!({"id": "claude-new-9", "capabilities": {
                "thinking": {"supported": adaptive || enabled,
                    "types": {"adaptive": {"supported": adaptive}, "enabled": {"supported": enabled}}},
                "effort": {"supported": true, "low": {"supported": true}, "high": {"supported": true},
                    "max": {"supported": false}},
            }})
        };
        let facts = |entry: &Value| listed(entry).expect("a model").facts;
        for (adaptive, enabled, form) in
            [(true, true, Thinking::Adaptive), (false, true, Thinking::Budget), (false, false, Thinking::None)]
        {
            assert_eq!(facts(&types(adaptive, enabled)).thinking, Some(form));
        }
        assert_eq!(facts(&types(true, false)).efforts, Some(vec![Effort::None, Effort::Low, Effort::High]));
        for (name, thinks, form) in [
            ("models/gemini-4-pro", true, Some(Thinking::Level)),
            ("models/gemini-2.9-flash", true, Some(Thinking::Budget)),
            ("models/gemini-4-pro", false, Some(Thinking::None)),
            ("models/gemini-flash-latest", true, Some(Thinking::Level)),
            ("models/gemma-5", true, None),
        ] {
            assert_eq!(facts(&json!({"name": name, "thinking": thinks})).thinking, form, "{name}");
        }
        // What the list says counts before the table, and takes no efforts of another form from it.
        let known = facts(&types(false, true)).or(crate::provider::models::by_name("claude-new-9"));
        assert_eq!(known.thinking, Some(Thinking::Budget));
    }

    #[test]
    fn prices_by_token_become_prices_by_million_and_a_negative_one_none() {
        let price = |prompt: &str| listed(&json!({"id": "a", "pricing": {"prompt": prompt, "completion": "0.000015"}}));
        let of = |prompt: &str| price(prompt).expect("a model").facts.price;
        assert!(of("0.000003").is_some_and(|p| (p.input - 3.0).abs() < 1e-9 && (p.output - 15.0).abs() < 1e-9));
        assert_eq!(of("-1"), None);
    }
}

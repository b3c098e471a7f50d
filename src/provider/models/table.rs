//! The dated table of models, compiled in: the longest beginning of a name that is in it counts.

use std::sync::OnceLock;

use serde_json::Value;

use super::Facts;

fn table() -> &'static Value {
    static TABLE: OnceLock<Value> = OnceLock::new();
    // A test reads the file whole: it cannot fail here.
    TABLE.get_or_init(|| serde_json::from_str(include_str!("../../../assets/models.json")).unwrap_or_default())
}

/// Returns the date of the table.
pub fn as_of() -> &'static str {
    table()["asOf"].as_str().unwrap_or_default()
}

/// Returns the facts in the table about a model of this name, or nothing.
pub fn by_name(model: &str) -> Facts {
    let lower = model.to_lowercase();
    // `openai/gpt-4o`, as servers in front of others write it.
    let name = lower.rsplit('/').next().unwrap_or(&lower);
    let entries = table()["models"].as_object().into_iter().flatten();
    let fits = |start: &str| {
        // `gpt-4` is not the beginning of `gpt-4.5`, nor `o1` of `o100`.
        name.strip_prefix(start).is_some_and(|rest| {
            start.ends_with(['-', '.']) || !rest.starts_with(|c: char| c == '.' || c.is_ascii_alphanumeric())
        })
    };
    entries
        .filter(|(start, _)| fits(start))
        .max_by_key(|(start, _)| start.len())
        .map_or_else(Facts::default, |(_, value)| Facts::read(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::models::{Effort, Thinking};

    #[test]
    fn every_entry_is_read_whole() {
        assert!(!as_of().is_empty());
        let entries = table()["models"].as_object().expect("entries");
        assert!(entries.len() > 30);
        for (name, value) in entries {
            let facts = Facts::read(value);
            for key in value.as_object().expect("an object").keys() {
                assert!(key == "efforts" || facts.known().contains(&key.as_str()), "{name}: {key}");
            }
            assert!(facts.price.is_none_or(|p| p.input >= 0.0 && p.output >= p.input), "{name}");
        }
        for model in ["gpt-4.1-nano", "claude-haiku-4-5", "gemini-2.5-flash"] {
            assert!(by_name(model).price.is_some());
        }
    }

    #[test]
    fn the_longest_matching_prefix_wins() {
        let window = |name: &str| by_name(name).window;
        assert_eq!(window("gpt-4.1-nano-2025-04-14"), Some(1_047_576));
        assert_eq!(window("openai/GPT-4o-mini"), Some(128_000));
        assert_eq!((window("gpt-4.5"), window("unknown"), window("o100")), (None, None, None));
        assert_eq!(by_name("claude-sonnet-4-5-20250929").thinking, Some(Thinking::Budget));
        assert_eq!(by_name("claude-opus-4-6").thinking, Some(Thinking::Adaptive));
        assert_eq!(by_name("claude-sonnet-9").thinking, Some(Thinking::Adaptive));
        // A dearer model of the same name has no price rather than the plain one's.
        for (dear, plain) in
            [("o1-pro", "o1"), ("o3-deep-research", "o3"), ("gpt-5-pro", "gpt-5"), ("gpt-5.2-pro", "gpt-5.2")]
        {
            let input = |name: &str| by_name(name).price.map(|price| price.input);
            assert!(input(dear) > input(plain), "{dear}");
        }
        assert_eq!(by_name("gemini-3.1-pro-preview").thinking, Some(Thinking::Level));
        assert_eq!((by_name("gemini-flash-latest").thinking, by_name("gemini-flash-latest").max_output), (None, None));
        // Who asks for a little thinking gets it, whatever the server makes of the word.
        for name in ["qwen3:8b", "deepseek-r1:7b"] {
            let (facts, wanted) = (by_name(name), [Effort::None, Effort::Low, Effort::Medium, Effort::High]);
            let sent = wanted.map(|effort| effort.within(facts.efforts.as_deref().unwrap_or_default()));
            assert_eq!((facts.thinking, sent), (Some(Thinking::Effort), wanted), "{name}");
        }
    }
}

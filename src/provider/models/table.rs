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

/// Returns the facts in the table about a model of this name, or nothing. One that is newer than all of its family takes
/// those of the newest, unless an entry is about later ones by itself (`gemini-3.`).
pub fn by_name(model: &str) -> Facts {
    let lower = model.to_lowercase();
    // `openai/gpt-4o`, as servers in front of others write it.
    let name = lower.rsplit('/').next().unwrap_or(&lower);
    // They also write `claude-opus-4.5`; Anthropic has no points in its names.
    let claude = name.starts_with("claude-").then(|| name.replace('.', "-"));
    let name = claude.as_deref().unwrap_or(name);
    let own = longest(name);
    let newest = if own.is_some_and(|(start, _)| start.ends_with('.')) { None } else { newest_of_family(name) };
    newest.or(own).map_or_else(Facts::default, |(_, value)| Facts::read(value))
}

/// An entry of the table: the beginning of names, and what holds for them.
type Entry = (&'static str, &'static Value);

fn entries() -> impl Iterator<Item = Entry> {
    table()["models"].as_object().into_iter().flatten().map(|(start, value)| (start.as_str(), value))
}

/// Returns the entry with the longest beginning of `name`.
fn longest(name: &str) -> Option<Entry> {
    let fits = |start: &str| {
        // `gpt-4` is not the beginning of `gpt-4.5`, nor `o1` of `o100`.
        name.strip_prefix(start).is_some_and(|rest| {
            start.ends_with(['-', '.']) || !rest.starts_with(|c: char| c == '.' || c.is_ascii_alphanumeric())
        })
    };
    entries().filter(|(start, _)| fits(start)).max_by_key(|(start, _)| start.len())
}

/// Returns the entry for the newest model of the family of `name`, which is newer than each: `claude-opus-4-6` for
/// `claude-opus-4-7`, `gpt-5.2-pro` for `gpt-5.3-pro`. The one that also says what stands behind the version counts first:
/// `gpt-5-mini` for `gpt-6-mini`.
fn newest_of_family(name: &str) -> Option<Entry> {
    let (stem, version, rest) = versioned(name)?;
    let mut family: Vec<_> =
        entries().filter_map(|(start, _)| versioned(start)).filter(|(of, _, _)| *of == stem).map(|v| v.1).collect();
    family.sort_by_key(|version| numbers(version));
    // The first number of a name without its point (`gpt-35`) says nothing.
    let is_newer = *numbers(version).first()? < 10 && numbers(version) > numbers(family.last()?);
    let entry = |known: &&str| {
        let beginning = format!("{stem}{known}");
        let found = longest(&format!("{beginning}{rest}"))?;
        Some((found.0.strip_prefix(&*beginning)?.len(), found))
    };
    let known = family.iter().filter(|_| is_newer).filter_map(entry);
    known.max_by_key(|(said, _)| *said).map(|(_, found)| found)
}

/// Splits a name at its version, numbers of at most two digits: `claude-opus-`, `4-6`, the rest. A date is none.
fn versioned(name: &str) -> Option<(&str, &str, &str)> {
    let begin = name.find(|c: char| c.is_ascii_digit())?;
    let mut end = begin;
    loop {
        let from = if end == begin { begin } else { end + 1 };
        let number = name.get(from..).unwrap_or_default();
        let digits = number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len());
        let is_number = (1..=2).contains(&digits) && !number[digits..].starts_with(|c: char| c.is_alphanumeric());
        if is_number {
            end = from + digits;
        }
        if !is_number || !name[end..].starts_with(['.', '-']) {
            break;
        }
    }
    (end > begin).then(|| (&name[..begin], &name[begin..end], &name[end..]))
}

/// Returns the numbers of a version.
fn numbers(version: &str) -> Vec<u32> {
    version.split(['.', '-']).filter_map(|number| number.parse().ok()).collect()
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
        let price = |name: &str| by_name(name).price.map(|price| price.input);
        assert_eq!((price("anthropic/claude-opus-4.5"), price("claude-3.5-haiku")), (Some(5.0), Some(0.8)));
        assert_eq!(by_name("claude-opus-4-6").thinking, Some(Thinking::Adaptive));
        assert_eq!(by_name("claude-sonnet-9").thinking, Some(Thinking::Adaptive));
        // One that is newer than its whole family is as the newest of it; a date is no version.
        for (newer, as_known) in [
            ("claude-opus-4-7", "claude-opus-4-6"),
            ("claude-opus-4-7-20270101", "claude-opus-4-6"),
            ("anthropic/claude-opus-4.7", "claude-opus-4-6"),
            ("claude-opus-5", "claude-opus-4-6"),
            ("claude-sonnet-4-7", "claude-sonnet-4-6"),
            ("claude-haiku-5", "claude-haiku-4-5"),
            ("gpt-5.3", "gpt-5.2"),
            ("gpt-5.3-codex", "gpt-5.2"),
            ("gpt-5.3-pro", "gpt-5.2-pro"),
            ("gpt-6-mini", "gpt-5-mini"),
            ("o5-mini", "o4-mini"),
            ("gemini-4-pro-preview", "gemini-3-pro"),
            ("gemini-3.1-pro-preview", "gemini-3."),
            ("claude-opus-4-1", "claude-opus-4"),
            ("claude-opus-4-1-20250805", "claude-opus-4"),
            ("claude-opus-4-20250514", "claude-opus-4"),
            ("claude-opus-4-5-20251101", "claude-opus-4-5"),
            ("claude-3-5-sonnet-20241022", "claude-3-5-sonnet"),
            ("gpt-5-2025-08-07", "gpt-5"),
        ] {
            assert_eq!(by_name(newer), Facts::read(&table()["models"][as_known]), "{newer}");
        }
        assert_eq!(by_name("gpt-35-turbo"), Facts::default());
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

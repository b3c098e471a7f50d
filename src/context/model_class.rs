//! Classifies a model by its name: its size, and whether the name is known at all.

/// The largest number of parameters, in billions, with which models write edits as text more reliably than they call
/// tools.
const TEXT_UP_TO: f64 = 10.0;
/// Context windows up to this many tokens are small.
const SMALL_WINDOW: u64 = 32_768;

/// Beginnings of the names of models that call tools reliably; a recording is what it is.
const KNOWN: [&str; 10] = ["recording", "gpt-", "chatgpt-", "codex-", "o1", "o3", "o4", "claude", "gemini-", "grok-"];

/// Returns whether a model is a small one by its name: `qwen2.5-coder:1.5b`, `gemma-3-4b-it`.
pub fn is_small(model: &str) -> bool {
    billions(model).is_some_and(|size| size <= TEXT_UP_TO)
}

/// Returns whether a context window of this many tokens is small.
pub fn is_small_window(tokens: u64) -> bool {
    tokens <= SMALL_WINDOW
}

/// Returns whether nothing is known of a model: its name is not one of the large families. A prefix such as `openai/`
/// does not count.
pub fn is_unknown(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model).to_lowercase();
    !KNOWN.iter().any(|family| name.starts_with(family)) || name.starts_with("gpt-oss")
}

/// Returns whether a model is one that thinks before it answers, by its name: `phi-4-mini-reasoning`.
pub fn thinks_by_name(model: &str) -> bool {
    let name = model.to_lowercase();
    ["reason", "think", "-r1"].iter().any(|word| name.contains(word))
}

/// Billions of parameters as a name states them: the largest number before a `b`, or thousandths before an `m`; `8x7b`
/// is 56.
fn billions(model: &str) -> Option<f64> {
    let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
    let name = name.strip_suffix(".gguf").unwrap_or(&name);
    let words = name.split(|c: char| !(c.is_ascii_alphanumeric() || c == '.'));
    words.filter_map(size).max_by(f64::total_cmp)
}

fn size(word: &str) -> Option<f64> {
    let (number, unit) = word.split_at_checked(word.len().checked_sub(1)?)?;
    let unit = match unit {
        "b" => 1.0,
        "m" => 0.001,
        _ => return None,
    };
    let product = number.split('x').map(|factor| factor.parse::<f64>().ok());
    product.product::<Option<f64>>().filter(|size| *size > 0.0).map(|size| size * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_from_names() {
        for (name, billions_of) in [
            ("qwen2.5-coder:1.5b", Some(1.5)),
            ("Qwen2.5-Coder-7B-Instruct-Q4_K_M", Some(7.0)),
            ("smollm2:135m", Some(0.135)),
            ("mixtral-8x7b", Some(56.0)),
            ("/mnt/900b/qwen2.5-coder-1.5b.gguf", Some(1.5)),
            ("qwen3-30b-a3b", Some(30.0)),
            ("gpt-4.1-nano", None),
            ("deepseek-coder", None),
            ("b", None),
        ] {
            assert_eq!(billions(name), billions_of, "{name}");
        }
        assert!(is_small("gemma-3-4b-it") && !is_small("qwen3-coder:30b") && !is_small("gpt-4.1-mini"));
    }

    #[test]
    fn families_are_known_with_and_without_a_prefix() {
        assert!(!is_unknown("gpt-4.1-nano") && !is_unknown("anthropic/claude-sonnet-4") && !is_unknown("o3-mini"));
        assert!(is_unknown("qwen3-coder:30b") && is_unknown("openai/gpt-oss-20b") && is_unknown("local"));
    }
}

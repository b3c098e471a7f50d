//! Classifies a model by its name: its size, and whether the name is known at all.

/// The largest number of parameters, in billions, with which models write edits as text more reliably than they call
/// tools.
const TEXT_UP_TO: f64 = 10.0;
/// Context windows up to this many tokens are small.
const SMALL_WINDOW: u64 = 32_768;

/// Beginnings of the names of models that call tools reliably; a recording is what it is.
const KNOWN: [&str; 10] = ["recording", "gpt-", "chatgpt-", "codex-", "o1", "o3", "o4", "claude", "gemini-", "grok-"];

/// Families of models that have at most that many parameters where their name states no size: what Ollama runs by it.
const SMALL_FAMILIES: [&str; 34] = [
    "codegemma",
    "codellama",
    "codeqwen",
    "deepseek-coder",
    "deepseek-r1",
    "dolphin3",
    "falcon3",
    "gemma",
    "gemma2",
    "gemma3",
    "gemma3n",
    "granite-code",
    "granite3.1-dense",
    "granite3.2",
    "granite3.3",
    "llama2",
    "llama3",
    "llama3.1",
    "llama3.2",
    "mistral",
    "opencoder",
    "phi3",
    "phi3.5",
    "phi4-mini",
    "qwen",
    "qwen2",
    "qwen2.5",
    "qwen2.5-coder",
    "qwen3",
    "smollm",
    "smollm2",
    "starcoder2",
    "tinyllama",
    "yi-coder",
];
/// Tags of their larger models.
const LARGE_TAGS: [&str; 2] = ["medium", "large"];

/// Returns whether a model is a small one by its name: `qwen2.5-coder:1.5b`, `gemma-3-4b-it`, `llama3.2`.
pub fn is_small(model: &str) -> bool {
    billions(model).map_or_else(|| is_of_small_family(model), |size| size <= TEXT_UP_TO)
}

fn is_of_small_family(model: &str) -> bool {
    // Under the name of a maker or a router it is that one's largest.
    let name = model.strip_prefix("ollama/").unwrap_or(model).to_ascii_lowercase();
    let (family, tag) = name.split_once(':').unwrap_or((&name, ""));
    SMALL_FAMILIES.contains(&family) && !LARGE_TAGS.iter().any(|large| tag.starts_with(large))
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
/// is 56. Those of `e4b` are the ones in use at a time.
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
    let number = number.strip_prefix('e').unwrap_or(number);
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
            ("gemma3n:e4b", Some(4.0)),
            ("gemma-4-E4B-it", Some(4.0)),
            ("gpt-4.1-nano", None),
            ("deepseek-coder", None),
            ("b", None),
        ] {
            assert_eq!(billions(name), billions_of, "{name}");
        }
        assert!(is_small("gemma-3-4b-it") && !is_small("qwen3-coder:30b") && !is_small("gpt-4.1-mini"));
    }

    #[test]
    fn families_without_a_size_in_their_name_are_known_by_it() {
        for name in ["llama3.2", "llama3.2:latest", "ollama/mistral", "phi3:mini", "gemma3n", "deepseek-coder:instruct"]
        {
            assert!(is_small(name), "{name}");
        }
        for name in [
            "phi3:medium",
            "mistral-small-latest",
            "mistral-large",
            "deepseek-chat",
            "llama3.1:70b",
            "phi4",
            "x",
            "deepseek/deepseek-r1",
        ] {
            assert!(!is_small(name), "{name}");
        }
    }

    #[test]
    fn families_are_known_with_and_without_a_prefix() {
        assert!(!is_unknown("gpt-4.1-nano") && !is_unknown("anthropic/claude-sonnet-4") && !is_unknown("o3-mini"));
        assert!(is_unknown("qwen3-coder:30b") && is_unknown("openai/gpt-oss-20b") && is_unknown("local"));
    }
}

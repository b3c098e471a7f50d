//! The input that a model takes beside text, told by its name, for servers that do not say it.

/// The kinds of files that a model takes beside text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Capabilities {
    /// Images.
    pub images: bool,
    /// PDFs.
    pub documents: bool,
}

/// Families that read images and PDFs; the longest beginning of a name that is in one of the lists counts.
const BOTH: &[&str] = &[
    "gpt-4o",
    "gpt-4.1",
    "gpt-4.5",
    "gpt-5",
    "chatgpt-4o",
    "o1",
    "o3",
    "o4",
    "claude-3",
    "claude-sonnet",
    "claude-opus",
    "claude-haiku",
    "claude-fable",
    "gemini",
];
/// Families that read images only.
const IMAGES: &[&str] = &[
    "gpt-4-turbo",
    "gpt-4-vision",
    "grok-2-vision",
    "grok-4",
    "llama-4",
    "llama4",
    "gemma-3",
    "gemma3",
    "mistral-small-3",
    "mistral-small3",
    "mistral-medium",
    "pixtral",
    "llava",
    "bakllava",
    "moondream",
    "minicpm-v",
    "internvl",
    "glm-4v",
    "glm-4.5v",
    "phi-3-vision",
    "phi-3.5-vision",
    "phi-4-multimodal",
];
/// Families and members that read text alone, where the beginning of their name would say otherwise.
const NEITHER: &[&str] =
    &["o1-mini", "o1-preview", "o3-mini", "gemma-3-1b", "gemma-3-270m", "gemma3:1b", "gemma3:270m"];
/// Parts of a name that promise images, whoever made the model: `qwen2.5-vl`, `llama3.2-vision`.
const PARTS: &[&str] = &["vl", "vision", "omni", "multimodal"];

impl Capabilities {
    /// Everything: what a recording answers to does not matter.
    pub const ALL: Capabilities = Capabilities { images: true, documents: true };

    /// Returns the kinds that a model of this name takes, as far as is known; none where it is not.
    pub fn by_name(model: &str) -> Self {
        let lower = model.to_lowercase();
        // `openai/gpt-4o`, as servers in front of others write it.
        let name = lower.rsplit('/').next().unwrap_or(&lower);
        let longest = |list: &[&str]| list.iter().filter(|start| name.starts_with(**start)).map(|s| s.len()).max();
        let (both, images, neither) = (longest(BOTH), longest(IMAGES), longest(NEITHER));
        if neither > both.max(images) {
            return Capabilities::default();
        }
        if both.is_some() && both >= images {
            return Capabilities::ALL;
        }
        let mut parts = name.split(|c: char| !c.is_ascii_alphabetic());
        Capabilities { images: images.is_some() || parts.any(|part| PARTS.contains(&part)), documents: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_models_are_recognised_by_their_names() {
        for (model, images, documents) in [
            ("gpt-4.1-nano", true, true),
            ("openai/GPT-4o-mini", true, true),
            ("o3", true, true),
            ("o3-mini", false, false),
            ("o4-mini", true, true),
            ("gpt-4", false, false),
            ("gpt-4-turbo", true, false),
            ("gpt-3.5-turbo", false, false),
            ("claude-3-5-sonnet-latest", true, true),
            ("qwen2.5-coder:1.5b", false, false),
            ("qwen2.5vl:7b", true, false),
            ("Qwen/Qwen3-VL-8B-Instruct", true, false),
            ("llama3.2-vision", true, false),
            ("gemma3:12b", true, false),
            ("gemma3:1b", false, false),
            ("deepseek-r1:8b", false, false),
            ("", false, false),
        ] {
            assert_eq!(Capabilities::by_name(model), Capabilities { images, documents }, "{model}");
        }
    }
}

//! The names of wire formats: in the configuration, and for people.

/// The wire format of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wire {
    /// Chat Completions.
    Chat,
    /// OpenAI's Responses.
    Responses,
    /// Anthropic's Messages.
    Anthropic,
    /// Google's `generateContent`.
    Gemini,
    /// Ollama's own.
    Ollama,
    /// None: a model file that is run here.
    Embedded,
    /// A recording.
    Replay,
}

impl Wire {
    /// All of them.
    pub const ALL: [Wire; 7] =
        [Wire::Chat, Wire::Responses, Wire::Anthropic, Wire::Gemini, Wire::Ollama, Wire::Embedded, Wire::Replay];

    /// Returns its name in the configuration and in memory.
    pub fn name(self) -> &'static str {
        match self {
            Wire::Chat => "chat",
            Wire::Responses => "responses",
            Wire::Anthropic => "anthropic",
            Wire::Gemini => "gemini",
            Wire::Ollama => "ollama",
            Wire::Embedded => "embedded",
            Wire::Replay => "replay",
        }
    }

    /// Returns its name for people.
    pub fn words(self) -> &'static str {
        match self {
            Wire::Chat => "Chat Completions",
            Wire::Responses => "OpenAI's Responses",
            Wire::Anthropic => "Anthropic's Messages",
            Wire::Gemini => "Gemini's generateContent",
            Wire::Ollama => "Ollama's own format",
            Wire::Embedded => "no format: the model runs here",
            Wire::Replay => "recordings",
        }
    }

    /// Returns the format of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|wire| wire.name() == name)
    }
}

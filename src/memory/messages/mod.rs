//! Messages, one row each, as the model gets them; and their parts, in a table of their own.

mod delete;
mod read;
mod write;

pub(super) use delete::{BESIDE, delete, recount};
pub(super) use read::typed_part;
pub(super) use write::copy;

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StoredRole {
    /// The person.
    User,
    /// The model.
    Assistant,
    /// The answer to one tool call.
    Tool,
}

impl StoredRole {
    pub(super) fn word(self) -> &'static str {
        match self {
            StoredRole::User => "user",
            StoredRole::Assistant => "assistant",
            StoredRole::Tool => "tool",
        }
    }

    /// Returns the role of a stored word. A role no nebula writes is taken for the person's, so that nothing of a
    /// session is lost.
    pub(super) fn of(word: &str) -> StoredRole {
        match word {
            "assistant" => StoredRole::Assistant,
            "tool" => StoredRole::Tool,
            _ => StoredRole::User,
        }
    }
}

/// The state of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MessageState {
    /// The whole message arrived.
    #[default]
    Complete,
    /// It was still arriving when this was stored; after a crash it ends here.
    Streaming,
    /// It was cut short by the person, a limit or a broken connection.
    Interrupted,
}

impl MessageState {
    pub(super) fn word(self) -> &'static str {
        match self {
            MessageState::Complete => "complete",
            MessageState::Streaming => "streaming",
            MessageState::Interrupted => "interrupted",
        }
    }

    pub(super) fn of(word: &str) -> MessageState {
        match word {
            "streaming" => MessageState::Streaming,
            "interrupted" => MessageState::Interrupted,
            _ => MessageState::Complete,
        }
    }
}

/// Metadata of a message, beside what the model gets.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MessageMeta {
    /// True if it is all there.
    pub state: MessageState,
    /// The number of bytes of the content that were typed; what follows is the *Reference* section. `None`: all.
    pub typed: Option<usize>,
    /// The user message that began the turn.
    pub turn: Option<i64>,
    /// The reasoning of the model.
    pub thinking: Option<String>,
    /// The model that wrote it.
    pub model: Option<String>,
    /// The edit format in force.
    pub format: Option<String>,
    /// Tokens sent for it.
    pub input_tokens: Option<u64>,
    /// Tokens received.
    pub output_tokens: Option<u64>,
    /// Tokens of those sent that the provider read from its cache.
    pub cached_tokens: Option<u64>,
    /// Tokens of those sent that the provider wrote to its cache.
    pub written_tokens: Option<u64>,
    /// Tokens of those written to the cache that are kept for an hour.
    pub hour_tokens: Option<u64>,
    /// Tokens of those received that were thinking.
    pub thinking_tokens: Option<u64>,
    /// Its cost in billionths of a dollar; `None`: no price is known.
    pub cost_nanos: Option<u64>,
    /// JSON: `[{path, lines, bytes}]`.
    pub attached: Option<String>,
    /// JSON of the message's author.
    pub extra: Option<String>,
}

/// The [`MessageMeta::extra`] of a message that asks a model once more which changed no file; statistics count it.
pub const NUDGE_MARK: &str = r#"{"nudge":true}"#;

/// An image or a document sent with a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredBlob {
    /// Its path as mentioned.
    pub name: String,
    /// Media type: `image/png`.
    pub kind: String,
    /// All its bytes.
    pub bytes: Vec<u8>,
}

/// A part of a message, and its place there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessagePart {
    /// `text`, `thinking`, `call`, `result`, `image` (or a document) or `other`.
    pub kind: String,
    /// The number of bytes of the content or of the thinking that a text, a result or a thinking takes; 0 for the other
    /// kinds.
    pub bytes: usize,
    /// The provider's own JSON of it, byte for byte.
    pub seal: Option<String>,
    /// The origin of the answer.
    pub origin: Option<MessageOrigin>,
}

/// The origin of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageOrigin {
    /// The wire format.
    pub wire: String,
    /// Scheme, host and port.
    pub place: String,
    /// The requested model.
    pub model: String,
}

/// A message to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMessage {
    /// Its author.
    pub role: StoredRole,
    /// Its text, with its *Reference* section.
    pub content: Option<String>,
    /// JSON: `[{id, name, arguments}]`.
    pub tool_calls: Option<String>,
    /// JSON: `[{id, name, ok, edits: [{path, format, rung}], changeset}]`.
    pub tool_results: Option<String>,
    /// Its metadata.
    pub meta: MessageMeta,
    /// Images and documents.
    pub blobs: Vec<StoredBlob>,
    /// The parts in their order. Empty: the usual ones, which are stored for all but an answer.
    pub parts: Vec<MessagePart>,
}

impl MessagePart {
    fn new(kind: &str, bytes: usize) -> Self {
        MessagePart { kind: kind.into(), bytes, seal: None, origin: None }
    }
}

impl NewMessage {
    /// Returns the parts of a message of the person or of a result, where none are named: its text, then its images and
    /// documents. Those of an answer are known to its author alone.
    fn usual_parts(&self) -> Vec<MessagePart> {
        let bytes = self.content.as_ref().map_or(0, String::len);
        let first = match self.role {
            StoredRole::Assistant => return Vec::new(),
            StoredRole::Tool => Some(MessagePart::new("result", bytes)),
            StoredRole::User => Some(MessagePart::new("text", bytes)).filter(|_| bytes > 0),
        };
        first.into_iter().chain(self.blobs.iter().map(|_| MessagePart::new("image", 0))).collect()
    }

    /// Creates a message of nothing but text.
    pub fn text(role: StoredRole, content: impl Into<String>) -> Self {
        NewMessage {
            role,
            content: Some(content.into()),
            tool_calls: None,
            tool_results: None,
            meta: MessageMeta::default(),
            blobs: Vec::new(),
            parts: Vec::new(),
        }
    }
}

/// The rows of a message that are damaged in memory and left out of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MessageDamage {
    /// The number of images and documents.
    pub blobs: usize,
    /// True when the order of its parts is lost.
    pub parts: bool,
}

/// A stored message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredMessage {
    /// Ascends within a session.
    pub id: i64,
    /// The time when it was first stored.
    pub at: i64,
    /// The message.
    pub message: NewMessage,
    /// Rows beside it that cannot be read.
    pub damage: MessageDamage,
}

//! The messages that a person has typed and not sent.

/// The messages that were typed in a session and not sent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Unsent {
    /// The messages that wait, oldest first.
    pub queue: Vec<String>,
    /// The text in the input.
    pub draft: String,
}

//! The message that the person writes, with what belongs to it: what was sent before, what waits to be sent, and the
//! files that are offered while a name is typed.

use super::Editor;
use super::complete::Completion;
use super::history::History;
use super::queue::Queue;

/// A file name in the input that could be a mention.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// Its place, in bytes.
    pub place: std::ops::Range<usize>,
    /// The name as it was typed.
    pub name: String,
    /// The file of that name, once one is found.
    pub path: Option<String>,
}

/// The input and what belongs to it.
#[derive(Debug, Default)]
pub struct Composer {
    /// The text.
    pub input: Editor,
    /// The messages that were sent before.
    pub history: History,
    /// The messages that are sent when the turn ends.
    pub queue: Queue,
    /// The list of files under `@`.
    pub completion: Option<Completion>,
    /// The `@` whose completion was closed, so that it stays closed.
    pub closed_at: Option<usize>,
    /// The caret's place behind the space that a completion put.
    pub spaced: Option<usize>,
    /// The file name before the caret, to be mentioned with a key.
    pub offer: Option<Offer>,
}

impl Composer {
    /// Creates one with a text to be sent or changed.
    pub fn with(draft: Option<&str>) -> Self {
        Composer { input: draft.map(Editor::with).unwrap_or_default(), ..Composer::default() }
    }
}

//! The description that each edit format gives of itself.

use crate::edit::format::Format;
use crate::edit::stream::reader::LineStart;

/// The verb of a format whose edits change parts of a file.
pub(in crate::edit) const EDIT: [&str; 3] = ["edit", "editing", "edited"];

/// A format: how a model is asked for it, and how it is read.
#[derive(Debug, Clone, Copy)]
pub(in crate::edit) struct FormatSpec {
    /// Its name.
    pub format: Format,
    /// The instructions for a model that is to write it (Markdown).
    pub prompt: &'static str,
    /// The instructions for a small model, where they differ.
    pub small_prompt: Option<&'static str>,
    /// The exchange that begins each conversation with a small model: a question of the person, and the answer.
    pub example: Option<[&'static str; 2]>,
    /// The reminder at the end of what a small model is sent.
    pub reminder: Option<&'static str>,
    /// The name of an edit in it on the screen.
    pub label_on_screen: &'static str,
    /// The verb that the screen shows for an edit in it: as a command, while it arrives, and afterwards.
    pub verb: [&'static str; 3],
    /// The first line it is recognised by, where it begins with a line of its own. Tags and fences are recognised by
    /// the text around them, and calls by the names of tools.
    pub start: Option<LineStart>,
}

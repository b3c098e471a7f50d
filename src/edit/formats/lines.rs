//! Edits by line number with the expected text as a guard. They are elements, which `xml` reads.

use super::spec::{EDIT, FormatSpec};
use crate::edit::format::Format;

impl Format {
    /// Edits by line number with the expected text as a guard.
    pub const LINES: Format = Format::named("lines");
}

pub(super) const SPEC: FormatSpec = FormatSpec {
    format: Format::LINES,
    prompt: include_str!("../../../assets/prompts/format-lines.md"),
    small_prompt: None,
    example: None,
    reminder: Some("Reply with a <replace_lines> tag for each change; copy the <expect> lines exactly."),
    label_on_screen: "lines",
    verb: EDIT,
    start: None,
};

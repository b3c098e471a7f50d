//! Tool calls. The provider hands them over; those that stand in the text are read by the names of the tools.

use super::spec::{EDIT, FormatSpec};
use crate::edit::format::Format;

impl Format {
    /// Tool calls.
    pub const TOOLS: Format = Format::named("tools");
}

pub(super) const SPEC: FormatSpec = FormatSpec {
    format: Format::TOOLS,
    // How to use the tools well.
    prompt: include_str!("../../../assets/prompts/format-tools.md"),
    small_prompt: None,
    example: None,
    reminder: None,
    label_on_screen: "edit",
    verb: EDIT,
    start: None,
};

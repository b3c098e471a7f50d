//! The formats that a model may write its changes in.

/// How a model writes a change down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Format {
    /// Tool calls.
    Tools,
    /// `<replace_file>` and `<write_file>` in ordinary text.
    Xml,
    /// A path line and a fenced block with the whole file.
    Whole,
    /// `<<<<<<< SEARCH` blocks under a path line.
    Blocks,
    /// Unified diff or the `*** Begin Patch` envelope.
    Patch,
    /// Edits by line number with the expected text as a guard.
    Lines,
}

impl Format {
    /// All formats, in the order in which they are listed.
    pub const ALL: [Format; 6] =
        [Format::Tools, Format::Xml, Format::Whole, Format::Blocks, Format::Patch, Format::Lines];

    /// Returns the word for it in the configuration, in `/format` and in memory.
    pub fn name(self) -> &'static str {
        match self {
            Format::Tools => "tools",
            Format::Xml => "xml",
            Format::Whole => "whole",
            Format::Blocks => "blocks",
            Format::Patch => "patch",
            Format::Lines => "lines",
        }
    }

    /// Returns the format of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Format::ALL.into_iter().find(|f| f.name() == name)
    }

    /// Returns what a model that shall write this format is told about it (Markdown). Nothing for [`Format::Tools`] but
    /// how to use the tools well.
    pub fn prompt(self) -> &'static str {
        match self {
            Format::Tools => include_str!("../../assets/prompts/format-tools.md"),
            Format::Xml => include_str!("../../assets/prompts/format-xml.md"),
            Format::Whole => include_str!("../../assets/prompts/format-whole.md"),
            Format::Blocks => include_str!("../../assets/prompts/format-blocks.md"),
            Format::Patch => include_str!("../../assets/prompts/format-patch.md"),
            Format::Lines => include_str!("../../assets/prompts/format-lines.md"),
        }
    }
}

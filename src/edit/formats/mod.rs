//! The formats that a model may write its changes in, a file each: its name, its prompt, how it is read.

mod block;
pub(super) mod blocks;
pub(super) mod code;
mod lines;
pub(super) mod patch;
pub(super) mod spec;
mod tools;
pub(super) mod whole;
pub(super) mod xml;

use self::spec::FormatSpec;
use super::format::Format;
use super::stream::reader::LineStart;
use super::stream::starts::LineMark;

/// The registry of formats, in the order in which they are listed.
const FORMATS: &[FormatSpec] = &[tools::SPEC, xml::SPEC, whole::SPEC, blocks::SPEC, patch::SPEC, lines::SPEC];

impl Format {
    /// All formats, in the order in which they are listed.
    pub const ALL: [Format; FORMATS.len()] = {
        let mut all = [FORMATS[0].format; FORMATS.len()];
        let mut at = 1;
        while at < FORMATS.len() {
            all[at] = FORMATS[at].format;
            at += 1;
        }
        all
    };

    /// Returns the format of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Format::ALL.iter().find(|f| f.name() == name).copied()
    }

    /// Returns what a model that shall write this format is told about it (Markdown).
    pub fn prompt(self) -> &'static str {
        self.spec().map_or("", |spec| spec.prompt)
    }

    /// Returns what a small model is told, where that differs.
    pub fn small_prompt(self) -> Option<&'static str> {
        self.spec()?.small_prompt
    }

    /// Returns what a person asks and a model answers in this format: an example for small models.
    pub fn example(self) -> Option<[&'static str; 2]> {
        self.spec()?.example
    }

    /// Returns the reminder that closes what a small model is sent; nothing for tools.
    pub fn reminder(self) -> Option<&'static str> {
        self.spec()?.reminder
    }

    /// Returns what an edit in this format is called on the screen.
    pub fn label_on_screen(self) -> &'static str {
        self.spec().map_or(self.name(), |spec| spec.label_on_screen)
    }

    /// Returns the verb of an edit in this format: as a command, while it arrives, and afterwards.
    pub fn verb(self) -> [&'static str; 3] {
        self.spec().map_or(spec::EDIT, |spec| spec.verb)
    }

    fn spec(self) -> Option<&'static FormatSpec> {
        FORMATS.iter().find(|spec| spec.format == self)
    }
}

/// Returns the lines that begin an edit in one of them.
pub(super) fn marks() -> Vec<LineMark> {
    FORMATS.iter().filter_map(|spec| Some(spec.start?.mark)).collect()
}

/// Returns how the edit is read that this line begins.
pub(super) fn start_of(line: &str) -> Option<LineStart> {
    FORMATS.iter().filter_map(|spec| spec.start).find(|start| (start.mark.is)(line))
}

//! The reader of edits and calls in the text, and the rules by which formats that begin with a line are told from
//! prose.

use std::fmt::Debug;

use super::context::{Progress, ReaderContext};
use super::input::{Input, Line};
use super::starts::{Fence, LineMark};

/// Reads one edit or call, from its first line or tag to its end.
pub(in crate::edit) trait Reader: Debug + Send + Sync {
    /// Takes what it can of the input.
    fn step(&mut self, input: &mut Input, ctx: &mut ReaderContext) -> Progress;

    /// Ends at the present position: the answer is over, or was `cut`.
    fn end(&mut self, ctx: &mut ReaderContext, cut: bool);

    /// Returns whether it may end in the middle of a line.
    fn ends_inside_line(&self) -> bool {
        false
    }
}

/// The state of the parser: ordinary text, or an edit or a call by its reader.
#[derive(Debug)]
pub(super) enum ParserState {
    Text,
    Reading(Box<dyn Reader>),
}

/// The result of a round in the text around edits.
pub(super) enum Next {
    Wait,
    Again,
    Enter(Box<dyn Reader>),
}

/// The reader of a format that begins with a line of its own.
#[derive(Debug, Clone, Copy)]
pub(in crate::edit) struct LineStart {
    /// The line.
    pub mark: LineMark,
    /// Begins to read at that line.
    pub read: ReadFrom,
}

/// Begins to read an edit at its first line.
pub(in crate::edit) type ReadFrom = fn(Beginning<'_>, &mut ReaderContext) -> Box<dyn Reader>;

/// The place at which an edit begins.
pub(in crate::edit) struct Beginning<'a> {
    pub input: &'a mut Input,
    /// Its first line.
    pub line: Line,
    /// The fence around it.
    pub fence: Option<&'a Fence>,
    /// Returns the path that stands above it. It is asked only where the line itself names none.
    pub above: &'a mut dyn FnMut(&ReaderContext) -> Option<String>,
}

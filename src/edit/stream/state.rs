//! The state of the parser: ordinary text, or an edit or a call by the reader of its format.

use super::blocks::Blocks;
use super::call::{Call, Named, Python};
use super::patch::Patch;
use super::whole::Whole;
use super::xml::Xml;

/// The state of the parser.
#[derive(Debug)]
pub(super) enum State {
    Text,
    Xml(Xml),
    Blocks(Blocks),
    Whole(Whole),
    Patch(Patch),
    Call(Call),
    Named(Named),
    Python(Python),
    /// Never waits and never consumes: what the driver must be safe against.
    #[cfg(test)]
    Idle,
}

/// The result of a round in the text around edits.
pub(super) enum Next {
    Wait,
    Again,
    Enter(State),
}

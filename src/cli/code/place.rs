//! The place that a command is about.

use crate::definitions::DefinitionFinder;

/// The place that a command is about, and the form of its answer.
pub struct Place<'a> {
    /// Finds definitions in it.
    pub finder: DefinitionFinder<'a>,
    /// True if the answer is JSON.
    pub json: bool,
    /// The flag that approves a change where nobody is asked.
    pub flag: &'static str,
}

//! The place that a command is about.

use super::servers::Servers;
use crate::definitions::DefinitionFinder;

/// The place that a command is about, and the form of its answer.
pub struct Place<'a> {
    /// Finds definitions in it.
    pub finder: DefinitionFinder<'a>,
    /// True if the answer is JSON.
    pub json: bool,
    /// The flag that approves a change where nobody is asked.
    pub flag: &'static str,
    /// The language servers that a rename may use.
    pub servers: Servers<'a>,
}

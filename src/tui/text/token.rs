//! A coloured part of a line of code.

use crate::tui::theme::Role;

/// A coloured part of a line: from the end of the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// Byte in the line where it ends.
    pub end: u32,
    /// Its role.
    pub role: Role,
}

//! The name of a format in which a model may write its changes.

/// A format, by its name. What it is stands in its file in `formats/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Format(&'static str);

impl Format {
    /// Creates the format of this name; its file in `formats/` does so once.
    pub(in crate::edit) const fn named(name: &'static str) -> Self {
        Format(name)
    }

    /// Returns the word for it in the configuration, in `/format` and in memory.
    pub const fn name(self) -> &'static str {
        self.0
    }
}

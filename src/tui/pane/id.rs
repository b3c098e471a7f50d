//! The names of the panes.

use crate::tui::action::Context;

/// Names a pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PaneId {
    /// The conversation.
    Chat,
    /// The calls.
    Tools,
    /// The proposal, or the last diff.
    Diff,
    /// The archive.
    Archive,
}

impl PaneId {
    /// In the order of the tabs.
    pub const ALL: &[PaneId] = &[PaneId::Chat, PaneId::Tools, PaneId::Diff, PaneId::Archive];

    /// Returns the context in which the pane's keys are looked up.
    pub fn context(self) -> Context {
        match self {
            PaneId::Chat => Context::Chat,
            PaneId::Tools => Context::Tools,
            PaneId::Diff => Context::Diff,
            PaneId::Archive => Context::Archive,
        }
    }
}

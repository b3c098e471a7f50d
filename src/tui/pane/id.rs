//! The names of the panes, and the registry that they are made from.

use crate::tui::action::{Action, Context};

/// The registry of panes: the name, its module and the field that holds it, the context of its keys, the action that
/// shows it. Hands it to a macro.
macro_rules! each_pane {
    ($use:ident) => {
        $use! {
            /// The conversation.
            Chat chat FocusChat,
            /// The calls.
            Tools tools FocusTools,
            /// The proposal, or the last diff.
            Diff diff FocusDiff,
            /// The archive.
            Archive archive FocusArchive,
        }
    };
}
pub(super) use each_pane;

macro_rules! pane_ids {
    ($($(#[$doc:meta])* $id:ident $field:ident $focus:ident,)*) => {
        /// Names a pane.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum PaneId {
            $($(#[$doc])* $id,)*
        }

        impl PaneId {
            /// In the order of the tabs.
            pub const ALL: &[PaneId] = &[$(PaneId::$id,)*];

            /// Returns the context in which the pane's keys are looked up.
            pub fn context(self) -> Context {
                match self { $(PaneId::$id => Context::$id,)* }
            }

            /// Returns the pane that an action shows.
            pub fn shown_by(action: Action) -> Option<PaneId> {
                match action {
                    $(Action::$focus => Some(PaneId::$id),)*
                    _ => None,
                }
            }
        }
    };
}

each_pane!(pane_ids);

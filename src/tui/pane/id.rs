//! The names of the panes.

use super::table::each_pane;
use crate::tui::action::{Action, Context};

macro_rules! pane_ids {
    (
        { $($(#[$doc:meta])* $id:ident $field:ident $name:literal $title:ident $focus:ident $focus_name:literal $help:ident,)* }
    ) => {
        /// Names a pane.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum PaneId {
            $($(#[$doc])* $id,)*
        }

        impl PaneId {
            /// All panes, in the order of the tabs.
            pub const ALL: &[PaneId] = &[$(PaneId::$id,)*];

            /// Returns the context in which the pane's keys are looked up.
            pub fn context(self) -> Context {
                match self { $(PaneId::$id => Context::$id,)* }
            }

            /// Returns the pane that an action shows.
            pub fn pane_of(action: Action) -> Option<PaneId> {
                match action {
                    $(Action::$focus => Some(PaneId::$id),)*
                    _ => None,
                }
            }

            /// Returns whether an action shows something else than what is open: a pane, or another screen.
            pub fn leads_away(action: Action) -> bool {
                let screens =
                    [Action::FocusQuestion, Action::FocusReview, Action::FocusTimeline, Action::FocusGraph];
                screens.contains(&action) || PaneId::pane_of(action).is_some()
            }
        }
    };
}

each_pane!(pane_ids);

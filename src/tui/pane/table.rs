//! The registry of panes. Names, contexts, actions and calls of panes are made from it.

/// The rows: a pane's name, its module and the field that holds it; its section of `keys.toml`, what the help calls it;
/// the action that shows it, that action's name in `keys.toml` and what it does. Hands them to a macro, behind which
/// more may be given to it.
macro_rules! each_pane {
    ($use:ident $($more:tt)*) => {
        $use! {
            {
                /// The conversation.
                Chat chat "chat" the_chat FocusChat "focus-chat" focus_chat,
                /// The calls.
                Tools tools "tools" the_calls FocusTools "focus-tools" focus_tools,
                /// The proposal, or the last diff.
                Diff diff "diff" the_diff FocusDiff "focus-diff" focus_diff,
                /// The archive.
                Archive archive "archive" the_archive FocusArchive "focus-archive" focus_archive,
            }
            $($more)*
        }
    };
}
pub(in crate::tui) use each_pane;

//! Everything a key can mean, once: `TABLE` gives each [`Action`] its name in `keys.toml`, and `key_groups` says where it
//! works and what the hints and the help call it. `?`, the hints, the palette and the errors about `keys.toml` are all
//! drawn from the two, and a test compares the guide's table of keys with them; the words are [`crate::messages`].

use super::pane::table::each_pane;
use crate::messages::{Text, actions, pages};

macro_rules! contexts {
    (
        { $($(#[$doc:meta])* $id:ident $field:ident $name:literal $title:ident $focus:ident $focus_name:literal $help:ident,)* }
        $($(#[$own_doc:meta])* $own:ident $own_name:literal $own_title:ident;)*
    ) => {
        /// The context of keys. A key is looked up in the innermost context first, then in its [`Context::outer`] ones.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Context {
            $($(#[$own_doc])* $own,)*
            $($(#[$doc])* $id,)*
        }

        impl Context {
            /// All contexts with their names in `keys.toml`.
            pub const ALL: &[(Context, &str)] =
                &[$((Context::$own, $own_name),)* $((Context::$id, $name),)*];

            /// Returns whether it is that of a pane.
            fn is_pane(self) -> bool {
                matches!(self, $(Context::$id)|*)
            }

            /// Returns what the help calls it.
            pub fn title(self) -> &'static str {
                match self {
                    $(Context::$own => pages::$own_title(),)*
                    $(Context::$id => pages::$title(),)*
                }
            }
        }
    };
}

// The contexts beside those of the panes: name, section of `keys.toml`, what the help calls it.
each_pane! { contexts
    /// Everywhere.
    Global "global" the_input;
    /// In every pane.
    Pane "pane" the_input;
    /// The input.
    Input "input" the_input;
    /// A single line that something asked for: a filter, a reason, a new title.
    Line "line" the_list;
    /// The list of files under `@`.
    Completion "completion" the_input;
    /// A list to choose from while typing narrows it: commands, models, themes.
    List "list" the_list;
    /// The form that connects a model.
    Form "form" the_start;
    /// A page to read: help, rules, stats.
    Viewer "viewer" the_list;
    /// A question of the model.
    Question "question" the_question;
    /// The card of a command that waits.
    Card "card" the_command;
    /// The sessions of the project.
    Sessions "sessions" the_sessions;
    /// The choices in the prompt's place while no model is connected.
    NoModel "no-model" the_start;
    /// The changes that wait to be reviewed.
    Review "review" the_review;
    /// The graph of definitions.
    Graph "graph" the_graph;
    /// The workspace at a moment.
    Timeline "timeline" the_timeline;
    /// The authors of a file.
    Blame "blame" the_blame;
}

impl Context {
    /// Returns the contexts whose keys work here too, from the inside out.
    pub fn outer(self) -> &'static [Context] {
        match self {
            Context::Global => &[],
            Context::Completion => &[Context::Input, Context::Global],
            pane if pane.is_pane() => &[Context::Pane, Context::Global],
            _ => &[Context::Global],
        }
    }

    /// Returns whether `action` decides something, so that its key means what it means elsewhere while nothing waits.
    pub fn decides(self, action: Action) -> bool {
        self == Context::Diff && matches!(action, Action::Accept | Action::Reject)
    }

    /// Returns its name in `keys.toml`.
    pub fn name(self) -> &'static str {
        Context::ALL.iter().find(|(c, _)| *c == self).map_or("global", |(_, n)| n)
    }
}

macro_rules! actions {
    (
        { $($(#[$doc:meta])* $id:ident $field:ident $pane:literal $title:ident $focus:ident $focus_name:literal $focus_help:ident,)* }
        $($action:ident $name:literal $help:ident)*
    ) => {
        /// The meaning of a key or a command.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Action {
            $(#[doc = concat!("`", $name, "` in `keys.toml`.")] $action,)*
            $(#[doc = concat!("`", $focus_name, "` in `keys.toml`.")] $focus,)*
        }

        /// All actions with their names in `keys.toml` and what they do.
        pub(super) const TABLE: &[(Action, &str, Text)] = &[
            $((Action::$action, $name, actions::$help),)*
            $((Action::$focus, $focus_name, actions::$focus_help),)*
        ];
    };
}

// The actions beside those that show a pane: name, name in `keys.toml`, what it does.
each_pane! { actions
    Help "help" help
    NextPane "next-pane" next_pane
    Sessions "sessions" sessions
    FocusQuestion "focus-question" focus_question
    FocusInput "focus-input" focus_input
    ToggleMode "toggle-mode" toggle_mode
    Palette "palette" palette
    Commands "commands" commands
    ChooseModel "choose-model" choose_model
    Cancel "cancel" cancel
    Escape "escape" escape
    Suspend "suspend" suspend
    Redraw "redraw" redraw
    Quit "quit" quit
    Zoom "zoom" zoom
    Narrower "narrower" narrower
    Wider "wider" wider
    Lower "lower" lower
    Higher "higher" higher
    Up "up" up
    Down "down" down
    Left "left" left
    Right "right" right
    HalfUp "half-page-up" half_page_up
    HalfDown "half-page-down" half_page_down
    PageUp "page-up" page_up
    PageDown "page-down" page_down
    First "first" first
    Last "last" last
    Open "open" open
    Fold "fold" fold
    FoldAll "fold-all" fold_all
    Copy "copy" copy
    FailedOnly "failed-only" failed_only
    RunOn "run-on" run_on
    StopCommand "stop-command" stop_command
    Search "search" search
    NextMatch "next-match" next_match
    PreviousMatch "previous-match" previous_match
    NextItem "next-item" next_item
    PreviousItem "previous-item" previous_item
    Again "again" again
    Accept "accept" accept
    AcceptDefinition "accept-definition" accept_definition
    Reject "reject" reject
    Toggle "toggle" toggle
    AcceptAll "accept-all" accept_all
    RejectAll "reject-all" reject_all
    AcceptSession "accept-session" accept_session
    UndoDecision "undo-decision" undo_decision
    Comment "comment" comment
    Test "test" test
    UndoCall "undo-call" undo_call
    UndoTurn "undo-turn" undo_turn
    Write "write" write
    Later "later" later
    EditResult "edit-result" edit_result
    NextHunk "next-hunk" next_hunk
    PreviousHunk "previous-hunk" previous_hunk
    NextFile "next-file" next_file
    PreviousFile "previous-file" previous_file
    Layout "layout" layout
    WrapLines "wrap-lines" wrap_lines
    BackInTime "back-in-time" back_in_time
    OnInTime "on-in-time" on_in_time
    Restore "restore" restore
    RestoreChangeset "restore-changeset" restore_changeset
    RestoreSince "restore-since" restore_since
    Redo "redo" redo
    Pin "pin" pin
    Keep "keep" keep
    Merge "merge" merge
    RestoreVersion "restore-version" restore_version
    Send "send" send
    NewLine "new-line" new_line
    Mention "mention" mention
    Editor "editor" editor
    History "history" history
    LeaveOut "leave-out" leave_out
    DropQueued "drop-queued" drop_queued
    LineStart "line-start" line_start
    LineEnd "line-end" line_end
    TextStart "text-start" text_start
    TextEnd "text-end" text_end
    WordLeft "word-left" word_left
    WordRight "word-right" word_right
    Backspace "backspace" backspace
    Delete "delete" delete
    DeleteWordLeft "delete-word-left" delete_word_left
    DeleteWordRight "delete-word-right" delete_word_right
    DeleteToStart "delete-to-start" delete_to_start
    DeleteToEnd "delete-to-end" delete_to_end
    Yank "yank" yank
    UndoTyping "undo-typing" undo_typing
    RedoTyping "redo-typing" redo_typing
    Insert "insert" insert
    Choose "choose" choose
    Complete "complete" complete
    Close "close" close
    NextField "next-field" next_field
    PreviousField "previous-field" previous_field
    PreviewUp "preview-up" preview_up
    PreviewDown "preview-down" preview_down
    Answer "answer" answer
    RunInView "run-in-view" run_in_view
    WithNetwork "with-network" with_network
    AlwaysRun "always-run" always_run
    New "new" new
    Rename "rename" rename
    Fork "fork" fork
    Remove "remove" remove
    Export "export" export
    FocusReview "focus-review" focus_review
    NetOrSingle "net-or-single" net_or_single
    FocusGraph "graph" focus_graph
    KeepConflict "keep-conflict" keep_conflict
    TakeConflict "take-conflict" take_conflict
    FocusTimeline "timeline" focus_timeline
    Blame "blame" blame
    ShowChange "show-change" show_change
}

impl Action {
    /// Returns the action called `name` in `keys.toml`.
    pub fn named(name: &str) -> Option<Action> {
        TABLE.iter().find(|(_, n, _)| *n == name).map(|(a, _, _)| *a)
    }

    /// Returns its name in `keys.toml`.
    pub fn name(self) -> &'static str {
        TABLE.iter().find(|(a, _, _)| *a == self).map_or("", |(_, n, _)| n)
    }

    /// Returns what it does.
    pub fn help(self) -> &'static str {
        TABLE.iter().find(|(a, _, _)| *a == self).map_or("", |(_, _, help)| help())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_said() {
        for (i, (_, name, help)) in TABLE.iter().enumerate() {
            assert!(!help().is_empty());
            assert!(!TABLE[..i].iter().any(|(_, n, _)| n == name), "{name} twice");
        }
        assert_eq!(Action::named("accept-all"), Some(Action::AcceptAll));
        assert_eq!(Action::AcceptAll.name(), "accept-all");
    }
}

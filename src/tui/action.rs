//! Everything a key can mean, once: `TABLE` gives each [`Action`] its name in `keys.toml`, and [`GROUPS`] says where it
//! works and what the hints and the help call it. `?`, the hints, the palette and the errors about `keys.toml` are all
//! drawn from here, and a test compares README's table of keys with it; the words are [`crate::messages`].

use super::pane::table::each_pane;
use crate::messages::{Text, actions, hints, pages};

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
            /// Every context with its name in `keys.toml`.
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

        /// Every action with its name in `keys.toml` and what it does.
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
    Search "search" search
    NextMatch "next-match" next_match
    PreviousMatch "previous-match" previous_match
    NextItem "next-item" next_item
    PreviousItem "previous-item" previous_item
    Again "again" again
    Accept "accept" accept
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
    LeaveForeign "leave-it" leave_it
    MergeForeign "merge-it" merge_it
    TakeOld "take-old" take_old
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

/// Keys that belong together on the screen: one hint, one line of help.
#[derive(Debug, Clone, Copy)]
pub struct Group {
    /// The context they work in.
    pub context: Context,
    /// Their actions, in the order in which their keys are shown.
    pub actions: &'static [Action],
    section: Text,
    hint: Text,
    help: Text,
}

impl Group {
    /// Returns the heading in the help; empty: a hint only.
    pub fn section(&self) -> &'static str {
        (self.section)()
    }

    /// Returns the word in the hints; empty: not hinted at.
    pub fn hint(&self) -> &'static str {
        (self.hint)()
    }

    /// Returns the line in the help.
    pub fn help(&self) -> &'static str {
        match (self.help)() {
            "" => self.actions[0].help(),
            help => help,
        }
    }
}

/// Stands for no heading, no hint, and the action's own line.
fn none() -> &'static str {
    ""
}

const fn g(context: Context, section: Text, actions: &'static [Action], hint: Text, help: Text) -> Group {
    Group { context, actions, section, hint, help }
}

use Action as A;
use Context as C;

const PANES: &[Action] = &[A::FocusDiff, A::FocusArchive, A::FocusTools, A::FocusChat];

/// The groups, in the order in which hints and help show them.
pub const GROUPS: &[Group] = &[
    g(C::Input, hints::write, &[A::Send], hints::send, none),
    g(C::Input, hints::write, &[A::NewLine], none, none),
    g(C::Input, hints::write, &[A::Sessions], hints::sessions, none),
    g(C::Input, hints::write, &[A::Mention], hints::file, none),
    g(C::Input, hints::write, &[A::Commands], hints::command, none),
    g(C::Input, hints::write, &[A::History], hints::history, none),
    g(C::Input, hints::write, &[A::Editor], none, none),
    g(C::Input, hints::write, &[A::Up, A::Down], none, hints::line_up_down_or_history),
    g(C::Input, hints::write, &[A::DropQueued], none, none),
    g(C::Input, hints::moving, &[A::Left, A::Right], none, hints::left_right),
    g(C::Input, hints::moving, &[A::WordLeft, A::WordRight], none, hints::word_left_right),
    g(C::Input, hints::moving, &[A::LineStart, A::LineEnd], none, hints::start_end_of_the_line),
    g(C::Input, hints::moving, &[A::PageUp, A::PageDown], none, hints::chat_page_up_down),
    g(C::Input, hints::moving, &[A::TextStart, A::TextEnd], none, hints::start_end_of_the_text),
    g(C::Input, hints::delete, &[A::Backspace, A::Delete], none, hints::to_the_left_to_the_right),
    g(C::Input, hints::delete, &[A::DeleteWordLeft, A::DeleteWordRight], none, hints::word_to_the_left_to_the_right),
    g(C::Input, hints::delete, &[A::DeleteToStart, A::DeleteToEnd], none, hints::to_the_start_end_of_the_line),
    g(C::Input, hints::delete, &[A::Yank], none, none),
    g(C::Input, hints::delete, &[A::UndoTyping, A::RedoTyping], none, hints::undo_redo_typing),
    g(C::Line, hints::write, &[A::Send], hints::ok, hints::ok),
    g(C::Line, hints::write, &[A::Close], hints::cancel, hints::cancel),
    g(C::Line, hints::write, &[A::NewLine], none, hints::comment_send_on_deciding),
    g(C::Line, hints::moving, &[A::Left, A::Right], none, hints::left_right),
    g(C::Line, hints::moving, &[A::WordLeft, A::WordRight], none, hints::word_left_right),
    g(C::Line, hints::moving, &[A::LineStart, A::LineEnd], none, hints::start_end_of_the_line),
    g(C::Line, hints::delete, &[A::Backspace, A::Delete], none, hints::to_the_left_to_the_right),
    g(C::Line, hints::delete, &[A::DeleteWordLeft], none, none),
    g(C::Line, hints::delete, &[A::DeleteToStart, A::DeleteToEnd], none, hints::to_the_start_end_of_the_line),
    g(C::Completion, hints::choose, &[A::Insert], hints::insert, none),
    g(C::Completion, hints::choose, &[A::Choose], none, hints::insert_send_what_is_whole),
    g(C::Completion, hints::choose, &[A::Up, A::Down], hints::choose, hints::choose),
    g(C::Completion, hints::choose, &[A::PreviewUp, A::PreviewDown], hints::scroll_preview, hints::scroll_the_preview),
    g(C::Completion, hints::choose, &[A::Close], hints::close, none),
    g(C::List, hints::choose, &[A::Choose], hints::run, none),
    g(C::List, hints::choose, &[A::Complete], hints::complete, none),
    g(C::List, hints::choose, &[A::Up, A::Down], hints::choose, hints::choose),
    g(C::List, hints::choose, &[A::PageUp, A::PageDown], none, hints::page_up_down),
    g(C::List, hints::choose, &[A::Close], hints::close, none),
    g(C::List, hints::moving, &[A::Left, A::Right], none, hints::left_right),
    g(C::List, hints::moving, &[A::LineStart, A::LineEnd], none, hints::start_end_of_the_line),
    g(C::List, hints::delete, &[A::Backspace, A::Delete], none, hints::to_the_left_to_the_right),
    g(C::List, hints::delete, &[A::DeleteWordLeft], none, none),
    g(C::List, hints::delete, &[A::DeleteToStart], none, none),
    g(C::Form, hints::connect, &[A::Choose], none, hints::next_check_or_connect),
    g(C::Form, hints::connect, &[A::NextField, A::PreviousField], none, hints::next_previous_field),
    g(C::Form, hints::connect, &[A::Up, A::Down], none, hints::choose),
    g(C::Form, hints::connect, &[A::Close], none, hints::back),
    g(C::Form, hints::moving, &[A::Left, A::Right], none, hints::left_right),
    g(C::Form, hints::moving, &[A::LineStart, A::LineEnd], none, hints::start_end_of_the_line),
    g(C::Form, hints::delete, &[A::Backspace, A::Delete], none, hints::to_the_left_to_the_right),
    g(C::Form, hints::delete, &[A::DeleteWordLeft], none, none),
    g(C::Form, hints::delete, &[A::DeleteToStart], none, none),
    g(C::Viewer, hints::read, &[A::Up, A::Down], hints::scroll, hints::line_up_down),
    g(C::Viewer, hints::read, &[A::PageUp, A::PageDown], none, hints::page_up_down),
    g(C::Viewer, hints::read, &[A::First, A::Last], none, hints::first_last_line),
    g(C::Viewer, hints::read, &[A::Search], hints::search, none),
    g(C::Viewer, hints::read, &[A::LeaveOut], none, none),
    g(C::Viewer, hints::read, &[A::Close], hints::close, none),
    g(C::Question, hints::answer, &[A::Up, A::Down], hints::select, hints::select),
    g(C::Question, hints::answer, &[A::Answer], hints::confirm, none),
    g(C::Question, hints::answer, &[A::FocusInput], hints::write, hints::answer_in_your_own_words),
    g(C::Question, hints::answer, &[A::Later], hints::later, hints::answer_later),
    g(C::Card, hints::decide, &[A::Accept], hints::run, hints::run_command),
    g(C::Card, hints::decide, &[A::Reject], hints::refuse, hints::refuse_command),
    g(C::Card, hints::decide, &[A::Answer], none, hints::refuse_or_make_rule),
    g(C::Card, hints::decide, &[A::EditResult], hints::edit, hints::edit_command),
    g(C::Card, hints::decide, &[A::RunInView], hints::in_view, none),
    g(C::Card, hints::decide, &[A::WithNetwork], hints::with_network, none),
    g(C::Card, hints::decide, &[A::AlwaysRun], hints::always, none),
    g(C::Card, hints::decide, &[A::AcceptSession], hints::in_review, hints::review_from_now_on),
    g(C::Card, hints::decide, &[A::Left, A::Right], none, hints::rule_shorter_longer),
    g(C::Card, hints::decide, &[A::Toggle], none, hints::rule_kept_or_session),
    g(C::Card, hints::decide, &[A::Later], hints::later, hints::decide_later_command),
    g(C::Card, hints::moving, &[A::Up, A::Down], none, hints::line_up_down),
    g(C::Card, hints::moving, &[A::PageUp, A::PageDown], none, hints::page_up_down),
    g(C::Sessions, hints::session, &[A::Open], hints::resume, hints::resume),
    g(C::Sessions, hints::session, &[A::New], hints::new, none),
    g(C::Sessions, hints::session, &[A::Rename], hints::rename, none),
    g(C::Sessions, hints::session, &[A::Fork], hints::fork, none),
    g(C::Sessions, hints::session, &[A::Remove], hints::delete, none),
    g(C::Sessions, hints::session, &[A::Search], hints::search, hints::search_titles_and_messages),
    g(C::Sessions, hints::session, &[A::Export], hints::export, none),
    g(C::Sessions, hints::moving, &[A::Up, A::Down], none, hints::session_up_down),
    g(C::Sessions, hints::moving, &[A::PageUp, A::PageDown], none, hints::page_up_down),
    g(C::Sessions, hints::moving, &[A::First, A::Last], none, hints::first_last_session),
    g(C::Sessions, hints::moving, &[A::Close], none, hints::back_to_the_open_session),
    g(C::NoModel, hints::start, &[A::Up, A::Down], hints::choose, hints::choose_or_down),
    g(C::NoModel, hints::start, &[A::Open], hints::open, none),
    g(C::NoModel, hints::start, &[A::Commands], hints::command, none),
    g(C::Review, hints::decide, &[A::Accept], hints::keep, hints::keep_hunk),
    g(C::Review, hints::decide, &[A::Reject], hints::restore, hints::restore_hunk),
    g(C::Review, hints::decide, &[A::UndoDecision], hints::undo, none),
    g(C::Review, hints::decide, &[A::AcceptAll], hints::keep_all, hints::keep_entries),
    g(C::Review, hints::decide, &[A::RejectAll], hints::restore_all, hints::restore_entries),
    g(C::Review, hints::decide, &[A::Open], hints::open, hints::open_or_carry_out),
    g(C::Review, hints::moving, &[A::Up, A::Down], none, hints::entry_or_line),
    g(C::Review, hints::moving, &[A::NextHunk, A::PreviousHunk], hints::hunk, hints::next_previous_hunk),
    g(C::Review, hints::moving, &[A::NextFile, A::PreviousFile], hints::file, hints::next_previous_file),
    g(C::Review, hints::moving, &[A::PageUp, A::PageDown], none, hints::page_up_down),
    g(C::Review, hints::moving, &[A::HalfUp, A::HalfDown], none, hints::half_a_page),
    g(C::Review, hints::moving, &[A::First, A::Last], none, hints::first_last_entry),
    g(C::Review, hints::look, &[A::NetOrSingle], hints::net_or_single, none),
    g(C::Review, hints::look, &[A::Layout], none, none),
    g(C::Review, hints::look, &[A::Close], hints::back, hints::back_from_review),
    g(C::Timeline, hints::moving, &[A::BackInTime, A::OnInTime], hints::changeset, hints::earlier_later_changeset),
    g(C::Timeline, hints::moving, &[A::PreviousItem, A::NextItem], hints::turn, hints::earlier_later_turn),
    g(C::Timeline, hints::moving, &[A::First, A::Last], none, hints::first_moment_now),
    g(C::Timeline, hints::moving, &[A::Search], hints::time_or_word, none),
    g(C::Timeline, hints::look, &[A::Pin], hints::pin, hints::pin_moment),
    g(C::Timeline, hints::restore, &[A::RestoreSince], hints::restore_all, hints::restore_all_to_then),
    g(C::Timeline, hints::restore, &[A::Restore], hints::restore_file, hints::restore_file_to_then),
    g(C::Timeline, hints::look, &[A::Up, A::Down], none, hints::file_or_line),
    g(C::Timeline, hints::look, &[A::Open], none, hints::diff_or_files),
    g(C::Timeline, hints::look, &[A::Blame], hints::blame, none),
    g(C::Timeline, hints::look, &[A::NextHunk, A::PreviousHunk], none, hints::next_previous_hunk),
    g(C::Timeline, hints::look, &[A::PageUp, A::PageDown], none, hints::page_up_down),
    g(C::Timeline, hints::look, &[A::Layout], none, none),
    g(C::Timeline, hints::look, &[A::Close], hints::back, hints::back),
    g(C::Blame, hints::look, &[A::Open], hints::turn, hints::open_turn),
    g(C::Blame, hints::look, &[A::ShowChange], hints::its_diff, none),
    g(C::Blame, hints::look, &[A::Search], hints::search, none),
    g(C::Blame, hints::look, &[A::NextMatch, A::PreviousMatch], none, hints::next_previous_match),
    g(C::Blame, hints::look, &[A::FocusTimeline], hints::timeline, none),
    g(C::Blame, hints::moving, &[A::Up, A::Down], hints::line, hints::line_up_down),
    g(C::Blame, hints::moving, &[A::PreviousItem, A::NextItem], none, hints::earlier_later_run),
    g(C::Blame, hints::moving, &[A::NextHunk, A::PreviousHunk], none, hints::next_previous_hunk),
    g(C::Blame, hints::moving, &[A::PageUp, A::PageDown], none, hints::page_up_down),
    g(C::Blame, hints::moving, &[A::HalfUp, A::HalfDown], none, hints::half_a_page),
    g(C::Blame, hints::moving, &[A::First, A::Last], none, hints::first_last_line),
    g(C::Blame, hints::look, &[A::Layout], none, none),
    g(C::Blame, hints::look, &[A::Close], hints::back, hints::back),
    g(C::Diff, hints::decide, &[A::Accept], hints::accept, none),
    g(C::Diff, hints::decide, &[A::Reject], hints::reject, none),
    g(C::Diff, hints::decide, &[A::UndoDecision], hints::undo, none),
    g(C::Diff, hints::decide, &[A::Comment], hints::comment, none),
    g(C::Diff, hints::decide, &[A::Toggle], hints::toggle, none),
    g(C::Diff, hints::undo, &[A::UndoDecision], none, hints::undo_hunk),
    g(C::Diff, hints::undo, &[A::UndoCall], hints::undo_call, none),
    g(C::Diff, hints::undo, &[A::UndoTurn], hints::undo_turn, none),
    g(C::Diff, hints::moving, &[A::NextHunk, A::PreviousHunk], hints::hunk, hints::next_previous_hunk),
    g(C::Diff, hints::moving, &[A::NextFile, A::PreviousFile], hints::file, hints::next_previous_file),
    g(C::Diff, hints::decide, &[A::AcceptAll], hints::all, none),
    g(C::Diff, hints::decide, &[A::RejectAll], hints::none, none),
    g(C::Diff, hints::decide, &[A::EditResult], hints::edit, none),
    g(C::Diff, hints::look, &[A::Layout], hints::layout, none),
    g(C::Diff, hints::decide, &[A::AcceptSession], hints::all_from_now_on, none),
    g(C::Diff, hints::decide, &[A::Write], none, none),
    g(C::Diff, hints::decide, &[A::Later], hints::later, none),
    g(C::Diff, hints::decide, &[A::Test], hints::test, none),
    g(C::Diff, hints::look, &[A::Fold], none, none),
    g(C::Diff, hints::look, &[A::WrapLines], none, none),
    g(C::Diff, hints::look, &[A::Copy], none, hints::copy_this_hunk),
    g(C::Diff, hints::look, &[A::Blame], none, none),
    g(C::Archive, hints::look, &[A::Open], hints::diff, hints::compare_with_now),
    g(C::Archive, hints::look, &[A::Down, A::Up], hints::moving, hints::changeset_or_file_down_and_up),
    g(C::Archive, hints::look, &[A::BackInTime, A::OnInTime], hints::in_time, hints::earlier_later_version),
    g(C::Archive, hints::look, &[A::Pin], hints::pin, none),
    g(C::Archive, hints::restore, &[A::Restore], hints::restore_file, none),
    g(C::Archive, hints::restore, &[A::RestoreChangeset], hints::undo_changeset, none),
    g(C::Archive, hints::restore, &[A::RestoreSince], none, none),
    g(C::Archive, hints::restore, &[A::Redo], hints::redo, none),
    g(C::Archive, hints::restore, &[A::LeaveForeign], hints::keep, hints::keep_the_file_as_it_is),
    g(C::Archive, hints::restore, &[A::MergeForeign], hints::merge, none),
    g(C::Archive, hints::restore, &[A::TakeOld], hints::restore, hints::restore_this_version),
    g(C::Archive, hints::restore, &[A::Escape], hints::back, hints::close_restore_filter_or_diff),
    g(C::Archive, hints::look, &[A::Search], hints::filter, hints::filter_by_path_or_cause),
    g(C::Archive, hints::look, &[A::FocusTimeline], none, hints::timeline_at),
    g(C::Archive, hints::look, &[A::Blame], none, none),
    g(C::Archive, hints::look, &[A::Lower, A::Higher], none, hints::this_pane_lower_higher),
    g(C::Chat, hints::look, &[A::Open], hints::open, hints::open_close_first_action),
    g(C::Chat, hints::look, &[A::Fold], hints::fold, hints::its_fold_a_notice_file),
    g(C::Chat, hints::look, &[A::Again], hints::ask_again, none),
    g(C::Chat, hints::look, &[A::RestoreSince], hints::undo_since_here, hints::undo_all_since_this_message),
    g(C::Chat, hints::moving, &[A::NextItem, A::PreviousItem], hints::entry, hints::next_previous_entry),
    g(C::Tools, hints::look, &[A::Open], hints::open, hints::open_or_close_the_call),
    g(C::Tools, hints::look, &[A::Fold], hints::fold, none),
    g(C::Tools, hints::moving, &[A::NextItem, A::PreviousItem], none, hints::next_previous_call),
    g(C::Tools, hints::look, &[A::FailedOnly], hints::failed_only, none),
    g(C::Tools, hints::look, &[A::Lower, A::Higher], none, hints::the_archive_below_lower_higher),
    g(C::Pane, hints::moving, &[A::Down, A::Up], none, hints::line_down_up),
    g(C::Pane, hints::moving, &[A::HalfDown, A::HalfUp], none, hints::half_a_page),
    g(C::Pane, hints::moving, &[A::PageDown, A::PageUp], none, hints::page_down_up),
    g(C::Pane, hints::moving, &[A::First, A::Last], none, hints::first_last_line),
    g(C::Pane, hints::look, &[A::FoldAll], none, none),
    g(C::Pane, hints::look, &[A::Copy], hints::copy, none),
    g(C::Pane, hints::look, &[A::Search], hints::search, none),
    g(C::Pane, hints::look, &[A::NextMatch, A::PreviousMatch], none, hints::next_previous_match),
    g(C::Pane, hints::everywhere, &[A::FocusInput], none, none),
    g(C::Pane, hints::everywhere, &[A::Zoom], hints::zoom, none),
    g(C::Pane, hints::everywhere, &[A::Narrower, A::Wider], none, hints::left_column_narrower_wider),
    g(C::Pane, hints::everywhere, &[A::Commands], none, none),
    g(C::Global, hints::everywhere, &[A::ToggleMode], hints::mode, none),
    g(C::Global, hints::everywhere, &[A::NextPane], hints::pane, hints::next_pane),
    g(C::Global, none, &[A::FocusDiff], hints::diff, none),
    g(C::Global, none, &[A::FocusArchive], hints::archive, none),
    g(C::Global, hints::everywhere, PANES, none, hints::diff_archive_tools_chat),
    g(C::Global, hints::everywhere, &[A::FocusQuestion], none, none),
    g(C::Global, hints::everywhere, &[A::FocusReview], none, none),
    g(C::Global, hints::everywhere, &[A::FocusTimeline], none, none),
    g(C::Global, hints::everywhere, &[A::Palette], none, none),
    g(C::Global, hints::everywhere, &[A::ChooseModel], none, none),
    g(C::Global, hints::everywhere, &[A::Escape], none, none),
    g(C::Global, hints::everywhere, &[A::Cancel], none, none),
    g(C::Global, hints::everywhere, &[A::Suspend], none, none),
    g(C::Global, hints::everywhere, &[A::Redraw], none, none),
    g(C::Global, hints::everywhere, &[A::Help], hints::help, none),
];

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

//! The places in which each action works, and the names of its keys in the hints and the help.

use super::action::{Action, Context};
use crate::messages::{Text, hints};

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
    g(C::Input, hints::write, &[A::Editor], hints::in_editor, none),
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
    g(C::Viewer, hints::read, &[A::NextMatch, A::PreviousMatch], none, hints::next_previous_match),
    g(C::Viewer, hints::read, &[A::LeaveOut], none, none),
    g(C::Viewer, hints::read, &[A::Close], hints::close, none),
    g(C::Question, hints::answer, &[A::Up, A::Down], hints::select, hints::select),
    g(C::Question, hints::answer, &[A::Answer], hints::confirm, none),
    g(C::Question, hints::answer, &[A::FocusInput], hints::write, hints::answer_in_your_own_words),
    g(C::Question, hints::answer, &[A::Later], hints::later, hints::answer_later),
    g(C::Question, hints::moving, &[A::PageUp, A::PageDown], hints::scroll, hints::page_up_down),
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
    g(C::Card, hints::moving, &[A::Up, A::Down], hints::scroll, hints::line_up_down),
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
    g(C::Sessions, hints::moving, &[A::Close], hints::back, hints::back_to_the_open_session),
    g(C::NoModel, hints::start, &[A::Up, A::Down], hints::choose, hints::choose_or_down),
    g(C::NoModel, hints::start, &[A::Open], hints::open, none),
    g(C::NoModel, hints::start, &[A::Commands], hints::command, none),
    g(C::Review, hints::decide, &[A::Accept], hints::keep, hints::keep_hunk),
    g(C::Review, hints::decide, &[A::Reject], hints::restore, hints::restore_hunk),
    g(C::Review, hints::decide, &[A::UndoDecision], hints::undo, none),
    g(C::Review, hints::decide, &[A::AcceptAll], hints::keep_all, hints::keep_entries),
    g(C::Review, hints::decide, &[A::RejectAll], hints::restore_all, hints::restore_entries),
    g(C::Review, hints::decide, &[A::Open], hints::open, hints::open_or_run),
    g(C::Review, hints::moving, &[A::Up, A::Down], none, hints::entry_or_line),
    g(C::Review, hints::moving, &[A::NextHunk, A::PreviousHunk], hints::hunk, hints::next_previous_hunk),
    g(C::Review, hints::moving, &[A::NextFile, A::PreviousFile], hints::file, hints::next_previous_file),
    g(C::Review, hints::moving, &[A::PageUp, A::PageDown], none, hints::page_up_down),
    g(C::Review, hints::moving, &[A::HalfUp, A::HalfDown], none, hints::half_a_page),
    g(C::Review, hints::moving, &[A::First, A::Last], none, hints::first_last_entry),
    g(C::Review, hints::look, &[A::NetOrSingle], hints::net_or_single, none),
    g(C::Review, hints::look, &[A::Layout], none, none),
    g(C::Review, hints::look, &[A::Close], hints::back, hints::back_from_review),
    g(C::Graph, none, &[A::Open], hints::open, none),
    g(C::Graph, hints::look, &[A::Open, A::Right], none, hints::to_reference),
    g(C::Graph, hints::look, &[A::Left], none, hints::back_or_list),
    g(C::Graph, hints::decide, &[A::KeepConflict], hints::keep, hints::conflict_settles),
    g(C::Graph, hints::decide, &[A::TakeConflict], hints::take, hints::conflict_takes),
    g(C::Graph, hints::look, &[A::Search], hints::filter, hints::filter_or_search),
    g(C::Graph, hints::look, &[A::NextMatch, A::PreviousMatch], none, hints::next_previous_match),
    g(C::Graph, hints::moving, &[A::Up, A::Down], none, hints::definition_or_line),
    g(C::Graph, hints::moving, &[A::NextItem, A::PreviousItem], none, hints::next_previous_section),
    g(C::Graph, hints::moving, &[A::PageUp, A::PageDown], none, hints::page_up_down),
    g(C::Graph, hints::moving, &[A::HalfUp, A::HalfDown], none, hints::half_a_page),
    g(C::Graph, hints::moving, &[A::First, A::Last], none, hints::first_last),
    g(C::Graph, hints::look, &[A::Close], hints::back, hints::back_from_review),
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
    g(C::Diff, hints::decide, &[A::AcceptDefinition], none, none),
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
    g(C::Diff, hints::decide, &[A::Write], none, none),
    g(C::Diff, hints::decide, &[A::Test], hints::test, none),
    g(C::Diff, hints::decide, &[A::AcceptSession], hints::all_from_now_on, none),
    g(C::Diff, hints::decide, &[A::Later], hints::later, none),
    g(C::Diff, hints::look, &[A::Fold], none, none),
    g(C::Diff, hints::look, &[A::FoldAll], none, hints::heads_alone),
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
    g(C::Archive, hints::restore, &[A::Keep], hints::keep, hints::keep_the_file_as_it_is),
    g(C::Archive, hints::restore, &[A::Merge], hints::merge, none),
    g(C::Archive, hints::restore, &[A::RestoreVersion], hints::restore, hints::restore_this_version),
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
    g(C::Tools, hints::look, &[A::RunOn], hints::run_on, none),
    g(C::Tools, hints::look, &[A::StopCommand], hints::stop, none),
    g(C::Tools, hints::look, &[A::Lower, A::Higher], none, hints::the_archive_below_lower_higher),
    g(C::Pane, hints::moving, &[A::Down, A::Up], none, hints::line_down_up),
    g(C::Pane, hints::moving, &[A::HalfDown, A::HalfUp], none, hints::half_a_page),
    g(C::Pane, hints::moving, &[A::PageDown, A::PageUp], none, hints::page_down_up),
    g(C::Pane, hints::moving, &[A::First, A::Last], none, hints::first_last_line),
    g(C::Pane, hints::look, &[A::FoldAll], none, none),
    g(C::Pane, hints::look, &[A::Copy], hints::copy, none),
    g(C::Pane, hints::look, &[A::Search], hints::search, none),
    g(C::Pane, hints::look, &[A::NextMatch, A::PreviousMatch], hints::next_previous_match, hints::next_previous_match),
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
    g(C::Global, hints::everywhere, &[A::FocusGraph], none, none),
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
    use crate::messages::{Language, with};
    use crate::tui::pane::id::PaneId;

    #[test]
    fn each_pane_has_its_key_and_its_word_in_the_line_of_the_panes() {
        let listed: Vec<PaneId> = PANES.iter().filter_map(|action| PaneId::pane_of(*action)).collect();
        for pane in PaneId::ALL {
            assert!(listed.contains(pane), "PANES lacks the action that shows {pane:?}");
        }
        for (language, mark) in [(Language::English, ','), (Language::Japanese, '/')] {
            let words = with(language, hints::diff_archive_tools_chat);
            assert_eq!(words.split(mark).count(), PANES.len(), "{words}");
        }
    }
}

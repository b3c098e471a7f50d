//! Everything a key or a command can mean, once: [`TABLE`] gives each [`Action`] its name in `keys.toml`, and
//! [`GROUPS`] says where it works and what the hints and the help call it. `?`, the hints, the palette, the
//! README's table and the errors about `keys.toml` are all drawn from here.

/// Where the keys go. A key is looked up in the innermost context first, then in its [`Context::outer`] ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Context {
    /// Everywhere.
    Global,
    /// In every pane.
    Pane,
    /// The conversation.
    Chat,
    /// The calls.
    Tools,
    /// The proposal, or the last diff.
    Diff,
    /// The archive.
    Archive,
    /// The input.
    Input,
    /// A single line that something asked for: a filter, a reason, a new title.
    Line,
    /// The list of files under `@`.
    Completion,
    /// A list to choose from while typing narrows it: commands, models, themes.
    List,
    /// A page to read: help, rules, stats.
    Viewer,
    /// A question of the model.
    Question,
    /// The sessions of the project.
    Sessions,
    /// What stands in the prompt's place while no model is connected.
    NoModel,
}

impl Context {
    /// Every context with its name in `keys.toml`.
    pub const ALL: [(Context, &'static str); 14] = [
        (Context::Global, "global"),
        (Context::Pane, "pane"),
        (Context::Chat, "chat"),
        (Context::Tools, "tools"),
        (Context::Diff, "diff"),
        (Context::Archive, "archive"),
        (Context::Input, "input"),
        (Context::Line, "line"),
        (Context::Completion, "completion"),
        (Context::List, "list"),
        (Context::Viewer, "viewer"),
        (Context::Question, "question"),
        (Context::Sessions, "sessions"),
        (Context::NoModel, "no-model"),
    ];

    /// The contexts whose keys work here too, from the inside out.
    pub fn outer(self) -> &'static [Context] {
        match self {
            Context::Global => &[],
            Context::Chat | Context::Tools | Context::Diff | Context::Archive => &[Context::Pane, Context::Global],
            Context::Completion => &[Context::Input, Context::Global],
            _ => &[Context::Global],
        }
    }

    /// Whether `action` decides something, so that its key means what it means elsewhere while nothing waits.
    pub fn decides(self, action: Action) -> bool {
        self == Context::Diff && matches!(action, Action::Accept | Action::Reject)
    }

    /// Its name in `keys.toml`.
    pub fn name(self) -> &'static str {
        Context::ALL.iter().find(|(c, _)| *c == self).map_or("global", |(_, n)| n)
    }
}

macro_rules! actions {
    ($($action:ident $name:literal $help:literal)*) => {
        /// What a key or a command means.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Action {
            $(#[doc = $help] $action,)*
        }

        /// Every action with its name in `keys.toml` and what it does.
        pub const TABLE: &[(Action, &str, &str)] = &[$((Action::$action, $name, $help),)*];
    };
}

actions! {
    Help "help" "keys"
    NextPane "next-pane" "go to the next pane"
    FocusChat "focus-chat" "go to the chat"
    FocusTools "focus-tools" "go to the tool calls"
    FocusDiff "focus-diff" "go to the diff"
    FocusArchive "focus-archive" "go to the archive"
    Sessions "sessions" "go to the recent sessions"
    FocusQuestion "focus-question" "go to the question"
    FocusInput "focus-input" "write to nebula"
    ToggleMode "toggle-mode" "ask, approve edits, or plan"
    Palette "palette" "commands"
    Commands "commands" "commands"
    ChooseModel "choose-model" "another model"
    Cancel "cancel" "stop, or clear; twice: quit"
    Escape "escape" "stop the turn, or to the input"
    Suspend "suspend" "suspend nebula"
    Redraw "redraw" "draw the screen again"
    Quit "quit" "quit"
    Zoom "zoom" "give this pane the whole screen"
    Narrower "narrower" "make the left column narrower"
    Wider "wider" "make the left column wider"
    Lower "lower" "make the archive lower"
    Higher "higher" "make the archive higher"
    Up "up" "line up"
    Down "down" "line down"
    Left "left" "left"
    Right "right" "right"
    HalfUp "half-page-up" "half a page up"
    HalfDown "half-page-down" "half a page down"
    PageUp "page-up" "page up"
    PageDown "page-down" "page down"
    First "first" "to the beginning"
    Last "last" "to the end"
    Open "open" "open what is selected"
    Fold "fold" "open or close the fold"
    FoldAll "fold-all" "open or close all folds"
    Copy "copy" "copy what is selected"
    FailedOnly "failed-only" "show failed calls only, or all"
    Search "search" "search"
    NextMatch "next-match" "next match"
    PreviousMatch "previous-match" "previous match"
    NextItem "next-item" "next entry"
    PreviousItem "previous-item" "previous entry"
    Again "again" "ask again"
    Accept "accept" "accept this hunk, go to the next"
    Reject "reject" "reject it, go to the next"
    Toggle "toggle" "toggle the decision"
    AcceptAll "accept-all" "accept all that is undecided"
    RejectAll "reject-all" "reject all, then say why"
    AcceptSession "accept-session" "accept all edits of this session"
    UndoDecision "undo-decision" "undo the last decision"
    Comment "comment" "ask about this hunk"
    UndoCall "undo-call" "undo the file's last call"
    UndoTurn "undo-turn" "undo the file's last turn"
    Write "write" "write what is accepted"
    Later "later" "decide later"
    EditResult "edit-result" "edit the result in $EDITOR"
    NextHunk "next-hunk" "next hunk"
    PreviousHunk "previous-hunk" "previous hunk"
    NextFile "next-file" "next file"
    PreviousFile "previous-file" "previous file"
    Layout "layout" "side by side or unified"
    WrapLines "wrap-lines" "wrap unchanged lines too"
    BackInTime "back-in-time" "earlier version of this file"
    OnInTime "on-in-time" "later version of this file"
    Restore "restore" "restore this file"
    RestoreChangeset "restore-changeset" "undo the whole changeset"
    RestoreSince "restore-since" "undo everything since here"
    Redo "redo" "redo the last undo"
    Pin "pin" "compare with this version"
    LeaveForeign "leave-it" "keep the file as it was changed outside nebula"
    MergeForeign "merge-it" "merge three ways"
    TakeOld "take-old" "restore this version (the current one is archived)"
    Send "send" "send, or queue while nebula works"
    NewLine "new-line" "new line"
    Mention "mention" "mention a file"
    Editor "editor" "write in $EDITOR"
    History "history" "search the history"
    DropQueued "drop-queued" "drop the next queued message"
    LineStart "line-start" "start of the line"
    LineEnd "line-end" "end of the line"
    TextStart "text-start" "start of the text"
    TextEnd "text-end" "end of the text"
    WordLeft "word-left" "word left"
    WordRight "word-right" "word right"
    Backspace "backspace" "delete to the left"
    Delete "delete" "delete to the right"
    DeleteWordLeft "delete-word-left" "delete the word to the left"
    DeleteWordRight "delete-word-right" "delete the word to the right"
    DeleteToStart "delete-to-start" "delete to the start of the line"
    DeleteToEnd "delete-to-end" "delete to the end of the line"
    Yank "yank" "put back what was deleted last"
    UndoTyping "undo-typing" "undo typing"
    RedoTyping "redo-typing" "redo typing"
    Insert "insert" "insert what is selected"
    Choose "choose" "select"
    Complete "complete" "complete the name"
    Close "close" "close"
    PreviewUp "preview-up" "scroll the preview up"
    PreviewDown "preview-down" "scroll the preview down"
    Answer "answer" "answer with what is selected"
    New "new" "new session"
    Rename "rename" "rename"
    Fork "fork" "fork the session"
    Remove "remove" "delete, after asking"
    Export "export" "export to a file"
}

impl Action {
    /// The action called `name` in `keys.toml`.
    pub fn named(name: &str) -> Option<Action> {
        TABLE.iter().find(|(_, n, _)| *n == name).map(|(a, _, _)| *a)
    }

    /// Its name in `keys.toml`.
    pub fn name(self) -> &'static str {
        TABLE.iter().find(|(a, _, _)| *a == self).map_or("", |(_, n, _)| n)
    }

    /// What it does.
    pub fn help(self) -> &'static str {
        TABLE.iter().find(|(a, _, _)| *a == self).map_or("", |(_, _, h)| h)
    }
}

/// Keys that belong together on the screen: one hint, one line of help.
#[derive(Debug, Clone, Copy)]
pub struct Group {
    /// Where they work.
    pub context: Context,
    /// Heading in the help; empty: a hint only.
    pub section: &'static str,
    /// What they do, in the order in which their keys are shown.
    pub actions: &'static [Action],
    /// The word in the hints; empty: not hinted at.
    pub hint: &'static str,
    /// The line in the help; empty: the action's own.
    pub help: &'static str,
}

const fn g(
    context: Context,
    section: &'static str,
    actions: &'static [Action],
    hint: &'static str,
    help: &'static str,
) -> Group {
    Group { context, section, actions, hint, help }
}

use Action as A;
use Context as C;

/// The groups, in the order in which hints and help show them.
pub const GROUPS: &[Group] = &[
    g(C::Input, "write", &[A::Send], "send", ""),
    g(C::Input, "write", &[A::NewLine], "", ""),
    g(C::Input, "write", &[A::Sessions], "sessions", ""),
    g(C::Input, "write", &[A::Mention], "file", ""),
    g(C::Input, "write", &[A::Commands], "command", ""),
    g(C::Input, "write", &[A::Editor], "", ""),
    g(C::Input, "write", &[A::Up, A::Down], "", "line up, down; or history"),
    g(C::Input, "write", &[A::History], "", ""),
    g(C::Input, "write", &[A::DropQueued], "", ""),
    g(C::Input, "move", &[A::Left, A::Right], "", "left, right"),
    g(C::Input, "move", &[A::WordLeft, A::WordRight], "", "word left, right"),
    g(C::Input, "move", &[A::LineStart, A::LineEnd], "", "start, end of the line"),
    g(C::Input, "move", &[A::TextStart, A::TextEnd], "", "start, end of the text"),
    g(C::Input, "delete", &[A::Backspace, A::Delete], "", "to the left, to the right"),
    g(C::Input, "delete", &[A::DeleteWordLeft, A::DeleteWordRight], "", "word to the left, to the right"),
    g(C::Input, "delete", &[A::DeleteToStart, A::DeleteToEnd], "", "to the start, end of the line"),
    g(C::Input, "delete", &[A::Yank], "", ""),
    g(C::Input, "delete", &[A::UndoTyping, A::RedoTyping], "", "undo, redo typing"),
    g(C::Line, "write", &[A::Send], "OK", "OK"),
    g(C::Line, "write", &[A::Close], "cancel", "cancel"),
    g(C::Completion, "choose", &[A::Insert], "insert", ""),
    g(C::Completion, "choose", &[A::Choose], "", "insert; send what is whole"),
    g(C::Completion, "choose", &[A::Up, A::Down], "choose", "choose"),
    g(C::Completion, "choose", &[A::PreviewUp, A::PreviewDown], "scroll preview", "scroll the preview"),
    g(C::Completion, "choose", &[A::Close], "close", ""),
    g(C::List, "choose", &[A::Choose], "run", ""),
    g(C::List, "choose", &[A::Complete], "complete", ""),
    g(C::List, "choose", &[A::Up, A::Down], "choose", "choose"),
    g(C::List, "choose", &[A::PageUp, A::PageDown], "", "page up, down"),
    g(C::List, "choose", &[A::Close], "close", ""),
    g(C::Viewer, "read", &[A::Up, A::Down], "scroll", "line up, down"),
    g(C::Viewer, "read", &[A::PageUp, A::PageDown], "", "page up, down"),
    g(C::Viewer, "read", &[A::First, A::Last], "", "first, last line"),
    g(C::Viewer, "read", &[A::Search], "search", ""),
    g(C::Viewer, "read", &[A::Close], "close", ""),
    g(C::Question, "answer", &[A::Up, A::Down], "move", "move"),
    g(C::Question, "answer", &[A::Answer], "answer", ""),
    g(C::Question, "answer", &[A::FocusInput], "write", "answer in your own words"),
    g(C::Question, "answer", &[A::Later], "later", "answer later"),
    g(C::Sessions, "session", &[A::Open], "resume", "resume"),
    g(C::Sessions, "session", &[A::New], "new", ""),
    g(C::Sessions, "session", &[A::Rename], "rename", ""),
    g(C::Sessions, "session", &[A::Fork], "fork", ""),
    g(C::Sessions, "session", &[A::Remove], "delete", ""),
    g(C::Sessions, "session", &[A::Search], "search", "search titles and messages"),
    g(C::Sessions, "session", &[A::Export], "export", ""),
    g(C::Sessions, "move", &[A::Up, A::Down], "", "session up, down"),
    g(C::Sessions, "move", &[A::PageUp, A::PageDown], "", "page up, down"),
    g(C::Sessions, "move", &[A::First, A::Last], "", "first, last session"),
    g(C::Sessions, "move", &[A::Close], "", "back to the open session"),
    g(C::NoModel, "start", &[A::Up, A::Down], "choose", "choose; down to the recent sessions"),
    g(C::NoModel, "start", &[A::Open], "open", ""),
    g(C::NoModel, "start", &[A::Commands], "command", ""),
    g(C::Diff, "decide", &[A::Accept], "accept", ""),
    g(C::Diff, "decide", &[A::Reject], "reject", ""),
    g(C::Diff, "decide", &[A::UndoDecision], "undo", ""),
    g(C::Diff, "decide", &[A::Comment], "comment", ""),
    g(C::Diff, "decide", &[A::Toggle], "toggle", ""),
    g(C::Diff, "undo", &[A::UndoCall], "undo call", ""),
    g(C::Diff, "undo", &[A::UndoTurn], "undo turn", ""),
    g(C::Diff, "move", &[A::NextHunk, A::PreviousHunk], "hunk", "next, previous hunk"),
    g(C::Diff, "move", &[A::NextFile, A::PreviousFile], "file", "next, previous file"),
    g(C::Diff, "decide", &[A::AcceptAll], "all", ""),
    g(C::Diff, "decide", &[A::RejectAll], "none", ""),
    g(C::Diff, "decide", &[A::EditResult], "edit", ""),
    g(C::Diff, "look", &[A::Layout], "layout", ""),
    g(C::Diff, "decide", &[A::AcceptSession], "all from now on", ""),
    g(C::Diff, "decide", &[A::Write], "", ""),
    g(C::Diff, "decide", &[A::Later], "later", ""),
    g(C::Diff, "look", &[A::Fold], "", ""),
    g(C::Diff, "look", &[A::WrapLines], "", ""),
    g(C::Diff, "look", &[A::Copy], "", "copy this hunk"),
    g(C::Archive, "look", &[A::Open], "diff", "compare with now"),
    g(C::Archive, "look", &[A::Down, A::Up], "move", "changeset or file, down and up"),
    g(C::Archive, "look", &[A::BackInTime, A::OnInTime], "in time", "earlier, later version"),
    g(C::Archive, "look", &[A::Pin], "pin", ""),
    g(C::Archive, "restore", &[A::Restore], "restore file", ""),
    g(C::Archive, "restore", &[A::RestoreChangeset], "undo changeset", ""),
    g(C::Archive, "restore", &[A::RestoreSince], "", ""),
    g(C::Archive, "restore", &[A::Redo], "redo", ""),
    g(C::Archive, "restore", &[A::LeaveForeign], "keep", "keep the file as it is"),
    g(C::Archive, "restore", &[A::MergeForeign], "merge", ""),
    g(C::Archive, "restore", &[A::TakeOld], "restore", "restore this version"),
    g(C::Archive, "restore", &[A::Escape], "back", "close restore, filter or diff"),
    g(C::Archive, "look", &[A::Search], "filter", "filter by path or cause"),
    g(C::Archive, "look", &[A::Lower, A::Higher], "", "this pane: lower, higher"),
    g(C::Chat, "look", &[A::Open], "open", "open, close; first action"),
    g(C::Chat, "look", &[A::Fold], "fold", "its fold; a notice's file"),
    g(C::Chat, "look", &[A::Again], "ask again", ""),
    g(C::Chat, "look", &[A::RestoreSince], "undo since here", "undo all since this message"),
    g(C::Chat, "move", &[A::NextItem, A::PreviousItem], "entry", "next, previous entry"),
    g(C::Tools, "look", &[A::Open], "open", "open or close the call"),
    g(C::Tools, "look", &[A::Fold], "fold", ""),
    g(C::Tools, "look", &[A::FailedOnly], "failed only", ""),
    g(C::Tools, "look", &[A::Lower, A::Higher], "", "the archive below: lower, higher"),
    g(C::Pane, "move", &[A::Down, A::Up], "", "line down, up"),
    g(C::Pane, "move", &[A::HalfDown, A::HalfUp], "", "half a page"),
    g(C::Pane, "move", &[A::PageDown, A::PageUp], "", "page down, up"),
    g(C::Pane, "move", &[A::First, A::Last], "", "first, last line"),
    g(C::Pane, "look", &[A::FoldAll], "", ""),
    g(C::Pane, "look", &[A::Copy], "copy", ""),
    g(C::Pane, "look", &[A::Search], "search", ""),
    g(C::Pane, "look", &[A::NextMatch, A::PreviousMatch], "", "next, previous match"),
    g(C::Pane, "everywhere", &[A::Zoom], "zoom", ""),
    g(C::Pane, "everywhere", &[A::Narrower, A::Wider], "", "left column: narrower, wider"),
    g(C::Pane, "everywhere", &[A::Commands], "", ""),
    g(C::Global, "everywhere", &[A::ToggleMode], "mode", ""),
    g(C::Global, "everywhere", &[A::NextPane], "pane", "next pane"),
    g(C::Global, "", &[A::FocusDiff], "diff", ""),
    g(C::Global, "", &[A::FocusArchive], "archive", ""),
    g(
        C::Global,
        "everywhere",
        &[A::FocusDiff, A::FocusArchive, A::FocusTools, A::FocusChat],
        "",
        "diff, archive, tools, chat",
    ),
    g(C::Global, "everywhere", &[A::FocusQuestion], "", ""),
    g(C::Global, "everywhere", &[A::Palette], "", ""),
    g(C::Global, "everywhere", &[A::ChooseModel], "", ""),
    g(C::Global, "everywhere", &[A::Escape], "", ""),
    g(C::Global, "everywhere", &[A::Cancel], "", ""),
    g(C::Global, "everywhere", &[A::Suspend], "", ""),
    g(C::Global, "everywhere", &[A::Redraw], "", ""),
    g(C::Global, "everywhere", &[A::Help], "help", ""),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_said() {
        for (i, (_, name, help)) in TABLE.iter().enumerate() {
            assert!(!help.is_empty());
            assert!(!TABLE[..i].iter().any(|(_, n, _)| n == name), "{name} twice");
        }
        assert_eq!(Action::named("accept-all"), Some(Action::AcceptAll));
        assert_eq!(Action::AcceptAll.name(), "accept-all");
    }
}

//! The messages that wake the screen ([`Msg`]) and the effects it asks for ([`Effect`]): values, so that tests can
//! write the one and read the other.

use crossterm::event::{KeyEvent, MouseEvent};

use super::action::Action;
use super::colour::Rgb;
use super::pane::id::PaneId;
use crate::proposal::ProposalId;
use crate::protocol::{Command, Event, Query};

/// Everything that can wake the screen.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant)] // one at a time, moved and never kept
pub enum Msg {
    /// A key went down.
    Key(KeyEvent),
    /// A bracketed paste.
    Paste(String),
    /// The mouse, where it is on.
    Mouse(MouseEvent),
    /// The terminal's size in cells: columns, rows.
    Resize(u16, u16),
    /// The terminal window has the keys, or lost them.
    Focus(bool),
    /// The agent told something.
    Agent(Event),
    /// The agent is gone.
    Gone,
    /// The time: unix milliseconds. Comes before everything that happened at that time.
    Tick(i64),
    /// The editor closed: what it left, or why there is nothing.
    Edited(EditFor, Result<Vec<u8>, String>),
    /// The terminal told the colour of its background.
    Background(Rgb),
    /// The terminal draws our marks two cells wide: the ASCII ones fit.
    Wide,
}

/// An effect outside of the program: [`super::app::App`] returns these, and `run` performs them.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Tell the agent.
    Send(Command),
    /// Open a text in `$EDITOR`; it comes back as [`Msg::Edited`].
    Edit {
        /// The owner of the text.
        purpose: EditFor,
        /// The text.
        text: Vec<u8>,
        /// A file name whose extension tells the language.
        name: String,
    },
    /// Open a workspace file, by normalised path, in `$EDITOR`.
    OpenFile(String),
    /// Copy to the clipboard through the terminal.
    Copy(String),
    /// Call for attention, with words for terminals that show them.
    Bell(String),
    /// Take the mouse, or let it go.
    Mouse(bool),
    /// Ask the terminal for the colour of its background.
    AskBackground,
    /// Draw everything again.
    Redraw,
    /// Stop until the shell continues us.
    Suspend,
    /// Leave.
    Quit(Exit),
}

/// An effect that a pane or a list asks for. The screen does all of it but [`PaneEffect::Run`], which leaves the
/// program.
#[derive(Debug, Clone, PartialEq)]
pub enum PaneEffect {
    /// Something outside.
    Run(Effect),
    /// Ask the agent for a listing; the answer goes to who asked.
    Ask(Query),
    /// Ask the person for a line of text, in place of the input; it goes to who asked.
    Line {
        /// Its purpose.
        purpose: LineFor,
        /// Its label, on the rule above it: `why were they rejected?`.
        prompt: String,
        /// The text it begins with.
        text: String,
    },
    /// Show a pane and give it the keys.
    Focus(PaneId),
    /// Give the keys to the input.
    FocusInput,
    /// Do something that a key could do, wherever the focus is.
    Do(Action),
    /// Say something on the rule above the input until the next key.
    Say(String),
    /// Show what someone else changed in this file.
    ShowChange(String),
    /// Show who wrote each line of this file, from this line on, counted from 0.
    Blame(String, usize),
    /// Show the workspace just before this changeset; none: before the newest turn.
    Timeline(Option<String>),
    /// Show a turn in the chat.
    Turn {
        /// Its session.
        session: String,
        /// The time at which the person sent its message, in unix milliseconds, where it is known.
        at: Option<i64>,
    },
}

impl PaneEffect {
    /// Tells the agent.
    pub fn send(command: Command) -> Self {
        PaneEffect::Run(Effect::Send(command))
    }
}

/// The reason why the screen ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// The person is done.
    Done,
    /// The person wants the tour.
    Tour,
    /// The agent is gone.
    Lost,
    /// A signal with this number.
    Signal(i32),
}

/// The purpose of a line of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LineFor {
    /// The reason for rejected hunks; sent to the model.
    Reason,
    /// Another text for a command.
    Text,
    /// A question about the hunk in focus.
    Comment,
    /// A comment that is sent with the decision.
    Note,
    /// Words to look for in the pane.
    Search,
    /// Words that paths or causes must hold.
    Filter,
    /// A new title for the session with this id.
    Rename(String),
}

/// The state of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineInput<'a> {
    /// The line as it stands, while it is typed.
    Now(&'a str),
    /// The line as it was entered.
    Taken(&'a str),
    /// The line was left with Esc.
    Left,
}

/// The owner of the text in the editor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditFor {
    /// The input's.
    Input,
    /// The proposed text of a file: the proposal, and the file's place in it.
    Result(ProposalId, usize),
    /// The proposed commit message.
    Commit,
}

//! The parts of [`super::App`]'s state that belong together.

use std::collections::{HashMap, VecDeque};

use crate::proposal::ProposalId;
use crate::protocol::{Query, QueryId, QuestionId, Status, TurnEnd, Wait};
use crate::tui::colour::Rgb;
use crate::tui::glyphs::Glyphs;
use crate::tui::keys::{Chord, Keys};
use crate::tui::pane::id::PaneId;
use crate::tui::text::highlight::Highlighter;
use crate::tui::theme::{Depth, Theme, Themes};

/// The part of the screen that has the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Focus {
    /// The popup on top.
    Popup,
    /// The line that something asked for.
    Line,
    /// The input.
    Input,
    /// The question of the model.
    Question,
    /// A pane.
    Pane(PaneId),
    /// The sessions.
    Sessions,
    /// The choices of who has no model.
    NoModel,
    /// The changes that wait to be reviewed.
    Review,
    /// The graph of definitions.
    Graph,
    /// The timeline, or who wrote a file.
    Past,
}

/// The focus on the main screen, when nothing lies over it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tui) enum At {
    Input,
    Pane,
    Question,
    /// The input, whose text answers the question.
    Answer,
}

/// The requester of a line or a listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tui) enum Owner {
    Pane(PaneId),
    Sessions,
    Review,
    Graph,
    Past,
    Completion,
    Finder,
    List,
    Page,
    History,
    /// The card of a command.
    Card,
    /// The bare file name at the caret.
    Bare,
    /// The changes of the session.
    Changed,
}

/// The edge that is dragged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tui) enum Edge {
    /// The rule between the columns.
    Columns,
    /// The pane line of the archive below the tools.
    Rows,
}

/// The things that can wait for the person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tui) enum Attention {
    /// A proposal, in the diff pane.
    Proposal(ProposalId),
    /// A restore, whose files the archive lists first.
    Restore(ProposalId),
    /// A question.
    Question(QuestionId),
}

impl Attention {
    /// Returns the proposal it is about.
    pub(in crate::tui) fn proposal(self) -> Option<ProposalId> {
        match self {
            Attention::Proposal(id) | Attention::Restore(id) => Some(id),
            Attention::Question(_) => None,
        }
    }
}

/// The guard that keeps a key that was meant as text from deciding anything.
#[derive(Debug, Default)]
pub(in crate::tui) struct Guard {
    /// The focus before a proposal took it, and whether that pane was zoomed.
    pub before: Option<(At, PaneId, bool)>,
    /// The thing that waited when the last message had been taken in.
    pub waited: Option<Attention>,
    /// It has not had the keys yet.
    pub unseen: bool,
    /// The proposal that the person asked for last.
    pub own: Option<ProposalId>,
    /// It took the keys by itself, and typing has not paused since.
    pub guarded: bool,
    /// The time of the last key.
    pub last_key: i64,
    /// The time when the person last typed anything; `None`: never.
    pub last_typed: Option<i64>,
}

/// The open session and its turn.
#[derive(Debug, Default)]
pub(in crate::tui) struct Session {
    /// Its id; `None` until one is open.
    pub id: Option<String>,
    pub status: Status,
    pub turn: Option<Turn>,
    /// A message was sent and its turn has not begun.
    pub starting: bool,
    /// Something was said since nebula started, in this session or in another.
    pub spoke: bool,
    pub commit: CommitMessages,
    /// The end of the last turn.
    pub ended: Option<TurnEnd>,
    /// It could have changed files and changed none, and nothing else of the session changed any since.
    pub unchanged: bool,
    pub retry: Option<Wait>,
    /// Something was changed while it was asked what has changed.
    pub changed_again: bool,
    /// No model is configured: nothing else is known before the session is open.
    pub expects_none: bool,
    /// A message to send as soon as the session is open.
    pub prompt: Option<String>,
    /// The session that is being opened for a turn of it, and the time of its message.
    pub sought: Option<(String, Option<i64>)>,
}

/// Commit messages on their way.
#[derive(Debug, Default)]
pub(in crate::tui) struct CommitMessages {
    /// The model writes one.
    pub is_writing: bool,
    /// The time when it was asked for.
    pub asked: Option<i64>,
    /// Messages that were written, or that git gave back, in their order; they wait to be shown.
    pub written: VecDeque<String>,
}

/// The work that quitting would end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::tui) struct Work {
    /// The time at which the running turn started; 0: it is about to.
    pub turn: Option<i64>,
    /// A commit message is being written.
    pub drafts: bool,
    /// The number of jobs.
    pub jobs: usize,
    /// True if what was said is not saved.
    pub unsaved: bool,
}

impl Work {
    /// Returns whether who was told of this was told of all of `other`.
    pub(super) fn covers(self, other: Work) -> bool {
        (other.turn.is_none() || self.turn == other.turn)
            && self.drafts >= other.drafts
            && self.jobs >= other.jobs
            && self.unsaved >= other.unsaved
    }
}

/// The running turn.
#[derive(Debug, Clone, Copy)]
pub(in crate::tui) struct Turn {
    pub started: i64,
    /// The step under way, and when it began; 0: none yet.
    pub step: (u32, i64),
    /// A changeset of its session was made since it began.
    pub changed: bool,
}

/// The visible pane, its size, and the focus.
#[derive(Debug)]
pub(in crate::tui) struct Arrangement {
    pub at: At,
    pub pane: PaneId,
    pub zoom: bool,
    /// Width of the right column, where the person changed it.
    pub right: Option<u16>,
    /// Rows of the archive below the tools, where the person changed them.
    pub low: Option<u16>,
    pub dragging: Option<Edge>,
}

impl Default for Arrangement {
    fn default() -> Self {
        let (at, pane) = (At::Input, PaneId::Chat);
        Arrangement { at, pane, zoom: false, right: None, low: None, dragging: None }
    }
}

/// Bindings, and keys that do not mean anything yet.
#[derive(Debug)]
pub(in crate::tui) struct Keyboard {
    pub keys: Keys,
    /// The beginning of a chord.
    pub chords: Vec<Chord>,
    /// The next Ctrl-C quits.
    pub quit_armed: bool,
    /// The proposal of which the person was told that the next Esc drops it.
    pub drop_named: Option<ProposalId>,
    /// The work of which the person was told that quitting ends it.
    pub quit_named: Work,
    /// The start of the turn of which the person was told that another session ends it.
    pub leave_named: Option<i64>,
}

/// The theme, colours and glyphs.
pub(in crate::tui) struct Appearance {
    pub theme: Theme,
    pub themes: Themes,
    pub depth: Depth,
    /// The terminal's background chooses the theme.
    pub auto_theme: bool,
    /// The terminal's background, once it told.
    pub background: Option<Rgb>,
    pub glyphs: Glyphs,
    pub colours: Highlighter,
}

/// Questions to the agent that are not answered yet.
#[derive(Debug, Default)]
pub(super) struct Queries {
    pub pending: HashMap<QueryId, (Owner, Query)>,
    pub next: u64,
}

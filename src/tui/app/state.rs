//! The parts of [`super::App`]'s state that belong together.

use std::collections::HashMap;

use super::mouse::Edge;
use super::{At, Owner};
use crate::protocol::{Query, QueryId, Status, TurnEnd, Wait};
use crate::tui::glyphs::Glyphs;
use crate::tui::keys::{Chord, Keys};
use crate::tui::pane::PaneId;
use crate::tui::text::highlight::Highlighter;
use crate::tui::theme::{Depth, Theme, Themes};

/// The open session and its turn.
#[derive(Debug, Default)]
pub(in crate::tui) struct Session {
    /// Its id; `None` until one is open.
    pub id: Option<String>,
    pub status: Status,
    pub turn: Option<Turn>,
    /// A message was sent and its turn has not begun.
    pub starting: bool,
    /// A commit message is being written.
    pub drafting: bool,
    /// How the last turn ended.
    pub ended: Option<TurnEnd>,
    pub retry: Option<Wait>,
    /// A message to send as soon as the session is open.
    pub prompt: Option<String>,
}

/// The running turn.
#[derive(Debug, Clone, Copy)]
pub(in crate::tui) struct Turn {
    pub started: i64,
}

/// Which pane shows, how large, and where the keys go.
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
    /// The archive was opened from the welcome, which comes back after it.
    pub from_welcome: bool,
}

impl Default for Arrangement {
    fn default() -> Self {
        let (at, pane) = (At::Input, PaneId::Chat);
        Arrangement { at, pane, zoom: false, right: None, low: None, dragging: None, from_welcome: false }
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
}

/// How everything looks.
pub(in crate::tui) struct Appearance {
    pub theme: Theme,
    pub themes: Themes,
    pub depth: Depth,
    /// The terminal's ground chooses the theme.
    pub auto_theme: bool,
    pub glyphs: Glyphs,
    pub colours: Highlighter,
}

/// What was asked of the agent and is not answered yet.
#[derive(Debug, Default)]
pub(super) struct Queries {
    pub asked: HashMap<QueryId, (Owner, Query)>,
    pub next: u64,
}

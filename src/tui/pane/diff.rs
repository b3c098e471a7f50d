//! The proposal.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::{Ctx, Look, Mark, Waiting};
use crate::proposal::ProposalId;
use crate::protocol::{Event, Listing, Query};
use crate::tui::action::Action;
use crate::tui::app::{Effect, LineFor, Typed};

/// The proposal.
#[derive(Debug, Default)]
pub struct Diff {}

impl Diff {
    /// Takes in what the agent told.
    pub fn apply(&mut self, _event: &Event, _now: i64) -> Vec<Effect> {
        Vec::new()
    }

    /// Takes in what was asked for.
    pub fn answer(&mut self, _query: &Query, _listing: &Listing, _now: i64) -> Vec<Effect> {
        Vec::new()
    }

    /// Whether `action` would do something now.
    pub fn offers(&self, _action: Action) -> bool {
        false
    }

    /// Does `action`.
    pub fn act(&mut self, _action: Action, _now: i64) -> Vec<Effect> {
        Vec::new()
    }

    /// The line that was asked for.
    pub fn line(&mut self, _purpose: LineFor, _typed: Typed<'_>, _now: i64) -> Vec<Effect> {
        Vec::new()
    }

    /// What the pending proposal waits for; `None`: there is none.
    pub fn waiting(&self) -> Option<Waiting> {
        None
    }

    /// What the person made of the result of one file in the editor.
    pub fn edited(&mut self, _id: ProposalId, _file: usize, _bytes: Vec<u8>, _now: i64) -> Vec<Effect> {
        Vec::new()
    }

    /// A click inside the body.
    pub fn click(&mut self, _column: u16, _row: u16, _now: i64) -> Vec<Effect> {
        Vec::new()
    }

    /// The size of the body that is drawn next.
    pub fn measure(&mut self, _width: u16, _height: u16, _look: &Look<'_>) {}

    /// The title on the pane line.
    pub fn title(&self) -> String {
        "diff".into()
    }

    /// The note on the pane line.
    pub fn note(&self, _width: u16, _ctx: &Ctx<'_>) -> Line<'static> {
        Line::default()
    }

    /// What a tab shows.
    pub fn mark(&self) -> Option<Mark> {
        None
    }

    /// Draws the body.
    pub fn draw(&self, _area: Rect, _buf: &mut Buffer, _ctx: &Ctx<'_>) {}
}

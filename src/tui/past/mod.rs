//! The past of the workspace: the timeline shows it as it was at any moment, and blame says who wrote each line of a
//! file. Nothing on disk changes; a restore is a proposal.

mod blame;
mod blame_draw;
mod strip;
mod timeline;
mod timeline_draw;

#[cfg(test)]
mod tests;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

pub use blame::Blame;
pub use timeline::Timeline;

use crate::protocol::{Listing, PastKind, Query};
use crate::tui::action::{Action, Context};
use crate::tui::look::{Ctx, Look};
use crate::tui::msg::{LineFor, LineInput, PaneEffect};
use crate::tui::theme::Role;

/// A view of the past.
#[derive(Debug)]
pub enum Past {
    /// The workspace at a moment.
    Timeline(Timeline),
    /// The authors of a file.
    Blame(Blame),
}

/// The outcome of a key.
#[derive(Debug, PartialEq)]
pub enum PastOutcome {
    /// The screen stays open.
    Stay(Vec<PaneEffect>),
    /// The screen closes.
    Leave(Vec<PaneEffect>),
}

impl Past {
    /// Takes the timeline that it is, or that it was opened from.
    pub fn take_timeline(&mut self) -> Option<Box<Past>> {
        match self {
            Past::Timeline(timeline) => Some(Box::new(Past::Timeline(std::mem::take(timeline)))),
            Past::Blame(blame) => blame.below.take(),
        }
    }

    /// Takes the view that it was opened from.
    pub fn take_below(&mut self) -> Option<Past> {
        match self {
            Past::Timeline(timeline) => timeline.below.take().map(|below| *below),
            Past::Blame(blame) => blame.below.take().map(|below| *below),
        }
    }

    /// Returns the authors of a file that it shows, or that it was opened from.
    pub fn into_blame(self) -> Option<Box<Past>> {
        match self {
            Past::Timeline(timeline) => timeline.below,
            Past::Blame(_) => Some(Box::new(self)),
        }
    }

    /// Returns the question that its answer is shown for.
    pub fn query(&self) -> Query {
        match self {
            Past::Timeline(_) => Query::Timeline,
            Past::Blame(blame) => Query::Blame(blame.asked.clone()),
        }
    }

    /// Returns where its keys are looked up.
    pub fn context(&self) -> Context {
        match self {
            Past::Timeline(_) => Context::Timeline,
            Past::Blame(_) => Context::Blame,
        }
    }

    /// Returns whether the keys go to the diff below a list.
    pub fn is_in_diff(&self) -> bool {
        matches!(self, Past::Timeline(timeline) if timeline.in_diff)
    }

    /// Takes in what was asked for.
    pub fn answer(&mut self, query: &Query, listing: &Listing) -> Vec<PaneEffect> {
        match self {
            Past::Timeline(timeline) => timeline.answer(query, listing),
            Past::Blame(blame) => blame.answer(query, listing),
        }
    }

    /// Returns whether `action` would do something now.
    pub fn offers(&self, action: Action) -> bool {
        match self {
            Past::Timeline(timeline) => timeline.offers(action),
            Past::Blame(blame) => blame.offers(action),
        }
    }

    /// Does `action`.
    pub fn act(&mut self, action: Action) -> PastOutcome {
        match self {
            Past::Timeline(timeline) => timeline.act(action),
            Past::Blame(blame) => blame.act(action),
        }
    }

    /// Takes the line that was asked for.
    pub fn line(&mut self, purpose: &LineFor, typed: LineInput<'_>) -> Vec<PaneEffect> {
        match self {
            Past::Timeline(timeline) => timeline.line(purpose, typed),
            Past::Blame(blame) => blame.line(purpose, typed),
        }
    }

    /// Handles a click inside the body, from its top left corner.
    pub fn click(&mut self, column: u16, row: u16) -> Vec<PaneEffect> {
        match self {
            Past::Timeline(timeline) => timeline.click(column, row),
            Past::Blame(blame) => blame.click(row),
        }
    }

    /// Handles the wheel over a row of the body.
    pub fn wheel(&mut self, row: u16, action: Action) -> Vec<PaneEffect> {
        match self {
            Past::Timeline(timeline) => timeline.wheel(row, action),
            Past::Blame(blame) => match blame.act(action) {
                PastOutcome::Stay(effects) | PastOutcome::Leave(effects) => effects,
            },
        }
    }

    /// Takes the size of the body that is drawn next.
    pub fn measure(&mut self, width: u16, height: u16, look: &Look<'_>) {
        match self {
            Past::Timeline(timeline) => timeline.measure(width, height, look),
            Past::Blame(blame) => blame.measure(width, height),
        }
    }

    /// Draws it over the whole body.
    pub fn draw(&self, area: Rect, buf: &mut Buffer, focus: bool, ctx: &Ctx<'_>) {
        match self {
            Past::Timeline(timeline) => timeline.draw(area, buf, focus, ctx),
            Past::Blame(blame) => blame.draw(area, buf, focus, ctx),
        }
    }
}

/// Returns the mark of a kind of change, and its role.
fn mark_of(kind: PastKind, look: Look<'_>) -> (&'static str, Role) {
    match kind {
        PastKind::Edit => (look.glyphs.bullet, Role::Text),
        PastKind::Command => ("$", Role::Text),
        PastKind::Restore => (look.glyphs.undo, Role::Text),
        PastKind::Outside => (look.glyphs.foreign, Role::Attention),
        PastKind::Before => (look.glyphs.dot, Role::Dim),
    }
}

//! What stands above the files of a proposal: what the model said of it, and how its test went.

use super::page::DiffPage;
use super::strip::{draw_why, why_rows};
use crate::messages::diff as say;
use crate::protocol::TestState;
use crate::tui::look::Ctx;
use crate::tui::pane::paint::{self, Pen, bold};
use crate::tui::text::cut;
use crate::tui::theme::Role;

/// Rows of failures in a low pane, and in any other.
const FEW: usize = 2;
const MOST: usize = 8;
/// Panes of fewer rows are low.
const LOW: u16 = 24;

/// Returns the number of rows above the files.
pub(super) fn above(page: &DiffPage, (width, height): (u16, u16)) -> u16 {
    why_rows(page, width, height) + test_rows(page, height)
}

fn test_rows(page: &DiffPage, height: u16) -> u16 {
    let most = if height < LOW { FEW } else { MOST };
    page.test.as_ref().map_or(0, |test| 1 + test.failures.len().min(most) as u16)
}

/// Draws the rows above the files.
pub(super) fn draw(pen: &mut Pen<'_>, page: &DiffPage, ctx: &Ctx<'_>) {
    let (width, height) = (pen.width(), pen.height());
    let why = why_rows(page, width, height);
    draw_why(&mut pen.part(0, 0, width, why), page, ctx);
    let Some(test) = &page.test else { return };
    let look = paint::look(ctx);
    let theme = look.theme;
    let (label, role) = match test.state {
        TestState::Passed => (say::tested(), Role::Added),
        TestState::Failed => (say::tested(), Role::Removed),
        TestState::Running | TestState::NotRun => ("", Role::Dim),
    };
    let room = usize::from(width.saturating_sub(2));
    let x = 1 + pen.put(1, why, label, room, theme.style(Role::Dim));
    let line = cut::end(&test.line, room.saturating_sub(usize::from(x)), look.glyphs.cut);
    let style = if role == Role::Dim { theme.style(role) } else { bold(theme, role) };
    pen.put(if label.is_empty() { 1 } else { x }, why, &line, room, style);
    let rows = usize::from(test_rows(page, height)).saturating_sub(1);
    for (y, failure) in (why + 1..).zip(test.failures.iter().take(rows)) {
        let failure = crate::text::clean::clean_line(failure);
        pen.put(3, y, &cut::end(&failure, room.saturating_sub(2), look.glyphs.cut), room, theme.style(Role::Text));
    }
}

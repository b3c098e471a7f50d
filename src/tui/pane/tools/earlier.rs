//! Earlier calls of a long session fold into one row, so that what goes on has the pane.

use super::Tools;
use crate::tui::look::Ctx;
use crate::tui::pane::chat::{fitted, summary_of};
use crate::tui::pane::paint::Pen;
use crate::tui::theme::Role;

/// The number of newest calls that never fold, beside half as many as the pane has rows.
const RECENT: usize = 8;
/// The number of calls below which nothing folds.
const MANY: usize = 24;

impl Tools {
    /// Folds what is over, but for the newest calls. While the person looks at older rows, nothing folds again.
    pub(super) fn fold_earlier(&mut self) {
        let over = self.calls.iter().take_while(|entry| entry.call.state.is_final()).count();
        let recent = RECENT.max(self.page() / 2);
        let most = over.min(self.calls.len().saturating_sub(recent));
        let is_reached = self.selected.is_some_and(|i| i < most);
        let count = match () {
            () if self.earlier.open || self.filter.failed || !self.filter.words.is_empty() => 0,
            () if self.calls.len() < MANY => 0,
            () if !self.follow || is_reached => self.earlier.count.min(most),
            () => most,
        };
        if count != self.earlier.count {
            self.earlier.count = count;
            self.earlier.words = summary_of(self.calls[..count].iter().map(|entry| &entry.call));
        }
    }

    /// Shows all calls; the rows that are seen stay where they are.
    pub(super) fn open_earlier(&mut self) {
        if self.earlier.count > 0 {
            let (before, top) = (self.total(), self.top);
            (self.earlier.open, self.follow) = (true, false);
            self.lay();
            self.top = (top + self.total() - before).min(self.last_top());
        }
    }

    /// Folds the earlier calls again.
    pub(super) fn close_earlier(&mut self) {
        self.earlier.open = false;
        self.selected = None;
        self.follow = true;
        self.lay();
    }

    /// Draws the row of the folded calls, where it is seen.
    pub(super) fn draw_earlier(&self, pen: &mut Pen<'_>, ctx: &Ctx<'_>) {
        if self.earlier.count > 0 && self.top == 0 {
            let room = usize::from(pen.width().saturating_sub(2));
            let words = fitted(&self.earlier.words, room.saturating_sub(2), ctx.glyphs.cut);
            pen.put(1, 0, &format!("{} {words}", ctx.glyphs.more), room, ctx.theme.style(Role::Dim));
        }
    }
}

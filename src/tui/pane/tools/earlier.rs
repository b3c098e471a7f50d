//! Earlier calls of a long session fold into one row, so that what goes on has the pane.

use super::Tools;
use super::entry::CallEntry;
use crate::tui::look::Ctx;
use crate::tui::pane::chat::summary_of;
use crate::tui::pane::paint::Pen;
use crate::tui::theme::Role;

/// The number of newest calls that never fold, beside those that have room.
const RECENT: usize = 8;
/// The number of calls below which nothing folds.
const MANY: usize = 24;

impl Tools {
    /// Folds what is over, but for the newest calls. While the person looks at older rows, nothing folds again.
    pub(super) fn fold_earlier(&mut self) {
        let over = self.calls.iter().take_while(|entry| entry.call.state.is_final()).count();
        let recent = RECENT.max(self.calls.len() - self.first_of_page());
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

    /// Returns the first of the newest calls that fit below the row of the folded ones.
    fn first_of_page(&self) -> usize {
        let mut room = self.page().saturating_sub(1);
        let fits = |i: &usize| {
            let rows = self.rows_unfolded(*i);
            let fits = rows <= room;
            room = room.saturating_sub(rows);
            fits
        };
        (0..self.calls.len()).rev().take_while(fits).last().unwrap_or(self.calls.len())
    }

    /// Returns the number of rows of call `i`, the empty one before it included.
    pub(super) fn rows(&self, i: usize) -> usize {
        if self.is_hidden(i) { 0 } else { self.rows_unfolded(i) }
    }

    fn rows_unfolded(&self, i: usize) -> usize {
        let entry = &self.calls[i];
        let (visible, more) = self.preview(i);
        let fields: usize = entry.fields.iter().map(CallEntry::field_rows).sum();
        let fields = if entry.call.preview.is_empty() { fields } else { 0 };
        usize::from(entry.apart)
            + 1
            + entry.path_rows.len()
            + entry.reason.len()
            + usize::from(entry.drifted)
            + usize::from(entry.rung().is_some())
            + visible
            + usize::from(more > 0 && visible > 0)
            + fields
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
            let words = self.earlier.words.fitted(room.saturating_sub(2), ctx.glyphs.cut);
            pen.put(1, 0, &format!("{} {words}", ctx.glyphs.more), room, ctx.theme.style(Role::Dim));
        }
    }
}

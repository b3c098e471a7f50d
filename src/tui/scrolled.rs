//! Rows of which not all have room: those in sight, and whether the last of them was ever in sight.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::messages::count;
use crate::tui::action::{Action, Context};
use crate::tui::look::Ctx;
use crate::tui::popup;
use crate::tui::text::{cut, paint};
use crate::tui::theme::Role;

/// The rows that are scrolled away and in sight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Scrolled {
    /// Rows that are scrolled away.
    pub top: usize,
    all: usize,
    room: usize,
    /// The rows up to the last that has to be seen.
    needed: usize,
    /// The last of those was in sight.
    read: bool,
}

impl Scrolled {
    /// Takes the number of rows, and of those that have room.
    pub fn measure(&mut self, all: usize, room: usize) {
        self.measure_needed(all, all, room);
    }

    /// Does so where the rows behind `needed` have to be seen by nobody.
    pub fn measure_needed(&mut self, all: usize, needed: usize, room: usize) {
        (self.all, self.needed, self.room) = (all, needed, room);
        self.top = self.top.min(all.saturating_sub(room));
        self.read = self.is_read();
    }

    /// Returns the number of rows in sight: one gives way to the count of those below, where two have room.
    pub fn sight(&self) -> usize {
        let is_last = self.top + self.room >= self.all || self.room < 2;
        (self.room - usize::from(!is_last)).min(self.all - self.top)
    }

    /// Returns the number of rows below those in sight.
    pub fn below(&self) -> usize {
        self.all - self.top - self.sight()
    }

    /// Returns whether all rows that have to be seen were in sight once.
    pub fn is_read(&self) -> bool {
        self.read || self.top + self.sight() >= self.needed
    }

    /// Returns whether all rows have room.
    pub fn is_whole(&self) -> bool {
        self.all <= self.room
    }

    /// Returns whether an action scrolls.
    pub fn offers(&self, action: Action) -> bool {
        match action {
            Action::Up | Action::PageUp => self.top > 0,
            Action::Down | Action::PageDown => self.below() > 0,
            _ => false,
        }
    }

    /// Scrolls.
    pub fn act(&mut self, action: Action) {
        let page = self.room.saturating_sub(1).max(1);
        let top = match action {
            Action::Up => self.top.saturating_sub(1),
            Action::PageUp => self.top.saturating_sub(page),
            Action::Down => self.top + 1,
            Action::PageDown => self.top + page,
            _ => return,
        };
        self.top = top;
        self.measure_needed(self.all, self.needed, self.room);
    }

    /// Draws the thumb in the last column of the rows, and `⋯ 9 more rows` with the key that shows them in the last row.
    pub fn draw_more(&self, area: Rect, context: Context, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let last = Rect { x: area.right().saturating_sub(1), width: 1, ..area };
        popup::thumb(last, self.all, self.top, buf, ctx);
        if self.below() == 0 || self.room < 2 {
            return;
        }
        let key = ctx.key(context, Action::PageDown).map(|key| format!("   {key}")).unwrap_or_default();
        let words = format!("{} {}{key}", ctx.glyphs.more, count::more_rows(self.below()));
        let room = usize::from(area.width.saturating_sub(2));
        let words = cut::end(&words, room, ctx.glyphs.cut);
        paint::text(buf, area.x + 1, area.bottom() - 1, room, &words, ctx.theme.style(Role::Attention));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_once_the_last_was_in_sight() {
        let mut rows = Scrolled::default();
        rows.measure(3, 3);
        assert!(rows.is_read() && rows.sight() == 3 && !rows.offers(Action::Down));
        let mut rows = Scrolled::default();
        rows.measure(5, 3);
        assert_eq!((rows.sight(), rows.below(), rows.is_read()), (2, 3, false));
        rows.act(Action::Down);
        assert_eq!((rows.top, rows.sight(), rows.is_read()), (1, 2, false));
        rows.act(Action::PageDown);
        assert_eq!((rows.top, rows.sight(), rows.below(), rows.is_read()), (2, 3, 0, true));
        rows.act(Action::PageUp);
        assert!(rows.top == 0 && rows.is_read(), "what was read stays read");
        rows.measure(9, 1);
        assert_eq!((rows.sight(), rows.below()), (1, 8));
        let mut rows = Scrolled::default();
        rows.measure_needed(6, 3, 3);
        assert_eq!((rows.sight(), rows.is_read()), (2, false));
        rows.act(Action::Down);
        assert!(rows.is_read() && rows.below() > 0, "the rest has to be seen by nobody");
    }
}

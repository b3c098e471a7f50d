//! The layout of the archive's parts, and drawing them.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::list::Form;
use super::{AXIS_ROWS, Archive};
use crate::messages::archive as say;
use crate::tui::look::{Ctx, Look};
use crate::tui::pane::diff::Layout;
use crate::tui::pane::paint::{self, Pen};
use crate::tui::theme::Role;

/// Side by side from this width on, when two states are compared.
const SIDE_FROM: u16 = 72;
/// The width of the screen from which on it has no tabs, and a pane line that can be parted.
const WIDE: u16 = 120;

/// Cells of the list beside them at least: names of files have room.
const LIST: u16 = 42;
/// Cells around a name in it.
const AROUND_NAME: u16 = 10;
/// Rows of a restore's files that must be seen, heading and question with them.
const RESTORE: u16 = 12;
/// Rows of a comparison worth showing above them.
const COMPARED: u16 = 6;

/// The place of the files of a restore.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ListPlace {
    /// The files stand below axis and comparison.
    Below,
    /// The files stand in the place of axis and comparison, beside the list.
    Beside,
    /// The files take the whole body.
    Alone,
}

/// The areas of the parts of the pane.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parts {
    /// The form of the list.
    pub form: Form,
    /// The list.
    pub list: Rect,
    /// Time axis, comparison and restore, where there is room.
    pub detail: Option<Rect>,
}

impl Archive {
    /// Returns whether the pane line is parted: list at the left, the file in time at the right.
    pub(super) fn splits_pane_line(&self) -> bool {
        self.size.0 >= WIDE && !self.full
    }

    /// Returns where the pane line is parted, and title and note of its right part.
    pub fn second_title(&self, look: Look<'_>) -> Option<(u16, Line<'static>, Line<'static>)> {
        let detail = self.parts().detail.filter(|_| self.splits_pane_line())?;
        let (title, note) = self.file_title(detail.width, look);
        Some((detail.x - 1, title.into(), note.into()))
    }

    /// Tells the comparison its size.
    pub(super) fn fit(&mut self) {
        let (width, height) = match (self.full, self.parts().detail) {
            (true, _) => (self.size.0, self.size.1.saturating_sub(2)),
            (false, Some(detail)) => (detail.width, self.comparison(detail)),
            (false, None) => return,
        };
        if let Some((_, _, view)) = &mut self.view {
            view.prefer(if width >= SIDE_FROM { Layout::Side } else { Layout::Unified });
            view.measure(width, height);
        }
    }

    /// Returns whether the files of a restore take the whole pane.
    pub(super) fn list_alone(&self) -> bool {
        self.list_place() == Some(ListPlace::Alone)
    }

    /// Returns where the files of a restore are shown.
    fn list_place(&self) -> Option<ListPlace> {
        let previews = self.restore.as_ref()?;
        let least = previews.height().min(RESTORE);
        Some(match self.parts().detail {
            Some(detail) if detail.height > AXIS_ROWS + COMPARED + least => ListPlace::Below,
            Some(detail) if detail.height >= least => ListPlace::Beside,
            _ => ListPlace::Alone,
        })
    }

    /// Returns the number of rows for the comparison: what axis, the line of its sides and the restore leave.
    fn comparison(&self, detail: Rect) -> u16 {
        let previews = self.restore.as_ref().map_or(0, |f| f.height().min(detail.height / 2) + 1);
        detail.height.saturating_sub(AXIS_ROWS + 1 + previews)
    }

    pub(super) fn parts(&self) -> Parts {
        let (width, height) = self.size;
        let all = Rect::new(0, 0, width, height);
        if width >= 100 {
            // A name is whole before the comparison is wide.
            let names = self.names.saturating_add(AROUND_NAME).min(width * 3 / 5);
            let left = width.div_ceil(3).max(LIST).max(names);
            let detail = Rect::new(left + 1, 0, width - left - 1, height);
            Parts { form: Form::Full, list: Rect { width: left, ..all }, detail: Some(detail) }
        } else if height >= 18 {
            let list = (height * 2 / 5).max(6);
            let detail = Rect { y: list + 1, height: height - list - 1, ..all };
            Parts { form: Form::Full, list: Rect { height: list, ..all }, detail: Some(detail) }
        } else {
            Parts { form: Form::Small, list: all, detail: None }
        }
    }

    /// Draws the body.
    pub fn draw(&self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let mut pen = Pen::new(buf, area);
        let look = paint::look(ctx);
        let (width, height) = (pen.width(), pen.height());
        let parts = self.parts();
        if self.full && self.restore.is_none() {
            self.draw_full(&mut pen, ctx);
            return;
        }
        let part = |pen: &mut Pen<'_>, r: Rect, draw: &mut dyn FnMut(&mut Pen<'_>)| {
            draw(&mut pen.part(r.x, r.y, r.width, r.height));
        };
        if let (Some(previews), true) = (&self.restore, self.list_alone()) {
            previews.draw(&mut pen, ctx);
            return;
        }
        part(&mut pen, parts.list, &mut |pen| self.draw_list(pen, ctx, parts.form));
        let Some(detail) = parts.detail else { return };
        if detail.x > 0 {
            for y in 0..height {
                pen.put(detail.x - 1, y, look.glyphs.upright, 1, look.theme.style(Role::Line));
            }
        } else {
            pen.fill(0, detail.y.saturating_sub(1), width, look.glyphs.rule, look.theme.style(Role::Line));
        }
        part(&mut pen, detail, &mut |pen| self.draw_detail(pen, ctx));
    }

    fn draw_detail(&self, pen: &mut Pen<'_>, ctx: &Ctx<'_>) {
        let Rect { width, height, .. } = Rect::new(0, 0, pen.width(), pen.height());
        let mut y = 0;
        // What asks comes before what explains.
        let below = self.list_place().is_none_or(|place| place == ListPlace::Below);
        if let Some(path) = self.path().filter(|_| below) {
            self.draw_axis(&mut pen.part(0, 0, width, AXIS_ROWS), ctx, path);
            y = AXIS_ROWS;
            let room = self.comparison(Rect::new(0, 0, width, height));
            y += self.draw_comparison(&mut pen.part(0, y, width, room + 1), ctx, path);
        }
        if let Some(previews) = &self.restore {
            let y = if y > 0 { y + 1 } else { 0 };
            previews.draw(&mut pen.part(0, y, width, height.saturating_sub(y)), ctx);
        }
    }

    /// Returns the first row of the restore beside the list.
    pub(super) fn list_top(&self, detail: Rect) -> Option<u16> {
        let below = self.list_place()? == ListPlace::Below;
        let Some(path) = self.path().filter(|_| below) else { return Some(0) };
        let view = self.view.as_ref().filter(|((p, _), _, _)| p == path).map(|(_, _, view)| view.total());
        let used = match view {
            None => 1,
            Some(0) => 2,
            Some(rows) => u16::try_from(rows).unwrap_or(u16::MAX).min(self.comparison(detail)) + 1,
        };
        Some(AXIS_ROWS + used + 1)
    }

    fn draw_full(&self, pen: &mut Pen<'_>, ctx: &Ctx<'_>) {
        let Some(path) = self.path() else { return };
        let look = paint::look(ctx);
        let (width, height) = (pen.width(), pen.height());
        let title = paint::path(path, usize::from(width) - 4, look.theme.style(Role::Path), look);
        pen.heading(0, 0, width, &title, &[], look);
        self.draw_comparison(&mut pen.part(0, 1, width, height.saturating_sub(1)), ctx, path);
    }

    /// Draws the line of the sides and the diff below it; returns the rows used.
    fn draw_comparison(&self, pen: &mut Pen<'_>, ctx: &Ctx<'_>, path: &str) -> u16 {
        let (width, height) = (pen.width(), pen.height());
        let Some((_, _, view)) = self.view.as_ref().filter(|((p, _), _, _)| p == path) else {
            self.draw_sides(pen, ctx, path, None, 0);
            return 1;
        };
        let middle = if view.layout() == Layout::Side { view.middle() } else { 0 };
        self.draw_sides(pen, ctx, path, Some(view.counts()), middle);
        if view.total() == 0 {
            pen.prose(1, 1, say::no_difference(), paint::look(ctx));
            return 2;
        }
        let rows = u16::try_from(view.total()).unwrap_or(u16::MAX).min(height.saturating_sub(1));
        view.draw(&mut pen.part(0, 1, width, rows), ctx, None);
        rows + 1
    }
}

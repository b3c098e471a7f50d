//! Small helpers for drawing panes: everything is clipped to the pane's area and placed from its top left corner.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use crate::messages::verbs;
use crate::proposal::{Counts, Rung};
use crate::text::number::thousands;
use crate::tui::look::{Ctx, Look};
use crate::tui::text::wrap::cells;
use crate::tui::text::{self, cut};
use crate::tui::theme::{Role, Theme};

/// A buffer seen from the top left corner of an area.
pub struct Pen<'a> {
    buf: &'a mut Buffer,
    area: Rect,
}

impl<'a> Pen<'a> {
    /// Draws in `area`; what lies outside of it is cut.
    pub fn new(buf: &'a mut Buffer, area: Rect) -> Self {
        let area = area.intersection(buf.area);
        Pen { buf, area }
    }

    /// Columns of the area.
    pub fn width(&self) -> u16 {
        self.area.width
    }

    /// Returns the number of rows of the area.
    pub fn height(&self) -> u16 {
        self.area.height
    }

    /// Returns a pen for a part of the area.
    pub fn part(&mut self, x: u16, y: u16, width: u16, height: u16) -> Pen<'_> {
        let part = Rect { x: self.area.x.saturating_add(x), y: self.area.y.saturating_add(y), width, height };
        let area = part.intersection(self.area);
        Pen { buf: self.buf, area }
    }

    /// Draws text in at most `max` cells; returns the column after it.
    pub fn put(&mut self, x: u16, y: u16, words: &str, max: usize, style: Style) -> u16 {
        if y >= self.area.height || x >= self.area.width {
            return x;
        }
        let room = max.min(usize::from(self.area.width - x));
        x + text::paint::text(self.buf, self.area.x + x, self.area.y + y, room, words, style) as u16
    }

    /// Draws a sentence from row `y` to the last one, wrapped at words; see [`text::paint::prose`].
    pub fn prose(&mut self, x: u16, y: u16, sentence: &str, look: Look<'_>) {
        let (width, height) = (self.area.width.saturating_sub(x + 1), self.area.height.saturating_sub(y));
        let area = Rect { x: self.area.x + x, y: self.area.y + y, width, height };
        text::paint::prose(self.buf, area, sentence, look.glyphs.cut, look.theme.style(Role::Dim));
    }

    /// Draws spans in at most `max` cells; returns the column after them.
    pub fn spans(&mut self, x: u16, y: u16, spans: &[Span<'_>], max: usize) -> u16 {
        let mut at = x;
        for span in spans {
            let left = max.saturating_sub(usize::from(at - x));
            at = self.put(at, y, &span.content, left, span.style);
        }
        at
    }

    /// Draws spans ending before column `end`; returns the column they begin in.
    pub fn right(&mut self, end: u16, y: u16, spans: &[Span<'_>]) -> u16 {
        let width: usize = spans.iter().map(|s| cells(&s.content)).sum();
        let x = end.saturating_sub(u16::try_from(width).unwrap_or(u16::MAX));
        self.spans(x, y, spans, usize::from(end - x));
        x
    }

    /// Lays a style over a rectangle.
    pub fn style(&mut self, x: u16, y: u16, width: u16, height: u16, style: Style) {
        let part = self.part(x, y, width, height).area;
        self.buf.set_style(part, style);
    }

    /// Empties the whole area, as the theme paints an empty cell.
    pub fn blank(&mut self, look: Look<'_>) {
        let base = Style::reset().patch(look.theme.base());
        for y in self.area.rows() {
            self.buf.set_stringn(y.x, y.y, " ".repeat(usize::from(y.width)), usize::from(y.width), base);
        }
    }

    /// Fills part of a row with a mark.
    pub fn fill(&mut self, x: u16, y: u16, width: u16, mark: &str, style: Style) {
        for x in x..x.saturating_add(width).min(self.area.width) {
            self.put(x, y, mark, 1, style);
        }
    }

    /// Takes the attributes off some cells of a row.
    fn bare(&mut self, x: u16, y: u16, width: usize) {
        let room = usize::from(self.area.width.saturating_sub(x)).min(width);
        if y < self.area.height {
            text::paint::bare(self.buf, self.area.x + x, self.area.y + y, room);
        }
    }

    /// Draws a pane line inside the pane: title, rule, note, one cell of rule.
    pub fn heading(&mut self, x: u16, y: u16, width: u16, title: &[Span<'_>], note: &[Span<'_>], look: Look<'_>) {
        self.fill(x, y, width, look.glyphs.rule, look.theme.style(Role::Line));
        let room = usize::from(width.saturating_sub(2));
        let titled: usize = title.iter().map(|s| cells(&s.content)).sum();
        self.bare(x, y, titled.min(room) + 2);
        self.put(x, y, " ", 1, Style::new());
        let end = self.spans(x + 1, y, title, room);
        self.put(end, y, " ", 1, Style::new());
        let wide: usize = note.iter().map(|s| cells(&s.content)).sum();
        if wide > 0 {
            let at = (x + width).saturating_sub(wide as u16 + 2);
            if at > end + 1 {
                self.bare(at - 1, y, wide + 2);
                self.put(at - 1, y, " ", 1, Style::new());
                self.spans(at, y, note, wide);
                self.put(at + wide as u16, y, " ", 1, Style::new());
            }
        }
    }

    /// Draws the selection over whole rows: the bar in column 0, the tint up to the scroll thumb.
    pub fn select(&mut self, y: u16, rows: u16, look: Look<'_>) {
        let width = self.area.width.saturating_sub(1);
        let part = self.part(0, y, width, rows).area;
        crate::tui::text::paint::tint(self.buf, part, look.theme);
        self.bar(y, rows, look);
    }

    /// Draws the bar in column 0.
    pub fn bar(&mut self, y: u16, rows: u16, look: Look<'_>) {
        for y in y..y.saturating_add(rows) {
            self.put(0, y, look.glyphs.selected, 1, look.theme.style(Role::Focus));
        }
    }

    /// Draws the scroll thumb in the last column beside rows `y` to `y + height`, if there is more than fits.
    pub fn thumb(&mut self, y: u16, height: u16, top: usize, total: usize, look: Look<'_>) {
        let (room, x) = (usize::from(height), self.area.width.saturating_sub(1));
        if total <= room || room == 0 {
            return;
        }
        let size = ((room * room + total / 2) / total).clamp(2.min(room), room);
        let at = top * (room - size) / (total - room).max(1);
        for k in at.min(room - size)..(at + size).min(room) {
            self.put(x, y + k as u16, look.glyphs.thumb, 1, look.theme.style(Role::Dim));
        }
    }
}

/// Returns `role` in bold.
pub fn bold(theme: &Theme, role: Role) -> Style {
    theme.style(role).add_modifier(Modifier::BOLD)
}

/// Returns the tint below the sign of a changed line, three cells wide, in a theme whose rows of a diff are of one
/// colour whether they come or go: the 256 colours have no dark pair for them.
pub fn sign_tint(theme: &Theme, added: bool) -> Option<Style> {
    let row = |role| theme.style(role).bg;
    let alike = row(Role::AddedBg).is_some() && row(Role::AddedBg) == row(Role::RemovedBg);
    alike.then(|| theme.style(if added { Role::AddedWord } else { Role::RemovedWord }))
}

/// Returns a span.
pub fn span(text: impl Into<String>, style: Style) -> Span<'static> {
    Span::styled(text.into(), style)
}

/// Returns a path in `width` cells: dim folders, and the name in `name`.
pub fn path(text: &str, width: usize, name: Style, look: Look<'_>) -> Vec<Span<'static>> {
    cut::path_spans(text, width, look.glyphs.cut, look.theme.style(Role::Dim), name)
}

/// Returns `+7 −6`; a zero is left out.
pub fn counts(counts: Counts, look: Look<'_>) -> Vec<Span<'static>> {
    let (added, removed) = signed(counts, look);
    let gap = if added.is_empty() || removed.is_empty() { "" } else { " " };
    vec![
        span(added, look.theme.style(Role::Added)),
        span(gap, Style::new()),
        span(removed, look.theme.style(Role::Removed)),
    ]
}

/// Returns added and removed as two right-aligned columns of these widths.
pub fn count_columns(counts: Counts, widths: [usize; 2], look: Look<'_>) -> Vec<Span<'static>> {
    let (added, removed) = signed(counts, look);
    let pad = |s: &str, w: usize| format!("{}{s}", " ".repeat(w.saturating_sub(cells(s))));
    vec![
        span(pad(&added, widths[0]), look.theme.style(Role::Added)),
        span(pad(&removed, widths[1]), look.theme.style(Role::Removed)),
    ]
}

fn signed(counts: Counts, look: Look<'_>) -> (String, String) {
    let say = |sign: &str, n: usize| if n == 0 { String::new() } else { format!("{sign}{}", thousands(n)) };
    (say(look.glyphs.added, counts.added), say(look.glyphs.removed, counts.removed))
}

/// Returns a line of one style.
pub fn line(text: impl Into<String>, style: Style) -> Line<'static> {
    Line::from(span(text, style))
}

/// Returns the look of a context.
pub fn look<'a>(ctx: &Ctx<'a>) -> Look<'a> {
    ctx.look()
}

/// Returns the words for how the place of a hunk was found.
pub fn found_word(rung: Rung) -> &'static str {
    verbs::found(rung.word())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_drawn_outside() {
        let mut buf = Buffer::empty(Rect::new(0, 0, 6, 2));
        let mut pen = Pen::new(&mut buf, Rect::new(1, 0, 4, 1));
        assert_eq!(pen.put(2, 0, "価格", 9, Style::new()), 4);
        pen.put(0, 3, "x", 1, Style::new());
        pen.right(4, 0, &[span("abcdefg", Style::new())]);
        pen.style(0, 0, 99, 99, Style::new());
        assert_eq!(buf, Buffer::with_lines([" abcd ", "      "]));
    }
}

//! The line above a pane: its title, a rule, a note.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use crate::tui::look::Ctx;
use crate::tui::text::{cut, paint};
use crate::tui::theme::Role;

/// Draws title, rule, note, one cell of rule.
pub fn pane_line(area: Rect, title: &str, focus: bool, note: Option<Line<'_>>, buf: &mut Buffer, ctx: &Ctx<'_>) {
    let style =
        if focus { ctx.theme.style(Role::Focus).add_modifier(Modifier::BOLD) } else { ctx.theme.style(Role::Dim) };
    let title = Line::from(Span::styled(title.to_string(), style));
    line(area, title, focus, note, buf, ctx);
}

/// Draws a pane line whose title has styles of its own.
pub fn line(area: Rect, title: Line<'_>, focus: bool, note: Option<Line<'_>>, buf: &mut Buffer, ctx: &Ctx<'_>) {
    let area = area.intersection(buf.area);
    if area.is_empty() {
        return;
    }
    let (glyph, style) = if focus {
        (ctx.glyphs.heavy, ctx.theme.style(Role::Focus))
    } else {
        (ctx.glyphs.rule, ctx.theme.style(Role::Line))
    };
    for x in area.left()..area.right() {
        buf[(x, area.y)].set_symbol(glyph).set_style(style);
    }
    let blank = Style::new();
    let room = usize::from(area.width.saturating_sub(3));
    if title.width() > 0 {
        let title = cut::line(owned(title), room, ctx.glyphs.cut, ctx.theme.style(Role::Dim));
        paint::bare(buf, area.x, area.y, title.width() + 2);
        let mut x = area.x + paint::text(buf, area.x, area.y, 1, " ", blank) as u16;
        x += paint::spans(buf, x, area.y, room, &title.spans) as u16;
        paint::text(buf, x, area.y, 1, " ", blank);
        if let Some(note) = note.filter(|n| n.width() > 0) {
            let left = note_room(area.width, usize::from(x - area.x) - 1);
            let note = cut::line(owned(note), left, ctx.glyphs.cut, ctx.theme.style(Role::Dim));
            let n = note.width() as u16;
            if n > 1 {
                let x = area.right() - n - 3;
                paint::bare(buf, x, area.y, usize::from(n) + 2);
                paint::text(buf, x, area.y, 1, " ", blank);
                paint::spans(buf, x + 1, area.y, left, &note.spans);
                paint::text(buf, x + 1 + n, area.y, 1, " ", blank);
            }
        }
    }
}

/// The cells that a long note leaves to the title.
pub const SHORTEST_TITLE: usize = 16;

/// Cells left for a note in a line of `width` cells beside a title of `title` cells.
pub fn note_room(width: u16, title: usize) -> usize {
    usize::from(width).saturating_sub(title + 6)
}

fn owned(line: Line<'_>) -> Line<'static> {
    line.spans.into_iter().map(|s| Span::styled(s.content.into_owned(), s.style)).collect::<Vec<_>>().into()
}

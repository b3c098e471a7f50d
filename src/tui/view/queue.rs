//! Messages that wait to be sent, above the input line.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;

use crate::messages::{count, view as say};
use crate::tui::action::{Action, Context};
use crate::tui::app::{App, Focus};
use crate::tui::look::Ctx;
use crate::tui::pane::line::pane_line;
use crate::tui::text::{cut, paint, show, wrap};
use crate::tui::theme::Role;

/// Draws them, as many as fit.
pub(super) fn draw(app: &App, area: Rect, buf: &mut Buffer) {
    if area.height < 3 {
        return;
    }
    let ctx = app.ctx(false);
    let (dim, text) = (ctx.theme.style(Role::Dim), ctx.theme.style(Role::Text));
    let words = match ctx.key(Context::Input, Action::Send).filter(|_| app.composer.queue.is_held()) {
        Some(key) => say::sends_next(&key),
        None if app.composer.queue.is_held() => say::kept().into(),
        None => say::sent_one_by_one().into(),
    };
    pane_line(Rect { height: 1, ..area }, say::queued(), false, Some(Span::styled(words, dim).into()), buf, &ctx);
    let mut keys: Vec<Span> = Vec::new();
    for (action, does) in [(Action::Up, say::edits()), (Action::DropQueued, say::drops())] {
        // Elsewhere these keys do something else.
        let key = ctx.key(Context::Input, action).filter(|_| app.focus() == Focus::Input);
        let Some(key) = key else { continue };
        let gap = if keys.is_empty() { "" } else { "   " };
        keys.extend([Span::styled(format!("{gap}{key}"), text), Span::styled(format!(" {does}"), dim)]);
    }
    let keys_cells: usize = keys.iter().map(|s| wrap::cells(&s.content)).sum();
    let entries = app.composer.queue.entries();
    let rows = usize::from(area.height - 2);
    let hidden = entries.len().saturating_sub(rows);
    for (i, entry) in entries.iter().enumerate().take(rows) {
        let y = area.y + 1 + i as u16;
        let n = (i + 1).to_string();
        paint::text(buf, area.x + 1, y, 3, &n, dim);
        let taken = if i == 0 { keys_cells + 3 } else { 2 };
        let room = usize::from(area.width).saturating_sub(4 + taken);
        let visible = if i + 1 == rows && hidden > 0 {
            format!("{} {}", ctx.glyphs.more, count::more(&(hidden + 1)))
        } else {
            show::plain(entry.lines().next().unwrap_or("")).into_owned()
        };
        paint::spans(buf, area.x + 4, y, room, &mentions(&cut::end(&visible, room, ctx.glyphs.cut), &ctx));
        if i == 0 && usize::from(area.width) > keys_cells + 30 {
            paint::spans(buf, area.right() - 1 - keys_cells as u16, y, keys_cells, &keys);
        }
    }
}

/// Returns a text with its mentions in their colour.
fn mentions(text: &str, ctx: &Ctx<'_>) -> Vec<Span<'static>> {
    let mut spans = Vec::new();
    let mut at = 0;
    for m in crate::context::mention::mentions(text) {
        spans.push(Span::styled(text[at..m.range.start].to_string(), ctx.theme.style(Role::Text)));
        spans.push(Span::styled(text[m.range.clone()].to_string(), ctx.theme.style(Role::Mention)));
        at = m.range.end;
    }
    spans.push(Span::styled(text[at..].to_string(), ctx.theme.style(Role::Text)));
    spans
}

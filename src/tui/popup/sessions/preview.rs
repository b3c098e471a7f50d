//! The preview of the selected session.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

use super::{ABOVE, Sessions, rows_below, visible_files};
use crate::messages::{archive, popups as say, times};
use crate::proposal::Counts;
use crate::protocol::{OnDisk, SessionPreview, SessionState};
use crate::tui::look::Ctx;
use crate::tui::pane::line::pane_line;
use crate::tui::text::{cut, paint, wrap};
use crate::tui::theme::Role;

impl Sessions {
    /// Draws the preview below its pane line.
    pub fn draw_preview(&self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let Some(p) = self.preview.as_ref().filter(|p| self.current().is_some_and(|r| r.id == p.id)) else { return };
        let dim = ctx.theme.style(Role::Dim);
        let files = visible_files(p, area.height);
        let below = rows_below(files);
        self.draw_title(p, area, buf, ctx);
        let chat = Rect { y: area.y + ABOVE, height: area.height.saturating_sub(below + ABOVE), ..area };
        self.said.draw(chat, buf, ctx);
        let mut y = area.bottom().saturating_sub(below);
        let width = usize::from(area.width.saturating_sub(2));
        if files > 0 {
            pane_line(Rect { y, height: 1, ..area }, say::on_disk_since(), false, None, buf, ctx);
            for (path, on_disk) in p.files.iter().take(files) {
                y += 1;
                // The name is shown whole first; the words for its state are cut, and the mark says the same.
                let name = wrap::cells(&path[cut::name_start(path)..]);
                let at = match on_disk {
                    OnDisk::Changed { at } => at.map(|at| ctx.clock().minute(at)),
                    OnDisk::AsLeft => None,
                };
                let is_changed = *on_disk != OnDisk::AsLeft;
                let all = match at {
                    Some(at) => [say::changed_outside_at(&at), say::outside_at(&at), at],
                    None if is_changed => [archive::foreign().into(), say::outside().into(), String::new()],
                    None => [say::as_left().into(), String::new(), String::new()],
                };
                let (mark, role) =
                    if is_changed { (ctx.glyphs.foreign, Role::Attention) } else { (ctx.glyphs.equal, Role::Dim) };
                let fits = |words: &&String| name + wrap::cells(words) + 4 <= width;
                let words = all.iter().find(fits).cloned().unwrap_or_default();
                let style = ctx.theme.style(role).add_modifier(Modifier::BOLD);
                paint::text(buf, area.x + 1, y, 1, mark, style);
                let room = width.saturating_sub(wrap::cells(&words) + 4);
                let name = ctx.theme.style(Role::Path);
                paint::spans(buf, area.x + 3, y, room, &cut::path_spans(path, room, ctx.glyphs.cut, dim, name));
                let role = if is_changed { Role::Text } else { Role::Dim };
                right_text(buf, area, y, &words, ctx.theme.style(role));
            }
            y += 1;
        }
        self.draw_totals(p, Rect { y: y + 1, height: 2, ..area }, buf, ctx);
    }

    /// Draws whose preview it is, and when it was begun and went on last.
    fn draw_title(&self, p: &SessionPreview, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let Some(row) = self.current().filter(|_| area.height > 1) else { return };
        let (clock, y) = (ctx.clock(), area.y + 1);
        let point = |at: i64| format!("{} {}", times::day_name(&clock, clock.day(at)), clock.minute(at));
        let times = match begun(&p.id) {
            Some(begun) if clock.day(begun) == clock.day(row.at) => say::from_to(&point(begun), &clock.minute(row.at)),
            Some(begun) => say::from_to(&point(begun), &point(row.at)),
            None => point(row.at),
        };
        let room = usize::from(area.width).saturating_sub(wrap::cells(&times) + 4);
        let bold = ctx.theme.style(Role::Text).add_modifier(Modifier::BOLD);
        paint::text(buf, area.x + 1, y, room, &cut::end(&row.title, room, ctx.glyphs.cut), bold);
        right_text(buf, area, y, &times, ctx.theme.style(Role::Dim));
    }

    /// Returns the beginning of an id that no other session of the list has.
    fn short_id<'i>(&self, id: &'i str) -> &'i str {
        let others = |short: &str| self.rows.iter().filter(|row| row.id.starts_with(short)).count() < 2;
        (4..id.len()).filter_map(|end| id.get(..end)).find(|short| others(short)).unwrap_or(id)
    }

    fn draw_totals(&self, p: &SessionPreview, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let (dim, text) = (ctx.theme.style(Role::Dim), ctx.theme.style(Role::Text));
        let mut spans = Vec::new();
        if let Some(cost) = p.cost {
            spans.extend([(say::cost().to_string(), dim), (cost.text(ctx.glyphs.estimated) + "   ", text)]);
        }
        if p.counts != Counts::default() {
            spans.push((say::changes().to_string(), dim));
            if p.counts.added > 0 {
                spans.push((format!(" {}{}", ctx.glyphs.added, p.counts.added), ctx.theme.style(Role::Added)));
            }
            if p.counts.removed > 0 {
                spans.push((format!(" {}{}", ctx.glyphs.removed, p.counts.removed), ctx.theme.style(Role::Removed)));
            }
        }
        let gap = if spans.is_empty() { "" } else { "   " };
        spans.extend([(format!("{gap}id "), dim), (self.short_id(&p.id).to_string(), text)]);
        let mut x = area.x + 1;
        for (words, style) in spans {
            x += paint::text(buf, x, area.y, usize::from(area.right().saturating_sub(x)), &words, style) as u16;
        }
        let state = match p.state {
            SessionState::Open => say::unclean_long(),
            SessionState::InUse => say::in_use_long(),
            SessionState::Here | SessionState::Ended => "",
        };
        paint::text(buf, area.x + 1, area.y + 1, usize::from(area.width) - 1, state, dim);
    }
}

fn right_text(buf: &mut Buffer, area: Rect, y: u16, words: &str, style: ratatui::style::Style) {
    let n = wrap::cells(words);
    let x = area.right().saturating_sub(1 + n as u16).max(area.x);
    paint::text(buf, x, y, n, words, style);
}

/// Returns when a session was begun: its id tells.
fn begun(id: &str) -> Option<i64> {
    let digits: String = id.chars().filter(|c| *c != '-').take(12).collect();
    i64::from_str_radix(&digits, 16).ok().filter(|_| digits.len() == 12)
}

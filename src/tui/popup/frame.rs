//! The parts that popups are drawn with: the border, the selected row, the scroll thumb, matched letters.

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::Span;

use crate::tui::action::{Action, Context};
use crate::tui::look::Ctx;
use crate::tui::text::wrap::cells;
use crate::tui::text::{cut, paint};
use crate::tui::theme::Role;

/// Returns the key of each action of `context` with what it does; those without a key are left out.
pub fn keys<const N: usize>(
    ctx: &Ctx<'_>,
    context: Context,
    actions: [(Action, &'static str); N],
) -> Vec<(String, &'static str)> {
    actions.into_iter().filter_map(|(action, does)| Some((ctx.key(context, action)?, does))).collect()
}

/// Returns two keys and what they do together: `Up/Down`.
pub fn pair(
    ctx: &Ctx<'_>,
    context: Context,
    actions: [Action; 2],
    does: &'static str,
) -> Option<(String, &'static str)> {
    Some((ctx.keys.pair(context, actions)?, does))
}

/// Returns where a modal popup of `width` × `height` goes: centred, its top at a fifth of the height; on small screens
/// it takes the whole body.
pub fn modal(screen: Rect, body: Rect, width: u16, height: u16) -> Rect {
    if screen.width < 80 || screen.height < 20 {
        return body;
    }
    let width = width.min(screen.width - 4);
    let height = height.min(screen.height - 6);
    let y = (screen.height / 5).min(screen.height - 3 - height);
    Rect::new((screen.width - width) / 2, y, width, height)
}

/// Dims everything behind a modal popup.
pub(super) fn backdrop(buf: &mut Buffer, ctx: &Ctx<'_>) {
    let background = ctx.theme.background();
    for cell in &mut buf.content {
        cell.modifier = Modifier::empty();
        cell.set_style(ctx.theme.style(Role::Backdrop));
        cell.bg = background.unwrap_or(ratatui::style::Color::Reset);
    }
}

/// Draws the border with a title, a note in the top edge and keys in the bottom edge, the way out last; the inside is
/// emptied.
pub fn border(area: Rect, title: &str, note: &str, keys: &[(String, &str)], buf: &mut Buffer, ctx: &Ctx<'_>) {
    let area = area.intersection(buf.area);
    if area.width < 4 || area.height < 2 {
        return;
    }
    let (focus, g) = (ctx.theme.style(Role::Focus), ctx.glyphs);
    let background = Style::new().bg(ctx.theme.background().unwrap_or(ratatui::style::Color::Reset));
    paint::clear(buf, area, background);
    let (left, right, top, bottom) = (area.left(), area.right() - 1, area.top(), area.bottom() - 1);
    for x in left + 1..right {
        buf[(x, top)].set_symbol(g.rule).set_style(focus);
        buf[(x, bottom)].set_symbol(g.rule).set_style(focus);
    }
    for y in top + 1..bottom {
        buf[(left, y)].set_symbol(g.upright).set_style(focus);
        buf[(right, y)].set_symbol(g.upright).set_style(focus);
    }
    for ((x, y), corner) in [(left, top), (right, top), (left, bottom), (right, bottom)].into_iter().zip(g.corners) {
        buf[(x, y)].set_symbol(corner).set_style(focus);
    }
    let room = usize::from(area.width - 4);
    let title = format!(" {} ", cut::end(title, room.saturating_sub(2), g.cut));
    paint::bare(buf, left + 2, top, cells(&title));
    let used = paint::text(buf, left + 2, top, room, &title, focus.add_modifier(Modifier::BOLD));
    let note_cells = cells(note) + 2;
    if !note.is_empty() && used + note_cells < room {
        let x = right - 1 - note_cells as u16;
        paint::bare(buf, x, top, note_cells);
        paint::text(buf, x, top, note_cells, &format!(" {note} "), ctx.theme.style(Role::Dim));
    }
    let spans = key_spans(keys, room.saturating_sub(2), ctx);
    if !spans.is_empty() {
        paint::bare(buf, left + 2, bottom, spans.iter().map(|s| cells(&s.content)).sum::<usize>() + 2);
        let used = paint::text(buf, left + 2, bottom, 1, " ", Style::new());
        let used = used + paint::spans(buf, left + 3, bottom, room, &spans);
        paint::text(buf, left + 2 + used as u16, bottom, 1, " ", Style::new());
    }
}

/// Keys and what they do, as many as fit; the last one, the way out, before all others.
fn key_spans(keys: &[(String, &str)], room: usize, ctx: &Ctx<'_>) -> Vec<Span<'static>> {
    let mut spans = Vec::new();
    let mut used = 0;
    let own = |(key, word): &(String, &str)| cells(key) + 1 + cells(word);
    let way_out = keys.last().map(own).filter(|way_out| *way_out <= room).map_or(0, |way_out| way_out + 3);
    for (i, hint) in keys.iter().enumerate() {
        let (key, word) = hint;
        let need = own(hint) + if used > 0 { 3 } else { 0 };
        let kept = if i + 1 < keys.len() { way_out } else { 0 };
        if used + need + kept > room {
            continue;
        }
        if used > 0 {
            spans.push(Span::raw("   "));
        }
        spans.push(Span::styled(key.clone(), ctx.theme.style(Role::Text)));
        spans.push(Span::styled(format!(" {word}"), ctx.theme.style(Role::Dim)));
        used += need;
    }
    spans
}

/// Draws the selected row: the tint over all of it and the bar in its first cell.
pub fn select(area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
    let area = area.intersection(buf.area);
    if area.is_empty() {
        return;
    }
    paint::tint(buf, area, ctx.theme);
    let bar = ctx.theme.on(Role::Focus, Role::Selection);
    buf[(area.x, area.y)].set_symbol(ctx.glyphs.selected).set_style(bar);
}

/// Draws the thumb of a list of `total` rows of which `shown` are seen from `top` on.
pub fn thumb(area: Rect, total: usize, top: usize, buf: &mut Buffer, ctx: &Ctx<'_>) {
    let visible = usize::from(area.height);
    if total <= visible || visible == 0 || area.width == 0 {
        return;
    }
    let size = (visible * visible / total).max(1);
    let from = (top * (visible - size)).div_ceil((total - visible).max(1)).min(visible - size);
    for i in from..from + size {
        let at = (area.x, area.y + i as u16);
        if buf.area.contains(at.into()) {
            buf[at].set_symbol(ctx.glyphs.thumb).set_style(ctx.theme.style(Role::Dim));
        }
    }
}

/// Returns the rows of `texts` that match `words` fuzzily, best first, with the byte positions of matched letters.
pub fn fuzzy<'a>(words: &str, texts: impl Iterator<Item = &'a str>) -> Vec<(usize, Vec<u32>)> {
    let pattern = Pattern::parse(words, CaseMatching::Smart, Normalization::Smart);
    let mut matcher = Matcher::new(Config::DEFAULT);
    let mut hits: Vec<(usize, u32, Vec<u32>)> = Vec::new();
    let mut chars = Vec::new();
    for (i, text) in texts.enumerate() {
        let mut at = Vec::new();
        let Some(score) = pattern.indices(Utf32Str::new(text, &mut chars), &mut matcher, &mut at) else { continue };
        let starts: Vec<usize> =
            unicode_segmentation::UnicodeSegmentation::grapheme_indices(text, true).map(|(b, _)| b).collect();
        let mut bytes: Vec<u32> = at.iter().filter_map(|c| starts.get(*c as usize)).map(|b| *b as u32).collect();
        bytes.sort_unstable();
        bytes.dedup();
        hits.push((i, score, bytes));
    }
    hits.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    hits.into_iter().map(|(i, _, at)| (i, at)).collect()
}

/// Returns a text with its matched letters in focus, bold and underlined.
pub fn matched(text: &str, at: &[u32], base: Style, ctx: &Ctx<'_>) -> Vec<Span<'static>> {
    let hit = ctx.theme.style(Role::Focus).add_modifier(Modifier::BOLD | Modifier::UNDERLINED);
    let mut spans: Vec<Span<'static>> = Vec::new();
    for (i, grapheme) in unicode_segmentation::UnicodeSegmentation::grapheme_indices(text, true) {
        let style = if at.contains(&(i as u32)) { hit } else { base };
        match spans.last_mut() {
            Some(last) if last.style == style => last.content.to_mut().push_str(grapheme),
            _ => spans.push(Span::styled(grapheme.to_string(), style)),
        }
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fuzzy_puts_the_best_first() {
        let names = ["commit", "model", "theme", "format"];
        let hits = fuzzy("mo", names.into_iter());
        assert_eq!(hits[0], (1, vec![0, 1]));
        assert_eq!(fuzzy("", names.into_iter()).len(), 4);
        assert_eq!(fuzzy("価", ["在庫の価格"].into_iter()), [(0, vec![9])]);
    }

    #[test]
    fn modals_are_centred_or_take_the_body() {
        let screen = Rect::new(0, 0, 140, 40);
        assert_eq!(modal(screen, screen, 76, 17), Rect::new(32, 8, 76, 17));
        let body = Rect::new(0, 1, 60, 20);
        assert_eq!(modal(Rect::new(0, 0, 60, 24), body, 76, 17), body);
    }
}

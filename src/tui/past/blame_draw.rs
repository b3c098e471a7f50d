//! Draws blame: causes at the left, the file at the right, and below them the turn that wrote the line under the keys.

use std::borrow::Cow;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::blame::{Blame, BlamedText, DETAIL};
use super::mark_of;
use crate::messages::{past as say, records, times};
use crate::protocol::{BlameCause, PastKind};
use crate::text::id::short_changeset;
use crate::text::number::thousands;
use crate::tui::look::Ctx;
use crate::tui::pane::line::line;
use crate::tui::pane::paint::{self, Pen, bold, span};
use crate::tui::text::show::Invisible;
use crate::tui::text::{cut, show, wrap};
use crate::tui::theme::Role;

/// Cells of the causes, where there is room.
const CAUSES: u16 = 48;
/// Cells of a line's number.
const NUMBER: usize = 6;

impl Blame {
    /// Draws it over the whole body.
    pub fn draw(&self, area: Rect, buf: &mut Buffer, focus: bool, ctx: &Ctx<'_>) {
        let look = paint::look(ctx);
        let dim = look.theme.style(Role::Dim);
        let head = if focus { bold(look.theme, Role::Focus) } else { dim };
        let mut title = vec![span(format!("{} ", say::blame()), head)];
        title.extend(paint::path(
            &show::plain(&self.path),
            usize::from(area.width / 2),
            bold(look.theme, Role::Text),
            look,
        ));
        let causes = self.shown.as_ref().map_or(0, |shown| shown.file.causes.len());
        let note =
            self.shown.as_ref().map(|_| Line::from(span(say::lines_causes(self.lines(), &thousands(causes)), dim)));
        line(Rect { height: 1, ..area }, Line::from(title), focus, note, buf, ctx);
        let mut pen = Pen::new(buf, Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area });
        let width = pen.width();
        if let Some((id, view)) = &self.diff {
            match view {
                Some(view) => view.draw(&mut pen, ctx, None),
                None => drop(pen.put(1, 0, &say::changeset(&short_changeset(id)), usize::from(width), dim)),
            }
            return;
        }
        let Some(shown) = &self.shown else {
            let words = self.failed.as_deref().unwrap_or(say::reading());
            let room = usize::from(width.saturating_sub(2));
            pen.put(1, 0, &cut::words(words, room, look.glyphs.cut), room, dim);
            return;
        };
        let rows = self.text_rows();
        let left = CAUSES.min(width * 2 / 5);
        self.draw_causes(&mut pen.part(0, 0, left, rows), ctx);
        for y in 0..rows {
            pen.put(left, y, look.glyphs.upright, 1, look.theme.style(Role::Line));
        }
        self.draw_text(&mut pen.part(left + 1, 0, width.saturating_sub(left + 1), rows), shown, ctx);
        if self.at >= self.top && self.at - self.top < usize::from(rows) {
            pen.select((self.at - self.top) as u16, 1, look);
        }
        pen.thumb(0, rows, self.top, self.lines(), look);
        let height = pen.height();
        if height > rows {
            self.draw_detail(&mut pen.part(0, rows, width, height - rows), ctx);
        }
    }

    /// Draws beside each run of lines its cause.
    fn draw_causes(&self, pen: &mut Pen<'_>, ctx: &Ctx<'_>) {
        let look = paint::look(ctx);
        let here = self.shown.as_ref().and_then(|shown| shown.file.lines.get(self.at)).copied();
        for y in 0..pen.height() {
            let at = self.top + usize::from(y);
            let Some(cause) = self.cause(at) else { break };
            if at > self.top && self.run(at).start != at {
                pen.put(1, y, look.glyphs.upright, 1, look.theme.style(Role::Line));
                continue;
            }
            let (mark, role) = mark_of(cause.kind, look);
            let is_here = self.shown.as_ref().and_then(|shown| shown.file.lines.get(at)).copied() == here;
            let style = if is_here { bold(look.theme, role) } else { look.theme.style(role) };
            pen.put(1, y, if cause.unsure { "~" } else { mark }, 1, style);
            let room = usize::from(pen.width().saturating_sub(4));
            pen.put(3, y, &cut::end(&show::plain(&words_of(cause, ctx)), room, look.glyphs.cut), room, style);
        }
    }

    fn draw_text(&self, pen: &mut Pen<'_>, shown: &BlamedText, ctx: &Ctx<'_>) {
        let look = paint::look(ctx);
        let room = usize::from(pen.width()).saturating_sub(NUMBER + 3);
        let lines = shown.file.text.lines().skip(self.top).take(usize::from(pen.height()));
        for (y, text) in lines.enumerate() {
            let number = self.top + y;
            let y = y as u16;
            pen.put(0, y, &format!("{:>NUMBER$}", number + 1), NUMBER, look.theme.style(Role::Dim));
            let mut tokens = Vec::new();
            ctx.colours.look(&shown.code, number..number + 1, |_, found| {
                tokens.extend(found.iter().map(|token| (token.end as usize, look.theme.style(token.role))));
            });
            let spans = coloured(text, &tokens, look.theme.style(Role::Text));
            let line = cut::line(Line::from(spans), room, look.glyphs.cut, look.theme.style(Role::Dim));
            pen.spans((NUMBER + 2) as u16, y, &line.spans, room);
        }
    }

    /// Draws the turn that wrote the line under the keys.
    fn draw_detail(&self, pen: &mut Pen<'_>, ctx: &Ctx<'_>) {
        let look = paint::look(ctx);
        let dim = look.theme.style(Role::Dim);
        let Some(cause) = self.cause(self.at) else { return };
        let width = pen.width();
        let title = cut::words(&words_of(cause, ctx), usize::from(width / 2), look.glyphs.cut).into_owned();
        let mut note = cause.at.map(|at| times::exact(&ctx.clock(), at)).unwrap_or_default();
        if let Some(id) = &cause.changeset {
            note = format!("{note} {} {}", look.glyphs.dot, say::changeset(&short_changeset(id)));
        }
        pen.heading(0, 0, width, &[span(title, bold(look.theme, Role::Text))], &[span(note, dim)], look);
        let mut rows: Vec<(String, String, Style)> = Vec::new();
        let accent = bold(look.theme, Role::Focus);
        if !cause.prompt.is_empty() {
            rows.push((say::you().into(), cause.prompt.clone(), accent));
        }
        match cause.kind {
            PastKind::Before => rows.push((String::new(), say::before_long().into(), dim)),
            PastKind::Outside => rows.push((String::new(), say::outside_long().into(), dim)),
            PastKind::Command => rows.push(("$".into(), cause.title.clone(), bold(look.theme, Role::Text))),
            PastKind::Edit | PastKind::Restore if cause.prompt.is_empty() => {
                rows.push((String::new(), title_of(cause).into_owned(), dim));
            }
            PastKind::Edit | PastKind::Restore => {}
        }
        if let Some(commit) = self.commit(self.at) {
            rows.push((String::new(), say::of_commit(&commit), dim));
        }
        if cause.unsure {
            rows.push(("~".into(), say::unsure_long().into(), look.theme.style(Role::Attention)));
        }
        let mut y = 1;
        for (label, words, style) in rows {
            pen.put(1, y, &label, 7, style);
            let room = usize::from(width.saturating_sub(11)).max(1);
            let text = [span(show::plain(&words), look.theme.style(Role::Text))];
            for line in wrap::wrap(&text, room).into_iter().take(2) {
                if y < DETAIL {
                    pen.spans(9, y, &line.spans, room);
                }
                y += 1;
            }
        }
    }
}

/// Returns the command's text, or what made the change in words.
fn title_of(cause: &BlameCause) -> Cow<'_, str> {
    match cause.kind {
        PastKind::Restore => records::localized(&cause.title),
        _ => cause.title.as_str().into(),
    }
}

/// Returns `43 min · load prices in one query`.
fn words_of(cause: &BlameCause, ctx: &Ctx<'_>) -> String {
    let clock = ctx.clock();
    let dot = ctx.glyphs.dot;
    let age = cause.at.map(|at| age(clock.now - at));
    let title = match cause.prompt.is_empty() || cause.kind == PastKind::Command {
        true => title_of(cause),
        false => cause.prompt.as_str().into(),
    };
    match (cause.kind, age) {
        (PastKind::Before, _) => say::before_nebula().into(),
        (PastKind::Outside, None) => say::outside_since().into(),
        (PastKind::Outside, Some(age)) => {
            let time = clock.minute(cause.at.unwrap_or_default());
            format!("{age} {dot} {}", say::outside_before(&time))
        }
        (_, Some(age)) => format!("{age} {dot} {title}"),
        (_, None) => title.into_owned(),
    }
}

/// Returns how long ago something was: `12 min`, `3 h`, `2 d`.
fn age(milliseconds: i64) -> String {
    let minutes = milliseconds.max(0) / 60_000;
    match minutes {
        0 => times::under_a_minute().into(),
        1..60 => times::minutes(&minutes),
        60..1_440 => times::hours(&(minutes / 60)),
        _ => times::days(&(minutes / 1_440)),
    }
}

/// Returns a line in the styles of its tokens, each of which ends at a byte of it.
fn coloured(text: &str, tokens: &[(usize, Style)], rest: Style) -> Vec<Span<'static>> {
    let (mut spans, mut from, mut column) = (Vec::new(), 0, 0);
    for (end, style) in tokens.iter().copied().chain([(text.len(), rest)]) {
        if let Some(piece) = text.get(from..end.min(text.len())).filter(|piece| !piece.is_empty()) {
            // A tab reaches to a stop of the line, not of the token.
            let drawn: String =
                show::pieces(piece, column, Invisible::Keep).into_iter().map(|piece| piece.text).collect();
            column += wrap::cells(&drawn);
            spans.push(span(drawn, style));
            from = end.min(text.len());
        }
    }
    spans
}

//! Draws the queue: the list by turn, and beside it what is under the keys.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::{QueueLine, Review};
use crate::messages::{count, records, review as say, times};
use crate::protocol::ReviewScope;
use crate::tui::look::Ctx;
use crate::tui::pane::diff::Standing;
use crate::tui::pane::diff::standing_mark;
use crate::tui::pane::line::{line, pane_line};
use crate::tui::pane::paint::{self, Pen, bold, span};
use crate::tui::text::wrap::cells;
use crate::tui::text::{cut, show};
use crate::tui::theme::Role;

/// Rows of notes below the diff, at most.
const NOTES: u16 = 6;

impl Review {
    /// Draws it over the whole body.
    pub fn draw(&self, area: Rect, buf: &mut Buffer, focus: bool, ctx: &Ctx<'_>) {
        let (list, diff) = self.parts();
        if list > 0 {
            self.draw_list(Rect { width: list, ..area }, buf, focus && !self.in_diff, ctx);
        }
        let Some((x, width)) = diff else { return };
        if x > 0 {
            let style = ctx.theme.style(Role::Line);
            for y in area.top()..area.bottom() {
                let glyph = if y == area.top() { ctx.glyphs.join_right } else { ctx.glyphs.upright };
                buf[(area.x + x - 1, y)].set_symbol(glyph).set_style(style);
            }
        }
        self.draw_diff(Rect { x: area.x + x, width, ..area }, buf, focus && self.in_diff, ctx);
    }

    fn draw_list(&self, area: Rect, buf: &mut Buffer, focus: bool, ctx: &Ctx<'_>) {
        let look = paint::look(ctx);
        let dim = look.theme.style(Role::Dim);
        let note = format!("{} {} {}", say::turns(self.turns.len()), look.glyphs.dot, say::entries(self.count()));
        let note = (!self.turns.is_empty()).then(|| Line::from(span(note, dim)));
        pane_line(Rect { height: 1, ..area }, say::review(), focus, note, buf, ctx);
        let mut pen = Pen::new(buf, Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area });
        let width = usize::from(pen.width().saturating_sub(2));
        if self.turns.is_empty() {
            let words = match &self.failed {
                Some(why) => records::localized(why),
                None if self.loaded => say::nothing().into(),
                None => say::reading().into(),
            };
            pen.put(1, 0, &cut::words(&show::plain(&words), width, look.glyphs.cut), width, dim);
            return;
        }
        let lines = self.lines();
        let room = pen.height().saturating_sub(2);
        let selected = self.rows().get(self.at).copied();
        for (y, row) in lines.iter().skip(self.top).take(usize::from(room)).enumerate() {
            let Some(row) = row else { continue };
            let y = y as u16;
            match row {
                QueueLine::Turn(t) => self.draw_turn(&mut pen, y, *t, selected == Some(*row), ctx),
                QueueLine::Entry(t, e) => self.draw_entry(&mut pen, y, (*t, *e), ctx),
            }
            if selected == Some(*row) {
                pen.select(y, 1, look);
            }
        }
        pen.thumb(0, room, self.top, lines.len(), look);
        let y = (lines.len().saturating_sub(self.top) as u16 + 1).min(pen.height().saturating_sub(1));
        let words = say::wait(self.count());
        pen.put(1, y, &cut::words(&words, width, look.glyphs.cut), width, dim);
    }

    fn draw_turn(&self, pen: &mut Pen<'_>, y: u16, t: usize, selected: bool, ctx: &Ctx<'_>) {
        let look = paint::look(ctx);
        let turn = &self.turns[t];
        let time = times::exact(&ctx.clock(), turn.at);
        let title = if turn.title.is_empty() { say::no_turn() } else { &turn.title };
        let room = usize::from(pen.width()).saturating_sub(cells(&time) + 7);
        let text = if selected { bold(look.theme, Role::Text) } else { look.theme.style(Role::Text) };
        pen.put(1, y, look.glyphs.open, 1, look.theme.style(Role::Dim));
        pen.put(3, y, &cut::words(&show::plain(title), room, look.glyphs.cut), room, text);
        let end = pen.width().saturating_sub(2);
        pen.right(end, y, &[span(time, look.theme.style(Role::Dim))]);
    }

    fn draw_entry(&self, pen: &mut Pen<'_>, y: u16, (t, e): (usize, usize), ctx: &Ctx<'_>) {
        let look = paint::look(ctx);
        let entry = &self.turns[t].entries[e];
        let counts = entry.counts.map(|counts| paint::counts(counts, look)).unwrap_or_default();
        let taken: usize = counts.iter().map(|span| cells(&span.content)).sum();
        let room = usize::from(pen.width()).saturating_sub(taken + 9);
        let mark = if entry.command { "$" } else { look.glyphs.dot };
        pen.put(3, y, mark, 1, look.theme.style(Role::Dim));
        let text = look.theme.style(Role::Text);
        if entry.command || entry.files > 1 {
            pen.put(5, y, &cut::words(&show::plain(&entry.title), room, look.glyphs.cut), room, text);
        } else {
            pen.spans(5, y, &paint::path(&show::plain(&entry.title), room, text, look), room);
        }
        let end = pen.width().saturating_sub(2);
        pen.right(end, y, &counts);
    }

    /// Returns the rows of notes below the diff.
    pub(super) fn note_rows(&self) -> u16 {
        let notes = self.opened.as_ref().map_or(0, |opened| opened.aside.len() + opened.later.len());
        u16::try_from(notes).unwrap_or(NOTES).min(NOTES)
    }

    fn draw_diff(&self, area: Rect, buf: &mut Buffer, focus: bool, ctx: &Ctx<'_>) {
        let look = paint::look(ctx);
        let dim = look.theme.style(Role::Dim);
        let (scope, states) = match self.scope() {
            ReviewScope::Net => (say::net(), say::before_now()),
            ReviewScope::Single => (say::single(), say::before_after()),
        };
        let title = Line::from(vec![span(scope, bold(look.theme, Role::Text)), span(format!("  {states}"), dim)]);
        line(Rect { height: 1, ..area }, title, focus, Some(self.counts(ctx)), buf, ctx);
        let mut pen = Pen::new(buf, Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area });
        let Some(opened) = &self.opened else {
            let words = match &self.failed {
                Some(why) => records::localized(why),
                None if self.turns.is_empty() => return,
                None => say::reading().into(),
            };
            let width = usize::from(pen.width().saturating_sub(2));
            pen.put(1, 0, &cut::words(&show::plain(&words), width, look.glyphs.cut), width, dim);
            return;
        };
        let (width, notes) = (pen.width(), self.note_rows());
        let rows = pen.height().saturating_sub(notes);
        if opened.page.proposal.files.is_empty() && opened.aside.is_empty() {
            pen.put(1, 0, say::no_difference(), usize::from(width), dim);
        } else {
            opened.page.view.draw(&mut pen.part(0, 0, width, rows), ctx, Some(&opened.page.choices));
        }
        let later = opened.later.iter().map(|(path, conflicts)| match conflicts {
            0 => say::later(&show::plain(path)),
            n => say::later_conflicts(&show::plain(path), n),
        });
        let reason = |why: &str| show::plain(&records::localized(why)).into_owned();
        let place = |path| show::plain(records::place(path));
        let aside = opened.aside.iter().map(|(path, why)| say::aside(&place(path), &reason(why)));
        let (all, notes) = (opened.later.len() + opened.aside.len(), usize::from(notes));
        let fit = if all > notes { notes.saturating_sub(1) } else { notes };
        let mut lines: Vec<String> = later.chain(aside).take(fit).collect();
        if all > lines.len() {
            lines.push(count::more_rows(all - lines.len()));
        }
        for (at, words) in lines.into_iter().enumerate() {
            let y = rows + at as u16;
            pen.put(1, y, look.glyphs.foreign, 1, look.theme.style(Role::Attention));
            let room = usize::from(width.saturating_sub(4));
            pen.put(3, y, &cut::words(&words, room, look.glyphs.cut), room, look.theme.style(Role::Text));
        }
    }

    /// Returns `✓ 1 keep  ⊘ 1 restore  ? 3 undecided`.
    fn counts(&self, ctx: &Ctx<'_>) -> Line<'static> {
        let look = paint::look(ctx);
        let Some(opened) = &self.opened else { return Line::default() };
        let (count, open) = opened.page.choices.count();
        let kinds = [
            (count.accepted, Standing::Accepted, say::keep()),
            (count.rejected, Standing::Rejected, say::restore()),
            (open, Standing::Undecided, say::undecided()),
        ];
        let mut spans: Vec<Span<'static>> = Vec::new();
        for (n, standing, word) in kinds.into_iter().filter(|(n, ..)| *n > 0) {
            let (glyph, role) = standing_mark(standing, look);
            let gap = if spans.is_empty() { "" } else { "   " };
            spans.push(span(format!("{gap}{glyph}"), bold(look.theme, role)));
            spans.push(span(format!(" {n} {word}"), look.theme.style(Role::Text)));
        }
        spans.into()
    }
}

//! Draws the timeline: the strip, the files that differ, and their diff.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::mark_of;
use super::timeline::{Displayed, Timeline};
use crate::messages::{past as say, times};
use crate::proposal::{Counts, State};
use crate::protocol::{PastFile, PastKind};
use crate::tui::look::Ctx;
use crate::tui::pane::line::{line, pane_line};
use crate::tui::pane::paint::{self, Pen, bold, span};
use crate::tui::text::wrap::cells;
use crate::tui::text::{cut, show};
use crate::tui::theme::Role;

/// Cells that the words of the whole note need beside the title.
const NOTE_FROM: u16 = 60;
/// Cells of a row of a file beside its name, the counts and the words for its state.
const BESIDE: usize = 6;
/// Cells of the counts, with the gap behind them.
const COUNTS: usize = 13;
/// The cells of a name that those words leave.
const LEAST_NAME: usize = 12;

impl Timeline {
    /// Draws it over the whole body.
    pub fn draw(&self, area: Rect, buf: &mut Buffer, focus: bool, ctx: &Ctx<'_>) {
        let look = paint::look(ctx);
        let dim = look.theme.style(Role::Dim);
        let note = if area.width >= NOTE_FROM { say::nothing_changes() } else { say::nothing_changes_short() };
        let note = Line::from(span(note, bold(look.theme, Role::Text)));
        pane_line(Rect { height: 1, ..area }, say::timeline(), focus && !self.in_diff, Some(note), buf, ctx);
        let rows = self.rows();
        let mut pen = Pen::new(buf, area);
        let width = usize::from(pen.width()).saturating_sub(2);
        if self.moments.is_empty() {
            let words = match &self.failed {
                Some(why) => why.as_str(),
                None if self.loaded => say::nothing(),
                None => say::reading(),
            };
            pen.put(1, 1, &cut::words(words, width, look.glyphs.cut), width, dim);
            return;
        }
        self.draw_strip(&mut pen, rows.strip, ctx);
        if let Some(y) = rows.legend {
            self.draw_legend(&mut pen, y, ctx);
        }
        let Some(displayed) = &self.displayed else {
            let words = self.failed.as_deref().unwrap_or(say::reading());
            pen.put(1, rows.head, &cut::words(words, width, look.glyphs.cut), width, dim);
            return;
        };
        self.draw_files(&mut pen, displayed, ctx);
        self.draw_diff(
            Rect { y: area.y + rows.diff, height: area.height.saturating_sub(rows.diff), ..area },
            buf,
            focus,
            ctx,
        );
    }

    fn draw_legend(&self, pen: &mut Pen<'_>, y: u16, ctx: &Ctx<'_>) {
        let look = paint::look(ctx);
        let dim = look.theme.style(Role::Dim);
        let place = self.where_it_is();
        let room = usize::from(pen.width()).saturating_sub(cells(&place) + 4);
        let kinds = [
            (PastKind::Edit, say::edit()),
            (PastKind::Command, say::command()),
            (PastKind::Restore, say::undo_or_restore()),
        ];
        let mut spans: Vec<Span<'static>> = Vec::new();
        for (kind, words) in kinds {
            let (mark, role) = mark_of(kind, look);
            let gap = if spans.is_empty() { "" } else { "   " };
            spans.push(span(format!("{gap}{mark}"), bold(look.theme, role)));
            spans.push(span(format!(" {words}"), dim));
        }
        if spans.iter().map(Span::width).sum::<usize>() <= room {
            pen.spans(1, y, &spans, room);
        }
        let end = pen.width().saturating_sub(1);
        pen.right(end, y, &[span(place, dim)]);
    }

    fn draw_files(&self, pen: &mut Pen<'_>, displayed: &Displayed, ctx: &Ctx<'_>) {
        let look = paint::look(ctx);
        let dim = look.theme.style(Role::Dim);
        let rows = self.rows();
        let files = &displayed.change.change.files;
        let counts = files.iter().fold(Counts::default(), |sum, file| Counts {
            added: sum.added + file.counts.added,
            removed: sum.removed + file.counts.removed,
        });
        let against = if self.pinned.is_some() { say::then_pinned() } else { say::then_now() };
        let mut note = vec![span(against, dim)];
        if counts != Counts::default() {
            note.push(span("  ", dim));
            note.extend(paint::counts(counts, look));
        }
        let title = [span(say::differ(files.len()), bold(look.theme, Role::Text))];
        let width = pen.width();
        pen.heading(0, rows.head, width, &title, &note, look);
        if files.is_empty() {
            pen.put(3, rows.files.start, say::no_difference(), usize::from(width), dim);
            return;
        }
        // Where not all have room, folders give way to the counts, these to the name, and that to the shortest words for
        // its state: how sure it is.
        let longest = |of: &dyn Fn(&str) -> usize| files.iter().map(|file| of(&show::plain(&file.path))).max();
        let name = |path: &str| cells(&path[cut::name_start(path)..]) + if path.contains('/') { 2 } else { 0 };
        let most = (usize::from(width) * 2 / 5).max(longest(&name).unwrap_or(0));
        let in_sight = displayed.change.files.iter().skip(self.top).take(rows.files.len());
        let state = in_sight.map(|about| mark_cells(about, ctx)).max().unwrap_or(0);
        let room = usize::from(width).saturating_sub(BESIDE + state).max(LEAST_NAME);
        let counted = longest(&name).unwrap_or(0) + COUNTS <= room;
        let room = if counted { room - COUNTS } else { room };
        let names = longest(&cells).unwrap_or(0).min(most).min(room);
        for (n, y) in rows.files.clone().enumerate() {
            let at = self.top + n;
            let (Some(file), Some(about)) = (files.get(at), displayed.change.files.get(at)) else { break };
            if about.outside.is_some() {
                pen.put(1, y, look.glyphs.foreign, 1, look.theme.style(Role::Attention));
            }
            let style = if at == self.file { bold(look.theme, Role::Text) } else { look.theme.style(Role::Text) };
            pen.spans(3, y, &paint::path(&show::plain(&file.path), names, style, look), names);
            let mut x = 5 + names as u16;
            if counted {
                pen.spans(x, y, &paint::count_columns(file.counts, [5, 5], look), 12);
                x += COUNTS as u16;
            }
            let room = usize::from(width.saturating_sub(x + 1));
            let about = state_words(about, (&file.before, &file.after), room, ctx);
            let line = cut::line(about, room, look.glyphs.cut, dim);
            pen.spans(x, y, &line.spans, room);
            if at == self.file && !self.in_diff {
                pen.select(y, 1, look);
            }
        }
        pen.thumb(rows.files.start, rows.files.end - rows.files.start, self.top, files.len(), look);
    }

    fn draw_diff(&self, area: Rect, buf: &mut Buffer, focus: bool, ctx: &Ctx<'_>) {
        let Some(displayed) = &self.displayed else { return };
        if area.height < 2 {
            return;
        }
        let look = paint::look(ctx);
        let dim = look.theme.style(Role::Dim);
        let clock = ctx.clock();
        let (then, until) = self.sides();
        let time =
            |at: usize| self.moments.get(at).map_or(clock.minute(clock.now), |moment| times::point(&clock, moment.at));
        let until_name = if self.pinned.is_some() { say::pinned() } else { say::now() };
        let title = vec![
            span(say::then(), bold(look.theme, Role::Focus)),
            span(format!("  {}", time(then)), dim),
            span(format!("   {until_name}"), bold(look.theme, Role::Text)),
            span(format!("  {}", time(until)), dim),
        ];
        line(Rect { height: 1, ..area }, Line::from(title), focus && self.in_diff, None, buf, ctx);
        let mut pen = Pen::new(buf, Rect { y: area.y + 1, height: area.height - 1, ..area });
        let (width, height) = (pen.width(), pen.height());
        if !displayed.change.change.files.is_empty() {
            displayed.view.draw(&mut pen.part(0, 0, width, height), ctx, None);
        }
    }
}

/// Returns the cells of the shortest words that say how sure the state of a file is.
fn mark_cells(file: &PastFile, ctx: &Ctx<'_>) -> usize {
    let clock = ctx.clock();
    match file.outside {
        Some((from, to)) => cells(&say::changed_outside_short(&clock.minute(from), &clock.minute(to))),
        None if file.unsure => cells(say::perhaps_changed_short()),
        None => cells(say::certain()),
    }
}

/// Returns how sure the state of a file is, and whether there was one: as much of it as `room` cells hold.
fn state_words(file: &PastFile, (then, now): (&State, &State), room: usize, ctx: &Ctx<'_>) -> Line<'static> {
    let look = paint::look(ctx);
    let (dim, attention) = (look.theme.style(Role::Dim), look.theme.style(Role::Attention));
    let clock = ctx.clock();
    let there = match (then, now) {
        (State::Absent, _) => Some(say::absent_then()),
        (_, State::Absent) => Some(say::absent_now()),
        _ => None,
    };
    let there = there.map(|words| span(words, dim));
    // From the whole to the shortest.
    let forms: Vec<Vec<Span<'static>>> = match file.outside {
        None if file.unsure => {
            let state = span(say::perhaps(), dim);
            let [long, short] = [say::perhaps_changed(), say::perhaps_changed_short()].map(|words| span(words, dim));
            vec![vec![state.clone(), long], vec![state.clone(), short.clone()], vec![short], vec![state]]
        }
        None => vec![vec![span(say::certain(), dim)]],
        Some((from, to)) => {
            let state = if file.is_left { say::as_left() } else { say::perhaps() };
            let state = span(state, look.theme.style(Role::Text));
            let (from, to) = (clock.minute(from), clock.minute(to));
            let [long, short] = [say::changed_outside(&from, &to), say::changed_outside_short(&from, &to)]
                .map(|words| span(words, attention));
            vec![vec![state.clone(), long], vec![state, short.clone()], vec![short]]
        }
    };
    let shortest = there.clone().map(|there| vec![there]);
    let whole = forms.into_iter().map(|form| form.into_iter().chain(there.clone()).collect::<Vec<_>>());
    let mut lines = whole.chain(shortest).map(|form| {
        let gaps = form.into_iter().enumerate().map(|(n, words)| [span(if n > 0 { "   " } else { "" }, dim), words]);
        Line::from(gaps.flatten().collect::<Vec<_>>())
    });
    let mut line = lines.next().unwrap_or_default();
    for shorter in lines {
        if line.width() > room {
            line = shorter;
        }
    }
    line
}

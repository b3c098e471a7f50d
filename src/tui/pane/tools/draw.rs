//! Drawing the calls that are seen.

use std::time::Duration;

use ratatui::style::Style;
use ratatui::text::Span;

use super::entry::{CallEntry, UNFINISHED_LINES};
use super::{Field, Tools};
use crate::messages::{count, diff, times::duration, tools as say, verbs};
use crate::proposal::Rung;
use crate::protocol::{Call, CallState, PreviewLine};
use crate::tui::look::{Ctx, Look};
use crate::tui::pane::paint::{self, Pen, bold, found_word, span};
use crate::tui::pane::verb_column;
use crate::tui::text::highlight::Code;
use crate::tui::text::wrap::cells;
use crate::tui::text::{cut, show};
use crate::tui::theme::Role;

impl CallEntry {
    /// Returns the rung that found the place of the edit, where that is worth a row.
    pub(super) fn rung(&self) -> Option<Rung> {
        self.call.rung.filter(|r| *r == Rung::Inexact)
    }
}

impl Tools {
    pub(super) fn draw_calls(&self, pen: &mut Pen<'_>, ctx: &Ctx<'_>) {
        let look = paint::look(ctx);
        let height = usize::from(pen.height());
        let first = self.tops.partition_point(|t| *t <= self.top).saturating_sub(1);
        self.draw_earlier(pen, ctx);
        let next = self.calls.iter().position(|e| matches!(e.call.state, CallState::Waiting));
        for (i, entry) in self.calls.iter().enumerate().skip(first) {
            let Some(at) = self.tops.get(i).filter(|t| **t < self.top + height) else { break };
            if self.is_hidden(i) {
                continue;
            }
            let mut rows = RowPainter { pen, y: *at as isize - self.top as isize, ctx };
            rows.y += isize::from(entry.apart);
            let start = rows.y;
            rows.call(entry, verb_column::in_row(&entry.call.verb, self.verbs), next == Some(i));
            rows.body(self, i, entry);
            if ctx.focus && self.selected == Some(i) {
                for y in (start..rows.y).filter_map(|y| u16::try_from(y).ok()) {
                    pen.bar(y, 1, look);
                }
                if let Ok(y) = u16::try_from(start) {
                    pen.select(y, 1, look);
                }
            }
        }
        pen.thumb(0, pen.height(), self.top, self.total(), look);
    }
}

/// Rows going down; those above the top are counted and not drawn.
struct RowPainter<'a, 'b, 'c> {
    pen: &'a mut Pen<'b>,
    y: isize,
    ctx: &'a Ctx<'c>,
}

impl RowPainter<'_, '_, '_> {
    fn row(&mut self) -> Option<u16> {
        self.y += 1;
        u16::try_from(self.y - 1).ok()
    }

    fn style(&self, role: Role) -> Style {
        self.ctx.theme.style(role)
    }

    /// Draws the row with state, name, argument, result and time.
    fn call(&mut self, entry: &CallEntry, name: usize, next: bool) {
        let Some(y) = self.row() else { return };
        let call = &entry.call;
        let look = paint::look(self.ctx);
        let (glyph, style) = match call.undone().is_all() {
            true => (look.glyphs.undo, self.style(Role::Dim)),
            false if call.is_unsuccessful() => (look.glyphs.failed, bold(look.theme, Role::Attention)),
            false => mark(call.state, self.ctx),
        };
        self.pen.put(1, y, glyph, 1, style);
        let active = matches!(call.state, CallState::Running | CallState::Asking);
        let text = if active { bold(look.theme, Role::Text) } else { self.style(Role::Text) };
        self.pen.put(3, y, &cut::end(verbs::localized(&call.verb.short), name, look.glyphs.cut), name, text);
        let (x, right) = (4 + name as u16, self.pen.width().saturating_sub(1));
        // A file's name is never cut while its time or its result can give way.
        let file = cells(call.main.rsplit('/').next().unwrap_or_default()) + usize::from(call.main.contains('/')) * 2;
        let visible: usize = result(call, self.ctx).iter().map(|s| cells(&s.content)).sum();
        let free = usize::from(right).saturating_sub(4 + name + 2);
        let tight = entry.path_of_main().is_some() && entry.path_rows.is_empty() && free < file + visible + 8;
        let time = if tight { String::new() } else { self.time(entry, next) };
        let dim = self.style(Role::Dim);
        self.pen.right(right, y, &[span(time.as_str(), dim)]);
        let end = match call.state {
            CallState::Asking => self.pen.right(right, y, &[span(say::waiting_for_you(), self.style(Role::Attention))]),
            _ if tight && free < file + visible + 1 => right,
            _ if tight => self.result(right, (x, y), call),
            _ => {
                let taken = (cells(&time) as u16 + 1).max(8);
                self.result(right.saturating_sub(taken), (x, y), call)
            }
        };
        let room = usize::from(end.saturating_sub(x + 1));
        let main = show::plain(&call.main);
        match entry.path_of_main() {
            // It stands whole below.
            Some(_) if !entry.path_rows.is_empty() => {}
            Some(_) => {
                let spans = paint::path(&main, room, self.style(Role::Path), look);
                self.pen.spans(x, y, &spans, room);
            }
            None => {
                self.pen.put(x, y, &cut::end(&main, room, look.glyphs.cut), room, self.style(Role::Text));
            }
        }
    }

    /// Draws the result before column `end`, right of column `x`; returns where it begins.
    fn result(&mut self, end: u16, (x, y): (u16, u16), call: &Call) -> u16 {
        let look = paint::look(self.ctx);
        let room = usize::from(end.saturating_sub(x));
        let line = cut::line(result(call, self.ctx).into(), room, look.glyphs.cut, look.theme.style(Role::Dim));
        self.pen.right(end, y, &line.spans)
    }

    fn time(&self, entry: &CallEntry, next: bool) -> String {
        match entry.call.state {
            CallState::Waiting => if next { say::next() } else { say::then() }.into(),
            CallState::Running => {
                let began = entry.began.unwrap_or(self.ctx.now);
                let ms = u64::try_from(self.ctx.now - began).unwrap_or(0);
                // Tenths from the start: milliseconds would only flicker.
                duration(Duration::from_millis(ms.max(100)))
            }
            // It did not run.
            CallState::Refused => String::new(),
            CallState::Interrupted | CallState::Asking | CallState::Streaming => String::new(),
            _ => entry.call.took.map(duration).unwrap_or_default(),
        }
    }

    /// Draws reason, preview and arguments.
    fn body(&mut self, tools: &Tools, i: usize, entry: &CallEntry) {
        let dim = self.style(Role::Dim);
        let room = usize::from(self.pen.width().saturating_sub(4));
        for line in &entry.path_rows {
            if let Some(y) = self.row() {
                self.pen.put(3, y, line, room, self.style(Role::Path));
            }
        }
        for (i, line) in entry.reason.iter().enumerate() {
            let mut line = show::plain(line).into_owned();
            if entry.reason_goes_on && i + 1 == entry.reason.len() {
                line = format!("{} {}", cut::words(&line, room.saturating_sub(2), "").trim_end(), self.ctx.glyphs.cut);
            }
            if let Some(y) = self.row() {
                self.pen.put(3, y, &line, room, dim);
            }
        }
        if entry.drifted
            && let Some(y) = self.row()
        {
            let style = self.style(Role::Attention);
            let x = self.pen.put(3, y, self.ctx.glyphs.foreign, 1, style);
            self.pen.put(x + 1, y, say::drifted(), room, style);
        }
        if let Some((rung, y)) = entry.rung().and_then(|rung| Some((rung, self.row()?))) {
            let x = self.pen.put(3, y, diff::found(), room, dim);
            self.pen.put(x, y, found_word(rung), room, self.style(Role::Attention));
        }
        let (visible, more) = tools.preview(i);
        let (head, tail) = tools.preview_lines(i, visible);
        let note = (more > 0 && visible > 0).then(|| match tail.is_empty() {
            true => format!("{} {}", self.ctx.glyphs.more, count::more_lines(more)),
            false => format!("{} {}", self.ctx.glyphs.more, say::before(&count::lines(more))),
        });
        self.preview(head, entry);
        if let Some(note) = note
            && let Some(y) = self.row()
        {
            self.pen.put(3, y, &note, room, dim);
        }
        self.preview(&tail, entry);
        if entry.call.preview.is_empty() {
            self.fields(&entry.fields);
        }
    }

    fn preview(&mut self, lines: &[PreviewLine], entry: &CallEntry) {
        let path = entry.path_of_main().map_or("", |_| entry.call.file());
        let text: Vec<&str> = lines.iter().map(|l| l.text.as_str()).collect();
        let code = Code::of_file(path, text.join("\n"));
        // Places line up, as far as their paths are short enough.
        let places = lines.iter().filter_map(|l| place(l)).map(|(p, n, _)| cells(p) + 1 + n.len()).max();
        // A name and a number are never cut: the text of the line gives way first.
        let short = |path: &str| cells(&path[cut::name_start(path)..]) + if path.contains('/') { 2 } else { 0 };
        let names = lines.iter().filter_map(|l| place(l)).map(|(p, n, _)| short(p) + 1 + n.len()).max();
        let room = usize::from(self.pen.width().saturating_sub(6));
        let column =
            3 + places.unwrap_or(0).min(usize::from(self.pen.width()) / 2).max(names.unwrap_or(0)).min(room) as u16 + 2;
        for (n, line) in lines.iter().enumerate() {
            let Some(y) = self.row() else { continue };
            match (line.sign, place(line)) {
                (' ', Some((path, number, text))) => self.found(y, column, path, number, text),
                (' ', None) => {
                    let room = usize::from(self.pen.width().saturating_sub(4));
                    let spans = self.coloured(&code, n, &line.text, Style::new());
                    self.cut_spans(3, y, spans, room);
                }
                ('$', _) => self.command(y, &line.text),
                _ => self.changed(y, line, &code, n),
            }
        }
    }

    /// Draws a line of a search's result.
    fn found(&mut self, y: u16, column: u16, path: &str, number: &str, text: &str) {
        let look = paint::look(self.ctx);
        let room = usize::from(column - 5).saturating_sub(number.len() + 1);
        let spans = paint::path(path, room, self.style(Role::Path), look);
        let x = self.pen.spans(3, y, &spans, room);
        self.pen.put(x, y, &format!(":{number}"), number.len() + 1, self.style(Role::Dim));
        let code = Code::of_file(path, text.trim_start());
        let spans = self.coloured(&code, 0, text.trim_start(), Style::new());
        self.cut_spans(column, y, spans, usize::from(self.pen.width().saturating_sub(column + 1)));
    }

    /// Draws a line of a command's text.
    fn command(&mut self, y: u16, text: &str) {
        let width = self.pen.width().saturating_sub(4);
        self.pen.put(3, y, "$", 1, self.style(Role::Dim));
        let spans = self.coloured(&Code::of_file("command.sh", text), 0, text, Style::new());
        self.cut_spans(5, y, spans, usize::from(width.saturating_sub(3)));
    }

    /// Draws a line of an edit.
    fn changed(&mut self, y: u16, line: &PreviewLine, code: &Code, n: usize) {
        let glyphs = self.ctx.glyphs;
        let (sign, role, tint) = match line.sign {
            '+' => (glyphs.added, Role::Added, Role::AddedBg),
            _ => (glyphs.removed, Role::Removed, Role::RemovedBg),
        };
        let background = self.style(tint);
        let width = self.pen.width().saturating_sub(4);
        self.pen.style(3, y, width, 1, background);
        let style = match paint::sign_tint(self.ctx.theme, line.sign == '+') {
            Some(tint) => {
                self.pen.style(2, y, 3, 1, tint);
                bold(self.ctx.theme, Role::Text).patch(tint)
            }
            None => bold(self.ctx.theme, role).patch(background),
        };
        self.pen.put(3, y, sign, 1, style);
        let spans = self.coloured(code, n, &line.text, background);
        self.cut_spans(5, y, spans, usize::from(width.saturating_sub(3)));
    }

    fn coloured(&self, code: &Code, n: usize, text: &str, background: Style) -> Vec<Span<'static>> {
        let pieces = show::pieces(text, 0, show::Invisible::Name);
        let mut spans = Vec::new();
        let mut at = 0;
        self.ctx.colours.look(code, n..n + 1, |_, tokens| {
            for token in tokens {
                let end = (token.end as usize).min(text.len());
                let style = self.ctx.theme.style(token.role).patch(background);
                spans.push(span(show::part_of(&pieces, at..end), style));
                at = at.max(end);
            }
        });
        if at < text.len() {
            spans.push(span(show::part_of(&pieces, at..text.len()), self.style(Role::Text).patch(background)));
        }
        spans
    }

    fn cut_spans(&mut self, x: u16, y: u16, spans: Vec<Span<'static>>, room: usize) {
        let line = cut::line(spans.into(), room, self.ctx.glyphs.cut, self.style(Role::Dim));
        self.pen.spans(x, y, &line.spans, room);
    }

    fn fields(&mut self, fields: &[Field]) {
        let names = fields.iter().map(|f| cells(&f.name)).max().unwrap_or(0).clamp(7, 15) + 2;
        let room = usize::from(self.pen.width().saturating_sub(4)).saturating_sub(names);
        let x = 3 + names as u16;
        for (i, field) in fields.iter().enumerate() {
            let growing = i + 1 == fields.len() && !field.whole;
            let rows = CallEntry::field_rows(field);
            let all: Vec<&str> = if field.text { field.value.lines().collect() } else { vec![field.value.as_str()] };
            let first = if growing { all.len().saturating_sub(rows.min(UNFINISHED_LINES)) } else { 0 };
            for k in 0..rows {
                let Some(y) = self.row() else { continue };
                if k == 0 {
                    self.pen.put(
                        3,
                        y,
                        &cut::end(&field.name, names - 2, self.ctx.glyphs.cut),
                        names - 2,
                        self.style(Role::Dim),
                    );
                }
                let last = first + k + 1 >= all.len();
                let mut text = all.get(first + k).map(|l| show::plain(l).into_owned()).unwrap_or_default();
                if field.text && first + k == 0 {
                    text.insert(0, '"');
                }
                if field.text && last && field.whole {
                    text.push('"');
                } else if !last && !growing {
                    text.push_str(self.ctx.glyphs.cut);
                }
                self.value(x, y, &text, room, growing && last);
            }
        }
    }

    /// Draws a line of a value; the end of one that grows stays in view.
    fn value(&mut self, x: u16, y: u16, text: &str, room: usize, growing: bool) {
        let style = self.style(Role::Text);
        if !growing {
            self.pen.put(x, y, &cut::end(text, room, self.ctx.glyphs.cut), room, style);
            return;
        }
        let room = room.saturating_sub(1);
        let mut at = x;
        if cells(text) > room {
            at = self.pen.put(at, y, self.ctx.glyphs.cut, 1, self.style(Role::Dim));
            at = self.pen.put(at, y, cut::tail(text, room.saturating_sub(1)), room, style);
        } else {
            at = self.pen.put(at, y, text, room, style);
        }
        self.pen.put(at, y, self.ctx.glyphs.growing, 1, self.style(Role::Accent));
    }
}

/// Returns the mark of a state and how it is drawn.
fn mark(state: CallState, ctx: &Ctx<'_>) -> (&'static str, Style) {
    let Look { theme, glyphs, .. } = paint::look(ctx);
    match state {
        CallState::Streaming | CallState::Waiting => (glyphs.queued, theme.style(Role::Dim)),
        CallState::Asking => (glyphs.asking, bold(theme, Role::Attention)),
        CallState::Running => (glyphs.spin(ctx.tick), bold(theme, Role::Accent)),
        CallState::Done => (glyphs.done, theme.style(Role::Added)),
        CallState::Refused => (glyphs.refused, bold(theme, Role::Removed)),
        CallState::Failed => (glyphs.failed, bold(theme, Role::Removed)),
        CallState::Interrupted => (glyphs.broken, theme.style(Role::Dim)),
    }
}

/// Returns what is written while a call arrives: a whole file, or the arguments of another call.
fn writing(call: &Call) -> String {
    match call.verb.doing == verbs::WRITING {
        true => verbs::writing().into(),
        false => say::writing(&verbs::localized(&call.verb.short)),
    }
}

fn result(call: &Call, ctx: &Ctx<'_>) -> Vec<Span<'static>> {
    let dim = ctx.theme.style(Role::Dim);
    let removed = ctx.theme.style(Role::Removed);
    let undone = call.undone();
    match (call.state, call.counts) {
        (CallState::Done, _) if undone.is_all() => vec![span(say::undone(), dim)],
        (CallState::Done, _) if undone.is_any() => {
            let words = say::undone_in_part(&undone.hunks, &count::hunks(undone.of));
            vec![span(words, ctx.theme.style(Role::Attention))]
        }
        (CallState::Streaming, None) => vec![span(writing(call), dim)],
        (CallState::Streaming, Some(counts)) => {
            let mut spans = vec![span(format!("{} ", writing(call)), dim)];
            spans.extend(paint::counts(counts, paint::look(ctx)));
            spans
        }
        (CallState::Running, _) => vec![span(say::running(), dim)],
        (CallState::Refused, _) if !call.summary.is_empty() && call.counts.is_some() => {
            vec![span(call.summary.as_str(), removed)]
        }
        (CallState::Refused, _) => vec![span(say::rejected(), removed)],
        (CallState::Failed, _) => vec![span(say::failed(), removed)],
        (CallState::Interrupted, _) => vec![span(say::interrupted(), dim)],
        // Written in part: how much of it says more than the lines that were proposed.
        _ if call.is_partial() => {
            vec![span(call.summary.as_str(), ctx.theme.style(Role::Attention))]
        }
        (_, Some(counts)) if counts.added + counts.removed > 0 => {
            let mut spans = paint::counts(counts, paint::look(ctx));
            if !call.summary.is_empty() {
                spans.push(span(format!("  {}", call.summary), dim));
            }
            spans
        }
        _ if call.is_unsuccessful() => vec![span(call.summary.as_str(), ctx.theme.style(Role::Attention))],
        _ => vec![span(call.summary.as_str(), dim)],
    }
}

/// Returns a line of a search's result: path, line number, text.
fn place(line: &PreviewLine) -> Option<(&str, &str, &str)> {
    let (path, rest) = line.text.split_once(':')?;
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (number, rest) = rest.split_at(digits);
    let text = rest.strip_prefix(':').or_else(|| rest.strip_prefix('\t')).or(rest.is_empty().then_some(""))?;
    (!path.is_empty() && !path.contains(' ') && !number.is_empty()).then_some((path, number, text))
}

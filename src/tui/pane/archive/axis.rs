//! One file in time: its versions on a rule, and two of them beside each other.

use ratatui::style::Modifier;
use ratatui::text::Span;

use super::{Archive, FileInTime};
use crate::messages::{archive as say, count, records, times};
use crate::proposal::Counts;
use crate::protocol::VersionRow;
use crate::tui::look::{Ctx, Look};
use crate::tui::pane::paint::{self, Pen, bold, span};
use crate::tui::text::wrap::cells;
use crate::tui::text::{cut, show};
use crate::tui::theme::Role;

/// Cells from one version to the next.
const STEP: u16 = 15;

impl FileInTime {
    /// Versions and, last, now.
    pub fn points(&self) -> usize {
        self.versions.len() + 1
    }

    /// Returns the version at a point; `None`: now.
    pub fn version(&self, point: usize) -> Option<&VersionRow> {
        self.versions.get(point)
    }
}

impl Archive {
    /// Draws path, axis and changes.
    pub(super) fn draw_axis(&self, pen: &mut Pen<'_>, ctx: &Ctx<'_>, path: &str) {
        let look = paint::look(ctx);
        let (theme, width) = (look.theme, pen.width());
        let dim = theme.style(Role::Dim);
        let file = self.times.get(path);
        if !self.splits_pane_line() {
            let (title, note) = self.file_title(width, look);
            pen.heading(0, 0, width, &title, &note, look);
        }
        let Some(file) = file else { return };
        let clock = ctx.clock();
        let (first, fits) = self.in_sight(width, file);
        let points = file.points();
        let pin = self.pinned_point(path);
        for (k, point) in (first..points.min(first + fits)).enumerate() {
            let x = 1 + k as u16 * STEP;
            let hot = point == self.point || Some(point) == pin;
            let label = file.version(point).map_or(say::now().into(), |v| times::point(&clock, v.at));
            let style = if hot { bold(theme, Role::Text) } else { dim };
            pen.put(x, 1, &label, usize::from(STEP) - 1, style);
            self.tick(pen, x, point, points, look);
            let line = theme.style(Role::Line);
            if point + 1 < points {
                pen.fill(x + 1, 2, STEP - 1, look.glyphs.rule, line);
            }
            if point > 0 && k == 0 {
                pen.put(0, 2, look.glyphs.cut, 1, dim);
            }
            if hot {
                let (name, role) = if point == self.point { (" B ", Role::Focus) } else { (" A ", Role::Text) };
                pen.put(x, 2, name, 3, bold(theme, role).add_modifier(Modifier::REVERSED));
            }
            self.change(pen, x, file, point, look);
        }
    }

    /// Returns the first point in sight, and how many fit.
    fn in_sight(&self, width: u16, file: &FileInTime) -> (usize, usize) {
        let fits = usize::from((width.saturating_sub(2) / STEP).max(1));
        (self.point.saturating_sub(fits / 2).min(file.points().saturating_sub(fits)), fits)
    }

    /// Returns the point of the axis at a column.
    pub(super) fn point_at(&self, width: u16, column: u16) -> Option<usize> {
        let file = self.times.get(self.path()?)?;
        let (first, fits) = self.in_sight(width, file);
        let k = usize::from(column.checked_sub(1)? / STEP);
        (k < fits && first + k < file.points()).then_some(first + k)
    }

    /// Returns the file under the keys and how many versions it has.
    pub(super) fn file_title(&self, width: u16, look: Look<'_>) -> (Vec<Span<'static>>, Vec<Span<'static>>) {
        let Some(path) = self.path() else { return Default::default() };
        let note = self.times.get(path).map(|f| count::versions(f.versions.len()));
        let note: Vec<_> = note.map(|n| span(n, look.theme.style(Role::Dim))).into_iter().collect();
        let taken = note.iter().map(|s| cells(&s.content)).sum::<usize>() + 6;
        let room = usize::from(width).saturating_sub(taken);
        (paint::path(&show::plain(path), room, look.theme.style(Role::Path), look), note)
    }

    fn tick(&self, pen: &mut Pen<'_>, x: u16, point: usize, points: usize, look: Look<'_>) {
        let mark = match point {
            0 => look.glyphs.tee_left,
            p if p + 1 == points => look.glyphs.tee_right,
            _ => look.glyphs.cross,
        };
        pen.put(x, 2, mark, 1, look.theme.style(Role::Line));
    }

    fn change(&self, pen: &mut Pen<'_>, x: u16, file: &FileInTime, point: usize, look: Look<'_>) {
        let room = usize::from(STEP) - 1;
        match file.version(point) {
            Some(v) => {
                let spans = match v.counts {
                    Some(counts) => paint::counts(counts, look),
                    None if v.absent => vec![span(say::not_there(), look.theme.style(Role::Dim))],
                    None => Vec::new(),
                };
                pen.spans(x, 3, &spans, room);
            }
            None if file.foreign => {
                let mut spans = file.now.map(|c| paint::counts(c, look)).unwrap_or_default();
                if !spans.is_empty() {
                    spans.push(span("  ", look.theme.style(Role::Dim)));
                }
                let left = room.saturating_sub(spans.iter().map(|s| cells(&s.content)).sum());
                let words = [say::foreign(), say::foreign_medium(), say::foreign_short()];
                let words = cut::first_fit(&words, left, look.glyphs.cut).into_owned();
                spans.push(span(words, look.theme.style(Role::Attention)));
                pen.spans(x, 3, &spans, room);
            }
            None => {}
        }
    }

    /// Draws the line that names the two states that are compared.
    pub(super) fn draw_sides(&self, pen: &mut Pen<'_>, ctx: &Ctx<'_>, path: &str, counts: Option<Counts>, middle: u16) {
        let look = paint::look(ctx);
        let Some((left, right)) = self.sides(path) else { return };
        let width = pen.width();
        let counts = counts.map(|c| paint::counts(c, look)).unwrap_or_default();
        let taken: usize = counts.iter().map(|s| cells(&s.content)).sum::<usize>() + 6;
        if middle == 0 {
            let half = usize::from(width).saturating_sub(taken) / 2;
            let mut title = self.side(ctx, path, left, half.saturating_sub(2), look);
            title.push(span("   ", look.theme.style(Role::Dim)));
            title.extend(self.side(ctx, path, right, half.saturating_sub(2), look));
            pen.heading(0, 0, width, &title, &counts, look);
            return;
        }
        let title = self.side(ctx, path, left, usize::from(middle).saturating_sub(4), look);
        pen.heading(0, 0, middle, &title, &[], look);
        let half = width.saturating_sub(middle);
        let title = self.side(ctx, path, right, usize::from(half).saturating_sub(taken), look);
        pen.heading(middle + 1, 0, half.saturating_sub(1), &title, &counts, look);
        pen.put(middle, 0, look.glyphs.join_down, 1, look.theme.style(Role::Line));
    }

    /// Returns `B  12:04:31, before one query`.
    fn side(&self, ctx: &Ctx<'_>, path: &str, point: usize, room: usize, look: Look<'_>) -> Vec<Span<'static>> {
        let Some(file) = self.times.get(path) else { return Vec::new() };
        let clock = ctx.clock();
        let pinned = self.pinned_point(path) == Some(point);
        let when = file.version(point).map_or(say::now().to_string(), |v| times::exact(&clock, v.at));
        let mut words = when.clone();
        if pinned && point != self.point {
            words.push_str(say::pinned());
        } else if let Some(v) = file.version(point).filter(|v| !v.cause.is_empty() && point == self.point) {
            words.push_str(&say::before(&show::plain(&records::cause(&v.cause))));
        }
        let mut spans = Vec::new();
        if point == self.point {
            spans.push(span("B  ", bold(look.theme, Role::Focus)));
        } else if pinned {
            spans.push(span("A  ", bold(look.theme, Role::Text)));
        }
        let room = room.saturating_sub(3 * spans.len());
        // The cause may lose its end, but nothing of it is better than its first letters.
        let needed = cells(&when) + cells(say::before_cause());
        let words = if cells(&words) > room && room < needed { when } else { words };
        spans.push(span(cut::words(&words, room, look.glyphs.cut), look.theme.style(Role::Dim)));
        spans
    }
}

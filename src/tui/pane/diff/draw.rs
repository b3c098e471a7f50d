//! Drawing a [`View`]: only the rows that are seen are laid out.

use std::ops::Range;

use ratatui::text::Span;

use super::cells;
use super::choices::{Choices, Standing};
use super::code::{Coloured, Side, words};
use super::lines::Lines;
use super::rows::{FileView, Heads, Layout, Row, Show};
use super::view::{Columns, View};
use crate::messages::{count, diff as say};
use crate::proposal::{HunkKind, REPOSITORY, Rung};
use crate::text::definition::{self, DefinitionChange};
use crate::text::number::thousands;
use crate::tui::look::{Ctx, Look};
use crate::tui::pane::paint::{self, Pen, bold, found_word, span};
use crate::tui::text::show::Invisible;
use crate::tui::text::{cut, wrap};
use crate::tui::theme::Role;

/// The cells that the label of a definition takes at least.
const NAME: usize = 12;

/// The position of a line of code.
#[derive(Debug, Clone, Copy)]
struct LinePosition<'a> {
    file: &'a FileView,
    columns: Columns,
    /// Its first row; above the top when negative.
    y: isize,
    /// It was rejected.
    off: bool,
}

impl View {
    /// Draws what is seen. `choices`: how the hunks stand, when they wait for a decision.
    pub fn draw(&self, pen: &mut Pen<'_>, ctx: &Ctx<'_>, choices: Option<&Choices>) {
        let look = paint::look(ctx);
        let height = pen.height() as isize;
        let columns = self.columns();
        let top = self.top();
        let first = self.laid.at(top);
        for (i, (file, row)) in self.laid.rows.iter().enumerate().skip(first) {
            let y = self.laid.tops[i] as isize - top as isize;
            if y >= height {
                break;
            }
            self.row(pen, ctx, y, (*file as usize, *row), columns, choices);
        }
        // An empty row before a file's own path says no less.
        let own = matches!(self.laid.rows.get(first), Some((_, Row::Blank)));
        let above = self.laid.rows.get(first).filter(|_| self.heads == Heads::All && top > 0 && !own);
        if let Some((file, _)) = above {
            pen.part(0, 0, columns.width, 1).blank(look);
            self.head(pen, 0, *file as usize, columns, look);
        }
        pen.thumb(0, pen.height(), top, self.total(), look);
    }

    fn row(
        &self,
        pen: &mut Pen<'_>,
        ctx: &Ctx<'_>,
        y: isize,
        (f, row): (usize, Row),
        columns: Columns,
        choices: Option<&Choices>,
    ) {
        let file = &self.files[f];
        let look = paint::look(ctx);
        let dim = look.theme.style(Role::Dim);
        let line = u16::try_from(y);
        match (row, line) {
            (Row::Head, Ok(y)) => self.head(pen, y, f, columns, look),
            (Row::Fold { from, len }, Ok(y)) => {
                let x = self.indent(columns);
                let mut text = format!("{} {}", look.glyphs.more, count::unchanged_lines(len));
                // Beyond the last line nothing is found.
                let inside = definition::around(&file.before, from + len);
                if !inside.is_empty() {
                    text.push_str(&say::inside(&inside));
                }
                let room = usize::from(columns.width.saturating_sub(x + 1));
                pen.put(x, y, &cut::end(&text, room, look.glyphs.cut), room, dim);
            }
            (Row::Hunk { hunk }, Ok(y)) => self.hunk_line(pen, y, (f, hunk), columns, choices, look),
            (Row::Note { hunk }, Ok(y)) => {
                let x = self.indent(columns);
                let note = file.note(hunk).unwrap_or_default();
                let room = usize::from(columns.width.saturating_sub(x + 1));
                let role = if file.hunks[hunk].rung == Some(Rung::Inexact) { Role::Attention } else { Role::Text };
                pen.put(x, y, &cut::words(note, room, look.glyphs.cut), room, look.theme.style(role));
                self.mark_focus(pen, y as isize, 1, Some((f, hunk)), choices, look);
            }
            (Row::Shut { hunk }, Ok(y)) => {
                let x = self.indent(columns);
                let mut spans = vec![span(format!("{} ", look.glyphs.more), dim)];
                spans.extend(paint::counts(file.hunk_counts(hunk), look));
                pen.spans(x, y, &spans, usize::from(columns.width.saturating_sub(x + 1)));
                self.mark_focus(pen, y as isize, 1, Some((f, hunk)), choices, look);
            }
            (Row::Talk { hunk, part }, _) => {
                let rows = self.draw_talk(pen, y, (f, hunk, part), columns.width, look);
                self.mark_focus(pen, y, rows, Some((f, hunk)), choices, look);
            }
            (Row::Same { hunk, before, after }, _) => {
                let rows = self.same(pen, ctx, LinePosition { file, columns, y, off: false }, (before, after));
                self.mark_focus(pen, y, rows, hunk.map(|h| (f, h)), choices, look);
            }
            (Row::Pair { hunk, left, right, show }, _) => {
                let off = choices.is_some_and(|c| c.standing(f, hunk) == Standing::Rejected);
                let rows = self.pair(pen, ctx, LinePosition { file, columns, y, off }, (left, right, show));
                self.mark_focus(pen, y, rows, Some((f, hunk)), choices, look);
            }
            _ => {}
        }
    }

    /// Returns where folds and notes begin.
    fn indent(&self, columns: Columns) -> u16 {
        match self.layout() {
            Layout::Side => 1 + columns.number,
            Layout::Unified => 1 + 2 * (columns.number + 1),
        }
    }

    fn mark_focus(
        &self,
        pen: &mut Pen<'_>,
        y: isize,
        rows: usize,
        at: Option<(usize, usize)>,
        choices: Option<&Choices>,
        look: Look<'_>,
    ) {
        if !(choices.is_some() || self.acts) || self.on_head || at.is_none() || at != self.focus() {
            return;
        }
        for y in (y..y + rows as isize).filter_map(|y| u16::try_from(y).ok()) {
            pen.bar(y, 1, look);
        }
    }

    fn head(&self, pen: &mut Pen<'_>, y: u16, f: usize, columns: Columns, look: Look<'_>) {
        let file = &self.files[f];
        let x = pen.right(columns.width.saturating_sub(1), y, &paint::counts(file.counts, look));
        let room = usize::from(x.saturating_sub(3));
        let spans = paint::path(&file.path, room, bold(look.theme, Role::Path), look);
        pen.spans(1, y, &spans, room);
        if self.on_head && self.focus().is_some_and(|(focus, _)| focus == f) {
            pen.select(y, 1, look);
        }
    }

    fn hunk_line(
        &self,
        pen: &mut Pen<'_>,
        y: u16,
        (f, h): (usize, usize),
        columns: Columns,
        choices: Option<&Choices>,
        look: Look<'_>,
    ) {
        let theme = look.theme;
        let dim = theme.style(Role::Dim);
        let hunk = &self.files[f].hunks[h];
        let focus = (choices.is_some() || self.acts) && !self.on_head && self.focus() == Some((f, h));
        let total: usize = self.files.iter().map(|v| v.hunks.len()).sum();
        let number = self.files[..f].iter().map(|v| v.hunks.len()).sum::<usize>() + h + 1;
        let title = say::hunk_of(&thousands(number), &thousands(total));
        let text = if focus { bold(theme, Role::Text) } else { theme.style(Role::Text) };
        let mut spans = Vec::new();
        if let Some(choices) = choices {
            let standing = choices.standing(f, h);
            let (glyph, role) = standing_mark(standing, look);
            spans.extend([span(format!("{glyph} "), bold(theme, role)), span(title, text)]);
            let word = if self.reviews { standing.reviewed_word() } else { standing.word() };
            spans.push(span(word, theme.style(role)));
            spans.push(span("   ", dim));
        } else {
            spans.extend([span(title, text), span(" ", dim)]);
        }
        if self.files[f].later {
            let words = format!("{} {}   ", look.glyphs.later, say::acts_later());
            spans.push(span(words, theme.style(Role::Attention)));
        }
        if hunk.hidden > 0 {
            let hidden = format!("{}   ", count::hidden_characters(hunk.hidden));
            spans.push(span(hidden, theme.style(Role::Attention)));
        }
        let room = usize::from(columns.width.saturating_sub(1));
        self.place(&mut spans, (f, h), room, look);
        let line = cut::line(spans.into(), room, look.glyphs.cut, dim);
        pen.spans(1, y, &line.spans, room);
        if focus {
            pen.select(y, 1, look);
        }
    }

    /// Adds where a hunk lies, as far as there is room: its definition, its lines and how its place was found.
    fn place(&self, spans: &mut Vec<Span<'static>>, (f, h): (usize, usize), room: usize, look: Look<'_>) {
        let (theme, hunk) = (look.theme, &self.files[f].hunks[h]);
        let dim = theme.style(Role::Dim);
        let about = self.about(f, h);
        let narrow = self.laid.width < 100;
        let found = if narrow { hunk.rung.map_or("", found_word) } else { hunk.found.as_str() };
        // How the place was found stands here alone.
        let taken: usize = spans.iter().map(|s| wrap::cells(&s.content)).sum();
        let left = room.saturating_sub(taken + wrap::cells(found));
        // Of a whole file its length is said, too.
        let of_file = if hunk.kind == HunkKind::Lines { 0 } else { wrap::cells(&about) + 3 };
        let reserved = if found.is_empty() { of_file } else { of_file.max(7) };
        let definition = self.definitions(f, h, left.saturating_sub(reserved), look);
        let (named, lines) = (wrap::cells(&definition), wrap::cells(&about));
        let (named, lines, gap) = match left {
            _ if left >= named + lines + 10 || found.is_empty() && left >= named => {
                (definition.as_str(), about.as_str(), say::found_wide())
            }
            // The lines have their numbers below.
            _ if hunk.kind == HunkKind::Lines && named > 0 && left >= named + 7 => {
                (definition.trim_end(), "", say::found_wide())
            }
            _ if found.is_empty() || left >= lines + 10 => ("", about.as_str(), say::found_wide()),
            7.. => ("", "", say::found()),
            _ => ("", "", ""),
        };
        spans.extend([span(named, theme.style(Role::Text)), span(lines, dim)]);
        if !found.is_empty() {
            let role = if hunk.rung == Some(Rung::Inexact) { Role::Attention } else { Role::Dim };
            spans.extend([span(gap, dim), span(found.to_string(), theme.style(role))]);
        }
    }

    /// Returns the definitions that a hunk changes, with a gap behind them: `fn total · changed   `. Where not all fit into
    /// the `room`, those that go come first, and the others are counted: `fn total · changed +2   ` in the least room. Empty:
    /// none is known.
    fn definitions(&self, f: usize, h: usize, room: usize, look: Look<'_>) -> String {
        let dot = look.glyphs.dot;
        let (file, hunk) = (&self.files[f], &self.files[f].hunks[h]);
        let words = |name: &str, change| format!("{name} {dot} {}", say::definition_change(change));
        if hunk.definitions.is_empty() {
            let of_lines =
                || definition::of_change(&file.path, (&file.before, &hunk.before), (&file.after, &hunk.after));
            let named = (hunk.kind == HunkKind::Lines).then(of_lines).flatten();
            return named.map(|(name, change)| words(&name, change) + "   ").unwrap_or_default();
        }
        let count = hunk.definitions.len();
        // Each takes a cell at least.
        if count <= room {
            let all = hunk.definitions.iter().map(|one| words(&one.name, one.change)).collect::<Vec<_>>().join(", ");
            if wrap::cells(&all) + 3 <= room {
                return all + "   ";
            }
        }
        let part = |is_removed: bool| {
            hunk.definitions.iter().filter(move |one| (one.change == DefinitionChange::Removed) == is_removed)
        };
        let sorted = part(true).chain(part(false)).take(room.max(1));
        let first: Vec<String> = sorted.map(|one| words(&one.name, one.change)).collect();
        let counted = |named: usize| say::more_definitions(count - named, &first[..named].join(", "));
        let fitting =
            (1..=first.len().min(count - 1)).map(counted).take_while(|text| wrap::cells(text) + 3 <= room).last();
        let short = || {
            let more = if count > 1 { format!(" +{}", thousands(count - 1)) } else { String::new() };
            let name_room = room.saturating_sub(wrap::cells(&more) + 3);
            // A few letters say nothing.
            let is_said = name_room >= NAME.min(wrap::cells(&first[0]));
            is_said.then(|| format!("{}{more}", cut::end(&first[0], name_room, look.glyphs.cut)))
        };
        fitting.or_else(short).map(|text| text + "   ").unwrap_or_default()
    }

    /// Returns what a hunk is about, in words.
    fn about(&self, f: usize, h: usize) -> String {
        let (file, hunk) = (&self.files[f], &self.files[f].hunks[h]);
        match hunk.kind {
            HunkKind::Lines => {
                let lines = file.visible_lines(h, self.laid.context);
                match lines.len() {
                    0 => say::gets_lines().to_string(),
                    1 => say::line(&(lines.start + 1)),
                    _ => say::lines(&(lines.start + 1), &lines.end),
                }
            }
            HunkKind::Create if file.path.ends_with('/') => say::new_folder().to_string(),
            HunkKind::Create if hunk.after.is_empty() => say::new_file().to_string(),
            HunkKind::Create => say::new_file_of(&count::lines(file.after.len())),
            HunkKind::Delete if file.path.ends_with('/') => say::deletes_folder().to_string(),
            HunkKind::Delete if hunk.before.is_empty() => say::deletes().to_string(),
            HunkKind::Delete => say::deletes_of(&count::lines(file.before.len())),
            HunkKind::Move => say::moved().to_string(),
            HunkKind::Binary if file.path == REPOSITORY => say::repository().to_string(),
            HunkKind::Binary => say::not_text().to_string(),
            HunkKind::Mode => say::permissions().to_string(),
        }
    }

    /// Draws an unchanged line; returns how many rows it took.
    fn same(&self, pen: &mut Pen<'_>, ctx: &Ctx<'_>, at: LinePosition<'_>, (before, after): (usize, usize)) -> usize {
        let LinePosition { file, columns, y, .. } = at;
        let look = paint::look(ctx);
        let pen_height = pen.height();
        let code = |lines: &Lines, id, i: usize| {
            let mut line = lines.line(i);
            if line.len() > cells::LONG {
                if self.wraps() {
                    return self.long(ctx, line, "", (Side::Same, false), y, pen_height);
                }
                line = &line[..cells::LONG];
            }
            let visible = cells::show(line, Invisible::Keep);
            let source = Coloured { id, path: &file.path, lines };
            self.code(ctx, visible, source, i, (Side::Same, false), &[])
        };
        let left = code(&file.before, file.ids.0, before);
        let rows = left.total;
        let number = usize::from(columns.number);
        let dim = look.theme.style(Role::Dim);
        if self.layout() == Layout::Unified {
            if let Ok(y) = u16::try_from(y) {
                pen.put(1, y, &format!("{:>number$} {:>number$}", before + 1, after + 1), 2 * number + 1, dim);
            }
            self.put_code(pen, 2 * columns.number + 5, y, &left, columns, look);
            return rows;
        }
        let x = columns.half + 2;
        let right = code(&file.after, file.ids.1, after);
        for (x, n, code) in [(1, before, &left), (x, after, &right)] {
            if let Ok(y) = u16::try_from(y) {
                pen.put(x, y, &format!("{:>number$}", n + 1), number, dim);
            }
            self.put_code(pen, x + columns.number + 3, y, code, columns, look);
        }
        self.centre(pen, y, rows, columns, look);
        rows
    }

    /// Draws a changed line; returns how many rows it took.
    fn pair(
        &self,
        pen: &mut Pen<'_>,
        ctx: &Ctx<'_>,
        at: LinePosition<'_>,
        (left, right, show): (Option<usize>, Option<usize>, Show),
    ) -> usize {
        let LinePosition { file, columns, y, off } = at;
        let look = paint::look(ctx);
        let words = match (left, right) {
            (Some(l), Some(r)) if !off => words(file.before.line(l), file.after.line(r)),
            _ => Default::default(),
        };
        let pen_height = pen.height();
        let code = |lines: &Lines, id, i: usize, side, words: &[Range<usize>]| {
            let line = lines.line(i);
            if line.len() > cells::LONG {
                let end = cells::show_changed(b"", lines.ending(i), file.usual).text;
                return self.long(ctx, line, &end, (side, off), y, pen_height);
            }
            let visible = cells::show_changed(line, lines.ending(i), file.usual);
            let source = Coloured { id, path: &file.path, lines };
            self.code(ctx, visible, source, i, (side, off), words)
        };
        let old = left.filter(|_| show != Show::Right);
        let old = old.map(|i| (i, Side::Old, code(&file.before, file.ids.0, i, Side::Old, &words.0)));
        let new = right.filter(|_| show != Show::Left);
        let new = new.map(|i| (i, Side::New, code(&file.after, file.ids.1, i, Side::New, &words.1)));
        let rows = old.iter().chain(&new).map(|(_, _, c)| c.total).max().unwrap_or(1);
        if self.layout() == Layout::Unified {
            for (i, side, code) in old.iter().chain(&new) {
                let shift = if *side == Side::New { columns.number + 1 } else { 0 };
                let x = columns.number + 2;
                self.tint(pen, (1, columns.width.saturating_sub(1)), y, rows, (*side, off), look);
                self.number(pen, 1 + shift, y, *i, columns, look);
                self.sign(pen, x + columns.number + 1, y, (*side, off), look);
                self.put_code(pen, x + columns.number + 3, y, code, columns, look);
            }
            return rows;
        }
        let right_x = columns.half + 2;
        let spans = [(1, columns.half.saturating_sub(1), old), (right_x, columns.width.saturating_sub(right_x), new)];
        for (x, width, entry) in spans {
            let taken = entry.as_ref().map_or(0, |(_, _, c)| c.total);
            if let Some((i, side, code)) = &entry {
                self.tint(pen, (x, width), y, taken, (*side, off), look);
                self.number(pen, x, y, *i, columns, look);
                self.sign(pen, x + columns.number + 1, y, (*side, off), look);
                self.put_code(pen, x + columns.number + 3, y, code, columns, look);
            }
            for y in (y + taken as isize..y + rows as isize).filter_map(|y| u16::try_from(y).ok()) {
                pen.style(x, y, width, 1, look.theme.style(Role::GapBg));
            }
        }
        self.centre(pen, y, rows, columns, look);
        rows
    }

    fn tint(
        &self,
        pen: &mut Pen<'_>,
        (x, width): (u16, u16),
        y: isize,
        rows: usize,
        (side, off): (Side, bool),
        look: Look<'_>,
    ) {
        let role = match side {
            Side::Old if !off => Role::RemovedBg,
            Side::New if !off => Role::AddedBg,
            _ => return,
        };
        for y in (y..y + rows as isize).filter_map(|y| u16::try_from(y).ok()) {
            pen.style(x, y, width, 1, look.theme.style(role));
        }
    }

    fn number(&self, pen: &mut Pen<'_>, x: u16, y: isize, line: usize, columns: Columns, look: Look<'_>) {
        let Ok(y) = u16::try_from(y) else { return };
        let width = usize::from(columns.number);
        pen.put(x, y, &format!("{:>width$}", line + 1), width, look.theme.style(Role::Dim));
    }

    fn sign(&self, pen: &mut Pen<'_>, x: u16, y: isize, (side, off): (Side, bool), look: Look<'_>) {
        let Ok(y) = u16::try_from(y) else { return };
        let (sign, role) = match side {
            Side::Old => (look.glyphs.removed, Role::Removed),
            Side::New => (look.glyphs.added, Role::Added),
            Side::Same => return,
        };
        match paint::sign_tint(look.theme, side == Side::New).filter(|_| !off) {
            Some(tint) => {
                pen.style(x - 1, y, 3, 1, tint);
                pen.put(x, y, sign, 1, bold(look.theme, Role::Text).patch(tint));
            }
            None => drop(pen.put(x, y, sign, 1, bold(look.theme, if off { Role::Dim } else { role }))),
        }
    }

    fn centre(&self, pen: &mut Pen<'_>, y: isize, rows: usize, columns: Columns, look: Look<'_>) {
        for y in (y..y + rows as isize).filter_map(|y| u16::try_from(y).ok()) {
            pen.put(columns.half, y, look.glyphs.upright, 1, look.theme.style(Role::Line));
        }
    }
}

/// Returns the mark of a hunk's standing, and the role it is drawn in.
pub(in crate::tui) fn standing_mark(standing: Standing, look: Look<'_>) -> (&'static str, Role) {
    match standing {
        Standing::Undecided => (look.glyphs.undecided, Role::Attention),
        Standing::Accepted | Standing::Edited => (look.glyphs.done, Role::Added),
        Standing::Rejected => (look.glyphs.refused, Role::Removed),
        Standing::Withdrawn => (look.glyphs.broken, Role::Dim),
    }
}

/// A note for fewer cells leaves out the words that its marks carry.
const SHORT: u16 = 84;
/// Columns from which they are shown where nothing is undecided, and from which the first mark has its word and says of
/// how many: what is left to do comes before it.
const NARROW: u16 = 50;

/// Adds how many hunks are accepted, rejected and undecided: `✓ 1 of 4 accepted   ⊘ 1 rejected   ? 2 undecided`.
pub(super) fn standings(choices: &Choices, width: u16, spans: &mut Vec<Span<'static>>, ctx: &Ctx<'_>) {
    let (count, open) = choices.count();
    let all = count.accepted + count.rejected + open;
    let (mut first, dim) = (true, ctx.theme.style(Role::Dim));
    // What is left to do always has its word; where nothing is, the others have room for theirs sooner.
    let words = width >= if open > 0 { SHORT } else { NARROW };
    let kinds =
        [(count.accepted, Standing::Accepted), (count.rejected, Standing::Rejected), (open, Standing::Undecided)];
    for (n, standing) in kinds.into_iter().filter(|(n, _)| *n > 0) {
        let (glyph, role) = standing_mark(standing, paint::look(ctx));
        if !spans.is_empty() {
            spans.push(span("   ", dim));
        }
        spans.push(span(glyph, bold(ctx.theme, role)));
        let word = match standing {
            Standing::Undecided => say::undecided_left().to_string(),
            _ if !(words || first && width >= NARROW) => String::new(),
            _ => format!(" {}", standing.word()),
        };
        // The first says of how many.
        let n = match std::mem::take(&mut first) && n < all && width >= NARROW {
            true => say::of_all(&thousands(n), &thousands(all)),
            false => thousands(n),
        };
        let style = if standing == Standing::Undecided { ctx.theme.style(Role::Text) } else { dim };
        spans.push(span(format!(" {n}{word}"), style));
    }
}

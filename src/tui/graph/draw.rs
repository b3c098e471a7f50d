//! Draws the graph: the list by layer and by file, and beside it what is under the keys.

use std::path::Path;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::GraphScreen;
use super::detail::{Detail, DetailItem, DetailLine};
use super::lines::GraphLine;
use crate::messages::{Text, count, graph as say, times};
use crate::protocol::{ConflictRow, DefinitionRow, GraphPage};
use crate::text::number::thousands;
use crate::tui::look::{Ctx, Look};
use crate::tui::pane::line::{line, note_room, pane_line};
use crate::tui::pane::paint::{self, Pen, bold, span};
use crate::tui::text::wrap::cells;
use crate::tui::text::{cut, show};
use crate::tui::theme::Role;

/// Cells of the place of a reference.
const PLACE: u16 = 16;

impl GraphScreen {
    /// Draws it over the whole body.
    pub fn draw(&self, area: Rect, buf: &mut Buffer, focus: bool, ctx: &Ctx<'_>) {
        let (list, right) = self.parts();
        if list > 0 {
            self.draw_list(Rect { width: list, ..area }, buf, focus && !self.in_detail, ctx);
        }
        let Some((x, width)) = right else { return };
        if x > 0 {
            let style = ctx.theme.style(Role::Line);
            for y in area.top()..area.bottom() {
                let glyph = if y == area.top() { ctx.glyphs.join_right } else { ctx.glyphs.upright };
                buf[(area.x + x - 1, y)].set_symbol(glyph).set_style(style);
            }
        }
        self.draw_detail(Rect { x: area.x + x, width, ..area }, buf, focus && self.in_detail, ctx);
    }

    /// Returns how much the list holds, and the words that narrow it, in `room` cells: how much there is in all gives way
    /// to what is wrong.
    fn note(&self, page: &GraphPage, room: usize, look: Look<'_>) -> String {
        let all = match self.filter.is_empty() {
            true if page.files_left > 0 => say::definitions_so_far(page.total),
            true => say::definitions(page.total),
            false => cut::search(&self.filter, &cut::rows_left(page.found, page.total), 40),
        };
        // As their rows are marked.
        let marked = Some(self.lines.marked).filter(|marked| *marked > 0);
        let marked = marked.map(|marked| format!("{} {}", look.glyphs.failed, thousands(marked)));
        let conflicts = Some(page.conflicts.len()).filter(|conflicts| *conflicts > 0).map(say::conflicts);
        let parts: Vec<String> = [Some(all), marked, conflicts].into_iter().flatten().collect();
        let from = |at: usize| parts[at..].join(&format!(" {} ", look.glyphs.dot));
        let last = parts.len() - 1;
        from((0..last).find(|at| cells(&from(*at)) <= room).unwrap_or(last))
    }

    /// Returns why the list is empty, and the stores to choose among.
    fn nothing(&self) -> Vec<String> {
        let Some(page) = self.page.as_ref().filter(|_| self.failed.is_none()) else {
            return vec![self.failed.clone().unwrap_or_else(|| say::reading().to_owned())];
        };
        let nothing = if page.files == 0 { say::nothing() } else { say::nothing_in_files() };
        let nothing = if self.filter.is_empty() && page.total == 0 { nothing } else { count::no_match() };
        let stores = self.lines.all.iter().map(|line| store_words(page, *line));
        std::iter::once(page.trouble.clone().unwrap_or_else(|| nothing.to_owned())).chain(stores).collect()
    }

    fn draw_list(&self, area: Rect, buf: &mut Buffer, focus: bool, ctx: &Ctx<'_>) {
        let look = paint::look(ctx);
        let dim = look.theme.style(Role::Dim);
        let room = note_room(area.width, cells(say::graph()));
        let note = self.page.as_ref().map(|page| Line::from(span(show::plain(&self.note(page, room, look)), dim)));
        pane_line(Rect { height: 1, ..area }, say::graph(), focus, note, buf, ctx);
        let mut pen = Pen::new(buf, Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area });
        let Some(page) = self.page.as_ref().filter(|_| self.entries() > 0) else {
            let words = self.nothing().join(&format!(" {} ", look.glyphs.dot));
            pen.prose(1, 0, &show::plain(&words), look);
            return;
        };
        let (lines, rows) = (&self.lines.all, self.list_rows());
        for (y, row) in lines.iter().skip(self.top).take(usize::from(rows)).enumerate() {
            let y = y as u16;
            match row {
                GraphLine::Store | GraphLine::Another(_) => {
                    let width = usize::from(pen.width().saturating_sub(2));
                    let words = store_words(page, *row);
                    pen.put(1, y, &cut::words(&show::plain(&words), width, look.glyphs.cut), width, dim);
                }
                GraphLine::Conflicts => drop(pen.put(1, y, say::conflict_heading(), 40, dim)),
                GraphLine::Group(first) => {
                    let width = usize::from(pen.width().saturating_sub(2));
                    let group = show::plain(&page.rows[*first].group);
                    pen.put(1, y, &cut::path(&group, width, look.glyphs.cut), width, dim);
                }
                GraphLine::Entry(at) => {
                    match at.checked_sub(page.conflicts.len()) {
                        None => draw_conflict(&mut pen, y, &page.conflicts[*at], look),
                        Some(row) => draw_definition(&mut pen, y, &page.rows[row], look),
                    }
                    if *at == self.at {
                        pen.select(y, 1, look);
                    }
                }
            }
        }
        pen.thumb(0, rows, self.top, lines.len(), look);
        let width = usize::from(pen.width().saturating_sub(2));
        let more = page.more();
        let foot = match &page.trouble {
            Some(trouble) => trouble.clone(),
            None if page.files_left > 0 => say::files_left(page.files_left),
            None if more > 0 => count::more(&thousands(more)),
            None => page.place.clone(),
        };
        let role = if page.trouble.is_some() { Role::Attention } else { Role::Dim };
        let foot = show::plain(&foot);
        let foot = if page.trouble.is_none() && more == 0 && page.files_left == 0 {
            cut::path(&foot, width, look.glyphs.cut)
        } else {
            cut::words(&foot, width, look.glyphs.cut)
        };
        pen.put(1, rows, &foot, width, look.theme.style(role));
    }

    fn draw_detail(&self, area: Rect, buf: &mut Buffer, focus: bool, ctx: &Ctx<'_>) {
        let look = paint::look(ctx);
        let dim = look.theme.style(Role::Dim);
        let text = if focus { bold(look.theme, Role::Focus) } else { bold(look.theme, Role::Text) };
        let (title, note) = match self.detail.as_ref().map(|detail| &detail.shown) {
            Some(DetailItem::Definition(found)) => (found.name.clone(), String::new()),
            Some(DetailItem::Conflict(conflict)) => (conflict.id.clone(), kind(&conflict.kind)),
            Some(DetailItem::Failed(_)) | None => (String::new(), String::new()),
        };
        let back = self.trail.len();
        let note = if back > 0 { say::steps_back(back) } else { note };
        let title = Line::from(span(show::plain(&title), text));
        line(Rect { height: 1, ..area }, title, focus, Some(Line::from(span(note, dim))), buf, ctx);
        let mut pen = Pen::new(buf, Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area });
        let Some(detail) = &self.detail else { return };
        let rows = pen.height();
        for (y, row) in detail.lines.iter().enumerate().skip(detail.top).take(usize::from(rows)) {
            let at = (y - detail.top) as u16;
            draw_line(&mut pen, at, detail, row, ctx);
            if y == detail.at && focus {
                pen.select(at, 1, look);
            }
        }
        pen.thumb(0, rows, detail.top, detail.lines.len(), look);
    }
}

/// The words of a store for kinds and states of conflicts.
const KINDS: [(&str, Text); 17] = [
    ("add-add", say::add_add),
    ("clock", say::clock),
    ("dangling", say::dangling),
    ("edit-on-deleted", say::edit_on_deleted),
    ("edit-superseded", say::edit_superseded),
    ("healed", say::healed),
    ("label-clash", say::label_clash),
    ("locked", say::locked),
    ("malformed", say::malformed),
    ("op-id-collision", say::op_id_collision),
    ("open", say::open),
    ("resolved", say::resolved),
    ("stale-dep", say::stale_dep),
    ("sync", say::sync),
    ("void-op", say::void_op),
    ("warned", say::warned),
    ("withdrawn", say::withdrawn),
];

/// Returns the kind and the state of a conflict in the language of the screen; a word that is not known stays.
pub(super) fn kind(words: &str) -> String {
    let named = |word| KINDS.iter().find(|(own, _)| *own == word).map_or(word, |(_, text)| text());
    words.split(' ').map(named).collect::<Vec<_>>().join(" ")
}

/// Returns what a line about the stores of a workspace says.
fn store_words(page: &GraphPage, line: GraphLine) -> String {
    match line {
        GraphLine::Another(at) => say::another_store(&page.beside[at]),
        _ => {
            let place = Path::new(&page.place);
            say::one_of_several(&place.file_name().unwrap_or(place.as_os_str()).to_string_lossy())
        }
    }
}

fn draw_conflict(pen: &mut Pen<'_>, y: u16, conflict: &ConflictRow, look: Look<'_>) {
    let room = usize::from(pen.width().saturating_sub(6));
    pen.put(2, y, look.glyphs.undecided, 1, bold(look.theme, Role::Attention));
    let words = format!("{} {}", show::plain(&conflict.about), kind(&conflict.kind));
    pen.put(4, y, &cut::end(&words, room, look.glyphs.cut), room, look.theme.style(Role::Text));
}

fn draw_definition(pen: &mut Pen<'_>, y: u16, row: &DefinitionRow, look: Look<'_>) {
    let (mark, role) = match (row.errors, row.warnings) {
        (0, 0) => (look.glyphs.dot, Role::Dim),
        (0, _) => (look.glyphs.foreign, Role::Attention),
        _ => (look.glyphs.failed, Role::Removed),
    };
    pen.put(2, y, mark, 1, look.theme.style(role));
    let room = usize::from(pen.width().saturating_sub(6));
    let x =
        pen.put(4, y, &cut::end(&show::plain(&row.name), room, look.glyphs.cut), room, look.theme.style(Role::Text));
    let left = usize::from(pen.width().saturating_sub(x + 3));
    // A few letters of it say nothing.
    if left >= 4 {
        let words = show::plain(&row.signature);
        pen.put(x + 1, y, &cut::end(&words, left, look.glyphs.cut), left, look.theme.style(Role::Dim));
    }
}

fn draw_line(pen: &mut Pen<'_>, y: u16, detail: &Detail, row: &DetailLine, ctx: &Ctx<'_>) {
    let look = paint::look(ctx);
    let (text, dim) = (look.theme.style(Role::Text), look.theme.style(Role::Dim));
    let room = usize::from(pen.width().saturating_sub(4));
    match row {
        DetailLine::Blank => {}
        DetailLine::Head(words, n) => {
            let count = if *n == 0 { String::new() } else { format!(" {}", thousands(*n)) };
            pen.spans(1, y, &[span(*words, bold(look.theme, Role::Text)), span(count, dim)], room);
        }
        DetailLine::Text(words) => drop(pen.put(2, y, words, room, if words.starts_with("## ") { dim } else { text })),
        DetailLine::Note(words) => drop(pen.put(2, y, words, room, dim)),
        DetailLine::Fault(words, is_warning) => {
            let role = if *is_warning { Role::Attention } else { Role::Removed };
            pen.put(2, y, words, room, look.theme.style(role));
        }
        DetailLine::Link { name, place, .. } => {
            let place = cut::end(place, usize::from(PLACE), look.glyphs.cut);
            let name = show::plain(name);
            let room = room.saturating_sub(cells(&place) + 2);
            pen.put(2, y, look.glyphs.dot, 1, dim);
            pen.put(4, y, &cut::end(&name, room, look.glyphs.cut), room, text);
            let end = pen.width().saturating_sub(2);
            pen.right(end, y, &[span(place.into_owned(), dim)]);
        }
        DetailLine::Op(at) => {
            let DetailItem::Definition(found) = &detail.shown else { return };
            let op = &found.history[*at];
            let words: [Span<'static>; 4] = [
                span(times::point(&ctx.clock(), op.at), dim),
                span(format!("  {}", show::plain(&op.author)), dim),
                span(format!("  {}", op.kind), text),
                span(format!("  {}", show::plain(&op.summary)), dim),
            ];
            let line = cut::line(words.to_vec().into(), room, look.glyphs.cut, dim);
            pen.spans(2, y, &line.spans, room);
        }
    }
}

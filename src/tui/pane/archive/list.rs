//! The list of changesets, newest first, by day.

use std::borrow::Cow;

use ratatui::style::Style;

use super::Archive;
use crate::messages::{archive as say, count, records, times};
use crate::proposal::Counts;
use crate::protocol::Changeset;
use crate::text::number::thousands;
use crate::tui::look::{Ctx, Look};
use crate::tui::pane::paint::{self, Pen, bold, span};
use crate::tui::text::wrap::cells;
use crate::tui::text::{cut, show};
use crate::tui::theme::Role;

/// Files of the selected changeset that are seen at once.
const FILES: usize = 10;

/// Cells of the two columns of numbers.
const COUNTS: usize = 10;

/// A row of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ListRow {
    Blank,
    Day(String),
    /// The changeset at this place.
    Set(usize),
    /// The row below an unselected changeset's name: its file, or how many.
    Files(usize),
    /// A file of the selected changeset.
    File(usize, usize),
    /// Files that are not seen.
    More(usize),
}

/// The part of the list that is in view.
#[derive(Debug)]
pub(super) struct VisibleRows {
    rows: Vec<ListRow>,
    /// The first changeset.
    pub top: usize,
    /// Changesets below.
    older: usize,
    /// The last row tells how many.
    overflow: bool,
}

/// The form of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Cause and files, two rows a changeset and more.
    Full,
    /// A row a changeset.
    Small,
}

/// Returns the sum of a changeset's counts, as far as they are known.
pub(super) fn sum(changeset: &Changeset) -> Counts {
    changeset
        .files
        .iter()
        .filter_map(|f| f.counts)
        .fold(Counts::default(), |sum, c| Counts { added: sum.added + c.added, removed: sum.removed + c.removed })
}

fn files(changeset: &Changeset) -> String {
    match changeset.files.as_slice() {
        [one] => one.path.clone(),
        [] if !changeset.definitions.is_empty() => changeset.definitions.join(", "),
        all => count::files(all.len()),
    }
}

/// Returns what caused a changeset, in words that always say something.
pub(super) fn cause(changeset: &Changeset) -> Cow<'_, str> {
    match (changeset.cause.as_str(), changeset.by.as_str()) {
        ("", "other session") => say::other_process().into(),
        ("", "") => say::unknown_cause().into(),
        ("", by) => by.into(),
        (cause, _) => records::cause(cause),
    }
}

/// Returns whether nebula made a changeset of older states: an undo, a redo, a restore.
fn is_undo(changeset: &Changeset) -> bool {
    [say::undo(), say::redo()].contains(&short_cause(changeset))
}

/// Returns the word that the small form shows: only what is out of the ordinary.
fn short_cause(changeset: &Changeset) -> &'static str {
    match changeset.by.as_str() {
        "undo" => say::undo(),
        "redo" => say::redo(),
        "shi" => say::shi(),
        "patch" => say::patch(),
        "other session" => say::other_nebula(),
        _ if changeset.cause.starts_with("undo") => say::undo(),
        _ if changeset.cause == "shi" => say::shi(),
        _ => "",
    }
}

impl Archive {
    /// Notes how many cells the names of the files of these changesets take.
    pub(super) fn note_names(&mut self, sets: &[Changeset]) {
        let files = sets.iter().flat_map(|set| &set.files);
        let longest = files.map(|file| cells(&file.path[cut::name_start(&file.path)..])).max().unwrap_or(0);
        self.names = self.names.max(u16::try_from(longest).unwrap_or(u16::MAX));
    }

    /// Adds the rows of changeset `i`, with the heading of its day if it is the first of it.
    fn rows_of(&self, i: usize, first: bool, form: Form, out: &mut Vec<ListRow>) {
        let clock = self.clock;
        let day = clock.day(self.rows[i].at);
        let before = i.checked_sub(1).map(|i| clock.day(self.rows[i].at));
        if first || before != Some(day) {
            let name = times::day_name(&clock, day);
            if form == Form::Full {
                out.extend((!first).then_some(ListRow::Blank));
                out.push(ListRow::Day(name));
            } else if name != times::today() {
                out.push(ListRow::Day(name));
            }
        }
        out.push(ListRow::Set(i));
        if form == Form::Small {
            return;
        }
        if i != self.selected {
            out.push(ListRow::Files(i));
            return;
        }
        let n = self.rows[i].files.len();
        let from = self.file.saturating_sub(FILES / 2).min(n.saturating_sub(FILES));
        out.extend((from..n.min(from + FILES)).map(|f| ListRow::File(i, f)));
        if n > FILES {
            out.push(ListRow::More(n - FILES));
        }
    }

    /// Returns the rows that fill `height` with the selected changeset among them. The last row of the full form is
    /// left for how much there is below, if anything is.
    pub(super) fn visible_rows(&self, height: usize, form: Form) -> VisibleRows {
        let all = self.fill(height, form);
        let overflow = all.older + self.unseen() > 0 && form == Form::Full && height > 2;
        if overflow && all.rows.len() >= height {
            VisibleRows { overflow, ..self.fill(height - 1, form) }
        } else {
            VisibleRows { overflow, ..all }
        }
    }

    fn fill(&self, height: usize, form: Form) -> VisibleRows {
        let fill = |top: usize| {
            let mut rows = Vec::new();
            let (mut i, mut whole) = (top, 0);
            while i < self.rows.len() && rows.len() < height {
                self.rows_of(i, i == top, form, &mut rows);
                if rows.len() <= height {
                    whole = i;
                }
                i += 1;
            }
            (rows, whole)
        };
        let mut top = self.top.min(self.selected);
        let (mut rows, mut last) = fill(top);
        // A changeset takes a row at least: no more than `height` steps from the nearest possible top.
        if last < self.selected {
            top = top.max(self.selected.saturating_sub(height));
            (rows, last) = fill(top);
        }
        while last < self.selected && top < self.selected {
            top += 1;
            (rows, last) = fill(top);
        }
        VisibleRows { rows, top, older: self.rows.len().saturating_sub(last + 1), overflow: false }
    }

    /// Draws the list in the whole of `pen`.
    pub(super) fn draw_list(&self, pen: &mut Pen<'_>, ctx: &Ctx<'_>, form: Form) {
        let look = paint::look(ctx);
        let dim = look.theme.style(Role::Dim);
        if self.rows.is_empty() {
            let words = match (self.loaded, self.filter.is_empty()) {
                (false, _) => say::reading(),
                (true, true) => say::none_yet(),
                (true, false) => count::no_match(),
            };
            pen.prose(1, 0, words, look);
            return;
        }
        let height = usize::from(pen.height());
        let unseen = self.unseen();
        let VisibleRows { rows, older, overflow, .. } = self.visible_rows(height, form);
        let room = if overflow { height - 1 } else { height };
        let mut marks = Vec::new();
        for (y, row) in rows.iter().take(room).enumerate() {
            let y = y as u16;
            let mine = match row {
                ListRow::Set(i) | ListRow::File(i, _) => *i == self.selected,
                ListRow::More(_) => true,
                _ => false,
            };
            marks.extend((mine && ctx.focus).then_some(y));
            match form {
                Form::Full => self.full_row(pen, y, row, look),
                Form::Small => self.small_row(pen, y, row, look),
            }
        }
        for y in marks {
            pen.select(y, 1, look);
        }
        if overflow {
            let words = format!("{} {}", look.glyphs.more, say::older(&thousands(older + unseen)));
            pen.put(1, pen.height() - 1, &words, usize::from(pen.width()), dim);
        }
        pen.thumb(0, room as u16, self.top, self.rows.len() + unseen, look);
    }

    fn full_row(&self, pen: &mut Pen<'_>, y: u16, row: &ListRow, look: Look<'_>) {
        let theme = look.theme;
        let dim = theme.style(Role::Dim);
        let width = usize::from(pen.width());
        let right = pen.width().saturating_sub(2);
        let counted = |pen: &mut Pen<'_>, counts: Counts| {
            let wide = [counts.added, counts.removed].map(|n| (n.max(1).ilog10() as usize + 2).max(4));
            let spans = paint::count_columns(counts, wide, look);
            let text: String = spans.iter().map(|s| s.content.as_ref()).collect();
            // What is left of the numbers is free for the words.
            pen.right(right, y, &spans) + (text.len() - text.trim_start().len()) as u16
        };
        match row {
            ListRow::Blank => {}
            ListRow::Day(name) => {
                pen.put(1, y, name, width, dim);
            }
            ListRow::Set(i) => {
                let set = &self.rows[*i];
                let here = *i == self.selected;
                pen.put(1, y, &self.clock.minute(set.at), 5, if here { theme.style(Role::Text) } else { dim });
                let end = counted(pen, sum(set));
                let room = usize::from(end.saturating_sub(8)).max(1);
                put_cause(pen, (y, room), set, here, look);
            }
            ListRow::Files(i) => {
                let set = &self.rows[*i];
                let room = width.saturating_sub(9);
                let text = files(set);
                if set.files.len() == 1 {
                    let spans = cut::path_spans(&show::plain(&text), room, look.glyphs.cut, dim, dim);
                    pen.spans(7, y, &spans, room);
                } else {
                    pen.put(7, y, &text, room, dim);
                }
            }
            ListRow::File(i, f) => {
                let Some(file) = self.rows[*i].files.get(*f) else { return };
                // Numbers give way before a name loses its middle.
                let name = cells(file.path.rsplit('/').next().unwrap_or_default());
                let fits = usize::from(right.saturating_sub(8)) >= name + COUNTS;
                let end = file.counts.filter(|_| fits).map_or(right, |c| counted(pen, c));
                let room = usize::from(end.saturating_sub(8)).max(1);
                let here = *f == self.file && self.rows[*i].files.len() > 1;
                let name = if here { bold(theme, Role::Path) } else { theme.style(Role::Path) };
                pen.spans(7, y, &paint::path(&show::plain(&file.path), room, name, look), room);
            }
            ListRow::More(n) => {
                let words = format!("{} {}", look.glyphs.more, count::more_files(*n));
                pen.put(7, y, &words, width.saturating_sub(8), dim);
            }
        }
    }

    fn small_row(&self, pen: &mut Pen<'_>, y: u16, row: &ListRow, look: Look<'_>) {
        let theme = look.theme;
        let dim = theme.style(Role::Dim);
        match row {
            ListRow::Day(name) => {
                pen.put(1, y, name, usize::from(pen.width()), dim);
            }
            ListRow::Set(i) => {
                let set = &self.rows[*i];
                pen.put(1, y, &self.clock.second(set.at), 8, dim);
                let right = pen.width().saturating_sub(1);
                let counts = sum(set);
                let text = files(set);
                let name = cells(text.rsplit('/').next().unwrap_or_default());
                let start = match usize::from(right) >= 12 + name + COUNTS {
                    true => pen.right(right, y, &paint::count_columns(counts, [5, 5], look)),
                    false => right,
                };
                let word = match short_cause(set) {
                    word if is_undo(set) => format!("{} {word}", look.glyphs.undo),
                    word => word.to_string(),
                };
                let room = usize::from(start.saturating_sub(11 + 1));
                let end = match word.as_str() {
                    "" => start,
                    // The path is more than the cause, where both do not fit.
                    _ if room < cells(&word) + name.max(12) => start,
                    _ => pen.right(start, y, &[span(word, dim), span(" ", Style::new())]),
                };
                let room = usize::from(end.saturating_sub(12));
                if set.files.len() == 1 {
                    let spans = paint::path(&show::plain(&text), room, theme.style(Role::Path), look);
                    pen.spans(11, y, &spans, room);
                } else {
                    pen.put(11, y, &text, room, theme.style(Role::Text));
                }
            }
            _ => {}
        }
    }

    /// Returns the changeset and file that a click on row `y` means.
    pub(super) fn at_row(&self, y: usize, height: usize, form: Form) -> Option<(usize, usize)> {
        match self.visible_rows(height, form).rows.get(y)? {
            ListRow::Set(i) | ListRow::Files(i) => Some((*i, if *i == self.selected { self.file } else { 0 })),
            ListRow::File(i, f) => Some((*i, *f)),
            _ => None,
        }
    }
}

/// Draws the cause of a changeset, and behind it how it was merged.
fn put_cause(pen: &mut Pen<'_>, (y, room): (u16, usize), set: &Changeset, here: bool, look: Look<'_>) {
    let theme = look.theme;
    let style = if here { bold(theme, Role::Text) } else { theme.style(Role::Text) };
    let cause = show::plain(&cause(set)).into_owned();
    let words = if is_undo(set) { format!("{} {cause}", look.glyphs.undo) } else { cause };
    let merged = set.merged.map(|rung| records::localized(rung.said()));
    // A cause is told from others by its first words.
    let merged = merged.filter(|merged| room >= cells(merged) + 1 + cells(&words).min(16));
    let room = room - merged.as_ref().map_or(0, |merged| cells(merged) + 1);
    let x = pen.put(7, y, &cut::end(&words, room, look.glyphs.cut), room, style);
    if let Some(merged) = merged {
        pen.put(x + 1, y, &merged, cells(&merged), theme.style(Role::Dim));
    }
}

//! A list to choose from while typing narrows it: commands, models, themes, what was typed before.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};

use super::{border, fuzzy, matched, modal, pair, sample, select, thumb};
use crate::messages::popups as say;
use crate::tui::action::{Action, Context};
use crate::tui::input::Editor;
use crate::tui::look::Ctx;
use crate::tui::text::{cut, paint, wrap};
use crate::tui::theme::{Role, Theme};

/// The thing that is chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListKind {
    /// A command, with its arguments.
    Commands,
    /// A model.
    Models,
    /// A theme.
    Themes,
    /// The edit formats.
    Formats,
    /// The efforts.
    Efforts,
    /// A result in the context window.
    Results,
    /// A prompt of the person's.
    Prompts,
    /// Something typed before.
    History,
    /// A file format to export this session, or the one with this id, to.
    Export(Option<String>),
    /// A question: to delete the session with this id.
    Remove(String),
    /// A question: to commit with this message.
    Commit(String),
}

/// The width of its border, as long as its rows need no more.
const WIDTH: u16 = 76;
/// The cells beside the names that are left for what is said of models.
const DETAIL: usize = 20;

/// A row.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Entry {
    /// The text that is matched and taken.
    pub name: String,
    /// Its meaning.
    pub detail: String,
    /// The text at the right: a key, a mark.
    pub note: String,
    /// A line above the long text: `/model [name]`.
    pub usage: String,
    /// Its description, at the bottom while it is selected.
    pub long: String,
    /// It takes arguments, to be written behind its name.
    pub needs: bool,
}

/// The outcome of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListOutcome {
    /// Nothing that concerns others.
    Stay,
    /// Another row is selected.
    Moved,
    /// Leave.
    Close,
    /// The chosen row, with what was typed behind its name.
    Took(String, String),
}

/// The list.
#[derive(Debug)]
pub struct List {
    /// The thing that is chosen.
    pub kind: ListKind,
    /// The title in the top edge.
    pub title: String,
    /// The text that is typed.
    pub editor: Editor,
    entries: Vec<Entry>,
    hits: Vec<(usize, Vec<u32>)>,
    selected: usize,
    top: usize,
    rows: usize,
    /// The areas of its border and of its rows when last drawn, for clicks.
    place: (Rect, Rect),
    /// The rows are still to come.
    pub waiting: bool,
    /// The selected theme, shown below the rows.
    pub sample: Option<Theme>,
}

impl List {
    /// Returns a list with rows.
    pub fn new(kind: ListKind, title: &str, entries: Vec<Entry>) -> List {
        let mut list = List {
            kind,
            title: title.into(),
            editor: Editor::default(),
            entries,
            hits: Vec::new(),
            selected: 0,
            top: 0,
            rows: 7,
            place: Default::default(),
            waiting: false,
            sample: None,
        };
        list.narrow();
        list
    }

    /// Puts the rows that were waited for.
    pub fn fill(&mut self, entries: Vec<Entry>) {
        self.entries = entries;
        self.waiting = false;
        self.narrow();
    }

    /// Selects the row called `name`.
    pub fn select(&mut self, name: &str) {
        if let Some(i) = self.hits.iter().position(|(i, _)| self.entries[*i].name == name) {
            self.selected = i;
            self.show();
        }
    }

    /// Returns the selected row.
    pub fn selected(&self) -> Option<&Entry> {
        self.hits.get(self.selected).map(|(i, _)| &self.entries[*i])
    }

    /// Returns where its keys are looked up.
    pub fn context(&self) -> Context {
        Context::List
    }

    /// Returns that it always floats.
    pub fn inside(&self) -> Option<Rect> {
        None
    }

    /// Types a character.
    pub fn type_char(&mut self, c: char) -> ListOutcome {
        self.editor.type_char(c);
        self.narrow();
        ListOutcome::Moved
    }

    /// Pastes into the line.
    pub fn paste(&mut self, text: &str) -> ListOutcome {
        self.editor.paste(text.lines().next().unwrap_or(""));
        self.narrow();
        ListOutcome::Moved
    }

    /// Handles a turn of the wheel, which decides no question.
    pub fn wheel(&mut self, action: Action) -> ListOutcome {
        match self.kind {
            ListKind::Remove(_) | ListKind::Commit(_) => ListOutcome::Stay,
            _ => self.act(action),
        }
    }

    /// Does an action.
    pub fn act(&mut self, action: Action) -> ListOutcome {
        let last = self.hits.len().saturating_sub(1);
        let before = self.selected;
        match action {
            Action::Up => self.selected = self.selected.saturating_sub(1),
            Action::Down => self.selected = (self.selected + 1).min(last),
            Action::PageUp => self.selected = self.selected.saturating_sub(self.rows),
            Action::PageDown => self.selected = (self.selected + self.rows).min(last),
            Action::Close | Action::Escape => return ListOutcome::Close,
            Action::Choose => return self.take(),
            Action::Complete => {
                if let Some(entry) = self.selected() {
                    let name = entry.name.clone();
                    self.editor.set(&format!("{name} "));
                }
            }
            // With nothing left to delete, the slash that opened the list goes too.
            Action::Backspace if self.editor.is_empty() => return ListOutcome::Close,
            action => {
                if self.editor.act(action) {
                    self.narrow();
                }
            }
        }
        self.show();
        if before == self.selected { ListOutcome::Stay } else { ListOutcome::Moved }
    }

    fn take(&mut self) -> ListOutcome {
        let typed = self.editor.expanded();
        let (_, rest) = self.words(&typed);
        let rest = rest.to_string();
        match self.selected() {
            Some(entry) => ListOutcome::Took(entry.name.clone(), rest),
            // Any name of a model is accepted.
            None if self.kind == ListKind::Models && !typed.trim().is_empty() => {
                ListOutcome::Took(typed.trim().to_string(), String::new())
            }
            // Typed quicker than the names came.
            None if self.kind == ListKind::Prompts && self.waiting && !typed.trim().is_empty() => {
                ListOutcome::Took(self.words(&typed).0.trim().to_string(), rest)
            }
            None => ListOutcome::Stay,
        }
    }

    /// Returns what narrows the list, and the arguments behind it.
    fn words<'a>(&self, typed: &'a str) -> (&'a str, &'a str) {
        match self.kind {
            ListKind::Commands => {
                let typed = typed.trim_start();
                let (word, rest) = typed.split_once(char::is_whitespace).unwrap_or((typed, ""));
                (word.trim_start_matches('/'), rest.trim())
            }
            ListKind::Prompts => typed.trim_start().split_once(char::is_whitespace).unwrap_or((typed, "")),
            _ => (typed, ""),
        }
    }

    fn narrow(&mut self) {
        let typed = self.editor.expanded();
        let words = self.words(&typed).0.to_string();
        self.hits = fuzzy(&words, self.entries.iter().map(|e| e.name.as_str()));
        // A command typed whole is meant, whatever else matches.
        if let Some(exact) = self.hits.iter().position(|(i, _)| self.entries[*i].name.trim_start_matches('/') == words)
        {
            let hit = self.hits.remove(exact);
            self.hits.insert(0, hit);
        }
        (self.selected, self.top) = (0, 0);
    }

    fn show(&mut self) {
        let rows = self.rows.max(1);
        // Rows that came since, or more room, leave none of it empty.
        let last = self.hits.len().saturating_sub(rows);
        self.top = self.top.min(self.selected).max((self.selected + 1).saturating_sub(rows)).min(last);
    }

    /// Returns the number of rows below the list, with their rule: a commit message shows whole, a command's help in
    /// three rows.
    fn foot(&self) -> u16 {
        match &self.kind {
            ListKind::Themes => sample::ROWS + 1,
            ListKind::Commit(message) => foot_rows(message, 70).len().clamp(3, 16) as u16 + 2,
            _ if self.entries.iter().any(|e| !e.long.is_empty() || !e.usage.is_empty()) => 5,
            _ => 0,
        }
    }

    /// Tells it the size of the screen that is drawn next.
    pub fn measure(&mut self, screen: Rect, body: Rect, _: Option<Rect>, _: &Ctx<'_>) {
        self.measure_in(screen, body);
    }

    fn measure_in(&mut self, screen: Rect, body: Rect) {
        self.place = self.parts(screen, body);
        self.rows = usize::from(self.place.1.height);
        self.show();
    }

    /// Handles a click: on a row selects it, on the selected one takes it, outside leaves.
    pub fn click(&mut self, at: Position) -> ListOutcome {
        let (area, rows) = self.place;
        if !area.contains(at) {
            return ListOutcome::Close;
        }
        let index = self.top + usize::from(at.y.saturating_sub(rows.y));
        if !rows.contains(at) || index >= self.hits.len() {
            return ListOutcome::Stay;
        }
        match std::mem::replace(&mut self.selected, index) == index {
            true => self.take(),
            false => ListOutcome::Moved,
        }
    }

    /// Returns the width of its border where the screen has the room: models are told apart by long names.
    fn width(&self) -> u16 {
        let rows = self.entries.iter().filter(|_| self.kind == ListKind::Models);
        let row = |entry: &Entry| {
            let note = wrap::cells(&entry.note);
            2 + wrap::cells(&entry.detail) + if note > 0 { note + 2 } else { 0 }
        };
        let widest = rows.map(row).max().unwrap_or(0) + self.longest_name() + 6;
        WIDTH.max(if self.kind == ListKind::Models { u16::try_from(widest).unwrap_or(u16::MAX) } else { 0 })
    }

    fn longest_name(&self) -> usize {
        self.entries.iter().map(|e| wrap::cells(&e.name)).max().unwrap_or(0)
    }

    /// Returns the cells of the column of names: those of models are whole before anything else is.
    fn name_cells(&self, room: usize) -> usize {
        let longest = self.longest_name();
        match &self.kind {
            ListKind::Models => longest.max(11).min(room.saturating_sub(DETAIL)),
            _ if self.entries.iter().any(|e| !e.detail.is_empty()) => longest.clamp(11, 24),
            _ => room,
        }
    }

    /// Returns the border's area and the rows' area.
    fn parts(&self, screen: Rect, body: Rect) -> (Rect, Rect) {
        let foot = self.foot();
        let usual = if foot > 0 { (screen.height / 3).clamp(3, 14) } else { screen.height / 2 };
        let rows = usual.min(u16::try_from(self.entries.len()).unwrap_or(u16::MAX).max(3));
        // Border, blank, line, rule above the rows; a blank below them unless the foot has one.
        let frame = |foot: u16| if foot > 0 { 5 } else { 6 };
        let area = modal(screen, body, self.width(), rows + frame(foot) + foot);
        let foot = if area.height >= foot + 8 { foot } else { 0 };
        let rows = Rect {
            x: area.x + 1,
            y: area.y + 4,
            width: area.width.saturating_sub(2),
            height: area.height.saturating_sub(frame(foot) + foot).max(1),
        };
        (area, rows)
    }

    /// Draws it and tells where the cursor goes.
    pub fn draw(&self, body: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) -> Option<Position> {
        let (area, rows) = self.parts(buf.area, body);
        self.frame(area, buf, ctx);
        let caret = self.line(area, buf, ctx);
        rule(area, area.y + 3, buf, ctx);
        let names = self.name_cells(inner(area));
        for (i, (index, at)) in self.hits.iter().enumerate().skip(self.top).take(usize::from(rows.height)) {
            let row = Rect { y: rows.y + (i - self.top) as u16, height: 1, ..rows };
            self.row(&self.entries[*index], at, row, names, i == self.selected, buf, ctx);
        }
        if self.hits.is_empty() && !self.waiting {
            let words = self.nothing(ctx);
            let area = Rect { x: rows.x + 2, width: inner(area) as u16, ..rows };
            paint::prose(buf, area, &words, ctx.glyphs.cut, ctx.theme.style(Role::Dim));
        }
        let bar = Rect { x: area.right().saturating_sub(2), width: 1, ..rows };
        thumb(bar, self.hits.len(), self.top, buf, ctx);
        self.about(area, rows.bottom(), buf, ctx);
        Some(caret)
    }

    /// Draws the border with title, count and keys.
    fn frame(&self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let note = match (self.waiting, &self.kind) {
            (true, _) => say::asking().into(),
            (_, ListKind::Remove(_) | ListKind::Commit(_)) => String::new(),
            _ if self.hits.len() == self.entries.len() => self.entries.len().to_string(),
            _ => cut::rows_left(self.hits.len(), self.entries.len()),
        };
        let run = if self.kind == ListKind::Commands { say::run() } else { say::take() };
        let mut keys = super::keys(ctx, Context::List, [(Action::Choose, run)]);
        if matches!(self.kind, ListKind::Commands | ListKind::Prompts) {
            keys.extend(super::keys(ctx, Context::List, [(Action::Complete, say::complete())]));
        }
        keys.extend(pair(ctx, Context::List, [Action::Up, Action::Down], say::choose()));
        keys.extend(super::keys(ctx, Context::List, [(Action::Close, say::close())]));
        border(area, &self.title, &note, &keys, buf, ctx);
    }

    /// Draws the typed text and returns where its caret is.
    fn line(&self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) -> Position {
        let prompt = ctx.theme.style(Role::Focus).add_modifier(Modifier::BOLD);
        paint::text(buf, area.x + 3, area.y + 2, 1, ctx.glyphs.prompt, prompt);
        let room = inner(area);
        let typed = self.editor.rows(room.saturating_sub(3).max(2));
        let row = &typed.rows[typed.caret.0];
        paint::text(buf, area.x + 5, area.y + 2, room.saturating_sub(2), &row.text(), ctx.theme.style(Role::Text));
        Position::new(area.x + 5 + typed.caret.1 as u16, area.y + 2)
    }

    /// Returns what is said where no row is.
    fn nothing(&self, ctx: &Ctx<'_>) -> String {
        match ctx.key(Context::List, Action::Choose).filter(|_| self.kind == ListKind::Models) {
            Some(key) => say::takes_typed(&key),
            None if self.kind == ListKind::Prompts && self.entries.is_empty() => say::no_prompts().into(),
            None if self.kind == ListKind::Results && self.entries.is_empty() => say::no_results().into(),
            None => say::nothing_matches().into(),
        }
    }

    /// Draws the description of the selected entry, below a rule in row `y`.
    fn about(&self, area: Rect, y: u16, buf: &mut Buffer, ctx: &Ctx<'_>) {
        if y + 4 > area.bottom() || self.foot() == 0 {
            return;
        }
        rule(area, y, buf, ctx);
        let rows = Rect { x: area.x + 1, y: y + 1, width: area.width.saturating_sub(2), height: sample::ROWS };
        if let Some(theme) = self.sample.as_ref().filter(|_| rows.bottom() < area.bottom()) {
            return sample::draw(theme, rows, buf, ctx);
        }
        let Some(entry) = self.selected() else { return };
        let (room, text) = (inner(area), ctx.theme.style(Role::Text));
        let mut y = y + 1;
        if !entry.usage.is_empty() {
            let (name, rest) = entry.usage.split_once(' ').unwrap_or((&entry.usage, ""));
            let used = paint::text(buf, area.x + 3, y, room, name, text.add_modifier(Modifier::BOLD));
            let dim = ctx.theme.style(Role::Dim);
            paint::text(buf, area.x + 4 + used as u16, y, room.saturating_sub(used + 1), rest, dim);
            y += 1;
        }
        let rows = (area.bottom() - 1).saturating_sub(y);
        for (row, y) in foot_rows(&entry.long, room).into_iter().zip(y..y + rows) {
            paint::text(buf, area.x + 3, y, room, row, text);
        }
    }

    #[allow(clippy::too_many_arguments)] // a row of a table: what, where, how wide, in which state
    fn row(&self, e: &Entry, at: &[u32], area: Rect, names: usize, selected: bool, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let inner = usize::from(area.width.saturating_sub(4));
        let style = ctx.theme.style(Role::Text);
        let first = e.name.lines().next().unwrap_or("");
        let room = names.min(inner);
        let name = match &self.kind {
            ListKind::Models => cut::middle(first, room, ctx.glyphs.cut),
            _ => cut::end(first, room, ctx.glyphs.cut),
        };
        // The letters behind a middle that is cut stand elsewhere.
        let same = name.bytes().zip(first.bytes()).take_while(|(one, other)| one == other).count();
        let at: Vec<u32> = at.iter().copied().filter(|at| (*at as usize) < same).collect();
        paint::spans(buf, area.x + 2, area.y, room, &matched(&name, &at, style, ctx));
        let note = wrap::cells(&e.note);
        let room = inner.saturating_sub(names + 2 + if note > 0 { note + 2 } else { 0 });
        let dim = ctx.theme.style(Role::Dim);
        let detail = cut::words(&e.detail, room, ctx.glyphs.cut);
        paint::text(buf, area.x + 2 + (names + 2) as u16, area.y, room, &detail, dim);
        if note > 0 && note <= inner {
            paint::text(buf, area.x + 2 + (inner - note) as u16, area.y, note, &e.note, dim);
        }
        if selected {
            select(area, buf, ctx);
        }
    }
}

/// Cells between border and border, with their margins.
fn inner(area: Rect) -> usize {
    usize::from(area.width.saturating_sub(6))
}

/// Returns a text in rows of `width` cells.
fn foot_rows(text: &str, width: usize) -> Vec<&str> {
    text.lines().flat_map(|line| wrap::breaks(line, width).into_iter().map(move |r| &line[r])).collect()
}

fn rule(area: Rect, y: u16, buf: &mut Buffer, ctx: &Ctx<'_>) {
    let style: Style = ctx.theme.style(Role::Line);
    for x in area.x + 1..area.right().saturating_sub(1) {
        if buf.area.contains((x, y).into()) {
            buf[(x, y)].set_symbol(ctx.glyphs.rule).set_style(style);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::pane::testing::screen;

    fn entries(names: &[&str]) -> Vec<Entry> {
        names.iter().map(|n| Entry { name: n.to_string(), ..Entry::default() }).collect()
    }

    #[test]
    fn typing_narrows_and_arguments_stay_apart() {
        let mut list = List::new(ListKind::Commands, "commands", entries(&["/commit", "/model", "/theme"]));
        "/mo gpt-5".chars().for_each(|c| {
            list.type_char(c);
        });
        assert_eq!(list.act(Action::Choose), ListOutcome::Took("/model".into(), "gpt-5".into()));
        list.act(Action::Complete);
        assert_eq!(list.editor.text(), "/model ");
    }

    #[test]
    fn any_model_may_be_named() {
        let mut list = List::new(ListKind::Models, "models", entries(&["a-1", "b-2"]));
        "zeta".chars().for_each(|c| {
            list.type_char(c);
        });
        assert_eq!(list.act(Action::Choose), ListOutcome::Took("zeta".into(), String::new()));
    }

    #[test]
    fn rows_that_come_later_fill_the_list() {
        let mut list = List::new(ListKind::Models, "models", entries(&["a"]));
        list.measure_in(Rect::new(0, 0, 140, 40), Rect::new(0, 2, 140, 35));
        list.fill(entries(&["a", "b", "c", "d", "e"]));
        list.select("e");
        list.measure_in(Rect::new(0, 0, 140, 40), Rect::new(0, 2, 140, 35));
        assert_eq!((list.top, list.rows), (0, 5));
    }

    #[test]
    fn models_are_told_apart() {
        let names = [
            "claude-sonnet-4-5-20250929",
            "claude-sonnet-4-5-20250514",
            "google/gemini-2.5-flash-lite-preview-09-2025",
            "google/gemini-2.5-flash-image",
            "meta-llama/llama-4-maverick-17b-128e-instruct-with-a-long-name:free",
        ];
        let row = |name: &&str| Entry {
            name: name.to_string(),
            detail: "window 1.0M · $0.10 in, $0.40 out per million (2026-01) · images, documents".into(),
            ..Entry::default()
        };
        let mut list = List::new(ListKind::Models, "models", names.iter().map(row).collect());
        let mut text = |width: u16| {
            let area = Rect::new(0, 0, width, 30);
            list.measure_in(area, area);
            let draw = |_: Rect, buf: &mut Buffer, ctx: &Ctx<'_>| {
                list.draw(area, buf, ctx);
            };
            screen(width, 30, "dark", true, draw).text()
        };
        let narrow = text(80);
        assert!(names[..4].iter().all(|name| narrow.contains(name)), "{narrow}");
        assert!(narrow.contains("long-name:free") && narrow.contains("meta-llama/llama-4"), "{narrow}");
        assert!(text(60).contains("2025-09-2025") || text(60).contains("09-2025"), "{}", text(60));
        let wide = text(160);
        assert!(names.iter().all(|name| wide.contains(name)) && wide.contains("images, documents"), "{wide}");
    }

    #[test]
    fn the_selection_stays_in_sight() {
        let names: Vec<String> = (0..30).map(|i| format!("m{i}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut list = List::new(ListKind::Models, "models", entries(&names));
        list.measure_in(Rect::new(0, 0, 140, 32), Rect::new(0, 1, 140, 30));
        (0..29).for_each(|_| {
            list.act(Action::Down);
        });
        assert!(list.top + list.rows > list.selected);
        assert_eq!(list.act(Action::Down), ListOutcome::Stay);
    }
}

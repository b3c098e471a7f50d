//! A page to read: help, rules, stats, the configuration.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;

use super::page_search::PageSearch;
use super::{border, modal, pair, thumb};
use crate::messages::{hints, pages as say};
use crate::tui::action::{Action, Context};
use crate::tui::input::Editor;
use crate::tui::look::Ctx;
use crate::tui::text::markdown::{Markdown, rows::Rows};
use crate::tui::text::{cut, paint, wrap};
use crate::tui::theme::Role;

/// Keys and what they do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRow {
    /// `] [`.
    pub keys: String,
    /// `next, previous hunk`.
    pub help: String,
}

impl KeyRow {
    /// Returns whether its keys or its help hold these words, in small letters.
    fn holds(&self, words: &str) -> bool {
        format!("{} {}", self.keys, self.help).to_lowercase().contains(words)
    }
}

/// The content of a page.
#[derive(Debug)]
pub enum Content {
    /// Sections of keys; `true`: the marks of a diff are explained too.
    Keys(Vec<(String, Vec<KeyRow>)>, bool),
    /// A text.
    Text(Box<(Markdown, Rows)>),
    /// The content is still to come.
    Waiting,
}

/// A page.
#[derive(Debug)]
pub struct Page {
    /// The title in the top edge.
    pub title: String,
    /// The note at the right of the top edge.
    pub note: String,
    /// Its content.
    pub content: Content,
    /// It lists the context window: results can be left out of that.
    pub leaves_out: bool,
    filter: Option<Editor>,
    /// The words that are looked for in a text; of keys only those that hold them are listed.
    search: PageSearch,
    top: usize,
    /// The area it was last drawn in, for clicks.
    place: Rect,
    rows: usize,
    total: usize,
}

/// The outcome of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageOutcome {
    /// Nothing that concerns others.
    Stay,
    /// Leave.
    Close,
    /// Choose a result to leave out of the context window.
    LeaveOut,
}

impl Page {
    /// Returns a page.
    pub fn new(title: String, note: String, content: Content) -> Page {
        Page {
            title,
            note,
            content,
            leaves_out: false,
            filter: None,
            search: PageSearch::default(),
            top: 0,
            place: Rect::default(),
            rows: 0,
            total: 0,
        }
    }

    /// Returns a page of Markdown.
    pub fn text(title: String, markdown: &str) -> Page {
        let content = Content::Text(Box::new((Markdown::whole(markdown), Rows::default())));
        Page::new(title, String::new(), content)
    }

    /// Returns where its keys are looked up.
    pub fn context(&self) -> Context {
        if self.filter.is_some() { Context::Line } else { Context::Viewer }
    }

    /// Returns that it always floats.
    pub fn inside(&self) -> Option<Rect> {
        None
    }

    /// Handles a click: outside leaves.
    pub fn click(&mut self, at: Position) -> PageOutcome {
        if self.place.contains(at) { PageOutcome::Stay } else { PageOutcome::Close }
    }

    /// Handles a turn of the wheel: three lines.
    pub fn wheel(&mut self, action: Action) -> PageOutcome {
        for _ in 0..3 {
            self.act(action);
        }
        PageOutcome::Stay
    }

    /// Types a character into the search.
    pub fn type_char(&mut self, c: char) -> PageOutcome {
        if let Some(filter) = &mut self.filter {
            filter.type_char(c);
        }
        self.typed();
        PageOutcome::Stay
    }

    /// Pastes a line into the search.
    pub fn paste(&mut self, text: &str) -> PageOutcome {
        if let Some(filter) = &mut self.filter {
            filter.paste(text.lines().next().unwrap_or(""));
        }
        self.typed();
        PageOutcome::Stay
    }

    /// Does an action.
    pub fn act(&mut self, action: Action) -> PageOutcome {
        if let Some(filter) = &mut self.filter {
            let leaves = action == Action::Backspace && filter.is_empty();
            match action {
                Action::Close | Action::Escape => self.leave_search(),
                _ if leaves => self.leave_search(),
                // What was found stays marked.
                Action::Send if matches!(self.content, Content::Text(_)) => self.filter = None,
                Action::Send | Action::Up | Action::Down => {}
                action => {
                    filter.act(action);
                    self.typed();
                }
            }
            return PageOutcome::Stay;
        }
        let max = self.total.saturating_sub(self.rows);
        let page = self.rows.saturating_sub(1).max(1);
        match action {
            Action::Up => self.top = self.top.saturating_sub(1),
            Action::Down => self.top = (self.top + 1).min(max),
            Action::PageUp => self.top = self.top.saturating_sub(page),
            Action::PageDown => self.top = (self.top + page).min(max),
            Action::First => self.top = 0,
            Action::Last => self.top = max,
            Action::Search if !matches!(self.content, Content::Waiting) => {
                self.leave_search();
                self.filter = Some(Editor::default());
            }
            Action::NextMatch | Action::PreviousMatch => self.search.step(action == Action::NextMatch),
            Action::Close | Action::Escape => return PageOutcome::Close,
            Action::LeaveOut if self.leaves_out => return PageOutcome::LeaveOut,
            _ => {}
        }
        PageOutcome::Stay
    }

    /// Looks for what is typed: of keys only those that hold it are listed, in a text it is gone to.
    fn typed(&mut self) {
        let Some(filter) = &self.filter else { return };
        match self.content {
            Content::Text(_) => self.search.look_for(&filter.expanded()),
            _ => self.top = 0,
        }
    }

    /// Looks for nothing any more.
    fn leave_search(&mut self) {
        (self.filter, self.search) = (None, PageSearch::default());
    }

    /// Returns the lines of the keys in each column, filtered: `None` is an empty line, headings have no keys.
    fn columns(&self, columns: usize) -> Vec<Vec<(String, String)>> {
        let Content::Keys(sections, marks) = &self.content else { return Vec::new() };
        let words = self.filter.as_ref().map(|f| f.expanded().to_lowercase()).unwrap_or_default();
        let mut blocks: Vec<Vec<(String, String)>> = Vec::new();
        for (heading, rows) in sections {
            let rows: Vec<_> =
                rows.iter().filter(|r| r.holds(&words)).map(|r| (r.keys.clone(), r.help.clone())).collect();
            if !rows.is_empty() {
                blocks.push(std::iter::once((String::new(), heading.clone())).chain(rows).collect());
            }
        }
        if *marks && words.is_empty() {
            blocks.push(vec![(String::new(), say::the_marks().into()), (MARKS.into(), String::new())]);
        }
        let mut out: Vec<Vec<(String, String)>> = vec![Vec::new(); columns];
        for block in blocks {
            // Each goes below the shortest column.
            let column = (0..columns).min_by_key(|c| out[*c].len()).unwrap_or(0);
            if !out[column].is_empty() {
                out[column].push((String::new(), String::new()));
            }
            // The marks take two rows more than their placeholder.
            let marks = block.last().is_some_and(|(k, _)| k == MARKS);
            out[column].extend(block);
            if marks {
                out[column].extend([(String::new(), String::new()), (String::new(), String::new())]);
            }
        }
        out
    }

    fn area(&self, screen: Rect, body: Rect) -> Rect {
        let height = match &self.content {
            Content::Keys(..) => {
                let columns = if screen.width >= 110 { 2 } else { 1 };
                self.columns(columns).iter().map(Vec::len).max().unwrap_or(0) + 4
            }
            // As high as its rows at that width, which `measure` counted.
            Content::Text(_) => self.total.max(5) + 4,
            Content::Waiting => 7,
        };
        let mut area = modal(screen, body, 106, u16::try_from(height).unwrap_or(u16::MAX));
        if self.filter.is_some() && matches!(self.content, Content::Keys(..)) {
            // Typing never moves the box.
            area.height = area.height.max(modal(screen, body, 106, 22).height.min(area.height.max(12)));
        }
        area
    }

    /// Tells it the size of the screen that is drawn next.
    pub fn measure(&mut self, screen: Rect, body: Rect, _: Option<Rect>, ctx: &Ctx<'_>) {
        let area = self.area(screen, body);
        let width = usize::from(area.width.saturating_sub(6));
        let mut found = None;
        self.total = match &mut self.content {
            Content::Text(text) => {
                let (doc, rows) = text.as_mut();
                doc.refresh();
                rows.update(doc, width, ctx.look());
                found = self.search.update(doc, rows, width, self.top);
                rows.len()
            }
            Content::Keys(..) => {
                let columns = if screen.width >= 110 { 2 } else { 1 };
                self.columns(columns).iter().map(Vec::len).max().unwrap_or(0)
            }
            Content::Waiting => 0,
        };
        self.place = self.area(screen, body);
        self.rows = usize::from(self.place.height.saturating_sub(4));
        if let Some(row) = found.filter(|row| !(self.top..self.top + self.rows).contains(row)) {
            self.top = row.saturating_sub(self.rows / 2);
        }
        self.top = self.top.min(self.total.saturating_sub(self.rows));
    }

    /// Returns its keys, each with what it does.
    fn hints(&self, ctx: &Ctx<'_>) -> Vec<(String, &'static str)> {
        if self.filter.is_some() {
            return super::keys(ctx, Context::Line, [(Action::Close, say::back())]);
        }
        let mut keys = Vec::new();
        if !matches!(self.content, Content::Waiting) {
            keys.extend(super::keys(ctx, Context::Viewer, [(Action::Search, say::search())]));
        }
        if self.search.is_on() {
            let both = [Action::NextMatch, Action::PreviousMatch];
            keys.extend(pair(ctx, Context::Viewer, both, hints::next_previous_match()));
        }
        if self.leaves_out {
            keys.extend(super::keys(ctx, Context::Viewer, [(Action::LeaveOut, say::leave_out())]));
        }
        if self.total > self.rows {
            keys.extend(pair(ctx, Context::Viewer, [Action::Up, Action::Down], say::scroll()));
        }
        keys.extend(super::keys(ctx, Context::Viewer, [(Action::Close, say::close())]));
        keys
    }

    /// Draws it and tells where the cursor goes.
    pub fn draw(&self, body: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) -> Option<Position> {
        let screen = buf.area;
        let area = self.area(screen, body);
        let keys = self.hints(ctx);
        let found = self.search.count().filter(|_| self.filter.is_none());
        border(area, &self.title, found.as_deref().unwrap_or(&self.note), &keys, buf, ctx);
        let inside = Rect {
            x: area.x + 3,
            y: area.y + 2,
            width: area.width.saturating_sub(6),
            height: area.height.saturating_sub(4),
        };
        match &self.content {
            Content::Keys(..) => self.draw_keys(screen, inside, buf, ctx),
            Content::Text(text) => {
                let (doc, rows) = text.as_ref();
                let range = self.top..self.top + usize::from(inside.height);
                rows.draw(doc, range, (inside.x, inside.y), buf, ctx.look(), ctx.colours);
                self.search.mark(inside, self.top, buf, ctx);
            }
            Content::Waiting => {
                paint::text(buf, inside.x, inside.y, 40, say::asking(), ctx.theme.style(Role::Dim));
            }
        }
        thumb(Rect { x: area.right().saturating_sub(2), width: 1, ..inside }, self.total, self.top, buf, ctx);
        self.draw_filter(area, buf, ctx)
    }

    /// Returns `2 of 7`: how many keys hold what is typed, or which of the rows that do is shown.
    fn search_hits(&self) -> Option<String> {
        let Content::Keys(sections, _) = &self.content else { return self.search.count() };
        let words = self.filter.as_ref().map(|f| f.expanded().to_lowercase()).filter(|words| !words.is_empty())?;
        let rows = || sections.iter().flat_map(|(_, rows)| rows);
        let found = rows().filter(|row| row.holds(&words)).count();
        Some(cut::rows_left(found, rows().count()))
    }

    fn draw_filter(&self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) -> Option<Position> {
        let filter = self.filter.as_ref()?;
        let y = area.y + 1;
        let hits = self.search_hits().unwrap_or_default();
        let visible = wrap::cells(&hits);
        let width = usize::from(area.width.saturating_sub(8)).saturating_sub(visible + usize::from(visible > 0));
        let right = area.right().saturating_sub(3 + visible as u16);
        paint::text(buf, right, y, visible, &hits, ctx.theme.style(Role::Dim));
        paint::text(buf, area.x + 3, y, 1, "/", ctx.theme.style(Role::Focus).add_modifier(Modifier::BOLD));
        let rows = filter.rows(width);
        paint::text(buf, area.x + 5, y, width, &rows.rows[rows.caret.0].text(), ctx.theme.style(Role::Text));
        Some(Position::new(area.x + 5 + rows.caret.1 as u16, y))
    }

    fn draw_keys(&self, screen: Rect, inside: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let columns = if screen.width >= 110 { 2 } else { 1 };
        let width = usize::from(inside.width) / columns;
        let heading = ctx.theme.style(Role::Focus).add_modifier(Modifier::BOLD);
        for (c, lines) in self.columns(columns).iter().enumerate() {
            let x = inside.x + (c * (width + 2)) as u16;
            for (i, (keys, help)) in lines.iter().enumerate().skip(self.top).take(usize::from(inside.height)) {
                let y = inside.y + (i - self.top) as u16;
                if keys == MARKS {
                    marks(x, y, inside.bottom(), buf, ctx);
                } else if keys.is_empty() {
                    paint::text(buf, x, y, width - 2, help, heading);
                } else {
                    let used = paint::text(buf, x, y, width - 2, keys, ctx.theme.style(Role::Text));
                    let at = used.max(14) + 1;
                    let help = cut::end(help, (width - 2).saturating_sub(at), ctx.glyphs.cut);
                    paint::text(buf, x + at as u16, y, width, &help, ctx.theme.style(Role::Dim));
                }
            }
        }
    }
}

/// Stands in a column of keys for the three rows of marks.
const MARKS: &str = "\u{0}marks";

/// Draws the marks of a diff.
fn marks(x: u16, y: u16, bottom: u16, buf: &mut Buffer, ctx: &Ctx<'_>) {
    let (g, t) = (ctx.glyphs, ctx.theme);
    let dim = t.style(Role::Dim);
    let rows = [
        [
            (g.done, Role::Added, say::accepted()),
            (g.refused, Role::Removed, say::rejected()),
            (g.undecided, Role::Attention, say::undecided()),
        ],
        [
            (g.added, Role::Added, say::added()),
            (g.removed, Role::Removed, say::removed()),
            (g.more, Role::Dim, say::folded()),
        ],
    ];
    for (y, row) in (y..bottom).zip(rows) {
        for (i, (mark, role, word)) in row.into_iter().enumerate() {
            let x = x + 15 * i as u16;
            paint::text(buf, x, y, 1, mark, t.style(role).add_modifier(Modifier::BOLD));
            paint::text(buf, x + 2, y, 12, word, dim);
        }
    }
    if y + 2 < bottom {
        let used = paint::text(buf, x, y + 2, 8, say::words(), t.on(Role::Text, Role::AddedWord));
        paint::text(buf, x + used as u16 + 1, y + 2, 40, say::words_changed(), dim);
    }
}

/// Returns a text as Markdown that shows it as it is.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\\' | '|' | '*' | '_' | '`' | '<' | '[') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

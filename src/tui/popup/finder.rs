//! Files: the completion under `@`, and the same full size for `/file`.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;

use super::{border, matched, pair, select, thumb};
use crate::messages::{count, popups as say};
use crate::protocol::Query;
use crate::text::number::thousands;
use crate::tui::action::{Action, Context};
use crate::tui::input::Editor;
use crate::tui::input::complete::{Completion, Preview};
use crate::tui::layout::Rects;
use crate::tui::look::Ctx;
use crate::tui::text::{cut, paint, show, wrap};
use crate::tui::theme::Role;

/// Columns from which the preview stands beside the list.
const BESIDE: u16 = 90;
/// Rows inside the border from which it stands below the list otherwise.
const BELOW: u16 = 9;
/// Cells that a preview beside the list keeps, however long the names are.
const PREVIEW: u16 = 30;

/// The finder of `/file`: a completion with a line of its own.
#[derive(Debug, Default)]
pub struct Finder {
    /// The list.
    pub list: Completion,
    editor: Editor,
    /// The area of the border, without the line.
    area: Rect,
}

/// The outcome of a key.
#[derive(Debug, Clone, PartialEq)]
pub enum FinderOutcome {
    /// Ask for this.
    Ask(Vec<Query>),
    /// Leave.
    Close,
    /// Mention the selected file.
    Took,
}

impl Finder {
    /// Types a character.
    pub fn type_char(&mut self, c: char) -> FinderOutcome {
        self.editor.type_char(c);
        self.narrow()
    }

    /// Pastes into the line.
    pub fn paste(&mut self, text: &str) -> FinderOutcome {
        self.editor.paste(text.lines().next().unwrap_or(""));
        self.narrow()
    }

    /// Asks for what is typed; `:10-40` at its end are lines, not letters of the path.
    fn narrow(&mut self) -> FinderOutcome {
        let typed = self.editor.expanded();
        let colon = typed.rfind(':').filter(|i| typed[i + 1..].chars().all(|c| c.is_ascii_digit() || c == '-'));
        let (words, lines) = typed.split_at(colon.unwrap_or(typed.len()));
        let words = words.trim_start_matches('@');
        let requests = if self.list.words == words && self.list.listed { Vec::new() } else { self.list.narrow(words) };
        self.list.set_lines(lines);
        FinderOutcome::Ask(requests)
    }

    /// Does an action.
    pub fn act(&mut self, action: Action) -> FinderOutcome {
        match action {
            Action::Up | Action::Down => FinderOutcome::Ask(self.list.step(action == Action::Down, rows(self.area))),
            Action::PreviewUp | Action::PreviewDown => {
                self.list.scroll(action == Action::PreviewDown, preview_rows(self.area));
                FinderOutcome::Ask(Vec::new())
            }
            Action::Insert | Action::Choose if self.list.path().is_some() => FinderOutcome::Took,
            Action::Insert | Action::Choose => FinderOutcome::Ask(Vec::new()),
            Action::Close | Action::Escape => FinderOutcome::Close,
            action => match self.editor.act(action) {
                true => self.narrow(),
                false => FinderOutcome::Ask(Vec::new()),
            },
        }
    }

    /// Returns where its keys are looked up.
    pub fn context(&self) -> Context {
        Context::Completion
    }

    /// Returns that it always floats.
    pub fn inside(&self) -> Option<Rect> {
        None
    }

    /// Handles a turn of the wheel.
    pub fn wheel(&mut self, action: Action) -> FinderOutcome {
        self.act(action)
    }

    /// Tells it the size of the screen that is drawn next.
    pub fn measure(&mut self, _: Rect, body: Rect, _: Option<Rect>, _: &Ctx<'_>) {
        self.area = below_line(body);
    }

    /// Handles a click: on a row selects it, on the selected one takes it.
    pub fn click(&mut self, at: Position) -> FinderOutcome {
        match click(&mut self.list, self.area, at) {
            Clicked::Chosen if self.list.path().is_some() => FinderOutcome::Took,
            Clicked::Ask(queries) => FinderOutcome::Ask(queries),
            _ => FinderOutcome::Ask(Vec::new()),
        }
    }

    /// Draws it over the body and tells where the cursor goes.
    pub fn draw(&self, body: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) -> Option<Position> {
        frame(&self.list, body, buf, ctx);
        let width = usize::from(body.width.saturating_sub(8));
        let prompt = ctx.theme.style(Role::Focus).add_modifier(Modifier::BOLD);
        paint::text(buf, body.x + 3, body.y + 1, 1, ctx.glyphs.prompt, prompt);
        let rows = self.editor.rows(width);
        let text = rows.rows[rows.caret.0].text();
        paint::text(buf, body.x + 5, body.y + 1, width, &text, ctx.theme.style(Role::Text));
        draw(&self.list, below_line(body), buf, ctx);
        Some(Position::new(body.x + 5 + rows.caret.1 as u16, body.y + 1))
    }
}

/// Returns the finder without the line that is typed in.
fn below_line(body: Rect) -> Rect {
    Rect { y: body.y + 1, height: body.height.saturating_sub(1), ..body }
}

/// The areas inside a border.
struct FinderAreas {
    list: Rect,
    /// The preview, without rows where there is no room for it.
    preview: Rect,
    /// The rule between them.
    rule: Rect,
}

/// Returns where things stand; beside the preview the list is as wide as a name of `longest` cells needs.
fn parts(area: Rect, longest: usize) -> FinderAreas {
    let (width, height) = (area.width.saturating_sub(2), area.height.saturating_sub(2));
    let inside = Rect { x: area.x + 1, y: area.y + 1, width, height };
    if area.width >= BESIDE {
        let needed = u16::try_from(longest + 4).unwrap_or(u16::MAX);
        let wide = (width * 2 / 5).clamp(40, 60).max(needed).min(width.saturating_sub(PREVIEW).max(40));
        let x = inside.x + wide;
        let preview = Rect { x: x + 2, width: inside.right().saturating_sub(x + 2), ..inside };
        return FinderAreas { list: Rect { width: wide, ..inside }, preview, rule: Rect { x, width: 1, ..inside } };
    }
    if height < BELOW {
        let none = Rect { height: 0, ..inside };
        return FinderAreas { list: inside, preview: none, rule: none };
    }
    let list = Rect { height: (height * 2 / 5).max(3), ..inside };
    let rule = Rect { y: list.bottom(), height: 1, ..inside };
    let preview = Rect { x: inside.x + 1, y: rule.y + 1, width: width - 1, height: inside.bottom() - rule.y - 1 };
    FinderAreas { list, preview, rule }
}

/// Returns the cells that the longest name of a list needs, with the mark of the folders before it.
fn longest(list: &Completion, mark: &str) -> usize {
    let name = |path: &String| match cut::name_start(path) {
        0 => wrap::cells(path),
        start => wrap::cells(&path[start..]) + wrap::cells(mark) + 1,
    };
    list.hits.iter().map(|(path, _)| name(path)).max().unwrap_or(0)
}

/// Returns the number of rows of the list inside a border.
pub fn rows(area: Rect) -> usize {
    usize::from(parts(area, 0).list.height)
}

/// Returns lines of the file in the preview inside a border.
pub fn preview_rows(area: Rect) -> usize {
    usize::from(parts(area, 0).preview.height.saturating_sub(1))
}

/// Returns where the completion goes: its bottom edge on the row above the input line, or below a prompt that stands on
/// top; its left edge at the `@`.
pub fn place(rects: &Rects, column: u16) -> Rect {
    let screen = rects.all;
    let width = screen.width.min(100);
    let x = column.saturating_sub(1).min(screen.width - width);
    let below = screen.height.saturating_sub(rects.input.bottom() + 1);
    if rects.bar.y < below {
        return Rect::new(x, rects.input.bottom(), width, below.min(15));
    }
    let height = 15.min(rects.bar.y.saturating_sub(1));
    Rect::new(x, rects.bar.y - height, width, height)
}

/// The outcome of a click in a list of files.
#[derive(Debug, Clone, PartialEq)]
pub enum Clicked {
    /// It was not for the list.
    Outside,
    /// Another row is selected; ask for this.
    Ask(Vec<Query>),
    /// The selected row is taken.
    Chosen,
}

/// Handles a click in a list of files whose border is `area`.
pub fn click(list: &mut Completion, area: Rect, at: Position) -> Clicked {
    if !area.contains(at) {
        return Clicked::Outside;
    }
    let rows = parts(area, longest(list, "…")).list;
    let top = list.top.max((list.selected + 1).saturating_sub(usize::from(rows.height)));
    let index = top + usize::from(at.y.saturating_sub(rows.y));
    let row = rows.contains(at) && index < list.hits.len();
    match row {
        true if index == list.selected => Clicked::Chosen,
        true => Clicked::Ask(list.select(index)),
        false => Clicked::Ask(Vec::new()),
    }
}

/// Returns where the completion is drawn: with nothing to choose from, one row says so.
pub fn visible_area(list: &Completion, area: Rect) -> Rect {
    let none = list.listed && list.hits.is_empty();
    if none { Rect { y: area.bottom().saturating_sub(3), height: 3.min(area.height), ..area } } else { area }
}

/// Draws the completion above the input.
pub fn popup(list: &Completion, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
    let area = visible_area(list, area);
    frame(list, area, buf, ctx);
    draw(list, area, buf, ctx);
}

fn frame(list: &Completion, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
    let note = match (list.listed, list.complete) {
        (false, _) => say::looking().to_string(),
        (true, true) => cut::rows_left(list.hits.len(), list.total),
        (true, false) => say::hits_so_far(&thousands(list.hits.len()), &thousands(list.total)),
    };
    let completion = Context::Completion;
    let mut keys = Vec::new();
    if !list.hits.is_empty() {
        keys = super::keys(ctx, completion, [(Action::Insert, say::insert())]);
        keys.extend(pair(ctx, completion, [Action::Up, Action::Down], say::choose()));
        if parts(area, 0).preview.height > 0 {
            let word = if area.width >= BESIDE { say::scroll_preview() } else { say::scroll() };
            keys.extend(pair(ctx, completion, [Action::PreviewUp, Action::PreviewDown], word));
        }
        keys.push((":10-40".into(), if area.width >= BESIDE { say::only_these_lines() } else { say::lines() }));
    }
    keys.extend(super::keys(ctx, completion, [(Action::Close, say::close())]));
    border(area, say::files(), &note, &keys, buf, ctx);
}

/// Draws the list and, where there is room, the preview of the selected file; `area` is the border's.
fn draw(list: &Completion, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
    let FinderAreas { list: left, preview, rule } = parts(area, longest(list, ctx.glyphs.cut));
    let rows = usize::from(left.height);
    let top = list.top.max((list.selected + 1).saturating_sub(rows));
    for (i, (path, at)) in list.hits.iter().enumerate().skip(top).take(rows) {
        let row = Rect { y: left.y + (i - top) as u16, height: 1, ..left };
        entry(path, at, row, buf, ctx);
        if i == list.selected {
            select(row, buf, ctx);
        }
    }
    if list.hits.is_empty() {
        if list.listed && list.complete {
            let area = Rect { x: left.x + 2, width: left.width.saturating_sub(2), ..left };
            paint::prose(buf, area, say::no_file_matches(), ctx.glyphs.cut, ctx.theme.style(Role::Dim));
        }
        return;
    }
    let beside = rule.width == 1;
    if !beside {
        let bar = Rect { x: left.right().saturating_sub(1), width: 1, ..left };
        thumb(bar, list.hits.len(), top, buf, ctx);
    }
    let glyph = if beside { ctx.glyphs.upright } else { ctx.glyphs.rule };
    for at in rule.positions() {
        buf[at].set_symbol(glyph).set_style(ctx.theme.style(Role::Line));
    }
    if let Some(p) = list.preview.as_ref().filter(|p| preview.height > 0 && list.path() == Some(&p.path)) {
        text(p, list.scroll, preview, buf, ctx);
        let bar = Rect { x: preview.right().saturating_sub(1), width: 1, ..preview };
        thumb(bar, p.lines.as_ref().map_or(0, Vec::len), list.scroll, buf, ctx);
    }
}

/// Draws a path: cut in its middle, folders dim, matched letters in focus.
fn entry(path: &str, at: &[u32], area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
    let room = usize::from(area.width.saturating_sub(4));
    let visible = cut::path(path, room, ctx.glyphs.cut);
    // Letters before the cut keep their place, letters behind it move with the end of the path.
    let same = visible.bytes().zip(path.bytes()).take_while(|(a, b)| a == b).count();
    let shift = path.len() as i64 - visible.len() as i64;
    let end = visible.bytes().rev().zip(path.bytes().rev()).take_while(|(a, b)| a == b).count();
    let at: Vec<u32> = at
        .iter()
        .filter_map(|&b| {
            let b = b as usize;
            if b < same {
                Some(b as u32)
            } else if b >= path.len() - end {
                u32::try_from(b as i64 - shift).ok()
            } else {
                None
            }
        })
        .collect();
    let name = cut::name_start(&visible);
    let (folders, file) = (ctx.theme.style(Role::Dim), ctx.theme.style(Role::Path));
    let mut spans = matched(&visible[..name], &at, folders, ctx);
    let rest: Vec<u32> = at.iter().filter(|b| **b as usize >= name).map(|b| b - name as u32).collect();
    spans.extend(matched(&visible[name..], &rest, file, ctx));
    paint::spans(buf, area.x + 2, area.y, room, &spans);
}

/// Draws the beginning of the selected file.
fn text(p: &Preview, scroll: usize, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
    let width = usize::from(area.width.saturating_sub(2));
    let dim = ctx.theme.style(Role::Dim);
    let size = match &p.lines {
        Some(_) if p.path.ends_with('/') => count::names(p.count),
        Some(_) => say::lines_and_size(&count::lines(p.count), &count::size(p.bytes)),
        None => count::size(p.bytes),
    };
    let name = ctx.theme.style(Role::Path).add_modifier(Modifier::BOLD);
    let room = width.saturating_sub(wrap::cells(&size) + 2);
    paint::spans(buf, area.x, area.y, room, &cut::path_spans(&p.path, room, ctx.glyphs.cut, dim, name));
    paint::text(buf, area.x + (width - wrap::cells(&size).min(width)) as u16, area.y, width, &size, dim);
    let Some(lines) = &p.lines else {
        paint::text(buf, area.x, area.y + 1, width, say::not_text(), dim);
        return;
    };
    let rows = usize::from(area.height.saturating_sub(1));
    let range = scroll..(scroll + rows).min(lines.len());
    for (i, line) in lines.iter().enumerate().take(range.end).skip(range.start) {
        let y = area.y + 1 + (i - scroll) as u16;
        paint::text(buf, area.x, y, 4, &format!("{:>3} ", i + 1), dim);
        let visible = cut::end(&show::plain(line), width.saturating_sub(5), ctx.glyphs.cut).into_owned();
        paint::text(buf, area.x + 5, y, width.saturating_sub(5), &visible, ctx.theme.style(Role::Text));
    }
    // Colours come over the plain text where they are ready and the line is drawn as it is.
    ctx.colours.look(&p.code, range, |i, tokens| {
        let (Some(line), y) = (lines.get(i), area.y + 1 + (i.saturating_sub(scroll)) as u16) else { return };
        if show::plain(line) != line.as_str() {
            return;
        }
        let (mut from, mut x) = (0usize, 0usize);
        for token in tokens {
            let to = (token.end as usize).min(line.len());
            let Some(part) = line.get(from..to) else { return };
            let room = width.saturating_sub(6).saturating_sub(x);
            x += paint::text(buf, area.x + 5 + x as u16, y, room, part, ctx.theme.style(token.role));
            from = to;
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_completion_stands_at_the_mention() {
        let rects = |width, height, bar: u16| Rects {
            all: Rect::new(0, 0, width, height),
            bar: Rect::new(0, bar, width, 1),
            input: Rect::new(0, bar + 1, width, 1),
            ..Rects::default()
        };
        assert_eq!(place(&rects(140, 40, 37), 19), Rect::new(18, 22, 100, 15));
        assert_eq!(place(&rects(60, 24, 21), 50), Rect::new(0, 6, 60, 15));
        // Below a prompt that stands on top.
        assert_eq!(place(&rects(140, 40, 1), 19), Rect::new(18, 3, 100, 15));
    }
}

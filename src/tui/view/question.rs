//! The question that has the keys, above the input line: its text, and its choices with what each means. Those that wait
//! with it stand below it.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use crate::messages::{card as card_say, diff, view as say};
use crate::protocol::HoldCard;
use crate::tui::action::{Action, Context};
use crate::tui::app::{App, Focus};
use crate::tui::card::decide;
use crate::tui::input::question::Asking;
use crate::tui::look::Ctx;
use crate::tui::pane::line::line;
use crate::tui::popup;
use crate::tui::text::{paint, wrap};
use crate::tui::theme::Role;

/// Rows of a text that gives way to the choices: one of it, and the count of the others.
const LEAST_TEXT: usize = 2;
/// Cells of the mark of a file that acts later, with the space behind it.
const GLYPH: usize = 2;
/// Cells before it.
const GAP: usize = 3;
/// Cells of the key before a choice.
const KEY: usize = 4;

/// Returns the number of rows of the question that is open, and of those below it that have room in half of a screen of
/// this size.
pub fn rows(app: &App, (width, height): (u16, u16)) -> u16 {
    let Some(asking) = app.open_question() else { return 0 };
    // A command has the room alone.
    if let Some(card) = &asking.question.card {
        return decide::rows(card, &asking.card, (width, height), &app.ctx(false));
    }
    let first = rows_of(asking, width);
    let totals = others(app).scan(first, |total, (_, asking)| {
        *total = total.saturating_add(rows_of(asking, width));
        Some(*total)
    });
    totals.take_while(|total| *total <= height / 2).last().unwrap_or(first)
}

/// Returns the questions that may stand below the one that is open, with their numbers. A command has the room alone.
fn others(app: &App) -> impl Iterator<Item = (usize, &Asking)> {
    let all = app.questions.iter().zip(1..).map(|(asking, n)| (n, asking));
    all.take_while(|(_, asking)| asking.question.card.is_none()).skip(1)
}

/// Returns the number of rows of a question with its line and the empty row below.
fn rows_of(asking: &Asking, width: u16) -> u16 {
    let width = usize::from(width.saturating_sub(2));
    let rows = text(asking, width).len() + rows_of_choices(&choices(asking, width));
    u16::try_from(1 + rows + 1).unwrap_or(u16::MAX)
}

fn rows_of_choices(all: &[ChoiceRows]) -> usize {
    all.last().map_or(0, |choice| choice.rows.end)
}

/// A question as it is laid out below its line.
struct QuestionParts {
    text: Vec<TextRow>,
    /// Rows of the text that have room.
    text_room: usize,
    choices: Vec<ChoiceRows>,
    /// Rows of the choices that have room.
    choice_room: usize,
}

/// Lays a question out: where not all has room the text gives way to the choices.
fn parts(asking: &Asking, area: Rect) -> QuestionParts {
    let (width, height) = (usize::from(area.width.saturating_sub(2)), usize::from(area.height.saturating_sub(1)));
    let (mut text, choices) = (text(asking, width), choices(asking, width));
    let chosen = rows_of_choices(&choices);
    if text.len() + chosen > height && text.last().is_some_and(TextRow::is_empty) {
        text.pop();
    }
    let least = LEAST_TEXT.min(height.saturating_sub(1));
    let text_room = text.len().min(height.saturating_sub(chosen).max(least));
    QuestionParts { text, text_room, choices, choice_room: height - text_room }
}

/// Returns the rows of the text of the question that is open, and of those the ones that have room in `area`.
pub fn text_rows(asking: &Asking, area: Rect) -> (usize, usize) {
    let parts = parts(asking, Rect { height: rows_of(asking, area.width).min(area.height), ..area });
    (parts.text.len(), parts.text_room)
}

/// Returns the choice in row `row` of the screen, where the questions have `area`.
pub fn choice_at(asking: &Asking, area: Rect, row: u16) -> Option<usize> {
    let area = Rect { height: rows_of(asking, area.width).min(area.height), ..area };
    let parts = parts(asking, area);
    let shift = shift(&parts, asking);
    let at = usize::from(row).checked_sub(usize::from(area.y) + 1 + parts.text_room)?;
    parts.choices.iter().position(|choice| choice.rows.contains(&(at + shift)) && at < parts.choice_room)
}

/// Returns the rows of the text, each with how it is drawn.
fn text(asking: &Asking, width: usize) -> Vec<TextRow> {
    if let Some(hold) = &asking.question.hold {
        return hold_text(hold, width);
    }
    let marked = asking.question.text.lines().scan(false, |in_diff, line| {
        // From the place of a part of a diff to the empty line after it, lines are marked.
        *in_diff = !line.is_empty() && (*in_diff || line.starts_with("@@ -"));
        Some((line, line.chars().next().filter(|sign| *in_diff && "+-@ ".contains(*sign))))
    });
    let rows = marked.flat_map(|(l, sign)| {
        let broken = wrap::breaks(l, width.max(1)).into_iter();
        broken.map(move |r| TextRow { sign, ..TextRow::plain(l[r].to_string()) })
    });
    rows.collect()
}

/// A row of the text.
#[derive(Default)]
struct TextRow {
    text: String,
    /// The cells of a label at its beginning; the rest is plain.
    label: Option<usize>,
    /// It ends with the mark of a file that acts later.
    later: bool,
    /// The sign of the line of a diff that it is, or a part of.
    sign: Option<char>,
}

impl TextRow {
    fn plain(text: String) -> Self {
        TextRow { text, ..TextRow::default() }
    }

    fn is_empty(&self) -> bool {
        self.text.is_empty() && !self.later
    }
}

/// Returns what a call that waits wants, and below it what is known of it, each after its label.
fn hold_text(hold: &HoldCard, width: usize) -> Vec<TextRow> {
    let broken = |text: &str, room: usize| -> Vec<String> {
        wrap::breaks(text, room.max(1)).into_iter().map(|row| text[row].to_string()).collect()
    };
    let mut rows: Vec<TextRow> = broken(&hold.wants, width).into_iter().map(TextRow::plain).collect();
    if hold.acts_later {
        // The mark stands whole: in a row of its own where the last has no room for it.
        let mark = GLYPH + wrap::cells(diff::acts_later());
        match rows.last_mut().filter(|last| wrap::cells(&last.text) + GAP + mark <= width) {
            Some(last) => last.later = true,
            None => rows.push(TextRow { later: true, ..TextRow::default() }),
        }
    }
    let label = hold.rows.iter().map(|(label, _)| wrap::cells(label)).max().unwrap_or(0) + 2;
    for (name, words) in &hold.rows {
        for (i, part) in broken(words, width.saturating_sub(label)).into_iter().enumerate() {
            let name = if i == 0 { name.as_str() } else { "" };
            let pad = " ".repeat(label - wrap::cells(name));
            rows.push(TextRow { text: format!("{name}{pad}{part}"), label: Some(label), ..TextRow::default() });
        }
    }
    rows.push(TextRow::default());
    rows
}

/// Draws a row of the text.
fn draw_row(row: &TextRow, (x, y): (u16, u16), width: usize, buf: &mut Buffer, ctx: &Ctx<'_>) {
    let style = match row.sign {
        None => ctx.theme.style(Role::Text).add_modifier(Modifier::BOLD),
        Some('+') => ctx.theme.style(Role::Added),
        Some('-') => ctx.theme.style(Role::Removed),
        Some('@') => ctx.theme.style(Role::Dim),
        Some(_) => ctx.theme.style(Role::Text),
    };
    let Some(label) = row.label else {
        paint::text(buf, x, y, width, &row.text, style);
        let (used, glyph) = (wrap::cells(&row.text), ctx.glyphs.later);
        let used = if used == 0 { 0 } else { used + GAP };
        if row.later {
            let words = format!("{glyph} {}", diff::acts_later());
            paint::text(buf, x + used as u16, y, width.saturating_sub(used), &words, ctx.theme.style(Role::Attention));
        }
        return;
    };
    paint::text(buf, x, y, width, &row.text, ctx.theme.style(Role::Text));
    buf.set_style(Rect { x, y, width: label as u16, height: 1 }, ctx.theme.style(Role::Dim));
}

/// A choice as it is laid out.
struct ChoiceRows {
    key: String,
    name: Vec<String>,
    detail: Vec<String>,
    /// The column of the detail.
    column: usize,
    /// Its rows among those of all choices.
    rows: Range<usize>,
}

/// Returns the choices, names and details wrapped: beside each other, or the detail below where it is narrow. A choice
/// without a detail has the full width.
fn choices(asking: &Asking, width: usize) -> Vec<ChoiceRows> {
    let all = asking.choices();
    let detailed = all.iter().filter(|(_, detail)| !detail.is_empty());
    let longest = detailed.map(|(name, _)| wrap::cells(name)).max().unwrap_or(0);
    let beside = width >= 60;
    let names = if beside { longest.clamp(12, width * 2 / 5) } else { width.saturating_sub(KEY).max(1) };
    let (column, room) = match beside {
        true => (KEY + names + 3, width.saturating_sub(KEY + names + 3).max(1)),
        false => (KEY, names),
    };
    let broken = |text: &str, room: usize| -> Vec<String> {
        wrap::breaks(text, room).into_iter().map(|r| text[r].to_string()).filter(|row| !row.is_empty()).collect()
    };
    let mut at = 0;
    let laid = all.iter().enumerate().map(|(i, (name, detail))| {
        let names = if detail.is_empty() { width.saturating_sub(KEY).max(1) } else { names };
        let (name, detail) = (broken(name, names), broken(detail, room));
        let height = if beside { name.len().max(detail.len()) } else { name.len() + detail.len() }.max(1);
        at += height;
        ChoiceRows {
            key: asking.key(i),
            name,
            detail,
            column: if beside { column } else { KEY },
            rows: at - height..at,
        }
    });
    laid.collect()
}

/// Returns the number of rows of choices that are scrolled away, so that the selected one is in sight: of one that is
/// longer than the room, its beginning.
fn shift(parts: &QuestionParts, asking: &Asking) -> usize {
    let selected = asking.selected.and_then(|i| parts.choices.get(i));
    selected.map_or(0, |choice| choice.rows.end.saturating_sub(parts.choice_room.max(1)).min(choice.rows.start))
}

/// Draws the one that is open, and those below it that have room.
pub(super) fn draw(app: &App, area: Rect, buf: &mut Buffer) {
    let Some(asking) = app.open_question().filter(|_| area.height > 1) else { return };
    let focus = app.focus() == Focus::Question;
    let ctx = app.ctx(focus);
    if let Some(card) = &asking.question.card {
        return decide::draw(card, &asking.card, area, buf, &ctx);
    }
    let first = Rect { height: rows_of(asking, area.width).min(area.height), ..area };
    head(app, asking, Rect { height: 1, ..first }, buf);
    draw_one(asking, first, Some(focus), buf, &ctx);
    let mut y = first.bottom();
    for (n, asking) in others(app) {
        let below = Rect { y, height: rows_of(asking, area.width), ..area };
        if below.bottom() > area.bottom() {
            break;
        }
        head_below(app, n, asking, Rect { height: 1, ..below }, buf);
        draw_one(asking, below, None, buf, &ctx);
        y = below.bottom();
    }
}

/// Draws the text and the choices of one question, below its line. `focus`: it is open, and whether it has the keys.
fn draw_one(asking: &Asking, area: Rect, focus: Option<bool>, buf: &mut Buffer, ctx: &Ctx<'_>) {
    let t = ctx.theme;
    let width = usize::from(area.width.saturating_sub(2));
    let bold = t.style(Role::Text).add_modifier(Modifier::BOLD);
    let parts = parts(asking, area);
    let above = Rect { y: area.y + 1, height: parts.text_room as u16, ..area };
    // Only the one that is open is scrolled: the others stand there whole.
    let (top, sight) = focus.map_or((0, parts.text_room), |_| (asking.text.top, asking.text.sight()));
    for (row, y) in parts.text.iter().skip(top).take(sight).zip(above.top()..above.bottom()) {
        draw_row(row, (area.x + 1, y), width, buf, ctx);
    }
    if focus.is_some() {
        asking.text.draw_more(above, Context::Question, buf, ctx);
    }
    let (y, shift) = (above.bottom(), shift(&parts, asking));
    let last = Rect { x: area.right().saturating_sub(1), y, width: 1, height: area.bottom().saturating_sub(y) };
    popup::thumb(last, rows_of_choices(&parts.choices), shift, buf, ctx);
    for (i, choice) in parts.choices.iter().enumerate() {
        let chosen = asking.selected == Some(i) && focus.is_some();
        for row in choice.rows.clone() {
            let Some(y) = row.checked_sub(shift).map(|row| y + row as u16).filter(|y| *y < area.bottom()) else {
                continue;
            };
            let n = row - choice.rows.start;
            let style = if chosen { bold } else { t.style(Role::Text) };
            if n == 0 {
                paint::text(buf, area.x + 1, y, KEY, &choice.key, bold);
            }
            let name = choice.name.get(n).map_or("", String::as_str);
            paint::text(buf, area.x + 1 + KEY as u16, y, width, name, style);
            let below = if choice.column > KEY { 0 } else { choice.name.len() };
            let detail = n.checked_sub(below).and_then(|n| choice.detail.get(n)).map_or("", String::as_str);
            paint::text(buf, area.x + 1 + choice.column as u16, y, width, detail, t.style(Role::Dim));
            if chosen && focus == Some(true) {
                popup::select(Rect { y, height: 1, ..area }, buf, ctx);
            }
        }
    }
}

/// Draws the line above a question that waits below the open one.
fn head_below(app: &App, n: usize, asking: &Asking, area: Rect, buf: &mut Buffer) {
    let ctx = app.ctx(false);
    let dim = ctx.theme.style(Role::Dim);
    let title = Line::from(Span::styled(say::head_of(&n, &app.questions.len()).trim_start().to_string(), dim));
    let note = asking.question.permission.then(|| Line::from(Span::styled(say::no_is_default(), dim)));
    line(area, title, false, note, buf, &ctx);
}

/// Draws the line above the open one.
fn head(app: &App, asking: &Asking, area: Rect, buf: &mut Buffer) {
    let focus = app.focus() == Focus::Question;
    let ctx = app.ctx(focus);
    let t = ctx.theme;
    let words = match (&asking.question.hold, app.questions.len()) {
        (Some(hold), 0 | 1) => card_say::held_head(&hold.command),
        (None, 0 | 1) => say::head().to_string(),
        (_, n) => say::head_of(&1, &n),
    };
    let stands = asking.question.hold.as_ref().filter(|hold| !hold.note.is_empty());
    let stands = stands.map(|hold| Line::from(Span::styled(hold.note.clone(), t.style(Role::Dim))));
    let title = Line::from(vec![
        Span::styled(ctx.glyphs.asking, t.style(Role::Attention).add_modifier(Modifier::BOLD)),
        Span::styled(words, t.style(if focus { Role::Focus } else { Role::Text }).add_modifier(Modifier::BOLD)),
    ]);
    // Where there is nothing to choose, the answer is written and sent.
    let (inner, action, does) = match asking.choices().is_empty() {
        true => (Context::Input, Action::Send, say::answers()),
        false if focus => (Context::Question, Action::Later, say::decide_later()),
        false => (app.context_below(), Action::Escape, say::back_to_choices()),
    };
    let note = ctx
        .key(inner, action)
        .map(|key| Line::from(vec![Span::styled(key, t.style(Role::Text)), Span::styled(does, t.style(Role::Dim))]));
    line(area, title, focus, stands.or(note), buf, &ctx);
}

//! What a command would do, in the body of the screen.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::shell_text::coloured;
use crate::messages::card as say;
use crate::protocol::{CommandCard, CommandClass};
use crate::tui::look::Ctx;
use crate::tui::pane::line::pane_line;
use crate::tui::text::{paint, wrap};
use crate::tui::theme::{Role, Theme};

/// Cells of the labels.
const LABEL: usize = 9;

/// A row of the card before it has colours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CardRow {
    /// Nothing.
    Gap,
    /// A label and text after it; the label may be empty.
    Words(&'static str, String),
    /// The command's text.
    Shell(String),
    /// The class and why.
    Class(CommandClass, String),
    /// A part: its class, its text, its note.
    Part(CommandClass, String, String),
}

/// Returns the rows of a card, wrapped to `width` cells; nothing is cut.
pub fn rows(card: &CommandCard, width: usize) -> Vec<CardRow> {
    let room = width.saturating_sub(LABEL + 2).max(10);
    let broken = |text: &str, room: usize| -> Vec<String> {
        text.lines()
            .flat_map(|line| wrap::breaks(line, room).into_iter().map(|range| line[range].to_string()))
            .collect()
    };
    let mut rows = Vec::new();
    let words = |label: &'static str, text: &str, rows: &mut Vec<CardRow>| {
        for (i, line) in broken(text, room).into_iter().enumerate() {
            rows.push(CardRow::Words(if i == 0 { label } else { "" }, line));
        }
    };
    if let Some(why) = card.why.as_ref().filter(|why| !why.is_empty()) {
        words(say::nebula(), why, &mut rows);
        rows.push(CardRow::Gap);
    }
    for (i, line) in card.text.lines().enumerate() {
        for (n, part) in broken(line, room.saturating_sub(4)).into_iter().enumerate() {
            let sign = if i == 0 && n == 0 { "$ " } else { "  " };
            rows.push(CardRow::Shell(format!("{sign}{part}")));
        }
    }
    rows.push(CardRow::Gap);
    rows.push(CardRow::Class(card.class, card.class_why.clone()));
    if card.parts.len() > 1 || card.parts.first().is_some_and(|part| part.note != card.class_why) {
        rows.extend(card.parts.iter().map(|part| CardRow::Part(part.class, part.text.clone(), part.note.clone())));
    }
    for (i, (path, size, why)) in card.not_in_git.iter().enumerate() {
        if i == 0 {
            rows.push(CardRow::Gap);
        }
        words(if i == 0 { say::not_in_git() } else { "" }, &format!("{path}   {size}   {why}"), &mut rows);
    }
    rows.push(CardRow::Gap);
    words(say::grant(), &card.grant, &mut rows);
    words(say::keeper(), &card.keeper, &mut rows);
    words(say::not_kept(), &card.not_kept, &mut rows);
    rows
}

/// Draws a card with its line.
pub fn draw(card: &CommandCard, scroll: usize, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
    let background = ctx.theme.background().map_or(Style::new(), |background| Style::new().bg(background));
    paint::clear(buf, area, background.patch(ctx.theme.style(Role::Text)));
    pane_line(Rect { height: 1, ..area }, say::command(), ctx.focus, None, buf, ctx);
    let body = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
    let width = usize::from(body.width);
    let notes = card.parts.iter().map(|part| wrap::cells(&part.text)).max().unwrap_or(0).clamp(20, width / 2);
    let rows = rows(card, width);
    for (y, row) in (body.top()..body.bottom()).zip(rows.iter().skip(scroll)) {
        let (label, line) = spans(row, notes, ctx.theme);
        paint::text(buf, body.x + 1, y, LABEL, label, ctx.theme.style(Role::Dim));
        let x = body.x + 1 + LABEL as u16;
        let room = width.saturating_sub(LABEL + 2);
        if let (CardRow::Shell(_), Some(ground)) = (row, ctx.theme.style(Role::CodeBg).bg) {
            for x in x..body.right().saturating_sub(2) {
                buf[(x, y)].set_bg(ground);
            }
        }
        paint::spans(buf, x, y, room, &line.spans);
    }
}

fn spans(row: &CardRow, notes: usize, theme: &Theme) -> (&'static str, Line<'static>) {
    let (text, dim) = (theme.style(Role::Text), theme.style(Role::Dim));
    let class_style = |class: &CommandClass| match class {
        CommandClass::Read => dim,
        CommandClass::Work => text,
        _ => theme.style(Role::Attention),
    };
    match row {
        CardRow::Gap => ("", Line::default()),
        CardRow::Words(label, words) => (label, Line::from(Span::styled(words.clone(), text))),
        CardRow::Shell(line) => {
            let (sign, rest) = line.split_at(2);
            let mut spans = vec![Span::styled(format!(" {sign}"), dim)];
            spans.extend(coloured(rest, theme));
            let ground = theme.style(Role::CodeBg).bg;
            if let Some(ground) = ground {
                spans.iter_mut().for_each(|span| span.style = span.style.bg(ground));
            }
            ("", Line::from(spans))
        }
        CardRow::Class(class, why) => {
            let class_span =
                Span::styled(format!("{:<7}", class.word()), class_style(class).add_modifier(Modifier::BOLD));
            (say::class(), Line::from(vec![class_span, Span::styled(why.clone(), dim)]))
        }
        CardRow::Part(class, part, note) => {
            let mut spans = vec![Span::styled(format!("{:<7}", class.word()), class_style(class))];
            let (shown, cut) = cut(part, notes);
            spans.extend(coloured(&shown, theme));
            let gap = notes.saturating_sub(wrap::cells(&shown) + cut.len().min(1)) + 3;
            spans.push(Span::styled(format!("{cut}{}", " ".repeat(gap)), dim));
            spans.push(Span::styled(note.clone(), text));
            ("", Line::from(spans))
        }
    }
}

/// The beginning of a part's text; the whole text stands above.
fn cut(text: &str, room: usize) -> (String, &'static str) {
    if wrap::cells(text) <= room {
        return (text.to_string(), "");
    }
    let first = wrap::breaks(text, room.saturating_sub(1).max(1)).into_iter().next().unwrap_or(0..0);
    (text[first].to_string(), "…")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::pane::testing;
    use ratatui::style::Color;

    #[test]
    fn nothing_of_the_screen_below_shows_through() {
        let theme = Theme::shipped("dark");
        let area = Rect::new(0, 0, 60, 12);
        let mut buf = Buffer::empty(area);
        paint::clear(&mut buf, area, Style::new().bg(Color::Red).add_modifier(Modifier::UNDERLINED));
        let card = CommandCard { text: "rm -rf build".into(), ..CommandCard::default() };
        testing::note(&theme, |ctx| {
            draw(&card, 0, area, &mut buf, ctx);
            Line::default()
        });
        assert!(buf.content.iter().all(|cell| cell.bg != Color::Red && !cell.modifier.contains(Modifier::UNDERLINED)));
    }
}

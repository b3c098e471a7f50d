//! The body of a command's card: its effects, as far as they are known.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::shell_text::coloured;
use crate::messages::{card as say, verbs};
use crate::protocol::{CommandCard, CommandClass};
use crate::tui::look::Ctx;
use crate::tui::pane::line::pane_line;
use crate::tui::text::markdown::{Inline, prose, styled};
use crate::tui::text::{cut, paint, wrap};
use crate::tui::theme::Role;

/// Cells of the labels.
const LABEL: usize = 9;

/// A row of the card before it has colours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CardRow {
    /// Nothing.
    Gap,
    /// A label and text after it; the label may be empty.
    Words(&'static str, String),
    /// A row of what the model said, with the label before it.
    Said(&'static str, Vec<Inline>),
    /// A row of the command's text.
    Shell(ShellRow, String),
    /// The class and why.
    Class(CommandClass, String),
    /// A part: its class, its text, its note.
    Part(CommandClass, String, String),
}

/// The beginning of a row of a command's text: a line that was wrapped looks like no line of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShellRow {
    /// The first row.
    Command,
    /// Another line.
    Line,
    /// The rest of a line that had no room in the row before.
    Wrapped,
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
        for (i, line) in prose(why, room).into_iter().enumerate() {
            rows.push(CardRow::Said(if i == 0 { say::nebula() } else { "" }, line));
        }
        rows.push(CardRow::Gap);
    }
    for (i, line) in card.text.lines().enumerate() {
        for (n, part) in wrap::breaks(line, room.saturating_sub(4)).into_iter().enumerate() {
            let begins = match (i, n) {
                (0, 0) => ShellRow::Command,
                (_, 0) => ShellRow::Line,
                _ => ShellRow::Wrapped,
            };
            rows.push(CardRow::Shell(begins, line[part].to_string()));
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
    if let Some(why) = &card.no_preview {
        words(say::preview(), &say::no_preview(why), &mut rows);
    }
    rows
}

/// Draws a card with its line.
pub fn draw(card: &CommandCard, (rows, scroll): (&[CardRow], usize), area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
    let background = ctx.theme.background().map_or(Style::new(), |background| Style::new().bg(background));
    paint::clear(buf, area, background.patch(ctx.theme.style(Role::Text)));
    pane_line(Rect { height: 1, ..area }, say::command(), ctx.focus, None, buf, ctx);
    let body = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
    let width = usize::from(body.width);
    let notes = card.parts.iter().map(|part| wrap::cells(&part.text)).max().unwrap_or(0).min(width / 2).max(20);
    for (y, row) in (body.top()..body.bottom()).zip(rows.iter().skip(scroll)) {
        let (label, line) = spans(row, notes, ctx);
        paint::text(buf, body.x + 1, y, LABEL, label, ctx.theme.style(Role::Dim));
        let x = body.x + 1 + LABEL as u16;
        let room = width.saturating_sub(LABEL + 2);
        if let (CardRow::Shell(..), Some(ground)) = (row, ctx.theme.style(Role::CodeBg).bg) {
            for x in x..body.right().saturating_sub(2) {
                buf[(x, y)].set_bg(ground);
            }
        }
        paint::spans(buf, x, y, room, &line.spans);
    }
}

/// Returns the word of a class in its column.
fn padded(class: CommandClass) -> String {
    let word = verbs::class(class.word());
    format!("{word}{}", " ".repeat(7_usize.saturating_sub(wrap::cells(word))))
}

fn spans(row: &CardRow, notes: usize, ctx: &Ctx<'_>) -> (&'static str, Line<'static>) {
    let theme = ctx.theme;
    let (text, dim) = (theme.style(Role::Text), theme.style(Role::Dim));
    let class_style = |class: &CommandClass| match class {
        CommandClass::Read => dim,
        CommandClass::Work => text,
        _ => theme.style(Role::Attention),
    };
    match row {
        CardRow::Gap => ("", Line::default()),
        CardRow::Said(label, line) => (label, styled(line, theme)),
        CardRow::Words(label, words) => (label, Line::from(Span::styled(words.clone(), text))),
        CardRow::Shell(begins, line) => {
            let sign = match begins {
                ShellRow::Command => "$",
                ShellRow::Line => " ",
                ShellRow::Wrapped => ctx.glyphs.wrapped,
            };
            let mut spans = vec![Span::styled(format!(" {sign} "), dim)];
            spans.extend(coloured(line, theme));
            let ground = theme.style(Role::CodeBg).bg;
            if let Some(ground) = ground {
                spans.iter_mut().for_each(|span| span.style = span.style.bg(ground));
            }
            ("", Line::from(spans))
        }
        CardRow::Class(class, why) => {
            let class_span = Span::styled(padded(*class), class_style(class).add_modifier(Modifier::BOLD));
            (say::class(), Line::from(vec![class_span, Span::styled(why.clone(), dim)]))
        }
        CardRow::Part(class, part, note) => {
            let mut spans = vec![Span::styled(padded(*class), class_style(class))];
            // The whole text stands above.
            let part = cut::end(part, notes, ctx.glyphs.cut);
            spans.extend(coloured(&part, theme));
            spans.push(Span::raw(" ".repeat(notes.saturating_sub(wrap::cells(&part)) + 3)));
            spans.push(Span::styled(note.clone(), text));
            ("", Line::from(spans))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::pane::testing;
    use crate::tui::theme::Theme;
    use ratatui::style::Color;

    #[test]
    fn every_line_has_a_row_and_a_wrapped_one_looks_like_none() {
        let shell = |text: &str| -> Vec<(ShellRow, String)> {
            let card = CommandCard { text: text.into(), ..CommandCard::default() };
            let shell = |row| match row {
                CardRow::Shell(begins, line) => Some((begins, line)),
                _ => None,
            };
            rows(&card, 24).into_iter().filter_map(shell).collect()
        };
        let row = |begins, line: &str| (begins, line.to_string());
        use ShellRow::{Command, Line, Wrapped};
        assert_eq!(shell("\nrm -rf x\n\ny"), [row(Command, ""), row(Line, "rm -rf x"), row(Line, ""), row(Line, "y")]);
        assert_eq!(shell("echo aaaa\nrm -rf x"), [row(Command, "echo aaaa"), row(Line, "rm -rf x")]);
        assert_eq!(shell("echo aaaa rm -rf x"), [row(Command, "echo aaaa"), row(Wrapped, "rm -rf x")]);
    }

    #[test]
    fn nothing_of_the_screen_below_shows_through() {
        let theme = Theme::shipped("dark");
        let area = Rect::new(0, 0, 60, 12);
        let mut buf = Buffer::empty(area);
        paint::clear(&mut buf, area, Style::new().bg(Color::Red).add_modifier(Modifier::UNDERLINED));
        let card = CommandCard { text: "rm -rf build".into(), ..CommandCard::default() };
        testing::note(&theme, |ctx| {
            draw(&card, (&rows(&card, 60), 0), area, &mut buf, ctx);
            Line::default()
        });
        assert!(buf.content.iter().all(|cell| cell.bg != Color::Red && !cell.modifier.contains(Modifier::UNDERLINED)));
    }
}

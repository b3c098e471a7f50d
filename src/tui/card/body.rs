//! The body of a command's card: its effects, as far as they are known.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::shell_text::{self, ShellPieces, ShellReader, coloured};
use crate::messages::{card as say, verbs};
use crate::protocol::{CommandCard, CommandClass};
use crate::tui::action::Context;
use crate::tui::look::Ctx;
use crate::tui::pane::line::pane_line;
use crate::tui::scrolled::Scrolled;
use crate::tui::text::markdown::{Inline, prose, styled};
use crate::tui::text::{cut, paint, wrap};
use crate::tui::theme::Role;

/// Cells of the labels.
const LABEL: usize = 9;
/// Cells of the word of a class.
const CLASS: usize = 7;

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
    Shell(ShellRow, ShellPieces),
    /// A row of a here-document in the command's text.
    Document(ShellRow, String),
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

/// The rows of a card, wrapped to a width; nothing is cut.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CardRows {
    /// All rows.
    pub all: Vec<CardRow>,
    /// The rows of the class, and of the grant: where not all have room they stay in sight.
    pub core: [Range<usize>; 2],
    /// The number of the last rows that are the same for nearly every command.
    pub usual: usize,
}

impl CardRows {
    /// Returns the number of rows, of those that scroll, up to the last that has to be seen.
    pub fn needed(&self, scrolling: &[CardRow]) -> usize {
        let needed = &scrolling[..scrolling.len().saturating_sub(self.usual)];
        needed.iter().rposition(|row| *row != CardRow::Gap).map_or(0, |last| last + 1)
    }

    /// Returns the rows that scroll and those that stay, where `height` rows have room. Where all have room all scroll, and
    /// where there are few none stay.
    pub fn split(&self, height: usize) -> (Vec<CardRow>, Vec<CardRow>) {
        let is_core = |at: &usize| self.core.iter().any(|range| range.contains(at));
        let core = self.core.iter().map(Range::len).sum::<usize>();
        if self.all.len() <= height || core * 2 > height {
            return (self.all.clone(), Vec::new());
        }
        let (mut rest, mut stays) = (Vec::new(), Vec::new());
        for (at, row) in self.all.iter().enumerate() {
            match is_core(&at) {
                true => stays.push(row.clone()),
                // What stood between two gaps is elsewhere.
                false if *row == CardRow::Gap && rest.last() == Some(&CardRow::Gap) => {}
                false => rest.push(row.clone()),
            }
        }
        rest.pop_if(|last| *last == CardRow::Gap);
        (rest, stays)
    }
}

/// Returns a text in rows of at most `room` cells.
fn broken(text: &str, room: usize) -> Vec<String> {
    text.lines().flat_map(|line| wrap::breaks(line, room).into_iter().map(|range| line[range].to_string())).collect()
}

/// Returns the cells of the parts of a command beside their notes, in rows of `width` cells.
fn part_cells(card: &CommandCard, width: usize) -> usize {
    card.parts.iter().map(|part| wrap::cells(&part.text)).max().unwrap_or(0).min(width / 2).max(20)
}

/// Returns the rows of a card in `width` cells.
pub fn rows(card: &CommandCard, width: usize) -> CardRows {
    let room = width.saturating_sub(LABEL + 2).max(10);
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
    text_rows(card, room, &mut rows);
    rows.push(CardRow::Gap);
    let class = rows.len()..rows.len() + class_rows(card, room, &mut rows);
    part_rows(card, width, room, &mut rows);
    for (i, why) in card.asks.iter().enumerate() {
        words(if i == 0 { say::asks() } else { "" }, why, &mut rows);
    }
    for (i, (path, size, why)) in card.not_in_git.iter().enumerate() {
        if i == 0 {
            rows.push(CardRow::Gap);
        }
        words(if i == 0 { say::not_in_git() } else { "" }, &format!("{path}   {size}   {why}"), &mut rows);
    }
    rows.push(CardRow::Gap);
    let grant = rows.len();
    words(say::grant(), &card.grant, &mut rows);
    let grant = grant..rows.len();
    words(say::keeper(), &card.keeper, &mut rows);
    words(say::not_kept(), &card.not_kept, &mut rows);
    if let Some(why) = &card.no_preview {
        words(say::preview(), &say::no_preview(why), &mut rows);
    }
    let usual = if card.has_usual_bounds { rows.len() - grant.end } else { 0 };
    CardRows { all: rows, core: [class, grant], usual }
}

/// Adds the command's text: what a piece of it is does not depend on where a row ends.
fn text_rows(card: &CommandCard, room: usize, rows: &mut Vec<CardRow>) {
    let mut reader = ShellReader::default();
    for (i, line) in card.text.lines().enumerate() {
        let pieces = (!card.document_lines.contains(&i)).then(|| reader.line(line));
        for (n, part) in wrap::breaks(line, room.saturating_sub(4)).into_iter().enumerate() {
            let begins = match (i, n) {
                (0, 0) => ShellRow::Command,
                (_, 0) => ShellRow::Line,
                _ => ShellRow::Wrapped,
            };
            rows.push(match &pieces {
                Some(pieces) => CardRow::Shell(begins, shell_text::slice(line, pieces, &part)),
                None => CardRow::Document(begins, line[part].to_string()),
            });
        }
    }
}

/// Adds the class and why; returns the number of rows.
fn class_rows(card: &CommandCard, room: usize, rows: &mut Vec<CardRow>) -> usize {
    let indent = CLASS.max(wrap::cells(verbs::class(card.class.word())));
    let mut why = broken(&card.class_why, room.saturating_sub(indent).max(1)).into_iter();
    rows.push(CardRow::Class(card.class, why.next().unwrap_or_default()));
    let before = rows.len();
    rows.extend(why.map(|why| CardRow::Words("", format!("{}{why}", " ".repeat(indent)))));
    1 + rows.len() - before
}

/// Adds the parts of the command; a note that has no room beside its part stands below it.
fn part_rows(card: &CommandCard, width: usize, room: usize, rows: &mut Vec<CardRow>) {
    if card.parts.len() < 2 && card.parts.first().is_none_or(|part| part.note == card.class_why) {
        return;
    }
    let beside = room.saturating_sub(CLASS + part_cells(card, width) + 3);
    for part in &card.parts {
        let (note, below) = match wrap::cells(&part.note) <= beside {
            true => (part.note.clone(), Vec::new()),
            false => (String::new(), broken(&part.note, room.saturating_sub(CLASS).max(1))),
        };
        rows.push(CardRow::Part(part.class, part.text.clone(), note));
        rows.extend(below.into_iter().map(|note| CardRow::Words("", format!("{}{note}", " ".repeat(CLASS)))));
    }
}

/// The rows of a card in its area: those that scroll, those that stay below them, and how far the first are scrolled.
pub type SplitRows<'a> = (&'a [CardRow], &'a [CardRow], Scrolled);

/// Draws a card with its line.
pub fn draw(card: &CommandCard, (rows, stays, scrolled): SplitRows<'_>, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
    let background = ctx.theme.background().map_or(Style::new(), |background| Style::new().bg(background));
    paint::clear(buf, area, background.patch(ctx.theme.style(Role::Text)));
    pane_line(Rect { height: 1, ..area }, say::command(), ctx.focus, None, buf, ctx);
    let body = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
    let width = usize::from(body.width);
    let notes = part_cells(card, width);
    let below = Rect { y: body.bottom().saturating_sub(stays.len() as u16), ..body };
    let above = Rect { height: below.y.saturating_sub(body.y), ..body };
    let in_sight = rows.iter().skip(scrolled.top).take(scrolled.sight());
    for (y, row) in (above.top()..above.bottom()).zip(in_sight).chain((below.top()..body.bottom()).zip(stays)) {
        let (label, line) = spans(row, notes, ctx);
        paint::text(buf, body.x + 1, y, LABEL, label, ctx.theme.style(Role::Dim));
        let x = body.x + 1 + LABEL as u16;
        let room = width.saturating_sub(LABEL + 2);
        if let (CardRow::Shell(..) | CardRow::Document(..), Some(ground)) = (row, ctx.theme.style(Role::CodeBg).bg) {
            for x in x..body.right().saturating_sub(2) {
                buf[(x, y)].set_bg(ground);
            }
        }
        paint::spans(buf, x, y, room, &line.spans);
    }
    scrolled.draw_more(above, Context::Card, buf, ctx);
}

/// Returns the word of a class in its column.
fn padded(class: CommandClass) -> String {
    let word = verbs::class(class.word());
    format!("{word}{}", " ".repeat(CLASS.saturating_sub(wrap::cells(word))))
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
        CardRow::Shell(begins, _) | CardRow::Document(begins, _) => {
            let sign = match begins {
                ShellRow::Command => "$",
                ShellRow::Line => " ",
                ShellRow::Wrapped => ctx.glyphs.wrapped,
            };
            let mut spans = vec![Span::styled(format!(" {sign} "), dim)];
            match row {
                CardRow::Document(_, line) => spans.push(Span::styled(line.clone(), theme.style(Role::SynString))),
                CardRow::Shell(_, pieces) => spans.extend(shell_text::styled(pieces, theme)),
                _ => {}
            }
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
    use super::super::shell_text::ShellPart;
    use super::*;
    use crate::tui::pane::testing;
    use crate::tui::theme::Theme;
    use ratatui::style::Color;

    fn text_of(pieces: ShellPieces) -> String {
        pieces.into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn a_row_is_coloured_as_a_part_of_the_whole_text() {
        let text = "git log --format='a quoted text of the width of some rows' ; rm -rf src".to_string();
        let card = CommandCard { text, ..CommandCard::default() };
        let all = rows(&card, 34).all;
        let pieces = all.iter().filter_map(|row| match row {
            CardRow::Shell(_, pieces) => Some(pieces),
            _ => None,
        });
        assert!(pieces.clone().count() > 3, "{all:?}");
        let is_program = |piece: &&(ShellPart, String)| piece.0 == ShellPart::Program;
        let programs: Vec<&str> = pieces.flatten().filter(is_program).map(|(_, text)| text.as_str()).collect();
        assert_eq!(programs, ["git", "rm"]);
    }

    #[test]
    fn every_line_has_a_row_and_a_wrapped_one_looks_like_none() {
        let shell = |text: &str| -> Vec<(ShellRow, String)> {
            let card = CommandCard { text: text.into(), ..CommandCard::default() };
            let shell = |row| match row {
                CardRow::Shell(begins, pieces) => Some((begins, text_of(pieces))),
                _ => None,
            };
            rows(&card, 24).all.into_iter().filter_map(shell).collect()
        };
        let row = |begins, line: &str| (begins, line.to_string());
        use ShellRow::{Command, Line, Wrapped};
        assert_eq!(shell("\nrm -rf x\n\ny"), [row(Command, ""), row(Line, "rm -rf x"), row(Line, ""), row(Line, "y")]);
        assert_eq!(shell("echo aaaa\nrm -rf x"), [row(Command, "echo aaaa"), row(Line, "rm -rf x")]);
        assert_eq!(shell("echo aaaa rm -rf x"), [row(Command, "echo aaaa"), row(Wrapped, "rm -rf x")]);
    }

    #[test]
    fn a_line_of_a_here_document_is_no_command() {
        let text = "cat > x <<'EOF'\nrm -rf /\nEOF\nrm f1".to_string();
        let card = CommandCard { text, document_lines: [1, 2].into(), ..CommandCard::default() };
        let is_document = |row: &CardRow| match row {
            CardRow::Shell(..) => Some(false),
            CardRow::Document(..) => Some(true),
            _ => None,
        };
        let found: Vec<_> = rows(&card, 40).all.iter().filter_map(is_document).collect();
        assert_eq!(found, [false, true, true, false]);
    }

    #[test]
    fn nothing_of_the_screen_below_shows_through() {
        let theme = Theme::shipped("dark");
        let area = Rect::new(0, 0, 60, 12);
        let mut buf = Buffer::empty(area);
        paint::clear(&mut buf, area, Style::new().bg(Color::Red).add_modifier(Modifier::UNDERLINED));
        let card = CommandCard { text: "rm -rf build".into(), ..CommandCard::default() };
        testing::note(&theme, |ctx| {
            draw(&card, (&[], &[], Scrolled::default()), area, &mut buf, ctx);
            Line::default()
        });
        assert!(buf.content.iter().all(|cell| cell.bg != Color::Red && !cell.modifier.contains(Modifier::UNDERLINED)));
    }
}

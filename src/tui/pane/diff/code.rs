//! A line of code with its colours, its changed words and its rows.

use std::ops::Range;

use ratatui::style::{Color, Modifier, Style};

use super::align;
use super::cells::{self, Cell, DrawnLine};
use super::find::contains;
use super::lines::Lines;
use super::view::{Columns, View};
use crate::proposal::changed_words;
use crate::tui::look::{Ctx, Look};
use crate::tui::pane::paint::{Pen, bold};
use crate::tui::text::highlight::{Source, language_of};
use crate::tui::text::show::{Invisible, InvisibleKind};
use crate::tui::theme::{Role, Theme};

/// A side's text for the highlighter.
#[derive(Debug, Clone, Copy)]
pub(super) struct Coloured<'a> {
    /// See [`text_id`].
    pub id: u64,
    /// Tells the language.
    pub path: &'a str,
    /// The text.
    pub lines: &'a Lines,
}

impl Source for Coloured<'_> {
    fn id(&self) -> u64 {
        self.id
    }

    fn language(&self) -> &str {
        language_of(self.path)
    }

    fn lines(&self) -> usize {
        self.lines.len()
    }

    fn line(&self, number: usize) -> &str {
        std::str::from_utf8(self.lines.line(number)).unwrap_or("")
    }
}

/// One side of a line of code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Same,
    Old,
    New,
}

/// A line of code ready to be drawn.
pub(super) struct CodeLine {
    pub drawn: DrawnLine,
    /// A style for each grapheme.
    styles: Vec<Style>,
    /// Its rows; one when it is cut. Of a long line only those that are seen.
    rows: Vec<Range<usize>>,
    cut: bool,
    /// Rows in all.
    pub total: usize,
    /// The row that the first of `rows` is; rows after the first of a long line do not hang in.
    from: usize,
    long: bool,
}

impl View {
    /// Styles and breaks a line.
    pub(super) fn code(
        &self,
        ctx: &Ctx<'_>,
        drawn: DrawnLine,
        source: Coloured<'_>,
        number: usize,
        (side, off): (Side, bool),
        words: &[Range<usize>],
    ) -> CodeLine {
        let room = self.columns().room;
        let theme = ctx.theme;
        let word = word_tint(theme, side);
        let indexed = word.and_then(|word| word.bg).is_some_and(|bg| matches!(bg, Color::Indexed(_)));
        let mut tokens: Vec<(u32, Role)> = Vec::new();
        if !off {
            ctx.colours.look(&source, number..number + 1, |_, found| {
                tokens.extend(found.iter().map(|t| (t.end, t.role)));
            });
        }
        let found = matches(&drawn, &self.words);
        let indent = drawn.indent();
        let (mut token, mut column) = (0, 0);
        let style = |cell: &Cell| {
            while tokens.get(token).is_some_and(|(end, _)| *end as usize <= cell.from.start) {
                token += 1;
            }
            let changed = words.iter().any(|w| w.start <= cell.from.start && cell.from.start < w.end);
            let role = match cell.kind {
                InvisibleKind::Invisible => Role::Attention,
                // The tints of 256 colours are too bright for every other role.
                _ if changed && indexed => Role::Text,
                InvisibleKind::Control => Role::Dim,
                InvisibleKind::Text if off => Role::Dim,
                InvisibleKind::Text => tokens.get(token).map_or(Role::Text, |(_, role)| *role),
            };
            let mut style = theme.style(role);
            if let Some(word) = word.filter(|_| changed) {
                style = style.patch(word);
            }
            if off && side == Side::New && column >= indent {
                style = style.add_modifier(Modifier::CROSSED_OUT);
            }
            if found.iter().any(|w| w.start <= cell.text.start && cell.text.start < w.end) {
                style = style.patch(bold(theme, Role::Focus)).add_modifier(Modifier::UNDERLINED);
            }
            column += cell.width;
            style
        };
        let styles = drawn.cells.iter().map(style).collect();
        let (rows, cut) = match side {
            Side::Same if !self.wraps() => {
                let (row, cut) = cells::cut(&drawn, room);
                (vec![row], cut)
            }
            _ => (cells::wrapped(&drawn, room), false),
        };
        let total = rows.len();
        CodeLine { drawn, styles, rows, cut, total, from: 0, long: false }
    }

    /// Returns the rows of a long line that are seen; `end` stands for an unusual ending, on a row of its own.
    pub(super) fn long(
        &self,
        ctx: &Ctx<'_>,
        line: &[u8],
        end: &str,
        (side, off): (Side, bool),
        y: isize,
        height: u16,
    ) -> CodeLine {
        let room = self.columns().room;
        let from = usize::try_from(-y).unwrap_or(0);
        let seen = from..from + usize::from(height);
        let (found, total) = cells::long_rows(line, room, seen.clone());
        let (mut drawn, mut rows) = (DrawnLine::default(), Vec::new());
        for row in found {
            let start = drawn.cells.len();
            drawn.append(cells::show(&line[row], Invisible::Name));
            rows.push(start..drawn.cells.len());
        }
        let all = total + usize::from(!end.is_empty());
        if !end.is_empty() && seen.contains(&total) {
            let start = drawn.cells.len();
            drawn.append(cells::show(end.as_bytes(), Invisible::Name));
            rows.push(start..drawn.cells.len());
        }
        let theme = ctx.theme;
        let struck = if off && side == Side::New { Modifier::CROSSED_OUT } else { Modifier::empty() };
        let style = |cell: &Cell| {
            let role = match cell.kind {
                InvisibleKind::Invisible => Role::Attention,
                InvisibleKind::Text if !off => Role::Text,
                _ => Role::Dim,
            };
            theme.style(role).add_modifier(struck)
        };
        let styles = drawn.cells.iter().map(style).collect();
        CodeLine { drawn, styles, rows, cut: false, total: all, from, long: true }
    }

    pub(super) fn put_code(
        &self,
        pen: &mut Pen<'_>,
        x: u16,
        y: isize,
        code: &CodeLine,
        columns: Columns,
        look: Look<'_>,
    ) {
        let hang = if code.long { 0 } else { cells::hang(&code.drawn, columns.room) as u16 };
        let dim = look.theme.style(Role::Dim);
        for (k, row) in code.rows.iter().enumerate() {
            let k = k + code.from;
            let Ok(y) = u16::try_from(y + k as isize) else { continue };
            if y >= pen.height() {
                break;
            }
            let mut at = x;
            if k > 0 {
                // A long line keeps all of its room; its mark stands in the column of the sign.
                at += hang;
                pen.put(at.saturating_sub(2), y, look.glyphs.wrapped, 1, dim);
            }
            for i in row.clone() {
                at = pen.put(at, y, code.drawn.draws(&code.drawn.cells[i]), columns.room, code.styles[i]);
            }
            if code.cut {
                pen.put(at, y, look.glyphs.cut, 1, dim);
            }
        }
    }
}

/// Returns the tint of words that changed on a side.
fn word_tint(theme: &Theme, side: Side) -> Option<Style> {
    match side {
        Side::Old => Some(theme.style(Role::RemovedWord)),
        Side::New => Some(theme.style(Role::AddedWord)),
        Side::Same => None,
    }
}

/// Returns the stretches of two lines that differ, when they have enough in common.
pub(super) fn words(old: &[u8], new: &[u8]) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    let texts = std::str::from_utf8(old).ok().zip(std::str::from_utf8(new).ok());
    let short = old.len().max(new.len()) <= cells::LONG;
    let Some((a, b)) = texts.filter(|_| short && align::alike(old, new)) else { return Default::default() };
    let Some((left, right)) = changed_words(a, b) else { return Default::default() };
    let changed =
        |words: Vec<crate::proposal::WordSpan>| words.into_iter().filter(|w| w.changed).map(|w| w.range).collect();
    (changed(left), changed(right))
}

/// Returns where words that are looked for stand in what is drawn.
fn matches(drawn: &DrawnLine, words: &str) -> Vec<Range<usize>> {
    // Letters of other length in small are not marked; they are still found.
    if words.is_empty() || !contains(&drawn.text, words) {
        return Vec::new();
    }
    let lower = drawn.text.to_lowercase();
    let text =
        if words.chars().any(char::is_uppercase) || lower.len() != drawn.text.len() { &drawn.text } else { &lower };
    text.match_indices(words).map(|(at, m)| at..at + m.len()).collect()
}

//! A line of code as it is drawn: graphemes with the bytes they stand for, and where a line that is too long goes
//! on. Unlike prose, a wrapped line of a diff keeps every character, its white space too.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::lines::Ending;
use crate::messages::diff as say;
use crate::tui::text::show::{self, Invisible, InvisibleKind};
use crate::tui::text::wrap::cells;

/// A grapheme as it is drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// The range of its text in [`DrawnLine::text`].
    pub text: Range<usize>,
    /// Cells it takes.
    pub width: usize,
    /// The bytes of the line it stands for.
    pub from: Range<usize>,
    /// The kind, which decides how it is drawn.
    pub kind: InvisibleKind,
}

/// A whole line as it is drawn.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DrawnLine {
    /// All that is drawn.
    pub text: String,
    /// Its graphemes.
    pub cells: Vec<Cell>,
}

impl DrawnLine {
    /// Cells in all.
    pub fn width(&self) -> usize {
        self.cells.iter().map(|c| c.width).sum()
    }

    /// Cells of leading white space.
    pub fn indent(&self) -> usize {
        self.cells.iter().take_while(|c| self.text[c.text.clone()].trim().is_empty()).map(|c| c.width).sum()
    }

    /// Returns what a cell draws.
    pub fn draws(&self, cell: &Cell) -> &str {
        &self.text[cell.text.clone()]
    }

    /// Adds what another line draws; the bytes are those of each line.
    pub fn append(&mut self, other: DrawnLine) {
        let shift = self.text.len();
        self.text.push_str(&other.text);
        let moved = |c: Cell| Cell { text: c.text.start + shift..c.text.end + shift, ..c };
        self.cells.extend(other.cells.into_iter().map(moved));
    }

    fn push(&mut self, text: &str, from: Range<usize>, kind: InvisibleKind) {
        let start = self.text.len();
        self.text.push_str(text);
        self.cells.push(Cell { text: start..self.text.len(), width: cells(text), from, kind });
    }
}

/// Returns `line` without its ending, drawn. Bytes that are no UTF-8 show as `<E9>`.
pub fn show(line: &[u8], invisible: Invisible) -> DrawnLine {
    let mut drawn = DrawnLine::default();
    let (mut at, mut column) = (0, 0);
    for chunk in line.utf8_chunks() {
        for piece in show::pieces(chunk.valid(), column, invisible) {
            if piece.text.is_empty() {
                continue;
            }
            if piece.kind == InvisibleKind::Text && piece.text.len() == piece.from.len() {
                for (i, g) in piece.text.grapheme_indices(true) {
                    let from = at + piece.from.start + i;
                    drawn.push(g, from..from + g.len(), InvisibleKind::Text);
                }
            } else {
                // A tab, a control or an invisible character: one byte range, drawn as several cells that stay
                // together.
                drawn.push(&piece.text, at + piece.from.start..at + piece.from.end, piece.kind);
            }
        }
        at += chunk.valid().len();
        column = drawn.width();
        for (i, b) in chunk.invalid().iter().enumerate() {
            drawn.push(&format!("<{b:02X}>"), at + i..at + i + 1, InvisibleKind::Invisible);
        }
        at += chunk.invalid().len();
        column += 4 * chunk.invalid().len();
    }
    drawn
}

/// Returns a changed line with its ending: an ending other than `usual` is drawn, so that no change is invisible.
pub fn show_changed(line: &[u8], ending: Ending, usual: Ending) -> DrawnLine {
    let mut drawn = show(line, Invisible::Name);
    let end = line.len();
    match ending {
        Ending::CrLf if usual != Ending::CrLf => drawn.push("^M", end..end + 2, InvisibleKind::Control),
        Ending::Lf if usual == Ending::CrLf => drawn.push("^J", end..end + 1, InvisibleKind::Control),
        Ending::None if usual != Ending::None => {
            drawn.push(" ", end..end, InvisibleKind::Control);
            for word in say::no_newline().split_inclusive(' ') {
                drawn.push(word, end..end, InvisibleKind::Control);
            }
        }
        _ => {}
    }
    drawn
}

/// Returns the number of rows that `show` would need, without building it for plain text.
pub fn rows_of(line: &[u8], room: usize, drawn: impl FnOnce() -> DrawnLine) -> usize {
    let plain = line.len() <= room && line.iter().all(|b| (0x20..0x7f).contains(b));
    if plain { 1 } else { wrapped(&drawn(), room).len() }
}

/// Lines of more bytes are broken wherever a row is full, and only what is seen of them is laid out.
pub const LONG: usize = 4_096;

/// Returns the rows of a long line as byte ranges of it: those in `wanted`, and how many there are in all.
pub fn long_rows(line: &[u8], room: usize, wanted: Range<usize>) -> (Vec<Range<usize>>, usize) {
    let room = room.max(12);
    if line.iter().all(|b| (0x20..0x7f).contains(b)) {
        let total = line.len().div_ceil(room);
        let row = |k: usize| k * room..((k + 1) * room).min(line.len());
        return ((wanted.start..wanted.end.min(total)).map(row).collect(), total);
    }
    let (mut rows, mut total, mut start, mut used, mut at) = (Vec::new(), 0, 0, 0, 0);
    let mut end_row = |start: usize, end: usize, total: &mut usize| {
        if wanted.contains(total) {
            rows.push(start..end);
        }
        *total += 1;
    };
    for chunk in line.utf8_chunks() {
        let valid = chunk.valid().chars().map(|c| (c.len_utf8(), most_cells(c)));
        for (len, wide) in valid.chain(chunk.invalid().iter().map(|_| (1, 4))) {
            if used + wide > room {
                end_row(start, at, &mut total);
                (start, used) = (at, 0);
            }
            (at, used) = (at + len, used + wide);
        }
    }
    end_row(start, at, &mut total);
    (rows, total)
}

/// Cells that a character takes at most when it is drawn.
fn most_cells(c: char) -> usize {
    match c {
        '\t' => show::TAB,
        '\0'..'\u{20}' | '\u{7f}' => 2,
        c if show::is_marked(c) => 9,
        c => unicode_width::UnicodeWidthChar::width(c).unwrap_or(0),
    }
}

/// Returns the indent of the rows after the first from the code's left edge, the mark of wrapping included.
pub fn hang(drawn: &DrawnLine, room: usize) -> usize {
    (drawn.indent() + 4).min(room / 2)
}

/// Returns the rows of a line in `room` cells, as ranges of its graphemes: broken at the borders of words. Later rows
/// hang in by [`hang`]. There is always one row, and every grapheme is in exactly one.
pub fn wrapped(drawn: &DrawnLine, room: usize) -> Vec<Range<usize>> {
    let mut rows = Vec::new();
    let (mut start, mut room) = (0, room.max(2));
    let later = room.saturating_sub(hang(drawn, room)).max(2);
    loop {
        let end = break_at(drawn, start, room);
        rows.push(start..end);
        (start, room) = (end, later);
        if start >= drawn.cells.len() {
            return rows;
        }
    }
}

/// Returns the part of an unchanged line that is drawn in `room` cells, and whether something is missing.
pub fn cut(drawn: &DrawnLine, room: usize) -> (Range<usize>, bool) {
    if drawn.width() <= room {
        return (0..drawn.cells.len(), false);
    }
    let mut used = 0;
    let fits = drawn.cells.iter().take_while(|c| {
        used += c.width;
        used < room
    });
    (0..fits.count(), true)
}

/// Returns where the row that begins with grapheme `start` ends: at the last border between words, unless that leaves
/// most of the row empty.
fn break_at(drawn: &DrawnLine, start: usize, room: usize) -> usize {
    let (mut used, mut border, mut border_at) = (0, start, 0);
    for (i, cell) in drawn.cells.iter().enumerate().skip(start) {
        if i > start && is_border(drawn, i) {
            (border, border_at) = (i, used);
        }
        used += cell.width;
        if used > room && i > start {
            return if border_at > room / 3 { border } else { i };
        }
    }
    drawn.cells.len()
}

/// Returns whether a row may begin with grapheme `i`.
fn is_border(drawn: &DrawnLine, i: usize) -> bool {
    let (before, after) = (&drawn.cells[i - 1], &drawn.cells[i]);
    let (b, a) = (drawn.draws(before), drawn.draws(after));
    if after.width > 0 && a.chars().next().is_some_and(never_first) {
        return false;
    }
    before.width == 2 || after.width == 2 || !(is_word(b) && is_word(a))
}

fn is_word(grapheme: &str) -> bool {
    grapheme.chars().next().is_some_and(|c| c.is_alphanumeric() || c == '_')
}

fn never_first(c: char) -> bool {
    ",;.)?、。，．」』）！？ー…っゃゅょッャュョ｡｣､ｰ".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rows(line: &str, room: usize) -> Vec<String> {
        let drawn = show(line.as_bytes(), Invisible::Name);
        wrapped(&drawn, room).into_iter().map(|r| r.map(|i| drawn.draws(&drawn.cells[i])).collect()).collect()
    }

    #[test]
    fn lines_break_at_word_borders() {
        let line = "    pub async fn price_of(&self, id: ProductId) -> sqlx::Result<Money> {";
        assert_eq!(rows(line, 60), ["    pub async fn price_of(&self, id: ProductId) -> sqlx::", "Result<Money> {"]);
        let line = "        let prices = catalog.prices(&self.products()).await?;";
        assert_eq!(rows(line, 60), ["        let prices = catalog.prices(&self.products()).", "await?;"]);
        assert_eq!(rows("", 60), [""]);
    }

    #[test]
    fn wide_text_breaks_between_letters() {
        assert_eq!(rows("複数の商品の価格を、一回で", 19), ["複数の商品の価格", "を、一回で"]);
    }

    #[test]
    fn hidden_characters_are_shown() {
        let drawn = show_changed("a\u{200b}\tb\u{1b}".as_bytes(), Ending::CrLf, Ending::Lf);
        assert_eq!(drawn.text, "a⟨U+200B⟩   b^[^M");
        assert_eq!(show(b"caf\xe9", Invisible::Name).text, "caf<E9>");
        assert_eq!(show_changed(b"x", Ending::None, Ending::Lf).text, "x no newline at the end");
        assert_eq!(show_changed(b"x", Ending::Lf, Ending::CrLf).text, "x^J");
    }

    #[test]
    fn unchanged_lines_are_cut() {
        let drawn = show("価格abc".as_bytes(), Invisible::Keep);
        assert_eq!(cut(&drawn, 7), (0..5, false));
        assert_eq!(cut(&drawn, 6), (0..3, true));
        assert_eq!(cut(&drawn, 4), (0..1, true));
    }

    proptest! {
        #[test]
        fn long_lines_lose_nothing(
            line in prop::collection::vec(prop_oneof![any::<u8>(), Just(b'a'), Just(b'\t')], 1..400),
            text in "[a-z価\u{200b}\u{1}]{1,200}",
            room in 12usize..90,
        ) {
            for line in [line, text.into_bytes(), vec![b'x'; 300]] {
                let (rows, total) = long_rows(&line, room, 0..usize::MAX);
                prop_assert_eq!(rows.len(), total);
                let mut next = 0;
                for row in &rows {
                    prop_assert_eq!(row.start, next);
                    next = row.end;
                    prop_assert!(show(&line[row.clone()], Invisible::Name).width() <= room);
                }
                prop_assert_eq!(next, line.len());
                let (some, same) = long_rows(&line, room, 1..3);
                prop_assert_eq!((&some[..], same), (&rows[1.min(total)..3.min(total)], total));
            }
        }

        #[test]
        fn every_byte_is_in_one_cell_of_one_row(
            line in prop::collection::vec(prop_oneof![Just(b' '), Just(b'\t'), any::<u8>(), Just(b'a')], 0..80),
            room in 2usize..90,
        ) {
            let line: Vec<u8> = line.into_iter().filter(|b| *b != b'\n').collect();
            let drawn = show(&line, Invisible::Name);
            let mut at = 0;
            for cell in &drawn.cells {
                prop_assert_eq!(cell.from.start, at);
                at = cell.from.end;
            }
            prop_assert_eq!(at, line.len());
            let mut next = 0;
            for row in wrapped(&drawn, room) {
                prop_assert_eq!(row.start, next);
                prop_assert!(row.end > row.start || drawn.cells.is_empty());
                next = row.end;
            }
            prop_assert_eq!(next, drawn.cells.len());
        }

        #[test]
        fn rows_fit(line in "[a-c .,(価)\t]{0,60}", room in 12usize..90) {
            let drawn = show(line.as_bytes(), Invisible::Name);
            for (k, row) in wrapped(&drawn, room).into_iter().enumerate() {
                let hang = if k == 0 { 0 } else { hang(&drawn, room) };
                prop_assert!(drawn.cells[row].iter().map(|c| c.width).sum::<usize>() + hang <= room);
            }
        }
    }
}

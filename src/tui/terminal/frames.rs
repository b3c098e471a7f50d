//! Frames as bytes: what differs from the frame before is written, all of a frame at once.

use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::{Position, Rect};
use ratatui::style::{Color, Modifier};

use crate::text::width::cells;

const BEGIN_UPDATE: &[u8] = b"\x1b[?2026h";
const END_UPDATE: &[u8] = b"\x1b[?2026l";
const CLEAR: &[u8] = b"\x1b[2J";
const HIDE_CURSOR: &[u8] = b"\x1b[?25l";
const SHOW_CURSOR: &[u8] = b"\x1b[?25h";
/// Takes every colour and attribute off.
const PLAIN: &[u8] = b"\x1b[m";

/// The frame on the terminal, and the next one while it is painted.
#[derive(Debug)]
pub(super) struct Frames {
    shown: Buffer,
    next: Buffer,
    /// The cursor on the terminal; `None`: it is hidden.
    cursor: Option<Position>,
    /// Nothing is known of what the terminal shows: the next frame is written whole.
    unknown: bool,
    out: CellWriter,
}

impl Frames {
    /// Creates the frames of a terminal of which nothing is known.
    pub(super) fn new(columns: u16, rows: u16) -> Self {
        let empty = Buffer::empty(Rect::new(0, 0, columns, rows));
        Frames { shown: empty.clone(), next: empty, cursor: None, unknown: true, out: CellWriter::default() }
    }

    /// Takes a new size. The next frame is written whole.
    pub(super) fn resize(&mut self, columns: u16, rows: u16) {
        *self = Frames::new(columns, rows);
    }

    /// Writes the next frame whole.
    pub(super) fn forget(&mut self) {
        self.unknown = true;
    }

    /// Paints the next frame, and returns the bytes that make the terminal show it; none where it shows it already.
    /// `paint` sets every cell and returns where the cursor stands, if it is seen.
    pub(super) fn draw(&mut self, paint: impl FnOnce(&mut Buffer) -> Option<Position>) -> &[u8] {
        let cursor = paint(&mut self.next);
        self.out.bytes.clear();
        self.out.bytes.extend_from_slice(BEGIN_UPDATE);
        if self.unknown {
            [HIDE_CURSOR, PLAIN, CLEAR].into_iter().for_each(|b| self.out.bytes.extend_from_slice(b));
            self.cursor = None;
            self.shown.reset();
        }
        let begun = self.out.bytes.len();
        self.changes();
        let changed = self.out.bytes.len() > begun || self.unknown;
        if !changed && cursor == self.cursor {
            return &[];
        }
        self.out.end(cursor, self.cursor);
        self.cursor = cursor;
        self.unknown = false;
        std::mem::swap(&mut self.shown, &mut self.next);
        &self.out.bytes
    }

    fn changes(&mut self) {
        let columns = usize::from(self.next.area.width);
        if columns == 0 {
            return;
        }
        let rows = self.shown.content.chunks(columns).zip(self.next.content.chunks(columns));
        for (y, (shown, next)) in rows.enumerate() {
            // A changed row is walked from its first cell, so that the cells that a wide character covers are known.
            if shown.iter().zip(next).any(|(a, b)| !same(a, b)) {
                self.out.row(y as u16, shown, next);
            }
        }
    }
}

fn same(a: &Cell, b: &Cell) -> bool {
    // Nearly every symbol is one byte, and a comparison of slices is a call.
    let symbols = match (a.symbol().as_bytes(), b.symbol().as_bytes()) {
        ([a], [b]) => a == b,
        (a, b) => a == b,
    };
    symbols && a.fg == b.fg && a.bg == b.bg && a.modifier == b.modifier
}

fn width(cell: &Cell) -> usize {
    let symbol = cell.symbol();
    if symbol.len() == 1 { 1 } else { cells(symbol).max(1) }
}

/// Cells as bytes. Keeps in mind what the terminal was told last.
#[derive(Debug)]
struct CellWriter {
    bytes: Vec<u8>,
    fg: Color,
    bg: Color,
    modifier: Modifier,
    /// The place of the next character, if that is certain.
    at: Option<(u16, u16)>,
}

impl Default for CellWriter {
    fn default() -> Self {
        CellWriter { bytes: Vec::new(), fg: Color::Reset, bg: Color::Reset, modifier: Modifier::empty(), at: None }
    }
}

impl CellWriter {
    /// Writes what is different in a row.
    fn row(&mut self, y: u16, shown: &[Cell], next: &[Cell]) {
        let mut x = 0;
        // Up to here the terminal may have blanked cells, because half of a wide character was written over.
        let mut torn = 0;
        while x < next.len() {
            let wide = width(&next[x]);
            if x >= torn && same(&shown[x], &next[x]) {
                x += wide;
                continue;
            }
            for (covered, cell) in shown.iter().enumerate().skip(x).take(wide) {
                let end = covered + width(cell);
                torn = if end > x + wide { torn.max(end) } else { torn };
            }
            self.cell(x as u16, y, wide, &next[x]);
            x += wide;
        }
    }

    fn cell(&mut self, x: u16, y: u16, wide: usize, cell: &Cell) {
        if self.at != Some((x, y)) {
            self.go(x, y);
        }
        self.style(cell);
        let symbol = cell.symbol();
        if wide > 1 && symbol.contains('\u{fe0f}') {
            // Some terminals take it for narrow and leave what stood in its second cell.
            self.bytes.resize(self.bytes.len() + wide, b' ');
            self.go(x, y);
        }
        self.bytes.extend_from_slice(symbol.as_bytes());
        // Terminals do not agree about the width of all characters.
        self.at = (wide == 1).then_some((x + 1, y));
    }

    /// Ends a frame: the cursor goes where it belongs.
    fn end(&mut self, cursor: Option<Position>, before: Option<Position>) {
        if (self.fg, self.bg) != (Color::Reset, Color::Reset) || !self.modifier.is_empty() {
            self.bytes.extend_from_slice(PLAIN);
            (self.fg, self.bg, self.modifier) = (Color::Reset, Color::Reset, Modifier::empty());
        }
        match cursor {
            Some(at) => {
                if before.is_none() {
                    self.bytes.extend_from_slice(SHOW_CURSOR);
                }
                self.go(at.x, at.y);
            }
            None if before.is_some() => self.bytes.extend_from_slice(HIDE_CURSOR),
            None => {}
        }
        self.at = None;
        self.bytes.extend_from_slice(END_UPDATE);
    }

    fn go(&mut self, x: u16, y: u16) {
        self.bytes.extend_from_slice(b"\x1b[");
        self.number(y + 1);
        self.bytes.push(b';');
        self.number(x + 1);
        self.bytes.push(b'H');
    }

    fn style(&mut self, cell: &Cell) {
        if cell.fg == self.fg && cell.bg == self.bg && cell.modifier == self.modifier {
            return;
        }
        self.bytes.extend_from_slice(b"\x1b[");
        if cell.modifier != self.modifier {
            self.modifiers(cell.modifier);
        }
        if cell.fg != self.fg {
            self.colour(cell.fg, 30);
        }
        if cell.bg != self.bg {
            self.colour(cell.bg, 40);
        }
        (self.fg, self.bg, self.modifier) = (cell.fg, cell.bg, cell.modifier);
        // In place of the last `;`.
        if let Some(last) = self.bytes.last_mut() {
            *last = b'm';
        }
    }

    fn modifiers(&mut self, to: Modifier) {
        let gone = self.modifier.difference(to);
        let mut kept = self.modifier.intersection(to);
        for (off, group) in OFF {
            if gone.intersects(*group) {
                self.parameter(*off);
                kept = kept.difference(*group);
            }
        }
        let new = to.difference(kept);
        for (on, modifier) in ON {
            if new.contains(*modifier) {
                self.parameter(*on);
            }
        }
    }

    /// Writes a colour; `base`: the parameter of the first of sixteen, for letters or for what is behind them.
    fn colour(&mut self, colour: Color, base: u16) {
        let mut indexed = |i: u8| match i {
            0..8 => self.parameter(base + u16::from(i)),
            _ => [base + 8, 5, u16::from(i)].into_iter().for_each(|n| self.parameter(n)),
        };
        match colour {
            Color::Reset => self.parameter(base + 9),
            Color::Rgb(r, g, b) => {
                [base + 8, 2, r.into(), g.into(), b.into()].into_iter().for_each(|n| self.parameter(n));
            }
            Color::Indexed(i) => indexed(i),
            Color::Black => indexed(0),
            Color::Red => indexed(1),
            Color::Green => indexed(2),
            Color::Yellow => indexed(3),
            Color::Blue => indexed(4),
            Color::Magenta => indexed(5),
            Color::Cyan => indexed(6),
            Color::Gray => indexed(7),
            Color::DarkGray => indexed(8),
            Color::LightRed => indexed(9),
            Color::LightGreen => indexed(10),
            Color::LightYellow => indexed(11),
            Color::LightBlue => indexed(12),
            Color::LightMagenta => indexed(13),
            Color::LightCyan => indexed(14),
            Color::White => indexed(15),
        }
    }

    fn parameter(&mut self, n: u16) {
        self.number(n);
        self.bytes.push(b';');
    }

    fn number(&mut self, n: u16) {
        let mut rest = n;
        for place in [10_000, 1_000, 100, 10, 1] {
            if n >= place || place == 1 {
                self.bytes.push(b'0' + (rest / place) as u8);
                rest %= place;
            }
        }
    }
}

/// The parameters that set an attribute.
const ON: &[(u16, Modifier)] = &[
    (1, Modifier::BOLD),
    (2, Modifier::DIM),
    (3, Modifier::ITALIC),
    (4, Modifier::UNDERLINED),
    (5, Modifier::SLOW_BLINK),
    (6, Modifier::RAPID_BLINK),
    (7, Modifier::REVERSED),
    (8, Modifier::HIDDEN),
    (9, Modifier::CROSSED_OUT),
];

/// The parameters that take attributes off: some only together.
const OFF: &[(u16, Modifier)] = &[
    (22, Modifier::BOLD.union(Modifier::DIM)),
    (23, Modifier::ITALIC),
    (24, Modifier::UNDERLINED),
    (25, Modifier::SLOW_BLINK.union(Modifier::RAPID_BLINK)),
    (27, Modifier::REVERSED),
    (28, Modifier::HIDDEN),
    (29, Modifier::CROSSED_OUT),
];

#[cfg(test)]
mod tests {
    use std::num::NonZeroU16;

    use super::*;
    use proptest::prelude::*;
    use ratatui::style::Style;

    const WIDE: u16 = 12;
    const HIGH: u16 = 4;
    /// The attributes that the terminal of the tests tells apart.
    const KNOWN: [Modifier; 4] = [Modifier::BOLD, Modifier::ITALIC, Modifier::UNDERLINED, Modifier::REVERSED];

    /// A terminal that obeys, and the frames for it.
    struct Terminal {
        frames: Frames,
        screen: vt100::Parser,
    }

    impl Terminal {
        fn new() -> Self {
            let (high, wide) = (NonZeroU16::new(HIGH).expect("rows"), NonZeroU16::new(WIDE).expect("columns"));
            Terminal { frames: Frames::new(WIDE, HIGH), screen: vt100::Parser::new(high, wide, 0) }
        }

        /// Draws the pieces on a blank frame and returns how many bytes that took.
        fn draw(&mut self, pieces: &[PaintedText], cursor: Position) -> usize {
            let mut want = Buffer::empty(Rect::new(0, 0, WIDE, HIGH));
            for piece in pieces {
                piece.paint(&mut want);
            }
            let bytes = self.frames.draw(|buf| {
                buf.content.clone_from(&want.content);
                Some(cursor)
            });
            self.screen.process(bytes);
            let written = bytes.len();
            for y in 0..HIGH {
                let mut x = 0;
                while x < WIDE {
                    let cell = &want[(x, y)];
                    let seen = self.screen.screen().cell(y, x).expect("a cell of the screen");
                    let symbol = if seen.contents().is_empty() { " " } else { seen.contents() };
                    assert_eq!(symbol, cell.symbol(), "at {x}, {y}");
                    let style = (seen.bold(), seen.italic(), seen.underline(), seen.inverse());
                    let [bold, italic, underlined, reversed] = KNOWN.map(|m| cell.modifier.contains(m));
                    assert_eq!(style, (bold, italic, underlined, reversed), "at {x}, {y}");
                    assert_eq!((seen.fgcolor(), seen.bgcolor()), (colour(cell.fg), colour(cell.bg)), "at {x}, {y}");
                    x += width(cell) as u16;
                }
            }
            assert_eq!(self.screen.screen().cursor_position(), (cursor.y, cursor.x));
            written
        }
    }

    fn colour(colour: Color) -> vt100::Color {
        match colour {
            Color::Rgb(r, g, b) => vt100::Color::Rgb(r, g, b),
            Color::Indexed(i) => vt100::Color::Idx(i),
            Color::Red => vt100::Color::Idx(1),
            Color::White => vt100::Color::Idx(15),
            _ => vt100::Color::Default,
        }
    }

    #[derive(Debug, Clone)]
    struct PaintedText {
        x: u16,
        y: u16,
        text: String,
        style: Style,
    }

    impl PaintedText {
        fn paint(&self, buf: &mut Buffer) {
            crate::tui::text::paint::text(buf, self.x, self.y, 99, &self.text, self.style);
            // As a popup does where it cuts a wide character.
            let area = Rect::new(self.x, self.y, 1, 1);
            if self.text.is_empty() {
                crate::tui::text::paint::clear(buf, area, self.style);
            }
        }
    }

    fn pieces() -> impl Strategy<Value = Vec<PaintedText>> {
        let colour = prop_oneof![
            Just(Color::Reset),
            Just(Color::Red),
            Just(Color::White),
            (16u8..).prop_map(Color::Indexed),
            any::<(u8, u8, u8)>().prop_map(|(r, g, b)| Color::Rgb(r, g, b)),
        ];
        let attributes = 0usize..1 << KNOWN.len();
        let style = (colour.clone(), colour, attributes).prop_map(|(fg, bg, bits)| {
            let chosen = KNOWN.iter().enumerate().filter(|(i, _)| bits & (1 << i) != 0).map(|(_, m)| *m);
            let modifier = Modifier::from_iter(chosen);
            Style::new().fg(fg).bg(bg).add_modifier(modifier)
        });
        let text = prop_oneof![Just("plain"), Just("価格"), Just("a価b"), Just("é"), Just("x"), Just("")];
        let piece = (0..WIDE, 0..HIGH, text, style).prop_map(|(x, y, text, style)| PaintedText {
            x,
            y,
            text: text.to_string(),
            style,
        });
        prop::collection::vec(piece, 0..8)
    }

    proptest! {
        #[test]
        fn the_terminal_shows_each_frame(frames in prop::collection::vec((pieces(), 0..WIDE, 0..HIGH), 1..6)) {
            let mut terminal = Terminal::new();
            for (frame, x, y) in frames {
                terminal.draw(&frame, Position::new(x, y));
            }
        }
    }

    #[test]
    fn what_stands_behind_a_covered_cell_is_written() {
        let mut frames = Frames::new(4, 1);
        let row = |last: &'static str| {
            move |buf: &mut Buffer| {
                buf[(0, 0)].set_symbol("価");
                buf[(1, 0)].set_symbol("価");
                buf[(2, 0)].set_symbol(last);
                None
            }
        };
        frames.draw(row(" "));
        let written = String::from_utf8_lossy(frames.draw(row("x"))).into_owned();
        assert!(written.contains('x'), "{written:?}");
    }

    #[test]
    fn nothing_is_written_for_a_frame_that_is_shown() {
        let mut terminal = Terminal::new();
        let piece = PaintedText { x: 1, y: 1, text: "one".into(), style: Style::new().fg(Color::Red) };
        let at = Position::new(0, 0);
        assert!(terminal.draw(std::slice::from_ref(&piece), at) > 0);
        assert_eq!(terminal.draw(std::slice::from_ref(&piece), at), 0);
        // Only the cursor moved.
        assert!(terminal.draw(std::slice::from_ref(&piece), Position::new(1, 1)) < 32);
        terminal.frames.forget();
        terminal.screen.process(b"\x1b[2;2Hgarbage");
        assert!(terminal.draw(&[piece], at) > 0);
    }

    #[test]
    fn the_cursor_is_hidden_and_shown() {
        let mut frames = Frames::new(2, 1);
        let has = |bytes: &[u8], what: &[u8]| bytes.windows(what.len()).any(|w| w == what);
        assert!(has(frames.draw(|_| None), HIDE_CURSOR));
        assert!(has(frames.draw(|_| Some(Position::new(1, 0))), b"\x1b[?25h\x1b[1;2H"));
        assert!(has(frames.draw(|_| None), HIDE_CURSOR));
        assert!(frames.draw(|_| None).is_empty());
    }

    #[test]
    fn what_goes_off_only_together_comes_on_again() {
        let mut encoder = CellWriter::default();
        let mut cell = Cell::new("x");
        for (modifier, bytes) in [
            (Modifier::BOLD | Modifier::DIM, "\x1b[1;2m"),
            (Modifier::DIM, "\x1b[22;2m"),
            (Modifier::DIM | Modifier::CROSSED_OUT, "\x1b[9m"),
            (Modifier::empty(), "\x1b[22;29m"),
        ] {
            cell.modifier = modifier;
            encoder.bytes.clear();
            encoder.style(&cell);
            assert_eq!(String::from_utf8_lossy(&encoder.bytes), bytes);
        }
    }
}

//! Styled spans → cells of the screen.

use std::sync::LazyLock;

use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Span;
use unicode_segmentation::UnicodeSegmentation;

use super::cut;
use super::wrap::{breaks, cells};
use crate::text::clean::clean_line;
use crate::text::width::is_printable;
use crate::tui::theme::{Role, Theme};

/// A cell with each ASCII character: a copy costs less than setting a symbol.
static ASCII: LazyLock<[Cell; 128]> = LazyLock::new(|| std::array::from_fn(|byte| Cell::from(char::from(byte as u8))));

/// Draws `text` from (`x`, `y`) in at most `width` cells and returns how many it took. A wide character that does
/// not fit leaves its cell as it was. Every text on the screen passes here, and what would act on the terminal or hide
/// is drawn as its mark.
pub fn text(buf: &mut Buffer, x: u16, y: u16, width: usize, text: &str, style: Style) -> usize {
    let area = buf.area;
    if y < area.top() || y >= area.bottom() || x < area.left() || x >= area.right() {
        return 0;
    }
    let width = width.min(usize::from(area.right() - x));
    if is_printable(text) {
        let mut used = 0;
        let from = buf.index_of(x, y);
        let cells = &*ASCII;
        for (cell, byte) in buf.content[from..].iter_mut().zip(text.bytes().take(width)) {
            let (fg, bg, modifier) = (cell.fg, cell.bg, cell.modifier);
            *cell = cells[usize::from(byte & 0x7f)].clone();
            cell.fg = style.fg.unwrap_or(fg);
            cell.bg = style.bg.unwrap_or(bg);
            cell.modifier = (modifier | style.add_modifier) - style.sub_modifier;
            used += 1;
        }
        return used;
    }
    let mut used = 0;
    for grapheme in clean_line(text).graphemes(true) {
        let wide = cells(grapheme);
        if wide == 0 {
            continue;
        }
        if used + wide > width {
            break;
        }
        // Inside the area: `used + wide` is at most what is left of the row.
        let at = x + used as u16;
        buf[(at, y)].set_symbol(grapheme).set_style(style);
        for covered in 1..wide {
            buf[(at + covered as u16, y)].reset();
            buf[(at + covered as u16, y)].set_style(style);
        }
        used += wide;
    }
    used
}

/// Empties `area` and gives its cells `style`: neither a colour nor an attribute of what stood there stays. A wide
/// character whose second cell is covered goes too.
pub fn clear(buf: &mut Buffer, area: Rect, style: Style) {
    let area = area.intersection(buf.area);
    for y in area.top()..area.bottom() {
        if let Some(before) = area.left().checked_sub(1).filter(|x| cells(buf[(*x, y)].symbol()) > 1) {
            buf[(before, y)].set_symbol(" ");
        }
        for x in area.left()..area.right() {
            buf[(x, y)].reset();
            buf[(x, y)].set_style(style);
        }
    }
}

/// Gives what is drawn in `area` the tint of a selection. One that reverses takes its colours too, of which each would be a
/// patch of ground, and one of the sixteen colours, on which few others can be read.
pub fn tint(buf: &mut Buffer, area: Rect, theme: &Theme) {
    let selection = theme.style(Role::Selection);
    let style = match selection.bg {
        _ if selection.add_modifier.contains(Modifier::REVERSED) => {
            selection.fg(selection.fg.unwrap_or(Color::Reset)).remove_modifier(Modifier::DIM)
        }
        Some(Color::Indexed(..16)) => selection.fg(theme.style(Role::Text).fg.unwrap_or(Color::Reset)),
        _ => selection,
    };
    buf.set_style(area.intersection(buf.area), style);
}

/// Draws a sentence in `area`, wrapped at words; a sentence that has no room ends in `mark`.
pub fn prose(buf: &mut Buffer, area: Rect, sentence: &str, mark: &str, style: Style) {
    let (width, rows) = (usize::from(area.width), usize::from(area.height));
    let lines = breaks(sentence, width);
    let missing = lines.len() > rows;
    for (i, (line, y)) in lines.into_iter().zip(area.y..area.bottom()).enumerate() {
        let words = match missing && i + 1 == rows {
            true => cut::words(&sentence[line.start..], width, mark),
            false => sentence[line].into(),
        };
        text(buf, area.x, y, width, &words, style);
    }
}

/// Takes the attributes off `width` cells, so that what is drawn over a rule does not keep those of the rule.
pub fn bare(buf: &mut Buffer, x: u16, y: u16, width: usize) {
    let right = usize::from(x).saturating_add(width).min(usize::from(buf.area.right())) as u16;
    for x in x..right {
        if y < buf.area.bottom() {
            buf[(x, y)].modifier = Modifier::empty();
        }
    }
}

/// Draws spans one after the other; see [`text`].
pub fn spans(buf: &mut Buffer, x: u16, y: u16, width: usize, spans: &[Span<'_>]) -> usize {
    let mut used = 0;
    for span in spans {
        used += text(buf, x.saturating_add(used as u16), y, width - used, &span.content, span.style);
    }
    used
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::theme::{Depth, Themes};

    #[test]
    fn wide_characters_take_two_cells_or_none() {
        let mut buf = Buffer::empty(Rect::new(0, 0, 6, 1));
        assert_eq!(text(&mut buf, 0, 0, 4, "aあい", Style::new()), 3);
        assert_eq!(text(&mut buf, 4, 0, 9, "うx", Style::new()), 2);
        assert_eq!(buf, Buffer::with_lines(["aあ う"]));
    }

    #[test]
    fn cleared_cells_keep_nothing_of_what_stood_there() {
        let mut buf = Buffer::empty(Rect::new(0, 0, 4, 1));
        text(&mut buf, 0, 0, 4, "あxy", Style::new().bg(Color::Red).add_modifier(Modifier::UNDERLINED));
        clear(&mut buf, Rect::new(1, 0, 9, 9), Style::new().fg(Color::Blue));
        assert_eq!((buf[(0, 0)].symbol(), buf[(1, 0)].symbol(), buf[(2, 0)].symbol()), (" ", " ", " "));
        let cell = &buf[(2, 0)];
        assert_eq!((cell.fg, cell.bg, cell.modifier), (Color::Blue, Color::Reset, Modifier::empty()));
    }

    #[test]
    fn a_row_that_a_selection_reverses_has_one_colour() {
        let mut buf = Buffer::empty(Rect::new(0, 0, 3, 1));
        let red = Style::new().fg(Color::Red).add_modifier(Modifier::DIM);
        let tinted = |buf: &mut Buffer, name, depth| {
            text(buf, 0, 0, 3, "aあ", red);
            let theme = Themes::default().get(name, depth).expect("a shipped theme");
            tint(buf, Rect::new(0, 0, 9, 9), &theme);
            theme.style(Role::Text).fg.expect("a colour")
        };
        tinted(&mut buf, "dark", Depth::True);
        assert_eq!((buf[(0, 0)].fg, buf[(2, 0)].bg), (Color::Red, Color::Rgb(0x29, 0x31, 0x42)));
        let words = tinted(&mut buf, "dark", Depth::Sixteen);
        assert!((0..3).all(|x| (buf[(x, 0)].fg, buf[(x, 0)].bg) == (words, Color::Indexed(4))));
        tinted(&mut buf, "ansi", Depth::True);
        assert!((0..3).all(|x| buf[(x, 0)].fg == Color::Reset && buf[(x, 0)].modifier == Modifier::REVERSED));
    }

    #[test]
    fn a_sentence_wraps_and_says_what_is_missing() {
        let mut buf = Buffer::empty(Rect::new(0, 0, 10, 3));
        prose(&mut buf, Rect::new(1, 0, 8, 2), "one two three four", "…", Style::new());
        assert_eq!(buf, Buffer::with_lines([" one two  ", " three …  ", "          "]));
    }

    #[test]
    fn control_and_hidden_characters_are_marked() {
        let mut buf = Buffer::empty(Rect::new(0, 0, 24, 1));
        assert_eq!(text(&mut buf, 0, 0, 24, "a\u{202e}é\u{7}b\u{1b}[2J", Style::new()), 18);
        assert_eq!(text(&mut buf, 0, 9, 4, "x", Style::new()), 0);
        assert_eq!(buf, Buffer::with_lines(["a⟨U+202E⟩é^Gb^[[2J      "]));
    }
}

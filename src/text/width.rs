//! The width of text on a terminal.

use std::borrow::Cow;

use unicode_width::UnicodeWidthStr;

use super::clean::clean_line;

/// Cells from one tab stop to the next, wherever a line of a file is shown.
pub const TAB: usize = 4;

/// Returns how many cells `text` takes as it is shown: control and hidden characters as their marks.
pub fn cells(text: &str) -> usize {
    if is_printable(text) { text.len() } else { clean_line(text).width() }
}

/// Returns whether every byte is one cell.
pub fn is_printable(text: &str) -> bool {
    // Not `all`: without an early end many bytes are looked at together.
    text.bytes().fold(true, |all, b| all & (0x20..0x7f).contains(&b))
}

/// Returns a line with its tabs as spaces, to the next tab stop.
pub fn expanded(line: &str) -> Cow<'_, str> {
    if !line.contains('\t') {
        return line.into();
    }
    let (mut text, mut at) = (String::new(), 0);
    for (n, piece) in line.split('\t').enumerate() {
        if n > 0 {
            let gap = TAB - at % TAB;
            text.push_str(&" ".repeat(gap));
            at += gap;
        }
        text.push_str(piece);
        at += cells(piece);
    }
    text.into()
}

/// Returns `text` with spaces behind it up to `width` cells.
pub fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(cells(text))))
}

/// Returns `text` cut to `width` cells; `…` ends one that is cut.
pub fn shortened(text: &str, width: usize) -> String {
    if cells(text) <= width {
        return text.to_string();
    }
    let mut short = String::new();
    let mut taken = 1;
    for c in text.chars() {
        taken += cells(c.encode_utf8(&mut [0; 4]));
        if taken > width {
            break;
        }
        short.push(c);
    }
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tab_reaches_to_the_next_stop() {
        assert_eq!(
            [expanded("\tif\tx"), expanded("abcd\t"), expanded("価\t格"), expanded("a")],
            ["    if  x", "abcd    ", "価  格", "a"]
        );
    }

    #[test]
    fn wide_characters_take_two_cells() {
        assert_eq!((cells("abc"), cells("価格"), cells("e\u{301}"), cells("a\u{1}")), (3, 4, 1, 3));
        assert_eq!((padded("価", 3), padded("abcd", 3)), ("価 ".into(), "abcd".into()));
        let cut = |width| shortened("価格abc", width);
        assert_eq!((cut(7), cut(6), cut(4), cut(3)), ("価格abc".into(), "価格a…".into(), "価…".into(), "価…".into()));
    }
}

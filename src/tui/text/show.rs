//! The form in which a line of a file or of a model is shown on the screen: tabs to the next multiple of four, and
//! control and hidden characters as [`clean`] marks them, each a piece of its own so that it can be coloured.

use std::borrow::Cow;

use super::wrap::cells;
use crate::proposal::{hidden, looks_latin};
use crate::text::clean;

pub use crate::text::width::TAB;

/// The kind of a piece of a shown line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvisibleKind {
    /// Text as it is; tabs are spaces already.
    Text,
    /// A control character, to be drawn dim.
    Control,
    /// An invisible character, to be drawn in the colour of attention.
    Invisible,
}

/// A piece of a shown line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece<'a> {
    /// The text as it is drawn.
    pub text: Cow<'a, str>,
    /// The bytes of the line it stands for.
    pub from: std::ops::Range<usize>,
    /// The kind, which decides how it is drawn.
    pub kind: InvisibleKind,
}

/// The choice whether no-break spaces are marked too; other hidden characters always are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Invisible {
    /// Hidden characters are left: prose, where they keep words together.
    Keep,
    /// Hidden characters are marked: code inside a change.
    Name,
}

/// Returns the pieces of `line`, which begins in `column` (for its tabs) and holds no newline.
pub fn pieces(line: &str, column: usize, invisible: Invisible) -> Vec<Piece<'_>> {
    if !line.bytes().any(|b| !(0x20..0x7f).contains(&b)) {
        return vec![Piece { text: line.into(), from: 0..line.len(), kind: InvisibleKind::Text }];
    }
    // Letters of another script that pass for Latin ones are told by the word around them.
    let hiding = if invisible == Invisible::Name { hidden(line) } else { Vec::new() };
    let (mut out, mut start, mut column) = (Vec::new(), 0, column);
    for (at, c) in line.char_indices() {
        let (text, kind) = match c {
            '\t' => {
                let here = column + cells(&line[start..at]);
                (" ".repeat(TAB - here % TAB), InvisibleKind::Text)
            }
            '\0' if clean::stands_for_byte(&line[at..]) => ("\\x".into(), InvisibleKind::Control),
            c if c.is_control() => (clean::mark(c), InvisibleKind::Control),
            '\u{200d}' if clean::joins_emoji(&line[..at], &line[at + 3..]) => continue,
            c if clean::is_hidden(c) => (clean::mark(c), InvisibleKind::Invisible),
            c if hiding.binary_search(&(at, c)).is_ok() => (clean::mark(c), InvisibleKind::Invisible),
            c if invisible == Invisible::Name && is_no_break(c) => (clean::mark(c), InvisibleKind::Invisible),
            _ => continue,
        };
        if start < at {
            column += cells(&line[start..at]);
            out.push(Piece { text: line[start..at].into(), from: start..at, kind: InvisibleKind::Text });
        }
        column += cells(&text);
        start = at + c.len_utf8();
        out.push(Piece { text: text.into(), from: at..start, kind });
    }
    if start < line.len() || out.is_empty() {
        out.push(Piece { text: line[start..].into(), from: start..line.len(), kind: InvisibleKind::Text });
    }
    out
}

/// Returns `line` as it is drawn, without telling the pieces apart.
pub fn plain(line: &str) -> Cow<'_, str> {
    if line.bytes().all(|b| (0x20..0x7f).contains(&b)) {
        return line.into();
    }
    pieces(line, 0, Invisible::Keep).into_iter().map(|p| p.text).collect::<String>().into()
}

/// Returns `line` as it is drawn inside a change: letters that pass for Latin ones are marked too.
pub fn named(line: &str) -> String {
    pieces(line, 0, Invisible::Name).into_iter().map(|p| p.text).collect()
}

/// Returns what is drawn for these bytes of the line that `pieces` show.
pub fn part_of(pieces: &[Piece<'_>], bytes: std::ops::Range<usize>) -> String {
    let part = |piece: &Piece<'_>| {
        let (from, to) = (piece.from.start.max(bytes.start), piece.from.end.min(bytes.end));
        let as_it_is = piece.text.len() == piece.from.len();
        match from < to {
            true if as_it_is => piece.text.get(from - piece.from.start..to - piece.from.start).map(str::to_string),
            true if from == piece.from.start => Some(piece.text.to_string()),
            _ => None,
        }
    };
    let first = pieces.partition_point(|piece| piece.from.end <= bytes.start);
    pieces[first..].iter().take_while(|piece| piece.from.start < bytes.end).filter_map(part).collect()
}

/// Returns whether a character may be drawn as a mark.
pub fn is_marked(c: char) -> bool {
    c.is_control() || clean::is_hidden(c) || is_no_break(c) || looks_latin(c)
}

/// Returns whether it is a space that looks like any other.
fn is_no_break(c: char) -> bool {
    matches!(c, '\u{a0}' | '\u{202f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visible(line: &str, invisible: Invisible) -> String {
        pieces(line, 0, invisible).into_iter().map(|p| p.text).collect()
    }

    #[test]
    fn tabs_reach_the_next_stop() {
        assert_eq!(visible("\ta", Invisible::Keep), "    a");
        assert_eq!(visible("abc\td", Invisible::Keep), "abc d");
        assert_eq!(visible("あ\tb\t\tc", Invisible::Keep), "あ  b       c");
        assert_eq!(pieces("\tx", 2, Invisible::Keep)[0].text, "  ");
    }

    #[test]
    fn letters_that_pass_for_latin_ones_are_named_in_changed_lines() {
        // The `о` of `scоpe` is Cyrillic.
        assert_eq!(visible("let sc\u{43e}pe", Invisible::Name), "let sc⟨U+043E⟩pe");
        assert_eq!(visible("let sc\u{43e}pe", Invisible::Keep), "let sc\u{43e}pe");
        assert_eq!(visible("привет", Invisible::Name), "привет");
    }

    #[test]
    fn control_and_invisible_characters_are_seen() {
        assert_eq!(visible("a\u{1b}[31m\r\u{7f}\u{9b}", Invisible::Keep), "a^[[31m^M^?⟨U+009B⟩");
        assert_eq!(visible("a\u{200b}b\u{202e}", Invisible::Keep), "a⟨U+200B⟩b⟨U+202E⟩");
        assert_eq!(visible("a\u{a0}b", Invisible::Name), "a⟨U+00A0⟩b");
        assert_eq!(visible("a\u{a0}b", Invisible::Keep), "a\u{a0}b");
        assert_eq!(plain("a\tb"), "a   b");
        assert_eq!(plain("bad\0ff \0 \0a\n"), "bad\\xff ^@ ^@a^J");
        // A family and a heart on fire are one emoji each; a joiner between letters is not.
        for emoji in ["👩\u{200d}👩\u{200d}👧", "❤\u{fe0f}\u{200d}🔥", "👍🏽\u{200d}♀"] {
            assert_eq!(visible(emoji, Invisible::Name), emoji);
        }
        assert_eq!(visible("a\u{200d}👧\u{200d}", Invisible::Name), "a⟨U+200D⟩👧⟨U+200D⟩");
    }

    #[test]
    fn pieces_know_where_they_come_from() {
        let line = "é\t\u{1}x";
        let found = pieces(line, 0, Invisible::Name);
        assert_eq!(found.iter().map(|p| p.from.clone()).collect::<Vec<_>>(), [0..2, 2..3, 3..4, 4..5]);
        assert_eq!(found[2].kind, InvisibleKind::Control);
        assert_eq!(pieces("", 0, Invisible::Name).len(), 1);
    }
}

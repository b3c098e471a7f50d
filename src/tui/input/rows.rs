//! The text as rows of cells: mentions short except on the caret's line, folds as labels, wide characters whole.

use unicode_segmentation::UnicodeSegmentation;

use super::Editor;
use crate::context::mention::mentions;
use crate::text::clean;
use crate::tui::text::{show, wrap::cells};

impl Editor {
    /// Returns the rows at `width` cells, for drawing; see [`Editor::measure`].
    pub fn rows(&self, width: usize) -> InputRows {
        rows(self, width)
    }
}

/// A piece of a row that is drawn in one style and cannot be split by the caret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowPart {
    /// Its offset in the text, in bytes.
    pub at: usize,
    /// The text as it is drawn.
    pub label: String,
    /// It belongs to a mention.
    pub mention: bool,
    /// It is a fold or a control character.
    pub dim: bool,
}

/// One row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputRow {
    /// Its pieces from left to right.
    pub parts: Vec<RowPart>,
    /// The caret's offset at its end, in bytes of the text.
    pub end: usize,
}

/// All rows, and where the caret is among them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputRows {
    /// The rows, at least one.
    pub rows: Vec<InputRow>,
    /// Row and column of the caret, in cells.
    pub caret: (usize, usize),
}

impl InputRow {
    /// Cells it takes.
    pub fn cells(&self) -> usize {
        self.parts.iter().map(|p| cells(&p.label)).sum()
    }

    /// Returns what is drawn, as one text.
    pub fn text(&self) -> String {
        self.parts.iter().map(|p| p.label.as_str()).collect()
    }

    /// Returns the byte position nearest to a column.
    pub fn position(&self, column: usize) -> usize {
        let mut x = 0;
        for part in &self.parts {
            x += cells(&part.label);
            if x > column {
                return part.at;
            }
        }
        self.end
    }
}

/// Lays the text of `e` out in rows of `width` cells.
fn rows(e: &Editor, width: usize) -> InputRows {
    let width = width.max(2);
    let mut rows = Vec::new();
    let mut from = 0;
    let all = mentions(&e.text);
    for line in e.text.split('\n') {
        let range = from..from + line.len();
        let here = range.contains(&e.caret) || e.caret == range.end;
        let mut parts = Vec::new();
        let mut at = range.start;
        for m in all.iter().filter(|m| m.range.start >= range.start && m.range.end <= range.end) {
            plain(e, at..m.range.start, false, &mut parts);
            if here {
                plain(e, m.range.clone(), true, &mut parts);
            } else {
                parts.push(RowPart { at: m.range.start, label: m.short(), mention: true, dim: false });
            }
            at = m.range.end;
        }
        plain(e, at..range.end, false, &mut parts);
        fill(parts, range.end, width, &mut rows);
        from = range.end + 1;
    }
    let caret = find(&rows, e.caret);
    InputRows { rows, caret }
}

/// Adds the graphemes of a stretch.
fn plain(e: &Editor, range: std::ops::Range<usize>, mention: bool, parts: &mut Vec<RowPart>) {
    for (i, grapheme) in e.text[range.clone()].grapheme_indices(true) {
        let first = grapheme.chars().next().unwrap_or(' ');
        let (label, dim) = match e.fold(first) {
            Some(fold) => (fold.label.clone(), true),
            None if grapheme == "\t" => (" ".repeat(show::TAB), false),
            // Letters that pass for Latin ones are marked in what others write, not in what the person types.
            None if clean::is_hidden(first) => (clean::mark(first), true),
            None if show::is_marked(first) && !first.is_alphabetic() => (clean::mark(first), true),
            None if cells(grapheme) == 0 => (clean::mark(first), true),
            None => (grapheme.to_string(), false),
        };
        parts.push(RowPart { at: range.start + i, label, mention, dim });
    }
}

/// Breaks the pieces of one line into rows: after a space or between wide characters, else where the row is full.
fn fill(parts: Vec<RowPart>, end: usize, width: usize, rows: &mut Vec<InputRow>) {
    let mut row: Vec<RowPart> = Vec::new();
    let mut used = 0;
    for part in parts {
        let mut part = part;
        let mut n = cells(&part.label);
        if n > width {
            part.label = crate::tui::text::cut::end(&part.label, width, "").into_owned();
            n = cells(&part.label);
        }
        while used + n > width && !row.is_empty() {
            let split = row.iter().rposition(may_break).map_or(row.len(), |i| i + 1);
            // A word longer than half of the row is broken where the row is full.
            let retained: usize = row[..split].iter().map(|p| cells(&p.label)).sum();
            let split = if retained * 2 < width { row.len() } else { split };
            let rest = row.split_off(split);
            let at = rest.first().map_or(part.at, |p| p.at);
            used = rest.iter().map(|p| cells(&p.label)).sum();
            rows.push(InputRow { parts: std::mem::replace(&mut row, rest), end: at });
        }
        used += n;
        row.push(part);
    }
    rows.push(InputRow { parts: row, end });
}

fn may_break(part: &RowPart) -> bool {
    part.label == " " || (part.label.chars().count() == 1 && cells(&part.label) == 2) || part.dim
}

fn find(rows: &[InputRow], caret: usize) -> (usize, usize) {
    for (i, row) in rows.iter().enumerate() {
        let mut x = 0;
        for part in &row.parts {
            // A caret inside a piece stands before it.
            if part.at >= caret {
                return (i, x);
            }
            x += cells(&part.label);
        }
        // At the end of a row that goes on in the next, the caret belongs to the next one.
        let last = rows.get(i + 1).is_none_or(|next| next.parts.first().is_none_or(|p| p.at > row.end));
        if caret <= row.end && (last || caret < row.end) {
            return (i, x);
        }
    }
    (rows.len().saturating_sub(1), rows.last().map_or(0, InputRow::cells))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::action::Action;

    fn texts(e: &Editor, width: usize) -> Vec<String> {
        e.rows(width).rows.iter().map(InputRow::text).collect()
    }

    #[test]
    fn mentions_are_short_except_under_the_caret() {
        let mut e = Editor::with("see @src/deep/cart.rs\nand @tests/cart.rs:3-9 ");
        assert_eq!(texts(&e, 60), ["see @cart.rs", "and @tests/cart.rs:3-9 "]);
        e.measure(60);
        e.act(Action::Up);
        assert_eq!(texts(&e, 60), ["see @src/deep/cart.rs", "and @cart.rs:3-9 "]);
        assert_eq!(e.expanded(), "see @src/deep/cart.rs\nand @tests/cart.rs:3-9 ");
    }

    #[test]
    fn rows_break_at_spaces_and_between_wide_characters() {
        assert_eq!(texts(&Editor::with("one two three"), 8), ["one two ", "three"]);
        assert_eq!(texts(&Editor::with("価格の決め方"), 7), ["価格の", "決め方"]);
        assert_eq!(texts(&Editor::with("abcdefghij"), 4), ["abcd", "efgh", "ij"]);
        assert_eq!(texts(&Editor::with("a\n"), 4), ["a", ""]);
    }

    #[test]
    fn the_caret_counts_wide_cells() {
        assert_eq!(Editor::with("価格ｱ").rows(20).caret, (0, 5));
        assert_eq!(Editor::with("one two three").rows(8).caret, (1, 5));
        assert_eq!(Editor::with("a\n").rows(8).caret, (1, 0));
        assert_eq!(Editor::with("").rows(8).caret, (0, 0));
    }

    #[test]
    fn signs_that_take_no_cell_show() {
        assert_eq!(texts(&Editor::with("a\tb\u{1b}\u{200b}"), 40), ["a    b^[⟨U+200B⟩"]);
        assert_eq!(texts(&Editor::with("привет"), 40), ["привет"]);
    }
}

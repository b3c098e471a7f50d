//! Tables: columns as wide as their cells, or as the room allows, with a rule under the header.

use pulldown_cmark::Alignment;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::inline::lines;
use super::{Inline, TableRow};
use crate::tui::look::Look;
use crate::tui::text::wrap::cells;
use crate::tui::theme::Role;

/// Cells between two columns.
const BETWEEN: usize = 2;
/// No column is made narrower, if the room allows.
const NARROWEST: usize = 4;

/// Returns the lines of a table in `room` cells.
pub(super) fn lines_of(columns: &[Alignment], rows: &[TableRow], room: usize, look: Look<'_>) -> Vec<Line<'static>> {
    let widths = widths(columns.len(), rows, room);
    let mut out = Vec::new();
    for (number, row) in rows.iter().enumerate() {
        let add = if number == 0 { Style::new().add_modifier(Modifier::BOLD) } else { Style::new() };
        let empty = Vec::new();
        let cell = |n: usize| row.get(n).unwrap_or(&empty);
        let wrapped: Vec<_> = widths.iter().enumerate().map(|(n, w)| lines(cell(n), *w, look, add)).collect();
        for part in 0..wrapped.iter().map(Vec::len).max().unwrap_or(0) {
            let mut spans: Vec<Span<'static>> = Vec::new();
            for (n, (cell, width)) in wrapped.iter().zip(&widths).enumerate() {
                let line = cell.get(part).cloned().unwrap_or_default();
                let missing = width.saturating_sub(line.spans.iter().map(|s| cells(&s.content)).sum());
                let before = match columns[n] {
                    Alignment::Right => missing,
                    Alignment::Center => missing / 2,
                    Alignment::Left | Alignment::None => 0,
                };
                let between = if n > 0 { BETWEEN } else { 0 };
                spans.push(" ".repeat(between + before).into());
                spans.extend(line.spans);
                spans.push(" ".repeat(missing - before).into());
            }
            out.push(spans.into());
        }
        if number == 0 {
            let rules: Vec<String> = widths.iter().map(|w| look.glyphs.rule.repeat(*w)).collect();
            out.push(Span::styled(rules.join(&" ".repeat(BETWEEN)), look.theme.style(Role::Line)).into());
        }
    }
    out
}

/// Returns the width of each column: what its cells need, and where that is too much the widest give way first, as far as
/// no word is broken.
fn widths(columns: usize, rows: &[TableRow], room: usize) -> Vec<usize> {
    let text = |cell: &Vec<Inline>| cell.iter().map(|i| i.text.as_str()).collect::<String>();
    let of_column = |n: usize, of: &dyn Fn(&str) -> usize| {
        rows.iter().filter_map(|r| r.get(n)).map(|cell| of(&text(cell))).max().unwrap_or(0).max(1)
    };
    let needs: Vec<usize> = (0..columns).map(|n| of_column(n, &|text| cells(text))).collect();
    let words: Vec<usize> = (0..columns).map(|n| of_column(n, &longest_word)).collect();
    let room = room.saturating_sub(BETWEEN * columns.saturating_sub(1));
    // Where not even the words have room, the longest are broken.
    let least = (NARROWEST.min(room / columns.max(1))).max(1);
    // A path is one word: it does not take the room of a column whose text breaks anywhere.
    let share = (room / 3).max(least);
    let squeezed = |n: usize| (0..columns).any(|other| other != n && words[other] * 2 < needs[other].min(share));
    let words: Vec<usize> = (0..columns).map(|n| if squeezed(n) { words[n].min(share) } else { words[n] }).collect();
    let words = limited(&words, &vec![1; columns], least, room);
    let mut widths = limited(&needs, &words, least, room);
    let mut spare = room.saturating_sub(widths.iter().sum());
    for (width, need) in widths.iter_mut().zip(needs) {
        // What the limit leaves over goes to the first columns that were cut.
        let more = usize::from(spare > 0 && *width < need);
        spare -= more;
        *width += more;
    }
    widths
}

/// Returns the widths, all wider than the largest limit with which they have room cut to it, but none below its floor.
fn limited(widths: &[usize], floors: &[usize], least: usize, room: usize) -> Vec<usize> {
    let at = |limit: usize| widths.iter().zip(floors).map(move |(w, floor)| (*w).min(limit.max(*floor)));
    let (mut low, mut high) = (least, widths.iter().copied().max().unwrap_or(1).max(least));
    while low < high {
        let middle = (low + high).div_ceil(2);
        if at(middle).sum::<usize>() <= room { low = middle } else { high = middle - 1 }
    }
    at(low).collect()
}

/// Returns the cells of the longest word, of a text that breaks between words alone.
fn longest_word(text: &str) -> usize {
    let is_narrow = |word: &&str| cells(word) == word.chars().count();
    text.split_whitespace().filter(is_narrow).map(cells).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_give_way_as_far_as_no_word_is_broken() {
        let row = |cells: &[&str]| -> TableRow {
            let inline = |text: &&str| vec![Inline { text: text.to_string(), face: Default::default() }];
            cells.iter().map(inline).collect()
        };
        let rows = [row(&["model", "not found", "unchanged"]), row(&["a model with a long name", "1", "2"])];
        assert_eq!(widths(3, &rows, 60), [24, 9, 9], "all have room");
        assert_eq!(widths(3, &rows, 30), [9, 8, 9]);
        assert_eq!(widths(3, &rows, 23), [5, 5, 9]);
        assert_eq!(widths(3, &rows, 20).iter().sum::<usize>(), 16, "the longest word is broken");
        let path = "src/checkout/handlers/orders/a_path_without_a_space.rs";
        let rows = [row(&[path, &"日本語の説明が長く続きます。".repeat(3), "12"])];
        let squeezed = widths(3, &rows, 60);
        assert!(squeezed[1] >= 18 && squeezed[2] == 2, "{squeezed:?}");
    }
}

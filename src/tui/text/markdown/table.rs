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

/// Returns the width of each column: what its cells need, and where that is too much the widest give way first.
fn widths(columns: usize, rows: &[TableRow], room: usize) -> Vec<usize> {
    let need = |cell: &Vec<Inline>| cell.iter().map(|i| cells(&i.text)).sum::<usize>();
    let mut widths: Vec<usize> =
        (0..columns).map(|n| rows.iter().filter_map(|r| r.get(n)).map(need).max().unwrap_or(0).max(1)).collect();
    let room = room.saturating_sub(BETWEEN * columns.saturating_sub(1));
    // The largest width to which all wider columns are cut so that the sum fits.
    let sum_at = |limit: usize| widths.iter().map(|w| *w.min(&limit)).sum::<usize>();
    let (mut low, mut high) = (NARROWEST.min(room / columns.max(1)).max(1), widths.iter().copied().max().unwrap_or(1));
    while low < high {
        let middle = (low + high).div_ceil(2);
        if sum_at(middle) <= room { low = middle } else { high = middle - 1 }
    }
    let mut spare = room.saturating_sub(sum_at(low));
    for width in widths.iter_mut().filter(|w| **w > low) {
        // What the limit leaves over goes to the first columns that were cut.
        let more = usize::from(spare > 0);
        spare -= more;
        *width = low + more;
    }
    widths
}

//! The search in a page of text: the rows that hold the words, and the one that is shown.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

use super::select;
use crate::tui::look::Ctx;
use crate::tui::text::cut;
use crate::tui::text::markdown::{Markdown, rows::Rows};
use crate::tui::text::wrap::cells;
use crate::tui::theme::Role;

/// Words that are looked for, and the rows that hold them.
#[derive(Debug, Default)]
pub struct PageSearch {
    /// In small letters.
    words: String,
    hits: Vec<usize>,
    /// The hit that is shown.
    at: usize,
    /// The width of the rows that were searched; `None`: they are still to be.
    width: Option<usize>,
    /// The person went to another hit, which is to be scrolled to.
    moved: bool,
}

impl PageSearch {
    /// Looks for these words from now on.
    pub fn look_for(&mut self, words: &str) {
        let words = words.to_lowercase();
        if words != self.words {
            *self = PageSearch { words, ..PageSearch::default() };
        }
    }

    /// Returns whether words are looked for.
    pub fn is_on(&self) -> bool {
        !self.words.is_empty()
    }

    /// Finds the rows that hold the words, where the words or the width are others than before; the first from row `top`
    /// on is shown. Returns the row to scroll to; none: all stays where it is.
    pub fn update(&mut self, doc: &Markdown, rows: &Rows, width: usize, top: usize) -> Option<usize> {
        if self.is_on() && self.width != Some(width) {
            let holds = |row: &usize| rows.text(doc, *row).to_lowercase().contains(&self.words);
            self.hits = (0..rows.len()).filter(holds).collect();
            self.at = self.hits.iter().position(|row| *row >= top).unwrap_or(0);
            (self.width, self.moved) = (Some(width), true);
        }
        std::mem::take(&mut self.moved).then(|| self.hits.get(self.at).copied()).flatten()
    }

    /// Goes to the next hit, or back to the one before, round the end.
    pub fn step(&mut self, forward: bool) {
        let n = self.hits.len();
        if n > 0 {
            self.at = (self.at + if forward { 1 } else { n - 1 }) % n;
            self.moved = true;
        }
    }

    /// Returns `2 of 7`: which of the rows that hold the words is shown; none: no words are looked for.
    pub fn count(&self) -> Option<String> {
        self.is_on().then(|| cut::hits(self.at + 1, self.hits.len()))
    }

    /// Marks the words in the rows in `area`, of which row `top` is the first, and the row that is shown.
    pub fn mark(&self, area: Rect, top: usize, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let first = self.hits.partition_point(|row| *row < top);
        for (at, row) in self.hits.iter().enumerate().skip(first) {
            let y = area.y.saturating_add(u16::try_from(row - top).unwrap_or(u16::MAX));
            if y >= area.bottom() {
                return;
            }
            let line = Rect { y, height: 1, ..area };
            if at == self.at {
                select(Rect { x: line.x.saturating_sub(2), width: line.width + 2, ..line }, buf, ctx);
            }
            self.mark_words(line, buf, ctx);
        }
    }

    fn mark_words(&self, line: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let hit = ctx.theme.style(Role::Focus).add_modifier(Modifier::BOLD | Modifier::UNDERLINED);
        // Where each letter stands; the second cell of a wide one holds nothing of its own.
        let (mut text, mut places, mut x) = (String::new(), Vec::new(), line.x);
        while x < line.right() {
            let symbol = buf[(x, line.y)].symbol().to_lowercase();
            let wide = u16::try_from(cells(&symbol)).unwrap_or(1).max(1);
            places.push((text.len(), x, wide));
            text.push_str(&symbol);
            x += wide;
        }
        for (from, found) in text.match_indices(&self.words) {
            for (_, x, wide) in places.iter().filter(|(at, ..)| (from..from + found.len()).contains(at)) {
                let place = Rect::new(*x, line.y, *wide, 1).intersection(line);
                buf.set_style(place, hit);
            }
        }
    }
}

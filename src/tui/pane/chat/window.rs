//! The rows and blocks that are on the screen. Blocks are laid out only when they come into view; the heights of those
//! never seen are guesses, good enough for the thumb.

use std::ops::Range;

use super::unit::{ChatBlock, ChatColumns};
use crate::tui::look::Look;

/// Laid-out blocks that are kept beside those in view.
const KEPT: usize = 256;
/// Blocks below what is seen whose heights are measured, so that the note is exact.
const BELOW: usize = 64;

/// A move of the view, done when the pane is measured next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Move {
    /// A number of rows down, or up.
    Rows(isize),
    /// A number of half pages down, or up.
    Halves(isize),
    /// To the beginning.
    First,
    /// To the end.
    Last,
    /// Scrolls until the block can be seen.
    Show(usize),
    /// To the next row that holds the words, from block and row on; `true`: downwards.
    Find(bool),
}

/// The blocks and what of them is seen.
#[derive(Debug, Default)]
pub(super) struct VisibleBlocks {
    pub(super) units: Vec<ChatBlock>,
    heights: Vec<u32>,
    /// Pinned to the end.
    pub(super) follow: bool,
    /// Else what is at the top: block and row in it, its gap counted.
    top: (usize, usize),
    /// The last block still grows.
    pub(super) growing: bool,
    columns: Option<ChatColumns>,
    height: usize,
    /// Blocks in view, with the rows seen of each.
    visible: Vec<(usize, Range<usize>)>,
    laid: Vec<usize>,
    /// Rows above and below what is seen.
    pub(super) above: usize,
    pub(super) below: usize,
}

impl VisibleBlocks {
    pub(super) fn push(&mut self, unit: ChatBlock) {
        let width = self.columns.map_or(72, |c| c.width);
        self.heights.push(unit.guess(width) as u32);
        self.units.push(unit);
    }

    pub(super) fn pop(&mut self) {
        self.units.pop();
        self.heights.pop();
        self.laid.retain(|n| *n < self.units.len());
    }

    pub(super) fn clear(&mut self) {
        let (columns, height) = (self.columns, self.height);
        *self = VisibleBlocks { follow: true, columns, height, ..VisibleBlocks::default() };
    }

    /// Blocks in view, with the rows seen of each.
    pub(super) fn visible(&self) -> &[(usize, Range<usize>)] {
        &self.visible
    }

    /// Returns the block and its row in row `y` of the pane.
    pub(super) fn at(&self, y: usize) -> Option<(usize, usize)> {
        let mut top = 0;
        for (unit, rows) in &self.visible {
            if y < top + rows.len() {
                return Some((*unit, rows.start + y - top));
            }
            top += rows.len();
        }
        None
    }

    /// Holds what is at the top where it is, whatever changes below.
    pub(super) fn hold(&mut self) {
        self.follow = false;
        if let Some((unit, rows)) = self.visible.first() {
            self.top = (*unit, rows.start);
        }
    }

    /// Does `moves`, then finds what is seen in a pane of this size.
    pub(super) fn measure(
        &mut self,
        columns: ChatColumns,
        height: usize,
        moves: &[Move],
        find: &mut Find<'_>,
        look: &Look<'_>,
    ) {
        if self.columns.is_some_and(|c| c != columns) {
            for (unit, height) in self.units.iter().zip(&mut self.heights) {
                *height = unit.guess(columns.width) as u32;
            }
        }
        (self.columns, self.height) = (Some(columns), height);
        for step in moves {
            self.step(step, find, look);
        }
        self.fill(look);
        self.free();
    }

    fn step(&mut self, step: &Move, find: &mut Find<'_>, look: &Look<'_>) {
        match step {
            Move::Rows(by) => self.scroll(*by, look),
            Move::Halves(by) => self.scroll(by * (self.height as isize / 2).max(1), look),
            Move::First => (self.follow, self.top) = (false, (0, 0)),
            Move::Last => self.follow = true,
            Move::Show(unit) => self.show(*unit, look),
            Move::Find(down) => self.find(*down, find, look),
        }
    }

    fn lay(&mut self, unit: usize, look: &Look<'_>) -> usize {
        let (Some(columns), growing) = (self.columns, self.growing && unit + 1 == self.units.len()) else { return 0 };
        if !self.units[unit].is_laid() {
            self.laid.push(unit);
        }
        let height = self.units[unit].layout(columns, look, growing);
        self.heights[unit] = height as u32;
        height
    }

    fn scroll(&mut self, by: isize, look: &Look<'_>) {
        if self.follow {
            if by >= 0 {
                return;
            }
            self.fill(look);
            self.hold();
        }
        if by < 0 { self.up(by.unsigned_abs(), look) } else { self.down(by.unsigned_abs(), look) }
    }

    fn up(&mut self, mut by: usize, look: &Look<'_>) {
        let (mut unit, mut row) = self.top;
        while by > row {
            by -= row;
            row = 0;
            if unit == 0 {
                by = 0;
                break;
            }
            unit -= 1;
            row = self.lay(unit, look);
        }
        self.top = (unit, row - by);
    }

    fn down(&mut self, by: usize, look: &Look<'_>) {
        let (mut unit, mut row) = (self.top.0, self.top.1 + by);
        while unit < self.units.len() {
            let height = self.lay(unit, look);
            if row < height {
                self.top = (unit, row);
                return;
            }
            row -= height;
            unit += 1;
        }
        self.follow = true;
    }

    /// Scrolls as little as brings the block into view, its beginning first.
    fn show(&mut self, unit: usize, look: &Look<'_>) {
        if unit >= self.units.len() {
            return;
        }
        self.fill(look);
        let height = self.lay(unit, look);
        let seen = self.visible.iter().find(|(n, _)| *n == unit).map(|(_, rows)| rows.len());
        if seen.is_some_and(|rows| rows == height) {
            return;
        }
        let above = self.visible.first().is_none_or(|(first, _)| unit <= *first);
        self.follow = false;
        self.top = (unit, 0);
        if !above && height < self.height {
            self.up(self.height - height, look);
        }
    }

    /// Returns the places that hold the words in a block, what is folded away included: the row, and which of the row's
    /// places it is.
    fn places(&mut self, unit: usize, words: &str, look: &Look<'_>) -> Vec<(usize, usize)> {
        let folds = self.units[unit].folds();
        if !folds && !contains(&self.units[unit].copied(), words) {
            return Vec::new();
        }
        let (open, height) = (self.units[unit].open, self.heights[unit]);
        self.units[unit].open = open || folds;
        let rows = 0..self.lay(unit, look);
        let count = |row| (0..count_in(&self.units[unit].row_text(row), words)).map(move |nth| (row, nth));
        let places = rows.flat_map(count).collect();
        if !open && folds {
            (self.units[unit].open, self.heights[unit]) = (false, height);
        }
        places
    }

    /// Opens a block whose row with the words is folded away.
    fn unfold(&mut self, unit: usize, row: usize, find: &mut Find<'_>, look: &Look<'_>) {
        self.lay(unit, look);
        if !contains(&self.units[unit].row_text(row), find.words) {
            self.units[unit].open = true;
            find.opened = Some(unit);
        }
    }

    /// Closes the block that the search opened, unless it is this one.
    fn fold_again(&mut self, but: Option<usize>, find: &mut Find<'_>, look: &Look<'_>) {
        if let Some(unit) = find.opened.take_if(|opened| Some(*opened) != but)
            && let Some(block) = self.units.get_mut(unit)
        {
            block.open = false;
            self.lay(unit, look);
        }
    }

    /// Counts the places that hold the words, and which of them was found.
    fn count(&mut self, find: &mut Find<'_>, look: &Look<'_>) {
        find.hits = (0, 0);
        for unit in 0..self.units.len() {
            if find.hits.1 >= MOST_HITS {
                return;
            }
            for (row, nth) in self.places(unit, find.words, look) {
                find.hits.1 += 1;
                if find.at.is_some_and(|at| (unit, row, nth) <= at) {
                    find.hits.0 = find.hits.1;
                }
            }
        }
    }

    fn find(&mut self, down: bool, find: &mut Find<'_>, look: &Look<'_>) {
        self.search(down, find, look);
        self.count(find, look);
    }

    fn search(&mut self, down: bool, find: &mut Find<'_>, look: &Look<'_>) {
        self.fill(look);
        let here = self.visible.first().map_or((0, 0, 0), |(n, rows)| (*n, rows.start, 0));
        let (unit, row, nth) = find.at.unwrap_or(here);
        let last = self.units.len();
        // From here to the end, then from the beginning: every block once, this one twice.
        let order: Vec<usize> = if down {
            (unit..last).chain(0..=unit.min(last.saturating_sub(1))).collect()
        } else {
            (0..=unit.min(last.saturating_sub(1))).rev().chain((unit..last).rev()).collect()
        };
        for (n, other) in order.into_iter().enumerate().filter(|(_, other)| *other < last) {
            let places = self.places(other, find.words, look).into_iter();
            // In the block begun with, only what lies beyond the present match.
            let beyond = |place: &(usize, usize)| {
                n > 0 || find.at.is_none() || if down { *place > (row, nth) } else { *place < (row, nth) }
            };
            let found = if down { places.filter(beyond).min() } else { places.filter(beyond).max() };
            if let Some((row, nth)) = found {
                find.at = Some((other, row, nth));
                self.fold_again(Some(other), find, look);
                self.unfold(other, row, find, look);
                self.fill(look);
                if !self.visible.iter().any(|(n, rows)| *n == other && rows.contains(&row)) {
                    (self.follow, self.top) = (false, (other, row));
                    self.up(self.height / 3, look);
                }
                return;
            }
        }
        self.fold_again(None, find, look);
    }

    /// Finds what is seen, and how much lies above and below.
    fn fill(&mut self, look: &Look<'_>) {
        self.visible.clear();
        if !self.follow {
            self.fill_down(look);
        }
        if self.follow {
            self.fill_up(look);
        } else {
            let next = self.visible.last().map_or(0, |(n, _)| n + 1);
            for unit in next..self.units.len().min(next + BELOW) {
                self.lay(unit, look);
            }
        }
        let sum = |heights: &[u32]| heights.iter().map(|h| *h as usize).sum::<usize>();
        let (first, last) = match (self.visible.first(), self.visible.last()) {
            (Some((a, top)), Some((b, bottom))) => ((*a, top.start), (*b, bottom.end)),
            _ => {
                (self.above, self.below) = (0, 0);
                return;
            }
        };
        self.above = sum(&self.heights[..first.0]) + first.1;
        self.below = sum(&self.heights[last.0..]).saturating_sub(last.1);
    }

    fn fill_down(&mut self, look: &Look<'_>) {
        let (mut unit, mut row) = self.top;
        let mut left = self.height;
        while unit < self.units.len() && left > 0 {
            let height = self.lay(unit, look);
            let rows = row.min(height)..height.min(row + left);
            left -= rows.len();
            if !rows.is_empty() {
                self.visible.push((unit, rows));
            }
            (unit, row) = (unit + 1, 0);
        }
        // Whoever sees the end stays there.
        let at_end =
            unit >= self.units.len() && self.visible.last().is_none_or(|(n, r)| r.end >= self.heights[*n] as usize);
        if left > 0 || at_end {
            self.follow = true;
            self.visible.clear();
        }
    }

    fn fill_up(&mut self, look: &Look<'_>) {
        let mut left = self.height;
        for unit in (0..self.units.len()).rev() {
            if left == 0 {
                break;
            }
            let height = self.lay(unit, look);
            let rows = height - height.min(left)..height;
            left -= rows.len();
            if !rows.is_empty() {
                self.visible.push((unit, rows));
            }
        }
        self.visible.reverse();
    }

    /// Frees the layouts of blocks that are far away, once there are many.
    fn free(&mut self) {
        if self.laid.len() <= KEPT {
            return;
        }
        let near = match (self.visible.first(), self.visible.last()) {
            (Some((a, _)), Some((b, _))) => a.saturating_sub(16)..b + BELOW + 1,
            _ => 0..0,
        };
        for unit in self.laid.iter().filter(|n| !near.contains(n)) {
            self.units[*unit].forget();
        }
        self.laid.retain(|n| near.contains(n));
    }
}

/// The text that is looked for, and its last place.
#[derive(Debug)]
pub(super) struct Find<'a> {
    pub(super) words: &'a str,
    /// Block, row of the block, and which of the row's places.
    pub(super) at: Option<(usize, usize, usize)>,
    /// Its number among the places that hold the words, from 1, and the number of those places.
    pub(super) hits: (usize, usize),
    /// The block that was folded and is open for the place found last.
    pub(super) opened: Option<usize>,
}

/// The number up to which places that hold the words are counted.
pub(super) const MOST_HITS: usize = 999;

/// Returns whether `text` holds `words`; the case of ASCII letters does not matter.
pub(super) fn contains(text: &str, words: &str) -> bool {
    position(text, words).is_some()
}

/// Returns how often `text` holds `words`.
fn count_in(text: &str, words: &str) -> usize {
    let (mut at, mut found) = (0, 0);
    while let Some(next) = position(&text[at..], words) {
        at += next + words.len();
        found += 1;
    }
    found
}

/// Returns where `words` begins in `text`, in bytes.
pub(super) fn position(text: &str, words: &str) -> Option<usize> {
    let (text, words) = (text.as_bytes(), words.as_bytes());
    let first = words.first()?.to_ascii_lowercase();
    let last = text.len().checked_sub(words.len())?;
    (0..=last)
        .find(|at| text[*at].to_ascii_lowercase() == first && text[*at..*at + words.len()].eq_ignore_ascii_case(words))
}

//! A diff that can be scrolled: files, their rows, and where each row begins at the present width. The pane of
//! proposals and the archive's comparison both show one.

use std::ops::Range;

use super::align;
use super::cells;
use super::folds::Folds;
use super::lines::Ending;
use super::rows::{self, FileView, Heads, HunkView, Layout, Row, Show};
use crate::proposal::{Counts, Proposal};
use crate::tui::action::Action;
use crate::tui::text::show::Invisible;

/// Side by side from this width on.
const SIDE_FROM: u16 = 100;

/// Lines of context around a hunk; fewer where that lets everything fit.
pub(super) const CONTEXT: usize = 3;
const LEAST_CONTEXT: usize = 1;
/// The rows below which what changed comes before what is around it.
const ROOMY: usize = 24;

/// A diff, its folds and its place.
#[derive(Debug, Clone)]
pub struct View {
    pub(super) files: Vec<FileView>,
    pub(super) heads: Heads,
    chosen: Option<Layout>,
    wrap: bool,
    pub(super) folds: Folds,
    pub(super) laid: PageRows,
    pub(super) top: usize,
    /// A key moved it.
    pub(super) moved: bool,
    pub(super) focus: Option<(usize, usize)>,
    /// The head of the file in focus has the focus, not its hunk.
    pub(super) on_head: bool,
    /// The hunk in focus can be acted on, though nothing waits for a decision.
    pub(super) acts: bool,
    /// The changes were made already: their hunks are kept or restored.
    pub(super) reviews: bool,
    pub(super) words: String,
    /// The rows that hold the words.
    pub(super) hits: Vec<usize>,
    /// The present one of them.
    pub(super) hit: usize,
}

/// The rows at one size.
#[derive(Debug, Clone, Default)]
pub(super) struct PageRows {
    pub width: u16,
    pub height: u16,
    pub layout: Option<Layout>,
    pub context: usize,
    pub rows: Vec<(u32, Row)>,
    /// The line of the endless page at which each row begins; one more at the end.
    pub tops: Vec<usize>,
}

impl PageRows {
    /// Returns the number of rows of the page.
    pub fn total(&self) -> usize {
        self.tops.last().copied().unwrap_or(0)
    }

    /// Returns the row that lies on line `y` of the page.
    pub fn at(&self, y: usize) -> usize {
        self.tops.partition_point(|t| *t <= y).saturating_sub(1).min(self.rows.len().saturating_sub(1))
    }
}

/// The columns of a layout, from the left edge of the pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Columns {
    /// Cells of a line number.
    pub number: u16,
    /// Cells for code on each side.
    pub room: usize,
    /// Column of the rule between the sides; 0 when unified.
    pub half: u16,
    /// Whole width that is drawn on, without the column of the scroll thumb.
    pub width: u16,
}

impl View {
    /// Creates a view of all files of a proposal, from the top.
    pub fn new(proposal: &Proposal, heads: Heads) -> Self {
        let mut budget = align::BUDGET;
        let mut files: Vec<_> = proposal.files.iter().map(|f| FileView::new(f, proposal, &mut budget)).collect();
        rows::gather(&mut files, proposal);
        let mut view = View {
            files,
            heads,
            chosen: None,
            wrap: false,
            folds: Folds::default(),
            laid: PageRows::default(),
            top: 0,
            moved: false,
            focus: None,
            on_head: false,
            acts: false,
            reviews: false,
            words: String::new(),
            hits: Vec::new(),
            hit: 0,
        };
        let first = view.hunks().next();
        view.focus = first;
        view
    }

    /// Marks the hunk in focus also where nothing is decided.
    pub fn marking_focus(self) -> Self {
        View { acts: true, ..self }
    }

    /// Marks those of these files that it shows: someone else changed them on disk.
    pub fn mark_stale(&mut self, paths: &[String]) {
        self.files.iter_mut().filter(|f| paths.contains(&f.path)).for_each(|f| f.stale = true);
    }

    /// Shows `file` of `proposal` again: its result was edited.
    pub fn replace(&mut self, file: usize, proposal: &Proposal) {
        let mut budget = align::BUDGET;
        if let (Some(old), Some(new)) = (self.files.get_mut(file), proposal.files.get(file)) {
            let mut file = FileView { stale: old.stale, ..FileView::new(new, proposal, &mut budget) };
            file.take_talk(old);
            *old = file;
            rows::gather(&mut self.files, proposal);
        }
        self.folds.open.retain(|(f, _)| *f != file);
        self.folds.shut.retain(|(f, _)| *f != file);
        if self.focus.is_some_and(|(f, h)| self.files.get(f).is_none_or(|v| h >= v.hunks.len())) {
            let near = self.hunks().find(|(f, _)| *f >= file).or(self.hunks().next());
            self.focus = near;
        }
        self.lay();
    }

    /// Returns the places of the files that have a row of their own: the repository has one.
    pub(super) fn file_rows(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.files.len()).filter(|at| !self.files[*at].aside)
    }

    /// Returns the number of files, the repository as one.
    pub fn file_count(&self) -> usize {
        self.file_rows().count()
    }

    /// Returns the column of the rule between the sides.
    pub fn middle(&self) -> u16 {
        self.columns().half
    }

    /// Returns all hunks, in order.
    pub fn hunks(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.files.iter().enumerate().flat_map(|(f, v)| (0..v.hunks.len()).map(move |h| (f, h)))
    }

    /// Returns the hunk in focus: file and hunk.
    pub fn focus(&self) -> Option<(usize, usize)> {
        self.focus
    }

    /// Returns the file of the hunk in focus, and the first of these lines of it.
    pub fn line_in_focus(&self, lines: impl Fn(&HunkView) -> &Range<usize>) -> Option<(String, usize)> {
        let (f, h) = self.focus?;
        let file = self.files.get(f)?;
        Some((file.path.clone(), file.hunks.get(h).map_or(0, |hunk| lines(hunk).start)))
    }

    /// Returns the layout in use.
    pub fn layout(&self) -> Layout {
        self.chosen.unwrap_or(if self.laid.width >= SIDE_FROM { Layout::Side } else { Layout::Unified })
    }

    /// Uses this layout whatever the width.
    pub fn prefer(&mut self, layout: Layout) {
        if self.chosen != Some(layout) {
            self.chosen = Some(layout);
            if self.laid.layout.is_some() {
                self.lay();
            }
        }
    }

    /// Returns lines added and removed in all files.
    pub fn counts(&self) -> Counts {
        self.files.iter().fold(Counts::default(), |sum, f| Counts {
            added: sum.added + f.counts.added,
            removed: sum.removed + f.counts.removed,
        })
    }

    /// Switches between side by side and unified.
    pub fn switch_layout(&mut self) {
        self.chosen = Some(match self.layout() {
            Layout::Side => Layout::Unified,
            Layout::Unified => Layout::Side,
        });
        self.lay();
    }

    /// Wraps unchanged lines, or cuts them.
    pub fn switch_wrap(&mut self) {
        self.wrap = !self.wrap;
        self.lay();
    }

    /// Returns whether unchanged lines wrap.
    pub fn wraps(&self) -> bool {
        self.wrap
    }

    /// Lays out for this size, if it is another one. `height` counts the rows of the diff alone.
    pub fn measure(&mut self, width: u16, height: u16) {
        if self.laid.layout.is_some() && (self.laid.width, self.laid.height) == (width, height) {
            return;
        }
        (self.laid.width, self.laid.height) = (width, height);
        self.lay();
        // Until something moved it, it begins at its beginning. What the keys go to stays in view; where it does not
        // fit, what is read stays where it was.
        if !self.moved {
            self.top = 0;
        }
        let fits = |extent: &Range<usize>| extent.len() <= self.room();
        let seen = |extent: &Range<usize>| extent.start < self.top + self.height() && self.top < extent.end;
        let extent = self.focus.and_then(|at| self.extent(at));
        if !self.moved || extent.is_some_and(|e| fits(&e) || !seen(&e)) {
            self.show_focus();
        }
    }

    pub(super) fn lay(&mut self) {
        let top = self.laid.rows.get(self.laid.at(self.top)).copied();
        let layout = self.layout();
        let height = self.height();
        self.lay_with(layout, CONTEXT);
        let changed: usize = self.files.iter().map(|f| f.counts.added.max(f.counts.removed)).sum();
        if self.laid.total() > height && changed < height {
            self.lay_with(layout, LEAST_CONTEXT);
            if self.laid.total() > height && height >= ROOMY {
                self.lay_with(layout, CONTEXT);
            }
        } else if height < ROOMY {
            self.lay_with(layout, LEAST_CONTEXT);
        }
        // What was at the top stays there.
        if let Some(i) = top.and_then(|row| self.laid.rows.iter().position(|r| *r == row)) {
            self.top = self.laid.tops[i];
        }
        self.top = self.top.min(self.last_top());
        self.find_hits();
    }

    fn lay_with(&mut self, layout: Layout, context: usize) {
        let rows = rows::all(&self.files, layout, context, &self.folds, self.heads);
        let columns = self.columns_for(layout);
        let mut tops = Vec::with_capacity(rows.len() + 1);
        let mut y = 0;
        for (file, row) in &rows {
            tops.push(y);
            y += self.rows_of(&self.files[*file as usize], *row, columns);
        }
        tops.push(y);
        self.laid = PageRows { rows, tops, context, layout: Some(layout), ..self.laid };
    }

    fn rows_of(&self, file: &FileView, row: Row, columns: Columns) -> usize {
        let Columns { room, .. } = columns;
        let side = |lines: &super::lines::Lines, i: usize| {
            let plain_end = match lines.ending(i) {
                Ending::None => file.usual == Ending::None,
                ending => ending == file.usual,
            };
            if lines.line(i).len() > cells::LONG {
                return cells::long_rows(lines.line(i), room, 0..0).1 + usize::from(!plain_end);
            }
            let visible = || cells::show_changed(lines.line(i), lines.ending(i), file.usual);
            if plain_end {
                cells::rows_of(lines.line(i), room, visible)
            } else {
                cells::wrapped(&visible(), room).len()
            }
        };
        match row {
            Row::Pair { left, right, show, .. } => {
                let left = left.filter(|_| show != Show::Right).map_or(1, |i| side(&file.before, i));
                let right = right.filter(|_| show != Show::Left).map_or(1, |i| side(&file.after, i));
                left.max(right)
            }
            Row::Talk { hunk, part } => file.talk_rows(hunk, part, columns.width).len().max(1),
            Row::Same { before, .. } if self.wrap => {
                let line = file.before.line(before);
                match line.len() {
                    0..=cells::LONG => cells::rows_of(line, room, || cells::show(line, Invisible::Keep)),
                    _ => cells::long_rows(line, room, 0..0).1,
                }
            }
            _ => 1,
        }
    }

    /// Returns the columns in use.
    pub(super) fn columns(&self) -> Columns {
        self.columns_for(self.layout())
    }

    fn columns_for(&self, layout: Layout) -> Columns {
        let longest = self.files.iter().map(|f| f.before.len().max(f.after.len())).max().unwrap_or(0);
        let number = (longest.max(1).ilog10() as u16 + 1).max(4);
        let width = self.laid.width.saturating_sub(1);
        let half = width.saturating_sub(1) / 2;
        // Number, space, sign, space; one cell stays free at the right.
        let (half, room) = match layout {
            Layout::Side => {
                (half, half.saturating_sub(1).min(width.saturating_sub(half + 2)).saturating_sub(number + 4))
            }
            Layout::Unified => (0, width.saturating_sub(2 * number + 6)),
        };
        Columns { number, room: usize::from(room).max(4), half, width }
    }

    pub(super) fn height(&self) -> usize {
        usize::from(self.laid.height)
    }

    /// Returns the first row of the page that is seen.
    pub fn top(&self) -> usize {
        self.top
    }

    /// Returns the number of rows of the whole page.
    pub fn total(&self) -> usize {
        self.laid.total()
    }

    pub(super) fn last_top(&self) -> usize {
        self.laid.total().saturating_sub(self.height())
    }

    /// Scrolls by this many rows. The focus follows: a hunk that is out of sight must not be decided by a key.
    pub fn scroll(&mut self, by: isize) {
        self.top = self.top.saturating_add_signed(by).min(self.last_top());
        self.follow();
    }

    /// Scrolls to the beginning or the end.
    pub fn scroll_to(&mut self, end: bool) {
        self.top = if end { self.last_top() } else { 0 };
        self.follow();
    }

    pub(super) fn follow(&mut self) {
        self.moved = true;
        let seen = self.top..self.top + self.height();
        let extent = self.focus.and_then(|at| self.extent(at));
        if extent.is_some_and(|e| e.start < seen.end && seen.start < e.end) {
            return;
        }
        let rows = self.laid.at(seen.start)..=self.laid.at(seen.end.saturating_sub(1));
        let hunk = rows.filter_map(|i| self.laid.rows.get(i)).find_map(hunk_of);
        if hunk.is_some() {
            (self.focus, self.on_head) = (hunk, false);
        }
    }

    /// Returns the number of rows of half a page.
    pub fn half_page(&self) -> isize {
        (self.height() / 2).max(1) as isize
    }

    /// Gives hunk `at` the focus and brings it into view.
    pub fn set_focus(&mut self, at: (usize, usize)) {
        (self.focus, self.moved, self.on_head) = (Some(at), true, false);
        self.show_focus();
    }

    /// Gives the head of a file the focus: of the next one, of this one, or of the one before.
    pub fn focus_head(&mut self, forward: bool) {
        let here = self.focus.filter(|_| !forward && !self.on_head).map(|(f, _)| (f, 0));
        let Some(at) = here.or_else(|| self.file_by(if forward { 1 } else { -1 })) else { return };
        self.set_focus(at);
        self.on_head = true;
        let head = |(f, row): &(u32, Row)| *f as usize == at.0 && matches!(row, Row::Head);
        if let Some(row) = self.laid.rows.iter().position(head) {
            self.top = self.laid.tops[row].min(self.last_top());
        }
    }

    /// Returns the hunk `by` places further on (or back), if there is one.
    pub fn hunk_by(&self, by: isize) -> Option<(usize, usize)> {
        let all: Vec<_> = self.hunks().collect();
        let here = all.iter().position(|at| Some(*at) == self.focus)?;
        all.get(here.checked_add_signed(by)?).copied()
    }

    /// Returns the first hunk of the next file, or of the one before.
    pub fn file_by(&self, by: isize) -> Option<(usize, usize)> {
        let (mut f, _) = self.focus?;
        loop {
            f = f.checked_add_signed(by)?;
            if !self.files.get(f)?.hunks.is_empty() {
                return Some((f, 0));
            }
        }
    }

    /// Returns where the hunk lies on the page: from its first row to after its last.
    fn extent(&self, at: (usize, usize)) -> Option<Range<usize>> {
        let of = |row: &(u32, Row)| hunk_of(row) == Some(at);
        let first = self.laid.rows.iter().position(of)?;
        let last = self.laid.rows.iter().rposition(of)?;
        Some(self.laid.tops[first]..self.laid.tops[last + 1])
    }

    /// Returns the rows of the page that are seen, and those of the hunk in focus.
    #[cfg(test)]
    pub fn place_of_focus(&self) -> Option<(Range<usize>, Range<usize>)> {
        Some((self.top..self.top + self.height(), self.extent(self.focus?)?))
    }

    /// Scrolls as little as shows the whole hunk in focus; one that is too long, from its beginning.
    pub(super) fn show_focus(&mut self) {
        let Some(mut extent) = self.focus.and_then(|at| self.extent(at)) else { return };
        // The fold that follows is part of the picture.
        if matches!(self.laid.rows.get(self.laid.at(extent.end)), Some((_, Row::Fold { .. }))) {
            extent.end += 1;
        }
        // The first row is the path of the file at the top.
        let (head, room) = (self.head_rows(), self.room());
        if extent.end > self.top + self.height() {
            self.top = extent.end.saturating_sub(self.height());
        }
        if extent.len() > room || extent.start < self.top + head {
            self.top = extent.start.saturating_sub(head);
        }
        self.top = self.top.min(self.last_top());
    }

    /// Scrolls by an action that does so. Returns false for any other.
    pub fn scroll_by(&mut self, action: Action) -> bool {
        let half = self.half_page();
        match action {
            Action::Up => self.scroll(-1),
            Action::Down => self.scroll(1),
            Action::HalfUp => self.scroll(-half),
            Action::HalfDown => self.scroll(half),
            Action::PageUp => self.scroll(-2 * half),
            Action::PageDown => self.scroll(2 * half),
            Action::First => self.scroll_to(false),
            Action::Last => self.scroll_to(true),
            _ => return false,
        }
        true
    }

    /// Returns the number of rows that the path of the file at the top takes.
    pub(super) fn head_rows(&self) -> usize {
        usize::from(self.heads == Heads::All)
    }

    /// Returns the number of rows that are left for a hunk.
    fn room(&self) -> usize {
        self.height().saturating_sub(self.head_rows())
    }

    /// Gives the hunk that lies on row `y` of the body the focus.
    pub fn click(&mut self, y: u16) {
        let Some(row) = self.laid.rows.get(self.laid.at(self.top + usize::from(y))) else { return };
        let head = matches!(row.1, Row::Head).then_some((row.0 as usize, 0));
        let head = head.filter(|(f, _)| !self.files[*f].hunks.is_empty());
        self.on_head = self.acts && head.is_some();
        self.focus = hunk_of(row).or(head).or(self.focus);
    }
}

/// Returns the hunk that a row belongs to.
pub(super) fn hunk_of((file, row): &(u32, Row)) -> Option<(usize, usize)> {
    let hunk = match row {
        Row::Hunk { hunk }
        | Row::Shut { hunk }
        | Row::Note { hunk }
        | Row::Talk { hunk, .. }
        | Row::Pair { hunk, .. } => Some(*hunk),
        Row::Same { hunk, .. } => *hunk,
        _ => None,
    };
    hunk.map(|h| (*file as usize, h))
}

//! One block of the chat: a message, an answer, a thought, a run of calls, a notice. Each lays itself out at a
//! width and keeps the rows until the width, the theme or its contents change.

use std::borrow::Cow;
use std::ops::Range;
use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::style::Modifier;
use ratatui::text::Line;

use super::lines;
use super::words::CallSummary;
use crate::messages::chat as say;
use crate::proposal::HunkCount;
use crate::protocol::{Attached, ItemId, Notice, RuleChip, Wait};
use crate::tui::look::{Ctx, Look};
use crate::tui::text::markdown::Markdown;
use crate::tui::text::markdown::rows::Rows;
use crate::tui::text::paint;
use crate::tui::text::wrap::cells;
use crate::tui::theme::Role;

/// Cells of the labels' column.
const LABEL: usize = 8;
/// No text is wider.
const WIDEST: usize = 100;
/// The columns below which the labels stand on lines of their own.
const NARROW: u16 = 71;
/// Cells kept free at the right of a message for its time.
const TIME: usize = 7;

/// The content of a block.
#[derive(Debug, Clone)]
pub(super) enum BlockContent {
    User {
        text: String,
        at: i64,
        attached: Vec<Attached>,
    },
    Answer(Markdown),
    Thinking {
        text: String,
        took: Option<Duration>,
        over: bool,
    },
    Calls(Vec<(ItemId, CallSummary)>),
    Rules(Vec<RuleChip>),
    /// A question to the person.
    Question(String),
    /// The person's answer to it.
    Reply {
        text: String,
        at: Option<i64>,
    },
    /// A question of the person about a hunk, and the model's answer.
    Comment {
        question: String,
        answer: String,
    },
    /// The person's decision of a proposal.
    Decided {
        hunks: HunkCount,
        at: i64,
    },
    Notice(Notice),
    Retry(Wait),
}

impl BlockContent {
    /// Returns whether it is a line that folds, or belongs to one: no empty row stands between two of them.
    pub(super) fn is_fold(&self) -> bool {
        matches!(
            self,
            BlockContent::Calls(_)
                | BlockContent::Rules(_)
                | BlockContent::Comment { .. }
                | BlockContent::Decided { .. }
                | BlockContent::Thinking { .. }
        )
    }

    /// Returns whether it tells what the person said of calls: calls of the same step join the ones above it.
    pub(super) fn is_about_calls(&self) -> bool {
        matches!(
            self,
            BlockContent::Question(_)
                | BlockContent::Reply { .. }
                | BlockContent::Comment { .. }
                | BlockContent::Decided { .. }
        )
    }
}

/// The columns of the chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ChatColumns {
    /// Column of the text, from the left edge of the pane.
    pub(super) text: usize,
    /// Cells of the text.
    pub(super) width: usize,
    /// Labels stand on lines of their own.
    pub(super) narrow: bool,
}

impl ChatColumns {
    /// Creates the columns of a pane of `width` cells; `beside`: labels never stand on lines of their own.
    pub(super) fn new(width: u16, beside: bool) -> Self {
        let narrow = width < NARROW && !beside;
        let text = if narrow { 1 } else { 1 + LABEL };
        ChatColumns { text, width: usize::from(width).saturating_sub(text + 1).clamp(8, WIDEST), narrow }
    }
}

/// A block of the chat.
#[derive(Debug)]
pub(super) struct ChatBlock {
    pub(super) said: BlockContent,
    /// It begins with the name of who speaks.
    pub(super) label: bool,
    /// An empty row stands before it.
    pub(super) gap: bool,
    /// True if it belongs to the thought on the label's line: a narrow pane draws no empty row there.
    pub(super) tight: bool,
    /// Its fold is open.
    pub(super) open: bool,
    /// It is the selected one: mentions show their whole path.
    pub(super) whole: bool,
    laid: Option<UnitLayout>,
}

#[derive(Debug)]
struct UnitLayout {
    columns: ChatColumns,
    stamp: u64,
    open: bool,
    whole: bool,
    head: Vec<Line<'static>>,
    /// Rows of Markdown below the head.
    rows: Rows,
    /// The row that folds and unfolds.
    fold: Option<usize>,
    stale: bool,
}

impl ChatBlock {
    pub(super) fn new(said: BlockContent) -> Self {
        ChatBlock { said, label: false, gap: false, tight: false, open: false, whole: false, laid: None }
    }

    /// Notes that its contents changed.
    pub(super) fn touch(&mut self) {
        if let Some(laid) = &mut self.laid {
            laid.stale = true;
        }
    }

    /// Frees what can be made again.
    pub(super) fn forget(&mut self) {
        self.laid = None;
        if let BlockContent::Answer(doc) = &mut self.said {
            doc.forget();
        }
    }

    pub(super) fn is_laid(&self) -> bool {
        self.laid.is_some()
    }

    /// Lays it out, unless that is done, and returns its height with the gap; nothing to show: 0.
    pub(super) fn layout(&mut self, columns: ChatColumns, look: &Look<'_>, growing: bool) -> usize {
        let as_now = |l: &UnitLayout| (l.columns, l.stamp, l.open, l.whole);
        let now = (columns, look.theme.stamp(), self.open, self.whole);
        let fresh = self.laid.as_ref().is_some_and(|l| !l.stale && as_now(l) == now);
        if !fresh {
            let rows = self.laid.take().map(|l| l.rows).unwrap_or_default();
            self.laid = Some(self.lay(rows, columns, look));
        }
        let rows = self.rows();
        // An answer that has not begun shows that it will.
        let rows = if rows == 0 && growing { 1 } else { rows };
        let own_line = self.label && columns.narrow && rows > 0 && !self.head_beside_label();
        if rows == 0 { 0 } else { rows + usize::from(own_line) + self.gap_rows(columns) }
    }

    /// Returns the number of rows that stand before the block, as it was laid out.
    pub(super) fn gap_height(&self) -> usize {
        self.laid.as_ref().map_or(0, |l| self.gap_rows(l.columns))
    }

    fn gap_rows(&self, columns: ChatColumns) -> usize {
        usize::from(self.gap && !(self.tight && columns.narrow))
    }

    /// Returns the number of rows of the text alone.
    fn rows(&self) -> usize {
        self.laid.as_ref().map_or(0, |l| l.head.len() + l.rows.len())
    }

    /// Returns whether the label stands on the line of a fold, as in narrow panes.
    fn head_beside_label(&self) -> bool {
        matches!(self.said, BlockContent::Thinking { .. })
    }

    /// Returns the number of rows before the first of the text: the gap, and the label's own line.
    fn before(&self, columns: ChatColumns) -> usize {
        self.gap_rows(columns) + usize::from(self.label && columns.narrow && !self.head_beside_label())
    }

    /// Returns a guess of the height, for blocks that were never looked at.
    pub(super) fn guess(&self, width: usize) -> usize {
        let of = |text: &str| text.len() / width.max(1) + text.bytes().filter(|b| *b == b'\n').count() + 1;
        1 + match &self.said {
            BlockContent::User { text, attached, .. } => of(text) + usize::from(!attached.is_empty()),
            BlockContent::Question(text) | BlockContent::Reply { text, .. } => of(text),
            BlockContent::Answer(doc) => of(doc.text()),
            BlockContent::Notice(notice) => of(&notice.detail) + 2,
            BlockContent::Comment { question, answer } => of(question) + of(answer),
            BlockContent::Thinking { .. }
            | BlockContent::Calls(_)
            | BlockContent::Decided { .. }
            | BlockContent::Rules(_)
            | BlockContent::Retry(_) => 1,
        }
    }

    /// Returns whether there is something to open or close.
    pub(super) fn folds(&self) -> bool {
        match &self.said {
            BlockContent::User { attached, .. } => !attached.is_empty(),
            BlockContent::Thinking { text, .. } => !text.is_empty(),
            BlockContent::Calls(_) | BlockContent::Rules(_) => true,
            _ => false,
        }
    }

    /// Returns whether row `row` of the block, its gap counted, is the one that folds.
    pub(super) fn is_fold_row(&self, row: usize) -> bool {
        let Some(laid) = &self.laid else { return false };
        laid.fold.is_some_and(|fold| fold + self.before(laid.columns) == row)
    }

    /// Returns what copying it gives.
    pub(super) fn copied(&self) -> Cow<'_, str> {
        match &self.said {
            BlockContent::User { text, .. }
            | BlockContent::Thinking { text, .. }
            | BlockContent::Question(text)
            | BlockContent::Reply { text, .. } => text.into(),
            BlockContent::Answer(doc) => doc.text().into(),
            BlockContent::Calls(calls) => {
                calls.iter().map(|(_, d)| format!("{} {}", d.name, d.main)).collect::<Vec<_>>().join("\n").into()
            }
            BlockContent::Rules(rules) => {
                rules.iter().map(|r| format!("{} {}", r.path, r.reason)).collect::<Vec<_>>().join("\n").into()
            }
            BlockContent::Comment { question, answer } => format!("{question}\n{answer}").into(),
            BlockContent::Decided { hunks, .. } => lines::decided_words(*hunks).into(),
            BlockContent::Notice(notice) => {
                format!("{}\n{}", notice.title, notice.detail).trim_end().to_string().into()
            }
            BlockContent::Retry(wait) => (&wait.why).into(),
        }
    }

    /// Returns the text of row `row` of the block, its gap counted, for searching.
    pub(super) fn row_text(&self, row: usize) -> String {
        let Some(laid) = &self.laid else { return String::new() };
        let Some(row) = row.checked_sub(self.before(laid.columns)) else { return String::new() };
        match (laid.head.get(row), &self.said) {
            (Some(line), _) => line.spans.iter().map(|s| s.content.as_ref()).collect(),
            (None, BlockContent::Answer(doc)) => laid.rows.text(doc, row - laid.head.len()),
            _ => String::new(),
        }
    }

    fn lay(&mut self, mut rows: Rows, columns: ChatColumns, look: &Look<'_>) -> UnitLayout {
        let (open, whole) = (self.open, self.whole);
        let (mut head, mut fold) = (Vec::new(), None);
        match &mut self.said {
            BlockContent::User { text, attached, .. } => {
                // The time stands at the right of the text, in narrow panes on the label's line.
                let width = if columns.narrow { columns.width } else { columns.width.saturating_sub(TIME) };
                head = lines::user(text, attached, whole, width, look);
                if !attached.is_empty() {
                    fold = Some(head.len());
                    head.extend(lines::attachments(attached, open, columns.width, look));
                }
            }
            BlockContent::Answer(doc) => {
                doc.refresh();
                rows.update(doc, columns.width, *look);
            }
            BlockContent::Thinking { text, took, over } => {
                fold = (!text.is_empty()).then_some(0);
                head = lines::thought(text, *took, *over, open, columns.width, look);
            }
            BlockContent::Calls(calls) => {
                fold = Some(0);
                head = lines::run_of_calls(calls, open, columns.width, look);
            }
            BlockContent::Rules(rules) => {
                fold = Some(0);
                head = lines::rules(rules, open, columns.width, look);
            }
            BlockContent::Question(text) => head = lines::question(text, columns.width, look),
            BlockContent::Reply { text, .. } => {
                let width = if columns.narrow { columns.width } else { columns.width.saturating_sub(TIME) };
                head = lines::user(text, &[], whole, width, look);
            }
            BlockContent::Comment { question, answer } => head = lines::comment(question, answer, columns.width, look),
            BlockContent::Decided { hunks, at } => head = lines::decided(*hunks, *at, columns.width, look),
            BlockContent::Notice(notice) => head = lines::notice(notice, columns.width, look),
            // The seconds are put in when it is drawn.
            BlockContent::Retry(wait) => head = lines::retry(wait, wait.until, columns.width, look),
        }
        UnitLayout { columns, stamp: look.theme.stamp(), open, whole, head, rows, fold, stale: false }
    }

    /// Draws the rows of `range`, its gap counted, at `y` and below; `x` is the left edge of the pane.
    pub(super) fn draw(&self, range: Range<usize>, (x, y): (u16, u16), growing: bool, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let Some(laid) = &self.laid else { return };
        let columns = laid.columns;
        let before = self.before(columns);
        let text_x = x + columns.text as u16;
        let at = |row: usize| row.checked_sub(range.start).filter(|_| row < range.end).map(|n| y + n as u16);
        if let (true, Some(y)) = (self.label, at(self.gap_rows(columns))) {
            self.draw_label(x + 1, y, buf, ctx);
        }
        let when = match &self.said {
            BlockContent::User { at, .. } => Some(*at),
            BlockContent::Reply { at, .. } => *at,
            _ => None,
        };
        if let (Some(when), Some(y)) = (when, at(self.gap_rows(columns))) {
            let time = ctx.clock().minute(when);
            let left = (columns.width - cells(&time)) as u16;
            paint::text(buf, text_x + left, y, cells(&time), &time, ctx.theme.style(Role::Dim));
        }
        let live = match &self.said {
            BlockContent::Retry(wait) => Some(lines::retry(wait, ctx.now, columns.width, &ctx.look())),
            _ => None,
        };
        let head = live.as_ref().unwrap_or(&laid.head);
        for (row, line) in head.iter().enumerate() {
            if let Some(y) = at(row + before) {
                // Beside the label of a narrow pane, a fold begins where text does in a wide one.
                let indent =
                    if columns.narrow && self.label && self.head_beside_label() && row == 0 { LABEL } else { 0 };
                paint::spans(buf, text_x + indent as u16, y, columns.width - indent, &line.spans);
            }
        }
        if let BlockContent::Answer(doc) = &self.said {
            let first = range.start.saturating_sub(before);
            if let Some(y) = at(first + before) {
                let rows = first..range.end.saturating_sub(before);
                laid.rows.draw(doc, rows, (text_x, y), buf, ctx.look(), ctx.colours);
            }
            if growing {
                let last = laid.rows.len().saturating_sub(1) + before;
                if let Some(y) = at(last) {
                    let end = laid.rows.end(doc).min(columns.width - 1) as u16;
                    paint::text(buf, text_x + end, y, 1, ctx.glyphs.growing, ctx.theme.style(Role::Accent));
                }
            }
        }
    }

    fn draw_label(&self, x: u16, y: u16, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let (name, role) = match self.said {
            BlockContent::User { .. } | BlockContent::Reply { .. } => (say::you(), Role::Focus),
            _ => (lines::NEBULA, Role::Accent),
        };
        paint::text(buf, x, y, LABEL, name, ctx.theme.style(role).add_modifier(Modifier::BOLD));
    }
}

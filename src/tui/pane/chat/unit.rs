//! One block of the chat: a message, an answer, a thought, a run of calls, a notice. Each lays itself out at a
//! width and keeps the rows until the width, the theme or its contents change.

use std::borrow::Cow;
use std::ops::Range;
use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::words::{self, Did};
use crate::context::mention::{Target, mentions};
use crate::protocol::{Attached, CallState, ItemId, Level, Notice, RuleChip, Wait};
use crate::tui::action::Context;
use crate::tui::pane::{Ctx, Look};
use crate::tui::text::markdown::Markdown;
use crate::tui::text::markdown::rows::Rows;
use crate::tui::text::number::plural;
use crate::tui::text::wrap::{cells, wrap};
use crate::tui::text::{cut, paint, show};
use crate::tui::theme::Role;

/// Cells of the labels' column.
const LABEL: usize = 8;
/// No text is wider.
const WIDEST: usize = 100;
/// Below this many columns the labels stand on lines of their own.
const NARROW: u16 = 71;
/// Cells kept free at the right of a message for its time.
const TIME: usize = 7;

/// What a block says.
#[derive(Debug, Clone)]
pub(super) enum Said {
    User { text: String, at: i64, attached: Vec<Attached> },
    Answer(Markdown),
    Thinking { text: String, took: Option<Duration>, over: bool },
    Calls(Vec<(ItemId, Did)>),
    Rules(Vec<RuleChip>),
    Notice(Notice),
    Retry(Wait),
}

/// Where the columns of the chat are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Columns {
    /// Column of the text, from the left edge of the pane.
    pub(super) text: usize,
    /// Cells of the text.
    pub(super) width: usize,
    /// Labels stand on lines of their own.
    pub(super) narrow: bool,
}

impl Columns {
    /// The columns of a pane of `width` cells; `beside`: labels never stand on lines of their own.
    pub(super) fn new(width: u16, beside: bool) -> Self {
        let narrow = width < NARROW && !beside;
        let text = if narrow { 1 } else { 1 + LABEL };
        Columns { text, width: usize::from(width).saturating_sub(text + 1).clamp(8, WIDEST), narrow }
    }
}

/// A block of the chat.
#[derive(Debug)]
pub(super) struct Unit {
    pub(super) said: Said,
    /// It begins with the name of who speaks.
    pub(super) label: bool,
    /// An empty row stands before it.
    pub(super) gap: bool,
    /// But not in a narrow pane: it belongs to the thought on the label's line.
    pub(super) tight: bool,
    /// Its fold is open.
    pub(super) open: bool,
    /// It is the selected one: mentions show their whole path.
    pub(super) whole: bool,
    laid: Option<Laid>,
}

#[derive(Debug)]
struct Laid {
    columns: Columns,
    stamp: u64,
    open: bool,
    whole: bool,
    head: Vec<Line<'static>>,
    /// Rows of Markdown below the head.
    rows: Rows,
    /// Which row folds and unfolds.
    fold: Option<usize>,
    stale: bool,
}

impl Unit {
    pub(super) fn new(said: Said) -> Self {
        Unit { said, label: false, gap: false, tight: false, open: false, whole: false, laid: None }
    }

    /// Its contents changed.
    pub(super) fn touch(&mut self) {
        if let Some(laid) = &mut self.laid {
            laid.stale = true;
        }
    }

    /// Frees what can be made again.
    pub(super) fn forget(&mut self) {
        self.laid = None;
        if let Said::Answer(doc) = &mut self.said {
            doc.forget();
        }
    }

    pub(super) fn is_laid(&self) -> bool {
        self.laid.is_some()
    }

    /// Lays it out, unless that is done, and returns its height with the gap; nothing to show: 0.
    pub(super) fn layout(&mut self, columns: Columns, look: &Look<'_>, growing: bool) -> usize {
        let as_now = |l: &Laid| (l.columns, l.stamp, l.open, l.whole);
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

    /// Rows that stand before the block, as it was laid out.
    pub(super) fn gap_height(&self) -> usize {
        self.laid.as_ref().map_or(0, |l| self.gap_rows(l.columns))
    }

    fn gap_rows(&self, columns: Columns) -> usize {
        usize::from(self.gap && !(self.tight && columns.narrow))
    }

    /// Rows of the text alone.
    fn rows(&self) -> usize {
        self.laid.as_ref().map_or(0, |l| l.head.len() + l.rows.len())
    }

    /// In narrow panes a fold stands on the label's line.
    fn head_beside_label(&self) -> bool {
        matches!(self.said, Said::Thinking { .. })
    }

    /// Rows before the first of the text: the gap, and the label's own line.
    fn before(&self, columns: Columns) -> usize {
        self.gap_rows(columns) + usize::from(self.label && columns.narrow && !self.head_beside_label())
    }

    /// A guess of the height, for blocks that were never looked at.
    pub(super) fn guess(&self, width: usize) -> usize {
        let of = |text: &str| text.len() / width.max(1) + text.bytes().filter(|b| *b == b'\n').count() + 1;
        1 + match &self.said {
            Said::User { text, attached, .. } => of(text) + usize::from(!attached.is_empty()),
            Said::Answer(doc) => of(doc.text()),
            Said::Notice(notice) => of(&notice.detail) + 2,
            Said::Thinking { .. } | Said::Calls(_) | Said::Rules(_) | Said::Retry(_) => 1,
        }
    }

    /// Whether there is something to open or close.
    pub(super) fn folds(&self) -> bool {
        match &self.said {
            Said::User { attached, .. } => !attached.is_empty(),
            Said::Thinking { text, .. } => !text.is_empty(),
            Said::Calls(_) | Said::Rules(_) => true,
            Said::Answer(_) | Said::Notice(_) | Said::Retry(_) => false,
        }
    }

    /// Whether row `row` of the block, its gap counted, is the one that folds.
    pub(super) fn is_fold_row(&self, row: usize) -> bool {
        let Some(laid) = &self.laid else { return false };
        laid.fold.is_some_and(|fold| fold + self.before(laid.columns) == row)
    }

    /// What copying it gives.
    pub(super) fn copied(&self) -> Cow<'_, str> {
        match &self.said {
            Said::User { text, .. } | Said::Thinking { text, .. } => text.into(),
            Said::Answer(doc) => doc.text().into(),
            Said::Calls(calls) => {
                calls.iter().map(|(_, d)| format!("{} {}", d.name, d.main)).collect::<Vec<_>>().join("\n").into()
            }
            Said::Rules(rules) => {
                rules.iter().map(|r| format!("{} {}", r.path, r.reason)).collect::<Vec<_>>().join("\n").into()
            }
            Said::Notice(notice) => format!("{}\n{}", notice.title, notice.detail).trim_end().to_string().into(),
            Said::Retry(wait) => (&wait.why).into(),
        }
    }

    /// The text of row `row` of the block, its gap counted, for searching.
    pub(super) fn row_text(&self, row: usize) -> String {
        let Some(laid) = &self.laid else { return String::new() };
        let Some(row) = row.checked_sub(self.before(laid.columns)) else { return String::new() };
        match (laid.head.get(row), &self.said) {
            (Some(line), _) => line.spans.iter().map(|s| s.content.as_ref()).collect(),
            (None, Said::Answer(doc)) => laid.rows.text(doc, row - laid.head.len()),
            _ => String::new(),
        }
    }

    fn lay(&mut self, mut rows: Rows, columns: Columns, look: &Look<'_>) -> Laid {
        let (open, whole) = (self.open, self.whole);
        let (mut head, mut fold) = (Vec::new(), None);
        match &mut self.said {
            Said::User { text, attached, .. } => {
                // The time stands at the right of the text, in narrow panes on the label's line.
                let width = if columns.narrow { columns.width } else { columns.width.saturating_sub(TIME) };
                head = user(text, attached, whole, width, look);
                if !attached.is_empty() {
                    fold = Some(head.len());
                    head.extend(attachments(attached, open, columns.width, look));
                }
            }
            Said::Answer(doc) => {
                doc.refresh();
                rows.update(doc, columns.width, *look);
            }
            Said::Thinking { text, took, over } => {
                fold = Some(0);
                head = thought(text, *took, *over, open, columns.width, look);
            }
            Said::Calls(calls) => {
                fold = Some(0);
                head = run_of_calls(calls, open, columns.width, look);
            }
            Said::Rules(rules) => {
                fold = Some(0);
                head = self::rules(rules, open, columns.width, look);
            }
            Said::Notice(notice) => head = self::notice(notice, columns.width, look),
            // The seconds are put in when it is drawn.
            Said::Retry(wait) => head = retry(wait, wait.until, columns.width, look),
        }
        Laid { columns, stamp: look.theme.stamp(), open, whole, head, rows, fold, stale: false }
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
        if let (Said::User { at: when, .. }, Some(y)) = (&self.said, at(self.gap_rows(columns))) {
            let time = words::time_of_day(*when, ctx.zone);
            let left = (columns.width - cells(&time)) as u16;
            paint::text(buf, text_x + left, y, cells(&time), &time, ctx.theme.style(Role::Dim));
        }
        let live = match &self.said {
            Said::Retry(wait) => Some(retry(wait, ctx.now, columns.width, &ctx.look())),
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
        if let Said::Answer(doc) = &self.said {
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
            Said::User { .. } => ("you", Role::Focus),
            _ => ("nebula", Role::Accent),
        };
        paint::text(buf, x, y, LABEL, name, ctx.theme.style(role).add_modifier(Modifier::BOLD));
    }
}

/// A message as it was typed, its mentions short unless it is shown `whole`.
fn user(text: &str, attached: &[Attached], whole: bool, width: usize, look: &Look<'_>) -> Vec<Line<'static>> {
    let (plain, mention) = (look.theme.style(Role::Text), look.theme.style(Role::Mention));
    let mut spans: Vec<Span<'static>> = Vec::new();
    let mut at = 0;
    for found in mentions(text) {
        let real = match &found.target {
            Target::Path { path, sure, .. } => *sure || attached.iter().any(|a| a.path == *path),
            Target::Rag { .. } => true,
        };
        if real {
            spans.push(Span::styled(text[at..found.range.start].to_string(), plain));
            let shown = if whole { text[found.range.clone()].to_string() } else { found.short() };
            spans.push(Span::styled(shown, mention));
            at = found.range.end;
        }
    }
    spans.push(Span::styled(text[at..].to_string(), plain));
    let (mut out, mut line) = (Vec::new(), Vec::new());
    for span in spans {
        for (n, part) in span.content.split('\n').enumerate() {
            if n > 0 {
                out.extend(wrap(&line, width));
                line.clear();
            }
            line.push(Span::styled(show::plain(part).into_owned(), span.style));
        }
    }
    out.extend(wrap(&line, width));
    out
}

fn fold_line(text: String, open: bool, width: usize, look: &Look<'_>) -> Line<'static> {
    let mark = if open { look.glyphs.open } else { look.glyphs.folded };
    let text = format!("{mark} {text}");
    Span::styled(cut::end(&text, width, look.glyphs.cut).into_owned(), look.theme.style(Role::Dim)).into()
}

fn attachments(attached: &[Attached], open: bool, width: usize, look: &Look<'_>) -> Vec<Line<'static>> {
    let lines: usize = attached.iter().filter_map(|a| a.lines).sum();
    let mut text = format!("{} attached", plural(attached.len(), "file"));
    if lines > 0 {
        text.push_str(&format!(", {}", plural(lines, "line")));
    }
    let mut out = vec![fold_line(text, open, width, look)];
    if open {
        let (dim, path) = (look.theme.style(Role::Dim), look.theme.style(Role::Path));
        for a in attached {
            let size = match a.lines {
                Some(n) => plural(n, "line"),
                None => plural(a.bytes, "byte"),
            };
            let range = match a.range {
                Some((from, to)) if from == to => format!(":{from}"),
                Some((from, to)) => format!(":{from}-{to}"),
                None => String::new(),
            };
            let mut spans = vec![Span::raw("  ")];
            let room = width.saturating_sub(cells(&size) + cells(&range) + 5);
            spans.extend(cut::path_spans(&a.path, room, look.glyphs.cut, dim, path));
            spans.push(Span::styled(format!("{range}  {size}"), dim));
            out.push(spans.into());
        }
    }
    out
}

/// Rules that joined: their names, and open, why each applies and how large it is.
fn rules(rules: &[RuleChip], open: bool, width: usize, look: &Look<'_>) -> Vec<Line<'static>> {
    let names: Vec<&str> = rules.iter().map(|r| r.path.strip_prefix(".nebula/rules/").unwrap_or(&r.path)).collect();
    let text = format!("{}: {}", plural(rules.len(), "rule"), names.join(", "));
    let mut out = vec![fold_line(text, open, width, look)];
    if open {
        let (dim, path) = (look.theme.style(Role::Dim), look.theme.style(Role::Path));
        for r in rules {
            let why = format!("  {}, {}", r.reason, plural(r.bytes, "byte"));
            let mut spans = vec![Span::raw("  ")];
            let room = width.saturating_sub(cells(&why) + 2).max(12);
            spans.extend(cut::path_spans(&r.path, room, look.glyphs.cut, dim, path));
            let left = width.saturating_sub(spans.iter().map(|s| cells(&s.content)).sum());
            spans.push(Span::styled(cut::end(&why, left, look.glyphs.cut).into_owned(), dim));
            out.push(spans.into());
        }
    }
    out
}

/// Text below an open fold: dim, indented.
fn below(text: &str, width: usize, style: Style, indent: &'static str) -> Vec<Line<'static>> {
    let mut out = Vec::new();
    for line in text.trim().split('\n') {
        for mut wrapped in
            wrap(&[Span::styled(show::plain(line).into_owned(), style)], width.saturating_sub(indent.len()))
        {
            wrapped.spans.insert(0, Span::raw(indent));
            out.push(wrapped);
        }
    }
    out
}

fn thought(
    text: &str,
    took: Option<Duration>,
    over: bool,
    open: bool,
    width: usize,
    look: &Look<'_>,
) -> Vec<Line<'static>> {
    let title = match took {
        Some(took) => format!("thought for {}", words::seconds(took)),
        None if over => "thought".to_string(),
        None => "thinking".to_string(),
    };
    let mut out = vec![fold_line(title, open, width, look)];
    if open {
        out.extend(below(text, width, look.theme.style(Role::Dim), "  "));
    }
    out
}

fn run_of_calls(calls: &[(ItemId, Did)], open: bool, width: usize, look: &Look<'_>) -> Vec<Line<'static>> {
    let all: Vec<Did> = calls.iter().map(|(_, d)| d.clone()).collect();
    let text = words::fitted(&words::calls(&all), width.saturating_sub(2), look.glyphs.cut);
    let mut out = vec![fold_line(text, open, width, look)];
    if !open {
        return out;
    }
    let (theme, glyphs) = (look.theme, look.glyphs);
    let (text, dim) = (theme.style(Role::Text), theme.style(Role::Dim));
    let names = all.iter().map(|d| cells(&d.name)).max().unwrap_or(0).min(17);
    for did in &all {
        let (mark, role) = match did.state {
            CallState::Done => (glyphs.done, Role::Added),
            CallState::Failed => (glyphs.failed, Role::Removed),
            CallState::Refused => (glyphs.refused, Role::Removed),
            CallState::Interrupted => (glyphs.broken, Role::Dim),
            CallState::Asking => (glyphs.asking, Role::Attention),
            CallState::Running | CallState::Streaming => (glyphs.queued, Role::Accent),
            CallState::Waiting => (glyphs.queued, Role::Dim),
        };
        let name = cut::end(&did.name, names, glyphs.cut);
        let room = width.saturating_sub(names + cells(&did.summary) + 7);
        let mut spans = vec![
            Span::raw("  "),
            Span::styled(mark, theme.style(role)),
            Span::styled(format!(" {name}{} ", " ".repeat(names - cells(&name))), text),
        ];
        spans.extend(cut::path_spans(&did.main, room, glyphs.cut, dim, theme.style(Role::Path)));
        spans.push(Span::styled(format!("  {}", did.summary), dim));
        out.push(spans.into());
        if let Some(reason) = &did.reason {
            out.extend(below(reason, width, dim, "    "));
        }
    }
    out
}

/// A notice: its mark and what happened, what that means, what to press.
fn notice(notice: &Notice, width: usize, look: &Look<'_>) -> Vec<Line<'static>> {
    let (mark, role) = match notice.level {
        Level::Info => (look.glyphs.dot, Role::Accent),
        Level::Warning => (look.glyphs.refused, Role::Removed),
        Level::Error => (look.glyphs.failed, Role::Removed),
        Level::Broken => (look.glyphs.broken, Role::Text),
    };
    let mut out = titled(mark, role, &notice.title, width, look);
    if !notice.detail.is_empty() {
        out.extend(below(&notice.detail, width, look.theme.style(Role::Text), "  "));
    }
    let mut keys = vec![Span::raw("  ")];
    for (action, does) in notice.actions.iter().map(words::offer) {
        let Some(key) = look.keys.word(Context::Chat, action) else { continue };
        if keys.len() > 1 {
            keys.push(Span::raw("   "));
        }
        keys.push(Span::styled(key, look.theme.style(Role::Text)));
        keys.push(Span::styled(format!(" {does}"), look.theme.style(Role::Dim)));
    }
    if keys.len() > 1 {
        out.push(cut::line(keys.into(), width, look.glyphs.cut, look.theme.style(Role::Dim)));
    }
    out
}

fn titled(mark: &'static str, role: Role, title: &str, width: usize, look: &Look<'_>) -> Vec<Line<'static>> {
    let bold = look.theme.style(Role::Text).add_modifier(Modifier::BOLD);
    let mut out = below(title, width, bold, "  ");
    if let Some(first) = out.first_mut() {
        let mark = Span::styled(mark, look.theme.style(role).add_modifier(Modifier::BOLD));
        first.spans.splice(0..1, [mark, Span::raw(" ")]);
    }
    out
}

/// Why and until when the request waits, with the seconds left at `now`.
fn retry(wait: &Wait, now: i64, width: usize, look: &Look<'_>) -> Vec<Line<'static>> {
    let mut out = titled(look.glyphs.retry, Role::Attention, &wait.why, width, look);
    let text = look.theme.style(Role::Text);
    let left = (wait.until - now).max(0).div_euclid(1000) + i64::from((wait.until - now).max(0) % 1000 > 0);
    let spans = [
        Span::styled(format!("Your message is saved. Attempt {} of {} in ", wait.attempt, wait.of), text),
        Span::styled(format!("{left} s"), text.add_modifier(Modifier::BOLD)),
        Span::styled(".", text),
    ];
    for mut line in wrap(&spans, width.saturating_sub(2)) {
        line.spans.insert(0, Span::raw("  "));
        out.push(line);
    }
    out
}

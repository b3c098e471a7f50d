//! The top of a proposal: what the model said of it, what it leaves out, how its test went, and the strip, a row a file with a mark for each hunk.

use std::borrow::Cow;

use ratatui::text::Span;

use super::choices::{Choices, Standing};
use super::draw::standing_mark;
use super::page::{DiffPage, Stage};
use super::rows::FileView;
use super::view::View;
use crate::messages::{archive, count, diff as say, records};
use crate::proposal::{ProposalId, Rung};
use crate::protocol::{Command, ProposalTest, TestState};
use crate::tui::action::{Action, Context};
use crate::tui::look::{Ctx, Look};
use crate::tui::msg::PaneEffect;
use crate::tui::pane::paint::{self, Pen, bold, found_word, span};
use crate::tui::text::markdown::{begin, styled};
use crate::tui::text::{cut, wrap::cells};
use crate::tui::theme::Role;

/// Rows of the strip at most.
pub const ROWS: usize = 6;

/// Hunks that get a mark each; a file with more gets numbers.
const MARKS: usize = 8;

/// Returns the number of rows that the strip takes in a body of `height` rows.
pub fn height(files: usize, height: u16) -> u16 {
    let most = ROWS.min(usize::from(height / 4)).max(1);
    files.min(most) as u16
}

/// Returns the first file that is seen, so that the one in focus is.
pub fn top(focus: usize, files: usize, rows: usize) -> usize {
    focus.saturating_sub(rows / 2).min(files.saturating_sub(rows))
}

/// Returns the first hunk of the file on a row of the strip, which has `rows` of them.
pub fn hunk_at(view: &View, rows: usize, row: usize) -> Option<(usize, usize)> {
    let file = view.file_rows().nth(first_row(view, rows) + row)?;
    view.hunks().find(|(f, _)| *f == file)
}

/// Returns the first row that is seen of those that files have.
fn first_row(view: &View, rows: usize) -> usize {
    let focus = view.focus().map_or(0, |(f, _)| f);
    let at = view.file_rows().position(|file| file == focus).unwrap_or(0);
    top(at, view.file_count(), rows)
}

/// Draws the strip in the whole of `pen`.
pub fn draw(pen: &mut Pen<'_>, ctx: &Ctx<'_>, view: &View, choices: Option<&Choices>) {
    let look = paint::look(ctx);
    let theme = look.theme;
    let rows = usize::from(pen.height());
    let focus = view.focus().map_or(0, |(f, _)| f);
    let first = first_row(view, rows);
    let seen: Vec<(usize, &FileView)> = view.file_rows().skip(first).take(rows).map(|f| (f, &view.files[f])).collect();
    let marks: Vec<Vec<Span<'static>>> = seen.iter().map(|(f, file)| marks(*f, file, choices, look)).collect();
    let wide = pen.width() > 100;
    let mark_room = marks.iter().map(|m| m.iter().map(|s| cells(&s.content)).sum::<usize>()).max().unwrap_or(0);
    let x_path = if mark_room == 0 { 1 } else { mark_room as u16 + 3 };
    let longest = |of: &dyn Fn(&FileView) -> usize| seen.iter().map(|(_, f)| of(f)).max().unwrap_or(0);
    let count = |n: usize| if n == 0 { 0 } else { n.ilog10() as usize + 2 };
    let widths = [(longest(&|f| count(f.counts.added)) + 2).max(4), (longest(&|f| count(f.counts.removed)) + 2).max(4)];
    let by_room = if wide { longest(&|f| cells(&f.by)) + 3 } else { 0 };
    let notes = |whole| seen.iter().map(|(_, file)| note(file, whole, look)).collect::<Vec<_>>();
    let room_of = |notes: &[Vec<Span<'static>>]| {
        notes.iter().map(|n| n.iter().map(|s| cells(&s.content)).sum::<usize>()).max().unwrap_or(0)
    };
    let beside = usize::from(x_path) + widths[0] + widths[1] + 2 + 4 + by_room + 1;
    let mut texts = notes(wide);
    // What may be left out gives way before a name does.
    let names = longest(&|f| cells(&f.path[cut::name_start(&f.path)..]) + 2);
    if beside + room_of(&texts) + names > usize::from(pen.width()) {
        texts = notes(false);
    }
    let note_room = room_of(&texts);
    let taken = beside + note_room;
    let path_room = longest(&|f| cells(&f.path)).min(usize::from(pen.width()).saturating_sub(taken).max(12)) + 2;
    for (y, (((f, file), marks), note)) in seen.into_iter().zip(marks).zip(texts).enumerate() {
        let y = y as u16;
        let here = (choices.is_some() || view.acts) && f == focus;
        pen.spans(1, y, &marks, mark_room);
        let name = if here { bold(theme, Role::Path) } else { theme.style(Role::Path) };
        pen.spans(x_path, y, &paint::path(&file.path, path_room - 2, name, look), path_room - 2);
        let x = x_path + path_room as u16;
        let x = pen.spans(x, y, &paint::count_columns(file.counts, widths, look), widths[0] + widths[1]) + 4;
        if wide {
            pen.put(x, y, &file.by, by_room.saturating_sub(2), theme.style(Role::Dim));
        }
        let x = x + by_room as u16;
        let room = usize::from(pen.width().saturating_sub(x + 1)).min(note_room);
        let note = cut::line(note.into(), room, look.glyphs.cut, theme.style(Role::Dim));
        pen.spans(x, y, &note.spans, room);
        if here {
            pen.select(y, 1, look);
        }
    }
    pen.thumb(0, pen.height(), first, view.file_count(), look);
}

/// Returns what is to be known of a file beside its lines: that it changed meanwhile, that it acts later, how places were
/// found; only if `whole` also what follows from that.
fn note(file: &FileView, whole: bool, look: Look<'_>) -> Vec<Span<'static>> {
    let (attention, dim) = (look.theme.style(Role::Attention), look.theme.style(Role::Dim));
    let mark = |glyph: &str, words: &str| span(format!("{glyph} {words}"), attention);
    if file.stale {
        return vec![mark(look.glyphs.foreign, say::changed_on_disk())];
    }
    let later = file.later.then(|| mark(look.glyphs.later, say::acts_later()));
    let foreign = file.foreign.then(|| mark(look.glyphs.foreign, archive::foreign()));
    let linked = (file.other_names > 0).then(|| mark(look.glyphs.foreign, &count::hard_links(file.other_names)));
    let merged = file.merged.map(|rung| span(records::localized(rung.said()), dim));
    let hidden = file.hunks.iter().map(|hunk| hunk.hidden).sum::<usize>();
    let hidden = (whole && hidden > 0).then(|| span(count::hidden_characters(hidden), attention));
    let never = (whole && file.personal && !file.foreign).then(|| span(say::never_by_policy(), dim));
    let broken = file.broken.map(|line| span(say::broken_line(&line), attention));
    let found = match worst(file).filter(|_| !file.later && !file.foreign) {
        Some(Rung::Inexact) => Some(vec![span(say::found(), dim), span(found_word(Rung::Inexact), attention)]),
        Some(rung) if whole || broken.is_none() => Some(vec![span(say::found(), dim), span(found_word(rung), dim)]),
        _ => None,
    };
    let merged = merged.filter(|_| found.is_none());
    let notes = [later, foreign, linked, hidden, never, merged, broken]
        .into_iter()
        .flatten()
        .map(|note| vec![note])
        .chain(found);
    let apart = |(n, note): (usize, Vec<Span<'static>>)| (n > 0).then(|| Span::raw("  ")).into_iter().chain(note);
    notes.enumerate().flat_map(apart).collect()
}

fn worst(file: &FileView) -> Option<Rung> {
    file.hunks.iter().filter_map(|h| h.rung).max()
}

/// Returns a mark for each hunk, or how many stand how.
fn marks(f: usize, file: &FileView, choices: Option<&Choices>, look: Look<'_>) -> Vec<Span<'static>> {
    let Some(choices) = choices else { return Vec::new() };
    let styled = |standing| {
        let (glyph, role) = standing_mark(standing, look);
        (glyph, bold(look.theme, role))
    };
    let all = (0..file.hunks.len()).map(|h| choices.standing(f, h));
    if file.hunks.len() <= MARKS {
        return all
            .enumerate()
            .map(|(i, s)| {
                let (glyph, style) = styled(s);
                span(if i == 0 { glyph.to_string() } else { format!(" {glyph}") }, style)
            })
            .collect();
    }
    let all: Vec<_> = all.collect();
    let kinds = [Standing::Accepted, Standing::Edited, Standing::Rejected, Standing::Undecided, Standing::Withdrawn];
    let mut out = Vec::new();
    for kind in kinds {
        let n = all.iter().filter(|s| **s == kind).count();
        if n > 0 {
            let (glyph, style) = styled(kind);
            let gap = if out.is_empty() { "" } else { " " };
            out.push(span(format!("{gap}{glyph}{n}"), style));
        }
    }
    out
}

/// Returns the number of rows left for the diff in a body of `height` rows: the model's words, strip and rule above it.
pub(super) fn body(page: &DiffPage, width: u16, height: u16) -> u16 {
    height.saturating_sub(above(page, (width, height)) + self::height(page.view.file_count(), height) + 1)
}

/// Returns the number of rows of what the model said; in a low pane what changes comes first, and one row is left.
pub(super) fn why_rows(page: &DiffPage, width: u16, height: u16) -> u16 {
    if page.stage != Stage::Open {
        return 0;
    }
    let most = match (height, page.why_from) {
        (..6, _) => 0,
        (6..16, Some(_)) => height / 3,
        (6..16, None) => 1,
        (16.., Some(_)) => height / 2,
        (16.., None) => WHY,
    };
    most.min(u16::try_from(page.why_lines(why_width(width)).len()).unwrap_or(u16::MAX))
}

/// Unfolds what the model said, shows the lines of it that had no room, and folds it after the last ones. Returns whether
/// more of it shows without anything else being unfolded.
pub(super) fn turn_why(page: &mut DiffPage, (width, height): (u16, u16)) -> bool {
    let rows = usize::from(why_rows(page, width, height));
    let Some(from) = page.why_from else {
        page.why_from = Some(0);
        return false;
    };
    let goes_on = rows > 0 && from + rows < page.why_lines(why_width(width)).len();
    // The last row gave a part of its room to what is left.
    page.why_from = goes_on.then_some(from + rows.saturating_sub(1).max(1));
    goes_on
}

/// Cells of a line of what the model said, beside its label.
fn why_width(width: u16) -> usize {
    usize::from(width.saturating_sub(WHY_AT + 1)).min(120)
}

/// Rows of what the model said while it is folded.
const WHY: u16 = 3;
/// The column in which what the model said begins.
const WHY_AT: u16 = 9;

/// Draws what the model said of the proposal: its last lines, with the number of those before them, or from the line to
/// which it was unfolded.
pub(super) fn draw_why(pen: &mut Pen<'_>, page: &DiffPage, ctx: &Ctx<'_>) {
    let look = paint::look(ctx);
    let room = why_width(pen.width());
    let (lines, rows) = (page.why_lines(room), usize::from(pen.height()));
    // The last lines fill the rows, and folded it is the last ones that show.
    let last = lines.len().saturating_sub(rows);
    let from = page.why_from.unwrap_or(last).min(last);
    let (left, row) = match page.why_from {
        None => (from, 0),
        Some(_) => (lines.len().saturating_sub(from + rows), rows.saturating_sub(1)),
    };
    if pen.height() > 0 {
        pen.put(1, 0, "nebula", usize::from(WHY_AT), bold(look.theme, Role::Accent));
    }
    let key = ctx.key(Context::Diff, Action::Fold).map(|key| format!("  {key}")).unwrap_or_default();
    let more = format!("  {} {}{key}", look.glyphs.more, count::more_lines(left));
    let end = pen.width().saturating_sub(1);
    for (y, line) in lines.iter().skip(from).take(rows).enumerate() {
        let mut line = Cow::Borrowed(line);
        if left > 0 && y == row {
            let beside = usize::from(end.saturating_sub(WHY_AT)).saturating_sub(cells(&more));
            line = Cow::Owned(begin(&line, room.min(beside), look.glyphs.cut));
            pen.right(end, y as u16, &[span(more.as_str(), look.theme.style(Role::Dim))]);
        }
        pen.spans(WHY_AT, y as u16, &styled(&line, look.theme).spans, room);
    }
}

/// Rows of failures, and of what is left out, in a low pane, and in any other.
const FEW: usize = 2;
const MOST: usize = 8;
/// Panes of fewer rows are low.
const LOW: u16 = 24;

/// Takes in how the test of a proposal goes.
pub(super) fn take_test<'p>(pages: impl Iterator<Item = &'p mut DiffPage>, id: ProposalId, test: &ProposalTest) {
    for page in pages.filter(|page| page.proposal.id == id) {
        page.test.changed_since &= test.state != TestState::Running;
        page.test.result = Some(test.clone());
    }
}

impl DiffPage {
    /// Returns whether it stays when the session's diff is asked for and there is none.
    pub(super) fn stays_without_session(&self) -> bool {
        !matches!(self.stage, Stage::Session | Stage::Settled(_))
    }

    /// Returns whether it is being tested.
    pub fn is_testing(&self) -> bool {
        self.test.result.as_ref().is_some_and(|test| test.state == TestState::Running)
    }

    /// Has it tested as it would be written now.
    pub(super) fn run_test(&mut self) -> Vec<PaneEffect> {
        self.test.choices = self.choices.clone();
        vec![PaneEffect::send(Command::Test(self.proposal.id, self.choices.expected(&self.proposal)))]
    }

    /// Marks those of these files that it changes: someone else changed them on disk.
    pub(super) fn mark_stale(&mut self, paths: &[String]) {
        self.view.mark_stale(paths);
        self.test.changed_since |= self.proposal.files.iter().any(|file| paths.contains(&file.path));
    }

    /// Returns what the last test ran on, where something else would be written now.
    fn tested_before(&self) -> Option<&'static str> {
        let changed = self.test.changed_since.then(say::tested_before_change);
        changed.or_else(|| (!self.choices.writes_as(&self.test.choices)).then(say::tested_earlier))
    }
}

/// Returns the number of rows above the files.
pub(super) fn above(page: &DiffPage, (width, height): (u16, u16)) -> u16 {
    why_rows(page, width, height) + left_out_rows(page, height) + test_rows(page, height)
}

/// Returns the number of rows of what the proposal leaves out.
fn left_out_rows(page: &DiffPage, height: u16) -> u16 {
    let most = if height < LOW { FEW } else { MOST };
    page.left_out.len().min(most) as u16
}

fn draw_left_out(pen: &mut Pen<'_>, page: &DiffPage, look: &Look<'_>) {
    let rows = usize::from(pen.height());
    let room = usize::from(pen.width().saturating_sub(2));
    let left = page.left_out.len().saturating_sub(rows);
    for (y, line) in page.left_out.iter().take(rows).enumerate() {
        // The last row stands for all that have none.
        let line = match left > 0 && y + 1 == rows {
            true => format!("{} {}", look.glyphs.more, count::more_lines(left + 1)),
            false => crate::text::clean::clean_line(line).into_owned(),
        };
        pen.put(1, y as u16, &cut::end(&line, room, look.glyphs.cut), room, look.theme.style(Role::Attention));
    }
}

fn test_rows(page: &DiffPage, height: u16) -> u16 {
    let most = if height < LOW { FEW } else { MOST };
    page.test.result.as_ref().map_or(0, |test| 1 + test.failures.len().min(most) as u16)
}

/// Draws the rows above the files.
pub(super) fn draw_above(pen: &mut Pen<'_>, page: &DiffPage, ctx: &Ctx<'_>) {
    let (width, height) = (pen.width(), pen.height());
    let why = why_rows(page, width, height);
    draw_why(&mut pen.part(0, 0, width, why), page, ctx);
    let look = paint::look(ctx);
    let left_out = left_out_rows(page, height);
    draw_left_out(&mut pen.part(0, why, width, left_out), page, &look);
    let why = why + left_out;
    let Some(test) = &page.test.result else { return };
    let theme = look.theme;
    let dim = theme.style(Role::Dim);
    let ended = match test.state {
        TestState::Passed => Some((look.glyphs.done, Role::Added)),
        TestState::Failed => Some((look.glyphs.failed, Role::Removed)),
        TestState::Running | TestState::NotRun => None,
    };
    let room = usize::from(width.saturating_sub(2));
    let Some((glyph, role)) = ended else {
        pen.put(1, why, &cut::end(&test.line, room, look.glyphs.cut), room, dim);
        return;
    };
    // A result of something else says nothing of what would be written.
    let (head, style) = match page.tested_before() {
        Some(head) => (head, dim),
        None => (say::tested(), bold(theme, role)),
    };
    let line = [span(head, dim), span(format!("{glyph} "), style), span(test.line.clone(), style)];
    let line = cut::line(line.to_vec().into(), room, look.glyphs.cut, dim);
    let end = 1 + line.width();
    pen.spans(1, why, &line.spans, room);
    let mut about = vec![span(say::tested_in_view(), dim)];
    if let Some(key) = ctx.key(Context::Diff, Action::Test) {
        about.extend([span(format!("   {key}"), theme.style(Role::Text)), span(say::test_again(), dim)]);
    }
    if end + about.iter().map(|part| cells(&part.content)).sum::<usize>() + 3 <= room {
        pen.right(width.saturating_sub(1), why, &about);
    }
    let rows = usize::from(test_rows(page, height)).saturating_sub(1);
    for (y, failure) in (why + 1..).zip(test.failures.iter().take(rows)) {
        let failure = crate::text::clean::clean_line(failure);
        pen.put(3, y, &cut::end(&failure, room.saturating_sub(2), look.glyphs.cut), room, theme.style(Role::Text));
    }
}

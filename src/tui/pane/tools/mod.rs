//! The calls: what nebula did, does and will do. Each call is a row, with its arguments while they arrive, a preview
//! that folds, and the reason when it failed, which never does. Enter shows the whole result.

mod draw;
mod earlier;
mod entry;
mod fields;
mod filter;
mod jobs;
mod printed;
mod select;
mod stop;
mod viewer;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::HashMap;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::paint::{self, Pen, span};
use crate::messages::{count, tools as say};
use crate::protocol::{Call, CallState, Command, EventBody, Item, ItemId, Listing, PreviewLine, Query};
use crate::text::number::thousands;
use crate::tui::action::Action;
use crate::tui::look::{Ctx, Look};
use crate::tui::msg::{Effect, LineFor, LineInput, PaneEffect};
use crate::tui::pane::chat::count_steps;
use crate::tui::pane::mark::Mark;
use crate::tui::pane::verb_column;
use crate::tui::text::{cut, wrap};
use crate::tui::theme::Role;
pub use jobs::OwnCommand;

use entry::{CallEntry, EarlierCalls, Filter};
use fields::Field;
use jobs::Jobs;
use viewer::Viewer;

/// Lines of a preview before `⋯ 9 more lines`.
const PREVIEW: usize = 4;
/// Lines of a preview while its command runs, in a low pane.
const PREVIEW_RUNNING: usize = 8;
/// Lines of a preview that was opened.
const PREVIEW_OPEN: usize = 40;
/// Rows of a reason at most; the result has the rest.
const REASON: usize = 4;

/// The calls of the session.
#[derive(Debug, Default)]
pub struct Tools {
    calls: Vec<CallEntry>,
    places: HashMap<ItemId, usize>,
    /// Something was said since the last call: the next one stands apart.
    said: bool,
    /// The row of the endless page at which each call begins; one more at the end.
    tops: Vec<usize>,
    top: usize,
    /// True if the end stays in view.
    follow: bool,
    selected: Option<usize>,
    viewer: Option<Viewer>,
    filter: Filter,
    earlier: EarlierCalls,
    jobs: Jobs,
    /// The size of the body.
    size: (u16, u16),
    /// Cells of the column of verbs.
    verbs: usize,
    stale: bool,
}

impl Tools {
    /// Takes in what the agent told.
    pub fn apply(&mut self, event: &EventBody, now: i64) -> Vec<PaneEffect> {
        match event {
            EventBody::Opened(_) => *self = Tools { size: self.size, follow: true, ..Tools::default() },
            EventBody::Added(id, Item::Call(call)) => self.add(*id, call.clone(), now),
            EventBody::Added(_, Item::User { .. } | Item::Answer { .. } | Item::Commentary { .. }) => self.said = true,
            EventBody::Changed(id, Item::Call(call)) => match self.places.get(id) {
                Some(i) => self.change(*i, call.clone(), now),
                None => self.add(*id, call.clone(), now),
            },
            EventBody::Drifted(paths) => self.drifted(paths),
            EventBody::Undone(changes) => {
                for entry in &mut self.calls {
                    let Some(change) = &mut entry.call.change else { continue };
                    self.stale |= change.take_undone(changes);
                    // It was nebula that undid it, here or elsewhere.
                    entry.drifted &= !change.undone.is_any();
                }
            }
            EventBody::Command(event) => self.apply_command(event, now),
            EventBody::Grew(id, text) => {
                if let Some(entry) = self.places.get(id).and_then(|i| self.calls.get_mut(*i)) {
                    entry.call.arguments.push_str(text);
                    self.stale = true;
                }
            }
            _ => {}
        }
        Vec::new()
    }

    /// Returns whether the turn does not wait for a command.
    pub fn runs_beside(&self, id: &str) -> bool {
        self.jobs.run_beside(id)
    }

    fn add(&mut self, id: ItemId, call: Call, now: i64) {
        let apart = std::mem::take(&mut self.said) && !self.calls.is_empty();
        self.places.insert(id, self.calls.len());
        self.calls.push(CallEntry::new(id, call, apart, now));
        self.stale = true;
    }

    /// Marks the newest call of each file that someone else changed, until nebula reads or writes it again.
    fn drifted(&mut self, paths: &[String]) {
        for path in paths {
            let of_file = |e: &&mut CallEntry| {
                e.call.state == CallState::Done && e.path_of_main().is_some() && e.call.file() == path
            };
            if let Some(entry) = self.calls.iter_mut().rev().find(of_file) {
                (entry.drifted, self.stale) = (true, true);
            }
        }
    }

    fn change(&mut self, i: usize, call: Call, now: i64) {
        let entry = &mut self.calls[i];
        if call.state == CallState::Running && entry.began.is_none() {
            entry.began = Some(now);
        }
        let fresh =
            (call.state == CallState::Done && entry.call.state != CallState::Done).then(|| call.file().to_string());
        entry.call = call;
        if let Some(path) = fresh {
            self.calls.iter_mut().filter(|e| e.call.file() == path).for_each(|e| e.drifted = false);
        }
        let entry = &self.calls[i];
        if let Some(viewer) = self.viewer.as_mut().filter(|v| v.id() == entry.id) {
            viewer.take(&entry.call);
        }
        self.stale = true;
    }

    /// Takes in what was asked for: nothing is.
    pub fn answer(&mut self, _query: &Query, _listing: &Listing, _now: i64) -> Vec<PaneEffect> {
        Vec::new()
    }

    /// Returns whether a result is shown whole: Esc and Enter close it.
    pub fn is_viewing(&self) -> bool {
        self.viewer.is_some()
    }

    /// Returns whether `action` would do something now.
    pub fn offers(&self, action: Action) -> bool {
        match action {
            Action::Escape | Action::Close => self.viewer.is_some() || self.filter.failed,
            Action::NextMatch | Action::PreviousMatch => match &self.viewer {
                Some(viewer) => viewer.searches(),
                None => !self.filter.hits.is_empty(),
            },
            Action::Search => !self.calls.is_empty(),
            Action::RunOn => self.calls.iter().any(CallEntry::is_running_command),
            Action::StopCommand => self.jobs.to_stop(None).is_some(),
            Action::FailedOnly => self.viewer.is_none() && (self.filter.failed || self.failed() > 0),
            Action::Up | Action::Down | Action::HalfUp | Action::HalfDown | Action::PageUp | Action::PageDown => {
                !self.calls.is_empty()
            }
            Action::First | Action::Last | Action::Open | Action::Copy => !self.calls.is_empty(),
            Action::Fold | Action::FoldAll | Action::NextItem | Action::PreviousItem => {
                !self.calls.is_empty() && self.viewer.is_none()
            }
            _ => false,
        }
    }

    /// Does `action`.
    pub fn act(&mut self, action: Action, _now: i64) -> Vec<PaneEffect> {
        match action {
            Action::RunOn => return vec![PaneEffect::send(Command::RunOn)],
            Action::StopCommand => return self.stop_command(),
            _ => {}
        }
        if let Some(viewer) = &mut self.viewer {
            let (keep, effects) = viewer.act(action);
            if !keep {
                self.viewer = None;
            }
            return effects;
        }
        let half = (self.page() / 2).max(1);
        match action {
            Action::Down | Action::NextItem => self.select_by(1),
            Action::Up | Action::PreviousItem => self.select_by(-1),
            Action::HalfDown => self.scroll(half as isize),
            Action::HalfUp => self.scroll(-(half as isize)),
            Action::PageDown => self.scroll(2 * half as isize),
            Action::PageUp => self.scroll(-2 * half as isize),
            Action::First | Action::Last => self.select_end(action == Action::Last),
            Action::FailedOnly => self.filter_failed(!self.filter.failed),
            Action::Escape | Action::Close => self.filter_failed(false),
            Action::Search => {
                let (prompt, text) = (say::search().to_string(), self.filter.words.clone());
                return vec![PaneEffect::Line { purpose: LineFor::Search, prompt, text }];
            }
            Action::NextMatch => self.go_to_hit(true),
            Action::PreviousMatch => self.go_to_hit(false),
            Action::Open => self.open_chosen(),
            Action::Fold => {
                if let Some(i) = self.chosen() {
                    self.calls[i].open = Some(!self.is_open(i));
                    self.lay();
                    self.show(i);
                }
            }
            Action::FoldAll => {
                let open = (0..self.calls.len()).any(|i| self.is_open(i));
                self.calls.iter_mut().for_each(|e| e.open = Some(!open));
                self.lay();
            }
            Action::Copy => {
                let call = self.chosen().map(|i| &self.calls[i].call);
                let text = call.map(|c| c.result.clone().unwrap_or_else(|| c.arguments.clone()));
                return text
                    .map(|t| vec![PaneEffect::Run(Effect::Copy(t)), PaneEffect::Say(say::result_copied().into())])
                    .unwrap_or_default();
            }
            _ => {}
        }
        Vec::new()
    }

    fn total(&self) -> usize {
        self.tops.last().copied().unwrap_or(0)
    }

    fn last_top(&self) -> usize {
        self.total().saturating_sub(self.page())
    }

    /// Returns the number of rows for calls, below those of the search and the jobs.
    fn page(&self) -> usize {
        usize::from(self.size.1 - self.head())
    }

    /// Returns the number of rows of the search and the jobs.
    fn head(&self) -> u16 {
        self.search_rows() + self.jobs.rows(self.size.1)
    }

    /// Handles the line that was asked for.
    pub fn line(&mut self, purpose: LineFor, typed: LineInput<'_>, _now: i64) -> Vec<PaneEffect> {
        match &mut self.viewer {
            Some(viewer) if purpose == LineFor::Search => viewer.line(typed),
            None if purpose == LineFor::Search => self.search(typed),
            _ => Vec::new(),
        }
    }

    /// Handles a click inside the body.
    pub fn click(&mut self, _column: u16, row: u16, _now: i64) -> Vec<PaneEffect> {
        if self.viewer.is_none() {
            self.select_at(row);
        }
        Vec::new()
    }

    /// Takes the size of the body that is drawn next.
    pub fn measure(&mut self, width: u16, height: u16, _look: &Look<'_>) {
        if self.size != (width, height) {
            self.follow |= self.size == (0, 0);
            self.size = (width, height);
            self.stale = true;
            if let Some(viewer) = &mut self.viewer {
                viewer.measure(width, height);
            }
        }
        if self.stale {
            self.lay();
        }
    }

    /// Returns whether the preview of call `i` is open: as the person chose, else while no later call has ended.
    fn is_open(&self, i: usize) -> bool {
        let entry = &self.calls[i];
        entry.open.unwrap_or_else(|| {
            !entry.call.state.is_final() || self.calls[i + 1..].iter().all(|e| !e.call.state.is_final())
        })
    }

    /// Returns the number of preview lines that call `i` shows, and how many are left out.
    fn preview(&self, i: usize) -> (usize, usize) {
        if !self.is_open(i) {
            return (0, 0);
        }
        let entry = &self.calls[i];
        // What runs has the rows of the pane that a few calls before it leave.
        let page = self.page();
        let running = page.saturating_sub(3 + i.min(page / 3)).max(PREVIEW_RUNNING);
        let most = match (entry.open, entry.prints()) {
            (Some(true), true) => PREVIEW_OPEN.max(running),
            (Some(true), false) => PREVIEW_OPEN,
            (_, true) => running,
            (_, false) => PREVIEW,
        };
        let (held, total) = match self.printing(i) {
            Some(output) => (entry.text_lines() + output.held(), entry.text_lines() + output.count()),
            None => (entry.call.preview.len(), entry.preview_total()),
        };
        let visible = held.min(most);
        (visible, total - visible)
    }

    /// Returns the preview lines of call `i` that have room: its first ones, then its last ones.
    fn preview_lines(&self, i: usize, room: usize) -> (&[PreviewLine], Cow<'_, [PreviewLine]>) {
        let entry = &self.calls[i];
        let Some(output) = self.printing(i) else {
            let (head, tail) = entry.visible_lines(room);
            return (head, Cow::Borrowed(tail));
        };
        let text = entry.text_lines();
        let tail = output.held().min(room - room.min(text.min(1)));
        (&entry.call.preview[..(room - tail).min(text)], Cow::Owned(output.last(tail)))
    }

    fn lay(&mut self) {
        let width = usize::from(self.size.0.saturating_sub(5)).max(8);
        for entry in &mut self.calls {
            let streaming = entry.call.state == CallState::Streaming;
            if streaming {
                entry.fields = fields::read(&entry.call.arguments);
            } else if !entry.fields.is_empty() {
                entry.fields = Vec::new();
            }
            let lines = detail_of(entry.call.shown_reason().unwrap_or_default()).lines();
            let rows = lines.flat_map(|l| wrap::breaks(l, width).into_iter().map(|r| l[r].to_string()));
            let mut rows: Vec<String> = rows.take(REASON + 1).collect();
            entry.reason_goes_on = rows.len() > REASON;
            rows.truncate(REASON);
            entry.reason = rows;
        }
        let calls = self.calls.iter().map(|entry| &entry.call);
        self.verbs = verb_column::of(calls.map(|call| (call.name.as_str(), &call.verb, call.state)));
        let (width, column) = (usize::from(self.size.0), self.verbs);
        self.calls.iter_mut().for_each(|entry| entry.lay_path(width, verb_column::in_row(&entry.call.verb, column)));
        self.fold_earlier();
        let folded = self.earlier.count;
        let (mut y, mut tops) = (usize::from(folded > 0), Vec::with_capacity(self.calls.len() + 1));
        for i in 0..self.calls.len() {
            tops.push(if i < folded { 0 } else { y });
            y += self.rows(i);
        }
        tops.push(y);
        self.tops = tops;
        self.find_hits();
        self.stale = false;
        self.top = if self.follow { self.last_top() } else { self.top.min(self.last_top()) };
    }

    /// Returns the title on the pane line.
    pub fn title(&self) -> String {
        say::tools().into()
    }

    /// Returns the note on the pane line.
    pub fn note(&self, width: u16, ctx: &Ctx<'_>) -> Line<'static> {
        let dim = ctx.theme.style(Role::Dim);
        if let Some(viewer) = &self.viewer {
            return paint::line(viewer.note(ctx), dim);
        }
        if self.search_rows() == 0 {
            let hits = self.search_hits().filter(|_| ctx.focus);
            let hits = hits.map(|hits| cut::search(&self.filter.words, &hits, usize::from(width)));
            if let Some(words) = hits.or_else(|| self.filter.failed.then(|| self.failed_only())) {
                return paint::line(words, dim);
            }
        }
        let below = self.total().saturating_sub(self.top + self.page());
        if below > 0 && !self.follow {
            return paint::line(say::below(&count::lines(below)), dim);
        }
        let is_undone = |e: &&CallEntry| e.call.undone().is_all();
        let count = |wanted: &[CallState]| {
            self.calls.iter().filter(|e| wanted.contains(&e.call.state) && !is_undone(e)).count()
        };
        let undone = self.calls.iter().filter(is_undone).count();
        let is_unsuccessful = |e: &&CallEntry| e.call.is_unsuccessful() && !is_undone(e);
        let unsuccessful = self.calls.iter().filter(is_unsuccessful).count();
        let asking = count(&[CallState::Asking]);
        let waiting = count(&[CallState::Waiting, CallState::Streaming]);
        // In a long session the steps say more than the calls.
        let long = self.earlier.count > 0;
        let kinds = [
            (if long { 0 } else { count(&[CallState::Done]) - unsuccessful }, say::done()),
            (undone, say::undone()),
            (count(&[CallState::Refused]), say::rejected()),
            (count(&[CallState::Failed]) + unsuccessful, say::failed()),
            (count(&[CallState::Interrupted]), say::interrupted()),
            (count(&[CallState::Running]), say::running()),
            (asking, say::waiting_for_you()),
            (if asking == 0 { waiting } else { 0 }, say::waiting()),
        ];
        let kinds = kinds.into_iter().filter(|(n, _)| *n > 0);
        let steps = long.then(|| count::steps(count_steps(self.calls.iter().map(|entry| entry.call.step))));
        let mut words: Vec<String> =
            steps.into_iter().chain(kinds.map(|(n, word)| format!("{} {word}", thousands(n)))).collect();
        let gap = format!(" {} ", ctx.glyphs.dot);
        // What is over gives way first.
        while words.len() > 1 && wrap::cells(&words.join(&gap)) > usize::from(width) {
            words.remove(0);
        }
        Line::from(span(words.join(&gap), dim))
    }

    /// Returns what a tab shows.
    pub fn mark(&self) -> Option<Mark> {
        let any = |state| self.calls.iter().rev().take(64).any(|e| e.call.state == state);
        match () {
            () if any(CallState::Asking) => Some(Mark::Waiting),
            () if any(CallState::Running) => Some(Mark::Running),
            () => None,
        }
    }

    /// Draws the body.
    pub fn draw(&self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let mut pen = Pen::new(buf, area);
        match &self.viewer {
            Some(viewer) => viewer.draw(&mut pen, ctx),
            None => {
                let search = self.search_rows();
                if search > 0 {
                    self.draw_search(&mut pen, ctx);
                }
                let mut below = pen.part(0, search, area.width, area.height - search);
                let head = self.head();
                self.jobs.draw(head - search, self.verbs.max(verb_column::LEAST), &mut below, ctx);
                let area = Rect { y: area.y + head, height: area.height - head, ..area };
                self.draw_calls(&mut Pen::new(buf, area), ctx);
            }
        }
    }
}

/// Returns a reason without what a colon at its end announces, which stands in the whole result.
fn detail_of(reason: &str) -> &str {
    let Some(detail) = reason.strip_suffix(':') else { return reason };
    detail.rfind(". ").map_or(detail, |end| &detail[..=end])
}

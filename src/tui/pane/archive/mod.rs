//! The archive: every changeset, the versions of each file in time, and the way back to any of them. It asks for
//! what is seen and no more; what a restore would do to each file is shown here before it goes to the proposal.

mod axis;
mod fates;
mod list;
mod time;

#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::diff::{Heads, Layout, View};
use super::paint::{self, Pen, span};
use super::{Ctx, Look, Mark, PaneId};
use crate::proposal::{Counts, FileChange, Proposal, ProposalId, State};
use crate::protocol::{Changeset, Command, Event, Listing, Query, RestoreRequest, VersionRow};
use crate::tui::action::Action;
use crate::tui::app::{Effect, LineFor, Typed};
use crate::tui::theme::Role;
use fates::Fates;
use list::Form;

/// Changesets asked for at a time.
const PAGE: usize = 100;
/// The next page is asked for when so few are left below the selected one.
const AHEAD: usize = 30;
/// States of files that are kept.
const STATES: usize = 48;
/// Side by side from this width on, when two states are compared.
const SIDE_FROM: u16 = 72;

/// Changesets and versions.
#[derive(Debug, Default)]
pub struct Archive {
    /// Newest first, as far as they were asked for.
    rows: Vec<Changeset>,
    total: usize,
    files: usize,
    filter: String,
    loaded: bool,
    /// Nothing older is left to ask for.
    whole: bool,
    asking: bool,
    selected: usize,
    /// The file of the selected changeset.
    file: usize,
    /// The person's zone, as it was last drawn.
    zone: Cell<i32>,
    /// First changeset that is seen; settled while drawing, where the days are known.
    top: Cell<usize>,
    times: HashMap<String, FileInTime>,
    states: HashMap<StateOf, Arc<State>>,
    asked: HashSet<Asked>,
    /// The version under the keys; one more than there are: now.
    point: usize,
    /// `A`: a file and its version, `None` for now.
    pinned: Option<StateOf>,
    view: Option<(StateOf, StateOf, View)>,
    /// The comparison has the whole pane.
    full: bool,
    fates: Option<Fates>,
    size: (u16, u16),
    /// A key was pressed here, or there is room for the comparison: states are worth asking for.
    engaged: bool,
}

/// A file and its version, `None` for now.
type StateOf = (String, Option<String>);

/// What is asked for and not answered yet.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Asked {
    Versions(String),
    State(StateOf),
}

/// The versions of a file, oldest first.
#[derive(Debug, Clone)]
struct FileInTime {
    versions: Vec<VersionRow>,
    foreign: bool,
    now: Option<Counts>,
}

/// Where the parts of the pane lie.
#[derive(Debug, Clone, Copy)]
struct Parts {
    form: Form,
    list: Rect,
    detail: Option<Rect>,
}

impl Archive {
    /// Takes in what the agent told.
    pub fn apply(&mut self, event: &Event, _now: i64) -> Vec<Effect> {
        match event {
            Event::Opened(_) => {
                *self = Archive { size: self.size, engaged: self.engaged, ..Archive::default() };
                self.more()
            }
            Event::Archived(changeset) => self.archived(changeset),
            Event::Drifted(paths) => {
                for path in paths {
                    self.forget(path);
                }
                self.want()
            }
            Event::Proposed(proposal, fates) if !fates.is_empty() => {
                self.fates = Some(Fates::new(proposal.clone(), fates.clone()));
                self.full = false;
                vec![Effect::Focus(PaneId::Archive)]
            }
            Event::Settled(id, _) => {
                if self.fates.as_ref().is_some_and(|f| f.proposal.id == *id) {
                    self.fates = None;
                }
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn archived(&mut self, changeset: &Changeset) -> Vec<Effect> {
        for file in &changeset.files {
            self.forget(&file.path);
        }
        match self.rows.iter_mut().find(|r| r.id == changeset.id) {
            Some(row) => *row = changeset.clone(),
            None => {
                self.total += 1;
                if self.fits(changeset) {
                    self.rows.insert(0, changeset.clone());
                    // Who looks at an older one stays there.
                    if self.selected > 0 {
                        self.selected += 1;
                        self.top.set(self.top.get() + 1);
                    } else {
                        self.file = 0;
                        self.aim();
                    }
                }
            }
        }
        self.want()
    }

    fn fits(&self, changeset: &Changeset) -> bool {
        let words = self.filter.to_lowercase();
        let has = |text: &str| text.to_lowercase().contains(&words);
        has(&changeset.cause) || changeset.files.iter().any(|f| has(&f.path))
    }

    /// Drops what is known of a file: it changed.
    fn forget(&mut self, path: &str) {
        self.times.remove(path);
        self.states.retain(|(p, version), _| p != path || version.is_some());
        self.asked.retain(|q| match q {
            Asked::Versions(p) => p != path,
            Asked::State((p, version)) => p != path || version.is_some(),
        });
        if self.view.as_ref().is_some_and(|((p, _), _, _)| p == path) {
            self.view = None;
        }
    }

    /// Asks for the next changesets.
    fn more(&mut self) -> Vec<Effect> {
        if self.whole || self.asking {
            return Vec::new();
        }
        self.asking = true;
        vec![Effect::Ask(Query::Archive { skip: self.rows.len(), limit: PAGE, filter: self.filter.clone() })]
    }

    /// Takes in what was asked for.
    pub fn answer(&mut self, query: &Query, listing: &Listing, _now: i64) -> Vec<Effect> {
        match (query, listing) {
            (Query::Archive { skip, filter, .. }, _) if *filter != self.filter || *skip > self.rows.len() => Vec::new(),
            (Query::Archive { skip, limit, .. }, Listing::Archive { rows, total, files }) => {
                (self.loaded, self.asking) = (true, false);
                (self.total, self.files) = (*total, *files);
                self.whole = rows.len() < *limit;
                if *skip == 0 {
                    self.rows.clear();
                }
                let known: HashSet<String> = self.rows.iter().map(|r| r.id.clone()).collect();
                self.rows.extend(rows.iter().filter(|r| !known.contains(&r.id)).cloned());
                self.selected = self.selected.min(self.rows.len().saturating_sub(1));
                self.want()
            }
            (Query::Versions(path), Listing::Versions { versions, foreign, now, .. }) => {
                self.asked.remove(&Asked::Versions(path.clone()));
                let time = FileInTime { versions: versions.clone(), foreign: *foreign, now: *now };
                self.times.insert(path.clone(), time);
                if self.path() == Some(path.as_str()) {
                    self.aim();
                }
                self.want()
            }
            (Query::Bytes(path, version), Listing::Bytes(_, _, state)) => {
                let key = (path.clone(), version.clone());
                self.asked.remove(&Asked::State(key.clone()));
                if self.states.len() >= STATES {
                    self.states.clear();
                }
                self.states.insert(key, state.clone());
                self.want()
            }
            (Query::Archive { .. }, Listing::Failed(why)) => {
                (self.loaded, self.asking, self.whole) = (true, false, true);
                vec![Effect::Say(why.clone())]
            }
            // The question stays among the asked ones, so that it is not asked again and again.
            (_, Listing::Failed(why)) if self.engaged => vec![Effect::Say(why.clone())],
            _ => Vec::new(),
        }
    }

    /// The file under the keys.
    fn path(&self) -> Option<&str> {
        Some(self.rows.get(self.selected)?.files.get(self.file)?.path.as_str())
    }

    /// Puts `B` on the version that belongs to the selected changeset.
    fn aim(&mut self) {
        let file = self.rows.get(self.selected).and_then(|r| r.files.get(self.file));
        let Some((file, time)) = file.and_then(|f| Some((f, self.times.get(&f.path)?))) else { return };
        self.point = time.versions.iter().position(|v| v.id == file.version).unwrap_or(time.versions.len());
    }

    /// The two points that are compared: the pinned one with the one under the keys, else the latter with the next.
    fn sides(&self, path: &str) -> Option<(usize, usize)> {
        let last = self.times.get(path)?.versions.len();
        let point = self.point.min(last);
        Some(match self.pinned_point(path) {
            Some(pin) if pin != point => (pin, point),
            _ if point < last => (point, point + 1),
            _ => (last.checked_sub(1)?, last),
        })
    }

    fn pinned_point(&self, path: &str) -> Option<usize> {
        let (pinned, version) = self.pinned.as_ref()?;
        let versions = &self.times.get(path)?.versions;
        if pinned != path {
            return None;
        }
        match version {
            None => Some(versions.len()),
            Some(id) => versions.iter().position(|v| v.id == *id),
        }
    }

    fn state_of(&self, path: &str, point: usize) -> StateOf {
        let version = self.times.get(path).and_then(|t| t.version(point));
        (path.to_string(), version.map(|v| v.id.clone()))
    }

    /// Asks for what is needed and not there, and builds the comparison when it can be.
    fn want(&mut self) -> Vec<Effect> {
        let mut effects = Vec::new();
        if self.rows.len() < self.selected + AHEAD && self.loaded {
            effects.extend(self.more());
        }
        let Some(path) = self.path().map(str::to_string).filter(|_| self.engaged) else { return effects };
        if !self.times.contains_key(&path) {
            if self.asked.insert(Asked::Versions(path.clone())) {
                effects.push(Effect::Ask(Query::Versions(path)));
            }
            return effects;
        }
        let Some((left, right)) = self.sides(&path) else { return effects };
        let sides = [self.state_of(&path, left), self.state_of(&path, right)];
        for side in &sides {
            if !self.states.contains_key(side) && self.asked.insert(Asked::State(side.clone())) {
                effects.push(Effect::Ask(Query::Bytes(side.0.clone(), side.1.clone())));
            }
        }
        let [left, right] = sides;
        if !self.view.as_ref().is_some_and(|(l, r, _)| (l, r) == (&left, &right)) {
            self.view = self.compare(&left, &right).map(|view| (left, right, view));
            self.fit();
        }
        effects
    }

    fn compare(&self, left: &StateOf, right: &StateOf) -> Option<View> {
        let (a, b) = (self.states.get(left)?, self.states.get(right)?);
        let change = FileChange::new(left.0.clone(), (**a).clone(), (**b).clone(), "", &[]);
        let proposal = Proposal { id: ProposalId(u64::MAX), title: String::new(), files: vec![change] };
        Some(View::new(&proposal, Heads::None))
    }

    /// Whether `action` would do something now.
    pub fn offers(&self, action: Action) -> bool {
        if let Some(fates) = &self.fates {
            return fates.offers(action);
        }
        let any = !self.rows.is_empty();
        let time = self.path().and_then(|p| self.times.get(p));
        match action {
            Action::Escape | Action::Close => self.full || !self.filter.is_empty(),
            Action::Up | Action::Down | Action::HalfUp | Action::HalfDown | Action::PageUp | Action::PageDown => any,
            Action::First | Action::Last => any,
            Action::Open => any && self.path().is_some(),
            Action::BackInTime => time.is_some() && self.point > 0,
            Action::OnInTime => time.is_some_and(|t| self.point < t.versions.len()),
            Action::Pin => time.is_some(),
            // Without a comparison in view the version is that of the selected changeset.
            Action::Restore => match time {
                Some(time) => self.point < time.versions.len(),
                None => self.path().is_some(),
            },
            Action::RestoreChangeset => any,
            Action::Redo | Action::Search => self.loaded,
            _ => false,
        }
    }

    /// Does `action`.
    pub fn act(&mut self, action: Action, _now: i64) -> Vec<Effect> {
        self.engaged = true;
        if let Some(fates) = &mut self.fates {
            return fates.act(action);
        }
        if let Some((_, _, view)) = self.view.as_mut().filter(|_| self.full) {
            let half = view.half_page();
            match action {
                Action::Up => view.scroll(-1),
                Action::Down => view.scroll(1),
                Action::HalfUp => view.scroll(-half),
                Action::HalfDown => view.scroll(half),
                Action::PageUp => view.scroll(-2 * half),
                Action::PageDown => view.scroll(2 * half),
                Action::First => view.scroll_to(false),
                Action::Last => view.scroll_to(true),
                _ => return self.browse(action),
            }
            return Vec::new();
        }
        self.browse(action)
    }

    fn browse(&mut self, action: Action) -> Vec<Effect> {
        match action {
            Action::Down => self.step(1),
            Action::Up => self.step(-1),
            Action::HalfDown => self.jump(8),
            Action::HalfUp => self.jump(-8),
            Action::PageDown => self.jump(16),
            Action::PageUp => self.jump(-16),
            Action::First => self.jump(isize::MIN),
            Action::Last => self.jump(isize::MAX),
            Action::BackInTime => self.point = self.point.saturating_sub(1),
            Action::OnInTime => {
                let last = self.path().and_then(|p| self.times.get(p)).map_or(0, |t| t.versions.len());
                self.point = (self.point + 1).min(last);
            }
            Action::Pin => self.pin(),
            Action::Open => {
                self.full = !self.full;
                self.fit();
            }
            Action::Escape | Action::Close if self.full => {
                self.full = false;
                self.fit();
            }
            Action::Escape | Action::Close => return self.refilter(""),
            Action::Restore => return self.restore(),
            Action::RestoreChangeset => {
                let id = self.rows.get(self.selected).map(|r| r.id.clone());
                return id
                    .map(|id| Effect::Send(Command::Restore(RestoreRequest::Changeset(id))))
                    .into_iter()
                    .collect();
            }
            Action::Redo => return vec![Effect::Send(Command::Restore(RestoreRequest::Redo))],
            Action::Search => {
                let prompt = "filter by path or cause".to_string();
                return vec![Effect::Line { purpose: LineFor::Filter, prompt, text: self.filter.clone() }];
            }
            _ => {}
        }
        self.want()
    }

    fn restore(&self) -> Vec<Effect> {
        let Some(file) = self.rows.get(self.selected).and_then(|r| r.files.get(self.file)) else { return Vec::new() };
        let version = match self.times.get(&file.path) {
            Some(time) => time.version(self.point).map(|v| v.id.clone()),
            None => Some(file.version.clone()),
        };
        let Some(version) = version.filter(|v| !v.is_empty()) else { return Vec::new() };
        vec![Effect::Send(Command::Restore(RestoreRequest::Version { path: file.path.clone(), version }))]
    }

    fn pin(&mut self) {
        let Some(path) = self.path().map(str::to_string) else { return };
        let here = self.state_of(&path, self.point);
        self.pinned = if self.pinned.as_ref() == Some(&here) { None } else { Some(here) };
    }

    /// To the next file of the changeset, and on to the next changeset.
    fn step(&mut self, by: isize) {
        let files = self.rows.get(self.selected).map_or(0, |r| r.files.len());
        match by {
            1 if self.file + 1 < files => self.file += 1,
            1 if self.selected + 1 < self.rows.len() => (self.selected, self.file) = (self.selected + 1, 0),
            -1 if self.file > 0 => self.file -= 1,
            -1 if self.selected > 0 => {
                self.selected -= 1;
                self.file = self.rows[self.selected].files.len().saturating_sub(1);
            }
            _ => return,
        }
        self.aim();
    }

    fn jump(&mut self, by: isize) {
        self.selected = self.selected.saturating_add_signed(by).min(self.rows.len().saturating_sub(1));
        self.file = 0;
        self.aim();
    }

    fn refilter(&mut self, words: &str) -> Vec<Effect> {
        if words == self.filter {
            return Vec::new();
        }
        self.filter = words.to_string();
        self.rows.clear();
        (self.loaded, self.whole, self.asking) = (false, false, false);
        (self.selected, self.file) = (0, 0);
        self.top.set(0);
        self.more()
    }

    /// The line that was asked for.
    pub fn line(&mut self, purpose: LineFor, typed: Typed<'_>, _now: i64) -> Vec<Effect> {
        match (purpose, typed) {
            (LineFor::Filter, Typed::Now(words) | Typed::Taken(words)) => self.refilter(words.trim()),
            _ => Vec::new(),
        }
    }

    /// A click inside the body.
    pub fn click(&mut self, column: u16, row: u16, now: i64) -> Vec<Effect> {
        self.engaged = true;
        let parts = self.parts();
        let inside = row < parts.list.height && column < parts.list.width;
        if self.fates.is_some() || self.full || !inside {
            return Vec::new();
        }
        // The zone shifts days only; a click is meant for what is drawn.
        let clock = time::Clock { now, zone: self.zone.get() };
        if let Some(at) = self.at_row(usize::from(row), usize::from(parts.list.height), parts.form, clock) {
            (self.selected, self.file) = at;
            self.aim();
        }
        self.want()
    }

    /// The size of the body that is drawn next.
    pub fn measure(&mut self, width: u16, height: u16, _look: &Look<'_>) {
        if self.size == (width, height) {
            return;
        }
        self.size = (width, height);
        self.engaged |= self.parts().detail.is_some();
        self.fit();
    }

    /// Tells the comparison its size.
    fn fit(&mut self) {
        let (width, height) = match (self.full, self.parts().detail) {
            (true, _) => (self.size.0, self.size.1.saturating_sub(2)),
            (false, Some(detail)) => (detail.width, self.comparison(detail)),
            (false, None) => return,
        };
        if let Some((_, _, view)) = &mut self.view {
            view.prefer(if width >= SIDE_FROM { Layout::Side } else { Layout::Unified });
            view.measure(width, height);
        }
    }

    /// Rows for the comparison: what axis, the line of its sides and the fates leave.
    fn comparison(&self, detail: Rect) -> u16 {
        let fates = self.fates.as_ref().map_or(0, |f| f.height().min(detail.height / 2) + 1);
        detail.height.saturating_sub(axis::ROWS + 1 + fates)
    }

    fn parts(&self) -> Parts {
        let (width, height) = self.size;
        let all = Rect::new(0, 0, width, height);
        if width >= 100 {
            let left = (width + 2) / 3;
            let detail = Rect::new(left + 1, 0, width - left - 1, height);
            Parts { form: Form::Full, list: Rect { width: left, ..all }, detail: Some(detail) }
        } else if height >= 18 {
            let list = (height * 2 / 5).max(6);
            let detail = Rect { y: list + 1, height: height - list - 1, ..all };
            Parts { form: Form::Full, list: Rect { height: list, ..all }, detail: Some(detail) }
        } else {
            Parts { form: Form::Small, list: all, detail: None }
        }
    }

    /// Changesets that are not loaded.
    fn unseen(&self) -> usize {
        if self.filter.is_empty() { self.total.saturating_sub(self.rows.len()) } else { 0 }
    }

    /// The title on the pane line.
    pub fn title(&self) -> String {
        "archive".into()
    }

    /// The note on the pane line.
    pub fn note(&self, width: u16, ctx: &Ctx<'_>) -> Line<'static> {
        let dim = ctx.theme.style(Role::Dim);
        if self.full {
            return paint::line("Enter goes back", dim);
        }
        if !self.filter.is_empty() {
            let more = if self.whole { "" } else { "+" };
            let words = format!("{}{more} of {} with {}", self.rows.len(), paint::thousands(self.total), self.filter);
            let words = crate::tui::text::cut::end(&words, usize::from(width), ctx.glyphs.cut).into_owned();
            return paint::line(words, dim);
        }
        if !self.loaded {
            return Line::default();
        }
        Line::from(span(paint::plural(self.total, "changeset"), dim))
    }

    /// What a tab shows.
    pub fn mark(&self) -> Option<Mark> {
        self.fates.is_some().then_some(Mark::Waiting)
    }

    /// Whether a restore waits here for the person.
    pub fn is_waiting(&self) -> bool {
        self.fates.is_some()
    }

    /// Draws the body.
    pub fn draw(&self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let mut pen = Pen::new(buf, area);
        let look = paint::look(ctx);
        self.zone.set(ctx.zone);
        let (width, height) = (pen.width(), pen.height());
        let parts = self.parts();
        if self.full && self.fates.is_none() {
            self.draw_full(&mut pen, ctx);
            return;
        }
        let part = |pen: &mut Pen<'_>, r: Rect, draw: &mut dyn FnMut(&mut Pen<'_>)| {
            draw(&mut pen.part(r.x, r.y, r.width, r.height));
        };
        if let (Some(fates), Form::Small) = (&self.fates, parts.form) {
            fates.draw(&mut pen, ctx);
            return;
        }
        part(&mut pen, parts.list, &mut |pen| self.draw_list(pen, ctx, parts.form));
        let Some(detail) = parts.detail else { return };
        if detail.x > 0 {
            for y in 0..height {
                pen.put(detail.x - 1, y, look.glyphs.upright, 1, look.theme.style(Role::Line));
            }
        } else {
            pen.fill(0, detail.y.saturating_sub(1), width, look.glyphs.rule, look.theme.style(Role::Line));
        }
        part(&mut pen, detail, &mut |pen| self.draw_detail(pen, ctx));
    }

    fn draw_detail(&self, pen: &mut Pen<'_>, ctx: &Ctx<'_>) {
        let Rect { width, height, .. } = Rect::new(0, 0, pen.width(), pen.height());
        let mut y = 0;
        if let Some(path) = self.path() {
            self.draw_axis(&mut pen.part(0, 0, width, axis::ROWS), ctx, path);
            y = axis::ROWS;
            let room = self.comparison(Rect::new(0, 0, width, height));
            y += self.draw_comparison(&mut pen.part(0, y, width, room + 1), ctx, path);
        }
        if let Some(fates) = &self.fates {
            let y = if y > 0 { y + 1 } else { 0 };
            fates.draw(&mut pen.part(0, y, width, height.saturating_sub(y)), ctx);
        }
    }

    fn draw_full(&self, pen: &mut Pen<'_>, ctx: &Ctx<'_>) {
        let Some(path) = self.path() else { return };
        let look = paint::look(ctx);
        let (width, height) = (pen.width(), pen.height());
        let title = paint::path(path, usize::from(width) - 4, look.theme.style(Role::Path), look);
        pen.heading(0, 0, width, &title, &[], look);
        self.draw_comparison(&mut pen.part(0, 1, width, height.saturating_sub(1)), ctx, path);
    }

    /// Draws the line of the sides and the diff below it; returns the rows used.
    fn draw_comparison(&self, pen: &mut Pen<'_>, ctx: &Ctx<'_>, path: &str) -> u16 {
        let (width, height) = (pen.width(), pen.height());
        let dim = ctx.theme.style(Role::Dim);
        let Some((_, _, view)) = self.view.as_ref().filter(|((p, _), _, _)| p == path) else {
            self.draw_sides(pen, ctx, path, None, 0);
            return 1;
        };
        let middle = if view.layout() == Layout::Side { view.middle() } else { 0 };
        self.draw_sides(pen, ctx, path, Some(view.counts()), middle);
        if view.total() == 0 {
            pen.put(1, 1, "no difference", usize::from(width), dim);
            return 2;
        }
        let rows = u16::try_from(view.total()).unwrap_or(u16::MAX).min(height.saturating_sub(1));
        view.draw(&mut pen.part(0, 1, width, rows), ctx, None);
        rows + 1
    }
}

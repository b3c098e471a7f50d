//! The archive: every changeset, the versions of each file in time, and the way back to any of them. It asks for
//! what is seen and no more; what a restore would do to each file is shown here before it goes to the proposal.

mod axis;
mod draw;
mod keys;
mod list;
mod restore_list;

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use ratatui::layout::{Position, Rect};
use ratatui::text::Line;

use super::diff::{Heads, View};
use super::paint::{self, span};
use crate::messages::{archive as say, count};
use crate::proposal::{Counts, FileChange, Proposal, ProposalId, REPOSITORY, State};
use crate::protocol::{Changeset, EventBody, Listing, ProposalEvent, Query, VersionRow};
use crate::text::number::thousands;
use crate::text::time::Clock;
use crate::tui::action::{Action, Context};
use crate::tui::look::{Ctx, Look};
use crate::tui::msg::{LineFor, LineInput, PaneEffect};
use crate::tui::pane::mark::Mark;
use crate::tui::text::cut;
use crate::tui::theme::Role;
use restore_list::RestoreList;

/// Changesets asked for at a time.
const PAGE: usize = 100;
/// The next page is asked for when so few are left below the selected one.
const AHEAD: usize = 30;
/// States of files that are kept.
const STATES: usize = 48;
/// Changesets and versions.
#[derive(Debug, Default)]
pub struct Archive {
    /// Newest first, as far as they were asked for.
    rows: Vec<Changeset>,
    /// Cells of the longest name of a file in them.
    names: u16,
    /// The ones that changed definitions, whatever the filter leaves, by their ids.
    of_stores: HashMap<String, Changeset>,
    /// Changesets that the filter leaves, and all of them.
    found: usize,
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
    /// The present time and the time zone, for the days of the list.
    clock: Clock,
    /// First changeset that is seen.
    top: usize,
    times: HashMap<String, FileInTime>,
    states: HashMap<StateOf, Arc<State>>,
    pending: HashSet<Requested>,
    /// The version under the keys; one more than there are: now.
    point: usize,
    /// `A`: a file and its version, `None` for now.
    pinned: Option<StateOf>,
    view: Option<(StateOf, StateOf, View)>,
    /// The comparison has the whole pane.
    full: bool,
    restore: Option<RestoreList>,
    size: (u16, u16),
    /// A key was pressed here, or there is room for the comparison: states are worth asking for.
    engaged: bool,
    /// True if there is room for the comparison since the last [`Archive::wanted`].
    due: bool,
}

/// A file and its version; `None`: the present state.
type StateOf = (String, Option<String>);

/// The questions that are not answered yet.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Requested {
    Versions(String),
    State(StateOf),
}

/// Rows of the time axis: path, labels, rule, changes, an empty one.
const AXIS_ROWS: u16 = 5;

/// The versions of a file, oldest first.
#[derive(Debug, Clone)]
struct FileInTime {
    versions: Vec<VersionRow>,
    foreign: bool,
    now: Option<Counts>,
}

impl Archive {
    /// Takes in what the agent told.
    pub fn apply(&mut self, event: &EventBody, _now: i64) -> Vec<PaneEffect> {
        match event {
            EventBody::Opened(_) => {
                *self = Archive { size: self.size, engaged: self.engaged, ..Archive::default() };
                self.more()
            }
            EventBody::Archived(changeset) => self.archived(changeset),
            EventBody::Drifted(paths) => {
                for path in paths {
                    self.forget(path);
                }
                self.want()
            }
            EventBody::Proposal(ProposalEvent::Proposed(proposal, previews)) if !previews.is_empty() => {
                self.restore = Some(RestoreList::new(proposal.clone(), previews.clone()));
                self.full = false;
                Vec::new()
            }
            EventBody::Proposal(ProposalEvent::Settled(id, _)) => {
                if self.restore.as_ref().is_some_and(|f| f.proposal.id == *id) {
                    self.restore = None;
                }
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn archived(&mut self, told: &Changeset) -> Vec<PaneEffect> {
        for file in &told.files {
            self.forget(&file.path);
        }
        let changeset = &told.with_units();
        self.take_note(std::slice::from_ref(changeset));
        match self.rows.iter_mut().find(|r| r.id == changeset.id) {
            Some(row) => *row = changeset.clone(),
            None => {
                self.total += 1;
                if self.fits(told) {
                    self.found += 1;
                    self.rows.insert(0, changeset.clone());
                    // Who looks at an older one stays there; at the head of the list the new one is seen.
                    if self.selected > 0 {
                        self.selected += 1;
                        self.top += usize::from(self.top > 0);
                    } else {
                        self.file = 0;
                        self.aim();
                    }
                }
            }
        }
        self.want()
    }

    /// Notes changesets that were told.
    fn take_note(&mut self, changesets: &[Changeset]) {
        self.note_names(changesets);
        let of_stores = changesets.iter().filter(|changeset| !changeset.definitions.is_empty());
        self.of_stores.extend(of_stores.map(|changeset| (changeset.id.clone(), changeset.clone())));
    }

    /// Returns how many definitions a session has changed, as far as its changesets were told.
    pub fn definitions_of(&self, session: &str) -> usize {
        let own = self.of_stores.values().filter(|changeset| changeset.session.as_deref() == Some(session));
        Changeset::count_definitions(own)
    }

    fn fits(&self, changeset: &Changeset) -> bool {
        let words = self.filter.to_lowercase();
        let has = |text: &str| text.to_lowercase().contains(&words);
        has(&changeset.cause)
            || changeset.files.iter().any(|f| has(&f.path))
            || changeset.definitions.iter().any(|d| has(d))
    }

    /// Drops what is known of a file: it changed.
    fn forget(&mut self, path: &str) {
        self.times.remove(path);
        self.states.retain(|(p, version), _| p != path || version.is_some());
        self.pending.retain(|q| match q {
            Requested::Versions(p) => p != path,
            Requested::State((p, version)) => p != path || version.is_some(),
        });
        if self.view.as_ref().is_some_and(|((p, _), _, _)| p == path) {
            self.view = None;
        }
    }

    /// Asks for the next changesets.
    fn more(&mut self) -> Vec<PaneEffect> {
        if self.whole || self.asking {
            return Vec::new();
        }
        self.asking = true;
        vec![PaneEffect::Ask(Query::Archive { skip: self.rows.len(), limit: PAGE, filter: self.filter.clone() })]
    }

    /// Takes in what was asked for.
    pub fn answer(&mut self, query: &Query, listing: &Listing, _now: i64) -> Vec<PaneEffect> {
        match (query, listing) {
            (Query::Archive { skip, filter, .. }, _) if *filter != self.filter || *skip > self.rows.len() => Vec::new(),
            (Query::Archive { skip, limit, .. }, Listing::Archive { rows, found, total, files }) => {
                (self.loaded, self.asking) = (true, false);
                (self.found, self.total, self.files) = (*found, *total, *files);
                self.whole = rows.len() < *limit;
                if *skip == 0 {
                    self.rows.clear();
                    self.names = 0;
                }
                let rows: Vec<Changeset> = rows.iter().map(Changeset::with_units).collect();
                self.take_note(&rows);
                let known: HashSet<String> = self.rows.iter().map(|r| r.id.clone()).collect();
                self.rows.extend(rows.into_iter().filter(|r| !known.contains(&r.id)));
                self.selected = self.selected.min(self.rows.len().saturating_sub(1));
                self.want()
            }
            (Query::Versions(path), Listing::Versions { versions, foreign, now, .. }) => {
                self.pending.remove(&Requested::Versions(path.clone()));
                let time = FileInTime { versions: versions.clone(), foreign: *foreign, now: *now };
                self.times.insert(path.clone(), time);
                if self.path() == Some(path.as_str()) {
                    self.aim();
                }
                self.want()
            }
            (Query::Bytes(path, version), Listing::Bytes(_, _, state)) => {
                let key = (path.clone(), version.clone());
                self.pending.remove(&Requested::State(key.clone()));
                if self.states.len() >= STATES {
                    self.states.clear();
                }
                self.states.insert(key, state.clone());
                self.want()
            }
            (Query::Archive { .. }, Listing::Failed(why)) => {
                (self.loaded, self.asking, self.whole) = (true, false, true);
                vec![PaneEffect::Say(why.clone())]
            }
            // The question stays among the asked ones, so that it is not asked again and again.
            (_, Listing::Failed(why)) if self.engaged => vec![PaneEffect::Say(why.clone())],
            _ => Vec::new(),
        }
    }

    /// Returns the file under the keys.
    fn path(&self) -> Option<&str> {
        Some(self.rows.get(self.selected)?.files.get(self.file)?.path.as_str())
    }

    /// Returns the file under the keys, where it has versions of its own: the repository is restored as a whole.
    fn versioned(&self) -> Option<&str> {
        self.path().filter(|path| *path != REPOSITORY)
    }

    /// Puts `B` on the version that belongs to the selected changeset.
    fn aim(&mut self) {
        let file = self.rows.get(self.selected).and_then(|r| r.files.get(self.file));
        let Some((file, time)) = file.and_then(|f| Some((f, self.times.get(&f.path)?))) else { return };
        let own = |id: &String| time.versions.iter().position(|v| v.id == *id);
        self.point = file.version.as_ref().and_then(own).unwrap_or(time.versions.len());
    }

    /// Returns the two points that are compared: the pinned one with the one under the keys, else the latter with the
    /// next.
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
    fn want(&mut self) -> Vec<PaneEffect> {
        let mut effects = Vec::new();
        if self.rows.len() < self.selected + AHEAD && self.loaded {
            effects.extend(self.more());
        }
        let Some(path) = self.versioned().map(str::to_string).filter(|_| self.engaged) else { return effects };
        if !self.times.contains_key(&path) {
            if self.pending.insert(Requested::Versions(path.clone())) {
                effects.push(PaneEffect::Ask(Query::Versions(path)));
            }
            return effects;
        }
        let Some((left, right)) = self.sides(&path) else { return effects };
        let sides = [self.state_of(&path, left), self.state_of(&path, right)];
        for side in &sides {
            if !self.states.contains_key(side) && self.pending.insert(Requested::State(side.clone())) {
                effects.push(PaneEffect::Ask(Query::Bytes(side.0.clone(), side.1.clone())));
            }
        }
        let [left, right] = sides;
        if self.view.as_ref().is_none_or(|(l, r, _)| (l, r) != (&left, &right)) {
            self.view = self.compare(&left, &right).map(|view| (left, right, view));
            self.fit();
        }
        effects
    }

    /// Returns what the size of the pane makes worth asking for.
    pub fn wanted(&mut self) -> Vec<PaneEffect> {
        if std::mem::take(&mut self.due) { self.want() } else { Vec::new() }
    }

    fn compare(&self, left: &StateOf, right: &StateOf) -> Option<View> {
        let (a, b) = (self.states.get(left)?, self.states.get(right)?);
        let change = FileChange::new(left.0.clone(), (**a).clone(), (**b).clone(), "", &[]);
        let proposal = Proposal { id: ProposalId(u64::MAX), title: String::new(), files: vec![change] };
        Some(View::new(&proposal, Heads::None))
    }

    /// Handles the line that was asked for.
    pub fn line(&mut self, purpose: LineFor, typed: LineInput<'_>, _now: i64) -> Vec<PaneEffect> {
        match (purpose, typed) {
            (LineFor::Filter, LineInput::Now(words) | LineInput::Taken(words)) => self.refilter(words.trim()),
            _ => Vec::new(),
        }
    }

    /// Handles a click inside the body.
    pub fn click(&mut self, column: u16, row: u16, now: i64) -> Vec<PaneEffect> {
        self.engaged = true;
        let parts = self.parts();
        let at = Position::new(column, row);
        let alone = self.list_alone();
        if let Some(detail) = parts.detail.filter(|d| d.contains(at) && !self.full && !alone) {
            return self.click_detail(detail, at);
        }
        if let (Some(previews), true) = (&self.restore, alone) {
            let action = previews.at_row(row, self.size.1);
            return action.map_or(Vec::new(), |action| self.act(action, now));
        }
        if self.restore.is_some() || self.full || !parts.list.contains(at) {
            return Vec::new();
        }
        if let Some(at) = self.at_row(usize::from(row), usize::from(parts.list.height), parts.form) {
            (self.selected, self.file) = at;
            self.aim();
        }
        self.want()
    }

    /// Handles a click beside the list: on a version it goes there, on a choice for a file it is taken.
    fn click_detail(&mut self, detail: Rect, at: Position) -> Vec<PaneEffect> {
        let (column, row) = (at.x - detail.x, at.y - detail.y);
        if let Some(top) = self.list_top(detail) {
            let clicked = row.checked_sub(top).and_then(|row| self.restore.as_ref()?.at_row(row, detail.height - top));
            return clicked.map_or(Vec::new(), |action| self.act(action, 0));
        }
        if row < AXIS_ROWS
            && let Some(point) = self.point_at(detail.width, column)
        {
            self.point = point;
        }
        self.want()
    }

    /// Handles the wheel over a cell: the comparison and the restore scroll beside the list, else the list moves.
    pub fn wheel(&mut self, column: u16, row: u16, down: bool, now: i64) -> Vec<PaneEffect> {
        let beside = self.parts().detail.is_some_and(|d| d.contains(Position::new(column, row)));
        let action = if down { Action::Down } else { Action::Up };
        if self.full || self.restore.is_some() || !beside {
            let mut effects = Vec::new();
            for _ in 0..3 {
                effects.extend(self.act(action, now));
            }
            return effects;
        }
        if let Some((_, _, view)) = &mut self.view {
            view.scroll(if down { 3 } else { -3 });
        }
        Vec::new()
    }

    /// Takes the size of the body that is drawn next.
    pub fn measure(&mut self, width: u16, height: u16, look: &Look<'_>) {
        self.clock = Clock { now: look.now, zone: look.zone };
        if self.size != (width, height) {
            self.size = (width, height);
            if !self.engaged && self.parts().detail.is_some() {
                (self.engaged, self.due) = (true, true);
            }
            self.fit();
        }
        let parts = self.parts();
        self.top = self.visible_rows(usize::from(parts.list.height), parts.form).top;
    }

    /// Changesets that are not loaded.
    fn unseen(&self) -> usize {
        self.found.saturating_sub(self.rows.len())
    }

    /// Returns the title on the pane line.
    pub fn title(&self) -> String {
        say::archive().into()
    }

    /// Returns the note on the pane line.
    pub fn note(&self, width: u16, ctx: &Ctx<'_>) -> Line<'static> {
        let dim = ctx.theme.style(Role::Dim);
        if self.full {
            let key = ctx.key(Context::Archive, Action::Open);
            return key.map(|key| paint::line(say::goes_back(&key), dim)).unwrap_or_default();
        }
        if !self.filter.is_empty() {
            let words = say::filtered(&thousands(self.found), &thousands(self.total), &self.filter);
            let words = crate::tui::text::cut::end(&words, usize::from(width), ctx.glyphs.cut).into_owned();
            return paint::line(words, dim);
        }
        if !self.loaded {
            return Line::default();
        }
        Line::from(span(count::changesets(self.total), dim))
    }

    /// Returns `2 of 7`: changesets that the filter leaves.
    pub fn search_hits(&self) -> Option<String> {
        let visible = self.loaded && !self.filter.is_empty();
        visible.then(|| cut::rows_left(self.found, self.total))
    }

    /// Returns what a tab shows.
    pub fn mark(&self) -> Option<Mark> {
        self.restore.is_some().then_some(Mark::Waiting)
    }

    /// Returns whether the comparison has taken the place of the list.
    pub fn is_comparing(&self) -> bool {
        self.full
    }

    /// Returns, of the restore that waits here, the number of files for which the person must choose, and of all its
    /// files.
    pub fn restoring(&self) -> Option<(usize, usize)> {
        self.restore.as_ref().filter(|f| !f.left).map(RestoreList::count)
    }

    /// Returns the restore whose files wait here for the person.
    pub fn waiting(&self) -> Option<ProposalId> {
        self.restore.as_ref().filter(|f| !f.left).map(|f| f.proposal.id)
    }
}

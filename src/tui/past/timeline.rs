//! The timeline: a moment of the workspace, and what differs between it and now, or another moment.

use std::ops::Range;

use crate::messages::{past as say, times};
use crate::protocol::{Command, Listing, MomentRow, PastChange, Query, RestoreRequest};
use crate::text::id::short_changeset;
use crate::text::time::{self, Clock};
use crate::tui::action::Action;
use crate::tui::look::Look;
use crate::tui::msg::{LineFor, LineInput, PaneEffect};
use crate::tui::pane::diff::{Heads, View, look_around};
use crate::tui::past::{Past, PastOutcome};

/// The workspace at a moment.
#[derive(Debug, Default)]
pub struct Timeline {
    /// Oldest first.
    pub(super) moments: Vec<MomentRow>,
    pub(super) loaded: bool,
    pub(super) failed: Option<String>,
    /// The moment under the keys; as many as there are: now.
    pub(super) at: usize,
    /// The moment that it is compared with; none: now.
    pub(super) pinned: Option<usize>,
    /// The changeset that it opens at.
    opens_at: Option<String>,
    /// The words that it opens at.
    words: String,
    /// Changesets came after the moments were asked for.
    lists_again: bool,
    requested: Option<(Option<String>, Option<String>)>,
    pub(super) displayed: Option<Displayed>,
    /// The file under the keys.
    pub(super) file: usize,
    /// The first file that is seen.
    pub(super) top: usize,
    /// The keys go to the diff.
    pub(super) in_diff: bool,
    pub(super) size: (u16, u16),
    clock: Clock,
    /// The authors of a file that it was opened from.
    pub(super) below: Option<Box<Past>>,
}

/// The differences, as they are shown.
#[derive(Debug)]
pub(super) struct Displayed {
    pub view: View,
    pub change: PastChange,
    /// The changesets just after the two moments that they lie between; none: now.
    moments: (Option<String>, Option<String>),
}

/// The rows of the parts of the body, below its title.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TimelineRows {
    /// The strip: titles, marks, times.
    pub strip: u16,
    /// The legend; none: there is no room.
    pub legend: Option<u16>,
    /// The head of the files.
    pub head: u16,
    /// The files.
    pub files: Range<u16>,
    /// The head of the diff; the diff follows.
    pub diff: u16,
}

impl Timeline {
    /// Creates one that opens at a changeset, or at the beginning of the newest turn.
    pub fn opening_at(changeset: Option<String>) -> Self {
        Timeline { opens_at: changeset, ..Timeline::default() }
    }

    /// Opens at a time, or at the newest changeset with these words.
    pub fn looking_for(self, words: &str, clock: Clock) -> Self {
        Timeline { words: words.trim().to_string(), clock, ..self }
    }

    /// Leads back to the authors of a file when it is closed.
    pub fn over(self, below: Option<Box<Past>>) -> Self {
        Timeline { below, ..self }
    }

    /// Notes that another list of the moments is needed once the one that was asked for is there.
    pub fn list_again(&mut self) {
        self.lists_again = true;
    }

    /// Takes in what was asked for.
    pub fn answer(&mut self, query: &Query, listing: &Listing) -> Vec<PaneEffect> {
        match (query, listing) {
            (Query::Timeline, Listing::Timeline(moments)) => {
                (self.loaded, self.failed) = (true, None);
                let again = std::mem::take(&mut self.lists_again).then_some(PaneEffect::Ask(Query::Timeline));
                let effects = if self.moments.is_empty() { self.open(moments) } else { self.extend(moments) };
                effects.into_iter().chain(again).collect()
            }
            (Query::Past { then, until }, Listing::Past(change))
                if self.requested.as_ref() == Some(&(then.clone(), until.clone())) =>
            {
                self.failed = None;
                self.show(change, (then.clone(), until.clone()));
                Vec::new()
            }
            // A failure of what is not wanted any more says nothing.
            (Query::Past { then, until }, Listing::Failed(_))
                if self.requested.as_ref().is_some_and(|wanted| *wanted != (then.clone(), until.clone())) =>
            {
                Vec::new()
            }
            (_, Listing::Failed(why)) => {
                // The next key asks again.
                (self.loaded, self.failed, self.requested) = (true, Some(why.clone()), None);
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    /// Takes the first list of the moments, and goes to the one that it opens at.
    fn open(&mut self, moments: &[MomentRow]) -> Vec<PaneEffect> {
        self.moments = moments.to_vec();
        let newest = self.groups().last().map_or(0, |group| group.start);
        let named = self.opens_at.take().and_then(|id| moments.iter().position(|moment| moment.id == id));
        (self.at, self.pinned) = (named.unwrap_or(newest), None);
        let mut why = None;
        if !self.words.is_empty() {
            let words = std::mem::take(&mut self.words);
            self.at = self.moments.len();
            (self.at, why) = self.find(&words).map_or_else(|why| (newest, Some(why)), |at| (at, None));
        }
        self.want().into_iter().chain(why.map(PaneEffect::Say)).collect()
    }

    /// Takes a later list of the moments: it stays at its own ones, and asks again for what differs.
    fn extend(&mut self, moments: &[MomentRow]) -> Vec<PaneEffect> {
        let place = |at: usize| match self.id(at) {
            Some(id) => moments.iter().position(|moment| moment.id == id).unwrap_or(at.min(moments.len())),
            None => moments.len(),
        };
        (self.at, self.pinned) = (place(self.at), self.pinned.map(place));
        (self.moments, self.requested) = (moments.to_vec(), None);
        self.want()
    }

    /// Shows what differs between two moments. Between the same two as before, the file and the hunk under the keys stay.
    fn show(&mut self, change: &PastChange, moments: (Option<String>, Option<String>)) {
        let before = self.displayed.as_ref().filter(|displayed| displayed.moments == moments);
        if before.is_some_and(|displayed| displayed.change == *change) {
            return;
        }
        let path = before.and_then(|_| self.path()).map(str::to_string);
        let kept = path.zip(before.and_then(|displayed| displayed.view.focus()));
        let view = View::new(&change.change, Heads::All).marking_focus();
        self.displayed = Some(Displayed { view, change: change.clone(), moments });
        (self.file, self.top) = (0, 0);
        self.fit();
        let files = &change.change.files;
        let kept = kept.and_then(|(path, focus)| Some((files.iter().position(|file| file.path == path)?, focus)));
        if let (Some((file, (_, hunk))), Some(displayed)) = (kept, &mut self.displayed) {
            self.file = file;
            let same = displayed.view.hunks().filter(|(of, _)| *of == file).take(hunk + 1).last();
            same.into_iter().for_each(|same| displayed.view.set_focus(same));
            self.fit();
        }
    }

    /// Returns the moments of each turn, oldest first; those of no turn stand together as long as they follow each other.
    pub(super) fn groups(&self) -> Vec<Range<usize>> {
        let mut groups: Vec<Range<usize>> = Vec::new();
        for (at, moment) in self.moments.iter().enumerate() {
            match groups.last_mut() {
                Some(group) if self.moments[group.start].turn == moment.turn => group.end = at + 1,
                _ => groups.push(at..at + 1),
            }
        }
        groups
    }

    /// Returns the changeset just after a moment; none: it is now.
    fn id(&self, at: usize) -> Option<String> {
        self.moments.get(at).map(|moment| moment.id.clone())
    }

    /// Returns the two moments that are compared, the earlier one first.
    pub(super) fn sides(&self) -> (usize, usize) {
        let pinned = self.pinned.unwrap_or(self.moments.len());
        (self.at.min(pinned), self.at.max(pinned))
    }

    /// Asks for what differs, unless that is shown.
    fn want(&mut self) -> Vec<PaneEffect> {
        if self.moments.is_empty() {
            return Vec::new();
        }
        let (then, until) = self.sides();
        let (then, until) = (self.id(then), self.id(until));
        if self.requested.as_ref() == Some(&(then.clone(), until.clone())) {
            return Vec::new();
        }
        self.requested = Some((then.clone(), until.clone()));
        vec![PaneEffect::Ask(Query::Past { then, until })]
    }

    fn file_count(&self) -> usize {
        self.displayed.as_ref().map_or(0, |displayed| displayed.change.files.len())
    }

    /// Returns the path of the file under the keys.
    pub fn path(&self) -> Option<&str> {
        Some(self.displayed.as_ref()?.change.change.files.get(self.file)?.path.as_str())
    }

    /// Returns whether `action` would do something now.
    pub fn offers(&self, action: Action) -> bool {
        let any = !self.moments.is_empty();
        let files = self.file_count() > 0;
        match action {
            Action::Close | Action::Escape => true,
            Action::BackInTime | Action::PreviousItem | Action::First => any && self.at > 0,
            Action::OnInTime | Action::NextItem | Action::Last => any && self.at < self.moments.len(),
            Action::Search | Action::Pin => any,
            Action::Up | Action::Down | Action::PageUp | Action::PageDown => files,
            Action::Open | Action::Blame => files,
            Action::NextHunk | Action::PreviousHunk | Action::Layout => files,
            Action::RestoreSince => any && self.at < self.moments.len(),
            Action::Restore => files && self.at < self.moments.len(),
            _ => false,
        }
    }

    /// Does `action`.
    pub fn act(&mut self, action: Action) -> PastOutcome {
        let stay = PastOutcome::Stay;
        match action {
            Action::Close | Action::Escape if self.in_diff => self.in_diff = false,
            Action::Close | Action::Escape => return PastOutcome::Leave(Vec::new()),
            Action::BackInTime => return stay(self.go(self.at.saturating_sub(1))),
            Action::OnInTime => return stay(self.go(self.at + 1)),
            Action::First => return stay(self.go(0)),
            Action::Last => return stay(self.go(usize::MAX)),
            Action::PreviousItem | Action::NextItem => return stay(self.go_by_turn(action == Action::NextItem)),
            Action::Pin => {
                self.pinned = if self.pinned.is_some() { None } else { Some(self.at) };
                return stay(self.want());
            }
            Action::Search => {
                let prompt = say::search().to_string();
                return stay(vec![PaneEffect::Line { purpose: LineFor::Search, prompt, text: String::new() }]);
            }
            Action::RestoreSince => return self.restore_all(),
            Action::Restore => return self.restore_file(),
            Action::Blame => {
                return stay(self.path().map(|path| PaneEffect::Blame(path.into(), 0)).into_iter().collect());
            }
            Action::Open => self.in_diff = !self.in_diff,
            Action::Up | Action::Down if !self.in_diff => self.choose(action == Action::Down),
            action => self.look(action),
        }
        self.fit();
        stay(Vec::new())
    }

    fn go(&mut self, at: usize) -> Vec<PaneEffect> {
        self.at = at.min(self.moments.len());
        self.want()
    }

    /// Goes to the beginning of the turn, or of the one beside it.
    fn go_by_turn(&mut self, forward: bool) -> Vec<PaneEffect> {
        let starts = self.groups().into_iter().map(|group| group.start);
        let to = match forward {
            true => starts.into_iter().find(|start| *start > self.at).unwrap_or(self.moments.len()),
            false => starts.into_iter().rfind(|start| *start < self.at).unwrap_or(0),
        };
        self.go(to)
    }

    fn choose(&mut self, forward: bool) {
        let last = self.file_count().saturating_sub(1);
        self.file = if forward { (self.file + 1).min(last) } else { self.file.saturating_sub(1) };
        let Some(displayed) = &mut self.displayed else { return };
        let hunk = displayed.view.hunks().find(|(file, _)| *file == self.file);
        if let Some(hunk) = hunk {
            displayed.view.set_focus(hunk);
        }
    }

    fn look(&mut self, action: Action) {
        if let Some(displayed) = &mut self.displayed {
            look_around(&mut displayed.view, action);
            if let (Some((file, _)), Action::NextHunk | Action::PreviousHunk) = (displayed.view.focus(), action) {
                self.file = file;
            }
        }
    }

    fn restore_all(&self) -> PastOutcome {
        if self.pinned.is_some_and(|pinned| pinned < self.moments.len()) {
            return PastOutcome::Stay(vec![PaneEffect::Say(say::restore_needs_now().into())]);
        }
        let request = self.id(self.at).map(RestoreRequest::Since);
        PastOutcome::Leave(request.map(|request| PaneEffect::send(Command::Restore(request))).into_iter().collect())
    }

    fn restore_file(&self) -> PastOutcome {
        let said = |words: &str| PastOutcome::Stay(vec![PaneEffect::Say(words.into())]);
        if self.pinned.is_some_and(|pinned| pinned < self.moments.len()) {
            return said(say::restore_needs_now());
        }
        let (then, until) = self.sides();
        let moments = (self.id(then), self.id(until));
        // What is still on the screen may be of the moment before this one.
        let Some(displayed) = self.displayed.as_ref().filter(|displayed| displayed.moments == moments) else {
            return said(say::reading());
        };
        if self.path() == Some(".git") {
            return said(say::repository_with_all());
        }
        let file = displayed.change.files.get(self.file);
        let Some((file, change)) = file.zip(displayed.change.change.files.get(self.file)) else {
            return said(say::not_restored());
        };
        let path = change.path.clone();
        let request = match &file.version {
            // What nebula had left is in no version: the oldest since has what someone else made of it.
            _ if file.is_left => {
                let (now, then) = (Box::new(change.after.clone()), Box::new(change.before.clone()));
                RestoreRequest::State { path, now, then }
            }
            Some(version) => RestoreRequest::Version { path, version: version.clone() },
            None => return said(say::not_restored()),
        };
        PastOutcome::Leave(vec![PaneEffect::send(Command::Restore(request))])
    }

    /// Goes to the moment that was typed: a time, or words of what made a change, looked for backwards and round.
    pub fn line(&mut self, purpose: &LineFor, typed: LineInput<'_>) -> Vec<PaneEffect> {
        let (LineFor::Search, LineInput::Taken(words)) = (purpose, typed) else { return Vec::new() };
        match self.find(words.trim()) {
            Ok(at) => self.go(at),
            Err(why) => vec![PaneEffect::Say(why)],
        }
    }

    /// Returns the moment that words name, as `nebula at` takes them, or with words of what made a change.
    ///
    /// # Errors
    /// When there is none, in words.
    fn find(&self, words: &str) -> Result<usize, String> {
        if words.is_empty() {
            return Ok(self.at);
        }
        if words == "now" {
            return Ok(self.moments.len());
        }
        if let Some(at) = time::parse(words, self.clock.now, self.clock.zone) {
            let first = self.moments.first().map_or(self.clock.now, |moment| moment.at);
            return match at < first {
                true => Err(say::nothing_before(&times::point(&self.clock, first))),
                false => Ok(self.moments.partition_point(|moment| moment.at <= at)),
            };
        }
        let of_message = words.rsplit_once(':').and_then(|(session, message)| {
            let message: i64 = message.parse().ok()?;
            let is_since = |(own, at): &(String, i64)| own.starts_with(session) && *at >= message;
            self.moments.iter().position(|moment| moment.turn.as_ref().is_some_and(is_since))
        });
        if let Some(at) = of_message {
            return Ok(at);
        }
        let wanted = words.to_lowercase();
        let has = |at: &usize| {
            let moment = &self.moments[*at];
            let said = [&moment.title, &moment.cause].into_iter().any(|said| said.to_lowercase().contains(&wanted));
            moment.id.starts_with(&wanted) || said
        };
        let here = self.at.min(self.moments.len());
        let found = (0..here).rev().find(has).or_else(|| (here..self.moments.len()).rev().find(has));
        found.ok_or_else(|| say::no_such_moment().into())
    }

    /// Handles a click inside the body.
    pub fn click(&mut self, column: u16, row: u16) -> Vec<PaneEffect> {
        let rows = self.rows();
        if (rows.strip..rows.strip + 3).contains(&row) {
            let hit = self.moment_at(column);
            return hit.map_or(Vec::new(), |at| self.go(at));
        }
        if rows.files.contains(&row) {
            self.in_diff = false;
            self.file = (self.top + usize::from(row - rows.files.start)).min(self.file_count().saturating_sub(1));
        } else if row > rows.diff
            && let Some(displayed) = &mut self.displayed
        {
            self.in_diff = true;
            displayed.view.click(row - rows.diff - 1);
        }
        Vec::new()
    }

    /// Scrolls the diff where the pointer is over it; over the files it selects, over the moments it goes through them.
    pub fn wheel(&mut self, row: u16, action: Action) -> Vec<PaneEffect> {
        let rows = self.rows();
        match row {
            row if row > rows.diff => self.look(action),
            row if row >= rows.head => self.choose(action == Action::Down),
            row if row >= rows.strip && action == Action::Up => return self.go(self.at.saturating_sub(1)),
            row if row >= rows.strip => return self.go(self.at + 1),
            _ => {}
        }
        self.fit();
        Vec::new()
    }

    /// Takes the size of the body that is drawn next.
    pub fn measure(&mut self, width: u16, height: u16, look: &Look<'_>) {
        (self.size, self.clock) = ((width, height), Clock { now: look.now, zone: look.zone });
        self.fit();
    }

    /// Returns where its parts lie.
    pub(super) fn rows(&self) -> TimelineRows {
        let height = self.size.1;
        let roomy = height >= 20;
        let strip = if roomy { 2 } else { 1 };
        let legend = (height >= 14).then_some(strip + if roomy { 4 } else { 3 });
        let head = legend.map_or(strip + 3, |legend| legend + 1);
        let most = (height / 4).max(3);
        let files = u16::try_from(self.file_count()).unwrap_or(most).clamp(1, most);
        TimelineRows { strip, legend, head, files: head + 1..head + 1 + files, diff: head + 1 + files }
    }

    fn fit(&mut self) {
        let rows = self.rows();
        let room = self.size.1.saturating_sub(rows.diff + 1);
        if let Some(displayed) = &mut self.displayed {
            displayed.view.measure(self.size.0, room);
        }
        let seen = rows.files.len().max(1);
        self.top = self.top.clamp((self.file + 1).saturating_sub(seen), self.file);
    }

    /// Returns the name of the moment under the keys, for the legend.
    pub(super) fn where_it_is(&self) -> String {
        self.moments
            .get(self.at)
            .map_or(say::as_it_is().into(), |moment| say::just_before(&short_changeset(&moment.id)))
    }
}

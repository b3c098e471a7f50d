//! The keys of the archive.

use super::Archive;
use crate::messages::archive as say;
use crate::protocol::{Command, RestoreRequest};
use crate::tui::action::Action;
use crate::tui::msg::{LineFor, PaneEffect};

impl Archive {
    /// Returns whether `action` would do something now.
    pub fn offers(&self, action: Action) -> bool {
        if let Some(previews) = &self.restore {
            return previews.offers(action);
        }
        let any = !self.rows.is_empty();
        let time = self.path().and_then(|p| self.times.get(p));
        match action {
            Action::Escape | Action::Close => self.full || !self.filter.is_empty(),
            Action::Up | Action::Down | Action::HalfUp | Action::HalfDown | Action::PageUp | Action::PageDown => any,
            Action::First | Action::Last => any,
            Action::Open => any && self.versioned().is_some(),
            Action::BackInTime => time.is_some() && self.point > 0,
            Action::OnInTime => time.is_some_and(|t| self.point < t.versions.len()),
            Action::Pin => time.is_some(),
            // Without a comparison in view the version is that of the selected changeset.
            Action::Restore => match time {
                Some(time) => self.point < time.versions.len(),
                None => self.versioned().is_some(),
            },
            Action::RestoreChangeset | Action::RestoreSince => any,
            Action::Search => self.loaded,
            Action::Redo | Action::FocusTimeline => any,
            Action::Blame => self.versioned().is_some(),
            _ => false,
        }
    }

    /// Does `action`.
    pub fn act(&mut self, action: Action, _now: i64) -> Vec<PaneEffect> {
        self.engaged = true;
        if let Some(previews) = &mut self.restore {
            return previews.act(action);
        }
        if let Some((_, _, view)) = self.view.as_mut().filter(|_| self.full)
            && view.scroll_by(action)
        {
            return Vec::new();
        }
        self.browse(action)
    }

    fn browse(&mut self, action: Action) -> Vec<PaneEffect> {
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
            Action::RestoreChangeset => return self.restore_by(RestoreRequest::Changeset),
            Action::RestoreSince => return self.restore_by(RestoreRequest::Since),
            Action::Redo => return vec![PaneEffect::send(Command::Restore(RestoreRequest::Redo))],
            Action::FocusTimeline => {
                return vec![PaneEffect::Timeline(self.rows.get(self.selected).map(|row| row.id.clone()))];
            }
            Action::Blame => {
                return self.versioned().map(|path| PaneEffect::Blame(path.into(), 0)).into_iter().collect();
            }
            Action::Search => {
                let prompt = say::filter().to_string();
                return vec![PaneEffect::Line { purpose: LineFor::Filter, prompt, text: self.filter.clone() }];
            }
            _ => {}
        }
        self.want()
    }

    fn restore(&self) -> Vec<PaneEffect> {
        let Some(file) = self.rows.get(self.selected).and_then(|r| r.files.get(self.file)) else { return Vec::new() };
        let version = match self.times.get(&file.path) {
            Some(time) => time.version(self.point).map(|v| v.id.clone()),
            None => file.version.clone(),
        };
        let Some(version) = version else { return Vec::new() };
        vec![PaneEffect::send(Command::Restore(RestoreRequest::Version { path: file.path.clone(), version }))]
    }

    fn restore_by(&self, request: fn(String) -> RestoreRequest) -> Vec<PaneEffect> {
        let row = self.rows.get(self.selected);
        row.map(|r| PaneEffect::send(Command::Restore(request(r.id.clone())))).into_iter().collect()
    }

    fn pin(&mut self) {
        let Some(path) = self.path().map(str::to_string) else { return };
        let here = self.state_of(&path, self.point);
        self.pinned = if self.pinned.as_ref() == Some(&here) { None } else { Some(here) };
    }

    /// Goes to the next file of the changeset, and on to the next changeset.
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

    pub(super) fn refilter(&mut self, words: &str) -> Vec<PaneEffect> {
        if words == self.filter {
            return Vec::new();
        }
        self.filter = words.to_string();
        self.rows.clear();
        (self.loaded, self.whole, self.asking) = (false, false, false);
        (self.selected, self.file) = (0, 0);
        self.top = 0;
        self.more()
    }
}

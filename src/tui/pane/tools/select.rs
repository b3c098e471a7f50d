//! The call or job that is selected, the rows that are in view, and what is opened.

use super::Tools;
use super::printed::PrintedLines;
use super::viewer::Viewer;
use crate::messages::tools as say;
use crate::protocol::{CallState, CommandEnd, CommandEvent, ItemId};

impl Tools {
    /// Returns the call of the selected job, else the selected call, or the last one that shows.
    pub(super) fn chosen(&self) -> Option<usize> {
        let of_job = self.jobs.selected_entry().and_then(|entry| self.places.get(&entry).copied());
        let selected = self.selected.filter(|i| *i < self.calls.len() && !self.is_hidden(*i));
        of_job.or(selected).or_else(|| self.visible().next_back())
    }

    /// Opens the chosen call, with what its command prints.
    pub(super) fn open_chosen(&mut self) {
        let entry = self.chosen().map(|i| &self.calls[i]);
        self.viewer = entry.map(|e| Viewer::new(e.id, &e.call, self.jobs.output_of(e.id), self.size));
    }

    /// Takes in what is told of a command.
    pub(super) fn apply_command(&mut self, event: &CommandEvent, now: i64) {
        if let CommandEvent::Ended(end) = event {
            self.job_ended(end);
        }
        self.stale |= self.jobs.apply(event, now);
        let CommandEvent::Printed { id, .. } = event else { return };
        let Some(entry) = self.jobs.entry_of(id) else { return };
        if let Some(viewer) = self.viewer.as_mut().filter(|viewer| viewer.id() == entry)
            && let Some(output) = self.jobs.output_of(entry)
        {
            viewer.print(output);
        }
        self.stale |= self.places.get(&entry).is_some_and(|i| self.printing(*i).is_some());
    }

    /// Says in the row of a job's call how the job ended: it was answered while that ran.
    fn job_ended(&mut self, end: &CommandEnd) {
        let row = self.jobs.job_entry(&end.id).filter(|_| !end.running);
        let Some(entry) = row.and_then(|entry| self.places.get(&entry)).map(|i| &mut self.calls[*i]) else { return };
        let how = match (end.exit, end.signal) {
            (Some(code), _) => say::exit(&code),
            (None, Some(number)) => say::signal(&number),
            (None, None) => say::stopped().into(),
        };
        entry.call.reason = Some(how.clone()).filter(|_| end.exit != Some(0) && !end.stopped);
        entry.call.summary = say::job_ended(&end.id, &how);
        self.stale = true;
    }

    /// Returns what the command of call `i` printed so far, while that runs; none: it does not.
    pub(super) fn printing(&self, i: usize) -> Option<&PrintedLines> {
        let entry = &self.calls[i];
        let runs = matches!(entry.call.state, CallState::Running | CallState::Asking);
        let output = if runs { self.jobs.output_of(entry.id) } else { None };
        output.filter(|output| output.count() > 0)
    }

    /// Selects the first or the last call that shows.
    pub(super) fn select_end(&mut self, last: bool) {
        if last {
            self.close_earlier();
        } else {
            self.open_earlier();
        }
        let end = if last { self.visible().next_back() } else { self.visible().next() };
        if let Some(i) = end {
            self.select(i);
        }
        self.follow |= last;
    }

    /// Selects the next call or the one before; the jobs stand above the first.
    pub(super) fn select_by(&mut self, by: isize) {
        let rows = self.jobs.rows(self.size.1);
        if self.jobs.selected_entry().is_some() {
            let first = self.visible().next();
            if !self.jobs.select_by(by, rows) {
                first.into_iter().for_each(|first| self.select(first));
            }
            return;
        }
        if by < 0 && self.selected.is_some() && self.selected == self.visible().next() {
            self.open_earlier();
        }
        let seen: Vec<usize> = self.visible().collect();
        let Some(last) = seen.last().copied() else { return };
        let here = self.selected.and_then(|at| seen.iter().position(|i| *i >= at));
        match here {
            Some(0) if by < 0 && self.jobs.select_row(rows.saturating_sub(1), rows) => self.selected = None,
            Some(at) => self.select(seen[at.saturating_add_signed(by).min(seen.len() - 1)]),
            None => self.select(last),
        }
    }

    pub(super) fn select(&mut self, i: usize) {
        self.jobs.unselect();
        self.selected = Some(i);
        self.show(i);
    }

    /// Brings call `i` into view.
    pub(super) fn show(&mut self, i: usize) {
        let (Some(from), Some(to)) = (self.tops.get(i), self.tops.get(i + 1)) else { return };
        let height = self.page();
        if *to > self.top + height {
            self.top = to - height.min(*to);
        }
        self.top = self.top.min(*from);
        self.follow = self.top >= self.last_top();
    }

    pub(super) fn scroll(&mut self, by: isize) {
        if by < 0 && self.top == 0 {
            self.open_earlier();
        }
        self.top = self.top.saturating_add_signed(by).min(self.last_top());
        self.follow = self.top == self.last_top();
    }

    /// Selects the job or the call in a row of the body.
    pub(super) fn select_at(&mut self, row: u16) {
        let (search, head) = (self.search_rows(), self.head());
        if row < head {
            if row >= search && self.jobs.select_row(row - search, head - search) {
                self.selected = None;
            }
            return;
        }
        let y = self.top + usize::from(row - head);
        if y == 0 && self.earlier.count > 0 {
            self.open_earlier();
        } else if y < self.total() {
            self.jobs.unselect();
            self.selected = Some(self.tops.partition_point(|t| *t <= y).saturating_sub(1));
        }
    }

    /// Returns the entry whose command the stop key means.
    pub(super) fn selected_id(&self) -> Option<ItemId> {
        let selected = self.selected.and_then(|i| self.calls.get(i)).map(|entry| entry.id);
        self.jobs.selected_entry().or(selected)
    }
}

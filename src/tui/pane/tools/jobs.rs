//! The commands that run on after their calls were answered: a row each on top of the pane, until they end.

use std::collections::VecDeque;

use super::printed::PrintedLines;
use crate::messages::{times, tools as say, verbs};
use crate::protocol::{CommandEvent, ItemId};
use crate::text::time::Clock;
use crate::tui::look::Ctx;
use crate::tui::pane::paint::{self, Pen, bold, span};
use crate::tui::text::{cut, show};
use crate::tui::theme::Role;

/// The most jobs that ended whose output is held.
const ENDED: usize = 8;
/// The most rows of jobs.
const MOST: usize = 3;
/// The part of the pane's height that jobs leave to the calls: 3 of 4 rows.
const SHARE: u16 = 4;

/// A command that was started, and its row once it is a job.
#[derive(Debug)]
struct JobRow {
    /// Its id, as in `c7`.
    id: String,
    text: String,
    began: i64,
    /// True if its call is answered and it runs on.
    is_job: bool,
    /// It is the person's own.
    by_person: bool,
    /// The entry of its call.
    entry: Option<ItemId>,
    output: PrintedLines,
}

/// A command of the person's own that runs.
#[derive(Debug, Clone, Copy)]
pub struct OwnCommand<'a> {
    /// Its id, as in `c7`.
    pub id: &'a str,
    /// The first line of its text.
    pub text: &'a str,
    /// The time when it began.
    pub began: i64,
}

/// The commands that run.
#[derive(Debug, Default)]
pub(super) struct Jobs {
    running: Vec<JobRow>,
    /// The newest jobs that ended, for their output.
    ended: VecDeque<JobRow>,
    /// The entry of the job whose row is selected.
    selected: Option<ItemId>,
}

impl Jobs {
    /// Returns the newest command of the person's own that runs and is no job.
    pub(super) fn own(&self) -> Option<OwnCommand<'_>> {
        let own = self.running.iter().rfind(|job| job.by_person && !job.is_job)?;
        Some(OwnCommand { id: &own.id, text: &own.text, began: own.began })
    }

    /// Takes in what is told of a command. Returns whether a row came or went.
    pub(super) fn apply(&mut self, event: &CommandEvent, now: i64) -> bool {
        let before = self.count();
        match event {
            CommandEvent::Began(began) => {
                if let Some(id) = began.id.clone() {
                    let text = began.text.lines().next().unwrap_or_default().to_string();
                    let (by_person, entry) = (began.by_person, began.entry);
                    let output = PrintedLines::default();
                    self.running.push(JobRow { id, text, began: now, is_job: false, by_person, entry, output });
                }
            }
            CommandEvent::Printed { id, missed, text, begun } => {
                if let Some(job) = self.running.iter_mut().find(|job| job.id == *id) {
                    job.output.take(*missed, text, begun);
                }
            }
            CommandEvent::Held(_) => {}
            CommandEvent::Ended(end) if end.running => {
                self.running.iter_mut().filter(|job| job.id == end.id).for_each(|job| job.is_job = true);
            }
            CommandEvent::Ended(end) => self.end(&end.id),
        }
        self.count() != before
    }

    /// Takes the row of a command that ended away; the output of a job stays, for its call has a part of it only.
    fn end(&mut self, id: &str) {
        let Some(at) = self.running.iter().position(|job| job.id == id) else { return };
        let job = self.running.remove(at);
        self.selected = self.selected.filter(|entry| job.entry != Some(*entry));
        if job.is_job {
            self.ended.push_back(job);
            self.ended.drain(..self.ended.len().saturating_sub(ENDED));
        }
    }

    /// Returns the entry of the call of a running command.
    pub(super) fn entry_of(&self, id: &str) -> Option<ItemId> {
        self.running.iter().find(|job| job.id == id)?.entry
    }

    /// Returns the entry of the call of a job that runs.
    pub(super) fn job_entry(&self, id: &str) -> Option<ItemId> {
        self.running.iter().find(|job| job.is_job && job.id == id)?.entry
    }

    /// Returns what the command of an entry printed, while it runs, and after it of a job.
    pub(super) fn output_of(&self, entry: ItemId) -> Option<&PrintedLines> {
        let mut all = self.running.iter().chain(&self.ended);
        all.find(|job| job.entry == Some(entry)).map(|job| &job.output)
    }

    /// Returns the entry of the job whose row is selected.
    pub(super) fn selected_entry(&self) -> Option<ItemId> {
        self.selected
    }

    /// Selects the job in a row of the `rows` that are drawn. Returns whether there is one.
    pub(super) fn select_row(&mut self, row: u16, rows: u16) -> bool {
        let entry = self.drawn(rows).nth(usize::from(row)).and_then(|job| job.entry);
        self.selected = entry.or(self.selected);
        entry.is_some()
    }

    /// Selects the next job or the one before. Returns false below the last one: then none is.
    pub(super) fn select_by(&mut self, by: isize, rows: u16) -> bool {
        let at = self.drawn(rows).position(|job| job.entry == self.selected).unwrap_or(0);
        let next = u16::try_from(at.saturating_add_signed(by)).unwrap_or(rows);
        let is_within = next < rows;
        if is_within {
            self.select_row(next, rows);
        } else {
            self.unselect();
        }
        is_within
    }

    /// Selects none.
    pub(super) fn unselect(&mut self) {
        self.selected = None;
    }

    /// Returns the newest jobs, for which there are `rows`.
    fn drawn(&self, rows: u16) -> impl Iterator<Item = &JobRow> {
        let jobs = self.running.iter().filter(|job| job.is_job);
        jobs.skip(self.count().saturating_sub(usize::from(rows)))
    }

    /// Returns whether the turn does not wait for the command of this id: its call was answered, or it is the person's.
    pub(super) fn run_beside(&self, id: &str) -> bool {
        self.running.iter().any(|job| (job.is_job || job.by_person) && job.id == id)
    }

    /// Returns the id of the command that the person stops with a key: that of the selected call while it runs, else the
    /// newest; none: none runs.
    pub(super) fn to_stop(&self, selected: Option<ItemId>) -> Option<&str> {
        let of_selected = selected.and_then(|entry| self.running.iter().find(|job| job.entry == Some(entry)));
        of_selected.or(self.running.last()).map(|job| job.id.as_str())
    }

    fn count(&self) -> usize {
        self.running.iter().filter(|job| job.is_job).count()
    }

    /// Returns the number of rows in a pane of this height.
    pub(super) fn rows(&self, height: u16) -> u16 {
        let jobs = self.count().min(MOST);
        u16::try_from(jobs).unwrap_or(0).min(height / SHARE)
    }

    /// Draws the newest jobs in the first `rows`, with `name` cells for their verb.
    pub(super) fn draw(&self, rows: u16, name: usize, pen: &mut Pen<'_>, ctx: &Ctx<'_>) {
        let look = paint::look(ctx);
        let dim = look.theme.style(Role::Dim);
        for (y, job) in (0..rows).zip(self.drawn(rows)) {
            pen.put(1, y, look.glyphs.spin(ctx.tick), 1, bold(look.theme, Role::Accent));
            pen.put(
                3,
                y,
                &cut::end(verbs::localized("run"), name, look.glyphs.cut),
                name,
                look.theme.style(Role::Text),
            );
            // The time at which it began stays true while nothing is drawn.
            let began = times::point(&Clock { now: ctx.now, zone: ctx.zone }, job.began);
            let end = pen.right(pen.width().saturating_sub(1), y, &[span(say::job_since(&job.id, &began), dim)]);
            let x = 4 + name as u16;
            let room = usize::from(end.saturating_sub(x + 1));
            let text = show::plain(&job.text);
            pen.put(x, y, &cut::end(&text, room, look.glyphs.cut), room, look.theme.style(Role::Text));
            if ctx.focus && self.selected.is_some() && self.selected == job.entry {
                pen.select(y, 1, look);
            }
        }
    }
}

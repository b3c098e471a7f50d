//! The commands that run on after their calls were answered: a row each on top of the pane, until they end.

use crate::messages::{times, tools as say, verbs};
use crate::protocol::{CommandEvent, ItemId};
use crate::text::time::Clock;
use crate::tui::look::Ctx;
use crate::tui::pane::paint::{self, Pen, bold, span};
use crate::tui::text::{cut, show};
use crate::tui::theme::Role;

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
pub(super) struct Jobs(Vec<JobRow>);

impl Jobs {
    /// Returns the newest command of the person's own that runs and is no job.
    pub(super) fn own(&self) -> Option<OwnCommand<'_>> {
        let own = self.0.iter().rfind(|job| job.by_person && !job.is_job)?;
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
                    self.0.push(JobRow { id, text, began: now, is_job: false, by_person, entry });
                }
            }
            CommandEvent::Printed { .. } | CommandEvent::Held(_) => {}
            CommandEvent::Ended(end) if end.running => {
                self.0.iter_mut().filter(|job| job.id == end.id).for_each(|job| job.is_job = true);
            }
            CommandEvent::Ended(end) => self.0.retain(|job| job.id != end.id),
        }
        self.count() != before
    }

    /// Returns whether the turn does not wait for the command of this id: its call was answered, or it is the person's.
    pub(super) fn run_beside(&self, id: &str) -> bool {
        self.0.iter().any(|job| (job.is_job || job.by_person) && job.id == id)
    }

    /// Returns the id of the command that the person stops with a key: that of the selected call while it runs, else the
    /// newest; none: none runs.
    pub(super) fn to_stop(&self, selected: Option<ItemId>) -> Option<&str> {
        let of_selected = selected.and_then(|entry| self.0.iter().find(|job| job.entry == Some(entry)));
        of_selected.or(self.0.last()).map(|job| job.id.as_str())
    }

    fn count(&self) -> usize {
        self.0.iter().filter(|job| job.is_job).count()
    }

    /// Returns the number of rows in a pane of this height.
    pub(super) fn rows(&self, height: u16) -> u16 {
        let jobs = self.count().min(MOST);
        u16::try_from(jobs).unwrap_or(0).min(height / SHARE)
    }

    /// Draws the newest jobs in the first `rows`, with `name` cells for their verb.
    pub(super) fn draw(&self, rows: u16, name: usize, pen: &mut Pen<'_>, ctx: &Ctx<'_>) {
        let jobs: Vec<&JobRow> = self.0.iter().filter(|job| job.is_job).collect();
        let look = paint::look(ctx);
        let dim = look.theme.style(Role::Dim);
        for (y, job) in (0..rows).zip(&jobs[jobs.len() - usize::from(rows)..]) {
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
        }
    }
}

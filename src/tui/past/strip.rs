//! The strip of the timeline: a mark for each changeset, by turn, as many turns around the moment as there is room for.

use std::borrow::Cow;
use std::ops::Range;

use super::mark_of;
use super::timeline::Timeline;
use crate::messages::{past as say, records, times};
use crate::protocol::PastKind;
use crate::tui::look::Ctx;
use crate::tui::pane::paint::{self, Pen, bold};
use crate::tui::text::wrap::cells;
use crate::tui::text::{cut, show};
use crate::tui::theme::Role;

/// Cells from one mark to the next.
const STEP: usize = 4;
/// Cells of a title at most.
const TITLE: usize = 24;
/// Cells of a turn at least: a time has room.
const LEAST: usize = 10;
/// Cells of what stands for the turns that have no room.
const REST: usize = 9;

/// A turn of the strip.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StripTurn {
    /// Its moments that are seen.
    pub moments: Range<usize>,
    /// Its first cell.
    pub x: usize,
    /// Its cells.
    pub width: usize,
}

impl Timeline {
    /// Returns the turns that are seen, and whether there are others before and after them; the last one of all is now.
    pub(super) fn strip(&self) -> (Vec<StripTurn>, usize, usize) {
        let room = usize::from(self.size.0).saturating_sub(2 + 2 * REST).max(LEAST);
        let now = self.moments.len()..self.moments.len() + 1;
        let mut groups: Vec<Range<usize>> = self.groups();
        groups.push(now);
        let here = groups.iter().position(|group| group.contains(&self.at)).unwrap_or(groups.len() - 1);
        // Of a turn too long for the strip those around the moment are seen.
        let most = (room / STEP).saturating_sub(2).max(1);
        if groups[here].len() > most {
            let group = groups[here].clone();
            let start = self.at.saturating_sub(most / 2).clamp(group.start, group.end - most);
            groups[here] = start..start + most;
        }
        let widths: Vec<usize> = groups.iter().map(|group| self.width_of(group)).collect();
        let (mut seen, mut used) = (here..here + 1, widths[here]);
        loop {
            let before = seen.clone();
            if seen.end < groups.len() && used + widths[seen.end] <= room {
                used += widths[seen.end];
                seen.end += 1;
            }
            if seen.start > 0 && used + widths[seen.start - 1] <= room {
                seen.start -= 1;
                used += widths[seen.start];
            }
            if seen == before {
                break;
            }
        }
        let mut x = 1 + if groups[seen.start].start > 0 { REST } else { 0 };
        let turns: Vec<StripTurn> = seen
            .map(|at| {
                let turn = StripTurn { moments: groups[at].clone(), x, width: widths[at] };
                x += turn.width;
                turn
            })
            .collect();
        let first = turns.first().map_or(0, |turn| turn.moments.start);
        let last = turns.last().map_or(0, |turn| turn.moments.end);
        (turns, first, (self.moments.len() + 1).saturating_sub(last))
    }

    fn width_of(&self, group: &Range<usize>) -> usize {
        if group.start == self.moments.len() {
            return LEAST;
        }
        let title = cells(&show::plain(&self.title(group))).min(TITLE);
        (group.len() * STEP).max(title).max(LEAST) + 2
    }

    fn title(&self, group: &Range<usize>) -> Cow<'_, str> {
        match self.moments.get(group.start) {
            None => say::now().into(),
            Some(moment) if moment.turn.is_none() && moment.title.is_empty() => say::no_turn().into(),
            Some(moment) if moment.turn.is_none() && moment.kind == PastKind::Restore => {
                records::localized(&moment.title)
            }
            Some(moment) => moment.title.as_str().into(),
        }
    }

    /// Returns the moment whose mark is at a column of the strip.
    pub(super) fn moment_at(&self, column: u16) -> Option<usize> {
        let column = usize::from(column);
        let (turns, ..) = self.strip();
        let turn = turns.into_iter().find(|turn| (turn.x..turn.x + turn.width).contains(&column))?;
        Some((turn.moments.start + (column - turn.x) / STEP).min(turn.moments.end - 1))
    }

    /// Draws its three rows.
    pub(super) fn draw_strip(&self, pen: &mut Pen<'_>, y: u16, ctx: &Ctx<'_>) {
        let look = paint::look(ctx);
        let (dim, text) = (look.theme.style(Role::Dim), look.theme.style(Role::Text));
        let (turns, before, after) = self.strip();
        let rest = |pen: &mut Pen<'_>, x: usize, words: &str, n: usize| {
            pen.put(x as u16, y, words, REST - 1, dim);
            pen.put(x as u16, y + 1, &format!("{} {n}", look.glyphs.more), REST - 1, dim);
        };
        if before > 0 {
            rest(pen, 1, say::older(), before);
        }
        if let (Some(turn), true) = (turns.last(), after > 0) {
            rest(pen, turn.x + turn.width, say::later(), after);
        }
        for turn in &turns {
            let is_here = turn.moments.contains(&self.at);
            let title =
                cut::words(&show::plain(&self.title(&turn.moments)), turn.width - 2, look.glyphs.cut).into_owned();
            pen.put(
                turn.x as u16,
                y,
                &title,
                turn.width - 2,
                if is_here { bold(look.theme, Role::Text) } else { text },
            );
            self.draw_marks(pen, y + 1, turn, ctx);
            let clock = ctx.clock();
            let start = self.moments.get(turn.moments.start).map_or(clock.now, |moment| moment.at);
            let (words, style) = match self.moments.get(self.at) {
                Some(moment) if is_here => (times::point(&clock, moment.at), bold(look.theme, Role::Text)),
                _ => (clock.minute(start), dim),
            };
            let room = turn.width - 1;
            let end = usize::from(pen.put(turn.x as u16, y + 2, &words, room, style));
            let used = end - turn.x;
            let label = if is_here && self.at < self.moments.len() { say::then() } else { "" };
            if used + 1 + cells(label) < room {
                pen.put((turn.x + used + 1) as u16, y + 2, label, room - used - 1, bold(look.theme, Role::Focus));
            }
        }
    }

    fn draw_marks(&self, pen: &mut Pen<'_>, y: u16, turn: &StripTurn, ctx: &Ctx<'_>) {
        let look = paint::look(ctx);
        let pinned = self.pinned.unwrap_or(self.moments.len());
        let is_now = turn.moments.start == self.moments.len();
        if !is_now {
            pen.fill(turn.x as u16, y, (turn.width - 2) as u16, look.glyphs.rule, look.theme.style(Role::Line));
        }
        for (n, at) in turn.moments.clone().enumerate() {
            let (mark, role) = match self.moments.get(at) {
                _ if at == pinned && at != self.at => ("A", Role::Text),
                Some(moment) => mark_of(moment.kind, look),
                None => (look.glyphs.equal, Role::Dim),
            };
            let style = match at {
                at if at == self.at => bold(look.theme, Role::Focus).add_modifier(ratatui::style::Modifier::REVERSED),
                at if at == pinned => bold(look.theme, Role::Text).add_modifier(ratatui::style::Modifier::REVERSED),
                _ => look.theme.style(role),
            };
            let x = (turn.x + n * STEP) as u16;
            let words = if at == self.at || at == pinned { format!(" {mark} ") } else { mark.to_string() };
            pen.put(x, y, &words, 3, style);
        }
    }
}

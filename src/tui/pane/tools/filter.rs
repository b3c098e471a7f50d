//! Finding calls: by words, and only those that went wrong.

use super::Tools;
use super::entry::CallEntry;
use crate::messages::{hints, tools as say, verbs};
use crate::protocol::CallState;
use crate::text::number::thousands;
use crate::tui::action::{Action, Context};
use crate::tui::look::Ctx;
use crate::tui::msg::{LineInput, PaneEffect};
use crate::tui::pane::diff::contains;
use crate::tui::pane::paint::{self, Pen, span};
use crate::tui::text::{cut, wrap::cells};
use crate::tui::theme::Role;

/// The rows of a pane from which on a search has a row of its own.
const SEARCH_FROM: u16 = 12;

impl CallEntry {
    /// Returns whether it failed, or is a command that ended with an error. What was rejected did not fail.
    fn failed(&self) -> bool {
        self.call.state == CallState::Failed || self.call.is_unsuccessful()
    }

    fn holds(&self, words: &str) -> bool {
        let call = &self.call;
        let texts =
            [Some(&call.verb.short), Some(&call.main), Some(&call.summary), call.reason.as_ref(), call.result.as_ref()];
        texts.into_iter().flatten().any(|text| contains(text, words))
            || call.preview.iter().any(|line| contains(&line.text, words))
    }
}

impl Tools {
    /// Returns whether call `i` is left out.
    pub(super) fn is_hidden(&self, i: usize) -> bool {
        i < self.earlier.count || self.filter.failed && !self.calls[i].failed()
    }

    /// Returns how many calls failed.
    pub fn failed(&self) -> usize {
        self.calls.iter().filter(|e| e.failed()).count()
    }

    /// Shows the calls that failed alone, or all.
    pub(super) fn filter_failed(&mut self, only: bool) {
        self.filter.failed = only;
        self.selected = self.selected.filter(|i| !only || self.calls[*i].failed());
        self.lay();
        if let Some(i) = self.selected {
            self.show(i);
        }
    }

    /// Returns the calls that show, in order.
    pub(super) fn visible(&self) -> impl DoubleEndedIterator<Item = usize> + '_ {
        (0..self.calls.len()).filter(|i| !self.is_hidden(*i))
    }

    /// Finds the calls that hold the words: for other words, and for other calls.
    pub(super) fn find_hits(&mut self) {
        let words = &self.filter.words;
        self.filter.hits = match words.is_empty() {
            true => Vec::new(),
            false => self.visible().filter(|i| self.calls[*i].holds(words)).collect(),
        };
    }

    /// Looks for words while they are typed: the newest call that holds them is selected.
    pub(super) fn search(&mut self, typed: LineInput<'_>) -> Vec<PaneEffect> {
        let (words, over) = match typed {
            LineInput::Now(words) => (words, false),
            LineInput::Taken(words) => (words, true),
            LineInput::Left => ("", false),
        };
        self.filter.words = words.to_string();
        // What is folded is searched too.
        self.lay();
        if words.is_empty() {
            return Vec::new();
        }
        match self.filter.hits.last() {
            Some(i) => self.select(*i),
            None if over => return vec![PaneEffect::Say(say::no_call_holds(&words))],
            None => {}
        }
        Vec::new()
    }

    /// Selects the next call that holds the words, or the one before, going round.
    pub(super) fn go_to_hit(&mut self, forward: bool) {
        let hits = &self.filter.hits;
        let at = self.selected.unwrap_or(0);
        let next = match forward {
            true => hits.iter().find(|i| **i > at).or(hits.first()),
            false => hits.iter().rev().find(|i| **i < at).or(hits.last()),
        };
        if let Some(i) = next.copied() {
            self.select(i);
        }
    }

    /// Returns the number of rows that a search takes on top of the pane, its rule included; in a low pane it stands on the
    /// pane line.
    pub(super) fn search_rows(&self) -> u16 {
        let filters = !self.filter.words.is_empty() || self.filter.failed;
        if filters && self.viewer.is_none() && self.size.1 >= SEARCH_FROM { 2 } else { 0 }
    }

    /// Draws what is looked for, and the key that leaves out what did not fail.
    pub(super) fn draw_search(&self, pen: &mut Pen<'_>, ctx: &Ctx<'_>) {
        let look = paint::look(ctx);
        let (text, dim) = (look.theme.style(Role::Text), look.theme.style(Role::Dim));
        let key = ctx.key(Context::Tools, Action::FailedOnly).filter(|_| self.failed() > 0);
        let right = key.map(|key| vec![span(key, text), span(format!(" {}", hints::failed_only()), dim)]);
        let end = pen.right(pen.width().saturating_sub(1), 0, &right.unwrap_or_default());
        let hits = self.search_hits();
        let words = match hits {
            Some(hits) if !self.filter.failed => format!("/ {}   {hits}", self.filter.words),
            Some(hits) => format!("/ {}   {hits}   {}", self.filter.words, self.failed_only()),
            None => self.failed_only(),
        };
        let room = usize::from(end.saturating_sub(2));
        pen.put(1, 0, &cut::end(&words, room, look.glyphs.cut), room, text);
        pen.fill(0, 1, pen.width(), look.glyphs.rule, look.theme.style(Role::Line));
    }

    pub(super) fn failed_only(&self) -> String {
        say::failed_only(&thousands(self.failed()))
    }

    /// Returns `2 of 7`, while words are looked for.
    pub fn search_hits(&self) -> Option<String> {
        if let Some(viewer) = &self.viewer {
            return viewer.hits();
        }
        if self.filter.words.is_empty() {
            return None;
        }
        let hits = &self.filter.hits;
        let at = self.selected.and_then(|i| hits.iter().position(|hit| *hit == i)).map_or(0, |at| at + 1);
        Some(cut::hits(at, hits.len()))
    }

    /// Returns what runs now, in words of at most `room` cells: `reading src/cart.rs`. A path loses folders before its
    /// name is cut. None: no call is under way.
    pub fn now(&self, room: usize, mark: &str) -> Option<String> {
        let entry = self.active()?;
        let call = &entry.call;
        let words = |main: &str| match call.state {
            // A whole file is written by what arrives; of any other call its arguments are.
            CallState::Streaming if call.verb.doing == verbs::WRITING => format!("{} {main}", verbs::writing()),
            CallState::Streaming => say::writing_of(&verbs::localized(&call.verb.short), &main),
            _ => format!("{} {main}", verbs::localized(&call.verb.doing)),
        };
        let left = room.saturating_sub(cells(&words("")));
        let main = match entry.path_of_main() {
            Some(path) => cut::path(path, left, mark),
            None => cut::end(&call.main, left, mark),
        };
        Some(words(&main).trim_end().to_string())
    }

    /// Returns when the call that runs began to, where what is done now is that call.
    pub fn runs_since(&self) -> Option<i64> {
        self.active().filter(|entry| entry.call.state == CallState::Running)?.began
    }

    /// Returns the newest call that runs or arrives.
    fn active(&self) -> Option<&CallEntry> {
        let is_active = |e: &&CallEntry| matches!(e.call.state, CallState::Running | CallState::Streaming);
        self.calls.iter().rev().take(64).find(is_active)
    }
}

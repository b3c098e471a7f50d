//! Blame: a file as it is, and beside each run of lines who wrote it.

use std::ops::Range;

use crate::messages::past as say;
use crate::protocol::{BlameCause, BlamedFile, Listing, Query, ReviewScope};
use crate::tui::action::Action;
use crate::tui::list;
use crate::tui::msg::{LineFor, LineInput, PaneEffect};
use crate::tui::pane::diff::{Heads, View, look_around};
use crate::tui::past::{Past, PastOutcome};
use crate::tui::text::highlight::Code;

/// Rows that tell more about the line under the keys.
pub(super) const DETAIL: u16 = 5;
/// Bodies of fewer rows have no room for them.
const DETAIL_FROM: u16 = 16;
/// Lines above the one that was asked for.
const ABOVE: usize = 3;

/// The authors of the lines of a file.
#[derive(Debug)]
pub struct Blame {
    /// The path, as it was asked for until the answer is there.
    pub(super) path: String,
    /// The path as it was asked for: an answer about another one is an earlier question's.
    pub(super) asked: String,
    pub(super) shown: Option<BlamedText>,
    pub(super) failed: Option<String>,
    /// The line under the keys.
    pub(super) at: usize,
    pub(super) top: usize,
    pub(super) words: String,
    /// The diff of the changeset that wrote a line.
    pub(super) diff: Option<(String, Option<View>)>,
    pub(super) size: (u16, u16),
    /// The timeline that it was opened from.
    pub(super) below: Option<Box<Past>>,
}

/// The file and its colours.
#[derive(Debug)]
pub(super) struct BlamedText {
    pub file: BlamedFile,
    pub code: Code,
}

impl Blame {
    /// Creates one of a file that was asked for, at a line of it, from 0.
    pub fn at(path: &str, at: usize) -> Self {
        let (path, asked) = (path.to_string(), path.to_string());
        let top = at.saturating_sub(ABOVE);
        let (words, size) = (String::new(), (0, 0));
        Blame { path, asked, shown: None, failed: None, at, top, words, diff: None, size, below: None }
    }

    /// Leads back to a timeline when it is closed.
    pub fn over(self, below: Option<Box<Past>>) -> Self {
        Blame { below, ..self }
    }

    /// Takes in what was asked for.
    pub fn answer(&mut self, query: &Query, listing: &Listing) -> Vec<PaneEffect> {
        match (query, listing) {
            (Query::Blame(asked), _) if *asked != self.asked => {}
            (Query::Blame(_), Listing::Blame(file)) => {
                self.path.clone_from(&file.path);
                let code = Code::of_file(&file.path, file.text.clone());
                self.shown = Some(BlamedText { file: file.clone(), code });
                self.at = self.at.min(self.lines().saturating_sub(1));
                self.fit();
            }
            (Query::ReviewChange(ids, _), Listing::ReviewChange(change)) => {
                if let Some((id, view)) = &mut self.diff
                    && ids.first() == Some(id)
                {
                    *view = Some(View::new(&change.change, Heads::All).marking_focus());
                    self.fit();
                }
            }
            (Query::Blame(_), Listing::Failed(why)) => self.failed = Some(why.clone()),
            (_, Listing::Failed(why)) => {
                self.diff = None;
                return vec![PaneEffect::Say(why.clone())];
            }
            _ => {}
        }
        Vec::new()
    }

    pub(super) fn lines(&self) -> usize {
        self.shown.as_ref().map_or(0, |shown| shown.file.lines.len())
    }

    /// Returns the cause of a line.
    pub(super) fn cause(&self, line: usize) -> Option<&BlameCause> {
        let file = &self.shown.as_ref()?.file;
        file.causes.get(*file.lines.get(line)?)
    }

    /// Returns the commit of a line, in words.
    pub(super) fn commit(&self, line: usize) -> Option<&str> {
        self.shown.as_ref()?.file.commits.get(line)?.as_deref()
    }

    /// Returns the lines around one that have its cause.
    pub(super) fn run(&self, line: usize) -> Range<usize> {
        let Some(shown) = &self.shown else { return line..line };
        let lines = &shown.file.lines;
        let Some(cause) = lines.get(line) else { return line..line };
        let start = lines[..line].iter().rposition(|own| own != cause).map_or(0, |at| at + 1);
        let end = lines[line..].iter().position(|own| own != cause).map_or(lines.len(), |at| line + at);
        start..end
    }

    /// Returns whether `action` would do something now.
    pub fn offers(&self, action: Action) -> bool {
        let any = self.lines() > 0;
        let view = self.diff.as_ref().map(|(_, view)| view.as_ref());
        match (action, view) {
            (Action::Close | Action::Escape | Action::FocusTimeline, _) => true,
            (Action::ShowChange, Some(_)) => true,
            (Action::NextHunk | Action::PreviousHunk | Action::Layout, view) => view.flatten().is_some(),
            (Action::Up | Action::Down | Action::HalfUp | Action::HalfDown, _) => any,
            (Action::PageUp | Action::PageDown | Action::First | Action::Last, _) => any,
            (_, Some(_)) => false,
            (Action::NextItem | Action::PreviousItem | Action::Search, None) => any,
            (Action::NextMatch | Action::PreviousMatch, None) => any && !self.words.is_empty(),
            (Action::Open, None) => self.cause(self.at).is_some_and(|cause| cause.turn.is_some()),
            (Action::ShowChange, None) => self.cause(self.at).is_some_and(|cause| cause.changeset.is_some()),
            _ => false,
        }
    }

    /// Does `action`.
    pub fn act(&mut self, action: Action) -> PastOutcome {
        let stay = PastOutcome::Stay;
        match action {
            Action::Close | Action::Escape | Action::ShowChange if self.diff.is_some() => self.diff = None,
            Action::Close | Action::Escape => return PastOutcome::Leave(Vec::new()),
            Action::FocusTimeline => {
                let id = self.cause(self.at).and_then(|cause| cause.changeset.clone());
                return stay(vec![PaneEffect::Timeline(id)]);
            }
            Action::Open => return self.open_turn(),
            Action::ShowChange => return stay(self.show_change()),
            Action::Search => {
                let (prompt, text) = (say::search_lines().to_string(), self.words.clone());
                return stay(vec![PaneEffect::Line { purpose: LineFor::Search, prompt, text }]);
            }
            action => match &mut self.diff {
                Some((_, view)) => view.iter_mut().for_each(|view| drop(look_around(view, action))),
                None => self.go(action),
            },
        }
        self.fit();
        stay(Vec::new())
    }

    fn go(&mut self, action: Action) {
        let last = self.lines().saturating_sub(1);
        let page = usize::from(self.text_rows());
        self.at = match action {
            Action::NextItem => self.run(self.at).end,
            Action::PreviousItem => self.run(self.run(self.at).start.saturating_sub(1)).start,
            Action::NextMatch => self.find(true).unwrap_or(self.at),
            Action::PreviousMatch => self.find(false).unwrap_or(self.at),
            _ => list::moved(self.at, action, last, page).unwrap_or(self.at),
        }
        .min(last);
    }

    fn open_turn(&self) -> PastOutcome {
        let Some(cause) = self.cause(self.at) else { return PastOutcome::Stay(Vec::new()) };
        match &cause.turn {
            Some((session, _)) => {
                PastOutcome::Stay(vec![PaneEffect::Turn { session: session.clone(), at: cause.prompted_at }])
            }
            None => PastOutcome::Stay(vec![PaneEffect::Say(say::no_turn_there().into())]),
        }
    }

    fn show_change(&mut self) -> Vec<PaneEffect> {
        let Some(id) = self.cause(self.at).and_then(|cause| cause.changeset.clone()) else {
            return vec![PaneEffect::Say(say::no_diff_there().into())];
        };
        self.diff = Some((id.clone(), None));
        vec![PaneEffect::Ask(Query::ReviewChange(vec![id], ReviewScope::Single))]
    }

    /// Looks for words in the file.
    pub fn line(&mut self, purpose: &LineFor, typed: LineInput<'_>) -> Vec<PaneEffect> {
        if let (LineFor::Search, LineInput::Now(words) | LineInput::Taken(words)) = (purpose, typed)
            && self.words != words
        {
            self.words = words.to_string();
            self.at = self.find_from(self.at).unwrap_or(self.at);
            self.fit();
        }
        Vec::new()
    }

    /// Returns the next line that holds the words, or the one before, round the ends.
    fn find(&self, forward: bool) -> Option<usize> {
        let hits = self.hits();
        match forward {
            true => hits.iter().find(|hit| **hit > self.at).or(hits.first()).copied(),
            false => hits.iter().rfind(|hit| **hit < self.at).or(hits.last()).copied(),
        }
    }

    fn find_from(&self, line: usize) -> Option<usize> {
        let hits = self.hits();
        hits.iter().find(|hit| **hit >= line).or(hits.first()).copied()
    }

    fn hits(&self) -> Vec<usize> {
        let words = self.words.to_lowercase();
        let Some(shown) = self.shown.as_ref().filter(|_| !words.is_empty()) else { return Vec::new() };
        let lines = shown.file.text.lines().enumerate();
        lines.filter(|(_, line)| line.to_lowercase().contains(&words)).map(|(at, _)| at).collect()
    }

    /// Handles a click inside the body.
    pub fn click(&mut self, row: u16) -> Vec<PaneEffect> {
        let Some(row) = row.checked_sub(1) else { return Vec::new() };
        if let Some((_, view)) = &mut self.diff {
            view.iter_mut().for_each(|view| view.click(row));
        } else if row < self.text_rows() {
            self.at = (self.top + usize::from(row)).min(self.lines().saturating_sub(1));
        }
        Vec::new()
    }

    /// Takes the size of the body that is drawn next.
    pub fn measure(&mut self, width: u16, height: u16) {
        self.size = (width, height);
        self.fit();
    }

    /// Returns the rows of the file.
    pub(super) fn text_rows(&self) -> u16 {
        let detail = if self.size.1 >= DETAIL_FROM { DETAIL } else { 0 };
        self.size.1.saturating_sub(1 + detail)
    }

    fn fit(&mut self) {
        let rows = usize::from(self.text_rows()).max(1);
        self.top = self.top.clamp((self.at + 1).saturating_sub(rows), self.at);
        let (width, height) = self.size;
        if let Some((_, Some(view))) = &mut self.diff {
            view.measure(width, height.saturating_sub(1));
        }
    }
}

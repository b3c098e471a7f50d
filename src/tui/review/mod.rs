//! The review queue: the changes that nobody was asked about, by turn, beside what they changed. Each hunk is kept or
//! restored; nothing is written before the person has seen the restore as a proposal.

mod draw;

#[cfg(test)]
mod tests;

use crate::messages::review as say;
use crate::proposal::Choice;
use crate::protocol::{Command, Listing, Query, RestoreRequest, ReviewScope, ReviewTurn, ReviewVerdict};
use crate::tui::action::Action;
use crate::tui::list;
use crate::tui::msg::{LineFor, LineInput, PaneEffect};
use crate::tui::pane::diff::{DiffPage, Stage, look_around};

/// The queue as it is shown.
#[derive(Debug, Default)]
pub struct Review {
    turns: Vec<ReviewTurn>,
    loaded: bool,
    failed: Option<String>,
    /// The row under the keys.
    at: usize,
    top: usize,
    /// The other states than the usual ones of the row under the keys are shown.
    is_other_scope: bool,
    /// The question that was asked last.
    last_query: Option<(Vec<String>, ReviewScope)>,
    opened: Option<ReviewFiles>,
    /// The keys go to the diff.
    in_diff: bool,
    /// Enter leads to the whole restore once its reason is given.
    whole: bool,
    size: (u16, u16),
}

/// The files of entries, with the decisions so far.
#[derive(Debug)]
struct ReviewFiles {
    ids: Vec<String>,
    page: DiffPage,
    aside: Vec<(String, String)>,
    later: Vec<(String, usize)>,
}

/// A row of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum QueueLine {
    Turn(usize),
    Entry(usize, usize),
}

/// The outcome of a key.
#[derive(Debug, PartialEq)]
pub enum ReviewOutcome {
    /// The screen stays open.
    Stay(Vec<PaneEffect>),
    /// The screen closes.
    Leave(Vec<PaneEffect>),
}

impl Review {
    fn rows(&self) -> Vec<QueueLine> {
        let rows = self.turns.iter().enumerate();
        rows.flat_map(|(t, turn)| {
            std::iter::once(QueueLine::Turn(t)).chain((0..turn.entries.len()).map(move |e| QueueLine::Entry(t, e)))
        })
        .collect()
    }

    /// Returns the entries of the row under the keys.
    fn ids(&self) -> Vec<String> {
        self.ids_at(self.at)
    }

    fn ids_at(&self, at: usize) -> Vec<String> {
        match self.rows().get(at) {
            Some(QueueLine::Turn(t)) => self.turns[*t].entries.iter().map(|entry| entry.id.clone()).collect(),
            Some(QueueLine::Entry(t, e)) => vec![self.turns[*t].entries[*e].id.clone()],
            None => Vec::new(),
        }
    }

    /// Returns the states that are shown: of a turn the net change, of an entry its own, or the other way round.
    fn scope(&self) -> ReviewScope {
        let is_entry = matches!(self.rows().get(self.at), Some(QueueLine::Entry(..)));
        if is_entry != self.is_other_scope { ReviewScope::Single } else { ReviewScope::Net }
    }

    /// Returns the number of entries.
    pub fn count(&self) -> usize {
        self.turns.iter().map(|turn| turn.entries.len()).sum()
    }

    /// Asks for what the row under the keys changed, unless that is shown.
    fn want(&mut self) -> Vec<PaneEffect> {
        let wanted = (self.ids(), self.scope());
        if wanted.0.is_empty() || self.last_query.as_ref() == Some(&wanted) {
            return Vec::new();
        }
        self.last_query = Some(wanted.clone());
        self.failed = None;
        vec![PaneEffect::Ask(Query::ReviewChange(wanted.0, wanted.1))]
    }

    /// Takes in what was asked for.
    pub fn answer(&mut self, query: &Query, listing: &Listing) -> Vec<PaneEffect> {
        match (query, listing) {
            (Query::Review, Listing::Review(turns)) => {
                self.loaded = true;
                let failed = self.failed.take().is_some();
                // A turn with one entry has the ids of that.
                let is_entry = |rows: &[QueueLine], at: usize| matches!(rows.get(at), Some(QueueLine::Entry(..)));
                let (first, before, was_entry) = (self.turns.is_empty(), self.ids(), is_entry(&self.rows(), self.at));
                self.turns.clone_from(turns);
                let rows = self.rows();
                let same = (0..rows.len()).find(|at| is_entry(&rows, *at) == was_entry && self.ids_at(*at) == before);
                // The newest turn comes first to mind.
                let newest = rows.iter().rposition(|row| matches!(row, QueueLine::Turn(_))).unwrap_or(0);
                self.at = match same {
                    Some(same) => same,
                    None if first => newest,
                    None => self.at.min(rows.len().saturating_sub(1)),
                };
                // What is being decided stays, as long as it waits.
                if same.is_none() || failed {
                    (self.last_query, self.opened, self.in_diff) = (None, None, false);
                }
                self.want()
            }
            (Query::ReviewChange(ids, scope), Listing::ReviewChange(change))
                if self.last_query.as_ref() == Some(&(ids.clone(), *scope)) =>
            {
                let page = DiffPage::new(change.change.clone(), Stage::Review);
                let (aside, later) = (change.aside.clone(), change.later.clone());
                self.opened = Some(ReviewFiles { ids: ids.clone(), page, aside, later });
                self.failed = None;
                self.fit();
                Vec::new()
            }
            (Query::ReviewChange(ids, scope), Listing::Failed(why)) => {
                if self.last_query.as_ref() == Some(&(ids.clone(), *scope)) {
                    (self.opened, self.in_diff, self.failed) = (None, false, Some(why.clone()));
                }
                Vec::new()
            }
            (_, Listing::Failed(why)) => {
                (self.loaded, self.failed) = (true, Some(why.clone()));
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    /// Returns whether the keys go to hunks.
    pub fn is_in_diff(&self) -> bool {
        self.in_diff
    }

    /// Returns whether `action` would do something now.
    pub fn offers(&self, action: Action) -> bool {
        let any = !self.turns.is_empty();
        let page = self.opened.as_ref().map(|opened| &opened.page);
        let hunks = page.is_some_and(|page| page.view.focus().is_some());
        match action {
            Action::Close | Action::Escape => true,
            Action::Accept | Action::Reject => hunks,
            Action::UndoDecision => page.is_some_and(DiffPage::can_undo),
            Action::NextHunk | Action::PreviousHunk => page.is_some_and(|page| page.view.hunks().nth(1).is_some()),
            Action::NextFile | Action::PreviousFile => page.is_some_and(|page| page.proposal.files.len() > 1),
            Action::Layout => hunks,
            Action::AcceptAll | Action::RejectAll | Action::NetOrSingle => any,
            Action::Open | Action::Up | Action::Down | Action::HalfUp | Action::HalfDown => any,
            Action::PageUp | Action::PageDown | Action::First | Action::Last => any,
            _ => false,
        }
    }

    /// Does `action`.
    pub fn act(&mut self, action: Action) -> ReviewOutcome {
        let stay = ReviewOutcome::Stay;
        match action {
            Action::Close | Action::Escape if self.in_diff => self.in_diff = false,
            Action::Close | Action::Escape => return ReviewOutcome::Leave(Vec::new()),
            Action::AcceptAll => return self.decide_rest(Choice::Accept),
            Action::RejectAll => return self.decide_rest(Choice::Reject),
            Action::NetOrSingle => {
                self.is_other_scope = !self.is_other_scope;
                return stay(self.want());
            }
            Action::Accept => return stay(self.decide(Choice::Accept)),
            Action::Reject => return stay(self.decide(Choice::Reject)),
            Action::UndoDecision => drop(self.opened.as_mut().map(|opened| opened.page.undo_decision())),
            Action::Open if self.in_diff => return self.finish(),
            Action::Open => self.in_diff = self.opened.is_some(),
            Action::NextHunk | Action::PreviousHunk | Action::NextFile | Action::PreviousFile | Action::Layout => {
                self.in_diff = self.opened.is_some();
                self.look(action);
            }
            action if self.in_diff => self.look(action),
            action => return stay(self.go(action)),
        }
        stay(Vec::new())
    }

    fn look(&mut self, action: Action) {
        if let Some(opened) = &mut self.opened {
            look_around(&mut opened.page.view, action);
        }
        self.fit();
    }

    fn decide(&mut self, choice: Choice) -> Vec<PaneEffect> {
        self.in_diff = self.opened.is_some();
        if let Some(opened) = &mut self.opened {
            opened.page.judge(choice);
        }
        Vec::new()
    }

    /// Decides all that is left, and goes on as Enter does where a hunk was decided otherwise before; else the whole is
    /// kept or restored, with what has no hunks.
    fn decide_rest(&mut self, choice: Choice) -> ReviewOutcome {
        if let Some(opened) = &mut self.opened {
            let count = opened.page.choices.count().0;
            let otherwise = if choice == Choice::Accept { count.rejected } else { count.accepted };
            if otherwise > 0 {
                opened.page.judge_rest(choice);
                return self.finish();
            }
        }
        if choice == Choice::Accept {
            return ReviewOutcome::Stay(vec![PaneEffect::send(Command::KeepReviewed(self.ids()))]);
        }
        self.whole = true;
        ReviewOutcome::Stay(vec![reason_line()])
    }

    /// Moves in the list.
    fn go(&mut self, action: Action) -> Vec<PaneEffect> {
        let last = self.rows().len().saturating_sub(1);
        self.is_other_scope = false;
        self.at = match action {
            Action::Up => self.at.saturating_sub(1),
            Action::Down => self.at + 1,
            Action::HalfUp | Action::PageUp => self.at.saturating_sub(10),
            Action::HalfDown | Action::PageDown => self.at + 10,
            Action::First => 0,
            Action::Last => last,
            _ => self.at,
        }
        .min(last);
        self.want()
    }

    /// Carries out what was decided, once every hunk is; until then goes to the next that is not.
    fn finish(&mut self) -> ReviewOutcome {
        let Some(opened) = &mut self.opened else { return ReviewOutcome::Stay(Vec::new()) };
        let (f, h) = opened.page.view.focus().unwrap_or_default();
        if let Some(next) = opened.page.choices.next_undecided(f, h) {
            opened.page.view.set_focus(next);
            let (_, open) = opened.page.choices.count();
            return ReviewOutcome::Stay(vec![PaneEffect::Say(say::decide_rest(open))]);
        }
        if opened.page.wanted().is_empty() {
            return ReviewOutcome::Stay(vec![PaneEffect::send(Command::KeepReviewed(opened.ids.clone()))]);
        }
        self.whole = false;
        ReviewOutcome::Stay(vec![reason_line()])
    }

    /// Takes the reason: what is restored goes to the agent, which answers with a proposal.
    pub fn line(&mut self, purpose: &LineFor, typed: LineInput<'_>) -> ReviewOutcome {
        let (LineFor::Reason, LineInput::Taken(reason)) = (purpose, typed) else {
            return ReviewOutcome::Stay(Vec::new());
        };
        let reason = reason.trim().to_string();
        let command = match &self.opened {
            _ if self.whole => Command::Restore(RestoreRequest::Review { names: self.ids(), reason }),
            Some(opened) => {
                Command::Review(ReviewVerdict { ids: opened.ids.clone(), restored: opened.page.wanted(), reason })
            }
            None => return ReviewOutcome::Stay(Vec::new()),
        };
        ReviewOutcome::Leave(vec![PaneEffect::send(command)])
    }

    /// Handles a click inside the body, from its top left corner.
    pub fn click(&mut self, column: u16, row: u16) -> Vec<PaneEffect> {
        let (list, diff) = self.parts();
        if let Some((x, _)) = diff.filter(|(x, _)| column >= *x || list == 0) {
            self.in_diff = self.opened.is_some();
            let _ = x;
            if let (Some(opened), Some(row)) = (&mut self.opened, row.checked_sub(1)) {
                opened.page.view.click(row);
            }
            return Vec::new();
        }
        self.in_diff = false;
        let lines = self.lines();
        let clicked = row.checked_sub(1).and_then(|row| *lines.get(self.top + usize::from(row))?);
        if let Some(row) = clicked.and_then(|row| self.rows().iter().position(|own| *own == row)) {
            (self.at, self.is_other_scope) = (row, false);
        }
        self.want()
    }

    /// Scrolls the diff where the pointer is over it; over the list it selects.
    pub fn wheel(&mut self, column: u16, action: Action) -> Vec<PaneEffect> {
        let (list, diff) = self.parts();
        if diff.is_some_and(|(x, _)| column >= x || list == 0) {
            self.look(action);
            return Vec::new();
        }
        self.go(action)
    }

    /// Returns the lines of the list; none: an empty one.
    fn lines(&self) -> Vec<Option<QueueLine>> {
        let mut lines = Vec::new();
        for row in self.rows() {
            if matches!(row, QueueLine::Turn(_)) && !lines.is_empty() {
                lines.push(None);
            }
            lines.push(Some(row));
        }
        lines
    }

    /// Returns the cells of the list, and where the diff begins with its cells; 0 or none: it is not shown.
    fn parts(&self) -> (u16, Option<(u16, u16)>) {
        list::parts(self.size.0, self.in_diff)
    }

    /// Takes the size of the body that is drawn next.
    pub fn measure(&mut self, width: u16, height: u16) {
        self.size = (width, height);
        self.fit();
    }

    fn fit(&mut self) {
        let (_, diff) = self.parts();
        let notes = self.note_rows();
        let height = self.size.1.saturating_sub(1 + notes);
        if let (Some(opened), Some((_, width))) = (&mut self.opened, diff) {
            opened.page.view.measure(width, height);
        }
        let rows = usize::from(self.size.1.saturating_sub(3)).max(1);
        let lines = self.lines();
        let at = self.rows().get(self.at).and_then(|row| lines.iter().position(|line| line.as_ref() == Some(row)));
        let at = at.unwrap_or(0);
        self.top = self.top.clamp((at + 1).saturating_sub(rows), at);
    }
}

fn reason_line() -> PaneEffect {
    PaneEffect::Line { purpose: LineFor::Reason, prompt: say::why().into(), text: String::new() }
}

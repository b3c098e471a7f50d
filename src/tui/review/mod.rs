//! The review queue: the changes that nobody was asked about, by turn, beside what they changed. Each hunk is kept or
//! restored; nothing is written before the person has seen the restore as a proposal.

mod draw;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::messages::review as say;
use crate::proposal::{Choice, Proposal};
use crate::protocol::{Command, Listing, Query, RestoreRequest, ReviewChange, ReviewScope, ReviewTurn, ReviewVerdict};
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
    /// The files of other rows of which something is decided and not carried out.
    left: Vec<ReviewFiles>,
    /// The keys go to the diff.
    in_diff: bool,
    /// The entries that are restored whole once the reason is given; none: the hunks that were decided.
    whole: Option<Vec<String>>,
    size: (u16, u16),
}

/// The files of entries, with the decisions so far.
#[derive(Debug)]
struct ReviewFiles {
    ids: Vec<String>,
    scope: ReviewScope,
    is_entry: bool,
    page: DiffPage,
    aside: Vec<(String, String)>,
    later: Vec<(String, usize)>,
}

impl ReviewFiles {
    fn is_staged(&self) -> bool {
        let (count, _) = self.page.choices.count();
        count.accepted + count.rejected > 0
    }

    fn is_of(&self, ids: &[String], scope: ReviewScope, is_entry: bool) -> bool {
        self.scope == scope && self.is_entry == is_entry && self.ids.iter().any(|id| ids.contains(id))
    }
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
        if self.is_entry(self.at) != self.is_other_scope { ReviewScope::Single } else { ReviewScope::Net }
    }

    fn is_entry(&self, at: usize) -> bool {
        matches!(self.rows().get(at), Some(QueueLine::Entry(..)))
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
                let (first, before, was_entry) = (self.turns.is_empty(), self.ids(), self.is_entry(self.at));
                self.turns.clone_from(turns);
                let rows = self.rows();
                let is_left = |at: usize| self.ids_at(at).iter().any(|id| before.contains(id));
                let same = (0..rows.len()).find(|at| self.is_entry(*at) == was_entry && is_left(*at));
                // The newest turn comes first to mind.
                let newest = rows.iter().rposition(|row| matches!(row, QueueLine::Turn(_))).unwrap_or(0);
                self.at = match same {
                    Some(same) => same,
                    None if first => newest,
                    None => self.at.min(rows.len().saturating_sub(1)),
                };
                // What is being decided stays, as long as it waits; its files may be others by now.
                self.last_query = None;
                if same.is_none() || failed {
                    (self.opened, self.in_diff) = (None, false);
                }
                let waits = |id: &String| turns.iter().flat_map(|turn| &turn.entries).any(|entry| entry.id == *id);
                self.left.retain(|left| left.ids.iter().any(waits));
                self.want()
            }
            (Query::ReviewChange(ids, scope), Listing::ReviewChange(change))
                if self.last_query.as_ref() == Some(&(ids.clone(), *scope)) =>
            {
                self.take(ids, *scope, change);
                self.failed = None;
                self.fit();
                Vec::new()
            }
            (Query::ReviewChange(ids, scope), Listing::Failed(why)) => {
                if self.last_query.as_ref() == Some(&(ids.clone(), *scope)) {
                    self.leave_row();
                    (self.in_diff, self.failed) = (false, Some(why.clone()));
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

    /// Shows what entries changed. What was decided about the same hunks of the same row stays.
    fn take(&mut self, ids: &[String], scope: ReviewScope, change: &ReviewChange) {
        let is_entry = self.is_entry(self.at);
        if !self.opened.as_ref().is_some_and(|opened| opened.is_of(ids, scope, is_entry)) {
            self.leave_row();
            let left = self.left.iter().position(|left| left.is_of(ids, scope, is_entry));
            self.opened = left.map(|left| self.left.remove(left));
        }
        let page = match self.opened.take() {
            Some(opened) if opened.page.proposal.files == change.change.files => opened.page,
            Some(opened) => carried(&opened.page, change.change.clone()),
            None => DiffPage::new(change.change.clone(), Stage::Review),
        };
        self.in_diff &= page.view.focus().is_some();
        let (ids, aside, later) = (ids.to_vec(), change.aside.clone(), change.later.clone());
        self.opened = Some(ReviewFiles { ids, scope, is_entry, page, aside, later });
    }

    /// Keeps what is decided of the files that are shown, where something is, for the time when they are shown again.
    fn leave_row(&mut self) {
        self.left.extend(self.opened.take().filter(ReviewFiles::is_staged));
    }

    /// Returns whether the keys go to hunks.
    pub fn is_in_diff(&self) -> bool {
        self.in_diff
    }

    /// Returns whether hunks that are shown are decided, and that is not carried out.
    pub fn is_staged(&self) -> bool {
        self.opened.as_ref().is_some_and(ReviewFiles::is_staged)
    }

    /// Returns whether every hunk that is shown is decided.
    pub fn is_decided(&self) -> bool {
        self.opened.as_ref().is_some_and(|opened| opened.page.choices.count().1 == 0)
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
            Action::Accept => return self.decide(Choice::Accept),
            Action::Reject => return self.decide(Choice::Reject),
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

    /// Decides the hunk under the keys. To keep the only one is carried out at once, as with a proposal.
    fn decide(&mut self, choice: Choice) -> ReviewOutcome {
        self.in_diff = self.opened.is_some();
        let Some(opened) = &mut self.opened else { return ReviewOutcome::Stay(Vec::new()) };
        opened.page.judge(choice);
        match choice == Choice::Accept && opened.page.has_one_hunk() {
            true => self.finish(),
            false => ReviewOutcome::Stay(Vec::new()),
        }
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
        self.whole = Some(self.ids());
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
        if opened.page.choices.total() == 0 && !opened.aside.is_empty() {
            return ReviewOutcome::Stay(vec![PaneEffect::Say(say::decide_whole().into())]);
        }
        if opened.page.wanted().is_empty() {
            return ReviewOutcome::Stay(vec![PaneEffect::send(Command::KeepReviewed(opened.ids.clone()))]);
        }
        self.whole = None;
        ReviewOutcome::Stay(vec![reason_line()])
    }

    /// Takes the reason: what is restored goes to the agent, which answers with a proposal.
    pub fn line(&mut self, purpose: &LineFor, typed: LineInput<'_>) -> ReviewOutcome {
        let (LineFor::Reason, LineInput::Taken(reason)) = (purpose, typed) else {
            return ReviewOutcome::Stay(Vec::new());
        };
        let reason = reason.trim().to_string();
        let command = match (self.whole.take(), &self.opened) {
            (Some(names), _) => Command::Restore(RestoreRequest::Review { names, reason }),
            // They became others while the reason was typed.
            (None, Some(opened)) if opened.page.choices.count().1 > 0 => return self.finish(),
            // What was to be restored is gone since.
            (None, Some(opened)) if opened.page.wanted().is_empty() => {
                return ReviewOutcome::Stay(vec![PaneEffect::Say(say::waits_no_more().into())]);
            }
            (None, Some(ReviewFiles { ids, scope, page, .. })) => {
                Command::Review(ReviewVerdict { ids: ids.clone(), scope: *scope, restored: page.wanted(), reason })
            }
            (None, None) => return ReviewOutcome::Stay(vec![PaneEffect::Say(say::waits_no_more().into())]),
        };
        // What was decided of it is carried out.
        self.opened = None;
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

/// Returns the page of a proposal in the place of another, with what was decided about the same hunks.
fn carried(page: &DiffPage, proposal: Arc<Proposal>) -> DiffPage {
    let mut next = DiffPage::new(proposal, Stage::Review);
    if let Some(at) = page.view.focus() {
        let (choices, at) = page.choices.carried((&page.proposal, &next.proposal), at);
        next.choices = choices;
        at.into_iter().for_each(|at| next.view.set_focus(at));
    }
    next
}

fn reason_line() -> PaneEffect {
    PaneEffect::Line { purpose: LineFor::Reason, prompt: say::why().into(), text: String::new() }
}

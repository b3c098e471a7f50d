//! The graph of definitions: a list by layer and by file, conflicts first, and beside it the definition under the keys with what it
//! uses, what uses it, and its history. A conflict is decided after one more question.

mod detail;
mod draw;
mod lines;

#[cfg(test)]
mod tests;

use crate::messages::graph as say;
use crate::protocol::{Command, ConflictChoice, ConflictRow, GraphPage, Listing, Query};
use crate::tui::action::Action;
use crate::tui::list;
use crate::tui::msg::{LineFor, LineInput, PaneEffect};
use detail::{Detail, DetailItem};
use lines::{GraphLine, ListLines};

/// Definitions that are asked for at first, and more each time the end is reached.
const ROWS: usize = 500;

/// The definitions as they are shown.
#[derive(Debug)]
pub struct GraphScreen {
    page: Option<GraphPage>,
    lines: ListLines,
    failed: Option<String>,
    filter: String,
    limit: usize,
    /// The entry under the keys.
    at: usize,
    top: usize,
    /// The list is asked for; true besides: once more, for something has changed since.
    listing: Option<bool>,
    /// The list is read on until its end, where the keys go.
    to_end: bool,
    /// The definition that is asked for; true besides: once more, for something has changed since.
    asked: Option<(String, bool)>,
    /// The entry that the right side shows, or is about to.
    target: Option<Target>,
    /// The targets on the way to it.
    trail: Vec<Target>,
    detail: Option<Detail>,
    in_detail: bool,
    /// The decision that waits for a yes.
    confirm: Option<(ConflictRow, ConflictChoice)>,
    size: (u16, u16),
}

/// Something that the right side shows, by its identity.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Target {
    Conflict(String),
    Definition(String),
}

/// The outcome of a key.
#[derive(Debug, PartialEq)]
pub enum GraphOutcome {
    /// The screen stays open.
    Stay(Vec<PaneEffect>),
    /// It closes.
    Leave,
}

impl Default for GraphScreen {
    fn default() -> Self {
        GraphScreen {
            page: None,
            lines: ListLines::default(),
            failed: None,
            filter: String::new(),
            limit: ROWS,
            at: 0,
            top: 0,
            listing: Some(false),
            to_end: false,
            asked: None,
            target: None,
            trail: Vec::new(),
            detail: None,
            in_detail: false,
            confirm: None,
            size: (0, 0),
        }
    }
}

impl GraphScreen {
    /// Returns the question for the list.
    pub fn query(&self) -> Query {
        Query::Graph { filter: self.filter.clone(), limit: self.limit }
    }

    /// Asks for the list, once the one that is asked for has come.
    fn list(&mut self) -> Vec<PaneEffect> {
        if let Some(again) = &mut self.listing {
            *again = true;
            return Vec::new();
        }
        self.list_now()
    }

    /// Asks for the list, in place of the one that is asked for.
    fn list_now(&mut self) -> Vec<PaneEffect> {
        self.listing = Some(false);
        vec![PaneEffect::Ask(self.query())]
    }

    /// Asks again for what is shown: the store has changed.
    pub fn refresh(&mut self) -> Vec<PaneEffect> {
        let mut effects = self.list();
        self.asked.iter_mut().for_each(|(_, again)| *again = true);
        effects.extend(self.ask());
        effects
    }

    /// Returns whether a decision waits for a yes, which any other key refuses.
    pub fn is_confirming(&self) -> bool {
        self.confirm.is_some()
    }

    /// Forgets the decision that waits for a yes. Returns whether there was one.
    pub fn cancel(&mut self) -> bool {
        self.confirm.take().is_some()
    }

    fn conflicts(&self) -> &[ConflictRow] {
        self.page.as_ref().map_or(&[], |page| &page.conflicts)
    }

    fn entries(&self) -> usize {
        self.page.as_ref().map_or(0, |page| page.conflicts.len() + page.rows.len())
    }

    /// Returns what an entry of the list leads to.
    fn entry(&self, at: usize) -> Option<Target> {
        let page = self.page.as_ref()?;
        match at.checked_sub(page.conflicts.len()) {
            None => Some(Target::Conflict(page.conflicts[at].id.clone())),
            Some(at) => page.rows.get(at).map(|row| Target::Definition(row.id.clone())),
        }
    }

    /// Returns whether the list goes on behind what was read of it.
    fn goes_on(&self) -> bool {
        self.page.as_ref().is_some_and(|page| page.more() > 0 || page.files_left > 0)
    }

    /// Asks for more of the list. It is made anew for it: twice as many each time keeps that in bounds.
    fn list_more(&mut self) -> Vec<PaneEffect> {
        self.limit = self.limit.saturating_mul(2);
        self.list()
    }

    /// Takes in what was asked for.
    pub fn answer(&mut self, query: &Query, listing: &Listing) -> Vec<PaneEffect> {
        match (query, listing) {
            (Query::Graph { .. }, Listing::Graph(page)) => self.listed(Some(page.clone()), None),
            (Query::Graph { .. }, Listing::Failed(why)) => self.listed(None, Some(why.clone())),
            (Query::Definition(id), listing) if self.asked.as_ref().is_some_and(|(asked, _)| asked == id) => {
                let again = self.asked.take().is_some_and(|(_, again)| again);
                // Another one is wanted by now, or the same as it is now.
                if again || self.target.as_ref() != Some(&Target::Definition(id.clone())) {
                    return self.ask();
                }
                match listing {
                    Listing::Definition(found) => self.show(DetailItem::Definition((**found).clone())),
                    Listing::Failed(why) => self.show(DetailItem::Failed(why.clone())),
                    _ => {}
                }
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn listed(&mut self, page: Option<GraphPage>, failed: Option<String>) -> Vec<PaneEffect> {
        let again = self.listing.take() == Some(true);
        let (before, known) = (self.entry(self.at), self.entries());
        (self.page, self.failed) = (page, failed);
        self.lines = self.page.as_ref().map(ListLines::of).unwrap_or_default();
        // What was asked about is no longer what would be decided.
        if self.confirm.as_ref().is_some_and(|(row, _)| !self.conflicts().contains(row)) {
            self.cancel();
        }
        let same = before.and_then(|before| (0..self.entries()).find(|at| self.entry(*at).as_ref() == Some(&before)));
        self.at = same.unwrap_or(self.at).min(self.entries().saturating_sub(1));
        let is_longer = self.entries() > known;
        let mut effects = match () {
            () if self.to_end && (again || is_longer) && self.goes_on() => self.list_more(),
            () if again => self.list(),
            () => Vec::new(),
        };
        if self.to_end {
            self.at = self.entries().saturating_sub(1);
            self.to_end = self.listing.is_some();
            if !self.to_end {
                effects.extend(self.follow_list());
            }
            self.fit();
            return effects;
        }
        // What was gone to stays, unless it was a conflict that is decided by now.
        let gone = match &self.target {
            Some(Target::Conflict(id)) => !self.conflicts().iter().any(|conflict| conflict.id == *id),
            Some(Target::Definition(_)) => same.is_none() && self.trail.is_empty(),
            None => true,
        };
        if gone {
            self.in_detail = false;
            effects.extend(self.follow_list());
        } else if matches!(self.target, Some(Target::Conflict(_))) {
            effects.extend(self.ask());
        }
        self.fit();
        effects
    }

    /// Shows the entry under the keys.
    fn follow_list(&mut self) -> Vec<PaneEffect> {
        let target = self.entry(self.at);
        self.trail.clear();
        if target.is_none() {
            (self.target, self.detail) = (None, None);
        }
        if target == self.target {
            return Vec::new();
        }
        self.target = target;
        self.ask()
    }

    /// Asks for the target, one question at a time; what is in the list already is shown at once.
    fn ask(&mut self) -> Vec<PaneEffect> {
        match &self.target {
            Some(Target::Conflict(id)) => {
                if let Some(conflict) = self.conflicts().iter().find(|conflict| conflict.id == *id).cloned() {
                    self.show(DetailItem::Conflict(conflict));
                }
                Vec::new()
            }
            Some(Target::Definition(id)) if self.asked.is_none() => {
                self.asked = Some((id.clone(), false));
                vec![PaneEffect::Ask(Query::Definition(id.clone()))]
            }
            _ => Vec::new(),
        }
    }

    /// Shows something at the right, at the same place if it was there already.
    fn show(&mut self, shown: DetailItem) {
        let (_, right) = self.parts();
        let width = right.map_or(self.size.0, |(_, width)| width);
        self.detail = Some(match self.detail.take() {
            Some(before) if before.is_of(&shown) => before.renewed(shown, width),
            _ => Detail::new(shown, width),
        });
        self.fit();
    }

    /// Goes to a target from the one that is shown.
    fn go_to(&mut self, target: Target) -> Vec<PaneEffect> {
        self.trail.extend(self.target.replace(target.clone()));
        self.select(&target);
        self.ask()
    }

    /// Moves the keys of the list to a target, where it is in the list.
    fn select(&mut self, target: &Target) {
        self.at = (0..self.entries()).find(|at| self.entry(*at).as_ref() == Some(target)).unwrap_or(self.at);
        self.fit();
    }

    /// Goes back to the target before, else to the list.
    fn back(&mut self) -> Vec<PaneEffect> {
        match self.trail.pop() {
            Some(before) => {
                self.target = Some(before.clone());
                self.select(&before);
                self.ask()
            }
            None => {
                self.in_detail = false;
                Vec::new()
            }
        }
    }

    /// Returns the conflict that is shown.
    fn conflict(&self) -> Option<&ConflictRow> {
        match &self.target {
            Some(Target::Conflict(id)) => self.conflicts().iter().find(|conflict| conflict.id == *id),
            _ => None,
        }
    }

    /// Returns whether the keys go to what the list leads to.
    pub fn is_in_detail(&self) -> bool {
        self.in_detail
    }

    /// Returns whether `action` would do something now.
    pub fn offers(&self, action: Action) -> bool {
        let any = self.entries() > 0;
        let detail = self.detail.as_ref();
        match action {
            action if self.is_confirming() => action == Action::Open,
            Action::Close | Action::Escape => true,
            Action::Open | Action::Right if self.in_detail => detail.is_some_and(|detail| detail.link().is_some()),
            Action::Open | Action::Right => any,
            Action::Left => self.in_detail,
            Action::KeepConflict => self.conflict().is_some(),
            Action::TakeConflict => self.conflict().is_some_and(|conflict| conflict.can_take),
            Action::Search if self.in_detail => detail.is_some(),
            Action::Search => self.page.is_some(),
            Action::NextMatch | Action::PreviousMatch => self.in_detail && detail.is_some_and(|d| !d.words.is_empty()),
            Action::Up | Action::Down | Action::HalfUp | Action::HalfDown | Action::PageUp => any,
            Action::PageDown | Action::First | Action::Last | Action::NextItem | Action::PreviousItem => any,
            _ => false,
        }
    }

    /// Does `action`.
    pub fn act(&mut self, action: Action) -> GraphOutcome {
        let stay = GraphOutcome::Stay;
        self.to_end = false;
        if let Some((row, choice)) = self.confirm.take_if(|_| action == Action::Open) {
            return stay(vec![PaneEffect::send(Command::DecideConflict(Box::new(row), choice))]);
        }
        stay(match action {
            Action::Close | Action::Escape if !self.in_detail => return GraphOutcome::Leave,
            Action::Close | Action::Escape | Action::Left => self.back(),
            Action::KeepConflict => self.confirm(ConflictChoice::Keep),
            Action::TakeConflict => self.confirm(ConflictChoice::Take),
            Action::Search => vec![self.line_for()],
            Action::Open | Action::Right if !self.in_detail => {
                self.in_detail = true;
                Vec::new()
            }
            Action::Open | Action::Right => match self.detail.as_ref().and_then(Detail::link) {
                Some(id) => self.go_to(Target::Definition(id)),
                None => Vec::new(),
            },
            action if self.in_detail => {
                self.detail.iter_mut().for_each(|detail| detail.go(action));
                self.fit();
                Vec::new()
            }
            action => self.go(action),
        })
    }

    /// Asks whether a conflict is to be decided this way.
    fn confirm(&mut self, choice: ConflictChoice) -> Vec<PaneEffect> {
        let Some(row) = self.conflict().cloned() else { return Vec::new() };
        let words = match choice {
            ConflictChoice::Keep => say::keep_asks(&row.about),
            ConflictChoice::Take => say::take_asks(&row.about),
        };
        self.confirm = Some((row, choice));
        vec![PaneEffect::Say(words)]
    }

    fn line_for(&self) -> PaneEffect {
        let (purpose, prompt, text) = match &self.detail {
            Some(detail) if self.in_detail => (LineFor::Search, say::search(), detail.words.clone()),
            _ => (LineFor::Filter, say::filter(), self.filter.clone()),
        };
        PaneEffect::Line { purpose, prompt: prompt.into(), text }
    }

    /// Takes the words to look for.
    pub fn line(&mut self, purpose: &LineFor, typed: LineInput<'_>) -> Vec<PaneEffect> {
        let (words, left) = match typed {
            LineInput::Now(words) | LineInput::Taken(words) => (words, false),
            LineInput::Left => ("", true),
        };
        match (purpose, &mut self.detail) {
            (LineFor::Filter, _) if self.filter != words => {
                (self.filter, self.limit, self.at, self.to_end) = (words.to_string(), ROWS, 0, false);
                // What is found decides what is shown beside it.
                self.target = None;
                self.list_now()
            }
            (LineFor::Search, Some(detail)) if !left => {
                detail.look_for(words);
                self.fit();
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    /// Moves in the list.
    fn go(&mut self, action: Action) -> Vec<PaneEffect> {
        let (last, page) = (self.entries().saturating_sub(1), usize::from(self.list_rows()));
        self.at = match action {
            Action::NextItem => self.lines.starts.iter().copied().find(|start| *start > self.at).unwrap_or(last),
            Action::PreviousItem => self.lines.starts.iter().copied().rfind(|start| *start < self.at).unwrap_or(0),
            _ => list::moved(self.at, action, last, page).unwrap_or(self.at),
        }
        .min(last);
        self.fit();
        self.to_end = action == Action::Last && self.goes_on();
        if self.to_end {
            // What stands at the end is shown once it is known.
            return self.list_more();
        }
        let mut effects = self.follow_list();
        if self.at == last && self.goes_on() && self.listing.is_none() {
            effects.extend(self.list_more());
        }
        effects
    }

    /// Handles a click inside the body, from its top left corner.
    pub fn click(&mut self, column: u16, row: u16) -> Vec<PaneEffect> {
        let (list, right) = self.parts();
        let Some(row) = row.checked_sub(1) else { return Vec::new() };
        if right.is_some_and(|(x, _)| column >= x || list == 0) {
            self.in_detail = self.detail.is_some();
            self.detail.iter_mut().for_each(|detail| detail.click(usize::from(row)));
            return Vec::new();
        }
        (self.in_detail, self.to_end) = (false, false);
        if let Some(GraphLine::Entry(at)) = self.lines.all.get(self.top + usize::from(row)) {
            self.at = *at;
        }
        self.follow_list()
    }

    /// Moves in what the pointer is over.
    pub fn wheel(&mut self, column: u16, action: Action) -> Vec<PaneEffect> {
        let (list, right) = self.parts();
        if right.is_some_and(|(x, _)| column >= x || list == 0) {
            self.detail.iter_mut().for_each(|detail| detail.go(action));
            return Vec::new();
        }
        self.go(action)
    }

    /// Returns the cells of the list, and where the right side begins with its cells; 0 or none: it is not shown.
    fn parts(&self) -> (u16, Option<(u16, u16)>) {
        list::parts(self.size.0, self.in_detail)
    }

    /// Takes the size of the body that is drawn next.
    pub fn measure(&mut self, width: u16, height: u16) {
        self.size = (width, height);
        self.fit();
    }

    /// Returns the rows of the list; below them stands how many more there are.
    fn list_rows(&self) -> u16 {
        self.size.1.saturating_sub(2)
    }

    fn fit(&mut self) {
        let (_, right) = self.parts();
        let height = self.size.1.saturating_sub(1);
        if let (Some(detail), Some((_, width))) = (&mut self.detail, right) {
            detail.measure(width, usize::from(height));
        }
        let rows = usize::from(self.list_rows()).max(1);
        let at = self.lines.of_entry(self.at);
        // The heading above the first entry is seen with it.
        let first = if self.at == 0 { 0 } else { at };
        self.top = self.top.clamp((at + 1).saturating_sub(rows), first.max((at + 1).saturating_sub(rows)));
    }
}

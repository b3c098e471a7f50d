//! The proposal: what nebula wants to change, hunk by hunk, and what the person says of it. Also the last proposal
//! once it is settled, and what changed on disk when one met a conflict.
//!
//! `rows` says which rows there are, `align` which lines stand beside each other, `cells` how a line is drawn
//! and wrapped; [`View`] lays them out and scrolls, `draw` paints what is seen. [`Choices`] are the decisions.
//! Every changed byte is in exactly one row, so that everything can be reached by scrolling down.

mod align;
mod cells;
mod choices;
mod code;
mod draw;
mod find;
mod folds;
mod lines;
mod page;
mod rows;
mod strip;
mod talk;
mod view;

#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

pub use choices::{Choices, Standing};
pub(in crate::tui) use draw::standing_mark;
pub use find::contains;
pub(in crate::tui) use page::{DiffPage, Stage, look_around};
pub use rows::{Heads, Layout};
pub use view::View;

use super::paint::{self, Pen, span};
use crate::messages::diff as say;
use crate::proposal::{Counts, FileChange, HunkCount, MergeRung, Proposal, ProposalId, RestorePreview, State};
use crate::protocol::{EventBody, Listing, Outcome, ProposalEvent, Query};
use crate::tui::action::Action;
use crate::tui::look::{Ctx, Look};
use crate::tui::msg::{LineFor, LineInput, PaneEffect};
use crate::tui::pane::id::PaneId;
use crate::tui::pane::mark::{Mark, Waiting};
use crate::tui::theme::Role;
use page::{Settled, decide};
use strip::{above, body, draw_above, take_test, turn_why};

/// Cells of a pane below which nothing is said in passing.
const NARROW: u16 = 60;

/// The proposal that waits, or the last one.
#[derive(Debug, Default)]
pub struct Diff {
    page: Option<DiffPage>,
    /// The page shown before a restore whose files come first.
    before: Option<DiffPage>,
    /// All that the session changed, if anything; `None`: it is not known.
    session: Option<Option<Arc<Proposal>>>,
    /// Proposals that came while another was waiting.
    later: VecDeque<DiffPage>,
    /// Shows the files of this restore first: see [`Diff::release`].
    held: Option<ProposalId>,
    left_out: Option<(ProposalId, Vec<String>)>,
    /// The expected and the present states of files that someone else changed before a proposal was written.
    changed: HashMap<String, (State, State)>,
    size: (u16, u16),
}

impl Diff {
    /// Takes in what the agent told.
    pub fn apply(&mut self, event: &EventBody, _now: i64) -> Vec<PaneEffect> {
        match event {
            EventBody::Proposal(ProposalEvent::Proposed(proposal, previews)) => self.proposed(proposal, previews),
            EventBody::Proposal(ProposalEvent::Settled(id, outcome)) => self.settled(*id, outcome),
            EventBody::Drifted(paths) | EventBody::DriftedElsewhere(paths) => {
                let waiting = self.page.iter_mut().filter(|p| p.is_open()).chain(&mut self.later);
                waiting.for_each(|page| page.mark_stale(paths));
            }
            EventBody::Proposal(ProposalEvent::CommentAnswer(id, comment, text)) => {
                let words = if text.is_empty() { say::no_answer() } else { text };
                let page = self.page.as_mut().filter(|p| p.proposal.id == *id);
                let told = page.and_then(|page| page.answered(comment, words));
                // Where it is narrow, what waits to be decided has the only line for it.
                return told.filter(|_| self.size.0 >= NARROW).into_iter().collect();
            }
            EventBody::Proposal(ProposalEvent::Tested(id, test)) => {
                take_test(self.page.iter_mut().chain(&mut self.later), *id, test);
            }
            EventBody::Proposal(ProposalEvent::LeftOut(id, lines)) => self.left_out = Some((*id, lines.clone())),
            EventBody::Opened(info) => {
                // A new session has changed nothing; of another it is asked.
                let session = (info.resumed == 0).then_some(None);
                *self = Diff { size: self.size, session, ..Diff::default() };
            }
            _ => {}
        }
        Vec::new()
    }

    fn proposed(&mut self, proposal: &Arc<Proposal>, previews: &[RestorePreview]) {
        let mut page = DiffPage::new(proposal.clone(), Stage::Open);
        page.choices.accept_restored(proposal);
        page.left_out = self.left_out.take_if(|(id, _)| *id == proposal.id).map_or_else(Vec::new, |(_, lines)| lines);
        // What a restore does to each file is shown first, by the archive.
        if !previews.is_empty() {
            self.held = Some(proposal.id);
        }
        if self.page.as_ref().is_some_and(|p| matches!(p.stage, Stage::Open | Stage::Sent)) {
            self.later.push_back(page);
        } else {
            self.show(page);
        }
    }

    fn settled(&mut self, id: ProposalId, outcome: &Outcome) {
        self.later.retain(|p| p.proposal.id != id);
        let unseen = self.held == Some(id);
        self.held = self.held.filter(|held| *held != id);
        if let Outcome::Conflict { path, expected, found } = outcome {
            self.changed.insert(path.clone(), (expected.clone(), found.clone()));
        }
        let Some(page) = self.page.as_mut().filter(|p| p.proposal.id == id) else { return };
        page.stage = Stage::Settled(match outcome {
            Outcome::Applied { hunks, merged, changeset } => match merged.iter().map(|file| file.rung).max() {
                Some(rung) if rung != MergeRung::There || changeset.is_none() => Settled::Merged(*hunks, rung),
                _ if hunks.rejected > 0 => Settled::Part(*hunks),
                _ => Settled::Said(say::written()),
            },
            Outcome::Refused => Settled::Part(HunkCount { accepted: 0, rejected: page.choices.total() }),
            Outcome::Conflict { .. } => Settled::Said(say::not_written_changed()),
            Outcome::Failed(_) => Settled::Said(say::not_written()),
            Outcome::Withdrawn => Settled::Said(say::withdrawn()),
        });
        if *outcome == Outcome::Withdrawn {
            page.choices.withdraw();
        }
        if let Outcome::Conflict { path, .. } = outcome {
            self.show_change(&path.clone());
        } else if unseen {
            // The person decided by the list of files, and never opened this page.
            self.page = self.before.take();
        }
        if let Some(next) = self.later.pop_front() {
            self.show(next);
        }
    }

    /// Shows what someone else changed in a file, beside what nebula expected. `false`: a proposal waits and must not
    /// be hidden, or nothing is known of it.
    pub fn show_change(&mut self, path: &str) -> bool {
        let Some((expected, found)) = self.changed.get(path).cloned().filter(|_| !self.is_waiting()) else {
            return false;
        };
        self.compare(path, expected, found);
        true
    }

    /// Takes all that the session changed; `None`: it could not be told. It is shown where it is shown already, and
    /// where it is asked for.
    pub fn take_session(&mut self, changed: Option<Option<Arc<Proposal>>>) {
        self.session = changed;
        if self.is_session() {
            let focus = self.page.as_ref().and_then(|p| p.view.focus());
            self.show_session();
            let page = self.page.as_mut().filter(|p| p.stage == Stage::Session);
            if let (Some(page), Some(at)) = (page, focus)
                && page.view.hunks().any(|hunk| hunk == at)
            {
                page.view.set_focus(at);
            }
        }
    }

    /// Shows all that the session changed as one diff. `false`: nothing, or a proposal waits.
    pub fn show_session(&mut self) -> bool {
        if self.page.as_ref().is_some_and(|p| matches!(p.stage, Stage::Open | Stage::Sent)) {
            return false;
        }
        let changed = self.session.clone().flatten();
        let any = changed.is_some();
        match changed {
            Some(changed) => self.show(DiffPage::new(changed, Stage::Session)),
            None => self.page = self.page.take().filter(DiffPage::stays_without_session),
        }
        any
    }

    /// Returns whether [`Diff::show_session`] leaves anything to show.
    pub fn has_diff(&self) -> bool {
        self.session.as_ref().is_some_and(Option::is_some)
            || self.page.as_ref().is_some_and(DiffPage::stays_without_session)
    }

    /// Files and lines that the session changed; none: nothing. `None`: it is not known.
    pub fn session_size(&self) -> Option<(usize, Counts)> {
        let changed = self.session.as_ref()?.as_ref();
        Some(changed.map_or_else(Default::default, |changed| (changed.files.len(), changed.counts())))
    }

    /// Shows two states of a file beside each other.
    fn compare(&mut self, path: &str, before: State, after: State) {
        let change = FileChange::new(path, before, after, "", &[]);
        let proposal = Proposal { id: ProposalId(u64::MAX), title: path.to_string(), files: vec![change] };
        self.show(DiffPage::new(Arc::new(proposal), Stage::Plain));
    }

    /// Shows a page.
    fn show(&mut self, mut page: DiffPage) {
        let height = body(&page, self.size.0, self.size.1);
        page.view.measure(self.size.0, height);
        let takes_focus = page.is_open() && self.held != Some(page.proposal.id);
        let old = self.page.replace(page);
        self.before = old.filter(|old| !takes_focus && matches!(old.stage, Stage::Settled(_)));
    }

    /// Takes what the model said before the proposal that waits.
    pub fn explain(&mut self, why: &str) {
        if let Some(page) = self.page.as_mut().filter(|p| p.is_open() && p.why.is_empty()) {
            page.why = why.to_string();
            page.asks = true;
        }
    }

    /// Notes that the files of the restore were seen: from now on it waits for decisions like any proposal.
    pub fn release(&mut self) {
        self.held = None;
    }

    /// Returns whether a proposal waits for decisions.
    pub fn is_waiting(&self) -> bool {
        self.pending().is_some()
    }

    /// Returns what the pending proposal waits for; `None`: there is none.
    pub fn waiting(&self) -> Option<Waiting> {
        let (id, (undecided, hunks)) = (self.pending()?, self.undecided()?);
        Some(Waiting { id, undecided, hunks, behind: self.later.len() })
    }

    /// Files and lines of the proposal that waits.
    pub fn size_of_waiting(&self) -> Option<(usize, Counts)> {
        self.pending()?;
        self.page.as_ref().map(|p| (p.view.file_count(), p.view.counts()))
    }

    /// Returns the undecided hunks and all hunks of the proposal that waits.
    pub fn undecided(&self) -> Option<(usize, usize)> {
        let page = self.page.as_ref().filter(|p| p.is_open())?;
        let (count, open) = page.choices.count();
        Some((open, open + count.accepted + count.rejected))
    }

    /// Returns whether a model made what is shown and can be asked about it.
    pub fn asks_model(&self) -> bool {
        self.page.as_ref().is_some_and(|page| page.asks)
    }

    /// Returns whether Enter asks why something is rejected.
    pub fn lacks_reason(&self) -> bool {
        self.is_waiting() && self.page.as_ref().is_some_and(DiffPage::lacks_reason)
    }

    /// Returns the proposal that waits.
    pub fn pending(&self) -> Option<ProposalId> {
        let page = self.page.as_ref().filter(|p| p.is_open());
        page.map(|p| p.proposal.id).filter(|id| self.held != Some(*id))
    }

    /// Returns the layout that the next press of the layout's key gives.
    pub fn other_layout(&self) -> &'static str {
        match self.page.as_ref().map(|p| p.view.layout()) {
            Some(Layout::Side) => say::unified(),
            _ => say::side_by_side(),
        }
    }

    /// Takes in a file's text from the editor.
    pub fn edited(&mut self, id: ProposalId, file: usize, text: Result<Vec<u8>, String>) -> Vec<PaneEffect> {
        let Some(page) = self.page.as_mut().filter(|p| p.is_open() && p.proposal.id == id) else {
            return vec![PaneEffect::Say(say::settled().into())];
        };
        let text: Arc<[u8]> = match text {
            Ok(text) => Arc::from(text),
            Err(why) => return vec![PaneEffect::Say(why)],
        };
        let Some(change) = page.edited.files.get(file).cloned() else { return Vec::new() };
        if change.after.bytes().is_some_and(|b| **b == *text) {
            return vec![PaneEffect::Say(say::left_as_proposed().into())];
        }
        let mode = change.after.mode();
        if change.before.bytes() == Some(&text) {
            page.refuse(file);
            return vec![PaneEffect::Say(say::equals_file().into())];
        }
        let after = State::File { bytes: text, mode };
        let mut fresh = FileChange::new(change.path.clone(), change.before.clone(), after, change.by.clone(), &[]);
        fresh.moved = change.moved.clone();
        page.take_edit(file, fresh);
        if let Some(next) = page.choices.next_undecided(file, 0) {
            page.view.set_focus(next);
        }
        vec![PaneEffect::Focus(PaneId::Diff)]
    }

    /// Takes in what was asked for: nothing is.
    pub fn answer(&mut self, _query: &Query, _listing: &Listing, _now: i64) -> Vec<PaneEffect> {
        Vec::new()
    }

    /// Returns whether `action` would do something now.
    pub fn offers(&self, action: Action) -> bool {
        let Some(page) = &self.page else { return false };
        let open = self.is_waiting();
        match action {
            Action::Accept | Action::AcceptDefinition | Action::Reject | Action::Toggle => {
                open && page.view.focus().is_some()
            }
            Action::AcceptSession => open && !page.is_restore(),
            Action::AcceptAll | Action::RejectAll | Action::Write | Action::Later => open,
            Action::EditResult => open && page.result().is_some(),
            Action::Test => open && !page.is_testing(),
            Action::Comment => open && page.view.focus().is_some(),
            Action::UndoDecision if page.stage == Stage::Session => page.view.focus().is_some(),
            Action::UndoCall | Action::UndoTurn => page.stage == Stage::Session && page.view.focus().is_some(),
            Action::UndoDecision => open && page.can_undo(),
            Action::NextHunk | Action::PreviousHunk => page.view.hunks().nth(1).is_some(),
            Action::NextFile | Action::PreviousFile => page.view.file_count() > 1 || page.stage == Stage::Session,
            Action::NextMatch | Action::PreviousMatch => !page.view.hits.is_empty(),
            Action::Up | Action::Down | Action::HalfUp | Action::HalfDown | Action::PageUp | Action::PageDown => true,
            Action::First | Action::Last | Action::Search | Action::Copy => true,
            Action::Layout | Action::Fold | Action::FoldAll | Action::WrapLines | Action::Blame => true,
            _ => false,
        }
    }

    /// Does `action`.
    pub fn act(&mut self, action: Action, _now: i64) -> Vec<PaneEffect> {
        let Some(page) = &mut self.page else { return Vec::new() };
        let height = self.size.1;
        if page.stage == Stage::Session && matches!(action, Action::UndoDecision | Action::UndoCall | Action::UndoTurn)
        {
            return page.undo_part(action);
        }
        if page.stage == Stage::Session && matches!(action, Action::NextFile | Action::PreviousFile) {
            page.view.focus_head(action == Action::NextFile);
            return Vec::new();
        }
        let decides = page.is_open() && self.held != Some(page.proposal.id);
        let effects = if decides { decide(page, action) } else { None };
        if action == Action::Fold && turn_why(page, self.size) {
            return Vec::new();
        }
        let effects = effects.unwrap_or_else(|| look_around(&mut page.view, action));
        page.view.measure(self.size.0, body(page, self.size.0, height));
        effects
    }

    /// Handles the line that was asked for.
    pub fn line(&mut self, purpose: LineFor, typed: LineInput<'_>, _now: i64) -> Vec<PaneEffect> {
        let Some(page) = &mut self.page else { return Vec::new() };
        match (purpose, typed) {
            (LineFor::Reason, LineInput::Taken(text)) if page.is_open() => page.send(text.trim()),
            (LineFor::Comment, LineInput::Taken(text)) if page.is_open() => page.ask(text.trim()),
            (LineFor::Note, LineInput::Taken(text)) if page.is_open() => page.keep(text.trim()),
            (LineFor::Reason, LineInput::Left) => {
                page.leave_reason();
                Vec::new()
            }
            (LineFor::Search, LineInput::Now(words)) => {
                page.view.search(words);
                Vec::new()
            }
            (LineFor::Search, LineInput::Taken(words)) if !page.view.search(words) => {
                vec![PaneEffect::Say(say::not_in_diff(&words))]
            }
            (LineFor::Search, LineInput::Left) => {
                page.view.search("");
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    /// Handles a click inside the body.
    pub fn click(&mut self, _column: u16, row: u16, _now: i64) -> Vec<PaneEffect> {
        let Some(page) = &mut self.page else { return Vec::new() };
        let rows = strip::height(page.view.file_count(), self.size.1);
        let Some(row) = row.checked_sub(above(page, self.size)) else { return Vec::new() };
        if row < rows {
            if let Some(at) = strip::hunk_at(&page.view, usize::from(rows), usize::from(row)) {
                page.view.set_focus(at);
            }
        } else if row > rows {
            page.view.click(row - rows - 1);
        }
        Vec::new()
    }

    /// Takes the size of the body that is drawn next.
    pub fn measure(&mut self, width: u16, height: u16, _look: &Look<'_>) {
        self.size = (width, height);
        if let Some(page) = &mut self.page {
            let height = body(page, width, height);
            page.view.measure(width, height);
        }
    }

    /// Returns the column of the rule between the sides, where there are two.
    pub fn middle(&self) -> Option<u16> {
        self.page.as_ref().filter(|p| p.view.layout() == Layout::Side).map(|p| p.view.middle())
    }

    /// Returns whether there is nothing to show.
    pub fn is_empty(&self) -> bool {
        self.page.is_none()
    }

    /// Returns whether accepting its only hunk writes the proposal.
    pub fn writes_at_once(&self) -> bool {
        self.page.as_ref().is_some_and(|page| page.is_open() && page.has_one_hunk())
    }

    /// Returns whether it shows all that the session changed.
    pub fn is_session(&self) -> bool {
        self.page.as_ref().is_some_and(|page| page.stage == Stage::Session)
    }

    /// Returns the title on the pane line.
    pub fn title(&self) -> String {
        match self.page.as_ref().map(|p| p.stage) {
            Some(Stage::Open | Stage::Sent) => say::proposal().into(),
            Some(Stage::Session) => say::changed_in_session().into(),
            Some(Stage::Settled(_) | Stage::Plain | Stage::Review) | None => say::diff().into(),
        }
    }

    /// Returns the note on the pane line.
    pub fn note(&self, width: u16, ctx: &Ctx<'_>) -> Line<'static> {
        let Some(page) = &self.page else { return Line::default() };
        let dim = ctx.theme.style(Role::Dim);
        let hits = page.view.hits().filter(|_| ctx.focus);
        match page.stage {
            Stage::Open => {}
            _ if let Some(hits) = hits => return paint::line(hits, dim),
            Stage::Plain | Stage::Session | Stage::Review => {
                return Line::from(paint::counts(page.proposal.counts(), paint::look(ctx)));
            }
            Stage::Sent => return paint::line(say::being_written(), dim),
            Stage::Settled(how) => return paint::line(how.words(), dim),
        }
        let mut spans: Vec<_> = hits.map(|hits| span(hits, dim)).into_iter().collect();
        draw::standings(&page.choices, width, &mut spans, ctx);
        Line::from(spans)
    }

    /// Returns `2 of 7`, while words are looked for.
    pub fn search_hits(&self) -> Option<String> {
        self.page.as_ref()?.view.hits()
    }

    /// Returns what a tab shows.
    pub fn mark(&self) -> Option<Mark> {
        self.is_waiting().then_some(Mark::Waiting)
    }

    /// Draws the body.
    pub fn draw(&self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let mut pen = Pen::new(buf, area);
        let look = paint::look(ctx);
        let Some(page) = &self.page else {
            let words = say::nothing_proposed();
            pen.put(1, 0, words, usize::from(pen.width()), look.theme.style(Role::Dim));
            return;
        };
        let (width, height) = (pen.width(), pen.height());
        let (above, strip) = (above(page, (width, height)), strip::height(page.view.file_count(), height));
        draw_above(&mut pen, page, ctx);
        strip::draw(&mut pen.part(0, above, width, strip), ctx, &page.view, page.decided());
        let rows = above + strip;
        let dim = |word| [span(word, look.theme.style(Role::Dim))];
        match page.view.layout() {
            Layout::Unified => pen.fill(0, rows, width, look.glyphs.rule, look.theme.style(Role::Line)),
            Layout::Side => {
                let half = page.view.middle();
                pen.heading(0, rows, half, &dim(say::before()), &[], look);
                pen.heading(half, rows, width.saturating_sub(half), &dim(say::after()), &[], look);
                pen.put(half, rows, look.glyphs.join_down, 1, look.theme.style(Role::Line));
                let after = format!(" {} ", say::after());
                pen.put(half + 1, rows, &after, crate::text::width::cells(&after), look.theme.style(Role::Dim));
            }
        }
        page.view.draw(&mut pen.part(0, rows + 1, width, height.saturating_sub(rows + 1)), ctx, page.decided());
    }
}

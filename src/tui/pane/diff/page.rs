//! A proposal with the decisions so far, and what the keys do to it.

use std::sync::Arc;

use super::choices::{Choices, LastTest, Standing};
use super::rows::Heads;
use super::view::View;
use crate::messages::{count, diff as say, records};
use crate::proposal::{Choice, FileChange, Hunk, HunkCount, MergeRung, Proposal};
use crate::protocol::{Command, RestoreRequest, ReviewedFile, UNDO};
use crate::tui::action::Action;
use crate::tui::msg::{EditFor, Effect, LineFor, PaneEffect};
use crate::tui::text::markdown::{Inline, prose};

/// The state before a decision, and the hunk in focus then.
#[derive(Debug)]
struct PastDecision {
    choices: Choices,
    edited: Proposal,
    for_session: bool,
    focus: Option<(usize, usize)>,
}

/// A page as it is shown.
#[derive(Debug)]
pub(in crate::tui) struct DiffPage {
    /// The proposal as it came.
    pub proposal: Arc<Proposal>,
    /// The proposal with the person's edits, as it is shown.
    pub edited: Proposal,
    pub view: View,
    pub choices: Choices,
    pub stage: Stage,
    for_session: bool,
    /// The decisions there were before each of the last ones, oldest first, and whether they were for the session.
    past: Vec<PastDecision>,
    /// Leaving the reason line takes the last decision back.
    reverts: bool,
    /// `A` was pressed once.
    armed: bool,
    /// The agent was told that the person decides about it.
    began: bool,
    /// The model proposed it and can be asked about it.
    pub asks: bool,
    /// The words of the model before it proposed this.
    pub why: String,
    /// The first line of it that shows, where it is unfolded.
    pub why_from: Option<usize>,
    /// The effects of its command that it leaves out.
    pub left_out: Vec<String>,
    /// Its last test.
    pub test: LastTest,
}

/// The state of a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tui) enum Stage {
    /// It waits for decisions.
    Open,
    /// The decision was sent; it is being written.
    Sent,
    /// It was settled.
    Settled(Settled),
    /// No proposal: two states beside each other.
    Plain,
    /// No proposal: all that the session changed.
    Session,
    /// No proposal: what was done without a question, hunk by hunk to be kept or restored.
    Review,
}

/// The outcome of a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tui) enum Settled {
    /// It ended in these words.
    Said(&'static str),
    /// A part of its hunks was written.
    Part(HunkCount),
    /// Its hunks, or a part of them, were written into a file that someone else had changed.
    Merged(HunkCount, MergeRung),
}

impl Settled {
    /// Returns `1 of 2 hunks written`.
    pub fn words(self) -> String {
        match self {
            Settled::Said(words) => words.to_string(),
            Settled::Part(HunkCount { accepted: 0, .. }) => say::rejected().into(),
            Settled::Part(n) => say::written_of(&n.accepted, &count::hunks(n.accepted + n.rejected)),
            Settled::Merged(_, MergeRung::There) => say::already_there().into(),
            Settled::Merged(HunkCount { rejected: 0, .. }, rung) => {
                say::merged(&say::written(), &records::localized(rung.said()))
            }
            Settled::Merged(n, rung) => say::merged(&Settled::Part(n).words(), &records::localized(rung.said())),
        }
    }
}

impl DiffPage {
    /// Returns whether it undoes something, as the person asked.
    pub fn is_restore(&self) -> bool {
        self.proposal.files.iter().all(|file| file.by == UNDO)
    }

    pub fn new(proposal: Arc<Proposal>, stage: Stage) -> Self {
        let mut view = View::new(&proposal, Heads::All);
        view.acts = stage == Stage::Session;
        view.reviews = stage == Stage::Review;
        let choices = Choices::of(&proposal);
        let test = LastTest::new(choices.clone());
        DiffPage {
            edited: (*proposal).clone(),
            proposal,
            view,
            choices,
            stage,
            for_session: false,
            past: Vec::new(),
            reverts: false,
            armed: false,
            began: false,
            asks: false,
            why: String::new(),
            why_from: None,
            left_out: Vec::new(),
            test,
        }
    }

    /// Keeps the decisions there are, to come back to.
    pub fn remember(&mut self) {
        let (choices, edited) = (self.choices.clone(), self.edited.clone());
        self.past.push(PastDecision { choices, edited, for_session: self.for_session, focus: self.view.focus() });
    }

    /// Takes the last decision back, if there is one, and goes to where it was made.
    pub fn undo_decision(&mut self) {
        let Some(PastDecision { choices, edited, for_session, focus }) = self.past.pop() else { return };
        (self.choices, self.for_session) = (choices, for_session);
        let changed: Vec<usize> =
            (0..edited.files.len()).filter(|f| self.edited.files.get(*f) != edited.files.get(*f)).collect();
        self.edited = edited;
        for file in changed {
            self.view.replace(file, &self.edited);
        }
        if let Some(at) = focus {
            self.view.set_focus(at);
        }
    }

    /// Says of the hunk in focus whether what was done is kept, and goes on.
    pub fn judge(&mut self, choice: Choice) {
        self.remember();
        self.decide(choice);
    }

    /// Says of all hunks that are undecided whether what was done is kept.
    pub fn judge_rest(&mut self, choice: Choice) {
        self.remember();
        while let Some((f, h)) = self.choices.next_undecided(0, 0) {
            self.set(f, h, choice);
        }
    }

    /// Returns each file of which something is not kept.
    pub fn wanted(&self) -> Vec<ReviewedFile> {
        let wanted = |(f, file): (usize, &FileChange)| {
            let (path, displayed, is_whole) = (file.path.clone(), file.after.clone(), file.unit.is_some());
            let then = self.choices.wanted(f, file)?;
            let is_all = then == file.before;
            Some(ReviewedFile { path, is_whole, is_all, displayed, then })
        };
        self.proposal.files.iter().enumerate().filter_map(wanted).collect()
    }

    /// Returns whether there is a decision to undo.
    pub fn can_undo(&self) -> bool {
        !self.past.is_empty()
    }

    /// Leaves the reason line: the decision that led to it is undone.
    pub fn leave_reason(&mut self) {
        if std::mem::take(&mut self.reverts) {
            self.undo_decision();
        }
    }

    /// Returns what the model said, as lines of `width` cells.
    pub fn why_lines(&self, width: usize) -> Vec<Vec<Inline>> {
        prose(&self.why, width.max(8))
    }

    pub fn is_open(&self) -> bool {
        self.stage == Stage::Open
    }

    pub fn decided(&self) -> Option<&Choices> {
        (!matches!(self.stage, Stage::Plain | Stage::Session)).then_some(&self.choices)
    }

    /// Says `choice` of the hunk in focus and goes on to the next, or to the first that is left.
    fn decide(&mut self, choice: Choice) {
        let Some((f, h)) = self.view.focus() else { return };
        self.set(f, h, choice);
        let open = || self.choices.next_undecided(f, h);
        if let Some(next) = self.view.hunk_by(1).or_else(open) {
            self.view.set_focus(next);
        }
    }

    /// Accepts the hunk in focus and all of its definitions that was not rejected, says what else these hunks hold, and goes
    /// on to what is left.
    fn accept_definition(&mut self) -> Vec<PaneEffect> {
        let Some(at) = self.view.focus() else { return Vec::new() };
        let is_rejected = |h| h != at.1 && self.choices.standing(at.0, h) == Standing::Rejected;
        let beside = self.view.beside_definition(at, &is_rejected).map(PaneEffect::Say);
        self.view.same_definition(at, &is_rejected).into_iter().for_each(|(f, h)| self.set(f, h, Choice::Accept));
        if let Some(next) = self.choices.next_undecided(at.0, at.1) {
            self.view.set_focus(next);
        }
        self.begin(Action::AcceptDefinition).into_iter().chain(beside).collect()
    }

    fn set(&mut self, f: usize, h: usize, choice: Choice) {
        self.choices.set(f, h, choice);
    }

    /// Rejects a file whose edited text is the file as it is.
    pub fn refuse(&mut self, f: usize) {
        self.remember();
        self.choices.refuse(f, &self.proposal.files[f]);
        self.edited.files[f] = self.proposal.files[f].clone();
        self.view.replace(f, &self.edited);
    }

    /// Takes a file as the person edited it.
    pub fn take_edit(&mut self, f: usize, mut change: FileChange) {
        // The heads of its hunks name what those in their place named.
        for hunk in &mut change.hunks {
            let meets = |old: &&Hunk| {
                let (a, b) = (&old.before, &hunk.before);
                a.start < b.end.max(b.start + 1) && b.start < a.end.max(a.start + 1)
            };
            let shown = self.edited.files[f].hunks.iter().filter(meets);
            hunk.definitions = shown.flat_map(|old| old.definitions.iter().cloned()).collect();
            hunk.definitions.dedup();
        }
        self.remember();
        self.choices.edit(f, &self.edited.files[f].clone(), change.clone());
        self.edited.files[f] = change;
        self.view.replace(f, &self.edited);
    }

    /// Approves the edits of this session from now on, and of this proposal what a policy may approve.
    fn accept_for_session(&mut self) -> Vec<PaneEffect> {
        self.remember();
        self.for_session = true;
        self.choices.accept_by_policy(&self.edited);
        let (f, h) = self.view.focus().unwrap_or_default();
        let Some(next) = self.choices.next_undecided(f, h) else { return self.finish_accepting() };
        self.view.set_focus(next);
        vec![PaneEffect::Say(say::left_to_person(&count::hunks(self.choices.count().1)))]
    }

    fn toggle(&mut self) {
        let Some((f, h)) = self.view.focus() else { return };
        let choice = match self.choices.standing(f, h) {
            Standing::Accepted | Standing::Edited => Choice::Reject,
            Standing::Undecided | Standing::Rejected | Standing::Withdrawn => Choice::Accept,
        };
        self.set(f, h, choice);
    }

    /// Rejects every hunk, what the editor changed included.
    fn refuse_all(&mut self) {
        self.choices.refuse_all(&self.proposal);
        if self.edited != *self.proposal {
            self.edited = (*self.proposal).clone();
            for f in 0..self.edited.files.len() {
                self.view.replace(f, &self.edited);
            }
        }
    }

    /// Returns whether there is one hunk to decide.
    pub fn has_one_hunk(&self) -> bool {
        self.choices.total() == 1
    }

    /// Returns the words for a proposal that is decided later.
    fn left_open(&self) -> String {
        let (count, open) = self.choices.count();
        let all = open + count.accepted + count.rejected;
        match open {
            0 => say::stays_pending().to_string(),
            _ => say::stays_undecided(&open, &all),
        }
    }

    /// Sends the decision if nothing was rejected: a reason is asked for by Enter alone.
    fn finish_accepting(&mut self) -> Vec<PaneEffect> {
        let (count, open) = self.choices.count();
        if count.rejected == 0 && open == 0 { self.send("") } else { Vec::new() }
    }

    /// Returns whether the decision is whole, but for the reason of what is rejected: a comment on a hunk is its reason.
    pub fn lacks_reason(&self) -> bool {
        let is_open = |at: &(usize, usize)| {
            self.choices.standing(at.0, at.1) == Standing::Rejected && self.view.comment(*at).is_none()
        };
        self.choices.count().1 == 0 && self.view.hunks().any(|at| is_open(&at))
    }

    /// Sends the decision; if something was rejected, asks for the reason first.
    fn finish(&mut self) -> Vec<PaneEffect> {
        if !self.lacks_reason() {
            return self.send("");
        }
        let prompt = if self.choices.count().0.rejected == 1 { say::why_one() } else { say::why_many() };
        vec![PaneEffect::Line { purpose: LineFor::Reason, prompt: prompt.into(), text: String::new() }]
    }

    /// Writes once every hunk is decided; until then it goes to the next that is not.
    fn write(&mut self) -> Vec<PaneEffect> {
        let (f, h) = self.view.focus().unwrap_or_default();
        match self.choices.next_undecided(f, h) {
            Some(next) => {
                self.view.set_focus(next);
                Vec::new()
            }
            None => {
                self.reverts = false;
                self.finish()
            }
        }
    }

    /// Sends the decision with the reason of what is rejected; empty: none.
    pub fn send(&mut self, reason: &str) -> Vec<PaneEffect> {
        self.stage = Stage::Sent;
        let mut decision = self.choices.decision(&self.proposal);
        decision.reason = Some(reason.to_string()).filter(|given| !given.is_empty());
        decision.comments = self.comments();
        decision.for_session = self.for_session;
        vec![PaneEffect::send(Command::Decide(self.proposal.id, decision))]
    }

    /// Tells the agent, once, that the person decides about it.
    fn begin(&mut self, action: Action) -> Vec<PaneEffect> {
        let decides = matches!(
            action,
            Action::Accept | Action::AcceptDefinition | Action::Reject | Action::Toggle | Action::EditResult
        );
        match decides && !self.is_restore() && !std::mem::replace(&mut self.began, true) {
            true => vec![PaneEffect::send(Command::Reviewing(self.proposal.id))],
            false => Vec::new(),
        }
    }

    /// Undoes a part of what the session changed: the hunk in focus, or the file whose head is; all that the call
    /// changed which made it; all that its turn changed.
    pub fn undo_part(&self, action: Action) -> Vec<PaneEffect> {
        let Some((f, h)) = self.view.focus() else { return Vec::new() };
        let Some(file) = self.proposal.files.get(f) else { return Vec::new() };
        let path = file.path.clone();
        let lines = file.hunks.get(h).filter(|_| !self.view.on_head).map(|hunk| hunk.after.clone());
        let request = match action {
            Action::UndoCall => RestoreRequest::Origin { path, lines, turn: false },
            Action::UndoTurn => RestoreRequest::Origin { path, lines, turn: true },
            _ => {
                let then = if self.view.on_head { file.before.clone() } else { super::choices::without(file, h) };
                RestoreRequest::State { path, now: Box::new(file.after.clone()), then: Box::new(then) }
            }
        };
        vec![PaneEffect::send(Command::Restore(request))]
    }

    /// Opens what the file in focus would become in an editor.
    fn edit_result(&mut self) -> Option<Vec<PaneEffect>> {
        let (file, text) = self.result()?;
        let purpose = EditFor::Result(self.proposal.id, file);
        let name = self.edited.files[file].path.clone();
        let edit = PaneEffect::Run(Effect::Edit { purpose, text: text.to_vec(), name });
        Some(self.begin(Action::EditResult).into_iter().chain([edit]).collect())
    }

    /// Returns the text that `e` opens: what the file in focus would become.
    pub fn result(&self) -> Option<(usize, Arc<[u8]>)> {
        let (f, _) = self.view.focus()?;
        Some((f, self.edited.files.get(f).filter(|file| !file.restores_repository())?.after.bytes()?.clone()))
    }
}

/// Handles the keys that decide; `None`: it is none of them.
pub(super) fn decide(page: &mut DiffPage, action: Action) -> Option<Vec<PaneEffect>> {
    let armed = std::mem::take(&mut page.armed);
    if matches!(
        action,
        Action::Accept
            | Action::AcceptDefinition
            | Action::Reject
            | Action::Toggle
            | Action::AcceptAll
            | Action::RejectAll
    ) {
        page.remember();
    }
    match action {
        Action::Accept => {
            page.decide(Choice::Accept);
            // There is nothing else to decide.
            if page.has_one_hunk() {
                return Some(page.finish_accepting());
            }
        }
        Action::AcceptDefinition => return Some(page.accept_definition()),
        Action::Reject => page.decide(Choice::Reject),
        Action::Toggle => page.toggle(),
        Action::AcceptAll => {
            page.choices.accept_rest();
            return Some(page.finish_accepting());
        }
        // What a restore writes says nothing of later edits.
        Action::AcceptSession if page.is_restore() => {}
        Action::AcceptSession if !armed => {
            page.armed = true;
            return Some(vec![PaneEffect::Say(say::approve_again().into())]);
        }
        Action::AcceptSession => return Some(page.accept_for_session()),
        Action::UndoDecision => page.undo_decision(),
        Action::Test => return Some(page.run_test()),
        Action::Comment => {
            // The line opens where nobody is asked, too: words typed behind `c` decide nothing.
            let prompt = if page.asks { say::ask_about_hunk() } else { say::nobody_to_ask() }.to_string();
            let text = page.view.focus().and_then(|at| page.view.comment(at)).unwrap_or_default();
            return Some(vec![PaneEffect::Line { purpose: LineFor::Comment, prompt, text }]);
        }
        Action::RejectAll => {
            page.refuse_all();
            page.reverts = true;
            return Some(page.finish());
        }
        Action::Write => return Some(page.write()),
        Action::Later => {
            return Some(vec![PaneEffect::FocusInput, PaneEffect::Say(page.left_open())]);
        }
        Action::EditResult => return page.edit_result(),
        // What waits is not in the file yet.
        Action::Blame => return Some(blamed(page.view.line_in_focus(|hunk| &hunk.before))),
        _ => return None,
    }
    Some(page.begin(action))
}

/// Shows who wrote a line of a file and those around it.
fn blamed(line: Option<(String, usize)>) -> Vec<PaneEffect> {
    line.map(|(path, at)| PaneEffect::Blame(path, at)).into_iter().collect()
}

/// Handles the keys that only look.
pub(in crate::tui) fn look_around(view: &mut View, action: Action) -> Vec<PaneEffect> {
    match action {
        action if view.scroll_by(action) => {}
        Action::NextHunk | Action::PreviousHunk => {
            let by = if action == Action::NextHunk { 1 } else { -1 };
            if let Some(at) = view.hunk_by(by) {
                view.set_focus(at);
            }
        }
        Action::NextFile | Action::PreviousFile => {
            let by = if action == Action::NextFile { 1 } else { -1 };
            if let Some(at) = view.file_by(by) {
                view.set_focus(at);
            }
        }
        Action::Layout => view.switch_layout(),
        Action::Blame => return blamed(view.line_in_focus(|hunk| &hunk.after)),
        Action::Fold => view.switch_folds(),
        Action::FoldAll => view.switch_shut(),
        Action::WrapLines => view.switch_wrap(),
        Action::Search => {
            let text = view.words.clone();
            return vec![PaneEffect::Line { purpose: LineFor::Search, prompt: say::search().into(), text }];
        }
        Action::NextMatch | Action::PreviousMatch => {
            let words = view.words.clone();
            if !view.search_on(action == Action::NextMatch) {
                return vec![PaneEffect::Say(say::not_in_diff(&words))];
            }
        }
        Action::Copy => {
            if let Some(text) = view.copy() {
                return vec![PaneEffect::Run(Effect::Copy(text)), PaneEffect::Say(say::hunk_copied().into())];
            }
        }
        _ => {}
    }
    Vec::new()
}

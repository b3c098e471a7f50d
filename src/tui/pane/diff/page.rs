//! A proposal with the decisions so far, and what the keys do to it.

use std::sync::Arc;

use super::choices::{Choices, Standing};
use super::rows::Heads;
use super::view::View;
use crate::proposal::{Choice, Proposal};
use crate::protocol::Command;
use crate::tui::action::Action;
use crate::tui::app::{EditFor, Effect, LineFor, PaneEffect};

/// What is shown.
#[derive(Debug)]
pub(super) struct Page {
    /// As it came.
    pub proposal: Arc<Proposal>,
    /// With the person's edits, as it is shown.
    pub edited: Proposal,
    pub view: View,
    pub choices: Choices,
    pub stage: Stage,
    for_session: bool,
}

/// How far a proposal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// It waits for decisions.
    Open,
    /// The decision was sent; it is being written.
    Sent,
    /// It was settled, in this word.
    Settled(&'static str),
    /// No proposal: two states beside each other.
    Plain,
}

impl Page {
    pub fn new(proposal: Arc<Proposal>, stage: Stage) -> Self {
        let view = View::new(&proposal, Heads::All);
        let choices = Choices::of(&proposal);
        Page { edited: (*proposal).clone(), proposal, view, choices, stage, for_session: false }
    }

    pub fn is_open(&self) -> bool {
        self.stage == Stage::Open
    }

    pub fn decided(&self) -> Option<&Choices> {
        (self.stage != Stage::Plain).then_some(&self.choices)
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

    pub fn set(&mut self, f: usize, h: usize, choice: Choice) {
        if self.choices.set(f, h, choice) {
            self.edited.files[f] = self.proposal.files[f].clone();
            self.view.replace(f, &self.edited);
        }
    }

    fn toggle(&mut self) {
        let Some((f, h)) = self.view.focus() else { return };
        let choice = match self.choices.standing(f, h) {
            Standing::Accepted | Standing::Edited => Choice::Reject,
            Standing::Undecided | Standing::Rejected => Choice::Accept,
        };
        self.set(f, h, choice);
    }

    /// Sends the decision; if something was refused, asks for the reason first.
    fn finish(&mut self) -> Vec<PaneEffect> {
        let (count, _) = self.choices.count();
        if count.rejected == 0 {
            return self.send(None);
        }
        let prompt = if count.rejected == 1 { "why was it rejected?" } else { "why were they rejected?" };
        vec![PaneEffect::Line { purpose: LineFor::Reason, prompt: prompt.into(), text: String::new() }]
    }

    pub fn send(&mut self, reason: Option<String>) -> Vec<PaneEffect> {
        self.stage = Stage::Sent;
        let decision = self.choices.decision(reason, self.for_session);
        vec![PaneEffect::send(Command::Decide(self.proposal.id, decision))]
    }

    /// The text that `e` opens: what the file in focus would become.
    pub fn result(&self) -> Option<(usize, Arc<[u8]>)> {
        let (f, _) = self.view.focus()?;
        Some((f, self.edited.files.get(f)?.after.bytes()?.clone()))
    }
}

/// The keys that decide; `None`: it is none of them.
pub(super) fn decide(page: &mut Page, action: Action) -> Option<Vec<PaneEffect>> {
    match action {
        Action::Accept => page.decide(Choice::Accept),
        Action::Reject => page.decide(Choice::Reject),
        Action::Toggle => page.toggle(),
        Action::AcceptAll => {
            page.choices.fill(Choice::Accept);
            return Some(page.finish());
        }
        Action::AcceptSession => {
            page.for_session = true;
            page.choices.fill(Choice::Accept);
            return Some(page.finish());
        }
        Action::RejectAll => {
            page.choices.refuse_all();
            if page.edited != *page.proposal {
                page.edited = (*page.proposal).clone();
                for f in 0..page.edited.files.len() {
                    page.view.replace(f, &page.edited);
                }
            }
            return Some(page.finish());
        }
        Action::Write => {
            let (f, h) = page.view.focus().unwrap_or_default();
            match page.choices.next_undecided(f, h) {
                Some(next) => page.view.set_focus(next),
                None => return Some(page.finish()),
            }
        }
        Action::Later => {
            let (count, open) = page.choices.count();
            let all = open + count.accepted + count.rejected;
            let words = match open {
                0 => "the proposal stays pending; nothing is written".to_string(),
                _ => format!("the proposal stays pending, {open} of {all} undecided; nothing is written"),
            };
            return Some(vec![PaneEffect::FocusInput, PaneEffect::Say(words)]);
        }
        Action::EditResult => {
            let (file, text) = page.result()?;
            let purpose = EditFor::Result(page.proposal.id, file);
            let name = page.edited.files[file].path.clone();
            return Some(vec![PaneEffect::Run(Effect::Edit { purpose, text: text.to_vec(), name })]);
        }
        _ => return None,
    }
    Some(Vec::new())
}

/// The keys that only look.
pub(super) fn look_around(view: &mut View, action: Action) -> Vec<PaneEffect> {
    let half = view.half_page();
    match action {
        Action::Up => view.scroll(-1),
        Action::Down => view.scroll(1),
        Action::HalfUp => view.scroll(-half),
        Action::HalfDown => view.scroll(half),
        Action::PageUp => view.scroll(-2 * half),
        Action::PageDown => view.scroll(2 * half),
        Action::First => view.scroll_to(false),
        Action::Last => view.scroll_to(true),
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
        Action::Fold => view.switch_folds(),
        Action::WrapLines => view.switch_wrap(),
        Action::Search => {
            let text = view.words.clone();
            return vec![PaneEffect::Line { purpose: LineFor::Search, prompt: "search in the diff".into(), text }];
        }
        Action::NextMatch | Action::PreviousMatch => {
            let words = view.words.clone();
            if !view.search_on(action == Action::NextMatch) {
                return vec![PaneEffect::Say(format!("{words} is not in this diff"))];
            }
        }
        Action::Copy => {
            if let Some(text) = view.copy() {
                return vec![PaneEffect::Run(Effect::Copy(text)), PaneEffect::Say("the hunk is copied".into())];
            }
        }
        _ => {}
    }
    Vec::new()
}

//! The requests that wait for the person, and the rule by which one takes the keys by itself: never while the input
//! holds text, nor within two seconds of the last typed character. Until then a banner above the input tells of it.

use super::{App, At, Attention, Effect, Line, Screen};
use crate::messages::{app as say, card};
use crate::protocol::{Question, QuestionId};
use crate::tui::input::question::Asking;
use crate::tui::pane::id::PaneId;

/// The milliseconds after the last typed character within which nothing takes the keys by itself.
pub(super) const QUIET: i64 = 2000;
/// Milliseconds without a key before what took the keys by itself obeys them.
pub(super) const PAUSE: i64 = 400;

impl App {
    /// Returns what waits for the person.
    pub(in crate::tui) fn attention(&self) -> Option<Attention> {
        if let Some(waiting) = self.panes.diff.waiting() {
            return Some(Attention::Proposal(waiting.id));
        }
        let restore = self.panes.archive.waiting().map(Attention::Restore);
        restore.or_else(|| self.questions.first().map(|q| Attention::Question(q.question.id)))
    }

    /// Returns what waits while the keys go elsewhere: a banner tells of it.
    pub(in crate::tui) fn banner(&self) -> Option<Attention> {
        self.attention().filter(|what| !self.has_keys(*what))
    }

    /// Letters decide now: the keys go to a proposal or to the files of a restore, not to a line or a popup.
    pub(in crate::tui) fn is_reviewing(&self) -> bool {
        self.line.is_none()
            && self.popups.is_empty()
            && self.attention().is_some_and(|what| what.proposal().is_some() && self.has_keys(what))
    }

    /// Returns whether this waits still, if behind others.
    fn is_waiting(&self, what: Attention) -> bool {
        match what {
            Attention::Question(id) => self.questions.iter().any(|asking| asking.question.id == id),
            what => self.attention() == Some(what),
        }
    }

    fn has_keys(&self, what: Attention) -> bool {
        let at = self.layout.at;
        // Another screen lies over the panes.
        matches!(self.screen, Screen::Main)
            && match what {
                Attention::Proposal(_) => at == At::Pane && self.layout.pane == PaneId::Diff,
                Attention::Restore(_) => at == At::Pane && self.layout.pane == PaneId::Archive,
                Attention::Question(_) => matches!(at, At::Question | At::Answer),
            }
    }

    /// Returns whether the person asked for it.
    fn is_own(&self, what: Attention) -> bool {
        what.proposal().is_some_and(|id| self.guard.own == Some(id))
    }

    fn may_take_keys(&self, what: Attention) -> bool {
        matches!(self.screen, Screen::Main | Screen::Start(_))
            && self.is_free()
            && (self.is_own(what) || self.quiet_at() <= self.now)
    }

    /// Returns whether nothing is typed, and nothing stands over the screen.
    fn is_free(&self) -> bool {
        self.popups.is_empty() && self.line.is_none() && self.composer.input.is_empty()
    }

    /// Returns when typing has paused for long enough.
    fn quiet_at(&self) -> i64 {
        self.guard.last_typed.map_or(i64::MIN, |at| at + QUIET)
    }

    /// Returns when something that waits may take the keys by itself, if nothing is typed until then.
    pub(super) fn takes_keys_at(&self) -> Option<i64> {
        let comes = self.guard.unseen || !self.session.commit.written.is_empty();
        let waits = comes && self.composer.input.is_empty();
        waits.then(|| self.quiet_at()).filter(|at| *at > self.now)
    }

    /// Sees what waits now, and gives it the keys if it may have them. Ends every message; `by_itself`: that of the agent.
    pub(super) fn attend(&mut self, by_itself: bool) -> Vec<Effect> {
        let (before, waits) = (self.guard.waited, self.attention());
        let mut effects = Vec::new();
        let is_over = self.line.as_ref().and_then(|line| line.about).is_some_and(|what| !self.is_waiting(what));
        let line = self.line.take_if(|_| is_over);
        if waits != before {
            self.guard.waited = waits;
            effects.extend(self.attention_changed(before, waits, by_itself));
        }
        if let Some(line) = line {
            self.keep_words(&line);
            self.guard.unseen |= waits != before && waits.is_some();
        }
        if let Some(what) = waits.filter(|what| self.guard.unseen && self.may_take_keys(*what)) {
            // Who asked for it in a pane means it with the next key.
            self.guard.guarded = !(self.is_own(what) && self.layout.at == At::Pane);
            self.guard.last_key = self.now;
            self.keyboard.chords.clear();
            self.give_keys(what);
        }
        let idle = self.guard.last_typed <= self.session.commit.asked || self.quiet_at() <= self.now;
        if waits.is_none() && self.popups.is_empty() && idle {
            self.show_commit_message();
        }
        effects
    }

    /// Opens the commit message that waits, if there is one. Its keys decide once none has come for a moment.
    fn show_commit_message(&mut self) {
        if !(self.is_free() && matches!(self.screen, Screen::Main | Screen::Start(_))) {
            return;
        }
        if let Some(message) = self.session.commit.written.pop_front() {
            self.guard_keys();
            self.keyboard.chords.clear();
            self.open_commit(message);
        }
    }

    fn attention_changed(
        &mut self,
        before: Option<Attention>,
        waits: Option<Attention>,
        by_itself: bool,
    ) -> Vec<Effect> {
        let proposal = waits.and_then(Attention::proposal);
        let had_keys = self.guard.before.is_some() || self.layout.pane == PaneId::Diff && self.layout.at == At::Pane;
        if before.and_then(Attention::proposal).is_some() && proposal.is_none() && had_keys {
            if by_itself && self.layout.at == At::Pane {
                self.guard_keys();
            }
            self.leave_proposal();
        }
        self.guard.unseen = waits.is_some();
        let Some(what) = waits else { return Vec::new() };
        if matches!(what, Attention::Proposal(_)) && !self.is_own(what) {
            let why = self.panes.chat.last_words();
            self.panes.diff.explain(&why);
        }
        if self.has_keys(what) {
            // The next of several: keys meant for the one before it are dropped.
            self.guard.unseen = false;
            let is_next = !self.is_own(what) && before.and_then(Attention::proposal) != proposal;
            self.guard.guarded = is_next || self.is_guarded();
            self.guard.last_key = self.now;
        }
        match what {
            Attention::Proposal(_) if !self.is_own(what) => vec![Effect::Bell(say::proposal_waits().into())],
            _ => Vec::new(),
        }
    }

    /// Takes in a question. A command that was judged anew takes the place of its card.
    pub(super) fn add_question(&mut self, question: Question) -> Vec<Effect> {
        if let Some(asking) = self.questions.iter_mut().find(|asking| asking.question.id == question.id) {
            *asking = Asking::new(question);
            // Keys meant for the card before it are dropped.
            if self.layout.at == At::Question {
                self.guard_keys();
                self.say = None;
            }
            return Vec::new();
        }
        let waited = self.attention().is_some();
        // Those that wait together come in any order; the one that is read stays.
        let waiting = self.questions.get(1..).unwrap_or_default();
        let before = waiting.partition_point(|asking| asking.question.id < question.id);
        self.questions.insert((before + 1).min(self.questions.len()), Asking::new(question));
        // Who was called for what waits already is not called again.
        if waited { Vec::new() } else { vec![Effect::Bell(say::nebula_asks().into())] }
    }

    /// Takes in that a question waits no more.
    pub(super) fn question_answered(&mut self, id: QuestionId) {
        let open = self.questions.first().filter(|q| q.question.id == id).map(|q| q.is_answered);
        self.questions.retain(|q| q.question.id != id);
        self.say.take_if(|said| said == card::judged_again());
        if let Some(is_answered) = open.filter(|_| matches!(self.layout.at, At::Question | At::Answer)) {
            self.layout.at = At::Input;
            if !is_answered {
                self.guard_keys();
            }
        }
    }

    /// Puts what was typed about something that waits no more into the input, behind a draft. Enter sends nothing until
    /// typing has paused.
    pub(super) fn keep_words(&mut self, line: &Line) {
        let (typed, draft) = (line.editor.expanded(), self.composer.input.expanded());
        match (typed.is_empty() || typed == line.begun, draft.is_empty()) {
            (true, _) => {}
            (false, true) => self.composer.input.set(&typed),
            (false, false) => self.composer.input.set(&format!("{draft}\n{typed}")),
        }
        self.layout.at = At::Input;
        self.guard_keys();
    }

    /// Notes that the keys go elsewhere, by nobody's choice: Enter and Esc do nothing there until typing has paused.
    pub(super) fn guard_keys(&mut self) {
        (self.guard.guarded, self.guard.last_key) = (true, self.now);
    }

    /// Gives the keys to what waits.
    pub(super) fn give_keys(&mut self, what: Attention) {
        self.guard.unseen = false;
        self.composer.completion = None;
        if what.proposal().is_some() && self.guard.before.is_none() {
            self.guard.before = Some((self.layout.at, self.layout.pane, self.layout.zoom));
        }
        match what {
            Attention::Proposal(_) => self.go_to(PaneId::Diff),
            Attention::Restore(_) => self.go_to(PaneId::Archive),
            Attention::Question(_) => {
                self.show_screen(Screen::Main);
                match self.question().is_some_and(|q| !q.choices().is_empty()) {
                    true => self.go_to_choices(),
                    false => self.layout.at = At::Answer,
                }
            }
        }
    }

    /// Gives the keys to the choices of the question. What was selected before an answer was begun counts no more.
    pub(super) fn go_to_choices(&mut self) {
        let has_draft = !self.composer.input.is_empty();
        let was_writing = has_draft && self.layout.at == At::Answer;
        if let Some(asking) = self.questions.first_mut() {
            if was_writing {
                asking.forget_selection();
            }
            asking.show(has_draft);
        }
        self.layout.at = At::Question;
    }

    /// Returns whether what waits took the keys by itself and typing has not paused since: nothing decides now.
    pub(super) fn is_guarded(&self) -> bool {
        self.guard.guarded && self.now - self.guard.last_key < PAUSE
    }

    /// Puts the keys back where they went before a proposal took them.
    pub(super) fn leave_proposal(&mut self) {
        let (at, pane, zoom) = self.guard.before.take().unwrap_or((At::Input, PaneId::Chat, false));
        self.layout.at = if at == At::Pane && pane != PaneId::Diff { At::Pane } else { At::Input };
        // The panes that a proposal takes: its own, and the archive for the files of a restore.
        if matches!(self.layout.pane, PaneId::Diff | PaneId::Archive) {
            self.layout.pane = if pane == PaneId::Diff { PaneId::Chat } else { pane };
            self.layout.zoom = zoom && self.layout.pane == pane;
        }
    }
}

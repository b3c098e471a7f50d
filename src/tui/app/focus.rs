//! The owner of the keys: the popup on top, else a line that was asked for, else what the person chose; and which keys
//! do something there.

use super::{App, At, Attention, Focus, LineFor, Owner, Screen};
use crate::protocol::Approval;
use crate::tui::action::{Action, Context};
use crate::tui::input::question::Asking;
use crate::tui::pane::id::PaneId;

impl App {
    /// Returns who has the keys.
    pub fn focus(&self) -> Focus {
        if !self.popups.is_empty() {
            return Focus::Popup;
        }
        self.focus_below()
    }

    /// Returns who has the keys when no popup is open.
    pub(in crate::tui) fn focus_below(&self) -> Focus {
        if self.line.is_some() {
            return Focus::Line;
        }
        match (&self.screen, self.layout.at) {
            (Screen::Sessions(_), _) | (Screen::Start(_), At::Pane) => Focus::Sessions,
            (Screen::Review(_), _) => Focus::Review,
            (Screen::Graph(_), _) => Focus::Graph,
            (Screen::Past(_), _) => Focus::Past,
            (Screen::Start(_), _) if self.lacks_model() => Focus::NoModel,
            (Screen::Start(_), _) => Focus::Input,
            (Screen::Main, At::Question) if self.question().is_some() => Focus::Question,
            (Screen::Main, At::Pane) => Focus::Pane(self.layout.pane),
            (Screen::Main, _) => Focus::Input,
        }
    }

    /// Returns whether a pane has the keys, or the line in which words for it are typed.
    pub(in crate::tui) fn searches(&self, pane: PaneId) -> bool {
        let typed = self.line.as_ref().is_some_and(|line| line.owner == Owner::Pane(pane));
        typed || self.focus() == Focus::Pane(pane)
    }

    /// Returns `2 of 7`, while the line that is typed looks for words.
    pub(in crate::tui) fn search_hits(&self) -> Option<String> {
        let line = self.line.as_ref().filter(|line| matches!(line.purpose, LineFor::Search | LineFor::Filter))?;
        match (line.owner, &self.screen) {
            (Owner::Pane(id), _) => self.panes.search_hits(id),
            (_, Screen::Sessions(sessions) | Screen::Start(sessions)) => sessions.search_hits(),
            _ => None,
        }
    }

    /// Returns where keys are looked up.
    pub fn context(&self) -> Context {
        match self.popups.last() {
            Some(popup) => popup.context(),
            None => self.context_below(),
        }
    }

    /// Returns where keys are looked up when no popup is open.
    pub(in crate::tui) fn context_below(&self) -> Context {
        match self.focus_below() {
            Focus::Popup => Context::Global,
            Focus::Line => Context::Line,
            Focus::Input if self.composer.completion.is_some() => Context::Completion,
            Focus::Input => Context::Input,
            Focus::Question if self.card().is_some() => Context::Card,
            Focus::Question => Context::Question,
            Focus::Pane(id) => id.context(),
            Focus::Sessions => Context::Sessions,
            Focus::NoModel => Context::NoModel,
            Focus::Review => Context::Review,
            Focus::Graph => Context::Graph,
            Focus::Past => match &self.screen {
                Screen::Past(past) => past.context(),
                _ => Context::Global,
            },
        }
    }

    /// Returns the question that is open.
    pub(in crate::tui) fn question(&self) -> Option<&Asking> {
        self.questions.first()
    }

    /// Returns whether what is written answers the question.
    pub(in crate::tui) fn is_answering(&self) -> bool {
        self.layout.at == At::Answer && self.question().is_some()
    }

    /// Returns the question, while it has the keys: it stands above the input then.
    pub(in crate::tui) fn open_question(&self) -> Option<&Asking> {
        self.question().filter(|_| matches!(self.layout.at, At::Question | At::Answer))
    }

    /// Returns whether the next press of the key that leads back closes what fills the body.
    pub(in crate::tui) fn closes_screen(&self) -> bool {
        match &self.screen {
            Screen::Review(review) => !review.is_in_diff(),
            Screen::Graph(graph) => !graph.is_in_detail() && !graph.is_confirming(),
            Screen::Past(past) => !past.is_in_diff(),
            _ => false,
        }
    }

    /// Returns whether letters decide about what is open: a command, or a call of one that waits.
    pub(in crate::tui) fn letters_decide(&self) -> bool {
        self.open_question().is_some_and(|asking| asking.question.card.is_some() || asking.question.hold.is_some())
    }

    /// Returns whether what runs stands still until the person has decided: the call of a job, or of a command of the
    /// person's, holds up that command alone.
    pub(in crate::tui) fn is_held_up(&self) -> bool {
        let is_beside = |asking: &Asking| {
            asking.question.hold.as_ref().is_some_and(|hold| self.panes.tools.runs_beside(&hold.command))
        };
        match self.attention() {
            Some(Attention::Question(_)) => !self.is_busy() || !self.questions.iter().all(is_beside),
            what => what.is_some(),
        }
    }

    /// Returns whether nothing can be sent: no model is connected, and nothing says that one will be.
    pub(in crate::tui) fn lacks_model(&self) -> bool {
        self.session.status.model.is_none() && (self.session.id.is_some() || self.session.expects_none)
    }

    /// Returns whether a turn runs, or is about to.
    pub(in crate::tui) fn is_busy(&self) -> bool {
        self.session.turn.is_some() || self.session.starting
    }

    /// Returns whether a turn or a command of the person's own runs.
    pub(super) fn is_running(&self) -> bool {
        self.is_busy() || self.panes.tools.own_command().is_some()
    }

    /// Returns whether an action takes its key where the keys go: one that decides leaves it to what is around while
    /// nothing waits.
    pub(in crate::tui) fn takes_key(&self, action: Action) -> bool {
        match self.focus_below() {
            Focus::Pane(id) => self.panes.offers(id, action) || !id.context().decides(action),
            _ => true,
        }
    }

    /// Returns whether the key of the diff opens anything: what waits, what the session changed, or the last diff.
    pub(in crate::tui) fn opens_diff(&self) -> bool {
        self.panes.diff.has_diff() || self.panes.waiting().is_some()
    }

    /// Returns whether an action would do something in the present state, for the hints.
    pub(in crate::tui) fn offers(&self, context: Context, action: Action) -> bool {
        match (self.focus_below(), context) {
            // Further edits are approved already.
            (Focus::Pane(PaneId::Diff), Context::Diff) if action == Action::AcceptSession => {
                matches!(self.session.status.approval, Approval::Ask | Approval::None)
                    && self.panes.offers(PaneId::Diff, action)
            }
            (Focus::Pane(id), context) if context == id.context() => self.panes.offers(id, action),
            (Focus::Pane(id), Context::Pane) => match action {
                Action::Zoom | Action::Commands | Action::Help => true,
                Action::Narrower | Action::Wider => self.rects.rule.is_some(),
                action => self.panes.offers(id, action),
            },
            (Focus::Sessions, Context::Sessions) => match (&self.screen, action) {
                (_, Action::Close) => true,
                (Screen::Sessions(sessions) | Screen::Start(sessions), action) => sessions.offers(action),
                _ => false,
            },
            (Focus::Input, Context::Input) => match action {
                Action::Sessions => matches!(&self.screen, Screen::Start(sessions) if sessions.count() > 0),
                Action::History => matches!(self.screen, Screen::Start(_)),
                Action::Send => !self.composer.input.is_empty(),
                Action::Commands => self.composer.input.is_empty(),
                Action::Editor => !self.composer.input.is_empty(),
                _ => true,
            },
            (Focus::Review, Context::Review) => {
                matches!(&self.screen, Screen::Review(review) if review.offers(action))
            }
            (Focus::Graph, Context::Graph) => {
                matches!(&self.screen, Screen::Graph(graph) if graph.offers(action))
            }
            (Focus::Past, Context::Timeline | Context::Blame) => {
                matches!(&self.screen, Screen::Past(past) if past.offers(action))
            }
            (Focus::Graph, Context::Global) => {
                action == Action::Help && matches!(&self.screen, Screen::Graph(graph) if !graph.is_confirming())
            }
            (Focus::Review | Focus::Past, Context::Global) => action == Action::Help,
            (Focus::Popup | Focus::Line, Context::Global) => false,
            (Focus::Sessions | Focus::NoModel, Context::Global) => action == Action::Help,
            (Focus::Question, Context::Card) => {
                action == Action::Help || self.card().is_some_and(|(card, state)| state.offers(card, action))
            }
            (Focus::Question, Context::Question) if action == Action::FocusInput => {
                self.question().is_some_and(Asking::takes_words)
            }
            (Focus::Question, Context::Question) if matches!(action, Action::PageUp | Action::PageDown) => {
                self.question().is_some_and(|asking| asking.text.offers(action))
            }
            (Focus::Question, Context::Global) => action == Action::Help,
            (Focus::Input | Focus::Pane(_), Context::Global) if action == Action::FocusDiff && !self.opens_diff() => {
                false
            }
            (Focus::Pane(PaneId::Diff), Context::Global) if self.panes.diff.waiting().is_some() => {
                action == Action::Help
            }
            _ => true,
        }
    }
}

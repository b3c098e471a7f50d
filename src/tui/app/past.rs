//! The screens of the past: the timeline, and who wrote a file.

use super::{App, Effect, Owner, Screen};
use crate::messages::past as say;
use crate::protocol::Query;
use crate::tui::action::Action;
use crate::tui::pane::id::PaneId;
use crate::tui::past::{Blame, Past, PastOutcome, Timeline};

impl App {
    /// Opens the timeline at a changeset; none: at the beginning of the newest turn.
    pub(super) fn open_timeline(&mut self, changeset: Option<String>) -> Vec<Effect> {
        self.open_past(Past::Timeline(Timeline::opening_at(changeset)), Query::Timeline)
    }

    /// Opens the timeline at a time, or at the newest changeset with these words.
    pub(super) fn open_timeline_at(&mut self, words: &str) -> Vec<Effect> {
        let timeline = Timeline::opening_at(None).looking_for(words);
        self.open_past(Past::Timeline(timeline), Query::Timeline)
    }

    /// Opens the authors of a file.
    pub(super) fn open_blame(&mut self, path: &str) -> Vec<Effect> {
        self.open_past(Past::Blame(Blame::of(path)), Query::Blame(path.into()))
    }

    fn open_past(&mut self, past: Past, query: Query) -> Vec<Effect> {
        if matches!(self.screen, Screen::Start(_)) {
            self.leave_start();
        }
        self.screen = Screen::Past(Box::new(past));
        vec![self.ask(Owner::Past, query)]
    }

    /// Does an action in a view of the past.
    pub(super) fn act_past(&mut self, action: Action) -> Vec<Effect> {
        let Screen::Past(past) = &mut self.screen else { return Vec::new() };
        if !past.offers(action) {
            return if action == Action::NextPane { Vec::new() } else { self.act_global(action) };
        }
        let effects = match past.act(action) {
            PastOutcome::Stay(effects) => effects,
            PastOutcome::Leave(effects) => {
                self.screen = Screen::Main;
                effects
            }
        };
        self.route_effects(Owner::Past, effects)
    }

    /// Shows a turn in the chat, where it is one of the open session.
    pub(super) fn show_turn(&mut self, session: &str, prompt: &str) {
        let is_open = self.session.id.as_deref() == Some(session);
        if is_open && self.panes.chat.show_message(prompt) {
            self.screen = Screen::Main;
            self.go_to(PaneId::Chat);
        } else {
            self.say = Some(say::other_session().into());
        }
    }
}

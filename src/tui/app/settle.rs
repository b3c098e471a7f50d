//! Effects that concern the screen itself are done here; the others go on to `run`.

use super::{App, At, Effect, Exit, Line, LineFor, Owner, Screen, Typed};
use crate::protocol::{Command, Query, QueryId};
use crate::tui::action::{Action, Context};
use crate::tui::input::Editor;
use crate::tui::pane::PaneId;
use crate::tui::text::number::thousands;

impl App {
    /// Asks the agent for a listing on behalf of `owner`.
    pub(super) fn ask(&mut self, owner: Owner, query: Query) -> Effect {
        let id = QueryId(self.next_query);
        self.next_query += 1;
        self.asked.insert(id, (owner, query.clone()));
        Effect::Send(Command::Ask(id, query))
    }

    /// Asks for several listings.
    pub(super) fn ask_all(&mut self, owner: Owner, queries: Vec<Query>) -> Vec<Effect> {
        queries.into_iter().map(|q| self.ask(owner, q)).collect()
    }

    /// Does what `owner` wants done here, and returns the rest.
    pub(super) fn settle(&mut self, owner: Owner, effects: Vec<Effect>) -> Vec<Effect> {
        let mut rest = Vec::new();
        for effect in effects {
            match effect {
                Effect::Ask(query) => rest.push(self.ask(owner, query)),
                // Without a turn there is no model to be told why: the person decides of their own restore.
                Effect::Line { purpose: LineFor::Reason, .. } if !self.is_busy() => {
                    let done = self.panes.line(PaneId::Diff, LineFor::Reason, Typed::Taken(""), self.now);
                    rest.extend(self.settle(owner, done));
                }
                Effect::ShowChange(path) => {
                    if self.panes.diff.show_change(&path) {
                        self.go_to(PaneId::Diff);
                    } else {
                        let key = self.keys.word_or("F2", Context::Chat, Action::FocusDiff);
                        self.say = Some(format!("what changed in {path} is not at hand now; {key} shows the proposal"));
                    }
                }
                Effect::Line { purpose, prompt, text } => {
                    self.line = Some(Line { owner, purpose, prompt, editor: Editor::with(&text) });
                }
                Effect::Focus(id) => self.go_to(id),
                Effect::FocusInput => self.go_to_input(),
                Effect::Do(action) => rest.extend(self.act_global(action)),
                Effect::Say(words) => self.say = Some(words),
                Effect::Copy(text) => {
                    self.say = Some(match text.lines().count() {
                        0 | 1 => "copied".to_string(),
                        n => format!("copied {} lines", thousands(n)),
                    });
                    rest.push(Effect::Copy(text));
                }
                Effect::Send(command) => rest.extend(self.send(command)),
                other => rest.push(other),
            }
        }
        rest
    }

    /// Sends a command; what begins a turn is remembered until the turn begins.
    pub(super) fn send(&mut self, command: Command) -> Vec<Effect> {
        if matches!(command, Command::Submit(_) | Command::GoOn(_)) {
            self.starting = true;
            self.ended = None;
            self.panes.chat.let_go();
        }
        vec![Effect::Send(command)]
    }

    /// Shows a pane and gives it the keys.
    pub(super) fn go_to(&mut self, id: PaneId) {
        if let Screen::Sessions(_, true) | Screen::Welcome(_) = self.screen {
            self.screen = Screen::Main;
        }
        if id != self.pane {
            self.zoom = false;
        }
        self.pane = id;
        self.at = At::Pane;
    }

    /// Gives the keys to the input. A full diff stays in sight.
    pub(super) fn go_to_input(&mut self) {
        self.at = At::Input;
    }

    /// Leaves for good.
    pub(super) fn quit(&mut self, exit: Exit) -> Vec<Effect> {
        vec![Effect::Send(Command::Shutdown), Effect::Quit(exit)]
    }

    /// Whether the next pane after the one in focus is the input.
    pub(in crate::tui) fn goes_to_input(&self) -> bool {
        self.panes_around().last() == Some(&self.pane)
    }

    /// Goes round: the input, the panes in sight, the input again.
    pub(super) fn next_pane(&mut self) {
        if self.question().is_some_and(|q| !q.choices().is_empty()) && self.at == At::Input {
            self.at = At::Question;
            return;
        }
        let waits = self.panes.diff.waiting().is_some();
        let narrow = self.rects.tabs || self.rects.rule.is_none();
        let order = self.panes_around();
        let here = order.iter().position(|id| *id == self.pane);
        match (self.at, here) {
            (At::Input, _) => {
                // In tabs the one that is open comes first.
                let first = if narrow { self.pane } else { order.first().copied().unwrap_or(self.pane) };
                self.pane = first;
                self.at = At::Pane;
            }
            (_, Some(i)) if i + 1 < order.len() => self.pane = order[i + 1],
            _ => self.at = At::Input,
        }
        if narrow && self.at == At::Input && !self.zoom && !waits {
            self.pane = PaneId::Chat;
        }
    }

    /// The panes that are gone round, in order.
    fn panes_around(&self) -> Vec<PaneId> {
        let waits = self.panes.diff.waiting().is_some();
        let narrow = self.rects.tabs || self.rects.rule.is_none();
        let order: &[PaneId] = match () {
            () if waits && self.pane == PaneId::Diff => &[PaneId::Diff],
            () if self.zoom || self.pane == PaneId::Diff && !narrow => &[self.pane],
            () if narrow => &PaneId::ALL,
            () => &[PaneId::Chat, PaneId::Tools, PaneId::Archive],
        };
        let seen = |id: &PaneId| narrow || waits || self.rects.place(*id).is_some();
        order.iter().copied().filter(seen).collect()
    }

    /// Does an action that is the same everywhere.
    pub(super) fn act_global(&mut self, action: Action) -> Vec<Effect> {
        match action {
            Action::Help => self.open_help(),
            Action::NextPane => self.next_pane(),
            Action::FocusChat => self.toggle(PaneId::Chat),
            Action::FocusTools => self.toggle(PaneId::Tools),
            Action::FocusDiff => self.toggle(PaneId::Diff),
            Action::FocusArchive => self.toggle(PaneId::Archive),
            Action::FocusInput => self.go_to_input(),
            Action::ToggleMode => return self.toggle_mode(),
            Action::Palette | Action::Commands => self.open_palette("/"),
            Action::ChooseModel => return self.open_models(),
            Action::Cancel => return self.cancel(),
            Action::Escape => return self.escape(),
            Action::Suspend => return vec![Effect::Suspend],
            Action::Redraw => return vec![Effect::Redraw],
            Action::Quit => return self.quit(Exit::Done),
            Action::Zoom => self.zoom = !self.zoom,
            Action::Narrower | Action::Wider => {
                let now = crate::tui::layout::right_width(self.size.0, self.right);
                let next = if action == Action::Narrower { now + 4 } else { now.saturating_sub(4) };
                self.right = Some(crate::tui::layout::right_width(self.size.0, Some(next)));
            }
            Action::Lower | Action::Higher => {
                if let Some(now) = self.rects.low() {
                    self.low = Some(if action == Action::Higher { now + 2 } else { now.saturating_sub(2) });
                }
            }
            _ => {}
        }
        Vec::new()
    }

    /// A pane's key shows it; pressed again in it, the keys go back to the input.
    fn toggle(&mut self, id: PaneId) {
        if self.at == At::Pane && self.pane == id && matches!(self.screen, Screen::Main) {
            self.at = At::Input;
            if id == PaneId::Diff {
                self.pane = PaneId::Chat;
            }
        } else {
            let hidden = self.rects.rule.is_some() && self.rects.place(id).is_none() && id != PaneId::Diff;
            self.go_to(id);
            // A pane that has no room beside the others gets all of it.
            self.zoom |= hidden;
        }
    }
}

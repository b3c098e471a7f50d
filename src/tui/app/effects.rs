//! The effects of panes and lists on the screen are applied here; those that leave the program go on to `run`.

use super::{App, At, Attention, Effect, Exit, Line, LineFor, LineInput, Owner, PaneEffect, Screen, Work};
use crate::messages::records::localized;
use crate::messages::{app as say, count, diff};
use crate::protocol::{Command, Query, QueryId};
use crate::text::number::thousands;
use crate::tui::action::{Action, Context};
use crate::tui::pane::id::PaneId;

impl App {
    /// Asks the agent for a listing on behalf of `owner`.
    pub(super) fn ask(&mut self, owner: Owner, query: Query) -> Effect {
        // A list of definitions takes the place of the one before, which stops.
        if matches!(query, Query::Graph { .. }) {
            self.queries.pending.retain(|_, (_, earlier)| !matches!(earlier, Query::Graph { .. }));
        }
        let id = QueryId(self.queries.next);
        self.queries.next += 1;
        self.queries.pending.insert(id, (owner, query.clone()));
        Effect::Send(Command::Ask(id, query))
    }

    /// Asks for several listings.
    pub(super) fn ask_all(&mut self, owner: Owner, queries: Vec<Query>) -> Vec<Effect> {
        queries.into_iter().map(|q| self.ask(owner, q)).collect()
    }

    /// Does what `owner` wants of the screen, and returns what leaves the program.
    pub(super) fn route_effects(&mut self, owner: Owner, effects: Vec<PaneEffect>) -> Vec<Effect> {
        effects.into_iter().flat_map(|effect| self.route_effect(owner, effect)).collect()
    }

    fn route_effect(&mut self, owner: Owner, effect: PaneEffect) -> Vec<Effect> {
        match effect {
            PaneEffect::Run(effect) => return self.run_effect(effect),
            PaneEffect::Ask(query) => return vec![self.ask(owner, query)],
            PaneEffect::Do(action) => return self.act_global(action),
            // Without a turn there is no model to be told why: the person decides of their own restore.
            PaneEffect::Line { purpose: LineFor::Reason, .. }
                if !self.is_busy() && owner == Owner::Pane(PaneId::Diff) =>
            {
                let done = self.panes.line(PaneId::Diff, LineFor::Reason, LineInput::Taken(""), self.now);
                return self.route_effects(owner, done);
            }
            PaneEffect::Line { purpose, prompt, text } => {
                let is_about = owner == Owner::Pane(PaneId::Diff) && purpose != LineFor::Search;
                let waiting = self.panes.diff.waiting().filter(|_| is_about);
                let about = waiting.map(|waiting| Attention::Proposal(waiting.id));
                self.line = Some(Line::new(owner, purpose, prompt, text, about));
            }
            PaneEffect::ShowChange(path) => self.show_change(&path),
            PaneEffect::Blame(path, line) => return self.open_blame(&path, line),
            PaneEffect::Timeline(changeset) => return self.open_timeline(changeset),
            PaneEffect::Turn { session, at } => return self.show_turn(session, at),
            PaneEffect::Focus(id) => self.go_to(id),
            PaneEffect::FocusInput => self.go_to_input(),
            PaneEffect::Say(words) => self.say = Some(words),
        }
        Vec::new()
    }

    /// Returns what the screen itself has to do with an effect that leaves the program.
    fn run_effect(&mut self, effect: Effect) -> Vec<Effect> {
        if let Effect::Send(command) = effect {
            return self.send(command);
        }
        if let Effect::Copy(text) = &effect {
            self.say = Some(match text.lines().count() {
                0 | 1 => say::copied().to_string(),
                n => say::copied_lines(&thousands(n)),
            });
        }
        vec![effect]
    }

    fn show_change(&mut self, path: &str) {
        if self.panes.diff.show_change(path) {
            self.go_to(PaneId::Diff);
        } else {
            let key = self.keyboard.keys.word_or("F2", Context::Chat, Action::FocusDiff);
            self.say = Some(say::change_gone(&path, &key));
        }
    }

    /// Sends a command; what begins a turn is remembered until the turn begins. Another session is opened only once the
    /// person was told of the turn that ends with this one.
    pub(super) fn send(&mut self, command: Command) -> Vec<Effect> {
        if matches!(command, Command::Open(_)) && self.names_turn() {
            return Vec::new();
        }
        if matches!(command, Command::Submit(_) | Command::Continue(_)) {
            self.leave_start();
            (self.session.starting, self.session.spoke) = (true, true);
            self.session.ended = None;
            (self.keyboard.quit_named, self.keyboard.leave_named) = (Work::default(), None);
            self.panes.chat.release_standing();
        }
        vec![Effect::Send(command)]
    }

    /// Names the turn that would end with this session; false: there is none, or it was named before.
    fn names_turn(&mut self) -> bool {
        let turn = self.work().turn;
        if turn.is_none() || std::mem::replace(&mut self.keyboard.leave_named, turn) == turn {
            return false;
        }
        let waits = self.panes.diff.waiting().is_some();
        self.say = Some(if waits { say::leaving_drops_proposal() } else { say::leaving_ends_turn() }.into());
        true
    }

    /// Goes from the first screen to the conversation, never back.
    pub(super) fn leave_start(&mut self) {
        self.left_start = None;
        if matches!(self.screen, Screen::Start(_)) {
            self.screen = Screen::Main;
        }
    }

    /// Shows a pane and gives it the keys.
    pub(super) fn go_to(&mut self, id: PaneId) {
        self.open_screen(Screen::Main);
        if id != self.layout.pane {
            self.layout.zoom = false;
        }
        self.layout.pane = id;
        self.layout.at = At::Pane;
    }

    /// Gives the keys to the input. A full diff stays in sight.
    fn go_to_input(&mut self) {
        self.layout.at = At::Input;
    }

    /// Quits the program, unless work would end of which the person was not told: then it is named.
    pub(super) fn quit_or_ask(&mut self) -> Vec<Effect> {
        let work = self.work();
        if std::mem::replace(&mut self.keyboard.quit_named, work).covers(work) {
            return self.quit(Exit::Done);
        }
        self.say = self.names(work, say::quit_again());
        Vec::new()
    }

    /// Returns the work that quitting would end.
    fn work(&self) -> Work {
        let turn = self.is_busy().then(|| self.session.turn.map_or(0, |turn| turn.started));
        let drafts = turn.is_none() && self.is_working();
        let unsaved = self.session.spoke && self.session.status.in_ram.is_some();
        Work { turn, drafts, jobs: self.session.status.jobs, unsaved }
    }

    /// Returns what quitting would end, and what ends it; none: it would end nothing.
    fn names(&self, work: Work, how: &str) -> Option<String> {
        let turn = work.turn.map(|_| say::turn_running(&how));
        let draft = || work.drafts.then(|| say::draft_running(&how));
        let jobs = (work.jobs > 0).then(|| say::jobs_end(work.jobs));
        let why = self.session.status.in_ram.as_deref().filter(|_| work.unsaved);
        let unsaved = why.map(|why| say::not_saved_quits(&localized(why), &how));
        let named: Vec<String> = unsaved.into_iter().chain(turn.or_else(draft)).chain(jobs).collect();
        (!named.is_empty()).then(|| named.join(&format!(" {} ", self.appearance.glyphs.dot)))
    }

    /// Says what quitting would end; the next Ctrl-C quits.
    pub(super) fn name_what_runs(&mut self) {
        self.keyboard.quit_armed = true;
        let key = self.keyboard.keys.display(Context::Global, Action::Cancel);
        self.say = key.map(|key| {
            let again = say::key_again(&key);
            self.names(self.work(), &again).unwrap_or_else(|| say::again_quits(&key))
        });
    }

    /// Quits the program.
    pub(super) fn quit(&mut self, exit: Exit) -> Vec<Effect> {
        let kept = self.keep_unsent(true);
        kept.into_iter().chain([Effect::Send(Command::Shutdown), Effect::Quit(exit)]).collect()
    }

    /// Stores what is queued, where that has changed; `all`: also the text that is being written.
    pub(in crate::tui) fn keep_unsent(&mut self, all: bool) -> Option<Effect> {
        let id = self.session.id.as_ref()?;
        let unsent = self.composer.to_keep(all)?;
        Some(Effect::Send(Command::KeepUnsent(id.clone(), unsent)))
    }

    /// Returns whether the next pane after the one in focus is the input.
    pub(in crate::tui) fn goes_to_input(&self) -> bool {
        self.panes_around().last() == Some(&self.layout.pane)
    }

    /// Goes round: the input, the panes in sight, the input again.
    pub(super) fn next_pane(&mut self) {
        let waits = self.panes.diff.waiting().is_some();
        let narrow = self.rects.tabs || self.rects.rule.is_none();
        let order = self.panes_around();
        let here = order.iter().position(|id| *id == self.layout.pane);
        match (self.layout.at, here) {
            (At::Input | At::Answer, _) => {
                // In tabs the one that is open comes first.
                let first = if narrow { self.layout.pane } else { order.first().copied().unwrap_or(self.layout.pane) };
                self.layout.pane = first;
                self.layout.at = At::Pane;
            }
            (_, Some(i)) if i + 1 < order.len() => self.layout.pane = order[i + 1],
            _ => self.layout.at = At::Input,
        }
        if narrow && self.layout.at == At::Input && !self.layout.zoom && !waits {
            self.layout.pane = PaneId::Chat;
        }
    }

    /// Returns the panes that are gone round, in order.
    fn panes_around(&self) -> Vec<PaneId> {
        let waits = self.panes.diff.waiting().is_some();
        let narrow = self.rects.tabs || self.rects.rule.is_none();
        let order: Vec<PaneId> = match () {
            () if self.layout.zoom || self.layout.pane == PaneId::Diff && (waits || !narrow) => vec![self.layout.pane],
            () if narrow => PaneId::ALL.to_vec(),
            // A proposal has no place beside the others.
            () => PaneId::ALL.iter().copied().filter(|id| *id != PaneId::Diff).collect(),
        };
        let seen = |id: &PaneId| narrow || waits || self.rects.place(*id).is_some();
        order.into_iter().filter(seen).collect()
    }

    /// Does an action that is the same everywhere.
    pub(super) fn act_global(&mut self, action: Action) -> Vec<Effect> {
        match action {
            Action::Help => self.open_help(),
            Action::NextPane => self.next_pane(),
            Action::FocusDiff => self.show_review(),
            Action::FocusQuestion => self.show_question(),
            Action::FocusReview => return self.open_review(),
            Action::FocusTimeline => return self.open_timeline(None),
            Action::FocusGraph => return self.open_graph(),
            Action::FocusInput => self.go_to_input(),
            Action::ToggleMode => return self.toggle_mode(),
            Action::Palette | Action::Commands => self.open_palette("/"),
            Action::ChooseModel => return self.open_models(),
            Action::Cancel => return self.cancel(),
            Action::Escape => return self.escape(),
            Action::Suspend => return vec![Effect::Suspend],
            Action::Redraw => return vec![Effect::Redraw],
            Action::Quit => return self.quit_or_ask(),
            Action::Zoom => self.layout.zoom = !self.layout.zoom,
            Action::Narrower | Action::Wider => {
                let now = crate::tui::layout::right_width(self.size.0, self.layout.right);
                let next = if action == Action::Narrower { now + 4 } else { now.saturating_sub(4) };
                self.layout.right = Some(crate::tui::layout::right_width(self.size.0, Some(next)));
            }
            Action::Lower | Action::Higher => {
                if let Some(now) = self.rects.low() {
                    self.layout.low = Some(if action == Action::Higher { now + 2 } else { now.saturating_sub(2) });
                }
            }
            _ => PaneId::pane_of(action).into_iter().for_each(|id| self.show_pane(id)),
        }
        Vec::new()
    }

    /// Shows a pane by its key, and stays there.
    fn show_pane(&mut self, id: PaneId) {
        if self.layout.at == At::Pane && self.layout.pane == id && matches!(self.screen, Screen::Main) {
            return;
        }
        let hidden = self.rects.rule.is_some() && self.rects.place(id).is_none() && id != PaneId::Diff;
        self.go_to(id);
        // A pane that has no room beside the others gets all of it.
        self.layout.zoom |= hidden;
    }

    /// Returns how many definitions of the Strand store the session has changed.
    pub(in crate::tui) fn changed_definitions(&self) -> usize {
        self.session.id.as_deref().map_or(0, |id| self.panes.archive.definitions_of(id))
    }

    /// Shows what waits to be reviewed, else the last diff.
    fn show_review(&mut self) {
        match self.attention() {
            Some(what @ (Attention::Proposal(_) | Attention::Restore(_))) => self.give_keys(what),
            _ => {
                self.panes.diff.show_session();
                if self.panes.diff.is_empty() {
                    let key = |key, action| self.keyboard.keys.word_or(key, self.context_below(), action);
                    self.say = Some(match self.changed_definitions() {
                        _ if !self.questions.is_empty() => diff::waits_elsewhere(&key("F6", Action::FocusQuestion)),
                        0 => diff::nothing_proposed().into(),
                        n => diff::only_definitions(&count::definitions(n), &key("F3", Action::FocusArchive)),
                    });
                } else {
                    self.show_pane(PaneId::Diff);
                }
            }
        }
    }

    /// Gives the keys to the question that waits.
    fn show_question(&mut self) {
        match self.questions.first() {
            Some(asking) => self.give_keys(Attention::Question(asking.question.id)),
            None => self.say = Some(say::no_question().into()),
        }
    }
}

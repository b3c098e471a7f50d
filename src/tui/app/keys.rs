//! A key on its way: the popup on top, else the line, the question, the pane or the input; then what is the same
//! everywhere.

use crossterm::event::{KeyEvent, KeyEventKind};

use super::attention::QUIET;
use super::{App, At, Attention, EditFor, Effect, Exit, Focus, Owner, Screen};
use crate::context::mention;
use crate::messages::app as say;
use crate::protocol::{Command, Continuation, Prompt, TurnEnd};
use crate::tui::action::{Action, Context};
use crate::tui::input::question::Asking;
use crate::tui::keys::{Chord, KeyMatch};
use crate::tui::pane::id::PaneId;
use crate::tui::popup::Popup;
use crate::tui::popup::list::ListKind;

impl App {
    /// Handles a key press.
    pub(super) fn key(&mut self, key: &KeyEvent) -> Vec<Effect> {
        if key.kind == KeyEventKind::Release {
            return Vec::new();
        }
        let Some(chord) = Chord::of(key) else { return Vec::new() };
        let guarded = self.is_guarded();
        self.guard.guarded = guarded;
        (self.guard.last_key, self.guard.last_typed) = (self.now, Some(self.now));
        // Stopping is never an accident worth guarding against.
        let stops = self.keyboard.keys.find(Context::Global, &[chord]) == KeyMatch::Action(Action::Cancel);
        let decides = matches!(self.focus(), Focus::Pane(PaneId::Diff | PaneId::Archive) | Focus::Question)
            || matches!(self.popups.last(), Some(Popup::List(list)) if matches!(list.kind, ListKind::Commit(_)));
        if guarded && !stops && (decides || self.layout.at == At::Answer) {
            return Vec::new();
        }
        self.say = None;
        let armed = std::mem::take(&mut self.keyboard.quit_armed);
        self.keyboard.chords.push(chord);
        let context = self.context();
        let offered = |action| !self.popups.is_empty() || self.takes_key(action);
        let found = self.keyboard.keys.find_offered(context, &self.keyboard.chords, offered);
        if found != KeyMatch::Action(Action::Open) && self.refuses_conflict() {
            self.keyboard.chords.clear();
            return Vec::new();
        }
        let action = match found {
            KeyMatch::Begun => {
                self.keyboard.quit_armed = armed;
                return Vec::new();
            }
            KeyMatch::Action(action) => Some(action),
            KeyMatch::Nothing => None,
        };
        let single = self.keyboard.chords.len() == 1;
        let written = single && self.writes_into_input(chord);
        let action = action.filter(|_| !written);
        self.keyboard.chords.clear();
        if action != Some(Action::Escape) {
            self.keyboard.drop_named = None;
        }
        // Nothing that a key would do can be seen.
        if self.rects.tiny && !self.leaves(action) {
            return Vec::new();
        }
        if action == Some(Action::Cancel) && armed {
            return self.quit(Exit::Done);
        }
        match action {
            // Meant for what had the keys before, and is gone.
            Some(Action::Send | Action::Escape) if guarded => Vec::new(),
            Some(action) => self.act(context, action),
            None if single => chord.letter().map_or(Vec::new(), |c| self.letter(c)),
            None => Vec::new(),
        }
    }

    /// Returns whether a letter has nothing to act on where the keys go, and is the beginning of a message.
    fn writes_into_input(&self, chord: Chord) -> bool {
        let idle = self.focus() == Focus::Pane(PaneId::Diff) && self.panes.diff.is_empty();
        idle && chord.letter().is_some_and(char::is_alphanumeric)
    }

    /// Returns whether an action gives up or stops something, and decides nothing.
    fn leaves(&self, action: Option<Action>) -> bool {
        match action {
            Some(Action::Cancel | Action::Later | Action::Close | Action::Suspend | Action::Redraw) => true,
            // It would drop a proposal, and the question before cannot be read.
            Some(Action::Escape) => self.panes.diff.waiting().is_none(),
            _ => false,
        }
    }

    /// Does an action where the keys go.
    fn act(&mut self, context: Context, action: Action) -> Vec<Effect> {
        if matches!(action, Action::Cancel | Action::Suspend | Action::Redraw) {
            return self.act_global(action);
        }
        match self.focus() {
            Focus::Popup if context == Context::Form && action == Action::Help => self.act_global(action),
            Focus::Popup => self.in_popup(|popup| popup.act(action)),
            Focus::Line => self.act_line(action),
            Focus::Question => self.act_question(action),
            Focus::Sessions => self.act_sessions(action),
            Focus::NoModel => self.act_no_model(action),
            Focus::Review => self.act_review(action),
            Focus::Graph => self.act_graph(action),
            Focus::Past => self.act_past(action),
            Focus::Input if context == Context::Completion => self.act_completion(action),
            Focus::Input => self.act_input(action),
            Focus::Pane(id) => self.act_pane(id, action),
        }
    }

    /// Types a letter where the keys go.
    fn letter(&mut self, c: char) -> Vec<Effect> {
        match self.focus() {
            Focus::Popup => self.in_popup(|popup| popup.type_char(c)),
            Focus::Line => {
                if let Some(line) = &mut self.line {
                    line.editor.type_char(c);
                }
                self.line_typed()
            }
            // Letters decide about a command.
            Focus::Question if self.card().is_some() => Vec::new(),
            Focus::Question => match self.questions.first_mut().and_then(|asking| asking.select(c)) {
                Some(outcome) => self.question_said(outcome),
                // Letters decide about a call that waits.
                None if self.question().is_some_and(|asking| !asking.takes_words()) => Vec::new(),
                // Whoever begins to write answers in their own words.
                None => {
                    let mut effects = self.answer_later(At::Answer);
                    effects.extend(self.type_input(c));
                    effects
                }
            },
            Focus::Input => self.type_input(c),
            // Typing always writes into the prompt.
            Focus::Sessions => {
                self.close_sessions();
                self.layout.at = At::Input;
                self.type_input(c)
            }
            Focus::NoModel => {
                self.no_model.type_until(self.now + QUIET);
                Vec::new()
            }
            Focus::Pane(PaneId::Diff) if self.panes.diff.is_empty() => {
                self.layout.at = At::Input;
                self.type_input(c)
            }
            Focus::Pane(_) | Focus::Review | Focus::Graph | Focus::Past => Vec::new(),
        }
    }

    /// Goes from the prompt to the sessions below it.
    pub(super) fn go_to_sessions(&mut self) {
        if matches!(&self.screen, Screen::Start(sessions) if sessions.count() > 0) {
            self.layout.at = At::Pane;
        }
    }

    /// Closes the list of sessions over the one that is open.
    fn close_sessions(&mut self) {
        if matches!(self.screen, Screen::Sessions(_)) {
            self.screen = Screen::Main;
        }
    }

    fn type_input(&mut self, c: char) -> Vec<Effect> {
        if c == '/' && self.composer.input.is_empty() && !self.is_guarded() {
            self.open_palette("/");
            return Vec::new();
        }
        let gives_way = c == ':' || mention::closes(c) || matches!(c, '.' | '!' | '?');
        if gives_way && self.composer.spaced == Some(self.composer.input.caret()) {
            self.composer.input.act(Action::Backspace);
        }
        self.composer.spaced = None;
        self.composer.input.type_char(c);
        self.composer.history.leave();
        self.complete()
    }

    /// Handles a paste, which goes where letters go.
    pub(super) fn paste(&mut self, text: &str) -> Vec<Effect> {
        (self.say, self.keyboard.quit_armed) = (None, false);
        self.refuses_conflict();
        match self.focus() {
            Focus::Popup => self.in_popup(|popup| popup.paste(text)),
            Focus::Line => {
                if let Some(line) = &mut self.line {
                    line.editor.paste(&text.replace(['\r', '\n'], " "));
                }
                self.line_typed()
            }
            Focus::NoModel | Focus::Review | Focus::Graph | Focus::Past => Vec::new(),
            // A paste is meant for nebula, whichever pane has the keys.
            Focus::Input | Focus::Question | Focus::Pane(_) | Focus::Sessions => {
                self.close_sessions();
                self.guard.last_typed = Some(self.now);
                if self.layout.at != At::Answer {
                    self.layout.at = At::Input;
                }
                self.composer.input.paste(text);
                self.composer.history.leave();
                self.composer.completion = None;
                Vec::new()
            }
        }
    }

    pub(super) fn act_input(&mut self, action: Action) -> Vec<Effect> {
        if action == Action::NextPane
            && let Some(mention) = self.on_offer().map(mention::written)
            && let Some(offer) = self.composer.offer.take()
        {
            self.put_mention(offer.place, &format!("{mention} "));
            return Vec::new();
        }
        match action {
            Action::Send => return self.enter(),
            Action::Editor => {
                let text = self.composer.input.expanded().into_bytes();
                return vec![Effect::Edit { purpose: EditFor::Input, text, name: "message.md".into() }];
            }
            Action::History => self.open_history(),
            Action::DropQueued => {
                if self.composer.queue.drop_one() {
                    self.composer.input.clear();
                }
            }
            Action::Up if !self.composer.input.act(Action::Up) => {
                if self.composer.queue.is_editing() || self.composer.input.is_empty() && !self.composer.queue.is_empty()
                {
                    if let Some(text) = self.composer.queue.edit_older(&self.composer.input.expanded()) {
                        self.composer.input.set(&text);
                    }
                } else if let Some(text) = self.composer.history.older(&self.composer.input.expanded()) {
                    let text = text.to_string();
                    self.composer.input.set(&text);
                }
            }
            Action::Down if !self.composer.input.act(Action::Down) => {
                if let Some(text) = self.composer.queue.edit_newer(&self.composer.input.expanded()) {
                    self.composer.input.set(&text);
                } else if let Some(text) = self.composer.history.newer() {
                    let text = text.to_string();
                    self.composer.input.set(&text);
                } else {
                    self.go_to_sessions();
                }
            }
            Action::Sessions => self.go_to_sessions(),
            Action::Up | Action::Down => {}
            Action::PageUp | Action::PageDown => return self.page_above(action),
            action if self.composer.input.act(action) => {}
            action if is_editing(action) => {}
            action => return self.act_global(action),
        }
        self.complete()
    }

    /// Pages what is read above the input: the question that is answered, where that goes on, else the pane.
    fn page_above(&mut self, action: Action) -> Vec<Effect> {
        if self.is_answering()
            && let Some(asking) = self.questions.first_mut().filter(|asking| asking.text.offers(action))
        {
            asking.text.act(action);
            return Vec::new();
        }
        let id = match self.rects.rule.is_some() && !self.layout.zoom && self.layout.pane != PaneId::Diff {
            true => PaneId::Chat,
            false => self.layout.pane,
        };
        let effects = self.panes.act(id, action, self.now);
        self.route_effects(Owner::Pane(id), effects)
    }

    /// Handles Enter in the input.
    fn enter(&mut self) -> Vec<Effect> {
        let text = self.composer.input.expanded();
        if text.trim().is_empty() {
            self.composer.queue.release();
            return self.enter_empty();
        }
        if self.composer.queue.is_editing() && (self.is_busy() || self.composer.queue.is_held()) {
            self.composer.input.clear();
            self.composer.queue.push(text);
            return Vec::new();
        }
        self.composer.queue.release();
        if self.is_answering() && self.questions.first_mut().is_some_and(Asking::reads_on) {
            return Vec::new();
        }
        if text.trim() == "model" {
            self.composer.input.clear();
            return self.open_models();
        }
        if let Some(effects) = self.typed_command(text.trim()) {
            return effects;
        }
        self.composer.input.clear();
        self.composer.completion = None;
        self.composer.history.push(text.trim_end());
        if let Some(asking) = self.questions.first().filter(|_| self.layout.at == At::Answer) {
            return self.reply(asking.answer(text));
        }
        self.panes.chat.follow_end();
        if let Some(command) = own_command(&text) {
            self.leave_start();
            return vec![Effect::Send(command)];
        }
        if self.is_busy() {
            self.composer.queue.push(text);
            return Vec::new();
        }
        self.send(Command::Submit(Prompt { text }))
    }

    fn enter_empty(&mut self) -> Vec<Effect> {
        if self.session.retry.is_some() {
            return vec![Effect::Send(Command::SkipBackoff)];
        }
        if matches!(self.session.ended, Some(TurnEnd::Asking(_))) {
            self.panes.chat.follow_end();
            return self.send(Command::Continue(Continuation::Resume));
        }
        if self.composer.queue.is_held() && !self.is_busy() {
            self.panes.chat.follow_end();
            return self.send_queued();
        }
        if self.panes.chat.notice() && !self.is_busy() {
            let effects = self.panes.chat.take_notice(self.now);
            return self.route_effects(Owner::Pane(PaneId::Chat), effects);
        }
        if self.offers_plan() {
            return self.agent_mode();
        }
        Vec::new()
    }

    /// Sends the oldest queued message.
    pub(super) fn send_queued(&mut self) -> Vec<Effect> {
        match self.composer.queue.take() {
            Some(text) => self.send(Command::Submit(Prompt { text })),
            None => Vec::new(),
        }
    }

    fn act_pane(&mut self, id: PaneId, action: Action) -> Vec<Effect> {
        let effects = match action {
            Action::Later if id == PaneId::Diff => {
                let effects = self.panes.act(id, action, self.now);
                let rest = self.route_effects(Owner::Pane(id), effects);
                if self.panes.diff.waiting().is_some() {
                    self.leave_proposal();
                    // The banner says what waits, and how to come back.
                    let is_told = matches!(self.banner(), Some(Attention::Proposal(_)));
                    let words = || match self.keyboard.keys.word(self.context_below(), Action::FocusDiff) {
                        Some(key) => say::shows_proposal(&key),
                        None => say::proposal_waits_on().into(),
                    };
                    self.say = (!is_told).then(words);
                } else {
                    return [rest, self.escape()].concat();
                }
                return rest;
            }
            Action::Zoom
            | Action::Narrower
            | Action::Wider
            | Action::Lower
            | Action::Higher
            | Action::Commands
            | Action::FocusInput => {
                return self.act_global(action);
            }
            action if self.panes.offers(id, action) => self.panes.act(id, action, self.now),
            action => return self.act_global(action),
        };
        self.route_effects(Owner::Pane(id), effects)
    }

    /// Handles Ctrl-C: clears the input, or names the turn that runs; a second one quits.
    pub(super) fn cancel(&mut self) -> Vec<Effect> {
        self.name_what_runs();
        let running = self.is_working();
        if !self.popups.is_empty() {
            return self.close_popup();
        }
        if self.line.is_some() {
            return self.act_line(Action::Close);
        }
        if !running && !self.composer.input.is_empty() {
            self.composer.input.clear();
            self.composer.queue.release();
            self.composer.completion = None;
        }
        Vec::new()
    }

    /// Returns whether nebula works for the person: on a turn, a pause between tries or a commit message.
    pub(super) fn is_working(&self) -> bool {
        self.is_busy() || self.session.retry.is_some() || self.session.commit.is_writing
    }

    /// Goes back to the first screen from what was looked at before anything was said; `None`: that is not so, or
    /// something waits.
    pub(super) fn back_to_start(&mut self) -> Option<Vec<Effect>> {
        let is_free = self.attention().is_none();
        let sessions = self.left_start.take_if(|_| is_free)?;
        let query = sessions.ask();
        (self.layout.zoom, self.layout.at, self.layout.pane) = (false, At::Input, PaneId::Chat);
        self.screen = Screen::Start(sessions);
        Some(vec![self.ask(Owner::Sessions, query)])
    }

    /// Handles Esc where nothing nearer takes it: one level back, in the end to the input; from there it interrupts.
    pub(super) fn escape(&mut self) -> Vec<Effect> {
        if let Some(effects) = self.back_to_start() {
            return effects;
        }
        match self.layout.at {
            At::Pane if self.layout.zoom => self.layout.zoom = false,
            At::Pane => {
                self.layout.at = At::Input;
                if self.layout.pane == PaneId::Diff || self.rects.tabs {
                    self.layout.pane = PaneId::Chat;
                }
            }
            At::Answer if self.question().is_some_and(|q| !q.choices().is_empty()) => self.go_to_choices(),
            At::Answer | At::Question => self.layout.at = At::Input,
            At::Input if self.is_working() => return self.interrupt(),
            At::Input if self.composer.input.is_empty() => return self.stop_own(),
            At::Input => {}
        }
        Vec::new()
    }
}

impl App {
    /// Stops the person's own command, if one runs.
    fn stop_own(&self) -> Vec<Effect> {
        let own = self.panes.tools.own_command().map(|own| Command::StopCommand(own.id.to_string()));
        own.map(Effect::Send).into_iter().collect()
    }

    /// Interrupts the turn. A proposal that waits goes with it, which the person is told first.
    fn interrupt(&mut self) -> Vec<Effect> {
        let waits = self.panes.diff.waiting().map(|waiting| waiting.id).filter(|_| self.is_busy());
        if waits.is_some() && std::mem::replace(&mut self.keyboard.drop_named, waits) != waits {
            let key = self.keyboard.keys.word_or("Esc", Context::Input, Action::Escape);
            self.say = Some(say::drops_proposal(&key));
            return Vec::new();
        }
        vec![Effect::Send(Command::Interrupt)]
    }
}

/// Returns the command of the person's own that a text is: `!COMMAND`, `!!COMMAND` whose output goes along with the next
/// message, or `!!` for the output of the one that ended last.
fn own_command(text: &str) -> Option<Command> {
    let rest = text.strip_prefix('!')?;
    let command = |text: &str| Some(text.trim().to_string()).filter(|text| !text.is_empty());
    match rest.strip_prefix('!') {
        Some(told) => Some(Command::RunForModel(command(told))),
        None => command(rest).map(Command::Run),
    }
}

/// Returns whether an action edits text, so that one without effect goes no further.
fn is_editing(action: Action) -> bool {
    matches!(
        action,
        Action::Left
            | Action::Right
            | Action::WordLeft
            | Action::WordRight
            | Action::LineStart
            | Action::LineEnd
            | Action::TextStart
            | Action::TextEnd
            | Action::Backspace
            | Action::Delete
            | Action::DeleteWordLeft
            | Action::DeleteWordRight
            | Action::DeleteToStart
            | Action::DeleteToEnd
            | Action::Yank
            | Action::UndoTyping
            | Action::RedoTyping
    )
}

//! A key on its way: the popup on top, else the line, the question, the pane or the input; then what is the same
//! everywhere.

use crossterm::event::{KeyEvent, KeyEventKind, KeyModifiers};

use super::{App, At, EditFor, Effect, Exit, Focus, Owner, PAUSE, Screen};
use crate::context::mention;
use crate::protocol::{Command, How, Prompt, TurnEnd};
use crate::tui::action::{Action, Context};
use crate::tui::keys::{Chord, Found};
use crate::tui::pane::PaneId;
use crate::tui::popup::welcome::Welcome;
use crate::tui::popup::{Popup, list};

impl App {
    /// A key, unless it is not known yet whom it is for: then it waits. Control keys do not.
    pub(super) fn key_or_hold(&mut self, key: KeyEvent) -> Vec<Effect> {
        match &mut self.keyboard.held {
            Some(held) if !key.modifiers.contains(KeyModifiers::CONTROL) => {
                held.push(key);
                Vec::new()
            }
            _ => self.key(&key),
        }
    }

    /// Gives the keys that waited to whoever has them now.
    pub(super) fn let_go(&mut self) -> Vec<Effect> {
        let held = self.keyboard.held.take().unwrap_or_default();
        let mut effects = if self.is_message(&held) { self.act_sessions(Action::New) } else { Vec::new() };
        effects.extend(held.iter().flat_map(|key| self.key(key)));
        effects
    }

    /// Whether somebody wrote a message before there was a list of sessions to see: its letters are no commands.
    fn is_message(&self, held: &[KeyEvent]) -> bool {
        let chords = held.iter().filter_map(Chord::of).filter(|chord| chord.letter().is_some());
        let moves = |chord: Chord| {
            matches!(self.keyboard.keys.find(Context::Sessions, &[chord]), Found::Action(Action::Up | Action::Down))
        };
        chords.filter(|chord| !moves(*chord)).count() > 2
    }

    /// A key went down.
    pub(super) fn key(&mut self, key: &KeyEvent) -> Vec<Effect> {
        if key.kind == KeyEventKind::Release {
            return Vec::new();
        }
        let Some(chord) = Chord::of(key) else { return Vec::new() };
        let paused = self.now - self.guard.last_key >= PAUSE;
        self.guard.last_key = self.now;
        if self.guard.guarded && paused {
            self.guard.guarded = false;
        }
        // Stopping is never an accident worth guarding against.
        let stops = self.keyboard.keys.find(Context::Global, &[chord]) == Found::Action(Action::Cancel);
        if self.guard.guarded
            && !stops
            && matches!(self.focus(), Focus::Pane(PaneId::Diff | PaneId::Archive) | Focus::Question)
        {
            // What was being written goes on into the input; nothing is decided by it.
            if let (true, Some(c)) = (self.guard.writing, chord.letter()) {
                self.composer.input.type_char(c);
            }
            return Vec::new();
        }
        self.say = None;
        let armed = std::mem::take(&mut self.keyboard.quit_armed);
        self.keyboard.chords.push(chord);
        let context = self.context();
        let action = match self.keyboard.keys.find(context, &self.keyboard.chords) {
            Found::Begun => {
                self.keyboard.quit_armed = armed;
                return Vec::new();
            }
            Found::Action(action) => Some(action),
            Found::Nothing => None,
        };
        let single = self.keyboard.chords.len() == 1;
        self.keyboard.chords.clear();
        if action == Some(Action::Cancel) && armed {
            return self.quit(Exit::Done);
        }
        match action {
            Some(action) => self.act(context, action),
            None if single => chord.letter().map_or(Vec::new(), |c| self.letter(c)),
            None => Vec::new(),
        }
    }

    /// Does an action where the keys go.
    fn act(&mut self, context: Context, action: Action) -> Vec<Effect> {
        if matches!(action, Action::Cancel | Action::Suspend | Action::Redraw) {
            return self.act_global(action);
        }
        match self.focus() {
            Focus::Popup => self.act_popup(action),
            Focus::Line => self.act_line(action),
            Focus::Question => self.act_question(action),
            Focus::Sessions => self.act_sessions(action),
            Focus::Welcome => self.act_welcome(action),
            Focus::Input if context == Context::Completion => self.act_completion(action),
            Focus::Input => self.act_input(action),
            Focus::Pane(id) => self.act_pane(id, action),
        }
    }

    /// Types a letter where the keys go.
    fn letter(&mut self, c: char) -> Vec<Effect> {
        match self.focus() {
            Focus::Popup => match self.popups.last_mut() {
                Some(Popup::List(list)) => {
                    let said = list.type_char(c);
                    self.list_said(said)
                }
                Some(Popup::Page(page)) => {
                    page.type_char(c);
                    Vec::new()
                }
                Some(Popup::Finder(finder)) => {
                    let said = finder.type_char(c);
                    self.finder_said(said)
                }
                None => Vec::new(),
            },
            Focus::Line => {
                if let Some(line) = &mut self.line {
                    line.editor.type_char(c);
                }
                self.line_typed()
            }
            Focus::Question => match self.questions.first_mut().and_then(|q| q.digit(c)) {
                Some(said) => self.question_said(said),
                // Whoever begins to write answers in their own words.
                None => {
                    self.layout.at = At::Input;
                    self.type_input(c)
                }
            },
            Focus::Input => self.type_input(c),
            _ => Vec::new(),
        }
    }

    fn type_input(&mut self, c: char) -> Vec<Effect> {
        if self.composer.input.is_empty() {
            match c {
                '/' => {
                    self.open_palette("/");
                    return Vec::new();
                }
                '?' => {
                    self.open_help();
                    return Vec::new();
                }
                _ => {}
            }
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

    /// A paste goes where letters go.
    pub(super) fn paste(&mut self, text: &str) -> Vec<Effect> {
        (self.say, self.keyboard.quit_armed) = (None, false);
        match self.focus() {
            Focus::Popup => match self.popups.last_mut() {
                Some(Popup::List(list)) => {
                    list.paste(text);
                    Vec::new()
                }
                Some(Popup::Finder(finder)) => {
                    let said = finder.paste(text);
                    self.finder_said(said)
                }
                _ => Vec::new(),
            },
            Focus::Line => {
                if let Some(line) = &mut self.line {
                    line.editor.paste(&text.replace(['\r', '\n'], " "));
                }
                self.line_typed()
            }
            // Before any session is open it begins a new one.
            Focus::Sessions if matches!(self.screen, Screen::Sessions(_, false)) => {
                let mut effects = self.act_sessions(Action::New);
                effects.extend(self.let_go());
                effects.extend(if self.focus() == Focus::Input { self.paste(text) } else { Vec::new() });
                effects
            }
            Focus::Sessions | Focus::Welcome => Vec::new(),
            // A paste is meant for nebula, whichever pane has the keys.
            Focus::Input | Focus::Question | Focus::Pane(_) => {
                if self.guard.guarded {
                    self.guard.last_key = self.now;
                } else {
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
                }
            }
            Action::Up | Action::Down => {}
            // Paging in the input moves the pane that is read.
            Action::PageUp | Action::PageDown => {
                let id = if self.rects.rule.is_some() && !self.layout.zoom && self.layout.pane != PaneId::Diff {
                    PaneId::Chat
                } else {
                    self.layout.pane
                };
                let effects = self.panes.act(id, action, self.now);
                return self.route_effects(Owner::Pane(id), effects);
            }
            action if self.composer.input.act(action) => {}
            action if is_editing(action) => {}
            action => return self.act_global(action),
        }
        self.complete()
    }

    /// Enter in the input.
    fn enter(&mut self) -> Vec<Effect> {
        let text = self.composer.input.expanded();
        if text.trim().is_empty() {
            self.composer.queue.let_go();
            return self.enter_empty();
        }
        if self.composer.queue.is_editing() && (self.is_busy() || self.composer.queue.is_held()) {
            self.composer.input.clear();
            self.composer.queue.push(text);
            return Vec::new();
        }
        self.composer.queue.let_go();
        if text.trim() == "model" {
            self.composer.input.clear();
            return self.open_models();
        }
        if let Some(effects) = self.typed_command(text.trim()) {
            self.composer.input.clear();
            return effects;
        }
        self.composer.input.clear();
        self.composer.completion = None;
        self.composer.history.push(text.trim_end());
        if let Some(asking) = self.questions.first() {
            return vec![Effect::Send(asking.answer(text))];
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
            return self.send(Command::GoOn(How::On));
        }
        if self.composer.queue.is_held() && !self.is_busy() {
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
                    self.say = Some(match self.keyboard.keys.word(self.context_below(), Action::FocusDiff) {
                        Some(key) => format!("the proposal waits; {key} shows it"),
                        None => "the proposal waits".into(),
                    });
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

    /// Puts the focus back where it was before a proposal took it.
    pub(super) fn leave_proposal(&mut self) {
        let (at, pane, zoom) = self.guard.before_proposal.take().unwrap_or((At::Input, PaneId::Chat, false));
        self.layout.at = if at == At::Pane && pane != PaneId::Diff { At::Pane } else { At::Input };
        // The panes that a proposal takes: its own, and the archive for the fates of a restore.
        if matches!(self.layout.pane, PaneId::Diff | PaneId::Archive) {
            self.layout.pane = if pane == PaneId::Diff { PaneId::Chat } else { pane };
            self.layout.zoom = zoom && self.layout.pane == pane;
        }
    }

    /// Ctrl-C: stops the turn, else clears the input; a second one quits.
    pub(super) fn cancel(&mut self) -> Vec<Effect> {
        self.keyboard.quit_armed = true;
        self.say = self.keyboard.keys.shown(Context::Global, Action::Cancel).map(|key| format!("{key} again quits"));
        if !self.popups.is_empty() {
            return self.list_said(list::Said::Close);
        }
        if self.line.is_some() {
            return self.act_line(Action::Close);
        }
        if self.is_busy() || self.session.retry.is_some() || self.session.drafting {
            return vec![Effect::Send(Command::Interrupt)];
        }
        if !self.composer.input.is_empty() {
            self.composer.input.clear();
            self.composer.queue.let_go();
            self.composer.completion = None;
        }
        Vec::new()
    }

    /// Esc where nothing nearer takes it.
    pub(super) fn escape(&mut self) -> Vec<Effect> {
        if std::mem::take(&mut self.layout.from_welcome) {
            self.layout.zoom = false;
            (self.layout.at, self.layout.pane) = (At::Input, PaneId::Chat);
            self.screen = Screen::Welcome(Welcome::default());
            return Vec::new();
        }
        if self.layout.zoom && self.layout.at == At::Pane {
            self.layout.zoom = false;
            return Vec::new();
        }
        if self.layout.at == At::Pane && !(self.is_busy() || self.session.retry.is_some()) {
            self.layout.at = At::Input;
            if self.layout.pane == PaneId::Diff || self.rects.tabs {
                self.layout.pane = PaneId::Chat;
            }
            return Vec::new();
        }
        if self.question().is_some() && !self.is_answering() {
            self.layout.at = At::Question;
            return Vec::new();
        }
        if self.is_busy() || self.session.retry.is_some() || self.session.drafting {
            return vec![Effect::Send(Command::Interrupt)];
        }
        Vec::new()
    }

    /// The person writes the answer to a question that was put off before.
    fn is_answering(&self) -> bool {
        self.questions.first().is_some_and(|q| q.later || q.choices().is_empty())
    }
}

/// Whether an action edits text, so that one without effect goes no further.
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

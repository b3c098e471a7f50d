//! Keys that go neither to a pane nor to the input: lines, questions, sessions, the choices without a model, popups.

use super::{App, At, Effect, Exit, LineFor, LineInput, Owner, Screen};
use crate::messages::{app as say, past};
use crate::protocol::{Command, Listing, Query, QueryId, SessionChoice};
use crate::tui::action::Action;
use crate::tui::graph::{GraphOutcome, GraphScreen};
use crate::tui::input::question::QuestionOutcome;
use crate::tui::pane::id::PaneId;
use crate::tui::past::{Blame, Past, PastOutcome};
use crate::tui::popup::connect::{Connect, ConnectOutcome};
use crate::tui::popup::finder::FinderOutcome;
use crate::tui::popup::list::{Entry, ListKind, ListOutcome};
use crate::tui::popup::no_model::NoModelOutcome;
use crate::tui::popup::page::PageOutcome;
use crate::tui::popup::sessions::SessionsOutcome;
use crate::tui::popup::{Popup, PopupOutcome};
use crate::tui::review::ReviewOutcome;

impl App {
    pub(super) fn act_line(&mut self, action: Action) -> Vec<Effect> {
        match action {
            Action::Send => {
                let Some(line) = self.line.take() else { return Vec::new() };
                let (text, reason) = (line.editor.expanded(), line.purpose == LineFor::Reason);
                let effects = self.hand_line(line.owner, line.purpose, LineInput::Taken(&text));
                // Letters decide again: none that was typed too long.
                if reason && self.is_reviewing() {
                    self.guard_keys();
                }
                effects
            }
            Action::NewLine if self.line.as_ref().is_some_and(|line| line.purpose == LineFor::Text) => {
                if let Some(line) = &mut self.line {
                    line.editor.act(action);
                }
                Vec::new()
            }
            Action::NewLine if self.line.as_ref().is_some_and(|line| line.purpose != LineFor::Comment) => Vec::new(),
            Action::NewLine => {
                let Some(line) = self.line.take() else { return Vec::new() };
                let text = line.editor.expanded();
                self.hand_line(line.owner, LineFor::Note, LineInput::Taken(&text))
            }
            Action::Close | Action::Escape => {
                let Some(line) = self.line.take() else { return Vec::new() };
                self.hand_line(line.owner, line.purpose, LineInput::Left)
            }
            action if PaneId::leads_away(action) => self.leave_line(action),
            action => {
                if let Some(line) = &mut self.line {
                    line.editor.act(action);
                }
                self.line_typed()
            }
        }
    }

    /// Goes elsewhere from a line. What was typed about something that waits is kept in the input.
    fn leave_line(&mut self, action: Action) -> Vec<Effect> {
        let Some(line) = self.line.take() else { return Vec::new() };
        if line.about.is_some() {
            self.keep_words(&line);
        }
        let mut effects = self.hand_line(line.owner, line.purpose, LineInput::Left);
        effects.extend(self.act_global(action));
        effects
    }

    pub(super) fn line_typed(&mut self) -> Vec<Effect> {
        let Some(line) = &self.line else { return Vec::new() };
        let (owner, purpose, text) = (line.owner, line.purpose.clone(), line.editor.expanded());
        self.hand_line(owner, purpose, LineInput::Now(&text))
    }

    fn hand_line(&mut self, owner: Owner, purpose: LineFor, typed: LineInput<'_>) -> Vec<Effect> {
        let effects = match owner {
            Owner::Pane(id) => self.panes.line(id, purpose, typed, self.now),
            Owner::Card => return self.card_line(&purpose, typed),
            Owner::Review => match &mut self.screen {
                Screen::Review(review) => {
                    let said = review.line(&purpose, typed);
                    return self.review_said(said);
                }
                _ => Vec::new(),
            },
            Owner::Graph => match &mut self.screen {
                Screen::Graph(graph) => graph.line(&purpose, typed),
                _ => Vec::new(),
            },
            Owner::Past => match &mut self.screen {
                Screen::Past(past) => past.line(&purpose, typed),
                _ => Vec::new(),
            },
            Owner::Sessions => match &mut self.screen {
                Screen::Sessions(sessions) | Screen::Start(sessions) => sessions.line(&purpose, typed),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        };
        self.route_effects(owner, effects)
    }

    pub(super) fn act_question(&mut self, action: Action) -> Vec<Effect> {
        if self.card().is_some() && action != Action::Help {
            return self.act_card(action).unwrap_or_default();
        }
        let Some(asking) = self.questions.first_mut() else { return Vec::new() };
        match action {
            Action::Up | Action::Down | Action::Answer | Action::FocusInput | Action::Later => {
                let said = asking.act(action);
                self.question_said(said)
            }
            Action::PageUp | Action::PageDown => {
                asking.act(action);
                Vec::new()
            }
            action => self.act_global(action),
        }
    }

    /// Sends the person's answer to the question that is open.
    pub(super) fn reply(&mut self, answer: Command) -> Vec<Effect> {
        self.questions.iter_mut().take(1).for_each(|asking| asking.is_answered = true);
        vec![Effect::Send(answer)]
    }

    pub(super) fn question_said(&mut self, said: QuestionOutcome) -> Vec<Effect> {
        match said {
            QuestionOutcome::Stay => Vec::new(),
            QuestionOutcome::Answer(command) => self.reply(command),
            QuestionOutcome::Write => self.answer_later(At::Answer),
            QuestionOutcome::Later => self.answer_later(At::Input),
        }
    }

    /// Goes from the choices of a question to the input. One that is answered after a time waits from then on.
    pub(super) fn answer_later(&mut self, at: At) -> Vec<Effect> {
        self.layout.at = at;
        let open = self.questions.first().map(|asking| &asking.question);
        let open = open.filter(|q| !q.permission && q.hold.is_none() && !q.choices.is_empty());
        open.map(|question| Effect::Send(Command::Later(question.id))).into_iter().collect()
    }

    pub(super) fn act_review(&mut self, action: Action) -> Vec<Effect> {
        let Screen::Review(review) = &mut self.screen else { return Vec::new() };
        if !review.offers(action) {
            return if action == Action::NextPane { Vec::new() } else { self.act_global(action) };
        }
        let said = review.act(action);
        self.review_said(said)
    }

    /// Lays a screen over the panes, or over the first screen.
    pub(super) fn open_screen(&mut self, screen: Screen) {
        if let Screen::Start(sessions) = self.show_screen(screen) {
            (self.left_start, self.layout.at) = (Some(sessions), At::Input);
        }
    }

    /// Goes back from a screen to what it was opened over.
    fn close_screen(&mut self) -> Vec<Effect> {
        self.show_screen(Screen::Main);
        let is_over_start = self.layout.at == At::Input;
        is_over_start.then(|| self.back_to_start()).flatten().unwrap_or_default()
    }

    fn review_said(&mut self, said: ReviewOutcome) -> Vec<Effect> {
        let effects = match said {
            ReviewOutcome::Stay(effects) => effects,
            ReviewOutcome::Leave(effects) if effects.is_empty() => return self.close_screen(),
            ReviewOutcome::Leave(effects) => {
                self.show_screen(Screen::Main);
                effects
            }
        };
        self.route_effects(Owner::Review, effects)
    }

    /// Opens the authors of a file.
    pub(super) fn open_blame(&mut self, path: &str, line: usize) -> Vec<Effect> {
        let below = match &mut self.screen {
            Screen::Past(past) => past.take_timeline(),
            _ => None,
        };
        self.open_past(Past::Blame(Blame::at(path, line).over(below)))
    }

    /// Lists the moments again where the timeline is open; one question at a time, and once more after what came meanwhile.
    pub(super) fn moments_changed(&mut self) -> Vec<Effect> {
        let Screen::Past(past) = &mut self.screen else { return Vec::new() };
        let Past::Timeline(timeline) = &mut **past else { return Vec::new() };
        if self.queries.pending.values().any(|(_, query)| *query == Query::Timeline) {
            timeline.list_again();
            return Vec::new();
        }
        vec![self.ask(Owner::Past, Query::Timeline)]
    }

    /// Goes back from a view of the past to the one that it was opened from, else from the screen.
    fn close_past(&mut self) -> Vec<Effect> {
        let Screen::Past(past) = &mut self.screen else { return self.close_screen() };
        match past.take_below() {
            Some(below) => self.open_past(below),
            None => self.close_screen(),
        }
    }

    pub(super) fn open_past(&mut self, past: Past) -> Vec<Effect> {
        let query = past.query();
        self.open_screen(Screen::Past(Box::new(past)));
        // An answer to the view before is not for this one.
        self.queries.pending.retain(|_, (owner, _)| *owner != Owner::Past);
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
            PastOutcome::Leave(effects) if effects.is_empty() => return self.close_past(),
            PastOutcome::Leave(effects) => {
                self.screen = Screen::Main;
                effects
            }
        };
        self.route_effects(Owner::Past, effects)
    }

    /// Opens the graph of definitions.
    pub(super) fn open_graph(&mut self) -> Vec<Effect> {
        let graph = GraphScreen::default();
        let query = graph.query();
        self.open_screen(Screen::Graph(Box::new(graph)));
        // An answer to the view before is not for this one.
        self.queries.pending.retain(|_, (owner, _)| *owner != Owner::Graph);
        vec![self.ask(Owner::Graph, query)]
    }

    /// Does an action in the graph.
    pub(super) fn act_graph(&mut self, action: Action) -> Vec<Effect> {
        let Screen::Graph(graph) = &mut self.screen else { return Vec::new() };
        if !graph.offers(action) {
            return if action == Action::NextPane { Vec::new() } else { self.act_global(action) };
        }
        let effects = match graph.act(action) {
            GraphOutcome::Stay(effects) => effects,
            GraphOutcome::Leave => return self.close_screen(),
        };
        self.route_effects(Owner::Graph, effects)
    }

    /// Takes a key, a click or a paste for a no, where the graph asks whether to decide a conflict. Returns whether it does.
    pub(super) fn refuses_conflict(&mut self) -> bool {
        match &mut self.screen {
            Screen::Graph(graph) => graph.cancel(),
            _ => false,
        }
    }

    /// Hands the graph what it asked for.
    pub(super) fn graph_answer(&mut self, query: &Query, listing: &Listing) -> Vec<Effect> {
        let Screen::Graph(graph) = &mut self.screen else { return Vec::new() };
        let effects = graph.answer(query, listing);
        self.route_effects(Owner::Graph, effects)
    }

    /// Stops what is read for the graph, once it is not shown any more.
    pub(super) fn forget_graph(&mut self) -> Option<Effect> {
        let is_asked = self.queries.pending.values().any(|(owner, _)| *owner == Owner::Graph);
        if !is_asked || matches!(self.screen, Screen::Graph(_)) {
            return None;
        }
        self.queries.pending.retain(|_, (owner, _)| *owner != Owner::Graph);
        Some(Effect::Send(Command::LeaveGraph))
    }

    /// Shows the graph as it is now.
    pub(super) fn graph_changed(&mut self) -> Vec<Effect> {
        let Screen::Graph(graph) = &mut self.screen else { return Vec::new() };
        let effects = graph.refresh();
        self.route_effects(Owner::Graph, effects)
    }

    /// Shows the turn whose message was sent at a time in the chat. Another session is opened first.
    pub(super) fn show_turn(&mut self, session: String, at: Option<i64>) -> Vec<Effect> {
        if self.session.id.as_ref() != Some(&session) {
            let opens = self.send(Command::Open(SessionChoice::Resume(session.clone())));
            self.session.sought = Some((session, at)).filter(|_| !opens.is_empty());
            return opens;
        }
        if !at.is_some_and(|at| self.panes.chat.show_message(at)) {
            self.say = Some(past::turn_not_in_chat().into());
        } else {
            (self.screen, self.left_start) = (Screen::Main, None);
            self.go_to(PaneId::Chat);
        }
        Vec::new()
    }

    /// Shows the turn for which the session was opened whose entries are there now.
    pub(super) fn show_sought(&mut self) {
        if let Some((session, at)) = self.session.sought.take().filter(|(id, _)| self.session.id.as_ref() == Some(id)) {
            // It is open: nothing is to be sent.
            drop(self.show_turn(session, at));
        }
    }

    pub(super) fn act_sessions(&mut self, action: Action) -> Vec<Effect> {
        let start = matches!(self.screen, Screen::Start(_));
        let (Screen::Sessions(sessions) | Screen::Start(sessions)) = &mut self.screen else { return Vec::new() };
        let open = sessions.selected_id().is_some() && sessions.selected_id() == self.session.id.as_deref();
        match action {
            // Above the first session is the prompt.
            Action::Up if start && sessions.is_first() => self.layout.at = At::Input,
            Action::Close | Action::Escape if start => self.layout.at = At::Input,
            Action::Close | Action::Escape => self.screen = Screen::Main,
            // The open session: there is nothing to resume, and it is not deleted under one's feet.
            Action::Open if open => self.screen = Screen::Main,
            Action::Remove if open => self.say = Some(say::session_open().into()),
            action if sessions.offers(action) => return self.act_on_session(action),
            action => return self.act_global(action),
        }
        Vec::new()
    }

    fn act_on_session(&mut self, action: Action) -> Vec<Effect> {
        let (Screen::Sessions(sessions) | Screen::Start(sessions)) = &mut self.screen else { return Vec::new() };
        match sessions.act(action) {
            SessionsOutcome::Stay(effects) => self.route_effects(Owner::Sessions, effects),
            SessionsOutcome::Leave(effects) => {
                self.screen = Screen::Main;
                self.layout.at = At::Input;
                self.route_effects(Owner::Sessions, effects)
            }
            SessionsOutcome::Remove { id, title, in_use } => {
                self.open_remove(id, &title, in_use);
                Vec::new()
            }
            SessionsOutcome::Export(id) => {
                self.open_export(Some(id));
                Vec::new()
            }
        }
    }

    pub(super) fn act_no_model(&mut self, action: Action) -> Vec<Effect> {
        match action {
            Action::Up | Action::Down | Action::Open => match self.no_model.act(action, self.now) {
                NoModelOutcome::Stay => Vec::new(),
                NoModelOutcome::Tour => self.quit(Exit::Tour),
                NoModelOutcome::Connect => self.open_connect(),
                NoModelOutcome::Below => {
                    self.go_to_sessions();
                    Vec::new()
                }
            },
            action => self.act_global(action),
        }
    }

    /// Opens the form that connects a model.
    pub(super) fn open_connect(&mut self) -> Vec<Effect> {
        self.popups.push(Popup::Connect(Box::new(Connect::new(&self.session.status))));
        Vec::new()
    }

    /// Shows the archive over the whole body.
    pub(super) fn browse(&mut self) {
        self.go_to(PaneId::Archive);
        self.layout.zoom = true;
    }

    /// Hands something that the person does to the popup on top.
    pub(super) fn in_popup(&mut self, does: impl FnOnce(&mut Popup) -> PopupOutcome) -> Vec<Effect> {
        match self.popups.last_mut().map(does) {
            Some(outcome) => self.popup_said(outcome),
            None => Vec::new(),
        }
    }

    /// Handles what the person did in a popup.
    fn popup_said(&mut self, outcome: PopupOutcome) -> Vec<Effect> {
        match outcome {
            PopupOutcome::List(outcome) => self.list_said(outcome),
            PopupOutcome::Page(outcome) => self.page_said(outcome),
            PopupOutcome::Finder(outcome) => self.finder_said(outcome),
            PopupOutcome::Connect(outcome) => self.connect_said(outcome),
        }
    }

    /// Closes the popup on top.
    pub(super) fn close_popup(&mut self) -> Vec<Effect> {
        self.popups.pop();
        Vec::new()
    }

    fn page_said(&mut self, outcome: PageOutcome) -> Vec<Effect> {
        match outcome {
            PageOutcome::Stay => Vec::new(),
            PageOutcome::Close => self.close_popup(),
            PageOutcome::LeaveOut => self.open_results(),
        }
    }

    fn connect_said(&mut self, outcome: ConnectOutcome) -> Vec<Effect> {
        match (outcome, self.popups.last_mut()) {
            (ConnectOutcome::Send(model), Some(Popup::Connect(form))) => {
                let id = QueryId(self.queries.next);
                self.queries.next += 1;
                vec![Effect::Send(Command::Connect(form.form(model, id)))]
            }
            (ConnectOutcome::Close, _) => self.close_popup(),
            (ConnectOutcome::Stay | ConnectOutcome::Send(_), _) => Vec::new(),
        }
    }

    fn finder_said(&mut self, said: FinderOutcome) -> Vec<Effect> {
        match said {
            FinderOutcome::Ask(queries) => self.ask_all(Owner::Finder, queries),
            FinderOutcome::Close => self.close_popup(),
            FinderOutcome::Took => {
                let Some(Popup::Finder(finder)) = self.popups.pop() else { return Vec::new() };
                if let Some(chosen) = finder.list.chosen() {
                    let at = self.composer.input.caret();
                    let glued =
                        self.composer.input.text()[..at].chars().next_back().is_some_and(|c| !c.is_whitespace());
                    self.put_mention(at..at, &format!("{}{chosen}", if glued { " " } else { "" }));
                    self.layout.at = At::Input;
                }
                Vec::new()
            }
        }
    }

    /// Returns whether `/prompt ` is written in the palette: what follows is the name of a prompt.
    fn names_prompts(&self) -> bool {
        let Some(Popup::List(list)) = self.popups.last() else { return false };
        list.kind == ListKind::Commands && list.editor.text().starts_with("/prompt ")
    }

    /// Puts a prompt that takes arguments into the input, for these to be written.
    fn ask_arguments(&mut self, name: &str, entry: Option<&Entry>) -> Vec<Effect> {
        self.say = entry.map(|e| e.usage.clone());
        self.composer.input.set(&format!("/prompt {name} "));
        self.layout.at = At::Input;
        Vec::new()
    }

    fn list_said(&mut self, said: ListOutcome) -> Vec<Effect> {
        match said {
            ListOutcome::Stay | ListOutcome::Moved if self.names_prompts() => match self.popups.pop() {
                Some(Popup::List(palette)) => {
                    let typed = palette.editor.expanded();
                    self.open_prompts(typed.trim_start_matches("/prompt").trim_start())
                }
                _ => Vec::new(),
            },
            ListOutcome::Stay => Vec::new(),
            ListOutcome::Moved => {
                self.sample_theme();
                Vec::new()
            }
            ListOutcome::Close => self.close_popup(),
            ListOutcome::Took(name, rest) => match self.popups.pop() {
                Some(Popup::List(list)) => {
                    let needs = list.selected().is_some_and(|e| e.needs && rest.trim().is_empty());
                    if needs {
                        return self.ask_arguments(&name, list.selected());
                    }
                    self.took(list.kind, &name, &rest)
                }
                _ => Vec::new(),
            },
        }
    }
}

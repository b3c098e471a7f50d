//! The mouse, where it is on: a click focuses, the wheel scrolls what is under it, the rule between columns and the
//! line of the archive drag.

use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Position;

use super::{App, At, Edge, Effect, Focus, Owner, Screen};
use crate::tui::action::Action;
use crate::tui::layout::right_width;
use crate::tui::pane::id::PaneId;
use crate::tui::popup::finder::{self, Clicked};
use crate::tui::popup::sessions::SessionsOutcome;
use crate::tui::view::question::choice_at;
use crate::tui::view::sessions_areas;

impl App {
    /// Takes in what the mouse did.
    pub(super) fn mouse(&mut self, event: MouseEvent) -> Vec<Effect> {
        match event.kind {
            MouseEventKind::Down(MouseButton::Left) => self.press(event.column, event.row),
            MouseEventKind::Up(_) => {
                self.layout.dragging = None;
                Vec::new()
            }
            MouseEventKind::Drag(MouseButton::Left) => {
                match self.layout.dragging {
                    Some(Edge::Columns) => {
                        let right = self.size.0.saturating_sub(event.column + 1);
                        self.layout.right = Some(right_width(self.size.0, Some(right)));
                    }
                    // The pane line under the mouse is the archive's first row.
                    Some(Edge::Rows) => self.layout.low = Some(self.rects.body.bottom().saturating_sub(event.row)),
                    None => {}
                }
                Vec::new()
            }
            MouseEventKind::ScrollUp => self.wheel(event.column, event.row, Action::Up),
            MouseEventKind::ScrollDown => self.wheel(event.column, event.row, Action::Down),
            _ => Vec::new(),
        }
    }

    fn press(&mut self, column: u16, row: u16) -> Vec<Effect> {
        let at = Position::new(column, row);
        self.keyboard.quit_armed = false;
        self.say = None;
        self.refuses_conflict();
        match self.focus() {
            Focus::Popup => return self.in_popup(|popup| popup.click(at)),
            Focus::Line => return Vec::new(),
            _ => {}
        }
        if self.composer.completion.is_some() && matches!(self.screen, Screen::Main) {
            let area = self.completion_area();
            let clicked = self.composer.completion.as_mut().map(|c| finder::click(c, area, at));
            match clicked {
                Some(Clicked::Chosen) => return self.act_completion(Action::Insert),
                Some(Clicked::Ask(queries)) => return self.ask_all(Owner::Completion, queries),
                Some(Clicked::Outside) | None => self.composer.completion = None,
            }
        }
        if matches!(self.screen, Screen::Sessions(_) | Screen::Start(_)) && self.rects.body.contains(at) {
            return self.press_sessions(row);
        }
        if let Screen::Review(review) = &mut self.screen {
            let body = self.rects.body;
            if !body.contains(at) {
                return Vec::new();
            }
            let effects = review.click(column - body.x, row - body.y);
            return self.route_effects(Owner::Review, effects);
        }
        if let Screen::Graph(graph) = &mut self.screen {
            let body = self.rects.body;
            if !body.contains(at) {
                return Vec::new();
            }
            let effects = graph.click(column - body.x, row - body.y);
            return self.route_effects(Owner::Graph, effects);
        }
        if let Screen::Past(past) = &mut self.screen {
            let body = self.rects.body;
            if !body.contains(at) {
                return Vec::new();
            }
            let effects = past.click(column - body.x, row - body.y);
            return self.route_effects(Owner::Past, effects);
        }
        if self.focus() == Focus::NoModel && self.no_model.click(self.rects.input, at) {
            return self.act_no_model(Action::Open);
        }
        self.press_main(at)
    }

    fn press_sessions(&mut self, row: u16) -> Vec<Effect> {
        let body = self.rects.body;
        let start = matches!(self.screen, Screen::Start(_));
        // Of a list without the keys nothing is seen to be selected.
        let has_keys = self.focus() == Focus::Sessions;
        let (Screen::Sessions(sessions) | Screen::Start(sessions)) = &mut self.screen else { return Vec::new() };
        self.layout.at = if start { At::Pane } else { self.layout.at };
        let row = row.saturating_sub(body.y + 1);
        let outcome = match has_keys && sessions.is_selected_at(row) {
            true => sessions.act(Action::Open),
            false => sessions.select_at(row),
        };
        match outcome {
            SessionsOutcome::Leave(effects) => {
                self.screen = Screen::Main;
                self.route_effects(Owner::Sessions, effects)
            }
            SessionsOutcome::Stay(effects) => self.route_effects(Owner::Sessions, effects),
            _ => Vec::new(),
        }
    }

    fn press_main(&mut self, at: Position) -> Vec<Effect> {
        let Position { x: column, y: row } = at;
        if self.rects.rule.is_some_and(|r| r.contains(at)) {
            self.layout.dragging = Some(Edge::Columns);
            return Vec::new();
        }
        let low = self.rects.place(PaneId::Archive).filter(|_| self.rects.low().is_some());
        if low.is_some_and(|p| p.line.contains(at)) {
            self.layout.dragging = Some(Edge::Rows);
        }
        if self.rects.input.contains(at) || self.rects.bar.contains(at) {
            // What is typed there answers the question that stands above it.
            let answers = self.open_question().is_some_and(|q| q.question.card.is_none() && q.takes_words());
            if answers {
                return self.answer_later(At::Answer);
            }
            self.layout.at = At::Input;
            return Vec::new();
        }
        if self.rects.question.contains(at) || self.card().is_some() && self.rects.body.contains(at) {
            return self.press_question(row);
        }
        if self.rects.tabs && row == self.rects.body.y {
            if let Some(id) = super::super::view::tab_at(self, column) {
                self.go_to(id);
            }
            return Vec::new();
        }
        let Some(place) = self.rects.pane_at(column, row).copied() else { return Vec::new() };
        self.layout.pane = place.id;
        self.layout.at = At::Pane;
        if !place.body.contains(at) || self.is_guarded() {
            return Vec::new();
        }
        let effects = self.panes.click(place.id, column - place.body.x, row - place.body.y, self.now);
        self.route_effects(Owner::Pane(place.id), effects)
    }

    fn press_question(&mut self, row: u16) -> Vec<Effect> {
        self.go_to_choices();
        let area = self.rects.question;
        if let Some(asking) = self.questions.first_mut().filter(|asking| asking.question.card.is_none())
            && let Some(index) = choice_at(asking, area, row)
        {
            asking.point(index);
        }
        Vec::new()
    }

    /// Scrolls the question that is open under the mouse, or its card; where all of it is seen, the chat. What is selected
    /// stays: the wheel decides nothing. None: no question is there.
    fn wheel_question(&mut self, at: Position, action: Action) -> Option<Vec<Effect>> {
        let is_card = self.card().is_some();
        let inside = self.rects.question.contains(at) || is_card && self.rects.body.contains(at);
        let asking = self.questions.first_mut().filter(|_| inside)?;
        match asking.question.card.clone() {
            Some(card) => drop(asking.card.act(&card, action)),
            None if asking.text.is_whole() => {
                let is_seen = self.rects.place(PaneId::Chat).is_some();
                return Some(if is_seen { self.wheel_pane(PaneId::Chat, (0, 0), action) } else { Vec::new() });
            }
            None => asking.text.act(action),
        }
        Some(Vec::new())
    }

    fn wheel_pane(&mut self, id: PaneId, cell: (u16, u16), action: Action) -> Vec<Effect> {
        let effects = self.panes.wheel(id, cell.0, cell.1, action == Action::Down, self.now);
        self.route_effects(Owner::Pane(id), effects)
    }

    fn wheel(&mut self, column: u16, row: u16, action: Action) -> Vec<Effect> {
        if !self.popups.is_empty() {
            return self.in_popup(|popup| popup.wheel(action));
        }
        self.refuses_conflict();
        let (body, at) = (self.rects.body, Position::new(column, row));
        if !matches!(self.screen, Screen::Main) && !body.contains(at) {
            return Vec::new();
        }
        let preview = match &self.screen {
            Screen::Sessions(_) => sessions_areas(body).1,
            _ => self.rects.preview,
        };
        match &mut self.screen {
            Screen::Review(review) => {
                let effects = review.wheel(column - body.x, action);
                return self.route_effects(Owner::Review, effects);
            }
            Screen::Graph(graph) => {
                let effects = graph.wheel(column - body.x, action);
                return self.route_effects(Owner::Graph, effects);
            }
            Screen::Past(past) => {
                let effects = past.wheel(row - body.y, action);
                return self.route_effects(Owner::Past, effects);
            }
            // A preview shows all that it has.
            Screen::Sessions(_) | Screen::Start(_) if preview.is_some_and(|preview| preview.contains(at)) => {
                return Vec::new();
            }
            Screen::Sessions(sessions) | Screen::Start(sessions) => {
                sessions.wheel(action);
                return Vec::new();
            }
            Screen::Main => {}
        }
        if self.composer.completion.is_some() && self.completion_area().contains(at) {
            return self.act_completion(action);
        }
        if let Some(effects) = self.wheel_question(at, action) {
            return effects;
        }
        let place = self.rects.pane_at(column, row).copied();
        let id: PaneId = place.map_or(self.layout.pane, |p| p.id);
        let from = place.map_or((0, 0), |p| (p.body.x, p.body.y));
        let cell = (column.saturating_sub(from.0), row.saturating_sub(from.1));
        self.wheel_pane(id, cell, action)
    }

    /// Returns where the completion is drawn.
    fn completion_area(&self) -> ratatui::layout::Rect {
        let cursor = super::super::view::mention_at(self);
        let area = finder::place(&self.rects, cursor);
        self.composer.completion.as_ref().map_or(area, |c| finder::visible_area(c, area))
    }
}

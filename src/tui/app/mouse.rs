//! The mouse, where it is on: a click focuses, the wheel scrolls what is under it, the rule between columns drags.

use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Position;

use super::{App, At, Effect, Focus, Owner, Screen};
use crate::tui::action::Action;
use crate::tui::layout::right_width;
use crate::tui::pane::PaneId;
use crate::tui::popup::Popup;

impl App {
    /// Takes in what the mouse did.
    pub(super) fn mouse(&mut self, event: MouseEvent) -> Vec<Effect> {
        match event.kind {
            MouseEventKind::Down(MouseButton::Left) => self.press(event.column, event.row),
            MouseEventKind::Up(_) => {
                self.dragging = false;
                Vec::new()
            }
            MouseEventKind::Drag(MouseButton::Left) if self.dragging => {
                let right = self.size.0.saturating_sub(event.column + 1);
                self.right = Some(right_width(self.size.0, Some(right)));
                Vec::new()
            }
            MouseEventKind::ScrollUp => self.wheel(event.column, event.row, Action::Up),
            MouseEventKind::ScrollDown => self.wheel(event.column, event.row, Action::Down),
            _ => Vec::new(),
        }
    }

    fn press(&mut self, column: u16, row: u16) -> Vec<Effect> {
        let at = Position::new(column, row);
        self.quit_armed = false;
        if matches!(self.focus(), Focus::Popup | Focus::Line) {
            return Vec::new();
        }
        self.say = None;
        if let Screen::Sessions(sessions, _) = &mut self.screen {
            let body = self.rects.body;
            let again = row > body.y && sessions.click(row - body.y - 1);
            let said = if again { sessions.act(Action::Open) } else { sessions.act(Action::HalfUp) };
            return match said {
                super::super::popup::sessions::Said::Leave(effects) => {
                    self.screen = Screen::Main;
                    self.settle(Owner::Sessions, effects)
                }
                super::super::popup::sessions::Said::Stay(effects) => self.settle(Owner::Sessions, effects),
                _ => Vec::new(),
            };
        }
        if !matches!(self.screen, Screen::Main) {
            return Vec::new();
        }
        if self.rects.rule.is_some_and(|r| r.contains(at)) {
            self.dragging = true;
            return Vec::new();
        }
        if self.rects.input.contains(at) || self.rects.bar.contains(at) {
            self.at = At::Input;
            return Vec::new();
        }
        if self.rects.question.contains(at) {
            return self.press_question(row);
        }
        if self.rects.tabs && row == self.rects.body.y {
            if let Some(id) = super::super::view::tab_at(self, column) {
                self.go_to(id);
            }
            return Vec::new();
        }
        let Some(place) = self.rects.pane_at(column, row).copied() else { return Vec::new() };
        self.pane = place.id;
        self.at = At::Pane;
        if !place.body.contains(at) || self.guarded {
            return Vec::new();
        }
        let effects = self.panes.click(place.id, column - place.body.x, row - place.body.y, self.now);
        self.settle(Owner::Pane(place.id), effects)
    }

    fn press_question(&mut self, row: u16) -> Vec<Effect> {
        self.at = At::Question;
        let area = self.rects.question;
        if let Some(asking) = self.questions.first_mut() {
            let count = asking.choices().len() as u16;
            // The choices stand above the empty row that ends the block.
            let first = area.bottom().saturating_sub(1 + count);
            if row >= first && row < first + count {
                asking.selected = usize::from(row - first);
            }
        }
        Vec::new()
    }

    fn wheel(&mut self, column: u16, row: u16, action: Action) -> Vec<Effect> {
        if let Some(popup) = self.popups.last_mut() {
            match popup {
                Popup::Page(page) => {
                    for _ in 0..3 {
                        page.act(action);
                    }
                }
                Popup::List(list) => {
                    list.act(action);
                }
                Popup::Finder(_) => {}
            }
            return Vec::new();
        }
        if let Screen::Sessions(sessions, _) = &mut self.screen {
            if let super::super::popup::sessions::Said::Stay(effects) = sessions.act(action) {
                return self.settle(Owner::Sessions, effects);
            }
            return Vec::new();
        }
        let id: PaneId = self.rects.pane_at(column, row).map_or(self.pane, |p| p.id);
        let mut effects = Vec::new();
        for _ in 0..3 {
            let done = self.panes.act(id, action, self.now);
            effects.extend(self.settle(Owner::Pane(id), done));
        }
        effects
    }
}

//! Names the rectangles of the screen and tells panes and popups their sizes.

use ratatui::layout::Rect;

use super::{App, Screen};
use crate::tui::layout::{self, Wants};
use crate::tui::look::Look;
use crate::tui::popup::Popup;
use crate::tui::popup::no_model::NoModel;
use crate::tui::view;

impl App {
    /// Returns the body of the screen; below a form that stands in it, all the cells that are left.
    pub(in crate::tui) fn list_area(&self) -> Rect {
        let body = self.rects.body;
        let Some(form) = self.popups.last().and_then(Popup::inside) else { return body };
        let taken = form.height.min(body.height);
        Rect { x: 0, y: body.y + taken, width: self.rects.all.width, height: body.height - taken }
    }

    /// Returns the room that the parts of the screen ask for.
    fn wants(&self, main: bool) -> Wants {
        let rows = if self.editor().is_empty() { 1 } else { self.input_rows().rows.len() };
        Wants {
            pane: self.layout.pane,
            full: self.is_full(),
            right: self.layout.right,
            low: self.layout.low,
            input: match main || !self.lacks_model() {
                true => u16::try_from(rows).unwrap_or(u16::MAX),
                false => NoModel::HEIGHT,
            },
            question: if main { view::question::rows(self, self.size) } else { 0 },
            queue: if main { self.composer.queue.rows(self.size.1 / 4) } else { 0 },
            // In the chat they stand in its text.
            notices: match self.screen {
                Screen::Main => 0,
                Screen::Start(_) => view::notice_rows(self, layout::start_width(self.size.0)),
                _ => view::notice_rows(self, self.size.0),
            },
            ledger: main && (self.is_busy() || self.panes.chat.has_messages() || self.has_changed()),
            start: matches!(self.screen, Screen::Start(_)),
            form: matches!(self.popups.last(), Some(Popup::Connect(_))),
        }
    }

    /// Returns whether the session has changed files, be it by a command of the person's before any message.
    fn has_changed(&self) -> bool {
        self.panes.diff.session_size().is_some_and(|(files, _)| files > 0)
    }

    /// Names the rectangles, and tells panes and popups their sizes. Ends every update.
    pub(super) fn measure(&mut self) {
        let width = self.input_width();
        self.composer.input.measure(width);
        if let Some(line) = &mut self.line {
            line.editor.measure(width);
        }
        let main = matches!(self.screen, Screen::Main);
        if main {
            self.early.clear();
        }
        let wants = self.wants(main);
        self.rects = layout::rects(self.size.0, self.size.1, &wants);
        self.measure_question();
        let (now, zone) = (self.now, self.zone);
        let look = Look {
            theme: &self.appearance.theme,
            glyphs: &self.appearance.glyphs,
            keys: &self.keyboard.keys,
            now,
            zone,
        };
        if main {
            for place in &self.rects.panes {
                self.panes.measure(place.id, place.body.width, place.body.height, &look);
            }
        }
        let page = matches!(self.screen, Screen::Start(_)).then_some(self.rects.body);
        if let Some(mut popup) = self.popups.pop() {
            popup.measure(self.rects.all, self.rects.popup_body(), page, &self.ctx(true));
            self.popups.push(popup);
        }
        let body = self.list_area();
        if let Screen::Review(review) = &mut self.screen {
            review.measure(body.width, body.height);
        }
        if let Screen::Graph(graph) = &mut self.screen {
            graph.measure(body.width, body.height);
        }
        if let Screen::Past(past) = &mut self.screen {
            past.measure(body.width, body.height, &look);
        }
        if let Screen::Sessions(sessions) | Screen::Start(sessions) = &mut self.screen {
            let preview = self.rects.preview.or_else(|| view::sessions_areas(body).1);
            let preview = preview.map(|p| (p.width, p.height.saturating_sub(1)));
            sessions.measure(body.height.saturating_sub(1), preview, &look);
        }
    }
}

//! What stands in the prompt's place while no model is connected: the tour, and the form that connects one. Beside it,
//! where a key is looked for.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;

use super::select;
use crate::messages::{Text, popups as say};
use crate::protocol::Status;
use crate::tui::action::Action;
use crate::tui::look::Ctx;
use crate::tui::pane::line::pane_line;
use crate::tui::text::{cut, paint, wrap};
use crate::tui::theme::Role;

/// The choices.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoModel {
    selected: usize,
    /// Until when Enter belongs to words that were typed, in milliseconds.
    typing_until: Option<i64>,
}

/// The choice of the person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoModelOutcome {
    /// Nothing yet.
    Stay,
    /// The tour.
    Tour,
    /// The form.
    Connect,
    /// Below the last choice.
    Below,
}

/// A choice: its name, and what is said of it, whole and for less room.
const ROWS: [(Text, [Text; 2], NoModelOutcome); 2] = [
    (say::tour, [say::tour_detail, say::tour_detail_short], NoModelOutcome::Tour),
    (say::connect, [say::connect_detail, say::connect_detail_short], NoModelOutcome::Connect),
];

/// Other ways than the form.
const HOW: [(Text, &str); 4] = [
    (say::openai, "export OPENAI_API_KEY=…"),
    (say::anthropic, "export ANTHROPIC_API_KEY=…"),
    (say::gemini, "export GEMINI_API_KEY=…"),
    (say::any_server, "export OPENAI_BASE_URL=http://…"),
];

impl NoModel {
    /// Rows that the choices take.
    pub const HEIGHT: u16 = ROWS.len() as u16;

    /// Notes a letter, which nothing takes: whoever writes a message sends it with Enter, and means no choice.
    pub fn type_until(&mut self, until: i64) {
        self.typing_until = Some(until);
    }

    /// Does an action at a time in milliseconds.
    pub fn act(&mut self, action: Action, now: i64) -> NoModelOutcome {
        let typing = self.typing_until.take().filter(|until| now < *until);
        match action {
            Action::Open if typing.is_some() => self.typing_until = typing,
            Action::Up => self.selected = self.selected.saturating_sub(1),
            Action::Down if self.selected + 1 == ROWS.len() => return NoModelOutcome::Below,
            Action::Down => self.selected += 1,
            Action::Open => return ROWS[self.selected.min(ROWS.len() - 1)].2,
            _ => {}
        }
        NoModelOutcome::Stay
    }

    /// Handles a click in `area`: on a choice selects it. Returns whether it was selected before and so is taken now.
    pub fn click(&mut self, area: Rect, at: Position) -> bool {
        let row = usize::from(at.y.saturating_sub(area.y));
        area.contains(at) && row < ROWS.len() && std::mem::replace(&mut self.selected, row) == row
    }

    /// Draws the choices; `form`: the form to connect stands open below them.
    pub fn draw(&self, area: Rect, (focus, form): (bool, bool), buf: &mut Buffer, ctx: &Ctx<'_>) {
        let (dim, text) = (ctx.theme.style(Role::Dim), ctx.theme.style(Role::Text));
        for (i, (name, said, _)) in ROWS.iter().enumerate().take(usize::from(area.height)) {
            let y = area.y + i as u16;
            let chosen = focus && i == self.selected;
            let open = form && i == self.selected;
            let style = if chosen || open { text.add_modifier(Modifier::BOLD) } else { text };
            let mark = if open { ctx.glyphs.open } else { ctx.glyphs.folded };
            paint::text(buf, area.x + 1, y, 1, mark, dim);
            paint::text(buf, area.x + 3, y, 10, name(), style);
            let room = usize::from(area.width.saturating_sub(15));
            paint::text(
                buf,
                area.x + 15,
                y,
                room,
                &cut::first_fit(&said.map(|said| said()), room, ctx.glyphs.cut),
                dim,
            );
            if chosen {
                select(Rect { y, height: 1, ..area }, buf, ctx);
            }
        }
    }

    /// Draws where a key is looked for, below its pane line.
    pub fn draw_sources(&self, area: Rect, status: &Status, buf: &mut Buffer, ctx: &Ctx<'_>) {
        pane_line(Rect { height: 1, ..area }, say::other_ways(), false, None, buf, ctx);
        let (dim, text) = (ctx.theme.style(Role::Dim), ctx.theme.style(Role::Text));
        let bold = text.add_modifier(Modifier::BOLD);
        let room = usize::from(area.width.saturating_sub(2));
        let mut y = area.y + 2;
        let mut line = |words: &str, style| {
            for range in wrap::breaks(words, room) {
                if y < area.bottom() {
                    paint::text(buf, area.x + 1, y, room, &words[range], style);
                }
                y += 1;
            }
        };
        line(say::a_variable(), bold);
        for (who, what) in HOW {
            let who = who();
            let gap = " ".repeat(12usize.saturating_sub(wrap::cells(who)).max(1));
            line(&format!("{who}{gap}{}", what.replace('…', ctx.glyphs.cut)), text);
        }
        line(say::which_wins(), dim);
        line("", dim);
        line(say::local_server(), bold);
        let tried: Vec<String> = status.tried.iter().map(u16::to_string).collect();
        match tried.is_empty() {
            true => line(say::looking_for_server(), dim),
            false => line(&say::nothing_answers(&tried.join(", ")), dim),
        }
        if let Some(file) = &status.model_file {
            line("", dim);
            line(say::model_file(), bold);
            match file.runs {
                true => line(&say::file_runs(&file.name, &file.size), dim),
                false => line(&say::file_needs_build(&file.name, &file.size), dim),
            }
        }
        line("", dim);
        line(say::never_stored(), dim);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn up_down_and_enter_choose_and_nothing_else_does() {
        let mut choices = NoModel::default();
        let mut act = |action| choices.act(action, 0);
        assert_eq!(act(Action::Open), NoModelOutcome::Tour);
        assert_eq!(act(Action::Down), NoModelOutcome::Stay);
        assert_eq!(act(Action::Open), NoModelOutcome::Connect);
        assert_eq!(act(Action::Down), NoModelOutcome::Below);
        assert_eq!(act(Action::Copy), NoModelOutcome::Stay);
        assert_eq!(act(Action::Up), NoModelOutcome::Stay);
        assert_eq!(act(Action::Open), NoModelOutcome::Tour);
    }

    #[test]
    fn enter_after_words_chooses_nothing() {
        let mut choices = NoModel::default();
        choices.type_until(2000);
        assert_eq!(choices.act(Action::Open, 1999), NoModelOutcome::Stay);
        assert_eq!(choices.act(Action::Open, 2000), NoModelOutcome::Tour);
        choices.type_until(2000);
        assert_eq!(choices.act(Action::Down, 10), NoModelOutcome::Stay);
        assert_eq!(choices.act(Action::Open, 20), NoModelOutcome::Connect, "arrows choose at once");
    }
}

//! The text in the prompt's place while no model is connected: the tour, and the form that connects one. Beside it,
//! where a key is looked for.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::connect::{Connect, PROVIDERS};
use super::select;
use crate::messages::{Text, popups as say};
use crate::protocol::{KeyPlaces, Status};
use crate::tui::action::Action;
use crate::tui::look::Ctx;
use crate::tui::pane::line::pane_line;
use crate::tui::text::{cut, paint, wrap};
use crate::tui::theme::Role;

/// The choices.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoModel {
    selected: usize,
    /// The time until which Enter belongs to words that were typed, in milliseconds.
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
    /// The person moved below the last choice.
    Below,
}

/// A choice: its name, and what is said of it, whole and for less room.
const ROWS: [(Text, [Text; 2], NoModelOutcome); 2] = [
    (say::tour, [say::tour_detail, say::tour_detail_short], NoModelOutcome::Tour),
    (say::connect, [say::connect_detail, say::connect_detail_short], NoModelOutcome::Connect),
];

/// Returns the ways beside the form: the variable of each provider that has one, and the one with an address.
fn variables() -> impl Iterator<Item = (&'static str, String)> {
    let named = PROVIDERS.iter().map(|offered| (offered.words, offered.variable()));
    let keyed = named.filter(|(_, variable)| !variable.is_empty());
    keyed
        .map(|(name, variable)| (name(), format!("export {variable}=…")))
        .chain([(say::any_server(), "export OPENAI_BASE_URL=http://…".to_string())])
}

impl NoModel {
    /// Rows that the choices take.
    pub const HEIGHT: u16 = ROWS.len() as u16;

    /// Records that a letter was typed: until this time Enter ends a message and chooses nothing.
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

    /// Draws the choices; `form`: the form to connect stands open below them. A model file that it could run is named.
    pub fn draw(&self, area: Rect, (focus, form, status): (bool, bool, &Status), buf: &mut Buffer, ctx: &Ctx<'_>) {
        let file = status.model_file.as_ref().filter(|file| file.runs);
        let (dim, text) = (ctx.theme.style(Role::Dim), ctx.theme.style(Role::Text));
        for (i, (name, said, outcome)) in ROWS.iter().enumerate().take(usize::from(area.height)) {
            let y = area.y + i as u16;
            let chosen = focus && i == self.selected;
            let open = form && i == self.selected;
            let style = if chosen || open { text.add_modifier(Modifier::BOLD) } else { text };
            let mark = if open { ctx.glyphs.open } else { ctx.glyphs.folded };
            paint::text(buf, area.x + 1, y, 1, mark, dim);
            paint::text(buf, area.x + 3, y, 10, name(), style);
            let room = usize::from(area.width.saturating_sub(15));
            let said = said.map(|said| said().to_string());
            let is_connect = *outcome == NoModelOutcome::Connect;
            let said = match (file.filter(|_| is_connect), status.without_model.as_ref().filter(|_| is_connect)) {
                (Some(file), _) => [say::connect_file(&file.name), say::connect_file_short(&file.name)],
                // A server that only lacks a model is nearer than a key.
                (None, Some(server)) => [server.clone(), first_sentence(server).into()],
                (None, None) => said,
            };
            let said = said.each_ref().map(String::as_str);
            paint::text(buf, area.x + 15, y, room, &cut::first_fit(&said, room, ctx.glyphs.cut), dim);
            if chosen {
                select(Rect { y, height: 1, ..area }, buf, ctx);
            }
        }
    }

    /// Draws where a key is looked for, below its pane line: of the provider that is chosen in the form, once that is open.
    pub fn draw_sources(
        &self,
        area: Rect,
        (status, form): (&Status, Option<&Connect>),
        buf: &mut Buffer,
        ctx: &Ctx<'_>,
    ) {
        let text = ctx.theme.style(Role::Text);
        let bold = text.add_modifier(Modifier::BOLD);
        let keyed = form.and_then(|form| Some((form, form.keyed_provider()?)));
        let mut lines = LinePainter { area, y: area.y + 2, buf, ctx };
        match keyed {
            Some((form, provider)) => lines.places(form, provider, status),
            None => lines.variables(bold),
        }
        lines.servers(status, bold);
        if keyed.is_some() {
            lines.say("");
            lines.put(say::another_server(), bold);
            lines.say(say::how_another_server());
        }
        lines.say("");
        lines.say(say::never_stored());
    }
}

/// Returns a text up to the end of its first sentence.
fn first_sentence(text: &str) -> &str {
    text.split_once(". ").map_or(text, |(first, _)| first)
}

/// Lines below each other, wrapped.
struct LinePainter<'a, 'b> {
    area: Rect,
    y: u16,
    buf: &'a mut Buffer,
    ctx: &'a Ctx<'b>,
}

impl LinePainter<'_, '_> {
    fn put(&mut self, words: &str, style: Style) {
        let room = usize::from(self.area.width.saturating_sub(2));
        for range in wrap::breaks(words, room) {
            if self.y < self.area.bottom() {
                paint::text(self.buf, self.area.x + 1, self.y, room, &words[range], style);
            }
            self.y += 1;
        }
    }

    fn say(&mut self, words: &str) {
        self.put(words, self.ctx.theme.style(Role::Dim));
    }

    fn head(&mut self, title: &str, note: &str) {
        let note = Some(note).filter(|note| !note.is_empty());
        let note = note.map(|note| Span::styled(note.to_string(), self.ctx.theme.style(Role::Dim)).into());
        pane_line(Rect { height: 1, ..self.area }, title, false, note, self.buf, self.ctx);
    }

    /// Draws the variables that connect each provider.
    fn variables(&mut self, bold: Style) {
        self.head(say::other_ways(), "");
        self.put(say::a_variable(), bold);
        for (who, what) in variables() {
            let gap = " ".repeat(12usize.saturating_sub(wrap::cells(who)).max(1));
            let line = format!("{who}{gap}{}", what.replace('…', self.ctx.glyphs.cut));
            self.put(&line, self.ctx.theme.style(Role::Text));
        }
        self.say(say::which_wins());
        self.say("");
    }

    /// Draws the places of a provider's key, in the order in which they win, and what is there.
    fn places(&mut self, form: &Connect, (provider, variable): (&str, &str), status: &Status) {
        self.head(say::key_places(), say::first_wins());
        let known = status.key_places.iter().find(|places| places.provider == provider);
        let there = |is: fn(&KeyPlaces) -> bool| known.is_some_and(is);
        let form_has = match (form.has_good_key(), form.keeps_key()) {
            (false, _) => say::no_key_yet(),
            (true, false) => say::key_for_run(),
            (true, true) => say::key_kept(),
        };
        let rows = [
            (format!("${variable}"), there(|p| p.variable), say::is_set(), say::not_set()),
            ("apiKeyCommand".into(), there(|p| p.command), say::configured(), say::not_configured()),
            ("~/.nebula/credentials.json".into(), there(|p| p.stored), say::kept_there(), say::no_key_there()),
            (say::this_form().into(), form.has_good_key(), form_has, form_has),
        ];
        let (text, dim) = (self.ctx.theme.style(Role::Text), self.ctx.theme.style(Role::Dim));
        let names = rows.iter().map(|(name, ..)| wrap::cells(name)).max().unwrap_or(0);
        for (n, (name, is_there, yes, no)) in rows.iter().enumerate() {
            if self.y >= self.area.bottom() {
                return;
            }
            let gap = " ".repeat(names - wrap::cells(name) + 2);
            let mut spans = vec![Span::styled(format!("{}  ", n + 1), dim), Span::styled(format!("{name}{gap}"), text)];
            match is_there {
                true => {
                    spans.push(Span::styled(format!("{} ", self.ctx.glyphs.done), self.ctx.theme.style(Role::Added)));
                    spans.push(Span::styled(*yes, text));
                }
                false => spans.push(Span::styled(*no, dim)),
            }
            let room = usize::from(self.area.width.saturating_sub(2));
            let line = cut::line(Line::from(spans), room, self.ctx.glyphs.cut, dim);
            paint::spans(self.buf, self.area.x + 1, self.y, room, &line.spans);
            self.y += 1;
        }
        self.say("");
    }

    /// Draws what is found on this computer: servers and a model file.
    fn servers(&mut self, status: &Status, bold: Style) {
        self.put(say::local_server(), bold);
        let tried: Vec<String> = status.tried.iter().map(u16::to_string).collect();
        match &status.without_model {
            Some(server) => self.say(server),
            None if tried.is_empty() => self.say(say::looking_for_server()),
            None => self.say(&say::nothing_answers(&tried.join(", "))),
        }
        if let Some(file) = &status.model_file {
            self.say("");
            self.put(say::model_file(), bold);
            match file.runs {
                true => self.say(&say::file_runs(&file.name, &file.size)),
                false => self.say(&say::file_needs_build(&file.name, &file.size)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::ModelFileRow;
    use crate::tui::pane::testing::screen;

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
    fn a_server_without_a_model_is_named_at_every_width() {
        let server = "Ollama at 127.0.0.1:11434 has no model. ollama pull NAME gets one, and it is asked then.";
        for width in [80, 140] {
            let status = Status { without_model: Some(server.into()), ..Status::default() };
            let drawn = screen(width, 4, "dark", true, |area, buf, ctx| {
                NoModel::default().draw(area, (true, false, &status), buf, ctx)
            })
            .text();
            assert!(drawn.contains("Ollama at 127.0.0.1:11434 has no model"), "{drawn}");
        }
    }

    #[test]
    fn a_model_file_that_can_run_is_named_at_every_width() {
        let name = "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf";
        for (runs, width) in [(true, 80), (true, 140), (false, 80)] {
            let file = ModelFileRow { name: name.into(), size: "1.1 GB".into(), runs };
            let status = Status { model_file: Some(file), ..Status::default() };
            let drawn = screen(width, 2, "dark", false, |area, buf, ctx| {
                NoModel::default().draw(area, (true, false, &status), buf, ctx);
            });
            assert_eq!(drawn.text().contains(&format!("run {name} here")), runs, "{}", drawn.text());
        }
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

//! The drawing of the form that connects a model.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;
use ratatui::text::Span;

use super::{Connect, FormField, FormStage, PROVIDERS, ProviderPlace, offered};
use crate::messages::{count, popups as say, times::duration};
use crate::tui::input::Editor;
use crate::tui::look::Ctx;
use crate::tui::pane::line::pane_line;
use crate::tui::popup::border;
use crate::tui::text::{cut, paint, wrap};
use crate::tui::theme::Role;

/// The column of the values.
const VALUE: u16 = 14;

/// A row of the form.
struct FormRow {
    label: &'static str,
    field: Option<FormField>,
    words: String,
    role: Role,
}

impl Connect {
    /// Draws it and tells where the cursor goes.
    pub fn draw(&self, _: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) -> Option<Position> {
        let area = self.area;
        let (step, of) = self.step();
        let note = say::step_of(&step, &of);
        if self.inside {
            let dim = ctx.theme.style(Role::Dim);
            pane_line(Rect { height: 1, ..area }, say::connect(), true, Some(Span::styled(note, dim).into()), buf, ctx);
            let rows =
                Rect { x: area.x + 3, y: area.y + 2, width: area.width.saturating_sub(4), height: area.height - 2 };
            return self.draw_rows(rows, buf, ctx);
        }
        let mut keys = self.hints(ctx);
        keys.sort_by_key(|(_, does)| *does == say::back());
        border(area, say::connect(), &note, &keys, buf, ctx);
        let (width, height) = (area.width.saturating_sub(4), area.height.saturating_sub(2));
        self.draw_rows(Rect { x: area.x + 2, y: area.y + 1, width, height }, buf, ctx)
    }

    /// Draws the rows that have room: those of the field in focus always do.
    fn draw_rows(&self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) -> Option<Position> {
        let room = usize::from(area.width.saturating_sub(VALUE));
        let rows = self.rows(room, ctx);
        let height = usize::from(area.height);
        let here = rows.iter().position(|row| row.field == Some(self.field)).unwrap_or(0);
        let top = (here + 4).saturating_sub(height).min(rows.len().saturating_sub(height)).min(here);
        for (row, y) in rows.iter().skip(top).zip(area.y..area.bottom()) {
            let focus = row.field == Some(self.field);
            let focused = ctx.theme.style(Role::Focus).add_modifier(Modifier::BOLD);
            let style = if focus { focused } else { ctx.theme.style(Role::Text) };
            paint::text(buf, area.x, y, usize::from(VALUE), row.label, style);
            let style = if focus && row.role == Role::Text { focused } else { ctx.theme.style(row.role) };
            paint::text(buf, area.x + VALUE, y, room, &cut::end(&row.words, room, ctx.glyphs.cut), style);
        }
        let x = (area.x + VALUE + self.caret(room, ctx)? as u16).min(area.right());
        Some(Position::new(x, (area.y + (here - top) as u16).min(area.bottom().saturating_sub(1))))
    }

    /// Returns the column of the caret in the field in focus, where that takes text.
    fn caret(&self, room: usize, ctx: &Ctx<'_>) -> Option<usize> {
        Some(match self.field {
            FormField::Address => visible_part(&self.address, room).1,
            FormField::Key => self.masked(&self.key.text()[..self.key.caret()], ctx).chars().count(),
            FormField::Model => visible_part(&self.model, room).1,
            FormField::Provider | FormField::Keep => return None,
        })
    }

    fn masked(&self, key: &str, ctx: &Ctx<'_>) -> String {
        ctx.glyphs.bullet.repeat(key.chars().count().min(28))
    }

    fn rows(&self, room: usize, ctx: &Ctx<'_>) -> Vec<FormRow> {
        let row = |label, field, words: String, role| FormRow { label, field, words, role };
        let note = |words: String| row("", None, words, Role::Dim);
        let gap = || row("", None, String::new(), Role::Dim);
        let (host, variable) = (self.own_host(), self.provider().variable());
        let is_here = self.place() == ProviderPlace::Here;
        let (name, host) = ((self.provider().words)(), if is_here { say::this_computer() } else { host });
        let others: Vec<&str> = offered().map(|row| (PROVIDERS[row].words)()).filter(|other| *other != name).collect();
        let mut rows = vec![
            row(say::provider(), Some(FormField::Provider), format!("{name}   {host}"), Role::Text),
            note(say::also(&others.join(", "))),
            gap(),
        ];
        if self.place() == ProviderPlace::Typed {
            let (words, role) = match self.address.is_empty() {
                true => ("http://127.0.0.1:8080/v1".to_string(), Role::Dim),
                false if self.field == FormField::Address => (visible_part(&self.address, room).0, Role::Text),
                false => (self.address.expanded(), Role::Text),
            };
            rows.push(row(say::address(), Some(FormField::Address), words, role));
            // What is wrong with it stands below it.
            let wrong = match &self.stage {
                FormStage::Failed(why) if self.field == FormField::Address => why.as_str(),
                _ => "",
            };
            rows.extend(notes(wrong, room, Role::Removed));
        }
        let (key, role) = match self.key.expanded().chars().count() {
            0 => (say::paste_it().to_string(), Role::Dim),
            n => (format!("{}   {}", self.masked(self.key.text(), ctx), count::characters(n)), Role::Text),
        };
        if !is_here {
            rows.push(row(say::key(), Some(FormField::Key), key, role));
        }
        let (words, role) = self.said(variable, ctx);
        rows.extend(notes(&words, room, role));
        rows.push(gap());
        let lasting = if is_here { say::in_later_runs() } else { say::in_a_file() };
        let keeps = [(false, say::for_this_run()), (true, lasting)];
        for (label, (keeps, words)) in [say::keep_it(), ""].into_iter().zip(keeps) {
            let chosen = self.keep == keeps;
            let mark = if chosen { ctx.glyphs.done } else { " " };
            let field = (chosen || !keeps).then_some(FormField::Keep);
            let role = if chosen { Role::Text } else { Role::Dim };
            rows.push(row(label, field, format!("{mark} {words}"), role));
        }
        let alone = match (self.place(), self.host()) {
            (ProviderPlace::Here, _) => String::new(),
            (_, host) if host.is_empty() => say::goes_to_it_alone().into(),
            (_, host) => say::goes_alone(&host),
        };
        rows.extend([note(alone), gap()]);
        let (words, below) = self.model_words(room, ctx);
        let role = if matches!(self.stage, FormStage::Accepted(_)) { Role::Text } else { Role::Dim };
        rows.extend([row(say::model(), Some(FormField::Model), words, role), note(below)]);
        rows
    }

    /// Returns what stands in the field of the model, and below it.
    fn model_words(&self, room: usize, ctx: &Ctx<'_>) -> (String, String) {
        let (FormStage::Accepted(models) | FormStage::Connecting(models)) = &self.stage else {
            let later =
                if self.place() == ProviderPlace::Here { say::chosen_after_reading() } else { say::chosen_later() };
            return (later.into(), String::new());
        };
        let (typed, matching) = (self.model.expanded(), self.matching());
        if models.is_empty() && typed.trim().is_empty() {
            return (say::type_its_name().into(), say::lists_none(&self.host()));
        }
        let dot = format!(" {} ", ctx.glyphs.dot);
        let taken = self.taken().unwrap_or_default();
        let count = match matching.len() {
            0 => say::as_typed().to_string(),
            n if n == models.len() => count::hits(&(self.chosen + 1), &n),
            n => say::matching(&(self.chosen + 1), &n),
        };
        let words = match typed.trim().is_empty() {
            true => format!("{taken}   {count}"),
            false => format!("{}   {taken}{dot}{count}", visible_part(&self.model, room).0),
        };
        let next: Vec<&str> = matching.iter().skip(self.chosen + 1).take(4).copied().collect();
        let below = match next.is_empty() {
            true => say::typing_narrows().to_string(),
            false => say::next_models(&next.join(", ")),
        };
        (words, below)
    }

    /// Returns what is said below the key.
    fn said(&self, variable: &str, ctx: &Ctx<'_>) -> (String, Role) {
        let is_here = self.place() == ProviderPlace::Here;
        match &self.stage {
            FormStage::Checking if is_here => (say::reading_file().into(), Role::Accent),
            FormStage::Checking => (say::checking().into(), Role::Accent),
            FormStage::Failed(why) if self.field != FormField::Address => (why.clone(), Role::Removed),
            FormStage::Accepted(models) => {
                let gap = format!(" {} ", ctx.glyphs.dot);
                let done = if is_here { say::file_was_read().to_string() } else { say::accepted_by(&self.host()) };
                let parts = [done, count::models(models.len()), duration(self.took)];
                (format!("{} {}", ctx.glyphs.done, parts.join(&gap)), Role::Added)
            }
            FormStage::Connecting(_) => (say::connecting().into(), Role::Accent),
            _ if is_here => (say::no_key_for_file().into(), Role::Dim),
            _ if variable.is_empty() && self.is_elsewhere() => (say::one_request().into(), Role::Dim),
            _ if variable.is_empty() => (say::loopback().into(), Role::Dim),
            // For this run the key that is given here wins.
            _ if self.keep => (say::variable_wins_later(&variable), Role::Dim),
            _ => (say::one_request().into(), Role::Dim),
        }
    }
}

/// Returns the rows of what is said below a field: why a key failed may take more than one.
fn notes(words: &str, room: usize, role: Role) -> Vec<FormRow> {
    let lines = wrap::breaks(words, room.max(8)).into_iter();
    lines.map(|at| FormRow { label: "", field: None, words: words[at].into(), role }).collect()
}

/// Returns the part of a typed line that holds the caret, in at most `room` cells with the caret, and the caret's
/// column.
fn visible_part(editor: &Editor, room: usize) -> (String, usize) {
    let typed = editor.rows(room.saturating_sub(1).max(2));
    (typed.rows[typed.caret.0].text(), typed.caret.1)
}

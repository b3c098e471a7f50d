//! The form that connects a model: a provider, its key, and whether the key is kept. The key is masked, and leaves the form
//! only in the command that checks it.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;

use super::frame::{border, keys, modal, pair};
use crate::protocol::{ApiKey, Command, ConnectForm};
use crate::text::number::plural;
use crate::tui::action::{Action, Context};
use crate::tui::app::Effect;
use crate::tui::input::Editor;
use crate::tui::pane::Ctx;
use crate::tui::text::{cut, paint, wrap};
use crate::tui::theme::Role;

/// The providers on offer: their names, what they are called, where they are, and the variable that wins over a key here.
const PROVIDERS: [(&str, &str, &str, &str); 4] = [
    ("openai", "OpenAI", "api.openai.com", "OPENAI_API_KEY"),
    ("anthropic", "Anthropic", "api.anthropic.com", "ANTHROPIC_API_KEY"),
    ("gemini", "Gemini", "generativelanguage.googleapis.com", "GEMINI_API_KEY"),
    ("openai", "any server", "", ""),
];
/// The last of them is named by its address.
const ANY: usize = PROVIDERS.len() - 1;
/// The column of the values.
const VALUE: u16 = 14;
const WIDTH: u16 = 76;
const HEIGHT: u16 = 15;

/// What the keys go to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Provider,
    Address,
    Key,
    Keep,
}

/// How far it is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Stage {
    Filling,
    Checking,
    Failed(String),
}

/// The form.
#[derive(Debug)]
pub struct Connect {
    field: Field,
    provider: usize,
    address: Editor,
    key: Editor,
    keep: bool,
    stage: Stage,
    area: Rect,
}

/// What became of a key.
#[derive(Debug, Clone, PartialEq)]
pub enum ConnectOutcome {
    /// Nothing for others.
    Stay,
    /// Leave.
    Close,
    /// Check the key, and connect.
    Check(Effect),
}

impl Default for Connect {
    fn default() -> Self {
        Connect {
            field: Field::Provider,
            provider: 0,
            address: Editor::default(),
            key: Editor::default(),
            keep: false,
            stage: Stage::Filling,
            area: Rect::default(),
        }
    }
}

impl Connect {
    /// Types a character into the field that takes text; elsewhere no letter does anything.
    pub fn type_char(&mut self, c: char) {
        if let Some(editor) = self.editor() {
            editor.type_char(c);
            self.stage = Stage::Filling;
        }
    }

    /// Pastes a line.
    pub fn paste(&mut self, text: &str) {
        // A key is pasted before anything is chosen: it is meant for its field.
        if self.editor().is_none() {
            self.field = Field::Key;
        }
        let line = text.trim().lines().next().unwrap_or_default().to_string();
        if let Some(editor) = self.editor() {
            editor.act(Action::TextEnd);
            line.chars().for_each(|c| editor.type_char(c));
            self.stage = Stage::Filling;
        }
    }

    fn editor(&mut self) -> Option<&mut Editor> {
        match self.field {
            Field::Address => Some(&mut self.address),
            Field::Key => Some(&mut self.key),
            Field::Provider | Field::Keep => None,
        }
    }

    fn fields(&self) -> &'static [Field] {
        match self.provider {
            ANY => &[Field::Provider, Field::Address, Field::Key, Field::Keep],
            _ => &[Field::Provider, Field::Key, Field::Keep],
        }
    }

    /// Which field it is, from 1, and of how many.
    fn step(&self) -> (usize, usize) {
        let fields = self.fields();
        (fields.iter().position(|f| *f == self.field).map_or(1, |at| at + 1), fields.len())
    }

    fn go(&mut self, by: isize) {
        let fields = self.fields();
        let at = self.step().0 as isize - 1 + by;
        self.field = fields[at.rem_euclid(fields.len() as isize) as usize];
    }

    /// Does an action.
    pub fn act(&mut self, action: Action) -> ConnectOutcome {
        match action {
            Action::Close | Action::Escape => return ConnectOutcome::Close,
            Action::Complete => self.go(1),
            Action::ToggleMode => self.go(-1),
            Action::Up | Action::Down => {
                let by = if action == Action::Down { 1 } else { PROVIDERS.len() - 1 };
                match self.field {
                    Field::Provider => self.provider = (self.provider + by) % PROVIDERS.len(),
                    Field::Keep => self.keep = !self.keep,
                    Field::Address | Field::Key => self.go(if action == Action::Down { 1 } else { -1 }),
                }
            }
            Action::Choose if self.step().0 < self.step().1 => self.go(1),
            Action::Choose if self.stage != Stage::Checking => return self.check(),
            action => {
                if let Some(editor) = self.editor() {
                    editor.act(action);
                }
            }
        }
        ConnectOutcome::Stay
    }

    fn check(&mut self) -> ConnectOutcome {
        let address = self.address.expanded().trim().to_string();
        if self.provider == ANY && !address.starts_with("http://") && !address.starts_with("https://") {
            self.stage = Stage::Failed("the address begins with http:// or https://".into());
            self.field = Field::Address;
            return ConnectOutcome::Stay;
        }
        if self.provider != ANY && self.key.is_empty() {
            self.stage = Stage::Failed("a key is needed".into());
            self.field = Field::Key;
            return ConnectOutcome::Stay;
        }
        self.stage = Stage::Checking;
        let form = ConnectForm {
            provider: PROVIDERS[self.provider].0.into(),
            base_url: (self.provider == ANY).then_some(address),
            key: ApiKey::new(self.key.expanded().trim()),
            keep: self.keep,
        };
        ConnectOutcome::Check(Effect::Send(Command::Connect(form)))
    }

    /// It could not be connected.
    pub fn failed(&mut self, why: &str) {
        self.stage = Stage::Failed(why.to_string());
        self.field = Field::Key;
    }

    /// Tells it the size of the screen that is drawn next.
    pub fn measure(&mut self, screen: Rect, body: Rect) {
        self.area = modal(screen, body, WIDTH, HEIGHT);
    }

    /// Draws it and tells where the cursor goes.
    pub fn draw(&self, buf: &mut Buffer, ctx: &Ctx<'_>) -> Option<Position> {
        let area = self.area;
        let (step, of) = self.step();
        let mut hints = keys(ctx, Context::List, [(Action::Choose, if step == of { "connect" } else { "next" })]);
        hints.extend(keys(ctx, Context::List, [(Action::Complete, "next field")]));
        hints.extend(pair(ctx, Context::List, [Action::Up, Action::Down], "choose"));
        hints.extend(keys(ctx, Context::List, [(Action::Close, "back")]));
        border(area, "connect", &format!("step {step} of {of}"), &hints, buf, ctx);
        let inner = Rect { x: area.x + 2, y: area.y + 1, width: area.width.saturating_sub(4), height: area.height - 2 };
        self.rows(inner, buf, ctx)
    }

    fn rows(&self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) -> Option<Position> {
        let dim = ctx.theme.style(Role::Dim);
        let mut y = area.y + 1;
        let mut cursor = None;
        let room = usize::from(area.width.saturating_sub(VALUE));
        let mut line = |y: u16, words: &str, style| {
            paint::text(buf, area.x + VALUE, y, room, &cut::end(words, room, ctx.glyphs.cut), style);
        };
        let (_, name, host, variable) = PROVIDERS[self.provider];
        line(y, &format!("{name}   {host}"), self.style(Field::Provider, ctx));
        let others: Vec<&str> = PROVIDERS.iter().map(|p| p.1).filter(|other| *other != name).collect();
        line(y + 1, &format!("also: {}", others.join(", ")), dim);
        let mut labels = vec![(y, "provider", Field::Provider)];
        y += 3;
        if self.provider == ANY {
            let words = self.address.expanded();
            line(
                y,
                if words.is_empty() { "http://127.0.0.1:8080/v1" } else { &words },
                self.style(Field::Address, ctx),
            );
            cursor = (self.field == Field::Address).then(|| (y, wrap::cells(&words)));
            labels.push((y, "address", Field::Address));
            y += 2;
        }
        let letters = self.key.expanded().chars().count();
        let masked = ctx.glyphs.bullet.repeat(letters.min(28));
        let key = match letters {
            0 => "paste it here".to_string(),
            n => format!("{masked}   {}", plural(n, "character")),
        };
        line(y, &key, if letters == 0 { dim } else { self.style(Field::Key, ctx) });
        cursor = cursor.or((self.field == Field::Key).then(|| (y, wrap::cells(&masked))));
        labels.push((y, "key", Field::Key));
        let (words, role) = self.said(variable);
        line(y + 1, &words, ctx.theme.style(role));
        y += 3;
        for (n, (keeps, words)) in [
            (false, "for this run only   gone when nebula ends"),
            (true, "in a file   ~/.nebula/credentials.json, mode 0600"),
        ]
        .into_iter()
        .enumerate()
        {
            let chosen = self.keep == keeps;
            let mark = if chosen { ctx.glyphs.done } else { " " };
            line(y + n as u16, &format!("{mark} {words}"), if chosen { self.style(Field::Keep, ctx) } else { dim });
        }
        line(y + 2, "either way it goes to that server alone", dim);
        labels.push((y, "keep it", Field::Keep));
        for (y, label, field) in labels {
            paint::text(buf, area.x, y, usize::from(VALUE), label, self.style(field, ctx));
        }
        cursor.map(|(y, x)| Position::new((area.x + VALUE + x as u16).min(area.right()), y))
    }

    fn style(&self, field: Field, ctx: &Ctx<'_>) -> ratatui::style::Style {
        match self.field == field {
            true => ctx.theme.style(Role::Focus).add_modifier(Modifier::BOLD),
            false => ctx.theme.style(Role::Text),
        }
    }

    /// What is said below the key.
    fn said(&self, variable: &str) -> (String, Role) {
        match &self.stage {
            Stage::Checking => ("checking with one request".into(), Role::Accent),
            Stage::Failed(why) => (why.clone(), Role::Removed),
            Stage::Filling if variable.is_empty() => ("a loopback address needs no key".into(), Role::Dim),
            Stage::Filling => (format!("one request checks it; ${variable} would win over it"), Role::Dim),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::pane::testing::screen;

    #[test]
    fn the_key_is_masked_and_sent_once() {
        let mut form = Connect::default();
        // No letter does anything where a choice is made.
        "sk-1".chars().for_each(|c| form.type_char(c));
        assert!(form.key.is_empty());
        form.act(Action::Choose);
        form.paste("sk-secret\n");
        let area = Rect::new(0, 0, 100, 30);
        form.measure(area, area);
        let text = screen(100, 30, "dark", true, |_, buf, ctx| {
            form.draw(buf, ctx);
        })
        .text();
        assert!(text.contains("9 characters") && !text.contains("secret"), "{text}");
        assert_eq!(form.act(Action::Choose), ConnectOutcome::Stay);
        let ConnectOutcome::Check(Effect::Send(Command::Connect(sent))) = form.act(Action::Choose) else { panic!() };
        assert_eq!((sent.provider.as_str(), sent.key.reveal(), sent.keep), ("openai", "sk-secret", false));
        assert!(!format!("{sent:?}").contains("secret"));
        // One check at a time.
        assert_eq!(form.act(Action::Choose), ConnectOutcome::Stay);
        form.failed("api.openai.com rejected the key (401)");
        let text = screen(100, 30, "dark", true, |_, buf, ctx| {
            form.draw(buf, ctx);
        })
        .text();
        assert!(text.contains("rejected the key (401)"), "{text}");
    }

    #[test]
    fn an_address_is_asked_for_where_no_provider_is_named() {
        let mut form = Connect::default();
        form.act(Action::Up);
        for _ in 0..3 {
            form.act(Action::Choose);
        }
        assert_eq!(form.act(Action::Choose), ConnectOutcome::Stay);
        form.paste("http://127.0.0.1:9/v1");
        for _ in 0..2 {
            form.act(Action::Choose);
        }
        let ConnectOutcome::Check(Effect::Send(Command::Connect(sent))) = form.act(Action::Choose) else { panic!() };
        assert_eq!(sent.base_url.as_deref(), Some("http://127.0.0.1:9/v1"));
    }
}

//! `keys.toml` → (context, chords) → [`Action`]. The shipped file is parsed by the same code as the person's.
//!
//! Not here: what an action does, and which context has the keys.

use std::collections::BTreeMap;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::action::{Action, Context};

const SHIPPED: &str = include_str!("../../assets/keys.toml");

/// One key with its modifiers, in one spelling however the terminal reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Chord {
    code: KeyCode,
    modifiers: KeyModifiers,
}

/// What a key meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// An action.
    Action(Action),
    /// The beginning of a longer sequence; wait for the next key.
    Begun,
    /// Nothing.
    Nothing,
}

/// A mistake in a `keys.toml`, with what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeysError {
    /// Not TOML, a chord bound twice in one context, or of another shape.
    #[error("keys.toml: {0}")]
    Syntax(String),
    /// A context that does not exist.
    #[error("keys.toml: there is no context [{0}]; there are {1}")]
    Context(String, String),
    /// A chord that cannot be read.
    #[error("keys.toml: [{context}] {chord:?} is no key; write it like \"ctrl-r\", \"f2\", \"A\" or \"g g\"")]
    Chord {
        /// Where.
        context: String,
        /// As written.
        chord: String,
    },
    /// An action that does not exist.
    #[error("keys.toml: [{context}] {chord:?}: there is no action {action:?}{hint}")]
    Action {
        /// Where.
        context: String,
        /// As written.
        chord: String,
        /// As written.
        action: String,
        /// `; did you mean …?` or nothing.
        hint: String,
    },
    /// A sequence whose first key is bound by itself, so that it could never be typed.
    #[error(
        "keys.toml: [{context}] {long:?} can never be typed, because {short:?} is bound too; unbind one with false"
    )]
    Hidden {
        /// Where.
        context: String,
        /// The sequence.
        long: String,
        /// Its beginning.
        short: String,
    },
}

/// All bindings.
#[derive(Debug, Clone)]
pub struct Keys {
    bound: BTreeMap<Context, Vec<(Vec<Chord>, Action)>>,
}

impl Default for Keys {
    fn default() -> Self {
        let mut keys = Keys { bound: BTreeMap::new() };
        // A test loads the shipped file; nothing of it is left out.
        let _ = keys.merge(SHIPPED);
        keys
    }
}

impl Keys {
    /// The shipped bindings with `user`'s file over them. Lines with a mistake are left out and reported.
    pub fn with(user: &str) -> (Keys, Vec<KeysError>) {
        let mut keys = Keys::default();
        let errors = keys.merge(user);
        (keys, errors)
    }

    fn merge(&mut self, text: &str) -> Vec<KeysError> {
        let table: toml::Table = match toml::from_str(text) {
            Ok(table) => table,
            Err(e) => return vec![KeysError::Syntax(e.to_string().trim_end().to_string())],
        };
        let mut errors = Vec::new();
        for (name, entries) in table {
            let Some(context) = Context::ALL.iter().find(|(_, n)| *n == name).map(|(c, _)| *c) else {
                let all: Vec<&str> = Context::ALL.iter().map(|(_, n)| *n).collect();
                errors.push(KeysError::Context(name, all.join(", ")));
                continue;
            };
            let Some(entries) = entries.as_table() else {
                errors.push(KeysError::Syntax(format!("{name} must be a table: [{name}]")));
                continue;
            };
            for (written, value) in entries {
                if let Err(e) = self.bind(context, written, value) {
                    errors.push(e);
                }
            }
        }
        errors.extend(self.hidden());
        errors
    }

    fn bind(&mut self, context: Context, written: &str, value: &toml::Value) -> Result<(), KeysError> {
        let wrong = || KeysError::Chord { context: context.name().into(), chord: written.into() };
        let chords: Option<Vec<Chord>> = written.split_whitespace().map(Chord::parse).collect();
        let chords = chords.filter(|c| !c.is_empty()).ok_or_else(wrong)?;
        let bound = self.bound.entry(context).or_default();
        let place = bound.iter().position(|(c, _)| *c == chords);
        match value {
            toml::Value::Boolean(false) => {
                if let Some(i) = place {
                    bound.remove(i);
                }
            }
            toml::Value::String(name) => {
                let action = Action::named(name).ok_or_else(|| KeysError::Action {
                    context: context.name().into(),
                    chord: written.into(),
                    action: name.clone(),
                    hint: nearest(name),
                })?;
                match place {
                    Some(i) => bound[i].1 = action,
                    None => bound.push((chords, action)),
                }
            }
            other => {
                return Err(KeysError::Action {
                    context: context.name().into(),
                    chord: written.into(),
                    action: other.to_string(),
                    hint: "; write a name in quotes, or false".into(),
                });
            }
        }
        Ok(())
    }

    fn hidden(&self) -> Vec<KeysError> {
        let mut errors = Vec::new();
        for (context, bound) in &self.bound {
            for (long, _) in bound.iter().filter(|(c, _)| c.len() > 1) {
                if let Some((short, _)) = bound.iter().find(|(c, _)| c.len() < long.len() && long.starts_with(c)) {
                    errors.push(KeysError::Hidden {
                        context: context.name().into(),
                        long: label(long),
                        short: label(short),
                    });
                }
            }
        }
        errors
    }

    /// What the keys `typed` so far mean in `context` or around it. A sequence begun in an inner context wins over
    /// an action of an outer one.
    pub fn find(&self, context: Context, typed: &[Chord]) -> Found {
        let all = std::iter::once(&context).chain(context.outer());
        for bound in all.filter_map(|c| self.bound.get(c)) {
            if let Some((_, action)) = bound.iter().find(|(c, _)| c == typed) {
                return Found::Action(*action);
            }
            if bound.iter().any(|(c, _)| c.len() > typed.len() && c.starts_with(typed)) {
                return Found::Begun;
            }
        }
        Found::Nothing
    }

    /// How the shortest key for `action` in exactly `context` is written on the screen; nothing: it has none.
    pub fn shown(&self, context: Context, action: Action) -> Option<String> {
        let bound = self.bound.get(&context)?.iter().filter(|(_, a)| *a == action);
        bound.map(|(chords, _)| label(chords)).min_by_key(String::len)
    }

    /// Like [`Keys::shown`], for a key of `bound` that reaches it from `inner`: keys that a context on the way takes
    /// for something else are passed over.
    pub fn visible(&self, inner: Context, bound: Context, action: Action) -> Option<String> {
        let candidates = self.bound.get(&bound)?.iter().filter(|(_, a)| *a == action);
        let reach = candidates.map(|(chords, _)| chords).filter(|c| self.find(inner, c) == Found::Action(action));
        reach.map(|c| label(c)).min_by_key(String::len)
    }
}

/// `; did you mean …?` for a name that is nearly one of the table's.
fn nearest(name: &str) -> String {
    let likeness = |other: &str| similar::TextDiff::from_chars(name, other).ratio();
    let best = super::action::TABLE.iter().map(|(_, n, _)| (likeness(n), *n)).max_by(|a, b| a.0.total_cmp(&b.0));
    match best {
        Some((r, n)) if r > 0.6 => format!("; did you mean {n:?}?"),
        _ => String::new(),
    }
}

/// Chords as on the keycaps, one after the other.
fn label(chords: &[Chord]) -> String {
    chords.iter().map(|c| c.to_string()).collect::<Vec<_>>().join(" ")
}

impl Chord {
    /// The chord of a key event; `None` for lone modifiers and the like.
    pub fn of(key: &KeyEvent) -> Option<Chord> {
        let mut modifiers = key.modifiers & (KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SHIFT);
        let code = match key.code {
            KeyCode::BackTab => {
                modifiers |= KeyModifiers::SHIFT;
                KeyCode::Tab
            }
            KeyCode::Char(c) if modifiers.contains(KeyModifiers::CONTROL) => KeyCode::Char(c.to_ascii_lowercase()),
            // Shift is in the letter already, or it made another sign of the key.
            KeyCode::Char(c) => {
                let upper = modifiers.contains(KeyModifiers::SHIFT) && c.is_ascii_lowercase();
                modifiers -= KeyModifiers::SHIFT;
                KeyCode::Char(if upper { c.to_ascii_uppercase() } else { c })
            }
            KeyCode::Modifier(_) | KeyCode::Null => return None,
            code => code,
        };
        Some(Chord { code, modifiers })
    }

    /// The letter that the chord types, if it types one.
    pub fn letter(self) -> Option<char> {
        match self.code {
            KeyCode::Char(c) if self.modifiers.is_empty() => Some(c),
            _ => None,
        }
    }

    /// Reads `ctrl-r`, `shift-tab`, `A`, `f2`, `space`, `-`.
    fn parse(written: &str) -> Option<Chord> {
        let (mut rest, mut modifiers) = (written, KeyModifiers::NONE);
        loop {
            let (word, modifier) =
                [("ctrl-", KeyModifiers::CONTROL), ("alt-", KeyModifiers::ALT), ("shift-", KeyModifiers::SHIFT)]
                    .into_iter()
                    .find(|(w, _)| rest.len() > w.len() && rest.starts_with(w))
                    .unwrap_or(("", KeyModifiers::NONE));
            if word.is_empty() {
                break;
            }
            rest = &rest[word.len()..];
            modifiers |= modifier;
        }
        let code = match rest {
            "enter" => KeyCode::Enter,
            "tab" => KeyCode::Tab,
            "space" => KeyCode::Char(' '),
            "esc" => KeyCode::Esc,
            "up" => KeyCode::Up,
            "down" => KeyCode::Down,
            "left" => KeyCode::Left,
            "right" => KeyCode::Right,
            "home" => KeyCode::Home,
            "end" => KeyCode::End,
            "pageup" => KeyCode::PageUp,
            "pagedown" => KeyCode::PageDown,
            "backspace" => KeyCode::Backspace,
            "delete" => KeyCode::Delete,
            "insert" => KeyCode::Insert,
            _ => match (rest.strip_prefix('f').and_then(|n| n.parse().ok()), rest.chars().count()) {
                (Some(n @ 1..=24), _) => KeyCode::F(n),
                (_, 1) => KeyCode::Char(rest.chars().next()?),
                _ => return None,
            },
        };
        Chord::of(&KeyEvent::new(code, modifiers))
    }
}

impl std::fmt::Display for Chord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (modifier, word) in
            [(KeyModifiers::CONTROL, "Ctrl-"), (KeyModifiers::ALT, "Alt-"), (KeyModifiers::SHIFT, "Shift-")]
        {
            if self.modifiers.contains(modifier) {
                f.write_str(word)?;
            }
        }
        match self.code {
            KeyCode::Char(' ') => f.write_str("Space"),
            KeyCode::Char(c) if self.modifiers.contains(KeyModifiers::CONTROL) => write!(f, "{}", c.to_uppercase()),
            KeyCode::Char(c) => write!(f, "{c}"),
            KeyCode::F(n) => write!(f, "F{n}"),
            KeyCode::PageUp => f.write_str("PgUp"),
            KeyCode::PageDown => f.write_str("PgDn"),
            other => write!(f, "{other:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::action::GROUPS;

    fn typed(text: &str) -> Vec<Chord> {
        text.split(' ').map(|c| Chord::parse(c).expect(c)).collect()
    }

    #[test]
    fn the_shipped_file_is_sound() {
        let mut keys = Keys { bound: BTreeMap::new() };
        assert_eq!(keys.merge(SHIPPED), []);
    }

    #[test]
    fn every_group_that_is_hinted_at_has_a_key() {
        let keys = Keys::default();
        for group in GROUPS.iter().filter(|g| !g.hint.is_empty()) {
            for action in group.actions {
                let around = std::iter::once(&group.context).chain(group.context.outer());
                let bound = around.filter_map(|c| keys.shown(*c, *action)).count() > 0;
                let typed = matches!(action, Action::Mention | Action::Commands);
                assert!(bound || typed, "{:?} {action:?}", group.context);
            }
        }
    }

    #[test]
    fn inner_contexts_win_and_sequences_wait() {
        let keys = Keys::default();
        assert_eq!(keys.find(Context::Diff, &typed("esc")), Found::Action(Action::Later));
        assert_eq!(keys.find(Context::Chat, &typed("esc")), Found::Action(Action::Escape));
        assert_eq!(keys.find(Context::Chat, &typed("g")), Found::Begun);
        assert_eq!(keys.find(Context::Chat, &typed("g g")), Found::Action(Action::First));
        assert_eq!(keys.find(Context::Chat, &typed("x")), Found::Nothing);
    }

    #[test]
    fn keys_are_written_as_on_the_keycaps() {
        let keys = Keys::default();
        assert_eq!(keys.shown(Context::Global, Action::ToggleMode).as_deref(), Some("Shift-Tab"));
        assert_eq!(keys.shown(Context::Global, Action::ChooseModel).as_deref(), Some("Ctrl-O"));
        assert_eq!(keys.shown(Context::Pane, Action::First).as_deref(), Some("g g"));
        assert_eq!(keys.shown(Context::Diff, Action::Toggle).as_deref(), Some("Space"));
    }

    #[test]
    fn a_persons_file_overrides_and_mistakes_are_named() {
        let (keys, errors) = Keys::with("[diff]\n\"y\" = false\n\"ctrl-shift-y\" = \"accept\"\n");
        assert_eq!(errors, []);
        assert_eq!(keys.find(Context::Diff, &typed("y")), Found::Nothing);
        let (_, errors) =
            Keys::with("[diff]\n\"q\" = \"acept\"\n\"ctrl-\" = \"accept\"\n[foo]\n[pane]\n\"g\" = \"last\"\n");
        let text = errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        assert!(text.contains("did you mean \"accept\"?"), "{text}");
        assert!(text.contains("\"ctrl-\" is no key"), "{text}");
        assert!(text.contains("no context [foo]"), "{text}");
        assert!(text.contains("\"g g\" can never be typed, because \"g\" is bound too"), "{text}");
        assert_eq!(Keys::with("[diff]\n\"y\" = \"write\"\n\"y\" = \"accept\"\n").1.len(), 1);
    }

    #[test]
    fn shift_is_part_of_the_letter() {
        let shifted = KeyEvent::new(KeyCode::Char('A'), KeyModifiers::SHIFT);
        assert_eq!(Chord::of(&shifted), Chord::parse("A"));
        let back = KeyEvent::new(KeyCode::BackTab, KeyModifiers::SHIFT);
        assert_eq!(Chord::of(&back), Chord::parse("shift-tab"));
    }
}

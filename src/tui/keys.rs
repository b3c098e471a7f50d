//! `keys.toml` → (context, chords) → [`Action`]. The shipped file is parsed by the same code as the person's.
//!
//! Not here: what an action does, and which context has the keys.

use std::collections::BTreeMap;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::action::{Action, Context};
use super::toml_place;
use crate::messages::app as say;
use crate::text::distance;

const SHIPPED: &str = include_str!("../../assets/keys.toml");

/// One key with its modifiers, in one spelling however the terminal reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Chord {
    code: KeyCode,
    modifiers: KeyModifiers,
}

/// The meaning of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyMatch {
    /// An action.
    Action(Action),
    /// The beginning of a longer sequence; wait for the next key.
    Begun,
    /// Nothing.
    Nothing,
}

/// A mistake in a `keys.toml`, with what to do: `LINE:COLUMN: what`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}:{}: {what}", place.0, place.1)]
pub struct KeysError {
    /// Line and column, both from 1.
    pub place: (usize, usize),
    /// The fault.
    pub what: KeysFault,
}

/// A fault of a `keys.toml`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeysFault {
    /// The file is not TOML, binds a chord twice in one context, or is of another shape.
    #[error("{0}")]
    Syntax(String),
    /// A context that does not exist.
    #[error("{}", say::no_context(.0, .1))]
    Context(String, String),
    /// A chord that cannot be read.
    #[error("{}", say::no_key(context, &format!("{chord:?}")))]
    Chord {
        /// The context.
        context: String,
        /// The chord as written.
        chord: String,
    },
    /// An action that does not exist.
    #[error("{}", say::no_action(context, &format!("{chord:?}"), &format!("{action:?}"), hint))]
    Action {
        /// The context.
        context: String,
        /// The chord as written.
        chord: String,
        /// The action as written.
        action: String,
        /// `; did you mean …?` or nothing.
        hint: String,
    },
    /// One key under two spellings.
    #[error("{}", say::same_key(context, &format!("{chord:?}"), &format!("{other:?}")))]
    Clash {
        /// The context.
        context: String,
        /// The chord as written first.
        chord: String,
        /// The chord as written second.
        other: String,
    },
    /// A sequence whose first key is bound by itself, so that it could never be typed.
    #[error("{}", say::hidden_key(context, &format!("{long:?}"), &format!("{short:?}")))]
    Hidden {
        /// The context.
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
    /// Returns the shipped bindings with `user`'s file over them. Lines with a mistake are left out and reported.
    pub fn with(user: &str) -> (Keys, Vec<KeysError>) {
        let mut keys = Keys::default();
        let errors = keys.merge(user);
        (keys, errors)
    }

    fn merge(&mut self, text: &str) -> Vec<KeysError> {
        let table: toml::Table = match toml::from_str(text) {
            Ok(table) => table,
            Err(e) => {
                let (place, what) = toml_place::syntax(text, &e);
                return vec![KeysError { place, what: KeysFault::Syntax(what) }];
            }
        };
        let mut errors = Vec::new();
        let mut complain = |path: &[&str], what| errors.push(KeysError { place: toml_place::of(text, path), what });
        let mut written: Vec<(Context, Vec<Chord>, &str)> = Vec::new();
        for (name, entries) in &table {
            let Some(context) = Context::ALL.iter().find(|(_, n)| n == name).map(|(c, _)| *c) else {
                let all: Vec<&str> = Context::ALL.iter().map(|(_, n)| *n).collect();
                complain(&[name], KeysFault::Context(name.clone(), all.join(", ")));
                continue;
            };
            let Some(entries) = entries.as_table() else {
                complain(&[name], KeysFault::Syntax(say::must_be_table(name)));
                continue;
            };
            for (chord, value) in entries {
                match self.bind(context, chord, value, &written) {
                    Ok(chords) => written.push((context, chords, chord)),
                    // Of two spellings the later line is the one to look at.
                    Err(KeysFault::Clash { context, chord, other }) => {
                        let later = [&chord, &other].into_iter().max_by_key(|c| toml_place::of(text, &[name, c]));
                        let path = [name.as_str(), later.map_or("", String::as_str)];
                        complain(&path, KeysFault::Clash { context, chord: chord.clone(), other: other.clone() });
                    }
                    Err(what) => complain(&[name, chord], what),
                }
            }
        }
        for (context, long, short) in self.hidden() {
            // The shipped file may hold one of the two; the person's holds the other.
            let own = |chords: &[Chord]| written.iter().find(|(c, k, _)| *c == context && k == chords).map(|w| w.2);
            let path = [context.name(), own(&long).or(own(&short)).unwrap_or_default()];
            let what = KeysFault::Hidden { context: context.name().into(), long: label(&long), short: label(&short) };
            complain(&path, what);
        }
        errors
    }

    /// Binds one line of a file in which `written` came before; returns the keys it names.
    fn bind(
        &mut self,
        context: Context,
        chord: &str,
        value: &toml::Value,
        written: &[(Context, Vec<Chord>, &str)],
    ) -> Result<Vec<Chord>, KeysFault> {
        let wrong = || KeysFault::Chord { context: context.name().into(), chord: chord.into() };
        let chords: Option<Vec<Chord>> = chord.split_whitespace().map(Chord::parse).collect();
        let chords = chords.filter(|c| !c.is_empty()).ok_or_else(wrong)?;
        if let Some((_, _, first)) = written.iter().find(|(c, k, _)| *c == context && *k == chords) {
            let (first, other) = (first.to_string(), chord.to_string());
            return Err(KeysFault::Clash { context: context.name().into(), chord: first, other });
        }
        let no_action = |action: String, hint| KeysFault::Action {
            context: context.name().into(),
            chord: chord.into(),
            action,
            hint,
        };
        let bound = self.bound.entry(context).or_default();
        let place = bound.iter().position(|(c, _)| *c == chords);
        match value {
            toml::Value::Boolean(false) => {
                if let Some(i) = place {
                    bound.remove(i);
                }
            }
            toml::Value::String(name) => {
                let action = Action::named(name).ok_or_else(|| no_action(name.clone(), nearest(name)))?;
                match place {
                    Some(i) => bound[i].1 = action,
                    None => bound.push((chords.clone(), action)),
                }
            }
            other => return Err(no_action(other.to_string(), say::name_in_quotes().into())),
        }
        Ok(chords)
    }

    /// Sequences that can never be typed, each with the key that hides it.
    fn hidden(&self) -> Vec<(Context, Vec<Chord>, Vec<Chord>)> {
        let mut found = Vec::new();
        for (context, bound) in &self.bound {
            for (long, _) in bound.iter().filter(|(c, _)| c.len() > 1) {
                if let Some((short, _)) = bound.iter().find(|(c, _)| c.len() < long.len() && long.starts_with(c)) {
                    found.push((*context, long.clone(), short.clone()));
                }
            }
        }
        found
    }

    /// Returns what the keys `typed` so far mean in `context` or around it. A sequence begun in an inner context wins
    /// over an action of an outer one.
    pub fn find(&self, context: Context, typed: &[Chord]) -> KeyMatch {
        self.find_offered(context, typed, |_| true)
    }

    /// Finds an action as [`Keys::find`] does, passing over actions that are not `offered`.
    pub fn find_offered(&self, context: Context, typed: &[Chord], offered: impl Fn(Action) -> bool) -> KeyMatch {
        let all = std::iter::once(&context).chain(context.outer());
        for bound in all.filter_map(|c| self.bound.get(c)) {
            if let Some((_, action)) = bound.iter().find(|(c, action)| c == typed && offered(*action)) {
                return KeyMatch::Action(*action);
            }
            if bound.iter().any(|(c, _)| c.len() > typed.len() && c.starts_with(typed)) {
                return KeyMatch::Begun;
            }
        }
        KeyMatch::Nothing
    }

    /// Returns the text of the shortest key for `action` in exactly `context`; none: it has no key.
    pub fn display(&self, context: Context, action: Action) -> Option<String> {
        let bound = self.bound.get(&context)?.iter().filter(|(_, a)| *a == action);
        bound.map(|(chords, _)| label(chords)).min_by_key(String::len)
    }

    /// Returns what [`Keys::display`] does, for a key of `bound` that reaches it from `inner`: keys that a context on the
    /// way takes for something else that is `offered` are passed over.
    pub fn visible(
        &self,
        inner: Context,
        bound: Context,
        action: Action,
        offered: impl Fn(Action) -> bool,
    ) -> Option<String> {
        let candidates = self.bound.get(&bound)?.iter().filter(|(_, a)| *a == action);
        let reach = candidates
            .map(|(chords, _)| chords)
            .filter(|c| self.find_offered(inner, c, &offered) == KeyMatch::Action(action));
        reach.map(|c| label(c)).min_by_key(String::len)
    }

    /// Returns the text of the key for `action` where the keys go to `inner`: its own, else one of those around it. Of
    /// several keys the shortest, but Esc before all.
    pub fn word(&self, inner: Context, action: Action) -> Option<String> {
        self.word_offered(inner, action, |_| true)
    }

    /// Returns what [`Keys::word`] does, where keys of actions that are not `offered` mean what they mean around.
    pub fn word_offered(&self, inner: Context, action: Action, offered: impl Fn(Action) -> bool) -> Option<String> {
        let esc = Chord { code: KeyCode::Esc, modifiers: KeyModifiers::NONE };
        if self.find(inner, &[esc]) == KeyMatch::Action(action) {
            return Some(esc.to_string());
        }
        std::iter::once(&inner).chain(inner.outer()).find_map(|c| self.visible(inner, *c, action, &offered))
    }

    /// Returns the name of the key for `action` where the keys go to `inner`: the usual one, while that key still
    /// does it.
    pub fn word_or(&self, usual: &str, inner: Context, action: Action) -> String {
        let near = std::iter::once(&inner).chain(inner.outer()).filter_map(|c| self.bound.get(c));
        let bound = near.flatten().find(|(chords, _)| label(chords) == usual);
        match bound {
            Some((_, does)) if *does == action => usual.to_string(),
            _ => self.word(inner, action).unwrap_or_else(|| say::own_key().into()),
        }
    }

    /// Returns the text of the keys of two actions that belong together: `Up/Down`, `Ctrl-U/D`. The arrows come first,
    /// where they are bound.
    pub fn pair(&self, inner: Context, [one, other]: [Action; 2]) -> Option<String> {
        let arrow = |code, action| {
            let chord = Chord { code, modifiers: KeyModifiers::NONE };
            (self.find(inner, &[chord]) == KeyMatch::Action(action)).then(|| chord.to_string())
        };
        let arrows = [(KeyCode::Up, KeyCode::Down), (KeyCode::Left, KeyCode::Right)];
        let arrows = arrows.iter().find_map(|(a, b)| arrow(*a, one).zip(arrow(*b, other)));
        match arrows.or_else(|| self.word(inner, one).zip(self.word(inner, other))) {
            // The modifier is said once.
            Some((a, b)) => match (a.rsplit_once('-'), b.rsplit_once('-')) {
                (Some((before, _)), Some((same, rest))) if before == same && !rest.is_empty() => {
                    Some(format!("{a}/{rest}"))
                }
                _ => Some(format!("{a}/{b}")),
            },
            None => self.word(inner, one).or_else(|| self.word(inner, other)),
        }
    }
}

/// Names that actions had before.
const RENAMED: [(&str, &str); 3] = [("leave-it", "keep"), ("merge-it", "merge"), ("take-old", "restore-version")];

/// Returns `; did you mean …?` for a former name of an action, or one that is nearly one of the table's.
fn nearest(name: &str) -> String {
    let renamed = RENAMED.iter().find(|(old, _)| *old == name).map(|(_, now)| *now);
    let near = renamed.or_else(|| distance::nearest(name, super::action::TABLE.iter().map(|(_, name, _)| *name)));
    near.map_or(String::new(), |near| say::did_you_mean(&format!("{near:?}")))
}

/// Chords as on the keycaps, one after the other.
fn label(chords: &[Chord]) -> String {
    chords.iter().map(|c| c.to_string()).collect::<Vec<_>>().join(" ")
}

impl Chord {
    /// Returns the chord of a key event; `None` for lone modifiers and the like.
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

    /// Returns the letter that the chord types, if it types one.
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
            KeyCode::Char(c) if self.modifiers.contains(KeyModifiers::ALT) && c.is_uppercase() => {
                write!(f, "Shift-{c}")
            }
            KeyCode::Char(c) if self.modifiers.contains(KeyModifiers::ALT) => write!(f, "{}", c.to_uppercase()),
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

    #[test]
    fn the_example_of_the_guide_is_read_whole() {
        let guide = include_str!("../../assets/guide/keys.md");
        let example = guide.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
        let (keys, errors) = Keys::with(example);
        assert_eq!(errors, []);
        assert_eq!(keys.word_or("-", Context::Global, Action::Palette), "F12");
    }

    #[test]
    fn a_text_names_the_usual_key_while_it_works() {
        let (keys, _) =
            Keys::with("[global]\n\"f2\" = false\n\"f7\" = \"focus-diff\"\n[archive]\n\"left\" = \"redo\"\n");
        assert_eq!(keys.word_or("F3", Context::Input, Action::FocusArchive), "F3");
        assert_eq!(keys.word_or("F2", Context::Input, Action::FocusDiff), "F7");
        assert_eq!(keys.word_or("Left", Context::Archive, Action::BackInTime), "h");
        assert_eq!(Keys::default().word_or("Left", Context::Archive, Action::BackInTime), "Left");
    }
    use crate::tui::key_groups::GROUPS;

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
        for group in GROUPS.iter().filter(|g| !g.hint().is_empty()) {
            for action in group.actions {
                let around = std::iter::once(&group.context).chain(group.context.outer());
                let bound = around.filter_map(|c| keys.display(*c, *action)).count() > 0;
                let typed = matches!(action, Action::Mention | Action::Commands | Action::Sessions);
                assert!(bound || typed, "{:?} {action:?}", group.context);
            }
        }
    }

    #[test]
    fn inner_contexts_win_and_sequences_wait() {
        let keys = Keys::default();
        assert_eq!(keys.find(Context::Diff, &typed("esc")), KeyMatch::Action(Action::Later));
        assert_eq!(keys.find(Context::Chat, &typed("esc")), KeyMatch::Action(Action::Escape));
        assert_eq!(keys.find(Context::Chat, &typed("g")), KeyMatch::Begun);
        assert_eq!(keys.find(Context::Chat, &typed("g g")), KeyMatch::Action(Action::First));
        assert_eq!(keys.find(Context::Chat, &typed("x")), KeyMatch::Nothing);
    }

    #[test]
    fn keys_are_written_as_on_the_keycaps() {
        let keys = Keys::default();
        assert_eq!(keys.display(Context::Global, Action::ToggleMode).as_deref(), Some("Shift-Tab"));
        assert_eq!(keys.display(Context::Global, Action::ChooseModel).as_deref(), Some("Ctrl-O"));
        assert_eq!(keys.display(Context::Pane, Action::First).as_deref(), Some("g g"));
        assert_eq!(keys.display(Context::Diff, Action::Toggle).as_deref(), Some("Space"));
        assert_eq!(keys.word(Context::Chat, Action::ChooseModel).as_deref(), Some("Ctrl-O"));
        assert_eq!(keys.pair(Context::Sessions, [Action::Up, Action::Down]).as_deref(), Some("Up/Down"));
        let preview = [Action::PreviewUp, Action::PreviewDown];
        assert_eq!(keys.pair(Context::Completion, preview).as_deref(), Some("Ctrl-U/D"));
    }

    #[test]
    fn pairs_follow_a_persons_file() {
        let (keys, _) = Keys::with("[list]\n\"up\" = false\n\"down\" = false\n\"ctrl-p\" = false\n");
        // What is left of a pair is said alone.
        assert_eq!(keys.pair(Context::List, [Action::Up, Action::Down]).as_deref(), Some("Ctrl-N"));
        let (keys, _) = Keys::with(
            "[archive]\n\"left\" = false\n\"right\" = false\n\"H\" = \"back-in-time\"\n\"L\" = \"on-in-time\"",
        );
        let time = [Action::BackInTime, Action::OnInTime];
        assert_eq!(keys.pair(Context::Archive, time).as_deref(), Some("h/L"));
    }

    #[test]
    fn a_persons_file_overrides_and_mistakes_are_named() {
        let (keys, errors) = Keys::with("[diff]\n\"y\" = false\n\"ctrl-shift-y\" = \"accept\"\n");
        assert_eq!(errors, []);
        assert_eq!(keys.find(Context::Diff, &typed("y")), KeyMatch::Nothing);
        let (_, errors) =
            Keys::with("[diff]\n\"q\" = \"acept\"\n\"ctrl-\" = \"accept\"\n[foo]\n[pane]\n\"g\" = \"last\"\n");
        let text = errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        assert!(text.contains("2:1: [diff] \"q\": there is no action \"acept\"; did you mean \"accept\"?"), "{text}");
        assert!(text.contains("\"ctrl-\" is no key"), "{text}");
        assert!(text.contains("4:2: there is no context [foo]"), "{text}");
        assert!(text.contains("6:1: [pane] \"g g\" can never be typed, because \"g\" is bound too"), "{text}");
        for (old, now) in RENAMED {
            let (_, errors) = Keys::with(&format!("[archive]\n\"x\" = \"{old}\"\n"));
            let want = format!("2:1: [archive] \"x\": there is no action \"{old}\"; did you mean \"{now}\"?");
            assert_eq!(errors.iter().map(ToString::to_string).collect::<Vec<_>>(), [want]);
            assert!(Action::named(now).is_some());
        }
        let twice = Keys::with("[diff]\n\"y\" = \"write\"\n\"y\" = \"accept\"\n").1;
        assert_eq!(twice.iter().map(|e| e.place).collect::<Vec<_>>(), [(3, 1)]);
        let (keys, clash) = Keys::with("[diff]\n\"ctrl-T\" = \"accept\"\n\"ctrl-t\" = \"reject\"\n");
        let want = "3:1: [diff] \"ctrl-T\" and \"ctrl-t\" are the same key; keep one of them";
        assert_eq!(clash.iter().map(ToString::to_string).collect::<Vec<_>>(), [want]);
        assert_eq!(keys.find(Context::Diff, &typed("ctrl-t")), KeyMatch::Action(Action::Accept));
    }

    #[test]
    fn shift_is_part_of_the_letter() {
        let shifted = KeyEvent::new(KeyCode::Char('A'), KeyModifiers::SHIFT);
        assert_eq!(Chord::of(&shifted), Chord::parse("A"));
        let back = KeyEvent::new(KeyCode::BackTab, KeyModifiers::SHIFT);
        assert_eq!(Chord::of(&back), Chord::parse("shift-tab"));
    }
}

//! Theme files: reading them, building one on another, and what is wrong with one, to the line and column.

use std::collections::BTreeMap;
use std::path::PathBuf;

use ratatui::style::{Color, Modifier, Style};
use serde::Deserialize;

use super::{Depth, Role, Theme};
use crate::config::screen_files::UserFile;
use crate::messages::{Text, app as say, commands as words};
use crate::tui::{colour, toml_place};

/// The reason why a theme could not be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ThemeError {
    /// No file of that name and none shipped.
    #[error("{}", say::unknown_theme(.0, .1))]
    Unknown(String, String),
    /// A mistake in a theme's file.
    #[error("{file}:{}:{}: {what}", place.0, place.1)]
    Mistake {
        /// The file, or for a theme without one `theme NAME`.
        file: String,
        /// Line and column, both from 1.
        place: (usize, usize),
        /// The fault.
        what: ThemeFault,
    },
    /// The file or folder could not be read.
    #[error("{}", say::cannot_read(&.0.display(), .1))]
    Unreadable(PathBuf, String),
}

/// A fault of a theme.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ThemeFault {
    /// The file is not TOML, or of another shape.
    #[error("{0}")]
    Syntax(String),
    /// A role, palette entry or attribute that makes no sense.
    #[error("{}", say::not_colour(.0, .1))]
    Colour(String, String),
    /// A number that is none of the terminal's own colours.
    #[error("{}", say::not_of_sixteen(.0, .1))]
    OfSixteen(String, u8),
    /// A role that does not exist.
    #[error("{}", say::no_role(.0))]
    Role(String),
    /// An attribute that does not exist.
    #[error("{}", say::no_attribute(.0, .1))]
    Attribute(String, String),
    /// A role neither it nor what it inherits from gives.
    #[error("{}", say::missing_role(.0))]
    Missing(String),
    /// It builds on a theme that does not exist.
    #[error("{}", say::no_parent(.0, .1))]
    Parent(String, String),
    /// `inherits` in a circle.
    #[error("{}", say::circle())]
    Circle,
}

/// A mistake, in the theme of that name, at the key of that path.
type Found = (String, Vec<String>, ThemeFault);

/// The themes nebula comes with.
pub(super) const SHIPPED: &[(&str, Text, &str)] = &[
    ("dark", words::theme_dark, include_str!("../../../themes/dark.toml")),
    ("light", words::theme_light, include_str!("../../../themes/light.toml")),
    ("contrast", words::theme_contrast, include_str!("../../../themes/contrast.toml")),
    ("plain", words::theme_plain, include_str!("../../../themes/plain.toml")),
    ("ansi", words::theme_ansi, include_str!("../../../themes/ansi.toml")),
];

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    inherits: Option<String>,
    /// `ground` in files of earlier releases.
    #[serde(alias = "ground")]
    background: Option<String>,
    #[serde(default)]
    palette: BTreeMap<String, String>,
    #[serde(default)]
    roles: BTreeMap<String, RoleStyle>,
    /// Colours of roles among the 256, by number; the others take the nearest colour of the cube.
    #[serde(default)]
    xterm: BTreeMap<String, u8>,
    /// Colours of roles among the terminal's own sixteen; the others take the nearest of these.
    #[serde(default)]
    ansi: BTreeMap<String, Ansi>,
    /// The terminal's own colours are taken whatever it can show.
    only_ansi: Option<bool>,
}

/// One of the sixteen colours, with attributes; no colour: the terminal's own text or background.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Ansi {
    Color(u8),
    Full {
        color: Option<u8>,
        #[serde(default)]
        attributes: Vec<String>,
    },
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum RoleStyle {
    Color(String),
    Full {
        color: Option<String>,
        #[serde(default)]
        attributes: Vec<String>,
    },
}

/// The themes there are: the shipped ones, and the user's over them.
#[derive(Debug, Clone)]
pub struct Themes {
    texts: BTreeMap<String, String>,
    /// The files of the person's themes.
    files: BTreeMap<String, PathBuf>,
}

impl Default for Themes {
    fn default() -> Self {
        let texts = SHIPPED.iter().map(|(n, _, t)| (n.to_string(), t.to_string())).collect();
        Themes { texts, files: BTreeMap::new() }
    }
}

impl Themes {
    /// Returns what a theme is described as: one that is not shipped is the person's.
    pub fn about(name: &str) -> &'static str {
        SHIPPED.iter().find(|(shipped, ..)| *shipped == name).map_or(words::theme_own(), |(_, about, _)| about())
    }

    /// Returns the shipped themes and the person's. What cannot be read is left out and reported.
    pub fn with(files: &[UserFile]) -> (Self, Vec<ThemeError>) {
        let (mut themes, mut errors) = (Themes::default(), Vec::new());
        for UserFile { path, text } in files {
            let Some(name) = path.file_stem().and_then(|n| n.to_str()) else { continue };
            match text {
                Ok(text) => {
                    themes.add(name, text);
                    themes.files.insert(name.to_string(), path.clone());
                }
                Err(why) => errors.push(ThemeError::Unreadable(path.clone(), why.clone())),
            }
        }
        // One may build on another, so they are tried when all are there; a mistake is said once.
        for name in themes.files.keys() {
            errors.extend(themes.get(name, Depth::True).err().filter(|e| !errors.contains(e)));
        }
        (themes, errors)
    }

    /// Adds a theme's text under `name`, in place of one of the same name.
    pub fn add(&mut self, name: &str, text: &str) {
        self.texts.insert(name.to_string(), text.to_string());
    }

    /// Names, sorted.
    pub fn names(&self) -> Vec<&str> {
        self.texts.keys().map(String::as_str).collect()
    }

    /// Returns the theme `name` for a terminal of `depth`.
    ///
    /// # Errors
    /// Says what is wrong with the file, or which themes there are.
    pub fn get(&self, name: &str, depth: Depth) -> Result<Theme, ThemeError> {
        if !self.texts.contains_key(name) {
            return Err(ThemeError::Unknown(name.to_string(), self.names().join(", ")));
        }
        let built = |worn| self.chain(worn).and_then(|chain| build(name, &chain, depth));
        let theme = built(name).map_err(|found| self.mistake(found))?;
        if depth == Depth::Mono { built("plain").map_err(|found| self.mistake(found)) } else { Ok(theme) }
    }

    /// Returns the theme's file and those it builds on, in that order.
    fn chain(&self, name: &str) -> Result<Vec<(String, File)>, Found> {
        let mut chain: Vec<(String, File)> = Vec::new();
        let mut next = Some(name.to_string());
        while let Some(name) = next {
            let inherits =
                |what| (chain.last().map_or(name.clone(), |(n, _)| n.clone()), vec!["inherits".into()], what);
            // A user's `dark` may build on the shipped `dark`.
            let seen = chain.iter().filter(|(n, _)| *n == name).count();
            let text = match (seen, self.texts.get(&name)) {
                (0, Some(text)) => text.as_str(),
                (1, _) => match SHIPPED.iter().find(|(n, _, t)| *n == name && self.texts[&name] != *t) {
                    Some((.., text)) => text,
                    None => return Err(inherits(ThemeFault::Circle)),
                },
                (0, None) => return Err(inherits(ThemeFault::Parent(name.clone(), self.names().join(", ")))),
                _ => return Err(inherits(ThemeFault::Circle)),
            };
            let file: File = toml::from_str(text).map_err(|e| {
                let (_, what) = toml_place::syntax(text, &e);
                (name.clone(), Vec::new(), ThemeFault::Syntax(what))
            })?;
            next = file.inherits.clone();
            chain.push((name, file));
        }
        Ok(chain)
    }

    /// Returns a mistake with its file and place.
    fn mistake(&self, (name, path, what): Found) -> ThemeError {
        let text = self.texts.get(&name).map_or("", String::as_str);
        let place = match toml::from_str::<File>(text) {
            Err(e) => toml_place::syntax(text, &e).0,
            Ok(_) => toml_place::of(text, &path.iter().map(String::as_str).collect::<Vec<_>>()),
        };
        let file = self.files.get(&name).map_or(say::theme_named(&name), |path| path.display().to_string());
        ThemeError::Mistake { file, place, what }
    }
}

/// The settings of a chain of themes, the later over the earlier.
struct Gathered<'a> {
    palette: Palette<'a>,
    roles: BTreeMap<&'a str, (&'a str, &'a RoleStyle)>,
    xterm: BTreeMap<&'a str, u8>,
    ansi: BTreeMap<&'a str, (&'a str, &'a Ansi)>,
    background: Option<&'a str>,
    only_ansi: bool,
}

fn gather(chain: &[(String, File)]) -> Result<Gathered<'_>, Found> {
    let mut palette: Palette<'_> = BTreeMap::new();
    let mut roles: BTreeMap<&str, (&str, &RoleStyle)> = BTreeMap::new();
    let mut xterm: BTreeMap<&str, u8> = BTreeMap::new();
    let mut ansi: BTreeMap<&str, (&str, &Ansi)> = BTreeMap::new();
    let (mut background, mut only_ansi) = (None, false);
    for (owner, file) in chain.iter().rev() {
        palette.extend(file.palette.iter().map(|(k, v)| (k.as_str(), (owner.as_str(), v.as_str()))));
        for (role, look) in &file.roles {
            if !Role::ALL.iter().any(|(_, n)| n == role) {
                return Err((owner.clone(), in_roles(role), ThemeFault::Role(role.clone())));
            }
            roles.insert(role, (owner, look));
            // Picked for another colour.
            xterm.remove(role.as_str());
            ansi.remove(role.as_str());
        }
        for (role, number) in &file.xterm {
            if !Role::ALL.iter().any(|(_, n)| n == role) {
                return Err((owner.clone(), vec!["xterm".into(), role.clone()], ThemeFault::Role(role.clone())));
            }
            xterm.insert(role, *number);
        }
        for (role, look) in &file.ansi {
            if !Role::ALL.iter().any(|(_, n)| n == role) {
                return Err((owner.clone(), vec!["ansi".into(), role.clone()], ThemeFault::Role(role.clone())));
            }
            let number = match look {
                Ansi::Color(n) => Some(*n),
                Ansi::Full { color, .. } => *color,
            };
            if let Some(number) = number.filter(|n| *n > 15) {
                return Err((owner.clone(), in_ansi(role), ThemeFault::OfSixteen(role.clone(), number)));
            }
            ansi.insert(role, (owner, look));
        }
        background = file.background.as_deref().or(background);
        only_ansi = file.only_ansi.unwrap_or(only_ansi);
    }
    Ok(Gathered { palette, roles, xterm, ansi, background, only_ansi })
}

/// A usual dark background.
const DARK: colour::Rgb = (0x16, 0x18, 0x1d);

fn build(name: &str, chain: &[(String, File)], depth: Depth) -> Result<Theme, Found> {
    let Gathered { palette, roles, xterm, ansi, background, only_ansi } = gather(chain)?;
    let depth = if only_ansi && depth != Depth::Mono { Depth::Sixteen } else { depth };
    let (background, reference, usual) = match background {
        None | Some("dark") => (None, (0, 0, 0), DARK),
        Some("light") => (None, (255, 255, 255), (255, 255, 255)),
        Some(text) => {
            let rgb = resolve(name, vec!["background".into()], text, &palette)?;
            (Some(rgb), rgb, rgb)
        }
    };
    let paint = |rgb: colour::Rgb| match depth {
        Depth::True => Some(Color::Rgb(rgb.0, rgb.1, rgb.2)),
        Depth::Cube => Some(Color::Indexed(colour::nearest_in_cube(rgb))),
        Depth::Sixteen => Some(Color::Indexed(colour::nearest_of_sixteen(rgb))),
        Depth::Mono => None,
    };
    let mut styles = [Style::new(); Role::ALL.len()];
    for (role, key) in Role::ALL {
        let (owner, look) = roles
            .get(key)
            .ok_or_else(|| (name.to_string(), vec!["roles".to_string()], ThemeFault::Missing(key.to_string())))?;
        let (color, attributes): (Option<&str>, &[String]) = match look {
            RoleStyle::Color(c) => (Some(c), &[]),
            RoleStyle::Full { color, attributes } => (color.as_deref(), attributes),
        };
        let color = color.map(|c| resolve(owner, in_roles(key), c, &palette)).transpose()?;
        let mut style = Style::new();
        if let (Depth::Sixteen, Some((owner, picked))) = (depth, ansi.get(key)) {
            styles[role as usize] = of_sixteen(role, picked)
                .map_err(|word| (owner.to_string(), in_ansi(key), ThemeFault::Attribute(key.to_string(), word)))?;
            continue;
        }
        if let (Depth::Cube, Some(number)) = (depth, xterm.get(key)) {
            let picked = Some(Color::Indexed(*number));
            (style.fg, style.bg) = if role.is_tint() { (None, picked) } else { (picked, None) };
            styles[role as usize] = attributed(style, attributes)
                .map_err(|word| (owner.to_string(), in_roles(key), ThemeFault::Attribute(key.to_string(), word)))?;
            continue;
        }
        style.fg = color.filter(|_| !role.is_tint()).and_then(paint);
        // A tint that falls on the background is left out: signs and bars carry it then.
        style.bg = color
            .filter(|_| role.is_tint())
            .filter(|c| match depth {
                Depth::True => true,
                // None of the sixteen is a tint that text of all roles can be read on.
                Depth::Sixteen => false,
                _ => colour::nearest_in_cube(*c) != colour::nearest_in_cube(reference),
            })
            .and_then(paint);
        styles[role as usize] = attributed(style, attributes)
            .map_err(|word| (owner.to_string(), in_roles(key), ThemeFault::Attribute(key.to_string(), word)))?;
    }
    let stamp = stamp(&styles, background.is_some());
    // Text in the terminal's own colour is read on the terminal's own background.
    let colours_text = !only_ansi && styles[Role::Text as usize].fg.is_some();
    let usual = Some(usual).filter(|_| colours_text).and_then(paint);
    Ok(Theme { name: name.to_string(), styles, background: background.and_then(paint), usual, stamp })
}

/// Returns a role in the terminal's own colours, or the attribute that is none.
fn of_sixteen(role: Role, look: &Ansi) -> Result<Style, String> {
    let (color, attributes): (Option<u8>, &[String]) = match look {
        Ansi::Color(n) => (Some(*n), &[]),
        Ansi::Full { color, attributes } => (*color, attributes),
    };
    let color = color.map(Color::Indexed);
    let mut style = Style::new();
    (style.fg, style.bg) = if role.is_tint() { (None, color) } else { (color.or(Some(Color::Reset)), None) };
    attributed(style, attributes)
}

/// Returns the path of a role among the sixteen colours of a theme's file.
fn in_ansi(role: &str) -> Vec<String> {
    vec!["ansi".into(), role.into()]
}

/// Returns a style with these attributes, or the word that is none.
fn attributed(style: Style, words: &[String]) -> Result<Style, String> {
    words.iter().try_fold(style, |style, word| attribute(style, word).ok_or_else(|| word.clone()))
}

/// Returns the path of a role in a theme's file.
fn in_roles(role: &str) -> Vec<String> {
    vec!["roles".into(), role.into()]
}

/// The named colours: for each name the theme that defines it, and the colour.
type Palette<'a> = BTreeMap<&'a str, (&'a str, &'a str)>;

fn resolve(theme: &str, path: Vec<String>, text: &str, palette: &Palette<'_>) -> Result<colour::Rgb, Found> {
    let (theme, path, hex) = match palette.get(text) {
        Some((owner, hex)) => (*owner, vec!["palette".into(), text.to_string()], *hex),
        None => (theme, path, text),
    };
    let key = path.last().cloned().unwrap_or_default();
    colour::parse(hex).ok_or_else(|| (theme.to_string(), path, ThemeFault::Colour(key, hex.to_string())))
}

fn attribute(style: Style, word: &str) -> Option<Style> {
    Some(match word {
        "bold" => style.add_modifier(Modifier::BOLD),
        "faint" => style.add_modifier(Modifier::DIM),
        "italic" => style.add_modifier(Modifier::ITALIC),
        "underline" => style.add_modifier(Modifier::UNDERLINED),
        // Faint text reversed is hard to read.
        "reverse" => style.add_modifier(Modifier::REVERSED).remove_modifier(Modifier::DIM),
        _ => return None,
    })
}

fn stamp(styles: &[Style], background: bool) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    (styles, background).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_colours_drop_tints_on_the_ground() {
        let cube = Themes::default().get("dark", Depth::Cube).unwrap();
        assert_eq!(cube.style(Role::Text).fg, Some(Color::Indexed(254)));
        assert!(cube.paints(Role::CodeBg) && cube.paints(Role::Selection));
        // A role of the user's own takes the nearest colour of the cube in place of the one picked for the other.
        let mut themes = Themes::default();
        themes.add("mine", "inherits = \"dark\"\n[roles]\ntext = \"#d7d7d7\"\n\"code.bg\" = \"#000000\"\n");
        let mine = themes.get("mine", Depth::Cube).unwrap();
        assert_eq!(mine.style(Role::Text).fg, Some(Color::Indexed(188)));
        assert!(!mine.paints(Role::CodeBg) && mine.paints(Role::Selection));
    }

    #[test]
    fn a_users_theme_builds_on_another() {
        let mut themes = Themes::default();
        themes.add("mine", "inherits = \"light\"\n[roles]\naccent = { color = \"coral\", attributes = [\"bold\"] }\n");
        let mine = themes.get("mine", Depth::True).unwrap();
        assert_eq!(mine.style(Role::Accent).fg, Theme::shipped("light").style(Role::Removed).fg);
        themes.add("dark", "inherits = \"dark\"\n[palette]\nink = \"#ffffff\"\n");
        assert_eq!(themes.get("dark", Depth::True).unwrap().style(Role::Text).fg, Some(Color::Rgb(255, 255, 255)));
    }

    #[test]
    fn a_child_of_the_sixteen_colours_may_have_more() {
        let mut themes = Themes::default();
        themes.add("mine", "inherits = \"ansi\"\nonly_ansi = false\n");
        themes.add("same", "inherits = \"ansi\"\n");
        let is_true =
            |name| matches!(themes.get(name, Depth::True).unwrap().style(Role::Accent).fg, Some(Color::Rgb(..)));
        assert!(is_true("mine") && !is_true("same"));
    }

    #[test]
    fn mistakes_are_named() {
        let mut themes = Themes::default();
        for (text, want) in [
            ("inherits = \"x\"", "theme x:1:1: the theme inherits from itself"),
            ("[roles]\nfoo = \"#000000\"", "theme x:2:1: there is no role foo"),
            ("[roles]\ntext = \"#000000\"", "role dim is missing; give it, or set inherits"),
            ("[roles]\ntext = \"#00\"", "text is #00, which is neither"),
            (
                "inherits = \"dark\"\n[roles]\ntext = \"red\"",
                "text is red, which is neither #rrggbb nor in its palette",
            ),
            ("inherits = \"dark\"\n[roles]\ntext = { attributes = [\"blink\"] }", "attribute blink"),
            ("inherits = \"dark\"\n[palette]\nink = \"#12\"", "theme x:3:1: ink is #12, which is neither"),
            (
                "inherits = \"night\"",
                "theme x:1:1: there is no theme night to inherit from; there are: ansi, contrast, dark,",
            ),
            ("roles = 3", "theme x:1:9: "),
            ("[roles]\ntext = #fff", "theme x:2:8: "),
            (
                "inherits = \"dark\"\n[ansi]\ntext = 42",
                "theme x:3:1: text is 42; the terminal's own colours are 0 to 15",
            ),
        ] {
            themes.add("x", text);
            let error = themes.get("x", Depth::True).unwrap_err().to_string();
            assert!(error.contains(want), "{error}");
        }
    }
}

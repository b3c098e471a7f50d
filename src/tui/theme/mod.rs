//! Theme files → [`Role`] → [`Style`]. Code asks for a role and never names a colour.
//!
//! A theme is TOML: `[palette]` names colours, `[roles]` gives every role one, `inherits = "name"` takes what is
//! left out from another theme. The shipped ones are compiled in; a user's theme of the same name wins.

mod file;

use ratatui::style::{Color, Style};

pub use file::{ThemeError, ThemeFault, Themes};

/// The meaning of a piece of the screen. Tints (from [`Role::Selection`] on) are backgrounds, the others are text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Role {
    /// Ordinary text.
    Text,
    /// Labels, folders, times, line numbers.
    Dim,
    /// Rules and borders.
    Line,
    /// nebula: its name, its spinner, its growing text.
    Accent,
    /// The person: their name, where the keys go, matched letters.
    Focus,
    /// Waits for the person, undecided, changed by someone else.
    Attention,
    /// Added, accepted, done.
    Added,
    /// Removed, rejected, refused, failed.
    Removed,
    /// `@file`, links.
    Mention,
    /// A file's name; its folders are [`Role::Dim`].
    Path,
    /// Everything behind a modal popup.
    Backdrop,
    /// Keywords.
    SynKeyword,
    /// Types and constants.
    SynType,
    /// Strings.
    SynString,
    /// Numbers and attributes.
    SynNumber,
    /// Comments.
    SynComment,
    /// The selected row.
    Selection,
    /// Code in prose.
    CodeBg,
    /// An added line.
    AddedBg,
    /// A removed line.
    RemovedBg,
    /// An added word.
    AddedWord,
    /// A removed word.
    RemovedWord,
    /// The missing counterpart of a line.
    GapBg,
}

impl Role {
    /// All roles with their names in theme files.
    pub const ALL: [(Role, &'static str); 23] = [
        (Role::Text, "text"),
        (Role::Dim, "dim"),
        (Role::Line, "line"),
        (Role::Accent, "accent"),
        (Role::Focus, "focus"),
        (Role::Attention, "attention"),
        (Role::Added, "added"),
        (Role::Removed, "removed"),
        (Role::Mention, "mention"),
        (Role::Path, "path"),
        (Role::Backdrop, "backdrop"),
        (Role::SynKeyword, "syn.keyword"),
        (Role::SynType, "syn.type"),
        (Role::SynString, "syn.string"),
        (Role::SynNumber, "syn.number"),
        (Role::SynComment, "syn.comment"),
        (Role::Selection, "selection"),
        (Role::CodeBg, "code.bg"),
        (Role::AddedBg, "added.bg"),
        (Role::RemovedBg, "removed.bg"),
        (Role::AddedWord, "added.word"),
        (Role::RemovedWord, "removed.word"),
        (Role::GapBg, "gap.bg"),
    ];

    /// Returns whether the role is a background and not text.
    pub fn is_tint(self) -> bool {
        self as u8 >= Role::Selection as u8
    }
}

/// The colours that the terminal can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Depth {
    /// Any colour.
    #[default]
    True,
    /// The 6×6×6 cube of the 256-colour palette.
    Cube,
    /// The sixteen colours that the terminal gives.
    Sixteen,
    /// None: none are wanted, or the terminal is dumb. Every theme is shown as `plain`.
    Mono,
}

/// A theme ready for drawing.
#[derive(Debug, Clone, PartialEq)]
pub struct Theme {
    /// Its name: the file's, without `.toml`.
    pub name: String,
    styles: [Style; Role::ALL.len()],
    background: Option<Color>,
    usual: Option<Color>,
    stamp: u64,
}

impl Theme {
    /// Returns a shipped theme in full colour; an unknown name gives `dark`.
    pub fn shipped(name: &str) -> Theme {
        let themes = Themes::default();
        let built = themes.get(name, Depth::True).or_else(|_| themes.get("dark", Depth::True));
        // A test builds every shipped theme, so the fallback is never taken.
        built.unwrap_or(Theme {
            name: name.to_string(),
            styles: [Style::new(); Role::ALL.len()],
            background: None,
            usual: None,
            stamp: 0,
        })
    }

    /// Returns the style of `role`: text roles set the foreground, tints only the background.
    pub fn style(&self, role: Role) -> Style {
        self.styles[role as usize]
    }

    /// Returns the style of text of `role` on the tint `tint`.
    pub fn on(&self, role: Role, tint: Role) -> Style {
        self.style(role).patch(self.style(tint))
    }

    /// Returns the colour that the whole screen is painted with first, for themes that paint their background.
    pub fn background(&self) -> Option<Color> {
        self.background
    }

    /// Returns how an empty cell is painted.
    pub fn base(&self) -> Style {
        Style::new().bg(self.background.unwrap_or_default()).patch(self.style(Role::Text))
    }

    /// Returns the background that the theme is made for; `None`: the terminal's own, whatever it is.
    pub fn usual_background(&self) -> Option<Color> {
        self.usual
    }

    /// Returns whether `tint` shows as a colour here. Where it does not, signs and bars carry the meaning.
    pub fn paints(&self, tint: Role) -> bool {
        self.style(tint).bg.is_some()
    }

    /// Returns a number that is equal for equal themes: a key for caches of styled lines.
    pub fn stamp(&self) -> u64 {
        self.stamp
    }
}

#[cfg(test)]
mod tests {
    use super::file::SHIPPED;
    use super::*;
    use crate::tui::colour;

    #[test]
    fn the_configuration_knows_the_shipped_themes() {
        let known: Vec<&str> = SHIPPED.iter().map(|(name, ..)| *name).collect();
        assert_eq!(crate::config::screen_files::THEMES[1..], known);
    }

    #[test]
    fn shipped_themes_fill_every_role() {
        for (name, ..) in SHIPPED {
            for depth in [Depth::True, Depth::Cube, Depth::Sixteen] {
                Themes::default().get(name, depth).unwrap_or_else(|e| panic!("{e}"));
            }
        }
    }

    #[test]
    fn tints_are_grounds_and_plain_has_no_colour() {
        let dark = Theme::shipped("dark");
        assert_eq!(dark.style(Role::Accent).fg, Some(Color::Rgb(0xbb, 0xab, 0xff)));
        assert_eq!(dark.style(Role::CodeBg), Style::new().bg(Color::Rgb(0x20, 0x23, 0x2b)));
        let plain = Theme::shipped("plain");
        for (role, _) in Role::ALL {
            assert_eq!((plain.style(role).fg, plain.style(role).bg), (None, None));
        }
        assert_eq!(Theme::shipped("contrast").background(), Some(Color::Rgb(0, 0, 0)));
    }

    #[test]
    fn a_theme_that_colours_no_text_is_made_for_no_background() {
        for depth in [Depth::True, Depth::Cube, Depth::Sixteen, Depth::Mono] {
            for (name, ..) in SHIPPED {
                let theme = Themes::default().get(name, depth).expect("a shipped theme");
                let colours_text = theme.style(Role::Text).fg.is_some_and(|text| text != Color::Reset);
                assert_eq!(theme.usual_background().is_some(), colours_text, "{name} {depth:?}");
            }
        }
    }

    #[test]
    fn text_is_readable_in_256_colours() {
        for (name, least, backgrounds) in [
            ("dark", 4.5, [(0x16, 0x18, 0x1d), (0, 0, 0), (0x2e, 0x34, 0x40)]),
            ("light", 4.5, [(255, 255, 255), (0xfa, 0xfa, 0xfa), (0xfd, 0xf6, 0xe3)]),
            ("contrast", 7.0, [(0, 0, 0); 3]),
        ] {
            let theme = Themes::default().get(name, Depth::Cube).expect("a shipped theme");
            let rgb = |c: Option<Color>| match c {
                Some(Color::Indexed(n)) => colour::of_xterm(n),
                other => panic!("{name}: {other:?}"),
            };
            let tints = [Role::Selection, Role::CodeBg, Role::AddedBg, Role::RemovedBg];
            for (role, key) in Role::ALL {
                if role.is_tint() || matches!(role, Role::Line | Role::Backdrop) {
                    continue;
                }
                let text = rgb(theme.style(role).fg);
                for background in backgrounds.into_iter().chain(tints.map(|tint| rgb(theme.style(tint).bg))) {
                    assert!(colour::contrast(text, background) >= least, "{name} {key} on {background:?}");
                }
            }
            for tint in [Role::AddedWord, Role::RemovedWord] {
                let (text, tint) = (rgb(theme.style(Role::Text).fg), rgb(theme.style(tint).bg));
                assert!(colour::contrast(text, tint) >= least, "{name}");
            }
        }
    }

    #[test]
    fn text_is_readable_in_16_colours() {
        for (name, background) in [("dark", (0, 0, 0)), ("light", (255, 255, 255)), ("contrast", (0, 0, 0))] {
            let theme = Themes::default().get(name, Depth::Sixteen).expect("a shipped theme");
            let rgb = |c: Option<Color>| match c {
                Some(Color::Indexed(n)) if n < 16 => colour::SIXTEEN[usize::from(n)],
                other => panic!("{name}: {other:?}"),
            };
            let selection = theme.style(Role::Selection).bg.map(|bg| rgb(Some(bg)));
            for (role, key) in Role::ALL {
                if role.is_tint() || matches!(role, Role::Line | Role::Backdrop) {
                    continue;
                }
                let text = rgb(theme.style(role).fg);
                assert!(colour::contrast(text, background) >= 4.5, "{name} {key}");
                if let (Some(tint), Role::Text | Role::Path) = (selection, role) {
                    assert!(colour::contrast(text, tint) >= 4.5, "{name} {key} on the selection");
                }
            }
        }
        // The terminal's own colours, whatever it can show.
        for depth in [Depth::True, Depth::Cube, Depth::Sixteen] {
            let ansi = Themes::default().get("ansi", depth).expect("a shipped theme");
            assert_eq!(ansi.style(Role::Text).fg, Some(Color::Reset));
            assert_eq!(ansi.style(Role::Removed).fg, Some(Color::Indexed(1)));
        }
    }

    #[test]
    fn text_is_readable_on_what_it_lies_on() {
        for (name, background) in [("dark", (0x16, 0x18, 0x1d)), ("light", (255, 255, 255)), ("contrast", (0, 0, 0))] {
            let theme = Theme::shipped(name);
            let rgb = |c: Option<Color>| match c {
                Some(Color::Rgb(r, g, b)) => (r, g, b),
                _ => background,
            };
            for (role, key) in Role::ALL {
                if role.is_tint() || matches!(role, Role::Line | Role::Backdrop) {
                    continue;
                }
                let want = if role == Role::Text { 7.0 } else { 4.5 };
                let text = rgb(theme.style(role).fg);
                assert!(colour::contrast(text, background) >= want, "{name} {key}");
                for tint in [Role::Selection, Role::CodeBg, Role::AddedBg, Role::RemovedBg] {
                    assert!(colour::contrast(text, rgb(theme.style(tint).bg)) >= 4.5, "{name} {key} on {tint:?}");
                }
            }
        }
    }
}

//! The texts that a person reads on the screen and in `nebula chat`, in every language they are written in: one table,
//! a file for each part of the screen. A message is a function; without a text in each language it does not compile.
//! What a model is told, what commands print, exports, the README and the guide are English alone and stand where they are used.
//!
//! ```text
//! messages! {
//!     ready: "ready", "待機中";
//!     cannot_read(path, why): "{path} cannot be read: {why}", "{path}を読めません: {why}";
//!     files(n): "{n} file" | "{n} files", "{n}ファイル";
//! }
//! ```
//!
//! The language is that of the process, set once at start; a test chooses its own for its thread.

use std::cell::Cell;
use std::sync::atomic::{AtomicU8, Ordering};

/// A language that the table has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// The language of everything that is not in the table, too.
    English,
    /// Japanese.
    Japanese,
}

static LANGUAGE: AtomicU8 = AtomicU8::new(0);

thread_local! {
    static HERE: Cell<Option<Language>> = const { Cell::new(None) };
}

/// Returns the language of the messages.
pub fn language() -> Language {
    HERE.get().unwrap_or_else(|| match LANGUAGE.load(Ordering::Relaxed) {
        0 => Language::English,
        _ => Language::Japanese,
    })
}

/// Sets the language of the process.
pub fn set(language: Language) {
    LANGUAGE.store(u8::from(language == Language::Japanese), Ordering::Relaxed);
}

/// Does `work` with the messages of this thread in `language`.
pub fn with<T>(language: Language, work: impl FnOnce() -> T) -> T {
    let before = HERE.replace(Some(language));
    let done = work();
    HERE.set(before);
    done
}

impl Language {
    /// Returns the language of the interface: the one that is `set`, where there is a table for it, else that of the
    /// environment's variables, which `variable` gives by name.
    pub fn choose(set: Option<&str>, variable: impl Fn(&str) -> Option<String>) -> Language {
        let given = |name: &str| variable(name).filter(|value| !value.is_empty());
        let locale = || ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter().find_map(given);
        // The console of Linux has no glyphs but Latin ones.
        let console = given("TERM").is_some_and(|term| term == "linux");
        let readable = || !console && is_utf8(&variable);
        let by_locale = || locale().filter(|_| readable()).and_then(|locale| Language::named(&locale));
        set.and_then(Language::named).or_else(by_locale).unwrap_or(Language::English)
    }

    /// Returns the language of a name or locale: `ja`, `ja-JP`, `ja_JP.UTF-8`.
    fn named(name: &str) -> Option<Language> {
        let end = name.find(['_', '-', '.', '@']).unwrap_or(name.len());
        match name[..end].to_ascii_lowercase().as_str() {
            "en" | "english" => Some(Language::English),
            "ja" | "japanese" | "日本語" => Some(Language::Japanese),
            _ => None,
        }
    }
}

/// Returns whether the terminal reads UTF-8, by the locale that names its encoding; without one, `true`.
pub fn is_utf8(variable: impl Fn(&str) -> Option<String>) -> bool {
    let given = |name: &&str| variable(name).filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(given).map(|locale| locale.to_lowercase());
    locale.is_none_or(|locale| locale.contains("utf-8") || locale.contains("utf8"))
}

/// A message without arguments, for tables that are constants.
pub(crate) type Text = fn() -> &'static str;

/// Defines messages; see the head of this module. `name(n): "one" | "many"` counts by its first argument.
macro_rules! messages {
    ($($name:ident $(($($arg:ident),+))?: $en:literal $(| $many:literal)?, $ja:literal;)*) => {
        $(messages!(@ $name $(($($arg),+))?: $en $(| $many)?, $ja);)*

        /// All messages: the name, the English forms and the Japanese form of each.
        #[cfg(test)]
        pub(in crate::messages) const ROWS: &[$crate::messages::tests::Row] = &[$((stringify!($name), &[$en $(, $many)?], $ja)),*];
    };
    (@ $name:ident: $en:literal, $ja:literal) => {
        #[doc = concat!("`", $en, "`")]
        pub fn $name() -> &'static str {
            match $crate::messages::language() {
                $crate::messages::Language::English => $en,
                $crate::messages::Language::Japanese => $ja,
            }
        }
    };
    (@ $name:ident($($arg:ident),+): $en:literal, $ja:literal) => {
        #[doc = concat!("`", $en, "`")]
        pub fn $name($($arg: &dyn std::fmt::Display),+) -> String {
            match $crate::messages::language() {
                $crate::messages::Language::English => format!($en),
                $crate::messages::Language::Japanese => format!($ja),
            }
        }
    };
    (@ $name:ident($n:ident $(, $arg:ident)*): $one:literal | $many:literal, $ja:literal) => {
        #[doc = concat!("`", $many, "`")]
        pub fn $name($n: usize $(, $arg: &dyn std::fmt::Display)*) -> String {
            let (one, $n) = ($n == 1, $crate::text::number::thousands($n));
            match $crate::messages::language() {
                $crate::messages::Language::English if one => format!($one),
                $crate::messages::Language::English => format!($many),
                $crate::messages::Language::Japanese => format!($ja),
            }
        }
    };
}

pub(crate) mod actions;
pub(crate) mod agent;
pub(crate) mod app;
pub(crate) mod card;
pub(crate) mod commands;
pub(crate) mod count;
pub(crate) mod hints;
pub(crate) mod line;
pub(crate) mod pages;
mod panes;
pub(crate) mod popups;
pub(crate) mod provider;
pub mod records;
pub(crate) mod times;
pub(crate) mod verbs;
pub(crate) mod view;

#[cfg(feature = "code")]
pub(crate) use panes::sources;
#[cfg(feature = "strand")]
pub(crate) use panes::strand;
pub(crate) use panes::{archive, chat, diff, graph, past, review, tools};

#[cfg(test)]
mod tests {
    use super::*;

    /// Name, English forms, Japanese.
    pub type Row = (&'static str, &'static [&'static str], &'static str);

    /// All files of the table.
    const FILES: &[(&str, &[Row])] = &[
        ("actions", actions::ROWS),
        ("agent", agent::ROWS),
        ("line", line::ROWS),
        ("verbs", verbs::ROWS),
        ("app", app::ROWS),
        ("archive", archive::ROWS),
        ("graph", graph::ROWS),
        ("past", past::ROWS),
        ("review", review::ROWS),
        ("card", card::ROWS),
        ("chat", chat::ROWS),
        ("commands", commands::ROWS),
        ("count", count::ROWS),
        ("diff", diff::ROWS),
        ("hints", hints::ROWS),
        ("pages", pages::ROWS),
        ("popups", popups::ROWS),
        ("provider", provider::ROWS),
        #[cfg(feature = "code")]
        ("sources", sources::ROWS),
        #[cfg(feature = "strand")]
        ("strand", strand::ROWS),
        ("times", times::ROWS),
        ("tools", tools::ROWS),
        ("view", view::ROWS),
    ];

    /// The words that are written alike in both languages: names, numbers, marks.
    fn is_alike(text: &str) -> bool {
        const NAMES: &[&str] = &[
            "nebula",
            "OK",
            "Markdown",
            "[undo]",
            "[keep|restore ID…|all]",
            "[md|json|html]",
            "[on|off]",
            "[clear]",
            "[none|low|medium|high|xhigh|max|auto]",
            "OpenAI",
            "Anthropic",
            "Gemini",
            "nebula --provider anthropic",
            "nebula --provider gemini",
            "shi",
        ];
        let words = text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
        let plain = placeholders(text).into_iter().fold(text.to_string(), |text, held| text.replace(&held, ""));
        NAMES.contains(&text) || words.count() == 0 || !plain.chars().any(char::is_alphabetic)
    }

    /// The placeholders of a text, sorted.
    fn placeholders(text: &str) -> Vec<String> {
        let parts = text.split('{').skip(1);
        let mut found: Vec<String> = parts.map(|p| format!("{{{}}}", p.split('}').next().unwrap_or(""))).collect();
        found.sort();
        found.dedup();
        found
    }

    #[test]
    fn every_message_is_in_every_language() {
        for (file, rows) in FILES {
            assert!(!rows.is_empty(), "{file}");
            for (i, (name, english, japanese)) in rows.iter().enumerate() {
                assert!(!rows[..i].iter().any(|(other, ..)| other == name), "{file}::{name} twice");
                for text in *english {
                    assert!(!text.is_empty() && !japanese.is_empty(), "{file}::{name} is empty");
                    // One may be spelled out.
                    let spelled = english.len() > 1 && placeholders(text).len() < placeholders(japanese).len();
                    assert!(spelled || placeholders(text) == placeholders(japanese), "{file}::{name}: {japanese}");
                    assert!(text != japanese || is_alike(text), "{file}::{name} is not translated");
                    let ends = |t: &str| (t.starts_with(' '), t.ends_with(' '));
                    assert_eq!(ends(text), ends(japanese), "{file}::{name}: spaces at the ends");
                }
                assert!(!japanese.is_ascii() || is_alike(japanese), "{file}::{name}");
            }
        }
    }

    #[test]
    fn a_language_is_chosen_by_the_setting_then_by_the_environment() {
        let choose = |set: Option<&str>, variables: &[(&str, &str)]| {
            Language::choose(set, |name| variables.iter().find(|(n, _)| *n == name).map(|(_, v)| v.to_string()))
        };
        assert_eq!(choose(None, &[]), Language::English);
        assert_eq!(choose(Some("ja"), &[("LANG", "en_US.UTF-8")]), Language::Japanese);
        assert_eq!(choose(Some("en"), &[("LANG", "ja_JP.UTF-8")]), Language::English);
        for set in [None, Some("auto"), Some("French")] {
            assert_eq!(choose(set, &[("LANG", "ja_JP.UTF-8")]), Language::Japanese, "{set:?}");
            assert_eq!(choose(set, &[("LC_ALL", "C"), ("LANG", "ja_JP.UTF-8")]), Language::English, "{set:?}");
        }
        assert_eq!(
            choose(None, &[("LC_ALL", ""), ("LC_MESSAGES", "ja_JP"), ("LANG", "en_US.utf8")]),
            Language::Japanese
        );
        // A terminal of another encoding cannot show it.
        assert_eq!(choose(None, &[("LANG", "ja_JP.eucJP")]), Language::English);
        assert_eq!(choose(None, &[("LC_CTYPE", "ja_JP.SJIS"), ("LANG", "ja_JP.UTF-8")]), Language::English);
        assert_eq!(choose(Some("ja"), &[("LANG", "ja_JP.eucJP")]), Language::Japanese);
        assert_eq!(choose(None, &[("LANG", "ja_JP.UTF-8"), ("TERM", "linux")]), Language::English);
        assert_eq!(choose(Some("ja"), &[("TERM", "linux")]), Language::Japanese);
    }

    #[test]
    fn a_thread_can_have_a_language_of_its_own() {
        assert_eq!(language(), Language::English);
        with(Language::Japanese, || {
            assert_eq!(language(), Language::Japanese);
            with(Language::English, || assert_eq!(language(), Language::English));
            assert_eq!(actions::quit(), "終了する");
        });
        assert_eq!(actions::quit(), "quit");
    }
}

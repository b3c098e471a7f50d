//! The person's files for the screen: keys and themes. A mistake in one of them leaves the rest in force and becomes a
//! notice that stays, with the file, the line and the column.

use crate::config::screen_files::ScreenFiles;
use crate::messages::app as say;
use crate::protocol::{Level, Notice};
use crate::tui::action::{Action, Context};
use crate::tui::keys::Keys;
use crate::tui::theme::{Depth, Theme, Themes};

/// Returns the text of the key for `context.action`, for texts of others that name keys: `usual`, unless the person's
/// `keys.toml` gave that key to something else.
pub fn key_words(files: &ScreenFiles) -> impl Fn(&str, &str) -> String + use<> {
    let keys = Keys::with(files.keys_text()).0;
    move |usual, name| {
        let (context, action) = name.split_once('.').unwrap_or(("", name));
        let context = Context::ALL.iter().find(|(_, n)| *n == context).map(|(c, _)| *c);
        let known = context.zip(Action::named(action));
        known.map_or(usual.to_string(), |(context, action)| keys.word_or(usual, context, action))
    }
}

/// Returns what is wrong with the person's `keys.toml`, each with file, line and column.
pub fn key_faults(files: &ScreenFiles) -> Vec<String> {
    let Some(file) = &files.keys else { return Vec::new() };
    let path = file.path.display();
    match &file.text {
        Ok(text) => Keys::with(text).1.iter().map(|error| format!("{path}:{error}")).collect(),
        Err(why) => vec![say::cannot_read(&path, why)],
    }
}

/// Keys and themes as they are in force, and what was wrong with their files.
pub(super) struct Loaded {
    pub keys: Keys,
    pub themes: Themes,
    pub theme: Theme,
    pub notices: Vec<Notice>,
}

/// Takes in the texts of `keys.toml` and `themes/`, and puts on the theme called `name`, if one was chosen.
pub(super) fn read(files: &ScreenFiles, name: Option<&str>, depth: Depth) -> Loaded {
    let mut notices = Vec::new();
    let (themes, errors) = Themes::with(&files.themes);
    notices.extend(errors.iter().map(|e| notice(e.to_string(), say::unused_theme())));
    let keys = Keys::with(files.keys_text()).0;
    let unread = files.keys.as_ref().is_some_and(|file| file.text.is_err());
    let wrong = |fault| notice(fault, if unread { say::own_keys() } else { say::left_out() });
    notices.extend(key_faults(files).into_iter().map(wrong));
    let dark = || themes.get("dark", depth).unwrap_or_else(|_| Theme::shipped("dark"));
    let theme = match name.map(|name| (name, themes.get(name, depth))) {
        Some((_, Ok(theme))) => theme,
        Some((name, Err(e))) => {
            // What is wrong with its file has been said.
            if !themes.names().contains(&name) {
                notices.push(notice(e.to_string(), say::dark_until()));
            }
            dark()
        }
        None => dark(),
    };
    Loaded { keys, themes, theme, notices }
}

fn notice(title: String, detail: &str) -> Notice {
    Notice::new(Level::Warning, title, detail)
}

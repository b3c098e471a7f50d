//! The palette of commands. Their table is `app/command_table.rs`.

use super::list::{Entry, List, ListKind};
use crate::messages::{Text, commands as say};
use crate::tui::action::{Action, Context};
use crate::tui::keys::Keys;

/// The words about a command.
#[derive(Debug, Clone, Copy)]
pub struct Info {
    /// The name with its slash.
    pub name: &'static str,
    /// Its arguments, as the usage shows them.
    pub arguments: Text,
    /// Its work in a few words.
    pub detail: Text,
    /// Its work in a sentence or two.
    pub long: Text,
    /// The key that does the same.
    pub key: Option<Action>,
}

/// Returns the palette of `commands`, with `typed` in its line; `model` is the one in use.
pub fn palette<'a>(commands: impl Iterator<Item = &'a Info>, keys: &Keys, typed: &str, model: Option<&str>) -> List {
    let entries = commands
        .map(|c| Entry {
            name: c.name.into(),
            detail: (c.detail)().into(),
            note: c.key.and_then(|a| keys.display(Context::Global, a)).unwrap_or_default(),
            usage: format!("{} {}", c.name, (c.arguments)()),
            long: match (c.name, model) {
                ("/model", Some(model)) => say::model_now(&model, &(c.long)()),
                _ => (c.long)().into(),
            },
            needs: false,
        })
        .collect();
    let mut list = List::new(ListKind::Commands, say::title(), entries);
    typed.chars().for_each(|c| {
        list.type_char(c);
    });
    list
}

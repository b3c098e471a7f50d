//! The commands of the palette: one table.

use super::list::{Entry, List, ListKind};
use crate::messages::{Text, commands as say};
use crate::tui::action::{Action, Context};
use crate::tui::keys::Keys;

/// The words about a command; its work is in `app::commands`.
#[derive(Debug, Clone, Copy)]
pub struct Info {
    /// With its slash.
    pub name: &'static str,
    /// Its arguments, as the usage shows them.
    arguments: Text,
    /// Its work in a few words.
    detail: Text,
    /// Its work in a sentence or two.
    long: Text,
    /// The key that does the same.
    key: Option<Action>,
}

const fn info(name: &'static str, arguments: Text, detail: Text, long: Text, key: Option<Action>) -> Info {
    Info { name, arguments, detail, long, key }
}

/// Stands for no arguments.
fn none() -> &'static str {
    ""
}

/// All commands, in the order in which an empty palette lists them.
pub const COMMANDS: &[Info] = &[
    info("/model", say::name_argument, say::model, say::model_long, Some(Action::ChooseModel)),
    info("/plan", none, say::plan, say::plan_long, Some(Action::ToggleMode)),
    info("/agent", none, say::agent, say::agent_long, None),
    info("/new", none, say::new, say::new_long, None),
    info("/resume", none, say::resume, say::resume_long, None),
    info("/sessions", none, say::sessions, say::sessions_long, None),
    info("/undo", say::undo_arguments, say::undo, say::undo_long, None),
    info("/redo", none, say::redo, say::redo_long, None),
    info("/history", none, say::history, say::history_long, Some(Action::FocusArchive)),
    info("/review", say::review_arguments, say::review, say::review_long, Some(Action::FocusReview)),
    info("/file", none, say::file, say::file_long, None),
    info("/format", say::name_argument, say::format, say::format_long, None),
    info("/effort", say::effort_argument, say::effort, say::effort_long, None),
    info("/theme", say::name_argument, say::theme, say::theme_long, None),
    info("/rules", none, say::rules, say::rules_long, None),
    info("/rag", say::words_argument, say::rag, say::rag_long, None),
    info("/prompt", say::prompt_arguments, say::prompt, say::prompt_long, None),
    info("/commit", none, say::commit, say::commit_long, None),
    info("/compact", say::compact_argument, say::compact, say::compact_long, None),
    info("/export", say::export_argument, say::export, say::export_long, None),
    info("/stats", none, say::stats, say::stats_long, None),
    info("/blame", say::file_argument, say::blame, say::blame_long, None),
    info("/usage", none, say::usage, say::usage_long, None),
    info("/context", none, say::context, say::context_long, None),
    info("/config", none, say::config, say::config_long, None),
    info("/trust", none, say::trust, say::trust_long, None),
    info("/mouse", say::mouse_argument, say::mouse, say::mouse_long, None),
    info("/help", none, say::help, say::help_long, Some(Action::Help)),
    info("/quit", none, say::quit, say::quit_long, None),
];

/// Returns the palette, with `typed` in its line; `model` is the one in use.
pub fn palette(keys: &Keys, typed: &str, model: Option<&str>) -> List {
    let entries = COMMANDS
        .iter()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::{Language, with};
    use crate::text::width::cells;

    #[test]
    fn every_command_of_the_contract_is_there() {
        for name in "model plan agent new resume sessions undo redo history file format theme rules rag prompt commit \
                     export stats config help quit"
            .split_whitespace()
        {
            assert!(COMMANDS.iter().any(|c| c.name == format!("/{name}")), "{name}");
        }
        for language in [Language::English, Language::Japanese] {
            let fits = |info: &Info| cells((info.detail)()) <= 46;
            with(language, || assert!(COMMANDS.iter().all(fits), "details fit in a row"));
        }
    }
}

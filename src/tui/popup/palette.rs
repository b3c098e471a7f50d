//! The commands of the palette: one table.

use super::list::{Entry, Kind, List};
use crate::tui::action::{Action, Context};
use crate::tui::keys::Keys;

/// What a command does is in `app::commands`; here is what is said of it.
#[derive(Debug, Clone, Copy)]
pub struct Info {
    /// With its slash.
    pub name: &'static str,
    /// Its arguments, as the usage shows them.
    pub arguments: &'static str,
    /// What it does, short.
    pub detail: &'static str,
    /// What it does, in a sentence or two.
    pub long: &'static str,
    /// The key that does the same.
    pub key: Option<Action>,
}

const fn info(
    name: &'static str,
    arguments: &'static str,
    detail: &'static str,
    long: &'static str,
    key: Option<Action>,
) -> Info {
    Info { name, arguments, detail, long, key }
}

/// All commands, in the order in which an empty palette lists them.
pub const COMMANDS: &[Info] = &[
    info(
        "/model",
        "[name]",
        "choose the model for this session",
        "The next step of a running turn uses the new model; the choice is kept for the next start.",
        Some(Action::ChooseModel),
    ),
    info(
        "/plan",
        "",
        "read only, and end in a plan",
        "nebula may read and search, and changes nothing.",
        Some(Action::ToggleMode),
    ),
    info(
        "/agent",
        "",
        "make changes; goes on with a plan that stands",
        "nebula proposes changes and you approve them. After a plan it starts to carry it out.",
        None,
    ),
    info("/new", "", "start a new session", "The present session is kept; /resume opens it again.", None),
    info(
        "/resume",
        "",
        "open another session of this project",
        "Sessions in use by another nebula can be forked.",
        None,
    ),
    info("/sessions", "", "resume, rename, fork, delete, export", "All sessions of this project, newest first.", None),
    info(
        "/undo",
        "[count] [file]",
        "take back the newest change",
        "Shows the diff between now and then and asks. Twice brings you back to where you were. \
         /undo turn takes back all that the last turn changed.",
        None,
    ),
    info("/redo", "", "take back the last undo", "Allowed while the newest changeset was made by an undo.", None),
    info(
        "/history",
        "",
        "browse the archive",
        "Changesets and versions, with any two states side by side.",
        Some(Action::FocusArchive),
    ),
    info("/file", "", "find a file to mention", "The same finder as @, full size.", None),
    info(
        "/format",
        "[name]",
        "how the model writes its edits",
        "tools, xml, whole, blocks, patch or lines; for this session.",
        None,
    ),
    info("/theme", "[name]", "dark, light, contrast or plain; live", "The choice is kept for the next start.", None),
    info(
        "/rules",
        "",
        "the effective prompt, part by part",
        "Each part with its origin and the reason it is there.",
        None,
    ),
    info(
        "/rag",
        "words",
        "attach passages found by words",
        "Looks through the workspace's texts and what was indexed.",
        None,
    ),
    info(
        "/prompt",
        "[name] [arguments]",
        "run a prompt of yours",
        "Prompts are Markdown files in .nebula/prompts, here or at home.",
        None,
    ),
    info(
        "/commit",
        "",
        "write a commit message from the staged diff",
        "You edit and approve the message before anything happens.",
        None,
    ),
    info("/compact", "", "summarise the conversation so far", "The summary is shown before it counts.", None),
    info("/export", "[md|json|html]", "write this session to a file", "Beside the workspace's root.", None),
    info("/stats", "", "which edits landed, by model and format", "Edits asked, landed and refused; tokens.", None),
    info("/config", "", "the configuration, and where it comes from", "Each key with its value and origin.", None),
    info(
        "/trust",
        "",
        "let this folder's configuration count whole",
        "Else it sets no keys, addresses or approval. Kept: the folder is asked about once.",
        None,
    ),
    info("/mouse", "[on|off]", "let nebula have the mouse, or not", "Off, the terminal selects text as always.", None),
    info("/help", "", "the keys that work here", "From the table that binds them.", Some(Action::Help)),
    info("/quit", "", "leave nebula", "The session is kept.", None),
];

/// The palette, with `typed` in its line; `model` is the one in use.
pub fn palette(keys: &Keys, typed: &str, model: Option<&str>) -> List {
    let entries = COMMANDS
        .iter()
        .map(|c| Entry {
            name: c.name.into(),
            detail: c.detail.into(),
            note: c.key.and_then(|a| keys.shown(Context::Global, a)).unwrap_or_default(),
            usage: format!("{} {}", c.name, c.arguments),
            long: match (c.name, model) {
                ("/model", Some(model)) => format!("{model} now. {}", c.long),
                _ => c.long.into(),
            },
            needs: false,
        })
        .collect();
    let mut list = List::new(Kind::Commands, "commands", entries);
    typed.chars().for_each(|c| {
        list.type_char(c);
    });
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_of_the_contract_is_there() {
        for name in "model plan agent new resume sessions undo redo history file format theme rules rag prompt commit \
                     export stats config help quit"
            .split_whitespace()
        {
            assert!(COMMANDS.iter().any(|c| c.name == format!("/{name}")), "{name}");
        }
        assert!(COMMANDS.iter().all(|c| c.detail.len() <= 46), "details fit in a row");
    }
}

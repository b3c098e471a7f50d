//! The commands of the palette: one table.

use super::list::{Entry, List, ListKind};
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
        "make changes; runs the current plan",
        "nebula proposes changes and you approve them. After a plan it runs the plan.",
        None,
    ),
    info("/new", "", "start a new session", "The current session is saved; /resume opens it again.", None),
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
        "undo the newest changeset",
        "Shows what would be written and asks. /redo reverses it. \
         /undo turn undoes everything the last turn changed.",
        None,
    ),
    info("/redo", "", "redo the last undo", "Possible while the newest changeset is an undo.", None),
    info(
        "/history",
        "",
        "browse the archive",
        "Changesets and versions; any two versions side by side.",
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
    info("/theme", "[name]", "dark, light, contrast or plain; live", "The choice is saved.", None),
    info(
        "/rules",
        "",
        "the effective prompt, part by part",
        "Each part with its origin and the reason it is there.",
        None,
    ),
    info("/rag", "words", "attach passages found by words", "Searches the workspace and what was indexed.", None),
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
    info(
        "/compact",
        "[undo]",
        "summarise the conversation so far",
        "Preview, then replace; undo sends all again.",
        None,
    ),
    info("/export", "[md|json|html]", "export this session to a file", "In the workspace root.", None),
    info("/stats", "", "edit success by model and format", "Edits applied, not found and rejected; tokens.", None),
    info("/usage", "", "tokens and cost of this session", "By turn and by model.", None),
    info("/context", "", "what the context window holds", "Tokens by part, and the window's size.", None),
    info("/config", "", "the configuration, and where it comes from", "Each key with its value and origin.", None),
    info(
        "/trust",
        "",
        "trust this folder's configuration",
        "Without trust it sets no keys, addresses or approval. The answer is saved.",
        None,
    ),
    info("/mouse", "[on|off]", "mouse on or off", "Off: the terminal selects text.", None),
    info("/help", "", "keys", "The keys of the pane in focus.", Some(Action::Help)),
    info("/quit", "", "quit nebula", "The session is saved.", None),
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
    let mut list = List::new(ListKind::Commands, "commands", entries);
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

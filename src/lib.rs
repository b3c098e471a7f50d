//! nebula: a full-screen terminal coding agent that shows every change before it happens and never loses your work.
//!
//! The modules, from the front ends down; each may name those below it, as the table in `tests/it/rules.rs` says:
//!
//! | module | what it is |
//! |---|---|
//! | [`tui`] | the screen: panes, input, popups, keys, themes |
//! | [`cli`] | the command line: `task`, `undo`, `history`, `patch`, `sessions`, settings, the tour; what `mcp serve` offers |
//! | `mcp` | the server of tools for other programs over the Model Context Protocol |
//! | [`agent`] | the sessions and their turns, a folder for each life: `services` and `background`, `session`, `change`, `query`, `turn` with `agent/turn/step` |
//! | [`protocol`] | the two enums between a front end and the agent: `Command` down, `Event` up |
//! | [`tools`] | the tools of the model, and those of a Strand store; a tool answers or says what should change, and writes nothing |
//! | [`context`] | the parts of a prompt: mentions, rules, templates, retrieval |
//! | `lsp` | a client of language servers: asks one for the edits of a rename; runs only where a person asked for it in a trusted folder |
//! | [`provider`] | requests to a model and their streamed answers, or a model run in this process; recordings |
//! | [`review`] | the changes that nobody approved beforehand, until they are kept or restored |
//! | [`restore_plan`] | the plans of undo, redo and restore |
//! | [`past`] | the workspace at any moment, and the cause of each line of a file |
//! | [`execute`] | the last step of every change, of files and of a Strand store: intent → archive → disk → record; the only writer of workspace files beside commands |
//! | [`shell`] | commands: their processes, output, environment, and the keepers of the states before |
//! | [`archive`] | every state that is about to be overwritten, as plain files; undo makes proposals |
//! | `definitions` | definitions of the workspace's source files: found by selectors, with their mentions |
//! | [`workspace`] | root, confinement of paths, reading, finding, watching |
//! | [`memory`] | SQLite: sessions, messages, causes of changesets, the states nebula last wrote |
//! | [`config`] | values read at start: files, flags, settings in the environment; the names of formats are those of `edit` |
//! | [`mergiraf`] | a program that joins two versions of a file, where it is installed and the person allows it |
//! | [`edit`] | pure: a model's words → edits → file changes; the ladder that finds their place |
//! | [`proposal`] | pure: file changes, hunks, decisions, previews of restores, merges |
//! | `code` | pure: definitions of source files in Rust, Python, TypeScript and Go, and changes of one of them |
//! | [`strand`] | code as a content-addressed graph edited by ops; uses only `disk`, `text` and, for remotes, `git` of the crate |
//! | [`messages`] | the texts of the screen, in English and Japanese |
//! | [`text`] | the cleaner of what a terminal is given, widths, sizes, word distance, the clock, words of JSON Schema; anyone may use it |
//! | [`git`] | every call of git; a folder that is looked at runs nothing of its own |
//! | [`disk`] | atomic replace for the modules that own files, bounded reading |
//!
//! The steps of every change: edit → proposal → decision → intent → archive → apply → record → result to the model.
//!
//! These rules are tested:
//! 1. Nothing but `execute` names `workspace::write`. Undo, redo, patch, edits in text and tools all end there.
//! 2. `execute` takes a `Decided`; only `Proposal::decide` makes one, and only of a decision that names who accepts: the
//!    person, the policy, a flag, or of a command a rule. A change without consent does not compile, and its changeset says whose it was.
//! 3. Tools, `restore_plan` and `archive::restore` write no file and issue no op: a call that changes a Strand store is tried by its
//!    tool; `execute` names its ops in a changeset and issues them, and takes them back.
//! 4. `tui` and `agent` never name each other; they meet in `protocol`.
//! 5. Everything below `agent` is synchronous except `provider`, the runs of `tools` and the way to `memory`'s own thread.
//!    Only named modules read the environment, the clock, or start a program.
//! 6. Drawing takes `&App`: nothing is decided while drawing.
//! 7. Messages are values: no closures, no handles, no serialisation.
//!
//! From key to disk: `tui/run` takes a key, `tui/app` turns it into an action and that into a `Command`;
//! `agent/supervisor` hands it to the session's `agent/actor`, and `agent/begin` has `agent/session/message` join the message to the conversation, `agent/turn` runs the turn, `agent/turn/request`
//! builds what is asked, `agent/turn/step/stream` takes the answer in, `tools` and `edit` make edits,
//! `agent/turn/step/edits` one proposal of neighbours, `agent/change/execute_proposal` asks and writes through `execute`,
//! and the results go back to the model.

pub mod agent;
pub mod archive;
pub mod cli;
#[cfg(feature = "code")]
pub mod code;
pub mod config;
pub mod context;
#[cfg(feature = "code")]
pub mod definitions;
pub mod disk;
pub mod edit;
pub mod execute;
pub mod git;
#[cfg(all(feature = "strand", feature = "code"))]
pub mod lsp;
#[cfg(feature = "mcp")]
pub mod mcp;
pub mod memory;
pub mod mergiraf;
pub mod messages;
pub mod past;
pub mod proposal;
pub mod protocol;
pub mod provider;
pub mod restore_plan;
pub mod review;
pub mod shell;
#[cfg(feature = "strand")]
pub mod strand;
pub mod text;
pub mod tools;
pub mod tui;
pub mod workspace;

//! The arguments of `nebula`. The files beside this one carry them out.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use super::files::FilesCmd;

/// A full-screen terminal coding agent: a model proposes, you approve hunk by hunk, and whatever is overwritten
/// is archived first.
#[derive(Debug, Parser)]
#[command(name = "nebula", version, subcommand_precedence_over_arg = true, disable_help_subcommand = true)]
pub struct Cli {
    /// Flags that go with every command.
    #[command(flatten)]
    pub global: Global,
    /// What to do; nothing opens the screen.
    #[command(subcommand)]
    pub command: Option<Cmd>,
    /// The first message.
    #[arg(value_name = "PROMPT")]
    pub prompt: Vec<String>,
}

/// The heading over flags that matter where a session is opened.
pub(super) const SESSION: &str = "Options of a session";

/// Flags that stand before or after a command.
#[derive(Debug, Clone, Default, Args)]
pub struct Global {
    /// Continue this project's newest session
    #[arg(long = "continue", global = true, help_heading = SESSION, conflicts_with = "resume")]
    pub go_on: bool,
    /// Resume a session by the beginning of its id; without an id, choose from the list
    #[arg(long, global = true, help_heading = SESSION, value_name = "ID", num_args = 0..=1, default_missing_value = "")]
    pub resume: Option<String>,
    /// Start in this mode
    #[arg(long, global = true, help_heading = SESSION, value_name = "plan|agent", value_parser = ["plan", "agent"])]
    pub mode: Option<String>,
    /// Model to use
    #[arg(long, global = true, help_heading = SESSION)]
    pub model: Option<String>,
    /// How the model writes its edits
    #[arg(long, global = true, help_heading = SESSION)]
    pub format: Option<String>,
    /// Provider to use
    #[arg(long, global = true, help_heading = SESSION)]
    pub provider: Option<String>,
    /// The folder the agent may touch; found from the current folder if left out
    #[arg(long, global = true, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// Ask after this many steps of one turn; 0 never asks
    #[arg(long, global = true, help_heading = SESSION, value_name = "N")]
    pub max_steps: Option<u32>,
    /// How much the model thinks: none, low, medium, high, xhigh or max
    #[arg(long, global = true, help_heading = SESSION, value_name = "EFFORT", value_parser = clap::builder::PossibleValuesParser::new(crate::config::EFFORTS))]
    pub effort: Option<String>,
    /// Stop once the session has cost this many dollars, before a request or within an answer; 0 never stops
    #[arg(long, global = true, help_heading = SESSION, value_name = "DOLLARS", value_parser = dollars)]
    pub budget: Option<f64>,
    /// Record the model's answers to a file
    #[arg(long, global = true, help_heading = SESSION, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Talk line by line, as `nebula chat` does
    #[arg(long)]
    pub plain: bool,
    /// Replay a recording instead of asking a model
    #[arg(long, global = true, help_heading = SESSION, value_name = "FILE")]
    pub replay: Option<PathBuf>,
}

/// Reads an amount of dollars.
fn dollars(text: &str) -> Result<f64, String> {
    let amount = text.parse().ok().filter(|amount: &f64| amount.is_finite() && *amount >= 0.0);
    amount.ok_or_else(|| "it must be a number from 0".into())
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Cmd {
    /// Run one turn without a screen
    Task(TaskArgs),
    /// Run a command of your own; what it overwrites is archived, and `undo` undoes it
    Run(RunArgs),
    /// List the commands that ran in this project
    Commands(JsonArgs),
    /// Print the whole output of a command
    Output {
        /// `c7`, or `SESSION/c7` as `nebula commands` lists it.
        id: String,
    },
    /// Tell what would become of a command of the model
    Rules {
        /// What to tell.
        #[command(subcommand)]
        what: RulesCmd,
    },
    /// Talk line by line: for screen readers, logs, pipes and dumb terminals
    Chat(ChatArgs),
    /// Files and their archive.
    #[command(flatten)]
    Files(FilesCmd),
    /// List, show, export, rename, delete or search sessions; alone it lists them
    Sessions {
        /// What to do with them.
        #[command(subcommand)]
        what: SessionsCmd,
    },
    /// Show or choose the model
    Model(ModelArgs),
    /// Read and write the configuration; alone it prints all of it
    Config {
        /// What to do with it.
        #[command(subcommand)]
        what: ConfigCmd,
    },
    /// Choose what `@rag` searches beside the workspace's own files
    ///
    /// `@rag words` in a message attaches the passages that fit best, as the files are now. Of more than 1,000 files
    /// the index answers at once and joins what is new beside; `nebula rag update` does so now.
    Rag {
        /// What to do with the index.
        #[command(subcommand)]
        what: RagCmd,
    },
    /// Propose a message for the staged changes, edit it, and commit
    Commit(CommitArgs),
    /// Check the installation
    Doctor(DoctorArgs),
    /// Show edits requested, applied and rejected, by model and format
    Stats(JsonArgs),
    /// Show the tokens and the cost of this project's sessions
    Usage(UsageArgs),
    /// Take the tour: a recorded model on a copy of a small project
    Demo,
    /// Serve other programs over the Model Context Protocol
    Mcp {
        /// What to do.
        #[command(subcommand)]
        what: McpCmd,
    },
    /// Work with a Strand project
    #[cfg(feature = "strand")]
    #[command(disable_help_flag = true)]
    Strand {
        /// Everything after `strand`.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<std::ffi::OsString>,
    },
    /// Print a page of the guide: what the README leaves out
    Guide {
        /// The page; without it, their list.
        topic: Option<String>,
    },
    /// Print a script that completes commands in a shell
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

/// The commands on the Model Context Protocol.
#[derive(Debug, Subcommand)]
pub enum McpCmd {
    /// Serve the archive to another agent, on standard input and output
    ///
    /// It offers archive_list, archive_versions, archive_show, archive_diff, archive_save and archive_restore; the
    /// tools of the Strand store around or in the workspace, if there is one; with --sessions sessions_search. A
    /// restore asks the person through the agent; one that cannot ask is refused, with the command to run instead.
    #[command(after_help = "\
Exit code 0: the agent closed standard input; 1: the workspace cannot be served; 2: wrong use, or the
agent did not speak the protocol; 6: there is no such store; 7: the server failed. Several may serve
one workspace.")]
    Serve(ServeArgs),
}

/// Arguments of `mcp serve`.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Offer these tools alone
    #[arg(long, value_name = "archive|strand", value_parser = ["archive", "strand"])]
    pub only: Option<String>,
    /// Restore without asking; what no flag may approve still asks
    #[arg(long)]
    pub allow_restore: bool,
    /// Offer a search of this project's conversations too
    #[arg(long)]
    pub sessions: bool,
    /// The Strand store to serve; found if left out
    #[arg(long, value_name = "DIR")]
    pub store: Option<PathBuf>,
    /// Offer definitions of source files too; not with --only
    #[arg(long)]
    pub code: bool,
}

/// Arguments of `doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Show the last request that a server refused, without its contents
    #[arg(long)]
    pub last: bool,
}

/// Arguments of `run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// One event a line
    #[arg(long)]
    pub json: bool,
    /// What keeps the states before: `guard` keeps each file before it is changed, `scan` looks before and after
    #[arg(long, value_name = "auto|guard|scan", value_parser = ["auto", "guard", "scan"])]
    pub keeper: Option<String>,
    /// Let it reach the network, and write the caches that are filled from it
    #[arg(long, conflicts_with = "read")]
    pub network: bool,
    /// Run it in a copy-on-write view of the workspace and print what it would change there; nothing is changed
    #[arg(long, conflicts_with_all = ["network", "read", "keeper", "unkept"])]
    pub preview: bool,
    /// Let it write nothing and reach nothing
    #[arg(long)]
    pub read: bool,
    /// Run it where the tree is too large to be archived: what it overwrites cannot be undone
    #[arg(long)]
    pub unkept: bool,
    /// The command: one word is a text for the shell, several are one program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "CMD")]
    pub command: Vec<String>,
}

/// Arguments of `rules`.
#[derive(Debug, Subcommand)]
pub enum RulesCmd {
    /// Print class, parts, rules, grant and decision of a command; nothing is run
    ///
    /// Exit code 0: it runs; 3: it asks, or is refused.
    Check {
        /// Who decides, in place of the configuration
        #[arg(long, value_name = "ask|edits|review|all|none", value_parser = ["ask", "edits", "review", "all", "none"])]
        approve: Option<String>,
        /// As if the model asked for the network
        #[arg(long)]
        network: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// The text
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "TEXT")]
        text: Vec<String>,
    },
}

/// Arguments of `task`.
#[derive(Debug, Args)]
pub struct TaskArgs {
    /// What to do; `-` reads it from standard input
    #[arg(required = true)]
    pub prompt: Vec<String>,
    /// Who decides: without a terminal `ask` refuses what it would ask about
    #[arg(long, value_name = "ask|edits|review|all|none", value_parser = ["ask", "edits", "review", "all", "none"])]
    pub approve: Option<String>,
    /// Fail if no file was changed, after asking the model once more
    #[arg(long)]
    pub expect_change: bool,
    /// Print one JSON event per line
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `chat`.
#[derive(Debug, Default, Args)]
pub struct ChatArgs {
    /// The first message
    #[arg(value_name = "PROMPT")]
    pub prompt: Vec<String>,
}

/// Arguments of `commit`.
#[derive(Debug, Args)]
pub struct CommitArgs {
    /// Commit with the proposed message, without asking
    #[arg(long, short)]
    pub yes: bool,
    /// Print the proposed message, and commit nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// Arguments of commands that only list.
#[derive(Debug, Args)]
pub struct JsonArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `usage`.
#[derive(Debug, Args)]
pub struct UsageArgs {
    /// What each line adds up
    #[arg(long, value_enum, default_value = "session")]
    pub by: UsageKey,
    /// Machine-readable
    #[arg(long)]
    pub json: bool,
}

/// The unit that a line of `usage` adds up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum UsageKey {
    /// A session.
    Session,
    /// A day.
    Day,
    /// A model.
    Model,
}

/// Arguments of `model`.
#[derive(Debug, Args)]
pub struct ModelArgs {
    /// The model to use from now on; without it, the current and the available models are listed
    pub name: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// The commands on the index.
#[derive(Debug, Subcommand)]
pub enum RagCmd {
    /// Index files or folders, anywhere, for this project
    Add {
        /// The folder or file to index.
        #[arg(required = true)]
        paths: Vec<PathBuf>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List what is indexed for this project
    List(JsonArgs),
    /// Remove something from the index
    Remove {
        /// The path as it was added.
        #[arg(required = true)]
        paths: Vec<PathBuf>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Update the index
    Update(JsonArgs),
}

/// The commands on sessions.
#[derive(Debug, Subcommand)]
pub enum SessionsCmd {
    /// This project's sessions, newest first
    List(JsonArgs),
    /// One session's messages
    Show {
        /// The beginning of its id.
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// One session as a document on standard output
    Export {
        /// The beginning of its id.
        id: String,
        /// The document's format
        #[arg(long, default_value = "md", value_parser = ["md", "json", "html"])]
        format: String,
    },
    /// Give a session a title
    Rename {
        /// The beginning of its id.
        id: String,
        /// Its title.
        #[arg(required = true)]
        title: Vec<String>,
    },
    /// Delete a session and its messages, after asking
    Delete {
        /// The beginning of its id.
        id: String,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
    /// Search titles and messages
    Search {
        /// Words to look for.
        #[arg(required = true)]
        words: Vec<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// The commands on the configuration.
#[derive(Debug, Subcommand)]
pub enum ConfigCmd {
    /// Print a value, or all of them
    Get {
        /// The key, nested keys joined by dots.
        key: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Set a value in your own configuration file
    Set {
        /// The key, nested keys joined by dots.
        key: String,
        /// Its value: JSON, or a word.
        value: String,
    },
    /// Take a value out of your own configuration file
    Unset {
        /// The key, nested keys joined by dots.
        key: String,
    },
    /// Print where the files are
    Path,
}

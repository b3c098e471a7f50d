//! The arguments of commands with several flags.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use crate::strand::id::QName;

/// `view`.
#[derive(Debug, ClapArgs)]
pub struct ViewArgs {
    /// layer.Name with * and ?, a def-id, or several with commas
    pub selector: String,
    /// Dependencies first, then the definition
    #[arg(long)]
    pub with_deps: bool,
    /// Content hashes
    #[arg(long)]
    pub hash: bool,
    /// Every op on it, oldest first
    #[arg(long)]
    pub history: bool,
    /// Who refers to it
    #[arg(long)]
    pub refs: bool,
    /// Number its units
    #[arg(long)]
    pub units: bool,
    /// As of an op of this store's log
    #[arg(long)]
    pub at: Option<String>,
    /// The definition that the ones to show follow, and how many to show.
    #[arg(skip)]
    pub page: Option<(Option<QName>, usize)>,
}

/// `add`.
#[derive(Debug, ClapArgs)]
pub struct Add {
    /// Layer, name and body; a body of - is read from stdin
    #[arg(num_args = 1..=3, required = true)]
    pub parts: Vec<String>,
    /// Doc lines
    #[arg(long)]
    pub doc: Option<String>,
    /// Refuse if new errors arise
    #[arg(long)]
    pub check: bool,
}

/// `remove`.
#[derive(Debug, ClapArgs)]
pub struct Remove {
    /// layer.Name
    pub qname: String,
    /// Remove all dependents as well
    #[arg(long, conflicts_with = "force")]
    pub cascade: bool,
    /// Leave references dangling
    #[arg(long)]
    pub force: bool,
    /// Only print what would be removed
    #[arg(long)]
    pub dry_run: bool,
}

/// `check`.
#[derive(Debug, ClapArgs)]
pub struct Check {
    /// Types only
    #[arg(long)]
    pub types: bool,
    /// References only
    #[arg(long)]
    pub refs: bool,
    /// Capabilities and effects only
    #[arg(long)]
    pub effects: bool,
    /// Accessibility only
    #[arg(long)]
    pub a11y: bool,
    /// Warnings count
    #[arg(long)]
    pub deny_warnings: bool,
    /// List every warning, in JSON too, and W0904 as well
    #[arg(long)]
    pub all: bool,
    /// Only these definitions
    #[arg(long)]
    pub scope: Option<String>,
    /// Say how much was checked
    #[arg(long)]
    pub stats: bool,
}

/// `fix`.
#[derive(Debug, ClapArgs)]
pub struct Fix {
    /// Print the ops that fix these: a code or an id
    #[arg(long, value_name = "CODE|ID")]
    pub auto_patch: Option<String>,
    /// Apply patches until none is left
    #[arg(long)]
    pub apply: bool,
    /// Ask about each patch
    #[arg(long)]
    pub interactive: bool,
    /// Only this code or id
    pub which: Option<String>,
}

/// `sync`.
#[derive(Debug, ClapArgs)]
pub struct Sync {
    /// Only print the plan
    #[arg(long)]
    pub dry_run: bool,
    /// Only write files
    #[arg(long, conflicts_with = "to_store")]
    pub to_files: bool,
    /// Only read files
    #[arg(long)]
    pub to_store: bool,
    /// Deleted files remove dependents as well
    #[arg(long, conflicts_with = "force")]
    pub cascade: bool,
    /// Deleted files leave references dangling
    #[arg(long)]
    pub force: bool,
    /// Repeat when something changes
    #[arg(long)]
    pub watch: bool,
}

/// `run`.
#[derive(Debug, ClapArgs)]
pub struct Run {
    /// Tile.event, reducer.name, or slot.name=json
    pub what: String,
    /// What the event sends, as JSON
    #[arg(long)]
    pub payload: Option<String>,
    /// Answers of effects, a JSON file
    #[arg(long)]
    pub effects: Option<PathBuf>,
    /// Answers of effects that are no file's.
    #[arg(skip)]
    pub given: Option<serde_json::Value>,
    /// Where random numbers start
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Start from initial slot values
    #[arg(long)]
    pub reset: bool,
    /// Perform http requests (this build refuses)
    #[arg(long)]
    pub live: bool,
}

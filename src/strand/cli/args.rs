//! The command's arguments.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};

/// Code as a graph of definitions, edited by structured ops.
#[derive(Debug, Parser)]
#[command(name = "strand", version, about)]
pub struct Args {
    /// The store's folder (default: STRAND_STORE, else found from here upwards)
    #[arg(long, global = true)]
    pub store: Option<PathBuf>,
    /// Who issues ops: agent:<id> or user:<id> (default: STRAND_AUTHOR, else user:<login>)
    #[arg(long, global = true)]
    pub author: Option<String>,
    /// Answer in JSON on stdout
    #[arg(long, global = true)]
    pub json: bool,
    /// Say nothing but results
    #[arg(long, global = true)]
    pub quiet: bool,
    /// When to colour
    #[arg(long, global = true, value_enum, default_value = "auto")]
    pub color: Color,
    /// How many seconds to wait for another writer
    #[arg(long, global = true, default_value_t = 10)]
    pub lock_timeout: u64,
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

/// When to colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Make a store (JSON: path)
    Init {
        /// Its folder (default: project.strand)
        path: Option<PathBuf>,
    },
    /// Print definitions (JSON: qname, def, hash, text, units, deps, history, refs)
    View(View),
    /// List names (JSON: qname, def, hash)
    List {
        /// Only this layer
        layer: Option<String>,
        /// With hashes
        #[arg(long)]
        hash: bool,
        /// With hashes, identities and first lines
        #[arg(long)]
        long: bool,
    },
    /// Add a definition: <layer> <name> <body>, or <layer>.<name> <body> (JSON: op-id, qname, hash, diagnostics)
    Add(Add),
    /// Replace a definition's body (JSON as add)
    Replace {
        /// layer.Name
        qname: String,
        /// The new body; - reads it from stdin
        body: String,
        /// Refuse if new errors arise
        #[arg(long)]
        check: bool,
    },
    /// Edit parts of a definition (JSON as add)
    Edit {
        /// layer.Name
        qname: String,
        /// A patch as JSON, or @file
        patch: String,
        /// Refuse if new errors arise
        #[arg(long)]
        check: bool,
    },
    /// Rename a definition; no reference breaks, no hash changes (JSON as add)
    Rename {
        /// layer.Name
        qname: String,
        /// The new name
        new: String,
    },
    /// Remove a definition (JSON: op-ids, removed, dangling)
    Remove(Remove),
    /// Link one definition to another
    Link {
        /// layer.Name
        from: String,
        /// layer.Name
        to: String,
    },
    /// Take a link away
    Unlink {
        /// layer.Name
        from: String,
        /// layer.Name
        to: String,
    },
    /// Apply or revert ops
    #[command(subcommand)]
    Patch(PatchCommand),
    /// Tell every fault (JSON: one diagnostic a line, nothing when clean)
    Check(Check),
    /// Mend faults that have an auto-patch (JSON: applied, left)
    Fix(Fix),
    /// Show or set a setting (JSON: key, value)
    Config {
        /// conflict-policy, capabilities, upstream, author or lock-mode
        key: String,
        /// The new value
        value: Option<String>,
    },
    /// Give names to an owner (JSON: owner, pattern, since)
    Lock {
        /// The id of an author
        owner: String,
        /// Patterns such as slot.todos*, separated by commas
        patterns: String,
        /// Take overlapping patterns away from their owners
        #[arg(long)]
        steal: bool,
    },
    /// Take names back from an owner
    Unlock {
        /// The id of an author
        owner: String,
        /// Only these patterns
        patterns: Option<String>,
    },
    /// List owners
    Locks,
    /// Bring files and store in line (JSON: created, updated, deleted, ops, conflicts, errors)
    Sync(Sync),
    /// List conflicts and merge findings (JSON: array)
    Conflicts {
        /// What to do
        #[command(subcommand)]
        command: Option<ConflictCommand>,
        /// Settled ones too
        #[arg(long)]
        all: bool,
    },
    /// Look at ops, or exchange them with another store
    #[command(subcommand)]
    Op(OpCommand),
    /// Clone the store; the clone's upstream is this one (JSON: path, state-hash)
    Snapshot {
        /// The new folder
        dir: PathBuf,
    },
    /// Print the hash of the whole state
    StateHash,
    /// Look after the store's files
    #[command(subcommand)]
    Store(StoreCommand),
    /// Run an event (JSON: episode, status, steps)
    Run(Run),
    /// Run a recorded episode again and compare (JSON: episode, equal, steps, difference)
    Replay {
        /// ep_…, or latest
        episode: String,
        /// On the graph it was recorded on
        #[arg(long)]
        at_graph: bool,
        /// Record what came out as the new expectation
        #[arg(long)]
        update: bool,
    },
    /// List recorded episodes (JSON: array)
    Episodes,
}

/// `view`.
#[derive(Debug, ClapArgs)]
pub struct View {
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
}

/// `add`.
#[derive(Debug, ClapArgs)]
pub struct Add {
    /// <layer> <name> <body>, or <layer>.<name> <body>; a body of - is read from stdin
    #[arg(num_args = 2..=3, required = true)]
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

/// `patch`.
#[derive(Debug, Subcommand)]
pub enum PatchCommand {
    /// Apply draft or sealed ops (JSON: accepted, duplicate, pending, rejected, …)
    Apply {
        /// A file of ops; - is stdin
        file: String,
        /// Only say what would come of it
        #[arg(long)]
        dry_run: bool,
    },
    /// Issue the inverse of an op
    Revert {
        /// op_…
        op: String,
        /// Only say what would come of it
        #[arg(long)]
        dry_run: bool,
    },
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
    /// List warnings in JSON as well
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
    /// Print the ops that mend these: a code or an id
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

/// `conflicts`.
#[derive(Debug, Subcommand)]
pub enum ConflictCommand {
    /// List them
    List,
    /// Show one whole
    Show {
        /// cf_… or W09…@place
        id: String,
    },
    /// Mark one as settled
    Resolve {
        /// cf_… or W09…@place
        id: String,
    },
    /// Issue the ops of one again on the present state
    Reissue {
        /// cf_…
        id: String,
    },
}

/// `op`.
#[derive(Debug, Subcommand)]
pub enum OpCommand {
    /// Every op, oldest first
    Log,
    /// One op whole
    Show {
        /// op_…
        id: String,
    },
    /// Ops that wait for a parent
    Pending,
    /// Give ops to another store (default: upstream)
    Push {
        /// Its folder
        #[arg(id = "other")]
        store: Option<PathBuf>,
    },
    /// Take ops from another store (default: upstream)
    Pull {
        /// Its folder
        #[arg(id = "other")]
        store: Option<PathBuf>,
    },
    /// Write ops into a file
    Bundle {
        /// Only those after this op
        #[arg(long)]
        since: Option<String>,
        /// The file
        #[arg(short, long)]
        output: PathBuf,
    },
    /// Take in the ops of another log
    Merge {
        /// The log
        log: PathBuf,
    },
}

/// `store`.
#[derive(Debug, Subcommand)]
pub enum StoreCommand {
    /// Rebuild the state from the log and compare
    Verify,
    /// Save every readable op of a corrupt log
    Repair,
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

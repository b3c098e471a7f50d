//! The arguments of nested commands.

use std::path::PathBuf;

use clap::Subcommand;

use super::{APPLIED, EXCHANGED};

/// `patch`.
#[derive(Debug, Subcommand)]
pub enum PatchCommand {
    /// Apply draft or sealed ops: one, an array, a bundle, or one a line
    #[command(after_help = APPLIED)]
    Apply {
        /// A file of ops; - is stdin
        file: String,
        /// Only say what would come of it
        #[arg(long)]
        dry_run: bool,
    },
    /// Issue the inverse of an op on the present state
    #[command(after_help = "\
JSON: {op-id, qname, hash, diagnostics}; with --dry-run {ops, skipped}
Exit: 0 reverted, 3 something newer stands there, or it is still referenced,
      6 no such op")]
    Revert {
        /// op_…
        op: String,
        /// Only say what would come of it
        #[arg(long)]
        dry_run: bool,
    },
}

/// `conflicts`.
#[derive(Debug, Subcommand)]
pub enum ConflictCommand {
    /// List them
    #[command(after_help = "JSON: as 'strand conflicts'")]
    List,
    /// Show one whole
    #[command(
        after_help = "JSON: the record or the finding, with and without --json\nExit: 0 found, 6 no such conflict"
    )]
    Show {
        /// cf_… or W09…@place
        id: String,
    },
    /// Mark one as settled
    #[command(after_help = "JSON: {resolved}")]
    Resolve {
        /// cf_… or W09…@place
        id: String,
    },
    /// Issue the ops of one again on the present state
    #[command(
        after_help = "JSON: {op-ids, diagnostics}\nExit: 0 issued, 2 it holds nothing to issue, 6 no such conflict"
    )]
    Reissue {
        /// cf_… or W09…@place
        id: String,
    },
}

/// `op`.
#[derive(Debug, Subcommand)]
pub enum OpCommand {
    /// Every op, oldest first
    #[command(after_help = "JSON: one op a line")]
    Log,
    /// One op whole
    #[command(after_help = "JSON: the op\nExit: 0 found, 6 no such op")]
    Show {
        /// op_…
        id: String,
    },
    /// Apply draft or sealed ops, as 'strand patch apply' does
    #[command(after_help = APPLIED)]
    Apply {
        /// A file of ops; - is stdin
        file: String,
        /// Only say what would come of it
        #[arg(long)]
        dry_run: bool,
    },
    /// Ops that wait for a parent
    #[command(after_help = "JSON: [{op-id, missing}]")]
    Pending,
    /// Give ops to another store
    #[command(after_help = EXCHANGED)]
    Push {
        /// Its folder [default: upstream]
        #[arg(id = "other", value_name = "STORE")]
        store: Option<PathBuf>,
        /// Publish in a Git remote instead, after taking in what it has
        #[arg(long, value_name = "NAME|URL", conflicts_with = "other")]
        remote: Option<String>,
    },
    /// Take ops from another store; upstream takes precedence
    #[command(after_help = EXCHANGED)]
    Pull {
        /// Its folder [default: upstream]
        #[arg(id = "other", value_name = "STORE")]
        store: Option<PathBuf>,
        /// Take what a Git remote has instead
        #[arg(long, value_name = "NAME|URL", conflicts_with = "other")]
        remote: Option<String>,
        /// Also where it is another store, of which this one is no clone
        #[arg(long, requires = "remote")]
        join: bool,
    },
    /// Write ops into a file
    #[command(after_help = "JSON: {ops, file}")]
    Bundle {
        /// Only those after this op
        #[arg(long)]
        since: Option<String>,
        /// The file
        #[arg(short, long)]
        output: PathBuf,
    },
    /// Take in the ops of another log
    #[command(after_help = EXCHANGED)]
    Merge {
        /// The log
        log: PathBuf,
    },
}

/// `mcp`.
#[derive(Debug, Subcommand)]
pub enum McpCommand {
    /// Serve the store's tools to an agent over stdin and stdout
    #[command(after_help = "\
Speaks the Model Context Protocol, one message a line, until stdin ends; several
servers may serve one store at once. Ops are issued as agent:NAME, NAME being
what the client calls itself, unless --author says otherwise.

With --code the definitions of ordinary source files in and around the current
folder are served too (code_view, code_refs, code_history, code_replace,
code_rename, code_remove), without a store as well. What they replace is
archived first, as by 'strand code'.

JSON: protocol messages
Exit: 0 stdin ended, 6 no store, 7 the store cannot be read")]
    Serve {
        /// Only tools that change nothing
        #[arg(long)]
        read_only: bool,
        /// Serve definitions of ordinary source files too
        #[arg(long)]
        code: bool,
    },
}

/// `store`.
#[derive(Debug, Subcommand)]
pub enum StoreCommand {
    /// Rebuild the state from the log and compare
    #[command(after_help = "JSON: {equal, state-hash, rebuilt}\nExit: 0 equal, 7 different")]
    Verify,
    /// Save every readable op of a corrupt log
    #[command(after_help = "JSON: {saved, old_log}")]
    Repair,
    /// Move the older part of the log into an archive
    #[command(after_help = "\
What the moved ops come to takes their place, so that the state, its hash and
what late ops do to it stay as they are. The archive stays a part of the store:
histories, 'view --at', 'revert', push and pull read it. Whole transactions
move; where an upstream is set, only those that it has. A date is 2026-11-21
(from 00:00 UTC) or 2026-11-21T10:00:00+02:00. It takes about a minute for a
million ops, and other writers wait meanwhile; readers do not.

JSON: {archive, moved, left, log_bytes: [before, after], archive_bytes,
      state_hash}
Exit: 0 moved, 2 there is nothing to move, 6 no such op")]
    Compact {
        /// The first op that stays, or a date from which on all stay
        #[arg(long, value_name = "OP-ID|DATE")]
        before: String,
    },
}

//! The command's arguments.

mod flags;
mod nested;

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

pub use flags::{Add, Check, Fix, Remove, Run, Sync, ViewArgs};
pub use nested::{ConflictCommand, McpCommand, OpCommand, PatchCommand, StoreCommand};

/// The time that a command waits for another writer, in seconds.
pub const LOCK_TIMEOUT: u64 = 10;

/// The heading of the options that every command takes.
const EVERYWHERE: &str = "Options of every command";

/// Words and exit codes that hold for every command.
const AFTER: &str = "\
First steps:
  strand init
  strand add slot count 'Int = 0'
  strand add tile Counter 'row { text(value=text(cuont)) }'
  strand check             tells the fault, and what may have been meant
  strand fix --apply       fixes what can be fixed in one way only
  strand view '*'
'strand add --help' shows what definitions of each layer look like.

A definition is named layer.Name; the layers are type, slot, effect, reducer,
tile and fn. A selector is layer.Name with * (any run) and ? (one character),
layer.*, *, a def-id, or several of these with commas.

Results go to stdout, messages to stderr. 'strand COMMAND --help' tells the keys
of a command's JSON. With --json a failure is told on stdout as well:
{\"error\": {\"code\", \"kind\", \"message\", \"details\"}}, code being the exit code.

Exit codes:
  0  done
  1  findings: faults, conflicts, a replay that differs, a trap
  2  wrong usage, malformed or unparsable input, a patch that does not apply
  3  refused: still referenced, a name that is taken, superseded
  4  a bundle refused by the conflict policy
  5  owned by someone else
  6  not found
  7  the store is busy or corrupt, or a file or remote cannot be read or written";

/// Code as a graph of definitions, edited by structured ops instead of text diffs
#[derive(Debug, Parser)]
#[command(name = "strand", version, after_help = AFTER)]
pub struct Args {
    /// The store [else STRAND_STORE, else looked for upwards]
    #[arg(long, global = true, value_name = "DIR", help_heading = EVERYWHERE)]
    pub store: Option<PathBuf>,
    /// agent:ID or user:ID [else STRAND_AUTHOR, else login]
    #[arg(long, global = true, value_name = "ID", help_heading = EVERYWHERE)]
    pub author: Option<String>,
    /// Answer in JSON on stdout
    #[arg(long, global = true, help_heading = EVERYWHERE)]
    pub json: bool,
    /// No messages but failures
    #[arg(long, global = true, help_heading = EVERYWHERE)]
    pub quiet: bool,
    /// auto (heeds NO_COLOR), always or never
    #[arg(long, global = true, value_enum, default_value = "auto", value_name = "WHEN", hide_possible_values = true, help_heading = EVERYWHERE)]
    pub color: Color,
    /// Seconds to wait for another writer
    #[arg(long, global = true, default_value_t = LOCK_TIMEOUT, value_name = "S", help_heading = EVERYWHERE)]
    pub lock_timeout: u64,
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

/// The choice of coloured output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The commands that exchange ops.
const EXCHANGED: &str = "\
JSON: {accepted, duplicate, pending: [{op-id, missing}],
      rejected: [{bundle, ops, reason, conflict, edges}],
      absorbed: [{qname, winner, loser}], healed, warnings, state-hash}
Exit: 0 applied, 2 malformed, or an op-id known with other content,
      4 refused by the policy, 5 owned by someone else";

/// The command that applies ops: what it answers tells the faults that they brought.
const APPLIED: &str = "\
JSON: {accepted, duplicate, pending: [{op-id, missing}],
      rejected: [{bundle, ops, reason, conflict, edges}],
      absorbed: [{qname, winner, loser}], healed, warnings, state-hash,
      diagnostics: the faults that the ops brought}
Exit: 0 applied, 2 malformed, or an op-id known with other content,
      4 refused by the policy, 5 owned by someone else";

/// The command.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Make a store
    #[command(after_help = "JSON: {path}")]
    Init {
        /// Its folder [default: project.strand]
        path: Option<PathBuf>,
    },
    /// Print definitions as text
    #[command(after_help = "\
--history prints 'op-id time op author  first line', --refs one place a line.

JSON: [{qname, def, hash, text, units: [{unit, text}], deps, history, refs}];
      history and refs only with their flags
Exit: 0 found, 6 nothing of that name")]
    View(ViewArgs),
    /// List names, in layer order then by name
    #[command(after_help = "JSON: [{qname, def, hash}]")]
    List {
        /// Only this layer, its names without the layer
        layer: Option<String>,
        /// With hashes
        #[arg(long)]
        hash: bool,
        /// With hashes, identities and first lines
        #[arg(long)]
        long: bool,
    },
    /// Add a definition
    #[command(
        override_usage = "strand add [OPTIONS] <LAYER> <NAME> <BODY>\n       strand add [OPTIONS] <LAYER>.<NAME> <BODY>",
        after_help = "\
Prints the op's id, and on stderr the faults it brings. A name that is not there
yet is such a fault, no refusal. One of each layer:

  strand add type Step 'Int where it >= 1'
  strand add slot count 'Int = 0'
  strand add effect tell '(what: Text) -> Unit needs=[log] do=log.print(what)'
  strand add fn next '(n: Int, by: Step) -> Int = n + by'
  strand add tile Counter 'button(label=\"+ \" + text(count), event=inc)'
  strand add reducer inc 'on=Counter.inc do= count := next(count, 1)'

JSON: {op-id, qname, hash, diagnostics}
Exit: 0 added, 1 refused by --check, 2 the body does not parse,
      3 the name is taken, 5 owned by someone else"
    )]
    Add(Add),
    /// Replace a definition's body
    #[command(after_help = "\
JSON: {op-id, qname, hash, diagnostics}
Exit: 0 replaced, 1 refused by --check, 2 the body does not parse,
      5 owned by someone else, 6 no such definition")]
    Replace {
        /// layer.Name
        qname: String,
        /// The new body; - reads it from stdin
        body: String,
        /// Refuse if new errors arise
        #[arg(long)]
        check: bool,
    },
    /// Edit parts of a definition
    #[command(after_help = "\
A patch is {address: instruction or [instructions]}. Addresses: body:N (units as
'view --units' numbers them), body:N.part, or a header such as on, in, params,
type, init, needs, doc. Instructions: replace 'a' -> 'b', set TEXT, insert TEXT,
replace-all 'a' -> 'b', insert-child TEXT, delete, add NAME=EXPR, unset NAME.

  strand edit slot.n '{\"init\": \"set 2\"}'
  strand edit tile.App '{\"body:2\": \"insert text(value=\\\"hi\\\")\"}'

JSON: {op-id, qname, hash, diagnostics}
Exit: 0 edited, 1 refused by --check, 2 the patch does not apply,
      5 owned by someone else, 6 no such definition")]
    Edit {
        /// layer.Name
        qname: String,
        /// A patch as JSON, @FILE, or - for stdin
        patch: String,
        /// Refuse if new errors arise
        #[arg(long)]
        check: bool,
    },
    /// Rename a definition; no reference breaks, no hash changes
    #[command(after_help = "\
JSON: {op-id, qname, hash, diagnostics}
Exit: 0 renamed, 2 no legal name, 3 the name is taken, or means something else
      where it is used, 5 owned by someone else, 6 no such definition")]
    Rename {
        /// layer.Name
        qname: String,
        /// The new name, with or without the layer
        new: String,
    },
    /// Remove a definition; refused while others refer to it
    #[command(after_help = "\
JSON: {op-ids, removed, dangling, diagnostics};
      when refused, error.details.referenced_by
Exit: 0 removed, 3 still referenced, 5 owned by someone else,
      6 no such definition")]
    Remove(Remove),
    /// Link one definition to another, as if it referred to it
    #[command(after_help = "JSON: {op-id, qname, hash, diagnostics}\nExit: 0 linked, 6 no such definition")]
    Link {
        /// layer.Name
        from: String,
        /// layer.Name
        to: String,
    },
    /// Take a link away
    #[command(after_help = "JSON: {op-id, qname, hash, diagnostics}\nExit: 0 unlinked, 6 no such definition")]
    Unlink {
        /// layer.Name
        from: String,
        /// layer.Name
        to: String,
    },
    /// Apply a file of ops, or revert an op
    #[command(subcommand)]
    Patch(PatchCommand),
    /// Tell every fault: types, references, effects, accessibility
    #[command(after_help = "\
JSON: one diagnostic a line, and nothing at all when there is none:
      {code, kind, location, message, suggestion, auto-patch, severity, id};
      warnings are listed with --a11y, --deny-warnings or --all
Exit: 0 no error, 1 errors; with --a11y or --deny-warnings 1 for warnings too")]
    Check(Check),
    /// Fix faults that have an auto-patch
    #[command(after_help = "\
Examples:
  strand fix --auto-patch E0103          print the ops that fix every E0103
  strand fix --auto-patch E0103@fn.f.body:1    the one that fixes this fault
  strand fix --apply                     apply them all, in at most 10 rounds
  strand fix --apply E0103               only these
  strand fix --interactive               ask about each

Prints: --apply the op-ids of what it did, one a line, then 'fixed N, left N'
JSON: --auto-patch prints draft ops, one a line;
      --apply {applied, left, op-ids}
Exit: 0 done, 2 no such code, or no terminal to ask on")]
    Fix(Fix),
    /// Show or set a setting
    #[command(after_help = "\
Settings, and what holds when they are not set:
  conflict-policy  strict, heal or warn: what is done when a reference meets
                   a concurrent removal [strict]
  capabilities     what effects may need [net,storage,clock,random,log]
  upstream         the store to push to and pull from
  author           who issues ops when nothing else says so
  lock-mode        enforce or off [enforce]

JSON: {key, value}; a list of them without a key
Exit: 0 done, 2 no such key or value")]
    Config {
        /// conflict-policy, capabilities, upstream, author or lock-mode
        key: Option<String>,
        /// The new value
        value: Option<String>,
    },
    /// Give names to an owner; others' ops on them are refused
    #[command(after_help = "\
Example:
  strand lock agent-1 'slot.todos*,reducer.todo-*'

JSON: [{owner, pattern, since}]
Exit: 0 locked, 2 no pattern,
      5 a pattern can share a name with one of another owner")]
    Lock {
        /// The id of an author, without agent: or user:
        owner: String,
        /// Patterns such as slot.todos*, separated by commas
        patterns: String,
        /// Take overlapping patterns away from their owners
        #[arg(long)]
        steal: bool,
    },
    /// Take names back from an owner
    #[command(after_help = "JSON: [{owner, pattern, since}]\nExit: 0 unlocked, 6 it owns nothing like that")]
    Unlock {
        /// The id of an author
        owner: String,
        /// Only these patterns
        patterns: Option<String>,
    },
    /// List owners and their patterns
    #[command(after_help = "JSON: [{owner, pattern, since}]")]
    Locks,
    /// Bring files and store in line, both ways
    #[command(after_help = "\
JSON: {plan, created, updated, deleted, ops, conflicts, errors}
Exit: 0 in line, 1 a file was refused or stands in conflict")]
    Sync(Sync),
    /// List, show, settle or reissue what clashed or was lost
    #[command(after_help = "\
JSON: an array of records {conflict, kind, policy, at, edges, ops, status}, and
      of findings of merging with the keys of a diagnostic (W0901 to W0906)
Exit: 0 done, 6 no such conflict")]
    Conflicts {
        /// What to do [default: list]
        #[command(subcommand)]
        command: Option<ConflictCommand>,
        /// Settled ones too, and W0904: changed since written against
        #[arg(long)]
        all: bool,
    },
    /// Look at ops, or exchange them with another store
    #[command(subcommand)]
    Op(OpCommand),
    /// Clone the store; the clone's upstream is this one
    #[command(after_help = "JSON: {path, state-hash}")]
    Snapshot {
        /// The new folder
        dir: PathBuf,
    },
    /// Print the hash of the whole state
    #[command(after_help = "JSON: {state-hash}")]
    StateHash,
    /// Look after the store's files
    #[command(subcommand)]
    Store(StoreCommand),
    /// Serve the store to an agent
    #[command(subcommand)]
    Mcp(McpCommand),
    /// List, view and change definitions of ordinary source files
    #[command(disable_help_flag = true, after_help = "JSON: 'strand code COMMAND --help' tells it")]
    Code {
        /// Everything after 'code'; --help tells the commands
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "WORDS")]
        words: Vec<std::ffi::OsString>,
    },
    /// Run an event and record it as an episode
    #[command(after_help = "\
Examples:
  strand run 'slot.draft=\"milk\"'
  strand run NewForm.submit
  strand run TodoRow.toggle --payload 1
  strand run SignupForm.submit --effects answers.json
with {\"signup\": [{\"err\": \"offline\"}, {\"ok\": true}]} in answers.json

JSON: {episode, status, graph, steps}; status is done, waiting, trap or limit
Exit: 0 done or waiting, 1 a trap, too many steps, or faults in what would run,
      2 a payload that does not fit, 6 no such tile, event, reducer or slot")]
    Run(Run),
    /// Run a recorded episode again and compare
    #[command(after_help = "\
JSON: {episode, equal, steps, difference}
Exit: 0 equal, 1 it differs, 6 no such episode")]
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
    /// List recorded episodes, oldest first
    #[command(after_help = "JSON: [{episode, ts, trigger, steps, status}]")]
    Episodes,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Args;

    /// Every command that does something, with its help.
    fn helps(command: &mut clap::Command, path: &str, out: &mut Vec<(String, String)>) {
        let path = format!("{path} {}", command.get_name());
        let below: Vec<String> = command.get_subcommands().map(|below| below.get_name().to_owned()).collect();
        out.push((if below.is_empty() { path.clone() } else { String::new() }, command.render_long_help().to_string()));
        for name in below {
            if let Some(below) = command.find_subcommand_mut(name) {
                helps(below, &path, out);
            }
        }
    }

    #[test]
    fn every_help_fits_a_terminal_and_tells_its_json() {
        let mut command = Args::command();
        command.build();
        let mut all = Vec::new();
        helps(&mut command, "", &mut all);
        let mut faults = Vec::new();
        for (path, help) in all {
            let long: Vec<&str> = help.lines().filter(|line| line.chars().count() > 80).collect();
            faults.extend(long.iter().map(|line| format!("{path}: {line}")));
            if !(path.is_empty() || path.contains(" help") || help.contains("JSON: ")) {
                faults.push(format!("{path} does not tell its JSON"));
            }
        }
        assert_eq!(faults, Vec::<String>::new());
    }
}

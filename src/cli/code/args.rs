//! The arguments of `strand code`.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// Words that hold for every command.
const AFTER: &str = "\
A selector names definitions:
  fn.main, class.Foo*         of a kind, anywhere in the workspace
  src/cart.rs::Cart.total     in a file; * any run, ? one character, no dots
  src/cart.rs:12              the innermost at a line
  src/cart.rs, src, **/a.ts   all of a file, a folder, a pattern of paths
  ...::Cart.fmt#2             the second of that name
Several stand with commas. Paths are relative to the workspace, else to here.
Kinds: fn method class struct enum trait interface type const var mod macro
field. A file called like a kind is written ./mod.rs.

Attributes, decorators and documentation directly above a definition belong to
it. A hash is that of all its bytes: its comments count, what is beside it not.
Files of Rust, Python, TypeScript and Go are read, as git would find them, up
to 2 MiB each. No types are inferred and no macro is expanded.

With --json a failure is told on stdout as well:
{\"error\": {\"code\", \"kind\", \"message\", \"details\"}}, code being the exit code.

Exit codes:
  0  done
  2  wrong usage, several definitions where one is meant, a text that is not
     one definition or would not parse
  3  refused: changed since it was viewed, not approved, or something else
     would be changed as well
  6  not found
  7  a file cannot be read or written";

/// Definitions of ordinary source files: Rust, Python, TypeScript, Go
#[derive(Debug, Parser)]
#[command(name = "strand code", bin_name = "strand code", after_help = AFTER)]
pub struct CodeArgs {
    /// The folder whose files are meant [else found upwards]
    #[arg(long, global = true, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// Answer in JSON on stdout
    #[arg(long, global = true)]
    pub json: bool,
    /// What to do
    #[command(subcommand)]
    pub command: CodeCommand,
}

/// The command.
#[derive(Debug, Subcommand)]
pub enum CodeCommand {
    /// List definitions: id, kind, lines
    #[command(after_help = "\
JSON: {nodes: [{id, path, kind, lines: [first, last], hash}],
       errors: [{path, line}], skipped: [{path, why}]}
      errors are syntax errors: definitions near them may be missing
Exit: 0 found, 6 nothing of that name")]
    List {
        /// A selector; left out: all
        #[arg(default_value = "**")]
        selector: String,
    },
    /// Print definitions, each under its id, kind, lines and hash
    #[command(after_help = "\
JSON: {nodes: [{id, path, kind, lines: [first, last], hash, text}],
       errors: [{path, line}], skipped: [{path, why}]}
      with --outline the text is the signature; with --with-deps what a
      definition mentions by scope or import precedes it, each once
Exit: 0 found, 6 nothing of that name")]
    View(ViewCode),
    /// Replace one definition; nothing outside it changes by a byte
    #[command(after_help = "\
The text is one definition of the same kind. It is indented like the one it
replaces and gets its line endings. What is replaced is archived first:
'nebula undo' brings it back, 'nebula history' lists it.

JSON: {op-id, id, path, hash, diff, diagnostics: [{path, line, message}]};
      op-id is the changeset, null if nothing was written
Exit: 0 replaced, 2 the text does not fit, 3 changed since it was viewed, or
      not approved, 6 nothing of that name")]
    Replace(ReplaceCode),
    /// List where a definition is mentioned, and how certain that is
    #[command(after_help = "\
Certainties: local, the scopes of the file lead there; import, an import does;
scoped, it is the only one of the name in the package; name, it has the same
name, which is all that can be told without types. A mention that certainly
means something else is left out; a use by another name that an import gives
is listed. Strings, comments and other languages are not
looked at; no macro is expanded.

JSON: {refs: [{path, line, column, in, certainty, text}],
       counts: {local, import, scoped, name},
       errors: [{path, line}], skipped: [{path, why}]}
Exit: 0 looked, 2 several definitions, 6 nothing of that name")]
    Refs(RefsCode),
    /// Remove one definition; refused while others refer to it
    #[command(after_help = "\
Mentions of certainty 'name' do not hold it.

JSON: {op-id, id, path, diff, diagnostics: [{path, line, message}],
       skipped: [{path, why}]};
      op-id is the changeset, null if nothing was written; skipped files are
      not read and may mention it; when refused, error.details.referenced_by
Exit: 0 removed, 2 what is left would not parse, 3 still referenced, changed
      meanwhile, or not approved, 6 nothing of that name")]
    Remove(RemoveCode),
    /// Rename one definition where every mention of it can be told
    #[command(after_help = "\
Refused if one mention is of certainty 'name', if a method or field shares its
name with another, if a file defines it several times, if something finds it by
its name (files of a module of Rust, main, __init__, String of Go, no_mangle),
if a file that may mention it is not read, or if the new name is in use in a
file that would change. Names that imports give stay as they are. Strings and
comments stay as they are: run the project's tests afterwards.

With --server a language server on the PATH tells the mentions instead, with
types: rust-analyzer, gopls, basedpyright or pyright, or
typescript-language-server; or one that the configuration names (lsp). It runs
the project's code, so the folder must be trusted. It is started for this and
ended. Its edit is checked, shown and asked about like any other; one that
leaves a mention more certain than 'name', or touches what git would not find,
is refused.

JSON: {op-id, id, changed: [{path, count}], diff,
       diagnostics: [{path, line, message}]}, with --server also server; and
      left: [\"path:line\"], places of the name that are left as they are;
      when refused, error.details.places or error.details.skipped
Exit: 0 renamed, 2 no legal name, 3 unresolved, not read, in use, changed
      meanwhile, not trusted, no server or no edit of it that will do, or not
      approved, 6 nothing of that name")]
    Rename(RenameCode),
    /// List the changes of one definition that are archived, newest first
    #[command(after_help = "\
They are told from the states of its file, whatever changed it: strand code, a
model, a person's undo. It is followed through its names and moves of its file;
one that was removed and made anew under one name has one history. Changes
outside nebula are not listed; 'unsure': one of them may be taken for this one.

JSON: {id, ops: [{op-id, time, change, cause, approved, unsure}]};
      change is added, changed, removed, 'renamed from NAME' or
      'renamed from NAME, changed'
Exit: 0 looked, 2 several definitions, 6 nothing of that name")]
    History {
        /// A selector that means one definition
        selector: String,
    },
}

/// Arguments of `refs`.
#[derive(Debug, Args)]
pub struct RefsCode {
    /// A selector that means one definition
    pub selector: String,
    /// Only mentions as certain as this
    #[arg(long, value_name = "WORD", value_parser = ["local", "import", "scoped", "name"])]
    pub min_certainty: Option<String>,
}

/// Arguments of `rename`.
#[derive(Debug, Args)]
pub struct RenameCode {
    /// A selector that means one definition
    pub selector: String,
    /// The new name
    pub new_name: String,
    /// Its hash as 'view' printed it; 12 digits will do
    #[arg(long, value_name = "H")]
    pub expect_hash: Option<String>,
    /// Let a language server tell the mentions, in a folder that is trusted
    #[arg(long)]
    pub server: bool,
    /// Seconds until the server is ready, and as many for its answer
    #[arg(long, value_name = "N", default_value_t = 120, requires = "server")]
    pub wait: u64,
    /// The way it is asked for.
    #[command(flatten)]
    pub ask: AskCode,
}

/// Arguments of `remove`.
#[derive(Debug, Args)]
pub struct RemoveCode {
    /// A selector that means one definition
    pub selector: String,
    /// Its hash as 'view' printed it; 12 digits will do
    #[arg(long, value_name = "H")]
    pub expect_hash: Option<String>,
    /// Remove it though others refer to it
    #[arg(long)]
    pub force: bool,
    /// The way it is asked for.
    #[command(flatten)]
    pub ask: AskCode,
}

/// Arguments of `view`.
#[derive(Debug, Args)]
pub struct ViewCode {
    /// A selector
    pub selector: String,
    /// Signatures alone
    #[arg(long)]
    pub outline: bool,
    /// Show first what each mentions, where that can be told
    #[arg(long)]
    pub with_deps: bool,
}

/// Arguments of `replace`.
#[derive(Debug, Args)]
pub struct ReplaceCode {
    /// A selector that means one definition
    pub selector: String,
    /// The file with the text; - is stdin
    #[arg(default_value = "-")]
    pub file: String,
    /// Its hash as 'view' printed it; 12 digits will do
    #[arg(long, value_name = "H")]
    pub expect_hash: String,
    /// The way it is asked for.
    #[command(flatten)]
    pub ask: AskCode,
}

/// The way a change is asked for.
#[derive(Debug, Args)]
pub struct AskCode {
    /// Print what would change, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    pub yes: bool,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::CodeArgs;

    #[test]
    fn every_help_fits_a_terminal_and_tells_its_json() {
        let mut command = CodeArgs::command();
        command.build();
        let mut helps = vec![command.render_long_help().to_string()];
        for below in command.get_subcommands_mut().filter(|below| below.get_name() != "help") {
            helps.push(below.render_long_help().to_string());
            assert!(helps.last().is_some_and(|help| help.contains("JSON: ")), "{}", below.get_name());
        }
        let long: Vec<&str> = helps.iter().flat_map(|help| help.lines()).filter(|l| l.chars().count() > 80).collect();
        assert_eq!(long, Vec::<&str>::new());
    }
}

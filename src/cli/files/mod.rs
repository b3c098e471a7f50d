//! Commands about files and their archive: undo, redo, shi, history, show, diff, prune, patch. Each makes a proposal
//! or a listing; what changes a file is asked, archived and applied like any other change.

mod history;
mod past;
mod past_to;
mod patch;
mod prune;
pub(super) mod restore_words;
mod review;
mod states;
pub(super) mod undo;
mod undo_words;
pub(super) mod write;

#[cfg(test)]
mod tests;

use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, Subcommand};

use crate::agent::background::reconcile::reconcile;
use crate::agent::{Adopted, StoreError};
use crate::archive::staging::PATIENCE;
use crate::archive::{self, Archive};
use crate::cli::out::Out;
use crate::cli::print;
use crate::config::size;
use crate::execute::Stores;
use crate::memory::{self, Memory};
use crate::messages::agent as say;
use crate::text::name::{byte_of, name_of, text_of};
use crate::workspace::{PathError, Workspace};

/// All went well.
pub const DONE: u8 = 0;
/// The exit code of a failure: one line says why, and nothing was changed.
pub const FAILED: u8 = 1;
/// It was not approved, wholly or in part.
pub const NOT_APPROVED: u8 = 3;

/// An archive of at most this many changesets is measured in passing.
const MEASURED: usize = 1_000;

/// The commands.
#[derive(Debug, Clone, Subcommand)]
pub enum FilesCmd {
    /// Undo changes
    Undo(UndoArgs),
    /// Redo: undo the newest undo
    Redo(AskArgs),
    /// Archive files as they are
    #[command(after_help = "\
--hook is for another agent's hook before a tool, --hook --after for the one after it: the hook's JSON
is read from standard input (cwd, tool_name, tool_input). Nothing is printed, the exit code is 0; what
fails is a line of ~/.nebula/logs/hook.log.")]
    Shi {
        /// The files, relative to the current folder.
        #[arg(required_unless_present = "hook", conflicts_with = "hook")]
        files: Vec<String>,
        /// Archive what a hook's message on standard input names
        #[arg(long)]
        hook: bool,
        /// The files are written: from now on they count as nebula's
        #[arg(long, requires = "hook")]
        after: bool,
    },
    /// List changesets, or one file's versions, newest first
    History(HistoryArgs),
    /// Print an archived version, or what a changeset contains and who approved it
    Show {
        /// The version or changeset, by a unique beginning of its id.
        version: String,
    },
    /// Compare an archived version with another, or with the current file
    Diff {
        /// The version, by a unique beginning of its id.
        version: String,
        /// Another version, or `now`.
        #[arg(default_value = "now")]
        with: String,
    },
    /// Delete old versions, never the newest of a file
    Prune(PruneArgs),
    /// List the changes that nobody approved beforehand, and keep or restore them
    ///
    /// Exit code 0: nothing waits; 1: something does; 3: something was not restored.
    Review(ReviewArgs),
    /// List the moments of the workspace that the archive holds, oldest first
    Timeline {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show the workspace at a moment: the files that differ from now, or the bytes of one
    ///
    /// WHEN is a changeset (the state just before it), SESSION:MESSAGE, a time (14:05, 2026-11-21T14:05), -2h, or now.
    /// Nothing is changed unless --restore is given, which asks like `undo`.
    At(AtArgs),
    /// Show who wrote each line of a file: a prompt, a command, someone outside nebula, or what was there before
    Blame(BlameArgs),
    /// Apply an edit in any format: a diff, blocks, whole files, tags
    Patch(PatchArgs),
}

/// The way a change is asked for.
#[derive(Debug, Clone, Default, Args)]
pub struct AskArgs {
    /// Print what would happen, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Do not ask; merge or keep what was changed outside nebula, but undo all of a file that is named
    #[arg(long, short)]
    pub yes: bool,
    /// Do not ask; restore files changed outside nebula too (their current version is archived first)
    #[arg(long)]
    pub force: bool,
    /// Choose hunks
    #[arg(long)]
    pub hunk: bool,
}

impl FilesCmd {
    /// Returns whether it does more than show something: that is done also where nobody reads what it prints.
    fn acts(&self) -> bool {
        match self {
            FilesCmd::Undo(_) | FilesCmd::Redo(_) | FilesCmd::Shi { .. } | FilesCmd::Prune(_) | FilesCmd::Patch(_) => {
                true
            }
            FilesCmd::Review(args) => !args.keep.is_empty() || !args.restore.is_empty(),
            FilesCmd::At(args) => args.restore || args.to.is_some(),
            FilesCmd::History(_)
            | FilesCmd::Show { .. }
            | FilesCmd::Diff { .. }
            | FilesCmd::Timeline { .. }
            | FilesCmd::Blame(_) => false,
        }
    }
}

/// Arguments of `undo`.
#[derive(Debug, Clone, Default, Args)]
pub struct UndoArgs {
    /// How many versions back, then the files, without which those of the newest changeset; or a
    /// changeset's id
    #[arg(value_name = "[COUNT] [FILE] | ID", value_parser = file_name())]
    pub words: Vec<String>,
    /// Everything the last turn changed; with --resume ID, the last turn of that session
    #[arg(long, conflicts_with_all = ["words", "to"])]
    pub turn: bool,
    /// Everything changed since this message of a session
    #[arg(long, value_name = "SESSION:MESSAGE", conflicts_with = "words")]
    pub to: Option<String>,
    /// How it is asked for.
    #[command(flatten)]
    pub ask: AskArgs,
}

/// Arguments of `review`.
#[derive(Debug, Clone, Default, Args)]
pub struct ReviewArgs {
    /// Keep these changes; nothing is written
    #[arg(long, value_name = "ID|all", num_args = 1.., conflicts_with = "restore")]
    pub keep: Vec<String>,
    /// Restore what these changes overwrote: as `undo`, merged with later changes
    #[arg(long, value_name = "ID|all", num_args = 1..)]
    pub restore: Vec<String>,
    /// How a restore is asked for.
    #[command(flatten)]
    pub ask: AskArgs,
}

/// Arguments of `at`.
#[derive(Debug, Clone, Default, Args)]
pub struct AtArgs {
    /// The moment
    #[arg(allow_hyphen_values = true)]
    pub when: String,
    /// Print this file as it was
    #[arg(value_parser = file_name())]
    pub path: Option<String>,
    /// Propose to go back: all files, or the one that is named
    #[arg(long)]
    pub restore: bool,
    /// Write the whole state into this folder outside the workspace, which must be new or empty
    #[arg(long, value_name = "DIR", conflicts_with_all = ["path", "restore", "dry_run", "json", "hunk", "yes", "force"])]
    pub to: Option<PathBuf>,
    /// How a restore is asked for.
    #[command(flatten)]
    pub ask: AskArgs,
}

/// Arguments of `blame`.
#[derive(Debug, Clone, Default, Args)]
pub struct BlameArgs {
    /// The file
    #[arg(value_parser = file_name())]
    pub file: String,
    /// Lines A to B alone, from 1
    #[arg(short = 'L', value_name = "A,B")]
    pub lines: Option<String>,
    /// Ask git for the lines that were there before nebula
    #[arg(long)]
    pub git: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `history`.
#[derive(Debug, Clone, Default, Args)]
pub struct HistoryArgs {
    /// One file's versions
    #[arg(value_parser = file_name())]
    pub file: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Check the archive for damage: exit 1 if there is any
    #[arg(long, conflicts_with = "file")]
    pub check: bool,
}

/// Arguments of `prune`.
#[derive(Debug, Clone, Default, Args)]
pub struct PruneArgs {
    /// Keep versions at most this many days old
    #[arg(long, value_name = "DAYS")]
    pub keep_days: Option<u32>,
    /// Keep the newest versions up to this size (`500 MiB`); without either option archiveMaxSize applies
    #[arg(long, value_name = "SIZE")]
    pub max_size: Option<String>,
    /// Print what would be deleted, and delete nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Do not ask
    #[arg(long, short)]
    pub yes: bool,
}

/// Arguments of `patch`. The edit format is the global `--format`, else it is recognised.
#[derive(Debug, Clone, Default, Args)]
pub struct PatchArgs {
    /// The file with the edit; `-`: standard input
    #[arg(default_value = "-")]
    pub file: String,
    /// Print what would change, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    pub yes: bool,
}

/// Archives what commands changed that were cut off, and joins the changesets of killed processes with their causes, so
/// that a list or an undo meets all there is. Returns lines to tell the person, and what memory said to it.
///
/// # Errors
/// When the archive cannot be read.
pub(in crate::cli) fn reconcile_killed(
    stores: Stores<'_>,
) -> Result<(Vec<String>, Result<usize, memory::Error>), archive::Error> {
    let shell = crate::shell::Shell::for_archive(stores.workspace, stores.archive);
    let Adopted { mut lines, in_use } = crate::agent::adopt(&shell, stores, PATIENCE)?;
    lines.extend((in_use > 0).then(|| say::command_runs_yet().into()));
    match reconcile(stores) {
        Ok(reconciled) => {
            lines.extend(reconciled.lines);
            lines.extend(reconciled.unread.iter().map(archive::Error::to_string));
            Ok((lines, Ok(reconciled.count)))
        }
        Err(StoreError::Memory(error)) => Ok((lines, Err(error))),
        Err(StoreError::Archive(error)) => Err(error),
    }
}

/// Returns the normalised path of a file that a person named, as [`Stores::archived_path`] does, also of a name that is no
/// UTF-8 as lists show it.
///
/// # Errors
/// When it is no path that nebula may change.
pub(in crate::cli) fn archived_path(base: &Path, file: &str, stores: Stores<'_>) -> Result<String, PathError> {
    // A name that is no UTF-8 is none of the workspace's for a model, but a version may be of it.
    let named = if file.contains('\0') { Some(file.to_string()) } else { listed_name(file) };
    if let Some(named) = named.and_then(|named| below(base, &named, stores).ok())
        && (stores.archive.versions(&named).is_ok_and(|v| !v.is_empty()) || stores.workspace.stamp(&named).is_some())
    {
        return Ok(named);
    }
    stores.archived_path(base, file)
}

/// Returns the normalised path of a name that is no UTF-8.
fn below(base: &Path, named: &str, stores: Stores<'_>) -> Result<String, PathError> {
    let full = base.join(name_of(named.as_ref()));
    let inside = full.strip_prefix(stores.workspace.root()).unwrap_or(&full);
    stores.workspace.resolve_archived(&text_of(inside.as_os_str()))
}

/// Returns the name that a list shows as `n\xff`; none: no byte of it is shown so.
fn listed_name(shown: &str) -> Option<String> {
    let mut pieces = shown.split("\\x");
    let mut name = pieces.next()?.to_string();
    let mut is_other = false;
    for piece in pieces {
        let is_byte = piece.as_bytes().get(..2).and_then(byte_of).is_some();
        name += if is_byte { "\0" } else { "\\x" };
        name += piece;
        is_other |= is_byte;
    }
    is_other.then_some(name)
}

/// Reads the name of a file, which need not be UTF-8, as its text.
fn file_name() -> impl TypedValueParser<Value = String> {
    OsStringValueParser::new().map(|name| text_of(&name).into_owned())
}

/// The context of the commands.
pub struct ArchiveCommands<'a> {
    /// The workspace.
    pub workspace: &'a Workspace,
    /// Its archive.
    pub archive: &'a Archive,
    /// Memory.
    pub memory: &'a Memory,
    /// The folder that paths are relative to: the shell's current one.
    pub folder: PathBuf,
    /// The folder of the records of commands, if there is one.
    pub commands: Option<PathBuf>,
    /// `archiveMaxSize` in bytes.
    pub max_size: u64,
    /// The global `--format`.
    pub format: Option<String>,
    /// The global `--resume`: the beginning of a session's id.
    pub session: Option<String>,
    /// True if the person can be asked: input and error output are terminals.
    pub can_ask: bool,
    /// The source of answers.
    pub input: &'a mut dyn BufRead,
    /// The output for the results.
    pub out: Out<'a>,
    /// Questions and complaints.
    pub err: Out<'a>,
}

impl ArchiveCommands<'_> {
    /// Runs a command; gives the exit code. An error is one line for the person, and exit code 1.
    ///
    /// # Errors
    /// When the command failed and nothing was changed.
    pub fn run(&mut self, command: &FilesCmd) -> Result<u8> {
        if command.acts() {
            self.go_on_unread();
        }
        match self.run_command(command) {
            // The reader has closed the pipe: `nebula history | head`.
            Err(error) if print::is_broken_pipe(&error) => Ok(DONE),
            other => other,
        }
    }

    /// Makes both outputs take what nobody reads.
    pub(in crate::cli) fn go_on_unread(&mut self) {
        self.out.go_on_unread();
        self.err.go_on_unread();
    }

    fn run_command(&mut self, command: &FilesCmd) -> Result<u8> {
        let looks_back = matches!(command, FilesCmd::Timeline { .. } | FilesCmd::At(_) | FilesCmd::Blame(_));
        let archived =
            matches!(command, FilesCmd::Undo(_) | FilesCmd::Redo(_) | FilesCmd::History(_) | FilesCmd::Review(_));
        if archived || looks_back {
            let (lines, reconciled) = reconcile_killed(self.stores())?;
            for line in lines {
                self.complain(&line)?;
            }
            self.memory.or_report(reconciled);
        }
        match command {
            FilesCmd::Undo(args) => self.undo(args),
            FilesCmd::Redo(ask) => self.redo(ask),
            FilesCmd::Shi { files, .. } => self.shi(files),
            FilesCmd::History(args) => self.history(args),
            FilesCmd::Show { version } => self.show(version),
            FilesCmd::Diff { version, with } => self.diff(version, with),
            FilesCmd::Prune(args) => self.prune(args),
            FilesCmd::Patch(args) => self.patch(args),
            FilesCmd::Review(args) => self.review(args),
            FilesCmd::Timeline { json } => self.timeline(*json),
            FilesCmd::At(args) => self.at(args),
            FilesCmd::Blame(args) => self.blame(args),
        }
    }

    /// Returns the workspace's root, as memory names projects.
    pub(in crate::cli) fn project(&self) -> String {
        self.workspace.root().to_string_lossy().into_owned()
    }

    /// Returns the normalised paths of files named on the command line.
    fn paths(&self, files: &[String]) -> Result<Vec<String>> {
        let one = |f: &String| self.path(&self.folder, f);
        files.iter().map(one).collect()
    }

    /// Returns a file as it is really written; or the link itself, where only that has been archived.
    fn path(&self, base: &Path, file: &str) -> Result<String> {
        Ok(archived_path(base, file, self.stores())?)
    }

    /// Asks, and reads a line; `None` at the end of input.
    fn ask(&mut self, question: &str) -> Result<Option<String>> {
        write!(self.err, "{question} ")?;
        self.err.flush()?;
        let mut line = String::new();
        let read = self.input.read_line(&mut line)?;
        Ok((read > 0).then(|| line.trim().to_lowercase()))
    }

    /// Asks for a yes.
    fn agrees(&mut self, question: &str) -> Result<bool> {
        Ok(self.ask(&format!("{question} [y/N]"))?.is_some_and(|a| a == "y" || a == "yes"))
    }

    /// Says that the archive is nearly full, by the size it was last measured at; one that never was is measured,
    /// unless it is so large that this takes a while.
    fn tell_size(&mut self, changesets: usize) -> Result<()> {
        let known = self.memory.archive_size(&self.project());
        let bytes = match self.memory.or_report(known) {
            Some(size) => size.bytes,
            None if changesets <= MEASURED => self.measure()?,
            None => return Ok(()),
        };
        match size::nearly_full(bytes, self.max_size) {
            Some(full) => self.complain(&format!("{full}; `nebula prune` deletes the oldest versions, after asking")),
            None => Ok(()),
        }
    }

    /// Measures the archive now; memory stores the size.
    fn measure(&mut self) -> Result<u64> {
        let bytes = self.archive.size()?;
        let stored = self.memory.set_archive_size(&self.project(), bytes);
        self.memory.or_report(stored);
        Ok(bytes)
    }

    /// Complains in one line.
    pub(in crate::cli) fn complain(&mut self, what: &str) -> Result<()> {
        Ok(writeln!(self.err, "nebula: {what}")?)
    }
}

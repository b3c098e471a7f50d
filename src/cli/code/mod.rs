//! `strand code`: lists, shows, replaces, removes and renames definitions of ordinary source files, and finds where they
//! are mentioned. The files are the truth; a change is a proposal like any other.

mod args;
mod failure;
mod history;
mod place;
mod read;
mod refs;
mod rename;
mod renamed;
#[cfg(feature = "mcp")]
mod schema;
#[cfg(feature = "mcp")]
mod served;
mod server;
mod servers;
mod write;

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::io;

use clap::Parser;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::args::Global;
use super::context::Context;
use super::files::{ArchiveCommands, DONE};
use super::out::{self, Out};
use crate::definitions::{DefinitionFinder, SecretFiles};
use args::{CodeArgs, CodeCommand, RenameCode};
use failure::{Failed, USAGE};
use place::Place;
#[cfg(feature = "mcp")]
pub use served::CodeTools;
use servers::Servers;

/// Runs `strand code` with the words after it; `json` if that was asked for before them. Returns the exit code.
pub fn run(words: Vec<OsString>, json: bool) -> u8 {
    let json = json || words.iter().take_while(|word| *word != "--").any(|word| word == "--json");
    let words = std::iter::once(OsString::from("strand code")).chain(words);
    let args = match CodeArgs::try_parse_from(words) {
        Ok(args) => args,
        Err(error) if !error.use_stderr() => {
            let _ = error.print();
            return 0;
        }
        Err(error) => {
            let text = error.render().to_string();
            let text = text.strip_prefix("error: ").unwrap_or(&text).trim_end().to_owned();
            return Failed::new("usage", USAGE, text).tell(json);
        }
    };
    let told = perform(args, json).and_then(|answer| match json {
        true => Ok(out::say_json(&answer)?),
        false => Ok(()),
    });
    match told {
        Ok(()) => DONE,
        Err(failed) if failed.is_closed_pipe() => DONE,
        Err(failed) => failed.tell(json),
    }
}

/// Does what is asked for. Returns the answer for a program; that for a person is printed.
fn perform(args: CodeArgs, json: bool) -> Result<Value, Failed> {
    let global = Global { workspace: args.workspace, ..Global::default() };
    let context = Context::of_files(global, None)?;
    let (workspace, folder, stop) = (&context.workspace, context.folder.clone(), CancellationToken::new());
    let finder = DefinitionFinder { workspace, folder, stop, secrets: SecretFiles::Shown };
    let patience = match &args.command {
        CodeCommand::Rename(RenameCode { wait, .. }) => *wait,
        _ => 0,
    };
    let servers = Servers { context: Some(&context), unasked: false, patience };
    let place = Place { finder, json, flag: "--yes", servers };
    match &args.command {
        CodeCommand::List { selector } => read::list(&place, selector),
        CodeCommand::View(view) => read::view(&place, view),
        CodeCommand::Refs(args) => refs::refs(&place, args),
        CodeCommand::Replace(replace) => with_archive(&context, |files| write::replace(&place, files, replace)),
        CodeCommand::Remove(remove) => with_archive(&context, |files| write::remove(&place, files, remove)),
        CodeCommand::Rename(args) => with_archive(&context, |files| rename::rename(&place, files, args)),
        CodeCommand::History { selector } => with_archive(&context, |files| history::history(&place, files, selector)),
    }
}

/// Runs what changes files.
fn with_archive(
    context: &Context,
    change: impl FnOnce(&mut ArchiveCommands<'_>) -> Result<Value, Failed>,
) -> Result<Value, Failed> {
    context.config.warnings.iter().for_each(out::complain);
    let (archive, memory) = (context.archive()?, context.memory());
    let mut input = io::stdin().lock();
    let mut files = ArchiveCommands {
        workspace: &context.workspace,
        archive: &archive,
        memory: &memory,
        folder: context.folder.clone(),
        commands: context.config.paths.own("commands"),
        max_size: context.config.archive_max_size,
        format: None,
        session: None,
        can_ask: out::at_terminal(),
        input: &mut input,
        out: Out::stdout(),
        err: Out::stderr(),
    };
    // A change is made also where nobody reads how.
    files.go_on_unread();
    change(&mut files)
}

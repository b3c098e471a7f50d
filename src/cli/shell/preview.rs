//! `nebula run --preview`: a person's own command in a view of the workspace, and what it would change.

use std::sync::Arc;

use anyhow::Result;
use serde_json::json;

use super::super::args::RunArgs;
use super::super::out::{self, Out};
use super::super::{Context, diff};
use super::events::line as event_line;
use super::run::{NOT_STARTED, RanCommand, SESSION, exit_code, request, run_through};
use crate::agent::command_end;
use crate::protocol::CommandEvent;
use crate::shell::{Commands, Keeper, SealResult, Stopped, View, ViewChanges};
use crate::text::number::plural;

/// Runs a command in a view, and prints what it changed there as a diff; the exit code is its own. What is too much to be
/// read is said in its place.
///
/// # Errors
/// When the archive or the output cannot be used.
pub fn run(context: &Context, args: &RunArgs) -> Result<i32> {
    let archive = context.archive()?;
    let shell = Arc::new(crate::agent::shell(&context.config, &context.workspace, &archive));
    if let Some(why) = shell.no_view() {
        out::complain(format_args!("there is no preview here: {why}"));
        return Ok(NOT_STARTED);
    }
    let mut request = request(context, args)?;
    let view = Arc::new(View::create(&context.workspace, &archive)?.with_met_states(&context.workspace));
    request.view = Some(Arc::clone(&view));
    let commands = Commands::new(Arc::clone(&shell), SESSION);
    let Some(RanCommand { command, stopped, printed }) =
        run_through(context, &commands, &request, Some(Keeper::View), args.json)?
    else {
        return Ok(NOT_STARTED);
    };
    command.keep_record(None);
    out::unless_unread(printed)?;
    let code = exit_code(&command);
    if let Some(line) = command.running.progress().summary.connection_words(code != 0) {
        out::complain(line);
    }
    if args.json {
        let nothing = SealResult::default();
        let end = command_end(&command, stopped.then_some(Stopped::Person), &nothing);
        Out::stdout().json(&event_line(&CommandEvent::Ended(end)))?;
    }
    match view.changes(&context.workspace, &shell.places()) {
        Ok(changes) => tell(&changes, args.json)?,
        Err(why) if args.json => {
            Out::stdout().json(&json!({"type": "preview", "changed": null, "notes": [why.to_string()]}))?;
        }
        Err(why) => out::complain(format_args!("preview: nothing was changed; {why}")),
    }
    Ok(code)
}

fn tell(changes: &ViewChanges, as_json: bool) -> Result<()> {
    let mut out = Out::stdout();
    if as_json {
        let change = |file: &crate::proposal::FileChange| {
            json!({"path": file.path, "added": file.counts.added, "removed": file.counts.removed,
                   "made": file.before.is_absent(), "gone": file.after.is_absent()})
        };
        let changed: Vec<_> = changes.files.iter().map(change).collect();
        let notes: Vec<String> = changes.notes().into_iter().chain(changes.read_only_notes()).collect();
        out.json(&json!({"type": "preview", "changed": changed, "notes": notes}))?;
        return Ok(());
    }
    for file in &changes.files {
        out.styled(&diff::unified(file, out.is_terminal()))?;
    }
    let notes = changes.notes();
    notes.iter().cloned().chain(changes.read_only_notes()).for_each(out::complain);
    out::aside(match changes.files.len() {
        0 if !notes.is_empty() => "preview: nothing else would be changed".to_string(),
        0 => "preview: nothing would be changed".to_string(),
        count => format!("preview: nothing was changed; {} would be", plural(count, "file")),
    });
    Ok(())
}

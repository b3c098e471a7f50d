//! `nebula commit`: a message for what is staged, proposed by the model, edited, then approved.

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use super::args::CommitArgs;
use super::context::{Connected, Context};
use super::out;
use crate::agent::{AnswerCost, commit, listed_facts};
use crate::context::commit::staged;
use crate::context::templates::Templates;
use crate::disk::EditorFile;
use crate::execute::Stores;
use crate::git::Trust;
use crate::provider::models::{Effort, Facts, Known};
use crate::provider::{Provider, Request, Usage};
use crate::review;
use crate::text::clean::clean_line;

/// Exit code for what was not approved.
const NOT_APPROVED: i32 = 3;
/// The time limit for a server to say what it knows of the model.
const TO_DESCRIBE: Duration = Duration::from_secs(2);
/// Unreviewed files that are named.
const NAMED: usize = 20;

/// Names the files of changes that nobody was asked about and that wait to be looked at.
fn name_unreviewed(context: &Context) {
    let Ok(archive) = context.archive() else { return };
    let memory = context.memory();
    let stores = Stores { workspace: &context.workspace, archive: &archive, memory: &memory };
    // What cannot be read is told by `nebula review`.
    let Ok(queue) = review::open(stores) else { return };
    let files: BTreeSet<String> =
        queue.entries.iter().flat_map(|entry| &entry.files).map(|file| file.path.clone()).collect();
    if files.is_empty() {
        return;
    }
    let named: Vec<_> = files.iter().take(NAMED).map(|path| clean_line(path).into_owned()).collect();
    let more = files.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    out::complain(format_args!("not reviewed: {}{more} (`nebula review` shows why)", named.join(", ")));
}

/// Runs `nebula commit`; the exit code.
///
/// # Errors
/// When nothing is staged, no model answers, or git refuses.
pub fn run(context: &Context, arguments: &CommitArgs) -> Result<i32> {
    // Checks without the model come first: no message is requested that cannot be approved.
    let staged = staged(context.workspace.root())?;
    if !arguments.dry_run && !arguments.yes && !std::io::stdin().is_terminal() {
        out::complain("nothing was committed: `--yes` commits without asking, `--dry-run` only prints a message");
        return Ok(NOT_APPROVED);
    }
    name_unreviewed(context);
    out::aside(staged.stat.trim_end());
    let Connected { provider, model } = provider(context)?;
    let templates = Templates::new(&context.workspace, context.config.paths.folder());
    let root = context.workspace.root().to_path_buf();
    let language = context.config.language.clone();
    let listed = context.block_on(listed_facts(&context.config.paths, &*provider, &model, TO_DESCRIBE));
    let known = Known::new(&model, &context.config.model_config(&model), listed, Facts::default());
    let effort = context.config.effort_for(&model).and_then(Effort::parse);
    let base = Request { model: model.clone(), facts: known.facts(), effort, ..Request::default() };
    let proposed = context.block_on(commit::propose(&*provider, base, templates, root, language));
    let mut message = match proposed {
        Ok((message, usage)) => {
            store_usage(context, &*provider, &model, &known, &usage);
            message
        }
        Err((what, hint)) if hint.is_empty() => bail!("{what}"),
        Err((what, hint)) => bail!("{what}. {hint}"),
    };
    out::unless_unread(out::say(&message))?;
    if arguments.dry_run {
        return Ok(0);
    }
    if !arguments.yes {
        match ask(message)? {
            Some(edited) => message = edited,
            None => return Ok(NOT_APPROVED),
        }
    }
    let trust = if context.config.is_trusted() { Trust::Folder } else { Trust::Nothing };
    match commit::run(context.workspace.root(), &message, trust) {
        Ok(done) => {
            out::unless_unread(out::say(done.said))?;
            done.left_out.into_iter().for_each(out::aside);
        }
        // A message of a hook or of git keeps its lines.
        Err(why) if why.lines().count() > 1 => {
            out::aside(&why);
            bail!("nothing was committed: git says why above");
        }
        Err(why) => bail!("nothing was committed: {why}"),
    }
    Ok(0)
}

/// Stores what the message took, so that `nebula usage` counts it; where memory cannot be written it says so itself.
fn store_usage(context: &Context, provider: &dyn Provider, model: &str, known: &Known, usage: &Usage) {
    let beside = AnswerCost::new(known, provider.local(), usage).beside(None, model, usage);
    if let Err(why) = context.memory().add_usage_beside(&context.project(), None, &beside) {
        out::complain(&why);
    }
}

/// Returns the recording that was named, else the configured provider.
fn provider(context: &Context) -> Result<Connected> {
    if let Some(provider) = context.parts()?.provider {
        return Ok(Connected { provider, model: context.config.model.clone() });
    }
    context.connect().map_err(|e| anyhow::anyhow!("{e}. {}", e.hint))
}

/// Asks until the person accepts a message; `None`: nothing is committed.
fn ask(mut message: String) -> Result<Option<String>> {
    loop {
        let line = out::read_line("\ncommit with this message? [y]es, [e]dit, [n]o ")?;
        if line.is_empty() {
            return Ok(None);
        }
        match line.trim() {
            "y" | "yes" => return Ok(Some(message)),
            "e" | "edit" => {
                message = edited(&message)?;
                out::say(&message)?;
            }
            "n" | "no" | "" => return Ok(None),
            _ => {}
        }
    }
}

/// Returns the message as it comes back from `$EDITOR`.
fn edited(message: &str) -> Result<String> {
    let editor = ["VISUAL", "EDITOR"].iter().find_map(|v| std::env::var(v).ok()).unwrap_or_else(|| "vi".into());
    let file = EditorFile::new("COMMIT_EDITMSG", message.as_bytes()).context("no temporary file for the editor")?;
    let ended = Command::new("sh").arg("-c").arg(format!("{editor} \"$1\"")).arg("sh").arg(file.path()).status();
    let ended = ended.with_context(|| format!("{editor} cannot be run; set EDITOR"))?;
    if !ended.success() {
        bail!("{editor} ended with an error: nothing was committed");
    }
    let left = file.read().with_context(|| format!("what {editor} left cannot be read: nothing was committed"))?;
    Ok(String::from_utf8_lossy(&left).trim().to_string())
}

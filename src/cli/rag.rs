//! `nebula rag`: the sources indexed for `@rag`.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use serde_json::json;

use super::args::{JsonArgs, RagCmd};
use super::context::Context;
use super::out::{self, Out};
use crate::context::retrieval::{self, IndexProgress};
use crate::memory::rag::Rag;
use crate::text::number::plural;
use crate::text::time;

/// Runs `nebula rag`; the exit code.
///
/// # Errors
/// When the index cannot be used, or something to be added is not there: nothing is added or removed then.
pub fn run(context: &Context, what: RagCmd) -> Result<i32> {
    let folder = context.config.paths.folder().context("there is no home folder for the index; set NEBULA_HOME")?;
    let rag = Rag::open(&folder.join("rag.db"))?;
    match what {
        RagCmd::Add { paths, json } => add(&rag, context, &paths, json)?,
        RagCmd::Remove { paths, json } => remove(&rag, context, &paths, json)?,
        RagCmd::Update(JsonArgs { json }) => {
            let done = retrieval::update(&rag, &context.workspace, &watch)?;
            if json {
                out::say_json(&json!({"files": done.done, "gone": done.gone}))?;
            } else {
                out::say(format_args!("{} indexed, {} gone", plural(done.done, "file"), done.gone))?;
            }
        }
        RagCmd::List(JsonArgs { json }) => list(&rag, context, json)?,
    }
    Ok(0)
}

fn add(rag: &Rag, context: &Context, paths: &[PathBuf], json: bool) -> Result<()> {
    for path in paths {
        let full = context.folder.join(path);
        std::fs::metadata(&full)
            .map_err(|e| anyhow::anyhow!("{} cannot be indexed: {e}; nothing was added", path.display()))?;
    }
    let mut rows = Vec::new();
    for path in paths {
        let done = retrieval::add(rag, &context.workspace, &context.folder.join(path), &watch)?;
        rows.push(json!({"path": path, "files": done.done}));
        if !json {
            let line = out::say(format_args!("{}: {} indexed", path.display(), plural(done.done, "file")));
            out::unless_unread(line)?;
        }
    }
    if json {
        out::say_json(&rows)?;
    }
    Ok(())
}

fn remove(rag: &Rag, context: &Context, paths: &[PathBuf], json: bool) -> Result<()> {
    let known = retrieval::sources(rag, &context.workspace)?;
    for path in paths {
        let full = retrieval::named(&context.folder.join(path));
        if !known.iter().any(|s| s.path == full) {
            bail!("{} is not indexed; `nebula rag list` shows what is; nothing was removed", path.display());
        }
    }
    for path in paths {
        retrieval::remove(rag, &context.workspace, &context.folder.join(path))?;
        if !json {
            out::unless_unread(out::say(format_args!("{}: forgotten", path.display())))?;
        }
    }
    if json {
        out::say_json(&paths)?;
    }
    Ok(())
}

fn list(rag: &Rag, context: &Context, json: bool) -> Result<()> {
    let sources = retrieval::sources(rag, &context.workspace)?;
    if json {
        let rows = sources
            .iter()
            .map(|s| json!({"path": s.path, "files": s.files, "passages": s.passages, "updated": s.updated}));
        out::say_json(&json!(rows.collect::<Vec<_>>()))?;
        return Ok(());
    }
    if sources.is_empty() {
        out::say(
            "nothing is indexed yet: `nebula rag update`, or the first @rag in a message, indexes this workspace",
        )?;
    }
    for source in sources {
        let updated = source.updated.map_or_else(|| "never".to_string(), time::local);
        out::say(format_args!(
            "{:>14}  {:>17}  {updated}  {}",
            plural(source.files as usize, "file"),
            plural(source.passages as usize, "passage"),
            source.path
        ))?;
    }
    Ok(())
}

/// Shows progress where someone is looking, and goes on.
fn watch(progress: IndexProgress) -> bool {
    let mut to = Out::stderr();
    let last = progress.done == progress.changed;
    if progress.changed > 200 && (last || progress.done.is_multiple_of(100)) && to.is_terminal() {
        let end = if last { "\n" } else { "" };
        let _ = to.styled(format!("\r{} of {} files{end}", progress.done, progress.changed).as_bytes());
        let _ = to.flush();
    }
    true
}

//! `nebula rag`: what is indexed for `@rag`.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use chrono::TimeZone;
use clap::Subcommand;
use serde_json::json;

use super::Context;
use crate::context::retrieval::{self, Progress};
use crate::memory::rag::Rag;

/// What can be done with the index.
#[derive(Debug, Subcommand)]
pub enum RagCmd {
    /// Index files or folders, wherever they lie, for this project
    Add {
        /// What to index.
        #[arg(required = true)]
        paths: Vec<PathBuf>,
    },
    /// List what is indexed for this project
    List {
        /// Machine-readable
        #[arg(long)]
        json: bool,
    },
    /// Forget something that was added
    Remove {
        /// As it was added.
        #[arg(required = true)]
        paths: Vec<PathBuf>,
    },
    /// Bring the index up to date with the files there are
    Update,
}

/// Runs `nebula rag`; the exit code.
///
/// # Errors
/// When the index cannot be used, or something to be added is not there.
pub fn run(context: &Context, what: RagCmd) -> Result<i32> {
    let folder = context.config.paths.folder().context("there is no home folder for the index; set NEBULA_HOME")?;
    let rag = Rag::open(&folder.join("rag.db"))?;
    match what {
        RagCmd::Add { paths } => {
            for path in paths {
                let done = retrieval::add(&rag, &context.workspace, &context.folder.join(&path), &watch)?;
                println!("{}: {} files indexed", path.display(), done.done);
            }
        }
        RagCmd::Remove { paths } => {
            for path in paths {
                if !retrieval::remove(&rag, &context.workspace, &context.folder.join(&path))? {
                    eprintln!("nebula: {} is not indexed; `nebula rag list` shows what is", path.display());
                    return Ok(1);
                }
            }
        }
        RagCmd::Update => {
            let done = retrieval::update(&rag, &context.workspace, &watch)?;
            println!("{} files indexed, {} gone", done.done, done.gone);
        }
        RagCmd::List { json } => list(&rag, context, json)?,
    }
    Ok(0)
}

fn list(rag: &Rag, context: &Context, json: bool) -> Result<()> {
    let sources = retrieval::sources(rag, &context.workspace)?;
    if json {
        let rows = sources
            .iter()
            .map(|s| json!({"path": s.path, "files": s.files, "passages": s.passages, "updated": s.updated}));
        println!("{}", json!(rows.collect::<Vec<_>>()));
        return Ok(());
    }
    if sources.is_empty() {
        println!(
            "nothing is indexed yet: `nebula rag update`, or the first @rag in a message, begins with this workspace"
        );
    }
    for source in sources {
        let updated = source.updated.and_then(|ms| chrono::Local.timestamp_millis_opt(ms).single());
        let updated = updated.map_or_else(|| "never".to_string(), |t| t.format("%Y-%m-%d %H:%M").to_string());
        println!("{:>8} files  {:>8} passages  {updated}  {}", source.files, source.passages, source.path);
    }
    Ok(())
}

/// Shows progress where someone is looking, and goes on.
fn watch(progress: Progress) -> bool {
    let mut to = std::io::stderr();
    if to.is_terminal() && progress.changed > 200 {
        let end = if progress.done == progress.changed { "\n" } else { "" };
        let _ = write!(to, "\r{} of {} files{end}", progress.done, progress.changed);
        let _ = to.flush();
    }
    true
}

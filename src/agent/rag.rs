//! `@rag words` in a message: the index is brought up to date with the files there are, then asked. Runs on the blocking
//! pool while the message is composed; never on the model's own account.

use std::cell::Cell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use super::env::{Env, lock};
use crate::context::retrieval::{self, PASSAGES, Passage, Progress};
use crate::memory::rag::Rag;
use crate::protocol::Level;

/// New files from which it is worth saying that indexing takes a while.
const MANY: usize = 500;
/// How often it is said how far it is.
const OFTEN: Duration = Duration::from_millis(250);

/// The passages that fit the words. `stop` ends an update of the index that takes too long.
///
/// # Errors
/// When nothing fits, the index cannot be used, or it was stopped: the message is not sent.
pub fn retrieve(env: &Arc<Env>, words: &str, stop: &CancellationToken) -> Result<Vec<Passage>, String> {
    let path = lock(&env.config).paths.folder().map(|f| f.join("rag.db"));
    let path = path.ok_or("@rag needs a home folder for its index; set NEBULA_HOME")?;
    let failed = |e: crate::memory::Error| format!("the index of @rag cannot be used: {e}");
    let rag = Rag::open(&path).map_err(failed)?;
    let told = Cell::new(Instant::now());
    let watch = |progress: Progress| {
        if progress.changed >= MANY && told.get().elapsed() >= OFTEN {
            told.set(Instant::now());
            let title = format!("indexing for @rag: {} of {} files; Esc stops", progress.done, progress.changed);
            tokio::runtime::Handle::current().block_on(env.say(Level::Info, title, ""));
        }
        !stop.is_cancelled()
    };
    let progress = retrieval::update(&rag, &env.workspace, &watch).map_err(failed)?;
    if progress.stopped {
        return Err(format!(
            "indexing for @rag was stopped at {} of {} files; the next @rag goes on from there",
            progress.done, progress.changed
        ));
    }
    let found = retrieval::find(&rag, &env.workspace, words, PASSAGES).map_err(failed)?;
    if found.is_empty() {
        return Err(format!(
            "@rag found nothing for {words}: use other words, or add sources with `nebula rag add PATH`"
        ));
    }
    Ok(found)
}

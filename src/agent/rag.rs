//! `@rag words` in a message: the index is brought up to date with the files there are, then asked. Runs on the blocking
//! pool while the message is composed; never on the model's own account.

use std::sync::Arc;

use super::env::{Env, lock};
use crate::context::retrieval::{self, PASSAGES, Passage, Progress};
use crate::memory::rag::Rag;
use crate::protocol::Level;

/// New files from which it is worth saying that indexing takes a while.
const MANY: usize = 2_000;

/// The passages that fit the words.
///
/// # Errors
/// When nothing fits or the index cannot be used: the message is not sent.
pub fn retrieve(env: &Arc<Env>, words: &str) -> Result<Vec<Passage>, String> {
    let path = lock(&env.config).paths.folder().map(|f| f.join("rag.db"));
    let path = path.ok_or("@rag needs a home folder for its index; set NEBULA_HOME")?;
    let failed = |e: crate::memory::Error| format!("the index of @rag cannot be used: {e}");
    let rag = Rag::open(&path).map_err(failed)?;
    let told = std::sync::atomic::AtomicBool::new(false);
    let watch = |progress: Progress| {
        if progress.changed >= MANY && !told.swap(true, std::sync::atomic::Ordering::Relaxed) {
            let title = format!("indexing {} files for @rag", progress.changed);
            let detail = "This takes a while the first time; later only what changed is read.";
            tokio::runtime::Handle::current().block_on(env.say(Level::Info, title, detail));
        }
        true
    };
    retrieval::update(&rag, &env.workspace, &watch).map_err(failed)?;
    let found = retrieval::find(&rag, &env.workspace, words, PASSAGES).map_err(failed)?;
    if found.is_empty() {
        return Err(format!(
            "@rag found nothing for {words}: use other words, or add sources with `nebula rag add PATH`"
        ));
    }
    Ok(found)
}

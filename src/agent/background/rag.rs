//! `@rag words` in a message: the index is asked on the blocking pool while the message is composed; never on the
//! model's own account. Of a large tree it answers as it is, and is brought up to date beside: when `@rag` is begun to
//! be typed, and after each answer.

use std::cell::Cell;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use crate::agent::services::Services;
use crate::agent::services::events::Events;
use crate::context::retrieval::{self, IndexProgress, Passage, RetrievalResult};
use crate::memory::rag::Rag;
use crate::messages::agent as say;
use crate::protocol::Level;

/// The number of new files from which indexing is worth a progress message.
const MANY: usize = 500;
/// The interval at which progress is reported.
const OFTEN: Duration = Duration::from_millis(250);

/// Returns the passages that fit the words. `stop` ends an update of the index that takes too long; `events` is told
/// how far one is.
///
/// # Errors
/// When nothing fits, the index cannot be used, or it was stopped: the message is not sent.
pub fn retrieve(
    services: &Arc<Services>,
    events: &Events,
    words: &str,
    stop: &CancellationToken,
) -> Result<Vec<Passage>, String> {
    let path = path(services).ok_or(say::rag_needs_home())?;
    let failed = |e: crate::memory::Error| say::rag_unusable(&e);
    let rag = Rag::open(&path).map_err(failed)?;
    let last_report = Cell::new(Instant::now());
    let watch = |progress: IndexProgress| {
        if progress.changed >= MANY && last_report.get().elapsed() >= OFTEN {
            last_report.set(Instant::now());
            let title = format!("indexing for @rag: {} of {} files; Esc stops", progress.done, progress.changed);
            tokio::runtime::Handle::current().block_on(events.say(Level::Info, title, ""));
        }
        !stop.is_cancelled()
    };
    let found = match retrieval::ask(&rag, &services.workspace, words, &watch).map_err(failed)? {
        RetrievalResult::Fresh(found) => found,
        RetrievalResult::AtOnce(found) => {
            refresh(services);
            found
        }
        RetrievalResult::Stopped(progress) => {
            return Err(format!(
                "indexing for @rag was stopped at {} of {} files; the next @rag goes on from there",
                progress.done, progress.changed
            ));
        }
    };
    if found.is_empty() {
        return Err(say::rag_nothing(&words));
    }
    Ok(found)
}

/// Brings the index up to date on a thread of its own, if this project has one and no other update runs.
pub fn refresh(services: &Arc<Services>) {
    let Some(path) = path(services).filter(|p| p.exists()) else { return };
    if services.watched.refreshing.swap(true, Ordering::AcqRel) {
        return;
    }
    let services = Arc::clone(services);
    tokio::task::spawn_blocking(move || {
        // A failure here is reported when the index is used the next time.
        let go_on = |_: IndexProgress| !services.closing.load(Ordering::Relaxed);
        let _ = Rag::open(&path).and_then(|rag| retrieval::refresh(&rag, &services.workspace, &go_on));
        services.watched.refreshing.store(false, Ordering::Release);
    });
}

fn path(services: &Services) -> Option<PathBuf> {
    services.config.read().paths.folder().map(|f| f.join("rag.db"))
}

//! Tells the front end of new changesets of this nebula, in the order in which they were made, beside the work that
//! made them.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::sync::mpsc::{self, UnboundedReceiver};

use crate::agent::background::review;
use crate::agent::services::changesets::changesets;
use crate::agent::services::events::Events;
use crate::agent::services::news::{ChangesetNews, News};
use crate::agent::services::{ServiceReport, Services, lock};
use crate::archive::Id;
use crate::proposal::Consent;
use crate::protocol::{Changeset, EventBody, REDO, UNDO};

/// Returns the way to the teller, and what arrives by it.
pub fn channel() -> (ChangesetNews, UnboundedReceiver<News>) {
    let (tell, news) = mpsc::unbounded_channel();
    (ChangesetNews::new(tell), news)
}

/// The most that is taken at once.
const BATCH: usize = 64;

/// Begins to tell what arrives, until the agent ends.
pub fn begin(services: &Arc<Services>, mut news: UnboundedReceiver<News>) {
    let services = Arc::downgrade(services);
    tokio::spawn(async move {
        let mut batch = Vec::new();
        while news.recv_many(&mut batch, BATCH).await > 0 {
            let Some(services) = services.upgrade() else { return };
            // What waits to be reviewed is counted once for all that arrived meanwhile.
            let mut uncounted = None;
            for news in batch.drain(..) {
                match news {
                    News::Changeset(events, id) => {
                        if tell(&services, &events, id).await {
                            uncounted = Some(events);
                        }
                    }
                    News::Flush(flushed) => {
                        recount(&services, uncounted.take()).await;
                        // Nobody may wait any more.
                        let _ = flushed.send(());
                    }
                }
            }
            recount(&services, uncounted).await;
        }
    });
}

/// Tells of a changeset. Returns whether it may have changed what waits to be reviewed.
async fn tell(services: &Arc<Services>, events: &Events, id: Id) -> bool {
    let own = Arc::clone(services);
    // A panic there is reported by its thread.
    let looked = tokio::task::spawn_blocking(move || {
        let archived = archived(&own, id);
        let restores = archived.as_ref().is_some_and(is_restore);
        (archived, may_change_queue(&own, id, restores))
    })
    .await;
    let (archived, is_uncounted) = looked.unwrap_or_default();
    if let Some(changeset) = archived {
        tell_archived(services, events, changeset).await;
    }
    is_uncounted
}

/// Counts what waits to be reviewed. `uncounted`: the events of the last changeset that may have changed it.
async fn recount(services: &Arc<Services>, uncounted: Option<Events>) {
    let Some(events) = uncounted else { return };
    let own = Arc::clone(services);
    if tokio::task::spawn_blocking(move || review::count(&own)).await.unwrap_or_default() {
        events.refresh_status();
    }
}

/// Tells of a changeset, and the sessions of a restore.
pub(super) async fn tell_archived(services: &Services, events: &Events, changeset: Changeset) {
    let restored = is_restore(&changeset).then(|| changeset.id.clone());
    events.send(EventBody::Archived(changeset)).await;
    if let Some(id) = restored {
        services.report(ServiceReport::Restored(id));
    }
}

fn is_restore(changeset: &Changeset) -> bool {
    matches!(changeset.by.as_str(), UNDO | REDO)
}

/// Returns the new changeset, unless watching the archive has told it already.
fn archived(services: &Services, id: Id) -> Option<Changeset> {
    let is_new = lock(&services.watched.reported).add(id);
    is_new.then(|| changesets(services, &[id]).pop()).flatten()
}

/// Returns whether a changeset may have changed what waits to be reviewed.
fn may_change_queue(services: &Services, id: Id, restores: bool) -> bool {
    // Only what nobody was asked about joins the queue, or what was restored and is redone; only what is in it can leave it.
    let approved = services.record_error(services.archive.approved(id)).flatten();
    let unasked = approved.as_deref().is_some_and(Consent::is_unasked);
    unasked || restores || services.counts.unreviewed.load(Ordering::Relaxed) > 0
}

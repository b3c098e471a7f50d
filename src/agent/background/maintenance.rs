//! At the start: what crashed processes left behind is swept, and the archive is counted and measured.

use std::sync::Arc;

use crate::agent::background::adopt::adopt_and_say;
use crate::agent::background::archive_size::ArchiveSize;
use crate::agent::background::moved::follow_and_say;
use crate::agent::background::reconcile::reconcile;
use crate::agent::background::review;
use crate::agent::services::{ServiceReport, Services, lock};
use crate::archive::staging::PATIENCE;
use crate::execute;
use crate::protocol::Level;

/// Begins, without waiting.
pub fn begin(services: &Arc<Services>, size: ArchiveSize) {
    let services = Arc::clone(services);
    tokio::task::spawn_blocking(move || {
        // Sessions whose process is gone count as ended from now on.
        services.memory.post(|memory| memory.sweep().map(drop));
        services.config.read().paths.sweep();
        if let Err(e) = execute::sweep(&services.archive) {
            services.say(Level::Warning, e.to_string(), "");
        }
        // Before anything of it is recorded under the path that it has now.
        follow_and_say(&services);
        adopt_and_say(&services, PATIENCE);
        // A changeset that cannot be read stays so: it is told where changesets are looked at.
        let reconciled = services.record_error(reconcile(services.stores())).unwrap_or_default();
        reconciled.lines.into_iter().for_each(|line| services.say(Level::Warning, line, ""));
        if review::count(&services) {
            services.report(ServiceReport::Status);
        }
        let count = services.archive.list().map(|l| l.len());
        if let (Ok(changesets), Ok(files)) = (count, services.archive.file_count()) {
            *lock(&services.counts.archive) = Some((changesets, files));
            services.report(ServiceReport::Status);
        }
        size.look();
    });
}

//! Watches what other programs do to the workspace and the archive while nebula is open: the index behind `@` stays
//! fresh, files that the agent knows are marked, changesets of another nebula appear, and what it decides about others.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::agent::background::changeset_news::tell_archived;
use crate::agent::background::review;
use crate::agent::services::changesets::{changesets, is_of_other, is_recorded};
use crate::agent::services::{Services, lock};
use crate::archive::{Id, sha256};
use crate::messages::agent as say;
use crate::protocol::{Changeset, EventBody, Level};
use crate::tools::ContentHash;
use crate::workspace::watch::{Changes, FileWatch};

/// The watch begins once the start is over; what changed until then is found by comparing.
const AFTER_START: Duration = Duration::from_millis(150);
/// The time that another nebula has, once it has archived a changeset, to write its files and then its cause to memory: a
/// changeset whose cause comes later, or never, is told without it.
const RECORDED: Duration = Duration::from_millis(300);

/// The interval at which a file is looked at again that a command of nebula may be changing.
const LOOK_AGAIN: Duration = Duration::from_millis(300);

/// Begins to watch, on threads of its own. Changes are reported until the agent ends.
pub fn begin(services: &Arc<Services>) {
    let (tell, mut changes) = mpsc::unbounded_channel::<Changes>();
    let (starting, first) = (Arc::downgrade(services), tell.clone());
    // Changesets from here on are reported, by their maker or by the watch.
    let listed = || services.record_error(services.archive.list())?.first().copied();
    let given = services.archive.newest_given().or_else(listed);
    tokio::spawn(async move {
        tokio::time::sleep(AFTER_START).await;
        let Some(starting) = starting.upgrade() else { return };
        let services2 = Arc::clone(&starting);
        let watching = tokio::task::spawn_blocking(move || {
            let there = services2.record_error(services2.archive.list()).unwrap_or_default();
            let newest = there.into_iter().find(|id| Some(*id) <= given).unwrap_or(Id::MIN);
            lock(&services2.watched.reported).all_to(newest);
            services2.workspace.watch(services2.archive.folder(), move |changes| {
                // The agent may be gone already.
                let _ = tell.send(changes);
            })
        });
        match watching.await {
            Ok(Ok(watch)) => {
                keep(&starting, watch);
                // The agent may be gone already.
                let _ = first.send(meanwhile(&starting));
            }
            Ok(Err(e)) => starting.say(Level::Info, e.to_string(), say::noticed_later()),
            Err(_) => {}
        }
    });
    let services = Arc::downgrade(services);
    tokio::spawn(async move {
        let mut in_work = HashSet::new();
        loop {
            let next = match in_work.is_empty() {
                true => changes.recv().await,
                false => timeout(LOOK_AGAIN, changes.recv()).await.unwrap_or_else(|_| Some(Changes::default())),
            };
            let Some((next, services)) = next.zip(services.upgrade()) else { return };
            in_work = take(&services, next, in_work).await;
        }
    });
}

fn keep(services: &Services, watch: FileWatch) {
    *lock(&services.watched.watch) = Some(watch);
}

/// Returns what may have changed before the watch stood: whatever the agent knew of by then.
fn meanwhile(services: &Services) -> Changes {
    Changes {
        paths: lock(&services.watched.known).keys().cloned().collect(),
        archive: true,
        all: services.watched.index.is_used(),
    }
}

/// Takes in changes. `in_work`: files that a command of nebula may be changing, which are looked at once more. Returns
/// those of which that is so now.
async fn take(services: &Arc<Services>, changes: Changes, in_work: HashSet<String>) -> HashSet<String> {
    let services2 = Arc::clone(services);
    let graph = changes.all || changes.paths.iter().any(|path| is_of_a_store(path) || is_source(path));
    let looked = tokio::task::spawn_blocking(move || {
        let listed = services2.watched.index.is_used();
        if changes.all {
            services2.watched.index.forget();
        } else {
            services2.watched.index.update(&services2.workspace, &changes.paths);
        }
        let drifted = DriftedFiles::find(&services2, &changes, &in_work);
        let (archived, on_its_way) = if changes.archive { archived(&services2, true) } else { (Vec::new(), false) };
        let queue = review::may_differ(&services2, &changes, !archived.is_empty());
        (drifted, archived, on_its_way, queue, listed && (changes.all || !changes.paths.is_empty()))
    });
    let Ok((drifted, archived, on_its_way, queue, stale)) = looked.await else { return HashSet::new() };
    if stale {
        services.events.send(EventBody::FilesChanged).await;
    }
    if graph {
        services.events.send(EventBody::GraphChanged).await;
    }
    let DriftedFiles { outside, elsewhere, unsure, in_work } = drifted;
    if !outside.is_empty() {
        services.events.send(EventBody::Drifted(outside)).await;
    }
    tell_elsewhere(services, elsewhere).await;
    tell(services, archived).await;
    if queue {
        services.events.send(EventBody::ReviewChanged).await;
    }
    if on_its_way || !unsure.is_empty() {
        let services = Arc::downgrade(services);
        tokio::spawn(async move {
            tokio::time::sleep(RECORDED).await;
            let Some(services) = services.upgrade() else { return };
            let looking = Arc::clone(&services);
            let looked = tokio::task::spawn_blocking(move || {
                let archived = archived_now(&looking);
                let queue = review::may_differ(&looking, &Changes::default(), !archived.is_empty());
                let elsewhere: Vec<String> = unsure.into_iter().filter(|path| is_of_other(&looking, path)).collect();
                (archived, queue, elsewhere)
            });
            let (archived, queue, elsewhere) = looked.await.unwrap_or_default();
            tell_elsewhere(&services, elsewhere).await;
            tell(&services, archived).await;
            if queue {
                services.events.send(EventBody::ReviewChanged).await;
            }
        });
    }
    in_work
}

/// Returns whether a file says what a Strand store holds. Its checkpoint follows from these.
fn is_of_a_store(path: &str) -> bool {
    const FILES: &[&str] = &["op-log.jsonl", "conflicts.jsonl", "config.json", "pending.jsonl"];
    let path = path.strip_prefix(".strand/").or_else(|| Some(path.rsplit_once("/.strand/")?.1));
    path.is_some_and(|name| FILES.contains(&name))
}

/// Returns whether a file may hold definitions that the graph shows.
#[cfg(feature = "code")]
fn is_source(path: &str) -> bool {
    crate::code::SourceLanguage::of_path(path).is_some()
}

#[cfg(not(feature = "code"))]
fn is_source(_: &str) -> bool {
    false
}

async fn tell_elsewhere(services: &Services, paths: Vec<String>) {
    if !paths.is_empty() {
        services.events.send(EventBody::DriftedElsewhere(paths)).await;
    }
}

async fn tell(services: &Services, archived: Vec<Changeset>) {
    for changeset in archived {
        tell_archived(services, &services.events, changeset).await;
    }
}

/// Returns changesets that were not told yet, also one of which nothing is recorded.
fn archived_now(services: &Services) -> Vec<Changeset> {
    archived(services, false).0
}

/// Files that the agent knows and that are different now, by who changed them.
#[derive(Default)]
struct DriftedFiles {
    /// Someone outside nebula did.
    outside: Vec<String>,
    /// Another nebula did.
    elsewhere: Vec<String>,
    /// A changeset that is not reported yet holds it, whose cause may be on its way.
    unsure: Vec<String>,
    /// A command may be changing it, or has changed it and will archive that.
    in_work: HashSet<String>,
}

impl DriftedFiles {
    /// Finds them among the files that changed, and those that were in work when they were looked at last.
    fn find(services: &Services, changes: &Changes, were_in_work: &HashSet<String>) -> DriftedFiles {
        let (all, in_work) = drifted(services, changes, were_in_work);
        if all.is_empty() {
            return DriftedFiles { in_work, ..DriftedFiles::default() };
        }
        let theirs = changed_elsewhere(services);
        let (elsewhere, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(|path| is_of_other(services, path));
        let (unsure, outside) = rest.into_iter().partition(|path| theirs.contains(path));
        DriftedFiles { outside, elsewhere, unsure, in_work }
    }
}

/// Returns files that the agent knows and that are different now, and those of them that are in work: who changed them is
/// known once the command has archived its changes. The others are told once, until they are read again.
fn drifted(services: &Services, changes: &Changes, were_in_work: &HashSet<String>) -> (Vec<String>, HashSet<String>) {
    let changed: HashSet<&String> = changes.paths.iter().chain(were_in_work).collect();
    let known: Vec<(String, Option<ContentHash>)> = {
        let known = lock(&services.watched.known);
        let asked = known.iter().filter(|(path, _)| changes.all || changed.contains(path));
        asked.map(|(path, sha)| (path.clone(), *sha)).collect()
    };
    let differs = |(path, known): &(String, Option<ContentHash>)| match services.workspace.read_known(path) {
        Ok(read) if read.state.is_absent() => known.is_some(),
        Ok(read) => read.state.bytes().is_none_or(|bytes| Some(sha256(bytes)) != *known),
        Err(_) => true,
    };
    let different: Vec<(String, Option<ContentHash>)> = known.into_iter().filter(differs).collect();
    // In this order: what is archived between two of these looks is in none of them, and was forgotten by then.
    let in_work = services.archive.in_work(&different.iter().map(|(path, _)| path.as_str()).collect());
    let in_work: HashSet<String> = match services.watched.is_sealing() {
        true => different.iter().map(|(path, _)| path.clone()).collect(),
        false => in_work.into_iter().map(str::to_string).collect(),
    };
    let mut known = lock(&services.watched.known);
    let mut is_drifted = |(path, sha): &(String, Option<ContentHash>)| {
        let drifted = !in_work.contains(path) && known.get(path) == Some(sha);
        drifted && known.remove(path).is_some()
    };
    let drifted = different.into_iter().filter(&mut is_drifted).map(|(path, _)| path).collect();
    (drifted, in_work)
}

/// Returns the files of the changesets that are not told yet and changed something: another nebula made them, so that
/// nobody changed them outside of one.
fn changed_elsewhere(services: &Services) -> HashSet<String> {
    let ids = services.record_error(services.archive.list()).unwrap_or_default();
    let new = unreported(services, &ids);
    let changes = |id: &Id| services.archive.approved(*id).is_ok_and(|approved| approved.is_some());
    let paths = new.into_iter().filter(changes).filter_map(|id| services.archive.paths(id).ok());
    paths.flatten().collect()
}

/// Returns those of some changesets that were not told yet, in their order.
fn unreported(services: &Services, ids: &[Id]) -> Vec<Id> {
    let reported = lock(&services.watched.reported);
    ids.iter().copied().filter(|id| !reported.has(*id)).collect()
}

/// Returns changesets that were not told yet, oldest first. `waits`: without the newest where its cause is not recorded
/// yet, as it may be on its way; then true besides.
fn archived(services: &Services, waits: bool) -> (Vec<Changeset>, bool) {
    let Some(ids) = services.record_error(services.archive.list()) else { return (Vec::new(), false) };
    let mut new = unreported(services, &ids);
    let on_its_way = waits && new.first().is_some_and(|id| !is_recorded(services, *id));
    if on_its_way {
        new.remove(0);
    }
    let mut reported = lock(&services.watched.reported);
    // What its maker has told meanwhile is told.
    new.retain(|id| reported.add(*id));
    if let Some(newest) = ids.first().filter(|_| !on_its_way) {
        reported.all_to(*newest);
    }
    drop(reported);
    (changesets(services, &new.iter().rev().copied().collect::<Vec<_>>()), on_its_way)
}

/// Fills the index behind `@` on a thread of its own, once.
pub fn walk(services: &Arc<Services>) {
    let (services, files) = (Arc::clone(services), services.watched.index.files());
    tokio::task::spawn_blocking(move || files.walk(&services.workspace, &services.closing));
}

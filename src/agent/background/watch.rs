//! What others do to the workspace and the archive while nebula is open: the index behind `@` stays fresh, files that
//! the agent knows are marked, and changesets of another nebula appear.

use std::sync::Arc;

use tokio::sync::mpsc;

use crate::agent::services::{Env, lock};
use crate::agent::session::listings;
use crate::archive::{Id, sha256};
use crate::protocol::{Event, Level};
use crate::workspace::watch::{Changes, Watch};

/// Begins to watch, on threads of its own. What changes is told until the agent ends.
pub fn begin(env: &Arc<Env>) {
    let (tell, mut changes) = mpsc::unbounded_channel::<Changes>();
    let starting = Arc::clone(env);
    // What is given out from here on is told, by whoever made it or by the watch.
    let listed = || env.archive.list().ok()?.first().copied();
    let given = env.archive.newest_given().or_else(listed);
    tokio::spawn(async move {
        let env2 = Arc::clone(&starting);
        let watching = tokio::task::spawn_blocking(move || {
            let there = env2.archive.list().unwrap_or_default();
            let newest = there.into_iter().find(|id| Some(*id) <= given).unwrap_or(Id::MIN);
            {
                let mut told = lock(&env2.newest);
                *told = newest.max(*told);
            }
            env2.workspace.watch(env2.archive.folder(), move |changes| {
                // The agent may be gone already.
                let _ = tell.send(changes);
            })
        });
        match watching.await {
            Ok(Ok(watch)) => {
                keep(&starting, watch);
                take(&starting, meanwhile(&starting)).await;
            }
            Ok(Err(e)) => {
                starting.say(Level::Info, e.to_string(), "Changes by others are noticed when files are used.").await
            }
            Err(_) => {}
        }
    });
    let env = Arc::downgrade(env);
    tokio::spawn(async move {
        while let Some(changes) = changes.recv().await {
            let Some(env) = env.upgrade() else { return };
            take(&env, changes).await;
        }
    });
}

fn keep(env: &Env, watch: Watch) {
    *lock(&env.watch) = Some(watch);
}

/// What may have changed before the watch stood: whatever the agent knew of by then.
fn meanwhile(env: &Env) -> Changes {
    Changes { paths: lock(&env.known).keys().cloned().collect(), archive: true, all: env.has_index() }
}

async fn take(env: &Arc<Env>, changes: Changes) {
    let env2 = Arc::clone(env);
    let looked = tokio::task::spawn_blocking(move || {
        let listed = env2.has_index();
        if changes.all {
            env2.forget_index();
        } else {
            env2.update_index(&changes.paths);
        }
        let drifted = drifted(&env2, &changes);
        let archived = if changes.archive { archived(&env2) } else { Vec::new() };
        (drifted, archived, listed && (changes.all || !changes.paths.is_empty()))
    });
    let Ok((drifted, archived, stale)) = looked.await else { return };
    if stale {
        env.events.send(Event::FilesChanged).await;
    }
    if !drifted.is_empty() {
        env.events.send(Event::Drifted(drifted)).await;
    }
    for changeset in archived {
        env.events.send(Event::Archived(changeset)).await;
    }
}

/// Files that the agent knows and that are different now. Each is told once, until it is read again.
fn drifted(env: &Env, changes: &Changes) -> Vec<String> {
    let mut known = lock(&env.known);
    let candidates: Vec<String> = if changes.all {
        known.keys().cloned().collect()
    } else {
        changes.paths.iter().filter(|p| known.contains_key(*p)).cloned().collect()
    };
    let differs = |path: &String| match env.workspace.read(path) {
        Ok(read) => read.state.bytes().map(|b| sha256(b)).as_ref() != known.get(path),
        Err(_) => true,
    };
    let drifted: Vec<String> = candidates.into_iter().filter(differs).collect();
    known.retain(|p, _| !drifted.contains(p));
    drifted
}

/// Changesets that were not told yet, oldest first.
fn archived(env: &Env) -> Vec<crate::protocol::Changeset> {
    // What this nebula archived itself is told already; then nothing need be listed.
    if env.archive.newest_given().is_some_and(|id| id <= *lock(&env.newest)) {
        return Vec::new();
    }
    let Ok(ids) = env.archive.list() else { return Vec::new() };
    let mut newest = lock(&env.newest);
    let new: Vec<Id> = ids.iter().copied().take_while(|id| *id > *newest).collect();
    if let Some(first) = new.first() {
        *newest = *first;
    }
    drop(newest);
    let told = |id: &Id| {
        let record = env.memory.changeset(&env.project(), &id.to_string()).ok().flatten();
        listings::changeset(env, &env.archive, *id, record.as_ref())
    };
    new.iter().rev().map(told).collect()
}

/// Fills the index behind `@` on a thread of its own, once.
pub fn walk(env: &Arc<Env>) {
    let (env, files) = (Arc::clone(env), env.files());
    tokio::task::spawn_blocking(move || files.walk(&env.workspace, &env.closing));
}

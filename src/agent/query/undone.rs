//! The part of what a session changed that is undone now, whoever undid it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use crate::agent::services::Services;
use crate::agent::session::context::SessionContext;
use crate::archive::Version;
use crate::memory::{ChangesetRecord, LeftState};
use crate::proposal::{State, WrittenChange, is_in_repository, part_of_repository};
use crate::protocol::{EventBody, Item, REDO, UNDO, Undone, UndoneChange};

/// The most files that are looked at: an undo of more, of a command say, is told by these.
const MOST: usize = 300;

/// Returns the changesets of the calls among these entries.
pub fn changesets_of(items: &[Item]) -> HashSet<String> {
    let change = |item: &Item| match item {
        Item::Call(call) => call.change.as_ref().map(|change| change.changeset.clone()),
        _ => None,
    };
    items.iter().filter_map(change).collect()
}

/// Tells the part of what a session changed that is undone now; `recalled` are the changesets of calls from before it was
/// opened, `if_any`: nothing is told where nothing is undone.
pub async fn tell(context: &SessionContext, recalled: &HashSet<String>, if_any: bool) {
    let Some(session) = context.id() else { return };
    let (services, mut changesets) = (Arc::clone(&context.services), recalled.clone());
    let looked = tokio::task::spawn_blocking(move || {
        let own = services.memory.ask_blocking(move |memory| memory.changesets_of_session(&session));
        let own = services.record_error(own).unwrap_or_default();
        changesets.extend(own.into_iter().filter_map(|record| record.id));
        undone(&services, &changesets)
    });
    match looked.await {
        Ok(undone) if !(if_any && undone.is_empty()) => context.events.send(EventBody::Undone(undone)).await,
        _ => {}
    }
}

/// Returns the files of these changesets of which something is undone now. For blocking code alone: it reads the archive.
pub(super) fn undone(services: &Services, changesets: &HashSet<String>) -> Vec<UndoneChange> {
    let (Some(oldest), project) = (changesets.iter().min().cloned(), services.project()) else { return Vec::new() };
    let restores = services.memory.ask_blocking(move |memory| memory.restores_since(&project, &oldest));
    let restores = services.record_error(restores).unwrap_or_default();
    let restored: BTreeSet<String> =
        restores.into_iter().flat_map(|record| record.files).map(|file| file.path).collect();
    // What cannot be read is told by what needs it: here it is not known to be undone.
    let of = |path: &String| of_path(services, path, changesets);
    let mut changes: Vec<UndoneChange> = restored.iter().filter_map(of).take(MOST).flatten().collect();
    let is_any = |change: &&UndoneChange| change.undone.is_any() || change.lines.iter().any(|(_, undone)| *undone);
    let undone = changes.iter().filter(is_any);
    let touched: BTreeSet<String> = undone.map(|change| change.changeset.clone()).collect();
    changes.retain(|change| touched.contains(&change.changeset));
    // Files of the same changesets that no restore touched: the whole is undone only where they are, too.
    let beside: BTreeSet<String> = touched.iter().flat_map(|id| paths_of(services, id)).collect();
    let beside = beside.difference(&restored).filter_map(of).take(MOST).flatten();
    changes.extend(beside.filter(|change| touched.contains(&change.changeset)));
    as_one(changes)
}

/// Returns these with the repository's files of a changeset as one hunk, under the path of one of them: they are restored
/// together. Most of them tell whether it is undone, for git writes some of them again; the index, at each look at it.
fn as_one(changes: Vec<UndoneChange>) -> Vec<UndoneChange> {
    let (repository, mut changes): (Vec<_>, Vec<_>) =
        changes.into_iter().partition(|change| is_in_repository(&change.path));
    let mut units: BTreeMap<String, Vec<UndoneChange>> = BTreeMap::new();
    for change in repository {
        units.entry(change.changeset.clone()).or_default().push(change);
    }
    for (changeset, mut files) in units {
        let path = files[0].path.clone();
        let is_index = |change: &UndoneChange| part_of_repository(&change.path) == Some("index");
        if !files.iter().all(is_index) {
            files.retain(|change| !is_index(change));
        }
        let sum = |of: fn(&Undone) -> usize| files.iter().map(|change| of(&change.undone)).sum::<usize>();
        let hunks = usize::from(2 * sum(|undone| undone.hunks) > sum(|undone| undone.of));
        changes.push(UndoneChange { changeset, path, undone: Undone { hunks, of: 1 }, lines: Vec::new() });
    }
    changes
}

fn paths_of(services: &Services, changeset: &str) -> Vec<String> {
    let (project, id) = (services.project(), changeset.to_string());
    let read = services.memory.ask_blocking(move |memory| memory.changeset(&project, &id));
    let files = services.record_error(read).flatten().map(|record| record.files);
    files.unwrap_or_default().into_iter().map(|file| file.path).collect()
}

fn of_path(services: &Services, path: &str, changesets: &HashSet<String>) -> Option<Vec<UndoneChange>> {
    let (project, name) = (services.project(), path.to_string());
    let read = services.memory.ask_blocking(move |memory| memory.changesets_of_path(&project, &name));
    let mut records = services.record_error(read)?;
    records.reverse();
    let is_ours =
        |record: &&ChangesetRecord| record.id.as_ref().is_some_and(|id| changesets.contains(id)) && !is_restore(record);
    records.iter().find(is_ours)?;
    let states = FileStates::read(services, path)?;
    let mut changes: Vec<(&str, WrittenChange)> = Vec::new();
    for record in &records {
        let Some((before, after)) = states.around(record) else { continue };
        if is_restore(record) {
            changes.iter_mut().for_each(|(_, change)| change.restored(&after));
        } else if let Some(id) = record.id.as_deref().filter(|_| is_ours(&record)) {
            changes.push((id, WrittenChange::new(path, before, after)));
        }
    }
    let told = |(id, change): (&str, WrittenChange)| {
        let (hunks, of) = change.count();
        UndoneChange { changeset: id.into(), path: path.into(), undone: Undone { hunks, of }, lines: change.lines() }
    };
    Some(changes.into_iter().map(told).collect())
}

fn is_restore(record: &ChangesetRecord) -> bool {
    matches!(record.cause.kind.as_str(), UNDO | REDO)
}

/// The states of a file over time.
struct FileStates<'a> {
    services: &'a Services,
    path: &'a str,
    versions: Vec<Version>,
    places: HashMap<String, usize>,
    /// The states that changesets left, by the version that each made old.
    left: HashMap<String, LeftState>,
}

impl<'a> FileStates<'a> {
    fn read(services: &'a Services, path: &'a str) -> Option<Self> {
        let versions = services.record_error(services.archive.versions(path))?;
        let places = versions.iter().enumerate().map(|(at, version)| (version.id.to_string(), at)).collect();
        let (project, name) = (services.project(), path.to_string());
        let left = services.memory.ask_blocking(move |memory| memory.left_states(&project, &name));
        let left = services.record_error(left)?.into_iter().collect();
        Some(FileStates { services, path, versions, places, left })
    }

    /// Returns the states before and after a changeset: what it left, not what someone else made of it before the next one.
    fn around(&self, record: &ChangesetRecord) -> Option<(State, State)> {
        let version = record.files.iter().find(|file| file.path == self.path)?.version.as_ref()?;
        let at = *self.places.get(version)?;
        let met = self.state(at + 1)?;
        let after = self.services.stores().left(self.path, self.left.get(version), met);
        Some((self.state(at)?, self.services.record_error(after)?))
    }

    /// Returns what a version holds; behind the last one the file as it is.
    fn state(&self, at: usize) -> Option<State> {
        match self.versions.get(at) {
            Some(version) => self.services.archive.show(version).ok(),
            // A path of a folder is read as that.
            None if self.path.ends_with('/') => self.services.workspace.read_archived(self.path).ok().map(|r| r.state),
            None => self.services.workspace.read_whole(self.path).ok().map(|read| read.state),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_is_one_hunk_whatever_git_wrote_into_its_index() {
        let change = |path: &str, hunks| UndoneChange {
            changeset: "one".into(),
            path: path.into(),
            undone: Undone { hunks, of: 1 },
            lines: Vec::new(),
        };
        for (files, undone) in [
            (&[(".git/HEAD", 1), (".git/index", 0), (".git/logs/HEAD", 1)][..], 1),
            (&[(".git/HEAD", 0), (".git/index", 1), (".git/logs/HEAD", 0)], 0),
            (&[(".git/index", 1)], 1),
        ] {
            let changes = files.iter().map(|(path, hunks)| change(path, *hunks)).chain([change("a", 1)]);
            let expected = [change("a", 1), change(files[0].0, undone)];
            assert_eq!(as_one(changes.collect()), expected, "{files:?}");
        }
    }
}

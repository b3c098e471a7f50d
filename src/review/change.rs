//! The difference that entries of the queue make, path by path.

use std::collections::{BTreeMap, BTreeSet};

use super::{ReviewEntry, ReviewError};
use crate::archive::{self, Id, large_folders, version_before};
use crate::execute::Stores;
use crate::proposal::{FileChange, REPOSITORY, State, is_in_repository, outermost_folder};
use crate::text::number::thousands;
use crate::workspace::ReadError;

/// The paths that entries changed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReviewChanges {
    /// Files and folders by path. The repository is one of them, as is a folder that came or went with many files.
    pub files: Vec<FileChange>,
    /// The paths that cannot be compared, each with the reason.
    pub unreadable: Vec<(String, String)>,
}

/// The first and the last of the entries that changed a path.
type EntrySpan = (Id, Id);

/// Returns the paths of entries as they were before the first of them, against the present state; `single`: against the
/// state that the last of them left.
///
/// # Errors
/// When a changeset cannot be read.
pub fn changes(ids: &[Id], single: bool, stores: Stores<'_>) -> Result<ReviewChanges, ReviewError> {
    let mut spans: BTreeMap<String, EntrySpan> = BTreeMap::new();
    for id in ids {
        for path in stores.archive.paths(*id)? {
            let span = spans.entry(path).or_insert((*id, *id));
            *span = (span.0.min(*id), span.1.max(*id));
        }
    }
    let mut found = ReviewChanges::default();
    let (repository, rest): (Vec<_>, Vec<_>) = spans.iter().partition(|(path, _)| is_in_repository(path));
    found.files.extend(repository_change(&repository, single, stores, &mut found.unreadable));
    let has_repository = !found.files.is_empty();
    let (folders, files): (Vec<_>, Vec<_>) = rest.into_iter().partition(|(path, _)| path.ends_with('/'));
    let folders = compared(&folders, single, stores, &mut found.unreadable);
    let (large, folders) = as_units(&folders, files.iter().map(|(path, _)| path.as_str()));
    found.files.extend(folders);
    let large = large.iter().map(String::as_str).collect();
    let is_own = |path: &str| outermost_folder(path, &large).is_none() && !(has_repository && path == REPOSITORY);
    let files: Vec<_> = files.into_iter().filter(|(path, _)| is_own(path)).collect();
    found.files.extend(compared(&files, single, stores, &mut found.unreadable));
    found.files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// Returns the paths that differ. What cannot be compared is named, and leaves the others.
fn compared(
    paths: &[(&String, &EntrySpan)],
    single: bool,
    stores: Stores<'_>,
    unreadable: &mut Vec<(String, String)>,
) -> Vec<FileChange> {
    let mut files = Vec::new();
    for (path, span) in paths {
        match states(path, **span, single, stores) {
            Ok((before, after)) if before == after => {}
            Ok((before, after)) => files.push(FileChange::new(*path, before, after, "", &[])),
            Err(why) => unreadable.push((path.to_string(), why)),
        }
    }
    files
}

/// Returns the states of a path before and after entries; the error is in words.
fn states(path: &str, (first, last): EntrySpan, single: bool, stores: Stores<'_>) -> Result<(State, State), String> {
    let words = |error: archive::Error| error.to_string();
    let versions = stores.archive.versions(path).map_err(words)?;
    let before = version_before(&versions, first).ok_or("its version is missing from the archive")?;
    let before = stores.archive.show(before).map_err(words)?;
    // What the last one left is what the next change met.
    let left = if single { versions.iter().find(|version| version.id > last) } else { None };
    let after = match left {
        Some(left) => stores.archive.show(left).map_err(words)?,
        None => stores.workspace.read_to_restore(path).map_err(unread)?.state,
    };
    Ok((before, after))
}

/// Returns why a path cannot be read, without its name where it can be left out.
fn unread(error: ReadError) -> String {
    match error {
        ReadError::Io { source, .. } => source.to_string(),
        other => other.to_string(),
    }
}

/// Returns what changed in the repository as one change; none: nothing.
fn repository_change(
    paths: &[(&String, &EntrySpan)],
    single: bool,
    stores: Stores<'_>,
    unreadable: &mut Vec<(String, String)>,
) -> Option<FileChange> {
    let files = compared(paths, single, stores, unreadable);
    let words = || archive::repository_words(stores.workspace, &files);
    (!files.is_empty()).then(|| FileChange::of_repository(words()))
}

/// Returns the folders that came or went with many of these files, and the changes of folders as they are decided: one in
/// another that came or went like it goes with that.
fn as_units<'p>(folders: &[FileChange], files: impl Iterator<Item = &'p str>) -> (BTreeSet<String>, Vec<FileChange>) {
    let (made, removed) = (came(folders, true), came(folders, false));
    let [made, removed] = [&made, &removed].map(|all| all.iter().map(String::as_str).collect::<BTreeSet<&str>>());
    let files: Vec<&str> = files.collect();
    let large = large_folders(&made.union(&removed).copied().collect(), files.iter().copied());
    let large: BTreeSet<String> = large.into_iter().map(String::from).collect();
    let is_outermost = |folder: &FileChange| {
        let own = folder.path.as_str();
        [&made, &removed].iter().all(|all| !all.contains(own) || outermost_folder(own, all) == Some(own))
    };
    let shown = folders.iter().filter(|folder| is_outermost(folder)).map(|folder| {
        let within = || files.iter().filter(|path| path.starts_with(&folder.path)).count();
        let words = large.contains(&folder.path).then(|| format!("a folder with {} files", thousands(within())));
        FileChange { unit: words, ..folder.clone() }
    });
    let shown = shown.collect();
    (large, shown)
}

/// Returns the folders that came, or those that went.
fn came(folders: &[FileChange], is_made: bool) -> BTreeSet<String> {
    let state = |folder: &FileChange| if is_made { folder.before.is_absent() } else { folder.after.is_absent() };
    folders.iter().filter(|folder| state(folder)).map(|folder| folder.path.clone()).collect()
}

/// Returns the folders that came or went with many files in an entry, each with the number of those.
pub fn whole_folders(entry: &ReviewEntry, stores: Stores<'_>) -> BTreeMap<String, usize> {
    let paths = || entry.files.iter().map(|file| file.path.as_str()).filter(|path| !is_in_repository(path));
    // Most have none, and nothing is read.
    let folders: BTreeSet<&str> = paths().filter(|path| path.ends_with('/')).collect();
    if large_folders(&folders, paths()).is_empty() {
        return BTreeMap::new();
    }
    let span = (entry.id, entry.id);
    let changed = |path: &&str| {
        let (before, after) = states(path, span, true, stores).ok()?;
        Some(FileChange::new(*path, before, after, "", &[]))
    };
    let changed: Vec<FileChange> = folders.iter().filter_map(changed).collect();
    let (large, _) = as_units(&changed, paths().filter(|path| !path.ends_with('/')));
    let count = |folder: &String| paths().filter(|path| path.starts_with(folder) && !path.ends_with('/')).count();
    large.into_iter().map(|folder| (folder.clone(), count(&folder))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(path: &str, before: Option<u32>, after: Option<u32>) -> FileChange {
        let state = |mode: Option<u32>| mode.map_or(State::Absent, |mode| State::Folder { mode });
        FileChange::new(path, state(before), state(after), "", &[])
    }

    #[test]
    fn folders_that_came_or_went_together_are_one_and_those_with_many_files_hold_them() {
        let made = ["new/", "new/in/", "many/", "many/in/"].map(|path| folder(path, None, Some(0o755)));
        let gone = ["old/", "old/in/"].map(|path| folder(path, Some(0o755), None));
        let modes = ["a/", "a/b/"].map(|path| folder(path, Some(0o755), Some(0o700)));
        let all: Vec<_> = made.into_iter().chain(gone).chain(modes).collect();
        let files: Vec<String> = (0..1_001).map(|n| format!("many/in/{n}")).chain(["new/f".into()]).collect();
        let (large, shown) = as_units(&all, files.iter().map(String::as_str));
        assert_eq!(large, BTreeSet::from(["many/".to_string()]));
        let paths: Vec<_> = shown.iter().map(|folder| folder.path.as_str()).collect();
        assert_eq!(paths, ["new/", "many/", "old/", "a/", "a/b/"], "each mode is decided by itself");
        let units: Vec<_> = shown.iter().filter_map(|folder| folder.unit.as_deref()).collect();
        assert_eq!(units, ["a folder with 1,001 files"]);
    }
}

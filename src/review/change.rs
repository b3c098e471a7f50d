//! The difference that entries of the queue make, path by path.
//!
//! The net change is the way from the files as the undo of the entries would leave them to the files as they are: what
//! others did, and what was restored already, is on both sides, and restoring every hunk is that undo.

use std::collections::{BTreeMap, BTreeSet};

use super::{ReviewEntry, ReviewError, later_paths, open};
use crate::archive::{self, Choices, Id, Restoration, RestoreTarget, version_before};
use crate::execute::Stores;
use crate::proposal::{
    FileChange, ForeignChoice, ProposalId, REPOSITORY, RestorePreview, RestoreStatus, State, is_in_repository,
    large_folders, lines_touch, outermost_folder,
};
use crate::restore_plan::RestorePlan;
use crate::text::number::thousands;
use crate::workspace::ReadError;

/// The reason why no change can be shown of a file that is not as nebula left it.
pub const OUTSIDE: &str = "changed outside nebula";

/// The paths that entries changed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReviewChanges {
    /// Files and folders by path. The repository is one of them, as is a folder that came or went with many files.
    pub files: Vec<FileChange>,
    /// The paths of which no change can be shown, each with the reason.
    pub aside: Vec<(String, String)>,
    /// The files that others changed, too: restoring merges. The number of conflicts of each.
    pub later: Vec<(String, usize)>,
}

/// The first and the last of the entries that changed a path.
type EntrySpan = (Id, Id);

/// Returns what is left of the work of entries; `single`: what they did, whatever became of it.
///
/// # Errors
/// When a changeset cannot be read.
pub fn changes(ids: &[Id], single: bool, stores: Stores<'_>) -> Result<ReviewChanges, ReviewError> {
    let spans = spans(ids, stores)?;
    let undo = undo(ids, ProposalId(u64::MAX), stores)?;
    let mut found = if single { own(&spans, stores) } else { net(&spans, &undo, stores) };
    let merged = undo.previews.iter().filter_map(|preview| match &preview.status {
        RestoreStatus::Foreign { conflicts, .. } if !is_in_repository(&preview.path) => {
            Some((preview.path.clone(), conflicts.unwrap_or(1)))
        }
        _ => None,
    });
    let shown: BTreeSet<&str> = found.files.iter().map(|file| file.path.as_str()).collect();
    found.later = merged.filter(|(path, _)| shown.contains(path.as_str())).collect();
    Ok(found)
}

fn spans(ids: &[Id], stores: Stores<'_>) -> Result<BTreeMap<String, EntrySpan>, ReviewError> {
    let mut spans: BTreeMap<String, EntrySpan> = BTreeMap::new();
    for id in ids {
        for path in stores.archive.paths(*id)? {
            let span = spans.entry(path).or_insert((*id, *id));
            *span = (span.0.min(*id), span.1.max(*id));
        }
    }
    Ok(spans)
}

/// Returns the undo of entries: it leaves what others did. A conflict is a hunk that is marked.
///
/// # Errors
/// When a changeset cannot be read.
pub fn undo(ids: &[Id], id: ProposalId, stores: Stores<'_>) -> Result<Restoration, ReviewError> {
    undo_among(None, ids, id, stores)
}

/// Returns the same; `waiting`: the entries that wait, where they are known.
///
/// # Errors
/// When a changeset cannot be read.
pub fn undo_among(
    waiting: Option<&[ReviewEntry]>,
    ids: &[Id],
    id: ProposalId,
    stores: Stores<'_>,
) -> Result<Restoration, ReviewError> {
    // The repository is restored whole, or waits for a choice.
    let files = spans(ids, stores)?.into_keys().filter(|path| !is_in_repository(path));
    let each = files.map(|path| (path, ForeignChoice::Merge)).collect();
    let mut plan = RestorePlan::new(RestoreTarget::Changesets(ids.to_vec()), "undo", String::new());
    let choices = Choices { each, ..Choices::default() };
    let undo = plan.look(&choices, id, stores)?;
    // Only what later changes are in may stay for them.
    let is_later = |preview: &RestorePreview| matches!(preview.status, RestoreStatus::Foreign { is_later: true, .. });
    if !undo.previews.iter().any(is_later) {
        return Ok(undo);
    }
    let paths = |waiting: &[ReviewEntry]| later_paths(ids, waiting).into_keys().map(String::from).collect();
    plan.waiting = match waiting {
        Some(waiting) => paths(waiting),
        None => paths(&open(stores)?.entries),
    };
    Ok(plan.look(&choices, id, stores)?)
}

/// Returns why an undo leaves a path as it is although something of the entries is in it; none: it does not.
pub fn left_by_undo(preview: &RestorePreview) -> Option<String> {
    match &preview.status {
        RestoreStatus::Refused(why) | RestoreStatus::NotArchived(why) => Some(why.clone()),
        RestoreStatus::Foreign { choice, conflicts, is_later, .. }
            if *choice != Some(ForeignChoice::Merge) || conflicts.is_none() =>
        {
            Some((if *is_later { "changed again later" } else { OUTSIDE }).into())
        }
        _ => None,
    }
}

/// Returns the files as the undo of entries would leave them, against the present state.
fn net(spans: &BTreeMap<String, EntrySpan>, undo: &Restoration, stores: Stores<'_>) -> ReviewChanges {
    let mut found = ReviewChanges::default();
    let of_repository = |preview: &&RestorePreview| preview.path == REPOSITORY || is_in_repository(&preview.path);
    if !undo.previews.iter().filter(of_repository).all(|preview| preview.status == RestoreStatus::Equal) {
        let repository: Vec<_> = spans.iter().filter(|(path, _)| is_in_repository(path)).collect();
        found.files.extend(repository_change(&repository, stores, &mut found.aside));
    }
    let has_repository = !found.files.is_empty();
    let is_shown = |path: &str| is_in_repository(path) || has_repository && path == REPOSITORY;
    let files = undo.proposal.files.iter().filter(|file| !is_shown(&file.path));
    let (folders, files): (Vec<_>, Vec<_>) = files.partition(|file| file.path.ends_with('/'));
    let folders: Vec<FileChange> = folders.into_iter().map(turned).collect();
    let (large, folders) = as_units(&folders, files.iter().map(|file| file.path.as_str()));
    found.files.extend(folders);
    let large = large.keys().map(String::as_str).collect();
    let is_own = |file: &&&FileChange| outermost_folder(&file.path, &large).is_none();
    found.files.extend(files.iter().filter(is_own).map(|file| turned(file)));
    found.files.sort_by(|a, b| a.path.cmp(&b.path));
    // It is one hunk, though it may stay: that is said, too.
    let others = undo.previews.iter().filter(|preview| preview.path == REPOSITORY || !is_shown(&preview.path));
    found.aside.extend(others.filter_map(|preview| Some((preview.path.clone(), left_by_undo(preview)?))));
    found
}

/// Returns the way back from what a restore would write to what is there. A conflict is marked as it was.
fn turned(change: &FileChange) -> FileChange {
    let (now, then) = (change.before.clone(), change.after.clone());
    // A merged text leaves the mode.
    let mode = then.mode().or(now.mode());
    let mut turned = FileChange::new(&change.path, then.with_mode(mode), now, "", &[]);
    for hunk in &mut turned.hunks {
        let same = change.hunks.iter().find(|other| lines_touch(&other.before, &hunk.after));
        hunk.found = same.and_then(|same| same.found.clone());
    }
    turned
}

/// Returns the paths of entries as they were before the first of them, against the state that the last of them left.
fn own(spans: &BTreeMap<String, EntrySpan>, stores: Stores<'_>) -> ReviewChanges {
    let mut found = ReviewChanges::default();
    let (repository, rest): (Vec<_>, Vec<_>) = spans.iter().partition(|(path, _)| is_in_repository(path));
    found.files.extend(repository_change(&repository, stores, &mut found.aside));
    let has_repository = !found.files.is_empty();
    let (folders, files): (Vec<_>, Vec<_>) = rest.into_iter().partition(|(path, _)| path.ends_with('/'));
    let folders = compared(&folders, stores, &mut found.aside);
    let (large, folders) = as_units(&folders, files.iter().map(|(path, _)| path.as_str()));
    found.files.extend(folders);
    let large = large.keys().map(String::as_str).collect();
    let is_own = |path: &str| outermost_folder(path, &large).is_none() && !(has_repository && path == REPOSITORY);
    let files: Vec<_> = files.into_iter().filter(|(path, _)| is_own(path)).collect();
    found.files.extend(compared(&files, stores, &mut found.aside));
    found.files.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// Returns the paths that differ. What cannot be compared is named, and leaves the others.
fn compared(
    paths: &[(&String, &EntrySpan)],
    stores: Stores<'_>,
    unreadable: &mut Vec<(String, String)>,
) -> Vec<FileChange> {
    let mut files = Vec::new();
    for (path, span) in paths {
        match states(path, **span, stores) {
            Ok((before, after)) if before == after => {}
            Ok((before, after)) => files.push(FileChange::new(*path, before, after, "", &[])),
            Err(why) => unreadable.push((path.to_string(), why)),
        }
    }
    files
}

/// Returns the states of a path before and after entries; the error is in words.
fn states(path: &str, (first, last): EntrySpan, stores: Stores<'_>) -> Result<(State, State), String> {
    let words = |error: archive::Error| error.to_string();
    let versions = stores.archive.versions(path).map_err(words)?;
    let before = version_before(&versions, first).ok_or("its version is missing from the archive")?;
    let before = stores.archive.show(before).map_err(words)?;
    // What the last one left is what the next change met, unless someone else changed it meanwhile.
    let after = match versions.iter().find(|version| version.id > last) {
        Some(next) => stores.archive.show(next).map_err(words)?,
        None => stores.workspace.read_to_restore(path).map_err(unread)?.state,
    };
    let made_old = version_before(&versions, last).filter(|_| !path.ends_with('/'));
    let after = match made_old {
        Some(made_old) => stores.left_by(path, made_old.id, after).map_err(|error| error.to_string())?,
        None => after,
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

/// Returns what entries did to the repository as one change, whatever others made of it since; none: nothing.
fn repository_change(
    paths: &[(&String, &EntrySpan)],
    stores: Stores<'_>,
    unreadable: &mut Vec<(String, String)>,
) -> Option<FileChange> {
    let files = compared(paths, stores, unreadable);
    let words = || archive::repository_words(stores.workspace, &files);
    (!files.is_empty()).then(|| FileChange::of_repository(words()))
}

/// Returns what an entry changed in the repository, as one unit in words; none: nothing.
pub fn repository_words(entry: &ReviewEntry, stores: Stores<'_>) -> Option<String> {
    let paths = entry.files.iter().map(|file| file.path.as_str()).filter(|path| is_in_repository(path));
    let paths: Vec<&str> = paths.collect();
    let change = |path: &&str| {
        let (before, after) = states(path, (entry.id, entry.id), stores).ok()?;
        Some(FileChange::new(*path, before, after, "", &[]))
    };
    let changes: Vec<FileChange> = paths.iter().filter(|path| !path.ends_with('/')).filter_map(change).collect();
    (!paths.is_empty()).then(|| archive::repository_words(stores.workspace, &changes))
}

/// Returns the folders that came or went with many of these files, each with how many, and the changes of folders as they
/// are decided: one in another that came or went like it goes with that.
fn as_units<'p>(
    folders: &'p [FileChange],
    files: impl Iterator<Item = &'p str>,
) -> (BTreeMap<String, usize>, Vec<FileChange>) {
    let (made, removed) = (came(folders, true), came(folders, false));
    let large = large_folders(&made.union(&removed).copied().collect(), files);
    let large: BTreeMap<String, usize> = large.into_iter().map(|(folder, count)| (folder.to_string(), count)).collect();
    let is_outermost = |folder: &FileChange| {
        let own = folder.path.as_str();
        [&made, &removed].iter().all(|all| !all.contains(own) || outermost_folder(own, all) == Some(own))
    };
    let shown = folders.iter().filter(|folder| is_outermost(folder)).map(|folder| {
        let words = large.get(&folder.path).map(|count| format!("a folder with {} files", thousands(*count)));
        FileChange { unit: words, ..folder.clone() }
    });
    let shown = shown.collect();
    (large, shown)
}

/// Returns the folders that came, or those that went.
fn came(folders: &[FileChange], is_made: bool) -> BTreeSet<&str> {
    let state = |folder: &FileChange| if is_made { folder.before.is_absent() } else { folder.after.is_absent() };
    folders.iter().filter(|folder| state(folder)).map(|folder| folder.path.as_str()).collect()
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
        let (before, after) = states(path, span, stores).ok()?;
        Some(FileChange::new(*path, before, after, "", &[]))
    };
    let changed: Vec<FileChange> = folders.iter().filter_map(changed).collect();
    as_units(&changed, paths()).0
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
        assert_eq!(large, BTreeMap::from([("many/".to_string(), 1_001)]));
        let paths: Vec<_> = shown.iter().map(|folder| folder.path.as_str()).collect();
        assert_eq!(paths, ["new/", "many/", "old/", "a/", "a/b/"], "each mode is decided by itself");
        let units: Vec<_> = shown.iter().filter_map(|folder| folder.unit.as_deref()).collect();
        assert_eq!(units, ["a folder with 1,001 files"]);
    }
}

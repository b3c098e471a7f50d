//! The review queue for the screen: what waits, what it changed, and what the person decides about it. For blocking code
//! alone.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::agent::background::labels;
use crate::agent::services::Services;
use crate::archive::{Choices, Id, NotUndone};
use crate::memory::ReviewDecision;
use crate::proposal::{
    Counts, FileChange, ForeignChoice, Proposal, ProposalId, REPOSITORY, RestorePreview, RestoreStatus, State,
    is_in_repository, merge,
};
use crate::protocol::{ReviewChange, ReviewRow, ReviewScope, ReviewTurn, ReviewedFile, UNDO};
use crate::restore_plan::{self, RestoreScope, marking_foreign};
use crate::review::{self, ReviewEntry, ReviewQueue};

/// Cells of a turn's title.
const TITLE: usize = 80;

/// Returns the changes that wait, by turn, oldest first, and keeps their number for the status line.
///
/// # Errors
/// When archive or memory cannot be read, in words.
pub fn turns(services: &Services) -> Result<Vec<ReviewTurn>, String> {
    let ReviewQueue { entries: open, unreadable } =
        review::open(services.stores()).map_err(|error| error.to_string())?;
    for error in unreadable {
        services.record_error::<()>(Err(error));
    }
    services.counts.unreviewed.store(open.len(), Ordering::Relaxed);
    let (mut turns, mut of): (Vec<ReviewTurn>, Vec<Option<(String, i64)>>) = (Vec::new(), Vec::new());
    for entry in &open {
        let known = entry.turn.as_ref().and_then(|turn| of.iter().position(|own| own.as_ref() == Some(turn)));
        let same = known.or_else(|| of.last().filter(|last| **last == entry.turn).map(|_| of.len() - 1));
        let at = same.unwrap_or_else(|| {
            let message = entry.turn.as_ref().map(|(_, message)| *message);
            let typed = message.map(|message| services.memory.ask_blocking(move |memory| memory.typed(message)));
            let typed = typed.and_then(|typed| services.record_error(typed).flatten());
            let (typed, _) = typed.unwrap_or_default();
            let title = crate::text::clean::clean_line(typed.trim());
            turns.push(ReviewTurn {
                title: title.chars().take(TITLE).collect(),
                at: entry.id.at(),
                entries: Vec::new(),
            });
            of.push(entry.turn.clone());
            turns.len() - 1
        });
        turns[at].entries.push(row(entry));
    }
    Ok(turns)
}

fn row(entry: &ReviewEntry) -> ReviewRow {
    let lines = entry.files.iter().map(|file| file.lines).try_fold(Counts::default(), |sum, lines| {
        let (added, removed) = lines?;
        let size = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        Some(Counts { added: sum.added + size(added), removed: sum.removed + size(removed) })
    });
    let command = entry.kind == "command";
    let title = match entry.files.as_slice() {
        [file] if !command => file.path.clone(),
        _ => entry.title.clone(),
    };
    ReviewRow { id: entry.id.to_string(), title, command, files: entry.files.len(), counts: lines }
}

/// Counts what waits, for the status line. Returns whether the number is another one than before.
pub fn count(services: &Services) -> bool {
    // What cannot be read is told where the queue is looked at.
    let Ok(ReviewQueue { entries: open, .. }) = review::open(services.stores()) else { return false };
    services.counts.unreviewed.swap(open.len(), Ordering::Relaxed) != open.len()
}

/// Returns what entries changed.
///
/// # Errors
/// When a changeset is gone or cannot be read, in words.
pub fn change(services: &Services, ids: &[String], scope: ReviewScope) -> Result<ReviewChange, String> {
    let ids: Vec<Id> = ids.iter().filter_map(|id| Id::parse(id)).collect();
    let is_single = scope == ReviewScope::Single;
    let mut changed = review::changes(&ids, is_single, services.stores()).map_err(|error| error.to_string())?;
    labels::label(&mut changed.files);
    let mut aside = changed.unreadable;
    for id in &ids {
        let not_undone = services.record_error(services.archive.not_undone(*id)).unwrap_or_default();
        aside.extend(not_undone.into_iter().map(|NotUndone { what, why }| (what, why)));
    }
    aside.sort();
    aside.dedup();
    // The net change is one to the present state.
    let later = if is_single { changed_later(services, &changed.files) } else { Vec::new() };
    let proposal = Proposal { id: ProposalId(u64::MAX), title: String::new(), files: changed.files };
    Ok(ReviewChange { change: Arc::new(proposal), aside, later })
}

/// Returns the files that are not as they were left, each with the conflicts of its restore.
fn changed_later(services: &Services, files: &[FileChange]) -> Vec<(String, usize)> {
    let mut later = Vec::new();
    for file in files.iter().filter(|file| file.unit.is_none() && !file.path.ends_with('/')) {
        let now = services.workspace.read_to_restore(&file.path).ok().map(|read| read.state);
        if now.as_ref().is_some_and(|now| *now == file.after || *now == file.before) {
            continue;
        }
        let merged = now.and_then(|now| three_way(services, &file.path, (&file.after, &file.before), &now));
        later.push((file.path.clone(), merged.map_or(1, |merged| merged.conflicts.len())));
    }
    later
}

/// Merges the way from what was displayed to what is wanted into a file as it is. None: it cannot be merged.
fn three_way(
    services: &Services,
    path: &str,
    (displayed, then): (&State, &State),
    now: &State,
) -> Option<merge::Merged> {
    merge::three_way(path, displayed.bytes()?, then, now, services.archive.merger())
}

/// A restore that was decided hunk by hunk.
#[derive(Debug, Default)]
pub struct ReviewRestore {
    /// The changes that bring it about.
    pub files: Vec<FileChange>,
    /// The previews of the folders and of the repository.
    pub previews: Vec<RestorePreview>,
    /// The paths of the entries that it leaves as they are although nobody decided to keep them, each with the reason.
    pub left: Vec<String>,
}

/// Plans the restore of parts of files as they are now, and of folders and the repository as the archive has them. What was
/// changed since it was shown is merged.
///
/// # Errors
/// When a file cannot be read, or cannot be merged, in words.
pub fn restoring(
    services: &Services,
    ids: &[String],
    restored: Vec<ReviewedFile>,
    proposal: ProposalId,
) -> Result<ReviewRestore, String> {
    let is_unit = |file: &ReviewedFile| file.path == REPOSITORY || file.path.ends_with('/');
    let (units, files): (Vec<_>, Vec<_>) = restored.into_iter().partition(is_unit);
    let mut restore = restoring_units(services, ids, &units, proposal)?;
    for file in files {
        restore.files.extend(restoring_file(services, file)?);
    }
    restore.files.sort_by(|a, b| a.path.cmp(&b.path));
    let ids: Vec<Id> = ids.iter().filter_map(|id| Id::parse(id)).collect();
    let changed = review::changes(&ids, false, services.stores()).map_err(|error| error.to_string())?;
    restore.left.extend(changed.unreadable.into_iter().map(|(path, why)| format!("{path}: {why}")));
    Ok(restore)
}

/// Returns the change that restores parts of a file; none: it is so already.
fn restoring_file(services: &Services, file: ReviewedFile) -> Result<Option<FileChange>, String> {
    let ReviewedFile { path, displayed, then, .. } = file;
    let now = services.workspace.read_to_restore(&path).map_err(|error| error.to_string())?.state;
    let mut change = if now == displayed || now == then {
        FileChange::new(path, now, then, UNDO, &[])
    } else {
        let merged = three_way(services, &path, (&displayed, &then), &now);
        let merged = merged.ok_or_else(|| crate::messages::agent::review_cannot_merge(&path))?;
        FileChange::merged(path, now, merged, UNDO)
    };
    if change.hunks.is_empty() {
        return Ok(None);
    }
    change.restores = true;
    if change.after.is_absent() {
        let made = services.stores().memory.folders_made(&services.project(), &change.path);
        change.folders = services.record_error(made).unwrap_or_default();
    }
    Ok(Some(marking_foreign(change, services.stores())))
}

/// Plans the restore of folders and of the repository, of which the archive knows how they come back.
fn restoring_units(
    services: &Services,
    ids: &[String],
    units: &[ReviewedFile],
    proposal: ProposalId,
) -> Result<ReviewRestore, String> {
    if units.is_empty() {
        return Ok(ReviewRestore::default());
    }
    let stores = services.stores();
    let plan =
        restore_plan::plan(&RestoreScope::Changesets(ids.to_vec()), stores).map_err(|error| error.to_string())?;
    let looked = plan.look(&Choices::default(), proposal, stores).map_err(|error| error.to_string())?;
    let is_meant = |path: &str| units.iter().any(|unit| holds(unit, path));
    let (mut files, mut previews) = (looked.proposal.files, looked.previews);
    files.retain(|file| is_meant(&file.path));
    previews.retain(|preview| is_meant(&preview.path));
    let left = previews.iter().filter_map(left).collect();
    Ok(ReviewRestore { files, previews, left })
}

/// Returns whether a path is restored with a folder, or with the repository: folders in one that came or went go with it,
/// and files where it stands for them.
fn holds(unit: &ReviewedFile, path: &str) -> bool {
    if unit.path == REPOSITORY {
        return path == REPOSITORY || is_in_repository(path);
    }
    let came_or_went = unit.displayed.is_absent() || unit.then.is_absent();
    let goes_along = came_or_went && (unit.is_whole || path.ends_with('/'));
    path == unit.path || goes_along && path.starts_with(&unit.path)
}

/// Returns why a path stays as it is; none: it is restored.
fn left(preview: &RestorePreview) -> Option<String> {
    let path = &preview.path;
    match &preview.status {
        RestoreStatus::Refused(why) | RestoreStatus::NotArchived(why) => Some(format!("{path}: {why}")),
        RestoreStatus::Foreign { choice: None | Some(ForeignChoice::Keep), is_later, .. } => {
            Some(format!("{path} {}", if *is_later { "changed again later" } else { "changed outside nebula" }))
        }
        _ => None,
    }
}

/// Returns the ids of the changes that are named: `all`, or beginnings of ids.
///
/// # Errors
/// When one is not there, or the queue cannot be read, in words.
pub fn chosen(services: &Services, names: &[String]) -> Result<Vec<String>, String> {
    let queue = review::open(services.stores()).map_err(|error| error.to_string())?;
    Ok(review::named(&queue.entries, names)?.iter().map(|entry| entry.id.to_string()).collect())
}

/// Records a decision about changes, and its reason.
///
/// # Errors
/// When it cannot be kept, in words.
pub fn decide(services: &Services, ids: &[String], decision: ReviewDecision, reason: &str) -> Result<(), String> {
    let stores = services.stores();
    let reason = Some(reason).filter(|reason| !reason.is_empty());
    stores.memory.review(&stores.project(), ids, decision, reason).map_err(|error| error.to_string())?;
    count(services);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_restored_with_the_folders_in_it_and_with_its_files_where_it_stands_for_them() {
        let unit = |path: &str, displayed: &State, then: &State, is_whole| {
            let (displayed, then) = (displayed.clone(), then.clone());
            ReviewedFile { path: path.into(), is_whole, displayed, then }
        };
        let (folder, none) = (State::Folder { mode: 0o755 }, State::Absent);
        let held = |unit: &ReviewedFile| -> Vec<&str> {
            ["new/", "new/in/", "new/in/f", "newer/", ".git/HEAD", ".git"]
                .into_iter()
                .filter(|p| holds(unit, p))
                .collect()
        };
        assert_eq!(held(&unit("new/", &folder, &none, false)), ["new/", "new/in/"]);
        assert_eq!(held(&unit("new/", &none, &folder, false)), ["new/", "new/in/"]);
        assert_eq!(held(&unit("new/", &folder, &none, true)), ["new/", "new/in/", "new/in/f"]);
        assert_eq!(held(&unit("new/", &folder, &folder, false)), ["new/"], "a mode is its own");
        assert_eq!(held(&unit(".git", &none, &none, true)), [".git/HEAD", ".git"]);
    }
}

//! The review queue for the screen: what waits, what it changed, and what the person decides about it. For blocking code
//! alone.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::agent::background::labels;
use crate::agent::services::{ServiceReport, Services, lock};
use crate::archive::restore::is_in_part;
use crate::archive::{Id, NotUndone, Restoration};
use crate::memory::ReviewDecision;
use crate::proposal::{
    Counts, FileChange, Proposal, ProposalId, REPOSITORY, RestorePreview, RestoreStatus, is_in_repository, lines_touch,
    merge,
};
use crate::protocol::{ReviewChange, ReviewRow, ReviewScope, ReviewTurn, ReviewVerdict, ReviewedFile, UNDO};
use crate::restore_plan::{RestoreScope, marking_foreign};
use crate::review::{self, RestoredPaths, RestoredRest, ReviewChanges, ReviewEntry, ReviewError, ReviewQueue};
use crate::text::clean::clean_line;
use crate::text::sentence::first_words;
use crate::workspace::watch::Changes;

/// The most characters of a turn's title.
const TITLE: usize = 80;

/// Returns the changes that wait, by turn, oldest first, and keeps their number for the status line.
///
/// # Errors
/// When archive or memory cannot be read, in words.
pub fn turns(services: &Services) -> Result<Vec<ReviewTurn>, String> {
    let (ReviewQueue { entries: open, unreadable, .. }, _) = look(services).map_err(|error| error.to_string())?;
    for error in unreadable {
        services.record_error::<()>(Err(error));
    }
    let (mut turns, mut of): (Vec<ReviewTurn>, Vec<Option<(String, i64)>>) = (Vec::new(), Vec::new());
    for entry in &open {
        let known = entry.turn.as_ref().and_then(|turn| of.iter().position(|own| own.as_ref() == Some(turn)));
        let same = known.or_else(|| of.last().filter(|last| **last == entry.turn).map(|_| of.len() - 1));
        let at = same.unwrap_or_else(|| {
            let message = entry.turn.as_ref().map(|(_, message)| *message);
            let typed = message.map(|message| services.memory.ask_blocking(move |memory| memory.typed(message)));
            let typed = typed.and_then(|typed| services.record_error(typed).flatten());
            let (typed, _) = typed.unwrap_or_default();
            let title = clean_line(&first_words(&typed, TITLE)).into_owned();
            turns.push(ReviewTurn { title, at: entry.id.at(), entries: Vec::new() });
            of.push(entry.turn.clone());
            turns.len() - 1
        });
        turns[at].entries.push(row(entry));
    }
    Ok(turns)
}

fn row(entry: &ReviewEntry) -> ReviewRow {
    // The files of the repository are one, and have no lines.
    let mut own = entry.files.iter().filter(|file| !is_in_repository(&file.path)).peekable();
    let has_files = own.peek().is_some();
    let lines = own.map(|file| file.lines).try_fold(Counts::default(), |sum, lines| {
        let (added, removed) = lines?;
        let size = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        Some(Counts { added: sum.added + size(added), removed: sum.removed + size(removed) })
    });
    let command = entry.kind == "command";
    let title = match entry.files.as_slice() {
        [file] if !command => file.path.clone(),
        _ => entry.title.clone(),
    };
    let counts = lines.filter(|_| has_files);
    ReviewRow { id: entry.id.to_string(), title, command, files: entry.files.len(), counts }
}

/// Counts what waits, for the status line. Returns whether the number is another one than before.
pub fn count(services: &Services) -> bool {
    // What cannot be read is told where the queue is looked at.
    look(services).is_ok_and(|(_, is_other)| is_other)
}

/// Reads the queue, and keeps what the watch compares. The second: the number is another one than before.
fn look(services: &Services) -> Result<(ReviewQueue, bool), ReviewError> {
    let reviewed = services.stores().memory.last_reviewed(&services.project())?;
    let queue = review::open(services.stores())?;
    review::record_discarded(&queue, services.stores());
    let files = queue.entries.iter().flat_map(|entry| &entry.files).map(|file| &file.path);
    let files = files.chain(&queue.discarded_paths).map(|path| path.trim_end_matches('/').to_string()).collect();
    *lock(&services.watched.unreviewed) = files;
    *lock(&services.watched.reviewed) = Some(reviewed);
    let count = queue.entries.len();
    let is_other = services.counts.unreviewed.swap(count, Ordering::Relaxed) != count;
    Ok((queue, is_other))
}

/// Counts again where what was noticed may have changed what waits. Returns whether it may. `archived`: another nebula made a
/// changeset.
pub fn may_differ(services: &Services, changes: &Changes, archived: bool) -> bool {
    let is_decided = changes.archive && {
        let now = services.record_error(services.stores().memory.last_reviewed(&services.project()));
        now.is_some() && *lock(&services.watched.reviewed) != now
    };
    let is_touched = {
        let files = lock(&services.watched.unreviewed);
        !files.is_empty() && (changes.all || changes.paths.iter().any(|path| files.contains(path)))
    };
    let may_differ = archived || is_decided || is_touched;
    if may_differ && count(services) {
        services.report(ServiceReport::Status);
    }
    may_differ
}

/// Returns what entries changed.
///
/// # Errors
/// When a changeset is gone or cannot be read, in words.
pub fn change(services: &Services, ids: &[String], scope: ReviewScope) -> Result<ReviewChange, String> {
    let ids: Vec<Id> = ids.iter().filter_map(|id| Id::parse(id)).collect();
    let ReviewChanges { mut files, mut aside, later } =
        review::changes(&ids, scope == ReviewScope::Single, services.stores()).map_err(|error| error.to_string())?;
    labels::label(&mut files);
    for id in &ids {
        let not_undone = services.record_error(services.archive.not_undone(*id)).unwrap_or_default();
        aside.extend(not_undone.into_iter().map(|NotUndone { what, why }| (what, why)));
    }
    aside.sort();
    aside.dedup();
    let proposal = Proposal { id: ProposalId(u64::MAX), title: String::new(), files };
    Ok(ReviewChange { change: Arc::new(proposal), aside, later })
}

/// A restore that was decided hunk by hunk.
#[derive(Debug, Default)]
pub struct ReviewRestore {
    /// The changes that bring it about.
    pub files: Vec<FileChange>,
    /// The previews of its paths, where a folder or the repository is among them.
    pub previews: Vec<RestorePreview>,
    /// The paths of the entries that it leaves as they are although nobody decided to keep them, each with the reason.
    pub left: Vec<String>,
    /// The paths of which the last changes alone are undone.
    pub in_part: HashSet<String>,
    /// The folders that go and hold work of later changes that wait, each with why it waits with its own.
    pub held: HashMap<String, String>,
}

/// Plans what was decided hunk by hunk: what is restored whole as the undo of the entries would, parts of files from their
/// present states. What was changed since it was shown is merged.
///
/// # Errors
/// When a file cannot be read, or a part of it cannot be merged, in words.
pub fn restoring(services: &Services, verdict: ReviewVerdict, proposal: ProposalId) -> Result<ReviewRestore, String> {
    let ReviewVerdict { ids, scope, restored, .. } = verdict;
    let ids: Vec<Id> = ids.iter().filter_map(|id| Id::parse(id)).collect();
    let undo = review::undo(&ids, proposal, services.stores()).map_err(|error| error.to_string())?;
    let is_unit = |file: &ReviewedFile| file.path == REPOSITORY || file.path.ends_with('/');
    let (units, files): (Vec<_>, Vec<_>) = restored.into_iter().partition(is_unit);
    let of_unit = |path: &str| units.iter().any(|unit| holds(unit, path));
    let is_restored = |path: &str| of_unit(path) || files.iter().any(|file| file.path == path);
    // In the net change it has no hunk to be decided about.
    let is_undecided = |preview: &RestorePreview| {
        let is_unread = matches!(preview.status, RestoreStatus::NotArchived(_));
        (scope == ReviewScope::Net || is_unread) && preview.path != REPOSITORY && !is_in_repository(&preview.path)
    };
    let left = undo.previews.iter().filter(|preview| is_restored(&preview.path) || is_undecided(preview));
    let waiting = review::open(services.stores()).map_err(|error| error.to_string())?.entries;
    let later = review::later_paths(&ids, &waiting);
    let why = |preview: &RestorePreview| match &preview.status {
        // With the restore of the later change it comes back.
        RestoreStatus::Equal => later.get(preview.path.as_str()).copied().map(review::before_it),
        _ => review::left_by_undo(preview),
    };
    let left = left.filter_map(|preview| Some(format!("{}: {}", preview.path, why(preview)?))).collect();
    let previews = undo.previews.iter().filter(|preview| of_unit(&preview.path)).cloned().collect();
    let of_units = undo.proposal.files.iter().filter(|file| of_unit(&file.path)).cloned();
    let in_part = undo.previews.iter().filter(|preview| is_in_part(preview)).map(|part| part.path.clone()).collect();
    let mut restore = ReviewRestore { files: of_units.collect(), previews, left, in_part, held: HashMap::new() };
    let goes = restore.files.iter().filter(|file| file.path.ends_with('/') && file.after.is_absent());
    let held = goes.filter_map(|folder| Some((folder.path.clone(), review::folder_waits(&folder.path, &later)?)));
    restore.held = held.collect();
    for file in files.into_iter().filter(|file| !of_unit(&file.path)) {
        let change = restoring_file(services, &undo, file)?;
        // A list of what is restored is one of all of it.
        let listed =
            change.iter().filter(|_| !restore.previews.is_empty()).map(RestorePreview::of_change).collect::<Vec<_>>();
        restore.previews.extend(listed);
        restore.files.extend(change);
    }
    restore.previews.sort_by(|a, b| a.path.cmp(&b.path));
    restore.files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(restore)
}

/// Returns the change that restores a file or parts of it; none: it is so already, or stays.
fn restoring_file(services: &Services, undo: &Restoration, file: ReviewedFile) -> Result<Option<FileChange>, String> {
    let ReviewedFile { path, is_all, displayed, then, .. } = file;
    let whole = undo.proposal.files.iter().find(|change| change.path == path);
    let is_back = |preview: &RestorePreview| preview.path == path && preview.status == RestoreStatus::Equal;
    if is_all || undo.previews.iter().any(is_back) {
        return Ok(whole.cloned());
    }
    let now = services.workspace.read_to_restore(&path).map_err(|error| error.to_string())?.state;
    let mut change = if now == displayed || now == then {
        FileChange::new(path, now, then, UNDO, &[])
    } else {
        let merged = displayed
            .bytes()
            .and_then(|displayed| merge::three_way(&path, displayed, &then, &now, services.archive.merger()));
        let mut merged = merged.ok_or_else(|| crate::messages::agent::review_cannot_merge(&path))?;
        if now.mode() == displayed.mode() && then.mode() != displayed.mode() {
            merged.after = merged.after.with_mode(then.mode());
        }
        FileChange::merged(path, now, merged, UNDO)
    };
    if change.hunks.is_empty() {
        return Ok(None);
    }
    change.restores = true;
    for hunk in &mut change.hunks {
        let of_whole = whole.filter(|whole| whole.before == change.before).map(|whole| whole.hunks.iter());
        let same = of_whole.into_iter().flatten().find(|other| lines_touch(&other.before, &hunk.before));
        hunk.found = hunk.found.take().or_else(|| same.and_then(|same| same.found.clone()));
    }
    Ok(Some(marking_foreign(change, services.stores())))
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

/// Returns the scope of the restore of the changes that are named, as [`chosen`] finds them; none: nothing waits.
///
/// # Errors
/// As [`chosen`].
pub fn restored_scope(services: &Services, names: &[String]) -> Result<Option<RestoreScope>, String> {
    let queue = review::open(services.stores()).map_err(|error| error.to_string())?;
    let ids: Vec<Id> = review::named(&queue.entries, names)?.iter().map(|entry| entry.id).collect();
    Ok((!ids.is_empty()).then(|| review::scope(&ids, &queue.entries)))
}

/// Records that whole changes were restored, by the paths that were written. Returns how many of them wait on, and the paths
/// that are left of them, each in a line with why.
///
/// # Errors
/// When archive or memory cannot be read or written, in words.
pub fn record_restored(
    services: &Services,
    restored: &[Id],
    written: &RestoredPaths,
    reason: &str,
) -> Result<(usize, Vec<String>), String> {
    let reason = Some(reason).filter(|reason| !reason.is_empty());
    let recorded = review::record_restored(restored, written, reason, services.stores());
    let rests = recorded.map_err(|error| error.to_string())?;
    count(services);
    Ok((rests.len(), rests.iter().flat_map(RestoredRest::lines).collect()))
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
    stores.decide(ids, decision, reason).map_err(|error| error.to_string())?;
    count(services);
    Ok(())
}

/// Records what was restored of changes of which something else is left: decided is what was written of them. Returns how
/// many of them wait on.
///
/// # Errors
/// When archive or memory cannot be read or written, in words.
pub fn decide_written(
    services: &Services,
    ids: &[String],
    written: &RestoredPaths,
    reason: &str,
) -> Result<usize, String> {
    let mut decided = Vec::new();
    for id in ids.iter().filter_map(|id| Id::parse(id)) {
        if review::is_undone_where_written(id, written, services.stores()).map_err(|error| error.to_string())? {
            decided.push(id.to_string());
        }
    }
    decide(services, &decided, ReviewDecision::RestoreWritten, reason)?;
    let waiting = review::open(services.stores()).map_err(|error| error.to_string())?.entries;
    Ok(waiting.iter().filter(|entry| ids.contains(&entry.id.to_string())).count())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proposal::State;
    use crate::review::ReviewFile;

    #[test]
    fn the_lines_of_an_entry_are_those_of_its_files_and_not_of_the_repository() {
        let entry = |paths: &[&str]| ReviewEntry {
            id: Id::MIN,
            kind: "command".into(),
            title: "git commit".into(),
            turn: None,
            approved: "policy review".into(),
            files: paths.iter().map(|path| ReviewFile { path: path.to_string(), lines: Some((2, 1)) }).collect(),
        };
        let counts = |paths: &[&str]| row(&entry(paths)).counts;
        assert_eq!(counts(&[".git/HEAD", "a", "b"]), Some(Counts { added: 4, removed: 2 }));
        assert_eq!((counts(&[".git/HEAD"]), counts(&[])), (None, None));
    }

    #[test]
    fn a_folder_is_restored_with_the_folders_in_it_and_with_its_files_where_it_stands_for_them() {
        let unit = |path: &str, displayed: &State, then: &State, is_whole| {
            let (displayed, then) = (displayed.clone(), then.clone());
            ReviewedFile { path: path.into(), is_whole, is_all: true, displayed, then }
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

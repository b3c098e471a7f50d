//! The review queue for the screen: what waits, what it changed, and what the person decides about it. For blocking code
//! alone.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::agent::background::labels;
use crate::agent::services::Services;
use crate::archive::Id;
use crate::memory::ReviewDecision;
use crate::proposal::{Counts, FileChange, Proposal, ProposalId, merge};
use crate::protocol::{ReviewChange, ReviewRow, ReviewScope, ReviewTurn, ReviewedFile, UNDO};
use crate::restore_plan::marking_foreign;
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
/// When one is gone, or archive or workspace cannot be read, in words.
pub fn change(services: &Services, ids: &[String], scope: ReviewScope) -> Result<ReviewChange, String> {
    let ids: Vec<Id> = ids.iter().filter_map(|id| Id::parse(id)).collect();
    let mut changed =
        review::changes(&ids, scope == ReviewScope::Single, services.stores()).map_err(|error| error.to_string())?;
    labels::label(&mut changed.files);
    let mut later = Vec::new();
    for file in &changed.files {
        let now = services.workspace.read_whole(&file.path).map_err(|error| error.to_string())?.state;
        if now != file.after {
            let merger = services.archive.merger();
            let shown = file.after.bytes();
            let merged = shown.and_then(|shown| merge::three_way(&file.path, shown, &file.before, &now, merger));
            let conflicts = merged.map_or(1, |merged| merged.conflicts.len());
            later.push((file.path.clone(), conflicts));
        }
    }
    let proposal = Proposal { id: ProposalId(u64::MAX), title: String::new(), files: changed.files };
    Ok(ReviewChange { change: Arc::new(proposal), units: changed.units, later })
}

/// Returns the changes that restore parts of files as they are now. What was changed since it was shown is merged.
///
/// # Errors
/// When a file cannot be read, or cannot be merged, in words.
pub fn restoring(services: &Services, files: Vec<ReviewedFile>) -> Result<Vec<FileChange>, String> {
    let mut changes = Vec::new();
    for ReviewedFile { path, displayed, then } in files {
        let now = services.workspace.read_whole(&path).map_err(|error| error.to_string())?.state;
        let change = if now == displayed {
            FileChange::new(path, now, then, UNDO, &[])
        } else {
            let merger = services.archive.merger();
            let displayed = displayed.bytes();
            let merged = displayed.and_then(|displayed| merge::three_way(&path, displayed, &then, &now, merger));
            let Some(merged) = merged else {
                return Err(crate::messages::agent::review_cannot_merge(&path));
            };
            FileChange::merged(path, now, merged, UNDO)
        };
        if !change.hunks.is_empty() {
            changes.push(marking_foreign(change, services.stores()));
        }
    }
    Ok(changes)
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

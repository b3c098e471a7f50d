//! Restores of whole entries. Decided is what they wrote: an entry of which something else is left, or may come back with
//! the restore of a later one, waits on with that.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::change::undo_among;
use super::{ReviewEntry, ReviewError, before_it, later_paths, left_by_undo, open, undo};
use crate::archive::Id;
use crate::archive::restore::{NOT_EMPTY, not_emptied};
use crate::execute::Stores;
use crate::memory::ReviewDecision;
use crate::proposal::{ProposalId, RestoreFate, RestorePreview, RestoreStatus};

/// The most paths of an entry that are named.
const NAMED: usize = 10;

/// The reasons why a path waits that nothing keeps from being restored, and one of which single lines stay.
const AGAIN: &str = "it was not restored with the others: restore it alone";
const BY_HUNK: &str = "the same lines were changed outside nebula: choose its hunks, or keep it";

/// The paths that a restore wrote; false: a part of what was done there alone is undone.
pub type RestoredPaths = HashMap<String, bool>;

/// An entry that waits on although it was restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoredRest {
    /// Its changeset.
    pub id: Id,
    /// The paths of which nothing is decided, each with why, in words.
    pub paths: Vec<(String, String)>,
}

impl RestoredRest {
    /// Returns the first of its paths, each in a line.
    pub fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> =
            self.paths.iter().take(NAMED).map(|(path, why)| format!("{path}: {why}")).collect();
        if self.paths.len() > NAMED {
            lines.push(format!("… ({} more)", self.paths.len() - NAMED));
        }
        lines
    }
}

/// Returns whether a restore wrote paths of a changeset, and left no part of it in them.
///
/// # Errors
/// When the archive cannot be read.
pub fn is_undone_where_written(id: Id, written: &RestoredPaths, stores: Stores<'_>) -> Result<bool, ReviewError> {
    let paths = stores.archive.paths(id)?;
    let is_any = |is_whole| paths.iter().any(|path| written.get(path) == Some(&is_whole));
    if !is_any(true) || !is_any(false) {
        return Ok(is_any(true));
    }
    let undo = undo(&[id], ProposalId(u64::MAX), stores)?;
    let is_part = |one: &RestorePreview| written.get(&one.path) == Some(&false);
    Ok(undo.previews.iter().all(|one| one.status == RestoreStatus::Equal || !is_part(one)))
}

/// Records that whole changes were restored, by the paths that were written. Those of which nothing is left, there or in the
/// work of later ones that wait, wait no more; returns the others.
///
/// # Errors
/// When archive or memory cannot be read or written.
pub fn record_restored(
    restored: &[Id],
    written: &RestoredPaths,
    reason: Option<&str>,
    stores: Stores<'_>,
) -> Result<Vec<RestoredRest>, ReviewError> {
    let (mut undone, mut closed, mut rests) = (Vec::new(), Vec::new(), Vec::new());
    if restored.is_empty() {
        return Ok(rests);
    }
    let reviewed = stores.memory.reviewed(&stores.project())?;
    for id in restored {
        if is_undone_where_written(*id, written, stores)? {
            undone.push(id.to_string());
        }
    }
    // What stays of a change that was kept stays kept.
    let is_kept = |id: &String| reviewed.get(id).is_some_and(|(decision, _)| *decision == ReviewDecision::Keep);
    let (kept, undone): (Vec<_>, Vec<_>) = undone.into_iter().partition(is_kept);
    stores.decide(&kept, ReviewDecision::Restore, reason)?;
    stores.decide(&undone, ReviewDecision::RestoreWritten, reason)?;
    let waiting = open(stores)?.entries;
    let (later, own): (_, HashSet<&Id>) = (later_paths(restored, &waiting), restored.iter().collect());
    let equal = equal_together(restored, &waiting, stores)?;
    for entry in waiting.iter().filter(|entry| own.contains(&entry.id)) {
        let later = later.iter().map(|(path, by)| (*path, *by)).filter(|(_, by)| by.id > entry.id).collect();
        let mut paths = rest_of(entry.id, written, (&waiting, &later), stores)?;
        paths.retain(|(path, _)| later.contains_key(path.as_str()) || !equal.contains(path));
        match paths.is_empty() {
            true => closed.push(entry.id.to_string()),
            false => rests.push(RestoredRest { id: entry.id, paths }),
        }
    }
    if !closed.is_empty() {
        stores.decide(&closed, ReviewDecision::Restore, reason)?;
    }
    Ok(rests)
}

/// Returns the paths at which several entries have come to nothing together, though one of them alone could be undone.
fn equal_together(
    restored: &[Id],
    waiting: &[ReviewEntry],
    stores: Stores<'_>,
) -> Result<HashSet<String>, ReviewError> {
    if restored.len() < 2 {
        return Ok(HashSet::new());
    }
    let previews = undo_among(Some(waiting), restored, ProposalId(u64::MAX), stores)?.previews;
    let equal = previews.into_iter().filter(|preview| preview.status == RestoreStatus::Equal);
    Ok(equal.map(|preview| preview.path).collect())
}

/// Returns the paths of an entry that its restore has left undecided, each with why: something of it is there, or a later
/// entry changed what it left.
fn rest_of(
    id: Id,
    written: &RestoredPaths,
    (waiting, later): (&[ReviewEntry], &BTreeMap<&str, &ReviewEntry>),
    stores: Stores<'_>,
) -> Result<Vec<(String, String)>, ReviewError> {
    let mut rest = Vec::new();
    for preview in undo_among(Some(waiting), &[id], ProposalId(u64::MAX), stores)?.previews {
        let path = preview.path.as_str();
        if written.get(path) == Some(&true) {
            continue;
        }
        let by = later.get(path).copied();
        let inner = later.iter().filter(|(inner, _)| path.ends_with('/') && inner.starts_with(path));
        let newest = by.or_else(|| inner.map(|(_, by)| *by).max_by_key(|by| by.id)).map(before_it);
        let why = match (&preview.status, by) {
            (RestoreStatus::NotUndone(_), _) | (RestoreStatus::Equal, None) => continue,
            (RestoreStatus::Equal, Some(by)) => before_it(by),
            (RestoreStatus::Restore(RestoreFate::FolderRemoved, _), _) if is_used(path, stores) => {
                let Some(why) = folder_waits(path, later) else { continue };
                why
            }
            (RestoreStatus::Foreign { conflicts: Some(1..), is_later: false, .. }, None) => BY_HUNK.into(),
            _ => match (left_by_undo(&preview), newest) {
                (None, None) => AGAIN.into(),
                (why, newest) => joined(why.as_deref().unwrap_or("it was not restored"), newest),
            },
        };
        rest.push((preview.path, why));
    }
    Ok(rest)
}

/// Returns why a folder that a restore left, as something is in it, waits with its entry; none: someone else uses it by now,
/// and it stays theirs.
pub fn folder_waits(folder: &str, later: &BTreeMap<&str, &ReviewEntry>) -> Option<String> {
    let within = later.iter().filter(|(path, _)| path.starts_with(folder));
    let newest = within.map(|(_, by)| *by).max_by_key(|by| by.id)?;
    Some(joined(NOT_EMPTY, Some(before_it(newest))))
}

/// Returns whether something is in a folder.
fn is_used(folder: &str, stores: Stores<'_>) -> bool {
    !not_emptied(&BTreeSet::from([folder]), stores.workspace).is_empty()
}

fn joined(why: &str, first: Option<String>) -> String {
    first.map_or_else(|| why.into(), |first| format!("{why}; {first}"))
}

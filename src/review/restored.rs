//! Restores of whole entries. Decided is what they wrote: an entry of which something else is left, or may come back with
//! the restore of a later one, waits on with that.

use std::collections::{BTreeMap, HashSet};

use super::{ReviewEntry, ReviewError, before_it, later_paths, left_by_undo, open, undo};
use crate::archive::Id;
use crate::archive::restore::NOT_EMPTY;
use crate::execute::Stores;
use crate::memory::ReviewDecision;
use crate::proposal::{ProposalId, RestoreFate, RestoreStatus};

/// The most paths of an entry that are named.
const NAMED: usize = 10;

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

/// Records that whole changes were restored, by the paths that were written. Those of which nothing is left, there or in the
/// work of later ones that wait, wait no more; returns the others.
///
/// # Errors
/// When archive or memory cannot be read or written.
pub fn record_restored(
    restored: &[Id],
    is_written: impl Fn(&str) -> bool,
    reason: Option<&str>,
    stores: Stores<'_>,
) -> Result<Vec<RestoredRest>, ReviewError> {
    let (mut written, mut closed, mut rests) = (Vec::new(), Vec::new(), Vec::new());
    if restored.is_empty() {
        return Ok(rests);
    }
    for id in restored {
        if stores.archive.paths(*id)?.iter().any(|path| is_written(path)) {
            written.push(id.to_string());
        }
    }
    stores.memory.review(&stores.project(), &written, ReviewDecision::RestoreWritten, reason)?;
    let waiting = open(stores)?.entries;
    let (later, own): (_, HashSet<&Id>) = (later_paths(restored, &waiting), restored.iter().collect());
    for entry in waiting.iter().filter(|entry| own.contains(&entry.id)) {
        let later = later.iter().map(|(path, by)| (*path, *by)).filter(|(_, by)| by.id > entry.id).collect();
        let paths = rest_of(entry.id, &is_written, &later, stores)?;
        match paths.is_empty() {
            true => closed.push(entry.id.to_string()),
            false => rests.push(RestoredRest { id: entry.id, paths }),
        }
    }
    if !closed.is_empty() {
        stores.memory.review(&stores.project(), &closed, ReviewDecision::Restore, reason)?;
    }
    Ok(rests)
}

/// Returns the paths of an entry that its restore has left undecided, each with why: something of it is there, or a later
/// entry changed what it left.
fn rest_of(
    id: Id,
    is_written: impl Fn(&str) -> bool,
    later: &BTreeMap<&str, &ReviewEntry>,
    stores: Stores<'_>,
) -> Result<Vec<(String, String)>, ReviewError> {
    let mut rest = Vec::new();
    for preview in undo(&[id], ProposalId(u64::MAX), stores)?.previews {
        let path = preview.path.as_str();
        if is_written(path) {
            continue;
        }
        let by = later.get(path).copied();
        let inner = later.iter().filter(|(inner, _)| path.ends_with('/') && inner.starts_with(path));
        let newest = by.or_else(|| inner.map(|(_, by)| *by).max_by_key(|by| by.id)).map(before_it);
        let why = match (&preview.status, by) {
            (RestoreStatus::NotUndone(_), _) | (RestoreStatus::Equal, None) => continue,
            // A folder that someone else uses by now stays theirs.
            (RestoreStatus::Restore(RestoreFate::FolderRemoved, _), None) if newest.is_none() => continue,
            (RestoreStatus::Equal, Some(by)) => before_it(by),
            (RestoreStatus::Restore(RestoreFate::FolderRemoved, _), _) => joined(NOT_EMPTY, newest),
            _ => joined(left_by_undo(&preview).as_deref().unwrap_or("it was not restored"), newest),
        };
        rest.push((preview.path, why));
    }
    Ok(rest)
}

fn joined(why: &str, first: Option<String>) -> String {
    first.map_or_else(|| why.into(), |first| format!("{why}; {first}"))
}

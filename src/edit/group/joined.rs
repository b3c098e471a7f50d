//! Edits of files that changed since the model read them: what fits the text that was read alone is placed there, and
//! merged into the file as it is.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::file::{Current, GroupRules, Lookup};
use crate::edit::{Edit, EditOutcome, EditResult, EditStatus};
use crate::proposal::{FileChange, Merger, PlaceMatch, Placed, Rung, State, merge};

/// The files that are looked at as they were read, each with its state now.
type Stale = BTreeMap<String, State>;

/// Places edits.
type Place = fn(&[Edit], &mut Lookup<'_>, &GroupRules) -> EditOutcome;

/// Places the edits once more, those of stale files in the text that was read. `outcome` stands where that helps nothing.
pub(super) fn retried(
    edits: &[Edit],
    lookup: &mut Lookup<'_>,
    rules: &GroupRules,
    (outcome, place): (EditOutcome, Place),
) -> EditOutcome {
    let failed = outcome.results.iter().filter(|result| matches!(result.status, EditStatus::Failed(_)));
    let mut wanted: Vec<String> = failed.map(|result| result.path.clone()).collect();
    while !wanted.is_empty() {
        let mut stale = Stale::new();
        let mut as_read = |name: &str| {
            let mut current = lookup(name)?;
            if let Some(read) = current.read.take().filter(|_| wanted.contains(&current.path)) {
                current = as_it_was_read(current, &read, &mut stale);
            }
            Ok(current)
        };
        let mut again = place(edits, &mut as_read, rules);
        if stale.is_empty() {
            return outcome;
        }
        let before = wanted.len();
        wanted.retain(|path| stale.get(path).is_some_and(|now| join(path, now, &mut again, &rules.merger)));
        if wanted.len() == before {
            return again;
        }
    }
    outcome
}

fn as_it_was_read(current: Current, read: &Arc<str>, stale: &mut Stale) -> Current {
    let state = State::File { bytes: read.as_bytes().into(), mode: current.state.mode() };
    stale.insert(current.path.clone(), current.state);
    Current { state, seen: true, ..current }
}

/// Merges the change of a file as it was read into the file as it is. False: it cannot be.
fn join(path: &str, now: &State, outcome: &mut EditOutcome, merger: &Merger) -> bool {
    let EditOutcome { changes, results } = outcome;
    let own: Vec<&EditResult> = results.iter().filter(|result| result.path == path).collect();
    if own.iter().any(|result| matches!(result.status, EditStatus::Doubted(_))) {
        // The model answers a question about it first.
        return true;
    }
    let Some(change) = changes.iter_mut().find(|change| change.path == path) else { return false };
    let Some(found) = found(&own).filter(|found| found.rung != Rung::Inexact) else { return false };
    let is_text_alone = change.moved.is_none() && change.before.mode() == change.after.mode();
    let Some(read) = change.before.bytes().filter(|_| is_text_alone) else { return false };
    let merged = merge::three_way(path, read, &change.after, now, merger);
    let Some(merged) = merged.filter(|merged| merged.conflicts.is_empty()) else { return false };
    let edit = if let [one] = own.as_slice() { Some(one.index) } else { None };
    let len = merged.after.bytes().map_or(0, |bytes| bytes.len());
    let place = Placed { after: 0..len, found, edit };
    let joined = FileChange::new(path, now.clone(), merged.after, change.by.clone(), &[place]);
    *change = FileChange { merged: Some(merged.rung), ..joined };
    true
}

/// Returns the lowest rung at which the edits of a file were found; `None` where one was not.
fn found(own: &[&EditResult]) -> Option<PlaceMatch> {
    let all = own.iter().map(|result| match &result.status {
        EditStatus::Placed(found) => Some(Some(found)),
        EditStatus::Same => Some(None),
        _ => None,
    });
    let all: Option<Vec<Option<&PlaceMatch>>> = all.collect();
    all?.into_iter().flatten().max_by_key(|found| found.rung).cloned()
}

//! Edits of files that changed since the model read them. An edit means the place that it has in the text that was read:
//! it counts in the file as it is only where it is made at that place, else it is merged into the file, or refused.

use std::collections::BTreeMap;

use super::given::{Current, GroupRules, Lookup, TextRead};
use crate::edit::{Edit, EditOutcome, EditResult, EditStatus, Op, PatchHunk};
use crate::proposal::{FileChange, MergeRung, Merger, PlaceMatch, Placed, Rung, State, merge};

/// Places edits.
type Place = fn(&[Edit], &mut Lookup<'_>, &GroupRules) -> EditOutcome;

/// A file that changed since the model read it.
struct Stale {
    read: State,
    now: State,
    base: EditBase,
}

/// The text in which the edits of a stale file are placed, in the order in which they are tried.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EditBase {
    /// The file as it is, if that is the same place.
    Present,
    /// The text that was read, merged into the file as it is.
    Read { other_place: bool },
    /// The file as it is, for the reason why an edit is not in it.
    Missing,
    /// None: the edits are refused.
    Nothing,
    /// The file as it is, where the place is known to be the same.
    Certain,
}

/// Places edits, those of stale files at the places they have in the text that was read.
pub(super) fn apply(edits: &[Edit], lookup: &mut Lookup<'_>, rules: &GroupRules, place: Place) -> EditOutcome {
    let mut stale: BTreeMap<String, Stale> = BTreeMap::new();
    loop {
        let mut based = |name: &str| lookup(name).map(|current| on_base(current, &mut stale));
        let mut outcome = place(edits, &mut based, rules);
        let mut is_settled = true;
        for (path, file) in &mut stale {
            let next = next(path, file, edits, &mut outcome, (rules, place));
            is_settled &= next == file.base || next == EditBase::Certain;
            if next == EditBase::Certain {
                note_met(path, file, edits, &mut outcome, (rules, place));
            }
            file.base = next;
        }
        if is_settled {
            return outcome;
        }
    }
}

/// Returns a file as its edits are placed in it.
fn on_base(current: Current, stale: &mut BTreeMap<String, Stale>) -> Current {
    let Some(TextRead(Some(read))) = current.read.clone() else { return current };
    let file = stale.entry(current.path.clone()).or_insert_with(|| Stale {
        read: State::File { bytes: read.as_bytes().into(), mode: current.state.mode() },
        now: current.state.clone(),
        base: EditBase::Present,
    });
    match file.base {
        EditBase::Present | EditBase::Missing | EditBase::Certain => current,
        EditBase::Read { .. } => Current { state: file.read.clone(), seen: true, ..current },
        EditBase::Nothing => Current { withheld: Some(OTHER_PLACE.to_string()), ..current },
    }
}

const OTHER_PLACE: &str = "it changed since it was read, and what the edit names may stand at another place by now. Read it \
                           again, then send the edit for the text as it is.";

/// Returns the base for the next run: the same one where the edits of the file are settled. Merges what was placed in the
/// text that was read.
fn next(path: &str, file: &Stale, edits: &[Edit], outcome: &mut EditOutcome, with: (&GroupRules, Place)) -> EditBase {
    match file.base {
        EditBase::Present => {
            let mut own = outcome.results.iter().filter(|result| result.path == path);
            if own.any(|result| matches!(result.status, EditStatus::Failed(_))) {
                EditBase::Read { other_place: false }
            } else if is_same_place(path, file, &text_edits(path, edits, outcome), with) {
                EditBase::Certain
            } else {
                EditBase::Read { other_place: true }
            }
        }
        EditBase::Read { other_place } => match join(path, &file.now, outcome, &with.0.merger) {
            true => file.base,
            false if other_place => EditBase::Nothing,
            false => EditBase::Missing,
        },
        settled => settled,
    }
}

/// Notes with a change that was placed in the file as it is how it goes together with what others changed: as it would be
/// merged, had it been made in the text that was read.
fn note_met(path: &str, file: &Stale, edits: &[Edit], outcome: &mut EditOutcome, (rules, place): (&GroupRules, Place)) {
    let EditOutcome { changes, results } = outcome;
    let own = edits.iter().zip(results.iter()).filter(|(_, result)| result.path == path).map(|(edit, _)| edit);
    let own: Vec<Edit> = own.filter(|edit| edit.is_of_text()).map(|edit| edit.clone().of(path)).collect();
    let change = changes.iter_mut().find(|change| change.path == path && change.moved.is_none());
    let (Some(change), false) = (change, own.is_empty()) else { return };
    let Some(read) = file.read.bytes().filter(|_| change.before == file.now) else { return };
    let merged = after_all(path, &file.read, &own, (rules, place))
        .and_then(|ours| merge::three_way(path, read, &ours, &file.now, &Merger::default()))
        .filter(|merged| merged.conflicts.is_empty() && merged.after.bytes() == change.after.bytes());
    let by_definition = own.iter().any(|edit| matches!(edit.op, Op::Definition { .. }));
    let alone = if by_definition { MergeRung::Definitions } else { MergeRung::Lines };
    change.merged = Some(merged.map_or(alone, |merged| merged.rung));
}

/// Returns a state of a file with all of these edits made in it; `None`: one of them has no place there.
fn after_all(path: &str, state: &State, edits: &[Edit], (rules, place): (&GroupRules, Place)) -> Option<State> {
    let outcome = place(edits, &mut |_: &str| Ok(known(path, state)), rules);
    let after = outcome.changes.first().map_or_else(|| state.clone(), |change| change.after.clone());
    outcome.results.iter().all(EditResult::ok).then_some(after)
}

/// Returns a state of a file as one that the model knows.
fn known(path: &str, state: &State) -> Current {
    let (path, state) = (path.to_string(), state.clone());
    Current { path, state, seen: true, read: None, instead: Vec::new(), withheld: None }
}

/// Returns the edits of the text of a file whose places are not certain: a definition is named, and its text guarded.
fn text_edits(path: &str, edits: &[Edit], outcome: &EditOutcome) -> Vec<Edit> {
    let own = edits.iter().zip(&outcome.results).filter(|(_, result)| result.path == path).map(|(edit, _)| edit);
    let of_lines = own.filter(|edit| edit.is_of_text() && !matches!(edit.op, Op::Definition { .. }));
    of_lines.map(|edit| edit.clone().of(path)).collect()
}

/// Returns whether edits that fit a file as it is are made where the model means them: at the place which they have in
/// the text that was read, or, where they have none there, in lines that only the present text has.
fn is_same_place(path: &str, file: &Stale, edits: &[Edit], (rules, place): (&GroupRules, Place)) -> bool {
    let (Some(read), Some(now)) = (file.read.text(), file.now.text()) else {
        // A file that is gone is made anew, whole.
        return edits.is_empty() || file.now.is_absent();
    };
    let of_read = place(edits, &mut |_: &str| Ok(known(path, &file.read)), rules);
    let fits = |result: &EditResult| !matches!(result.status, EditStatus::Failed(_));
    let (both, present): (Vec<_>, Vec<_>) =
        edits.iter().cloned().zip(&of_read.results).partition(|(_, result)| fits(result));
    if !present.iter().all(|(edit, _)| names_new_lines(edit, read, now)) {
        return false;
    }
    let both: Vec<Edit> = both.into_iter().map(|(edit, _)| edit).collect();
    let Some(ours) = after_all(path, &file.read, &both, (rules, place)) else { return false };
    let merged = merge::side_by_side(read.as_bytes(), &ours, &file.now);
    let there = after_all(path, &file.now, &both, (rules, place));
    let is_twice = |merged: &State| {
        let ours = ours.text().unwrap_or_default();
        merge::has_twice(path, [read, ours, now].map(str::as_bytes), merged)
    };
    merged.is_some_and(|merged| there.is_some_and(|there| there.bytes() == merged.bytes()) && !is_twice(&merged))
}

/// Returns whether an edit names a line that the file has now and did not have when it was read: the model knows it.
fn names_new_lines(edit: &Edit, read: &str, now: &str) -> bool {
    let named: Vec<&str> = match &edit.op {
        Op::Replace { search, .. } => search.lines().collect(),
        Op::Lines { expect, .. } => expect.lines().collect(),
        Op::Hunks(hunks) => hunks.iter().flat_map(before).collect(),
        _ => Vec::new(),
    };
    named.iter().map(|line| line.trim()).any(|line| !line.is_empty() && now.contains(line) && !read.contains(line))
}

/// Returns the lines that a hunk says stand in the file.
fn before(hunk: &PatchHunk) -> impl Iterator<Item = &str> {
    let lines = hunk.body.iter().filter(|line| !line.starts_with(['+', '\\']));
    lines.map(|line| line.strip_prefix('-').unwrap_or(line)).chain(hunk.above.iter().map(String::as_str))
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
    if merged.after.bytes() == now.bytes() {
        // Someone else made all of it meanwhile.
        changes.retain(|change| change.path != path);
        let own = results.iter_mut().filter(|result| result.path == path);
        let placed = own.filter(|result| matches!(result.status, EditStatus::Placed(_)));
        placed.for_each(|result| result.status = EditStatus::Made);
        return true;
    }
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
        EditStatus::Same | EditStatus::Made => Some(None),
        _ => None,
    });
    let all: Option<Vec<Option<&PlaceMatch>>> = all.collect();
    all?.into_iter().flatten().max_by_key(|found| found.rung).cloned()
}

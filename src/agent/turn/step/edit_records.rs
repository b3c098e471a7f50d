//! The records of the edits of a call, for memory, once their proposal is decided.

use crate::agent::change::execute_proposal::ProposalResult;
use crate::agent::session::records::{EditRecord, KnownFileRecord, hex, sha};
use crate::agent::turn::step::results::{merge_note, own_hunks};
use crate::edit::{self, Edit, EditResult};
use crate::proposal::{Choice, FileChange, FileDecision, HunkKind, Proposal};
use crate::protocol::Outcome;

/// The rung, as it is stored, of a change of a whole file.
const WHOLE_FILE: &str = "whole file";

/// Returns the record of one edit, for memory.
pub fn edit_record(
    edit: &Edit,
    result: &EditResult,
    outcome_of_proposal: Option<(&Proposal, &ProposalResult)>,
) -> EditRecord {
    let ok = match (&result.status, outcome_of_proposal) {
        (edit::EditStatus::Placed(_), Some((proposal, outcome_of_proposal))) => {
            was_written(result, proposal, outcome_of_proposal)
        }
        _ => result.ok(),
    };
    // Of a file that is made, deleted or moved nothing was searched.
    let is_whole = outcome_of_proposal.is_some_and(|(proposal, _)| {
        let file = proposal.files.iter().find(|file| file.path == result.path);
        file.is_some_and(|file| file.hunks.iter().all(|hunk| hunk.kind != HunkKind::Lines))
    });
    // What someone else made meanwhile changed nothing.
    let is_there = outcome_of_proposal.is_some_and(|(_, outcome)| outcome.is_there(&result.path));
    let rung =
        result.rung().filter(|_| !is_there).map(|rung| if is_whole { WHOLE_FILE } else { rung.word() }.to_string());
    let place = Some(edit.place(&result.path)).filter(|place| *place != result.path);
    let lines =
        outcome_of_proposal.filter(|_| ok).and_then(|(proposal, outcome)| lines_written(result, proposal, outcome));
    let (path, format, lines) = (result.path.clone(), result.format.name().into(), lines.unwrap_or_default());
    EditRecord { path, place, format, rung, ok: Some(ok), lines }
}

/// Returns the lines of the accepted hunks in which an edit had a part, in the text as it was written. None: not known, as
/// of what the person wrote themselves, what was merged when it was written, and what is no part of a file.
fn lines_written(
    result: &EditResult,
    proposal: &Proposal,
    outcome_of_proposal: &ProposalResult,
) -> Option<Vec<(usize, usize)>> {
    let Outcome::Applied { merged, .. } = &outcome_of_proposal.outcome else { return None };
    let at = proposal.files.iter().position(|file| file.path == result.path)?;
    let (file, decision) = (&proposal.files[at], outcome_of_proposal.decision.as_ref()?.files().get(at)?);
    let is_merged = merged.iter().any(|merged| merged.path == file.path);
    if is_merged || decision.edited.is_some() || file.hunks.iter().any(|hunk| hunk.kind != HunkKind::Lines) {
        return None;
    }
    let (mut own, mut shift) = (Vec::new(), 0);
    for (hunk, choice) in file.hunks.iter().zip(&decision.hunks) {
        match choice {
            // The hunks before it that were rejected have their lines of before.
            Choice::Accept if hunk.edits.contains(&result.index) => {
                let [start, end] = [hunk.after.start, hunk.after.end].map(|line| line.saturating_add_signed(shift));
                own.push((start, end));
            }
            Choice::Accept => {}
            Choice::Reject => shift += hunk.before.len() as isize - hunk.after.len() as isize,
        }
    }
    Some(own)
}

/// Returns whether something of an edit was written.
fn was_written(result: &EditResult, proposal: &Proposal, outcome_of_proposal: &ProposalResult) -> bool {
    let Some(decision) = outcome_of_proposal
        .decision
        .as_ref()
        .filter(|_| matches!(outcome_of_proposal.outcome, Outcome::Applied { .. }))
    else {
        return false;
    };
    let one = std::slice::from_ref(result);
    let taken = |(file, said): (&FileChange, &FileDecision)| {
        said.edited.is_some() || own_hunks(file, one).iter().any(|i| said.hunks[*i] == Choice::Accept)
    };
    let mine = |file: &FileChange| file.path == result.path || file.moved.as_deref() == Some(&result.path);
    proposal.files.iter().zip(decision.files()).filter(|(file, _)| mine(file)).any(taken)
}

/// Returns whether the model knows all of a file that was written: not where others changed more in it than it was told.
pub fn is_told(path: &str, outcome_of_proposal: &ProposalResult) -> bool {
    outcome_of_proposal.merged().filter(|file| file.path == path).all(|file| merge_note(file).1)
}

/// Returns the files of one call that the model knows since they were written.
pub fn known_files(results: &[EditResult], outcome_of_proposal: &ProposalResult) -> Vec<KnownFileRecord> {
    let is_of_call = |path: &str| results.iter().any(|r| r.path == path) && is_told(path, outcome_of_proposal);
    let files = outcome_of_proposal.written.iter().filter(|(path, _)| is_of_call(path));
    files.filter_map(|(p, b)| Some(KnownFileRecord { path: p.clone(), sha256: hex(&sha(b.as_deref()?)) })).collect()
}

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
    EditRecord { path: result.path.clone(), place, format: result.format.name().into(), rung, ok: Some(ok) }
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

//! The model's `undo`: a proposal from the archive that the person decides.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::agent::change::execute_proposal::ProposalResult;
use crate::agent::change::restore::{self, Restoring};
use crate::agent::session::context::SessionContext;
use crate::agent::session::conversation::SessionFiles;
use crate::agent::session::records::{KnownFileRecord, ResultRecord, hex};
use crate::agent::turn::step::call_item::CallItem;
use crate::agent::turn::step::edits::CallOutcome;
use crate::agent::turn::step::results::{REJECTED, remarks, written};
use crate::messages::agent as say;
use crate::protocol::{CallState, Level, NoticeAction, Outcome, RestoreRequest};
use crate::provider::ToolCall;
use crate::text::time;
use crate::workspace::holds_secrets;

/// Runs a call: plans what it restores, and asks the person.
pub async fn run(
    context: &Arc<SessionContext>,
    files: &mut SessionFiles,
    mut item: CallItem,
    call: &ToolCall,
    count: usize,
    path: Option<String>,
    stop: &CancellationToken,
) -> CallOutcome {
    let mut record = ResultRecord::failed(&call.id, &call.name);
    let request = RestoreRequest::Undo { count, files: path.into_iter().collect() };
    let plan = match stop.run_until_cancelled(restore::plan(context, request, None)).await {
        Some(Ok(plan)) => plan,
        ended => {
            let (state, why) = match ended {
                Some(Err(why)) => (CallState::Failed, why),
                _ => (CallState::Interrupted, "interrupted by the user".into()),
            };
            item.end(&context.events, state, &why, &why).await;
            return CallOutcome { item: item.id, call: None, record, text: why };
        }
    };
    item.set(&context.events, CallState::Asking).await;
    let (_choices, chosen) = tokio::sync::mpsc::unbounded_channel();
    let outcome_of_proposal = restore::run(context, &plan, Some(&call.id), chosen, &Restoring::new(stop.clone())).await;
    let (state, text) = match &outcome_of_proposal {
        None => {
            (CallState::Failed, "Nothing to undo: there is no such version, or the files are already at it.".into())
        }
        Some(outcome_of_proposal) => undo_summary(outcome_of_proposal),
    };
    item.call.hunks = outcome_of_proposal.as_ref().and_then(ProposalResult::decided_hunks);
    item.call.decided = item.call.hunks;
    item.call.answered = item.call.decided.map(|_| time::now());
    if let Some(hunks) = item.call.hunks.filter(|hunks| hunks.accepted > 0) {
        item.call.summary = written(hunks.accepted, hunks.accepted + hunks.rejected);
    }
    if let Some(ProposalResult { outcome: Outcome::Conflict { path, .. }, .. }) = &outcome_of_proposal {
        let title = say::undo_refused(&path);
        let actions = vec![NoticeAction::ShowChange(path.clone()), NoticeAction::OpenFile(path.clone())];
        context.events.notice_with(Level::Warning, title, say::nothing_restored_told(), actions).await;
    }
    if let Some(outcome_of_proposal) = &outcome_of_proposal {
        record.ok = state == CallState::Done;
        know_restored(files, outcome_of_proposal, &mut record);
    }
    let reason = reason(outcome_of_proposal.as_ref(), &text);
    item.call.change = record.change();
    item.end(&context.events, state, &reason, &text).await;
    record.display = Some(item.record());
    CallOutcome { item: item.id, call: None, record, text }
}

/// Notes with a result which restored files the session knows from now on.
fn know_restored(files: &mut SessionFiles, restored: &ProposalResult, record: &mut ResultRecord) {
    record.changeset.clone_from(&restored.changeset);
    for (path, bytes) in &restored.written {
        // To restore a file that may hold keys is not to send it.
        let is_known = !holds_secrets(path) || files.versions.contains_key(path);
        if let Some(bytes) = bytes.as_ref().filter(|_| record.ok && is_known) {
            let sha = files.know(path, bytes);
            record.known_files.push(KnownFileRecord { path: path.clone(), sha256: hex(&sha) });
        }
    }
}

/// Returns why not all was restored, for the screen; empty: all was. `text` is the result for the model.
fn reason(outcome_of_proposal: Option<&ProposalResult>, text: &str) -> String {
    let Some(ProposalResult { outcome, decision, .. }) = outcome_of_proposal else { return text.into() };
    match outcome {
        Outcome::Applied { hunks, .. } if hunks.rejected == 0 => String::new(),
        Outcome::Applied { .. } | Outcome::Refused => {
            decision.as_ref().map(remarks).filter(|said| !said.is_empty()).unwrap_or_else(|| REJECTED.into())
        }
        _ => text.into(),
    }
}

/// Returns how an undo of the model ended: its state, and its result for the model.
fn undo_summary(outcome_of_proposal: &ProposalResult) -> (CallState, String) {
    let paths: Vec<&str> = outcome_of_proposal.written.iter().map(|(p, _)| p.as_str()).collect();
    let reason = outcome_of_proposal.decision.as_ref().map(remarks).unwrap_or_default();
    let remark = |what: &str| if reason.is_empty() { String::new() } else { format!("\nThe person{what}: {reason}") };
    let says = remark(" says");
    let reason = remark("'s reason");
    match &outcome_of_proposal.outcome {
        Outcome::Applied { hunks, .. } if hunks.rejected == 0 => {
            (CallState::Done, format!("Restored: {}{says}", paths.join(", ")))
        }
        Outcome::Applied { hunks, .. } => {
            let count = written(hunks.accepted, hunks.accepted + hunks.rejected);
            (CallState::Done, format!("{count}: {}. The person rejected the rest.{reason}", paths.join(", ")))
        }
        Outcome::Refused => (CallState::Refused, format!("The person rejected it; nothing was restored.{reason}")),
        Outcome::Withdrawn => (CallState::Interrupted, "interrupted by the user".into()),
        Outcome::Conflict { path, .. } => {
            (CallState::Refused, format!("{path} changed on disk meanwhile; nothing was restored."))
        }
        Outcome::Failed(why) => (CallState::Failed, why.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proposal::HunkCount;

    #[test]
    fn an_undo_that_was_accepted_in_part_is_done() {
        let outcome = |accepted, rejected| ProposalResult {
            outcome: Outcome::Applied { hunks: HunkCount { accepted, rejected }, changeset: None, merged: Vec::new() },
            written: vec![("a.txt".into(), None)],
            ..ProposalResult::withdrawn()
        };
        let (state, text) = undo_summary(&outcome(1, 1));
        assert_eq!(state, CallState::Done);
        assert_eq!(text, "1 of 2 hunks written: a.txt. The person rejected the rest.");
        assert_eq!(undo_summary(&outcome(2, 0)), (CallState::Done, "Restored: a.txt".into()));
    }
}

//! The model's `undo`: a proposal from the archive that the person decides.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::agent::change::execute_proposal::ProposalResult;
use crate::agent::change::restore::{self, ChangedFile, RestoreResult, Restoring};
use crate::agent::session::context::SessionContext;
use crate::agent::session::conversation::{Conversation, SessionFiles};
use crate::agent::session::records::{KnownFileRecord, ResultRecord, hex};
use crate::agent::turn::step::call_item::CallItem;
use crate::agent::turn::step::edits::CallOutcome;
use crate::agent::turn::step::results::{REJECTED, remarks, written};
use crate::messages::agent as say;
use crate::protocol::{CallState, Level, Notice, NoticeAction, Outcome, RestoreRequest};
use crate::provider::ToolCall;
use crate::text::time;
use crate::workspace::holds_secrets;

/// Runs a call: plans what it restores, and asks the person.
pub async fn run(
    context: &Arc<SessionContext>,
    session: &mut Conversation,
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
            return CallOutcome { item: item.id, call: None, record, text: why, misplaced: false, stands: false };
        }
    };
    item.set(&context.events, CallState::Asking).await;
    let restored = restore::run(context, &plan, Some(&call.id), &Restoring::new(stop.clone())).await;
    let (state, text) = match &restored {
        None => {
            (CallState::Failed, "Nothing to undo: there is no such version, or the files are already at it.".into())
        }
        Some(restored) => undo_summary(restored),
    };
    let decided = restored.as_ref().and_then(|restored| restored.proposal.decided_hunks());
    item.call.hunks = decided.filter(|hunks| hunks.accepted + hunks.rejected > 0);
    item.call.decided = item.call.hunks;
    item.call.answered = item.call.decided.map(|_| time::now());
    if let Some(hunks) = item.call.hunks.filter(|hunks| hunks.accepted > 0) {
        item.call.summary = written(hunks.accepted, hunks.accepted + hunks.rejected);
    }
    if let Some(Outcome::Conflict { path, .. }) = restored.as_ref().map(|restored| &restored.proposal.outcome) {
        let title = say::undo_refused(&path);
        let actions = vec![NoticeAction::ShowChange(path.clone()), NoticeAction::OpenFile(path.clone())];
        let notice = Notice::new(Level::Warning, title, say::nothing_restored_told());
        session.say(&context.events, Notice { actions, ..notice }).await;
    }
    if let Some(restored) = &restored {
        record.ok = state == CallState::Done;
        know_restored(&mut session.files, restored, &mut record);
    }
    let reason = reason(restored.as_ref(), &text);
    item.call.change = record.change();
    item.end(&context.events, state, &reason, &text).await;
    record.display = Some(item.record());
    CallOutcome { item: item.id, call: None, record, text, misplaced: false, stands: false }
}

/// Notes with a result which restored files the session knows from now on.
fn know_restored(files: &mut SessionFiles, restored: &RestoreResult, record: &mut ResultRecord) {
    let RestoreResult { proposal, merged, .. } = restored;
    record.changeset.clone_from(&proposal.changeset);
    for (path, bytes) in &proposal.written {
        // To restore a file that may hold keys is not to send it; of one that was merged the model knows a part.
        let is_known = (!holds_secrets(path) || files.versions.contains_key(path))
            && !merged.iter().any(|file| file.path == *path);
        if let Some(bytes) = bytes.as_ref().filter(|_| record.ok && is_known) {
            let sha = files.know(path, bytes);
            record.known_files.push(KnownFileRecord { path: path.clone(), sha256: hex(&sha) });
        }
    }
}

/// Returns why not all was restored, for the screen; empty: all was. `text` is the result for the model.
fn reason(restored: Option<&RestoreResult>, text: &str) -> String {
    let Some(RestoreResult { proposal, kept, .. }) = restored else { return text.into() };
    let ProposalResult { outcome, decision, .. } = proposal;
    match outcome {
        Outcome::Applied { hunks, .. } if hunks.rejected == 0 => kept_notes(kept).join("; "),
        Outcome::Refused if was_empty(proposal) && !kept.is_empty() => kept_notes(kept).join("; "),
        Outcome::Refused if was_empty(proposal) => text.into(),
        Outcome::Applied { .. } | Outcome::Refused => {
            decision.as_ref().map(remarks).filter(|said| !said.is_empty()).unwrap_or_else(|| REJECTED.into())
        }
        _ => text.into(),
    }
}

/// Returns the paths of files that were changed since, each in one of two forms of words: by nebula later, or by someone
/// else.
fn by_change<'a>(
    files: impl Iterator<Item = &'a ChangedFile>,
    later: impl Fn(&str) -> String,
    outside: impl Fn(&str) -> String,
) -> Vec<String> {
    let (of_nebula, of_others): (Vec<&ChangedFile>, Vec<&ChangedFile>) = files.partition(|file| file.is_later);
    let words = |files: &[&ChangedFile], words: &dyn Fn(&str) -> String| {
        let paths = files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>().join(", ");
        (!paths.is_empty()).then(|| words(&paths))
    };
    [words(&of_others, &outside), words(&of_nebula, &later)].into_iter().flatten().collect()
}

/// Returns which files were left because they were changed since.
fn kept_notes(kept: &[ChangedFile]) -> Vec<String> {
    let later = |paths: &str| format!("changed again later, left as it is: {paths}");
    by_change(kept.iter(), later, |paths| format!("changed outside nebula, left as it is: {paths}"))
}

/// Returns whether nothing was left to decide: all that was to be restored stays as it is.
fn was_empty(proposal: &ProposalResult) -> bool {
    proposal.decision.as_ref().is_some_and(|decision| decision.files().is_empty())
}

/// Returns how an undo of the model ended: its state, and its result for the model.
fn undo_summary(restored: &RestoreResult) -> (CallState, String) {
    let (state, mut text) = ended(&restored.proposal);
    if let Outcome::Applied { .. } | Outcome::Refused = restored.proposal.outcome {
        let is_written =
            |file: &&ChangedFile| restored.proposal.written.iter().any(|(written, _)| *written == file.path);
        let later =
            |paths: &str| format!("\nMerged with what was changed again later, read it before you edit it: {paths}");
        let outside =
            |paths: &str| format!("\nMerged with what was changed outside nebula, read it before you edit it: {paths}");
        text.extend(by_change(restored.merged.iter().filter(is_written), later, outside));
        for note in kept_notes(&restored.kept) {
            text.push_str(&format!("\nNot restored: {note}"));
        }
    }
    (state, text)
}

/// Returns how the proposal of an undo ended.
fn ended(proposal: &ProposalResult) -> (CallState, String) {
    let paths: Vec<&str> = proposal.written.iter().map(|(p, _)| p.as_str()).collect();
    let reason = proposal.decision.as_ref().map(remarks).unwrap_or_default();
    let remark = |what: &str| if reason.is_empty() { String::new() } else { format!("\nThe person{what}: {reason}") };
    let says = remark(" says");
    let reason = remark("'s reason");
    match &proposal.outcome {
        Outcome::Applied { hunks, .. } if hunks.rejected == 0 => {
            (CallState::Done, format!("Restored: {}{says}", paths.join(", ")))
        }
        Outcome::Applied { hunks, .. } => {
            let count = written(hunks.accepted, hunks.accepted + hunks.rejected);
            (CallState::Done, format!("{count}: {}. The person rejected the rest.{reason}", paths.join(", ")))
        }
        Outcome::Refused if was_empty(proposal) => (CallState::Refused, ["Nothing was restored.", &reason].concat()),
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
    use crate::proposal::{Consent, Decision, HunkCount};

    fn applied(accepted: usize, rejected: usize) -> RestoreResult {
        let proposal = ProposalResult {
            outcome: Outcome::Applied { hunks: HunkCount { accepted, rejected }, changeset: None, merged: Vec::new() },
            written: vec![("a.txt".into(), None)],
            ..ProposalResult::withdrawn()
        };
        proposal.into()
    }

    #[test]
    fn an_undo_that_was_accepted_in_part_is_done() {
        let (state, text) = undo_summary(&applied(1, 1));
        assert_eq!(state, CallState::Done);
        assert_eq!(text, "1 of 2 hunks written: a.txt. The person rejected the rest.");
        assert_eq!(undo_summary(&applied(2, 0)), (CallState::Done, "Restored: a.txt".into()));
    }

    #[test]
    fn what_was_changed_outside_is_told_where_it_stays_and_where_it_is_merged() {
        let file = |path: &str, is_later| ChangedFile { path: path.into(), is_later };
        let kept = vec![file("b.txt", false), file("c.txt", false)];
        let note = "changed outside nebula, left as it is: b.txt, c.txt";
        let part = RestoreResult { kept: kept.clone(), ..applied(1, 0) };
        assert_eq!(undo_summary(&part), (CallState::Done, format!("Restored: a.txt\nNot restored: {note}")));
        assert_eq!(reason(Some(&part), ""), note);
        let (_, text) =
            undo_summary(&RestoreResult { merged: vec![file("a.txt", false), file("d.txt", false)], ..applied(1, 0) });
        assert!(text.ends_with("read it before you edit it: a.txt"), "{text}");
        // What a later change of nebula's own made of a file is called so.
        let mixed = RestoreResult {
            kept: vec![file("b.txt", true), file("c.txt", false)],
            merged: vec![file("a.txt", true)],
            ..applied(1, 0)
        };
        let (_, text) = undo_summary(&mixed);
        assert!(
            text.contains("\nMerged with what was changed again later, read it before you edit it: a.txt\n"),
            "{text}"
        );
        assert!(text.ends_with("\nNot restored: changed again later, left as it is: b.txt"), "{text}");
        let both = "changed outside nebula, left as it is: c.txt; changed again later, left as it is: b.txt";
        assert_eq!(reason(Some(&mixed), ""), both);
        // Nothing was left to decide: no person rejected anything.
        let decision = Some(Decision::new(Vec::new(), Consent::Person));
        let proposal = ProposalResult { decision, ..ProposalResult::refused() };
        let none = RestoreResult { proposal, kept, merged: Vec::new(), there: Vec::new() };
        assert_eq!(undo_summary(&none), (CallState::Refused, format!("Nothing was restored.\nNot restored: {note}")));
        assert_eq!(reason(Some(&none), ""), note);
    }
}

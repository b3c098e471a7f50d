//! The person's decisions about changes that were made without a question: keeping writes nothing, restoring is a
//! proposal like any other. The model is told what was restored, and why.

use std::collections::HashMap;
use std::sync::Arc;

use super::repository::name_repository;
use super::restoring::Restoring;
use super::tell::{tell, tell_own};
use crate::agent::background::review::{self, ReviewRestore};
use crate::agent::change::execute_proposal::{Approver, ProposalResult, RestoreParts, execute_proposal};
use crate::agent::services::lock;
use crate::agent::session::context::SessionContext;
use crate::archive::Id;
use crate::memory::{ChangesetCause, ReviewDecision};
use crate::messages::agent as say;
use crate::proposal::{Choice, Decision, FileChange, FileDecision, Proposal};
use crate::protocol::{Level, Outcome, ReviewVerdict, UNDO};
use crate::restore_plan::RestorePlan;
use crate::review::{RestoredPaths, undone_by};

/// The most files that are named to the model.
const NOTED: usize = 20;

/// Returns the changes that a plan undoes as a whole, before it is carried out.
pub(super) async fn undone(context: &Arc<SessionContext>, plan: &RestorePlan) -> Vec<Id> {
    let (target, services) = (plan.request.clone(), Arc::clone(&context.services));
    let undone = tokio::task::spawn_blocking(move || services.record_error(undone_by(&target, services.stores())));
    undone.await.ok().flatten().unwrap_or_default()
}

/// Records that whole changes were restored, by the paths that were written. `is_review`: it is said what stays of them.
pub(super) async fn reviewed(
    context: &Arc<SessionContext>,
    undone: Vec<Id>,
    written: RestoredPaths,
    (is_review, reason): (bool, &str),
) {
    let (services, why) = (Arc::clone(&context.services), reason.to_string());
    let recorded = tokio::task::spawn_blocking(move || review::record_restored(&services, &undone, &written, &why));
    match recorded.await {
        Ok(Ok((waits, rest))) if is_review && waits > 0 => {
            context.say(Level::Warning, say::review_waits(waits), rest.join("\n")).await;
        }
        Ok(Err(why)) => context.say(Level::Warning, why, "").await,
        Ok(Ok(_)) | Err(_) => {}
    }
    give_reason(context, reason);
    context.events.refresh_status();
}

/// Returns whether all that was proposed was written.
pub(super) fn is_whole(result: &ProposalResult) -> bool {
    matches!(&result.outcome, Outcome::Applied { hunks, .. } if hunks.rejected == 0)
}

/// Records changesets of which nothing is left as restored, where the proposal that undoes them was written whole.
pub(super) async fn record(context: &Arc<SessionContext>, undone: Vec<String>, result: &ProposalResult) {
    if is_whole(result) {
        decide(context, undone, ReviewDecision::Restore, "").await;
        context.events.refresh_status();
    }
}

/// Leaves the reason of a restore for the model.
fn give_reason(context: &SessionContext, reason: &str) {
    if !reason.is_empty() {
        lock(&context.notes).push(format!("The person's reason for restoring it: {reason}"));
    }
}

/// Keeps changes that wait to be reviewed, and tells so.
pub async fn keep_reviewed(context: Arc<SessionContext>, names: Vec<String>) {
    let services = Arc::clone(&context.services);
    let recorded = tokio::task::spawn_blocking(move || {
        let ids = review::chosen(&services, &names)?;
        review::decide(&services, &ids, ReviewDecision::Keep, "")?;
        Ok::<usize, String>(ids.len())
    });
    match recorded.await {
        Ok(Ok(count)) => context.say(Level::Info, say::review_kept(count), "").await,
        Ok(Err(why)) => context.say(Level::Warning, why, "").await,
        Err(_) => {}
    }
    context.events.refresh_status();
}

/// Carries out what was decided hunk by hunk: what is restored is put to the person as one proposal from the present state;
/// once it is written, the entries are decided.
pub(super) async fn apply_verdict(context: &Arc<SessionContext>, verdict: ReviewVerdict, own: &Restoring) {
    let (ids, reason) = (verdict.ids.clone(), verdict.reason.clone());
    let title = format!("undo of {}", crate::text::number::plural(ids.len(), "change"));
    let id = context.events.proposal();
    let planned = {
        let context = Arc::clone(context);
        tokio::task::spawn_blocking(move || review::restoring(&context.services, verdict, id))
    };
    let ReviewRestore { mut files, previews, mut left, in_part, held } =
        match planned.await.unwrap_or_else(|_| Err(say::planning_failed().into())) {
            Ok(restore) => restore,
            Err(why) => return context.say(Level::Warning, why, say::nothing_changed()).await,
        };
    if files.is_empty() {
        if !left.is_empty() {
            return context.say(Level::Warning, say::nothing_restored(&title), left.join("\n")).await;
        }
        // Everything is back to what it was already.
        decide(context, ids, ReviewDecision::Restore, &reason).await;
        give_reason(context, &reason);
        context.say(Level::Info, say::review_is_back(), "").await;
        return context.events.refresh_status();
    }
    name_repository(&mut files, &previews);
    own.replace().await;
    let proposal = Arc::new(Proposal { id, title: title.clone(), files });
    let cause = ChangesetCause::of_session(context.id(), UNDO, &title);
    tell_own(context, &proposal).await;
    let parts = RestoreParts { previews, ..RestoreParts::default() };
    let result = execute_proposal(context, Arc::clone(&proposal), parts, Approver::Person, cause, own.stop()).await;
    if let (Outcome::Applied { .. }, Some(decision)) = (&result.outcome, &result.decision) {
        note_restored(context, &proposal, decision, is_whole(&result));
        give_reason(context, &reason);
        left.extend(folders_left((&proposal, &held), decision, &result));
        let written = result.written.iter().map(|(path, _)| (path.clone(), !in_part.contains(path))).collect();
        // Where a part of the restore was refused, or could not be made, the entries wait on with that.
        let waits = match (is_whole(&result), left.is_empty()) {
            (false, _) => ids.len(),
            (true, false) => decide_written(context, ids, written, &reason).await,
            (true, true) => {
                decide(context, ids, ReviewDecision::Restore, &reason).await;
                0
            }
        };
        if !left.is_empty() && waits > 0 {
            context.say(Level::Warning, say::review_waits(waits), left.join("\n")).await;
        }
    }
    tell(context, &result, &title).await;
    own.tell_replaced(context, &result, &title).await;
    context.events.refresh_status();
}

/// Leaves a note for the model of what was restored.
fn note_restored(context: &SessionContext, proposal: &Proposal, decision: &Decision, is_whole: bool) {
    let decided = proposal.files.iter().zip(decision.files());
    let mut places: Vec<String> = decided.filter_map(|(file, decision)| lines_of(file, decision)).collect();
    let more = match places.len().saturating_sub(NOTED) {
        0 => String::new(),
        more => format!("; and {}", crate::text::number::plural(more, "more file")),
    };
    places.truncate(NOTED);
    let rest = if is_whole { " The rest was kept." } else { "" };
    lock(&context.notes).push(format!("Restored to what it was before: {}{more}.{rest}", places.join("; ")));
}

/// Records what was decided about these changes.
async fn decide(context: &Arc<SessionContext>, ids: Vec<String>, decision: ReviewDecision, reason: &str) {
    let (services, why) = (Arc::clone(&context.services), reason.to_string());
    let decided = tokio::task::spawn_blocking(move || review::decide(&services, &ids, decision, &why));
    if let Ok(Err(why)) = decided.await {
        context.say(Level::Warning, why, "").await;
    }
}

/// Records what was written of changes of which something else is left. Returns how many of them wait on.
async fn decide_written(
    context: &Arc<SessionContext>,
    ids: Vec<String>,
    written: RestoredPaths,
    reason: &str,
) -> usize {
    let (services, why) = (Arc::clone(&context.services), reason.to_string());
    let decided = tokio::task::spawn_blocking(move || review::decide_written(&services, &ids, &written, &why));
    match decided.await {
        Ok(Ok(waits)) => waits,
        Ok(Err(why)) => {
            context.say(Level::Warning, why, "").await;
            0
        }
        Err(_) => 0,
    }
}

/// Returns the folders that were to go and stay, each with why its change waits on: what someone else uses stays theirs.
fn folders_left(
    (proposal, held): (&Proposal, &HashMap<String, String>),
    decision: &Decision,
    result: &ProposalResult,
) -> Vec<String> {
    let accepted = proposal.files.iter().zip(decision.files()).filter(|(_, of)| of.hunks.contains(&Choice::Accept));
    let folders = accepted.map(|(file, _)| file).filter(|file| file.path.ends_with('/') && file.after.is_absent());
    let stay = folders.filter(|file| result.written.iter().all(|(path, _)| *path != file.path));
    stay.filter_map(|file| Some(format!("{}: {}", file.path, held.get(&file.path)?))).collect()
}

/// Returns `src/a.rs lines 24-28, 40`: where a file was restored, in lines of before; none: nothing of it was.
fn lines_of(file: &FileChange, decision: &FileDecision) -> Option<String> {
    let accepted = |at: usize| decision.edited.is_some() || decision.hunks.get(at) == Some(&Choice::Accept);
    if decision.edited.is_none() && !decision.hunks.contains(&Choice::Accept) {
        return None;
    }
    let hunks = file.hunks.iter().enumerate().filter(|(at, _)| accepted(*at)).map(|(_, hunk)| hunk);
    let lines = hunks.filter(|hunk| !hunk.before.is_empty() || !hunk.after.is_empty()).map(|hunk| {
        match (hunk.before.start + 1, hunk.before.end) {
            (first, last) if last > first => format!("{first}-{last}"),
            (first, _) => first.to_string(),
        }
    });
    let lines: Vec<String> = lines.collect();
    Some(if lines.is_empty() { file.path.clone() } else { format!("{} lines {}", file.path, lines.join(", ")) })
}

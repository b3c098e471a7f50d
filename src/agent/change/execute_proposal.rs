//! A proposal on its way: the policy or the person decides it, and what is accepted is executed. The edits of a turn
//! and the restores of a person all come through here.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio_util::sync::CancellationToken;

use crate::agent::change::proposal_check;
use crate::agent::services::{ServiceReport, Services, lock};
use crate::agent::session::approval;
use crate::agent::session::context::{SessionContext, Settings};
use crate::archive::{Archive, Id};
use crate::execute::store::{self, StoreRevert};
use crate::execute::{Applied, ApplyError, Executed, UNGUARDED, execute};
use crate::memory::ChangesetCause;
use crate::messages::agent as say;
use crate::proposal::{Consent, Decided, Decision, HunkCount, MergeRung, MergedFile, Proposal, RestorePreview, State};
use crate::protocol::{Approval, EventBody, Level, Outcome, ProposalEvent};

/// The one who is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approver {
    /// The policy first, then the person.
    Policy,
    /// Always the person: it is their own restore.
    Person,
}

/// The result of a proposal.
pub struct ProposalResult {
    /// The outcome as it is sent to the front end.
    pub outcome: Outcome,
    /// The decision; `None` when the proposal was withdrawn.
    pub decision: Option<Decision>,
    /// The changeset that holds what was overwritten.
    pub changeset: Option<String>,
    /// The files written: bytes by path, `None` for a deleted file. Of one that was merged all of it, with the lines of
    /// others.
    pub written: Vec<(String, Option<Arc<[u8]>>)>,
    /// The result of its last test, for the model; none: it was not tested.
    pub tested: Option<String>,
    /// The files into which edits had been merged when they were proposed: what was read of each, and what it was then.
    pub merged_before: Vec<MergedFile>,
}

/// The parts of a restore, or of a command's preview, beside the files of its proposal.
#[derive(Default)]
pub struct RestoreParts {
    /// The previews of its files and definitions.
    pub previews: Vec<RestorePreview>,
    /// The ops that are taken back in a Strand store, which the person agreed to.
    pub revert: Option<StoreRevert>,
    /// The effects that the proposal leaves out, a line each.
    pub left_out: Vec<String>,
}

impl ProposalResult {
    /// Creates the result of a restore that the person did not want.
    pub fn refused() -> Self {
        ProposalResult::nothing(Outcome::Refused, None)
    }

    /// Creates the result of a proposal that was withdrawn before anything was decided or written.
    pub fn withdrawn() -> Self {
        ProposalResult::nothing(Outcome::Withdrawn, None)
    }

    /// Returns whether it failed its test and went back to the model undecided.
    pub fn went_back(&self) -> bool {
        matches!(self.outcome, Outcome::Withdrawn) && self.tested.is_some()
    }

    /// Returns the hunks that were accepted and rejected; `None`: nothing came of what was decided.
    pub fn decided_hunks(&self) -> Option<HunkCount> {
        match &self.outcome {
            Outcome::Applied { hunks, .. } => Some(*hunks),
            Outcome::Refused => self.decision.as_ref().map(Decision::count),
            _ => None,
        }
    }

    fn nothing(outcome: Outcome, decision: Option<Decision>) -> Self {
        ProposalResult {
            outcome,
            decision,
            changeset: None,
            written: Vec::new(),
            tested: None,
            merged_before: Vec::new(),
        }
    }

    /// Returns whether all that was accepted of a file was there already, so that it was not written.
    pub fn is_there(&self, path: &str) -> bool {
        let merged = match &self.outcome {
            Outcome::Applied { merged, .. } => merged.as_slice(),
            _ => &[],
        };
        merged.iter().any(|file| file.path == path && file.rung == MergeRung::There)
    }

    /// Returns the files into which the change was merged, when it was proposed or when it was written.
    pub fn merged(&self) -> impl Iterator<Item = &MergedFile> {
        let when_written = match &self.outcome {
            Outcome::Applied { merged, .. } => Some(merged),
            _ => None,
        };
        self.merged_before.iter().filter(move |_| when_written.is_some()).chain(when_written.into_iter().flatten())
    }
}

/// Asks the policy or the person, and writes what was accepted. Interrupting withdraws the proposal as long as no file
/// was put in place; from then on the write is finished.
pub async fn execute_proposal(
    context: &Arc<SessionContext>,
    proposal: Arc<Proposal>,
    RestoreParts { previews, revert, left_out }: RestoreParts,
    asking: Approver,
    cause: ChangesetCause,
    stop: &CancellationToken,
) -> ProposalResult {
    let (decision, tested) = match by_policy(&context.settings(), &context.services.archive, &proposal, asking) {
        Some(decision) => {
            context
                .events
                .send(EventBody::Proposal(ProposalEvent::Approved(Arc::clone(&proposal), decision.clone())))
                .await;
            (decision, None)
        }
        None => match ask(context, &proposal, (previews, left_out), asking, stop).await {
            (Some(decision), tested) => (decision, tested),
            (None, tested) => {
                context.events.send(EventBody::Proposal(ProposalEvent::Settled(proposal.id, Outcome::Withdrawn))).await;
                return ProposalResult { tested, ..ProposalResult::withdrawn() };
            }
        },
    };
    if decision.for_session {
        context.change_settings(|settings| settings.approve(Approval::Edits, Consent::Policy("session")));
        context.events.refresh_status();
    }
    if asking == Approver::Person {
        // What the person restores is not someone else's change.
        lock(&context.services.watched.known).retain(|path, _| proposal.files.iter().all(|f| f.path != *path));
    }
    let written = write(&context.services, &proposal, decision, (cause, revert), stop).await;
    let result = ProposalResult { tested, ..written };
    context.events.send(EventBody::Proposal(ProposalEvent::Settled(proposal.id, result.outcome.clone()))).await;
    if let Some(id) = result.changeset.as_deref().and_then(Id::parse) {
        context.services.news.tell(&context.events, id);
    }
    result
}

/// Returns whether the person is asked about a proposal of the model.
pub fn asks_person(settings: &Settings, archive: &Archive, proposal: &Proposal) -> bool {
    by_policy(settings, archive, proposal, Approver::Policy).is_none()
}

fn by_policy(settings: &Settings, archive: &Archive, proposal: &Proposal, asking: Approver) -> Option<Decision> {
    if asking == Approver::Person {
        return None;
    }
    let unarchived = proposal.files.iter().any(|f| archive.excluded_by(&f.path).is_some());
    approval::policy(settings.approval, settings.consent, proposal, unarchived)
}

/// Asks the person, and tests the proposal meanwhile where they ask for it or the configuration says so. Returns the
/// result of the last test too; no decision: it was interrupted, or failed its test and goes back to the model.
async fn ask(
    context: &Arc<SessionContext>,
    proposal: &Arc<Proposal>,
    (previews, left_out): (Vec<RestorePreview>, Vec<String>),
    asking: Approver,
    stop: &CancellationToken,
) -> (Option<Decision>, Option<String>) {
    for file in &proposal.files {
        if let Some(glob) = context.services.archive.excluded_by(&file.path) {
            let title = say::not_archived(&file.path, &glob);
            context.say(Level::Warning, title, say::cannot_undo()).await;
        }
    }
    // While the person decides, another program may change a file: that is noticed before the proposal is refused.
    let watched = &context.services.watched;
    proposal.files.iter().for_each(|file| watched.knows_state(&file.path, &file.before));
    let waiting = context.approvals.await_decision(proposal.id);
    if !left_out.is_empty() {
        context.events.send(EventBody::Proposal(ProposalEvent::LeftOut(proposal.id, left_out))).await;
    }
    context.events.send(EventBody::Proposal(ProposalEvent::Proposed(Arc::clone(proposal), previews))).await;
    let by_model = asking == Approver::Policy;
    let decided = stop.run_until_cancelled(proposal_check::until_decided(context, proposal, waiting, by_model)).await;
    context.approvals.withdraw(proposal.id);
    watched.forget_absent(proposal.files.iter().map(|file| file.path.as_str()));
    decided.unwrap_or_default()
}

async fn write(
    services: &Arc<Services>,
    proposal: &Proposal,
    decision: Decision,
    (cause, revert): (ChangesetCause, Option<StoreRevert>),
    stop: &CancellationToken,
) -> ProposalResult {
    let nothing = |outcome, decision| ProposalResult::nothing(outcome, Some(decision));
    let decided = match proposal.decide(&decision) {
        Ok(Some(decided)) => decided,
        Ok(None) => return nothing(Outcome::Refused, decision),
        Err(e) => return nothing(Outcome::Failed(e.to_string()), decision),
    };
    // What is written here is not someone else's change, whenever the watch looks; its state is recorded after it.
    lock(&services.watched.known).retain(|path, _| decided.files().iter().all(|f| f.path() != path));
    let hunks = decision.count();
    let mut written: Vec<_> =
        decided.files().iter().map(|f| (f.path().to_string(), f.after().bytes().cloned())).collect();
    let definitions: Vec<_> = revert.iter().flat_map(StoreRevert::definitions).map(|name| (name, None)).collect();
    let (services, stop) = (Arc::clone(services), stop.clone());
    let work = tokio::task::spawn_blocking(move || execute_decided(&services, &decided, (cause, revert), &stop));
    match work.await {
        Ok(Ok(Applied { changeset, merged, paths, .. })) => {
            let changeset = changeset.map(|id| id.to_string());
            // What something else is in the place of, or in, was left out.
            let paths: HashSet<String> = paths.into_iter().collect();
            written.retain(|(path, _)| paths.contains(path));
            written.extend(definitions);
            for file in &merged {
                written.retain(|(path, _)| *path != file.path);
                written.push((file.path.clone(), file.after.bytes().cloned()));
            }
            let outcome = Outcome::Applied { hunks, changeset: changeset.clone(), merged };
            ProposalResult { written, changeset, ..ProposalResult::nothing(outcome, Some(decision)) }
        }
        Ok(Err(outcome)) => nothing(outcome, decision),
        Err(_) => nothing(Outcome::Failed(say::write_failed().into()), decision),
    }
}

/// Takes ops back in a Strand store, where a restore has no files.
pub async fn execute_revert(
    context: &Arc<SessionContext>,
    revert: StoreRevert,
    (cause, consent): (ChangesetCause, Consent),
) -> ProposalResult {
    let written: Vec<_> = revert.definitions().into_iter().map(|name| (name, None)).collect();
    let services = Arc::clone(&context.services);
    let work = tokio::task::spawn_blocking(move || {
        let Executed { applied, unrecorded } = store::revert(&revert, None, (cause, consent), services.stores());
        for error in unrecorded {
            services.record_error::<()>(Err(error));
        }
        applied
    });
    let nothing = |why| ProposalResult::nothing(Outcome::Failed(why), None);
    let applied = match work.await {
        Ok(Ok(applied)) => applied,
        Ok(Err(why)) => return nothing(why.to_string()),
        Err(_) => return nothing(say::write_failed().into()),
    };
    if let Some(id) = applied.changeset {
        context.services.news.tell(&context.events, id);
    }
    let changeset = applied.changeset.map(|id| id.to_string());
    let hunks = HunkCount { accepted: written.len(), rejected: 0 };
    let outcome = Outcome::Applied { hunks, changeset: changeset.clone(), merged: Vec::new() };
    ProposalResult { written, changeset, ..ProposalResult::nothing(outcome, None) }
}

/// Writes on a thread that may block; what memory could not keep is told, and the session goes on.
fn execute_decided(
    services: &Services,
    decided: &Decided,
    (cause, revert): (ChangesetCause, Option<StoreRevert>),
    stop: &CancellationToken,
) -> Result<Applied, Outcome> {
    let Executed { applied, unrecorded } = services.with_stores(stop, |stores| match &revert {
        Some(revert) => store::revert(revert, Some(decided), (cause, decided.consent()), stores),
        None => execute(decided, cause, stores),
    });
    for error in unrecorded {
        services.record_error::<()>(Err(error));
    }
    match applied {
        Ok(applied) => {
            let bytes = |state: &State| state.bytes().map_or(0, |b| b.len() as u64);
            // Grown by what was there before, at most.
            let grown = decided.files().iter().map(|f| bytes(f.before())).sum();
            services.report(ServiceReport::ArchiveGrew(grown));
            if !applied.not_kept.is_empty() {
                let title = say::not_all_kept();
                services.say(Level::Warning, title, applied.not_kept.join("\n"));
            }
            if applied.unguarded && !services.reported_unguarded.swap(true, Ordering::Relaxed) {
                services.say(Level::Warning, UNGUARDED, say::said_once());
            }
            Ok(applied)
        }
        Err(ApplyError::Conflict { path, expected, found, .. }) => Err(Outcome::Conflict { path, expected, found }),
        Err(error) if error.is_stopped() => Err(Outcome::Withdrawn),
        Err(other) => Err(Outcome::Failed(other.to_string())),
    }
}

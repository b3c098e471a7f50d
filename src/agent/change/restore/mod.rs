//! Undo, redo and restores: a proposal from the archive, with the preview of each file, that is decided and executed like any other.

mod definitions;
mod elsewhere;
mod part;
mod repository;
mod restoring;
mod reviewed;
mod tell;
mod whose;

use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::agent::background::labels;
use crate::agent::background::review;
use crate::agent::change::command::{seal_before_restore, seal_jobs};
use crate::agent::change::execute_proposal::{
    Approver, ProposalResult, RestoreParts, execute_proposal, execute_revert,
};
use crate::agent::session::context::SessionContext;
use crate::agent::session::conversation::first_words;
use crate::agent::session::transcript;
use crate::archive::restore::is_in_part;
use crate::archive::{Choices, Restoration, RestoreError, repository_words};
use crate::execute::Restorer;
use crate::execute::store::StoreRevert;
use crate::memory::ChangesetCause;
use crate::messages::agent as say;
use crate::proposal::{Consent, FileChange, ForeignChoice, Proposal, RestorePreview, RestoreStatus, is_in_repository};
use crate::protocol::{EventBody, Level, Outcome, ProposalEvent, RestoreRequest, ReviewVerdict, UNDO};
use crate::restore_plan::{self, RestorePlan, RestoreScope};
use crate::review::RestoredPaths;
pub use elsewhere::tell_elsewhere;
use repository::name_repository;
use restoring::RestoreCourse;
pub use restoring::Restoring;
use reviewed::is_whole;
pub use reviewed::keep_reviewed;
pub use tell::tell_unwritten;
use tell::{tell, tell_own, tell_written};

/// The restores that are planned or wait for the person, the oldest first. One that waits is withdrawn once another has a
/// proposal.
#[derive(Default)]
pub struct Restores {
    pending: Vec<PendingRestore>,
}

struct PendingRestore {
    task: JoinHandle<()>,
    course: RestoreCourse,
}

/// The result of a restore.
pub struct RestoreResult {
    /// The result of its proposal.
    pub proposal: ProposalResult,
    /// The files that were changed since and that stay as they are.
    pub kept: Vec<ChangedFile>,
    /// The files that were to be merged with what was changed since.
    pub merged: Vec<ChangedFile>,
    /// The paths that were as they are to be already, see [`RestorePlan::already_there`].
    pub there: Vec<String>,
}

/// A file of a restore that is not as what is restored left it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// Normalised path.
    pub path: String,
    /// True if later changesets changed it and no one else.
    pub is_later: bool,
}

impl ChangedFile {
    /// Creates a file that someone else changed.
    fn outside(path: &str) -> Self {
        ChangedFile { path: path.into(), is_later: false }
    }
}

impl From<ProposalResult> for RestoreResult {
    fn from(proposal: ProposalResult) -> Self {
        RestoreResult { proposal, kept: Vec::new(), merged: Vec::new(), there: Vec::new() }
    }
}

impl Restores {
    /// Takes waiting restores back; one that is being written is finished.
    pub fn withdraw(&mut self) {
        self.pending.iter().for_each(|pending| pending.course.stop.cancel());
    }

    /// Waits until nothing is under way.
    pub async fn finish(&mut self) {
        self.withdraw();
        for pending in self.pending.drain(..) {
            let _ = pending.task.await;
        }
    }

    /// Puts a ready proposal to the person, outside a turn.
    pub fn begin_plain(&mut self, context: &Arc<SessionContext>, proposal: Proposal, kind: &str) {
        let (own_context, kind) = (Arc::clone(context), kind.to_string());
        self.begin(context, move |own| async move { drop(put(&own_context, proposal, &kind, &own).await) });
    }

    /// Carries out what was decided about changes that wait to be reviewed.
    pub fn review(&mut self, context: &Arc<SessionContext>, verdict: ReviewVerdict) {
        let own_context = Arc::clone(context);
        self.begin(context, move |own| async move { reviewed::apply_verdict(&own_context, verdict, &own).await });
    }

    /// Begins one when what jobs changed so far is sealed: it is no one else's change.
    fn begin<F>(&mut self, context: &Arc<SessionContext>, run: impl FnOnce(Restoring) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.pending.retain(|pending| !pending.task.is_finished());
        let course = RestoreCourse::default();
        let earlier = self.pending.iter().map(|pending| pending.course.clone()).collect();
        let (restore, context) = (run(Restoring::after(earlier, course.clone())), Arc::clone(context));
        let done = course.done.clone().drop_guard();
        let task = tokio::spawn(async move {
            let _done = done;
            seal_before_restore(&context).await;
            restore.await;
            context.events.send(EventBody::Proposal(ProposalEvent::RestoreEnded)).await;
        });
        self.pending.push(PendingRestore { task, course });
    }

    /// Answers a restore with a proposal, or says why there is none. `turn` is the session's last one.
    pub fn restore(&mut self, context: &Arc<SessionContext>, request: RestoreRequest, turn: Option<i64>) {
        if let RestoreRequest::Foreign { proposal, path, choice } = request {
            // One that waits may be a call of the model, too; one that has ended needs no choice any more.
            context.approvals.choose(proposal, path, choice);
            return;
        }
        let own_context = Arc::clone(context);
        self.begin(context, move |own| async move {
            let (context, stop) = (own_context, own.stop());
            if let RestoreRequest::State { .. } | RestoreRequest::Origin { .. } = &request {
                match stop.run_until_cancelled(part_of(&context, request.clone(), stop)).await {
                    None => return,
                    Some(Ok(Some((proposal, undone)))) => {
                        let result = put(&context, proposal, UNDO, &own).await;
                        return reviewed::record(&context, undone, &result).await;
                    }
                    Some(Ok(None)) => {}
                    Some(Err(why)) => return context.say(Level::Warning, why, "").await,
                }
            }
            let reason = match &request {
                RestoreRequest::Review { reason, .. } => reason.clone(),
                _ => String::new(),
            };
            let is_review = matches!(request, RestoreRequest::Review { .. });
            let Some(planned) = stop.run_until_cancelled(plan(&context, request, turn)).await else { return };
            match planned {
                Ok(plan) => {
                    let undone = reviewed::undone(&context, &plan).await;
                    match run(&context, &plan, None, &own).await {
                        Some(RestoreResult { proposal: result, kept, there, .. }) => {
                            tell(&context, &result, &plan.title).await;
                            own.tell_replaced(&context, &result, &plan.title).await;
                            if result.changeset.is_some() && (is_review || is_whole(&result)) {
                                let stays = |path: &String| kept.iter().any(|file| file.path == *path);
                                let written = result.written.into_iter().map(|(path, _)| (!stays(&path), path));
                                let there = there.into_iter().map(|path| (path, true));
                                let written = written.map(|(is_whole, path)| (path, is_whole)).chain(there).collect();
                                reviewed::reviewed(&context, undone, written, (is_review, &reason)).await;
                            }
                        }
                        None if is_review => {
                            reviewed::reviewed(&context, undone, RestoredPaths::new(), (true, "")).await;
                        }
                        None => {}
                    }
                }
                Err(why) => context.say(Level::Warning, why, "").await,
            }
        });
    }
}

/// Returns what a request of the person asks for; the error is for the person.
fn wanted(context: &SessionContext, request: RestoreRequest, turn: Option<i64>) -> Result<RestoreScope, String> {
    Ok(match request {
        RestoreRequest::Undo { count, files } => RestoreScope::Undo { count, files },
        RestoreRequest::Redo => RestoreScope::Redo,
        RestoreRequest::Changeset(id) => RestoreScope::Changeset(id),
        RestoreRequest::Since(id) => RestoreScope::Since(id),
        RestoreRequest::SinceMessage(number) => {
            let (message, words) = person_said(context, number).ok_or(say::message_not_there())?;
            let session = context.id().unwrap_or_default();
            RestoreScope::SinceMessage { session, message, called: format!("\"{words}\"") }
        }
        RestoreRequest::Review { names, .. } => {
            review::restored_scope(&context.services, &names)?.ok_or_else(say::review_nothing)?
        }
        RestoreRequest::Version { path, version } => RestoreScope::Version { path, version },
        RestoreRequest::Turn => match context.id().zip(turn) {
            Some((session, turn)) => RestoreScope::Turn { session, turn },
            None => return Err(say::turn_changed_nothing().into()),
        },
        RestoreRequest::Origin { path, lines, turn } => part::origin(context, &path, lines, turn)?.0,
        RestoreRequest::State { .. } | RestoreRequest::Foreign { .. } => return Err(say::no_restore().into()),
    })
}

/// Puts a ready proposal to the person and tells how it ended.
async fn put(context: &Arc<SessionContext>, proposal: Proposal, kind: &str, own: &Restoring) -> ProposalResult {
    own.replace().await;
    let title = proposal.title.clone();
    let cause = ChangesetCause::of_session(context.id(), kind, &title);
    tell_own(context, &proposal).await;
    let result =
        execute_proposal(context, Arc::new(proposal), RestoreParts::default(), Approver::Person, cause, own.stop())
            .await;
    match kind {
        UNDO => tell(context, &result, &title).await,
        _ => tell_written(context, &result).await,
    }
    own.tell_replaced(context, &result, &title).await;
    result
}

/// Plans to undo a part of what the session changed, on a thread that may block. The second: the changesets that it undoes
/// as a whole.
async fn part_of(
    context: &Arc<SessionContext>,
    request: RestoreRequest,
    stop: &CancellationToken,
) -> Result<Option<(Proposal, Vec<String>)>, String> {
    let (context, stop) = (Arc::clone(context), stop.clone());
    let planned = tokio::task::spawn_blocking(move || {
        let mut planned = match request {
            RestoreRequest::State { path, now, then } => {
                Some((part::to_state(&context, &path, *now, *then)?, Vec::new()))
            }
            RestoreRequest::Origin { path, lines, turn } => {
                let (scope, lines) = part::origin(&context, &path, lines, turn)?;
                part::without(&context, &scope, (&path, lines), &stop)?
            }
            _ => None,
        };
        planned.iter_mut().for_each(|(proposal, _)| labels::label(&mut proposal.files));
        Ok(planned)
    });
    planned.await.unwrap_or_else(|_| Err(say::planning_failed().into()))
}

/// Returns all that the session changed, from the files as they were to the files as they are. None: nothing.
///
/// # Errors
/// When the archive or memory cannot be read, for the person.
pub fn session_diff(context: &SessionContext) -> Result<Option<Proposal>, String> {
    let Some(session) = context.id() else { return Ok(None) };
    let stores = context.services.stores();
    let records = part::changesets_of_session(context, &session)?;
    if records.is_empty() {
        return Ok(None);
    }
    let wanted = RestoreScope::Session { session };
    let plan = restore_plan::plan(&wanted, stores).map_err(|e| e.to_string())?;
    let choices = Choices { others: Some(ForeignChoice::RestoreVersion), ..Choices::default() };
    let restoration = plan.look(&choices, context.events.proposal(), context.services.stores());
    let Restoration { proposal, .. } = restoration.map_err(|e| e.to_string())?;
    // From now to then, the other way round.
    let turned = |file: FileChange| FileChange::new(file.path, file.after, file.before, "", &[]);
    let files = proposal.files.into_iter().map(turned);
    let (repository, mut files): (Vec<_>, Vec<_>) = files.partition(|file| is_in_repository(&file.path));
    labels::label(&mut files);
    if !repository.is_empty() {
        files.push(FileChange::of_repository(repository_words(stores.workspace, &repository)));
    }
    Ok((!files.is_empty()).then_some(Proposal { files, ..proposal }))
}

/// Returns a message of the person in the open session by its number, from 0: its row in memory, and how it begins.
fn person_said(context: &SessionContext, number: usize) -> Option<(i64, String)> {
    let session = context.id()?;
    let services = &context.services;
    let messages = services.record_error(services.memory.ask_blocking(move |memory| memory.load(&session)))?;
    let row = messages.iter().filter(|row| transcript::typed(row).is_some()).nth(number)?;
    Some((row.id, first_words(transcript::typed(row)?, 40)))
}

/// Plans what a request asks for, on a thread that may block.
///
/// # Errors
/// Why there is nothing to restore.
pub async fn plan(
    context: &Arc<SessionContext>,
    request: RestoreRequest,
    turn: Option<i64>,
) -> Result<RestorePlan, String> {
    let context = Arc::clone(context);
    let planned = tokio::task::spawn_blocking(move || {
        let wanted = wanted(&context, request, turn)?;
        restore_plan::plan(&wanted, context.services.stores()).map_err(|e| e.to_string())
    });
    planned.await.unwrap_or_else(|_| Err(say::planning_failed().into()))
}

/// Proposes the changes of a plan, and again each time a choice is made for a file that someone else changed. Returns
/// `None` when there was nothing to restore. `call`: the model's call that asks for it; none: the person does.
pub async fn run(
    context: &Arc<SessionContext>,
    plan: &RestorePlan,
    call: Option<&str>,
    own: &Restoring,
) -> Option<RestoreResult> {
    let stop = own.stop();
    let (mut choices, mut is_agreed) = (Choices::default(), false);
    let by = if call.is_some() { Restorer::Agent } else { Restorer::Person };
    loop {
        seal_jobs(&context.services, &context.commands, &context.events).await;
        let Some(looked) = stop.run_until_cancelled(look(context, plan, (&choices, by), stop)).await else {
            return Some(ProposalResult::withdrawn().into());
        };
        let (restoration, revert) = match looked {
            Ok(looked) => looked,
            Err(why) => {
                context.say(Level::Warning, why, say::nothing_changed()).await;
                return None;
            }
        };
        tell_warnings(context, &restoration).await;
        let open = restoration.previews.iter().any(|f| matches!(f.status, RestoreStatus::Foreign { .. }));
        if restoration.proposal.files.is_empty() && !open && revert.is_none() {
            tell_nothing(context, plan, &restoration.previews).await;
            return None;
        }
        own.replace().await;
        let of_session = ChangesetCause::of_session(context.id(), plan.kind, &plan.title);
        let cause = ChangesetCause { tool_call: call.map(str::to_string), ..of_session };
        if let Some(revert) = revert.as_ref().filter(|_| !is_agreed) {
            if let Some(unwanted) = definitions::unwanted(context, &plan.title, revert, stop).await {
                return Some(unwanted.into());
            }
            is_agreed = true;
        }
        if let Some(revert) = revert.clone().filter(|_| restoration.proposal.files.is_empty() && !open) {
            return Some(execute_revert(context, revert, (cause, Consent::Person)).await.into());
        }
        let again = stop.child_token();
        let proposal = Arc::new(restoration.proposal);
        // What follows a choice of the person is what they asked for, too: it has the keys at once.
        if call.is_none() || !choices.each.is_empty() {
            tell_own(context, &proposal).await;
        }
        let (kept, merged) = foreign_files(&restoration.previews);
        let there = plan.already_there(&restoration.previews).map(String::from).collect();
        let mut chosen = context.approvals.choices(proposal.id);
        let parts = RestoreParts { previews: restoration.previews, revert, ..RestoreParts::default() };
        let executing = execute_proposal(context, proposal, parts, Approver::Person, cause, &again);
        let (result, rechosen) = unless_chosen(executing, (&mut chosen, &mut choices), &again).await;
        if !(rechosen && matches!(result.outcome, Outcome::Withdrawn)) || stop.is_cancelled() {
            return Some(RestoreResult { proposal: result, kept, merged, there });
        }
    }
}

/// Returns the files that were changed since: those that stay as they are, or in part, and those that are to be merged.
fn foreign_files(previews: &[RestorePreview]) -> (Vec<ChangedFile>, Vec<ChangedFile>) {
    let (mut kept, mut merged) = (Vec::new(), Vec::new());
    let parts = previews.iter().filter(|preview| is_in_part(preview));
    kept.extend(parts.map(|preview| ChangedFile::outside(&preview.path)));
    for RestorePreview { path, status } in previews {
        let RestoreStatus::Foreign { choice, conflicts, is_later, .. } = status else { continue };
        let file = ChangedFile { path: path.clone(), is_later: *is_later };
        match choice {
            Some(ForeignChoice::RestoreVersion) => {}
            Some(ForeignChoice::Merge) if conflicts.is_some() => merged.push(file),
            Some(ForeignChoice::Merge | ForeignChoice::Keep) | None => kept.push(file),
        }
    }
    (kept, merged)
}

/// Waits for the result of a restore, and takes up the choices for its files that come meanwhile: `again` is cancelled then.
/// The second: some came.
async fn unless_chosen(
    executing: impl Future<Output = ProposalResult>,
    (chosen, choices): (&mut mpsc::UnboundedReceiver<(String, ForeignChoice)>, &mut Choices),
    again: &CancellationToken,
) -> (ProposalResult, bool) {
    tokio::pin!(executing);
    let mut rechosen = false;
    loop {
        tokio::select! {
            result = &mut executing => return (result, rechosen),
            Some((path, choice)) = chosen.recv() => {
                choices.each.insert(path, choice);
                rechosen = true;
                again.cancel();
            }
        }
    }
}

async fn tell_warnings(context: &SessionContext, restoration: &Restoration) {
    for warning in &restoration.warnings {
        context.say(Level::Warning, warning.clone(), say::passed_over()).await;
    }
}

/// Tells why a restore has nothing to write.
async fn tell_nothing(context: &SessionContext, plan: &RestorePlan, previews: &[RestorePreview]) {
    let reason = |preview: &RestorePreview| match &preview.status {
        RestoreStatus::NotArchived(why) | RestoreStatus::Refused(why) => Some(format!("{}: {why}", preview.path)),
        _ => None,
    };
    let reasons: Vec<String> = previews.iter().filter_map(reason).collect();
    match reasons.is_empty() {
        true => context.say(Level::Info, say::at_version(&plan.title), say::nothing_changed()).await,
        false => context.say(Level::Warning, say::nothing_restored(&plan.title), reasons.join("\n")).await,
    }
}

async fn look(
    context: &Arc<SessionContext>,
    plan: &RestorePlan,
    (choices, by): (&Choices, Restorer),
    stop: &CancellationToken,
) -> Result<(Restoration, Option<StoreRevert>), String> {
    let (context, plan, choices, stop) = (Arc::clone(context), plan.clone(), choices.clone(), stop.clone());
    let looked = tokio::task::spawn_blocking(move || {
        let id = context.events.proposal();
        let looked = context.services.with_stores(&stop, |stores| {
            let mut restoration = plan.look(&choices, id, stores)?;
            let revert = plan.revert(&mut restoration, by, stores)?;
            Ok::<_, RestoreError>((restoration, revert))
        });
        let (mut restoration, revert) = looked.map_err(|e| e.to_string())?;
        restoration.proposal.title =
            whose::title(&context.services, context.id().as_deref(), &plan, restoration.changeset);
        labels::label(&mut restoration.proposal.files);
        name_repository(&mut restoration.proposal.files, &restoration.previews);
        Ok((restoration, revert))
    });
    looked.await.unwrap_or_else(|_| Err(say::looking_failed().into()))
}

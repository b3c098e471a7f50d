//! Undo, redo and restores: a proposal from the archive, with the fate of each file, that goes the one road.

use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::agent::announce::Remembered;
use crate::agent::services::lock;
use crate::agent::session::context::SessionContext;
use crate::agent::session::conversation::first_words;
use crate::agent::session::transcript;
use crate::agent::settle::{self, Asking, Settled};
use crate::archive::{Choices, Id, Request, Restoration};
use crate::memory::{Cause, ChangesetRecord};
use crate::proposal::{FateKind, ForeignChoice, Proposal};
use crate::protocol::{Level, NoticeAction, Outcome, RestoreRequest};

/// The restore that waits for the person, if one does.
#[derive(Default)]
pub struct Restores {
    pending: Option<Pending>,
}

struct Pending {
    task: JoinHandle<()>,
    stop: CancellationToken,
    choices: mpsc::UnboundedSender<(String, ForeignChoice)>,
}

impl Restores {
    /// Takes a waiting restore back; one that is being written is finished.
    pub fn withdraw(&mut self) {
        if let Some(pending) = &self.pending {
            pending.stop.cancel();
        }
    }

    /// Waits until nothing is under way.
    pub async fn finish(&mut self) {
        self.withdraw();
        if let Some(pending) = self.pending.take() {
            let _ = pending.task.await;
        }
    }

    /// Puts a ready proposal to the person, outside a turn.
    pub fn begin_plain(&mut self, context: &Arc<SessionContext>, proposal: Proposal, kind: &str) {
        let cause =
            Cause { session: context.id(), kind: kind.into(), title: proposal.title.clone(), ..Cause::default() };
        let context = Arc::clone(context);
        self.begin(move |stop, _| async move {
            let settled = settle::settle(&context, Arc::new(proposal), Vec::new(), Asking::Person, cause, &stop).await;
            tell(&context, &settled, "wrote").await;
        });
    }

    fn begin<F>(&mut self, run: impl FnOnce(CancellationToken, mpsc::UnboundedReceiver<(String, ForeignChoice)>) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.withdraw();
        let stop = CancellationToken::new();
        let (choices, chosen) = mpsc::unbounded_channel();
        let task = tokio::spawn(run(stop.clone(), chosen));
        self.pending = Some(Pending { task, stop, choices });
    }

    /// Answers a restore with a proposal, or says why there is none. `turn` is the session's last one.
    pub fn restore(&mut self, context: &Arc<SessionContext>, request: RestoreRequest, turn: Option<i64>) {
        if let RestoreRequest::Foreign { path, choice, .. } = request {
            if let Some(pending) = &self.pending {
                // A restore that is over needs no choice any more.
                let _ = pending.choices.send((path, choice));
            }
            return;
        }
        let context = Arc::clone(context);
        self.begin(move |stop, chosen| async move {
            match plan(&context, &request, turn) {
                Ok(plan) => {
                    if let Some(settled) = run(&context, &plan, chosen, &stop).await {
                        tell(&context, &settled, "restored").await;
                    }
                }
                Err(why) => context.say(Level::Warning, why, "").await,
            }
        });
    }
}

/// A restore that can be tried.
pub struct Plan {
    /// What is asked of the archive.
    pub request: Request,
    /// `undo` or `redo`.
    pub kind: &'static str,
    /// In words.
    pub title: String,
}

/// What a request asks of the archive.
fn plan(context: &SessionContext, request: &RestoreRequest, turn: Option<i64>) -> Result<Plan, String> {
    let say = |e: crate::archive::Error| e.to_string();
    let undo = |request, title| Ok(Plan { request, kind: "undo", title });
    match request {
        RestoreRequest::Undo { count, files } => {
            let title = match files.as_slice() {
                [] => format!("undo of {}", newest_cause(context).unwrap_or_else(|| "the newest changeset".into())),
                files => format!("undo of {}", files.join(", ")),
            };
            undo(Request::Undo { count: *count, files: files.clone() }, title)
        }
        RestoreRequest::Redo => {
            let Some(newest) = newest(context).map_err(say)? else {
                return Err("the archive is empty: there is nothing to redo".into());
            };
            let record = context
                .services
                .memory
                .changeset(&context.services.project(), &newest.to_string())
                .map_err(|e| e.to_string())?;
            match record {
                Some(r) if r.cause.kind == "undo" => Ok(Plan {
                    request: Request::Undo { count: 1, files: Vec::new() },
                    kind: "redo",
                    title: format!("redo of {}", r.cause.title.trim_start_matches("undo of ")),
                }),
                Some(_) => Err("the newest changeset was not made by an undo: there is nothing to redo".into()),
                None => {
                    Err("memory does not know what made the newest changeset: use undo, which takes it back".into())
                }
            }
        }
        RestoreRequest::Changeset(id) => {
            let id = context.services.archive.find_changeset(id).map_err(say)?;
            let title = format!("undo of {}", cause_of(context, id).unwrap_or_else(|| "one changeset".into()));
            undo(Request::Changesets(vec![id]), title)
        }
        RestoreRequest::Since(id) => {
            let id = context.services.archive.find_changeset(id).map_err(say)?;
            let title = format!("undo of everything since {}", cause_of(context, id).unwrap_or_else(|| "then".into()));
            undo(Request::Since(id), title)
        }
        RestoreRequest::SinceMessage(number) => {
            let (message, words) = person_said(context, *number).ok_or("that message is not in memory")?;
            let session = context.id().unwrap_or_default();
            let records = context.services.memory.changesets_since(&session, message).map_err(|e| e.to_string())?;
            match ids(&records) {
                ids if ids.is_empty() => Err(format!("nothing was changed since \"{words}\"")),
                ids => undo(Request::Changesets(ids), format!("undo of everything since \"{words}\"")),
            }
        }
        RestoreRequest::Version { path, version } => {
            let found = context.services.archive.find_version(Some(path), version).map_err(say)?;
            undo(Request::Version { path: path.clone(), version: found.id }, format!("undo of {path}"))
        }
        RestoreRequest::Turn => {
            let (Some(session), Some(turn)) = (context.id(), turn) else {
                return Err("no turn of this session changed anything".into());
            };
            let records = context.services.memory.changesets_of_turn(&session, turn).map_err(|e| e.to_string())?;
            let ids = ids(&records);
            if ids.is_empty() {
                return Err("the last turn changed nothing".into());
            }
            undo(Request::Changesets(ids), "undo of the last turn".into())
        }
        RestoreRequest::Foreign { .. } => Err("no restore is waiting".into()),
    }
}

fn ids(records: &[ChangesetRecord]) -> Vec<Id> {
    records.iter().filter_map(|r| Id::parse(r.id.as_deref()?)).collect()
}

/// A message of the person in the open session by its number, from 0: its row in memory, and how it begins.
fn person_said(context: &SessionContext, number: usize) -> Option<(i64, String)> {
    let messages = context.services.memory.load(&context.id()?).ok()?;
    let row = messages.iter().filter(|row| transcript::typed(row).is_some()).nth(number)?;
    Some((row.id, first_words(transcript::typed(row)?, 40)))
}

/// A plan for the model's `undo`.
pub fn plan_of_tool(context: &SessionContext, count: usize, path: Option<String>) -> Result<Plan, String> {
    plan(context, &RestoreRequest::Undo { count, files: path.into_iter().collect() }, None)
}

fn newest_cause(context: &SessionContext) -> Option<String> {
    cause_of(context, newest(context).ok()??)
}

/// The newest changeset that changed something.
fn newest(context: &SessionContext) -> Result<Option<Id>, crate::archive::Error> {
    context
        .services
        .archive
        .newest_written(&Remembered { memory: &context.services.memory, project: &context.services.project() })
}

fn cause_of(context: &SessionContext, id: Id) -> Option<String> {
    let record = context.services.memory.changeset(&context.services.project(), &id.to_string()).ok()??;
    Some(record.cause.title).filter(|t| !t.is_empty())
}

/// Proposes what a plan comes to, again each time something is chosen for a file that someone else changed. None when
/// there was nothing to restore.
pub async fn run(
    context: &Arc<SessionContext>,
    plan: &Plan,
    mut chosen: mpsc::UnboundedReceiver<(String, ForeignChoice)>,
    stop: &CancellationToken,
) -> Option<Settled> {
    let mut choices = Choices::default();
    loop {
        let restoration = match look(context, plan, &choices).await {
            Ok(restoration) => restoration,
            Err(why) => {
                context.say(Level::Warning, why, "Nothing was changed.").await;
                return None;
            }
        };
        for warning in &restoration.warnings {
            context.say(Level::Warning, warning.clone(), "It was passed over.").await;
        }
        let open = restoration.fates.iter().any(|f| matches!(f.kind, FateKind::Foreign { .. }));
        if restoration.proposal.files.is_empty() && !open {
            let title = format!("{}: every file is already as it was then", plan.title);
            context.say(Level::Info, title, "Nothing was changed.").await;
            return None;
        }
        let cause =
            Cause { session: context.id(), kind: plan.kind.into(), title: plan.title.clone(), ..Cause::default() };
        let again = stop.child_token();
        let proposal = Arc::new(restoration.proposal);
        let settle = settle::settle(context, proposal, restoration.fates, Asking::Person, cause, &again);
        tokio::pin!(settle);
        let mut rechosen = false;
        let settled = loop {
            tokio::select! {
                settled = &mut settle => break settled,
                Some((path, choice)) = chosen.recv() => {
                    choices.each.insert(path, choice);
                    rechosen = true;
                    again.cancel();
                }
            }
        };
        let withdrawn = matches!(settled.outcome, Outcome::Withdrawn);
        if !(withdrawn && rechosen) || stop.is_cancelled() {
            return Some(settled);
        }
    }
}

async fn look(context: &Arc<SessionContext>, plan: &Plan, choices: &Choices) -> Result<Restoration, String> {
    let (context, choices) = (Arc::clone(context), choices.clone());
    let (request, title) = (plan.request.clone(), plan.title.clone());
    let looked = tokio::task::spawn_blocking(move || {
        let project = context.services.project();
        let written = Remembered { memory: &context.services.memory, project: &project };
        let id = context.events.proposal();
        context
            .services
            .archive
            .restore(&context.services.workspace, &request, &written, &choices, id, &title)
            .map_err(|e| e.to_string())
    });
    looked.await.unwrap_or_else(|_| Err("looking at the archive failed in nebula itself".into()))
}

/// Says in passing how what the person asked for ended, in the word for it, and leaves a note for the model.
async fn tell(context: &SessionContext, settled: &Settled, did: &str) {
    match &settled.outcome {
        Outcome::Applied { .. } => {
            let paths: Vec<&str> = settled.written.iter().map(|(p, _)| p.as_str()).collect();
            let (paths, back) = (paths.join(", "), if did == "restored" { "/redo takes that back." } else { "" });
            let note = format!("Meanwhile the person {did}: {paths}. Read these files again before you edit them.");
            lock(&context.notes).push(note);
            context.say(Level::Info, format!("{did} {paths}"), back).await;
        }
        Outcome::Conflict { path, .. } => {
            let title = format!("{path} changed on disk meanwhile");
            let actions = vec![NoticeAction::ShowChange(path.clone()), NoticeAction::OpenFile(path.clone())];
            context.events.notice_with(Level::Warning, title, "Nothing was written.", actions).await;
        }
        Outcome::Failed(why) => context.say(Level::Error, why.clone(), "").await,
        Outcome::Refused | Outcome::Withdrawn => {}
    }
}

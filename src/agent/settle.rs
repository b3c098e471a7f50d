//! The last part of the road: a proposal is decided, what it writes is committed to memory, and it is applied.
//! Edits, undo and restores all come through here.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::agent::announce::{self, announcement};
use crate::agent::approval;
use crate::agent::background::archive_size;
use crate::agent::services::{Env, lock};
use crate::agent::session::listings;
use crate::apply::{self, ApplyError};
use crate::archive::{Id, sha256};
use crate::memory::Cause;
use crate::proposal::{Decided, Decision, Fate, Proposal};
use crate::protocol::{Approval, Event, Level, Outcome};

/// Who is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asking {
    /// The policy first, then the person.
    Policy,
    /// Always the person: it is their own restore.
    Person,
}

/// What became of a proposal.
pub struct Settled {
    /// As it is told to the front end.
    pub outcome: Outcome,
    /// What was decided; none when it was withdrawn.
    pub decision: Option<Decision>,
    /// The changeset that holds what was overwritten.
    pub changeset: Option<String>,
    /// What was written: bytes by path, none for a deleted file.
    pub written: Vec<(String, Option<Arc<[u8]>>)>,
}

impl Settled {
    fn nothing(outcome: Outcome, decision: Option<Decision>) -> Self {
        Settled { outcome, decision, changeset: None, written: Vec::new() }
    }
}

/// Asks the policy or the person, and writes what was accepted. Interrupting withdraws the proposal; a write that
/// has begun is always finished.
pub async fn settle(
    env: &Arc<Env>,
    proposal: Arc<Proposal>,
    fates: Vec<Fate>,
    asking: Asking,
    cause: Cause,
    stop: &CancellationToken,
) -> Settled {
    let decision = match by_policy(env, &proposal, asking) {
        Some(decision) => {
            env.events.send(Event::Approved(Arc::clone(&proposal), decision.clone())).await;
            decision
        }
        None => match ask(env, &proposal, fates, stop).await {
            Some(decision) => decision,
            None => {
                env.events.send(Event::Settled(proposal.id, Outcome::Withdrawn)).await;
                return Settled::nothing(Outcome::Withdrawn, None);
            }
        },
    };
    if decision.for_session {
        env.change(|live| live.approval = Approval::Edits);
        env.tell_status().await;
    }
    if asking == Asking::Person {
        // What the person restores is not someone else's change.
        lock(&env.known).retain(|path, _| proposal.files.iter().all(|f| f.path != *path));
    }
    let settled = write(env, &proposal, decision, cause).await;
    env.events.send(Event::Settled(proposal.id, settled.outcome.clone())).await;
    if let Some(changeset) = settled.changeset.as_deref().and_then(|id| archived(env, id)) {
        env.events.send(Event::Archived(changeset)).await;
    }
    settled
}

fn by_policy(env: &Env, proposal: &Proposal, asking: Asking) -> Option<Decision> {
    if asking == Asking::Person {
        return None;
    }
    let approval = env.live().approval;
    let unarchived = proposal.files.iter().any(|f| env.archive.excluded_by(&f.path).is_some());
    approval::policy(approval, proposal, unarchived)
}

async fn ask(env: &Env, proposal: &Arc<Proposal>, fates: Vec<Fate>, stop: &CancellationToken) -> Option<Decision> {
    for file in &proposal.files {
        if let Some(glob) = env.archive.excluded_by(&file.path) {
            let title = format!("{} is not archived (archiveExclude: {glob})", file.path);
            env.say(Level::Warning, title, "Once written, nebula cannot take this change back.").await;
        }
    }
    // While the person decides, somebody else may change a file: that is seen before it is refused.
    for file in &proposal.files {
        if let Some(bytes) = file.before.bytes() {
            env.knows(&file.path, sha256(bytes));
        }
    }
    let waiting = env.gate.await_decision(proposal.id);
    env.events.send(Event::Proposed(Arc::clone(proposal), fates)).await;
    let decision = stop.run_until_cancelled(waiting).await.and_then(Result::ok);
    env.gate.withdraw(proposal.id);
    decision
}

async fn write(env: &Arc<Env>, proposal: &Proposal, decision: Decision, cause: Cause) -> Settled {
    let decided = match proposal.decide(&decision) {
        Ok(decided) => decided,
        Err(e) => return Settled::nothing(Outcome::Failed(e.to_string()), Some(decision)),
    };
    if decided.files().is_empty() {
        return Settled::nothing(Outcome::Refused, Some(decision));
    }
    // What is written here is not someone else's change, whenever the watch looks. What is known then is noted after it.
    lock(&env.known).retain(|path, _| decided.files().iter().all(|f| f.path() != path));
    let hunks = decision.count();
    let written = decided.files().iter().map(|f| (f.path().to_string(), f.after().bytes().cloned())).collect();
    let env2 = Arc::clone(env);
    let work = tokio::task::spawn_blocking(move || announce_and_apply(&env2, &decided, &cause)).await;
    match work {
        Ok(Ok(changeset)) => {
            let outcome = Outcome::Applied { hunks, changeset: changeset.clone() };
            Settled { outcome, decision: Some(decision), changeset, written }
        }
        Ok(Err(outcome)) => Settled::nothing(outcome, Some(decision)),
        Err(_) => Settled::nothing(Outcome::Failed("writing failed in nebula itself".into()), Some(decision)),
    }
}

/// Commits to memory what is about to be written, then archives and writes it, then says how it ended.
fn announce_and_apply(env: &Arc<Env>, decided: &Decided, cause: &Cause) -> Result<Option<String>, Outcome> {
    let will = announcement(decided);
    let pending = env.kept(env.memory.will_write(&env.project(), cause, &will));
    let applied = apply::apply(decided, &env.workspace, &env.archive);
    if let Some(pending) = pending {
        env.kept(announce::ended(&env.memory, &env.project(), pending, &will, &applied));
    }
    match applied {
        Ok(applied) => {
            archive_size::grew(env, decided);
            Ok(applied.changeset.map(|id| id.to_string()))
        }
        Err(ApplyError::Conflict { path, expected, found }) => Err(Outcome::Conflict { path, expected, found }),
        Err(other) => Err(Outcome::Failed(other.to_string())),
    }
}

/// The new changeset, unless watching the archive has told it already.
fn archived(env: &Env, id: &str) -> Option<crate::protocol::Changeset> {
    let id = Id::parse(id)?;
    {
        let mut newest = lock(&env.newest);
        if id <= *newest {
            return None;
        }
        *newest = id;
    }
    let record = env.memory.changeset(&env.project(), &id.to_string()).ok().flatten();
    Some(listings::changeset(env, &env.archive, id, record.as_ref()))
}

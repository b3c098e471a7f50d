//! Plans undo, redo and restores: from the request to a target for the archive, with its title and kind. Writes
//! nothing; the resulting proposal is decided and executed like any other.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::archive::restore::state_sha;
use crate::archive::restore::{LastWritten, LastWrittenLookup, RestoreError};
use crate::archive::{self, Choices, Id, Restoration, RestoreTarget, Sha};
use crate::execute::store::{StoreRevert, plan_revert};
use crate::execute::{Restorer, Stores};
use crate::memory::{self, ChangesetCause, ChangesetRecord, ChangesetState};
use crate::proposal::{FileChange, ProposalId, RestorePreview, RestoreStatus, State};
use crate::text::number::plural;
use crate::text::sentence::first_words;
use crate::workspace::Workspace;

/// The most characters of a prompt in the title of the undo of its turn.
const TITLE: usize = 60;

/// The scope of a restore. Paths are normalised; ids may be unique beginnings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RestoreScope {
    /// A number of versions back, from 1; without files those of the newest changeset.
    Undo {
        /// The number of versions.
        count: usize,
        /// The files.
        files: Vec<String>,
    },
    /// The newest changeset, which an undo has to have made.
    Redo,
    /// One changeset.
    Changeset(String),
    /// Changesets that wait to be reviewed, and none between them.
    Reviewed {
        /// They.
        ids: Vec<String>,
        /// The paths of later ones that wait, too.
        waiting: BTreeSet<String>,
    },
    /// A changeset and all after it.
    Since(String),
    /// All changes of a session from a message on.
    SinceMessage {
        /// The session's id.
        session: String,
        /// The message's row in memory.
        message: i64,
        /// The name of the message: `message 12`, or its first words.
        called: String,
    },
    /// All changes of a session.
    Session {
        /// The session's id.
        session: String,
    },
    /// One file to one version.
    Version {
        /// The file.
        path: String,
        /// The version.
        version: String,
    },
    /// All changes of one turn.
    Turn {
        /// The session's id.
        session: String,
        /// The message that began it.
        turn: i64,
    },
    /// All changes of the newest turn that changed anything, in one session or in any.
    LastTurn {
        /// The session's id.
        session: Option<String>,
    },
}

/// The request to the archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestorePlan {
    /// The states.
    pub request: RestoreTarget,
    /// `undo` or `redo`, for memory.
    pub kind: &'static str,
    /// The title, for lists and the cause of the changeset: `undo of …`.
    pub title: String,
    /// The paths with changes that wait to be decided about, see [`Choices::waiting`].
    pub waiting: BTreeSet<String>,
    /// The lines of a file that meet no conflict may be restored alone, see [`Choices::by_hunk`].
    pub by_hunk: bool,
}

/// The reason why nothing can be planned. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// No changeset yet.
    #[error("the archive is empty: there is nothing to redo")]
    Empty,
    /// The newest changeset is something else's.
    #[error("the newest changeset was not made by an undo: there is nothing to redo")]
    NoUndo,
    /// The newest changeset is a redo.
    #[error("the last undo is redone already: there is nothing to redo")]
    Redone,
    /// Memory has no cause for it.
    #[error("memory does not know what made the newest changeset: use undo, which undoes it")]
    UnknownCause,
    /// No changeset of the session since then.
    #[error("nothing was changed since {0}")]
    NothingSince(String),
    /// The turn has no changeset.
    #[error("the last turn changed nothing")]
    NothingInTurn,
    /// No turn has a changeset.
    #[error("memory knows of no turn {0} that changed files: undo alone undoes the newest changeset")]
    NoTurn(&'static str),
    /// The archive cannot be read, or has nothing of that name.
    #[error(transparent)]
    Archive(#[from] archive::Error),
    /// Memory cannot be read.
    #[error(transparent)]
    Memory(#[from] memory::Error),
}

/// Returns what a requested restore asks of the archive.
///
/// # Errors
/// When there is nothing to restore, or it is not known what.
pub fn plan(wanted: &RestoreScope, stores: Stores<'_>) -> Result<RestorePlan, PlanError> {
    match wanted {
        RestoreScope::Undo { count, files } => {
            let request = RestoreTarget::Undo { count: *count, files: files.clone() };
            Ok(match files.as_slice() {
                [] if *count == 1 => of_changeset(request, newest(stores)?, "the newest changeset", stores),
                // Several versions back is no redo, whatever the newest changeset is.
                [] => undo(request, format!("undo of {}", plural(*count, "version"))),
                files => undo(request, format!("undo of {}", files.join(", "))),
            })
        }
        RestoreScope::Redo => redo(stores),
        RestoreScope::Changeset(id) => {
            let id = stores.archive.find_changeset(id)?;
            Ok(of_changeset(RestoreTarget::Changesets(vec![id]), Some(id), "one changeset", stores))
        }
        RestoreScope::Reviewed { ids, waiting } => {
            let ids = ids.iter().map(|id| stores.archive.find_changeset(id)).collect::<Result<Vec<_>, _>>()?;
            let plan = match ids.as_slice() {
                [id] => of_changeset(RestoreTarget::Changesets(vec![*id]), Some(*id), "one changeset", stores),
                many => {
                    let title = format!("undo of {}", plural(many.len(), "change"));
                    undo(RestoreTarget::Changesets(ids), title)
                }
            };
            Ok(RestorePlan { waiting: waiting.clone(), by_hunk: true, ..plan })
        }
        RestoreScope::Since(id) => {
            let id = stores.archive.find_changeset(id)?;
            let since = title_of(id, stores).unwrap_or_else(|| "then".into());
            Ok(undo(RestoreTarget::Since(id), format!("undo of everything since {since}")))
        }
        RestoreScope::SinceMessage { session, message, called } => {
            let ids = ids(&stores.memory.changesets_since(session, *message)?);
            match ids.is_empty() {
                true => Err(PlanError::NothingSince(called.clone())),
                false => Ok(undo(RestoreTarget::Changesets(ids), format!("undo of everything since {called}"))),
            }
        }
        RestoreScope::Session { session } => {
            let ids = ids(&stores.memory.changesets_of_session(session)?);
            Ok(undo(RestoreTarget::Changesets(ids), "undo of the session".into()))
        }
        RestoreScope::Version { path, version } => {
            let version = stores.archive.find_version(Some(path), version)?.id;
            Ok(undo(RestoreTarget::Version { path: path.clone(), version }, format!("undo of {path}")))
        }
        RestoreScope::Turn { session, turn } => of_turn(session, *turn, "the last turn", stores),
        RestoreScope::LastTurn { session } => {
            let record = last_turn(session.as_deref(), stores)?;
            let Some((session, turn)) = record.cause.session.as_deref().zip(record.cause.turn) else {
                return Err(PlanError::NoTurn("here"));
            };
            // A call of a store's tool is the title of its own change.
            let prompt = stores.memory.typed(turn)?.map(|(text, _)| first_words(&text, TITLE));
            let title = prompt.filter(|words| !words.is_empty()).unwrap_or_else(|| record.cause.title.clone());
            of_turn(session, turn, &format!("the turn {title}"), stores)
        }
    }
}

impl RestorePlan {
    /// Creates a plan of a kind.
    pub fn new(request: RestoreTarget, kind: &'static str, title: String) -> Self {
        RestorePlan { request, kind, title, waiting: BTreeSet::new(), by_hunk: false }
    }

    /// Returns what the plan comes to with the files as they are, by what was chosen for those changed by someone else.
    ///
    /// # Errors
    /// When it asks for more than the archive holds, or the archive cannot be read.
    pub fn look(&self, choices: &Choices, id: ProposalId, stores: Stores<'_>) -> Result<Restoration, RestoreError> {
        let project = stores.project();
        let written = WrittenStates::new(stores, &project);
        let choices = Choices { waiting: self.waiting.clone(), by_hunk: self.by_hunk, ..choices.clone() };
        stores.archive.restore(stores.workspace, &self.request, &written, &choices, id, &self.title)
    }

    /// Returns the paths that are as they were at the moment that is gone back to: nothing else is left of what came after it.
    pub fn already_there<'p>(&self, previews: &'p [RestorePreview]) -> impl Iterator<Item = &'p str> + use<'p> {
        let is_exact = matches!(self.request, RestoreTarget::Since(_));
        let there = previews.iter().filter(move |preview| is_exact && preview.status == RestoreStatus::Equal);
        there.map(|preview| preview.path.as_str())
    }

    /// Returns what of a restore is taken back in a Strand store, in whose name, and adds the previews of its definitions.
    ///
    /// # Errors
    /// When the store refuses it; in its words.
    pub fn revert(
        &self,
        restoration: &mut Restoration,
        by: Restorer,
        stores: Stores<'_>,
    ) -> Result<Option<StoreRevert>, RestoreError> {
        let refused = match restoration.proposal.files.is_empty() {
            true => RestoreError::Store,
            false => RestoreError::StoreWithFiles,
        };
        let revert = plan_revert(&restoration.ops, by, stores).map_err(refused)?;
        restoration.previews.extend(revert.iter().flat_map(StoreRevert::previews));
        Ok(revert)
    }
}

fn undo(request: RestoreTarget, title: String) -> RestorePlan {
    RestorePlan::new(request, "undo", title)
}

/// Returns the undo of a changeset; that of an undo is a redo, and that of a redo the undo again. `unknown` stands for a
/// cause that memory does not have.
fn of_changeset(request: RestoreTarget, id: Option<Id>, unknown: &str, stores: Stores<'_>) -> RestorePlan {
    let cause = id.and_then(|id| cause_of(id, stores)).unwrap_or_default();
    let restored = |kind: &str| {
        let title = Some(&cause.title).filter(|_| cause.kind == kind)?;
        title.strip_prefix(kind)?.strip_prefix(" of ")
    };
    if let Some(undone) = restored("undo") {
        return RestorePlan::new(request, "redo", format!("redo of {undone}"));
    }
    let title = restored("redo").or(Some(cause.title.as_str()).filter(|title| !title.is_empty()));
    undo(request, format!("undo of {}", title.unwrap_or(unknown)))
}

fn redo(stores: Stores<'_>) -> Result<RestorePlan, PlanError> {
    let Some(newest) = newest(stores)? else {
        return Err(if stores.archive.list()?.is_empty() { PlanError::Empty } else { PlanError::NoUndo });
    };
    let record = stores.memory.changeset(&stores.project(), &newest.to_string())?.ok_or(PlanError::UnknownCause)?;
    match record.cause.kind.as_str() {
        "undo" => {}
        "redo" => return Err(PlanError::Redone),
        _ => return Err(PlanError::NoUndo),
    }
    let title = &record.cause.title;
    let title = format!("redo of {}", title.strip_prefix("undo of ").unwrap_or(title));
    Ok(RestorePlan::new(RestoreTarget::Undo { count: 1, files: Vec::new() }, "redo", title))
}

fn of_turn(session: &str, turn: i64, called: &str, stores: Stores<'_>) -> Result<RestorePlan, PlanError> {
    let ids = ids(&stores.memory.changesets_of_turn(session, turn)?);
    match ids.is_empty() {
        true => Err(PlanError::NothingInTurn),
        false => Ok(undo(RestoreTarget::Changesets(ids), format!("undo of {called}"))),
    }
}

/// Returns the newest changeset that a turn made.
fn last_turn(session: Option<&str>, stores: Stores<'_>) -> Result<ChangesetRecord, PlanError> {
    let wanted = |c: &ChangesetRecord| {
        let of = c.cause.session.as_deref();
        let mine = of.is_some() && (session.is_none() || of == session);
        mine && c.cause.turn.is_some() && c.state == ChangesetState::Applied
    };
    let found = stores.memory.changesets(&stores.project())?.into_iter().find(wanted);
    found.ok_or(PlanError::NoTurn(if session.is_some() { "in that session" } else { "here" }))
}

/// Returns the newest changeset that changed something.
///
/// # Errors
/// When the archive cannot be read.
pub fn newest(stores: Stores<'_>) -> Result<Option<Id>, archive::Error> {
    let project = stores.project();
    stores.archive.newest_written(stores.workspace, &WrittenStates::new(stores, &project))
}

/// Returns the cause of a changeset. A memory that cannot be read knows none, which is reported; that stops no undo.
fn cause_of(id: Id, stores: Stores<'_>) -> Option<ChangesetCause> {
    let record = stores.memory.changeset(&stores.project(), &id.to_string());
    stores.memory.or_report(record).map(|record| record.cause)
}

fn title_of(id: Id, stores: Stores<'_>) -> Option<String> {
    cause_of(id, stores).map(|cause| cause.title).filter(|title| !title.is_empty())
}

fn ids(records: &[ChangesetRecord]) -> Vec<Id> {
    records.iter().filter_map(|r| Id::parse(r.id.as_deref()?)).collect()
}

/// Returns those of some changesets whose work at a path someone else took out and brought back since, see [`Archive::came_back`].
///
/// [`Archive::came_back`]: crate::archive::Archive::came_back
pub fn came_back(path: &str, changesets: &[Id], stores: Stores<'_>) -> Vec<(Id, Option<Id>)> {
    let project = stores.project();
    let written = WrittenStates::new(stores, &project);
    stores.archive.came_back((stores.workspace, path), changesets, &written)
}

/// Returns whether the change of a changeset stands in a file, see [`Archive::stands`].
///
/// [`Archive::stands`]: crate::archive::Archive::stands
pub fn stands(path: &str, changeset: Id, stores: Stores<'_>) -> bool {
    let project = stores.project();
    let written = WrittenStates::new(stores, &project);
    stores.archive.stands((stores.workspace, path), changeset, &written)
}

/// Returns a change of a restore that says whether someone else changed its file.
pub fn marking_foreign(change: FileChange, stores: Stores<'_>) -> FileChange {
    let project = stores.project();
    let written = WrittenStates::new(stores, &project);
    let foreign = !stores.archive.is_ours(&change.path, &change.before, written.written(&change.path).as_ref());
    FileChange { foreign, ..change }
}

/// Memory's record of nebula's own writing in one project.
struct WrittenStates<'a> {
    memory: &'a memory::Memory,
    workspace: &'a Workspace,
    /// The workspace's root, as memory names projects.
    project: &'a str,
    /// The path that was asked about last, with what changesets left there by the versions that they made old.
    left: RefCell<Option<(String, HashMap<String, Option<Option<Sha>>>)>>,
}

impl<'a> WrittenStates<'a> {
    fn new(stores: Stores<'a>, project: &'a str) -> Self {
        let Stores { workspace, memory, .. } = stores;
        WrittenStates { memory, workspace, project, left: RefCell::new(None) }
    }

    /// Returns a file as it is where the last that is known of it is that another program was about to change it, which never
    /// reports what it wrote: that is what it wrote.
    fn unreported(&self, path: &str) -> Option<State> {
        self.memory.or_report(self.memory.unreported(self.project, path).map(|is_so| is_so.then_some(())))?;
        Some(self.workspace.read_to_restore(path).ok()?.state)
    }
}

impl LastWrittenLookup for WrittenStates<'_> {
    fn written(&self, path: &str) -> Option<LastWritten> {
        // Where memory cannot be read, every change counts as someone else's.
        let last = self.memory.or_report(self.memory.written(self.project, path));
        let unreported = self.unreported(path);
        if last.is_none() && unreported.is_none() {
            return None;
        }
        let mut states: Vec<Option<Sha>> = unreported.iter().map(state_sha).collect();
        let mut next = last.as_ref();
        while let Some(written) = next {
            states.push(written.sha256);
            next = written.before.as_deref();
        }
        // What was saved in the archive as it is since, to come back to it, is known as well.
        states.extend(self.memory.or_report(self.memory.saved(self.project, path)));
        let folders = self.memory.or_report(self.memory.folders_made(self.project, path));
        let bytes = match unreported {
            Some(state) => state.text().is_some().then(|| state.bytes().cloned()).flatten(),
            None => last.and_then(|last| last.bytes).map(Into::into),
        };
        Some(LastWritten { states, bytes, folders })
    }

    fn archived(&self, path: &str, version: Id) -> Option<Sha> {
        let archived = self.memory.version_hash(self.project, path, &version.to_string());
        self.memory.or_report(archived)
    }

    fn left(&self, path: &str, version: Id) -> Option<Option<Sha>> {
        let mut left = self.left.borrow_mut();
        if left.as_ref().is_none_or(|(of, _)| of != path) {
            let states = self.memory.or_report(self.memory.left_states(self.project, path));
            *left = Some((path.into(), states.into_iter().map(|(of, state)| (of, state.sha256)).collect()));
        }
        let (_, states) = left.as_ref()?;
        states.get(&version.to_string()).copied().flatten()
    }

    fn left_instead(&self, path: &str, version: Id, met: &State) -> Option<Option<Arc<[u8]>>> {
        let left = self.left(path, version)?;
        if left == state_sha(met) {
            return None;
        }
        let bytes = left.and_then(|sha| self.memory.or_report(self.memory.bytes_left(self.project, path, &sha)));
        Some(bytes.map(Into::into))
    }

    fn knows_version(&self, path: &str, version: Id, state: &State) -> bool {
        let known = self.memory.knows_version(self.project, path, &version.to_string(), state_sha(state));
        self.memory.or_report(known)
    }

    fn knows_changeset(&self, changeset: Id) -> bool {
        self.memory.or_report(self.memory.changeset(self.project, &changeset.to_string())).is_some()
    }

    fn folder_made_by(&self, folder: &str) -> Option<Id> {
        let made = self.memory.or_report(self.memory.folder_made_by(self.project, folder));
        made.as_deref().and_then(Id::parse)
    }

    fn failed(&self, changeset: Id) -> bool {
        let record = self.memory.changeset(self.project, &changeset.to_string());
        self.memory.or_report(record).is_some_and(|r| r.state == ChangesetState::Failed)
    }

    fn is_undo(&self, changeset: Id) -> bool {
        let record = self.memory.changeset(self.project, &changeset.to_string());
        self.memory.or_report(record).is_some_and(|r| r.cause.kind == "undo")
    }

    fn is_ahead(&self, changeset: Id) -> bool {
        self.memory.or_report(self.memory.is_ahead(self.project, &changeset.to_string()))
    }

    fn is_saved(&self, changeset: Id) -> bool {
        let record = self.memory.changeset(self.project, &changeset.to_string());
        self.memory.or_report(record).is_some_and(|r| ["shi", "mcp"].contains(&r.cause.kind.as_str()))
    }

    fn records_changes(&self, changeset: Id) -> bool {
        self.memory.or_report(self.memory.records_changes(self.project, &changeset.to_string()))
    }
}

#[cfg(test)]
mod tests;

//! Changes of a Strand store, in the steps of every change: intent to memory, the ops named by a changeset, the ops in the
//! store's own log, the outcome to memory.
//!
//! The ops are named under the store's lock, just before they are durable. A process that is killed before that has
//! changed nothing; one that is killed after it leaves a changeset whose ops the store has or has not, which
//! [`is_issued`] tells. What an undo issues is a changeset of the same kind.

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;

use tokio_util::sync::CancellationToken;

use super::{Applied, ApplyError, Executed, Restorer, Stores, execute};
use crate::archive::{Archive, Id, StoreOps};
use crate::memory::{self, ChangesetCause};
use crate::proposal::{
    Consent, Counts, Decided, RestoreFate, RestorePreview, RestoreStatus, State, count_changed, marked,
};
use crate::strand::cli::{Opening, ToolAnswer, ToolCall, TouchedDefinition};
use crate::text::sentence::in_one_line;
use crate::workspace::Access;

/// The client that reverts of an agent are issued as, like the calls of the model.
const CLIENT: &str = "nebula";

/// A call that was made, and agreed to.
#[derive(Debug)]
pub struct Issued {
    /// The answer of the store.
    pub answer: ToolAnswer,
    /// The notices of the store.
    pub notices: Vec<String>,
    /// The changeset that names the ops; none: it issued none.
    pub changeset: Option<Id>,
    /// The errors of memory.
    pub unrecorded: Vec<memory::Error>,
}

/// The ops that a call issued so far, as their changeset names them.
struct Naming {
    archive: Archive,
    ops: StoreOps,
    consent: Consent,
    changeset: Option<Id>,
}

impl Naming {
    fn add(&mut self, ids: &[String]) -> Result<(), String> {
        self.ops.ops.extend_from_slice(ids);
        let named = self.archive.name_ops(self.ops.clone(), self.changeset, self.consent);
        self.changeset = Some(named.map_err(|error| error.to_string())?);
        Ok(())
    }
}

/// Makes a call that was tried before and touches what it touched then.
///
/// # Errors
/// When the store cannot be opened: nothing was changed.
pub fn issue(
    opening: Opening,
    (call, touched): (&ToolCall, &[TouchedDefinition]),
    (cause, consent): (ChangesetCause, Consent),
    stores: Stores<'_>,
    stop: &CancellationToken,
) -> Result<Issued, String> {
    let store = stores.named(&opening);
    let mut tools = opening.open().map_err(|(why, _)| why)?;
    let title = titled(call.name, touched);
    let cause = ChangesetCause { kind: "strand".into(), title, approved: Some(consent.to_string()), ..cause };
    let mut unrecorded = Vec::new();
    let pending = stores.memory.write_intent(&stores.project(), &cause, &[]);
    let pending = pending.map_err(|error| unrecorded.push(error)).ok();
    let ops = StoreOps { store, definitions: names(touched), ops: Vec::new() };
    let naming = Naming { archive: stores.archive.clone(), ops, consent, changeset: None };
    let naming = Rc::new(RefCell::new(naming));
    let hears = Rc::clone(&naming);
    let answer = tools.issue(call, touched, Box::new(move |ids| hears.borrow_mut().add(ids)), stop);
    let naming = naming.borrow();
    let is_issued = tools.count_known(&naming.ops.ops).is_ok_and(|known| known > 0);
    if let Some(pending) = pending {
        let recorded = match naming.changeset.map(|id| id.to_string()) {
            Some(id) if is_issued => stores.memory.applied(pending, &id, &[]),
            Some(id) => stores.memory.failed(pending, Some(&id), &[]),
            None => stores.memory.withdrawn(pending),
        };
        unrecorded.extend(recorded.err());
    }
    let notices = tools.take_notices();
    tools.close();
    Ok(Issued { answer, notices, changeset: naming.changeset.filter(|_| is_issued), unrecorded })
}

/// Ops that a restore takes back in their store, as they were tried.
#[derive(Debug, Clone)]
pub struct StoreRevert {
    /// The folder of the store, from the workspace's root.
    store: String,
    /// The ops, newest first.
    ops: Vec<String>,
    /// The client that reverts them; none: the person does.
    client: Option<&'static str>,
    /// The definitions that their reverts touch.
    touched: Vec<TouchedDefinition>,
}

impl StoreRevert {
    /// Returns the names of the definitions that it changes.
    pub fn definitions(&self) -> Vec<String> {
        names(&self.touched)
    }

    /// Returns the folder of the store, from the workspace's root.
    pub fn store(&self) -> &str {
        &self.store
    }

    /// Returns what it does to each definition as marked lines.
    pub fn marked(&self) -> String {
        TouchedDefinition::marked(&self.touched, marked)
    }

    /// Returns a preview of each definition, under the name of its store.
    pub fn previews(&self) -> Vec<RestorePreview> {
        let preview = |touched: &TouchedDefinition| {
            let ((before, after), counts) = (touched.texts(), counts(touched));
            let fate = match (before.is_empty(), after.is_empty()) {
                (true, _) => RestoreFate::Made,
                (_, true) => RestoreFate::Deleted,
                _ => RestoreFate::Content,
            };
            let path = format!("{}: {}", self.store, touched.name());
            RestorePreview { path, status: RestoreStatus::Restore(fate, counts) }
        };
        self.touched.iter().map(preview).collect()
    }
}

/// Returns what it comes to to take ops back, those of the newest changeset first; `None`: they are taken back already,
/// or were never issued.
///
/// # Errors
/// Why they cannot be taken back, in the words of the store.
pub fn plan_revert(ops: &[StoreOps], by: Restorer, stores: Stores<'_>) -> Result<Option<StoreRevert>, String> {
    let Some(first) = ops.first() else { return Ok(None) };
    if let Some(other) = ops.iter().find(|other| other.store != first.store) {
        let (one, other) = (&first.store, &other.store);
        return Err(format!("these changes are of two Strand stores, {one} and {other}: undo them one by one"));
    }
    let store = first.store.clone();
    let ops: Vec<String> = ops.iter().flat_map(|changeset| changeset.ops.iter().rev().cloned()).collect();
    let said = |why: String| format!("the Strand store {store}: {}", in_one_line(&why));
    let tools = open(&store, stores).map_err(said)?;
    let client = (by == Restorer::Agent).then_some(CLIENT);
    let tried = tools.rehearse_revert(&ops, client).map_err(said)?;
    Ok((!tried.ops.is_empty()).then_some(StoreRevert { store, ops, client, touched: tried.touched }))
}

/// Takes ops back in their store as one transaction, and with them restores files: all of it, or nothing.
pub fn revert(
    revert: &StoreRevert,
    decided: Option<&Decided>,
    (cause, consent): (ChangesetCause, Consent),
    stores: Stores<'_>,
) -> Executed {
    let cause = ChangesetCause { approved: Some(consent.to_string()), ..cause };
    let mut unrecorded = Vec::new();
    let pending = match decided {
        // The files tell memory.
        Some(_) => None,
        None => {
            let intended = stores.memory.write_intent(&stores.project(), &cause, &[]);
            intended.map_err(|error| unrecorded.push(error)).ok()
        }
    };
    let (mut files, mut changeset) = (None, None);
    let first = |ids: &[String]| {
        if let Some(decided) = decided {
            let executed: &Executed = files.insert(execute(decided, cause.clone(), stores));
            match &executed.applied {
                Ok(applied) => changeset = applied.changeset,
                Err(why) => return Err(why.to_string()),
            }
        }
        let ops = StoreOps { store: revert.store.clone(), definitions: revert.definitions(), ops: ids.to_vec() };
        let named = stores.archive.name_ops(ops, changeset, consent);
        changeset = Some(named.map_err(|error| error.to_string())?);
        Ok(())
    };
    let issued = open(&revert.store, stores).and_then(|mut tools| {
        let issued = tools.issue_reverts(&revert.ops, &revert.touched, revert.client, first);
        tools.close();
        issued
    });
    if let Some(pending) = pending {
        let recorded = match (&issued, changeset.map(|id| id.to_string())) {
            (Ok(_), Some(id)) => stores.memory.applied(pending, &id, &[]),
            (Err(_), Some(id)) => stores.memory.failed(pending, Some(&id), &[]),
            (_, None) => stores.memory.withdrawn(pending),
        };
        unrecorded.extend(recorded.err());
    }
    joined(revert, issued.map(|_| ()), files, changeset, unrecorded)
}

/// Returns how a revert ended, with the files that were restored with it.
fn joined(
    revert: &StoreRevert,
    issued: Result<(), String>,
    files: Option<Executed>,
    changeset: Option<Id>,
    mut unrecorded: Vec<memory::Error>,
) -> Executed {
    let said = |why: String, rest: &str| {
        Err(ApplyError::Store(format!("the Strand store {}: {}{rest}", revert.store, in_one_line(&why))))
    };
    let Some(files) = files else {
        let applied = match issued {
            Ok(()) => Ok(Applied { changeset, ..Applied::default() }),
            Err(why) => said(why, ""),
        };
        return Executed { applied, unrecorded };
    };
    unrecorded.extend(files.unrecorded);
    let applied = match (files.applied, issued) {
        (Ok(applied), Ok(())) => Ok(Applied { changeset, ..applied }),
        (Ok(_), Err(why)) => said(why, "; the files were restored, and `nebula redo` brings them forward again"),
        (Err(error), _) => Err(error),
    };
    Executed { applied, unrecorded }
}

/// Returns whether the stores have any of the ops that a changeset names; none where a store of it cannot be read.
pub fn is_issued(changeset: Id, stores: Stores<'_>) -> Option<bool> {
    let mut found = false;
    for ops in stores.archive.store_ops(changeset).ok()? {
        found |= open(&ops.store, stores).ok()?.count_known(&ops.ops).ok()? > 0;
    }
    Some(found)
}

/// Returns how many lines a change of definitions adds and removes.
pub fn counts_of(touched: &[TouchedDefinition]) -> Counts {
    let sum = |a: Counts, b: Counts| Counts { added: a.added + b.added, removed: a.removed + b.removed };
    touched.iter().map(counts).fold(Counts::default(), sum)
}

fn counts(touched: &TouchedDefinition) -> Counts {
    let (before, after) = touched.texts();
    count_changed(&State::file(before.as_bytes()), &State::file(after.as_bytes()))
}

fn open(store: &str, stores: Stores<'_>) -> Result<crate::strand::cli::Tools, String> {
    let root = folder_of(store, stores)?;
    let opening = Opening::find(Some(root.clone()), &root).map_err(|error| error.to_string())?;
    let opening = opening.ok_or_else(|| format!("there is no store in {}", root.display()))?;
    opening.open().map_err(|(why, _)| why)
}

/// Returns the folder of a store that a changeset names. Its text may come with a clone: it leads to a folder of the
/// workspace, without a link on the way, or to the very store that ops are issued to from here.
fn folder_of(store: &str, stores: Stores<'_>) -> Result<PathBuf, String> {
    let root = stores.workspace.root();
    let found = || {
        let found = Opening::find(None, root).ok().flatten()?;
        (stores.named(&found) == store).then(|| found.root().to_path_buf())
    };
    match stores.workspace.resolve(store, Access::Folder) {
        Ok(real) if real == store || real.is_empty() && store == "." => Ok(root.join(store)),
        _ => found().ok_or_else(|| "it is no folder of this workspace, so it is left alone".into()),
    }
}

/// Returns the names of definitions, each once.
fn names(touched: &[TouchedDefinition]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in touched.iter().map(TouchedDefinition::name) {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_string());
        }
    }
    names
}

/// The most definitions that a call is named by.
const MOST_NAMED: usize = 3;

/// Returns the definitions that a call touches, for its line on the screen: the first of them, and how many more.
pub fn named(touched: &[TouchedDefinition]) -> String {
    let names = names(touched);
    let more = names.len().saturating_sub(MOST_NAMED);
    let more = (more > 0).then(|| format!("+{more}"));
    names.into_iter().take(MOST_NAMED).chain(more).collect::<Vec<_>>().join(", ")
}

/// Returns the title of a call's changeset: the tool, the first definition, and how many more there are.
fn titled(tool: &str, touched: &[TouchedDefinition]) -> String {
    match names(touched).as_slice() {
        [] => tool.to_string(),
        [one] => format!("{tool} {one}"),
        [first, more @ ..] => format!("{tool} {first} and {} more", more.len()),
    }
}

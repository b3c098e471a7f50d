//! Joins the changesets in the archive with their intents in memory, where a killed process could not record
//! the outcome, so that the history names causes and `redo` knows an undo.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::agent::services::StoreError;
use crate::archive::{self, Id};
use crate::execute::store::is_issued;
use crate::execute::{CutOffChange, Stores, take_back};
use crate::memory::ChangesetRecord;
use crate::messages::{agent as say, count};
use crate::past::files_of;
use crate::text::clean::clean_line;

/// The intents that were joined with their changesets, and those that were not.
#[derive(Debug, Default)]
pub struct Reconciled {
    /// The count of those that were joined.
    pub count: usize,
    /// Lines to tell the person: of changes that were cut off before all of their files were written.
    pub lines: Vec<String>,
    /// The errors of changesets that cannot be read: their intents stay as they are.
    pub unread: Vec<archive::Error>,
}

/// Records in memory the changesets of intents without an outcome. Intents without a changeset stay as they are: either
/// nothing was written, or their process is still writing.
///
/// A change of which only a part was written is taken back, so that it counts as failed and `undo` passes over it, unless a
/// later one has changed the same files.
///
/// # Errors
/// When memory cannot be read or written, or the archive cannot be listed.
pub fn reconcile(stores: Stores<'_>) -> Result<Reconciled, StoreError> {
    let Stores { archive, memory, .. } = stores;
    let project = stores.project();
    if memory.pending(&project)?.is_empty() {
        return Ok(Reconciled::default());
    }
    let mut unknown: Vec<Id> = archive.list()?;
    // Whoever writes holds the lock: under it, an intent that has no outcome yet is that of a dead process, or all its
    // files are written.
    let mut lock = match archive.lock() {
        Ok(lock) => lock,
        Err(error) => return Ok(Reconciled { unread: vec![error], ..Reconciled::default() }),
    };
    let pending = memory.pending(&project)?;
    let known: HashSet<String> = memory.changesets(&project)?.into_iter().filter_map(|c| c.id).collect();
    unknown.retain(|id| !known.contains(&id.to_string()));
    unknown.sort_unstable();
    let mut reconciled = Reconciled::default();
    for record in pending {
        let found = unknown.iter().position(|id| fits(stores, &record, *id));
        if let Some(at) = found {
            let id = unknown.remove(at);
            match files_of(id, None, &mut HashMap::new(), archive) {
                Ok(files) => {
                    // A store that cannot be read now tells at a later start.
                    let Some(issued) = is_issued(id, stores) else { continue };
                    let title = clean_line(&record.cause.title);
                    let outcome = match issued {
                        true => Ok(CutOffChange::Written),
                        false => take_back(&mut lock, id, record.pending, stores),
                    };
                    let name = id.to_string();
                    match outcome {
                        Ok(CutOffChange::Written) => memory.applied(record.pending, &name, &files)?,
                        Ok(CutOffChange::TakenBack(written)) => {
                            memory.failed(record.pending, Some(&name), &files)?;
                            reconciled.lines.push(cut_off_words(&title, written, files.len()));
                        }
                        Err(error) => {
                            // It is tried again the next time.
                            reconciled.lines.push(say::cut_off_stays(&title, &error));
                            continue;
                        }
                    }
                    reconciled.count += 1;
                }
                Err(error) => reconciled.unread.push(error),
            }
        }
    }
    drop(lock);
    Ok(reconciled)
}

/// Returns what is said of a change that was cut off and is taken back.
fn cut_off_words(title: &str, written: usize, all: usize) -> String {
    match written {
        0 => say::cut_off_unwritten(&title),
        some => say::cut_off_partly(&title, &some, &count::files(all)),
    }
}

/// Returns whether a changeset can be the one of an intent: made after it, of its files and no others.
fn fits(stores: Stores<'_>, record: &ChangesetRecord, id: Id) -> bool {
    if id.at() < record.at {
        return false;
    }
    let intended: BTreeSet<&str> = record.files.iter().map(|f| f.path.as_str()).collect();
    stores.archive.paths(id).is_ok_and(|paths| {
        let archived = intended.iter().filter(|p| stores.archive.excluded_by(p).is_none()).count();
        let (own, others): (Vec<&str>, Vec<&str>) =
            paths.iter().map(String::as_str).partition(|path| intended.contains(path));
        // Folders that a restore opens for a moment are archived beside what it restores.
        own.len() == archived && others.iter().all(|path| archived > 0 && path.ends_with('/'))
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::execute::testing::World;
    use crate::memory::{ChangesetCause, ChangesetState, WriteIntent};

    /// Does what a write does before it writes: the intent, and the changeset. Returns the changeset's id.
    fn cut_off(w: &World, paths: &[&str]) -> String {
        let cause = ChangesetCause { kind: "undo".into(), title: "undo of x".into(), ..ChangesetCause::default() };
        w.memory.write_intent(&w.stores().project(), &cause, &intended(paths)).expect("recorded");
        let states: Vec<_> = paths.iter().map(|path| w.workspace.read(path).expect("read").state).collect();
        let before: Vec<_> = paths.iter().copied().zip(&states).map(Into::into).collect();
        let recorded = w.archive.record(&mut w.archive.lock().expect("locked"), &before, None).expect("recorded");
        recorded.changeset.expect("archived").to_string()
    }

    fn intended(paths: &[&str]) -> Vec<WriteIntent> {
        let intent = |path: &&str| WriteIntent {
            path: (*path).into(),
            sha256: None,
            replaces: None,
            bytes: None,
            added: None,
            removed: None,
        };
        paths.iter().map(intent).collect()
    }

    fn state(w: &World, id: &str) -> ChangesetState {
        w.memory.changeset(&w.stores().project(), id).expect("read").expect("known").state
    }

    #[test]
    fn a_changeset_whose_process_died_gets_its_cause() {
        let w = World::with("old");
        let project = w.stores().project();
        w.memory.write_intent(&project, &ChangesetCause::default(), &intended(&["never"])).expect("recorded");
        let id = cut_off(&w, &["a"]);
        fs::write(w.workspace.root().join("a"), "new").expect("written");
        let versions = w.archive.versions("a").expect("listed");
        let folder = versions[0].file.parent().expect("its folder");
        fs::rename(folder, w.archive.folder().join("aside")).expect("moved");
        fs::write(folder, "in its place").expect("written");
        let reconciled = reconcile(w.stores()).expect("the rest goes on");
        assert_eq!((reconciled.count, reconciled.unread.len()), (0, 1), "{reconciled:?}");
        fs::remove_file(folder).expect("removed");
        fs::rename(w.archive.folder().join("aside"), folder).expect("moved back");
        let reconciled = reconcile(w.stores()).expect("reconciled");
        assert_eq!((reconciled.count, reconciled.lines.len()), (1, 0), "{reconciled:?}");
        let record = w.memory.changeset(&project, &id).expect("read").expect("known");
        assert_eq!((record.cause.kind.as_str(), record.state), ("undo", ChangesetState::Applied));
        assert_eq!(record.files[0].version, Some(versions[0].id.to_string()));
        assert_eq!(reconcile(w.stores()).expect("nothing left").count, 0);
        fs::remove_dir_all(w.archive.folder()).expect("removed");
        fs::write(w.archive.folder(), "in its place").expect("written");
        let unread = reconcile(w.stores());
        assert!(matches!(unread, Err(StoreError::Archive(_))), "an archive that cannot be read is no empty one");
    }

    #[test]
    fn a_change_that_was_cut_off_before_it_wrote_is_passed_over() {
        let w = World::with("old");
        fs::write(w.workspace.root().join("b"), "old").expect("written");
        let id = cut_off(&w, &["a", "b", "new"]);
        let reconciled = reconcile(w.stores()).expect("reconciled");
        assert_eq!(state(&w, &id), ChangesetState::Failed);
        assert_eq!(reconciled.lines, ["undo of x: cut off before any file was written"]);
        let id = cut_off(&w, &["a", "b", "new"]);
        fs::remove_file(w.workspace.root().join("b")).expect("removed");
        let reconciled = reconcile(w.stores()).expect("reconciled");
        assert_eq!(state(&w, &id), ChangesetState::Failed);
        assert_eq!(reconciled.lines, ["undo of x: cut off when 1 of 3 files were written; these are taken back"]);
        assert_eq!(fs::read(w.workspace.root().join("b")).expect("back"), b"old");
    }

    /// A call that was killed once its ops were named: before they were in the store's log, or after.
    #[cfg(feature = "strand")]
    #[test]
    fn ops_that_were_named_are_a_change_once_the_store_has_them() {
        use serde_json::json;
        use tokio_util::sync::CancellationToken;

        use crate::archive::StoreOps;
        use crate::proposal::Consent;
        use crate::strand::cli::{Opening, ToolAnswer, ToolCall};
        use crate::strand::store::Store;

        let w = World::with("old");
        let root = w.workspace.root().join("s.strand-store");
        Store::init(&root).expect("made");
        let arguments =
            json!({"layer": "slot", "name": "n", "body": "Int = 1"}).as_object().cloned().expect("an object");
        let call = ToolCall { name: "strand_add", arguments, client: "nebula" };
        let mut tools =
            Opening::find(Some(root), w.workspace.root()).expect("found").expect("one").open().expect("opened");
        let answer = tools.issue(&call, &[], Box::new(|_| Ok(())), &CancellationToken::new());
        let ToolAnswer::Done(answer) = answer else { panic!("{answer:?}") };
        let issued = answer["op-id"].as_str().expect("an op").to_string();
        for (op, state_then) in
            [("op_01ARZ3NDEKTSV4RRFFQ69G5FAV", ChangesetState::Failed), (issued.as_str(), ChangesetState::Applied)]
        {
            let cause = ChangesetCause { kind: "strand".into(), title: "strand_add".into(), ..Default::default() };
            w.memory.write_intent(&w.stores().project(), &cause, &[]).expect("recorded");
            let (store, definitions) = ("s.strand-store".into(), vec!["slot.n".into()]);
            let ops = StoreOps { store, definitions, ops: vec![op.into()] };
            let id = w.archive.name_ops(ops, None, Consent::Person).expect("named").to_string();
            assert_eq!(reconcile(w.stores()).expect("reconciled").count, 1);
            assert_eq!(state(&w, &id), state_then, "{op}");
        }
    }
}

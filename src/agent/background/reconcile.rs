//! Joins the changesets in the archive with their intents in memory, where a killed process could not record
//! the outcome, so that the history names causes and `redo` knows an undo.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::agent::services::StoreError;
use crate::archive::{self, Archive, Id};
use crate::memory::{ChangesetRecord, Memory};
use crate::past::files_of;

/// The intents that were joined with their changesets, and those that were not.
#[derive(Debug, Default)]
pub struct Reconciled {
    /// The count of those that were joined.
    pub count: usize,
    /// The errors of changesets that cannot be read: their intents stay as they are.
    pub unread: Vec<archive::Error>,
}

/// Records in memory the changesets of intents without an outcome. Intents without a changeset stay as they are: either
/// nothing was written, or their process is still writing.
///
/// # Errors
/// When memory cannot be read or written, or the archive cannot be listed.
pub fn reconcile(memory: &Memory, project: &str, archive: &Archive) -> Result<Reconciled, StoreError> {
    let pending = memory.pending(project)?;
    if pending.is_empty() {
        return Ok(Reconciled::default());
    }
    let known: HashSet<String> = memory.changesets(project)?.into_iter().filter_map(|c| c.id).collect();
    let mut unknown: Vec<Id> = archive.list()?;
    unknown.retain(|id| !known.contains(&id.to_string()));
    unknown.sort_unstable();
    let mut reconciled = Reconciled::default();
    for record in pending {
        let found = unknown.iter().position(|id| fits(archive, &record, *id));
        if let Some(at) = found {
            let id = unknown.remove(at);
            match files_of(id, None, &mut HashMap::new(), archive) {
                Ok(files) => {
                    memory.applied(record.pending, &id.to_string(), &files)?;
                    reconciled.count += 1;
                }
                Err(error) => reconciled.unread.push(error),
            }
        }
    }
    Ok(reconciled)
}

/// Returns whether a changeset can be the one of an intent: made after it, of its files and no others.
fn fits(archive: &Archive, record: &ChangesetRecord, id: Id) -> bool {
    if id.at() < record.at {
        return false;
    }
    let intended: BTreeSet<&str> = record.files.iter().map(|f| f.path.as_str()).collect();
    archive.paths(id).is_ok_and(|paths| {
        let archived = intended.iter().filter(|p| archive.excluded_by(p).is_none()).count();
        paths.len() == archived && paths.iter().all(|p| intended.contains(p.as_str()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::ArchiveSettings;
    use crate::memory::{ChangesetCause, ChangesetState, Options, WriteIntent};
    use crate::workspace::Workspace;

    #[test]
    fn a_changeset_whose_process_died_gets_its_cause() {
        let dir = tempfile::tempdir().expect("a folder");
        let workspace = Workspace::open(dir.path()).expect("open");
        let archive = Archive::open(&workspace, &ArchiveSettings::default()).expect("open");
        let (memory, _) = Memory::open(Options::in_folder(&dir.path().join("home")));
        let cause = ChangesetCause { kind: "undo".into(), title: "undo of x".into(), ..ChangesetCause::default() };
        let will = |path: &str| WriteIntent {
            path: path.into(),
            sha256: None,
            replaces: None,
            bytes: None,
            added: None,
            removed: None,
        };
        memory.write_intent("/p", &cause, &[will("a")]).expect("recorded");
        memory.write_intent("/p", &cause, &[will("never")]).expect("recorded");
        let state = workspace.read("a").expect("read").state;
        let recorded =
            archive.record(&mut archive.lock().expect("locked"), &[("a", &state).into()], None).expect("recorded");
        let versions = archive.versions("a").expect("listed");
        let folder = versions[0].file.parent().expect("its folder");
        std::fs::rename(folder, archive.folder().join("aside")).expect("moved");
        std::fs::write(folder, "in its place").expect("written");
        let reconciled = reconcile(&memory, "/p", &archive).expect("the rest goes on");
        assert_eq!((reconciled.count, reconciled.unread.len()), (0, 1), "{reconciled:?}");
        std::fs::remove_file(folder).expect("removed");
        std::fs::rename(archive.folder().join("aside"), folder).expect("moved back");
        assert_eq!(reconcile(&memory, "/p", &archive).expect("reconciled").count, 1);
        let id = recorded.changeset.expect("archived").to_string();
        let record = memory.changeset("/p", &id).expect("read").expect("known");
        assert_eq!((record.cause.kind.as_str(), record.state), ("undo", ChangesetState::Applied));
        assert_eq!(record.files[0].version, Some(recorded.files[0].version.to_string()));
        assert_eq!(reconcile(&memory, "/p", &archive).expect("nothing left").count, 0);
        std::fs::remove_dir_all(archive.folder()).expect("removed");
        std::fs::write(archive.folder(), "in its place").expect("written");
        let unread = reconcile(&memory, "/p", &archive);
        assert!(matches!(unread, Err(StoreError::Archive(_))), "an archive that cannot be read is no empty one");
    }
}

//! The contents of changesets, for lists: as memory knows them, else as the archive does.

use std::collections::{BTreeSet, HashMap};

use crate::archive::{self, Archive, Id, Version, version_before};
use crate::execute::Stores;
use crate::memory::{ChangesetRecord, StoredFile};
use crate::workspace::Workspace;

use super::PastError;

/// The most changesets that are read to find the one of a version.
const LOOKED_AT: usize = 1_000;

/// Returns what a changeset is called, if memory knows its cause.
pub fn cause(record: Option<&ChangesetRecord>) -> Option<&str> {
    let cause = &record?.cause;
    Some(if cause.title.is_empty() { cause.kind.as_str() } else { cause.title.as_str() }).filter(|c| !c.is_empty())
}

/// Returns the files of a changeset that memory does not know; with `counted`, the workspace, with the lines that changed
/// after it. `folders` holds the versions that were listed, for the next changeset.
///
/// # Errors
/// When the changeset or the versions of a file cannot be read.
pub fn files_of(
    id: Id,
    counted: Option<&Workspace>,
    folders: &mut HashMap<String, Vec<Version>>,
    archive: &Archive,
) -> Result<Vec<StoredFile>, archive::Error> {
    let mut files = Vec::new();
    for path in archive.paths(id)? {
        if !folders.contains_key(&path) {
            folders.insert(path.clone(), archive.versions(&path)?);
        }
        let version = version_before(&folders[&path], id);
        let counts = version.zip(counted).and_then(|(version, workspace)| archive.counts(workspace, &path, version));
        files.push(StoredFile {
            version: version.map(|v| v.id.to_string()),
            absent: version.is_some_and(|v| v.absent),
            sha256: None,
            added: counts.map(|c| c.added as u64),
            removed: counts.map(|c| c.removed as u64),
            path,
        });
    }
    Ok(files)
}

/// Returns which of the archive's changesets, given newest first, hold a file, newest first.
///
/// # Errors
/// When archive or memory cannot be read.
pub fn of_path(path: &str, all: &[Id], stores: Stores<'_>) -> Result<Vec<Id>, PastError> {
    let versions = stores.archive.versions(path)?;
    let records = stores.memory.or_report(stores.memory.changesets_of_path(&stores.project(), path));
    let mut known = BTreeSet::new();
    let mut found = BTreeSet::new();
    for record in &records {
        let Some(id) = record.id.as_deref().and_then(Id::parse) else { continue };
        if all.binary_search_by(|other| id.cmp(other)).is_ok() {
            found.insert(id);
            known.extend(record.files.iter().filter_map(|file| Id::parse(file.version.as_deref()?)));
        }
    }
    let mut read = HashMap::new();
    let names_it = |id: &Id| stores.archive.paths(*id).is_ok_and(|paths| paths.iter().any(|p| p == path));
    for version in versions.iter().filter(|version| !known.contains(&version.id)) {
        // The changeset of a version is the next one that names its file.
        let later = all.partition_point(|id| *id > version.id);
        let holds = |id: &&Id| *read.entry(**id).or_insert_with(|| names_it(id));
        found.extend(all[..later].iter().rev().take(LOOKED_AT).find(holds));
    }
    Ok(found.into_iter().rev().collect())
}

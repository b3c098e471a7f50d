//! Records a change in memory: the intent before anything is written, and the outcome after.

use std::collections::HashMap;

use super::{Applied, ApplyError};
use crate::archive::RecordedFile;
use crate::archive::restore::state_sha;
use crate::memory::{self, Memory, PendingId, StoredFile, WriteIntent};
use crate::proposal::{Decided, count_changed};

/// Returns what a decided proposal is about to write, for [`Memory::write_intent`].
pub fn intent(decided: &Decided) -> Vec<WriteIntent> {
    let will = decided.files().iter().map(|file| {
        let counts = count_changed(file.before(), file.after());
        WriteIntent {
            path: file.path().to_string(),
            sha256: state_sha(file.after()),
            replaces: state_sha(file.before()),
            bytes: file.after().text().map(|t| t.as_bytes().to_vec()),
            added: Some(counts.added as u64),
            removed: Some(counts.removed as u64),
        }
    });
    will.collect()
}

/// Tells memory how an intended write in a project ended.
///
/// # Errors
/// When memory cannot be written.
pub fn outcome(
    memory: &Memory,
    project: &str,
    pending: PendingId,
    intent: &[WriteIntent],
    applied: &Result<Applied, ApplyError>,
) -> Result<(), memory::Error> {
    let by_path: HashMap<&str, &WriteIntent> =
        intent.iter().map(|intended| (intended.path.as_str(), intended)).collect();
    let intended = |file: &RecordedFile| by_path.get(file.path.as_str()).copied();
    let files = |archived: &[RecordedFile]| archived.iter().map(|f| stored_file(f, intended(f))).collect::<Vec<_>>();
    if let Ok(Applied { changeset, made, removed, .. }) = applied {
        memory.folders_changed(project, changeset.map(|id| id.to_string()).as_deref(), made, removed)?;
    }
    match applied {
        Ok(Applied { changeset: Some(id), archived, .. }) => memory.applied(pending, &id.to_string(), &files(archived)),
        Ok(_) => memory.applied_unarchived(pending),
        // Where something could not be put back, it is still there to be undone.
        Err(ApplyError::Write { changeset: Some(id), archived, not_put_back, .. }) if !not_put_back.is_empty() => {
            memory.applied(pending, &id.to_string(), &files(archived))
        }
        Err(ApplyError::Write { changeset, archived, .. }) => {
            memory.failed(pending, changeset.map(|id| id.to_string()).as_deref(), &files(archived))
        }
        Err(ApplyError::Conflict { archived: Some(archived), .. }) => {
            memory.failed(pending, Some(&archived.0.to_string()), &files(&archived.1))
        }
        Err(_) => memory.withdrawn(pending),
    }
}

/// Returns an archived file as memory stores it, with what was intended with it.
pub(super) fn stored_file(file: &RecordedFile, intended: Option<&WriteIntent>) -> StoredFile {
    StoredFile {
        path: file.path.clone(),
        version: Some(file.version.to_string()),
        absent: file.absent,
        sha256: file.sha256,
        added: intended.and_then(|w| w.added),
        removed: intended.and_then(|w| w.removed),
    }
}

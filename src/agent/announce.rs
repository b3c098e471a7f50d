//! What memory learns of every write, whoever asks for it: what will be written before, and what came of it after.

use crate::apply::{Applied, ApplyError};
use crate::archive::restore::{LastWritten, Written, state_sha};
use crate::archive::{Id, RecordedFile};
use crate::memory::{self, ChangesetFile, ChangesetState, Memory, PendingId, WillWrite};
use crate::proposal::{Decided, count_changed};

/// What a decided proposal is about to write, for [`Memory::will_write`].
pub fn announcement(decided: &Decided) -> Vec<WillWrite> {
    let will = decided.files().iter().map(|file| {
        let counts = count_changed(file.before(), file.after());
        WillWrite {
            path: file.path().to_string(),
            sha256: state_sha(file.after()),
            bytes: file.after().text().map(|t| t.as_bytes().to_vec()),
            added: Some(counts.added as u64),
            removed: Some(counts.removed as u64),
        }
    });
    will.collect()
}

/// Tells memory how an announced write in a project ended.
///
/// # Errors
/// When memory cannot be written.
pub fn ended(
    memory: &Memory,
    project: &str,
    pending: PendingId,
    will: &[WillWrite],
    applied: &Result<Applied, ApplyError>,
) -> Result<(), memory::Error> {
    let files = |archived: &[RecordedFile]| archived.iter().map(|f| record(f, will)).collect::<Vec<_>>();
    if let Ok(Applied { made, removed, .. }) = applied {
        memory.folders_changed(project, made, removed)?;
    }
    match applied {
        Ok(Applied { changeset: Some(id), archived, .. }) => memory.applied(pending, &id.to_string(), &files(archived)),
        Ok(_) => memory.applied_unarchived(pending),
        // Where something could not be put back, it is still there to be taken back.
        Err(ApplyError::Write { changeset: Some(id), archived, not_put_back, .. }) if !not_put_back.is_empty() => {
            memory.applied(pending, &id.to_string(), &files(archived))
        }
        Err(ApplyError::Write { changeset, archived, .. }) => {
            memory.failed(pending, changeset.map(|id| id.to_string()).as_deref(), &files(archived))
        }
        Err(_) => memory.withdrawn(pending),
    }
}

fn record(file: &RecordedFile, will: &[WillWrite]) -> ChangesetFile {
    let will = will.iter().find(|w| w.path == file.path);
    ChangesetFile {
        path: file.path.clone(),
        version: Some(file.version.to_string()),
        absent: file.absent,
        sha256: file.sha256,
        added: will.and_then(|w| w.added),
        removed: will.and_then(|w| w.removed),
    }
}

/// What memory knows of nebula's own writing in one project.
pub struct Remembered<'a> {
    /// Memory.
    pub memory: &'a Memory,
    /// The workspace's root, as memory names projects.
    pub project: &'a str,
}

impl Written for Remembered<'_> {
    fn written(&self, path: &str) -> Option<LastWritten> {
        // A memory that cannot be read knows nothing: then every change counts as someone else's.
        let last = self.memory.written(self.project, path).ok().flatten()?;
        let mut states = Vec::new();
        let mut next = Some(&last);
        while let Some(written) = next {
            states.push(written.sha256);
            next = written.before.as_deref();
        }
        let folders = self.memory.folders_made(self.project, path).unwrap_or_default();
        Some(LastWritten { states, bytes: last.bytes.clone().map(Into::into), folders })
    }

    fn failed(&self, changeset: Id) -> bool {
        let record = self.memory.changeset(self.project, &changeset.to_string()).ok().flatten();
        record.is_some_and(|r| r.state == ChangesetState::Failed)
    }
}

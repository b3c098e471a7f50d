//! Writing what was decided: announced to memory, archived, applied, and told to memory again.

use std::sync::Arc;

use anyhow::{Result, bail};

use super::Desk;
use crate::apply::{Applied, ApplyError, apply, sweep};
use crate::archive::{LastWritten, RecordedFile, Written, restore::state_sha};
use crate::memory::{self, Cause, ChangesetFile, Memory, WillWrite};
use crate::proposal::{Choice, Decided, Decision, FileChange, HunkKind, Proposal, count_changed};

/// What memory remembers of the writes of one project.
pub(super) struct Remembered<'a> {
    pub memory: &'a Memory,
    pub project: &'a str,
}

impl Written for Remembered<'_> {
    fn written(&self, path: &str) -> Option<LastWritten> {
        // A memory that cannot be read knows nothing: then every change counts as someone else's.
        let written = self.memory.written(self.project, path).ok().flatten()?;
        let bytes = written.bytes.clone().map(Arc::from);
        let mut states = Vec::new();
        let mut next = Some(&written);
        while let Some(w) = next {
            states.push(w.sha256);
            next = w.before.as_deref();
        }
        Some(LastWritten { states, bytes })
    }
}

impl Desk<'_> {
    /// Announces, archives and applies. What the disk refuses is an error; nothing has changed then.
    pub(super) fn write(&mut self, decided: &Decided, kind: &str, title: &str) -> Result<Applied> {
        let project = self.project();
        let cause = Cause { kind: kind.into(), title: title.into(), ..Cause::default() };
        let will: Vec<WillWrite> = decided
            .files()
            .iter()
            .map(|file| {
                let counts = count_changed(file.before(), file.after());
                WillWrite {
                    path: file.path().into(),
                    sha256: state_sha(file.after()),
                    bytes: file.after().text().map(|t| t.as_bytes().to_vec()),
                    added: Some(counts.added as u64),
                    removed: Some(counts.removed as u64),
                }
            })
            .collect();
        let announced = self.memory.will_write(&project, &cause, &will).map(Some);
        let pending = self.remembered(announced)?;
        // What cannot be swept now is swept at the next start.
        let _ = sweep(self.archive);
        let applied = apply(decided, self.workspace, self.archive);
        if let Some(pending) = pending {
            let told = self.tell(pending, &will, &applied);
            self.remembered(told)?;
        }
        Ok(applied?)
    }

    fn tell(
        &self,
        pending: memory::PendingId,
        will: &[WillWrite],
        applied: &Result<Applied, ApplyError>,
    ) -> Result<(), memory::Error> {
        let files = |archived: &[RecordedFile]| archived.iter().map(|f| record(f, will)).collect::<Vec<_>>();
        match applied {
            Ok(Applied { changeset: Some(id), archived, .. }) => {
                self.memory.applied(pending, &id.to_string(), &files(archived))
            }
            Ok(_) => self.memory.applied_unarchived(pending),
            Err(ApplyError::Write { changeset, archived, .. }) => {
                self.memory.failed(pending, changeset.map(|id| id.to_string()).as_deref(), &files(archived))
            }
            Err(_) => self.memory.withdrawn(pending),
        }
    }

    /// Asks for each hunk.
    pub(super) fn choose_hunks(&mut self, proposal: &Proposal) -> Result<Decision> {
        let mut decision = Decision::all(proposal, Choice::Reject);
        for (i, file) in proposal.files.iter().enumerate() {
            for h in 0..file.hunks.len() {
                let diff = super::super::diff::unified(&only(file, h), self.colour);
                self.out.write_all(&diff)?;
                self.out.flush()?;
                let what = format!("{}: hunk {} of {}?", file.path, h + 1, file.hunks.len());
                if self.agrees(&what)? {
                    decision.files[i].hunks[h] = Choice::Accept;
                }
            }
        }
        Ok(decision)
    }

    /// Joins a proposal with a decision.
    pub(super) fn decide(&self, proposal: &Proposal, decision: &Decision) -> Result<Decided> {
        let decided = proposal.decide(decision)?;
        if decided.files().is_empty() && !proposal.files.is_empty() && decision.count().accepted > 0 {
            bail!("the decision comes to nothing");
        }
        Ok(decided)
    }
}

/// A change with one of its hunks alone, for showing it.
fn only(file: &FileChange, hunk: usize) -> FileChange {
    let mut one = file.clone();
    if one.hunks[hunk].kind == HunkKind::Lines {
        one.hunks = vec![one.hunks[hunk].clone()];
    }
    one
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

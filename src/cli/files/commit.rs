//! Writing what was decided: announced to memory, archived, applied, and told to memory again.

use anyhow::{Result, bail};

use super::Desk;
use crate::agent::announce::{self, announcement};
use crate::apply::{Applied, apply, sweep};
use crate::memory::Cause;
use crate::proposal::{Choice, Decided, Decision, FileChange, HunkKind, Proposal};

impl Desk<'_> {
    /// Announces, archives and applies. What the disk refuses is an error; nothing has changed then.
    pub(super) fn write(&mut self, decided: &Decided, kind: &str, title: &str) -> Result<Applied> {
        let project = self.project();
        let cause = Cause { kind: kind.into(), title: title.into(), ..Cause::default() };
        let will = announcement(decided);
        let announced = self.memory.will_write(&project, &cause, &will).map(Some);
        let pending = self.remembered(announced)?;
        // What cannot be swept now is swept at the next start.
        let _ = sweep(self.archive);
        let applied = apply(decided, self.workspace, self.archive);
        if let Some(pending) = pending {
            let told = announce::ended(self.memory, &project, pending, &will, &applied);
            self.remembered(told)?;
        }
        Ok(applied?)
    }

    /// Asks for each hunk.
    pub(super) fn choose_hunks(&mut self, proposal: &Proposal) -> Result<Decision> {
        let mut decision = Decision::all(proposal, Choice::Reject);
        for (i, file) in proposal.files.iter().enumerate() {
            for h in 0..file.hunks.len() {
                let diff = super::super::diff::unified(&only(file, h), self.terminal);
                self.out.write_all(&diff)?;
                self.out.flush()?;
                let found = file.hunks[h].found.as_ref().and_then(|found| found.detail.as_deref());
                let detail = found.map_or(String::new(), |detail| format!(", {detail}"));
                let what = format!("{}: hunk {} of {}{detail}?", file.path, h + 1, file.hunks.len());
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

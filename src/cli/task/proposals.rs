//! Proposals and what is decided about them, as they are printed and counted.

use std::io;
use std::sync::Arc;

use serde_json::json;

use super::ask::ApprovalRequest;
use super::{EventPrinter, StepDone};
use crate::cli::out::Out;
use crate::proposal::{Choice, Decision, FileChange, MergeRung, Proposal, ProposalId};
use crate::protocol::{Command, Level, Notice, Outcome};

impl EventPrinter {
    pub(super) fn proposed(&mut self, proposal: Arc<Proposal>) -> io::Result<StepDone> {
        self.show_proposal(&proposal)?;
        // Of a restore whose files were all changed outside nebula nothing is left to ask about: they stay as they are.
        let is_empty = proposal.files.is_empty();
        if self.ask && !is_empty {
            self.fresh_line()?;
            return Ok(StepDone { question: Some(ApprovalRequest::Proposal(proposal)), ..StepDone::default() });
        }
        self.refused |= is_empty;
        let decision = if is_empty { Decision::refuse(&proposal) } else { self.refuse(&proposal)? };
        let decided = self.answered(Command::Decide(proposal.id, decision))?;
        Ok(StepDone { command: Some(decided), ..StepDone::default() })
    }

    /// Records a decision that was made here.
    pub(super) fn answered(&mut self, answer: Command) -> io::Result<Command> {
        if let Command::Decide(proposal, decision) = &answer {
            self.note_decision(*proposal, decision)?;
        }
        Ok(answer)
    }

    /// Refuses a proposal that the policy left to the person, and reports why.
    pub(super) fn refuse(&mut self, proposal: &Proposal) -> io::Result<Decision> {
        let nobody = "nobody is there to approve it";
        let Some(why) = proposal.needs_person() else { return Ok(Decision::refuse(proposal).because(nobody)) };
        let mut reason = format!("{why}: only a person may approve it, and nobody is there");
        if proposal.files.len() > 1 {
            // The edits of one answer are one proposal: what is certain in it waits for what is not.
            reason.push_str("; the files of one proposal are approved together");
        }
        self.notice(&Notice::new(Level::Warning, &reason, "It was refused."))?;
        Ok(Decision::refuse(proposal).because(reason))
    }

    pub(super) fn decided(&mut self, proposal: &Proposal, decision: &Decision) -> io::Result<()> {
        self.show_proposal(proposal)?;
        self.note_decision(proposal.id, decision)
    }

    pub(super) fn show_proposal(&mut self, proposal: &Proposal) -> io::Result<()> {
        let file = |f: &FileChange| json!({"path": f.path, "added": f.counts.added, "removed": f.counts.removed});
        let files: Vec<_> = proposal.files.iter().map(file).collect();
        self.proposed = proposal.files.iter().map(|f| (f.path.clone(), f.after.clone())).collect();
        self.line(json!({"type": "proposal", "id": format!("proposal-{}", proposal.id.0), "files": files}))?;
        if !self.json {
            self.fresh_line()?;
            let mut err = Out::stderr();
            for change in &proposal.files {
                err.styled(&crate::cli::diff::for_person(change, self.terminal))?;
            }
        }
        Ok(())
    }

    pub(super) fn note_decision(&mut self, proposal: ProposalId, decision: &Decision) -> io::Result<()> {
        let n = decision.count();
        // What a person rejects stays rejected; what nobody could approve may yet be made in another way.
        self.refused |= n.rejected > 0 && self.ask;
        for ((path, after), said) in std::mem::take(&mut self.proposed).into_iter().zip(decision.files()) {
            if said.edited.is_none() && said.hunks.contains(&Choice::Reject) && !self.ask {
                self.unmade.insert(path.clone(), after.clone());
            }
            if said.edited.is_some() || said.hunks.contains(&Choice::Accept) {
                self.proposed.push((path, after));
            }
        }
        let id = format!("proposal-{}", proposal.0);
        self.line(json!({"type": "decision", "proposal": id, "accepted": n.accepted, "rejected": n.rejected}))
    }

    pub(super) fn settled(&mut self, outcome: &Outcome) -> io::Result<()> {
        if matches!(outcome, Outcome::Conflict { .. } | Outcome::Failed(_)) {
            self.refused = true;
        }
        if let Outcome::Applied { merged, .. } = outcome {
            for file in merged {
                self.line(json!({"type": "merged", "path": file.path, "how": file.rung.word()}))?;
            }
            let is_there = |path: &String| merged.iter().any(|f| f.path == *path && f.rung == MergeRung::There);
            for (path, after) in std::mem::take(&mut self.proposed) {
                if self.unmade.get(&path) == Some(&after) {
                    self.unmade.remove(&path);
                }
                if !is_there(&path) {
                    self.changed.insert(path);
                }
            }
        }
        Ok(())
    }
}

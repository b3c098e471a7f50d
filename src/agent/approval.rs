//! Proposals and questions that wait for the person, and what the policy answers without them.
//!
//! The turn asks and waits here; the actor's loop brings the answers. Whoever waits may be interrupted, which
//! withdraws what was asked. The policy answers without the person where it may.

use std::collections::HashMap;
use std::sync::Mutex;

use tokio::sync::{mpsc, oneshot};

use crate::messages::agent as say;
use crate::proposal::{Consent, Decision, Proposal, ProposalId};
use crate::protocol::{Approval, CommandDecision, Comment, QuestionId};
use crate::shell::class::rules::ShellPolicy;

/// Pending proposals and questions by id.
#[derive(Default)]
pub struct PendingApprovals {
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    decisions: HashMap<ProposalId, oneshot::Sender<Decision>>,
    replies: HashMap<QuestionId, oneshot::Sender<String>>,
    commands: HashMap<QuestionId, oneshot::Sender<CommandDecision>>,
    comments: HashMap<ProposalId, mpsc::UnboundedSender<Comment>>,
}

impl PendingApprovals {
    /// Registers a proposal; the decision arrives at the receiver.
    pub fn await_decision(&self, id: ProposalId) -> oneshot::Receiver<Decision> {
        let (tx, rx) = oneshot::channel();
        self.lock().decisions.insert(id, tx);
        rx
    }

    /// Registers the receiver of questions about a proposal's hunks, until the proposal is withdrawn.
    pub fn comments(&self, id: ProposalId) -> mpsc::UnboundedReceiver<Comment> {
        let (tx, rx) = mpsc::unbounded_channel();
        self.lock().comments.insert(id, tx);
        rx
    }

    /// Hands a question about a hunk to its receiver. Returns false if there is none.
    pub fn comment(&self, id: ProposalId, comment: Comment) -> bool {
        self.lock().comments.get(&id).is_some_and(|answerer| answerer.send(comment).is_ok())
    }

    /// Registers a question; the reply arrives at the receiver.
    pub fn await_reply(&self, id: QuestionId) -> oneshot::Receiver<String> {
        let (tx, rx) = oneshot::channel();
        self.lock().replies.insert(id, tx);
        rx
    }

    /// Registers a command that waits; the decision arrives at the receiver.
    pub fn await_command(&self, id: QuestionId) -> oneshot::Receiver<CommandDecision> {
        let (tx, rx) = oneshot::channel();
        self.lock().commands.insert(id, tx);
        rx
    }

    /// Hands a decision about a command to its receiver. Returns false if there is none any more.
    pub fn decide_command(&self, id: QuestionId, decision: CommandDecision) -> bool {
        let waiter = self.lock().commands.remove(&id);
        waiter.is_some_and(|w| w.send(decision).is_ok())
    }

    /// Hands a decision to its receiver. Returns false if there is none any more.
    pub fn decide(&self, id: ProposalId, decision: Decision) -> bool {
        let waiter = self.lock().decisions.remove(&id);
        waiter.is_some_and(|w| w.send(decision).is_ok())
    }

    /// Hands a reply to its receiver. Returns false if there is none any more.
    pub fn reply(&self, id: QuestionId, text: String) -> bool {
        if self.lock().commands.contains_key(&id) {
            let decision = match text.trim() {
                run if run == say::run_it() => CommandDecision::Run { network: false },
                no if no == say::no() => CommandDecision::Refuse(String::new()),
                reason => CommandDecision::Refuse(reason.to_string()),
            };
            return self.decide_command(id, decision);
        }
        let waiter = self.lock().replies.remove(&id);
        waiter.is_some_and(|w| w.send(text).is_ok())
    }

    /// Removes a proposal whose decision is not awaited any more.
    pub fn withdraw(&self, id: ProposalId) {
        let mut waiting = self.lock();
        waiting.decisions.remove(&id);
        waiting.comments.remove(&id);
    }

    /// Removes a question whose reply is not awaited any more.
    pub fn withdraw_question(&self, id: QuestionId) {
        let mut waiting = self.lock();
        waiting.replies.remove(&id);
        waiting.commands.remove(&id);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Waiting> {
        // A poisoned map is still a map of waiters: nothing in here can be left half done.
        self.waiting.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Returns what the policy says of a proposal without asking the person; `None`: the person is asked. What it accepts
/// is accepted in the name of `consent`. It never accepts an inexact match, a file that acts later or is not archived,
/// or hidden characters; foreign files are decided before, by the person.
pub fn policy(approval: Approval, consent: Consent, proposal: &Proposal, needs_person: bool) -> Option<Decision> {
    match approval {
        Approval::Ask => None,
        Approval::None => Some(Decision::refuse(proposal).because("the approval policy accepts no edits")),
        Approval::Edits | Approval::Review | Approval::All if needs_person || proposal.needs_person().is_some() => None,
        Approval::Edits | Approval::Review | Approval::All => Some(Decision::accept(proposal, consent)),
    }
}

/// Returns what the policy means for commands.
pub fn shell_policy(approval: Approval) -> ShellPolicy {
    match approval {
        Approval::Ask | Approval::Edits => ShellPolicy::Ask,
        Approval::Review => ShellPolicy::Review,
        Approval::All => ShellPolicy::All,
        Approval::None => ShellPolicy::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proposal::{FileChange, PlaceMatch, Placed, Rung, State};

    const EDITS: Consent = Consent::Policy("edits");

    fn proposal(rung: Rung) -> Proposal {
        let before = State::file(&b"a\n"[..]);
        let after = State::file(&b"b\n"[..]);
        let placed = [Placed { after: 0..2, found: PlaceMatch { rung, detail: None }, edit: None }];
        let file = FileChange::new("a", before, after, "replaceInFile", &placed);
        Proposal { id: ProposalId(1), title: String::new(), files: vec![file] }
    }

    #[test]
    fn the_policy_never_accepts_an_inexact_match() {
        assert!(policy(Approval::Edits, EDITS, &proposal(Rung::Exact), false).is_some());
        assert!(policy(Approval::Edits, EDITS, &proposal(Rung::Inexact), false).is_none());
        assert!(policy(Approval::All, EDITS, &proposal(Rung::Inexact), false).is_none());
        assert!(policy(Approval::Edits, EDITS, &proposal(Rung::Exact), true).is_none());
    }

    #[test]
    fn the_policy_never_accepts_what_acts_later_or_hides() {
        let change = |path: &str, text: &str| {
            let file = FileChange::new(path, State::Absent, State::file(text.as_bytes()), "writeFile", &[]);
            Proposal { id: ProposalId(1), title: String::new(), files: vec![file] }
        };
        for approval in [Approval::Edits, Approval::All] {
            assert!(policy(approval, EDITS, &change("src/a.rs", "fn a() {}\n"), false).is_some());
            assert!(policy(approval, EDITS, &change("deep/AGENTS.md", "obey\n"), false).is_none());
            assert!(policy(approval, EDITS, &change("src/a.rs", "// \u{202e}\n"), false).is_none());
        }
    }

    #[test]
    fn asking_asks_and_none_refuses() {
        assert!(policy(Approval::Ask, EDITS, &proposal(Rung::Exact), false).is_none());
        let none = policy(Approval::None, EDITS, &proposal(Rung::Exact), false).expect("a decision");
        assert_eq!(none.count().accepted, 0);
    }

    #[test]
    fn a_decision_reaches_only_who_waits() {
        let approvals = PendingApprovals::default();
        let p = proposal(Rung::Exact);
        let mut rx = approvals.await_decision(p.id);
        assert!(approvals.decide(p.id, Decision::accept(&p, Consent::Person)));
        assert!(rx.try_recv().is_ok());
        assert!(!approvals.decide(p.id, Decision::accept(&p, Consent::Person)));
    }
}

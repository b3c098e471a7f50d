//! Requests that wait for the person, and what the policy answers without them.
//!
//! The turn asks and waits here; the actor's loop brings the answers. Whoever waits may be interrupted, which
//! withdraws what was asked. The policy answers without the person where it may.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::agent::services::events::Events;
use crate::agent::services::lock;
use crate::messages::agent as say;
use crate::proposal::{Consent, Decision, ForeignChoice, Proposal, ProposalId};
use crate::protocol::{Approval, CommandDecision, Comment, EventBody, Question, QuestionId, Reply};
use crate::shell::class::rules::{Rule, ShellPolicy};

/// A request that waits for the person, by what it is about, and where the answer goes.
enum PendingRequest {
    /// A proposal of edits.
    Edit(oneshot::Sender<Decision>),
    /// Questions of the person about the hunks of a proposal.
    Comments(mpsc::UnboundedSender<Comment>),
    /// Requests to test a proposal, each as a decision would write it.
    Tests(mpsc::UnboundedSender<Decision>),
    /// Choices for the files of a restore that someone else changed.
    Choices(mpsc::UnboundedSender<(String, ForeignChoice)>),
    /// A command.
    Command(oneshot::Sender<CommandDecision>),
    /// A question of the model, or for a permission.
    Question(oneshot::Sender<Reply>),
    /// The time after which a question is not waited for any more; it ends with the sender.
    Time { _running: oneshot::Sender<()> },
}

/// The name of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum RequestId {
    Edit(ProposalId),
    Comments(ProposalId),
    Tests(ProposalId),
    Choices(ProposalId),
    Question(QuestionId),
    Time(QuestionId),
}

/// Choices: a short answer each, and what it means.
pub type QuestionChoices = Vec<(String, String)>;

/// Returns the choices of a permission: what *yes* allows, and what happens without it.
pub fn yes_once(allows: String, no: &str) -> QuestionChoices {
    vec![(say::yes().into(), allows), (say::no().into(), no.into())]
}

/// Returns the choices of a permission to run a command.
pub fn run_or_not() -> QuestionChoices {
    vec![(say::run_it().into(), String::new()), (say::no().into(), say::default_continues().into())]
}

/// The requests that wait for the person.
pub struct PendingApprovals {
    events: Events,
    waiting: Mutex<HashMap<RequestId, PendingRequest>>,
    /// Proposals among them that the person began to decide.
    reviewed: Mutex<HashSet<ProposalId>>,
}

impl PendingApprovals {
    /// Creates the requests of a session, none at first; the person is asked through `events`.
    pub fn new(events: Events) -> Self {
        PendingApprovals { events, waiting: Mutex::default(), reviewed: Mutex::default() }
    }

    /// Asks for a permission and waits; none when interrupted. Only [`Reply::Choice`] of 0 gives it.
    pub async fn permission(&self, text: String, choices: QuestionChoices, stop: &CancellationToken) -> Option<Reply> {
        let id = self.events.question();
        self.question(Question { id, text, choices, permission: true, card: None, hold: None }, None, stop).await
    }

    /// Asks the person and waits, for `grace` at most unless the person answers later; none when interrupted or not
    /// answered in time.
    pub async fn question(
        &self,
        question: Question,
        grace: Option<Duration>,
        stop: &CancellationToken,
    ) -> Option<Reply> {
        let id = question.id;
        let time = grace.map(|grace| (grace, self.begin_time(id)));
        let mut reply = self.open(question).await;
        let in_time = async {
            if let Some((grace, stopped)) = time {
                tokio::select! {
                    biased;
                    reply = &mut reply => return reply.ok(),
                    _ = stopped => {}
                    () = tokio::time::sleep(grace) => return None,
                }
            }
            reply.await.ok()
        };
        self.wait(id, in_time, stop).await
    }

    /// Puts a question to the person; the reply arrives at the receiver. [`PendingApprovals::wait`] closes it.
    pub async fn open(&self, question: Question) -> oneshot::Receiver<Reply> {
        let reply = self.await_reply(question.id);
        self.events.send(EventBody::Asked(question)).await;
        reply
    }

    /// Shows the person the card of a command and waits for the decision; none when interrupted. The card stands until
    /// it is closed: one of the same name takes its place.
    pub async fn ask_command(&self, question: Question, stop: &CancellationToken) -> Option<CommandDecision> {
        let decision = self.await_command(question.id);
        self.events.send(EventBody::Asked(question)).await;
        stop.run_until_cancelled(decision).await.and_then(Result::ok)
    }

    /// Closes a question: nobody waits for its answer any more.
    pub async fn close(&self, id: QuestionId) {
        self.stop_time(id);
        self.lock().remove(&RequestId::Question(id));
        self.events.send(EventBody::Answered(id)).await;
    }

    /// Waits for the answer to a question and closes it; none when interrupted.
    pub async fn wait<T>(
        &self,
        id: QuestionId,
        answer: impl Future<Output = Option<T>>,
        stop: &CancellationToken,
    ) -> Option<T> {
        let answer = stop.run_until_cancelled(answer).await.flatten();
        self.close(id).await;
        answer
    }

    /// Registers a proposal; the decision arrives at the receiver.
    pub fn await_decision(&self, id: ProposalId) -> oneshot::Receiver<Decision> {
        let (tx, rx) = oneshot::channel();
        self.lock().insert(RequestId::Edit(id), PendingRequest::Edit(tx));
        rx
    }

    /// Registers the receiver of questions about a proposal's hunks, until the proposal is withdrawn.
    pub fn comments(&self, id: ProposalId) -> mpsc::UnboundedReceiver<Comment> {
        let (tx, rx) = mpsc::unbounded_channel();
        self.lock().insert(RequestId::Comments(id), PendingRequest::Comments(tx));
        rx
    }

    /// Registers a question; the reply arrives at the receiver.
    fn await_reply(&self, id: QuestionId) -> oneshot::Receiver<Reply> {
        let (tx, rx) = oneshot::channel();
        self.lock().insert(RequestId::Question(id), PendingRequest::Question(tx));
        rx
    }

    /// Registers that a question is waited for a time only; the receiver resolves when it is stopped.
    fn begin_time(&self, id: QuestionId) -> oneshot::Receiver<()> {
        let (tx, rx) = oneshot::channel();
        self.lock().insert(RequestId::Time(id), PendingRequest::Time { _running: tx });
        rx
    }

    /// Stops the time after which a question is not waited for any more, if it has one.
    pub fn stop_time(&self, id: QuestionId) {
        self.lock().remove(&RequestId::Time(id));
    }

    /// Registers a command that waits; the decision arrives at the receiver.
    fn await_command(&self, id: QuestionId) -> oneshot::Receiver<CommandDecision> {
        let (tx, rx) = oneshot::channel();
        self.lock().insert(RequestId::Question(id), PendingRequest::Command(tx));
        rx
    }

    /// Registers the receiver of requests to test a proposal, until the proposal is withdrawn.
    pub fn tests(&self, id: ProposalId) -> mpsc::UnboundedReceiver<Decision> {
        let (tx, rx) = mpsc::unbounded_channel();
        self.lock().insert(RequestId::Tests(id), PendingRequest::Tests(tx));
        rx
    }

    /// Hands the request to test a proposal to its receiver. Returns false if there is none.
    pub fn test(&self, id: ProposalId, decision: Decision) -> bool {
        match self.lock().get(&RequestId::Tests(id)) {
            Some(PendingRequest::Tests(tester)) => tester.send(decision).is_ok(),
            _ => false,
        }
    }

    /// Registers the receiver of choices for the files of a restore that someone else changed, until its proposal is
    /// withdrawn.
    pub fn choices(&self, id: ProposalId) -> mpsc::UnboundedReceiver<(String, ForeignChoice)> {
        let (tx, rx) = mpsc::unbounded_channel();
        self.lock().insert(RequestId::Choices(id), PendingRequest::Choices(tx));
        rx
    }

    /// Hands the choice for a file of a restore to its receiver. Returns false if there is none.
    pub fn choose(&self, id: ProposalId, path: String, choice: ForeignChoice) -> bool {
        match self.lock().get(&RequestId::Choices(id)) {
            Some(PendingRequest::Choices(restore)) => restore.send((path, choice)).is_ok(),
            _ => false,
        }
    }

    /// Notes that the person began to decide a proposal.
    pub fn set_reviewed(&self, id: ProposalId) {
        lock(&self.reviewed).insert(id);
    }

    /// Returns whether the person began to decide a proposal that waits.
    pub fn is_reviewed(&self, id: ProposalId) -> bool {
        lock(&self.reviewed).contains(&id)
    }

    /// Hands a question about a hunk to its receiver. Returns false if there is none.
    pub fn comment(&self, id: ProposalId, comment: Comment) -> bool {
        match self.lock().get(&RequestId::Comments(id)) {
            Some(PendingRequest::Comments(answerer)) => answerer.send(comment).is_ok(),
            _ => false,
        }
    }

    /// Hands a decision to its receiver. Returns false if there is none any more.
    pub fn decide(&self, id: ProposalId, decision: Decision) -> bool {
        match self.lock().remove(&RequestId::Edit(id)) {
            Some(PendingRequest::Edit(waiter)) => waiter.send(decision).is_ok(),
            _ => false,
        }
    }

    /// Hands a decision about a command to its receiver. Returns false if no command waits under this name any more.
    pub fn decide_command(&self, id: QuestionId, decision: CommandDecision) -> bool {
        match self.remove_if(id, |request| matches!(request, PendingRequest::Command(_))) {
            Some(PendingRequest::Command(waiter)) => waiter.send(decision).is_ok(),
            _ => false,
        }
    }

    /// Hands a reply to its receiver. Returns false if no question waits under this name any more; a command is none.
    pub fn reply(&self, id: QuestionId, reply: Reply) -> bool {
        match self.remove_if(id, |request| matches!(request, PendingRequest::Question(_))) {
            Some(PendingRequest::Question(waiter)) => waiter.send(reply).is_ok(),
            _ => false,
        }
    }

    /// Removes a proposal whose decision is not awaited any more.
    pub fn withdraw(&self, id: ProposalId) {
        let mut waiting = self.lock();
        waiting.remove(&RequestId::Edit(id));
        waiting.remove(&RequestId::Comments(id));
        waiting.remove(&RequestId::Tests(id));
        waiting.remove(&RequestId::Choices(id));
        lock(&self.reviewed).remove(&id);
    }

    fn remove_if(&self, id: QuestionId, wanted: impl Fn(&PendingRequest) -> bool) -> Option<PendingRequest> {
        let mut waiting = self.lock();
        waiting.get(&RequestId::Question(id)).is_some_and(wanted).then(|| waiting.remove(&RequestId::Question(id)))?
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<RequestId, PendingRequest>> {
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

/// The parts of a session, beside its settings, that decide for the person.
pub struct ApprovalPolicy {
    /// The rules for commands of this session alone.
    own_rules: Mutex<Vec<Rule>>,
    /// The rules of the configuration, as it was last read whole.
    configured: Mutex<Vec<Rule>>,
    /// Proposals in a row that went back to the model because they failed their test.
    pub failed_tests: AtomicU32,
}

impl ApprovalPolicy {
    /// Creates a policy with these rules for commands.
    pub fn new(rules: Vec<Rule>) -> Self {
        let (own_rules, configured) = (Mutex::default(), Mutex::new(rules));
        ApprovalPolicy { own_rules, configured, failed_tests: AtomicU32::new(0) }
    }

    /// Returns the rules for commands, those of this session with them.
    pub fn command_rules(&self) -> Vec<Rule> {
        [lock(&self.configured).clone(), lock(&self.own_rules).clone()].concat()
    }

    /// Goes by these rules of the configuration from now on.
    pub fn configure_rules(&self, rules: Vec<Rule>) {
        *lock(&self.configured) = rules;
    }

    /// Adds a rule for commands.
    pub fn add_command_rule(&self, rule: Rule) {
        lock(&self.own_rules).push(rule);
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
            for path in ["rtl\u{202e}txt.exe", "src/m\u{430}in.rs", "a\u{1b}[2Jb"] {
                assert!(policy(approval, EDITS, &change(path, "fn a() {}\n"), false).is_none(), "{path:?}");
            }
        }
    }

    #[test]
    fn policy_ask_asks_and_policy_none_refuses() {
        assert!(policy(Approval::Ask, EDITS, &proposal(Rung::Exact), false).is_none());
        let none = policy(Approval::None, EDITS, &proposal(Rung::Exact), false).expect("a decision");
        assert_eq!(none.count().accepted, 0);
    }

    #[test]
    fn a_decision_reaches_only_who_waits() {
        let approvals = PendingApprovals::new(Events::new(mpsc::channel(1).0));
        let p = proposal(Rung::Exact);
        let mut rx = approvals.await_decision(p.id);
        assert!(approvals.decide(p.id, Decision::accept(&p, Consent::Person)));
        assert!(rx.try_recv().is_ok());
        assert!(!approvals.decide(p.id, Decision::accept(&p, Consent::Person)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_that_is_answered_later_is_waited_for() {
        let (to, _from) = mpsc::channel(16);
        let approvals = PendingApprovals::new(Events::new(to));
        let (time, stop) = (Some(Duration::from_secs(10)), CancellationToken::new());
        let question = |n| {
            let (id, text, choices) = (QuestionId(n), "Is it to count?".to_string(), run_or_not());
            Question { id, text, choices, permission: false, card: None, hold: None }
        };
        assert_eq!(approvals.question(question(1), time, &stop).await, None);
        let person = async {
            approvals.stop_time(QuestionId(2));
            tokio::time::advance(Duration::from_secs(100)).await;
            tokio::task::yield_now().await;
            assert!(approvals.reply(QuestionId(2), Reply::Choice(1)), "it waits no more");
        };
        let (reply, ()) = tokio::join!(approvals.question(question(2), time, &stop), person);
        assert_eq!(reply, Some(Reply::Choice(1)));
        assert!(approvals.lock().is_empty());
    }

    #[test]
    fn no_reply_lets_a_command_run() {
        let approvals = PendingApprovals::new(Events::new(mpsc::channel(1).0));
        let mut rx = approvals.await_command(QuestionId(1));
        assert!(!approvals.reply(QuestionId(1), Reply::Choice(0)));
        assert!(rx.try_recv().is_err());
        assert!(approvals.decide_command(QuestionId(1), CommandDecision::Run { network: false }));
        assert!(rx.try_recv().is_ok());
    }
}

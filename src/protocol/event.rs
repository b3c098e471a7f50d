//! The events that the agent sends to a front end, and the values inside: the session, its entries and their states,
//! the outcome of a change.

use std::sync::Arc;
use std::time::Duration;

use super::cause::Cause;
use super::command::{Command, Reply};
use super::command_card::{CommandCard, CommandDecision};
use super::command_event::CommandEvent;
use super::cost::Cost;
use super::item::{Changeset, Item, Notice, RuleChip, UndoneChange};
use super::listing::Listing;
use super::unsent::Unsent;
use super::{Approval, Comment, ItemId, Mode, Prompt, QueryId, QuestionId, SessionId, TurnId};
use crate::proposal::{Decision, HunkCount, MergedFile, Proposal, ProposalId, RestorePreview, State};

/// An event, with its session.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// The session it belongs to; none: it concerns the whole process.
    pub session: Option<SessionId>,
    /// The event itself.
    pub body: EventBody,
}

/// The events of the agent.
#[derive(Debug, Clone, PartialEq)]
pub enum EventBody {
    /// A session is open: clear the chat; its entries follow as [`EventBody::Recalled`].
    Opened(SessionInfo),
    /// The entries of the session that was opened, oldest first: each as if it were [`EventBody::Added`] now. One
    /// event, because a long session has thousands.
    Recalled(Vec<(ItemId, Item)>),
    /// The status line changed.
    Status(Status),
    /// The connection that the form with this number asked for failed, and why.
    NotConnected(QueryId, String),
    /// The key in the form with this number was accepted: the models there are, the one that would be used, and the
    /// duration of the check.
    Connectable(QueryId, Vec<String>, String, Duration),
    /// The model that the form with this number asked for is connected.
    Connected(QueryId),
    /// The prompt was not sent, and why: the text goes back into the input.
    Returned(Prompt, String),
    /// A new entry at the end of the conversation.
    Added(ItemId, Item),
    /// Streamed text of an answer or thought, or arguments of a call.
    Grew(ItemId, String),
    /// An entry as it is now; a call moves on by this.
    Changed(ItemId, Item),
    /// A turn began.
    TurnStarted(TurnId),
    /// A turn is over.
    TurnEnded(TurnId, TurnEnd),
    /// A proposal, or the restore it belongs to, goes on.
    Proposal(ProposalEvent),
    /// A question of the model.
    Asked(Question),
    /// A question is no longer pending.
    Answered(QuestionId),
    /// A command of the model goes on.
    Command(CommandEvent),
    /// A changeset was made, by us or by another nebula.
    Archived(Changeset),
    /// Something was undone or redone: the files of the session's changesets of which the lines were restored since, each
    /// with how much of it is undone now. Of what is not among them nothing is.
    Undone(Vec<UndoneChange>),
    /// Files changed on disk by someone else since the agent read them.
    Drifted(Vec<String>),
    /// Files changed on disk by another nebula since the agent read them.
    DriftedElsewhere(Vec<String>),
    /// Messages that were typed in the session before it was closed, and not sent: they are the person's to send.
    Unsent(Unsent),
    /// The session of this id was deleted.
    SessionDeleted(String),
    /// Files of the workspace changed, were added or removed: a list of them may be old.
    FilesChanged,
    /// The workspace's store of definitions changed.
    GraphChanged,
    /// Changes that wait to be reviewed were decided about, or their files changed: a list of them may be old.
    ReviewChanged,
    /// The request is tried again; `None`: over.
    Retrying(Option<Wait>),
    /// A step of the running turn begins: which one, from 1.
    Step(u32),
    /// Tokens and cost of one step; the session's sum is in the status.
    Usage(StepUsage),
    /// A summary stands for the conversation from here on: the tokens of what is sent before and after, about.
    Compacted {
        /// With the conversation.
        before: u64,
        /// With its summary.
        after: u64,
    },
    /// The message that `/commit` proposes, or that git gives back.
    CommitMessage(String),
    /// No commit message is being written any more; where none came, a [`EventBody::Notice`] says why.
    CommitEnded,
    /// The answer to a query.
    Answer(QueryId, Listing),
    /// A short-lived notice; one that the chat stores is an [`Item::Notice`].
    Notice(Notice),
}

/// An event of a proposal.
#[derive(Debug, Clone, PartialEq)]
pub enum ProposalEvent {
    /// The person asked for this proposal, which follows: no model explains it.
    Own(ProposalId),
    /// The effects of a command that its proposal, which follows, leaves out: a line each.
    LeftOut(ProposalId, Vec<String>),
    /// A proposal waits for a decision. For a restore, with a preview for each file named in it or left out; for an
    /// edit, with none.
    Proposed(Arc<Proposal>, Vec<RestorePreview>),
    /// A proposal was decided by the policy, without the person; [`ProposalEvent::Settled`] follows.
    Approved(Arc<Proposal>, Decision),
    /// The model's answer to a question about a hunk; empty where a notice has said why there is none.
    CommentAnswer(ProposalId, Comment, String),
    /// A proposal that waits is being tested, or was.
    Tested(ProposalId, ProposalTest),
    /// A proposal is no longer pending.
    Settled(ProposalId, Outcome),
    /// The restore that a person asked for is over: written, given up, or there was none.
    RestoreEnded,
}

/// The session that is open.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionInfo {
    /// UUIDv7.
    pub id: String,
    /// Title, if it has one yet.
    pub title: Option<String>,
    /// True if it was resumed or forked, with how many messages.
    pub resumed: usize,
    /// The status line.
    pub status: Status,
}

/// The data of the status line and the first screen.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Status {
    /// Name of the workspace's root folder.
    pub workspace: String,
    /// Plan or agent.
    pub mode: Mode,
    /// The approval policy.
    pub approval: Approval,
    /// Model, `None` while no provider is connected.
    pub model: Option<String>,
    /// Nobody chose a model, and one that the server offers may still take the place of that one.
    pub seeks_model: bool,
    /// Provider's name (`openai`, `replay`) or the local server's.
    pub provider: String,
    /// The name of the provider that is connected or meant, as the configuration has it.
    pub provider_name: String,
    /// The address of that provider, where it is a server of the person's own.
    pub own_server: Option<String>,
    /// The model is a recording.
    pub recording: bool,
    /// Edit format's name.
    pub format: String,
    /// Tokens of the session so far, in and out.
    pub tokens: u64,
    /// Dollars, for models with a price.
    pub cost: Option<Cost>,
    /// Tokens of the last request, and the context window they count against.
    pub context: Option<(u64, u64)>,
    /// Active rules.
    pub rules: Vec<RuleChip>,
    /// Changesets and files in the archive, once counted.
    pub archive: Option<(usize, usize)>,
    /// Memory could not be written: why the session lives in memory only.
    pub banner: Option<String>,
    /// The reason why what is said is in RAM alone and ends with nebula; none: it is stored.
    pub in_ram: Option<String>,
    /// Local ports that were tried without an answer, for the first screen.
    pub tried: Vec<u16>,
    /// The server on this computer that answers and has no model, for the first screen.
    pub without_model: Option<String>,
    /// A model file on this computer, for the first screen.
    pub model_file: Option<ModelFileRow>,
    /// The places of the built-in providers' keys, for the first screen.
    pub key_places: Vec<KeyPlaces>,
    /// Commands that run on beside the conversation.
    pub jobs: usize,
    /// Changes that wait to be reviewed.
    pub unreviewed: usize,
    /// The folder below the workspace's root in which the next command begins; none: the root.
    pub next_folder: Option<String>,
}

/// The places in which a provider's key is looked for, in the order in which they win, and whether it is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyPlaces {
    /// The provider's name.
    pub provider: String,
    /// The host that a key for its own address goes to.
    pub host: String,
    /// Its variable is set.
    pub variable: bool,
    /// A command that prints it is configured.
    pub command: bool,
    /// It is among the keys that nebula keeps.
    pub stored: bool,
}

/// A model file that was found on this computer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelFileRow {
    /// The name of its model.
    pub name: String,
    /// Its size in words.
    pub size: String,
    /// True if this build runs it.
    pub runs: bool,
}

/// The tokens of one step.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StepUsage {
    /// The whole prompt.
    pub input: u64,
    /// The answer.
    pub output: u64,
    /// Tokens of the input that were read from the provider's cache.
    pub cache_read: u64,
    /// Tokens of the input that were written to the provider's cache.
    pub cache_write: u64,
    /// Tokens of the output that were thinking.
    pub thinking: u64,
    /// Dollars, for models with a price.
    pub cost: Option<f64>,
    /// The price is that of the built-in table, or some of the tokens were counted here.
    pub estimated: bool,
    /// The reason why the request did not begin as the one before: `mode`, `model`, `format`, `compact`, `left out`,
    /// `rewind` or `tools`; `None`: it did.
    pub prefix: Option<&'static str>,
}

/// The end of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnEnd {
    /// The model is done.
    Done,
    /// The person stopped it.
    Interrupted,
    /// It failed; a notice in the chat says why.
    Failed {
        /// The error, in words.
        message: String,
        /// The step that resolves it.
        hint: String,
        /// [`super::Command::Continue`] makes sense.
        resumable: bool,
        /// The kind of the failure, for programs.
        cause: Cause,
    },
    /// It stopped to ask whether to go on: step limit, or the same call three times.
    Asking(String),
}

/// The test of a proposal that waits: its command ran in a view of the workspace in which the proposal is applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposalTest {
    /// The state of the test.
    pub state: TestState,
    /// The line that says it: `cargo test: 212 passed · 4.1 s`.
    pub line: String,
    /// The failures, or the last lines of the output, where it failed.
    pub failures: Vec<String>,
}

/// The state of the test of a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestState {
    /// It runs.
    Running,
    /// It ended well.
    Passed,
    /// It failed.
    Failed,
    /// It was not run, and the line says why.
    NotRun,
}

/// The outcome of a proposal.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// Written.
    Applied {
        /// Hunks.
        hunks: HunkCount,
        /// The changeset that holds what was overwritten.
        changeset: Option<String>,
        /// The files that someone else had changed since they were read, and what they are now.
        merged: Vec<MergedFile>,
    },
    /// Nothing was accepted.
    Refused,
    /// A file was not as it had been read; nothing was written.
    Conflict {
        /// The path.
        path: String,
        /// The state as the proposal knew it.
        expected: State,
        /// The state as it is.
        found: State,
    },
    /// Writing failed; what had been written was put back.
    Failed(String),
    /// It is not needed any more: the turn was interrupted, or another took its place.
    Withdrawn,
}

/// A question of the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Its name.
    pub id: QuestionId,
    /// The question.
    pub text: String,
    /// Choices: a short answer and, after it, what it means (may be empty).
    pub choices: Vec<(String, String)>,
    /// A permission: the last choice, which is the default, refuses. The first permits, but where a call waits: its
    /// choices have keys.
    pub permission: bool,
    /// The command that waits, where it is about one.
    pub card: Option<Arc<CommandCard>>,
    /// The call of a running command that waits, where it is about one.
    pub hold: Option<Arc<HoldCard>>,
}

impl Question {
    /// Returns the request that answers it.
    pub fn answer(&self, reply: Reply) -> Command {
        match (&self.card, reply) {
            (None, reply) => Command::Reply(self.id, reply),
            (Some(_), Reply::Choice(0)) => Command::DecideCommand(self.id, CommandDecision::Run { network: false }),
            (Some(_), Reply::Text(reason)) => Command::DecideCommand(self.id, CommandDecision::Refuse(reason)),
            (Some(_), Reply::Nobody) => Command::DecideCommand(self.id, CommandDecision::Nobody),
            (Some(_), Reply::Choice(_)) => Command::DecideCommand(self.id, CommandDecision::Refuse(String::new())),
        }
    }

    /// Returns the reply that typed words are: the choice of this name, unless a permission is asked for; of a call that
    /// waits the choice of this key.
    pub fn typed(&self, text: &str) -> Reply {
        let key = |hold: &Arc<HoldCard>| hold.keys.iter().position(|key| text.trim().chars().eq([*key]));
        if let Some(index) = self.hold.as_ref().and_then(key) {
            return Reply::Choice(index);
        }
        let named = self.choices.iter().position(|(short, _)| short.eq_ignore_ascii_case(text.trim()));
        named.filter(|_| !self.permission).map_or_else(|| Reply::Text(text.into()), Reply::Choice)
    }
}

/// A call of a running command that waits for the person, as they are shown it. Sentences are in the person's language.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HoldCard {
    /// The command's id, as in `c7`.
    pub command: String,
    /// The request of its program, in one line.
    pub wants: String,
    /// The file acts later without being read again.
    pub acts_later: bool,
    /// The facts about the call: a label and words each.
    pub rows: Vec<(String, String)>,
    /// The state of the time limit meanwhile.
    pub note: String,
    /// The key of each choice.
    pub keys: Vec<char>,
}

/// A pause before the next try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wait {
    /// The number of the next try.
    pub attempt: u32,
    /// The most tries.
    pub of: u32,
    /// The time when it happens.
    pub until: i64,
    /// The reason: `api.openai.com: rate limited (429)`.
    pub why: String,
    /// The kind of failure, for programs.
    pub cause: Cause,
}

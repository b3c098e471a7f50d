//! The requests of a front end to the agent, and the values inside.

use super::command_card::CommandDecision;
use super::graph::{ConflictChoice, ConflictRow};
use super::review::{ReviewScope, ReviewVerdict};
use super::unsent::Unsent;
use super::{QueryId, QuestionId, SessionId};
use crate::proposal::{Decision, ForeignChoice, ProposalId, State};

/// A command and the session it is for.
#[derive(Debug, Clone, PartialEq)]
pub struct Addressed {
    /// None: the session that was opened last; while none is open, a message opens a new one.
    pub session: Option<SessionId>,
    /// The request.
    pub command: Command,
}

impl From<Command> for Addressed {
    fn from(command: Command) -> Self {
        Addressed { session: None, command }
    }
}

/// The requests of a front end.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// A message for the model. Sent mid-turn it comes back as [`super::EventBody::Returned`]: the queue lives in the
    /// front end.
    Submit(Prompt),
    /// A command of the person's own: it runs at once, beside the conversation.
    Run(String),
    /// As [`Command::Run`], and its output goes to the model with the next message; `None`: the output of the own
    /// command that ended last.
    RunForModel(Option<String>),
    /// Goes on after the step limit or an answer that broke off.
    Continue(Continuation),
    /// The decision about a proposal.
    Decide(ProposalId, Decision),
    /// The person began to decide a proposal: it does not go back to the model any more because its test fails.
    Reviewing(ProposalId),
    /// The answer to a question of the model.
    Reply(QuestionId, Reply),
    /// The person answers a question later, or in their own words: where it is answered after a time, that stops.
    Later(QuestionId),
    /// The decision about a command that waits.
    DecideCommand(QuestionId, CommandDecision),
    /// Test a proposal that waits, in a view, as this decision would write it: answered by
    /// [`super::ProposalEvent::Tested`].
    Test(ProposalId, Decision),
    /// Undo, redo and restores from the archive pane: answered by [`super::ProposalEvent::Proposed`], or a notice.
    Restore(RestoreRequest),
    /// A question of the person about a hunk of a proposal, which waits on; answered by
    /// [`super::ProposalEvent::CommentAnswer`].
    Comment(ProposalId, Comment),
    /// Stop the session's running turn at once; or withdraw its pending restore.
    Interrupt,
    /// Do not wait any longer before trying again.
    SkipBackoff,
    /// Open a session in place of this one, whose turn is stopped first.
    Open(SessionChoice),
    /// Open a session beside the open ones; commands that name no session are for it from then on.
    OpenBeside(SessionChoice),
    /// Stop the session's turn and close it.
    Close,
    /// Change a stored session.
    Sessions(SessionChange),
    /// Connect a model with a key, or only check the key: answered by [`super::EventBody::Connected`], by
    /// [`super::EventBody::Connectable`], or by [`super::EventBody::NotConnected`].
    Connect(ConnectForm),
    /// Change a setting; what persists is written by the agent.
    Set(Setting),
    /// Ask for a listing: answered by [`super::EventBody::Answer`] with the same id.
    Ask(QueryId, Query),
    /// Summarise the conversation so far; the summary is previewed, then replaces it.
    Compact,
    /// Send the whole conversation again, in place of its summary.
    UndoCompact,
    /// Send the result at this place of the conversation as one line from now on; see [`super::WindowResult`].
    LeaveOut(usize),
    /// Let the commands that run go on as jobs: the turn does not wait for them any more.
    RunOn,
    /// Stop the command of this id, as in `c7`, the person's own or a job; the turn goes on.
    StopCommand(String),
    /// Begin the next command in the workspace's root, without the variables that commands before it left.
    ClearEnvironment,
    /// Keep changes that wait to be reviewed: `all`, or beginnings of their ids. Nothing is written.
    KeepReviewed(Vec<String>),
    /// Keep and restore changes that wait to be reviewed, hunk by hunk; what is restored comes as
    /// [`super::ProposalEvent::Proposed`].
    Review(ReviewVerdict),
    /// Decide a conflict of the workspace's store, as it was shown: one that has changed since is not decided. Told as
    /// [`super::EventBody::GraphChanged`].
    DecideConflict(Box<ConflictRow>, ConflictChoice),
    /// The graph is not shown any more: what is read for it stops.
    LeaveGraph,
    /// Export the session to a file.
    Export(ExportFormat),
    /// Propose a commit message from the staged diff; answered by [`super::EventBody::CommitMessage`].
    DraftCommit,
    /// Commit what is staged with this message, as the person edited it.
    Commit(String),
    /// Store what was typed in the session of this id and not sent: it comes back as [`super::EventBody::Unsent`] when the
    /// session is opened again.
    KeepUnsent(String, Unsent),
    /// Interrupt all sessions, let writes in progress finish, save, close.
    Shutdown,
}

/// The address of a model, and its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectForm {
    /// The number that the answer names: what was sent before with other fields counts no more.
    pub id: QueryId,
    /// The provider by name.
    pub provider: String,
    /// The server's address, where it is not the provider's own.
    pub base_url: Option<String>,
    /// The key; empty: none is needed.
    pub key: ApiKey,
    /// Keep the key in nebula's own file; otherwise it holds until nebula ends.
    pub keep: bool,
    /// The model to use; `None`: check the key and list the models.
    pub model: Option<String>,
}

/// A key. It is in no `Debug` output.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct ApiKey(String);

impl ApiKey {
    /// Hides `text`.
    pub fn new(text: impl Into<String>) -> Self {
        ApiKey(text.into())
    }

    /// Returns the key itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("…")
    }
}

/// A question of the person about a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    /// The file's place in the proposal.
    pub file: usize,
    /// The hunk's place in the file.
    pub hunk: usize,
    /// The typed text.
    pub text: String,
}

/// A message as typed, with pasted texts put back in place.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Prompt {
    /// The typed text; mentions are in it as text.
    pub text: String,
}

/// The continuation of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Continuation {
    /// The turn goes on from where it stopped.
    Resume,
    /// The last request is sent again.
    Retry,
}

/// The reply to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// One of its choices, counted from 0.
    Choice(usize),
    /// The person's own words.
    Text(String),
    /// No person is there to answer.
    Nobody,
}

impl Reply {
    /// Returns the reply in words, for a model or a record of it.
    pub fn words(&self, choices: &[(String, String)]) -> String {
        match self {
            Reply::Choice(index) => choices.get(*index).map_or_else(String::new, |(short, _)| short.clone()),
            Reply::Text(text) => text.clone(),
            Reply::Nobody => NOBODY.into(),
        }
    }
}

/// The reply to a question where no person can answer.
const NOBODY: &str = "nobody is there to answer: decide by yourself, or say what you would need to know";

/// The word in [`Proposal::files`](crate::proposal::Proposal) for an undo of a part of what the session changed.
pub const UNDO: &str = "undo";

/// The kind of a change that undoes an undo.
pub const REDO: &str = "redo";

/// The words after `/review` that keep changes, and that restore what was there before.
pub const REVIEW_KEEP: &str = "keep";
/// See [`REVIEW_KEEP`].
pub const REVIEW_RESTORE: &str = "restore";
/// The word after `/env` that lets the next command begin again.
pub const ENVIRONMENT_CLEAR: &str = "clear";

impl RestoreRequest {
    /// Reads `turn`, or `[COUNT] [FILE…]`.
    pub fn undo(words: &str) -> Self {
        if words == "turn" {
            return RestoreRequest::Turn;
        }
        let mut words = words.split_whitespace().peekable();
        let count = words.peek().and_then(|word| word.parse().ok());
        if count.is_some() {
            words.next();
        }
        let files = words.map(|word| word.trim_start_matches('@').to_string()).collect();
        RestoreRequest::Undo { count: count.unwrap_or(1).max(1), files }
    }
}

/// The target of a restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RestoreRequest {
    /// `undo [COUNT] [FILE…]`: without files those of the newest changeset.
    Undo {
        /// The number of versions back, from 1.
        count: usize,
        /// Normalised paths.
        files: Vec<String>,
    },
    /// Undo the newest undo.
    Redo,
    /// The whole changeset with this id.
    Changeset(String),
    /// Everything since the changeset with this id, itself included: the state just before it.
    Since(String),
    /// Everything this session changed since a message of the person: which one, from 0 as they are shown.
    SinceMessage(usize),
    /// One file to one archived version.
    Version {
        /// Normalised path.
        path: String,
        /// Version id.
        version: String,
    },
    /// The changes of the last turn of this session.
    Turn,
    /// Changes that wait to be reviewed: `all`, or beginnings of their ids.
    Review {
        /// The names of the changes.
        names: Vec<String>,
        /// The reason, for the model; empty: nothing was said.
        reason: String,
    },
    /// One state of a file in place of another: the undo of a part of what the session changed.
    State {
        /// Normalised path.
        path: String,
        /// The present state, as it was shown.
        now: Box<State>,
        /// The new state.
        then: Box<State>,
    },
    /// The newest changeset of this session that made these lines of a file, or changed it at all.
    Origin {
        /// Normalised path.
        path: String,
        /// Lines of the file as it is now, from 0; an empty range is a place where lines were removed.
        lines: Option<std::ops::Range<usize>>,
        /// True: together with all else that its turn changed.
        turn: bool,
    },
    /// The handling of one file of the pending restore that was changed outside nebula.
    Foreign {
        /// The pending restore.
        proposal: ProposalId,
        /// Normalised path.
        path: String,
        /// The choice for it.
        choice: ForeignChoice,
    },
}

/// The session to open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionChoice {
    /// A new one.
    New,
    /// The newest of this project that is not in use.
    Continue,
    /// The one whose id begins so.
    Resume(String),
    /// A copy of the one whose id begins so.
    Fork(String),
}

/// A change of stored sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionChange {
    /// Give it a title.
    Rename(String, String),
    /// Delete it and its messages.
    Delete(String),
    /// Write it to a file in the workspace root; answered by a notice naming the file.
    Export(String, ExportFormat),
}

/// A file format for sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ExportFormat {
    Markdown,
    Json,
    Html,
}

impl ExportFormat {
    /// Returns the format called `md`, `json` or `html`.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "md" => Some(ExportFormat::Markdown),
            "json" => Some(ExportFormat::Json),
            "html" => Some(ExportFormat::Html),
            _ => None,
        }
    }
}

/// A setting that can change while running.
#[derive(Debug, Clone, PartialEq)]
pub enum Setting {
    /// Plan or agent.
    Mode(Mode),
    /// The model, or `PROVIDER:MODEL`; persisted.
    Model(String),
    /// The model's effort of thinking, or `auto`; persisted.
    Effort(String),
    /// The edit format by name; for this session.
    Format(String),
    /// The approval policy for this session.
    Approval(Approval),
    /// The theme by name; persisted.
    Theme(String),
    /// Trust this workspace's own configuration file; persisted.
    Trust,
    /// Mouse on or off; persisted.
    Mouse(bool),
    /// Any key of the configuration, persisted in the user's file.
    Config(String, String),
    /// Try to write memory's file again.
    RetryMemory,
}

/// The mode of the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Reads only.
    Plan,
    /// Reads, and proposes changes.
    #[default]
    Agent,
}

impl Mode {
    /// Returns `plan` or `agent`.
    pub fn word(self) -> &'static str {
        match self {
            Mode::Plan => "plan",
            Mode::Agent => "agent",
        }
    }
}

/// The approval policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Approval {
    /// The person, each time.
    #[default]
    Ask,
    /// Edits are accepted, but inexact ones.
    Edits,
    /// Edits are accepted and what can be undone runs; it waits to be looked at afterwards.
    Review,
    /// Edits are accepted and commands run, but those that nobody can undo.
    All,
    /// Accept nothing.
    None,
}

impl Approval {
    /// Returns `ask`, `edits`, `review`, `all` or `none`.
    pub fn word(self) -> &'static str {
        match self {
            Approval::Ask => "ask",
            Approval::Edits => "edits",
            Approval::Review => "review",
            Approval::All => "all",
            Approval::None => "none",
        }
    }

    /// Returns whether edits need no question.
    pub fn accepts_edits(self) -> bool {
        matches!(self, Approval::Edits | Approval::Review | Approval::All)
    }

    /// Reads the word.
    pub fn parse(word: &str) -> Option<Self> {
        let all = [Approval::Ask, Approval::Edits, Approval::Review, Approval::All, Approval::None];
        all.into_iter().find(|approval| approval.word() == word)
    }
}

/// A request for a listing.
#[derive(Debug, Clone, PartialEq)]
pub enum Query {
    /// This project's sessions; words search titles and messages, empty: all.
    Sessions(String),
    /// The end of one session's conversation, for the preview.
    Preview(String),
    /// Changesets, newest first, at most this many.
    Archive {
        /// The number to skip.
        skip: usize,
        /// The number to list.
        limit: usize,
        /// Words that must be in path or cause; empty: all.
        filter: String,
    },
    /// Versions of one file, oldest first.
    Versions(String),
    /// The state of a file at an archived version (`Some(id)`) or now.
    Bytes(String, Option<String>),
    /// Workspace files matching fuzzily, best first. Empty: the most likely ones.
    Files(String),
    /// A workspace file's beginning, for the preview.
    Text(String),
    /// Messages of this project's sessions.
    Search(String),
    /// Messages typed earlier in this project, newest first.
    Inputs,
    /// The person's prompts.
    Prompts,
    /// Models that the provider offers.
    Models,
    /// All that the session changed so far, as one proposal from the files as they were to the files as they are.
    SessionDiff,
    /// Active rules and the effective system prompt by part.
    Rules,
    /// Edits requested, applied, refused by model and format; tokens.
    Stats,
    /// Tokens and dollars of the session by turn and by model.
    Usage,
    /// The changes that nobody approved beforehand.
    Review,
    /// The files of these changes that wait.
    ReviewChange(Vec<String>, ReviewScope),
    /// The moments of the workspace.
    Timeline,
    /// The files that differ between the moments just before two changesets; none: now.
    Past {
        /// The earlier one.
        then: Option<String>,
        /// The one that it is compared with.
        until: Option<String>,
    },
    /// The authors of the lines of a file.
    Blame(String),
    /// Definitions of the workspace's store and source files, at most this many, and the conflicts to decide. What is
    /// read for an earlier question of this kind stops.
    Graph {
        /// Words that must all be in the name; empty: every definition.
        filter: String,
        /// The number to list.
        limit: usize,
    },
    /// A definition, by its identity.
    Definition(String),
    /// The contents of the context window, by part.
    Context,
    /// Results in the context window that can be left out.
    Results,
    /// The folder and the variables that commands left to the next one.
    Environment,
    /// The effective configuration with where each value comes from.
    Config,
}

//! What the agent tells a front end, and the values inside: the session, its entries and their states, what became of a
//! change.

use std::sync::Arc;
use std::time::Duration;

use super::{Approval, ItemId, Listing, Mode, Prompt, QueryId, QuestionId, SessionId, TurnId};
use crate::proposal::{Counts, Decision, Fate, HunkCount, Proposal, ProposalId, Rung, State};

/// Something that happened, and where.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// The session it belongs to; none: it concerns the whole process.
    pub session: Option<SessionId>,
    /// What happened.
    pub body: EventBody,
}

/// What may be told to a front end.
#[derive(Debug, Clone, PartialEq)]
pub enum EventBody {
    /// A session is open: clear the chat; what was said in it follows as [`EventBody::Recalled`].
    Opened(SessionInfo),
    /// The entries of the session that was opened, oldest first: each as if it were [`EventBody::Added`] now. One event,
    /// because a long session has thousands.
    Recalled(Vec<(ItemId, Item)>),
    /// Something of the status line changed.
    Status(Status),
    /// Not sent, and why: the text goes back into the input.
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
    /// A proposal waits for a decision. For a restore, one fate a file named in it or left out; for an edit, none.
    Proposed(Arc<Proposal>, Vec<Fate>),
    /// A proposal was decided by the policy, without the person; [`EventBody::Settled`] follows.
    Approved(Arc<Proposal>, Decision),
    /// A proposal waits no more.
    Settled(ProposalId, Outcome),
    /// The model asks.
    Asked(Question),
    /// A question waits no more.
    Answered(QuestionId),
    /// A changeset was made, by us or by another nebula.
    Archived(Changeset),
    /// Files changed on disk by someone else since the agent read them.
    Drifted(Vec<String>),
    /// Files of the workspace changed, came or went: a list of them may be old.
    FilesChanged,
    /// The request is tried again; `None`: over.
    Retrying(Option<Wait>),
    /// Tokens of one step, in and out; the session's sum is in the status.
    Usage(u64, u64),
    /// What `/commit` proposes.
    CommitMessage(String),
    /// No commit message came: a [`EventBody::Notice`] says why.
    CommitEnded,
    /// What was asked for.
    Answer(QueryId, Listing),
    /// Something to know in passing; what the chat keeps is an [`Item::Notice`].
    Notice(Notice),
}

/// The session that is open.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionInfo {
    /// UUIDv7.
    pub id: String,
    /// Title, if it has one yet.
    pub title: Option<String>,
    /// Whether it was resumed or forked, with how many messages.
    pub resumed: usize,
    /// The status line.
    pub status: Status,
}

/// What the status line and the welcome screen show.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Status {
    /// Name of the workspace's root folder.
    pub workspace: String,
    /// Plan or agent.
    pub mode: Mode,
    /// Who decides.
    pub approval: Approval,
    /// Model, `None` while no provider is connected.
    pub model: Option<String>,
    /// Provider's name (`openai`, `replay`) or the local server's.
    pub provider: String,
    /// The model is a recording.
    pub recording: bool,
    /// Edit format's name.
    pub format: String,
    /// Tokens of the session so far, in and out.
    pub tokens: u64,
    /// Dollars, for models with a configured price.
    pub cost: Option<f64>,
    /// Active rules.
    pub rules: Vec<RuleChip>,
    /// Changesets and files in the archive, once counted.
    pub archive: Option<(usize, usize)>,
    /// Memory could not be written: why the session lives in memory only.
    pub banner: Option<String>,
    /// Local ports that were tried without an answer, for the welcome screen.
    pub tried: Vec<u16>,
}

/// A rule that joined the prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleChip {
    /// File it comes from.
    pub path: String,
    /// Why it is active: `workspace`, `matches *.rs (src/a.rs)`.
    pub reason: String,
    /// Its size in bytes.
    pub bytes: usize,
}

/// One entry of the conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// A message of the person.
    User {
        /// What was typed.
        text: String,
        /// When.
        at: i64,
        /// What was attached.
        attached: Vec<Attached>,
    },
    /// Text of the model; grows.
    Answer {
        /// Markdown.
        text: String,
    },
    /// A thought of the model; grows.
    Thinking {
        /// Plain text.
        text: String,
        /// How long it took, once over.
        took: Option<Duration>,
    },
    /// A tool call, or an edit written in the text.
    Call(Call),
    /// Rules that joined the prompt here.
    Rules(Vec<RuleChip>),
    /// Something that happened, with what to do.
    Notice(Notice),
}

/// A file attached to a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attached {
    /// Path as mentioned, normalised.
    pub path: String,
    /// The lines attached, from 1, both included, where not all are.
    pub range: Option<(usize, usize)>,
    /// How many lines were attached, for texts.
    pub lines: Option<usize>,
    /// Bytes.
    pub bytes: usize,
}

/// A tool call as the screen shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Tool name, or the name of the edit format's tag for edits in text.
    pub name: String,
    /// What it did, in words.
    pub verb: Verb,
    /// Main argument: a path, or words in quotes.
    pub main: String,
    /// Arguments as they arrived; grows by [`super::EventBody::Grew`].
    pub arguments: String,
    /// How far it is.
    pub state: CallState,
    /// Result in a word or two: `38 lines`, `2 files`.
    pub summary: String,
    /// Lines added and removed, for edits.
    pub counts: Option<Counts>,
    /// The edit as a small diff, or the result's first lines.
    pub preview: Vec<PreviewLine>,
    /// Whole result as the model got it, once there.
    pub result: Option<String>,
    /// Why it failed or was refused, in one line.
    pub reason: Option<String>,
    /// How the place of the edit was found.
    pub rung: Option<Rung>,
    /// How long it ran, once over.
    pub took: Option<Duration>,
}

/// What a call did: `read` and `file` in `read 2 files`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verb {
    /// What was done.
    pub done: String,
    /// One of what it was done to.
    pub one: String,
}

/// A line of a call's preview.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreviewLine {
    /// `+`, `-` or a space.
    pub sign: char,
    /// The line without its ending.
    pub text: String,
}

/// How far a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallState {
    /// Its arguments are arriving.
    Streaming,
    /// It waits its turn.
    Waiting,
    /// It waits for the person.
    Asking,
    /// It runs.
    Running,
    /// It is done.
    Done,
    /// The person or the mode refused it, wholly or in part.
    Refused,
    /// It failed.
    Failed,
    /// It was interrupted.
    Interrupted,
}

impl CallState {
    /// Whether it will not change any more.
    pub fn is_final(self) -> bool {
        matches!(self, CallState::Done | CallState::Refused | CallState::Failed | CallState::Interrupted)
    }
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnEnd {
    /// The model is done.
    Done,
    /// The person stopped it.
    Interrupted,
    /// It failed; a notice in the chat says why.
    Failed {
        /// What happened.
        message: String,
        /// What to do.
        hint: String,
        /// [`super::Command::GoOn`] makes sense.
        resumable: bool,
    },
    /// It stopped to ask whether to go on: step limit, or the same call three times.
    Asking(String),
}

/// What became of a proposal.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// Written.
    Applied {
        /// Hunks.
        hunks: HunkCount,
        /// The changeset that holds what was overwritten.
        changeset: Option<String>,
    },
    /// Nothing was accepted.
    Refused,
    /// A file was not as it had been read; nothing was written.
    Conflict {
        /// Which.
        path: String,
        /// As the proposal knew it.
        expected: State,
        /// As it is.
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
}

/// A changeset in the archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changeset {
    /// UUIDv7.
    pub id: String,
    /// When, from the id.
    pub at: i64,
    /// Title: the words of the prompt, `undo of …`, `shi`; empty when unknown.
    pub cause: String,
    /// Made by this process, by another nebula, or unknown.
    pub by: String,
    /// The files.
    pub files: Vec<ChangesetFile>,
}

/// A file in a changeset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangesetFile {
    /// Normalised path.
    pub path: String,
    /// Its archived version.
    pub version: String,
    /// The file did not exist before.
    pub absent: bool,
    /// Lines added and removed by the change that followed, when known.
    pub counts: Option<Counts>,
}

/// A pause before the next try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wait {
    /// The number of the next try.
    pub attempt: u32,
    /// Of how many.
    pub of: u32,
    /// When it happens.
    pub until: i64,
    /// What happened: `api.openai.com asks to wait (429)`.
    pub why: String,
}

/// How much a notice matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Good to know.
    Info,
    /// Something was refused or needs care.
    Warning,
    /// Something failed.
    Error,
    /// An answer broke off or was interrupted.
    Broken,
}

/// What happened, what it means, what to press.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// How much it matters.
    pub level: Level,
    /// What happened, in one line.
    pub title: String,
    /// What that means for files and words.
    pub detail: String,
    /// What can be done from here.
    pub actions: Vec<NoticeAction>,
}

impl Notice {
    /// One that offers nothing.
    pub fn new(level: Level, title: impl Into<String>, detail: impl Into<String>) -> Self {
        Notice { level, title: title.into(), detail: detail.into(), actions: Vec::new() }
    }
}

/// Something a notice offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoticeAction {
    /// `Enter go on from here`.
    GoOn,
    /// `r ask again`.
    AskAgain,
    /// `Ctrl-O another model`.
    ChooseModel,
    /// `Enter what changed`: the file between what was read and what is there.
    ShowChange(String),
    /// `o open the file`.
    OpenFile(String),
    /// Try memory again.
    RetryMemory,
}

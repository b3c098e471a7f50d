//! What crosses the channels between a front end and the agent: [`Command`] down, [`Event`] up, and the
//! plain values inside them. No closures, no handles, no serialisation: disk and `--json` have their own records.
//!
//! Rules, each with a test: order is kept and nothing is lost; only neighbouring [`Event::Grew`] of one item may
//! be merged, by the receiver; every [`Event::TurnStarted`] gets one [`Event::TurnEnded`], every
//! [`Event::Proposed`] one [`Event::Settled`], every [`Item::Call`] reaches a final [`CallState`]; a resumed
//! session arrives as the same [`Event::Added`] a live one sends. Times are unix milliseconds.

use std::sync::Arc;
use std::time::Duration;

use crate::proposal::{Counts, Decision, Fate, ForeignChoice, HunkCount, Proposal, ProposalId, Rung, State};

/// Names one entry of the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ItemId(pub u64);
/// Names one turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TurnId(pub u64);
/// Names a question of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct QuestionId(pub u64);
/// Names a request for a listing; chosen by the asker, and echoed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct QueryId(pub u64);

/// What may be asked of the agent.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// A message for the model. Sent mid-turn it comes back as [`Event::Returned`]: the queue lives in the front end.
    Submit(Prompt),
    /// After the step limit or an answer that broke off.
    GoOn(How),
    /// What was said of a proposal.
    Decide(ProposalId, Decision),
    /// The answer to a question of the model.
    Reply(QuestionId, String),
    /// Undo, redo and restores from the archive pane: answered by [`Event::Proposed`], or a notice.
    Restore(RestoreRequest),
    /// Stop the running turn at once; or withdraw the pending restore.
    Interrupt,
    /// Do not wait any longer before trying again.
    Hurry,
    /// Open a session; clears the screen's.
    Open(SessionChoice),
    /// Change a stored session.
    Sessions(SessionChange),
    /// Change a setting; what persists is written by the agent.
    Set(Setting),
    /// Ask for a listing: answered by [`Event::Answer`] with the same id.
    Ask(QueryId, Query),
    /// Summarise the conversation so far; the summary is shown before it counts.
    Compact,
    /// Pin or run things outside a turn: write the session to a file.
    Export(ExportFormat),
    /// Propose a commit message from the staged diff; answered by [`Event::CommitMessage`].
    DraftCommit,
    /// Commit what is staged with this message, as the person edited it.
    Commit(String),
    /// Interrupt, let an apply in progress finish, save, close.
    Shutdown,
}

/// A message as typed, with pasted texts put back in place.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Prompt {
    /// What the person wrote; mentions are in it as text.
    pub text: String,
}

/// How to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// From where it stopped.
    On,
    /// Ask the last request again.
    Again,
}

/// What to restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RestoreRequest {
    /// `undo [COUNT] [FILE…]`: without files those of the newest changeset.
    Undo {
        /// How many versions back, from 1.
        count: usize,
        /// Normalised paths.
        files: Vec<String>,
    },
    /// Take back the newest undo.
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
    /// What the last turn of this session changed.
    Turn,
    /// What was said of one foreign file of the pending restore.
    Foreign {
        /// The pending restore.
        proposal: ProposalId,
        /// Normalised path.
        path: String,
        /// What becomes of it.
        choice: ForeignChoice,
    },
}

/// Which session to open.
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
    /// Write it to a file beside the workspace's root; answered by a notice naming the file.
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

/// A setting that can change while running.
#[derive(Debug, Clone, PartialEq)]
pub enum Setting {
    /// Plan or agent.
    Mode(Mode),
    /// The model; persisted.
    Model(String),
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
    /// Look again for a local server, and connect to what is found.
    Reconnect,
    /// Try to write memory's file again.
    RetryMemory,
}

/// What the agent may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Reads only.
    Plan,
    /// Reads, and proposes changes.
    #[default]
    Agent,
}

impl Mode {
    /// `plan` or `agent`.
    pub fn word(self) -> &'static str {
        match self {
            Mode::Plan => "plan",
            Mode::Agent => "agent",
        }
    }
}

/// Who decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Approval {
    /// The person, each time.
    #[default]
    Ask,
    /// Edits are accepted, but inexact ones.
    Edits,
    /// Edits, and the commands of a later step.
    All,
    /// Nothing is accepted.
    None,
}

impl Approval {
    /// `ask`, `edits`, `all` or `none`.
    pub fn word(self) -> &'static str {
        match self {
            Approval::Ask => "ask",
            Approval::Edits => "edits",
            Approval::All => "all",
            Approval::None => "none",
        }
    }

    /// Reads the word.
    pub fn parse(word: &str) -> Option<Self> {
        [Approval::Ask, Approval::Edits, Approval::All, Approval::None].into_iter().find(|a| a.word() == word)
    }
}

/// A listing that can be asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum Query {
    /// This project's sessions; words search titles and messages, empty: all.
    Sessions(String),
    /// The end of one session's conversation, for the preview.
    Preview(String),
    /// Changesets, newest first, at most so many.
    Archive {
        /// How many to skip.
        skip: usize,
        /// How many to list.
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
    /// Active rules and the effective system prompt by part.
    Rules,
    /// Edits asked, landed, refused by model and format; tokens.
    Stats,
    /// The effective configuration with where each value comes from.
    Config,
}

/// What may be told to a front end.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A session is open: clear the chat; what was said in it follows as [`Event::Recalled`].
    Opened(SessionInfo),
    /// The entries of the session that was opened, oldest first: each as if it were [`Event::Added`] now. One event,
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
    /// A proposal was decided by the policy, without the person; [`Event::Settled`] follows.
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
    /// No commit message came: a [`Event::Notice`] says why.
    CommitEnded,
    /// What was asked for.
    Answer(QueryId, Listing),
    /// Something to know; also kept in the chat when `item` is set.
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
    /// Main argument: a path, or words in quotes.
    pub main: String,
    /// Arguments as they arrived; grows by [`Event::Grew`].
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
        /// [`Command::GoOn`] makes sense.
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

/// What was asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum Listing {
    /// Sessions, newest first.
    Sessions(Vec<SessionRow>),
    /// The end of a session.
    Preview(SessionPreview),
    /// Changesets, newest first, and how many there are in all.
    Archive {
        /// This part.
        rows: Vec<Changeset>,
        /// Changesets in the archive.
        total: usize,
        /// Files in the archive.
        files: usize,
    },
    /// Versions of one file, oldest first, and what it is now.
    Versions {
        /// Normalised path.
        path: String,
        /// Archived ones.
        versions: Vec<VersionRow>,
        /// How today's state came about, if not by nebula.
        foreign: bool,
        /// Lines between the newest version and now.
        now: Option<Counts>,
    },
    /// A state of a file.
    Bytes(String, Option<String>, Arc<State>),
    /// Files, best first, and how many the index knows; `false`: the walk still runs.
    Files {
        /// Path and the byte positions of matched letters.
        hits: Vec<(String, Vec<u32>)>,
        /// How many files the index holds.
        total: usize,
        /// The walk is over.
        complete: bool,
    },
    /// A file's beginning.
    Text {
        /// Normalised path.
        path: String,
        /// At most 64 KiB of it; `None`: not a text.
        text: Option<String>,
        /// Lines in all.
        lines: usize,
        /// Size in bytes.
        bytes: u64,
    },
    /// Found messages: session id, title, snippet.
    Search(Vec<(String, String, String)>),
    /// Earlier inputs, newest first.
    Inputs(Vec<String>),
    /// The person's prompts, by name.
    Prompts(Vec<PromptRow>),
    /// Models by name.
    Models(Vec<String>),
    /// The rules, and the effective system prompt.
    Rules(RulesView),
    /// A table to show as it is.
    Table {
        /// Its title.
        title: String,
        /// Markdown.
        text: String,
    },
    /// It could not be listed.
    Failed(String),
}

/// A prompt of the person's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptRow {
    /// What it is called by: `/prompt NAME`.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Its arguments, as they are typed: `FILE FOCUS`.
    pub usage: String,
    /// Where its file is.
    pub path: String,
}

/// All rules of the workspace, and the system prompt made with those that apply.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RulesView {
    /// Rules that apply.
    pub active: Vec<RuleChip>,
    /// Rules that wait for a file to match: path and globs.
    pub waiting: Vec<(String, String)>,
    /// Rules that cannot be used, and why, a line each.
    pub complaints: Vec<String>,
    /// The effective system prompt.
    pub parts: Vec<RulePart>,
}

/// A part of the effective system prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RulePart {
    /// Where it comes from.
    pub origin: String,
    /// Why it is there.
    pub reason: String,
    /// The text.
    pub text: String,
}

/// A session in the picker.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionRow {
    /// UUIDv7.
    pub id: String,
    /// Its title, or its first words.
    pub title: String,
    /// Open, in use, or ended.
    pub state: SessionState,
    /// Messages.
    pub messages: usize,
    /// Model used last.
    pub model: String,
    /// When something was last said.
    pub at: i64,
}

/// What a stored session is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionState {
    /// Its process is gone and did not close it.
    Open,
    /// Another nebula has it.
    InUse,
    /// Closed.
    Ended,
}

/// The end of a session's conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionPreview {
    /// Whose.
    pub id: String,
    /// The last entries, oldest first.
    pub items: Vec<Item>,
    /// Files it touched, and whether someone else changed them since (when).
    pub files: Vec<(String, Option<i64>)>,
    /// Dollars, when known.
    pub cost: Option<f64>,
    /// Lines changed.
    pub counts: Counts,
    /// Open, in use, or ended.
    pub state: SessionState,
}

/// A version of a file in the archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionRow {
    /// UUIDv7.
    pub id: String,
    /// When, from the id.
    pub at: i64,
    /// The file did not exist.
    pub absent: bool,
    /// What caused the change that followed.
    pub cause: String,
    /// Lines that the change after it added and removed, when known.
    pub counts: Option<Counts>,
    /// Size in bytes.
    pub bytes: u64,
}

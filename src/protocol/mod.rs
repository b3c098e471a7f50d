//! What crosses the channels between a front end and the agent: [`Command`] down, [`Event`] up, and the
//! plain values inside them. No closures, no handles, no serialisation: disk and `--json` have their own records.
//!
//! Rules, each with a test: order is kept and nothing is lost; only neighbouring [`Event::Grew`] of one item may
//! be merged, by the receiver; every [`Event::TurnStarted`] gets one [`Event::TurnEnded`], every
//! [`Event::Proposed`] one [`Event::Settled`], every [`Item::Call`] reaches a final [`CallState`]; a resumed
//! session arrives as the same [`Event::Added`] a live one sends. Times are unix milliseconds.

mod asked;
mod listing;
mod told;

use std::sync::Arc;

use crate::proposal::{Decision, Fate, Proposal, ProposalId};

pub use asked::{
    Approval, ExportFormat, How, Mode, Prompt, Query, RestoreRequest, SessionChange, SessionChoice, Setting,
};
pub use listing::{Listing, PromptRow, RulePart, RulesView, SessionPreview, SessionRow, SessionState, VersionRow};
pub use told::{
    Attached, Call, CallState, Changeset, ChangesetFile, Item, Level, Notice, NoticeAction, Outcome, PreviewLine,
    Question, RuleChip, SessionInfo, Status, TurnEnd, Wait,
};

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

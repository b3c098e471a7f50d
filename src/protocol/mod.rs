//! The values that cross the channels between a front end and the agent: [`Command`] down, [`Event`] up, and the plain
//! values inside them. No closures, no handles, no serialisation: disk and `--json` have their own records.
//!
//! Several sessions run side by side. An event carries the session it belongs to; a command is for the session that
//! [`Addressed`] names, or for the one opened last.
//!
//! Rules, each with a test: order is kept and nothing is lost; only neighbouring [`EventBody::Grew`] of one item may
//! be merged, by the receiver; every [`EventBody::TurnStarted`] gets one [`EventBody::TurnEnded`], every
//! [`ProposalEvent::Proposed`] one [`ProposalEvent::Settled`], every [`Item::Call`] reaches a final [`CallState`]; a resumed
//! session arrives as the same [`EventBody::Added`] a live one sends. Names of entries, turns, proposals and questions
//! are unique across sessions. Times are unix milliseconds.

mod cause;
mod command;
mod command_card;
mod command_event;
mod cost;
mod event;
mod graph;
mod item;
mod listing;
mod past;
mod review;
mod unsent;

use std::ops::Deref;
use std::sync::Arc;

pub use cause::Cause;
pub use command::{
    Addressed, ApiKey, Approval, Command, Comment, ConnectForm, Continuation, ENVIRONMENT_CLEAR, ExportFormat, Mode,
    Prompt, Query, REDO, REVIEW_KEEP, REVIEW_RESTORE, Reply, RestoreRequest, SessionChange, SessionChoice, Setting,
    UNDO,
};
pub use command_card::{CardPart, CommandCard, CommandClass, CommandDecision};
pub use command_event::{ChangedPath, CommandBegan, CommandEnd, CommandEvent, CommandHold};
pub use cost::Cost;
pub use event::{
    Event, EventBody, HoldCard, KeyPlaces, ModelFileRow, Outcome, ProposalEvent, ProposalTest, Question, SessionInfo,
    Status, StepUsage, TestState, TurnEnd, Wait,
};
pub use graph::{
    ConflictChoice, ConflictRow, DefinitionDetail, DefinitionRow, FaultRow, GraphLink, GraphLinks, GraphPage, OpRow,
};
pub use item::{
    Attached, Call, CallChange, CallState, Changeset, ChangesetFile, DecidedHold, Item, Level, Notice, NoticeAction,
    PREVIEW, PreviewLine, RuleChip, Undone, UndoneChange, Verb,
};
pub use listing::{
    Listing, ModelRow, OnDisk, PromptRow, RulePart, RulesView, SessionPreview, SessionRow, SessionState, VersionRow,
    WindowResult,
};
pub use past::{BlameCause, BlamedFile, MomentRow, PastChange, PastFile, PastKind};
pub use review::{ReviewChange, ReviewRow, ReviewScope, ReviewTurn, ReviewVerdict, ReviewedFile};
pub use unsent::Unsent;

/// Names one session: its id in memory.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SessionId(Arc<str>);

impl From<String> for SessionId {
    fn from(id: String) -> Self {
        SessionId(id.into())
    }
}

impl Deref for SessionId {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl std::borrow::Borrow<str> for SessionId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// Names one entry of the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ItemId(pub u64);
/// Names one turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TurnId(pub u64);
/// Names a question of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QuestionId(pub u64);
/// Names a request for a listing; chosen by the asker, and echoed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct QueryId(pub u64);

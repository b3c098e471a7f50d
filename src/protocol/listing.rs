//! The answers to a [`super::Query`]: lists and their rows.

use std::sync::Arc;

use super::cost::Cost;
use super::graph::{DefinitionDetail, GraphPage};
use super::item::{Changeset, Item, RuleChip};
use super::past::{BlamedFile, MomentRow, PastChange};
use super::review::{ReviewChange, ReviewTurn};
use crate::proposal::{Counts, Proposal, State};

/// The answer to a query.
#[derive(Debug, Clone, PartialEq)]
pub enum Listing {
    /// Sessions, newest first.
    Sessions(Vec<SessionRow>),
    /// The end of a session.
    Preview(SessionPreview),
    /// Changesets, newest first, and how many there are in all.
    Archive {
        /// The changesets of this page.
        rows: Vec<Changeset>,
        /// Changesets that the filter leaves.
        found: usize,
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
        /// The present state was not written by nebula.
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
        /// The number of files in the index.
        total: usize,
        /// The walk is over.
        complete: bool,
    },
    /// All that the session changed; none: nothing.
    SessionDiff(Option<Arc<Proposal>>),
    /// A file's beginning.
    Text {
        /// Normalised path.
        path: String,
        /// The text, at most 64 KiB of it; `None`: not a text.
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
    /// Models, those of the connected provider first.
    Models(Vec<ModelRow>),
    /// Results in the context window that are sent whole, largest first.
    Results(Vec<WindowResult>),
    /// The rules, and the effective system prompt.
    Rules(RulesView),
    /// The changes that wait to be reviewed, oldest first.
    Review(Vec<ReviewTurn>),
    /// The files of some of them.
    ReviewChange(ReviewChange),
    /// The moments of the workspace, oldest first.
    Timeline(Vec<MomentRow>),
    /// The files that differ between two of them.
    Past(PastChange),
    /// A file with the causes of its lines.
    Blame(BlamedFile),
    /// The definitions of the workspace's store.
    Graph(GraphPage),
    /// One of them, with what is around it.
    Definition(Box<DefinitionDetail>),
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

/// A model to choose.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModelRow {
    /// The name it is chosen by: `NAME` at the connected provider, else `PROVIDER:NAME`.
    pub name: String,
    /// The provider that serves it.
    pub provider: String,
    /// Tokens that fit it, where that is known.
    pub window: Option<u32>,
    /// Dollars a million tokens, in and out, where they are known.
    pub price: Option<(f64, f64)>,
    /// The date of the price, where it is one of the built-in table.
    pub price_as_of: Option<String>,
    /// True if it reads images.
    pub images: bool,
    /// True if it reads PDFs.
    pub pdfs: bool,
    /// The date since when it is not served any more.
    pub retired: Option<String>,
}

/// A result in the context window that can be left out; see [`super::Command::LeaveOut`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WindowResult {
    /// Its place in the conversation.
    pub index: usize,
    /// Its call and its length: `readFile src/a.rs: 118 lines`.
    pub name: String,
    /// Tokens that it takes.
    pub tokens: u64,
}

/// A prompt of the person's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptRow {
    /// The name it is called by: `/prompt NAME`.
    pub name: String,
    /// Its purpose.
    pub description: String,
    /// Its arguments, as they are typed: `FILE FOCUS`.
    pub usage: String,
    /// The path of its file.
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
    /// Its origin.
    pub origin: String,
    /// The reason why it applies.
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
    /// The time of the last message.
    pub at: i64,
}

/// The state of a stored session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionState {
    /// Its process has ended and did not close it.
    Open,
    /// This process has it open.
    Here,
    /// Another nebula has it.
    InUse,
    /// Closed.
    Ended,
}

/// A file on disk, compared with what nebula last wrote to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnDisk {
    /// It is as nebula left it.
    AsLeft,
    /// It was changed outside nebula.
    Changed {
        /// The time, in unix milliseconds, where there still is a file to tell it.
        at: Option<i64>,
    },
}

/// The end of a session's conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionPreview {
    /// The session's id.
    pub id: String,
    /// The last entries, oldest first.
    pub items: Vec<Item>,
    /// Files it touched.
    pub files: Vec<(String, OnDisk)>,
    /// Dollars, when known.
    pub cost: Option<Cost>,
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
    /// Its time, from the id.
    pub at: i64,
    /// The file did not exist.
    pub absent: bool,
    /// The cause of the change that followed.
    pub cause: String,
    /// Lines that the change after it added and removed, when known.
    pub counts: Option<Counts>,
    /// Size in bytes.
    pub bytes: u64,
}

//! The past of the workspace for the screen: its moments, the files that were others, and who wrote each line of one.

use std::sync::Arc;

use crate::proposal::Proposal;

/// The origin of a state or a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PastKind {
    /// An edit of the model, or a patch.
    Edit,
    /// A command.
    Command,
    /// An undo, a redo or a restore.
    Restore,
    /// Someone outside nebula.
    Outside,
    /// It was there before nebula.
    Before,
}

/// A moment: just before a changeset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MomentRow {
    /// The changeset.
    pub id: String,
    /// The time when it was made, in unix milliseconds.
    pub at: i64,
    /// Its kind.
    pub kind: PastKind,
    /// The session and the message that began the turn; none: no turn made it.
    pub turn: Option<(String, i64)>,
    /// The person's words that began the turn, else what made it.
    pub title: String,
    /// The text of the command that made it, or the name of the edit.
    pub cause: String,
    /// Files that it changed.
    pub files: usize,
}

/// The files that differ between two moments.
#[derive(Debug, Clone, PartialEq)]
pub struct PastChange {
    /// The change from the earlier to the later moment, file by file.
    pub change: Arc<Proposal>,
    /// The facts about each file of it, in its order.
    pub files: Vec<PastFile>,
    /// A line for each changeset that cannot be read.
    pub unreadable: Vec<String>,
}

/// A file that was another one at a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastFile {
    /// The oldest version since; none: only someone outside nebula changed it since, or nebula made the folder.
    pub version: Option<String>,
    /// Someone changed it outside nebula between these two times, which the moment lies between: it is shown as nebula
    /// left it, or, where that was not kept, as the next change met it.
    pub outside: Option<(i64, i64)>,
    /// It is shown as nebula left it.
    pub is_left: bool,
    /// It is not known whether someone changed it outside nebula between the moment and the next change.
    pub unsure: bool,
}

/// A file with the cause of each of its lines.
#[derive(Debug, Clone, PartialEq)]
pub struct BlamedFile {
    /// Normalised path.
    pub path: String,
    /// The file as it is.
    pub text: Arc<str>,
    /// The causes.
    pub causes: Vec<BlameCause>,
    /// The cause of each line, by its place among them.
    pub lines: Vec<usize>,
    /// The commit of each line in words; none: it is in none, or git was not asked.
    pub commits: Vec<Option<Arc<str>>>,
}

/// The cause of lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlameCause {
    /// Its kind.
    pub kind: PastKind,
    /// The lines may be someone else's.
    pub unsure: bool,
    /// The time of its changeset, in unix milliseconds; of a change outside nebula that of the first changeset after it.
    pub at: Option<i64>,
    /// The changeset.
    pub changeset: Option<String>,
    /// The session and the message that began the turn.
    pub turn: Option<(String, i64)>,
    /// The person's words that began the turn.
    pub prompt: String,
    /// The time at which they were sent, in unix milliseconds, where it is known.
    pub prompted_at: Option<i64>,
    /// The command's text, or what made the change in words.
    pub title: String,
}

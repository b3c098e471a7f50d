//! Commands of a session as they go, for programs that follow one.

use std::collections::BTreeMap;

use super::ItemId;

/// A command as it goes.
#[derive(Debug, Clone, PartialEq)]
pub enum CommandEvent {
    /// It was started, or refused.
    Began(CommandBegan),
    /// Lines that it printed.
    Printed {
        /// Its id, as in `c7`.
        id: String,
        /// The number of lines before these that are left out: there were too many at once.
        missed: usize,
        /// The lines, each with its end.
        text: String,
        /// The line after them that is not over yet, for screens.
        begun: String,
    },
    /// A call of it waited for the person, and was decided about.
    Held(CommandHold),
    /// Its call is answered; of a job the end follows as another one.
    Ended(CommandEnd),
}

impl CommandEvent {
    /// Returns whether it says nothing but how far an unfinished line is.
    pub fn is_for_screens(&self) -> bool {
        matches!(self, CommandEvent::Printed { missed: 0, text, .. } if text.is_empty())
    }
}

/// A command that was started, or refused.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandBegan {
    /// Its id, as in `c7`; none: it was not started.
    pub id: Option<String>,
    /// Its text.
    pub text: String,
    /// Its class.
    pub class: &'static str,
    /// Its grant.
    pub grant: &'static str,
    /// The keeper of the states before.
    pub keeper: &'static str,
    /// The decision: `allowed`, `policy`, `rule`, `refused`, `edited`.
    pub decision: &'static str,
    /// It is the person's own: no call of the model waits for it.
    pub by_person: bool,
    /// The entry of its call in the conversation; none: it has none, or was not started.
    pub entry: Option<ItemId>,
}

/// A call of a command that waited for the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandHold {
    /// The command's id, as in `c7`.
    pub id: String,
    /// The name of the call.
    pub call: String,
    /// The path, or the port.
    pub path: String,
    /// The decision: `allowed`, `all`, `unkept`, `refused`, `unanswered`, `stopped`; `gone`: its process ended before.
    pub decision: &'static str,
}

/// The end of a command, or of its call.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CommandEnd {
    /// Its id, as in `c7`.
    pub id: String,
    /// The shell's exit code.
    pub exit: Option<i32>,
    /// The signal that ended the shell.
    pub signal: Option<i32>,
    /// It was ended: by the person, the model or its limit.
    pub stopped: bool,
    /// The shell's duration in milliseconds.
    pub ms: Option<u64>,
    /// The changeset of its changes; of a job that of the last ones.
    pub changeset: Option<String>,
    /// The changesets before it, oldest first: someone else changed some of its files meanwhile.
    pub earlier: Vec<String>,
    /// The changes in it. Of a preview those that were taken.
    pub changed: Vec<ChangedPath>,
    /// Folders that can be rebuilt, with the changes in each that were not archived.
    pub derived: BTreeMap<String, u64>,
    /// Paths that were not archived, each with why.
    pub not_archived: Vec<(String, String)>,
    /// The reason why its changes are not archived yet; the next command in the workspace tries again.
    pub archive_error: Option<String>,
    /// Writes that were refused.
    pub refused_writes: u64,
    /// Writes among them that nobody answered for.
    pub unanswered_writes: u64,
    /// Connections that were refused.
    pub refused_connections: u64,
    /// It runs on as a job.
    pub running: bool,
    /// The grant that it ran under; none: no sandbox.
    pub grant: Option<&'static str>,
    /// The keeper of the states before.
    pub keeper: &'static str,
}

/// A path that a command changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedPath {
    /// The path.
    pub path: String,
    /// The path that it had before, where it was moved.
    pub from: Option<String>,
    /// `made`, `changed`, `removed`, `mode` or `moved`.
    pub kind: &'static str,
    /// Lines added.
    pub added: usize,
    /// Lines removed.
    pub removed: usize,
}

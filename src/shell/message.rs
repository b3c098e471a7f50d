//! The messages between nebula and the helper of a command: one JSON value a line, over the helper's standard input.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, Write};
use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::places::{CopyLimits, PlaceSettings, holds_objects};
use super::sandbox::{Bounds, Grant};
use crate::archive::NotUndone;
use crate::text::number::plural;

/// The hidden name under which the program is a helper.
pub const HELPER: &str = "__command";
/// Paths of a kind that are named.
pub const NAMED: usize = 20;
/// Stands in the reason of a path that is not archived where the call was refused: it is as it was.
pub const CALL_REFUSED: &str = "the call was refused";

/// The order that starts a helper.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// The shell's program.
    pub shell: PathBuf,
    /// Its arguments; the text comes after them.
    pub arguments: Vec<String>,
    /// The text that it runs.
    pub text: String,
    /// The folder it runs in.
    pub folder: PathBuf,
    /// Its whole environment.
    pub variables: Vec<(String, String)>,
    /// The folder for states before; `None`: nothing is staged.
    pub staging: Option<PathBuf>,
    /// The setup of the guard, where it keeps the states.
    pub guard: Option<GuardStart>,
    /// The paths of its sandbox; none: it has none.
    pub bounds: Option<Bounds>,
    /// The view that it runs in; none: it runs in the workspace itself.
    #[serde(default)]
    pub view: Option<ViewStart>,
    /// Folders that are mounted so that it can only read them.
    #[serde(default)]
    pub only_read: Vec<PathBuf>,
    /// The calls that wait for the person; none: nobody is asked, and what would be asked is refused.
    #[serde(default)]
    pub holds: Option<HoldSettings>,
    /// Its output is a terminal, on which it leads a session of its own and from which it reads.
    #[serde(default)]
    pub terminal: bool,
    /// It reads the helper's standard error, which is open for reading alone; what it prints goes to standard output.
    #[serde(default)]
    pub input: bool,
}

/// The calls of a command that wait for the person.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct HoldSettings {
    /// Changes of files that act later wait too, but for those that were named.
    pub later: bool,
    /// The files that act later which the person saw that the command would change before they let it run.
    pub files: Vec<String>,
    /// The words of its text that may be sockets, which they saw as well.
    pub sockets: Vec<String>,
    /// The files that `archiveExclude` leaves out, which they saw as well.
    #[serde(default)]
    pub excluded: Vec<String>,
}

/// The reason why a call waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HoldReason {
    /// It changes a file that acts later without being read again.
    ActsLater,
    /// It changes a file in place that is larger than what is copied unasked.
    TooLarge,
    /// It changes a file whose state cannot be kept.
    Unkeepable,
    /// It changes a file that `archiveExclude` leaves out.
    Excluded,
    /// It connects to a port on this machine on which no command of the session listens.
    Port,
    /// It connects to a socket in the file system that is another program's.
    Socket,
}

/// A call that waits for the person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// Its number among those of its command.
    pub id: u64,
    /// The reason why it waits.
    pub reason: HoldReason,
    /// The calling thread.
    pub process: i32,
    /// The line of words that its process was started with.
    pub program: String,
    /// The name of the call.
    pub call: String,
    /// The path as it is listed, or the port.
    pub path: String,
    /// The size of the file in bytes, where there is one.
    pub bytes: Option<u64>,
    /// It may go on although its state is not kept.
    pub may_go_unkept: bool,
    /// The reason why its state cannot be kept.
    pub why: Option<String>,
}

/// The decision about a call that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HoldAnswer {
    /// It goes on; its state is kept before.
    Allow,
    /// It goes on, and so does every call that would wait for the same reason.
    AllowAll,
    /// It goes on although its state is not kept.
    Unkept,
    /// It fails.
    Refuse,
    /// It fails, as nobody decided: nobody is there, the time is over, or the command ends.
    Nobody,
}

/// The paths of a view, for the process that mounts it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ViewStart {
    /// The workspace's root.
    pub root: PathBuf,
    /// `.shaft`, which cannot be written in the view.
    pub home: PathBuf,
    /// The view's own folder, which nothing in the view sees.
    pub folder: PathBuf,
    /// The other folders that it lies over, for temporary files or a linked worktree's repository, and the folder in which
    /// the changes of each are kept.
    pub beside: Vec<(PathBuf, PathBuf)>,
}

/// The setup of a guard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuardStart {
    /// The workspace's root.
    pub root: PathBuf,
    /// The archive's folder.
    pub archive: PathBuf,
    /// Folders that no path may point into, nebula's own among them.
    pub protected: Vec<PathBuf>,
    /// Globs of what is not archived.
    pub exclude: Vec<String>,
    /// Folders outside the root that commands may write, and that are archived.
    pub folders: Vec<PathBuf>,
    /// The private files and folders in them.
    pub private: Vec<PathBuf>,
    /// The configuration of places.
    pub places: PlaceSettings,
    /// The limits on copies.
    pub limits: CopyLimits,
    /// The bounds that the guard alone knows of, where there is no sandbox.
    #[serde(default)]
    pub bounds: Option<Bounds>,
}

/// The notes about a command beside its changes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Summary {
    /// Folders that can be rebuilt, and in each the changes that were not archived.
    pub derived: BTreeMap<String, u64>,
    /// The folders among them, or beside them, that are gone as a whole.
    #[serde(default)]
    pub derived_gone: BTreeSet<String>,
    /// A state found no room: its call was refused.
    #[serde(default)]
    pub no_room: bool,
    /// Kept files in whose place someone else put others meanwhile.
    #[serde(default)]
    pub meanwhile: Vec<String>,
    /// There are more of them.
    #[serde(default)]
    pub more_meanwhile: bool,
    /// Writes that the person refused.
    #[serde(default)]
    pub said_no: u64,
    /// The first of them.
    #[serde(default)]
    pub first_said_no: Option<String>,
    /// Writes that would have needed the person's word, and got none.
    #[serde(default)]
    pub unanswered: u64,
    /// The first of them.
    #[serde(default)]
    pub first_unanswered: Option<String>,
    /// Writes that were refused without a question.
    pub refused: u64,
    /// The first of them.
    pub first_refused: Option<String>,
    /// One of them was beyond what its sandbox may write, which the person may change.
    #[serde(default)]
    pub is_beyond: bool,
    /// Writes of caches that are only read without the network: programs go on without them.
    #[serde(default)]
    pub caches: u64,
    /// The first of them.
    #[serde(default)]
    pub first_cache: Option<String>,
    /// Moves and links of private files that were refused.
    #[serde(default)]
    pub private: u64,
    /// The first of them.
    #[serde(default)]
    pub first_private: Option<String>,
    /// Paths that are not archived, each with why.
    pub not_archived: Vec<(String, String)>,
    /// The number of further ones.
    #[serde(default)]
    pub more_not_archived: u64,
    /// Connections that were refused.
    pub connections: u64,
    /// The target of the first of them.
    pub first_connection: Option<String>,
    /// Connections to abstract sockets, all of which are refused.
    #[serde(default)]
    pub abstracts: u64,
    /// The first of them.
    #[serde(default)]
    pub first_abstract: Option<String>,
}

impl Summary {
    /// Adds what came after.
    pub fn add(&mut self, more: Summary) {
        for (folder, count) in more.derived {
            *self.derived.entry(folder).or_default() += count;
        }
        self.derived_gone.extend(more.derived_gone);
        self.no_room |= more.no_room;
        more.meanwhile.into_iter().for_each(|path| self.add_meanwhile(path));
        self.said_no += more.said_no;
        self.first_said_no = self.first_said_no.take().or(more.first_said_no);
        self.unanswered += more.unanswered;
        self.first_unanswered = self.first_unanswered.take().or(more.first_unanswered);
        self.refused += more.refused;
        self.first_refused = self.first_refused.take().or(more.first_refused);
        self.is_beyond |= more.is_beyond;
        self.caches += more.caches;
        self.first_cache = self.first_cache.take().or(more.first_cache);
        self.private += more.private;
        self.first_private = self.first_private.take().or(more.first_private);
        self.not_archived.extend(more.not_archived);
        self.more_not_archived += more.more_not_archived;
        self.connections += more.connections;
        self.first_connection = self.first_connection.take().or(more.first_connection);
        self.abstracts += more.abstracts;
        self.first_abstract = self.first_abstract.take().or(more.first_abstract);
    }

    /// Notes a kept file in whose place someone else put another.
    pub fn add_meanwhile(&mut self, path: String) {
        if self.meanwhile.contains(&path) {
            return;
        }
        match self.meanwhile.len() < NAMED {
            true => self.meanwhile.push(path),
            false => self.more_meanwhile = true,
        }
    }

    /// Returns a line for each folder that can be rebuilt and was changed or is gone.
    pub fn derived_words(&self) -> impl Iterator<Item = String> + '_ {
        let gone =
            self.derived_gone.iter().map(|folder| format!("derived: {folder} removed (rebuild it; not archived)"));
        let changed = self.derived.iter().filter(|(folder, _)| !self.derived_gone.contains(*folder));
        gone.chain(changed.map(|(folder, count)| {
            let changes = plural_of(*count, "change");
            match holds_objects(folder) {
                true => format!("derived: {} ({changes}; what was added stays)", plain(folder)),
                false => format!("derived: {folder} ({changes}, not archived)"),
            }
        }))
    }

    /// Returns what an undo does not bring back, as far as is known, of a command with this grant; none: it ran in no
    /// sandbox. `left_out`: paths that a scan did not archive.
    pub fn not_undone(&self, grant: Option<Grant>, left_out: &[(String, String)]) -> Vec<NotUndone> {
        let gone = self.derived_gone.iter().map(|folder| NotUndone::new(folder, "removed; it can be rebuilt"));
        let changed = self.derived.iter().filter(|(folder, _)| !self.derived_gone.contains(*folder));
        // Without their number: a job is sealed several times, and each of its changesets names them.
        let changed = changed.map(|(folder, _)| match holds_objects(folder) {
            true => NotUndone::new(plain(folder), "what was added stays: once this is undone, no branch may name it"),
            false => NotUndone::new(folder, "changed; it can be rebuilt"),
        });
        // What was refused was not done.
        let paths = self.not_archived.iter().filter(|(_, why)| !why.contains(CALL_REFUSED)).chain(left_out);
        let named = paths.map(|(path, why)| NotUndone::new(path, format!("not archived: {why}")));
        let reached = match grant {
            Some(Grant::Online) => Some(NotUndone::new("network", "what was sent, and caches of package managers")),
            None => Some(NotUndone::new("outside the workspace", "it ran in no sandbox: nothing there is archived")),
            Some(Grant::Read | Grant::Workspace) => None,
        };
        let more = (self.more_not_archived > 0).then(|| NotUndone::new("further paths", "not archived"));
        gone.chain(changed).chain(named).chain(more).chain(reached).collect()
    }

    /// Returns a line for each file that someone else changed meanwhile.
    pub fn meanwhile_words(&self) -> impl Iterator<Item = String> + '_ {
        let named = self.meanwhile.iter().map(|path| format!("changed by someone else meanwhile: {path}"));
        named.chain(self.more_meanwhile.then(|| "changed by someone else meanwhile: further files".into()))
    }

    /// Returns a line where a state found no room.
    pub fn room_words(&self) -> Option<String> {
        self.no_room.then(|| "not enough room to archive: nothing unarchived was overwritten".into())
    }

    /// Returns a line for the writes that were refused, one for those that the person refused, and one for those that
    /// nobody answered for.
    pub fn refused_words(&self) -> impl Iterator<Item = String> + '_ {
        let line = |what: &str, count, first: &String| format!("{what}: {}, first {first}", plural_of(count, "write"));
        let said_no = self.first_said_no.iter().map(move |first| line("refused by the person", self.said_no, first));
        let unanswered = self.first_unanswered.iter();
        let unanswered = unanswered.map(move |first| line("not allowed, as nobody answered", self.unanswered, first));
        self.outside_words().into_iter().chain(self.private_words()).chain(said_no).chain(unanswered)
    }

    /// Returns a line for the writes that the sandbox refused.
    fn outside_words(&self) -> Option<String> {
        let first = self.first_refused.as_ref()?;
        Some(format!("refused: {} outside what it may write, first {first}", plural_of(self.refused, "write")))
    }

    /// Returns a line for the caches that were only read, for a command that failed.
    pub fn cache_words(&self) -> Option<String> {
        let first = self.first_cache.as_ref()?;
        Some(format!(
            "caches are only read without the network: {} refused, first {first}",
            plural_of(self.caches, "write")
        ))
    }

    /// Returns a line for the moves and links of private files that were refused.
    fn private_words(&self) -> Option<String> {
        let first = self.first_private.as_ref()?;
        let (count, words) = (self.private, if self.private == 1 { "move or link" } else { "moves or links" });
        Some(format!(
            "refused: {count} {words} of private files, first {first} (by another name the next command could read them)"
        ))
    }

    /// Returns a line for the writes and one for the connections that the sandbox refused.
    pub fn blocked_words(&self) -> impl Iterator<Item = String> + '_ {
        self.outside_words().into_iter().chain(self.private_words()).chain(self.connection_words())
    }

    /// Returns a line for each path that is not archived, and one for those that are not named.
    pub fn not_archived_words(&self) -> impl Iterator<Item = String> + '_ {
        let named = self.not_archived.iter().map(|(path, why)| format!("not archived: {path} ({why})"));
        let more = self.more_not_archived;
        named.chain((more > 0).then(|| format!("and {more} more are not archived")))
    }

    /// Returns a line for the connections that were refused.
    pub fn connection_words(&self) -> Option<String> {
        let first = self.first_connection.as_ref()?;
        Some(format!("no network: {} refused, first {first}", plural_of(self.connections, "connection")))
    }

    /// Returns a line for the connections to abstract sockets, which nothing lifts.
    pub fn abstract_words(&self) -> Option<String> {
        let first = self.first_abstract.as_ref()?;
        Some(format!("abstract sockets are closed: {} refused, first {first}", plural_of(self.abstracts, "connection")))
    }
}

/// Returns a folder as a person writes it: `/./` marks the root of a repository of a linked worktree.
fn plain(folder: &str) -> String {
    folder.replace("/./", "/")
}

fn plural_of(count: u64, word: &str) -> String {
    plural(usize::try_from(count).unwrap_or(usize::MAX), word)
}

/// An order to a running helper.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// End every process of the command.
    Stop,
    /// Keep states in this staging folder from now on.
    Switch(PathBuf),
    /// The decision about the call of this number that waits.
    Answer(u64, HoldAnswer),
}

/// The end of the shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// It ended with this code.
    Code(i32),
    /// It was ended by this signal.
    Signal(i32),
}

/// The reason why a command is over, where not by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// The person ended it.
    Person,
    /// It was ended after this many seconds.
    Limit(u64),
    /// The model ended it.
    Model,
    /// It ended with nebula.
    Nebula,
}

impl Stopped {
    /// Returns how it ended, in words.
    pub fn words(self) -> String {
        match self {
            Stopped::Person => "stopped by the person".into(),
            Stopped::Limit(seconds) => format!("stopped after {seconds} s"),
            Stopped::Model => "stopped".into(),
            Stopped::Nebula => "ended with nebula".into(),
        }
    }
}

/// A report of a helper.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HelperReport {
    /// The shell runs.
    Started(u32),
    /// The shell could not be started.
    NotStarted(String),
    /// No guard works here: why. Nothing was run.
    NoGuard(String),
    /// No sandbox works here: why. Nothing was run.
    NoSandbox(String),
    /// No view works here: why. Nothing was run.
    NoView(String),
    /// The version of the sandbox that the shell is in.
    Sandbox(String),
    /// States go into this staging folder; what is to be known of those before.
    Switched(PathBuf, Box<Summary>),
    /// The notes about the states since the last sealing.
    Summary(Box<Summary>),
    /// A call waits for the person.
    Held(Box<Hold>),
    /// The call of this number does not wait any more.
    HoldOver(u64),
    /// The shell has ended; the state it left, where it was written: its folder and exported variables.
    Exited(Exit, Option<ShellState>),
    /// The number of the command's processes that still run, a little after the shell's end.
    StillRun(usize),
    /// No process of the command is left.
    Ended,
    /// A notice for the person and the model.
    Notice(String),
}

/// The state that a shell leaves to the next one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ShellState {
    /// Its folder.
    pub folder: PathBuf,
    /// Its exported variables.
    pub variables: Vec<(String, String)>,
    /// They are all that it had: another one was unset.
    pub lists_all: bool,
}

/// Writes one value as a line.
///
/// # Errors
/// When the other end is gone.
pub fn send(to: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    to.write_all(&line)
}

/// Reads the next value; none at the end.
///
/// # Errors
/// When the line is none that is known here.
pub fn receive<T: DeserializeOwned>(from: &mut impl BufRead) -> io::Result<Option<T>> {
    let mut line = Vec::new();
    match from.read_until(b'\n', &mut line)? {
        0 => Ok(None),
        _ => Ok(Some(serde_json::from_slice(&line)?)),
    }
}

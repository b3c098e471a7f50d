//! The messages between nebula and the helper of a command: one JSON value a line, over the helper's standard input.

mod summary;

pub use summary::Summary;

use std::io::{self, BufRead, Write};
use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::places::{CopyLimits, PlaceSettings};
use super::sandbox::Bounds;

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
    /// Nobody is there who could let one go on.
    #[serde(default)]
    pub unattended: bool,
    /// The configurations of repositories that earlier commands of the session made.
    #[serde(default)]
    pub configs: Vec<MadeConfig>,
}

/// The configuration of a repository as a command of the session left it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MadeConfig {
    /// Its full path.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
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

//! A tool, whatever its origin: a value with its descriptions and an asynchronous run.

mod args;
mod builtin;
mod context;
pub mod drift;
mod output;
mod set;
#[cfg(feature = "strand")]
mod viewed;

use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

pub use args::Args;
pub use builtin::{Builtin, MainArgument, Run, texts};
pub use context::{ContentHash, FileVersion, Progress, ReadTarget, ToolContext};
#[cfg(feature = "strand")]
pub use output::StoreChange;
pub use output::{AtPath, CommandCall, FileRead, OutputBlock, RunResult, ToolOutput};
pub use set::ToolSet;
#[cfg(feature = "strand")]
pub use viewed::ViewedDefinitions;

use crate::edit::{Edit, names};
use crate::provider::ToolSpec;

/// A run under way. The error is for the model to read.
pub type ToolFuture<'a> = Pin<Box<dyn Future<Output = Result<RunResult, String>> + Send + 'a>>;

/// A tool: its descriptions for the model and for the screen, and its run.
pub trait Tool: Send + Sync {
    /// Returns what the model is told of it.
    fn spec(&self) -> ToolSpec;

    /// Returns whether it may only read, may change files, or asks the person.
    fn kind(&self) -> ToolKind;

    /// Returns whether it works on definitions of source files: such tools are offered where the workspace has some.
    fn is_of_code(&self) -> bool {
        false
    }

    /// Returns whether small models are not offered it: another tool or the person does the same.
    fn is_optional(&self) -> bool {
        false
    }

    /// Returns what else it and its parameters are called by models that write calls as text.
    fn aliases(&self) -> ToolAliases {
        ToolAliases::NONE
    }

    /// Returns what the screen says that it did.
    fn verb(&self) -> VerbForms;

    /// Returns the main argument of a call as the screen shows it: a path, or words in quotes.
    fn main(&self, args: &Value) -> String;

    /// Returns the edits that a call asks for, seen from its arguments alone; `None` where they are no edits.
    fn edits(&self, args: &Args) -> Option<Result<Vec<Edit>, String>> {
        let _ = args;
        None
    }

    /// Runs a call. It writes no file: the changes it wants are its result. It ends soon after `stop`; the caller need
    /// not wait.
    fn run(&self, context: ToolContext, args: Args, progress: Progress, stop: CancellationToken) -> ToolFuture<'_>;
}

/// The effect of a tool on the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolKind {
    /// Reads only; calls run side by side.
    Read,
    /// Reads what a command printed, like [`ToolKind::Read`].
    Output,
    /// Changes files, after approval; not in plan mode.
    Write,
    /// Changes a store of its own, after approval; not in plan mode.
    Store,
    /// Asks the person.
    Ask,
    /// Runs a command or ends one, after approval; in plan mode commands that only read run.
    Run,
}

impl ToolKind {
    /// Returns whether calls only read.
    pub fn reads(self) -> bool {
        matches!(self, ToolKind::Read | ToolKind::Output)
    }

    /// Returns whether calls change what plan mode leaves alone.
    pub fn changes(self) -> bool {
        matches!(self, ToolKind::Write | ToolKind::Store)
    }
}

/// The tools that a model is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OfferedTools {
    /// All tools.
    All,
    /// All tools but those that a small model does without.
    Small,
    /// The tools of plan mode: none that changes files; commands that only read run.
    Plan,
    /// The tools that change no files, where edits are written as text, and those of definitions.
    TextEdits,
    /// The tools that read or ask, where calls are written as text too, and those of definitions.
    Reading,
}

impl OfferedTools {
    /// All variants, in the order of the enum.
    pub const EACH: [OfferedTools; 5] =
        [OfferedTools::All, OfferedTools::Small, OfferedTools::Plan, OfferedTools::TextEdits, OfferedTools::Reading];
}

/// The verb of a call: `read` and `file` in `read 2 files`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerbForms {
    /// The verb in the past tense.
    pub done: Cow<'static, str>,
    /// The noun for one of its objects.
    pub one: Cow<'static, str>,
    /// The verb as a command and while the call runs, `read` and `reading`; none: the tool's name stands for it.
    pub forms: Option<(&'static str, &'static str)>,
}

/// Other names of a tool in calls that models write as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolAliases {
    /// Names that other programs give to such a tool.
    pub names: &'static [&'static str],
    /// Names of it that are plain words: they count in objects and tags that name a tool, not in code.
    pub words: &'static [&'static str],
    /// Other names of its parameters.
    pub parameters: &'static [(&'static str, &'static [&'static str])],
    /// The `command` values of other programs' editor tools that do the same.
    pub commands: &'static [&'static str],
    /// The tool that is meant where the arguments fit that one instead.
    pub instead: Option<&'static str>,
    /// True if it takes a patch.
    pub takes_patch: bool,
}

impl ToolAliases {
    /// None at all.
    pub const NONE: ToolAliases =
        ToolAliases { names: &[], words: &[], parameters: &[], commands: &[], instead: None, takes_patch: false };

    /// Other names for a parameter that is a file's path.
    pub const PATH: (&'static str, &'static [&'static str]) = ("path", names::PATH);
}

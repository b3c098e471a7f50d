//! The tools of the model. One file a tool, beside it what the model reads about it, and a line in [`BUILTIN`].
//!
//! Running a call writes nothing: it answers, asks, or says what should change. Neighbouring changes of one
//! response are joined into one proposal by the agent. A session has a [`ToolSet`], in which tools of servers stand
//! beside these.

mod ask;
mod base;
#[cfg(feature = "code")]
mod code;
mod command;
mod edit;
mod list;
mod patch;
mod read;
mod remove;
mod rename;
mod replace;
mod search;
#[cfg(feature = "strand")]
mod strand;
mod undo;
mod write;

pub use base::{
    Args, AtPath, Builtin, CommandCall, ContentHash, FileRead, FileVersion, MainArgument, OfferedTools, OutputBlock,
    Progress, ReadTarget, Run, RunResult, Tool, ToolAliases, ToolContext, ToolFuture, ToolKind, ToolOutput, ToolSet,
    VerbForms, drift,
};

#[cfg(feature = "strand")]
pub use base::StoreChange;
#[cfg(feature = "strand")]
pub use strand::{answered, of_store};

/// Returns the tools of a store: this program knows none.
#[cfg(not(feature = "strand"))]
pub fn of_store(_: &std::path::Path) -> Vec<std::sync::Arc<dyn Tool>> {
    Vec::new()
}

/// Nebula's own tools, in the order in which they are listed to the model.
pub const BUILTIN: &[Builtin] = &[
    list::TOOL,
    read::TOOL,
    search::TOOL,
    write::TOOL,
    edit::TOOL,
    replace::TOOL,
    #[cfg(feature = "code")]
    code::OUTLINE,
    #[cfg(feature = "code")]
    code::VIEW,
    #[cfg(feature = "code")]
    code::REFS,
    #[cfg(feature = "code")]
    code::REPLACE,
    patch::TOOL,
    remove::TOOL,
    rename::TOOL,
    undo::TOOL,
    command::RUN,
    command::OUTPUT,
    command::STOP,
    ask::TOOL,
];

/// The name of the tool that runs a command.
pub const RUN_COMMAND: &str = command::RUN.name;

#[cfg(test)]
mod tests;

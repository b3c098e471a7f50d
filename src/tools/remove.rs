//! `deleteFile`: deletes a file.

use serde_json::Value;

use super::base::{Run, texts};
use super::{Args, Builtin, RunResult, ToolAliases};
use crate::edit::{Edit, Format, Op};

/// The tool.
pub const TOOL: Builtin = Builtin::changing(
    "deleteFile",
    include_str!("deleteFile.md"),
    ["delete", "deleting", "deleted"],
    parameters,
    edits,
    run,
)
.named(ToolAliases { parameters: &[ToolAliases::PATH], ..ToolAliases::NONE });

fn parameters() -> Value {
    texts(&[("path", "")])
}

fn edits(args: &Args) -> Result<Vec<Edit>, String> {
    Ok(vec![Edit::new(args.text("path")?, Op::Delete, Format::TOOLS, "deleteFile")])
}

fn run(args: &Args, run: &Run) -> Result<RunResult, String> {
    let path = run.context.entry(args.text("path")?)?;
    Ok(RunResult::Edits(edits(args)?.into_iter().map(|edit| edit.of(&path)).collect()))
}

//! `moveFile`: moves or renames a file.

use serde_json::Value;

use super::base::{Run, texts};
use super::{Args, Builtin, RunResult, ToolAliases};
use crate::edit::{Edit, Format, Op, names};

/// The tool.
pub const TOOL: Builtin =
    Builtin::changing("moveFile", include_str!("moveFile.md"), ["move", "moving", "moved"], parameters, edits, run)
        .named(ToolAliases { parameters: &[ToolAliases::PATH, ("to", names::TO)], ..ToolAliases::NONE })
        .optional();

fn parameters() -> Value {
    texts(&[("path", ""), ("to", "")])
}

fn edits(args: &Args) -> Result<Vec<Edit>, String> {
    let to = args.text("to")?.to_string();
    Ok(vec![Edit::new(args.text("path")?, Op::Move { to }, Format::TOOLS, "moveFile")])
}

fn run(args: &Args, run: &Run) -> Result<RunResult, String> {
    let path = run.context.entry(args.text("path")?)?;
    let to = run.context.inside(args.text("to")?)?;
    Ok(RunResult::Edits(vec![Edit::new(path, Op::Move { to }, Format::TOOLS, "moveFile")]))
}

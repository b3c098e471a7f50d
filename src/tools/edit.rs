//! `editFile`: overwrites a file that was read before and has not changed since.

use serde_json::Value;

use super::base::{Run, texts};
use super::{Args, Builtin, RunResult, ToolAliases};
use crate::edit::{Edit, Format, Op, names};

/// The tool.
pub const TOOL: Builtin =
    Builtin::changing("editFile", include_str!("editFile.md"), ["edit", "editing", "edited"], parameters, edits, run)
        .named(ToolAliases {
            parameters: &[ToolAliases::PATH, ("new_content", names::CONTENT)],
            instead: Some("replaceInFile"),
            ..ToolAliases::NONE
        });

fn parameters() -> Value {
    texts(&[("path", ""), ("new_content", "")])
}

fn edits(args: &Args) -> Result<Vec<Edit>, String> {
    let (path, content) = (args.text("path")?, args.text("new_content")?.to_string());
    Ok(vec![Edit::new(path, Op::Overwrite { content }, Format::TOOLS, "editFile")])
}

fn run(args: &Args, run: &Run) -> Result<RunResult, String> {
    let edits = edits(args)?;
    let path = run.context.inside(args.text("path")?)?;
    run.context.must_be_read(&path)?;
    Ok(RunResult::Edits(edits.into_iter().map(|edit| edit.of(&path)).collect()))
}

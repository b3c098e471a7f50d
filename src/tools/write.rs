//! `writeFile`: creates a file.

use serde_json::Value;

use super::base::{Run, texts};
use super::{Args, Builtin, RunResult, ToolAliases};
use crate::edit::{Edit, Format, Op, names};

/// The tool.
pub const TOOL: Builtin =
    Builtin::changing("writeFile", include_str!("writeFile.md"), ["write", "writing", "wrote"], parameters, edits, run)
        .named(ToolAliases {
            names: names::WRITE_FILE,
            words: &["write"],
            parameters: &[ToolAliases::PATH, ("content", names::CONTENT)],
            commands: &["create"],
            ..ToolAliases::NONE
        });

fn parameters() -> Value {
    texts(&[("path", ""), ("content", "")])
}

fn edits(args: &Args) -> Result<Vec<Edit>, String> {
    let (path, content) = (args.text("path")?, args.text("content")?.to_string());
    Ok(vec![Edit::new(path, Op::Write { content }, Format::TOOLS, "writeFile")])
}

fn run(args: &Args, run: &Run) -> Result<RunResult, String> {
    let edits = edits(args)?;
    let path = run.context.inside(args.text("path")?)?;
    if run.context.exists(&path) {
        return Err(format!(
            "{path} exists: writeFile only makes new files. Use replaceInFile to change it, or editFile to overwrite it whole."
        ));
    }
    Ok(RunResult::Edits(edits.into_iter().map(|edit| edit.of(&path)).collect()))
}

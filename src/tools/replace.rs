//! `replaceInFile`: replaces one passage, or all of the same words.

use serde_json::{Value, json};

use super::base::{Run, texts};
use super::{Args, Builtin, RunResult, ToolAliases};
use crate::edit::{Edit, Format, Op, SearchShape, names};

/// The tool.
pub const TOOL: Builtin = Builtin::changing(
    "replaceInFile",
    include_str!("replaceInFile.md"),
    ["edit", "editing", "edited"],
    parameters,
    edits,
    run,
)
.named(ToolAliases {
    names: names::REPLACE_IN_FILE,
    words: &["edit"],
    parameters: &[ToolAliases::PATH, ("search", names::SEARCH), ("replace", names::REPLACE)],
    commands: &["str_replace"],
    ..ToolAliases::NONE
});

fn parameters() -> Value {
    let mut schema = texts(&[("path", ""), ("search", ""), ("replace", "")]);
    schema["properties"]["replaceAll"] = json!({"type": "boolean"});
    schema
}

fn edits(args: &Args) -> Result<Vec<Edit>, String> {
    let path = args.text("path")?;
    let (search, replace) = (args.text("search")?.to_string(), args.text("replace")?.to_string());
    let all = args.flag("replaceAll")?;
    let op = Op::Replace { search, replace, shape: SearchShape::Literal, all };
    Ok(vec![Edit::new(path, op, Format::TOOLS, "replaceInFile")])
}

fn run(args: &Args, run: &Run) -> Result<RunResult, String> {
    let edits = edits(args)?;
    let path = run.context.inside(args.text("path")?)?;
    Ok(RunResult::Edits(edits.into_iter().map(|edit| edit.of(&path)).collect()))
}

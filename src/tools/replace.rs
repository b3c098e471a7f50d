//! `replaceInFile`: replaces one passage, or all of the same words.

use serde_json::{Value, json};

use super::{Args, Context, Prepared, Tool, texts};
use crate::edit::{Edit, Format, Op, Shape};

/// The tool.
pub const TOOL: Tool = Tool::changing("replaceInFile", include_str!("replaceInFile.md"), parameters, prepare);

fn parameters() -> Value {
    let mut schema = texts(&[
        ("path", "The path of the existing file to edit."),
        ("search", "The passage as it stands in the file, exactly, long enough to occur once."),
        ("replace", "What it becomes."),
    ]);
    schema["properties"]["replaceAll"] =
        json!({"type": "boolean", "description": "Replace every occurrence. Defaults to false."});
    schema
}

fn prepare(args: &Args, context: &Context<'_>) -> Result<Prepared, String> {
    let path = context.inside(args.text("path")?)?;
    let (search, replace) = (args.text("search")?.to_string(), args.text("replace")?.to_string());
    let all = args.flag("replaceAll")?;
    let op = Op::Replace { search, replace, shape: Shape::Literal, all };
    Ok(Prepared::Edits(vec![Edit::new(path, op, Format::Tools, "replaceInFile")]))
}

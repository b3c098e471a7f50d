//! `replaceInFile`: replaces one passage, or all of the same words.

use serde_json::{Value, json};

use super::{Args, Context, Kind, Prepared, Tool};
use crate::edit::{Edit, Format, Op, Shape};

/// The tool.
pub const TOOL: Tool = Tool {
    name: "replaceInFile",
    description: include_str!("replaceInFile.md"),
    kind: Kind::Write,
    main: "path",
    parameters,
    prepare,
};

fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "The path of the existing file to edit."},
            "search": {"type": "string", "description": "The passage as it stands in the file, exactly, long enough to occur once."},
            "replace": {"type": "string", "description": "What it becomes."},
            "replaceAll": {"type": "boolean", "description": "Replace every occurrence. Defaults to false."}
        },
        "required": ["path", "search", "replace"]
    })
}

fn prepare(args: &Args, context: &Context<'_>) -> Result<Prepared, String> {
    let path = context.inside(args.text("path")?)?;
    let (search, replace) = (args.text("search")?.to_string(), args.text("replace")?.to_string());
    let all = args.flag("replaceAll")?;
    let op = Op::Replace { search, replace, shape: Shape::Inline, all };
    Ok(Prepared::Edits(vec![Edit::new(path, op, Format::Tools, "replaceInFile")]))
}

//! `moveFile`: moves or renames a file.

use serde_json::{Value, json};

use super::{Args, Context, Kind, Prepared, Tool};
use crate::edit::{Edit, Format, Op};

/// The tool.
pub const TOOL: Tool = Tool {
    name: "moveFile",
    description: include_str!("moveFile.md"),
    kind: Kind::Write,
    main: "path",
    parameters,
    prepare,
};

fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "The path of the file to move."},
            "to": {"type": "string", "description": "Where to; nothing may be there yet."}
        },
        "required": ["path", "to"]
    })
}

fn prepare(args: &Args, context: &Context<'_>) -> Result<Prepared, String> {
    let path = context.entry(args.text("path")?)?;
    let to = context.inside(args.text("to")?)?;
    Ok(Prepared::Edits(vec![Edit::new(path, Op::Move { to }, Format::Tools, "moveFile")]))
}

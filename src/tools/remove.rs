//! `deleteFile`: deletes a file.

use serde_json::{Value, json};

use super::{Args, Context, Kind, Prepared, Tool};
use crate::edit::{Edit, Format, Op};

/// The tool.
pub const TOOL: Tool = Tool {
    name: "deleteFile",
    description: include_str!("deleteFile.md"),
    kind: Kind::Write,
    main: "path",
    parameters,
    prepare,
};

fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {"path": {"type": "string", "description": "The path of the file to delete."}},
        "required": ["path"]
    })
}

fn prepare(args: &Args, context: &Context<'_>) -> Result<Prepared, String> {
    let path = context.entry(args.text("path")?)?;
    Ok(Prepared::Edits(vec![Edit::new(path, Op::Delete, Format::Tools, "deleteFile")]))
}

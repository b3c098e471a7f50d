//! `editFile`: overwrites a file that was read before and has not changed since.

use serde_json::{Value, json};

use super::{Args, Context, Kind, Prepared, Tool};
use crate::edit::{Edit, Format, Op};

/// The tool.
pub const TOOL: Tool = Tool {
    name: "editFile",
    description: include_str!("editFile.md"),
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
            "new_content": {"type": "string", "description": "The new, full content that will overwrite the entire existing file."}
        },
        "required": ["path", "new_content"]
    })
}

fn prepare(args: &Args, context: &Context<'_>) -> Result<Prepared, String> {
    let (path, content) = (args.text("path")?, args.text("new_content")?);
    let path = context.inside(path)?;
    context.must_be_read(&path)?;
    Ok(Prepared::Edits(vec![Edit::new(path, Op::Overwrite { content: content.into() }, Format::Tools, "editFile")]))
}

//! `writeFile`: creates a file.

use serde_json::{Value, json};

use super::{Args, Context, Kind, Prepared, Tool};
use crate::edit::{Edit, Format, Op};

/// The tool.
pub const TOOL: Tool = Tool {
    name: "writeFile",
    description: include_str!("writeFile.md"),
    kind: Kind::Write,
    main: "path",
    parameters,
    prepare,
};

fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "The full path of the new file to be created."},
            "content": {"type": "string", "description": "The content to write into the new file."}
        },
        "required": ["path", "content"]
    })
}

fn prepare(args: &Args, context: &Context<'_>) -> Result<Prepared, String> {
    let (path, content) = (args.text("path")?, args.text("content")?);
    let path = context.inside(path)?;
    if context.exists(&path) {
        return Err(format!(
            "{path} exists: writeFile only makes new files. Use replaceInFile to change it, or editFile to overwrite it whole."
        ));
    }
    Ok(Prepared::Edits(vec![Edit::new(path, Op::Write { content: content.into() }, Format::Tools, "writeFile")]))
}

//! `undo`: takes back versions from the archive, with approval.

use serde_json::{Value, json};

use super::{Args, Context, Kind, Prepared, Tool};

/// The tool.
pub const TOOL: Tool =
    Tool { name: "undo", description: include_str!("undo.md"), kind: Kind::Write, main: "path", parameters, prepare };

fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "count": {"type": "integer", "description": "How many versions back. Defaults to 1."},
            "path": {"type": "string", "description": "The file; without it, the files of the newest changeset."}
        },
        "required": []
    })
}

fn prepare(args: &Args, context: &Context<'_>) -> Result<Prepared, String> {
    let path = args.maybe_text("path")?.map(|p| context.inside(p)).transpose()?;
    Ok(Prepared::Undo { count: args.number("count")?.unwrap_or(1), path })
}

//! `undo`: restores versions from the archive, with approval.

use serde_json::{Value, json};

use super::base::Run;
use super::{Args, Builtin, MainArgument, RunResult, ToolAliases, ToolKind};

/// The tool.
pub const TOOL: Builtin = Builtin {
    name: "undo",
    description: include_str!("undo.md"),
    kind: ToolKind::Write,
    of_code: false,
    optional: true,
    verb: ["undo", "undoing", "undid"],
    object: "changeset",
    main: MainArgument::Plain("path"),
    aliases: ToolAliases::NONE,
    parameters,
    edits: None,
    run,
};

fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "count": {"type": "integer", "description": "Versions back."},
            "path": {"type": "string"}
        },
        "required": []
    })
}

fn run(args: &Args, run: &Run) -> Result<RunResult, String> {
    let path = args.maybe_text("path")?.map(|p| run.context.inside(p)).transpose()?;
    Ok(RunResult::Undo { count: args.number("count")?.unwrap_or(1), path })
}

//! `list`: the names in a folder.

use serde_json::{Value, json};

use super::{Answer, Args, Context, Kind, Place, Prepared, Tool};
use crate::workspace::Access;

/// The tool.
pub const TOOL: Tool =
    Tool { name: "list", description: include_str!("list.md"), kind: Kind::Read, main: "path", parameters, prepare };

/// The most names in one answer.
const CAP: usize = 1_000;

fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "The path of the directory to list."},
            "recursive": {"type": "boolean", "description": "If true, lists files and directories recursively. Defaults to false if not provided."}
        },
        "required": ["path"]
    })
}

fn prepare(args: &Args, context: &Context<'_>) -> Result<Prepared, String> {
    let recursive = args.flag("recursive")?;
    let given = match args.text("path")? {
        "" | "/" => ".",
        path => path,
    };
    let folder = match context.reading(given, Access::Folder)? {
        Place::Inside(path) => context.workspace.full(&path),
        Place::Approved(path) => path,
        Place::Outside(path) => return Ok(Prepared::Outside(path)),
    };
    let mut walk = context.workspace.walk("");
    if folder != context.workspace.root() {
        walk = context.workspace.walk(&folder.to_string_lossy());
    }
    walk.max_depth(if recursive { None } else { Some(1) });
    let mut names = Vec::new();
    std::fs::read_dir(&folder).map_err(|e| format!("{given} cannot be listed: {e}"))?;
    for entry in walk.build().flatten() {
        let Ok(name) = entry.path().strip_prefix(&folder) else { continue };
        if name.as_os_str().is_empty() {
            continue;
        }
        let slash = if entry.file_type().is_some_and(|t| t.is_dir()) { "/" } else { "" };
        names.push(format!("{}{slash}", name.to_string_lossy()));
    }
    names.sort();
    let total = names.len();
    names.truncate(CAP);
    let mut text = names.join("\n");
    if total > CAP {
        text.push_str(&format!("\n({CAP} of {total} names; list a folder below for the rest)"));
    }
    if total == 0 {
        text = "(empty)".into();
    }
    let summary = if total == 1 { "1 name".into() } else { format!("{total} names") };
    Ok(Prepared::Answer(Answer { text, summary, preview: names.into_iter().take(12).collect(), seen: None }))
}

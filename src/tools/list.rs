//! `list`: the names in a folder.

use serde_json::{Value, json};

use super::base::Run;
use super::{Args, Builtin, MainArgument, ReadTarget, RunResult, ToolAliases, ToolKind, ToolOutput};
use crate::workspace::Access;

/// The tool.
pub const TOOL: Builtin = Builtin {
    name: "list",
    description: include_str!("list.md"),
    kind: ToolKind::Read,
    of_code: false,
    optional: false,
    verb: ["list", "listing", "listed"],
    object: "folder",
    main: MainArgument::Plain("path"),
    aliases: ToolAliases {
        names: &["listFiles", "listDirectory"],
        parameters: &[("path", &["directory", "dir"])],
        ..ToolAliases::NONE
    },
    parameters,
    edits: None,
    run,
};

/// The most names in one answer.
const CAP: usize = 1_000;
/// The most names that are counted.
const MOST: usize = 20_000;

fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "recursive": {"type": "boolean", "description": "All below, at most 1,000 names."}
        },
        "required": ["path"]
    })
}

fn run(args: &Args, run: &Run) -> Result<RunResult, String> {
    let context = &run.context;
    let recursive = args.flag("recursive")?;
    let given = match args.text("path")? {
        "" | "/" => ".",
        path => path,
    };
    let folder = match context.reading(given, Access::Folder)? {
        ReadTarget::Inside(path) => context.workspace.full(&path),
        ReadTarget::Approved(path) => path,
        ReadTarget::Outside(path) => return Ok(RunResult::outside(path)),
    };
    let mut walk = context.workspace.walk("");
    if folder != context.workspace.root() {
        walk = context.workspace.walk(&folder.to_string_lossy());
    }
    walk.max_depth(if recursive { None } else { Some(1) });
    let mut names = Vec::new();
    std::fs::read_dir(&folder).map_err(|e| format!("{given} cannot be listed: {e}"))?;
    for entry in walk.sort_by_file_name(|a, b| a.cmp(b)).build().flatten() {
        if run.stop.is_cancelled() {
            return Err("stopped".into());
        }
        if names.len() > MOST {
            break;
        }
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
        let of = if total > MOST { format!("more than {MOST}") } else { total.to_string() };
        text.push_str(&format!("\n({CAP} of {of} names; list a folder below for the rest)"));
    }
    if total == 0 {
        text = "(empty)".into();
    }
    let summary = if total == 1 { "1 name".into() } else { format!("{total} names") };
    let preview = names.into_iter().take(12).collect();
    Ok(RunResult::Output(ToolOutput { text, summary, preview, ..ToolOutput::default() }))
}

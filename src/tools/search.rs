//! `searchInDirectory`: the files that contain a keyword, with their first matching lines.

use serde_json::{Value, json};

use super::{Answer, Args, Context, Kind, Place, Prepared, Tool};
use crate::workspace::Access;
use crate::workspace::search::{Found, Search};

/// The tool.
pub const TOOL: Tool = Tool {
    name: "searchInDirectory",
    description: include_str!("searchInDirectory.md"),
    kind: Kind::Read,
    main: "keyword",
    parameters,
    prepare,
};

/// The most files in one answer.
const FILES: usize = 200;
/// The most matching lines shown of each.
const LINES: usize = 3;

fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "directory": {"type": "string", "description": "The starting directory for the recursive search."},
            "keyword": {"type": "string", "description": "The keyword to search for within the files."},
            "regex": {"type": "boolean", "description": "Read the keyword as a regular expression. Defaults to false."},
            "caseSensitive": {"type": "boolean", "description": "Tell upper and lower case apart. Defaults to false."}
        },
        "required": ["directory", "keyword"]
    })
}

fn prepare(args: &Args, context: &Context<'_>) -> Result<Prepared, String> {
    let given = match args.text("directory")? {
        "" | "/" => ".",
        path => path,
    };
    let keyword = args.text("keyword")?;
    if keyword.is_empty() {
        return Err("`keyword` is empty: say what to look for".into());
    }
    let folder = match context.reading(given, Access::Folder)? {
        Place::Inside(path) => path,
        // An absolute folder stands for itself in a walk.
        Place::Approved(path) => path.to_string_lossy().into_owned(),
        Place::Outside(path) => return Ok(Prepared::Outside(path)),
    };
    let search = Search {
        keyword: keyword.to_string(),
        regex: args.flag("regex")?,
        case_sensitive: args.flag("caseSensitive")?,
        max_files: FILES,
        max_lines: LINES,
    };
    let found = context.workspace.search(&folder, &search).map_err(|e| e.to_string())?;
    let total = found.files.len() + found.more;
    let mut text = String::new();
    for file in &found.files {
        text.push_str(&file.path);
        text.push('\n');
        for (number, line) in &file.lines {
            text.push_str(&format!("  {number}: {line}\n"));
        }
    }
    if found.more > 0 {
        text.push_str(&format!("({FILES} of {total} files; search a folder below, or for more letters)\n"));
    }
    if total == 0 {
        text = format!("no file below {given} contains {keyword:?}");
    }
    let line = |f: &Found| f.lines.first().map(|(n, l)| format!("{}:{n}  {}", f.path, l.trim()));
    let preview = found.files.iter().filter_map(line).take(8).collect();
    let summary = if total == 1 { "1 file".into() } else { format!("{total} files") };
    Ok(Prepared::Answer(Answer { text, summary, preview, seen: None }))
}

//! `searchInDirectory`: the files that contain a keyword, with their first matching lines.

use serde_json::{Value, json};

use super::base::Run;
use super::{Args, Builtin, MainArgument, ReadTarget, RunResult, ToolAliases, ToolKind, ToolOutput};
use crate::workspace::search::{FileMatches, SearchObserver, SearchRequest};
use crate::workspace::{Access, holds_secrets};

/// The tool.
pub const TOOL: Builtin = Builtin {
    name: "searchInDirectory",
    description: include_str!("searchInDirectory.md"),
    kind: ToolKind::Read,
    of_code: false,
    optional: false,
    verb: ["search", "searching", "searched"],
    object: "folder",
    main: MainArgument::Quoted("keyword"),
    aliases: ToolAliases {
        parameters: &[("directory", &["path", "dir"]), ("keyword", &["query", "pattern"])],
        ..ToolAliases::NONE
    },
    parameters,
    edits: None,
    run,
};

/// The most files in one answer.
const FILES: usize = 200;
/// The number of files after which progress is reported.
const TELLING: usize = 500;
/// The most matching lines shown of each.
const LINES: usize = 3;

fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "directory": {"type": "string"},
            "keyword": {"type": "string"},
            "regex": {"type": "boolean"},
            "caseSensitive": {"type": "boolean"}
        },
        "required": ["directory", "keyword"]
    })
}

/// A search under way, and how many files it has looked at.
struct Searching<'r> {
    run: &'r Run,
    looked: usize,
}

impl SearchObserver for Searching<'_> {
    fn stopped(&self) -> bool {
        self.run.stop.is_cancelled()
    }

    fn looked_at_one(&mut self) {
        self.looked += 1;
        if self.looked.is_multiple_of(TELLING) {
            self.run.progress.say(format!("{} files", self.looked));
        }
    }
}

fn run(args: &Args, run: &Run) -> Result<RunResult, String> {
    let context = &run.context;
    let given = match args.text("directory")? {
        "" | "/" => ".",
        path => path,
    };
    let keyword = args.text("keyword")?;
    if keyword.is_empty() {
        return Err("`keyword` is empty: say what to look for".into());
    }
    let folder = match context.reading(given, Access::Folder)? {
        ReadTarget::Inside(path) => path,
        // An absolute folder stays absolute in a walk.
        ReadTarget::Approved(path) => path.to_string_lossy().into_owned(),
        ReadTarget::Outside(path) => return Ok(RunResult::outside(path)),
    };
    let search = SearchRequest {
        keyword: keyword.to_string(),
        regex: args.flag("regex")?,
        case_sensitive: args.flag("caseSensitive")?,
        max_files: FILES,
        max_lines: LINES,
    };
    let found = context.workspace.search(&folder, &search, &mut Searching { run, looked: 0 });
    let mut found = found.map_err(|e| e.to_string())?;
    if run.stop.is_cancelled() {
        return Err("stopped".into());
    }
    // What is in such a file is sent only after a question, which `readFile` asks.
    let secrets = found.files.extract_if(.., |file| holds_secrets(&file.path)).count();
    let total = found.files.len();
    let mut text = String::new();
    for file in &found.files {
        text.push_str(&file.path);
        text.push('\n');
        for (number, line) in &file.lines {
            text.push_str(&format!("  {number}: {line}\n"));
        }
    }
    if total == 0 {
        text = match found.more {
            true => format!("no file among the first {FILES} that contain {keyword:?} below {given} can be shown\n"),
            false => format!("no file below {given} contains {keyword:?}"),
        };
    }
    if found.more {
        text.push_str(&format!("(the first {FILES} files; search a folder below, or for more letters)\n"));
    }
    if secrets > 0 {
        text.push_str(
            "\n(matches in .env files are not shown: read such a file with readFile, which asks the person)\n",
        );
    }
    let line = |f: &FileMatches| f.lines.first().map(|(n, l)| format!("{}:{n}  {}", f.path, l.trim()));
    let preview = found.files.iter().filter_map(line).take(8).collect();
    let more = if found.more { "+" } else { "" };
    let summary = if total == 1 { "1 file".into() } else { format!("{total}{more} files") };
    Ok(RunResult::Output(ToolOutput { text, summary, preview, ..ToolOutput::default() }))
}

//! `readFile`: a text, whole or by lines.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use super::base::Run;
use super::{Args, Builtin, FileRead, MainArgument, ReadTarget, RunResult, ToolAliases, ToolKind, ToolOutput};
use crate::edit::bytes;
use crate::proposal::State;
use crate::workspace::{Access, ReadError, holds_secrets, is_text};

/// The tool.
pub const TOOL: Builtin = Builtin {
    name: "readFile",
    description: include_str!("readFile.md"),
    kind: ToolKind::Read,
    of_code: false,
    optional: false,
    verb: ["read", "reading", "read"],
    object: "file",
    main: MainArgument::Plain("path"),
    aliases: ToolAliases {
        names: &["viewFile"],
        words: &["read"],
        parameters: &[ToolAliases::PATH],
        commands: &["view"],
        ..ToolAliases::NONE
    },
    parameters,
    edits: None,
    run,
};

/// The longest answer, in bytes; beyond it whole lines are left out, and the answer says how to get them.
const CAP: usize = 256 << 10;

fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "startLine": {"type": "integer", "description": "From 1."},
            "endLine": {"type": "integer"}
        },
        "required": ["path"]
    })
}

fn run(args: &Args, run: &Run) -> Result<RunResult, String> {
    let context = &run.context;
    let given = args.text("path")?;
    let (mut first, mut last) = (args.number("startLine")?, args.number("endLine")?);
    if first.is_none() && last.is_none() {
        (first, last) = lines_after(given, context.without_extras(given, Access::File));
    }
    if let (Some(first), Some(last)) = (first, last)
        && last < first
    {
        return Err(format!("`endLine` ({last}) is before `startLine` ({first})"));
    }
    let (name, read) = match context.reading(given, Access::File)? {
        ReadTarget::Outside(path) => return Ok(RunResult::outside(path)),
        ReadTarget::Approved(path) => (path.to_string_lossy().into_owned(), context.workspace.read_outside(&path)),
        ReadTarget::Inside(path) => {
            let full = context.workspace.full(&path);
            if holds_secrets(&path) && context.approved.as_ref() != Some(&full) {
                return Ok(RunResult::outside(full));
            }
            (path.clone(), context.workspace.read_whole(&path))
        }
    };
    let read = read.map_err(|e| match e {
        ReadError::TooLarge { .. } => format!("{e}: look into it with searchInDirectory"),
        e => e.to_string(),
    })?;
    let bytes = match read.state {
        State::File { bytes, .. } => bytes,
        State::Absent => return Err(missing(&name, run)),
        State::Link { .. } => return Err(format!("{name} is a link that leads nowhere")),
        State::Folder { .. } => return Err(format!("{name} is a folder: list shows what is in it")),
        State::Large(file) => return Err(format!("{name} is too large to be read whole ({} bytes)", file.size)),
    };
    if !is_text(&bytes) {
        return Err(format!("{name} is not a text: {} bytes of {}", bytes.len(), kind(&name, &bytes)));
    }
    let (_, text) = bytes::decode(&bytes);
    let part = part(&name, &text, (first, last), CAP.min(context.longest))?;
    let lines = text.lines().count();
    let summary = match (first, last) {
        (None, None) if lines == 1 => "1 line".into(),
        (None, None) => format!("{lines} lines"),
        _ if part.lines == 1 => format!("line {} of {lines}", first.unwrap_or(1)),
        _ => {
            let first = first.unwrap_or(1);
            format!("lines {first}-{} of {lines}", first + part.lines.saturating_sub(1))
        }
    };
    let title = part.title(&name, (first, last), text.is_empty());
    let read = Some(FileRead { path: name, bytes: Arc::clone(&bytes), title });
    Ok(RunResult::Output(ToolOutput { text: part.text, summary, read, ..ToolOutput::default() }))
}

/// Returns the lines that stand after a path, as in `src/a.rs:12-30`, where the path is just what is before them.
fn lines_after(given: &str, path: &str) -> (Option<usize>, Option<usize>) {
    let number = |text: &str| text.parse::<usize>().ok().filter(|line| *line > 0);
    let marks = ['`', '"', '\'', ' '];
    let rest = given.split_once(path).map_or("", |(_, rest)| rest.trim_matches(marks));
    let rest = rest.strip_prefix(':').unwrap_or_default().trim_matches(marks);
    match rest.split_once('-') {
        Some((first, last)) => (number(first), number(last)),
        None => (number(rest), number(rest)),
    }
}

struct FilePart {
    text: String,
    lines: usize,
    /// A note follows the lines.
    noted: bool,
}

impl FilePart {
    /// Returns what the text is; `None` where it is no text of the file alone.
    fn title(&self, name: &str, asked: (Option<usize>, Option<usize>), empty: bool) -> Option<String> {
        let first = asked.0.unwrap_or(1);
        match asked {
            _ if self.noted || empty => None,
            (None, None) => Some(name.to_string()),
            _ => Some(format!("Lines {first}-{} of {name}:", first + self.lines.saturating_sub(1))),
        }
    }
}

/// Returns the lines that were asked for, as far as they fit into so many bytes.
fn part(name: &str, text: &str, (first, last): (Option<usize>, Option<usize>), cap: usize) -> Result<FilePart, String> {
    let whole = first.is_none() && last.is_none();
    if whole && text.len() <= cap {
        let text_shown = if text.is_empty() { format!("({name} is empty)") } else { text.to_string() };
        return Ok(FilePart { text: text_shown, lines: text.lines().count(), noted: false });
    }
    let total = text.lines().count();
    let first = first.unwrap_or(1);
    if first > total {
        return Err(format!("{name} has {total} lines; line {first} does not exist"));
    }
    let last = last.unwrap_or(total).min(total);
    let mut text_shown = String::new();
    let (mut taken, mut noted) = (0, false);
    for line in text.split_inclusive('\n').skip(first - 1).take(last + 1 - first) {
        if text_shown.len() + line.len() > cap {
            break;
        }
        text_shown.push_str(line);
        taken += 1;
    }
    if taken == 0 {
        // One line longer than the cap: its beginning is all that can be shown.
        let line = text.lines().nth(first - 1).unwrap_or("");
        let end = (0..=cap.min(line.len())).rev().find(|i| line.is_char_boundary(*i)).unwrap_or(0);
        text_shown =
            format!("{}\n(line {first} of {name} has {} bytes; its rest cannot be shown)", &line[..end], line.len());
        (taken, noted) = (1, true);
    }
    let reached = first + taken - 1;
    noted |= reached < last;
    if reached < last {
        text_shown.push_str(&format!(
            "\n(lines {first}-{reached} of {total}; {} left out: ask for startLine {} to go on)",
            last - reached,
            reached + 1
        ));
    }
    Ok(FilePart { text: text_shown, lines: taken, noted })
}

/// Returns what to do where no file is: a name like it elsewhere, if there is one.
fn missing(path: &str, run: &Run) -> String {
    let context = &run.context;
    let name = Path::new(path).file_name().unwrap_or_default();
    let walk = context.workspace.walk("").build().flatten().take(20_000).take_while(|_| !run.stop.is_cancelled());
    let like = walk.filter(|e| e.file_name() == name && e.file_type().is_some_and(|t| t.is_file()));
    let root = context.workspace.root();
    let found: Vec<String> = like
        .filter_map(|e| e.path().strip_prefix(root).ok().map(|p| p.to_string_lossy().into_owned()))
        .take(5)
        .collect();
    if found.is_empty() {
        format!("{path} does not exist. Look with list or searchInDirectory.")
    } else {
        format!("{path} does not exist. Of the same name: {}", found.join(", "))
    }
}

fn kind(name: &str, bytes: &[u8]) -> String {
    let known: [(&[u8], &str); 8] = [
        (b"\x89PNG", "a PNG image"),
        (b"\xff\xd8\xff", "a JPEG image"),
        (b"GIF8", "a GIF image"),
        (b"%PDF", "a PDF"),
        (b"PK\x03\x04", "a zip archive"),
        (b"\x1f\x8b", "a gzip archive"),
        (b"\x7fELF", "a program"),
        (b"SQLite format 3", "an SQLite database"),
    ];
    let magic = known.iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, kind)| (*kind).to_string());
    magic.unwrap_or_else(|| match Path::new(name).extension() {
        Some(ext) => format!("binary data (.{})", ext.to_string_lossy()),
        None => "binary data".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_from_one_and_the_rest_is_named() {
        let text = "a\nb\nc\n";
        let get = |f, l| part("x", text, (f, l), CAP).map(|p| p.text);
        assert_eq!(get(None, None), Ok("a\nb\nc\n".into()));
        assert_eq!(get(Some(2), Some(2)), Ok("b\n".into()));
        assert_eq!(get(Some(3), Some(9)), Ok("c\n".into()));
        assert!(get(Some(4), None).is_err());
    }

    #[test]
    fn a_text_over_the_cap_is_cut_at_a_line_and_says_how_to_go_on() {
        let text = "0123456789abcde\n".repeat(CAP / 16 + 10);
        let part = part("x", &text, (None, None), CAP).expect("a part");
        assert_eq!(part.lines, CAP / 16);
        assert!(
            part.text.ends_with(&format!("10 left out: ask for startLine {} to go on)", CAP / 16 + 1)),
            "{}",
            &part.text[part.text.len() - 100..]
        );
        let part = super::part("x", &text, (None, None), 64).expect("a part");
        assert_eq!((part.lines, part.noted), (4, true));
        let long = "é".repeat(CAP);
        assert!(super::part("x", &long, (None, None), CAP).expect("a part").text.contains("cannot be shown"));
    }
}

//! `codeRefs`: the places where a definition is mentioned, each with its certainty.

use serde_json::{Value, json};

use super::{CAP, LINE, clip, finder, secrets};
use crate::code::Certainty;
use crate::definitions::SourceFiles;
use crate::text::number::plural;
use crate::tools::base::{Run, texts};
use crate::tools::{Args, Builtin, RunResult, ToolOutput};

/// Files of each kind whose mentions may be missing that an answer names.
const NAMED: usize = 3;

/// The tool.
pub const TOOL: Builtin = Builtin::of_code(
    "codeRefs",
    include_str!("codeRefs.md"),
    ["find uses", "finding uses", "found uses"],
    parameters,
    run,
);

fn parameters() -> Value {
    let mut schema = texts(&[("selector", "Its id.")]);
    let words: Vec<&str> = Certainty::ALL.iter().map(|certainty| certainty.word()).collect();
    schema["properties"]["minCertainty"] = json!({"type": "string", "enum": words});
    schema
}

fn run(args: &Args, run: &Run) -> Result<RunResult, String> {
    let least = match args.maybe_text("minCertainty")? {
        None => Certainty::Name,
        Some(word) => Certainty::named(word).ok_or_else(|| {
            let words: Vec<&str> = Certainty::ALL.iter().map(|certainty| certainty.word()).collect();
            format!("`minCertainty` must be one of {}", words.join(", "))
        })?,
    };
    let finder = finder(run);
    let selector = finder.selector(args.text("selector")?).map_err(|fault| fault.to_string())?;
    if let Some(asks) = secrets(&finder, &selector) {
        return Ok(asks);
    }
    let (file, at) = finder.one(args.text("selector")?).map_err(|fault| fault.to_string())?;
    let path = file.source.path.clone();
    let sources = SourceFiles::new(&finder, file).map_err(|fault| fault.to_string())?;
    let target = sources.target(&path, at).map_err(|fault| fault.to_string())?;
    let found = sources.mentions(&target);
    if run.stop.is_cancelled() {
        return Err("stopped".into());
    }
    let counts = Certainty::ALL.iter().rev().map(|certainty| {
        let count = found.iter().filter(|one| one.mention.certainty == *certainty).count();
        format!("{} {count}", certainty.word())
    });
    let mut text = format!("{}: {}\n", target.file.id(at), counts.collect::<Vec<_>>().join(", "));
    let notes = sources.notes();
    for (_, why) in notes.skipped.iter().take(NAMED) {
        text.push_str(&format!("(not read: {why})\n"));
    }
    for (path, line) in notes.errors.iter().take(NAMED) {
        text.push_str(&format!("({path}:{line} has a syntax error: mentions may be missing or another's)\n"));
    }
    for (shown, one) in found.iter().filter(|one| one.mention.certainty >= least).enumerate() {
        if text.len() > CAP {
            text.push_str(&format!("(the first {shown}; ask with minCertainty for fewer)\n"));
            break;
        }
        text.push_str(&format!("{}  {}  {}\n", one.place(), one.mention.certainty.word(), clip(one.text(), LINE)));
    }
    let preview = text.lines().skip(1).take(8).map(str::to_string).collect();
    Ok(RunResult::Output(ToolOutput { text, preview, summary: plural(found.len(), "place"), ..ToolOutput::default() }))
}

//! `codeOutline`: the signatures of definitions.

use serde_json::Value;

use super::{CAP, DefinitionList, LINE, clip, finder, secrets};
use crate::definitions::{FindNotes, FoundFile, VisitEnd};
use crate::tools::base::{Run, texts};
use crate::tools::{Args, Builtin, RunResult, ToolOutput};

/// The tool.
pub const TOOL: Builtin = Builtin::of_code(
    "codeOutline",
    include_str!("codeOutline.md"),
    ["outline", "outlining", "outlined"],
    parameters,
    run,
);

fn parameters() -> Value {
    texts(&[("selector", "A file, folder or pattern.")])
}

fn run(args: &Args, run: &Run) -> Result<RunResult, String> {
    let finder = finder(run);
    let selector = finder.selector(args.text("selector")?).map_err(|fault| fault.to_string())?;
    if let Some(asks) = secrets(&finder, &selector) {
        return Ok(asks);
    }
    let mut answer = DefinitionList::default();
    let mut notes = FindNotes::default();
    let visited = finder.each(&selector, &mut notes, |FoundFile { source, .. }, found| {
        answer.text.push_str(&format!("{}\n", source.path));
        for at in found {
            if answer.text.len() > CAP {
                return Err(VisitEnd::Full);
            }
            let (line, _) = source.lines(at);
            answer.text.push_str(&format!("{line:>5} {}  {}\n", source.name(at), clip(&source.signature(at), LINE)));
            answer.shown += 1;
        }
        Ok(())
    });
    let (text, summary) = answer.end(run, visited, &notes)?;
    Ok(RunResult::Output(ToolOutput { text, summary, ..ToolOutput::default() }))
}

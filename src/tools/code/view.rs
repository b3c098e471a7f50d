//! `codeView`: the text of definitions, each under its id and hash.

use serde_json::Value;

use super::{CAP, DefinitionList, SELECTOR, clip, finder, secrets};
use crate::code::short;
use crate::definitions::{FindNotes, FoundFile, VisitEnd};
use crate::tools::base::{Run, texts};
use crate::tools::{Args, Builtin, RunResult, ToolOutput};

/// The tool.
pub const TOOL: Builtin =
    Builtin::of_code("codeView", include_str!("codeView.md"), ["view", "viewing", "viewed"], parameters, run);

fn parameters() -> Value {
    texts(&[("selector", SELECTOR)])
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
        // One that stands in another that is shown is seen there.
        let is_outer = |at: &usize| {
            !std::iter::successors(source.nodes[*at].parent, |up| source.nodes[*up].parent)
                .any(|up| found.contains(&up))
        };
        for at in found.iter().copied().filter(is_outer) {
            let text = source.text_of(at);
            if answer.shown > 0 && answer.text.len() + text.len() > CAP {
                return Err(VisitEnd::Full);
            }
            let (first, last) = source.lines(at);
            let head = format!("{}  lines {first}-{last}  {}", source.id(at), short(&source.hash(at)));
            answer.text.push_str(&format!("{head}\n{}\n", clip(text, CAP)));
            answer.shown += 1;
            if text.len() > CAP {
                answer.text.push_str(&format!("(cut after {CAP} of {} bytes; readFile reads lines)\n", text.len()));
            }
        }
        Ok(())
    });
    let (text, summary) = answer.end(run, visited, &notes)?;
    Ok(RunResult::Output(ToolOutput { text, summary, ..ToolOutput::default() }))
}

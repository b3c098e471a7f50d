//! `codeReplace`: replaces one definition; nothing outside it changes by a byte.

use serde_json::Value;

use super::finder;
use crate::code::{self, CodeFault};
use crate::edit::{Edit, Format, Op, unfenced};
use crate::tools::base::{Run, texts};
use crate::tools::{Args, Builtin, RunResult, ToolKind};

const NAME: &str = "codeReplace";

/// The tool.
pub const TOOL: Builtin = Builtin {
    kind: ToolKind::Write,
    ..Builtin::of_code(NAME, include_str!("codeReplace.md"), ["replace", "replacing", "replaced"], parameters, run)
};

fn parameters() -> Value {
    texts(&[("selector", ""), ("expect_hash", "As viewed."), ("text", "All of the new one, of the same kind.")])
}

/// Checks the replacement against the file as it is now; it is placed again among the other edits of its answer.
fn run(args: &Args, run: &Run) -> Result<RunResult, String> {
    let (selector, expect, text) = (args.text("selector")?, args.text("expect_hash")?, args.text("text")?);
    // A model may send it as it shows code.
    let text = unfenced(text).unwrap_or(text);
    let (file, at) = finder(run).one(selector).map_err(|fault| fault.to_string())?;
    let source = file.source;
    let new = code::replace(&source, at, text).map_err(|fault| with_hint(&fault));
    // What stands there already was made by the same call before.
    let is_made = new.as_ref().is_ok_and(|new| new.file.text == source.text);
    let viewed = match source.expect(at, expect).map_err(|fault| with_hint(&fault)) {
        Err(_) if is_made => expect.to_string(),
        Err(stale) => return Err(stale),
        Ok(()) => source.hash(at),
    };
    let new = new?;
    let old = source.text_of(at);
    let begins = source.nodes[at].range.end - old.len();
    let lines = [old.to_string(), new.file.text[begins..new.range.end].to_string()];
    let op = Op::Definition { name: source.name(at), expect: viewed, text: text.to_string(), lines };
    Ok(RunResult::Edits(vec![Edit::new(source.path, op, Format::TOOLS, NAME)]))
}

/// Returns a fault for the model, with what it can do.
fn with_hint(fault: &CodeFault) -> String {
    let hint = match fault {
        CodeFault::Usage(_) | CodeFault::Stale { .. } => "codeView shows it",
        CodeFault::Syntax { .. } => "send the whole definition, with all its brackets",
        CodeFault::NotOne { .. } => "other changes go by replaceInFile",
        CodeFault::Others { .. } => "change those lines by replaceInFile",
        _ => return fault.to_string(),
    };
    format!("{fault}. Nothing was changed; {hint}.")
}

//! `applyPatch`: a unified diff or the `*** Begin Patch` envelope, over many files.

use std::sync::Arc;

use serde_json::Value;

use super::base::{Run, texts};
use super::{Args, Builtin, MainArgument, RunResult, ToolAliases, ToolKind};
use crate::edit::stream::{End, Parser, Piece};
use crate::edit::{Edit, Format};

/// The tool.
pub const TOOL: Builtin = Builtin {
    name: "applyPatch",
    description: include_str!("applyPatch.md"),
    kind: ToolKind::Write,
    of_code: false,
    optional: true,
    verb: ["patch", "applying", "applied"],
    object: "patch",
    main: MainArgument::Plain("patch"),
    aliases: ToolAliases { parameters: &[("patch", &["diff", "input"])], takes_patch: true, ..ToolAliases::NONE },
    parameters,
    edits: Some(edits),
    run,
};

fn parameters() -> Value {
    texts(&[("patch", "")])
}

fn run(args: &Args, _: &Run) -> Result<RunResult, String> {
    Ok(RunResult::Edits(edits(args)?))
}

fn edits(args: &Args) -> Result<Vec<Edit>, String> {
    let patch = args.text("patch")?;
    let mut parser = Parser::new(Some(Format::PATCH), Vec::new(), Arc::default());
    let mut pieces = parser.push(patch);
    if !patch.ends_with('\n') {
        pieces.extend(parser.push("\n"));
    }
    pieces.extend(parser.finish(End::Ordinary));
    let mut edits: Vec<Edit> = Vec::new();
    for piece in pieces {
        match piece {
            Piece::EditDone { edit, .. } => edits.push(Edit { by: "applyPatch".into(), ..edit }),
            Piece::EditDropped { why, .. } => return Err(format!("the patch cannot be read: {why}")),
            _ => {}
        }
    }
    if edits.is_empty() {
        return Err("there is no patch in `patch`: write a unified diff with `--- a/path` and `+++ b/path`, or `*** Begin Patch` with `*** Update File: path` and `*** End Patch`".into());
    }
    Ok(edits)
}

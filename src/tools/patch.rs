//! `applyPatch`: a unified diff or the `*** Begin Patch` envelope, over many files.

use serde_json::Value;

use super::{Args, Context, Kind, Prepared, Tool, texts};
use crate::edit::stream::{End, Parser, Piece};
use crate::edit::{Edit, Format};

/// The tool.
pub const TOOL: Tool = Tool {
    name: "applyPatch",
    description: include_str!("applyPatch.md"),
    kind: Kind::Write,
    main: "patch",
    parameters,
    prepare,
};

fn parameters() -> Value {
    texts(&[("patch", "The patch, as text.")])
}

fn prepare(args: &Args, _: &Context<'_>) -> Result<Prepared, String> {
    let patch = args.text("patch")?;
    let mut parser = Parser::new(Some(Format::Patch), Vec::new());
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
    Ok(Prepared::Edits(edits))
}

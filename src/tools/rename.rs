//! `moveFile`: moves or renames a file.

use serde_json::Value;

use super::{Args, Context, Prepared, Tool, texts};
use crate::edit::{Edit, Format, Op};

/// The tool.
pub const TOOL: Tool = Tool::changing("moveFile", include_str!("moveFile.md"), parameters, prepare);

fn parameters() -> Value {
    texts(&[("path", "The path of the file to move."), ("to", "Where to; nothing may be there yet.")])
}

fn prepare(args: &Args, context: &Context<'_>) -> Result<Prepared, String> {
    let path = context.entry(args.text("path")?)?;
    let to = context.inside(args.text("to")?)?;
    Ok(Prepared::Edits(vec![Edit::new(path, Op::Move { to }, Format::Tools, "moveFile")]))
}

//! `deleteFile`: deletes a file.

use serde_json::Value;

use super::{Args, Context, Prepared, Tool, texts};
use crate::edit::{Edit, Format, Op};

/// The tool.
pub const TOOL: Tool = Tool::changing("deleteFile", include_str!("deleteFile.md"), parameters, prepare);

fn parameters() -> Value {
    texts(&[("path", "The path of the file to delete.")])
}

fn prepare(args: &Args, context: &Context<'_>) -> Result<Prepared, String> {
    let path = context.entry(args.text("path")?)?;
    Ok(Prepared::Edits(vec![Edit::new(path, Op::Delete, Format::Tools, "deleteFile")]))
}

//! `editFile`: overwrites a file that was read before and has not changed since.

use serde_json::Value;

use super::{Args, Context, Prepared, Tool, texts};
use crate::edit::{Edit, Format, Op};

/// The tool.
pub const TOOL: Tool = Tool::changing("editFile", include_str!("editFile.md"), parameters, prepare);

fn parameters() -> Value {
    texts(&[
        ("path", "The path of the existing file to edit."),
        ("new_content", "The new, full content that will overwrite the entire existing file."),
    ])
}

fn prepare(args: &Args, context: &Context<'_>) -> Result<Prepared, String> {
    let (path, content) = (args.text("path")?, args.text("new_content")?);
    let path = context.inside(path)?;
    context.must_be_read(&path)?;
    Ok(Prepared::Edits(vec![Edit::new(path, Op::Overwrite { content: content.into() }, Format::Tools, "editFile")]))
}

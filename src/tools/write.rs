//! `writeFile`: creates a file.

use serde_json::Value;

use super::{Args, Context, Prepared, Tool, texts};
use crate::edit::{Edit, Format, Op};

/// The tool.
pub const TOOL: Tool = Tool::changing("writeFile", include_str!("writeFile.md"), parameters, prepare);

fn parameters() -> Value {
    texts(&[
        ("path", "The full path of the new file to be created."),
        ("content", "The content to write into the new file."),
    ])
}

fn prepare(args: &Args, context: &Context<'_>) -> Result<Prepared, String> {
    let (path, content) = (args.text("path")?, args.text("content")?);
    let path = context.inside(path)?;
    if context.exists(&path) {
        return Err(format!(
            "{path} exists: writeFile only makes new files. Use replaceInFile to change it, or editFile to overwrite it whole."
        ));
    }
    Ok(Prepared::Edits(vec![Edit::new(path, Op::Write { content: content.into() }, Format::Tools, "writeFile")]))
}

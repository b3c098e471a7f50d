//! The outline of the last request that a server refused, without its contents.

use serde_json::Value;

use crate::config::{Error, Paths, file};

fn path(paths: &Paths) -> Option<std::path::PathBuf> {
    paths.own("last_request.json")
}

/// Returns what was kept, if anything was.
pub fn read(paths: &Paths) -> Option<Value> {
    let text = path(paths).and_then(|path| file::small_text(&path))?;
    serde_json::from_str(&text).ok()
}

/// Keeps it in place of the one before.
///
/// # Errors
/// When it cannot be written.
pub fn write(paths: &Paths, request: &Value) -> Result<(), Error> {
    let path = path(paths).ok_or_else(|| Error::no_home("keep what a refused request looked like"))?;
    file::write(&path, format!("{request:#}\n").as_bytes())
}

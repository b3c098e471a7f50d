//! The facts that servers reported about their models, cached between runs so that the next one need not wait for them.

use serde_json::Value;

use crate::config::{Error, Paths, file};

fn path(paths: &Paths) -> Option<std::path::PathBuf> {
    paths.own("models.json")
}

/// Returns the stored value; null where the file is not what was written.
pub fn read(paths: &Paths) -> Value {
    let text = path(paths).and_then(|path| file::small_text(&path));
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

/// Keeps it; the file is replaced whole.
///
/// # Errors
/// When it cannot be written.
pub fn write(paths: &Paths, models: &Value) -> Result<(), Error> {
    let path = path(paths).ok_or_else(|| Error::no_home("keep what is known of models"))?;
    file::write(&path, format!("{models:#}\n").as_bytes())
}

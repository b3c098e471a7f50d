//! Models that were seen to write their edits as text instead of calling tools, stored by name in nebula's own folder.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::Value;

use crate::config::Paths;
use crate::config::file::{self, Error};

fn path(paths: &Paths) -> Option<PathBuf> {
    paths.own("text_models.json")
}

/// Returns the models that were noted; none where the file is not what was written.
pub(in crate::config) fn read(paths: &Paths) -> BTreeSet<String> {
    let text = path(paths).and_then(|path| file::small_text(&path));
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

/// Notes one more.
pub(in crate::config) fn add(paths: &Paths, model: &str) -> Result<(), Error> {
    let path = path(paths).ok_or_else(|| Error::no_home("remember the model's edit format"))?;
    let mut all = read(paths);
    all.insert(model.to_string());
    let names: Vec<Value> = all.into_iter().map(Value::from).collect();
    file::write(&path, format!("{:#}\n", Value::from(names)).as_bytes())
}

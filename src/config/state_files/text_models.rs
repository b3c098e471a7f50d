//! Models that were seen to write their edits as text, stored by name in nebula's own folder.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::config::Paths;
use crate::config::file::{self, Error};

/// Ways of a model that is not asked for edits as tool calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TextUse {
    /// It calls tools, and its first edit by such a call failed.
    Edits,
    /// It writes its calls as text.
    Calls,
}

fn path(paths: &Paths) -> Option<PathBuf> {
    paths.own("text_models.json")
}

/// Returns the models that were noted; none where the file is not what was written.
pub(in crate::config) fn read(paths: &Paths) -> BTreeMap<String, TextUse> {
    let text = path(paths).and_then(|path| file::small_text(&path));
    let noted = match text.and_then(|text| serde_json::from_str(&text).ok()) {
        // Names alone: what was noted of them then were calls.
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).map(|name| (name.to_string(), json!("calls"))).collect()
        }
        Some(Value::Object(noted)) => noted,
        _ => return BTreeMap::new(),
    };
    noted.into_iter().filter_map(|(name, how)| Some((name, serde_json::from_value(how).ok()?))).collect()
}

/// Notes one more.
pub(in crate::config) fn add(paths: &Paths, model: &str, how: TextUse) -> Result<(), Error> {
    let path = path(paths).ok_or_else(|| Error::no_home("remember the model's edit format"))?;
    let _lock = file::lock(&path)?;
    let mut all = read(paths);
    all.insert(model.to_string(), how);
    file::write(&path, format!("{:#}\n", json!(all)).as_bytes())
}

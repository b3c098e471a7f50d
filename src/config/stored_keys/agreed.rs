//! The addresses that the person's keys may be sent to. A workspace's configuration, even a trusted one, may name a
//! server and a variable; a key goes there only where the person's own settings say the same, or once the person has
//! agreed. What was agreed to is stored in nebula's own folder.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::config::connection::providers::PROVIDERS;
use crate::config::file::{self, Error};
use crate::config::key_use::KeyUse;
use crate::config::paths::Paths;
use crate::config::values::Config;

/// Returns every use of a key that the person's `own` settings make, and those that were agreed to.
pub fn allowed(own: &Config) -> BTreeSet<KeyUse> {
    let mut allowed = agreed(&own.paths);
    let names =
        PROVIDERS.iter().copied().chain(own.providers.keys().map(String::as_str)).chain([own.provider.as_str()]);
    for name in names {
        let connection = Config { provider: name.into(), ..own.clone() }.connection();
        if let Some(variable) = connection.key_variable {
            allowed.insert(KeyUse::new(&variable, &connection.base_url));
        }
    }
    allowed
}

fn path(paths: &Paths) -> Option<PathBuf> {
    paths.own("agreed_keys.json")
}

/// Returns what the person has agreed to; nothing where the file is not what was written.
fn agreed(paths: &Paths) -> BTreeSet<KeyUse> {
    let read = |path: &Path| file::small_text(path).and_then(|text| serde_json::from_str::<Vec<Value>>(&text).ok());
    let rows = path(paths).and_then(|path| read(&path)).unwrap_or_default();
    let text = |row: &Value, name: &str| row[name].as_str().map(str::to_string);
    rows.iter()
        .filter_map(|row| Some(KeyUse { variable: text(row, "variable")?, server: text(row, "server")? }))
        .collect()
}

/// Adds an agreement.
pub fn agree(paths: &Paths, new: &KeyUse) -> Result<(), Error> {
    let path = path(paths).ok_or_else(|| Error::no_home("keep it"))?;
    let _lock = file::lock(&path)?;
    let mut all = agreed(paths);
    all.insert(new.clone());
    let rows: Vec<_> = all.iter().map(|u| json!({"variable": u.variable, "server": u.server})).collect();
    file::write(&path, format!("{:#}\n", Value::from(rows)).as_bytes())
}

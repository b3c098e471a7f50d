//! Where the person's keys may go. A workspace's configuration, even a trusted one, may name a server and a variable; a key goes
//! there only where the person's own settings say the same, or once the person has agreed. What was agreed to is kept in
//! nebula's own folder.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::{Config, Error, PROVIDERS, Paths, file};

/// A key, by its variable, and the server it is for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyUse {
    /// The variable that holds the key.
    pub variable: String,
    /// Scheme, host and port: `https://api.example.com`.
    pub server: String,
}

impl KeyUse {
    pub(super) fn new(variable: &str, url: &str) -> Self {
        KeyUse { variable: variable.into(), server: server(url) }
    }
}

/// What a URL begins with, up to its path. Two that are equal lead to one server.
fn server(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let authority = rest.split(['/', '\\', '?', '#']).next().unwrap_or(rest);
    let host = authority.rsplit('@').next().unwrap_or(authority);
    format!("{scheme}://{host}").to_ascii_lowercase()
}

/// Whether a workspace may name this variable: one that holds a key by its name, and not `HOME` or a password.
pub(super) fn is_key_variable(name: &str) -> bool {
    (name.ends_with("_KEY") || name.ends_with("_TOKEN")) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Takes out the variables that a workspace's file may not name, and tells of each.
pub(super) fn keep_key_variables(keys: &mut Map<String, Value>, complain: &mut dyn FnMut(&[String], String)) {
    let mut check = |keys: &mut Map<String, Value>, path: &[String]| {
        let Some(name) = keys.get("apiKeyEnv").and_then(Value::as_str) else { return };
        if !is_key_variable(name) {
            let what = format!("{name} is no variable a workspace may name: its name must end in _KEY or _TOKEN");
            complain(&[path, &["apiKeyEnv".to_string()]].concat(), what);
            keys.remove("apiKeyEnv");
        }
    };
    check(keys, &[]);
    for (name, provider) in keys.get_mut("providers").and_then(Value::as_object_mut).into_iter().flatten() {
        if let Some(provider) = provider.as_object_mut() {
            check(provider, &["providers".to_string(), name.clone()]);
        }
    }
}

/// Every use of a key that the person's `own` settings make, and those that were agreed to.
pub(super) fn allowed(own: &Config) -> BTreeSet<KeyUse> {
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

fn path(paths: &Paths) -> Option<std::path::PathBuf> {
    paths.own("agreed_keys.json")
}

/// What the person has agreed to; nothing where the file is not what was written.
fn agreed(paths: &Paths) -> BTreeSet<KeyUse> {
    let read = |path: &Path| file::small_text(path).and_then(|text| serde_json::from_str::<Vec<Value>>(&text).ok());
    let rows = path(paths).and_then(|path| read(&path)).unwrap_or_default();
    let text = |row: &Value, name: &str| row[name].as_str().map(str::to_string);
    rows.iter()
        .filter_map(|row| Some(KeyUse { variable: text(row, "variable")?, server: text(row, "server")? }))
        .collect()
}

/// Adds an agreement.
pub(super) fn agree(paths: &Paths, new: &KeyUse) -> Result<(), Error> {
    let path = path(paths).ok_or_else(|| Error::no_home("keep it"))?;
    let mut all = agreed(paths);
    all.insert(new.clone());
    let rows: Vec<_> = all.iter().map(|u| json!({"variable": u.variable, "server": u.server})).collect();
    file::write(&path, format!("{:#}\n", Value::from(rows)).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_scheme_host_and_port() {
        for (url, is) in [
            ("https://API.example.com/v1", "https://api.example.com"),
            ("http://127.0.0.1:8080/v1?x", "http://127.0.0.1:8080"),
            ("https://api.example.com@evil.example/v1", "https://evil.example"),
            ("https://evil.example\\@api.example.com/v1", "https://evil.example"),
        ] {
            assert_eq!(server(url), is);
        }
    }

    #[test]
    fn a_workspace_names_variables_of_keys_alone() {
        for (name, may) in
            [("MY_API_KEY", true), ("GH_TOKEN", true), ("HOME", false), ("KEY", false), ("my key_KEY", false)]
        {
            assert_eq!(is_key_variable(name), may, "{name}");
        }
    }
}

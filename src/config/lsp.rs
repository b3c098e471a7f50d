//! The configuration of language servers: the key `lsp`.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::layers::texts;

/// The settings of language servers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LspConfig {
    /// None is ever started.
    pub off: bool,
    /// Servers by name, beside those that are known without a configuration.
    pub servers: BTreeMap<String, LspServerConfig>,
}

/// The settings of one server; what is empty is as it is known by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LspServerConfig {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Globs of the files that it is asked about.
    pub globs: Vec<String>,
    /// It is used.
    pub enabled: bool,
}

impl LspConfig {
    pub(super) fn read(value: Option<&Value>) -> Self {
        let off = value == Some(&Value::Bool(false));
        let servers = value.and_then(Value::as_object).into_iter().flatten();
        let one = |(name, keys): (&String, &Value)| Some((name.clone(), server(keys.as_object()?)));
        LspConfig { off, servers: servers.filter_map(one).collect() }
    }
}

fn server(keys: &Map<String, Value>) -> LspServerConfig {
    let enabled = keys.get("enabled").and_then(Value::as_bool).unwrap_or(true);
    LspServerConfig { command: texts(keys, "command"), globs: texts(keys, "globs"), enabled }
}

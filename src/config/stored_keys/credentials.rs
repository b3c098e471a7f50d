//! Keys that the person asked nebula to keep: `credentials.json` in its own folder, mode 0600. A key is stored by
//! provider and server and goes to that server alone; the environment wins over it.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::config::connection::{Connection, Secret};
use crate::config::file::{self, Error};
use crate::config::key_use::KeyUse;
use crate::config::paths::Paths;
use crate::config::values::Config;

/// Returns where the keys are kept.
fn path(paths: &Paths) -> Option<PathBuf> {
    paths.own("credentials.json")
}

/// Returns what is kept: provider, server, key. Nothing where the file can be read by others or is not what was
/// written.
fn stored(path: &Path) -> Vec<(String, String, String)> {
    if !is_private(path) {
        return Vec::new();
    }
    let rows = file::small_text(path).and_then(|text| serde_json::from_str::<Vec<Value>>(&text).ok());
    let text = |row: &Value, name: &str| row[name].as_str().map(str::to_string);
    let read = |row: &Value| Some((text(row, "provider")?, text(row, "server")?, text(row, "key")?));
    rows.unwrap_or_default().iter().filter_map(read).collect()
}

/// Returns whether only its owner can read a file.
fn is_private(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o077 == 0)
}

/// Returns the key kept for this provider at this address.
fn key(paths: &Paths, provider: &str, base_url: &str) -> Option<Secret> {
    let server = KeyUse::new("", base_url).server;
    let found = stored(&path(paths)?).into_iter().find(|(p, s, _)| p == provider && *s == server);
    found.map(|(.., key)| Secret::new(key))
}

impl Config {
    /// Returns the key that was kept for the provider in force at this address.
    pub fn stored_key(&self, base_url: &str) -> Option<Secret> {
        key(&self.paths, &self.provider, base_url)
    }

    /// Returns a connection to a provider as the person describes it, with this key.
    pub fn connection_to(&self, provider: &str, base_url: Option<&str>, key: Option<Secret>) -> Connection {
        let mut config = self.clone();
        config.provider = provider.to_string();
        let connection = config.connection();
        let base_url = base_url.map_or(connection.base_url.clone(), |url| url.trim_end_matches('/').to_string());
        let custom_url = connection.custom_url || base_url != connection.base_url;
        Connection { key: key.or(connection.key.clone()), withheld: None, custom_url, base_url, ..connection }
    }

    /// Stores a key for the server of a connection, in place of an earlier one.
    ///
    /// # Errors
    /// When there is no folder for it, or the file cannot be written.
    pub fn keep_key(&self, connection: &Connection, key: &Secret) -> Result<(), Error> {
        let path = path(&self.paths).ok_or_else(|| Error::no_home("keep the key"))?;
        let server = KeyUse::new("", &connection.base_url).server;
        let mut all = stored(&path);
        all.retain(|(p, s, _)| !(*p == connection.provider && *s == server));
        all.push((connection.provider.clone(), server, key.reveal().to_string()));
        let row = |(provider, server, key): &(String, String, String)| json!({"provider": provider, "server": server, "key": key});
        let rows: Vec<Value> = all.iter().map(row).collect();
        file::write(&path, format!("{:#}\n", Value::from(rows)).as_bytes())
    }

    /// Returns what `doctor` says of the keys that are kept; none: there are none.
    pub fn credentials(&self) -> Option<(bool, String)> {
        let path = path(&self.paths).filter(|path| path.exists())?;
        let short = self.paths.short(&path);
        if !is_private(&path) {
            return Some((false, format!("{short} can be read by others and is not used: chmod 600 {short}")));
        }
        let servers: Vec<String> = stored(&path).into_iter().map(|(_, server, _)| server).collect();
        Some((true, format!("{short}, for {}", servers.join(", "))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Env, Flags};

    #[test]
    fn a_key_is_kept_privately_and_goes_to_its_server_alone() {
        let home = tempfile::tempdir().expect("a folder");
        let load = || Config::load(Paths::below(home.path()), Env::default(), Flags::default(), None);
        let config = load();
        assert_eq!((config.connection().key, config.credentials()), (None, None));
        let connection = config.connection_to("openai", None, None);
        config.keep_key(&connection, &Secret::new("sk-1")).expect("kept");
        assert_eq!(load().connection().key, Some(Secret::new("sk-1")));
        // Not to another server, nor another provider.
        let other = load().connection_to("openai", Some("https://evil.example/v1"), None);
        assert_eq!(key(&load().paths, "openai", &other.base_url), None);
        assert_eq!(load().connection_to("anthropic", None, None).key, None);
        // Another key for the same server takes its place.
        config.keep_key(&connection, &Secret::new("sk-2")).expect("kept");
        let path = path(&load().paths).expect("a path");
        assert_eq!(stored(&path).len(), 1);
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| std::fs::metadata(path).expect("it").permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        assert!(load().credentials().is_some_and(|(ok, says)| ok && says.contains("https://api.openai.com")));
        // One that others can read is not used, and that is said.
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).expect("changed");
        assert_eq!(load().connection().key, None);
        assert!(load().credentials().is_some_and(|(ok, _)| !ok));
    }
}

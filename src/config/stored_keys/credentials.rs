//! Keys that the person asked nebula to keep: `credentials.json` in its own folder, mode 0600. A key is stored by
//! provider and server and goes to that server alone; the environment wins over it.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::config::connection::providers::{PROVIDERS, built_in};
use crate::config::connection::proxy;
use crate::config::connection::{Connection, from_env, own_wire};
use crate::config::file::{self, Error};
use crate::config::key_use::{Secret, StoredKey, host, server};
use crate::config::paths::Paths;
use crate::config::values::Config;

/// Returns where the keys are kept.
fn path(paths: &Paths) -> Option<PathBuf> {
    paths.own("credentials.json")
}

/// Returns the keys that are kept: none where others can read the file, or it is not what was written.
pub fn read(paths: &Paths) -> Vec<StoredKey> {
    path(paths).and_then(|path| stored(&path).ok()).unwrap_or_default()
}

/// Returns the keys of the file; none where there is no file.
///
/// # Errors
/// When others can read the file, or it is not what was written.
fn stored(path: &Path) -> Result<Vec<StoredKey>, Error> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let name = path.display();
    if !is_private(path) {
        let message = format!("{name} can be read by others and is not used");
        return Err(Error { message, hint: format!("chmod 600 {name}") });
    }
    let rows = file::small_text(path).and_then(|text| serde_json::from_str::<Vec<Value>>(&text).ok());
    let text = |row: &Value, name: &str| row[name].as_str().map(str::to_string);
    let read = |row: &Value| {
        let key = Secret::new(text(row, "key")?);
        Some(StoredKey { provider: text(row, "provider")?, server: text(row, "server")?, key })
    };
    let keys = rows.and_then(|rows| rows.iter().map(read).collect::<Option<Vec<_>>>());
    keys.ok_or_else(|| Error {
        message: format!("{name} is not as it was written and is not used"),
        hint: "Correct it, or move it away.".into(),
    })
}

/// Returns whether only its owner can read a file.
fn is_private(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o077 == 0)
}

/// Returns a key as it is kept for the server of a connection.
fn key_of(connection: &Connection, key: Secret) -> StoredKey {
    StoredKey { provider: connection.provider.clone(), server: server(&connection.base_url), key }
}

/// Returns whether two keys are for the same provider and server.
fn is_same_place(one: &StoredKey, other: &StoredKey) -> bool {
    one.provider == other.provider && one.server == other.server
}

impl Config {
    /// Returns the key that was kept for the provider in force at this address; an empty one: it needs none.
    pub(in crate::config) fn stored_key(&self, base_url: &str) -> Option<Secret> {
        let server = server(base_url);
        let found = self.stored_keys.iter().find(|key| key.provider == self.provider && key.server == server);
        found.map(|found| found.key.clone())
    }

    /// Returns a connection to a provider as the person describes it: at this address, or at the provider's own, with
    /// this key. What the configuration knows of the provider (its key, headers, the command that prints the key) is
    /// used only where the server is the configured one; a server of the person's own has a name of its own.
    pub fn connection_to(&self, provider: &str, base_url: Option<&str>, key: Option<Secret>) -> Connection {
        let mut configured = self.connection_of(provider);
        let own = self.own_url(provider);
        let mut url = base_url.or(own.as_deref()).unwrap_or(&configured.base_url).to_string();
        url.truncate(url.trim_end_matches('/').len());
        let is_same = |other: &Connection| server(&other.base_url) == server(&url);
        if base_url.is_some() && !is_same(&configured) {
            configured = self.connection_of(&self.name_of_server(&url));
        }
        if is_same(&configured) {
            return Connection {
                withheld: configured.withheld.filter(|_| key.is_none()),
                pasted: configured.pasted || key.is_some(),
                key: key.or(configured.key),
                custom_url: configured.custom_url || url != configured.base_url,
                base_url: url,
                ..configured
            };
        }
        let stored = || Config { provider: configured.provider.clone(), ..self.clone() }.stored_key(&url);
        Connection {
            key: key.or_else(stored),
            pasted: true,
            custom_url: base_url.is_some(),
            proxy: proxy::of(self.env(), &url),
            wire: own_wire(&configured.provider).into(),
            fault: self.unread_budget(),
            cache_hour: configured.cache_hour,
            provider: configured.provider,
            base_url: url,
            ..Connection::default()
        }
    }

    /// Returns the address of a provider that a person connects by its key alone: that of the variable in which its other
    /// clients look for it, or its own.
    fn own_url(&self, provider: &str) -> Option<String> {
        from_env(provider, self.env()).or_else(|| built_in(provider).0.map(Into::into))
    }

    /// Returns the host that such a key goes to; empty where the provider has no address of its own.
    pub fn own_host(&self, provider: &str) -> String {
        self.own_url(provider).map(|url| host(&url).to_string()).unwrap_or_default()
    }

    /// Returns the name of a server among the configured providers, or a new one after its host.
    fn name_of_server(&self, url: &str) -> String {
        let is_this = |own: &Option<String>| own.as_ref().is_some_and(|own| server(own) == server(url));
        if let Some((name, _)) = self.providers.iter().find(|(_, named)| is_this(&named.base_url)) {
            return name.clone();
        }
        let server = server(url);
        let (_, host) = server.split_once("://").unwrap_or_default();
        let host = host.trim_start_matches('[').replace([':', ']'], "-");
        let is_free = |name: &String| !PROVIDERS.contains(&name.as_str()) && !self.providers.contains_key(name);
        let numbered = (2..).map(|number| format!("{host}-{number}"));
        std::iter::once(host.clone()).chain(numbered).find(is_free).unwrap_or(host)
    }

    /// Stores a key for the server of a connection, in place of an earlier one; `None`: it needs none.
    ///
    /// # Errors
    /// When there is no folder for it, or the file cannot be written or holds what was not written there: it stays as
    /// it is.
    pub fn keep_key(&mut self, connection: &Connection, key: Option<&Secret>) -> Result<(), Error> {
        let path = path(&self.paths).ok_or_else(|| Error::no_home("keep the key"))?;
        let _lock = file::lock(&path)?;
        let mut all = stored(&path)?;
        let new = key_of(connection, key.cloned().unwrap_or_else(|| Secret::new("")));
        all.retain(|old| !is_same_place(old, &new));
        all.push(new);
        let row = |row: &StoredKey| json!({"provider": row.provider, "server": row.server, "key": row.key.reveal()});
        let rows: Vec<Value> = all.iter().map(row).collect();
        file::write(&path, format!("{:#}\n", Value::from(rows)).as_bytes())?;
        // Those that are held for this run alone stay.
        self.stored_keys.retain(|held| all.iter().all(|kept| !is_same_place(held, kept)));
        self.stored_keys.extend(all);
        Ok(())
    }

    /// Holds a key for the server of a connection until nebula ends, in place of an earlier one.
    pub fn hold_key(&mut self, connection: &Connection, key: Secret) {
        let new = key_of(connection, key);
        self.stored_keys.retain(|old| !is_same_place(old, &new));
        self.stored_keys.push(new);
    }

    /// Returns what `doctor` says of the keys that are kept; none: there are none.
    pub fn credentials(&self) -> Option<(bool, String)> {
        if let Some(why) = self.unread_keys() {
            return Some((false, format!("{}: {}", why.message, why.hint)));
        }
        let path = path(&self.paths).filter(|path| path.exists())?;
        let short = self.paths.short(&path);
        let servers: Vec<String> = stored(&path).ok()?.into_iter().map(|key| key.server).collect();
        Some((
            true,
            match servers.is_empty() {
                true => format!("{short}, without a key"),
                false => format!("{short}, for {}", servers.join(", ")),
            },
        ))
    }

    /// Returns why the file of kept keys is there and not used; `None`: it is read, or there is none.
    pub fn unread_keys(&self) -> Option<Error> {
        let path = path(&self.paths)?;
        let Error { message, hint } = stored(&path).err()?;
        let (whole, short) = (path.display().to_string(), self.paths.short(&path).to_string());
        Some(Error { message: message.replace(&whole, &short), hint: hint.replace(&whole, &short) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Flags, Variables};

    fn load(home: &Path, env: Variables) -> Config {
        Config::load(Paths::below(home), env, Flags::default(), None)
    }

    #[test]
    fn a_key_is_stored_privately_and_goes_to_its_server_alone() {
        let home = tempfile::tempdir().expect("a folder");
        let load = || load(home.path(), Variables::default());
        let mut config = load();
        assert_eq!((config.connection().key, config.credentials()), (None, None));
        let connection = config.connection_to("openai", None, None);
        config.keep_key(&connection, Some(&Secret::new("sk-1"))).expect("kept");
        for config in [&config, &load()] {
            assert_eq!(config.connection().key, Some(Secret::new("sk-1")));
        }
        // One for this run alone is in no file, and stays when another is kept.
        let run = config.connection_to("gemini", None, None);
        config.hold_key(&run, Secret::new("run"));
        config.keep_key(&connection, Some(&Secret::new("sk-1"))).expect("kept");
        assert_eq!(config.connection_of("gemini").key, Some(Secret::new("run")));
        assert!(load().connection_of("gemini").key.is_none());
        // Not to another server, nor another provider.
        let other = load().connection_to("openai", Some("https://evil.example/v1"), None);
        assert_eq!(other.key, None);
        assert_eq!(load().connection_to("anthropic", None, None).key, None);
        // The variable in which other clients look for a provider's address names its server here too.
        let env = Variables::from_iter([("ANTHROPIC_BASE_URL", "http://gateway.lan:8080")]);
        let behind = self::load(home.path(), env);
        assert_eq!(behind.connection_to("anthropic", None, None).base_url, "http://gateway.lan:8080");
        assert_eq!(
            (behind.own_host("anthropic").as_str(), behind.own_host("openai").as_str()),
            ("gateway.lan", "api.openai.com")
        );
        // Another key for the same server takes its place.
        config.keep_key(&connection, Some(&Secret::new("sk-2"))).expect("kept");
        let path = path(&load().paths).expect("a path");
        assert_eq!(stored(&path).expect("keys").len(), 1);
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| std::fs::metadata(path).expect("it").permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        assert!(load().credentials().is_some_and(|(ok, says)| ok && says.contains("https://api.openai.com")));
        // One that others can read is not used, and that is said; nothing in it is lost.
        let file_bytes = std::fs::read(&path).expect("keys");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).expect("changed");
        assert_eq!(load().connection().key, None);
        assert!(load().credentials().is_some_and(|(ok, says)| !ok && says.contains("chmod 600")));
        let why = load().keep_key(&other, Some(&Secret::new("sk-3"))).expect_err("refused");
        assert!(why.hint.starts_with("chmod 600 "), "{why:?}");
        assert_eq!(std::fs::read(&path).expect("keys"), file_bytes);
        // Neither is one that was changed by hand.
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).expect("changed");
        std::fs::write(&path, "[{\"provider\": 1}]").expect("written");
        assert!(load().keep_key(&other, Some(&Secret::new("sk-3"))).is_err());
        assert_eq!(std::fs::read_to_string(&path).expect("keys"), "[{\"provider\": 1}]");
    }

    #[test]
    fn another_address_gets_nothing_of_the_configured_one() {
        let home = tempfile::tempdir().expect("a folder");
        let env: Variables = [("OPENAI_API_KEY", "sk-env")].into_iter().collect();
        let path = Paths::below(home.path()).config().expect("a path");
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        let text = r#"{"provider": "openai", "headers": {"X-Token": "s"}, "apiKeyCommand": ["print-key"]}"#;
        std::fs::write(&path, text).expect("written");
        let config = load(home.path(), env.clone());
        let own = config.connection_to("openai", None, None);
        assert_eq!((own.key, own.headers.len()), (Some(Secret::new("sk-env")), 1));
        let mut config = config;
        for provider in ["openai", "anthropic"] {
            let other = config.connection_to(provider, Some("http://llm.lan:8080/v1/"), None);
            assert_eq!(
                (other.provider.as_str(), other.base_url.as_str(), other.wire.as_str()),
                ("llm.lan-8080", "http://llm.lan:8080/v1", "chat")
            );
            assert_eq!((other.key, other.key_variable, other.headers, other.key_command), (None, None, vec![], vec![]));
        }
        // Once it is kept as one without a key, the usual variable does not go there at the next start either.
        let other = config.connection_to("openai", Some("http://localhost:8080/v1"), None);
        config.keep_key(&other, None).expect("kept");
        config.set("providers.localhost-8080.baseUrl", &other.base_url).expect("set");
        let config = load(home.path(), env);
        assert_eq!(config.connection_of("localhost-8080").key, None);
        assert_eq!(config.connection_to("openai", Some("http://localhost:8080"), None).provider, "localhost-8080");
    }

    #[test]
    fn the_provider_s_own_address_is_not_the_one_a_workspace_names() {
        let (home, work) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let env: Variables = [("OPENAI_API_KEY", "sk-env")].into_iter().collect();
        let mut config = load(home.path(), env.clone());
        config.workspace = Some(work.path().into());
        config.trust().expect("trusted");
        let path = crate::config::workspace_config(work.path());
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(&path, r#"{"baseUrl": "https://evil.example/v1"}"#).expect("written");
        let config = Config::load(Paths::below(home.path()), env, Flags::default(), Some(work.path()));
        assert_eq!(config.connection().base_url, "https://evil.example/v1");
        let typed = config.connection_to("openai", None, Some(Secret::new("sk-typed")));
        assert_eq!((typed.base_url.as_str(), typed.custom_url), ("https://api.openai.com/v1", false));
        // The address alone is no agreement to send the key of the environment there.
        let named = config.connection_to("openai", Some("https://evil.example/v1"), None);
        assert_eq!((named.key, named.withheld.is_some()), (None, true));
    }
}

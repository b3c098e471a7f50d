//! Keys: one, where it may go, and which variables a workspace may name.

use std::borrow::Cow;
use std::net::IpAddr;

use serde_json::{Map, Value};

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

/// A key. It is in no `Debug` output; only [`Secret::reveal`] shows it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Hides `text`.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the key itself, for the one header it belongs in.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("…")
    }
}

/// A key that is kept.
#[derive(Clone, PartialEq, Eq)]
pub struct StoredKey {
    /// The provider by name.
    pub provider: String,
    /// The server, as in [`KeyUse`].
    pub server: String,
    /// Empty: the person connected this server without a key.
    pub key: Secret,
}

/// Returns what a URL begins with, up to its path. Two that are equal lead to one server.
pub(super) fn server(url: &str) -> String {
    let (scheme, host) = scheme_and_host(url);
    format!("{scheme}://{host}").to_ascii_lowercase()
}

/// Returns the scheme of a URL, and its host with the port.
fn scheme_and_host(url: &str) -> (&str, &str) {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let authority = rest.split(['/', '\\', '?', '#']).next().unwrap_or(rest);
    (scheme, authority.rsplit('@').next().unwrap_or(authority))
}

/// Returns the host of a URL without its port; the address of an IPv6 host without brackets.
pub(super) fn host(url: &str) -> &str {
    let (_, host) = scheme_and_host(url);
    let host = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    };
    host.trim_start_matches('[').trim_end_matches(']')
}

/// Returns whether a URL leads to this computer.
pub fn is_loopback(url: &str) -> bool {
    let host = host(url).to_ascii_lowercase();
    match host.parse::<IpAddr>() {
        Ok(ip) => ip.is_loopback() || ip.is_unspecified(),
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

/// Returns the address of a server with its scheme: where none was written `http` on this computer and in private
/// networks, else `https`.
pub fn with_scheme(address: &str) -> Cow<'_, str> {
    if address.is_empty() || address.contains("://") {
        return address.into();
    }
    let written = format!("http://{address}");
    let host = host(&written).to_ascii_lowercase();
    let is_near = match host.parse::<IpAddr>() {
        Ok(IpAddr::V4(ip)) => ip.is_private() || ip.is_link_local(),
        Ok(IpAddr::V6(ip)) => ip.is_unique_local() || ip.is_unicast_link_local(),
        Err(_) => !host.contains('.') || host.ends_with(".local"),
    };
    if is_near || is_loopback(&written) { written.into() } else { format!("https://{address}").into() }
}

/// Returns whether a workspace may name this variable: one that holds a key by its name, and not `HOME` or a password.
fn is_key_variable(name: &str) -> bool {
    (name.ends_with("_KEY") || name.ends_with("_TOKEN")) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Removes the variables that a workspace's file may not name, and reports each.
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
    fn this_computer_is_known_by_its_host_alone() {
        for url in ["http://localhost:8080", "http://127.0.0.1/v1", "http://[::1]:11434", "https://a.localhost"] {
            assert!(is_loopback(url), "{url}");
        }
        for url in
            ["http://localhost.evil.example/v1", "http://127.0.0.1.evil.example", "http://localhost@evil.example"]
        {
            assert!(!is_loopback(url), "{url}");
        }
    }

    #[test]
    fn an_address_has_the_scheme_that_its_place_has() {
        for (typed, whole) in [
            ("127.0.0.1:8931", "http://127.0.0.1:8931"),
            ("localhost:1234/v1", "http://localhost:1234/v1"),
            ("[::1]:9", "http://[::1]:9"),
            ("192.168.1.4:8080", "http://192.168.1.4:8080"),
            ("gpu.local/v1", "http://gpu.local/v1"),
            ("api.example.com/v1", "https://api.example.com/v1"),
            ("8.8.8.8", "https://8.8.8.8"),
            ("https://127.0.0.1", "https://127.0.0.1"),
            ("", ""),
        ] {
            assert_eq!(with_scheme(typed), whole);
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

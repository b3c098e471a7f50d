//! From the configuration to what a provider needs: URL, key, headers.

use super::key_use::KeyUse;
use super::paths::Env;
use super::values::Config;

/// A key. It is in no `Debug` output; only [`Secret::reveal`] shows it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Hides `text`.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The key itself, for the one header it belongs in.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("…")
    }
}

/// Where a model is and how to be let in.
#[derive(Clone, PartialEq, Eq)]
pub struct Connection {
    /// The provider by name: a built-in one, or one of `providers`, which speaks Chat Completions.
    pub provider: String,
    /// Where requests go; no `/` at its end.
    pub base_url: String,
    /// Whether the URL is one that was set, and not the provider's own.
    pub custom_url: bool,
    /// The variable that holds the key; `None`: this provider has none.
    pub key_variable: Option<String>,
    /// The key, if the variable is set.
    pub key: Option<Secret>,
    /// Where the key would go if the person agreed: the workspace's file names a server or a variable that the person's own
    /// settings do not. There is no `key` then.
    pub withheld: Option<KeyUse>,
    /// Sent with each request.
    pub headers: Vec<(String, String)>,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Values of headers may be keys.
        let headers: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        f.debug_struct("Connection")
            .field("provider", &self.provider)
            .field("base_url", &self.base_url)
            .field("custom_url", &self.custom_url)
            .field("key_variable", &self.key_variable)
            .field("key", &self.key)
            .field("withheld", &self.withheld)
            .field("headers", &headers)
            .finish()
    }
}

/// A provider's own URL, and the variable its key is in.
fn built_in(provider: &str) -> (Option<&'static str>, Option<&'static str>) {
    match provider {
        "openai" => (Some("https://api.openai.com/v1"), Some("OPENAI_API_KEY")),
        "anthropic" => (Some("https://api.anthropic.com/v1"), Some("ANTHROPIC_API_KEY")),
        "gemini" => (Some("https://generativelanguage.googleapis.com/v1beta"), Some("GEMINI_API_KEY")),
        "ollama" => (Some("http://127.0.0.1:11434"), None),
        "replay" => (None, None),
        _ => (None, Some("OPENAI_API_KEY")),
    }
}

impl Config {
    /// What the provider in force needs. Keys are read here, from the environment that was handed to
    /// [`Config::load`], and nowhere else.
    pub fn connection(&self) -> Connection {
        let named = self.providers.get(&self.provider).cloned().unwrap_or_default();
        let (own_url, own_variable) = built_in(&self.provider);
        let general = self.general();
        let url = named.base_url.or_else(|| general.and(self.base_url.clone()));
        let url = from_env(&self.provider, &self.env).or(url);
        let key_variable =
            named.api_key_env.or_else(|| general.and(self.api_key_env.clone())).or(own_variable.map(Into::into));
        let key = key_variable.as_deref().and_then(|name| self.env.get(name)).map(Secret::new);
        let base_url = url.as_deref().or(own_url).unwrap_or_default().trim_end_matches('/').to_string();
        let key_use = key_variable.as_deref().filter(|_| key.is_some()).map(|name| KeyUse::new(name, &base_url));
        let withheld =
            key_use.filter(|key_use| self.key_uses.as_ref().is_some_and(|allowed| !allowed.contains(key_use)));
        let mut headers = named.headers;
        if general.is_some() {
            for (name, value) in &self.headers {
                headers.entry(name.clone()).or_insert_with(|| value.clone());
            }
        }
        Connection {
            custom_url: url.is_some(),
            base_url,
            provider: self.provider.clone(),
            key_variable,
            key: key.filter(|_| withheld.is_none()),
            withheld,
            headers: headers.into_iter().collect(),
        }
    }

    /// The model to ask, and the key of the configuration that a change of it belongs in.
    pub(super) fn choose_model(&self) -> (Option<String>, String) {
        match self.providers.get(&self.provider).and_then(|named| named.model.clone()) {
            Some(model) => (Some(model), format!("providers.{}.model", self.provider)),
            None if self.general().is_some() => (None, "model".into()),
            None => (None, format!("providers.{}.model", self.provider)),
        }
    }

    /// `Some` if the top-level `model`, `baseUrl`, `apiKeyEnv` and `headers` are for the provider in force: they
    /// belong to the `provider` beside them, and not to another one that a flag names. So a key never goes to
    /// the URL of somebody else.
    fn general(&self) -> Option<()> {
        (self.provider == self.own_provider).then_some(())
    }
}

/// The variable other clients know, for the providers whose address it names.
pub(super) fn from_env(provider: &str, env: &Env) -> Option<String> {
    (provider == "openai").then(|| env.get("OPENAI_BASE_URL").map(Into::into)).flatten()
}

//! From the configuration to what a provider needs: URL, key, headers.

pub mod providers;
pub(super) mod proxy;

use std::path::{Path, PathBuf};

use self::providers::{OPENAI, PROVIDERS, built_in, makers, own_model, row};
use super::key_use::{KeyUse, Secret, host, is_loopback, with_scheme};
use super::paths::Variables;
use super::values::Config;

/// The address of a model's server and the access to it.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Connection {
    /// The provider by name: a built-in one, or one of `providers`.
    pub provider: String,
    /// The address for requests; no `/` at its end.
    pub base_url: String,
    /// True if the URL is one that was set, and not the provider's own.
    pub custom_url: bool,
    /// The variable that holds the key; `None`: this provider has none.
    pub key_variable: Option<String>,
    /// The key, if the variable is set.
    pub key: Option<Secret>,
    /// The key is one that the person pasted, for this run or into the file of keys; no variable holds it.
    pub pasted: bool,
    /// The use of the key if the person agreed: the workspace's file names a server or a variable that the person's own
    /// settings do not. There is no `key` then.
    pub withheld: Option<KeyUse>,
    /// Sent with each request.
    pub headers: Vec<(String, String)>,
    /// The wire format that is used there: one of [`super::WIRES`].
    pub wire: String,
    /// The reason why nothing is to be sent: the configuration names no provider, or a value that matters cannot be read.
    pub fault: Option<String>,
    /// Prints the key, where no variable holds it; empty for none.
    pub key_command: Vec<String>,
    /// The proxy that requests go through, as host and port; `None`: none.
    pub proxy: Option<String>,
    /// The provider caches for an hour, not for five minutes.
    pub cache_hour: bool,
    /// The folders of model files that can be run inside.
    pub model_folders: ModelFolders,
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
            .field("wire", &self.wire)
            .finish()
    }
}

/// The folders in which model files are looked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModelFolders {
    /// The file that is configured.
    pub file: Option<PathBuf>,
    /// Hugging Face's cache.
    pub hugging_face: Option<PathBuf>,
    /// Ollama's models.
    pub ollama: Option<PathBuf>,
    /// LM Studio's models.
    pub lm_studio: Vec<PathBuf>,
    /// The home folder, which `~` stands for.
    pub home: Option<PathBuf>,
}

impl ModelFolders {
    /// Returns the folders below `home`, or where the variables of those tools say; `env` gives a variable.
    pub fn usual(home: Option<&Path>, env: impl Fn(&str) -> Option<String>) -> Self {
        let at = |variable: &str| env(variable).map(PathBuf::from);
        let below = |path: &str| home.map(|home| home.join(path));
        let cache = at("HF_HOME").or_else(|| below(".cache/huggingface"));
        Self {
            file: None,
            hugging_face: at("HF_HUB_CACHE").or_else(|| cache.map(|cache| cache.join("hub"))),
            ollama: at("OLLAMA_MODELS").or_else(|| below(".ollama/models")),
            lm_studio: [".lmstudio/models", ".cache/lm-studio/models"].into_iter().filter_map(below).collect(),
            home: home.map(Into::into),
        }
    }

    /// Returns whether a model's name is the path of a model file: `/models/a.gguf`, `~/a.gguf`, `./a.gguf`.
    pub fn is_path(model: &str) -> bool {
        let is_file = Path::new(model).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gguf"));
        is_file && model.contains(std::path::is_separator)
    }

    /// Returns a path in which `~` is the home folder.
    pub fn expanded(&self, path: &Path) -> PathBuf {
        match (path.strip_prefix("~"), &self.home) {
            (Ok(rest), Some(home)) => home.join(rest),
            _ => path.into(),
        }
    }
}

/// Returns the variable with the key of a provider that nobody chose one for: of several that its other clients know,
/// the first that is set.
fn own_variable_set(provider: &str, usual: Option<&str>, env: &Variables) -> Option<String> {
    let names = row(provider).map_or(&[][..], |row| row.key_variables);
    let set = names.iter().find(|name| env.get(name).is_some()).copied();
    set.or(usual).map(Into::into)
}

/// Returns the wire format a provider speaks by itself.
pub(super) fn own_wire(provider: &str) -> &'static str {
    super::WIRES.iter().find(|wire| **wire == provider).copied().unwrap_or("chat")
}

/// Returns the URL that `OLLAMA_HOST` names as Ollama's own client reads it: with or without scheme, port and the quotes
/// of a file of variables. An address to listen on is that of this computer.
fn ollama_url(host: &str) -> Option<String> {
    let host = host.trim().trim_matches(['"', '\'']);
    let (scheme, rest) = host.split_once("://").unwrap_or(("http", host));
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let (name, port) = match authority.rsplit_once(':') {
        Some((name, port)) if !port.contains(']') => (name, port),
        _ => (authority, if scheme == "https" { "443" } else { "11434" }),
    };
    let name = match name {
        "" | "0.0.0.0" | "[::]" | "::" => "127.0.0.1",
        name => name,
    };
    let plain = !name.contains(|c: char| c.is_whitespace() || c.is_control());
    let url = format!("{scheme}://{name}:{port}/{path}");
    (plain && port.parse::<u16>().is_ok()).then(|| url.trim_end_matches('/').to_string())
}

impl Config {
    /// Returns what the provider in force needs. The keys are those of the environment that was handed to
    /// [`Config::load`], and the stored ones, which were read there.
    pub fn connection(&self) -> Connection {
        let named = self.providers.get(&self.provider).cloned().unwrap_or_default();
        let (own_url, own_variable) = built_in(&self.provider);
        let general = self.general();
        let url = self.url_of(&self.provider);
        let base_url = url.as_deref().or(own_url).unwrap_or_default().trim_end_matches('/').to_string();
        let stored = self.stored_key(&base_url);
        let chosen = named.api_key_env.or_else(|| general.and(self.api_key_env.clone()));
        // A server of the person's own has the key that was typed for it, not the one of another provider.
        let has_own_key = own_url.is_none() && stored.is_some();
        let usual = || own_variable_set(&self.provider, own_variable, &self.env).filter(|_| !has_own_key);
        let key_variable = chosen.or_else(usual);
        let key = key_variable.as_deref().and_then(|name| self.env.get(name)).map(Secret::new);
        let key_use = key_variable.as_deref().filter(|_| key.is_some()).map(|name| KeyUse::new(name, &base_url));
        let withheld =
            key_use.filter(|key_use| self.key_uses.as_ref().is_some_and(|allowed| !allowed.contains(key_use)));
        let mut headers = named.headers;
        if general.is_some() {
            for (name, value) in &self.headers {
                headers.entry(name.clone()).or_insert_with(|| value.clone());
            }
        }
        let key_command = match named.api_key_command {
            own if !own.is_empty() => own,
            _ => general.map(|()| self.api_key_command.clone()).unwrap_or_default(),
        };
        let stored = stored.filter(|key| key_command.is_empty() && !key.reveal().is_empty());
        let key = key.filter(|_| withheld.is_none());
        let pasted = key.is_none() && stored.is_some();
        let key = key.or(stored);
        let sent_key = key_variable.as_deref().zip(key.as_ref()).filter(|_| !pasted && url.is_none());
        let wrong_key =
            sent_key.and_then(|(variable, key)| providers::of_another(&self.provider, variable, key.reveal()));
        Connection {
            proxy: proxy::of(&self.env, &base_url),
            custom_url: url.is_some(),
            base_url,
            provider: self.provider.clone(),
            key_variable,
            key,
            pasted,
            withheld,
            headers: headers.into_iter().collect(),
            wire: named.wire.unwrap_or_else(|| own_wire(&self.provider).into()),
            fault: self
                .unknown_provider()
                .or_else(|| self.unread_address())
                .or_else(|| self.unread_budget())
                .or(wrong_key),
            cache_hour: self.cache_ttl == "1h",
            key_command,
            model_folders: self.model_folders(),
        }
    }

    /// Returns what is said of a provider in force that is neither built in nor described; `None`: it is one.
    pub fn unknown_provider(&self) -> Option<String> {
        let name = &self.provider;
        let has_url = self.general().is_some() && self.base_url.is_some();
        if has_url || PROVIDERS.contains(&name.as_str()) || self.providers.contains_key(name) {
            return None;
        }
        let known = PROVIDERS.iter().copied().chain(self.providers.keys().map(String::as_str));
        let known = known.collect::<Vec<_>>().join(", ");
        Some(format!("there is no provider {name}: there are {known}; set providers.{name} to add it"))
    }

    /// Returns why the most that a session may cost cannot be read; a flag stands in its place.
    pub fn unread_budget(&self) -> Option<String> {
        let mut limits = ["budget", "budgetTokens"].into_iter().filter(|_| self.flags.budget.is_none());
        limits.find_map(|key| self.removed.get(key)).cloned()
    }

    /// Returns why a value cannot be read that says where requests go, or in which format.
    fn unread_address(&self) -> Option<String> {
        let own = |key: &str| self.removed.get(&format!("providers.{}.{key}", self.provider));
        let general = || self.general().and_then(|()| self.removed.get("baseUrl"));
        let url = || own("baseUrl").or_else(general).filter(|_| from_env(&self.provider, &self.env).is_none());
        own("wire").or_else(url).cloned()
    }

    /// Returns the places that have a key of a provider: its variable, a command, the file of kept keys.
    pub fn key_places(&self, provider: &str) -> [bool; 3] {
        let config = Config { provider: provider.to_string(), ..self.clone() };
        let connection = config.connection();
        let variable = connection.key_variable.as_deref().is_some_and(|name| self.env.get(name).is_some());
        let is_stored = config.stored_key(&connection.base_url).is_some_and(|key| !key.reveal().is_empty());
        [variable, !connection.key_command.is_empty(), is_stored]
    }

    /// Returns where model files are: the configured one, where `~` is the home folder, and those of other tools.
    pub fn model_folders(&self) -> ModelFolders {
        let usual = ModelFolders::usual(self.paths.home(), |name| self.env.get(name).map(Into::into));
        ModelFolders { file: self.model_file.as_deref().map(|file| usual.expanded(file)), ..usual }
    }

    /// Returns the address of a server of the person's own that stands under this name; `None`: it is a provider's usual
    /// one.
    pub fn own_server(&self, provider: &str) -> Option<String> {
        if PROVIDERS.contains(&provider) && provider != OPENAI.name {
            return None;
        }
        let url = self.url_of(provider).or_else(|| built_in(provider).0.map(str::to_string)).unwrap_or_default();
        let base_url = url.trim_end_matches('/');
        let is_own = provider != OPENAI.name || host(base_url) != self.own_host(provider);
        Some(base_url.to_string()).filter(|url| is_own && !url.is_empty())
    }

    /// Returns the address that is set for a provider: the variable's, its own one, then the general one.
    fn url_of(&self, provider: &str) -> Option<String> {
        let named = || self.providers.get(provider).and_then(|named| named.base_url.clone());
        let general = || self.base_url.clone().filter(|_| provider == self.own_provider);
        from_env(provider, &self.env).or_else(named).or_else(general)
    }

    /// Returns what another provider needs, as this configuration describes it.
    pub fn connection_of(&self, provider: &str) -> Connection {
        Config { provider: provider.to_string(), ..self.clone() }.connection()
    }

    /// Returns the other providers that can be asked: named ones, and those whose key is there.
    pub fn other_connections(&self, connected: &str) -> Vec<Connection> {
        let mut names: Vec<String> = makers().map(str::to_string).chain(self.providers.keys().cloned()).collect();
        names.sort();
        names.dedup();
        let connections = names.into_iter().filter(|name| name != connected).map(|name| self.connection_of(&name));
        connections.filter(|other| other.key.is_some() || self.is_local_by_name(other)).collect()
    }

    /// Returns the address of the Ollama that the environment names.
    pub fn ollama_host(&self) -> Option<String> {
        from_env("ollama", &self.env)
    }

    /// Returns whether a provider of the person's own needs no key: it is on this computer.
    fn is_local_by_name(&self, other: &Connection) -> bool {
        self.providers.contains_key(&other.provider) && is_loopback(&other.base_url)
    }

    /// Splits `PROVIDER:MODEL` where the first part names a provider; `PROVIDER:` alone stands for its usual model.
    pub fn split_provider(&self, typed: &str) -> Option<(String, String)> {
        let (provider, model) = typed.split_once(':')?;
        let usual = || {
            let named = self.providers.get(provider).and_then(|named| named.model.clone());
            named.unwrap_or_else(|| own_model(provider).to_string())
        };
        self.is_provider(provider)
            .then(|| (provider.to_string(), if model.is_empty() { usual() } else { model.to_string() }))
    }

    /// Returns whether the provider's name can be changed alone: no address, key or header stands beside it. An address
    /// in a variable is that of its own provider, whichever is chosen.
    pub fn provider_stands_alone(&self) -> bool {
        !self.names_address && self.api_key_env.is_none() && self.api_key_command.is_empty() && self.headers.is_empty()
    }

    /// Returns whether settings of this provider can be kept: it is a built-in or a named one.
    pub fn is_provider(&self, name: &str) -> bool {
        providers::is_built_in(name) || self.providers.contains_key(name)
    }

    /// Returns the dotted key that a change of the model belongs in, where it is one of `provider` or of the one in
    /// force.
    pub fn key_of_model(&self, provider: Option<&str>) -> String {
        match provider {
            Some(provider) => format!("providers.{provider}.model"),
            None => self.model_key().to_string(),
        }
    }

    /// Returns the model to ask, and the key of the configuration that a change of it belongs in.
    pub(super) fn choose_model(&self) -> (Option<String>, String) {
        match self.providers.get(&self.provider).and_then(|named| named.model.clone()) {
            Some(model) => (Some(model), format!("providers.{}.model", self.provider)),
            None if self.general().is_some() => (None, "model".into()),
            None => (None, format!("providers.{}.model", self.provider)),
        }
    }

    /// Returns `Some` if the top-level `model`, `baseUrl`, `apiKeyEnv` and `headers` are for the provider in force. So
    /// a key never goes to the URL of another program.
    pub(super) fn general(&self) -> Option<()> {
        (self.provider == self.own_provider).then_some(())
    }
}

/// Returns the variable other clients know, for the providers whose address it names.
pub(super) fn from_env(provider: &str, env: &Variables) -> Option<String> {
    let address = row(provider)?.url_variable.and_then(|variable| env.get(variable))?;
    if provider == "ollama" { ollama_url(address) } else { Some(with_scheme(address).into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variables_of_those_tools_win() {
        let env = |name: &str| match name {
            "HF_HOME" => Some("/h".to_string()),
            "OLLAMA_MODELS" => Some("/o".to_string()),
            _ => None,
        };
        let folders = ModelFolders::usual(Some(Path::new("/home/p")), env);
        assert_eq!(folders.hugging_face.as_deref(), Some(Path::new("/h/hub")));
        assert_eq!(folders.ollama.as_deref(), Some(Path::new("/o")));
        assert_eq!(folders.lm_studio.len(), 2);
    }
}

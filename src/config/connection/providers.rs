//! The built-in providers: one table of their addresses, variables and models.

pub use crate::config::key_use::with_scheme;
use crate::config::keys::DEFAULT_MODEL;
use crate::config::paths::Variables;

/// A provider that needs no row in the configuration.
pub(super) struct BuiltIn {
    pub(super) name: &'static str,
    /// Its address.
    pub(super) url: Option<&'static str>,
    /// The variable in which its other clients look for the address.
    pub(super) url_variable: Option<&'static str>,
    /// The variables in which its other clients look for the key, the usual one first.
    pub(super) key_variables: &'static [&'static str],
    /// The model it begins with, where nobody chose one.
    model: &'static str,
    /// The beginning of the names of its own models. It is asked without being configured once its key is there.
    maker_of: Option<&'static str>,
}

/// A provider without an address of its own.
const BARE: BuiltIn =
    BuiltIn { name: "", url: None, url_variable: None, key_variables: &[], model: DEFAULT_MODEL, maker_of: None };

pub(super) const OPENAI: BuiltIn = BuiltIn {
    name: "openai",
    url: Some("https://api.openai.com/v1"),
    url_variable: Some("OPENAI_BASE_URL"),
    key_variables: &["OPENAI_API_KEY"],
    maker_of: Some("gpt-"),
    ..BARE
};

/// The providers, in the order in which they are chosen by their keys.
const BUILT_IN: &[BuiltIn] = &[
    OPENAI,
    BuiltIn { name: "responses", maker_of: None, ..OPENAI },
    BuiltIn {
        name: "anthropic",
        url: Some("https://api.anthropic.com"),
        url_variable: Some("ANTHROPIC_BASE_URL"),
        key_variables: &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"],
        model: "claude-haiku-4-5",
        maker_of: Some("claude"),
    },
    BuiltIn {
        name: "gemini",
        url: Some("https://generativelanguage.googleapis.com/v1beta"),
        url_variable: Some("GOOGLE_GEMINI_BASE_URL"),
        key_variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        model: "gemini-2.5-flash",
        maker_of: Some("gemini"),
    },
    BuiltIn { name: "ollama", url: Some("http://127.0.0.1:11434"), url_variable: Some("OLLAMA_HOST"), ..BARE },
    BuiltIn { name: "embedded", ..BARE },
    BuiltIn { name: "replay", ..BARE },
];

/// The providers that need no row in the configuration, by name.
pub const PROVIDERS: &[&str] = &{
    let mut names = [""; BUILT_IN.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = BUILT_IN[at].name;
        at += 1;
    }
    names
};

/// Returns the variable that holds the address of a provider, or of the servers that speak the wire format of this name.
pub fn url_variable(name: &str) -> &'static str {
    row(name).and_then(|row| row.url_variable).or(OPENAI.url_variable).unwrap_or_default()
}

/// Returns whether a name stands for a provider that needs no row in the configuration and can be chosen by it.
pub fn is_built_in(name: &str) -> bool {
    PROVIDERS.contains(&name) && name != "replay"
}

pub(super) fn row(provider: &str) -> Option<&'static BuiltIn> {
    BUILT_IN.iter().find(|row| row.name == provider)
}

/// Returns a provider's own URL, and the variable its key is in. One of the person's own has the variable that it
/// names and no other: no maker's key goes to another server unasked.
pub(in crate::config) fn built_in(provider: &str) -> (Option<&'static str>, Option<&'static str>) {
    row(provider).map_or((None, None), |row| (row.url, row.key_variables.first().copied()))
}

/// Returns the model a provider begins with, where nobody chose one.
pub(in crate::config) fn own_model(provider: &str) -> &'static str {
    row(provider).map_or(DEFAULT_MODEL, |row| row.model)
}

/// Returns the built-in providers that make models of their own, each once.
pub fn makers() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().filter(|row| row.maker_of.is_some()).map(|row| row.name)
}

/// Returns the built-in provider that makes a model, where its name tells that.
pub fn maker_of(model: &str) -> Option<&'static str> {
    BUILT_IN.iter().find(|row| row.maker_of.is_some_and(|begins| model.starts_with(begins))).map(|row| row.name)
}

/// Returns the first provider whose key the environment holds, where nothing is configured. A model that was chosen by
/// its maker's name is not asked of another one.
pub(in crate::config) fn found(env: &Variables, model: Option<&str>) -> Option<&'static str> {
    let makers = || BUILT_IN.iter().filter_map(|row| Some((row, row.maker_of?)));
    let maker = model.and_then(maker_of);
    let is_set = |name: &&str| env.get(name).is_some();
    makers()
        .filter(|(row, _)| maker.is_none_or(|maker| maker == row.name))
        .find(|(row, _)| {
            // A compatible server is named by its address alone.
            let server = row.url_variable.filter(|_| row.name == OPENAI.name);
            row.key_variables.iter().copied().chain(server).any(|name| is_set(&name))
        })
        .map(|(row, _)| row.name)
}

/// The provider whose keys begin in a way that no other's do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyOwner {
    /// Its name in the configuration; of a compatible server that of its wire.
    pub provider: &'static str,
    /// The address of a compatible server; `None`: a built-in provider.
    pub url: Option<&'static str>,
}

/// The beginnings of keys that are certainly one provider's.
const KEY_FORMS: &[(&str, KeyOwner)] = &[
    ("sk-ant-", KeyOwner { provider: "anthropic", url: None }),
    ("AIza", KeyOwner { provider: "gemini", url: None }),
    ("sk-proj-", KeyOwner { provider: OPENAI.name, url: None }),
    ("sk-svcacct-", KeyOwner { provider: OPENAI.name, url: None }),
    ("sk-or-v1-", KeyOwner { provider: OPENAI.name, url: Some("https://openrouter.ai/api/v1") }),
    ("gsk_", KeyOwner { provider: OPENAI.name, url: Some("https://api.groq.com/openai/v1") }),
    ("xai-", KeyOwner { provider: OPENAI.name, url: Some("https://api.x.ai/v1") }),
];

/// The variables in which people keep keys of compatible servers, each with the beginning of such keys.
const KEPT_AS: [(&str, &str); 3] =
    [("OPENROUTER_API_KEY", "sk-or-v1-"), ("GROQ_API_KEY", "gsk_"), ("XAI_API_KEY", "xai-")];

/// A key as it was pasted, without what is copied with it: the quotes, the word before it in a header, the name of the
/// variable in a line of a shell or an environment file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PastedKey<'t> {
    /// The name of the variable that it is to be the value of.
    pub variable: Option<&'t str>,
    /// The key alone.
    pub key: &'t str,
}

impl<'t> PastedKey<'t> {
    /// Reads a pasted line.
    pub fn read(typed: &'t str) -> Self {
        const QUOTES: [char; 3] = ['"', '\'', '`'];
        let line = typed.trim();
        let line = ["export ", "set "].iter().find_map(|word| line.strip_prefix(word)).unwrap_or(line);
        let named = line.split_once('=').map(|(name, value)| (name.trim().trim_start_matches("$env:"), value));
        let (variable, value) = match named.filter(|(name, value)| is_key_variable(name) && !value.trim().is_empty()) {
            Some((name, value)) => (Some(name), value),
            None => (None, typed),
        };
        let key = value.trim().trim_end_matches(';').trim_matches(QUOTES).trim();
        let key = match key.split_once(' ') {
            Some((word, key)) if word.eq_ignore_ascii_case("bearer") => key.trim(),
            _ => key,
        };
        PastedKey { variable, key }
    }

    /// Returns whose it is, where its beginning or the name of its variable tells that for certain.
    pub fn owner(&self) -> Option<KeyOwner> {
        let by_name = |name: &str| {
            let built_in = BUILT_IN.iter().find(|row| row.key_variables.contains(&name));
            let built_in = built_in.map(|row| KeyOwner { provider: row.name, url: None });
            built_in.or_else(|| key_owner(KEPT_AS.iter().find(|(kept, _)| *kept == name)?.1))
        };
        key_owner(self.key).or_else(|| by_name(self.variable?))
    }

    /// Returns the name of its variable where that is no provider's that is known here, and names not this one.
    pub fn foreign_variable(&self, provider: &str) -> Option<&'t str> {
        let name =
            self.variable.filter(|name| self.owner().is_none() && !matches!(*name, "KEY" | "TOKEN" | "API_KEY"))?;
        (!name.contains(&provider.to_uppercase())).then_some(name)
    }
}

/// Returns whether a word is the name of a variable, as those of keys are written.
fn is_key_variable(name: &str) -> bool {
    let is_of_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    name.chars().all(is_of_name) && ["KEY", "TOKEN"].iter().any(|end| name.ends_with(end))
}

/// Returns whose a key is, where its beginning tells that for certain.
pub fn key_owner(key: &str) -> Option<KeyOwner> {
    KEY_FORMS.iter().find(|(begins, _)| key.starts_with(begins)).map(|(_, owner)| *owner)
}

/// Returns why the key in a variable is not sent to a built-in provider's own address: it begins as those of another one.
pub(in crate::config) fn of_another(provider: &str, variable: &str, key: &str) -> Option<String> {
    let is_elsewhere = |owner: &KeyOwner| owner.url.is_some() || built_in(owner.provider).0 != built_in(provider).0;
    let owner = key_owner(key).filter(is_elsewhere)?;
    let own = key_variable(owner.provider);
    Some(match owner.url {
        Some(url) => format!("{variable} holds a key of {url}: set OPENAI_BASE_URL={url} for it"),
        None => format!("{variable} holds a key of {}: set it as {own}", owner.provider),
    })
}

/// Returns the variable of a built-in provider's key; empty where it has none.
pub fn key_variable(provider: &str) -> &'static str {
    built_in(provider).1.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_taken_without_what_is_copied_with_it() {
        for typed in ["sk-1", " sk-1\n", "\"sk-1\"", "'sk-1'", "Bearer sk-1", "\"bearer  sk-1\""] {
            assert_eq!(PastedKey::read(typed), PastedKey { variable: None, key: "sk-1" }, "{typed}");
        }
        for typed in ["OPENAI_API_KEY=sk-1", "export OPENAI_API_KEY=\"sk-1\"", "OPENAI_API_KEY = 'sk-1';"] {
            assert_eq!(PastedKey::read(typed), PastedKey { variable: Some("OPENAI_API_KEY"), key: "sk-1" }, "{typed}");
        }
        // What else it holds is the server's to judge.
        for typed in ["two words", "abcd==", "MYKEY="] {
            assert_eq!(PastedKey::read(typed).key, typed);
        }
    }

    #[test]
    fn a_key_is_known_by_its_beginning_or_by_the_name_of_its_variable() {
        let owner = |typed: &str| PastedKey::read(typed).owner().map(|owner| (owner.provider, owner.url.is_some()));
        for (typed, is) in [
            ("ANTHROPIC_API_KEY=sk-ant-1", Some(("anthropic", false))),
            ("ANTHROPIC_API_KEY=corp-1", Some(("anthropic", false))),
            ("GOOGLE_API_KEY=1", Some(("gemini", false))),
            ("OPENAI_API_KEY=gsk_1", Some(("openai", true))),
            ("XAI_API_KEY=1", Some(("openai", true))),
            ("MISTRAL_API_KEY=1", None),
        ] {
            assert_eq!(owner(typed), is, "{typed}");
        }
        let foreign = |typed: &'static str| PastedKey::read(typed).foreign_variable("openai");
        assert_eq!(foreign("MISTRAL_API_KEY=1"), Some("MISTRAL_API_KEY"));
        for typed in ["MY_OPENAI_KEY=1", "OPENAI_API_KEY=1", "sk-1", "KEY=1", "API_KEY=1"] {
            assert_eq!(foreign(typed), None, "{typed}");
        }
    }
}

//! The configuration: defaults, overlaid by the person's `config.json`, by the workspace's, by the environment
//! and by flags.
//!
//! Trouble in a file is data: the value is left out and a line of [`Config::warnings`] says where and why. The
//! workspace's file may set only harmless keys until its folder is in the person's `trusted` list. Keys to
//! models are read from the environment and from the file of stored keys, and are in no `Debug` output.
//!
//! Themes and key bindings have files of their own, which are read here and understood by the screen.

mod connection;
mod file;
mod json_edit;
mod key_use;
mod keys;
mod layers;
mod lsp;
mod paths;
mod price;
pub mod screen_files;
mod shell;
pub mod size;
mod state_files;
mod stored_keys;
mod values;

pub use connection::providers::{self, PROVIDERS, makers};
pub use connection::{Connection, ModelFolders};
pub use file::Error;
pub use key_use::{KeyUse, Secret, is_loopback};
pub use keys::{DEFAULT_MODEL, EFFORTS, FORMATS, WIRES};
pub use layers::ValueSource;
pub use lsp::{LspConfig, LspServerConfig};
pub use paths::{Paths, Variables, workspace_config};
pub use price::Price;
pub use shell::{RuleConfig, ShellConfig, folder, rules_set_by};
pub use state_files::{last_request, model_cache};
pub use values::{Config, Flags, ModelConfig, ProviderConfig};

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use layers::{hide_headers, overlay, text, texts};
use state_files::text_models;
pub use state_files::text_models::TextUse;

/// The keys that say where requests go and what lets them in.
const CONNECTS: [&str; 5] = ["provider", "providers", "baseUrl", "apiKeyEnv", "apiKeyCommand"];

impl Config {
    /// Puts the layers together. `workspace` is the root of the workspace, if there is one. Reads at most two
    /// files and touches none.
    pub fn load(paths: Paths, env: Variables, flags: Flags, workspace: Option<&Path>) -> Self {
        let (mut warnings, mut removed, mut is_unreadable) = (Vec::new(), BTreeMap::new(), false);
        let mut merged = keys::defaults();
        let mut origins = BTreeMap::new();
        let user_file = paths.config();
        if let Some(user) = &user_file {
            let read = file::read(user, false);
            warnings.extend(read.complaints);
            removed = read.removed;
            is_unreadable |= read.is_unreadable;
            overlay(&mut merged, &mut origins, read.keys, ValueSource::User);
        }
        let trusted: Vec<PathBuf> = texts(&merged, "trusted").into_iter().map(PathBuf::from).collect();
        let path = workspace.map(workspace_config).filter(|path| user_file.as_ref() != Some(path));
        let layer = path.zip(workspace).map(|(path, root)| {
            let whole = trusted.iter().any(|folder| same_folder(folder, root));
            // The person's own `false` stands.
            WorkspaceLayer::read(&path, whole, merged.get("lsp") == Some(&Value::Bool(false)))
        });
        let layer = layer.unwrap_or_default();
        warnings.extend(layer.warnings);
        removed.extend(layer.removed);
        is_unreadable |= layer.is_unreadable;
        let redirects = layer.keys.keys().any(|name| CONNECTS.contains(&name.as_str()));
        overlay(&mut merged, &mut origins, layer.keys, ValueSource::Workspace);
        take_found(&mut merged, &mut origins, &env);
        let own_provider = text(&merged, "provider").unwrap_or_default();
        overlay(&mut merged, &mut origins, environment(&env), ValueSource::Environment);
        let flags = with_provider(flags, &merged);
        overlay(&mut merged, &mut origins, flags.keys(), ValueSource::Flag);
        let provider = text(&merged, "provider").unwrap_or_default();
        let names_address = merged.get("baseUrl").is_some_and(Value::is_string);
        if let Some(url) = connection::from_env(&provider, &env) {
            merged.insert("baseUrl".into(), Value::from(url));
            origins.insert("baseUrl".into(), ValueSource::Environment);
        }
        warnings.extend(values::incomplete_prices(&merged));
        let mut config = Self::from_keys(merged);
        (config.own_provider, config.shell.workspace_rules) = (own_provider, layer.rules);
        config.names_address = names_address;
        (config.warnings, config.untrusted, config.origins) = (warnings, layer.untrusted, origins);
        config.removed = removed;
        (config.is_unreadable, config.no_color) = (is_unreadable, env.get("NO_COLOR").is_some());
        (config.text_models, config.stored_keys) = (text_models::read(&paths), stored_keys::credentials::read(&paths));
        (config.paths, config.env, config.workspace) = (paths, env, workspace.map(Into::into));
        config.resolve_model(&flags);
        config.flags = flags;
        if redirects {
            let own = Self::load(config.paths.clone(), config.env.clone(), config.flags.clone(), None);
            config.key_uses = Some(stored_keys::agreed::allowed(&own));
        }
        config
    }

    /// Returns where a key's value comes from.
    pub fn origin(&self, key: &str) -> ValueSource {
        self.origins.get(key).copied().unwrap_or(ValueSource::Default)
    }

    /// Returns the same layers read again, as after a change of a file. A limit that cannot be read any more stays.
    pub fn reload(&self) -> Self {
        let mut now = Self::load(self.paths.clone(), self.env.clone(), self.flags.clone(), self.workspace.as_deref());
        if now.removed.contains_key("budget") {
            now.budget = now.budget.or(self.budget);
        }
        if now.removed.contains_key("budgetTokens") {
            now.budget_tokens = now.budget_tokens.or(self.budget_tokens);
        }
        now
    }

    /// Chooses the model: a provider's own wins over the general one, and a flag over both.
    fn resolve_model(&mut self, flags: &Flags) {
        let (named, key) = self.choose_model();
        self.model_key = key;
        if flags.model.is_none() {
            match named {
                Some(model) => self.model = model,
                None if self.provider != self.own_provider => self.model = providers::own_model(&self.provider).into(),
                None => {}
            }
        }
    }

    /// Returns how much a model is to think: a flag, else its own setting, else the general one; `None`: as it does by
    /// itself.
    pub fn effort_for(&self, model: &str) -> Option<&str> {
        let own = self.models.get(model).and_then(|model| model.effort.as_deref());
        self.flags.effort.as_deref().or(own).or(self.effort.as_deref())
    }

    /// Takes an effort for this run, as the flag would, or takes the flag back: the person chose another one since.
    pub fn hold_effort(&mut self, effort: Option<&str>) {
        self.flags.effort = effort.map(Into::into);
        *self = self.reload();
    }

    /// Returns the edit format for a model: a flag, else the model's own, else the general one.
    pub fn format_for(&self, model: &str) -> &str {
        let own = self.models.get(model).and_then(|model| model.edit_format.as_deref());
        self.flags.edit_format.as_deref().or(own).unwrap_or(&self.edit_format)
    }

    /// Returns how a model was seen to write its edits as text.
    pub fn text_use(&self, model: &str) -> Option<TextUse> {
        self.text_models.get(model).copied()
    }

    /// Records how a model writes its edits as text, for this run and for later ones.
    ///
    /// # Errors
    /// When it cannot be kept: it holds for this run alone.
    pub fn learn_text_edits(&mut self, model: &str, how: TextUse) -> Result<(), Error> {
        self.text_models.insert(model.to_string(), how);
        text_models::add(&self.paths, model, how)
    }

    /// Returns what is known of a model, or nothing.
    pub fn model_config(&self, model: &str) -> ModelConfig {
        self.models.get(model).cloned().unwrap_or_default()
    }

    /// Returns the dotted key that a change of the model belongs in: `model`, or the one of the provider in force.
    pub fn model_key(&self) -> &str {
        &self.model_key
    }

    /// Returns whether somebody chose the model: a file, a provider's own settings or a flag.
    pub fn model_is_chosen(&self) -> bool {
        let (named, _) = self.choose_model();
        let meant = self.flags.model.is_some() || self.general().is_some();
        named.is_some() || meant && self.origins.get("model").is_some_and(|origin| *origin != ValueSource::Default)
    }

    /// Returns the model that the configuration names, for whichever provider.
    pub fn named_model(&self) -> Option<&str> {
        self.merged.get("model").filter(|_| self.origin("model") != ValueSource::Default)?.as_str()
    }

    /// Returns the environment that was handed in.
    pub fn env(&self) -> &Variables {
        &self.env
    }

    /// Returns the value in force of a dotted key. `Ok(None)`: not set. An unknown key is an error that names the
    /// nearest.
    pub fn get(&self, key: &str) -> Result<Option<Value>, Error> {
        let (parts, _) = file::resolve(key)?;
        let mut value = parts.first().and_then(|first| self.in_force(first));
        for part in parts.iter().skip(1) {
            value = value.and_then(|inner| inner.get(part).cloned());
        }
        Ok(value.or_else(|| match parts.as_slice() {
            [key, part] => keys::parts(key).iter().find(|own| own.name == part.as_str())?.value(),
            _ => None,
        }))
    }

    /// Returns every top-level key with its value in force, as JSON, and where it comes from; in the order of the
    /// manual. Values of headers are hidden.
    pub fn listing(&self) -> Vec<(String, Option<String>, ValueSource)> {
        let entry = |key: &keys::Key| {
            let mut value = self.in_force(key.name);
            if let Some(value) = &mut value {
                hide_headers(key.name, value);
            }
            let origin = self.origin(key.name);
            (key.name.to_string(), value.map(|value| value.to_string()), origin)
        };
        keys::KEYS.iter().map(entry).collect()
    }

    /// Returns the keys below a top-level key that has a fixed set of them, as [`Config::listing`] does; of others none.
    pub fn parts(&self, key: &str) -> Vec<(String, Option<String>, ValueSource)> {
        let set = self.in_force(key);
        let entry = |part: &keys::Key| {
            let value = set.as_ref().and_then(|set| set.get(part.name));
            let origin = if value.is_some() { self.origin(key) } else { ValueSource::Default };
            let value = value.map(Value::to_string).or_else(|| Some(part.value()?.to_string()));
            (part.name.to_string(), value, origin)
        };
        keys::parts(key).iter().map(entry).collect()
    }

    /// Returns the values that name something which is not there, each with its key and why.
    pub fn doubts(&self) -> Vec<(&'static str, String)> {
        let mut doubts = Vec::new();
        doubts.extend(self.unknown_provider().map(|why| ("provider", why)));
        let own = |name: &str| self.paths.own(&format!("themes/{name}.toml")).is_some_and(|path| path.is_file());
        if let Some(name) = self.theme.as_deref().filter(|name| !screen_files::THEMES.contains(name) && !own(name)) {
            let why = format!(
                "no theme is called {name}: there are {}, and the files of themes/ in nebula's folder",
                screen_files::THEMES.join(", ")
            );
            doubts.push(("theme", why));
        }
        doubts.extend(self.shell.doubt_of_bash().map(|why| ("shell.bash", why)));
        doubts
    }

    fn in_force(&self, key: &str) -> Option<Value> {
        let set = self.merged.get(key).cloned();
        match key {
            // A provider's own setting counts, not the general value.
            "model" => Some(Value::from(self.model.clone())),
            // The address in use when nothing is set.
            "baseUrl" => {
                set.or_else(|| Some(self.connection().base_url).filter(|url| !url.is_empty()).map(Value::from))
            }
            _ => set,
        }
    }

    /// Sets a dotted key in the person's file, and reads the configuration again. The file is replaced whole, mode
    /// 0600; on an error nothing has changed.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), Error> {
        self.change(key, Some(value))
    }

    /// Takes a dotted key out of the person's file, and reads the configuration again.
    pub fn unset(&mut self, key: &str) -> Result<(), Error> {
        self.change(key, None)
    }

    /// Returns whether the workspace's folder is one of the person's trusted ones.
    pub fn is_trusted(&self) -> bool {
        self.workspace.as_ref().is_some_and(|root| self.trusted.iter().any(|folder| same_folder(folder, root)))
    }

    /// Adds the workspace's folder to the person's trusted ones.
    pub fn trust(&mut self) -> Result<(), Error> {
        let Some(root) = self.workspace.clone() else { return Ok(()) };
        self.append("trusted", json!(root.display().to_string()))
    }

    /// Adds to a list in the person's file, whatever else was added to it since it was read, and reads the
    /// configuration again.
    pub fn append(&mut self, key: &str, value: Value) -> Result<(), Error> {
        let path = self.paths.config().ok_or_else(|| Error::no_home("keep the configuration"))?;
        file::append(&path, key, value)?;
        *self = self.reload();
        Ok(())
    }

    /// Lets every command reach a port on this machine: in this workspace, where all of its own file counts, else in each.
    /// Reads the configuration again.
    pub fn add_port(&mut self, port: u16) -> Result<(), Error> {
        *self = self.reload();
        if self.shell.ports.contains(&port) {
            return Ok(());
        }
        let Some(root) = self.workspace.as_deref().filter(|_| self.is_trusted()) else {
            return self.append("shell.ports", port.into());
        };
        let own = self.paths.config().ok_or_else(|| Error::no_home("keep the configuration"))?;
        // Its list stands in the place of the person's own.
        let ports: Vec<u16> = self.shell.ports.iter().copied().chain([port]).collect();
        file::set_in_workspace(&workspace_config(root), &own, "shell.ports", json!(ports))?;
        *self = self.reload();
        Ok(())
    }

    /// Keeps that the person lets a key go to a server, and reads the configuration again.
    pub fn agree(&mut self, key_use: &KeyUse) -> Result<(), Error> {
        stored_keys::agreed::agree(&self.paths, key_use)?;
        *self = self.reload();
        Ok(())
    }

    fn change(&mut self, key: &str, value: Option<&str>) -> Result<(), Error> {
        let path = self.paths.config().ok_or_else(|| Error::no_home("keep the configuration"))?;
        file::change(&path, key, value)?;
        *self = self.reload();
        Ok(())
    }
}

impl Default for Config {
    /// Creates the defaults alone, without home, environment or workspace.
    fn default() -> Self {
        Self::load(Paths::default(), Variables::default(), Flags::default(), None)
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut map = f.debug_map();
        for (name, value, _) in self.listing() {
            map.entry(&name, &value.unwrap_or_default());
        }
        map.entry(&"warnings", &self.warnings).finish()
    }
}

impl fmt::Debug for ProviderConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Vec<_> = self.headers.keys().collect();
        write!(f, "{:?} {:?} {:?} {headers:?}", self.model, self.base_url, self.api_key_env)
    }
}

/// Returns whether `value` is valid for the dotted `key`; the error says what would be.
pub fn check(key: &str, value: &str) -> Result<(), Error> {
    let (parts, shape) = file::resolve(key)?;
    let mut wrong = None;
    shape.check(&mut shape.read(value), &parts, &mut |_, what| wrong = Some(what));
    wrong.map_or(Ok(()), |message| Err(Error { message, hint: "nebula config get shows every key.".into() }))
}

/// The keys of a workspace's file that count, and what is said of the others.
#[derive(Default)]
struct WorkspaceLayer {
    keys: Map<String, Value>,
    warnings: Vec<String>,
    /// The keys that count and whose values cannot be read, each with why.
    removed: BTreeMap<String, String>,
    untrusted: Vec<String>,
    rules: Vec<shell::RuleConfig>,
    is_unreadable: bool,
}

impl WorkspaceLayer {
    /// Reads a workspace's file. `trusted`: all of it counts but what only the person's own file sets. `no_servers`: the
    /// person wants no language servers.
    fn read(path: &Path, trusted: bool, no_servers: bool) -> Self {
        let mut read = file::read(path, true);
        let mut own: Vec<String> = shell::take_own(&mut read.keys).into_iter().collect();
        let (rules, left_out) = shell::take_rules(&mut read.keys, trusted);
        let mut untrusted: Vec<String> = left_out.into_iter().collect();
        read.keys.retain(|name, value| {
            // A model as the path of a file counts as `modelFile` does.
            let is_file = name == "model" && value.as_str().is_some_and(ModelFolders::is_path);
            let allowed = keys::is_allowed(if is_file { "modelFile" } else { name }, trusted);
            if !allowed {
                let left_out = if keys::is_own(name) { &mut own } else { &mut untrusted };
                left_out.push(name.clone());
            }
            allowed && !(no_servers && name == "lsp")
        });
        let mut warnings = read.complaints;
        if !own.is_empty() {
            warnings.push(format!("{}: only your own configuration sets {}", path.display(), own.join(", ")));
        }
        let mut removed = read.removed;
        removed.retain(|key, _| keys::is_allowed(key.split('.').next().unwrap_or_default(), trusted));
        WorkspaceLayer { keys: read.keys, warnings, removed, untrusted, rules, is_unreadable: read.is_unreadable }
    }
}

/// Returns the flags with `PROVIDER:MODEL`, the way in which models of other providers are listed, as the two that it means.
fn with_provider(mut flags: Flags, merged: &Map<String, Value>) -> Flags {
    let own = |name: &str| merged.get("providers").is_some_and(|own| own.get(name).is_some());
    let pair = flags.model.as_deref().filter(|_| flags.provider.is_none()).and_then(|typed| typed.split_once(':'));
    if let Some((provider, model)) = pair.filter(|(provider, _)| providers::is_built_in(provider) || own(provider)) {
        let model = (!model.is_empty()).then(|| model.to_string());
        (flags.provider, flags.model) = (Some(provider.to_string()), model);
    }
    flags
}

/// Takes, where nothing is configured, the first provider whose key the environment holds, with its model.
fn take_found(merged: &mut Map<String, Value>, origins: &mut BTreeMap<String, ValueSource>, env: &Variables) {
    // Providers that are described and not chosen leave the choice to the environment.
    if CONNECTS.iter().any(|key| *key != "providers" && origins.contains_key(*key)) {
        return;
    }
    let chosen = text(merged, "model").filter(|_| origins.contains_key("model"));
    let Some(found) = providers::found(env, chosen.as_deref()) else { return };
    merged.insert("provider".into(), found.into());
    origins.insert("provider".into(), ValueSource::Environment);
    if chosen.is_none() {
        merged.insert("model".into(), providers::own_model(found).into());
    }
}

/// Returns what variables say, in the words of the file.
fn environment(env: &Variables) -> Map<String, Value> {
    let mut keys = Map::new();
    if env.get("NO_COLOR").is_some() {
        keys.insert("theme".into(), "plain".into());
    }
    keys
}

/// Returns whether two paths name one folder, also through links.
fn same_folder(a: &Path, b: &Path) -> bool {
    a == b || matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

#[cfg(test)]
mod tests;

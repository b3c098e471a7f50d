//! The values of the configuration, by name, and how each is read out of checked keys.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde_json::{Map, Value};

use super::key_use::{KeyUse, StoredKey};
use super::layers::{ValueSource, bytes, count, text, text_by_name, texts};
use super::lsp::LspConfig;
use super::paths::{Paths, Variables};
use super::price::Price;
use super::shell::ShellConfig;
use super::state_files::text_models::TextUse;

/// The values in force.
#[derive(Clone, PartialEq)]
pub struct Config {
    /// The provider by name.
    pub provider: String,
    /// The model by name.
    pub model: String,
    /// URL of the top-level provider, if one is set. [`Config::connection`] has the one in force.
    pub base_url: Option<String>,
    /// The variable that holds the top-level provider's key, if one is set.
    pub api_key_env: Option<String>,
    /// Headers for the top-level provider. May hold secrets.
    pub headers: BTreeMap<String, String>,
    /// Settings by provider.
    pub providers: BTreeMap<String, ProviderConfig>,
    /// Settings by model.
    pub models: BTreeMap<String, ModelConfig>,
    /// The edit format for models that have none of their own. [`Config::format_for`] has the one in force.
    pub edit_format: String,
    /// The offer of the tools of definitions: `auto`, `on` or `off`.
    pub code_ops: String,
    /// `ask`, `edits`, `all` or `none`.
    pub approval: String,
    /// The number of steps after which a turn asks; 0: never.
    pub max_steps: u32,
    /// The model file that is run inside.
    pub model_file: Option<PathBuf>,
    /// The command that prints the top-level provider's key.
    pub api_key_command: Vec<String>,
    /// The effort of models that have no setting of their own; `None`: the model's own.
    pub effort: Option<String>,
    /// The lifetime of a prompt in a provider's cache: `5m` or `1h`.
    pub cache_ttl: String,
    /// The most a session may cost, in dollars.
    pub budget: Option<f64>,
    /// The number of tokens a session may take, where no budget is set.
    pub budget_tokens: Option<u64>,
    /// The handling of a full window: `auto`, `ask` or `off`.
    pub compact: String,
    /// The theme by name; `None`: dark or light, as the terminal is.
    pub theme: Option<String>,
    /// Draw with ASCII alone.
    pub ascii: bool,
    /// `NO_COLOR` is set.
    pub no_color: bool,
    /// Take the mouse: the wheel scrolls the pane under the pointer. On by default.
    pub mouse: bool,
    /// The call when something waits: `bell`, `osc9`, `off`, or `auto`, which is as the terminal can.
    pub notify: String,
    /// The size above which the archive is too large, in bytes.
    pub archive_max_size: u64,
    /// Globs of files that are not archived.
    pub archive_exclude: Vec<String>,
    /// The archive's folder, relative to the workspace's root unless absolute; `None`: `.shaft/archives`.
    pub archive_dir: Option<String>,
    /// Start `mergiraf` where two versions of a file cannot be merged otherwise.
    pub mergiraf: bool,
    /// The language of answers, and of the interface where it is written in that one; `None`: the one spoken to, and
    /// that of the environment.
    pub language: Option<String>,
    /// Folders that are trusted: all of their own configuration applies.
    pub trusted: Vec<PathBuf>,
    /// The settings of commands.
    pub shell: ShellConfig,
    /// The settings of language servers.
    pub lsp: LspConfig,
    /// The faults of the files, a line each.
    pub warnings: Vec<String>,
    /// A file is there that could not be read or understood, or is empty: nothing of it counts.
    pub is_unreadable: bool,
    /// The keys whose values could not be read, dotted, each with why.
    pub(super) removed: BTreeMap<String, String>,
    /// Keys that the workspace's file sets but may not until its folder is trusted.
    pub untrusted: Vec<String>,
    /// The places of nebula's own files.
    pub paths: Paths,
    /// The path of this program, which runs commands under a hidden name of its own.
    pub program: PathBuf,
    /// Models that were seen to write their edits as text.
    pub(super) text_models: BTreeMap<String, TextUse>,
    /// The keys the person asked to keep, read once.
    pub(super) stored_keys: Vec<StoredKey>,
    /// The uses of keys that need no question; `None`: the workspace's file has no say in where keys go.
    pub(super) key_uses: Option<BTreeSet<KeyUse>>,
    pub(super) merged: Map<String, Value>,
    pub(super) origins: BTreeMap<String, ValueSource>,
    pub(super) own_provider: String,
    /// A file names a general address, whether or not a variable stands in its place.
    pub(super) names_address: bool,
    pub(super) model_key: String,
    pub(super) flags: Flags,
    pub(super) workspace: Option<PathBuf>,
    pub(super) env: Variables,
}

/// Settings of one provider.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct ProviderConfig {
    /// Its model.
    pub model: Option<String>,
    /// Its URL.
    pub base_url: Option<String>,
    /// The variable that holds its key.
    pub api_key_env: Option<String>,
    /// Sent with each request. May hold secrets.
    pub headers: BTreeMap<String, String>,
    /// The wire format that is used there, where it is not the provider's own.
    pub wire: Option<String>,
    /// Prints the key, where no variable holds it.
    pub api_key_command: Vec<String>,
}

/// Settings of one model.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModelConfig {
    /// The format of its edits.
    pub edit_format: Option<String>,
    /// Its context window in tokens.
    pub context_window: Option<u32>,
    /// Tokens of its longest answer.
    pub max_output: Option<u32>,
    /// The model's effort of thinking.
    pub effort: Option<String>,
    /// The form in which it takes the effort.
    pub thinking: Option<String>,
    /// The temperature that is sent to it.
    pub temperature: Option<f64>,
    /// True if cache marks are sent to it in the chat format.
    pub cache_marks: Option<bool>,
    /// Dollars a million tokens.
    pub price: Option<Price>,
    /// True if it takes images; `None`: decided by its name.
    pub images: Option<bool>,
    /// True if it takes PDFs; `None`: decided by its name.
    pub pdfs: Option<bool>,
}

/// Defines the flags, each with the key that it overrides.
macro_rules! flags {
    ($($(#[$doc:meta])* $field:ident $key:literal: $type:ty,)*) => {
        /// The flags of the command line that override keys of the configuration.
        #[derive(Debug, Clone, PartialEq, Default)]
        pub struct Flags {
            $($(#[$doc])* pub $field: Option<$type>,)*
        }

        impl Flags {
            /// Returns the keys that are given, with their values.
            pub(super) fn keys(&self) -> Map<String, Value> {
                let given = [$(($key, self.$field.to_owned().map(Value::from)),)*];
                given.into_iter().filter_map(|(key, value)| Some((key.to_string(), value?))).collect()
            }
        }
    };
}

flags! {
    /// `--provider`
    provider "provider": String,
    /// `--model`
    model "model": String,
    /// `--format`
    edit_format "editFormat": String,
    /// `--approve`
    approval "approval": String,
    /// `--max-steps`
    max_steps "maxSteps": u32,
    /// `--effort`
    effort "effort": String,
    /// `--budget`
    budget "budget": f64,
}

impl Config {
    /// Reads the values; each was checked and has the type its key asks for.
    pub(super) fn from_keys(merged: Map<String, Value>) -> Self {
        let objects = |name: &str| merged.get(name).and_then(Value::as_object).cloned().unwrap_or_default();
        Self {
            provider: text(&merged, "provider").unwrap_or_default(),
            model: text(&merged, "model").unwrap_or_default(),
            base_url: text(&merged, "baseUrl"),
            api_key_env: text(&merged, "apiKeyEnv"),
            headers: text_by_name(&merged, "headers"),
            providers: objects("providers").iter().map(|(name, value)| (name.clone(), provider(value))).collect(),
            models: objects("models").iter().map(|(name, value)| (name.clone(), model(value))).collect(),
            edit_format: text(&merged, "editFormat").unwrap_or_default(),
            code_ops: text(&merged, "codeOps").unwrap_or_default(),
            approval: text(&merged, "approval").unwrap_or_default(),
            max_steps: count(&merged, "maxSteps").unwrap_or_default(),
            model_file: text(&merged, "modelFile").map(PathBuf::from),
            api_key_command: texts(&merged, "apiKeyCommand"),
            effort: text(&merged, "effort"),
            cache_ttl: text(&merged, "cacheTtl").unwrap_or_default(),
            budget: merged.get("budget").and_then(Value::as_f64).filter(|budget| *budget > 0.0),
            budget_tokens: merged.get("budgetTokens").and_then(Value::as_u64).filter(|tokens| *tokens > 0),
            compact: text(&merged, "compact").unwrap_or_default(),
            theme: text(&merged, "theme"),
            ascii: text(&merged, "glyphs").as_deref() == Some("ascii"),
            no_color: false,
            mouse: merged.get("mouse").and_then(Value::as_bool).unwrap_or_default(),
            notify: text(&merged, "notify").unwrap_or_default(),
            archive_max_size: bytes(merged.get("archiveMaxSize")).unwrap_or(2 << 30),
            archive_exclude: texts(&merged, "archiveExclude"),
            archive_dir: text(&merged, "archiveDir"),
            mergiraf: merged.get("mergiraf").and_then(Value::as_bool).unwrap_or_default(),
            language: text(&merged, "language").filter(|language| language != "auto"),
            trusted: texts(&merged, "trusted").into_iter().map(PathBuf::from).collect(),
            shell: ShellConfig::read(merged.get("shell")),
            lsp: LspConfig::read(merged.get("lsp")),
            warnings: Vec::new(),
            is_unreadable: false,
            removed: BTreeMap::new(),
            untrusted: Vec::new(),
            paths: Paths::default(),
            program: super::paths::program(),
            own_provider: text(&merged, "provider").unwrap_or_default(),
            names_address: false,
            text_models: BTreeMap::new(),
            stored_keys: Vec::new(),
            key_uses: None,
            merged,
            origins: BTreeMap::new(),
            model_key: "model".into(),
            flags: Flags::default(),
            workspace: None,
            env: Variables::default(),
        }
    }
}

fn provider(value: &Value) -> ProviderConfig {
    let Some(keys) = value.as_object() else { return ProviderConfig::default() };
    ProviderConfig {
        model: text(keys, "model"),
        base_url: text(keys, "baseUrl"),
        api_key_env: text(keys, "apiKeyEnv"),
        headers: text_by_name(keys, "headers"),
        wire: text(keys, "wire"),
        api_key_command: texts(keys, "apiKeyCommand"),
    }
}

fn model(value: &Value) -> ModelConfig {
    let Some(keys) = value.as_object() else { return ModelConfig::default() };
    ModelConfig {
        edit_format: text(keys, "editFormat"),
        context_window: count(keys, "contextWindow"),
        max_output: count(keys, "maxOutput"),
        effort: text(keys, "effort"),
        thinking: text(keys, "thinking"),
        temperature: keys.get("temperature").and_then(Value::as_f64),
        cache_marks: keys.get("cacheMarks").and_then(Value::as_bool),
        price: keys.get("price").and_then(price),
        images: keys.get("images").and_then(Value::as_bool),
        pdfs: keys.get("pdfs").and_then(Value::as_bool),
    }
}

/// Returns the price of a model; none where an amount is missing, without which it would be a lower one.
fn price(value: &Value) -> Option<Price> {
    Price::read(value).filter(|_| lacking(value).is_none())
}

/// Returns the amount that a price, or one of its tiers, lacks.
fn lacking(price: &Value) -> Option<&'static str> {
    let tiers = price.get("tiers").and_then(Value::as_array).into_iter().flatten();
    let mut all = std::iter::once(price).chain(tiers);
    all.find_map(|price| ["input", "output"].into_iter().find(|name| price.get(*name).is_none()))
}

/// Returns a warning for each model whose price lacks an amount.
pub(super) fn incomplete_prices(keys: &Map<String, Value>) -> Vec<String> {
    let models = keys.get("models").and_then(Value::as_object).into_iter().flatten();
    let lacking = models.filter_map(|(name, model)| Some((name, lacking(model.get("price")?)?)));
    lacking.map(|(name, amount)| format!("models.{name}.price has no {amount}, so it does not count")).collect()
}

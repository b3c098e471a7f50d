//! The keys a configuration may hold: one table, which checks files, flags and `nebula config set` alike.

use serde_json::{Map, Value};

use crate::edit::Format;
use crate::text::distance::nearest;
use crate::text::size;

/// The model of a new installation.
pub const DEFAULT_MODEL: &str = "gpt-4.1-nano";
/// The edit formats by name, and `auto`.
pub const FORMATS: &[&str] = &FORMAT_WORDS;
const FORMAT_WORDS: [&str; Format::ALL.len() + 1] = {
    let mut words = ["auto"; Format::ALL.len() + 1];
    let mut at = 0;
    while at < Format::ALL.len() {
        words[at + 1] = Format::ALL[at].name();
        at += 1;
    }
    words
};
/// The approval policies by name.
const APPROVALS: &[&str] = &["ask", "edits", "review", "all", "none"];
/// The wire formats of providers.
pub const WIRES: &[&str] = &["chat", "responses", "anthropic", "gemini", "ollama"];
/// The efforts of thinking before an answer, in ascending order.
pub const EFFORTS: &[&str] = &["none", "low", "medium", "high", "xhigh", "max"];
/// The ways a model can be asked for a level of thinking.
const THINKING: &[&str] = &["none", "adaptive", "budget", "level", "effort", "words"];

/// The allowed values of a key.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Shape {
    /// Text that is not empty.
    Text,
    /// `http://…` or `https://…`.
    Url,
    /// One of these words.
    Word(&'static [&'static str]),
    /// One of [`APPROVALS`], or `all`.
    Approval,
    /// A whole number from 0.
    Count,
    /// A number from 0.
    Amount,
    /// `true` or `false`.
    Flag,
    /// Bytes: a number, or text such as `2 GiB`.
    Size,
    /// A list of texts.
    Texts,
    /// A list of a program and its arguments.
    Command,
    /// A list of ports.
    Ports,
    /// Names with texts.
    TextByName,
    /// Names with objects of these keys.
    ByName(&'static [Key]),
    /// An object of these keys.
    Object(&'static [Key]),
    /// A list of objects of these keys.
    List(&'static [Key]),
    /// `false`, or names with objects of these keys.
    OffOrByName(&'static [Key]),
}

/// A key, what it may hold, and whether an untrusted workspace may set it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Key {
    pub name: &'static str,
    pub shape: Shape,
    pub open: bool,
    /// The value where nobody sets it, as it would be typed.
    pub default: Option<&'static str>,
}

const fn open(name: &'static str, shape: Shape) -> Key {
    Key { name, shape, open: true, default: None }
}

const fn guarded(name: &'static str, shape: Shape) -> Key {
    Key { name, shape, open: false, default: None }
}

impl Key {
    const fn or(self, default: &'static str) -> Key {
        Key { default: Some(default), ..self }
    }

    /// Returns the value where nobody sets it.
    pub(super) fn value(&self) -> Option<Value> {
        Some(self.shape.read(self.default?))
    }
}

const AMOUNTS: [Key; 5] = [
    open("input", Shape::Amount),
    open("output", Shape::Amount),
    open("cacheRead", Shape::Amount),
    open("cacheWrite", Shape::Amount),
    open("cacheWrite1h", Shape::Amount),
];
const TIER: &[Key] = &[open("above", Shape::Count), AMOUNTS[0], AMOUNTS[1], AMOUNTS[2], AMOUNTS[3], AMOUNTS[4]];
const PRICE: &[Key] = &[AMOUNTS[0], AMOUNTS[1], AMOUNTS[2], AMOUNTS[3], AMOUNTS[4], open("tiers", Shape::List(TIER))];
const MODEL: &[Key] = &[
    open("editFormat", Shape::Word(FORMATS)),
    open("contextWindow", Shape::Count),
    open("maxOutput", Shape::Count),
    open("effort", Shape::Word(EFFORTS)),
    open("thinking", Shape::Word(THINKING)),
    open("temperature", Shape::Amount),
    open("cacheMarks", Shape::Flag),
    open("price", Shape::Object(PRICE)),
    open("images", Shape::Flag),
    open("pdfs", Shape::Flag),
];
/// The keys for access to a server, at the top for the provider in force and below `providers` for each.
const ACCESS: [Key; 4] = [
    guarded("baseUrl", Shape::Url),
    guarded("apiKeyEnv", Shape::Text),
    guarded("headers", Shape::TextByName),
    guarded("apiKeyCommand", Shape::Command),
];
const PROVIDER: &[Key] =
    &[guarded("model", Shape::Text), ACCESS[0], ACCESS[1], ACCESS[2], guarded("wire", Shape::Word(WIRES)), ACCESS[3]];

/// The keys of a rule for commands.
const RULE: &[Key] = &[
    guarded("prefix", Shape::Texts),
    guarded("decision", Shape::Word(&["allow", "ask", "refuse"])),
    guarded("network", Shape::Flag),
    guarded("why", Shape::Text),
];
/// The keys below `shell`.
const SHELL: &[Key] = &[
    guarded("rules", Shape::List(RULE)),
    guarded("derived", Shape::Texts),
    guarded("kept", Shape::Texts),
    guarded("write", Shape::Texts),
    guarded("private", Shape::Texts),
    guarded("caches", Shape::Texts),
    guarded("ports", Shape::Ports),
    guarded("strict", Shape::Flag).or("false"),
    guarded("envKeep", Shape::Texts),
    guarded("keepFile", Shape::Size).or("64 MiB"),
    guarded("keepTotal", Shape::Size).or("2 GiB"),
    guarded("timeout", Shape::Count).or("120"),
    guarded("maxTimeout", Shape::Count).or("3600"),
    guarded("sandbox", Shape::Word(&["on", "off"])).or("on"),
    guarded("keeper", Shape::Word(&["auto", "guard", "scan"])).or("auto"),
    guarded("bash", Shape::Text),
    guarded("preview", Shape::Word(&["never", "harm", "always"])).or("never"),
    guarded("check", Shape::Text),
];

/// The keys of a language server.
const SERVER: &[Key] =
    &[guarded("command", Shape::Command), guarded("globs", Shape::Texts), guarded("enabled", Shape::Flag)];

/// All keys.
pub(super) const KEYS: &[Key] = &[
    guarded("provider", Shape::Text).or("openai"),
    open("model", Shape::Text).or(DEFAULT_MODEL),
    ACCESS[0],
    ACCESS[1],
    ACCESS[2],
    ACCESS[3],
    guarded("modelFile", Shape::Text),
    guarded("providers", Shape::ByName(PROVIDER)),
    open("models", Shape::ByName(MODEL)),
    open("editFormat", Shape::Word(FORMATS)).or("auto"),
    open("codeOps", Shape::Word(&["auto", "on", "off"])).or("auto"),
    guarded("approval", Shape::Approval).or("ask"),
    open("maxSteps", Shape::Count).or("50"),
    open("effort", Shape::Word(EFFORTS)),
    guarded("cacheTtl", Shape::Word(&["5m", "1h"])).or("5m"),
    guarded("budget", Shape::Amount),
    guarded("budgetTokens", Shape::Count),
    open("compact", Shape::Word(&["auto", "ask", "off"])).or("auto"),
    open("theme", Shape::Text),
    open("glyphs", Shape::Word(&["auto", "ascii"])).or("auto"),
    guarded("mouse", Shape::Flag).or("true"),
    guarded("notify", Shape::Word(&["auto", "bell", "osc9", "off"])).or("auto"),
    guarded("archiveMaxSize", Shape::Size).or("2 GiB"),
    guarded("archiveExclude", Shape::Texts),
    guarded("archiveDir", Shape::Text),
    guarded("mergiraf", Shape::Flag).or("false"),
    open("language", Shape::Text),
    guarded("trusted", Shape::Texts),
    guarded("shell", Shape::Object(SHELL)),
    guarded("lsp", Shape::OffOrByName(SERVER)),
];

/// The keys that no workspace's file sets, trusted or not.
const OWN: &[&str] = &["trusted", "mergiraf"];

/// Returns the values of the keys that nobody sets.
pub(super) fn defaults() -> Map<String, Value> {
    KEYS.iter().filter_map(|key| Some((key.name.to_string(), key.value()?))).collect()
}

/// Returns whether only the person's own file may set the top-level key of this name.
pub(super) fn is_own(name: &str) -> bool {
    OWN.contains(&name)
}

/// Returns whether a workspace's file may set the top-level key of this name. `trusted`: its folder is.
pub(super) fn is_allowed(name: &str, trusted: bool) -> bool {
    !is_own(name) && (trusted || key(name).is_some_and(|key| key.open))
}

/// Returns the top-level key of this name.
pub(super) fn key(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

/// Returns the keys of a fixed set below a top-level key; empty: it has none.
pub(super) fn parts(name: &str) -> &'static [Key] {
    match key(name).map(|key| key.shape) {
        Some(Shape::Object(keys)) => keys,
        _ => &[],
    }
}

impl Shape {
    /// Removes invalid parts of `value`, reports each through `complain` with its path, and returns whether anything
    /// valid is left.
    pub(super) fn check(self, value: &mut Value, path: &[String], complain: &mut dyn FnMut(&[String], String)) -> bool {
        let fits = match self {
            Shape::Text => value.as_str().is_some_and(|text| !text.trim().is_empty()),
            Shape::Url => value.as_str().is_some_and(is_url),
            Shape::Word(words) => value.as_str().is_some_and(|text| words.contains(&text)),
            Shape::Approval => value.as_str().is_some_and(|text| text == "all" || APPROVALS.contains(&text)),
            Shape::Count => value.as_u64().is_some_and(|count| count <= u64::from(u32::MAX)),
            Shape::Amount => value.as_f64().is_some_and(|amount| amount >= 0.0 && amount.is_finite()),
            Shape::Flag => value.is_boolean(),
            Shape::Size => value.as_u64().is_some() || value.as_str().and_then(size::parse).is_some(),
            Shape::Texts | Shape::Command => value.as_array().is_some_and(|list| list.iter().all(Value::is_string)),
            Shape::Ports => value.as_array().is_some_and(|list| list.iter().all(is_port)),
            Shape::TextByName => value.as_object().is_some_and(|map| map.values().all(Value::is_string)),
            Shape::OffOrByName(_) if *value == Value::Bool(false) => true,
            Shape::ByName(keys) | Shape::OffOrByName(keys) => {
                return each(value, path, complain, &mut |_| Some(Shape::Object(keys)), &[]);
            }
            Shape::List(keys) => match value.as_array_mut() {
                Some(list) => {
                    list.retain_mut(|entry| Shape::Object(keys).check(entry, path, complain));
                    return true;
                }
                None => false,
            },
            Shape::Object(keys) => {
                let mut shape = |name: &str| keys.iter().find(|key| key.name == name).map(|key| key.shape);
                let given = value.as_object().map(Map::len);
                let fits = each(value, path, complain, &mut shape, keys);
                return fits && (value.as_object().map(Map::len) == given || !is_price(keys));
            }
        };
        if !fits {
            complain(path, format!("{} must be {}", path.join("."), self.words()));
        }
        fits
    }

    /// Returns what fits, in words.
    fn words(self) -> String {
        match self {
            Shape::Text => "a text".into(),
            Shape::Url => "a URL that begins with http:// or https://".into(),
            Shape::Word(words) => format!("one of {}", words.join(", ")),
            Shape::Approval => Shape::Word(APPROVALS).words(),
            Shape::Count => "a whole number from 0".into(),
            Shape::Amount => "a number from 0".into(),
            Shape::Flag => "true or false".into(),
            Shape::Size => "a number of bytes or a text such as \"2 GiB\"".into(),
            Shape::Texts => "a list of texts".into(),
            Shape::Command => r#"a list of a program and its arguments, such as ["pass", "show", "key"]"#.into(),
            Shape::Ports => "a list of ports from 1 to 65535".into(),
            Shape::TextByName => "an object of texts".into(),
            Shape::ByName(_) | Shape::Object(_) => "an object".into(),
            Shape::OffOrByName(_) => "false or an object".into(),
            Shape::List(_) => "a list of objects".into(),
        }
    }

    /// Returns the value that a person means by `text` on the command line; checked by [`Shape::check`] afterwards.
    pub(super) fn read(self, text: &str) -> Value {
        let json = || serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
        match self {
            Shape::Text | Shape::Url | Shape::Word(_) | Shape::Approval => Value::from(text),
            Shape::Size if text.trim().parse::<u64>().is_err() => Value::from(text),
            // Where its words end is not guessed.
            Shape::Command if text.contains(char::is_whitespace) => json(),
            Shape::Texts | Shape::Command if !text.trim_start().starts_with('[') => Value::from(vec![text]),
            _ => json(),
        }
    }
}

/// Checks the entries of an object, and takes out those that do not fit.
fn each(
    value: &mut Value,
    path: &[String],
    complain: &mut dyn FnMut(&[String], String),
    shape: &mut dyn FnMut(&str) -> Option<Shape>,
    known: &[Key],
) -> bool {
    let Some(map) = value.as_object_mut() else {
        complain(path, format!("{} must be an object", path.join(".")));
        return false;
    };
    map.retain(|name, entry| {
        let path: Vec<String> = path.iter().cloned().chain([name.clone()]).collect();
        match shape(name) {
            Some(shape) => shape.check(entry, &path, complain),
            None => {
                complain(&path, unknown(&path.join("."), name, known));
                false
            }
        }
    });
    true
}

/// Returns the complaint about a key that does not exist, with the one that was probably meant.
pub(super) fn unknown(path: &str, name: &str, known: &[Key]) -> String {
    match nearest(name, known.iter().map(|key| key.name)) {
        Some(near) => format!("there is no key {path}; did you mean {near}?"),
        None => format!("there is no key {path}"),
    }
}

fn is_port(value: &Value) -> bool {
    value.as_u64().is_some_and(|port| (1..=u64::from(u16::MAX)).contains(&port))
}

fn is_url(text: &str) -> bool {
    let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
    rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/') && !text.contains(char::is_whitespace))
}

/// Returns whether these are the keys of prices: without one of its amounts a price would be a lower one.
fn is_price(keys: &[Key]) -> bool {
    keys == PRICE || keys == TIER
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_taken_out_and_the_rest_stays() {
        let mut value = serde_json::json!({
            "a": {"editFormat": "xml", "contextWindow": -1, "price": {"input": 1, "ouput": 2}},
            "b": 3
        });
        let mut complaints = Vec::new();
        let path = ["models".to_string()];
        assert!(Shape::ByName(MODEL).check(&mut value, &path, &mut |_, what| complaints.push(what)));
        assert_eq!(value, serde_json::json!({"a": {"editFormat": "xml"}}));
        assert_eq!(complaints.len(), 3, "{complaints:?}");
        let mut value = serde_json::json!({
            "a": {"price": {"input": -1, "output": 2}}, "b": {"price": {"input": 1}},
            "c": {"price": {"input": 1, "tiers": [{"above": 5, "input": "x"}]}}
        });
        assert!(Shape::ByName(MODEL).check(&mut value, &path, &mut |_, _| {}));
        assert_eq!(
            value,
            serde_json::json!({"a": {}, "b": {"price": {"input": 1}},
            "c": {"price": {"input": 1, "tiers": []}}})
        );
        assert!(complaints[1].contains("did you mean output"), "{complaints:?}");
    }

    #[test]
    fn urls_are_checked() {
        for good in ["http://localhost:8080", "https://api.example.com/v1"] {
            assert!(is_url(good));
        }
        for bad in ["localhost:8080", "https://", "http:///x", "ftp://x", "http://a b"] {
            assert!(!is_url(bad), "{bad}");
        }
    }
}

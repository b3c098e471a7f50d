//! The small files of a store: settings, locks, pending ops, conflicts.

use std::collections::BTreeSet;
use std::fs::DirEntry;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::{Error, Lock, disk};
use crate::strand::check::{CAPABILITIES, all_capabilities};
use crate::strand::op::Op;

/// The policy for references to a concurrently removed definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Refuse the bundles that bring them.
    Strict,
    /// Bring the removed definition back as a stub.
    Heal,
    /// Accept and warn.
    Warn,
}

impl Policy {
    /// Returns the word in the settings.
    pub fn word(self) -> &'static str {
        match self {
            Policy::Strict => "strict",
            Policy::Heal => "heal",
            Policy::Warn => "warn",
        }
    }

    /// Returns the policy of a word.
    pub fn parse(word: &str) -> Option<Policy> {
        [Policy::Strict, Policy::Heal, Policy::Warn].into_iter().find(|policy| policy.word() == word)
    }
}

/// The settings of a store.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The policy for new danglings.
    pub policy: Policy,
    /// Capabilities effects may need.
    pub capabilities: BTreeSet<String>,
    /// The store to push to and pull from.
    pub upstream: Option<String>,
    /// The default author of ops.
    pub author: Option<String>,
    /// True if ownership locks count.
    pub locks_enforced: bool,
}

impl Default for Config {
    fn default() -> Config {
        let capabilities = all_capabilities();
        Config { policy: Policy::Strict, capabilities, upstream: None, author: None, locks_enforced: true }
    }
}

impl Config {
    /// The keys a person may set.
    pub const KEYS: [&'static str; 5] = ["conflict-policy", "capabilities", "upstream", "author", "lock-mode"];

    fn path(root: &Path) -> PathBuf {
        root.join(".strand/config.json")
    }

    /// Reads the settings of a store; a file that is not there means the defaults.
    pub fn read(root: &Path) -> Result<Config, Error> {
        let path = Config::path(root);
        let mut config = Config::default();
        let Some(text) = read_optional(&path)? else { return Ok(config) };
        let bad = |message: String| Error::BadFile { path: path.clone(), message };
        let values: Map<String, Value> = serde_json::from_str(&text).map_err(|error| bad(error.to_string()))?;
        for (key, value) in values {
            let text = value.as_str().ok_or_else(|| bad(format!("'{key}' is no string")))?;
            config.set(&key, text).map_err(bad)?;
        }
        Ok(config)
    }

    /// Sets one key; the error lists its values.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "conflict-policy" => {
                self.policy = Policy::parse(value).ok_or("conflict-policy is strict, heal or warn")?;
            }
            "capabilities" => {
                let caps: BTreeSet<String> =
                    value.split(',').map(str::trim).filter(|cap| !cap.is_empty()).map(str::to_owned).collect();
                if let Some(unknown) = caps.iter().find(|cap| !CAPABILITIES.contains(&cap.as_str())) {
                    return Err(format!("there is no capability '{unknown}'; there are {}", CAPABILITIES.join(", ")));
                }
                self.capabilities = caps;
            }
            "upstream" => self.upstream = Some(value.to_owned()).filter(|value| !value.is_empty()),
            "author" => {
                if !value.is_empty() && !crate::strand::op::author_is_valid(value) {
                    return Err(format!("'{value}' is not an author: use agent:<id> or user:<id>"));
                }
                self.author = Some(value.to_owned()).filter(|value| !value.is_empty());
            }
            "lock-mode" => {
                self.locks_enforced = match value {
                    "enforce" => true,
                    "off" => false,
                    _ => return Err("lock-mode is enforce or off".to_owned()),
                };
            }
            other => return Err(format!("there is no key '{other}'; there are {}", Config::KEYS.join(", "))),
        }
        Ok(())
    }

    /// Returns the value of one key as text; empty if it is not set, `None` for an unknown key.
    pub fn get(&self, key: &str) -> Option<String> {
        Some(match key {
            "conflict-policy" => self.policy.word().to_owned(),
            "capabilities" => {
                let granted = CAPABILITIES.iter().filter(|cap| self.capabilities.contains(**cap));
                granted.copied().collect::<Vec<_>>().join(",")
            }
            "upstream" => self.upstream.clone().unwrap_or_default(),
            "author" => self.author.clone().unwrap_or_default(),
            "lock-mode" => if self.locks_enforced { "enforce" } else { "off" }.to_owned(),
            _ => return None,
        })
    }

    /// Writes the settings of a store.
    pub fn write(&self, root: &Path) -> Result<(), Error> {
        let values: Map<String, Value> = Config::KEYS
            .iter()
            .filter_map(|key| self.get(key).map(|value| ((*key).to_owned(), json!(value))))
            .collect();
        atomic_write(&Config::path(root), format!("{:#}\n", Value::Object(values)).as_bytes())
    }
}

/// Replaces a file whole: a reader sees the old text or the new one, after a crash too.
pub fn atomic_write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    disk::replace(path, bytes).map_err(|error| Error::io("write", path, error))
}

/// Returns a file's text; none if it is not there.
pub fn read_optional(path: &Path) -> Result<Option<String>, Error> {
    match disk::read_text(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io("read", path, error)),
    }
}

/// Returns the ops of a file of one op a line.
pub fn read_ops(path: &Path) -> Result<Vec<Op>, Error> {
    let text = read_optional(path)?.unwrap_or_default();
    let ops = text.lines().filter(|line| !line.trim().is_empty()).map(|line| {
        let value = serde_json::from_str(line).map_err(|error: serde_json::Error| error.to_string())?;
        Op::from_json(&value)
    });
    ops.collect::<Result<_, String>>().map_err(|message| Error::BadFile { path: path.to_owned(), message })
}

/// Returns the ownership locks of a store.
pub fn read_locks(root: &Path) -> Result<Vec<Lock>, Error> {
    let path = root.join(".strand/locks.json");
    let Some(text) = read_optional(&path)? else { return Ok(Vec::new()) };
    serde_json::from_str(&text).map_err(|error| Error::BadFile { path, message: error.to_string() })
}

/// Replaces the ownership locks of a store.
pub fn write_locks(root: &Path, locks: &[Lock]) -> Result<(), Error> {
    let path = root.join(".strand/locks.json");
    let text = serde_json::to_string_pretty(locks)
        .map_err(|error| Error::BadFile { path: path.clone(), message: error.to_string() })?;
    atomic_write(&path, format!("{text}\n").as_bytes())
}

/// A conflict a person can look at, and reissue.
#[derive(Clone, Debug, PartialEq)]
pub struct Conflict {
    /// `cf_` and a ULID.
    pub id: String,
    /// `dangling`, `locked`, `sync` or `op-id-collision`.
    pub kind: String,
    /// The policy that was followed.
    pub policy: String,
    /// Its time in unix milliseconds.
    pub at: i64,
    /// Referring places and what they refer to.
    pub edges: Vec<(String, String)>,
    /// The ops, whole.
    pub ops: Vec<Value>,
    /// `open`, `healed`, `warned` or `resolved`.
    pub status: String,
}

impl Conflict {
    /// Returns the record as a line of its file has it.
    pub fn to_json(&self) -> Value {
        json!({
            "conflict": self.id, "kind": self.kind, "policy": self.policy, "at": self.at,
            "edges": self.edges, "ops": self.ops, "status": self.status,
        })
    }

    fn from_json(value: &Value) -> Option<Conflict> {
        let text = |name: &str| value.get(name)?.as_str().map(str::to_owned);
        Some(Conflict {
            id: text("conflict")?,
            kind: text("kind")?,
            policy: text("policy")?,
            at: value.get("at")?.as_i64()?,
            edges: serde_json::from_value(value.get("edges")?.clone()).ok()?,
            ops: value.get("ops")?.as_array()?.clone(),
            status: text("status")?,
        })
    }
}

/// Returns the conflicts of a store, the latest version of each, oldest first.
pub fn read_conflicts(root: &Path) -> Result<Vec<Conflict>, Error> {
    let path = root.join(".strand/conflicts.jsonl");
    let bytes = match disk::read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        read => read.map_err(|error| Error::io("read", &path, error))?,
    };
    let mut out: Vec<Conflict> = Vec::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        // A line cut short by a crash, in a character too, is no record.
        let Some(found) = serde_json::from_slice(line).ok().as_ref().and_then(Conflict::from_json) else { continue };
        match out.iter_mut().find(|held| held.id == found.id) {
            Some(held) => *held = found,
            None => out.push(found),
        }
    }
    Ok(out)
}

/// Appends conflicts, or new versions of them.
pub fn append_conflicts(root: &Path, conflicts: &[Conflict]) -> Result<(), Error> {
    if conflicts.is_empty() {
        return Ok(());
    }
    let path = root.join(".strand/conflicts.jsonl");
    let text: String = conflicts.iter().map(|conflict| format!("{}\n", conflict.to_json())).collect();
    disk::append_lines(&path, &text).map_err(|error| Error::io("append to", &path, error))
}

/// Returns whether a folder is called as a store is.
pub fn is_named(path: &Path) -> bool {
    path.extension().is_some_and(|ext| ext == "strand" || ext == "strand-store")
}

/// Returns what may be a store directly in a folder. A link to a folder is none that lies there, unless its name says so.
pub fn folders(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let may_be = |entry: &DirEntry| is_named(&entry.path()) || entry.file_type().is_ok_and(|kind| kind.is_dir());
    entries.filter(may_be).map(|entry| entry.path())
}

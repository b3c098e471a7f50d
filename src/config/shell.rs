//! The configuration of commands: the keys below `shell`.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::layers::{bytes, text, texts};
use crate::disk::is_program;

/// The key that only the person's own file may set.
const OWN: &str = "sandbox";

/// A rule for commands as a file says it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RuleConfig {
    /// The words that a command begins with.
    pub prefix: Vec<String>,
    /// `allow`, `ask` or `refuse`.
    pub decision: String,
    /// The network is allowed, too.
    pub network: bool,
    /// The reason.
    pub why: Option<String>,
}

impl RuleConfig {
    fn read(value: &Value) -> Option<Self> {
        let keys = value.as_object()?;
        let network = keys.get("network").and_then(Value::as_bool).unwrap_or(false);
        Some(RuleConfig {
            prefix: texts(keys, "prefix"),
            decision: text(keys, "decision").unwrap_or_default(),
            network,
            why: text(keys, "why"),
        })
    }

    /// Returns the rule as a file says it.
    pub fn json(&self) -> Value {
        let mut rule = serde_json::json!({"prefix": self.prefix, "decision": self.decision});
        if self.network {
            rule["network"] = true.into();
        }
        if let Some(why) = &self.why {
            rule["why"] = why.clone().into();
        }
        rule
    }
}

/// Settings of commands; what is not set is `None` or empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ShellConfig {
    /// Rules of the person's own file.
    pub rules: Vec<RuleConfig>,
    /// Rules of the workspace's file; where it is not trusted, none of them allows anything.
    pub workspace_rules: Vec<RuleConfig>,
    /// Additional folders that can be rebuilt, as globs.
    pub derived: Vec<String>,
    /// Folders that are archived though they look so.
    pub archived: Vec<String>,
    /// Additional folders that commands may write, archived as the workspace is.
    pub write: Vec<String>,
    /// Additional files under the home folder that no command may read, as globs.
    pub private: Vec<String>,
    /// Additional folders that commands with the network may write.
    pub caches: Vec<String>,
    /// Ports on this machine that every command may reach.
    pub ports: Vec<u16>,
    /// `.shaft` and `.nebula` are mounted so that commands under the guard can only read them, too.
    pub strict: bool,
    /// Globs of variables that are passed on though they look like secrets.
    pub env_keep: Vec<String>,
    /// The largest file that is copied because it is changed in place.
    pub keep_file: Option<u64>,
    /// All that is copied of one command.
    pub keep_total: Option<u64>,
    /// Seconds that a command is given unless told otherwise.
    pub timeout: Option<u64>,
    /// Seconds that it may be given.
    pub max_timeout: Option<u64>,
    /// Commands run in a sandbox.
    pub sandbox: Option<bool>,
    /// The keeper of states: `guard` or `scan`; none: the best one that works.
    pub keeper: Option<String>,
    /// The shell's program.
    pub bash: Option<PathBuf>,
    /// The commands that run in a view first: `never`, `harm` or `always`.
    pub preview: Option<String>,
    /// The command that tests a proposal.
    pub check: Option<String>,
}

/// The names of programs that run the text of a command as `sh` does.
const SHELLS: &[&str] = &["bash", "sh", "dash", "ash", "ksh", "ksh93", "mksh", "yash"];

impl ShellConfig {
    /// Returns why the configured shell may run no command; none: nothing is known against it.
    pub(super) fn doubt_of_bash(&self) -> Option<String> {
        let shell = self.bash.as_ref()?;
        if !is_program(shell) {
            return Some(format!("shell.bash: {} is no program: no command will run", shell.display()));
        }
        let name = shell.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let is_known = SHELLS.contains(&name) || name.starts_with("bash");
        let known = SHELLS.join(", ");
        (!is_known).then(|| {
            format!(
                "shell.bash: {} is not known to run the text of sh ({known} are): commands may fail",
                shell.display()
            )
        })
    }

    pub(super) fn read(value: Option<&Value>) -> Self {
        let Some(keys) = value.and_then(Value::as_object) else { return ShellConfig::default() };
        let number = |name: &str| keys.get(name).and_then(Value::as_u64);
        let ports = keys.get("ports").and_then(Value::as_array).into_iter().flatten();
        ShellConfig {
            rules: rules_of(keys.get("rules")),
            workspace_rules: Vec::new(),
            derived: texts(keys, "derived"),
            archived: texts(keys, "kept"),
            write: texts(keys, "write"),
            private: texts(keys, "private"),
            caches: texts(keys, "caches"),
            ports: ports.filter_map(|port| u16::try_from(port.as_u64()?).ok()).collect(),
            strict: keys.get("strict").and_then(Value::as_bool).unwrap_or(false),
            env_keep: texts(keys, "envKeep"),
            keep_file: bytes(keys.get("keepFile")),
            keep_total: bytes(keys.get("keepTotal")),
            timeout: number("timeout"),
            max_timeout: number("maxTimeout"),
            sandbox: text(keys, OWN).map(|word| word == "on"),
            keeper: text(keys, "keeper").filter(|word| word != "auto"),
            bash: text(keys, "bash").map(PathBuf::from),
            preview: text(keys, "preview"),
            check: text(keys, "check").filter(|command| !command.trim().is_empty()),
        }
    }
}

/// Takes out of a workspace's file what only the person's own may say; the key, where it was there.
pub(super) fn take_own(keys: &mut Map<String, Value>) -> Option<String> {
    let shell = keys.get_mut("shell").and_then(Value::as_object_mut)?;
    shell.remove(OWN).map(|_| format!("shell.{OWN}"))
}

/// Returns the rules for commands that setting a dotted key to what a text means would set.
pub fn rules_set_by(key: &str, text: &str) -> Vec<RuleConfig> {
    let Ok(value) = serde_json::from_str::<Value>(text) else { return Vec::new() };
    match key {
        "shell.rules" => rules_of(Some(&value)),
        "shell" => rules_of(value.get("rules")),
        _ => Vec::new(),
    }
}

fn rules_of(value: Option<&Value>) -> Vec<RuleConfig> {
    value.and_then(Value::as_array).into_iter().flatten().filter_map(RuleConfig::read).collect()
}

/// Takes the rules out of a workspace's file: they stand beside the person's own, never in their place. `trusted`: they
/// may allow something. Returns those that count, and the key where some do not.
pub(super) fn take_rules(keys: &mut Map<String, Value>, trusted: bool) -> (Vec<RuleConfig>, Option<String>) {
    let Some(shell) = keys.get_mut("shell").and_then(Value::as_object_mut) else { return (Vec::new(), None) };
    let rules = rules_of(shell.remove("rules").as_ref());
    if shell.is_empty() {
        keys.remove("shell");
    }
    let (counted, left): (Vec<_>, Vec<_>) =
        rules.into_iter().partition(|rule| trusted || rule.decision == "ask" || rule.decision == "refuse");
    (counted, (!left.is_empty()).then(|| "shell.rules (allow)".to_string()))
}

/// Returns a folder as the configuration names it: absolute, below the home folder (`~/`), or below the workspace's
/// root.
pub fn folder(named: &str, home: Option<&Path>, root: &Path) -> PathBuf {
    match (named.strip_prefix("~/"), home) {
        (Some(inside), Some(home)) => home.join(inside),
        _ => root.join(named),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_and_a_workspace_has_no_say_in_the_sandbox() {
        let mut keys = Map::new();
        keys.insert(
            "shell".into(),
            serde_json::json!({"ports": [5432], "keepFile": "1 MiB", "sandbox": "off", "keeper": "auto", "timeout": 7}),
        );
        let read = ShellConfig::read(keys.get("shell"));
        assert_eq!((read.ports, read.keep_file, read.sandbox), (vec![5432], Some(1 << 20), Some(false)));
        assert_eq!((read.keeper, read.timeout), (None, Some(7)));
        assert_eq!(take_own(&mut keys), Some("shell.sandbox".into()));
        assert_eq!(take_own(&mut keys), None);
        assert_eq!(ShellConfig::read(keys.get("shell")).sandbox, None);
        let rules = serde_json::json!({"rules": [{"prefix": ["a"], "decision": "allow"}, {"prefix": ["b"], "decision": "refuse"}]});
        for (trusted, count, left) in [(false, 1, Some("shell.rules (allow)".to_string())), (true, 2, None)] {
            let mut keys = Map::from_iter([("shell".to_string(), rules.clone())]);
            let (counted, found) = take_rules(&mut keys, trusted);
            assert_eq!((counted.len(), found, keys.is_empty()), (count, left, true));
        }
        let root = Path::new("/w");
        assert_eq!(folder("~/x", Some(Path::new("/h")), root), Path::new("/h/x"));
        assert_eq!(folder("x", None, root), Path::new("/w/x"));
        assert_eq!(folder("/x", None, root), Path::new("/x"));
    }

    #[test]
    fn a_shell_that_cannot_be_run_or_is_no_sh_is_doubted() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().expect("a folder");
        let doubt = |name: &str, mode| {
            let bash = dir.path().join(name);
            std::fs::write(&bash, "").expect("written");
            std::fs::set_permissions(&bash, std::fs::Permissions::from_mode(mode)).expect("set");
            ShellConfig { bash: Some(bash), ..ShellConfig::default() }.doubt_of_bash()
        };
        assert_eq!(doubt("dash", 0o755), None);
        assert!(doubt("dash", 0o644).is_some_and(|why| why.contains("no command will run")));
        assert!(doubt("zsh", 0o755).is_some_and(|why| why.contains("commands may fail")));
    }
}

//! The environment of a command, and the variables that are withheld from it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};

use super::output::mask;
use super::sandbox::Grant;
use crate::disk::is_program;

/// Names whose values are secrets, whatever their case.
const SECRETS: &[&str] =
    &["*_KEY", "*_TOKEN", "*SECRET*", "*PASSWORD*", "*PASSWD*", "*CREDENTIAL*", "*_PAT", "AWS_*", "SSH_AUTH_SOCK"];
/// Variables that run something in every shell or program.
const RUNS: &[&str] = &["LD_PRELOAD", "BASH_ENV", "ENV", "PROMPT_COMMAND"];
/// The variables that every shell sets for itself.
const OF_THE_SHELL: &[&str] = &["PWD", "OLDPWD", "SHLVL", "_"];
/// Values shorter than this are not looked for in output.
const SHORTEST_SECRET: usize = 8;
/// Variables that go on to the next command, and their bytes.
const MOST_LEFT: usize = 64;
const MOST_LEFT_BYTES: usize = 32 << 10;
/// The number of names of those that do not go on in the note for the model.
const NAMED: usize = 5;
/// Names the socket of the SSH agent, which signs without showing a key.
const AGENT: &str = "SSH_AUTH_SOCK";
/// The variable whose value is that of this program's commands alone.
pub const SESSION: &str = "NEBULA_COMMANDS";
/// The variable that holds a command's id.
const COMMAND: &str = "NEBULA_COMMAND";
/// Returns a command's id among its variables.
pub fn command_id(variables: &[(String, String)]) -> &str {
    variables.iter().find(|(name, _)| name == COMMAND).map_or("", |(_, id)| id)
}

/// The answer in place of an editor.
const NO_EDITOR: &str = "echo 'no editor here: use -m, -F or --no-edit' >&2; false";

/// Variables that are set for every command.
const SET: &[(&str, &str)] = &[
    ("TERM", "dumb"),
    ("NO_COLOR", "1"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("COLUMNS", "120"),
    ("GIT_EDITOR", NO_EDITOR),
    ("EDITOR", NO_EDITOR),
];

/// The environment of commands.
#[derive(Clone, Default)]
pub struct Environment {
    all: BTreeMap<String, String>,
    passed: BTreeMap<String, String>,
    secrets: Vec<(String, String)>,
    keep: Vec<GlobMatcher>,
    named: Vec<String>,
    /// Tells the processes of this program's commands from all others.
    session: String,
}

impl Environment {
    /// Creates the environment of nebula's own variables without those that are secrets: `named` ones, and those whose
    /// names say so.
    pub fn new(own: impl IntoIterator<Item = (String, String)>, named: &[String], keep: &[String]) -> Self {
        let keep = keep.iter().filter_map(|glob| matcher(glob)).collect();
        let session = uuid::Uuid::new_v4().to_string();
        let mut all = Environment { keep, named: named.to_vec(), session, ..Environment::default() };
        for (name, value) in own {
            all.all.insert(name.clone(), value.clone());
            if all.is_secret(&name) {
                if value.len() >= SHORTEST_SECRET {
                    all.secrets.push((name, value));
                }
            } else if !RUNS.contains(&name.as_str()) {
                all.passed.insert(name, value);
            }
        }
        // A secret that holds another is replaced first.
        all.secrets.sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
        all
    }

    fn is_secret(&self, name: &str) -> bool {
        let allowed = self.keep.iter().any(|glob| glob.is_match(name));
        !allowed && (looks_secret(name) || self.named.iter().any(|named| named == name))
    }

    /// Returns what was left out and is long enough to be told from other text: name and value.
    pub fn secrets(&self) -> &[(String, String)] {
        &self.secrets
    }

    /// Returns a text without what was left out.
    pub fn masked(&self, text: &str) -> String {
        mask::masked(&self.secrets, text.to_string())
    }

    /// Returns the variables of command `id`, with those that commands before it left. In a `terminal` they are the
    /// person's own: it can show what programs do there, and answer them.
    pub fn of(
        &self,
        id: &str,
        left: &BTreeMap<String, Option<String>>,
        grant: Grant,
        temporary: Option<&Path>,
        terminal: bool,
    ) -> Vec<(String, String)> {
        let mut all = self.passed.clone();
        let mut set = |name: &str, value: &str| all.insert(name.to_string(), value.to_string());
        SET.iter().filter(|_| !terminal).for_each(|(name, value)| drop(set(name, value)));
        temporary.and_then(Path::to_str).map(|folder| set("TMPDIR", folder));
        for (name, value) in left {
            match value {
                Some(value) => drop(all.insert(name.clone(), value.clone())),
                None => drop(all.remove(name)),
            }
        }
        let mut set = |name: &str, value: &str| all.insert(name.to_string(), value.to_string());
        match (grant, self.all.get(AGENT)) {
            (Grant::Read, _) => drop(set("GIT_OPTIONAL_LOCKS", "0")),
            (Grant::Online, Some(agent)) => drop(set(AGENT, agent)),
            _ => {}
        }
        set(COMMAND, id);
        set(SESSION, &self.session);
        all.into_iter().collect()
    }

    /// Returns nebula's own variables, secrets among them.
    pub fn all(&self) -> &BTreeMap<String, String> {
        &self.all
    }

    /// Returns what a shell left that differs from what it was given: it goes on to the next command. `lists_all`: what
    /// is not among the exported variables was unset.
    pub fn left(&self, given: &[(String, String)], exported: &[(String, String)], lists_all: bool) -> LeftVariables {
        let given: BTreeMap<&str, &str> = given.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let is_own =
            |name: &str| OF_THE_SHELL.contains(&name) || [COMMAND, SESSION].contains(&name) || RUNS.contains(&name);
        // A PATH on which nothing is found would end every command after it.
        let is_empty = |name: &str, value: &str| {
            name == "PATH" && !std::env::split_paths(value).any(|folder| folder.is_absolute() && folder.is_dir())
        };
        let (mut left, mut bytes) = (LeftVariables::default(), 0);
        for (name, value) in exported {
            let is_same = given.get(name.as_str()) == Some(&value.as_str());
            if is_same || is_own(name) || is_empty(name, value) || self.is_secret(name) {
                continue;
            }
            let with = bytes + name.len() + value.len();
            if left.changed.len() < MOST_LEFT && with <= MOST_LEFT_BYTES {
                bytes = with;
                left.changed.insert(name.clone(), Some(value.clone()));
            } else {
                left.dropped.push(name.clone());
            }
        }
        let set: BTreeSet<&str> = exported.iter().map(|(name, _)| name.as_str()).collect();
        let is_unset =
            |name: &&str| lists_all && !set.contains(name) && is_listed(name) && *name != "PATH" && !is_own(name);
        left.changed.extend(given.into_keys().filter(is_unset).map(|name| (name.to_string(), None)));
        left
    }
}

/// The variables that go on to the next command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LeftVariables {
    /// The ones that changed; none: it is not set any more.
    pub changed: BTreeMap<String, Option<String>>,
    /// The names of those that were too many, or too long.
    pub dropped: Vec<String>,
}

impl LeftVariables {
    /// Returns the note for the model where not all go on.
    pub fn note(&self) -> Option<String> {
        let names = self.dropped.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
        let more = self.dropped.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let limits = format!("{MOST_LEFT} variables of {} KiB together", MOST_LEFT_BYTES >> 10);
        (!names.is_empty()).then(|| format!("not set for the next command: {names}{more} (at most {limits} go on)"))
    }
}

/// Returns whether a shell lists a variable of this name: of others it passes on what it was given.
fn is_listed(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Returns whether a name is one of [`SECRETS`]. A `*` stands at an end of each alone, so that no glob is compiled for
/// the names of a whole environment, which every start reads.
fn looks_secret(name: &str) -> bool {
    let name = name.to_uppercase();
    SECRETS.iter().any(|pattern| match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(_), Some(_)) => name.contains(pattern.trim_matches('*')),
        (Some(end), None) => name.ends_with(end),
        (None, Some(start)) => name.starts_with(start),
        (None, None) => name == *pattern,
    })
}

/// Returns the shell to run texts with: `bash`, else `sh`, on the PATH of these variables.
///
/// # Errors
/// When there is none, or the configured one is no program.
pub fn find_shell(variables: &[(String, String)], configured: Option<&Path>) -> Result<(PathBuf, Vec<String>), String> {
    let path = variables.iter().find(|(name, _)| name == "PATH").map_or("", |(_, value)| value.as_str());
    let find = |name: &str| std::env::split_paths(path).map(|folder| folder.join(name)).find(|file| is_program(file));
    // A name alone is looked for, too.
    let named = |file: &Path| file.to_str().filter(|name| !name.contains('/')).and_then(find);
    let configured = configured.map(|file| (file, named(file).unwrap_or_else(|| file.to_path_buf())));
    if let Some((file, _)) = configured.as_ref().filter(|(_, found)| !is_program(found)) {
        return Err(format!("shell.bash: {} is no program", file.display()));
    }
    let bash = configured.map(|(_, found)| found).or_else(|| find("bash"));
    let shell = bash.or_else(|| find("sh")).ok_or("no bash and no sh on the PATH")?;
    let name = shell.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let options: &[&str] = match name {
        name if name.starts_with("bash") => &["--noprofile", "--norc", "-c"],
        // It reads the person's file for `-c`, too.
        name if name.starts_with("zsh") => &["-f", "-c"],
        // Other shells know no such options, and read no file for `-c` either.
        _ => &["-c"],
    };
    Ok((shell, options.iter().map(ToString::to_string).collect()))
}

fn matcher(glob: &str) -> Option<GlobMatcher> {
    GlobBuilder::new(glob).case_insensitive(true).build().ok().map(|glob| glob.compile_matcher())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_distinguished_from_others_whatever_their_case() {
        assert!(SECRETS.iter().all(|pattern| !pattern.trim_matches('*').contains(['*', '?', '[', '{'])));
        for name in
            ["api_key", "GH_TOKEN", "MySecretThing", "PGPASSWORD", "X_PASSWD_Y", "CREDENTIALS", "A_PAT", "aws_x"]
        {
            assert!(looks_secret(name), "{name}");
        }
        assert!(looks_secret("ssh_auth_sock"));
        for name in ["KEY", "KEYS", "A_KEY_B", "PATH", "XAWS_A", "SSH_AUTH_SOCKET", "TOKEN", ""] {
            assert!(!looks_secret(name), "{name}");
        }
    }

    #[test]
    fn a_shell_gets_the_options_that_it_knows() {
        let dir = tempfile::tempdir().expect("a folder");
        for name in ["bash", "sh", "dash", "zsh"] {
            let file = dir.path().join(name);
            std::fs::write(&file, "").expect("written");
            std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o700)).expect("set");
        }
        let path = [("PATH".to_string(), dir.path().display().to_string())];
        let of = |configured: Option<&str>| {
            let configured = configured.map(|name| dir.path().join(name));
            let (shell, options) = find_shell(&path, configured.as_deref()).expect("a shell");
            (shell.file_name().and_then(|name| name.to_str()).expect("a name").to_string(), options.join(" "))
        };
        assert_eq!(of(None), ("bash".into(), "--noprofile --norc -c".into()));
        assert_eq!(of(Some("dash")), ("dash".into(), "-c".into()));
        assert_eq!(of(Some("sh")), ("sh".into(), "-c".into()));
        assert_eq!(of(Some("zsh")), ("zsh".into(), "-f -c".into()));
        std::fs::remove_file(dir.path().join("bash")).expect("removed");
        assert_eq!(of(None), ("sh".into(), "-c".into()));
    }

    #[test]
    fn secrets_stay_out_and_are_known_by_value() {
        let pair = |name: &str, value: &str| (name.to_string(), value.to_string());
        let own = [
            pair("PATH", "/bin"),
            pair("github_token", "ghp_0123456789"),
            pair("SHORT_KEY", "abc"),
            pair("MINE", "named-by-nebula"),
            pair("KEPT_KEY", "given-back"),
            pair("LD_PRELOAD", "/tmp/x.so"),
        ];
        let env = Environment::new(own, &["MINE".into()], &["KEPT_*".into()]);
        let given = env.of("c1", &BTreeMap::new(), Grant::Workspace, Some(Path::new("/tmp/own")), false);
        let has = |name: &str| given.iter().any(|(n, _)| n == name);
        assert!(given.contains(&pair("TMPDIR", "/tmp/own")));
        assert!(has("PATH") && has("KEPT_KEY") && has("NEBULA_COMMAND") && has("GIT_EDITOR"));
        assert!(!has("github_token") && !has("SHORT_KEY") && !has("MINE") && !has("LD_PRELOAD"));
        assert_eq!(env.secrets(), [pair("MINE", "named-by-nebula"), pair("github_token", "ghp_0123456789")]);
        let mark = |given: &[(String, String)]| given.iter().find(|(name, _)| name == SESSION).cloned();
        let other = Environment::new([pair(SESSION, "that of a program above")], &[], &[]);
        let other = other.of("c1", &BTreeMap::new(), Grant::Workspace, None, false);
        assert!(mark(&given).is_some() && mark(&other).is_some() && mark(&given) != mark(&other));
        assert!(!other.contains(&pair(SESSION, "that of a program above")));
        let mut exported = given.clone();
        exported.extend([
            pair("VIRTUAL_ENV", "/v"),
            pair("NEW_SECRET_X", "y"),
            pair("BASH_ENV", "z"),
            pair("PWD", "/"),
            pair(SESSION, "another's"),
            pair("PATH", "0:sub/bin"),
        ]);
        let left = env.left(&given, &exported, true);
        assert_eq!(left.changed, BTreeMap::from([("VIRTUAL_ENV".into(), Some("/v".into()))]));
        assert_eq!(left.note(), None);
    }

    #[test]
    fn what_was_unset_stays_so_and_what_is_too_much_is_named() {
        let pair = |name: &str, value: &str| (name.to_string(), value.to_string());
        let env = Environment::new([pair("PATH", "/bin"), pair("MINE", "1"), pair("odd.name", "1")], &[], &[]);
        let of = |left: &BTreeMap<_, _>| env.of("c1", left, Grant::Workspace, None, false);
        let given = of(&BTreeMap::new());
        let exported = [pair("A", "1"), pair("BIG", &"x".repeat(MOST_LEFT_BYTES)), pair("B", "2")];
        let left = env.left(&given, &exported, true);
        let set = |value: &str| Some(value.to_string());
        assert_eq!((left.changed.get("A"), left.changed.get("B")), (Some(&set("1")), Some(&set("2"))));
        assert_eq!((left.changed.get("MINE"), left.changed.get("TERM")), (Some(&None), Some(&None)));
        assert!(["PATH", "odd.name", COMMAND, SESSION, "BIG"].iter().all(|name| !left.changed.contains_key(*name)));
        assert!(left.note().is_some_and(|note| note.starts_with("not set for the next command: BIG (")));
        let next = of(&left.changed);
        assert!(next.contains(&pair("A", "1")) && next.contains(&pair("odd.name", "1")));
        assert!(!next.iter().any(|(name, _)| name == "MINE" || name == "TERM"), "{next:?}");
        // Where the list is not whole nothing is taken for unset.
        assert!(env.left(&given, &exported, false).changed.values().all(Option::is_some));
        let many: Vec<_> = (0..=MOST_LEFT + 6).map(|n| pair(&format!("V{n:03}"), "")).collect();
        let note = env.left(&given, &many, false).note().expect("too many");
        assert!(note.contains("V064, V065, V066, V067, V068 and 2 more"), "{note}");
    }
}

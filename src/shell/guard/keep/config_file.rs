//! The configuration of a repository that git puts in place: `git init`, `git clone` and `git branch` do so by renaming
//! `config.lock`. One that makes nothing run and leads nowhere new needs nobody's consent. It is put in place here and not
//! by the caller, who may still hold the file open: the bytes there are those that were checked. The library behind
//! `cargo new` makes an empty one first: it is made here too, and the caller gets it without the right to write it.
//!
//! What is done here is done in a folder that was opened without following a link: a name on the way may lead elsewhere by
//! then.

use std::collections::{HashMap, HashSet};
use std::fs::{File, Metadata, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process;

use super::super::call::{Refusal, number};
use super::super::reach::meta_at;
use crate::disk::Folder;
use crate::shell::message::{MadeConfig, Summary};

/// The name of a configuration.
const CONFIG: &str = "config";
/// The end of the path of one that no program opens for writing unasked.
const NAMED: &str = ".git/config";
/// The name of the file that is renamed to one.
const LOCK: &str = "config.lock";
/// The largest configuration that is checked, in bytes.
const LARGEST: u64 = 64 << 10;
/// Keys of a repository of the session's own that make nothing run, with the name of a section's part in place of `*`.
const PLAIN: &[&str] = &[
    "core.repositoryformatversion",
    "core.filemode",
    "core.bare",
    "core.logallrefupdates",
    "core.ignorecase",
    "core.precomposeunicode",
    "core.symlinks",
    "extensions.objectformat",
    "extensions.refstorage",
    "init.defaultbranch",
    "user.name",
    "user.email",
    "remote.*.url",
    "remote.*.fetch",
    "remote.*.tagopt",
    "branch.*.remote",
    "branch.*.merge",
    "branch.*.rebase",
    "core.autocrlf",
    "core.eol",
    "core.quotepath",
    "core.abbrev",
    "color.ui",
    "pull.rebase",
    "pull.ff",
    "push.default",
    "push.autosetupremote",
    "fetch.prune",
    "merge.ff",
    "advice.detachedhead",
];
/// Keys that make nothing run where they are off.
const PLAIN_WHEN_OFF: &[&str] = &["commit.gpgsign", "tag.gpgsign"];

/// A configuration that a call puts in place.
#[derive(Debug)]
pub struct CheckedConfig {
    folder: Folder,
    /// The path at which it is put.
    to: PathBuf,
    text: String,
    mode: u32,
    /// It takes the place of nothing but what a command of the session made.
    is_own: bool,
}

impl CheckedConfig {
    /// Reads the file that is renamed, where it makes nothing run. `is_own`: the command itself made what is there.
    fn read(to: &Path, is_own: bool) -> Option<Self> {
        let folder = folder_of(to)?;
        let (bytes, meta) = checked_bytes(&folder, LOCK).ok().filter(|(_, meta)| meta.nlink() == 1)?;
        let before = match checked_bytes(&folder, CONFIG) {
            _ if is_own => None,
            // One that is empty says nothing: `cargo new` makes it so first.
            Ok((before, _)) => Some(String::from_utf8(before).ok()?).filter(|before| !before.is_empty()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(_) => return None,
        };
        let text = String::from_utf8(bytes).ok()?;
        let (is_own, mode) = (before.is_none(), meta.mode() & 0o777);
        is_plain(&text, before.as_deref()).then(|| CheckedConfig { folder, to: to.into(), text, mode, is_own })
    }

    /// Puts it in place, as the call would have.
    ///
    /// # Errors
    /// When it cannot be written: nothing is changed.
    pub fn put(&self) -> Result<(), Refusal> {
        // Of this process alone: one that was killed meanwhile leaves its own, and nobody else's is touched.
        let new = format!("{CONFIG}.nebula-{}", process::id());
        let mut file = self.folder.make_file(&new, 0o600).map_err(|error| number(&error))?;
        let mut put = || {
            file.write_all(self.text.as_bytes())?;
            file.set_permissions(Permissions::from_mode(self.mode))?;
            self.folder.rename(&new, CONFIG)?;
            self.folder.remove_file(LOCK)
        };
        put().map_err(|error: io::Error| {
            let _ = self.folder.remove_file(&new);
            number(&error)
        })
    }
}

/// Returns whether a configuration is that of a repository: of what is no other program's, as far as names tell.
fn is_of_repository(path: &Path) -> bool {
    let above = path.parent();
    let is_named = above.and_then(Path::file_name).is_some_and(|name| name.as_encoded_bytes().ends_with(b".git"));
    is_named || above.is_some_and(|above| meta_at(&above.join("HEAD")).is_ok_and(|meta| meta.is_file()))
}

/// Opens the folder of a file without following a link.
fn folder_of(path: &Path) -> Option<Folder> {
    let above = path.parent()?.strip_prefix("/").ok()?;
    Folder::open(Path::new("/")).and_then(|root| root.descend(above)).ok()
}

/// Returns the bytes of a file that is no larger than what is checked.
fn checked_bytes(folder: &Folder, name: &str) -> io::Result<(Vec<u8>, Metadata)> {
    let mut bytes = Vec::new();
    let file = folder.open_file(name)?;
    (&file).take(LARGEST + 1).read_to_end(&mut bytes)?;
    let meta = file.metadata()?;
    if bytes.len() as u64 > LARGEST { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok((bytes, meta)) }
}

/// Returns the text of a configuration; none: there is none, or none that is checked.
fn text_of(path: &Path) -> Option<String> {
    String::from_utf8(checked_bytes(&folder_of(path)?, CONFIG).ok()?.0).ok()
}

/// The configurations of repositories that a command puts in place.
#[derive(Debug, Default)]
pub(super) struct RepositoryConfigs {
    /// The configuration that the present call puts in place.
    checked: Option<CheckedConfig>,
    /// The configurations of its own that the present call removes, moves or gives another mode.
    excused: HashSet<PathBuf>,
    /// The folder of the configuration of its own that the present call removes.
    removed: Option<Folder>,
    /// The configurations that the session's commands made, with their texts.
    own: HashMap<PathBuf, String>,
    /// The configurations among them that were made empty.
    emptied: HashSet<PathBuf>,
    /// The new configuration that the present call opens, and whether it is to be made empty.
    opened: Option<(PathBuf, bool)>,
}

impl RepositoryConfigs {
    /// Creates those of a command that has made none yet. `earlier`: those that other commands of its session made.
    pub fn new(earlier: Vec<MadeConfig>) -> Self {
        let own = earlier.into_iter().map(|made| (made.path, made.text)).collect();
        RepositoryConfigs { own, ..RepositoryConfigs::default() }
    }

    /// Forgets what is known of the last call.
    pub fn begin_call(&mut self) {
        (self.checked, self.opened, self.removed) = (None, None, None);
        self.excused.clear();
    }

    /// Notes the configuration that a rename puts in place, where it needs nobody's consent.
    pub fn check(&mut self, from: &Path, to: &Path) {
        let is_config = to.ends_with(CONFIG) && from.parent() == to.parent() && from.ends_with(LOCK);
        let is_checked = is_config && is_of_repository(to);
        self.checked = is_checked.then(|| CheckedConfig::read(to, self.is_own(to))).flatten();
    }

    /// Returns whether a command of the session made a configuration, and it is as it was made.
    fn is_own(&self, path: &Path) -> bool {
        self.own.get(path).is_some_and(|text| text_of(path).as_ref() == Some(text))
    }

    /// Notes that the present call gives a file another mode.
    pub fn excuse(&mut self, path: &Path) {
        if self.is_own(path) {
            self.excused.insert(path.to_path_buf());
        }
    }

    /// Notes that the present call removes a file. A configuration of its own is removed here.
    pub fn remove(&mut self, path: &Path) {
        self.removed = self.is_own(path).then(|| folder_of(path)).flatten();
        if self.removed.is_some() {
            self.excused.insert(path.to_path_buf());
        }
    }

    /// Removes the configuration that the present call removes. None: it removes none of its own.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn remove_own(&mut self) -> Option<Result<(), Refusal>> {
        let folder = self.removed.take()?;
        Some(folder.remove_file(CONFIG).map_err(|error| number(&error)))
    }

    /// Notes that the present call moves a file with a folder above it. Only what is called so that it is never opened
    /// unasked, at either place, is still what was checked: the folder of a bare repository can look like none meanwhile.
    pub fn carry(&mut self, from: &Path, to: &Path) {
        let is_named = |path: &Path| path.ends_with(NAMED);
        if is_named(from) && is_named(to) && self.is_own(from) && meta_at(to).is_err() {
            self.excused.extend([from.to_path_buf(), to.to_path_buf()]);
            self.own.extend(self.own.get(from).cloned().map(|text| (to.to_path_buf(), text)));
        }
    }

    /// Adds the configurations of its own that are there, for the commands that come after, and the writes into those that
    /// are still as empty as they were made: what a program wrote there itself is lost.
    pub fn add_to(&self, summary: &mut Summary, name: impl Fn(&Path) -> String) {
        let made = self.own.iter().filter(|(path, _)| self.is_own(path));
        summary.configs.extend(made.map(|(path, text)| MadeConfig { path: path.clone(), text: text.clone() }));
        for path in self.emptied.iter().filter(|path| meta_at(path).is_ok_and(|meta| meta.len() == 0)) {
            summary.unanswered += 1;
            summary.first_unanswered.get_or_insert_with(|| name(path));
        }
    }

    /// Notes that the present call opens a file that is not there.
    pub fn open(&mut self, path: &Path) {
        self.opened = path.ends_with(NAMED).then(|| (path.to_path_buf(), false));
    }

    /// Lets the configuration that the present call opens be made empty. Returns whether it opens this one.
    pub fn empty(&mut self, path: &Path) -> bool {
        let opened = self.opened.as_mut().filter(|(opened, _)| opened == path);
        opened.map(|(_, is_empty)| *is_empty = true).is_some()
    }

    /// Makes the empty configuration that the present call opens. None: it opens none, or it may write it.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn make_empty(&mut self) -> Option<Result<File, Refusal>> {
        let (path, _) = self.opened.take().filter(|(_, is_empty)| *is_empty)?;
        let made = folder_of(&path).ok_or(libc::EACCES).and_then(|folder| {
            let made = folder.make_file(CONFIG, 0o644).and_then(|_| folder.open_file(CONFIG));
            made.map_err(|error| number(&error))
        });
        self.emptied.insert(path.clone());
        self.own.insert(path, String::new());
        Some(made)
    }

    /// Takes out the configuration that the present call puts in place; none: it does something else.
    pub fn take(&mut self) -> Option<CheckedConfig> {
        let checked = self.checked.take()?;
        if checked.is_own {
            self.own.insert(checked.to.clone(), checked.text.clone());
        }
        Some(checked)
    }

    /// Returns whether what the present call does at a path needs nobody's consent.
    pub fn is_free(&self, path: &Path) -> bool {
        self.excused.contains(path) || self.checked.as_ref().is_some_and(|checked| checked.to == path)
    }
}

/// Returns whether a configuration makes nothing run and leads nowhere new. `before`: that of the repository that is there;
/// then the branches alone may be others, which follow its remotes.
fn is_plain(text: &str, before: Option<&str>) -> bool {
    let Some(entries) = entries(text) else { return false };
    let is_safe = |(key, value): &(String, String)| {
        let is_off = || PLAIN_WHEN_OFF.contains(&key.as_str()) && value == "false";
        // A `::` names a program of git that speaks with the other side.
        (PLAIN.contains(&general(key).as_str()) || is_off()) && !value.starts_with('-') && !value.contains("::")
    };
    let Some(before) = before else { return entries.iter().all(is_safe) };
    let Some(known) = self::entries(before) else { return false };
    let is_of_branch = |(key, _): &&(String, String)| key.starts_with("branch.");
    let others = |all: &[(String, String)]| all.iter().filter(|one| !is_of_branch(one)).cloned().collect::<Vec<_>>();
    let is_remote = |name: &str| name == "." || known.iter().any(|(key, _)| *key == format!("remote.{name}.url"));
    let new = entries.iter().filter(is_of_branch).filter(|entry| !known.contains(entry));
    let is_followed = |(key, value): &(String, String)| match general(key).as_str() {
        "branch.*.remote" => is_remote(value),
        "branch.*.merge" => value.starts_with("refs/"),
        "branch.*.rebase" => ["true", "false"].contains(&value.as_str()),
        _ => false,
    };
    others(&entries) == others(&known) && new.into_iter().all(is_followed)
}

/// Returns a key with `*` for the part of its section.
fn general(key: &str) -> String {
    match (key.find('.'), key.rfind('.')) {
        (Some(first), Some(last)) if first < last => format!("{}.*{}", &key[..first], &key[last..]),
        _ => key.to_string(),
    }
}

/// Returns the keys and values of a configuration, which has nothing that git reads in more than one way: no escapes,
/// quotes, comments behind values or continued lines. None: it has.
fn entries(text: &str) -> Option<Vec<(String, String)>> {
    let mut section = None;
    let mut found = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(['#', ';'])) {
        if let Some(head) = line.strip_prefix('[') {
            section = Some(section_of(head.strip_suffix(']')?)?);
            continue;
        }
        let (key, value) = line.split_once('=')?;
        let (key, value) = (key.trim().to_ascii_lowercase(), value.trim());
        let is_name = !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        if !is_name || value.contains(['\\', '"', '#', ';']) || value.contains(char::is_control) {
            return None;
        }
        found.push((format!("{}.{key}", section.as_ref()?), value.to_string()));
    }
    Some(found)
}

/// Returns the name of a section, `remote.origin` of `remote "origin"`.
fn section_of(head: &str) -> Option<String> {
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    let Some((word, part)) = head.split_once(' ') else { return is_word(head).then(|| head.to_ascii_lowercase()) };
    let part = part.strip_prefix('"')?.strip_suffix('"')?;
    let is_simple = is_word(word) && !part.contains(['\\', '"', '[', ']']) && !part.contains(char::is_control);
    is_simple.then(|| format!("{}.{part}", word.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const NEW: &str = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n";

    #[test]
    fn what_makes_nothing_run_is_plain() {
        let remote = "[remote \"origin\"]\n\turl = /srv/a.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n";
        let branch = "[branch \"a/b.c\"]\n\tremote = origin\n\tmerge = refs/heads/a/b.c\n";
        let all = format!("{NEW}{remote}{branch}");
        for (text, before) in
            [(NEW, None), (&all, None), (&all, Some(format!("{NEW}{remote}"))), (NEW, Some(NEW.into()))]
        {
            assert!(is_plain(text, before.as_deref()), "{text} {before:?}");
        }
        assert!(is_plain(&format!("{NEW}[commit]\n\tgpgsign = false\n"), None));
        // That a branch goes takes nothing from anyone.
        assert!(is_plain(&format!("{NEW}{remote}"), Some(&all)));
    }

    #[test]
    fn what_may_make_something_run_or_leads_elsewhere_is_not() {
        for more in [
            "[core]\n\tfsmonitor = x\n",
            "[core]\n\thooksPath = x\n",
            "[alias]\n\tst = !x\n",
            "[commit]\n\tgpgsign = true\n",
            "[include]\n\tpath = x\n",
            "[remote \"a\"]\n\tuploadpack = x\n",
            "[remote \"a\"]\n\turl = ext::sh -c x\n",
            "[remote \"a\"]\n\turl = -x\n",
            "[remote \"a\"] url = b\n",
            "[core] fsmonitor = x\n",
            "[remote \"a\"]\n\turl = a \\\n[core]\n",
            "[core]\n\tfilemode\n",
        ] {
            assert!(!is_plain(&format!("{NEW}{more}"), None), "{more}");
        }
        let remote = "[remote \"origin\"]\n\turl = https://example.com/a\n";
        for after in [
            "[remote \"origin\"]\n\turl = https://elsewhere.example/a\n".to_string(),
            format!("{remote}[remote \"b\"]\n\turl = b\n"),
            format!("{remote}[branch \"main\"]\n\tremote = https://elsewhere.example/a\n"),
            format!("{remote}[branch \"main\"]\n\tmergeoptions = x\n"),
            format!("{remote}[user]\n\tname = x\n"),
            String::new(),
        ] {
            assert!(!is_plain(&after, Some(remote)), "{after}");
        }
    }

    #[test]
    fn what_is_put_in_place_is_what_was_checked() {
        let dir = tempfile::tempdir().expect("a folder");
        let [from, to] = ["config.lock", "config"].map(|name| dir.path().join(name));
        fs::write(&from, NEW).expect("written");
        let checked = CheckedConfig::read(&to, false).expect("plain");
        // The caller holds it open still.
        fs::write(&from, "[core]\n\tfsmonitor = x\n").expect("written");
        let other = from.with_extension(format!("nebula-{}", process::id()));
        fs::write(&other, "someone's").expect("written");
        assert_eq!(checked.put(), Err(libc::EEXIST));
        assert_eq!((fs::read_to_string(&other).expect("there").as_str(), to.exists()), ("someone's", false));
        fs::remove_file(&other).expect("removed");
        checked.put().expect("put");
        assert_eq!((fs::read_to_string(&to).expect("there").as_str(), from.exists()), (NEW, false));
    }
}

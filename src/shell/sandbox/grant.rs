//! The grants of a command beyond the workspace, and the paths they come to on this machine.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use globset::Glob;
use serde::{Deserialize, Serialize};

use crate::workspace::worktree_folders;

/// Files under the home folder that no command may read.
const PRIVATE: &[&str] = &[
    ".ssh/*",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".netrc",
    ".docker/config.json",
    ".config/gh",
    ".config/gcloud",
    ".mozilla",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".config/vivaldi",
    ".config/opera",
    "snap/firefox",
    ".local/share/keyrings",
    ".password-store",
    ".git-credentials",
    ".config/git/credentials",
    ".cargo/credentials*",
    ".pypirc",
    ".pgpass",
    ".vault-token",
];
/// The files among them that hold no secret.
const NOT_PRIVATE: &[&str] = &[".ssh/known_hosts", ".ssh/config"];
/// Folders that programs fill from the network: the variable that names one, what lies in it, and where it is else.
const CACHES: &[(&str, &str, &str)] = &[
    ("CARGO_HOME", "registry", ".cargo/registry"),
    ("CARGO_HOME", "git", ".cargo/git"),
    ("CARGO_HOME", ".package-cache", ".cargo/.package-cache"),
    ("CARGO_HOME", ".package-cache-mutate", ".cargo/.package-cache-mutate"),
    ("CARGO_HOME", ".global-cache", ".cargo/.global-cache"),
    ("CARGO_HOME", ".global-cache-journal", ".cargo/.global-cache-journal"),
    ("npm_config_cache", "", ".npm"),
    ("XDG_CACHE_HOME", "", ".cache"),
    ("PNPM_HOME", "", ".local/share/pnpm"),
    ("GOMODCACHE", "", "go/pkg/mod"),
    ("GOCACHE", "", ".cache/go-build"),
    ("", "", ".m2"),
    ("", "", ".gradle/caches"),
];
/// The folders in which any program puts temporary files.
pub const TEMPORARY: &[&str] = &["/tmp", "/var/tmp", "/dev/shm"];
/// Devices that take everything and keep nothing, and terminals.
const DEVICES: &[&str] =
    &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts"];

/// The grants of a command's sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Grant {
    /// The command may read.
    Read,
    /// The command may write the workspace and temporary folders, and reach what the session's own commands serve.
    #[default]
    Workspace,
    /// The network as well, and the caches that are filled from it.
    Online,
}

impl Grant {
    /// Returns `read`, `workspace` or `online`.
    pub fn word(self) -> &'static str {
        match self {
            Grant::Read => "read",
            Grant::Workspace => "workspace",
            Grant::Online => "online",
        }
    }
}

/// The configuration of the sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SandboxSettings {
    /// `shell.sandbox` is `off`.
    pub off: bool,
    /// `shell.private`: more files under the home folder that no command may read, as globs.
    pub private: Vec<String>,
    /// `shell.caches`: more folders that a command with the network may write.
    pub caches: Vec<PathBuf>,
    /// `shell.ports`: ports on this machine that every command may reach.
    pub ports: Vec<u16>,
}

/// The paths of one command's sandbox, for its second stage and its guard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounds {
    /// The grants.
    pub grant: Grant,
    /// Folders and files that may be written.
    pub write: Vec<PathBuf>,
    /// The folders among them that are the person's, and outside the workspace.
    pub folders: Vec<PathBuf>,
    /// The session's folder for temporary files.
    pub temporary: PathBuf,
    /// The time when the session began, in nanoseconds since 1970: what is older in a temporary folder is not its own.
    pub since: u64,
    /// Files and folders that may not be read.
    pub private: Vec<PathBuf>,
    /// Paths that are readable also where a folder above them cannot be listed, so that its entries are not known.
    #[serde(default)]
    pub known: Vec<PathBuf>,
    /// Caches among what may not be written, also those that are not there yet.
    #[serde(default)]
    pub caches: Vec<PathBuf>,
    /// Folders in which sockets may be reached.
    pub sockets: Vec<PathBuf>,
    /// Ports on this machine that may be reached whoever listens there.
    pub ports: Vec<u16>,
    /// Writes beyond them are only named, as the person switched the sandbox off.
    #[serde(default)]
    pub names_only: bool,
}

impl Bounds {
    /// Takes away what a view does not cover: folders outside the workspace that may be written.
    pub fn keep_to_view(&mut self) {
        let folders = std::mem::take(&mut self.folders);
        self.write.retain(|path| !folders.contains(path));
        self.sockets.clear();
    }
}

/// The inputs for finding the paths.
pub struct Surroundings<'a> {
    /// The workspace's root.
    pub root: &'a Path,
    /// The folders outside it that the person lets commands write.
    pub folders: &'a [PathBuf],
    /// The folder for temporary files of this session.
    pub temporary: &'a Path,
    /// The time when the session began, in nanoseconds since 1970.
    pub since: u64,
    /// Nebula's own folder.
    pub own: Option<&'a Path>,
    /// The variables of nebula itself.
    pub variables: &'a BTreeMap<String, String>,
}

/// Returns the paths of a grant. What does not exist now has none.
pub fn bounds(grant: Grant, settings: &SandboxSettings, around: &Surroundings<'_>) -> Bounds {
    let home = around.variables.get("HOME").map(PathBuf::from);
    let mut write: Vec<PathBuf> = DEVICES.iter().map(PathBuf::from).collect();
    write.push(around.temporary.to_path_buf());
    let (mut sockets, mut folders) = (Vec::new(), Vec::new());
    if grant != Grant::Read {
        write.push(around.root.to_path_buf());
        write.extend(TEMPORARY.iter().map(PathBuf::from));
        folders.extend(around.folders.iter().cloned());
        write.extend(folders.iter().cloned());
        write.extend(worktree_folders(around.root));
        sockets.extend([around.root.to_path_buf(), around.temporary.to_path_buf()]);
    }
    if grant == Grant::Online {
        write.extend(settings.caches.iter().cloned());
        write.extend(caches(home.as_deref(), around.variables));
        sockets.extend(around.variables.get("SSH_AUTH_SOCK").map(PathBuf::from));
    }
    let mut real = RealPaths::default();
    let private = real.all(private_names(settings, around.own, home.as_deref()));
    let (temporary, since) = (around.temporary.to_path_buf(), around.since);
    let mut known = caches(home.as_deref(), around.variables);
    let all = known.iter().chain(&settings.caches).map(|path| real.or_new(path));
    let caches = all.filter(|path| path.to_str().is_some()).collect();
    known.extend(worktree_folders(around.root));
    known.extend(home);
    known.push(around.root.to_path_buf());
    known.extend(around.variables.get("PATH").into_iter().flat_map(std::env::split_paths));
    let [write, folders, sockets, known] = [write, folders, sockets, known].map(|paths| real.all(paths));
    let (ports, names_only) = (settings.ports.clone(), settings.off);
    Bounds { grant, write, folders, temporary, since, private, known, caches, sockets, ports, names_only }
}

/// Returns the files and folders that no command may read, by nebula's own folder and the home folder.
pub fn private(settings: &SandboxSettings, own: Option<&Path>, home: Option<&Path>) -> Vec<PathBuf> {
    RealPaths::default().all(private_names(settings, own, home))
}

fn private_names(settings: &SandboxSettings, own: Option<&Path>, home: Option<&Path>) -> Vec<PathBuf> {
    let mut private: Vec<PathBuf> = own.map(Path::to_path_buf).into_iter().collect();
    if let Some(home) = home {
        let globs = PRIVATE.iter().copied().chain(settings.private.iter().map(String::as_str));
        private.extend(globs.flat_map(|glob| expand(home, glob)));
        private.retain(|path| !NOT_PRIVATE.iter().any(|name| *path == home.join(name)));
    }
    // What has no text cannot be told to the helper: the folder around it is private then.
    let nameable = |path: PathBuf| path.ancestors().find(|path| path.to_str().is_some()).map(Path::to_path_buf);
    private.into_iter().filter_map(nameable).collect()
}

/// The paths looked at so far, without links in them; none: it does not exist. Most that are looked for lie in a few
/// folders, each of which is looked at once.
#[derive(Default)]
struct RealPaths(HashMap<PathBuf, Option<PathBuf>>);

impl RealPaths {
    /// Returns a path without links in it; none: it does not exist.
    fn of(&mut self, path: &Path) -> Option<PathBuf> {
        if let Some(known) = self.0.get(path) {
            return known.clone();
        }
        let real = match (path.parent(), path.file_name()) {
            (Some(folder), Some(name)) if path.is_absolute() => self.of(folder).and_then(|folder| entry(&folder, name)),
            _ => path.canonicalize().ok(),
        };
        self.0.insert(path.to_path_buf(), real.clone());
        real
    }

    /// Returns a path without links in it, as far as it exists.
    fn or_new(&mut self, path: &Path) -> PathBuf {
        let mut there = || Some(self.of(path.parent()?)?.join(path.file_name()?));
        there().and_then(|new| self.of(path).or(Some(new))).unwrap_or_else(|| path.to_path_buf())
    }

    /// Returns the paths that exist, each once.
    fn all(&mut self, paths: Vec<PathBuf>) -> Vec<PathBuf> {
        let mut real: Vec<PathBuf> = paths.iter().filter_map(|path| self.of(path)).collect();
        real.retain(|path| path.to_str().is_some());
        real.sort();
        real.dedup();
        real
    }
}

/// Returns an entry of a folder without links in its path; none: there is none.
fn entry(folder: &Path, name: &OsStr) -> Option<PathBuf> {
    let path = folder.join(name);
    match fs::symlink_metadata(&path).ok()?.is_symlink() {
        true => path.canonicalize().ok(),
        false => Some(path),
    }
}

fn caches(home: Option<&Path>, variables: &BTreeMap<String, String>) -> Vec<PathBuf> {
    let one = |(variable, inside, else_in): &(&str, &str, &str)| match variables.get(*variable) {
        Some(named) if !named.is_empty() => Some(Path::new(named).join(inside)),
        _ => home.map(|home| home.join(else_in)),
    };
    CACHES.iter().filter_map(one).collect()
}

/// Returns the files below a folder that a glob of names separated by `/` matches; `**` at its end is everything. A folder
/// that would have to be listed, and cannot be, stands for all in it.
fn expand(folder: &Path, glob: &str) -> Vec<PathBuf> {
    let (mut found, mut unlisted) = (vec![folder.to_path_buf()], Vec::new());
    for part in glob.trim_matches('/').split('/').filter(|part| *part != "**") {
        found = match part.contains(['*', '?', '[', '{']) {
            false => found.into_iter().map(|folder| folder.join(part)).collect(),
            true => match Glob::new(part).map(|glob| glob.compile_matcher()) {
                Ok(glob) => {
                    let (lists, others): (Vec<_>, Vec<_>) =
                        found.into_iter().map(|folder| entries(&folder).ok_or(folder)).partition(Result::is_ok);
                    // A file has no entries either, and is none of those that are meant.
                    unlisted.extend(others.into_iter().filter_map(Result::err).filter(|path| path.is_dir()));
                    let all = lists.into_iter().flatten().flatten();
                    all.filter(|path| name_matches(path, &glob)).collect()
                }
                Err(_) => Vec::new(),
            },
        };
    }
    // Of the outermost one known entries alone are readable.
    found.extend(unlisted.into_iter().filter(|unlisted| unlisted != folder));
    found
}

fn name_matches(path: &Path, glob: &globset::GlobMatcher) -> bool {
    path.file_name().is_some_and(|name| glob.is_match(name))
}

/// Returns the entries of a folder; none: it cannot be listed.
pub fn entries(folder: &Path) -> Option<Vec<PathBuf>> {
    Some(fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn real_paths_are_those_that_the_system_finds() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path().canonicalize().expect("real");
        fs::create_dir_all(root.join("a/b")).expect("made");
        fs::write(root.join("a/file"), "").expect("written");
        for (to, name) in
            [("a", "way"), ("way/b", "far"), ("nothing", "broken"), ("round", "round"), ("../file", "a/b/up")]
        {
            std::os::unix::fs::symlink(to, root.join(name)).expect("linked");
        }
        let names =
            ["", "a", "a/b", "way/b", "far", "far/up", "way/b/up", "a/b/../file", "far/../file", "broken", "round/x"];
        let (mut real, missing) = (RealPaths::default(), ["a/none", "a/none/below", "a/file/below", "broken/x"]);
        for name in names.iter().chain(&missing) {
            let path = root.join(name);
            assert_eq!(real.of(&path), path.canonicalize().ok(), "{name}");
        }
        assert_eq!(real.or_new(&root.join("way/new")), root.join("a/new"));
        assert_eq!(real.or_new(&root.join("none/new")), root.join("none/new"));
        assert_eq!(real.or_new(&root.join("way")), root.join("a"));
    }

    #[test]
    fn private_files_are_named_one_by_one_and_caches_by_their_variables() {
        let dir = tempfile::tempdir().expect("a folder");
        let home = dir.path().canonicalize().expect("real");
        for folder in [".ssh", ".aws", "work", "tmp", "own", "store/registry", ".npm", "vault"] {
            fs::create_dir_all(home.join(folder)).expect("made");
        }
        for file in [".ssh/id_ed25519", ".ssh/known_hosts", "work/x", "vault/a.pem", "vault/b.txt"] {
            fs::write(home.join(file), "").expect("written");
        }
        let variables = BTreeMap::from([
            ("HOME".to_string(), home.display().to_string()),
            ("CARGO_HOME".to_string(), home.join("store").display().to_string()),
        ]);
        let settings = SandboxSettings { private: vec!["vault/*.pem".into()], ..SandboxSettings::default() };
        let of = |grant| {
            let (root, temporary, own) = (home.join("work"), home.join("tmp"), home.join("own"));
            let around = Surroundings {
                root: &root,
                folders: &[],
                temporary: &temporary,
                since: 0,
                own: Some(&own),
                variables: &variables,
            };
            bounds(grant, &settings, &around)
        };
        let inside = |paths: &[PathBuf]| -> Vec<String> {
            paths.iter().filter_map(|p| Some(p.strip_prefix(&home).ok()?.display().to_string())).collect()
        };
        assert_eq!(inside(&of(Grant::Workspace).private), [".aws", ".ssh/id_ed25519", "own", "vault/a.pem"]);
        assert_eq!(inside(&of(Grant::Read).write), ["tmp"]);
        assert_eq!(inside(&of(Grant::Workspace).write), ["tmp", "work"]);
        assert_eq!(inside(&of(Grant::Online).write), [".npm", "store/registry", "tmp", "work"]);
        assert!(of(Grant::Read).sockets.is_empty());
        fs::write(home.join("notes"), "").expect("written");
        assert_eq!(expand(&home, "*/*.pem"), [home.join("vault/a.pem")]);
    }
}

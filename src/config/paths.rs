//! The places of nebula's own files, and the environment: the only reader of either.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::disk::{self, Folder};

/// The environment as it was at the start. Holds keys: its `Debug` output shows names alone.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Variables(BTreeMap<String, String>);

impl Variables {
    /// Takes the process's environment down. Variables that are not UTF-8 are left out.
    pub fn capture() -> Self {
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        Self(std::env::vars_os().filter_map(text).collect())
    }

    /// Returns every variable.
    pub fn all(&self) -> impl Iterator<Item = (String, String)> + '_ {
        self.0.iter().map(|(name, value)| (name.clone(), value.clone()))
    }

    /// Returns the value of a variable; one that is empty or blank counts as not set.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(|value| value.trim()).filter(|value| !value.is_empty())
    }
}

impl<K: Into<String>, V: Into<String>> FromIterator<(K, V)> for Variables {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        Self(pairs.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

impl std::fmt::Debug for Variables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// Returns this program's own file. On Linux the one that runs, whatever took its place on the disk since.
pub(super) fn program() -> PathBuf {
    if cfg!(target_os = "linux") {
        return PathBuf::from("/proc/self/exe");
    }
    std::env::current_exe().unwrap_or_else(|_| PathBuf::from("nebula"))
}

/// The home folder and nebula's own folder in it. Either may be missing: then nothing is stored, and nebula works on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Paths {
    home: Option<PathBuf>,
    folder: Option<PathBuf>,
}

impl Paths {
    /// Reads `HOME` (on Windows `USERPROFILE`) and `NEBULA_HOME`, which names nebula's folder.
    pub fn from_env(env: &Variables) -> Self {
        let home = env.get("HOME").or_else(|| env.get("USERPROFILE")).map(PathBuf::from);
        let folder = env.get("NEBULA_HOME").map(PathBuf::from).or_else(|| Some(home.as_ref()?.join(".nebula")));
        Self { home, folder }
    }

    /// Returns the same for this process: a home folder that does not exist is not made, and nothing is stored in it.
    pub fn of_process(env: &Variables) -> Self {
        let paths = Self::from_env(env);
        let is_missing = env.get("NEBULA_HOME").is_none() && paths.home.as_ref().is_some_and(|home| !home.is_dir());
        Self { folder: paths.folder.filter(|_| !is_missing), ..paths }
    }

    /// Returns both in a folder of the caller's choice, as tests want it: the home itself, and `.nebula` in it.
    pub fn below(home: &Path) -> Self {
        Self { home: Some(home.into()), folder: Some(home.join(".nebula")) }
    }

    /// Returns the person's home folder.
    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// Returns nebula's own folder; it need not exist yet.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Returns a file or folder in nebula's own folder: `config.json`, `keys.toml`, `memory.db`, `themes`, `prompts`,
    /// `locks`.
    pub fn own(&self, name: &str) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(name))
    }

    /// Returns the person's configuration file.
    pub fn config(&self) -> Option<PathBuf> {
        self.own("config.json")
    }

    /// Removes temporary files of processes that ended while they replaced a file of the folder: configurations with
    /// keys among them. Where one cannot be removed now, a later start removes it.
    pub fn sweep(&self) {
        let Some(folder) = self.folder().and_then(|folder| Folder::open(folder).ok()) else { return };
        let names = folder.names().unwrap_or_default();
        let left_over = |name: &&std::ffi::OsString| {
            name.to_str().is_some_and(|name| disk::is_left_over(name) && !disk::is_of_this_process(name))
        };
        names.iter().filter(left_over).for_each(|name| drop(folder.remove_file(name)));
    }

    /// Returns `path` as a person writes it: `~/…` below the home folder.
    pub fn short(&self, path: &Path) -> String {
        match self.home.as_ref().and_then(|home| path.strip_prefix(home).ok()) {
            Some(rest) if rest.as_os_str().is_empty() => "~".into(),
            Some(rest) => format!("~/{}", rest.display()),
            None => path.display().to_string(),
        }
    }
}

/// Returns the configuration file of a workspace.
pub fn workspace_config(root: &Path) -> PathBuf {
    root.join(".nebula").join("config.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nebula_home_moves_the_folder_alone() {
        let paths = Paths::from_env(&[("HOME", "/h"), ("NEBULA_HOME", "/n")].into_iter().collect());
        assert_eq!(paths.config(), Some(PathBuf::from("/n/config.json")));
        assert_eq!(paths.home(), Some(Path::new("/h")));
        let paths = Paths::from_env(&[("HOME", "/h"), ("NEBULA_HOME", " ")].into_iter().collect());
        assert_eq!(paths.folder(), Some(Path::new("/h/.nebula")));
        assert_eq!(Paths::from_env(&Variables::default()), Paths::default());
    }

    #[test]
    fn temporary_files_of_processes_that_ended_are_swept() {
        let dir = tempfile::tempdir().expect("a folder");
        let paths = Paths::below(dir.path());
        paths.sweep();
        let folder = dir.path().join(".nebula");
        std::fs::create_dir(&folder).expect("made");
        let own = disk::temp_name();
        for name in [".nebula-tmp-2147483600-1-a", &own, "config.json"] {
            std::fs::write(folder.join(name), "{}").expect("written");
        }
        paths.sweep();
        let names = std::fs::read_dir(&folder).expect("listed").flatten().map(|entry| entry.file_name());
        let names: std::collections::BTreeSet<_> = names.collect();
        assert_eq!(names, [own.as_str(), "config.json"].map(std::ffi::OsString::from).into());
    }

    #[test]
    fn a_home_that_does_not_exist_is_none() {
        let dir = tempfile::tempdir().expect("a folder");
        let home = dir.path().display().to_string();
        let folder = |home: &str| Paths::of_process(&[("HOME", home)].into_iter().collect()).folder;
        assert_eq!(folder(&home), Some(dir.path().join(".nebula")));
        let gone = format!("{home}/gone");
        assert_eq!(folder(&gone), None);
        let chosen = Paths::of_process(&[("HOME", gone.as_str()), ("NEBULA_HOME", "/n")].into_iter().collect());
        assert_eq!(chosen.folder(), Some(Path::new("/n")));
    }

    #[test]
    fn debug_output_shows_no_values() {
        let env: Variables = [("OPENAI_API_KEY", "sk-secret")].into_iter().collect();
        assert_eq!(format!("{env:?}"), "{\"OPENAI_API_KEY\"}");
    }

    #[test]
    fn paths_shorten_below_the_home() {
        let paths = Paths::below(Path::new("/h/me"));
        assert_eq!(paths.short(Path::new("/h/me/a/b")), "~/a/b");
        assert_eq!(paths.short(Path::new("/h/you")), "/h/you");
        assert_eq!(paths.short(Path::new("/h/me")), "~");
    }
}

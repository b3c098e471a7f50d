//! Classifies paths for a keeper.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::PoisonError;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde::{Deserialize, Serialize};

use crate::archive::Archive;
use crate::workspace::{Ignores, Workspace, is_one_of, worktree_folders};

/// Names of folders that a program fills for itself, where git ignores them.
const CACHES: &[&str] = &["__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".tox", ".next", ".gradle"];
/// Nebula's own folders in the workspace.
const OWN: &[&str] = &[".shaft", ".nebula"];
/// Folders of a repository that only ever gain files.
const GIT_ONLY_GROWS: &[&str] = &["objects", "lfs"];

/// The class of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathClass {
    /// Its state is staged before it is changed.
    Kept,
    /// Nebula's own: no command may change it.
    Refused,
    /// The path is in this folder (normalised), which can be rebuilt: not archived.
    Derived(String),
    /// The configuration leaves it out of the archive, by this glob.
    Excluded(String),
    /// The path is not in the workspace.
    Outside,
}

/// The configured places.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PlaceSettings {
    /// `shell.derived`: more folders that can be rebuilt, as globs.
    pub derived: Vec<String>,
    /// `shell.kept`: folders that are archived though they look derived.
    pub archived: Vec<String>,
}

/// The limits on copies of what is changed in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyLimits {
    /// The largest file.
    pub file: u64,
    /// All of one command's together.
    pub total: u64,
}

impl Default for CopyLimits {
    fn default() -> Self {
        CopyLimits { file: 64 << 20, total: 2 << 30 }
    }
}

/// Tells what paths are, for one command.
pub struct PathClasses {
    root: PathBuf,
    /// The folder that the worktrees of its repository share, where it is a linked one.
    linked: Option<PathBuf>,
    archive: Archive,
    /// The archive, which may lie elsewhere.
    own: PathBuf,
    /// Folders that no path may point into, nebula's own among them.
    protected: Vec<PathBuf>,
    ignores: Ignores,
    derived: GlobSet,
    archived: GlobSet,
    /// The derived folder that holds each folder, or is it.
    known: Mutex<HashMap<PathBuf, Option<PathBuf>>>,
}

impl PathClasses {
    /// Creates the classes of a workspace.
    pub fn new(workspace: &Workspace, archive: &Archive, settings: &PlaceSettings) -> Self {
        let root = workspace.root().to_path_buf();
        PathClasses {
            own: archive.folder().to_path_buf(),
            protected: workspace.protected().to_vec(),
            archive: archive.clone(),
            ignores: Ignores::new(&root),
            linked: worktree_folders(&root).pop(),
            derived: globs(&settings.derived),
            archived: globs(&settings.archived),
            known: Mutex::default(),
            root,
        }
    }

    /// Returns the workspace's root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns what an absolute path is, its links followed already. `is_folder`: whether it is one, or is about to be.
    pub fn of(&self, path: &Path, is_folder: bool) -> PathClass {
        if path.starts_with(&self.own) || self.protected.iter().any(|folder| path.starts_with(folder)) {
            return PathClass::Refused;
        }
        let Ok(inside) = path.strip_prefix(&self.root) else { return self.of_linked(path) };
        let own = inside.components().position(|part| is_one_of(part.as_os_str(), OWN));
        if own == Some(0) {
            return PathClass::Refused;
        }
        if let Some(folder) = self.derived_above(inside, is_folder) {
            return PathClass::Derived(format!("{}/", folder.display()));
        }
        // Those of a workspace within this one; what can be rebuilt holds none but of tests.
        if own.is_some() {
            return PathClass::Refused;
        }
        match self.archive.excluded_by(&inside.to_string_lossy()) {
            Some(glob) => PathClass::Excluded(glob.to_string()),
            None => PathClass::Kept,
        }
    }

    /// Returns what a path outside the workspace is: of the repository of a linked worktree all is kept as in `.git`.
    fn of_linked(&self, path: &Path) -> PathClass {
        match self.in_linked(path).and_then(|inside| inside.components().next()) {
            None => PathClass::Outside,
            Some(first) if GIT_ONLY_GROWS.iter().any(|name| first.as_os_str() == *name) => {
                let folder = self.linked.as_ref().map(|shared| shared.join(first)).unwrap_or_default();
                PathClass::Derived(format!("{}/", folder.display()))
            }
            Some(_) => PathClass::Kept,
        }
    }

    /// Returns the path below the repository of a linked worktree; none: it lies elsewhere.
    pub fn in_linked<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        path.strip_prefix(self.linked.as_ref()?).ok()
    }

    /// Returns the outermost derived folder that holds a path or is it.
    fn derived_above(&self, inside: &Path, is_folder: bool) -> Option<PathBuf> {
        let folder = if is_folder { inside } else { inside.parent()? };
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = None;
        let mut unknown = Vec::new();
        for folder in folder.ancestors().filter(|folder| !folder.as_os_str().is_empty()) {
            if let Some(derived) = known().get(folder) {
                found = derived.clone();
                break;
            }
            unknown.push(folder);
        }
        // Proof may appear later: a folder that is not derived now is checked again by the next command.
        for folder in unknown.into_iter().rev() {
            found = found.or_else(|| self.looks_derived(folder).then(|| folder.to_path_buf()));
            known().insert(folder.to_path_buf(), found.clone());
        }
        found
    }

    fn looks_derived(&self, folder: &Path) -> bool {
        if self.archived.is_match(folder) {
            return false;
        }
        if self.derived.is_match(folder) {
            return true;
        }
        let full = self.root.join(folder);
        let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let beside = |file: &str| full.parent().is_some_and(|above| above.join(file).is_file());
        if folder.to_str().is_some_and(holds_objects) {
            return true;
        }
        let proof = CACHES.contains(&name)
            || name == "target" && beside("Cargo.toml")
            || name == "node_modules" && beside("package.json")
            || full.join("pyvenv.cfg").is_file()
            || full.join("CACHEDIR.TAG").is_file();
        proof && self.ignores.leaves_out(&full, true)
    }
}

/// Returns whether a folder, with its closing `/` or without, holds the objects of a repository, the workspace's own or
/// one within it. They only ever grow: what is added needs no keeping, what goes is nowhere else. An absolute one is of
/// the repository of a linked worktree, which may have any name.
pub fn holds_objects(folder: &str) -> bool {
    let mut parts = folder.trim_end_matches('/').rsplit('/');
    let last = parts.next().unwrap_or_default();
    GIT_ONLY_GROWS.contains(&last) && (folder.starts_with('/') || parts.next() == Some(".git"))
}

/// Returns a set of globs; broken ones are left out, which the reading of the configuration has said.
fn globs(texts: &[String]) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    for text in texts {
        let anywhere = if text.contains('/') { text.trim_matches('/').to_string() } else { format!("**/{text}") };
        if let Ok(glob) = GlobBuilder::new(&anywhere).literal_separator(true).build() {
            set.add(glob);
        }
    }
    set.build().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::archive::ArchiveSettings;

    #[test]
    fn a_folder_is_derived_only_with_proof_and_ignored_by_git() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path().canonicalize().expect("real");
        for folder in ["target/debug", "out/target", "node_modules/x", "tagged", ".git/objects/aa", ".git/refs"] {
            fs::create_dir_all(root.join(folder)).expect("made");
        }
        fs::write(root.join("Cargo.toml"), "").expect("written");
        fs::write(root.join("tagged/CACHEDIR.TAG"), "").expect("written");
        fs::write(root.join(".gitignore"), "target\ntagged\n*.log\n.env\n").expect("written");
        let workspace = Workspace::open(&root).expect("open");
        let archive =
            Archive::open(&workspace, &ArchiveSettings { exclude: vec!["*.big".into()], folder: None }).expect("open");
        let places = PathClasses::new(&workspace, &archive, &PlaceSettings::default());
        let of = |path: &str| places.of(&root.join(path), false);
        assert_eq!(of("target/debug/a"), PathClass::Derived("target/".into()));
        assert_eq!(of("tagged/x"), PathClass::Derived("tagged/".into()));
        assert_eq!(of(".git/objects/aa/b"), PathClass::Derived(".git/objects/".into()));
        // No Cargo.toml beside it; no package.json and not ignored; ignored without being rebuilt.
        for path in ["out/target/x", "node_modules/x/y", "a.log", ".env", ".git/refs/x", ".git/index", "src/a.rs"] {
            assert_eq!(of(path), PathClass::Kept, "{path}");
        }
        assert_eq!(places.of(&root.join("target"), true), PathClass::Derived("target/".into()));
        assert_eq!(of("target"), PathClass::Kept);
        assert_eq!(of(".shaft/lock"), PathClass::Refused);
        assert_eq!(of(".nebula/x"), PathClass::Refused);
        assert_eq!(of(".Shaft/archives/x"), PathClass::Refused);
        // Of a workspace within it, too.
        assert_eq!(of("src/.shaft/x"), PathClass::Refused);
        assert_eq!(of("src/a/.nebula"), PathClass::Refused);
        assert_eq!(of("target/tmp/.nebula/x"), PathClass::Derived("target/".into()));
        assert_eq!(of("x.big"), PathClass::Excluded("*.big".into()));
        assert_eq!(places.of(Path::new("/etc/hosts"), false), PathClass::Outside);
        for (folder, holds) in [
            (".git/objects/", true),
            ("sub/.git/lfs", true),
            ("sub/.git/objects", true),
            ("sub/x.git/objects", false),
            (".git/modules/a/objects", false),
            ("/home/me/repo.git/objects/", true),
            ("/home/me/repo.git/lfs", true),
            ("target/", false),
        ] {
            assert_eq!(holds_objects(folder), holds, "{folder}");
        }
        let settings = PlaceSettings { derived: vec!["out".into()], archived: vec!["target".into()] };
        let places = PathClasses::new(&workspace, &archive, &settings);
        assert_eq!(places.of(&root.join("out/x"), false), PathClass::Derived("out/".into()));
        assert_eq!(places.of(&root.join("target/x"), false), PathClass::Kept);
    }
}

//! Classifies paths for a keeper.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::PoisonError;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde::{Deserialize, Serialize};

use crate::archive::Archive;
use crate::text::name;
use crate::workspace::{Ignores, OutsideFolder, RootFolder, Workspace, is_one_of, is_worktree_file, worktree_proof};

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
    /// The folder that the root was when these were made.
    root_folder: RootFolder,
    /// Folders outside the root that are kept too, each with its ignore rules.
    outside: Vec<(OutsideFolder, Ignores)>,
    /// The private files and folders in them.
    private: Vec<PathBuf>,
    archive: Archive,
    /// The archive, which may lie elsewhere.
    own: PathBuf,
    /// The file by which the repository of a linked worktree says that the root is one.
    proof: Option<PathBuf>,
    /// Folders that no path may point into, nebula's own among them.
    protected: Vec<PathBuf>,
    ignores: Ignores,
    derived: GlobSet,
    archived: GlobSet,
    /// The derived folder that holds each folder, or is it; all are absolute.
    known: Mutex<HashMap<PathBuf, Option<PathBuf>>>,
}

impl PathClasses {
    /// Creates the classes of a workspace.
    pub fn new(workspace: &Workspace, archive: &Archive, settings: &PlaceSettings) -> Self {
        let root = workspace.root().to_path_buf();
        PathClasses {
            own: archive.folder().to_path_buf(),
            proof: worktree_proof(&root),
            root_folder: RootFolder::at(&root),
            protected: workspace.protected().iter().cloned().chain(views_in_memory()).collect(),
            archive: archive.clone(),
            ignores: Ignores::new(&root),
            outside: workspace.outside().into_iter().map(with_ignores).collect(),
            private: workspace.private().to_vec(),
            derived: globs(&settings.derived),
            archived: globs(&settings.archived),
            known: Mutex::default(),
            root,
        }
    }

    /// Returns the classes as they are where the files of a layer lie over those of the workspace.
    pub fn over(&self, layer: &Path) -> Self {
        PathClasses {
            root: self.root.clone(),
            root_folder: self.root_folder.clone(),
            outside: self.outside.iter().map(|(outside, _)| with_ignores(outside.clone())).collect(),
            private: self.private.clone(),
            archive: self.archive.clone(),
            own: self.own.clone(),
            proof: self.proof.clone(),
            protected: self.protected.clone(),
            ignores: Ignores::new(&self.root).over(&self.root, layer),
            derived: self.derived.clone(),
            archived: self.archived.clone(),
            known: Mutex::default(),
        }
    }

    /// Returns the workspace's root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns whether the root is the folder that it was when these were made: of another one in its place nothing is
    /// known.
    pub fn is_root_in_place(&self) -> bool {
        self.root_folder.is_in_place()
    }

    /// Returns the archive that keeps its files.
    pub fn archive(&self) -> &Archive {
        &self.archive
    }

    /// Returns what an absolute path is, its links followed already. `is_folder`: whether it is one, or is about to be.
    pub fn of(&self, path: &Path, is_folder: bool) -> PathClass {
        if below(path, &self.own).is_some() || self.protected.iter().any(|folder| below(path, folder).is_some()) {
            return PathClass::Refused;
        }
        let Some(inside) = below(path, &self.root) else { return self.of_outside(path, is_folder) };
        let own = inside.components().position(|part| is_one_of(part.as_os_str(), OWN));
        if own == Some(0) {
            return PathClass::Refused;
        }
        match self.kept_or_derived(path, is_folder, &self.root, &self.ignores) {
            // Those of a workspace within this one; what can be rebuilt holds none but of tests.
            PathClass::Kept | PathClass::Excluded(_) if own.is_some() => PathClass::Refused,
            class => class,
        }
    }

    /// Returns what an absolute path is to a keeper that refuses nothing: what a nebula of a folder below the root reads in
    /// `.nebula` is the person's, and kept. Of its archive nothing could be brought back.
    pub fn of_looked_at(&self, path: &Path, is_folder: bool) -> PathClass {
        let class = self.of(path, is_folder);
        let Ok(inside) = path.strip_prefix(&self.root) else { return class };
        let own = |names: &[&str]| inside.components().position(|part| is_one_of(part.as_os_str(), names));
        let is_ours = path.starts_with(&self.own) || self.protected.iter().any(|folder| path.starts_with(folder));
        let is_inner = own(&[".nebula"]).is_some_and(|at| at > 0) && own(&[".shaft"]).is_none();
        match class {
            PathClass::Refused if is_inner && !is_ours => {
                self.kept_or_derived(path, is_folder, &self.root, &self.ignores)
            }
            class => class,
        }
    }

    /// Returns what a path outside the workspace is: kept where the configuration lets commands write, and of the
    /// repository of a linked worktree, as in `.git`.
    fn of_outside(&self, path: &Path, is_folder: bool) -> PathClass {
        let Some((outside, ignores)) = self.outside_of(path) else { return PathClass::Outside };
        let inside = path.strip_prefix(&outside.folder).unwrap_or(path);
        if outside.is_repository {
            let first =
                inside.components().next().filter(|first| GIT_ONLY_GROWS.iter().any(|name| first.as_os_str() == *name));
            return first.map_or(PathClass::Kept, |first| self.derived(&outside.folder.join(first)));
        }
        let is_own = inside.components().any(|part| is_one_of(part.as_os_str(), OWN));
        if is_own || self.is_private(path) {
            return PathClass::Refused;
        }
        self.kept_or_derived(path, is_folder, &outside.folder, ignores)
    }

    /// Returns whether a path is what proves that the root is a worktree, which no command has to change.
    pub fn is_proof(&self, path: &Path) -> bool {
        self.proof.as_ref().is_some_and(|proof| proof == path && is_worktree_file(proof))
    }

    /// Returns whether a path, once it has another name or none, takes away what proves that the root is a worktree: nothing
    /// of the repository could be brought back then.
    pub fn holds_proof(&self, path: &Path) -> bool {
        self.proof.as_ref().is_some_and(|proof| below(proof, path).is_some())
    }

    /// Returns whether a path is private, in a folder outside the workspace that commands may write.
    pub fn is_private(&self, path: &Path) -> bool {
        !path.starts_with(&self.root) && self.private.iter().any(|private| path.starts_with(private))
    }

    fn kept_or_derived(&self, path: &Path, is_folder: bool, base: &Path, ignores: &Ignores) -> PathClass {
        if let Some(folder) = self.derived_above(path, is_folder, base, ignores) {
            return self.derived(&folder);
        }
        match self.archive.excluded_by(&self.name(path)) {
            Some(glob) => PathClass::Excluded(glob.to_string()),
            None => PathClass::Kept,
        }
    }

    fn derived(&self, folder: &Path) -> PathClass {
        PathClass::Derived(format!("{}/", self.name(folder)))
    }

    fn outside_of(&self, path: &Path) -> Option<&(OutsideFolder, Ignores)> {
        self.outside.iter().find(|(outside, _)| path.starts_with(&outside.folder))
    }

    /// Returns the normalised path of an absolute one: relative to the root, or as it is archived outside of that.
    pub fn name(&self, path: &Path) -> String {
        let inside = below(path, &self.root);
        let outside = || self.outside_of(path).and_then(|(outside, _)| outside.name_of(path));
        let text = |path: &Path| name::text_of(path.as_os_str()).into_owned();
        inside.map(text).or_else(outside).unwrap_or_else(|| text(path))
    }

    /// Returns the folders outside the root that are kept, as they lie on disk.
    pub fn outside(&self) -> impl Iterator<Item = &Path> {
        self.outside.iter().map(|(outside, _)| outside.folder.as_path())
    }

    /// Returns the folder from which a path is looked at: the root, or the one outside that holds it.
    pub fn base_of(&self, path: &Path) -> &Path {
        let outside = || self.outside_of(path).map(|(outside, _)| outside.folder.as_path());
        if path.starts_with(&self.root) { &self.root } else { outside().unwrap_or(&self.root) }
    }

    /// Returns whether a folder is one from which others are looked at: the root, or one outside that is kept.
    pub fn is_base(&self, folder: &Path) -> bool {
        folder == self.root || self.outside().any(|outside| outside == folder)
    }

    /// Returns the path below the repository of a linked worktree; none: it lies elsewhere.
    pub fn in_linked<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        path.strip_prefix(&self.outside.iter().find(|(outside, _)| outside.is_repository)?.0.folder).ok()
    }

    /// Returns the outermost derived folder below `base` that holds a path or is it.
    fn derived_above(&self, path: &Path, is_folder: bool, base: &Path, ignores: &Ignores) -> Option<PathBuf> {
        let folder = if is_folder { path } else { path.parent()? };
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = None;
        let mut unknown = Vec::new();
        for folder in folder.ancestors().take_while(|folder| *folder != base && folder.starts_with(base)) {
            if let Some(derived) = known().get(folder) {
                found = derived.clone();
                break;
            }
            unknown.push(folder);
        }
        // Proof may appear later: a folder that is not derived now is checked again by the next command.
        for folder in unknown.into_iter().rev() {
            found = found.or_else(|| self.looks_derived(folder, base, ignores).then(|| folder.to_path_buf()));
            known().insert(folder.to_path_buf(), found.clone());
        }
        found
    }

    fn looks_derived(&self, folder: &Path, base: &Path, ignores: &Ignores) -> bool {
        let inside = folder.strip_prefix(base).unwrap_or(folder);
        if self.archived.is_match(inside) {
            return false;
        }
        if self.derived.is_match(inside) {
            return true;
        }
        let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let holds = |folder: &Path, file: &str| ignores.lies_at(&folder.join(file)).is_file();
        let beside = |file: &str| folder.parent().is_some_and(|above| holds(above, file));
        // Also of a repository that is itself a folder that is kept, outside the workspace.
        if folder.to_str().is_some_and(holds_objects) {
            return folder.parent().is_some_and(|above| above.ends_with(".git")) || beside("HEAD");
        }
        let proof = CACHES.contains(&name)
            || name == "target" && beside("Cargo.toml")
            || name == "node_modules" && beside("package.json")
            || holds(folder, "pyvenv.cfg")
            || holds(folder, "CACHEDIR.TAG");
        proof && ignores.leaves_out(folder, true)
    }
}

/// Returns the rest of a path below a folder, or of the folder itself; none: it lies elsewhere. Both are without `.`, `..`
/// and doubled slashes: their bytes tell.
pub fn below<'p>(path: &'p Path, folder: &Path) -> Option<&'p Path> {
    let rest = path.as_os_str().as_bytes().strip_prefix(folder.as_os_str().as_bytes())?;
    match rest {
        [] => Some(Path::new("")),
        [b'/', rest @ ..] => Some(Path::new(OsStr::from_bytes(rest))),
        // The folder is that of the whole file system.
        rest if folder.as_os_str() == "/" => Some(Path::new(OsStr::from_bytes(rest))),
        _ => None,
    }
}

/// Returns whether a folder, with its closing `/`, is one that a program fills for itself by its name.
pub fn is_cache(folder: &str) -> bool {
    folder.trim_end_matches('/').rsplit('/').next().is_some_and(|name| CACHES.contains(&name))
}

/// Returns whether a folder, with its closing `/` or without, holds the objects of a repository by its name: the
/// workspace's own, that of a linked worktree (`/./objects`), one within, or a bare one (`x.git/objects`). They only ever
/// grow: what is added needs no keeping, as others may build on it, what goes is nowhere else.
pub fn holds_objects(folder: &str) -> bool {
    let mut parts = folder.trim_end_matches('/').rsplit('/');
    let last = parts.next().unwrap_or_default();
    GIT_ONLY_GROWS.contains(&last) && parts.next().is_some_and(|above| above == "." || above.ends_with(".git"))
}

/// Returns the folder of views that do not lie in `.shaft`: what is in it is nebula's own, too.
fn views_in_memory() -> Option<PathBuf> {
    #[cfg(target_os = "linux")]
    return Some(super::view::layers::in_memory_path());
    #[cfg(not(target_os = "linux"))]
    return None;
}

fn with_ignores(outside: OutsideFolder) -> (OutsideFolder, Ignores) {
    let ignores = Ignores::new(&outside.folder);
    (outside, ignores)
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
    fn a_folder_outside_that_commands_may_write_is_kept_but_for_what_is_private_or_nebulas() {
        let dir = tempfile::tempdir().expect("a folder");
        let base = dir.path().canonicalize().expect("real");
        for folder in ["w/in", "out/crate/target/debug", "out/crate/.git/objects", "out/.nebula", "out/keys", "x"] {
            fs::create_dir_all(base.join(folder)).expect("made");
        }
        fs::write(base.join("out/crate/Cargo.toml"), "").expect("written");
        fs::write(base.join("out/crate/.gitignore"), "target\n").expect("written");
        let workspace = Workspace::open(&base.join("w")).expect("open");
        let workspace = workspace.with_folders(&[base.join("out")], vec![base.join("out/keys")]);
        let settings = ArchiveSettings { exclude: vec!["*.big".into()], folder: None };
        let archive = Archive::open(&workspace, &settings).expect("open");
        let places = PathClasses::new(&workspace, &archive, &PlaceSettings::default());
        let of = |path: &str| places.of(&base.join(path), false);
        let named = |path: &str| format!("{}/{path}", base.display());
        for path in ["out/a", "out/crate/src/a.rs", "out/crate/target", "w/in/a"] {
            assert_eq!(of(path), PathClass::Kept, "{path}");
        }
        assert_eq!(of("out/crate/target/debug/a"), PathClass::Derived(named("out/crate/target/")));
        assert_eq!(of("out/crate/.git/objects/aa"), PathClass::Derived(named("out/crate/.git/objects/")));
        assert_eq!(of("out/x.big"), PathClass::Excluded("*.big".into()));
        for path in ["out/.nebula/a", "out/crate/.shaft/lock", "out/keys/a", "out/keys"] {
            assert_eq!(of(path), PathClass::Refused, "{path}");
        }
        assert_eq!((of("x/a"), of("output")), (PathClass::Outside, PathClass::Outside));
        if let Some(views) = views_in_memory() {
            assert_eq!(places.of(&views.join("x/upper"), true), PathClass::Refused);
        }
        assert_eq!((places.name(&base.join("out/a")), places.name(&base.join("w/in"))), (named("out/a"), "in".into()));
    }

    #[test]
    fn a_folder_is_derived_by_what_a_layer_over_the_workspace_holds() {
        let dir = tempfile::tempdir().expect("a folder");
        let base = dir.path().canonicalize().expect("real");
        let (root, layer) = (base.join("w"), base.join("upper"));
        for folder in [root.join("sub"), layer.join("new/target"), layer.join("sub/venv")] {
            fs::create_dir_all(folder).expect("made");
        }
        fs::write(layer.join("new/Cargo.toml"), "").expect("written");
        fs::write(layer.join("new/.gitignore"), "/target\n").expect("written");
        fs::write(root.join(".gitignore"), "venv\n").expect("written");
        fs::write(layer.join("sub/venv/pyvenv.cfg"), "").expect("written");
        let workspace = Workspace::open(&root).expect("open");
        let archive = Archive::open(&workspace, &ArchiveSettings::default()).expect("open");
        let below = PathClasses::new(&workspace, &archive, &PlaceSettings::default());
        let over = below.over(&layer);
        for (path, folder) in [("new/target/debug/a", "new/target/"), ("sub/venv/bin/x", "sub/venv/")] {
            assert_eq!(over.of(&root.join(path), false), PathClass::Derived(folder.into()));
            assert_eq!(below.of(&root.join(path), false), PathClass::Kept);
        }
        assert_eq!(over.of(&root.join("new/src/a.rs"), false), PathClass::Kept);
        // What the layer says anew counts, too.
        fs::write(layer.join(".gitignore"), "other\n").expect("written");
        assert_eq!(below.over(&layer).of(&root.join("sub/venv/bin/x"), false), PathClass::Kept);
    }

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
        // Who looks before and after keeps the person's rules there, and no archive.
        let looked_at = |path: &str| places.of_looked_at(&root.join(path), false);
        assert_eq!(looked_at("src/a/.nebula/rules/r.md"), PathClass::Kept);
        assert_eq!(looked_at("src/a/.nebula/x.big"), PathClass::Excluded("*.big".into()));
        for path in [".nebula/x", "src/.shaft/x", "src/.nebula/.shaft/x", ".shaft/lock", ".nebula/sub/.nebula/x"] {
            assert_eq!(looked_at(path), PathClass::Refused, "{path}");
        }
        assert_eq!(of("x.big"), PathClass::Excluded("*.big".into()));
        assert_eq!(places.of(Path::new("/etc/hosts"), false), PathClass::Outside);
        for (folder, holds) in [
            (".git/objects/", true),
            ("sub/.git/lfs", true),
            ("sub/.git/objects", true),
            ("sub/x.git/objects", true),
            ("sub/x.git/hooks", false),
            (".git/modules/a/objects", false),
            ("/main/bare/./objects/", true),
            ("/main/bare/objects/", false),
            ("target/", false),
        ] {
            assert_eq!(holds_objects(folder), holds, "{folder}");
        }
        // A folder whose name ends like that of a bare repository need not be one.
        for name in ["x.git/objects", "y.git/objects"] {
            std::fs::create_dir_all(root.join(name)).expect("made");
        }
        std::fs::write(root.join("y.git/HEAD"), "ref: refs/heads/main\n").expect("written");
        assert_eq!(of("x.git/objects/ab"), PathClass::Kept);
        assert_eq!(of("y.git/objects/ab"), PathClass::Derived("y.git/objects/".into()));
        let settings = PlaceSettings { derived: vec!["out".into()], archived: vec!["target".into()] };
        let places = PathClasses::new(&workspace, &archive, &settings);
        assert_eq!(places.of(&root.join("out/x"), false), PathClass::Derived("out/".into()));
        assert_eq!(places.of(&root.join("target/x"), false), PathClass::Kept);
    }
}

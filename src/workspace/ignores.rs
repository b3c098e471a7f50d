//! The files that `.ignore`, `.gitignore` and `.git/info/exclude` leave out of a walk.
//!
//! The files are read here, bounded and without waiting, rather than by the crate that walks: a pipe or a device of
//! such a name would hold a walk up for ever. One that is refused leaves nothing out, and is named.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::{DirEntry, Match, WalkBuilder};

use super::repository::git_folder;
use crate::disk::{self, Links};

/// The largest file of patterns that is read, in bytes.
const LARGEST: u64 = 4 << 20;

/// The patterns of a workspace's folders, read as a walk reaches them.
#[derive(Debug)]
pub struct Ignores {
    /// The folder at which looking upwards ends: the workspace's root, or the repository's that holds it.
    top: PathBuf,
    /// A folder, and the one whose files lie over those of it.
    layer: Option<(PathBuf, PathBuf)>,
    /// The person's own patterns, from git's configuration.
    global: OnceLock<Gitignore>,
    folders: Mutex<HashMap<PathBuf, Arc<Patterns>>>,
    complaints: Mutex<Vec<String>>,
}

/// The patterns of one folder, and those above it.
#[derive(Debug)]
struct Patterns {
    ignore: Option<Gitignore>,
    git: Option<Gitignore>,
    exclude: Option<Gitignore>,
    /// The folder is the root of a repository: what git ignores above it does not count in it.
    is_repository: bool,
    above: Option<Arc<Patterns>>,
}

impl Ignores {
    /// Reads the ignore rules of a workspace.
    pub fn new(root: &Path) -> Self {
        let top = root.ancestors().find(|f| f.join(".git").symlink_metadata().is_ok()).unwrap_or(root);
        Ignores {
            top: top.to_path_buf(),
            layer: None,
            global: OnceLock::new(),
            folders: Mutex::default(),
            complaints: Mutex::default(),
        }
    }

    /// Returns the rules as they are where the files of a layer lie over those of a folder.
    pub fn over(self, folder: &Path, layer: &Path) -> Self {
        Ignores { layer: Some((folder.to_path_buf(), layer.to_path_buf())), ..self }
    }

    /// Returns where the file lies that has a path here.
    pub fn lies_at(&self, path: &Path) -> PathBuf {
        let in_layer = |(folder, layer): &(PathBuf, PathBuf)| Some(layer.join(path.strip_prefix(folder).ok()?));
        let over = self.layer.as_ref().and_then(in_layer);
        over.filter(|over| over.symlink_metadata().is_ok()).unwrap_or_else(|| path.to_path_buf())
    }

    /// Returns whether something at an absolute path is left out. Folders above it are not looked at: a walk does not
    /// enter what is left out.
    pub fn leaves_out(&self, path: &Path, is_folder: bool) -> bool {
        let Some(folder) = path.parent().filter(|f| f.starts_with(&self.top)) else { return false };
        let patterns = self.patterns(folder);
        let matched = patterns.matched(path, is_folder);
        let matched =
            matched.or(self.global.get_or_init(|| Gitignore::global().0).matched(path, is_folder).map(|_| ()));
        matched.is_ignore()
    }

    /// Returns a walk from a folder, hidden files among what is found; links are named, not followed. `skip` leaves out
    /// more.
    pub fn walk(
        self: &Arc<Self>,
        from: &Path,
        skip: impl Fn(&DirEntry) -> bool + Send + Sync + 'static,
    ) -> WalkBuilder {
        let mut walk = WalkBuilder::new(from);
        let ignores = Arc::clone(self);
        walk.standard_filters(false).follow_links(false).filter_entry(move |e| {
            let is_folder = e.file_type().is_some_and(|t| t.is_dir());
            e.depth() == 0 || !skip(e) && !ignores.leaves_out(e.path(), is_folder)
        });
        walk
    }

    /// Returns files of patterns that were not read, each with why, so far.
    pub fn complaints(&self) -> Vec<String> {
        self.complaints.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn patterns(&self, folder: &Path) -> Arc<Patterns> {
        let known =
            |folder: &Path| self.folders.lock().unwrap_or_else(PoisonError::into_inner).get(folder).map(Arc::clone);
        if let Some(patterns) = known(folder) {
            return patterns;
        }
        let missing: Vec<&Path> = folder.ancestors().take_while(|f| f.starts_with(&self.top)).collect();
        let mut above = None;
        for folder in missing.into_iter().rev() {
            let patterns = known(folder).unwrap_or_else(|| {
                let read = Arc::new(self.read(folder, above.take()));
                self.folders
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .insert(folder.to_path_buf(), Arc::clone(&read));
                read
            });
            above = Some(patterns);
        }
        above.unwrap_or_else(|| Arc::new(self.read(folder, None)))
    }

    fn read(&self, folder: &Path, above: Option<Arc<Patterns>>) -> Patterns {
        let is_repository = self.lies_at(&folder.join(".git")).symlink_metadata().is_ok();
        let exclude = common_folder(&folder.join(".git")).filter(|_| is_repository);
        Patterns {
            ignore: self.patterns_in(folder, &folder.join(".ignore")),
            git: self.patterns_in(folder, &folder.join(".gitignore")),
            exclude: exclude.and_then(|git| self.patterns_in(folder, &git.join("info/exclude"))),
            is_repository,
            above,
        }
    }

    /// Returns the patterns in a file, for what lies in `folder`; `None`: there are none.
    fn patterns_in(&self, folder: &Path, file: &Path) -> Option<Gitignore> {
        let file = &self.lies_at(file);
        // Most folders have none, which one look decides.
        file.symlink_metadata().ok()?;
        let bytes = match disk::read_file(file, LARGEST, Links::Follow) {
            Ok(bytes) => bytes,
            Err(why) => {
                let name = file.strip_prefix(&self.top).unwrap_or(file);
                let said = format!("{}: {why}; it leaves nothing out", name.display());
                self.complaints.lock().unwrap_or_else(PoisonError::into_inner).push(said);
                return None;
            }
        };
        let mut builder = GitignoreBuilder::new(folder);
        let text = String::from_utf8_lossy(&bytes);
        for line in text.strip_prefix('\u{feff}').unwrap_or(&text).lines() {
            // A pattern that is broken leaves nothing out, as with git.
            let _ = builder.add_line(None, line);
        }
        builder.build().ok().filter(|patterns| !patterns.is_empty())
    }
}

impl Patterns {
    /// Matches `.ignore` before `.gitignore` before `.git/info/exclude`; of each, the nearest folder's.
    fn matched(&self, path: &Path, is_folder: bool) -> Match<()> {
        let of = |patterns: &Option<Gitignore>| {
            patterns.as_ref().map_or(Match::None, |p| p.matched(path, is_folder).map(|_| ()))
        };
        let (mut ignore, mut git, mut exclude) = (Match::None, Match::None, Match::None);
        let (mut here, mut outside) = (Some(self), false);
        while let Some(patterns) = here {
            ignore = ignore.or(of(&patterns.ignore));
            if !outside {
                git = git.or(of(&patterns.git));
                exclude = exclude.or(of(&patterns.exclude));
            }
            outside |= patterns.is_repository;
            here = patterns.above.as_deref();
        }
        ignore.or(git).or(exclude)
    }
}

/// Returns Git's own folder, where `info/exclude` lies: in a linked worktree `.git` is a file that names another, and
/// that one the common one.
fn common_folder(dot_git: &Path) -> Option<PathBuf> {
    let own = git_folder(dot_git)?;
    let common = disk::read_text(&own.join("commondir"), LARGEST, Links::Follow).ok();
    Some(common.map_or(own.clone(), |common| own.join(common.trim())))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, Mode, mkfifoat};

    use super::*;

    fn world(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().expect("a folder");
        for (path, text) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().expect("inside")).expect("made");
            fs::write(path, text).expect("written");
        }
        dir
    }

    /// Returns the files that the patterns leave out, and those that the crate's do.
    fn compare(dir: &tempfile::TempDir) -> (Vec<String>, Vec<String>) {
        let root = dir.path();
        let named = |walk: &mut WalkBuilder| {
            let walk = walk.hidden(false).git_global(false).build().flatten();
            let files = walk.filter(|e| e.file_type().is_some_and(|t| t.is_file()));
            let inside = files.map(|e| e.path().strip_prefix(root).expect("inside").display().to_string());
            let mut names: Vec<String> = inside.filter(|n| !n.contains(".git/")).collect();
            names.sort();
            names
        };
        let theirs = named(&mut WalkBuilder::new(root));
        let ignores = Arc::new(Ignores { global: Gitignore::empty().into(), ..Ignores::new(root) });
        let walk =
            ignores.walk(root, |_| false).build().flatten().filter(|e| e.file_type().is_some_and(|t| t.is_file()));
        let mut ours: Vec<String> = walk
            .map(|e| e.path().strip_prefix(root).expect("inside").display().to_string())
            .filter(|n| !n.contains(".git/"))
            .collect();
        ours.sort();
        (ours, theirs)
    }

    #[test]
    fn what_is_left_out_is_what_the_crate_leaves_out() {
        let dir = world(&[
            (".git/info/exclude", "excluded\n"),
            (".gitignore", "# a comment\nout/\n*.log\n!keep.log\n/top\n\u{65e5}*\n"),
            (".ignore", "private\n"),
            ("a.log", ""),
            ("keep.log", ""),
            ("top", ""),
            ("日本", ""),
            ("src/top", ""),
            ("src/excluded", ""),
            ("src/private", ""),
            ("src/out/x", ""),
            ("src/.gitignore", "*.rs\n!lib.rs\n!special.log\n"),
            ("src/main.rs", ""),
            ("src/lib.rs", ""),
            ("src/special.log", ""),
            ("src/deep/.ignore", "!main.rs\n"),
            ("src/deep/main.rs", ""),
            ("inner/.git/HEAD", ""),
            ("inner/a.log", ""),
            ("inner/private", ""),
        ]);
        let (ours, theirs) = compare(&dir);
        assert_eq!(ours, theirs);
        assert!(ours.contains(&"inner/a.log".to_string()) && !ours.contains(&"inner/private".to_string()));
    }

    #[test]
    fn what_is_no_file_is_named_and_holds_nothing_up() {
        let dir = world(&[(".git/info/x", ""), ("src/a.rs", ""), ("out/b", ""), ("out/.gitignore", "b\n")]);
        let pipe = |name: &str| mkfifoat(CWD, dir.path().join(name), Mode::RUSR | Mode::WUSR).expect("a pipe");
        pipe(".gitignore");
        pipe(".git/info/exclude");
        symlink("/dev/zero", dir.path().join("src/.ignore")).expect("linked");
        fs::File::create(dir.path().join(".ignore")).and_then(|f| f.set_len(3 << 30)).expect("a sparse file");
        let ignores = Ignores::new(dir.path());
        assert!(!ignores.leaves_out(&dir.path().join("src/a.rs"), false));
        assert!(ignores.leaves_out(&dir.path().join("out/b"), false));
        let mut said = ignores.complaints();
        said.sort();
        let begins: Vec<&str> = said.iter().map(|s| s.split(':').next().unwrap_or("")).collect();
        assert_eq!(begins, [".git/info/exclude", ".gitignore", ".ignore", "src/.ignore"], "{said:?}");
        assert!(said[0].contains("a pipe") && said[2].contains("larger than") && said[3].contains("a device"));
    }
}

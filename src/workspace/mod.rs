//! The directory tree the agent may touch: its root, which paths lie in it, reading, finding, watching. Writing is
//! there too, and named by `apply` alone.
//!
//! Paths cross this boundary normalised: relative to the root, with `/`, of the file really meant (links followed).

mod alike;
pub mod find;
pub mod folders;
mod ignores;
mod large;
pub mod leftover;
mod outside;
mod path;
mod read;
mod repository;
pub mod search;
mod stamp;
pub mod watch;
mod words;
pub mod write;

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::WalkBuilder;
use tokio_util::sync::CancellationToken;

use crate::disk;
use crate::text::name;

pub use alike::may_mean;
pub use ignores::Ignores;
pub use large::{LARGEST_WHOLE, copy_large, holds_large, state_of};
pub use outside::OutsideFolder;
pub use path::{Access, PathError, holds_secrets, is_one_of, lexical, normalise};
pub use read::{PathReader, Read, ReadError, is_text};
pub use repository::{freshen_proof, git_folder, is_worktree_file, repository_above, worktree_folders, worktree_proof};
pub use stamp::Stamp;
pub use words::WordIndex;

/// The names that mark a folder as a root.
const MARKS: [&str; 3] = [".shaft", ".nebula", ".git"];

/// Returns whether a folder is `/`, or one in which everyone has folders of their own.
fn is_for_all(folder: &Path) -> bool {
    const OF_EACH: u32 = 0o1002;
    let is_shared = || folder.metadata().is_ok_and(|meta| meta.permissions().mode() & OF_EACH == OF_EACH);
    folder.parent().is_none() || is_shared()
}

/// The workspace: a root, and the folders in it that are no one's to touch.
#[derive(Debug, Clone)]
pub struct Workspace {
    root: PathBuf,
    protected: Vec<PathBuf>,
    /// Folders of the person's that commands may write.
    folders: Vec<PathBuf>,
    /// The private files and folders in them.
    private: Vec<PathBuf>,
    /// The repository whose worktree the root was when this was opened: a command may have removed what says so.
    repository: Option<PathBuf>,
    /// Ends the reading and copying of large files early.
    stop: CancellationToken,
    /// The words that files may hold which were read.
    words: Arc<WordIndex>,
}

/// The folder that the root's path leads to at one moment: later another may have its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RootFolder {
    path: PathBuf,
    /// Its device and inode; none: no folder is there, or it cannot be looked at.
    identity: Option<(u64, u64)>,
}

impl RootFolder {
    /// Returns the one that a path leads to now.
    pub fn at(path: &Path) -> Self {
        let there = fs::metadata(path).ok().filter(fs::Metadata::is_dir);
        RootFolder { path: path.to_path_buf(), identity: there.map(|meta| (meta.dev(), meta.ino())) }
    }

    /// Returns whether the path leads to it still.
    pub fn is_in_place(&self) -> bool {
        RootFolder::at(&self.path) == *self
    }
}

/// No workspace there.
#[derive(Debug, thiserror::Error)]
#[error("cannot use {} as a workspace: {source}", path.display())]
pub struct OpenError {
    path: PathBuf,
    source: std::io::Error,
}

impl Workspace {
    /// Finds the workspace around `start`: the nearest ancestor with `.shaft`, `.nebula` or `.git`, else `start` itself. Of
    /// the home folder, of `/` and of a folder that everyone writes into, as `/tmp`, `.git` alone counts: what is below is no
    /// part of it.
    ///
    /// # Errors
    /// When `start` is no folder that can be opened.
    pub fn find(start: &Path, home: Option<&Path>) -> Result<Self, OpenError> {
        let start = Self::open(start)?;
        let home = home.and_then(|h| h.canonicalize().ok());
        let marked = |dir: &Path| {
            MARKS.iter().any(|m| {
                let counts = *m == ".git" || Some(dir) != home.as_deref() && !is_for_all(dir);
                counts && dir.join(m).symlink_metadata().is_ok()
            })
        };
        let root = start.root.ancestors().find(|d| marked(d)).map(Path::to_path_buf);
        Ok(Workspace { root: root.unwrap_or_else(|| start.root.clone()), ..start })
    }

    /// Opens the workspace with this very root.
    ///
    /// # Errors
    /// When it is no folder that can be opened.
    pub fn open(root: &Path) -> Result<Self, OpenError> {
        let fail = |source| OpenError { path: root.to_path_buf(), source };
        let root = root.canonicalize().map_err(fail)?;
        if !root.is_dir() {
            return Err(fail(std::io::ErrorKind::NotADirectory.into()));
        }
        // As a command of the person's own may have left it.
        if rustix::fs::access(&root, rustix::fs::Access::EXEC_OK).is_err() {
            return Err(fail(std::io::Error::other("it may not be entered; `chmod u+rwx` on it lets nebula in")));
        }
        let (protected, folders, private) = (Vec::new(), Vec::new(), Vec::new());
        let (repository, stop) = (worktree_folders(&root).pop(), CancellationToken::new());
        Ok(Workspace { root, protected, folders, private, repository, stop, words: Arc::default() })
    }

    /// Adds a folder that no path may point into: `~/.nebula`, an archive elsewhere. `.shaft` and `.git` always are.
    #[must_use]
    pub fn protect(mut self, folder: &Path) -> Self {
        self.protected.push(folder.canonicalize().unwrap_or_else(|_| lexical(Path::new("/"), folder)));
        self
    }

    /// Returns the folders that no path may point into.
    pub fn protected(&self) -> &[PathBuf] {
        &self.protected
    }

    /// Returns the same workspace, whose large files are read and copied no further once `stop` is cancelled.
    #[must_use]
    pub fn stopped_by(&self, stop: &CancellationToken) -> Self {
        Workspace { stop: stop.clone(), ..self.clone() }
    }

    /// Returns what is known of the words in its files.
    pub fn words(&self) -> &WordIndex {
        &self.words
    }

    /// Returns its root, canonical and absolute.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the name of the root folder, for the screen.
    pub fn name(&self) -> String {
        self.root.file_name().map_or_else(|| "/".into(), |n| n.to_string_lossy().to_string())
    }

    /// Returns where a normalised path lies on disk.
    pub fn full(&self, path: &str) -> PathBuf {
        self.root.join(name::name_of(path.as_ref()))
    }

    /// Returns a walk over files and folders from `folder` (normalised; empty: the root): `.gitignore` honoured, hidden
    /// files among them, without `.git`, `.shaft` and protected folders; links are named, not followed.
    pub fn walk(&self, folder: &str) -> WalkBuilder {
        self.walk_with(folder, &Arc::new(Ignores::new(&self.root)))
    }

    /// Returns the folder that a walk could not list, and why; none if it is gone.
    pub fn not_listed(&self, error: &ignore::Error) -> Option<(String, String)> {
        let source = error.io_error().filter(|source| source.kind() != io::ErrorKind::NotFound)?;
        let mut inner = error;
        let path = loop {
            match inner {
                ignore::Error::WithPath { path, .. } => break self.below_root(path),
                ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => inner = err,
                _ => break String::new(),
            }
        };
        let why = format!("{path} cannot be listed: {}", disk::words(source));
        Some((path, why))
    }

    /// Returns a path on disk as the root sees it, for messages: bytes that are no text are replaced.
    pub fn below_root(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).to_string_lossy().into_owned()
    }

    /// Walks as [`Workspace::walk`] does, with what files of patterns leave out handed in.
    pub fn walk_with(&self, folder: &str, ignores: &Arc<Ignores>) -> WalkBuilder {
        let protected = self.protected.clone();
        ignores.walk(&self.full(folder), move |e| {
            let name = e.file_name();
            name == ".git" || name == ".shaft" || protected.iter().any(|p| p == e.path())
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_root_is_the_nearest_marked_ancestor_but_not_the_home_folder() {
        let dir = tempfile::tempdir().expect("a folder");
        let home = dir.path().canonicalize().expect("there");
        fs::create_dir_all(home.join(".nebula")).expect("made");
        fs::create_dir_all(home.join("project/src/deep")).expect("made");
        let find = |p: &str| Workspace::find(&home.join(p), Some(&home)).expect("found").root;
        assert_eq!(find("project/src"), home.join("project/src"));
        fs::create_dir_all(home.join(".shaft")).expect("made");
        fs::create_dir_all(home.join("shared/.shaft")).expect("made");
        fs::create_dir_all(home.join("shared/own")).expect("made");
        assert_eq!(find("shared/own"), home.join("shared"));
        fs::set_permissions(home.join("shared"), fs::Permissions::from_mode(0o1777)).expect("set");
        assert_eq!(find("shared/own"), home.join("shared/own"));
        assert_eq!((find("project/src"), find("")), (home.join("project/src"), home.clone()));
        fs::create_dir_all(home.join("project/.git")).expect("made");
        assert_eq!(find("project/src/deep"), home.join("project"));
        fs::create_dir_all(home.join("project/src/.shaft")).expect("made");
        assert_eq!(find("project/src/deep"), home.join("project/src"));
        assert!(Workspace::open(&home.join("none")).is_err());
    }

    #[test]
    fn a_walk_honours_gitignore_and_leaves_the_archive_out() {
        let dir = tempfile::tempdir().expect("a folder");
        for (path, text) in [(".gitignore", "out\n"), ("a.rs", ""), ("out/b", ""), (".shaft/c", ""), (".env", "")] {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().expect("inside")).expect("made");
            fs::write(path, text).expect("written");
        }
        let workspace = Workspace::open(dir.path()).expect("open");
        let mut names: Vec<_> =
            workspace.walk("").build().flatten().map(|e| e.file_name().to_string_lossy().to_string()).skip(1).collect();
        names.sort();
        assert_eq!(names, [".env", ".gitignore", "a.rs"]);
    }
}

//! Folders outside the root whose files are archived too, under absolute paths: the repository that linked worktrees
//! share, and the person's folders of `shell.write`.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use super::path::NOT_ARCHIVED;
use super::read::split;
use super::repository::has_worktree;
use super::{Workspace, worktree_folders};
use crate::disk::Folder;
use crate::proposal::LINKED;
use crate::text::name;

/// A folder outside the root whose files are archived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutsideFolder {
    /// Its place, canonical and absolute.
    pub folder: PathBuf,
    /// The beginning of the archived paths of what is in it: its own path, with a mark where it is a repository.
    pub name: String,
    /// It is the repository of a linked worktree.
    pub is_repository: bool,
}

impl OutsideFolder {
    fn of_person(folder: &Path) -> Self {
        let name = name::text_of(folder.as_os_str()).into_owned();
        OutsideFolder { folder: folder.to_path_buf(), name, is_repository: false }
    }

    fn of_repository(folder: PathBuf) -> Self {
        let name = format!("{}{}", name::text_of(folder.as_os_str()), LINKED.trim_end_matches('/'));
        OutsideFolder { folder, name, is_repository: true }
    }

    /// Returns the archived path of something on disk; none: it does not lie in the folder.
    pub fn name_of(&self, path: &Path) -> Option<String> {
        let inside = path.strip_prefix(&self.folder).ok()?;
        Some(match inside.as_os_str().is_empty() {
            true => self.name.clone(),
            false => format!("{}/{}", self.name, name::text_of(inside.as_os_str())),
        })
    }

    /// Returns the rest of an archived path, below the folder; none: it is not of this folder.
    fn rest<'p>(&self, path: &'p str) -> Option<&'p str> {
        let rest = path.strip_prefix(self.name.as_str())?;
        if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
    }
}

impl Workspace {
    /// Adds folders of the person's that commands may write, and the files in them that are private: neither archived nor
    /// restored. Of the folders those count that are there, lie outside the root, and are not all of the file system.
    #[must_use]
    pub fn with_folders(mut self, folders: &[PathBuf], private: Vec<PathBuf>) -> Self {
        let real = folders.iter().filter_map(|folder| folder.canonicalize().ok());
        let mut real: Vec<PathBuf> = real
            .filter(|folder| folder.is_dir() && folder.parent().is_some() && !folder.starts_with(&self.root))
            .collect();
        real.sort();
        real.dedup_by(|next, kept| next.starts_with(kept));
        (self.folders, self.private) = (real, private);
        self
    }

    /// Returns the folders of the person's that commands may write, outside the root.
    pub fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// Returns the files and folders that are private where they lie in one of those folders.
    pub fn private(&self) -> &[PathBuf] {
        &self.private
    }

    /// Returns all folders outside the root whose files are archived. The repository comes first: it may lie in one of the
    /// others.
    pub fn outside(&self) -> Vec<OutsideFolder> {
        let repository = worktree_folders(&self.root).pop().or_else(|| self.repository.clone());
        let repository = repository.map(OutsideFolder::of_repository);
        repository.into_iter().chain(self.folders.iter().map(|folder| OutsideFolder::of_person(folder))).collect()
    }

    /// Returns the folder outside the root that an absolute archived path is of, and the rest of the path below it; none:
    /// there is no such folder, or not any more.
    pub fn in_outside<'p>(&self, path: &'p str) -> Option<(OutsideFolder, &'p str)> {
        let repository = path.split_once(LINKED).map(|(repository, _)| repository);
        let found = match repository.or_else(|| path.strip_suffix(LINKED.trim_end_matches('/'))) {
            // A command may have removed what names it at the root: it is asked itself.
            Some(repository) => {
                let repository = PathBuf::from(name::name_of(OsStr::new(repository)).into_owned());
                let is_own = self.repository.as_ref() == Some(&repository) || has_worktree(&repository, &self.root);
                is_own.then(|| OutsideFolder::of_repository(repository))
            }
            None => {
                let of = self.folders.iter().map(|folder| OutsideFolder::of_person(folder));
                of.into_iter().find(|folder| folder.rest(path).is_some())
            }
        };
        let found = found?;
        let rest = found.rest(path)?;
        Some((found, rest))
    }

    /// Opens the folder that a normalised path is followed from. Returns its path, and the way from there.
    ///
    /// # Errors
    /// When the path lies in no folder whose files are archived, or that cannot be opened.
    pub(super) fn open_base<'p>(&self, path: &'p str) -> io::Result<(String, Folder, &'p str)> {
        if !path.starts_with('/') {
            return Ok((String::new(), Folder::open(&self.root)?, path));
        }
        let (base, rest) = self.in_outside(path).ok_or_else(|| io::Error::other(NOT_ARCHIVED))?;
        Ok((base.name, Folder::open(&base.folder)?, rest))
    }

    /// Returns the folder of a normalised path and its name there: `.` is the very folder that paths are followed from.
    pub(super) fn split_base<'p>(&self, path: &'p str) -> (&'p str, &'p str) {
        let is_base = path.starts_with('/') && self.in_outside(path).is_some_and(|(_, rest)| rest.is_empty());
        if is_base { (path, ".") } else { split(path) }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::workspace::PathError;

    #[test]
    fn only_what_lies_in_a_folder_of_the_persons_is_reached_by_its_absolute_path() {
        let dir = tempfile::tempdir().expect("a folder");
        let base = dir.path().canonicalize().expect("real");
        for folder in ["w/in", "data/sub", "data-not", "data/.shaft", "data/secret", "other"] {
            fs::create_dir_all(base.join(folder)).expect("made");
        }
        fs::write(base.join("data/sub/a"), "a").expect("written");
        symlink(base.join("other"), base.join("data/way")).expect("linked");
        symlink(base.join("data"), base.join("link")).expect("linked");
        let folders = ["link", "data/sub", "w/in", "none", "data/sub/a"].map(|name| base.join(name));
        let folders: Vec<PathBuf> = folders.into_iter().chain(["/".into()]).collect();
        let workspace = Workspace::open(&base.join("w")).expect("open");
        let workspace = workspace.with_folders(&folders, vec![base.join("data/secret")]);
        assert_eq!(workspace.folders(), [base.join("data")]);
        let at = |path: &str| format!("{}/{path}", base.display());
        let resolve = |path: &str| workspace.resolve_archived(&at(path));
        for path in ["data/sub/a", "data/sub/", "data/new/deep", "data/"] {
            assert_eq!(resolve(path).ok(), Some(at(path)));
        }
        assert_eq!(workspace.read_archived(&at("data/sub/a")).expect("read").state.text(), Some("a"));
        assert!(workspace.read_archived(&at("data/")).is_ok_and(|read| read.state.mode().is_some()));
        assert!(matches!(resolve("data/way/x"), Err(PathError::Outside { .. })));
        assert!(matches!(resolve("data/.shaft/lock"), Err(PathError::Protected { .. })));
        assert!(matches!(resolve("data/secret/key"), Err(PathError::Protected { .. })));
        assert!(workspace.read_archived(&at("data/way/x")).is_ok_and(|read| read.state.is_absent()));
        for path in ["data-not/x", "other/x", "data", "w/in/x"] {
            let refused = resolve(path).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(path == "data" || refused.contains("add its folder to shell.write"), "{path}: {refused}");
        }
    }
}

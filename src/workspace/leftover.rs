//! Temporary files that processes left behind in the workspace.

use std::path::{Path, PathBuf};

use rustix::fs::FileType;

use crate::disk::{self, Folder};

/// Returns those of some files of a folder that git does not track.
pub type UntrackedLookup = fn(&Path, &[PathBuf]) -> Vec<PathBuf>;

/// Removes the temporary files of processes that have ended from a folder of the workspace, given by its path below
/// `root`. What git tracks is none, whatever its name. Returns how many.
pub fn sweep(root: &Folder, folder: &Path, untracked: UntrackedLookup) -> usize {
    let Ok(folder) = root.descend(folder) else { return 0 };
    let names = folder.names().unwrap_or_default();
    let left_over = names.iter().filter(|name| name.to_str().is_some_and(disk::is_left_over));
    let is_folder = |name: &&std::ffi::OsString| {
        folder.stat(name).is_ok_and(|stat| stat.is_some_and(|stat| disk::is(&stat, FileType::Directory)))
    };
    let left_over: Vec<_> = left_over.filter(|name| !is_folder(name)).map(|name| folder.path().join(name)).collect();
    if left_over.is_empty() {
        return 0;
    }
    let gone = |path: &&PathBuf| path.file_name().is_some_and(|name| folder.remove_file(name).is_ok());
    untracked(folder.path(), &left_over).iter().filter(gone).count()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_git_tracks_is_not_swept_whatever_its_name() {
        let dir = tempfile::tempdir().expect("a folder");
        let (root, at) = (Folder::open(dir.path()).expect("open"), |name: &str| dir.path().join(name));
        let (mine, left) = (".nebula-tmp-2147483600-1-a", ".nebula-tmp-2147483600-2-b");
        [mine, left].into_iter().for_each(|name| fs::write(at(name), "text").expect("written"));
        for words in [&["init", "-q"][..], &["add", mine]] {
            let mut git = std::process::Command::new("git");
            assert!(git.args(words).current_dir(dir.path()).status().expect("git runs").success());
        }
        assert_eq!(sweep(&root, Path::new(""), crate::git::untracked_of), 1);
        assert!(at(mine).exists() && !at(left).exists());
        // Without a repository every one is nebula's.
        fs::remove_dir_all(at(".git")).expect("removed");
        assert_eq!(sweep(&root, Path::new(""), crate::git::untracked_of), 1);
        assert!(!at(mine).exists());
    }
}
